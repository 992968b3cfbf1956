"""`workup cases …`: look at cases of conversations, or draft them from what users said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from workup.cli.common import command, echo, say


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    group = typer.Typer(help="Check or draft cases of conversations.", no_args_is_help=True, rich_markup_mode=None)
    command(group, name="lint", example="workup cases lint cases.jsonl")(lint)
    command(group, name="suggest", example="workup cases suggest said.jsonl -o cases.jsonl")(suggest)
    app.add_typer(group, name="cases")


def lint(
    cases: Annotated[Path, typer.Argument(help="Cases with their ledgers: a JSON list, or one case a line")],
) -> None:
    """Show by which names each fact is looked for, and what its author should look at."""
    from workup.errors import named
    from workup.tasks.conversation.cases.case import read_cases
    from workup.tasks.conversation.cases.lint import lint_case, telling

    counts = dict.fromkeys(("facts", "with one name only", "allergies to drugs without harm_tag", "unknown"), 0)
    terms = unchecked = number = 0
    for number, case in enumerate(read_cases(cases), start=1):
        found = lint_case(case)
        echo(f"{named('case', case.id, number=number)}{'' if case.checked else ' (not checked)'}")
        for line in telling(found):
            echo(line)
        terms, unchecked = terms + len(found.unnamed), unchecked + (not case.checked)
        for one in found.facts:
            for key, yes in zip(counts, (True, one.one_name, one.no_harm_tag, one.unknown), strict=True):
                counts[key] += yes
    said = ", ".join(f"{count:,} {name}" for name, count in counts.items() if name != "facts")
    echo(f"{number:,} cases of {counts['facts']:,} facts: {said}; {terms:,} terms that no fact names.")
    if unchecked:
        echo(f'{unchecked:,} cases are not checked: no gate rests on them until "checked": false is taken out.')


def suggest(
    said: Annotated[Path, typer.Argument(help="Transcripts with the user's messages, as workup import writes them")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File of drafts to write, for you alone")],
) -> None:
    """Draft cases from what users said; a draft is not checked, and no gate rests on it."""
    from workup.errors import InputError
    from workup.files.disk import replace_whole
    from workup.files.output_paths import check_target
    from workup.files.output_paths import said as in_words
    from workup.tasks.conversation.cases.suggested import drafts
    from workup.tasks.conversation.talk.imported.source import records_of

    check_target(str(output))
    if output.exists() and said.exists() and output.samefile(said):
        raise InputError("another file to write than the one that is read was expected", where=str(output))
    made = list(drafts(records_of(said)))
    if not made:
        raise InputError("messages that assert something were expected", where=said.name, got="none")
    with in_words(output):
        replace_whole(output, (json.dumps(one, ensure_ascii=False) + "\n" for one in made))
    facts = sum(len(one["facts"]) for one in made)
    say(f"{len(made):,} drafts of {facts:,} facts are in {output}, which holds what was said.")
    say('Read each, mend it, and take out "checked": false; until then no gate rests on them.')
