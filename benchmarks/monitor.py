"""How fast the store takes in rows: predictions and their outcomes in batches, as a feed sends them, on each database.

`python -m benchmarks.monitor` prints rows a second, the slowest batches, and how long closing a year of windows takes;
a number behind it is how many predictions are sent (100,000 when absent). Aims: 20,000 rows/s on SQLite and 10,000 on
PostgreSQL.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from workup.monitor.columns import checked_outcomes, checked_predictions
from workup.monitor.plan import Plan
from workup.monitor.simulated_year import plan_of, simulated_year
from workup.monitor.store import ingest, models
from workup.monitor.store.database import open_store
from workup.monitor.worker import Worker

BATCH = 5_000
AIMS = {"SQLite": 20_000, "PostgreSQL": 10_000}
_MONTHS = 24


def measured(name: str, url: str, count: int) -> None:
    """Send a simulated year to one store and print what it took."""
    plan = Plan.of(plan_of())
    year = simulated_year(1, rows_a_month=count // _MONTHS)
    store = open_store(url)
    model = models.register_model(store, plan.model, task=plan.task, now=1, who="bench")
    models.keep_plan(store, model, content=plan.record(), sha256=plan.sha256, now=1, who="bench")
    took: list[float] = []
    rows, busy = 0, 0.0
    for table, kind in ((year.predictions, "predictions"), (year.outcomes, "outcomes")):
        for first in range(0, len(table["id"]), BATCH):
            part = {column: values[first : first + BATCH] for column, values in table.items()}
            started, own = time.perf_counter(), time.process_time()
            if kind == "predictions":
                made = checked_predictions(part, plan.columns, version=plan.version)
                ingest.ingest_predictions(store, model, made, now=1)
            else:
                ingest.ingest_outcomes(store, model, checked_outcomes(part, plan.columns), now=1)
            took.append(time.perf_counter() - started)
            busy += time.process_time() - own
            rows += len(part["id"])
    rate, slow = rows / sum(took), 1_000 * float(np.percentile(took, 99))
    print(
        f"{name}: {rows:,} rows in batches of {BATCH:,}: {rate:,.0f} rows/s ({rate / AIMS[name]:.2f} × the aim), "
        f"p99 of a batch {slow:,.0f} ms; {rows / busy:,.0f} rows for each second of this process's own work"
    )
    started = time.perf_counter()
    done = Worker(store).step(as_of=int(np.datetime64("2026-01-31", "us").astype(np.int64)))
    print(f"{name}: {done.closed} windows closed in {time.perf_counter() - started:.1f} s")
    store.close()


@contextmanager
def _postgresql() -> Iterator[str | None]:
    from tests.support.postgresql import binaries, running_server

    if binaries() is None:
        yield None
        return
    server = running_server()
    yield next(server).new_database()
    server.close()


def main(count: int = 100_000) -> None:
    """Both databases; PostgreSQL where one is installed."""
    with tempfile.TemporaryDirectory() as folder:
        measured("SQLite", f"{folder}/monitor.db", count)
    with _postgresql() as url:
        if url is None:
            print("PostgreSQL: none is installed")
        else:
            measured("PostgreSQL", url, count)


if __name__ == "__main__":
    main(*(int(one) for one in sys.argv[1:2]))
