"""A feed and a worker killed at random points, again and again: is anything lost, doubled or stuck, and are windows and
alerts those of a run that nobody broke? `python -m sims.monitor_kills` kills 25 times on each database."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import func, select

from workup.monitor.columns import checked_outcomes, checked_predictions
from workup.monitor.plan import Plan
from workup.monitor.simulated_year import plan_of, simulated_year
from workup.monitor.store import alerts, ingest, models, tables
from workup.monitor.store.database import open_store
from workup.monitor.store.windows import estimates, windows
from workup.monitor.worker import Worker

SEED = 20261115
KILLS = 25  # on each database
_LATEST = "2025-06-15"
_ROWS = 160  # a month
_BATCH = 400
_LONGEST = 300  # seconds of one child


class Sent(NamedTuple):
    """One thing that the child does, in order; it says so once it is done."""

    what: str  # predictions, outcomes or work
    first: int = 0
    last: int = 0
    as_of: int = 0


def plan() -> Plan:
    """Two lines and small windows, so that much happens in little time."""
    content = plan_of() | {"minimum": {"rows": 40, "events": 5, "others": 5}, "label_delay": 30}
    content["columns"] = content["columns"] | {"inputs": []}
    content["watch"] = [{"metric": "auroc", "limit": 0.05}, {"metric": "auroc", "by": "sex", "limit": 0.08}]
    return Plan.of(content)


class Feed:
    """A year with an early drift, cut into batches, and the moments at which the worker is called."""

    def __init__(self) -> None:
        self.plan = plan()
        year = simulated_year(SEED, rows_a_month=_ROWS, drift_month=2, auroc=-0.28)
        end = np.datetime64(_LATEST, "us")
        self.predictions = {k: v[year.predictions["time"] < end] for k, v in year.predictions.items()}
        self.outcomes = {k: v[year.outcomes["known"] < end] for k, v in year.outcomes.items()}

    def todo(self) -> list[Sent]:
        """All of the baseline first, then month by month with work in between."""
        found: list[Sent] = []
        done = {"predictions": 0, "outcomes": 0}
        for month in ("2025-01-01", "2025-02-01", "2025-03-03", "2025-04-02", "2025-05-01", "2025-06-01", _LATEST):
            at = np.datetime64(month, "us")
            upto = {
                "predictions": int(np.searchsorted(self.predictions["time"], at)),
                "outcomes": int(np.searchsorted(self.outcomes["known"], at)),
            }
            for what, last in upto.items():
                for first in range(done[what], last, _BATCH):
                    found.append(Sent(what, first, min(last, first + _BATCH)))
                done[what] = last
            found.append(Sent("work", as_of=int(at.astype(np.int64))))
        return found

    def do(self, store: Any, model: int, one: Sent) -> None:
        """Do one of them; done again, it changes nothing."""
        if one.what == "work":
            worker = Worker(store)
            worker.step(as_of=one.as_of)
            worker.close()
            return
        table = getattr(self, one.what)
        part = {name: column[one.first : one.last] for name, column in table.items()}
        if one.what == "predictions":
            batch = checked_predictions(part, self.plan.columns, version=self.plan.version)
            ingest.ingest_predictions(store, model, batch, now=one.as_of)
        else:
            ingest.ingest_outcomes(store, model, checked_outcomes(part, self.plan.columns), now=one.as_of)


def child(url: str, told: Path, feed: Feed) -> None:
    """Go on where the last child was killed, telling of each thing once it is acknowledged."""
    store = open_store(url)
    model = models.register_model(store, feed.plan.model, task=feed.plan.task, now=1, who="feed")
    models.keep_plan(store, model, content=feed.plan.record(), sha256=feed.plan.sha256, now=1, who="feed")
    _free_the_lease(store)
    todo = feed.todo()
    done = len(told.read_bytes()) if told.exists() else 0
    with open(told, "ab", buffering=0) as acknowledged:
        for one in todo[done:]:
            feed.do(store, model, one)
            acknowledged.write(b".")
    store.close()


def _free_the_lease(store: Any) -> None:
    """A worker that was killed leaves its lease to run out; here nobody waits for that."""
    with store.write() as connection:
        connection.execute(tables.LEASES.delete())


def forked(url: str, told: Path, feed: Feed) -> int:
    """A child as a process of its own, which needs to import nothing."""
    number = os.fork()
    if number == 0:
        signal.alarm(_LONGEST)  # a child that hangs ends, and is told of
        try:
            child(url, told, feed)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return number


class Outcome(NamedTuple):
    """What a store holds in the end, without numbers and times of its own."""

    rows: dict[str, int]
    windows: list[Any]
    estimates: list[Any]
    alerts: list[Any]
    opened_twice: int


def held(url: str) -> Outcome:
    """Everything that an unbroken run must agree on."""
    store = open_store(url)
    with store.read() as connection:
        names = ("predictions", "outcomes")
        rows = {
            n: int(connection.execute(select(func.count()).select_from(tables.METADATA.tables[n])).scalar_one())
            for n in names
        }
        found = [
            [
                (one["name"], one["state"], one["rows"], one["labelled"], one["events"])
                for one in windows(connection, version)
            ]
            for version in [row["id"] for row in models.versions(connection, 1)]
        ]
        shown = [
            tuple(
                str(one[name])
                for name in ("window_name", "kind", "metric", "slice", "part", "value", "statistic", "signal")
            )
            for row in models.versions(connection, 1)
            for one in estimates(connection, row["id"])
        ]
        raised = alerts.alerts(connection, now=1)
        twice = sum(
            [event["what"] for event in alerts.alert_events(connection, one["id"])].count("opened") != 1
            for one in raised
        )
    store.close()
    names = ("cause", "relapse", "state", "severity", "effect", "opened_window", "last_window", "quiet")
    return Outcome(
        rows, found, sorted(shown), sorted(json.dumps([one[name] for name in names]) for one in raised), twice
    )


def killed(url: str, *, kills: int, seed: int, feed: Feed, folder: Path) -> dict[str, Any]:
    """Kill a child so many times while it works, let one finish, and answer what is held and what was acknowledged."""
    rng = np.random.default_rng(seed)
    told = folder / "acknowledged"
    hit, share = 0, len(feed.todo()) // (kills + 1)
    for _ in range(kills):
        before = told.stat().st_size if told.exists() else 0
        number = forked(url, told, feed)
        last = time.monotonic() + float(rng.uniform(0.02, 0.5))
        # At a random moment, but on a fast machine before a child has done more than its share.
        while time.monotonic() < last and (told.stat().st_size if told.exists() else 0) - before < share:
            time.sleep(0.001)
        os.kill(number, signal.SIGKILL)
        _, status = os.waitpid(number, 0)
        hit += os.WIFSIGNALED(status)
        _check_acknowledged(url, told, feed)
    number = forked(url, told, feed)
    _, status = os.waitpid(number, 0)
    if status:
        raise RuntimeError("the last child did not finish")
    return {"hit": hit, "held": held(url)}


def _check_acknowledged(url: str, told: Path, feed: Feed) -> None:
    """Rows that were acknowledged before the kill are there after it."""
    done = feed.todo()[: len(told.read_bytes()) if told.exists() else 0]
    wanted = {
        what: sum(one.last - one.first for one in done if one.what == what) for what in ("predictions", "outcomes")
    }
    if not any(wanted.values()):
        return
    store = open_store(url)
    with store.read() as connection:
        for what, count in wanted.items():
            there = connection.execute(select(func.count()).select_from(tables.METADATA.tables[what])).scalar_one()
            assert there >= count, f"{count - there} {what} were acknowledged and lost"
    store.close()


def unbroken(url: str, feed: Feed, folder: Path) -> Outcome:
    """The same without a kill."""
    number = forked(url, folder / "unbroken", feed)
    _, status = os.waitpid(number, 0)
    if status:
        raise RuntimeError("the unbroken run did not finish")
    return held(url)


def main(kills: int = KILLS) -> int:
    """Both databases; PostgreSQL only where one is installed."""
    from tests.support.postgresql import binaries, running_server

    feed = Feed()
    well = True
    for database, urls in _databases(binaries() is not None, running_server):
        with tempfile.TemporaryDirectory() as folder:
            wanted = unbroken(next(urls), feed, Path(folder))
            found = killed(next(urls), kills=kills, seed=SEED, feed=feed, folder=Path(folder))
        same = found["held"] == wanted
        well &= same and wanted.opened_twice == 0
        print(
            f"{database}: {found['hit']} of {kills} kills hit; {found['held'].rows}; {len(wanted.alerts)} alerts; "
            f"{len(wanted.estimates)} estimates; {'as in an unbroken run' if same else 'NOT as in an unbroken run'}"
        )
    return 0 if well else 1


def _databases(installed: bool, running_server: Any) -> Iterator[tuple[str, Iterator[str]]]:
    with tempfile.TemporaryDirectory() as folder:
        yield "SQLite", (f"{folder}/{number}.db" for number in range(9))
    if installed:
        server = running_server()
        made = next(server)
        yield "PostgreSQL", (made.new_database() for _ in range(9))
        server.close()


if __name__ == "__main__":
    sys.exit(main())
