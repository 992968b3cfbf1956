"""Do nominal 95 % intervals at a horizon cover where many are lost before it, and do those of complete cases not?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from sims.repetitions import Cell, Outcome, Result, Size, outcome
from workup.corpora.generate.survival import planted_truth
from workup.corpora.generate.survival.generator import draw
from workup.corpora.generate.survival.plan import SurvivalPlan
from workup.corpora.generate.survival.world import World
from workup.estimate import Draws, estimate
from workup.metric import Metric
from workup.scores import Scores
from workup.tasks.risk.calibration_metrics import calibration_metrics
from workup.tasks.risk.horizon.censoring import Followed, Horizon
from workup.tasks.risk.horizon.metrics import horizon_metrics

NAME = "time_to_event"
QUESTION = (
    "Do nominal 95 % intervals of AUC(h), Brier(h), O/E(h), scaled Brier(h) and of the calibration slope at h cover "
    "93-97 % where 30 or 60 % are lost before h, and 10 % have a competing event first; with one row a patient and "
    "with rows at four landmarks? And does the interval of O/E over complete cases fail to?"
)
SEED = 20261115
TESTED = [
    "estimate.py",
    "metric.py",
    "scores.py",
    "stats/calibration.py",
    "stats/horizon_influence.py",
    "stats/horizon_weights.py",
    "stats/intervals.py",
    "stats/logistic.py",
    "stats/random.py",
    "stats/rank.py",
    "tasks/risk/calibration_metrics.py",
    "tasks/risk/discrimination.py",
    "tasks/risk/horizon/censoring.py",
    "tasks/risk/horizon/intervals.py",
    "tasks/risk/horizon/metrics.py",
    "tasks/risk/horizon/seen.py",
    "corpora/generate/survival/",
]
MADE_BY = ["repetitions.py", "time_to_event.py"]

BAND = (0.93, 0.97)
METRICS = ("auroc", "brier", "calibration_slope", "oe_ratio", "scaled_brier")
NAIVE = "oe_ratio, complete cases"
MISSED = (0.0, 0.90)  # where the rate of complete cases must lie: clearly below the band
HORIZON = Horizon("365d", 365.0)
LANDMARKS = (0.0, 60.0, 120.0, 180.0)


def cells(size: Size) -> list[Cell]:
    """Two sizes, two rates of loss, one row a patient or one at each of four landmarks."""
    return [
        _cell(patients, censoring, landmarks, size)
        for landmarks in (LANDMARKS[:1], LANDMARKS)
        for censoring in (0.3, 0.6)
        for patients in (150, 400)
    ]


def _cell(patients: int, censoring: float, landmarks: tuple[float, ...], size: Size) -> Cell:
    rows = "one row each" if len(landmarks) == 1 else f"rows at {len(landmarks)} landmarks"
    of = {"patients": patients, "censoring": censoring, "landmarks": list(landmarks)}
    planted = _planted(censoring, landmarks)
    return Cell(
        name=f"{patients} patients, {rows}, {censoring:.0%} lost",
        settings=of,
        size=size,
        band=BAND,
        truth={**{name: planted[name] for name in METRICS}, NAIVE: planted["oe_ratio"]},
        bands={NAIVE: MISSED},
    )


@cache
def _world(censoring: float, landmarks: tuple[float, ...]) -> World:
    """A model whose risks are too extreme and a little too low, of an event that 3 in 10 have by the horizon."""
    return World.of(
        SurvivalPlan(
            horizons=(HORIZON.days,),
            risks=(0.3,),
            auroc=0.75,
            competing=0.1,
            censoring=censoring,
            slope=0.8,
            in_the_large=0.2,
            landmarks=landmarks,
            groups={},
            sites=1,
        )
    )


@cache
def _planted(censoring: float, landmarks: tuple[float, ...]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = planted_truth.truth(_world(censoring, landmarks), 0)["overall"][HORIZON.name]
    return found


def sample(cell: Cell, rng: np.random.Generator) -> Scores:
    """One sample as the task would hold it."""
    of = cell.settings
    table = draw(of["patients"], seed=int(rng.integers(2**63)), world=_world(of["censoring"], tuple(of["landmarks"])))
    time, status = table["followup"], table["status"]
    early, free = (status > 0) & (time <= HORIZON.days), time >= HORIZON.days
    known = np.where(early, np.where(status == 1, 1.0, 0.0), np.where(free, 0.0, np.nan))
    values = {
        "followup": time,
        "status": status,
        "row": np.arange(time.size, dtype=np.float64),
        HORIZON.risk: table[f"risk_{HORIZON.name}"],
        HORIZON.outcome: known,
    }
    return Followed.of(values, patient=table["patient"])


def naive(scores: Scores) -> tuple[Scores, Metric]:
    """The rows whose outcome is known, as if the others had never been, and their O/E."""
    rows = scores.take(np.flatnonzero(np.isfinite(scores[HORIZON.outcome])))
    [oe] = [metric for metric in calibration_metrics() if metric.name == "oe_ratio"]
    return Scores.of({"outcome": rows[HORIZON.outcome], "risk": rows[HORIZON.risk]}, patient=rows.patient), oe


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One sample, all metrics, and the O/E of complete cases."""
    scores = sample(cell, rng)
    draws = Draws(seed=0, replicates=cell.size.replicates)  # no interval here is resampled
    metrics = [metric for metric in horizon_metrics(scores, [HORIZON]) if metric.name in METRICS]
    found = {one.metric: outcome(one, cell.truth[one.metric]) for one in estimate(scores, metrics, draws=draws)}
    rows, oe = naive(scores)
    [plain] = estimate(rows, [oe], draws=draws)
    return {**found, NAIVE: outcome(plain, cell.truth[NAIVE])}


def summarise(results: Sequence[Result]) -> list[Result]:
    """Per metric the lowest and highest rate."""
    found = []
    for name in (*METRICS, NAIVE):
        of = [one for one in results if one["metric"] == name]
        rates = [one["rate"] for one in of if one["rate"] is not None]
        found.append(
            {
                "cell": "all",
                "metric": name,
                "lowest": min(rates, default=None),
                "highest": max(rates, default=None),
                "rate": float(np.mean(rates)) if rates else None,
                "band": list(MISSED if name == NAIVE else BAND),
                "ok": all(one["ok"] for one in of),
            }
        )
    return found
