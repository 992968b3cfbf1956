"""`workup new` and `workup demo`: the first two minutes of a newcomer."""

from __future__ import annotations

import html
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workup.cli.common import command, echo, emit, say
from workup.errors import InputError
from workup.files.output_paths import check_folder

if TYPE_CHECKING:
    from workup.report import Report

_TASKS = ("risk", "survival", "episodes", "spans", "conversation")
_SIZES = {"risk": 2000, "survival": 2000, "episodes": 800, "spans": 200, "conversation": 30}
_MADE = {
    "risk": ("cohort", "cohort.csv"),
    "survival": ("survival", "cohort.csv"),
    "episodes": ("episodes", "scores.csv"),
    "spans": ("notes", "notes.jsonl"),
    "conversation": ("conversation", "cases.jsonl"),
}
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Workup demonstration</title>
<style>body {{ font: 16px/1.5 system-ui; max-width: 50em; margin: 3em auto; padding: 0 1em }}</style>
<h1>Workup demonstration</h1>
<p>Generated data with planted truth; no patient is real.</p>
<ul>{items}</ul>
</html>
"""


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    command(app, name="demo", example="workup demo")(demo)
    command(app, name="new", example="workup new risk my-study")(new)


def new(
    task: Annotated[
        str, typer.Argument(help="Kind of system: risk, survival (risks by horizons), episodes, spans or conversation")
    ],
    directory: Annotated[Path, typer.Argument(help="Folder to make")] = Path("my-study"),
    count: Annotated[
        int | None, typer.Option(min=2, max=100_000, help="Cases to generate; as many as the task needs when absent")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="Default gate of a chat model to leave out, such as allergy")
    ] = None,
) -> None:
    """Make a commented study.yaml with small generated data, ready to run."""
    _study(task, directory, count=count, without=without or ())
    say(f"Made {directory}. Next:  workup run {directory / 'study.yaml'}")


def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the demonstration")] = Path("demo"),
) -> None:
    """Run the bundled studies on generated data and show where the reports are."""
    from workup.cli.run import load, run_system

    reports: dict[str, Report] = {}
    for task in _TASKS:
        place = out / task
        kind, _ = _MADE[task]
        say(f"{task}: generating {_SIZES[task]:,} cases ({kind}) with known truth, then validating a system on them")
        if not (place / "study.yaml").exists():
            _study(task, place)
        study = load(place / "study.yaml")
        reports[task] = run_system(study, place / "study.yaml", None, place / "run", fresh=False)
    for report in reports.values():
        echo(str(report))
        for verdict in report.verdicts:
            echo(f"  gate {verdict.rule}: {verdict.outcome}")
    index = out / "index.html"
    emit(_index(reports), str(index))
    echo(f"\nOpen {index.resolve()}")


def _study(task: str, directory: Path, *, count: int | None = None, without: Sequence[str] = ()) -> None:
    from workup import plugins

    if task not in _TASKS:
        raise InputError("the kind of system must be one of " + ", ".join(_TASKS), got=f"'{task}'")
    check_folder(directory)
    if directory.exists() and any(directory.iterdir()):
        raise InputError("the folder must be new or empty", where=str(directory), remedy="name another folder")
    kind, name = _MADE[task]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        plugins.find("generators", kind)(count or _SIZES[task], seed=1).write(directory / name)
    except OSError as error:
        raise InputError(
            "the folder must be one that can be written", where=str(directory), got=error.strerror or "an error"
        ) from None
    template = files("workup.cli").joinpath("templates", f"{task}.yaml").read_text(encoding="utf-8")
    if task == "conversation":
        template = _with_gates(template, directory / name, without)
    emit(template, str(directory / "study.yaml"))


def _with_gates(template: str, cases: Path, without: Sequence[str]) -> str:
    """The template with gates that a perfect model can pass on these cases; where a limit is looser, it says why."""
    from workup.study import Study
    from workup.tasks.conversation.attainable import ABOUT, default_gates
    from workup.tasks.conversation.settings import ConversationStudy
    from workup.tasks.conversation.task import ConversationTask

    for name in without:
        if name not in ABOUT:
            raise InputError("the gate to leave out must be one of " + ", ".join(ABOUT), got=f"'{name[:40]}'")
    study = Study.of({"name": "new", "task": "conversation", "corpus": {"path": cases.name}}, base=cases.parent)
    assert isinstance(study, ConversationStudy)
    for gate in default_gates(ConversationTask().read(study), study.conversation, without=without):
        line = f"  - {gate.usual}"
        assert line in template, gate.usual
        if gate.rule == gate.usual:
            continue
        chosen = (
            f"  - {gate.rule}   # the usual limit is {gate.why}" if gate.rule else f"#   - {gate.usual}   # {gate.why}"
        )
        template = template.replace(line, chosen)
        say(f"gate {gate.usual}: {gate.why}" + (f"; written as {gate.rule}" if gate.rule else ""))
    return template


def _index(reports: dict[str, Report]) -> str:
    """One page that links what was made; names are escaped."""
    items = []
    for task, report in reports.items():
        title = html.escape(f"{report.study['name']}: {report.system['name']} on {report.corpus['name']}")
        links = " · ".join(f'<a href="{task}/run/report.{form}">{form}</a>' for form in ("html", "md", "txt", "json"))
        items.append(f"<li><strong>{html.escape(task)}</strong> {title}: {links}</li>")
    return _PAGE.format(items="".join(items))
