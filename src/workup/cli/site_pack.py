"""`workup site-pack` and `workup site-key`: what a hospital may send of its own report, what it keeps back, and the key
that its packs are signed with."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from workup.cli.common import echo, say
from workup.errors import InputError, visible
from workup.files.output_paths import check_target

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
        Path | None,
        typer.Option(help="Key to sign the pack with: a private one of 'workup site-key', or a secret of 16 bytes"),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(help="The site's own file of what its packs told; a new one is checked together with them"),
    ] = None,
    sequence: Annotated[
        int | None, typer.Option(help="Number of the pack, where no ledger counts them; later packs have higher ones")
    ] = None,
) -> None:
    """Write a site's evidence as aggregates: no rows, no ids, small counts withheld, hashed, signed with a key."""
    from workup.packs import SiteLedger, make_next_pack, make_pack, read_key, says_overlaps
    from workup.report import Report, drawing_on

    if ledger is not None and sequence is not None:
        raise InputError("a ledger numbers the packs itself", where="--sequence", got=str(sequence))
    check_target(str(out))
    record = Report.read(report)
    name = str(record.study.get("name", "")) if site is None else site
    key = None if key_file is None else read_key(key_file)
    own = _facts(facts or ())
    with contextlib.ExitStack() as held:
        if ledger is None:
            with drawing_on(report):
                pack = make_pack(record, site=name, k=k, facts=own, key=key, sequence=sequence or 1)
        else:
            held.enter_context(_alone(ledger))
            before = SiteLedger.read(ledger, site=name)
            with drawing_on(report):
                pack, after = make_next_pack(record, before, k=k, facts=own, key=key)
            # The ledger first: a pack that it does not know of could be sent, one that was never written could not.
            _write(ledger, after.to_json())
        _write(out, _json(pack))
    if not says_overlaps(record) and k > 1:
        say("The record does not say which of its groups overlap, so one grouping is told; a new report tells all.")
    _tell(pack, signed="" if key is None else pack["signature"]["method"], ledger=ledger)
    echo(str(out))


def site_key(
    out: Annotated[Path, typer.Option("-o", "--out", help="Private key to write; the public one goes beside it, .pub")],
) -> None:
    """Make the key pair of a site: the private key signs its packs, the public one goes to whoever pools them."""
    from workup.files.disk import private, write_all
    from workup.packs import make_key_pair

    public = out.with_suffix(".pub")
    for path in dict.fromkeys((out, public)):
        check_target(str(path))
        if path.exists() or path.is_symlink() or out == public:
            got = "a name that ends in .pub" if out == public else "a file that is there already"
            raise InputError(
                "a new key needs a new name", where=visible(str(path)), got=got, remedy="give another name"
            )
    own, shown = make_key_pair()
    for path, content in ((out, own), (public, shown)):
        try:
            with private(path, os.O_WRONLY | os.O_EXCL) as descriptor:
                write_all(descriptor, content)
                os.fsync(descriptor)
        except OSError as error:
            got = error.strerror or "an error"
            raise InputError("the key must go to a place that can be written", where=str(path), got=got) from None
    public.chmod(0o644)
    say("Keep the private key at the site; give the public one to whoever pools the packs, by a way you trust.")
    echo(str(out))
    echo(str(public))


@contextlib.contextmanager
def _alone(ledger: Path) -> Iterator[None]:
    """One pack at a time, so that no two are made without knowing of each other."""
    from workup.files.disk import Lock

    check_target(str(ledger))
    lock = Lock(ledger.with_name(f".{ledger.name.lstrip('.')}.lock"))
    try:
        yield
    finally:
        lock.release(remove=True)


def _json(pack: Mapping[str, Any]) -> str:
    return json.dumps(pack, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


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
    from workup.files.disk import replace_whole

    try:
        replace_whole(path, [text])
    except OSError as error:
        raise InputError(
            "the pack must go to a place that can be written", where=str(path), got=error.strerror or "an error"
        ) from None


def _tell(pack: Mapping[str, Any], *, signed: str, ledger: Path | None) -> None:
    """What stays at the site, for the person who has to answer for it."""
    withheld = pack["withheld"]
    told = sum(row["status"] != "withheld" for row in pack["estimates"])
    name = f"Site {visible(pack['site'])}, pack {pack['sequence']}"
    say(f"{name}: {told} of {len(pack['estimates'])} estimates are in the pack.")
    if pack["k"] <= 1:
        say("k is 0 or 1, so every count is told, however small.")
    say(f"Withheld: {len(withheld)} cells (k = {pack['k']}).")
    slices = dict.fromkeys(_slice(row) for row in withheld)
    for line in list(slices)[:_SHOWN]:
        say(f"  {line}")
    if len(slices) > _SHOWN:
        say(f"  and {len(slices) - _SHOWN} more; the pack lists them all")
    say(f"Signed ({signed})." if signed else "Not signed: whoever receives it cannot tell who made it.")
    if ledger is None:
        say("No ledger: what this pack and an earlier one give away together was not looked into.")


def _slice(row: Mapping[str, Any]) -> str:
    at = ", ".join(f"{key} {value}" for key, value in row["slice"].items()) or "everyone"
    return visible(f"{at}: {row['what'] if row['metric'] is None else 'figures'}")
