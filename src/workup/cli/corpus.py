"""`workup corpus`: corpora with known truth made, converted between formats, and described without showing a text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from workup.cli import corpus_inject
from workup.cli.common import command, emit, emit_json, say
from workup.files.output_paths import check_target, said
from workup.files.received import is_folder

_OFFSETS = "How IN counts offsets: codepoint, utf16 or byte, with -inclusive behind it where ends are inclusive"
_TRIM = "titles: cut leading titles (Mr., Dr.) from every span"


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    group = typer.Typer(
        help="Make, convert and describe corpora with known truth.", no_args_is_help=True, rich_markup_mode=None
    )
    group.callback()(lambda: None)
    command(
        group, name="generate", example="workup corpus generate --kind notes --count 1000 --seed 42 -o notes.jsonl"
    )(generate)
    command(
        group, name="convert", example="workup corpus convert notes_brat/ notes.jsonl --from brat --to spans-jsonl"
    )(convert)
    command(group, name="describe", example="workup corpus describe notes.jsonl --mapping labels.yaml")(describe)
    corpus_inject.add_commands(group)
    app.add_typer(group, name="corpus")


def generate(
    kind: Annotated[
        str,
        typer.Option(
            help="What to make: notes, cohort, survival, episodes, conversation, or another installed generator"
        ),
    ],
    count: Annotated[int, typer.Option(help="How many documents, rows or patients")],
    seed: Annotated[int, typer.Option(help="Seed; the same seed gives the same bytes")],
    out: Annotated[
        Path,
        typer.Option("-o", "--out", help="File to write, for notes .jsonl or a new folder; the truth stands beside it"),
    ],
    plan: Annotated[
        Path | None, typer.Option(help="Cohort, survival, episodes: YAML file with the planted truth")
    ] = None,
    length: Annotated[str | None, typer.Option(help="Notes: short, medium (about 1,500 characters) or long")] = None,
    density: Annotated[str | None, typer.Option(help="Notes: low, medium or high, how many identifiers")] = None,
    ambiguity: Annotated[
        str | None,
        typer.Option(help="Notes: none, standard or high, how often names are words and words look like names"),
    ] = None,
    as_of: Annotated[
        str | None, typer.Option(help="Notes: time to record as injectionTimestamp; none otherwise")
    ] = None,
    turns: Annotated[int | None, typer.Option(help="Conversation: turns of each, 6 to 60; 10 to 18 if absent")] = None,
    types: Annotated[str | None, typer.Option(help="Notes: only these types, with commas between them")] = None,
    specialties: Annotated[
        str | None, typer.Option(help="Notes, conversation: only these specialties, with commas")
    ] = None,
    leaves: Annotated[str | None, typer.Option(help="Notes: only these identifying leaves, with commas")] = None,
    swap: Annotated[
        str | None, typer.Option(help="Notes: origin, sex or both: every note again under names of the other groups")
    ] = None,
    phi_free: Annotated[float | None, typer.Option(help="Notes: share of notes without any identifier, 0 to 1")] = None,
    workers: Annotated[
        int, typer.Option(help="Processes that write notes; 0 for one per core. Bytes stay the same")
    ] = 1,
) -> None:
    """Generate a corpus whose truth is planted."""
    import inspect

    from workup import plugins
    from workup.cli.common import Progress

    if os.path.lexists(out) and not is_folder(out):
        check_target(str(out))
    asked: dict[str, object] = {
        "plan": None if plan is None else _plan(plan),
        "length": length,
        "density": density,
        "ambiguity": ambiguity,
        "as_of": as_of,
        "turns": turns,
        "types": _listed(types),
        "specialties": _listed(specialties),
        "leaves": _listed(leaves),
        "swap": swap,
        "phi_free": phi_free,
    }
    settings = {"count": count, **{name: value for name, value in asked.items() if value is not None}}
    planted = plugins.make("generators", kind, settings, where="corpus generate", context={"seed": seed})
    with Progress() as progress:
        taken = inspect.signature(planted.write).parameters
        ways = {"workers": workers, "watch": progress}
        with said(out):
            paths = planted.write(out, **{name: way for name, way in ways.items() if name in taken})
    for path in paths:
        say(str(path))


def _plan(path: Path) -> object:
    from workup.files.yaml_files import read_yaml

    content, _ = read_yaml(path, noun="plan")
    return content


def _listed(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="File, folder or zip to read")],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="File, or for brat and i2b2 a new folder or a .zip, to write")
    ],
    read_as: Annotated[str, typer.Option("--from", help="Format of IN; recognised when absent")] = "",
    write_as: Annotated[str, typer.Option("--to", help="Format of OUT; by its ending when absent")] = "",
    offsets: Annotated[str, typer.Option(help=_OFFSETS)] = "codepoint",
    trim: Annotated[str, typer.Option(help=_TRIM)] = "",
    as_json: Annotated[
        str | None, typer.Option("--json", help="- writes the counts as JSON to standard output")
    ] = None,
) -> None:
    """Convert a corpus with spans; every span keeps its text and place, or nothing is written."""
    import json

    from workup.corpora.formats.spans.conversion import convert_corpus

    record = convert_corpus(source, out, read_as=read_as, write_as=write_as, offsets=offsets, trim=trim)
    counts = f"{record['documents']:,} documents, {record['spans']:,} spans"
    say(f"{counts}: {source.name} ({record['from']}) to {out.name} ({record['to']})")
    for what, count in record["not_taken"].items():
        say(f"Not taken from {source.name}: {what}, {count:,} times")
    for what, count in record["no_place"].items():
        say(f"No place in {record['to']}: {what}, {count:,} times")
    if record["titles_cut"]:
        say(f"Titles cut from {record['titles_cut']:,} spans")
    if as_json is not None:
        emit_json(json.dumps(record, indent=1, ensure_ascii=False) + "\n", as_json)


def describe(
    source: Annotated[Path, typer.Argument(metavar="IN", help="File, folder or zip to read")],
    read_as: Annotated[str, typer.Option("--format", "--from", help="Format of IN; recognised when absent")] = "",
    offsets: Annotated[str, typer.Option(help=_OFFSETS)] = "codepoint",
    trim: Annotated[str, typer.Option(help=_TRIM)] = "",
    labels: Annotated[
        str, typer.Option(help="Mapping of the labels: a name or a file; the shipped one that knows most when absent")
    ] = "",
    mapping: Annotated[
        Path | None, typer.Option(help="YAML file to write, with a line to fill in for every unmapped label")
    ] = None,
    as_json: Annotated[
        str | None, typer.Option("--json", help="Write the counts as JSON; - is standard output")
    ] = None,
) -> None:
    """Count documents, spans, labels, annotators and lengths; texts and ids are never shown."""
    import json

    from workup.corpora import describe as describing
    from workup.corpora.formats.spans.any_format import read_documents
    from workup.corpora.formats.spans.conversion import chosen_format
    from workup.documents.records import Tally
    from workup.errors import InputError

    if mapping is not None and mapping.exists():
        raise InputError(
            "a new file was expected, since a mapping that was filled in would be lost",
            where=str(mapping),
            got="one that is there",
            remedy="name another file",
        )
    left_out = Tally()
    format = chosen_format(source, read_as).name
    documents = read_documents(source, format=format, offsets=offsets, trim=trim, left_out=left_out)
    record = describing.describe(documents, labels=labels)
    record = {"corpus": source.name, "format": format, **record, "not_taken": dict(sorted(left_out.items()))}
    if mapping is not None:
        emit(describing.mapping_to_fill(record, source=source.name), str(mapping))
        say(f"{mapping}: {len(record['unmapped'])} labels to fill in")
    if as_json != "-":
        emit(describing.text_of(record, name=source.name, format=format), None)
    if as_json is not None:
        emit_json(json.dumps(record, indent=1, ensure_ascii=False) + "\n", as_json)
    for what, count in record["not_taken"].items():
        say(f"Not taken from {source.name}: {what}, {count:,} times")
