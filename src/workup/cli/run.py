"""`workup run`: the main job, into a run directory that resumes and can be verified."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from workup.cli.common import VOICE, Progress, command, detail, echo, say, say_names, verdict_code
from workup.errors import RunError, WorkupError, visible
from workup.files.output_paths import check_folder

if TYPE_CHECKING:
    from workup.preflight import Ready
    from workup.report import Report
    from workup.runs import RunDirectory
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
    engine: Annotated[
        str | None, typer.Option(help="serial, processes, dask or spark; the study's own when absent")
    ] = None,
    engine_with: Annotated[
        list[str] | None, typer.Option(help="Setting of the engine as name=value, such as address; repeat for several")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes that ask the system, and threads of the lenses; 0 is one per core")
    ] = None,
    shard: Annotated[
        str | None, typer.Option(help="Ask one share only, such as 3/40; workup merge joins them into one run")
    ] = None,
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
    from workup.cli.report import form_faults
    from workup.preflight import checked
    from workup.runs import safe_name
    from workup.task import Budget

    plan = load(study, engine=engine, engine_with=engine_with, workers=workers, sample=sample)
    if engine is None and "engine" not in plan.model_fields_set and _spreads(plan):
        plan = plan.model_copy(update={"engine": "auto"})
    budget = Budget(max_calls, max_cost, say)
    directory = out or plan.base / "runs" / safe_name(plan.name)
    names: list[str | None] = [part.name or part.use for part in plan.systems]
    faults = form_faults(plan.report.formats, where="report.formats")
    ready: Ready | None = checked(plan, more=faults, dry_run=dry_run)
    if dry_run:
        assert ready is not None
        _describe(plan, directory, ready)
        return
    assert ready is not None
    if shard is not None:
        from workup.cli.shard import ask_shard

        ask_shard(plan, study, ready, shard, out, fresh=fresh, budget=budget)
        return
    warned = warn(plan, ready)
    outcomes = []
    for name in names or [None]:
        place = directory / safe_name(str(name)) if len(names) > 1 else directory
        report = run_system(
            plan,
            study,
            name,
            place,
            fresh=fresh,
            budget=budget,
            details=details,
            show_text=show_text,
            ready=ready,
        )
        ready = None  # a task keeps what one system answered: the next begins anew
        outcomes += tell(report, place, said=warned)
    if len(names) > 1:
        compare_runs(plan, study, directory, [directory / safe_name(str(name)) for name in names])
    raise typer.Exit(verdict_code(outcomes, allow_unsure=allow_unsure))


def _spreads(study: Study) -> bool:
    """Whether every system of a study says that it may be opened in several processes at once: it keeps to one core,
    and calls no service that would be called the more often."""
    from workup import plugins

    try:
        return bool(study.systems) and all(
            getattr(plugins.find("systems", part.use), "spreads", False) is True for part in study.systems
        )
    except WorkupError:  # told with all other faults when the study is checked
        return False


def warn(study: Study, ready: Ready) -> tuple[str, ...]:
    """Say what a person should look at before anything is run; answers the warnings of the study itself."""
    for line in (*ready.warnings, *(_unattainable(study, ready) if getattr(ready.task, "unattainable", None) else ())):
        say(line)
    return ready.warnings


def tell(report: Report, place: Path, *, said: Sequence[str]) -> list[str]:
    """Say what came of a run; answers the outcomes of its gates."""
    say_names(report, said=said)
    say(f"{place / 'report.json'}")
    echo(str(report))
    for verdict in report.verdicts:
        echo(visible(f"{verdict.outcome:<12} {verdict.rule}  ({verdict.reason})"))
    return [verdict.outcome for verdict in report.verdicts]


def load(
    file: Path,
    *,
    engine: str | None = None,
    engine_with: Sequence[str] | None = None,
    workers: int | None = None,
    sample: int | None = None,
) -> Study:
    """Read a study and let its folder hold modules that `use: module:Object` names."""
    from workup.cli.detect import settings_of
    from workup.study import Study
    from workup.study_modules import look_beside

    look_beside(file.resolve().parent)  # first: the task itself may be a module beside the study
    study = Study.load(file)
    changes: dict[str, Any] = {}
    if engine is not None:
        own = study.engine_settings if engine == study.engine else {}
        changes = {"engine": engine, "engine_settings": own}
    if engine_with:
        settings = settings_of(list(engine_with), where="--engine-with")
        changes["engine_settings"] = {**changes.get("engine_settings", study.engine_settings), **settings}
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
    ready: Ready | None = None,
) -> Report:
    """Validate one system of a study into a run directory; the record is kept whatever becomes of its drawings."""
    from workup.report import Report
    from workup.runs import RunDirectory
    from workup.runs.made_here import remember
    from workup.task import Budget
    from workup.validate import validate

    check_folder(place)
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
            ready=ready,
        )
        directory.write("report.json", report.to_json())
        measured = {"seconds": time.monotonic() - started, "cpu_seconds": time.process_time() - cpu}
        directory.timings({**measured, **_host(study), "study_file": os.path.relpath(file.resolve(), place.resolve())})
        remember(place, file)
        directory.log(f"{report.corpus['n_cases']} cases, {report.corpus['n_patients']} patients")
        for result in report.results.values():
            undecided = sum(e.status != "ok" for e in result.estimates)
            directory.log(f"{result.lens}: {len(result.estimates)} estimates, {undecided} of them without an interval")
        directory.log(f"versions {dict(report.environment)}, workup {report.workup}")
        directory.log(f"report {report.sha256}")
        # From the record as it was written, with its twelve digits: a page drawn again later is then the same page.
        _draw(Report.read(place), study.report.formats, directory)
    detail(f"{time.monotonic() - started:.1f} s")
    return report


def _draw(report: Report, forms: Sequence[str], directory: RunDirectory) -> None:
    """Every form that can be drawn; of those that cannot, one error at the end, since the record is safe by then."""
    from workup.cli.report import render

    failed: dict[str, str] = {}
    for form in forms:
        try:
            directory.write(FILES.get(form, f"report.{form}"), render(report, form))
        except Exception as error:
            failed[form] = str(error) if isinstance(error, WorkupError) else f"{type(error).__name__} while drawing"
            directory.log(f"{form} was not drawn: {type(error).__name__}")
            if VOICE.debug:
                raise
    if failed:
        why = "; ".join(f"{form}: {said.rstrip('.')}" for form, said in failed.items())
        again = " ".join(f"-f {form} -o {FILES.get(form, f'report.{form}')}" for form in list(failed)[:1])
        raise RunError(
            f"{directory.path}: the study was run and its record is kept in report.json, but not every form could be "
            f"drawn ({why}). To fix: mend that, then redraw with  workup report {directory.path} {again}"
        )


def compare_runs(study: Study, file: Path, directory: Path, places: list[Path]) -> None:
    """Every system against the first, paired by row, beside their runs."""
    from workup.cli.compare import Runs, contrasts, table_of, tag_lines, write_comparison

    runs = Runs(places, studies=dict.fromkeys(places, file))
    tags = contrasts(runs)
    for line in tag_lines(tags):
        echo(line)
    models = table_of(runs) if len(places) > 2 else None
    write_comparison(runs.compared(), directory, forms=study.report.formats, tags=tags, models=models)


def _host(study: Study) -> dict[str, Any]:
    """What the machine decides."""
    import platform

    facts: dict[str, Any] = {"engine": study.engine, "workers": study.workers, "cores": os.cpu_count()}
    with contextlib.suppress(ImportError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        facts["peak_memory_mb"] = peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
    return {**facts, "machine": platform.machine(), "platform": platform.system()}


_MANY_ROWS = 1e6  # of a patient: more would not move the most that a perfect system can show


def _unattainable(study: Study, ready: Ready) -> list[str]:
    """Gates that no system could meet: as the task tells from the cases, or with as many patients as there are,
    however many rows each of them has."""
    from workup.gates import unattainable

    own = getattr(ready.task, "unattainable", None)
    if own is not None:
        return list(own(study, ready.corpus, ready.gates))
    from workup.stats.intervals import ASSUMED_ICC

    patients = ready.corpus.as_dict()["n_patients"] or 0
    icc = ASSUMED_ICC if study.icc is None else study.icc
    shares = [name for name, card in ready.task.cards.items() if card.unit == "share"]
    return unattainable(ready.gates, [_MANY_ROWS] * patients, shares=shares, icc=icc)


def _describe(study: Study, directory: Path, ready: Ready) -> None:
    """What a run would do, now that everything it needs was read and checked."""
    from workup.validate import Opener

    def tell(line: str) -> None:
        """Names in a study may hold line ends: each fact stays one line, and none looks like a verdict."""
        echo(visible(line))

    corpus = ready.corpus
    facts = corpus.as_dict()
    systems = ", ".join(part.name or part.use for part in study.systems) or "recorded"
    tell(f"study     {study.name} ({study.task})")
    counted = f"{facts['n_cases']:,} cases, {facts['n_patients']:,} patients" if ready.rows_read else "not read"
    tell(f"corpus    {corpus.name}: {counted}")
    tell(f"systems   {systems}")
    tell(f"lenses    {', '.join(study.lenses)}")
    tell(f"resamples {study.bootstrap.replicates:,}")
    tell(f"gates     {len(study.gates)}")
    unattainable = _unattainable(study, ready) if ready.rows_read else ()
    for line in (*unattainable, *ready.warnings):
        tell(f"warning   {line}")
    tell(f"into      {directory}")
    for part in study.systems if ready.rows_read else ():
        if estimate := getattr(ready.task, "estimate", None):
            system = Opener(study, part.name or part.use)()
            beside = getattr(ready.task, "asks_beside", None)
            if not getattr(system, "recorded", False):
                tell(f"asks      {part.name or part.use}: {estimate(study, corpus, system)}")
            elif beside and (said := beside(study, corpus)):
                tell(f"asks      {said}")
    for note in corpus.notes:
        tell(f"note      {note}")
