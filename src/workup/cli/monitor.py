"""`workup monitor`: the plan of a deployed model, its rows taken in, its windows closed, and what is known of it."""

from __future__ import annotations

import datetime
import getpass
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workup.cli import monitor_tokens
from workup.cli.common import Progress, command, emit, emit_json, say
from workup.errors import InputError
from workup.files.output_paths import check_target, said

if TYPE_CHECKING:
    from workup.monitor.plan import Plan
    from workup.monitor.store.database import Store
    from workup.monitor.worker import Done

STORE_VARIABLE = "WORKUP_MONITOR_STORE"
_STORE = f"Store: postgresql://user@host/name, or an SQLite file; ${STORE_VARIABLE}, or monitor.db, when absent"
_PLAN = "Plan of the model, monitor.yaml"
_STARTER = """\
# What is watched of one model, and who does what about it.
model: readmission
version: "1"
columns:
  id: id
  time: time
  risk: risk
  outcome: outcome
  groups: [sex]
  inputs: [age]
cadence: month
label_delay: 30        # days after which outcomes are known
baseline:
  until: 2025-01-01    # rows before this day are compared with
thresholds: [0.2]
owner: who is told
action: what was agreed to do
escalation: who decides when that is not enough
watch:
  - {metric: auroc, limit: 0.05}
  - {metric: auroc, by: sex, limit: 0.08}
  - {metric: calibration_slope, limit: 0.2}
  - {metric: sensitivity, gap: sex, limit: 0.1}
"""

PlanArgument = Annotated[Path, typer.Option("--plan", help=_PLAN)]
StoreOption = Annotated[str | None, typer.Option("--store", help=_STORE)]
KeyOption = Annotated[Path | None, typer.Option(help="Key with which ids are hashed, where the plan asks for that")]
AsOfOption = Annotated[str | None, typer.Option(help="Day that the data speak of, such as 2025-06-30; now when absent")]


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    group = typer.Typer(
        help="Watch a deployed model: plan, store, windows, alerts.", no_args_is_help=True, rich_markup_mode=None
    )
    group.callback()(lambda: None)
    command(group, name="plan", example="workup monitor plan monitor.yaml --baseline 2024.csv -o plan.md")(plan)
    command(group, name="init", example="workup monitor init monitor.yaml")(init)
    command(
        group,
        name="update",
        example="workup monitor update predictions.parquet --outcomes outcomes.csv --plan monitor.yaml",
    )(update)
    command(group, name="ingest", example="workup monitor ingest predictions.csv --plan monitor.yaml")(ingest)
    command(group, name="work", example="workup monitor work --store postgresql://workup@db/monitor")(work)
    command(group, name="status", example="workup monitor status --store monitor.db")(status)
    command(group, name="serve", example="workup monitor serve --store monitor.db --port 8750")(serve)
    monitor_tokens.add_commands(group)
    app.add_typer(group, name="monitor")


def store_url(store: str | None, plan: Path | None = None) -> str:
    """Where the store is: as named, by the environment, or beside the plan."""
    beside = "monitor.db" if plan is None else str(plan.parent / "monitor.db")
    return store or os.environ.get(STORE_VARIABLE) or beside


def person() -> str:
    """Who types the command, as the audit log names them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name
        return f"uid {os.getuid()}"


def plan(
    file: Annotated[Path, typer.Argument(metavar="PLAN", help=_PLAN)],
    baseline: Annotated[Path | None, typer.Option(help="Table of predictions that holds the baseline's rows")] = None,
    outcomes: Annotated[Path | None, typer.Option(help="Table of their outcomes, where it is another")] = None,
    store: Annotated[str | None, typer.Option(help="Store that keeps this version of the plan")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write: .md or .pdf")] = None,
) -> None:
    """Check a plan, keep its version, and print it with what it promises: how seldom it alarms in vain, and how soon it
    notices a change as large as each limit."""
    from workup.monitor.plan_page import sections
    from workup.monitor.updating import promised_by, read_table, register

    check_target(None if output is None else str(output))
    held = _plan(file)
    promised = None
    if baseline is not None:
        promised = promised_by(held, read_table(baseline), None if outcomes is None else read_table(outcomes))
    found = sections(held, promised)
    if store is not None:
        opened = _opened(store)
        register(opened, held, base=file.parent, now=_now(), who=person())
        opened.close()
    if output is not None and output.suffix == ".pdf":
        from workup.reports.comparison_page import render
        from workup.reports.pdf import writer

        emit(writer()(string=render(found)).write_pdf(), str(output))
        return
    from workup.reports.markdown import section_markdown

    marks = ["#", *["##"] * len(found)]
    text = "\n".join(section_markdown(section, mark) for section, mark in zip(found, marks, strict=False))
    emit(text, None if output is None else str(output))


def init(
    file: Annotated[Path, typer.Argument(metavar="PLAN", help=f"{_PLAN}; one to fill in is written where none is")],
    store: StoreOption = None,
) -> None:
    """Register a model by its plan in a new or existing store; without a plan, write one to fill in."""
    from workup.monitor.updating import register

    if not file.exists():
        check_target(str(file))
        with said(file):
            file.write_text(_STARTER, encoding="utf-8")
        say(f"{file}: a plan to fill in. When it is, run the same command again.")
        return
    held = _plan(file)
    opened = _opened(store_url(store, file))
    register(opened, held, base=file.parent, now=_now(), who=person())
    say(f"{held.model} is watched in {opened.shown} by plan {held.sha256[:16]}.")
    opened.close()


def ingest(
    predictions: Annotated[Path | None, typer.Argument(help="Table of predictions")] = None,
    outcomes: Annotated[Path | None, typer.Option(help="Table of outcomes")] = None,
    plan: PlanArgument = Path("monitor.yaml"),
    store: StoreOption = None,
    corrections: Annotated[bool, typer.Option(help="Outcomes that differ from known ones take their place")] = False,
    key_file: KeyOption = None,
) -> None:
    """Take in predictions and outcomes. What was sent before changes nothing."""
    opened, _ = _taken_in(predictions, outcomes, plan, store, corrections, key_file)
    opened.close()


def update(
    predictions: Annotated[Path | None, typer.Argument(help="Table of predictions")] = None,
    outcomes: Annotated[Path | None, typer.Option(help="Table of outcomes")] = None,
    plan: PlanArgument = Path("monitor.yaml"),
    store: StoreOption = None,
    site: Annotated[
        Path | None, typer.Option(help="Folder of the static site; 'site' beside the plan if absent")
    ] = None,
    corrections: Annotated[bool, typer.Option(help="Outcomes that differ from known ones take their place")] = False,
    key_file: KeyOption = None,
    as_of: AsOfOption = None,
) -> None:
    """Take in what is new, close the windows that are mature, and write the static site: all that cron must call."""
    from workup.monitor.site import write_site
    from workup.monitor.worker import Worker

    moment = _moment(as_of)
    opened, held = _taken_in(predictions, outcomes, plan, store, corrections, key_file)
    worker = Worker(opened)
    done = worker.step(as_of=moment)
    worker.close()
    _tell(done)
    now = _now()
    page = write_site(opened, site or plan.parent / "site", now=now)
    _tell_alerts(opened, held, now)
    say(f"The site is at {page}.")
    opened.close()


def work(
    store: StoreOption = None,
    every: Annotated[float, typer.Option(min=1, help="Seconds between two rounds")] = 60.0,
    once: Annotated[bool, typer.Option(help="One round, such as a backfill, and no more")] = False,
    as_of: AsOfOption = None,
) -> None:
    """Close windows as they mature, until stopped. Any number of workers may run: one works, the others wait."""
    from workup.monitor.store.database import StoreUnavailable
    from workup.monitor.worker import Worker

    moment = _moment(as_of)
    opened = _opened(store_url(store), new=False)
    worker = Worker(opened)
    try:
        while True:
            try:
                _tell(worker.step(as_of=moment))
            except StoreUnavailable as error:  # the database is being restarted: what was not kept is done again
                if once:
                    raise
                say(str(error))
            if once:
                return
            time.sleep(every)
    finally:
        worker.close()
        opened.close()


def serve(
    store: StoreOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen on")] = 8750,
    behind_tls: Annotated[
        bool, typer.Option(help="A proxy speaks TLS before it; without that it listens on this machine alone")
    ] = False,
    key_file: KeyOption = None,
) -> None:
    """Serve pages and a programming interface, until stopped. Windows are closed by `workup monitor work` beside it."""
    from workup.monitor.service.context import Context
    from workup.monitor.service.serving import check_place
    from workup.monitor.service.serving import serve as listen
    from workup.signing import read_key

    key = None if key_file is None else read_key(key_file)
    opened = _opened(store_url(store), new=False)
    try:
        context = Context(opened, key=key, behind_tls=behind_tls)
        check_place(context, host)
        say(f"The monitor listens at http://{f'[{host}]' if ':' in host else host}:{port}/")
        listen(context, host=host, port=port)
    finally:
        opened.close()


def status(
    store: StoreOption = None,
    model: Annotated[str | None, typer.Option(help="One model; all when absent")] = None,
    json: Annotated[str | None, typer.Option(help="File for the same as JSON, '-' for standard output")] = None,
) -> None:
    """Print alerts, windows and figures of the models in a store."""
    from dataclasses import asdict

    from workup.monitor.overview import fleet, sections
    from workup.monitor.store.models import model_number, models
    from workup.report import canonical
    from workup.reports.text import section_text

    opened = _opened(store_url(store), new=False)
    now = _now()
    with opened.read() as connection:
        listed = models(connection)
        if model is not None:
            number = model_number(connection, model)
            listed = [one for one in listed if one["id"] == number]
        found = [fleet(connection, listed, now=now, links={})]
        for one in listed:
            found += sections(connection, one, now=now)
    opened.close()
    if json is not None:
        emit_json(
            canonical({"schema_version": 1, "kind": "monitor status", "sections": [asdict(s) for s in found]}), json
        )
    if json != "-":
        emit("\n".join(section_text(section) for section in found), None)


def _plan(file: Path) -> Plan:
    from workup.monitor.plan import Plan

    return Plan.load(file)


def _opened(url: str, *, new: bool = True) -> Store:
    from workup.monitor.store.database import open_store

    return open_store(url, new=new)


def _now() -> int:
    from workup.monitor.store.database import microseconds

    return microseconds()


def _moment(day: str | None) -> int | None:
    if day is None:
        return None
    try:
        found = datetime.datetime.fromisoformat(day)
    except ValueError:
        raise InputError("a day such as 2025-06-30 was expected", where="--as-of", got="another form") from None
    return round(found.replace(tzinfo=found.tzinfo or datetime.UTC).timestamp()) * 1_000_000


def _taken_in(
    predictions: Path | None,
    outcomes: Path | None,
    plan: Path,
    store: str | None,
    corrections: bool,
    key_file: Path | None,
) -> tuple[Store, Plan]:
    from workup.monitor.updating import ingest_tables, read_table, register
    from workup.signing import read_key

    held = _plan(plan)
    tables: list[Any] = [None if one is None else read_table(one) for one in (predictions, outcomes)]
    key = None if key_file is None else read_key(key_file)
    opened = _opened(store_url(store, plan))
    model = register(opened, held, base=plan.parent, now=_now(), who=person())
    with Progress() as progress:
        found = ingest_tables(
            opened,
            model,
            held,
            predictions=tables[0],
            outcomes=tables[1],
            now=_now(),
            who=person(),
            corrections=corrections,
            key=key,
            watch=progress,
        )
    for what, one in found.items():
        say(f"{what}: {one.new:,} new, {one.known:,} known before")
    return opened, held


def _tell(done: Done) -> None:
    if not done.working:
        say("Another worker holds the lease.")
    if done.frozen or done.checked or done.closed or done.restated:
        say(
            f"{done.frozen} baselines frozen; of windows {done.checked} were checked, {done.closed} closed, "
            f"{done.restated} restated"
        )
    for problem in done.problems:
        say(problem)


def _tell_alerts(store: Store, plan: Plan, now: int) -> None:
    from workup.monitor.overview import words
    from workup.monitor.store.alerts import alerts
    from workup.monitor.store.models import model_number

    with store.read() as connection:
        raised = alerts(connection, now=now, model=model_number(connection, plan.model), unresolved=True)
    for one in raised:
        if one["shown"] != "muted":
            say(f"Alert {one['id']} ({one['shown']}, {one['severity']}): {words(one)}. {one['owner']}: {one['action']}")
