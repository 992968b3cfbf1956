"""`workup gate`: verdicts on a record. Comparing two, and choosing a threshold, hang beside it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workup.cli import compare as comparing
from workup.cli import threshold as thresholds
from workup.cli.common import command, echo, emit, emit_json, say, verdict_code
from workup.cli.compare import figure, plain_json
from workup.errors import InputError
from workup.files.output_paths import check_target

if TYPE_CHECKING:
    from workup.report import Report, Verdict


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    command(app, name="gate", example='workup gate runs/demo --rule "auroc.low >= 0.75" --junit gates.xml')(gate)
    comparing.add_to(app)
    thresholds.add_to(app)


# ---- gate ------------------------------------------------------------------------------------------------------------


def gate(
    record: Annotated[
        Path,
        typer.Argument(metavar="REPORT", help="report.json, a run directory, or a folder of several systems' runs"),
    ],
    rule: Annotated[
        list[str] | None, typer.Option(help='Rule such as "auroc.low >= 0.75"; the study\'s own when absent')
    ] = None,
    baseline: Annotated[Path | None, typer.Option(help="Report that rules on 'baseline' compare with")] = None,
    system: Annotated[str | None, typer.Option(help="Judge this system alone, in a folder of several")] = None,
    junit: Annotated[str | None, typer.Option(help="Write JUnit XML here")] = None,
    allow_unsure: Annotated[bool, typer.Option("--allow-unsure", help="Undecided gates do not fail")] = False,
    json: Annotated[str | None, typer.Option(help="Write the verdicts here; - for standard output")] = None,
) -> None:
    """Judge a report: exit 0 when every rule passes, 1 when one fails, 3 when none fails and some are undecided.

    In a folder of several systems each is judged, and the worst of them decides the exit code.
    """
    from workup.cli.report import refuse_absent, refuse_unfinished, run_labels, runs_in
    from workup.errors import visible
    from workup.report import Report, drawing_on
    from workup.reports import junit as xml

    check_target(junit)
    check_target(json)
    held = runs_in(record, system=system)
    if system is None:
        refuse_absent(held, record, remedy="run the study again, or judge one system with --system")
        refuse_unfinished(held, record)
    names, reports = run_labels(held).values(), list(held.values())
    other = None if baseline is None else Report.read(baseline)
    with drawing_on(*(file for file in (record, baseline) if file is not None)):
        found = [judged(report, rule or (), other) for report in reports]
    code = verdict_code([v.outcome for verdicts in found for v in verdicts], allow_unsure=allow_unsure)
    tell: Callable[[str], object] = say if json == "-" else echo
    if json == "-":  # first: where standard output cannot be written, no verdict is told
        emit_json(_judged_records(reports, found, allow_unsure, code), json)
        sys.stdout.flush()
    suites: dict[str, tuple[Verdict, ...]] = {}
    for name, report, verdicts in zip(names, reports, found, strict=True):
        suites[f"{report.study.get('name')}: {name}"] = verdicts
        if len(reports) > 1:
            tell(visible(f"system {name}"))
        for alarm in report.alarms():  # a rule may pass on figures that do not mean what they seem to
            tell(visible(alarm))
        for verdict in verdicts:
            tell(_verdict_line(verdict))
    if junit is not None:
        emit(xml.render_suites(suites, allow_unsure=allow_unsure), junit)
    if json not in (None, "-"):
        emit_json(_judged_records(reports, found, allow_unsure, code), json)
    raise typer.Exit(code)


def _judged_records(
    reports: Sequence[Report], found: Sequence[Sequence[Verdict]], allow_unsure: bool, code: int
) -> str:
    rows = [_judged_record(report, verdicts, allow_unsure) for report, verdicts in zip(reports, found, strict=True)]
    return plain_json(rows[0] if len(rows) == 1 else {"systems": rows, "exit_code": code})


def _judged_record(report: Report, verdicts: Sequence[Verdict], allow_unsure: bool) -> dict[str, Any]:
    return {
        "system": report.system.get("name"),
        "report": report.sha256,
        **({"alarms": list(report.alarms())} if report.alarms() else {}),
        "verdicts": [vars(verdict) for verdict in verdicts],
        "exit_code": verdict_code([v.outcome for v in verdicts], allow_unsure=allow_unsure),
    }


def judged(report: Report, rules: Sequence[str], baseline: Report | None) -> tuple[Verdict, ...]:
    """Verdicts on a record by the rules given, else by those of its study."""
    from workup import plugins
    from workup.gates import Gate, judge
    from workup.task import gate_level_of, primary_of

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
    # By the task as it is installed here: a record is data, and brings no rules of its own.
    own = plugins.named_by_record("tasks", task)
    gates = [Gate.parse(rule, known=own.cards, level=gate_level_of(own)) for rule in chosen]
    return judge(
        gates,
        list(report.estimates()),
        primary=primary_of(own, report.study),
        baseline=baseline,
        alarms=report.alarms(),
        harms=[name for name, card in own.cards.items() if card.harm],
    )


def _verdict_line(verdict: Verdict) -> str:
    from workup.errors import visible

    seen = verdict.observed or {}
    observed = f"  {figure(seen)}, {seen['n']:,} patients" if seen.get("value") is not None else ""
    return visible(f"{verdict.outcome:<12} {verdict.rule}{observed}  ({verdict.reason})")
