"""`workup import`: conversations that another program held, as the lines that `score conversation` reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from workup.cli.common import command, say


def add_to(app: typer.Typer) -> None:
    """Hang the command on the tree."""
    command(
        app,
        name="import",
        example="workup import logs/chat.eval --from inspect --cases cases.jsonl -o said.jsonl",
    )(import_)


def import_(
    source: Annotated[Path, typer.Argument(help="Log or file of dialogues that another program wrote")],
    from_: Annotated[
        str, typer.Option("--from", help="Program that wrote it: inspect, openai, sharegpt or transcripts")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File of transcripts to write, for you alone")],
    cases: Annotated[
        Path | None, typer.Option(help="Cases that the dialogues were held from; without them none is checked")
    ] = None,
    role: Annotated[
        list[str] | None, typer.Option(help="What ShareGPT's file calls a side, such as patient=user; repeatable")
    ] = None,
) -> None:
    """Read conversations of another program into transcripts, one line for each turn."""
    from workup.errors import InputError
    from workup.files.disk import replace_whole
    from workup.files.output_paths import check_target, said
    from workup.tasks.conversation.cases.case import read_cases
    from workup.tasks.conversation.talk.imported import imported_lines

    roles = {}
    for one in role or ():
        name, sign, side = one.partition("=")
        if not sign or not name.strip():
            raise InputError("--role must be a name and a side, such as patient=user", got="another form")
        roles[name.strip()] = side.strip()
    if str(output) == "-":
        raise InputError("a file to write was expected, since it holds what was said", where="-o", got="'-'")
    check_target(str(output))
    if output.exists() and source.exists() and output.samefile(source):
        raise InputError("another file to write than the one that is read was expected", where=str(output))
    known = [] if cases is None else read_cases(cases)
    counted = {"lines": 0}
    held: set[tuple[str, str]] = set()

    def written() -> Iterator[str]:
        for where, line in imported_lines(source, from_, cases=known, roles=roles):
            counted["lines"] += 1
            held.add((str(line.get("case")), str(line.get("replicate", 0))))
            try:
                yield json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"
            except ValueError:  # such as 1e400, which no file of numbers can hold
                raise InputError("numbers that a file can hold were expected", where=where, got="one beyond") from None
        if not held:
            raise InputError("a dialogue was expected", where=source.name, got="none", remedy="check --from")

    with said(output):
        replace_whole(output, written())
    say(f"{counted['lines']:,} turns of {len(held):,} conversations are in {output}, which holds what was said.")
    if cases is None:
        say(f"To draft the facts that they hold: workup cases suggest {output} -o cases.jsonl")
