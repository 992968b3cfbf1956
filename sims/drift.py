"""Does the monitor leave stable years in peace? Twelve windows with four groups, five metrics and two inputs, against a
frozen baseline of a year."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy import optimize, special

from sims.cohorts import SPREAD, centre
from sims.repetitions import Cell, Outcome, Result, Size
from workup.lenses.drift.charts import Family
from workup.lenses.drift.inputs import InputLimits, InputReference
from workup.lenses.drift.monitor.state import Watching
from workup.lenses.drift.series import every_series
from workup.lenses.drift.windows import Minimum
from workup.metric import Metric
from workup.scores import Levels, Scores
from workup.stats import rank
from workup.stats.arrays import Floats
from workup.stats.random import generator
from workup.tasks.risk import metrics as risk

NAME = "drift"
QUESTION = (
    "Do at most 5 % of stable years raise any alert, and is a planted change found within 3 windows in over 80 %?"
)
SEED = 20261115
SIZE = Size(repetitions=1000)
TESTED = [
    "estimate.py",
    "lenses/drift/alerts.py",
    "lenses/drift/charts.py",
    "lenses/drift/inputs.py",
    "lenses/input_rows.py",
    "lenses/drift/series.py",
    "lenses/drift/monitor/state.py",
    "lenses/drift/windows.py",
    "metric.py",
    "scores.py",
    "stats/charts/baselines.py",
    "stats/calibration.py",
    "stats/charts/control_charts.py",
    "stats/distances.py",
    "stats/charts/family_limits.py",
    "stats/intervals.py",
    "stats/logistic.py",
    "stats/multiplicity.py",
    "stats/random.py",
    "stats/rank.py",
    "stats/reference.py",
    "stats/scales.py",
    "stats/charts/run_lengths.py",
    "stats/categorical_distances.py",
    "tasks/risk/calibration_metrics.py",
    "tasks/risk/decisions.py",
    "tasks/risk/discrimination.py",
    "tasks/risk/metrics.py",
]
MADE_BY = ["cohorts.py", "drift.py", "repetitions.py"]

WINDOWS, GROUPS, PREVALENCE, THRESHOLD = 12, 4, 0.2, 0.3
CHANGE_AT, WITHIN = 6, 3
FOLLOWED = ("auroc", "calibration_slope", "calibration_in_the_large", "sensitivity", "specificity")
CALIBRATION, AUROC, VARIANCE = "logit + 1", "AUROC of group A − 0.12", "variance of an input × 2"
MINIMUM = Minimum()


def cells(size: Size) -> list[Cell]:
    """Stable years with 125 events expected in every group and window, and with 25, which judges nothing."""
    return [cell("stable", None, 125, size, (0.95, 1.0)), cell("stable, 25 events", None, 25, size, None)]


def cell(name: str, change: str | None, events: int, size: Size, band: tuple[float, float] | None) -> Cell:
    """A year with a change planted in its second half, or with none."""
    return Cell(name, {"change": change, "events_per_group_and_window": events, "windows": WINDOWS}, size, band)


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One year: "covered" is the right answer, silence in a stable year or the planted change found in time."""
    change = cell.settings["change"]
    rows = round(cell.settings["events_per_group_and_window"] / PREVALENCE) * GROUPS
    baseline = _window(rows * WINDOWS, None, rng)
    watching, inputs = _started(baseline)
    for window in range(WINDOWS if change is None else CHANGE_AT + WITHIN):
        now = _window(rows, change if window >= CHANGE_AT else None, rng)
        name = str(window + 1)
        compared = inputs.compared(name, now, chance=0.05 / WINDOWS, latest=False)
        watching = watching.after(name, now, more=[finding for _, finding in compared])
    alerts = watching.alerts.listed()
    if change is None:
        return {"any alert": "above" if alerts else "covered"}
    found = any(_is(change, alert) and int(alert.window) > CHANGE_AT for alert in alerts)
    return {"found": "covered" if found else "below"}


def _is(change: str, alert: Any) -> bool:
    """Is it the alert that the planted change should raise, and no other?"""
    if change == VARIANCE:
        return bool(alert.type == "input" and alert.metric == "x")
    if change == AUROC:
        return bool(alert.type == "performance" and alert.metric == "auroc" and alert.slice == {"group": "A"})
    return bool(alert.type == "performance" and alert.metric == "calibration_in_the_large" and alert.slice == {})


def _started(baseline: Scores) -> tuple[Watching, InputReference]:
    series = tuple(every_series(baseline, _followed(), ["group"]))
    points = tuple(one.point(baseline, MINIMUM) for one in series)
    # The baseline's own windows are not looked at: they stand for watched ones only until the first of these is seen.
    family = Family(series, points, tuple((point,) for point in points), ("ewma",), WINDOWS, 0.05, False)
    watching = Watching.start(family, minimum=MINIMUM, concerns={}, quiet_windows=3)
    return watching, InputReference.of(baseline, limits=InputLimits(together="none"), seed=SEED)


@cache
def _followed() -> tuple[Metric, ...]:
    every = risk.discrimination() + risk.calibration_metrics() + risk.at_threshold(THRESHOLD)
    return tuple(metric for metric in every if metric.name in FOLLOWED)


def _window(rows: int, change: str | None, rng: np.random.Generator) -> Scores:
    """Rows of one window; the groups are alike but for a planted fall in the first."""
    u, group = rng.standard_normal(rows), rng.integers(0, GROUPS, rows)
    log_odds = centre(PREVALENCE) + SPREAD * u
    share = np.where((group == 0) & (change == AUROC), _lower_share(), 1.0)
    truth = centre(PREVALENCE) + SPREAD * (share * u + np.sqrt(1 - share**2) * rng.standard_normal(rows))
    outcome = rng.random(rows) < special.expit(truth + (1.0 if change == CALIBRATION else 0.0))
    spread = np.sqrt(2.0) if change == VARIANCE else 1.0
    inputs: dict[str, Floats | Levels] = {"x": spread * rng.standard_normal(rows), "z": rng.standard_normal(rows)}
    values = {"outcome": outcome.astype(np.float64), "risk": special.expit(log_odds)}
    return Scores(
        values, np.arange(rows), groups={"group": Levels(group.astype(np.int64), tuple("ABCD"))}, inputs=inputs
    )


@cache
def _lower_share() -> float:
    """How much of the truth the model may still see for its AUROC to lie 0.12 lower, on one large sample."""
    rng = generator(SEED, NAME, "lower share")
    u, e, luck = rng.standard_normal(200_000), rng.standard_normal(200_000), rng.random(200_000)

    def area(share: float) -> float:
        truth = centre(PREVALENCE) + SPREAD * (share * u + np.sqrt(1 - share**2) * e)
        return rank.delong((luck < special.expit(truth)).astype(np.float64), u).auc

    full = area(1.0)
    return float(optimize.brentq(lambda share: area(share) - full + 0.12, 0.1, 1.0, xtol=1e-4))


def summarise(results: Sequence[Result]) -> list[Result]:
    """The share of stable years with an alert."""
    false = [1 - one["rate"] for one in results if one["rate"] is not None]
    return [{"cell": "stable years", "metric": "any alert", "highest": max(false, default=None), "ok": None}]
