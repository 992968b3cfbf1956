"""`workup gate` and `workup compare`: verdicts on a record, and one record against another."""

from __future__ import annotations

import json as jsons
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workup.cli.common import command, emit, say, verdict_code
from workup.errors import InputError, RunError, WorkupError

if TYPE_CHECKING:
    from workup.compare import Comparison
    from workup.estimate import Draws
    from workup.metric import Metric
    from workup.report import Report, Verdict
    from workup.scores import Scores
    from workup.study import Study

_WORDS = {"no_clear_difference": "no clear difference", "not_assessed": "not assessed"}
_SHOWN = 12  # rows of a kind that are worth a person's time; the record holds all
_CODES = {"worse": "fail", "unsure": "unsure", "not_assessed": "not_assessed"}


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    command(app, name="gate", example='workup gate runs/demo --rule "auroc.low >= 0.75" --junit gates.xml')(gate)
    command(app, name="compare", example="workup compare runs/old runs/new --margin 0.02 --metric auroc")(compare)


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
    from workup.report import Report
    from workup.reports import junit as xml

    report = Report.read(record)
    verdicts = judged(report, rule or (), None if baseline is None else Report.read(baseline))
    code = verdict_code([v.outcome for v in verdicts], allow_unsure=allow_unsure)
    tell: Callable[[str], object] = say if json == "-" else typer.echo
    for verdict in verdicts:
        tell(_verdict_line(verdict))
    if junit is not None:
        name = f"{report.study.get('name')}: {report.system.get('name')}"
        emit(xml.render(verdicts, name=name, allow_unsure=allow_unsure), junit)
    if json is not None:
        rows = [vars(verdict) for verdict in verdicts]
        emit(_json({"report": report.sha256, "verdicts": rows, "exit_code": code}), json)
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
    gates = [Gate.parse(rule, known=known) for rule in chosen]
    return judge(gates, list(report.estimates()), primary=primary_values(report.study), baseline=baseline)


def _verdict_line(verdict: Verdict) -> str:
    from workup.errors import visible

    seen = verdict.observed or {}
    figure = f"  {_figure(seen)}, {seen['n']:,} patients" if seen.get("value") is not None else ""
    return visible(f"{verdict.outcome:<12} {verdict.rule}{figure}  ({verdict.reason})")


def _figure(seen: Any) -> str:
    from workup.reports.wording import number

    ends = "" if seen.get("low") is None else f" ({number(seen['low'])} to {number(seen['high'])})"
    return number(seen.get("value")) + ends


def _json(data: Any) -> str:
    """Plain JSON with numbers as the record writes them."""
    from workup.report import canonical

    return jsons.dumps(jsons.loads(canonical(data)), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


# ---- compare ---------------------------------------------------------------------------------------------------------


def compare(
    records: Annotated[
        list[Path],
        typer.Argument(
            metavar="A B …", help="Run directories, report.json files, or a folder of several systems' runs"
        ),
    ],
    margin: Annotated[
        float | None, typer.Option(help="How much worse would still do; asks whether each is no worse than A by more")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Headline metric, judged with Holm's adjustment; repeat for several")
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Folder to write comparison.json to")] = None,
    allow_unsure: Annotated[bool, typer.Option("--allow-unsure", help="Undecided margins do not fail")] = False,
    json: Annotated[str | None, typer.Option(help="Write the comparison here; - for standard output")] = None,
) -> None:
    """Compare every report with the first: what improved, what regressed, and what cannot be told apart.

    With --margin the exit code is 1 where one is worse by more than the margin, and 3 where that is undecided.
    """
    places = [found for record in records for found in _places(record)]
    if len(places) < 2:
        raise InputError("a comparison needs two reports or more", got=str(len(places)))
    if out is not None:
        _make(out)
    found = compared(places, margin=margin, metrics=metric or ())
    tell: Callable[[str], object] = say if json == "-" else typer.echo
    for comparison in found:
        for line in lines(comparison):
            tell(line)
    record = comparison_record(found)
    if json is not None:
        emit(record, json)
    if out is not None:
        emit(record, str(out / "comparison.json"))
        say(str(out / "comparison.json"))
    outcomes = [_CODES.get(row["verdict"], "pass") for one in found for row in one.rows if row["margin"] is not None]
    raise typer.Exit(verdict_code(outcomes, allow_unsure=allow_unsure))


def compared(places: Sequence[Path], *, margin: float | None = None, metrics: Sequence[str] = ()) -> list[Comparison]:
    """Every run held against the first."""
    return [_compared(places[0], other, margin=margin, metrics=metrics) for other in places[1:]]


def comparison_record(found: Sequence[Comparison]) -> str:
    """The text of comparison.json."""
    return _json({"schema_version": 1, "comparisons": [comparison.as_dict() for comparison in found]})


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("the output must be a folder", where=str(folder), got=error.strerror or "") from None


def _places(record: Path) -> list[Path]:
    """A record as it is; a folder of several systems' runs as those, in the order of their study."""
    from workup.report import Report

    if not record.is_dir() or (record / "report.json").exists():
        return [record]
    inner = {file.parent: Report.read(file) for file in sorted(record.glob("*/report.json"))}

    def place(run: Path) -> int:
        systems = [part.get("name") or part.get("use") for part in inner[run].study.get("systems") or ()]
        name = inner[run].system.get("name")
        return systems.index(name) if name in systems else len(systems)

    return sorted(inner, key=place) or [record]


def _compared(first: Path, second: Path, *, margin: float | None, metrics: Sequence[str]) -> Comparison:
    """Paired where both runs can be read again and answered the same cases, else from the records alone."""
    from workup import compare as comparing
    from workup.report import Report

    old, new = Report.read(first), Report.read(second)
    notes: list[str] = []
    rows = None
    if old.corpus.get("sha256") == new.corpus.get("sha256") and old.study.get("task") == new.study.get("task"):
        try:
            rows = _paired(first, old, second, new, notes)
        except WorkupError as error:
            # Said here and not in the record, which must not hold the paths of this machine.
            say(f"not paired: {error}")
            notes.append("The rows could not be read again, so what stands here rests on the two records alone.")
    return comparing.compare(old, new, margin=margin, metrics=metrics, paired=rows, notes=notes)


def _paired(first: Path, old: Report, second: Path, new: Report, notes: list[str]) -> list[dict[str, Any]]:
    from workup.compare import compare_scores

    study, mine, metrics, draws = _scored(first, old)
    _, theirs, others, _ = _scored(second, new)
    known = {(metric.name, tuple(metric.at.items())) for metric in others}
    shared = [metric for metric in metrics if (metric.name, tuple(metric.at.items())) in known]
    groups = list(mine.groups) if "subgroups" in study.lenses else []
    rows = compare_scores(mine, theirs, shared, draws, groups=groups)
    if len(mine) != len(theirs) or set(mine["row"]) != set(theirs["row"]):
        both = len(set(mine["row"]) & set(theirs["row"]))
        notes.append(f"Compared on the {both:,} rows both answered, of {len(mine):,} and {len(theirs):,}.")
    return rows


def _scored(place: Path, held: Report) -> tuple[Study, Scores, list[Metric], Draws]:
    """The rows of a run read again from its table and its recorded outputs; no system is asked."""
    from workup import plugins
    from workup.cli.running import Unasked, load
    from workup.estimate import Draws
    from workup.runs import RunDirectory, Unrecorded
    from workup.validate import Opener, output_log, strata

    place = place if place.is_dir() else place.parent
    try:
        study_file = jsons.loads((place / "timings.json").read_text(encoding="utf-8"))["study_file"]
    except (OSError, ValueError, KeyError):
        raise RunError(f"{place}: a report alone holds no rows, and it is not said which study made it.") from None
    study = load(place / study_file)
    task = plugins.find("tasks", study.task)()
    opener = Opener(study, str(held.system["name"]) if study.systems else None)
    corpus = task.read(study)
    if corpus.sha256 != held.corpus["sha256"] or opener.identity() != dict(held.system):
        raise RunError(f"{place}: the table or the system is no longer the one of the report.")
    if getattr(opener(), "recorded", False):
        outputs = task.run(opener, corpus, Unasked(), Unrecorded(), _silent)
    elif not any((place / "outputs").glob("*.jsonl")):
        raise RunError(f"{place}: its outputs were removed.")
    else:
        with RunDirectory.open(place) as run:
            outputs = task.run(opener, corpus, Unasked(), output_log(run, opener, corpus), _silent)
    scores = task.scores(corpus, outputs)
    draws = Draws(study.seed, study.bootstrap.replicates, strata(study, scores))
    return study, scores, task.metrics(scores, study), draws


def _silent(what: str, done: int, total: int) -> None:
    pass


def lines(comparison: Comparison) -> Iterator[str]:
    """A comparison for reading: the headline, then what else improved or regressed, largest first."""
    from workup.compare import gain
    from workup.errors import visible

    names = [str(side["system"].get("name")) for side in (comparison.first, comparison.second)]
    yield visible(f"B {names[1]} against A {names[0]}")
    for note in comparison.notes:
        yield visible(f"  {note}")
    rows = sorted(comparison.rows, key=lambda row: (row["p"] is None, row["p"] or 0.0, -abs(gain(row)[0] or 0.0)))
    for title, chosen in (
        ("Headline, p adjusted by Holm", [row for row in comparison.rows if row["headline"]]),
        ("Improved elsewhere, not adjusted", _moved(rows, "better")),
        ("Regressed elsewhere, not adjusted: look closer", _moved(rows, "worse")),
    ):
        if chosen:
            yield f"{title}:"
            yield from (visible(_row_line(row)) for row in chosen[:_SHOWN])
            if len(chosen) > _SHOWN:
                yield f"  … and {len(chosen) - _SHOWN} more; --json - shows all"
    judged = [row for row in comparison.rows if not row["headline"]]
    unclear = sum(row["direction"] == "no_clear_difference" for row in judged)
    unknown = sum(row["direction"] == "not_assessed" for row in judged)
    yield f"Elsewhere {unclear} of {len(judged)} show no clear difference and {unknown} could not be assessed."


def _moved(rows: Sequence[dict[str, Any]], direction: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["direction"] == direction and not row["headline"]]


def _row_line(row: dict[str, Any]) -> str:
    from workup.reports.wording import number, slice_name

    where = f" [{slice_name(row['slice'])}]" if row["slice"] else ""
    verdict = _WORDS.get(row["verdict"], row["verdict"])
    if row["margin"] is not None:
        moved = f", {row['direction']}" if row["direction"] in {"better", "worse"} - {row["verdict"]} else ""
        verdict += f" (margin {row['margin']:g}{moved})"
    p = row["p"] if row["p_adjusted"] is None else row["p_adjusted"]
    tail = f", p {number(p)}" if p is not None else ""
    why = f"  ({row['reason']})" if row["reason"] else ""
    ends = f"A {_figure(row['first'])}, B {_figure(row['second'])}, B − A {_figure(row)}{tail}"
    return f"  {verdict:<20} {row['metric']}{where}: {ends}{why}"
