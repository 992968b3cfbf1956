"""`workup site-pack`: what a hospital may send of its own report, and what it keeps back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from workup.cli.common import echo, say
from workup.errors import InputError, visible

_SHOWN = 20  # withheld slices named on the screen; the pack lists all


def site_pack(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="report.json of the site, or its run directory")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Pack to write, for its owner's eyes only until it is sent")],
    k: Annotated[int, typer.Option(help="Counts under this are withheld, and all that would give them away")] = 11,
    site: Annotated[str | None, typer.Option(help="Name of the site; the study's own when absent")] = None,
    facts: Annotated[
        list[str] | None, typer.Option(help="What the site says of itself, such as type=academic; may be repeated")
    ] = None,
    key_file: Annotated[
        Path | None, typer.Option(help="File with a key to sign the pack with, 16 bytes or more")
    ] = None,
) -> None:
    """Write a site's evidence as aggregates: no rows, no ids, small counts withheld, hashed, signed with a key."""
    import json

    from workup.packs import make_pack, read_key
    from workup.report import Report, drawing_on

    record = Report.read(report)
    name = str(record.study.get("name", "")) if site is None else site
    key = None if key_file is None else read_key(key_file)
    own = _facts(facts or ())
    with drawing_on(report):
        pack = make_pack(record, site=name, k=k, facts=own, key=key)
    _write(out, json.dumps(pack, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n")
    _tell(pack, signed=key is not None)
    echo(str(out))


def _facts(given: Iterable[str]) -> dict[str, Any]:
    """type=academic, volume=1200: what is written as a number is one."""
    found: dict[str, Any] = {}
    for name, value in pairs(given, "--facts", "type=academic").items():
        number = re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", value)
        found[name] = value if number is None else float(value) if number[1] else int(value)
    return found


def pairs(given: Iterable[str], option: str, example: str) -> dict[str, str]:
    """name=value, each name once."""
    found: dict[str, str] = {}
    for pair in given:
        name, sign, value = (part.strip() for part in pair.partition("="))
        if not sign or not name or not value:
            raise InputError(f"expected name=value, such as {example}", where=option, got=f"'{visible(pair[:60])}'")
        if name in found:
            raise InputError("a name is given once", where=option, got=f"'{visible(name[:60])}' twice")
        found[name] = value
    return found


def _write(path: Path, text: str) -> None:
    """A file that only its owner can read, whole or not at all."""
    from workup.runs.disk import replace_whole

    try:
        replace_whole(path, [text])
    except OSError as error:
        raise InputError(
            "the pack must go to a place that can be written", where=str(path), got=error.strerror or "an error"
        ) from None


def _tell(pack: Mapping[str, Any], *, signed: bool) -> None:
    """What stays at the site, for the person who has to answer for it."""
    withheld = pack["withheld"]
    told = sum(row["status"] != "withheld" for row in pack["estimates"])
    say(f"Site {visible(pack['site'])}: {told} of {len(pack['estimates'])} estimates are in the pack.")
    if pack["k"] <= 1:
        say("k is 0 or 1, so every count is told, however small.")
    say(f"Withheld: {len(withheld)} cells (k = {pack['k']}).")
    slices = dict.fromkeys(_slice(row) for row in withheld)
    for line in list(slices)[:_SHOWN]:
        say(f"  {line}")
    if len(slices) > _SHOWN:
        say(f"  and {len(slices) - _SHOWN} more; the pack lists them all")
    say("Signed (HMAC-SHA256)." if signed else "Not signed: whoever receives it cannot tell who made it.")


def _slice(row: Mapping[str, Any]) -> str:
    at = ", ".join(f"{key} {value}" for key, value in row["slice"].items()) or "everyone"
    return visible(f"{at}: {row['what'] if row['metric'] is None else 'figures'}")
