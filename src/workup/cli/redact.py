"""`workup redact` and `workup restore`: replace what a detector finds in texts, and give the originals back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from workup.cli.columns import ID_COLUMN, KEEP_COLUMN, PATIENT_COLUMN, TEXT_COLUMN, tell_plans
from workup.cli.common import Progress, command, emit, emit_json, say
from workup.cli.detect import KNOWN, KNOWN_KEY, detector_settings
from workup.cli.redact_keys import (
    check_map,
    chosen_key,
    entry_of,
    map_content,
    read_key_file,
    refuse_invented,
    write_key,
)
from workup.cli.redact_names import renamed, warning
from workup.cli.redact_records import outputs_of, summary, tell, write_all
from workup.cli.redact_spans import for_policy, found_in, kept_by
from workup.errors import InputError, named, visible, within
from workup.redaction.files import check_place, read_redacted, read_sources, write_files

_KEY = "File with a key, 16 bytes or more; --new-key makes one"


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    command(
        app,
        name="redact",
        example="workup redact notes/ -o redacted/ --as surrogate --map notes.map --key-file notes.key",
    )(redact)
    command(
        app,
        name="restore",
        example="workup restore redacted/ --map notes.map --key-file notes.key -o notes_again/",
    )(restore)


def redact(
    source: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="IN",
            help="Text files, a folder of .txt files, a .jsonl corpus, a CSV or Parquet table, FHIR as JSON, or - ",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="File or folder to write; standard output for one text when absent or -"),
    ] = None,
    how: Annotated[str, typer.Option("--as", help="label, mask, surrogate or hash (which needs a key)")] = "label",
    shift_dates: Annotated[
        bool,
        typer.Option("--shift-dates", help="Move all dates of a patient by the same days; surrogates always do"),
    ] = False,
    map: Annotated[Path | None, typer.Option(help="Encrypted map to write, for restore; needs a key")] = None,
    key_file: Annotated[Path | None, typer.Option(help=_KEY)] = None,
    new_key: Annotated[Path | None, typer.Option(help="Make a key file, and use it where texts are given too")] = None,
    system: Annotated[str, typer.Option(help="Detector: a registered name, or package.module:Object")] = "native",
    setting: Annotated[
        list[str] | None, typer.Option("--with", help="Setting of the detector as name=value; repeat for several")
    ] = None,
    known: Annotated[Path | None, typer.Option(help=KNOWN)] = None,
    known_key: Annotated[str | None, typer.Option(help=KNOWN_KEY)] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Spans found before, by document id, instead of a detector")
    ] = None,
    golds: Annotated[bool, typer.Option("--golds", help="Replace the spans that a corpus brings along")] = False,
    labels: Annotated[str, typer.Option(help="Mapping of the labels; the detector's own when absent")] = "",
    policy: Annotated[
        str | None,
        typer.Option(
            help="What must go; all else that is found stays. When absent: all that the detector answers, which for "
            "native is hipaa_plus_providers"
        ),
    ] = None,
    number_by: Annotated[str, typer.Option(help="Numbers of tokens run by patient or by document")] = "patient",
    patient: Annotated[str | None, typer.Option(help="All texts are of this patient: one numbering, one shift")] = None,
    text_column: Annotated[list[str] | None, typer.Option(help=TEXT_COLUMN)] = None,
    id_column: Annotated[list[str] | None, typer.Option(help=ID_COLUMN)] = None,
    keep_column: Annotated[list[str] | None, typer.Option(help=KEEP_COLUMN)] = None,
    patient_column: Annotated[str | None, typer.Option(help=PATIENT_COLUMN)] = None,
    whole_weeks: Annotated[
        bool, typer.Option("--whole-weeks", help="Shift dates by whole weeks, so that weekdays stay true")
    ] = False,
    day_first: Annotated[
        bool | None,
        typer.Option("--day-first/--month-first", help="Order of dates in numbers; told by the dates when absent"),
    ] = None,
    rules: Annotated[
        bool | None,
        typer.Option("--rules/--no-rules", help="Tell ZIP3, 90+, years and ages below 90, as Safe Harbor lets one"),
    ] = None,
    rename: Annotated[
        bool,
        typer.Option("--rename", help="Give outputs new names (note-0001.txt) and ids; the map keeps the old ones"),
    ] = False,
    mask_with: Annotated[str, typer.Option(help="Character of a mask")] = "\u2588",
    pieces: Annotated[
        Path | None, typer.Option(help="JSONL file to write: every replacement by its places before and after, no text")
    ] = None,
    as_json: Annotated[
        str | None, typer.Option("--json", help="Write counts and audits as JSON; - is standard output")
    ] = None,
) -> None:
    """Replace what a detector finds: label tokens, masks, keyed hashes or surrogates, dates shifted, with a map."""
    from workup.redaction import Settings, audits, redact_all
    from workup.redaction.columns import Chosen

    out = _place(out)
    key = chosen_key(key_file, new_key)
    if not source:
        if new_key is None:
            raise InputError("a text to redact was expected", got="none", remedy="name a file, a folder, or - ")
        write_key(new_key, key)
        return
    settings = Settings.of(
        how=how,
        shift_dates=shift_dates,
        key=key,
        rules=rules,
        number_by=number_by,
        whole_weeks=whole_weeks,
        keep=kept_by(policy or "as_annotated"),
        day_first=day_first,
        mask_with=mask_with,
    )
    given = detector_settings(for_policy(system, setting or [], policy), known, known_key)
    check_map(map, key=key, out=out)
    if as_json == "-" and out is None:
        raise InputError("standard output is taken by the JSON", where="--json -", remedy="write the text with -o")
    columns = Chosen.of(text_column or [], id_column or [], keep_column or [], patient_column or "")
    sources, several = read_sources(source, patient=patient, columns=columns)
    tell_plans(sources)
    if out is None and several:
        raise InputError("several files need a folder to go to", where="-o", got="none", remedy="name one with -o")
    if out is not None:
        check_place(out, several=several, sources=source)
    refuse_invented(source, sources, settings)
    if rename:
        sources = renamed(sources)
    elif said := warning(sources):
        say(said)
    with Progress() as progress:
        found, unmapped, by = found_in(sources, system, given, predictions, golds, labels, progress)
        redacted = redact_all(found, settings, watch=progress)
    outputs = outputs_of(sources, redacted)
    results = audits(redacted)
    record = summary(settings, sources, redacted, outputs, unmapped)
    record["found_by"] = by
    record["audits"] = [audit.record() for audit in results]
    if new_key is not None:
        write_key(new_key, key)
    write_all(sources, redacted, outputs, record, out=out, several=several, map=map, pieces=pieces, key=key)
    tell(record, settings)
    if as_json is not None:
        emit_json(json.dumps(record, indent=1, ensure_ascii=False) + "\n", as_json)


def restore(
    source: Annotated[Path, typer.Argument(metavar="IN", help="What redact wrote: a file, a folder, or - ")],
    map: Annotated[Path, typer.Option(help="The map that redact wrote with it")],
    key_file: Annotated[Path | None, typer.Option(help="The key file of that redaction")] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="File or folder to write; standard output for one text when absent or -"),
    ] = None,
) -> None:
    """Give the original back, byte for byte; a changed text, another map or another key is refused."""
    from workup.redaction.restore_map import opened

    out = _place(out)
    if key_file is None:
        raise InputError(
            "a map is opened with the key it was written with", got="no key", remedy="give it with --key-file"
        )
    key = read_key_file(key_file)
    entries = opened(map_content(map), key=key, where=map.name)
    redacted, several = read_redacted(source)
    if out is None and several:
        raise InputError("several files need a folder to go to", where="-o", got="none", remedy="name one with -o")
    if out is not None:
        check_place(out, several=several, sources=[source])
    files: dict[str, bytes] = {}
    for number, (name, content) in enumerate(redacted.items(), start=1):
        where = within(source.name, named("file", name, number=number)) if several else visible(name)
        entry = entry_of(entries, name, content, map.name, where=where)
        files[entry.original_name or name] = entry.restored(content)
    if out is None:
        emit(next(iter(files.values())), "-")
        return
    write_files(files, out, several=several)
    say(f"{out}: {len(files):,} files given back")


def _place(out: Path | None) -> Path | None:
    """Where to write; - is standard output, as everywhere, and no file of that name."""
    return None if out == Path("-") else out
