"""`workup view`: what was said and what became of each fact, on a page of its own, to read and to label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workup.cli.common import command, echo, say
from workup.cli.trusted_study import TrustStudy, study_for

if TYPE_CHECKING:
    from workup.tasks.conversation.labels import Draw

LABELS = "labelled.jsonl"


def add_to(app: typer.Typer) -> None:
    """Hang the command on the tree."""
    command(app, name="view", example="workup view runs/first --blind --serve")(view)


def view(
    directory: Annotated[Path, typer.Argument(help="Run directory of a conversation study")],
    case: Annotated[list[str] | None, typer.Option(help="Only this case; give it again for more")] = None,
    blind: Annotated[
        bool, typer.Option("--blind", help="Show outcomes only after the answer; only such labels count for rates")
    ] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the page on this machine alone and append answers to a file")
    ] = False,
    labels: Annotated[
        Path | None, typer.Option(help=f"With --serve: file to append to; {LABELS} in the run directory if absent")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --serve: port; 0 is any that is free")] = 0,
    study: Annotated[
        Path | None, typer.Option(help="Study file, when it was moved since the run or the folder came from elsewhere")
    ] = None,
    trust_study: TrustStudy = False,
) -> None:
    """Write the transcripts of a run to view/index.html, to read and to label. The page holds what was said.

    No run makes it and no report holds it; `workup clean` removes it. With --serve answers are appended to a file as
    they are given, until Ctrl-C. That scores the run again, so the study of a folder that you did not make here has to
    be named or trusted.
    """
    from workup.errors import InputError
    from workup.reports.conversation.transcripts import page
    from workup.runs import RunDirectory

    if not serve and (labels is not None or port):
        raise InputError("--labels and --port need --serve", remedy="add --serve, or use Save on the page")
    held, talks, draw = _read(directory, case or [], study_for(directory, given=study, trusted=trust_study))
    told: dict[str, Any] = {
        "study": str(held.study.get("name", "")),
        "system": str(held.system.get("name", "")),
        "blind": blind,
        "draw": "" if draw is None else draw.id,
    }
    with RunDirectory.open(directory) as run:
        made = run.write_view(page(talks, **told))
    say(f"{made}: holds what was said; `workup clean {directory}` removes it")
    if not serve:
        echo(str(made))
        return
    from workup.cli.label_server import serve_labels

    kept = serve_labels(
        lambda session: page(talks, **told, session=session),
        units={one.anchor: one.drawn for talk in talks for one in _units(talk)},
        file=labels or directory / LABELS,
        draw=None if draw is None else draw.id,
        blind=blind,
        port=port,
        announce=echo,
    )
    say(f"{labels or directory / LABELS}: {kept:,} labels added")


def _units(talk: Any) -> list[Any]:
    found = [one for turn in talk.turns for one in turn.facts] + list(talk.findings)
    return [one for one in found if one.answers]


def _read(directory: Path, cases: Sequence[str], study: Path) -> tuple[Any, list[Any], Draw | None]:
    """The record, its conversations as they are read, and the draw of units to label, where there is one."""
    from workup.cli.run import load
    from workup.errors import InputError, RunError, ids_shown, near
    from workup.files.received import is_file
    from workup.replay import sample_of, scored_again
    from workup.report import Report
    from workup.tasks.conversation.judges.read_units import DRAW_FILE
    from workup.tasks.conversation.labels import read_draw
    from workup.tasks.conversation.scores.scoring import ConversationScores
    from workup.tasks.conversation.viewed import viewed

    held = Report.read(directory)
    rows = scored_again(directory, held, load(study, sample=sample_of(held, directory)))
    if not isinstance(rows.scores, ConversationScores):
        raise RunError(f"{directory}: there are no conversations to view; this is a study of another task.")
    known = [one.id for one in rows.corpus.cases]
    for number, id in enumerate(cases, start=1):
        if id not in known:
            remedy = near(id[:200], known) if ids_shown() else "give an id as the file of cases has it"
            raise InputError("there is no such case", where=f"--case number {number}", remedy=remedy)
    draw = read_draw(directory / DRAW_FILE) if is_file(directory / DRAW_FILE) else None
    return held, list(viewed(rows.scores, cases=frozenset(cases), draw=draw)), draw
