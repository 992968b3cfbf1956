"""`workup gate`: verdicts on a record. Comparing two, and choosing a threshold, hang beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workup.cli import comparing, thresholds
from workup.cli.common import command, emit, say, verdict_code
from workup.cli.comparing import figure, plain_json
from workup.errors import InputError

if TYPE_CHECKING:
    from workup.report import Report, Verdict


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    command(app, name="gate", example='workup gate runs/demo --rule "auroc.low >= 0.75" --junit gates.xml')(gate)
    comparing.add_to(app)
    thresholds.add_to(app)


# ---- gate ------------------------------------------------------------------------------------------------------------


def gate(
    record: Annotated[Path, typer.Argument(metavar="REPORT", help="report.json, or a run directory")],
    rule: Annotated[
        list[str] | None, typer.Option(help='Rule such as "auroc.low >= 0.75"; the study\'s own when absent')
    ] = None,
    baseline: Annotated[Path | None, typer.Option(help="Report that rules on 'baseline' compare with")] = None,
    junit: Annotated[str | None, typer.Option(help="Write JUnit XML here")] = None,
    allow_unsure: Annotated[bool, typer.Option("--allow-unsure", help="Undecided gates do not fail")] = False,
    json: Annotated[str | None, typer.Option(help="Write the verdicts here; - for standard output")] = None,
) -> None:
    """Judge a report: exit 0 when every rule passes, 1 when one fails, 3 when none fails and some are undecided."""
    from workup.report import Report, drawing_on
    from workup.reports import junit as xml

    report = Report.read(record)
    other = None if baseline is None else Report.read(baseline)
    with drawing_on(*(file for file in (record, baseline) if file is not None)):
        verdicts = judged(report, rule or (), other)
    code = verdict_code([v.outcome for v in verdicts], allow_unsure=allow_unsure)
    tell: Callable[[str], object] = say if json == "-" else typer.echo
    for verdict in verdicts:
        tell(_verdict_line(verdict))
    if junit is not None:
        name = f"{report.study.get('name')}: {report.system.get('name')}"
        emit(xml.render(verdicts, name=name, allow_unsure=allow_unsure), junit)
    if json is not None:
        rows = [vars(verdict) for verdict in verdicts]
        emit(plain_json({"report": report.sha256, "verdicts": rows, "exit_code": code}), json)
    raise typer.Exit(code)


def judged(report: Report, rules: Sequence[str], baseline: Report | None) -> tuple[Verdict, ...]:
    """Verdicts on a record by the rules given, else by those of its study."""
    from workup import plugins
    from workup.gates import Gate, judge, primary_values

    task = str(report.study["task"])
    if baseline is not None and baseline.study.get("task") != task:
        raise InputError(f"the baseline must be a report of the task '{task}'", got=f"'{baseline.study.get('task')}'")
    chosen = list(rules) or list(report.study.get("gates") or ())
    if not chosen:
        raise InputError(
            "a rule is needed to judge by",
            got="none given, and none in the study of this report",
            remedy='give one, such as --rule "auroc.low >= 0.75", or write them under gates: in the study',
        )
    known = plugins.find("tasks", task).metric_names
    gates = [Gate.parse(rule, known=known, task=task) for rule in chosen]
    return judge(gates, list(report.estimates()), primary=primary_values(report.study), baseline=baseline)


def _verdict_line(verdict: Verdict) -> str:
    from workup.errors import visible

    seen = verdict.observed or {}
    observed = f"  {figure(seen)}, {seen['n']:,} patients" if seen.get("value") is not None else ""
    return visible(f"{verdict.outcome:<12} {verdict.rule}{observed}  ({verdict.reason})")
