"""Does the monitor notice, does it cry wolf, and does it keep its word? Simulated years of a deployed model.

Years with a planted drift in one group run through the whole store; the delay that a plan promises for a change as
large as its limit is set beside the delay that is seen.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from sims.repetitions import Result, Size
from workup import plugins
from workup.monitor import watching
from workup.monitor.columns import checked_outcomes, checked_predictions
from workup.monitor.plan import Plan
from workup.monitor.promise import promises
from workup.monitor.scoring import metrics_of
from workup.monitor.simulated_year import DRIFTS, plan_of, simulated_year
from workup.monitor.store import alerts, ingest, models
from workup.monitor.store.database import open_store
from workup.monitor.worker import Worker
from workup.scores import Scores
from workup.stats.random import generator

NAME = "monitor"
QUESTION = (
    "Is a drift planted in one group alerted within 3 windows in each of 20 years, with at most one innocent alert in "
    "all of them, and is the delay that a plan promises the delay that is seen over 200 years?"
)
SEED = 20261115
SIZE = Size(repetitions=200, replicates=0)
TESTED = ["monitor/plan.py", "monitor/promise.py", "monitor/watching.py", "monitor/worker.py", "monitor/integrity.py"]
MADE_BY = ["repetitions.py", "monitor.py"]

YEARS = 20  # that run through a store, each with a planted drift
MOST_INNOCENT = 1
_AS_OF = int(np.datetime64("2026-01-31", "us").astype(np.int64))
_STABLE, _AFTER = 7, 24  # windows before a change, and after it
_ROWS = 1_200  # of a window
_LIMIT = 0.05
_NEAR = 0.15  # by which the delay seen may differ from the one promised, as a share of it
# What the planted drift touches: the ranking in one group, its spread of risks, and so everyone's and the gap.
_TOUCHED = {
    ("auroc", ""),
    ("auroc", DRIFTS),
    ("sensitivity", "M"),
    ("risk", ""),
    ("age", ""),
    ("creatinine", ""),
}


def run(*, size: Size = SIZE, workers: int = 1, progress: Callable[[str], None] = lambda line: None) -> list[Result]:
    """Both questions. `size` is the number of years for the second; a tenth of it runs through a store."""
    years = max(1, size.repetitions * YEARS // SIZE.repetitions)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(drifted_year, range(years)))
        waits = list(pool.map(waited, range(size.repetitions), chunksize=5))
    results = [_noticed(found), _innocent(found), _kept(waits)]
    for one in results:
        progress(f"{one['cell']}: {one['rate']} (band {one['band']}) {'ok' if one['ok'] else 'NOT ok'}")
    return results


def summarise(results: Sequence[Result]) -> list[Result]:
    """Nothing beyond the cells."""
    return []


def _noticed(found: Sequence[dict[str, Any]]) -> Result:
    soon = sum(one["delay"] is not None and one["delay"] <= 3 for one in found)
    share = soon / len(found)
    return {
        "cell": "planted drift",
        "metric": "alerted within 3 windows",
        "repetitions": len(found),
        "rate": share,
        "delays": [one["delay"] for one in found],
        "band": [1.0, 1.0],
        "ok": share == 1.0,
    }


def _innocent(found: Sequence[dict[str, Any]]) -> Result:
    listed = [name for one in found for name in one["innocent"]]
    return {
        "cell": "innocent alerts",
        "metric": "in all years together",
        "repetitions": len(found),
        "rate": len(listed),
        "which": listed,
        "band": [0, MOST_INNOCENT],
        "ok": len(listed) <= MOST_INNOCENT,
    }


def _kept(waits: Sequence[tuple[float, int | None]]) -> Result:
    promised = float(np.mean([one[0] for one in waits]))
    seen = np.array([_AFTER if one[1] is None else one[1] for one in waits], dtype=np.float64)
    error = float(seen.std(ddof=1) / np.sqrt(seen.size)) if seen.size > 1 else float("inf")
    ratio = float(seen.mean()) / promised
    return {
        "cell": "delay of a change as large as the limit",
        "metric": "seen / promised",
        "repetitions": len(waits),
        "promised_windows": promised,
        "seen_windows": float(seen.mean()),
        "se": error,
        "not_noticed": sum(one[1] is None for one in waits),
        "rate": ratio,
        "band": [1 - _NEAR, 1 + _NEAR],
        "ok": bool(abs(seen.mean() - promised) <= _NEAR * promised + 2 * error),
    }


def drifted_year(number: int, *, rows_a_month: int = _ROWS) -> dict[str, Any]:
    """One year through a store: how soon the planted drift was alerted, and every alert that it does not explain."""
    year = simulated_year(SEED + number, rows_a_month=rows_a_month)
    plan = Plan.of(plan_of())
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(str(Path(folder) / "monitor.db"))
        model = models.register_model(store, plan.model, task=plan.task, now=1, who="sims")
        models.keep_plan(store, model, content=plan.record(), sha256=plan.sha256, now=1, who="sims")
        made = checked_predictions(year.predictions, plan.columns, version=plan.version)
        ingest.ingest_predictions(store, model, made, now=1)
        ingest.ingest_outcomes(store, model, checked_outcomes(year.outcomes, plan.columns), now=1)
        Worker(store).step(as_of=_AS_OF)
        with store.read() as connection:
            raised = alerts.alerts(connection, now=_AS_OF)
        store.close()
    first, delay, innocent = "2025-08", None, []
    for one in raised:
        touched = (one["metric"], one["slice"].get("sex", "")) in _TOUCHED
        if one["opened_window"] < first or not touched:
            innocent.append(f"{one['metric']} {one['slice']} in {one['opened_window']}")
        elif one["metric"] == "auroc" and one["slice"] == {"sex": DRIFTS}:
            delay = int(one["opened_window"][5:7]) - 7
    return {"delay": delay, "innocent": innocent}


def waited(number: int) -> tuple[float, int | None]:
    """One year at the lens: what was promised of a change as large as the limit, and when it was alerted."""
    months = 12 + _STABLE + _AFTER
    plan = {"months": months, "groups": {"sex": {"F": 1.0}}, "prevalence": 0.2, "auroc": 0.8, "start": "2024-01"}
    plan |= {"drift": {"auroc": -_LIMIT}, "drift_from": 12 + _STABLE + 1, "drift_steps": 1, "thresholds": [0.2]}
    seed = int(generator(SEED, "waited", str(number)).integers(2**31))
    table = plugins.find("generators", "cohort")(months * _ROWS, seed=seed, plan=plan).table
    scores = Scores.of(
        {"outcome": table["outcome"], "risk": table["risk"]}, time=table["time"].astype("datetime64[us]")
    )
    month = (table["time"].astype("datetime64[M]") - np.datetime64("2024-01", "M")).astype(np.int64)
    asked = Plan.of(plan_of() | {"watch": [{"metric": "auroc", "limit": _LIMIT}]})
    line = asked.watch[0]
    watch = watching.frozen(
        line, asked, scores.take(np.flatnonzero(month < 12)), metrics_of(asked), chance=asked.chance * 0.8
    )
    [promised] = promises(line, watch)
    assert promised.windows is not None
    for window in range(12, months):
        watch = watch.after(str(window), scores.take(np.flatnonzero(month == window)))
        since = window - 12 - _STABLE + 1
        if since >= 1 and any(alert["opened_window"] == str(window) for _, alert in watch.alerts()):
            return promised.windows, since
    return promised.windows, None
