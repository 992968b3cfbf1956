"""`workup corpus inject` and `workup corpus noise`: corpora made out of a user's own text or corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workup.cli.common import command, emit_json, say

_SEED = "Seed; the same seed gives the same bytes"
_JSON = "Write the record as JSON; - is standard output"


def add_commands(group: typer.Typer) -> None:
    """Hang the commands on `workup corpus`."""
    command(group, name="inject", example="workup corpus inject --source notes/ --seed 1 -o injected.jsonl")(inject)
    command(
        group, name="noise", example="workup corpus noise notes.jsonl --kind ocr --rate 0.05 --seed 1 -o noisy.jsonl"
    )(noise)


def inject(
    source: Annotated[
        Path, typer.Option(help="Folder or zip of .txt files, .csv or .tsv table, or .jsonl file with the texts")
    ],
    seed: Annotated[int, typer.Option(help=_SEED)],
    out: Annotated[
        Path,
        typer.Option("-o", "--out", help="New .jsonl file, with the ground truth beside it, or a new folder for all"),
    ],
    density: Annotated[
        str, typer.Option(help="low, medium, high, or a number of values per 1,000 characters")
    ] = "medium",
    ambiguity: Annotated[
        str, typer.Option(help="none, standard or high: ambiguous names, and phrases that must stay")
    ] = "standard",
    leaf: Annotated[
        list[str] | None, typer.Option(help="Inject this leaf alone; may be repeated. All when absent")
    ] = None,
    sites: Annotated[str, typer.Option(help="Kinds of sites of your own: a YAML file or package.module:OBJECT")] = "",
    text_column: Annotated[str, typer.Option(help="Column of a table that holds the texts; found when absent")] = "",
    id_column: Annotated[str, typer.Option(help="Column of a table that holds the ids; found when absent")] = "",
    deduplicate: Annotated[bool, typer.Option("--deduplicate", help="Leave out a text that stood before")] = False,
    skip_empty: Annotated[bool, typer.Option("--skip-empty", help="Leave out texts without a word")] = False,
    no_sweep: Annotated[
        bool, typer.Option("--no-sweep", help="Do not mark what looks like PHI in the source as unknown")
    ] = False,
    as_of: Annotated[str | None, typer.Option(help="Time to write into the ground truth; none when absent")] = None,
    as_json: Annotated[str | None, typer.Option("--json", help=_JSON)] = None,
) -> None:
    """Put PHI with known truth into your own texts; the source between the insertions stays as it is."""
    import json

    from workup.corpora.inject import Injector, default_sites, find_sites, read_source
    from workup.corpora.inject.corpus import write_injected
    from workup.documents.records import Tally
    from workup.values import LEAVES

    injector = Injector(
        seed=seed,
        density=density,
        ambiguity=ambiguity,
        leaves=tuple(dict.fromkeys(leaf)) if leaf else LEAVES,
        kinds=find_sites(sites) if sites else default_sites(),
        sweeps=not no_sweep,
    )
    left_out = Tally()
    documents = read_source(
        source,
        text_column=text_column,
        id_column=id_column,
        deduplicate=deduplicate,
        skip_empty=skip_empty,
        left_out=left_out,
    )
    total, paths = write_injected(documents, out, injector=injector, source=source.name, as_of=as_of)
    not_taken = {what: count for what, count in sorted(left_out.items()) if count}
    record = {"source": source.name, "out": out.name, "seed": seed, **total.record(), "not_taken": not_taken}
    variety = f"{len(total.leaves)} leaves, {len(total.kinds)} kinds of sites"
    say(f"{total.placed:,} values in {total.documents:,} documents, {variety}")
    say(f"{sum(total.residues.values()):,} places of the source look like PHI and are marked unknown")
    if total.short:
        say(f"{total.short:,} documents have fewer sites than the density asks for")
    for what, count in not_taken.items():
        say(f"Not taken from {source.name}: {what}, {count:,} times")
    for path in paths:
        say(str(path))
    if as_json is not None:
        emit_json(json.dumps(record, indent=1, ensure_ascii=False) + "\n", as_json)


def noise(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Corpus with spans: file, folder or zip")],
    kind: Annotated[
        str,
        typer.Option(help="ocr, typo, transposition, case, upper, lower, spacing, unicode, homoglyph or line_breaks"),
    ],
    rate: Annotated[float, typer.Option(help="Character error rate to reach, from 0 to 1")],
    seed: Annotated[int, typer.Option(help=_SEED)],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="File to write (.jsonl); the measured rate stands beside it")
    ],
    on: Annotated[str, typer.Option(help="What to perturb: phi, context or both")] = "both",
    read_as: Annotated[str, typer.Option("--from", help="Format of IN; recognised when absent")] = "",
    offsets: Annotated[
        str, typer.Option(help="How IN counts offsets: codepoint, utf16 or byte, with -inclusive behind it")
    ] = "codepoint",
    as_json: Annotated[str | None, typer.Option("--json", help=_JSON)] = None,
) -> None:
    """Perturb a corpus; spans follow their characters, and the character error rate is measured."""
    import json

    from workup.corpora.noise.corpus import write_noisy

    record, paths = write_noisy(source, out, kind=kind, rate=rate, on=on, seed=seed, read_as=read_as, offsets=offsets)
    if record["measured"] is None:
        say(f"{record['documents']:,} documents: {record['reason']}")
    else:
        found = f"measured {record['measured']:.4f} on {record['characters']:,} characters"
        say(f"{record['documents']:,} documents: {found}")
    if record["at_ceiling"]:
        say(f"'{kind}' cannot reach {rate:g} here: its ceiling is {record['ceiling']:.4f}")
    for path in paths:
        say(str(path))
    if as_json is not None:
        emit_json(json.dumps(record, indent=1, ensure_ascii=False) + "\n", as_json)
