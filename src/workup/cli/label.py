"""`workup label draw`: which units of a run people are to label, so that their labels may enter its rates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workup.cli.common import command, say
from workup.cli.trusted_study import TrustStudy, study_for


def add_to(app: typer.Typer) -> None:
    """Hang the command on the tree."""
    group = typer.Typer(help="Have people label what a chat model said.", no_args_is_help=True, rich_markup_mode=None)
    group.callback()(lambda: None)  # one command of several to come, not the group itself
    command(group, name="draw", example="workup label draw runs/first --count 120")(draw)
    app.add_typer(group, name="label")


def draw(
    directory: Annotated[Path, typer.Argument(help="Run directory of a chat model")],
    count: Annotated[int, typer.Option(min=1, max=100_000, help="Facts at a turn to draw")] = 120,
    pairs: Annotated[int, typer.Option(min=0, max=100_000, help="Pairs of advice to draw beside them")] = 0,
    study: Annotated[
        Path | None, typer.Option(help="Study file, when it was moved since the run or the folder came from elsewhere")
    ] = None,
    trust_study: TrustStudy = False,
) -> None:
    """Draw units for people to label, half of them failures, and write draw.json into the run directory."""
    from workup.cli.run import load
    from workup.errors import InputError
    from workup.files.disk import replace_whole
    from workup.files.received import is_file
    from workup.replay import sample_of, scored_again
    from workup.report import Report, canonical
    from workup.tasks.conversation.judges.read_units import DRAW_FILE
    from workup.tasks.conversation.judges.study import draw_of
    from workup.tasks.conversation.labels import read_draw
    from workup.tasks.conversation.scores.scoring import ConversationScores

    held = Report.read(directory)
    plan = load(study_for(directory, given=study, trusted=trust_study), sample=sample_of(held, directory))
    rows = scored_again(directory, held, plan)
    if not isinstance(rows.scores, ConversationScores):
        raise InputError("the run of a chat model was expected", where=directory.name, got="that of another task")
    found = draw_of(rows.scores, count=count, pairs=pairs)
    if not found.units:
        raise InputError("a reply that can be read was expected", where=directory.name, got="none")
    path = directory / DRAW_FILE
    if is_file(path) and read_draw(path).id != found.id:
        raise InputError(
            "labels belong to the draw that they were made for",
            where=path.name,
            got="another draw that is there already",
            remedy="move it away, with its labels, before you draw again",
        )
    replace_whole(path, [canonical(found.record()), "\n"])
    facts = sum(unit.pair is None for unit in found.units)
    also = f" and {len(found.units) - facts} pairs of advice" if pairs else ""
    say(f"{path}: draw {found.id} of {facts} facts at a turn{also}, read by {found.reader}")
