"""`workup run`: the main job, into a run directory that resumes and can be verified."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from workup.cli.common import Progress, command, detail, say, verdict_code
from workup.errors import RunError

if TYPE_CHECKING:
    from workup.report import Report
    from workup.study import Study
    from workup.task import Budget


FILES = {"text": "report.txt", "json": "report-copy.json", "json-flat": "report-flat.json"}


def add_to(app: typer.Typer) -> None:
    """Hang the command on the tree."""
    command(app, name="run", example="workup run study.yaml -o runs/first --engine processes --workers 2")(run)


def run(
    study: Annotated[Path, typer.Argument(help="Study file")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Run directory; runs/NAME beside the study if absent")
    ] = None,
    engine: Annotated[str | None, typer.Option(help="serial or processes; the study's own when absent")] = None,
    workers: Annotated[int | None, typer.Option(help="Worker processes; 0 is one per core")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the study and say what would be done")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget earlier outputs and ask the system again")] = False,
    sample: Annotated[int | None, typer.Option(help="So many cases only: seeded, stratified by type")] = None,
    max_calls: Annotated[int | None, typer.Option(help="Most calls of a paid system; a later run goes on")] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="Most that a paid system may cost; a later run goes on")
    ] = None,
    details: Annotated[
        Literal["primary", "all"], typer.Option(help="Single units in details.jsonl: of the primary setting, or of all")
    ] = "primary",
    show_text: Annotated[
        bool, typer.Option("--show-text", help="Write the text of documents into the record, which then holds PHI")
    ] = False,
    allow_unsure: Annotated[bool, typer.Option("--allow-unsure", help="Undecided gates do not fail")] = False,
) -> None:
    """Run a study; the same command goes on where a stopped run ended."""
    from workup.runs import safe_name
    from workup.task import Budget

    plan = load(study, engine=engine, workers=workers, sample=sample)
    budget = Budget(max_calls, max_cost, say)
    directory = out or plan.base / "runs" / safe_name(plan.name)
    names: list[str | None] = [part.name or part.use for part in plan.systems]
    if dry_run:
        _describe(plan, directory)
        return
    outcomes = []
    for name in names or [None]:
        place = directory / safe_name(str(name)) if len(names) > 1 else directory
        report = run_system(plan, study, name, place, fresh=fresh, budget=budget, details=details, show_text=show_text)
        say(f"{place / 'report.json'}")
        typer.echo(str(report))
        for verdict in report.verdicts:
            typer.echo(f"{verdict.outcome:<12} {verdict.rule}  ({verdict.reason})")
        outcomes += [verdict.outcome for verdict in report.verdicts]
    if len(names) > 1:
        _compare(plan, directory, [directory / safe_name(str(name)) for name in names])
    raise typer.Exit(verdict_code(outcomes, allow_unsure=allow_unsure))


def load(file: Path, *, engine: str | None = None, workers: int | None = None, sample: int | None = None) -> Study:
    """Read a study and let its folder hold modules that `use: module:Object` names."""
    from workup.study import Study

    study = Study.load(file)
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    changes: dict[str, Any] = {} if engine is None else {"engine": engine}
    if workers is not None:
        changes["workers"] = workers
    if sample is not None:
        changes["corpus"] = study.corpus.model_copy(update={"sample": sample})
    return study.model_copy(update=changes) if changes else study


def run_system(
    study: Study,
    file: Path,
    name: str | None,
    place: Path,
    *,
    fresh: bool,
    budget: Budget | None = None,
    details: Literal["primary", "all"] = "primary",
    show_text: bool = False,
) -> Report:
    """Validate one system of a study into a run directory."""
    from workup.cli.records import render
    from workup.runs import RunDirectory
    from workup.task import Budget
    from workup.validate import validate

    started, cpu = time.monotonic(), time.process_time()
    with RunDirectory.open(place, fresh=fresh) as directory, Progress() as progress:
        directory.log(f"study {study.name}, system {name or 'recorded'}, engine {study.engine}")
        report = validate(
            study,
            system=name,
            run=directory,
            budget=budget or Budget(),
            details=details,
            show_text=show_text,
            watch=progress,
        )
        for form in study.report.formats:
            directory.write(FILES.get(form, f"report.{form}"), render(report, form))
        measured = {"seconds": time.monotonic() - started, "cpu_seconds": time.process_time() - cpu}
        directory.timings({**measured, **_host(study), "study_file": os.path.relpath(file.resolve(), place.resolve())})
        directory.write("report.json", report.to_json())
        directory.log(f"{report.corpus['n_cases']} cases, {report.corpus['n_patients']} patients")
        for result in report.results.values():
            undecided = sum(e.status != "ok" for e in result.estimates)
            directory.log(f"{result.lens}: {len(result.estimates)} estimates, {undecided} of them without an interval")
        directory.log(f"versions {dict(report.environment)}, workup {report.workup}")
        directory.log(f"report {report.sha256}")
    detail(f"{time.monotonic() - started:.1f} s")
    return report


def _compare(study: Study, directory: Path, places: list[Path]) -> None:
    """Every system against the first, paired by row, beside their runs."""
    from workup.cli.comparing import compared, contrasted, tag_lines, write_comparison

    tags = contrasted(places, [part.tags for part in study.systems])
    for line in tag_lines(tags):
        typer.echo(line)
    write_comparison(compared(places), directory, forms=study.report.formats, tags=tags)


def _host(study: Study) -> dict[str, Any]:
    """What the machine decides."""
    import platform

    facts: dict[str, Any] = {"engine": study.engine, "workers": study.workers, "cores": os.cpu_count()}
    with contextlib.suppress(ImportError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        facts["peak_memory_mb"] = peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
    return {**facts, "machine": platform.machine(), "platform": platform.system()}


def again(directory: Path, held: Report, study: Path | None) -> Report:
    """The report of a run directory made anew from its recorded outputs, without asking the system again."""
    from workup.runs import RunDirectory, study_of
    from workup.validate import validate

    study = study or study_of(directory)
    if study is None:
        raise RunError(f"{directory}: it is not said which study made this run. To fix: give --study.")
    plan = load(study).model_copy(update={"engine": "workup.cli.running:Unasked"})
    name = str(held.system["name"]) if plan.systems else None
    with RunDirectory.open(directory) as opened, Progress() as progress:
        return validate(plan, system=name, run=opened, watch=progress)


class Unasked:
    """The engine of `verify`, which has recorded outputs to score and asks no system."""

    asks = False

    def map(self, setup: Any, items: Any) -> Any:
        """Nothing, or an error where outputs are missing."""
        if items:
            raise RunError(
                f"outputs of {len(items)} batches are not recorded (any more), and verify asks no system. "
                "To fix: run the study again."
            )
        return iter(())


def _describe(study: Study, directory: Path) -> None:
    """What a run would do, after reading and checking everything it needs."""
    from workup import plugins
    from workup.gates import Gate
    from workup.report import Report
    from workup.validate import Opener, check_settings

    task = plugins.find("tasks", study.task)()
    for rule in study.gates:
        Gate.parse(rule, known=task.metric_names, task=study.task)
    for lens in study.lenses:
        plugins.find("lenses", lens)
    for part in study.systems:
        check_settings(study, part)
    plugins.make("engines", study.engine, {}, where="engine", context={"workers": study.workers})
    if study.baseline:
        Report.read(study.base / study.baseline)
    corpus = task.read(study)
    facts = corpus.as_dict()
    systems = ", ".join(part.name or part.use for part in study.systems) or "recorded"
    typer.echo(f"study     {study.name} ({study.task})")
    typer.echo(f"corpus    {corpus.name}: {facts['n_cases']:,} cases, {facts['n_patients']:,} patients")
    typer.echo(f"systems   {systems}")
    typer.echo(f"lenses    {', '.join(study.lenses)}")
    typer.echo(f"resamples {study.bootstrap.replicates:,}")
    typer.echo(f"gates     {len(study.gates)}")
    typer.echo(f"into      {directory}")
    for part in study.systems:
        if estimate := getattr(task, "estimate", None):
            system = Opener(study, part.name or part.use)()
            if not getattr(system, "recorded", False):
                typer.echo(f"asks      {part.name or part.use}: {estimate(study, corpus, system)}")
    for note in corpus.notes:
        typer.echo(f"note      {note}")
