"""What a redaction leaves behind: texts, map, places of replacements, and a record without a word of any text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workup.cli.common import emit, say
from workup.files.output_paths import said
from workup.redaction.files import RECORD, Source, record_path, write_files

if TYPE_CHECKING:
    from workup.redaction import Redacted, Settings


def outputs_of(sources: Sequence[Source], redacted: Sequence[Redacted]) -> dict[str, bytes]:
    """The redacted files by name, each in the form of its source."""
    rest = iter(redacted)
    return {source.name: source.rewritten([next(rest) for _ in source.documents]) for source in sources}


def write_all(
    sources: Sequence[Source],
    redacted: Sequence[Redacted],
    outputs: dict[str, bytes],
    record: dict[str, Any],
    *,
    out: Path | None,
    several: bool,
    map: Path | None,
    pieces: Path | None,
    key: bytes | None,
) -> None:
    """The map first: a map without its text harms nobody, a text without its map cannot be given back."""
    from workup.files.disk import replace_whole
    from workup.redaction.restore_map import sealed

    if map is not None:
        assert key is not None
        with said(map):
            replace_whole(map, [sealed(_entries(sources, redacted, outputs), key=key)])
    try:
        if pieces is not None:
            with said(pieces):
                ids = [id for source in sources for id in source.new_ids] or [one.source.id for one in redacted]
                replace_whole(pieces, (_piece_line(id, one) for id, one in zip(ids, redacted, strict=True)))
        if out is None:
            emit(next(iter(outputs.values())), "-")
            return
        write_files(outputs, out, several=several)
        with said(record_path(out)):
            replace_whole(record_path(out), [json.dumps(record, indent=1, ensure_ascii=False) + "\n"])
    except BaseException:
        if map is not None:
            map.unlink(missing_ok=True)
        raise
    say(f"{out}: {len(outputs):,} files; the record stands beside it, in {out.name}{RECORD}")


def _entries(sources: Sequence[Source], redacted: Sequence[Redacted], outputs: dict[str, bytes]) -> list[Any]:
    from workup.redaction import Entry

    rest, entries = iter(redacted), []
    for source in sources:
        mine = [next(rest) for _ in source.documents]
        if source.is_corpus:
            entries.append(
                replace(
                    Entry.of_file(source.name, redacted=outputs[source.name], original=source.content),
                    original_name=source.original_name,
                )
            )
            continue
        one = mine[0]
        pieces = [(p.new_start, p.new_end, one.source.text[p.start : p.end]) for p in one.pieces]
        entry = Entry.of_text(source.name, redacted=one.document.text, original=one.source.text, pieces=pieces)
        entries.append(replace(entry, original_name=source.original_name))
    return entries


def _piece_line(id: str, one: Redacted) -> str:
    fields = ("start", "end", "new_start", "new_end", "label", "done")
    record = {"id": id, "pieces": [{name: getattr(p, name) for name in fields} for p in one.pieces]}
    return json.dumps(record, ensure_ascii=False) + "\n"


def summary(
    settings: Settings,
    sources: Sequence[Source],
    redacted: Sequence[Redacted],
    outputs: dict[str, bytes],
    unmapped: dict[str, int],
) -> dict[str, Any]:
    """How it was done and what was counted."""
    from workup.redaction.restore_map import sha256

    counts: Counter[str] = Counter()
    for one in redacted:
        counts.update(one.counts)
    not_taken: Counter[str] = Counter()
    for source in sources:
        not_taken.update(source.not_taken or {})
    plans = [source.container.plan for source in sources if source.container is not None]
    return {
        "as": settings.how,
        "shift_dates": settings.shifts,
        "whole_weeks": settings.whole_weeks,
        "rules": settings.rules,
        "invents": settings.invents,
        "repeatable": settings.repeatable,
        "documents": len(redacted),
        "patients": len({one.patient for one in redacted}),
        "replaced": sum(len(one.pieces) for one in redacted),
        "kept": sum(len(one.kept) for one in redacted),
        "counts": {what: count for what, count in sorted(counts.items()) if count},
        "unmapped": unmapped,
        "not_taken": dict(sorted(not_taken.items())),
        **({"plans": plans} if plans else {}),
        "outputs": {name: sha256(content) for name, content in outputs.items()},
    }


def tell(record: dict[str, Any], settings: Settings) -> None:
    """The record in lines, for the person at the terminal."""
    say(f"{record['replaced']:,} values replaced in {record['documents']:,} documents, {record['kept']:,} kept")
    if record["found_by"]["version"]:
        say(f"Found by {record['found_by']['system']}: {record['found_by']['version']}")
    for what, count in record["counts"].items():
        say(f"  {what}: {count:,}")
    if record["unmapped"]:
        say(f"Labels without a canonical name, replaced all the same: {sum(record['unmapped'].values()):,} spans")
    for what, count in record["not_taken"].items():
        say(f"Not taken: {what}, {count:,} times")
    for audit in record["audits"]:
        value = f"not assessed ({audit['reason']})" if audit["value"] is None else f"{audit['value']:.4f}"
        say(f"{audit['metric']}: {value}, n = {audit['n']:,}")
        if audit["metric"] == "residual_originals" and audit["numerator"]:
            say("  Replaced values are still to be read elsewhere in the texts: the detector missed mentions of them")
        if audit["metric"] == "shift_candidates" and audit["value"] is not None:
            _tell_candidates(audit)
    if settings.invents and not settings.repeatable:
        say("No key was given: the same texts would get other surrogates and another shift next time")


def _tell_candidates(audit: dict[str, Any]) -> None:
    narrowed, every = audit["n"] - audit["numerator"], audit["candidates"]
    if narrowed:
        say(
            f"  The shift of {narrowed:,} of {audit['n']:,} patients can be narrowed, at worst to "
            f"{audit['fewest_candidates']:,} of {every:,} candidates, by words of the calendar that were left"
        )
    else:
        say(
            f"  No known word of the calendar narrows a shift: {every:,} of {every:,} candidates remain for every "
            "patient, as far as the words go that are looked for"
        )
    if audit["loose_words"]:
        say(f"  Words of the calendar that are left beside no moved date: {audit['loose_words']:,}")
