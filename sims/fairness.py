"""Are identical groups left in peace, and is a real gap found? Verdicts of the subgroups lens on planted truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sims.cohorts import Cohort
from sims.repetitions import Cell, Outcome, Result, Size
from workup.estimate import Draws
from workup.lenses.subgroups import subgroups
from workup.scores import Levels, Scores
from workup.tasks.risk import metrics as risk

NAME = "fairness"
QUESTION = "Is a disparity declared in at most 5 % of studies of identical groups, and in over 90 % with a gap of 0.15?"
SEED = 20261115
TESTED = [
    "estimate.py",
    "lenses/contrasts.py",
    "lenses/omnibus.py",
    "lenses/subgroups.py",
    "metric.py",
    "scores.py",
    "stats/bootstrap.py",
    "stats/intervals.py",
    "stats/multiplicity.py",
    "stats/random.py",
    "stats/rank.py",
    "tasks/risk/calibration_metrics.py",
    "tasks/risk/decisions.py",
    "tasks/risk/discrimination.py",
    "tasks/risk/metrics.py",
]
MADE_BY = ["cohorts.py", "fairness.py", "repetitions.py"]

THRESHOLD = 0.3
REPLICATES = 200  # they only make the largest gaps, which no verdict rests on
JUDGED = ("auroc", "sensitivity", "specificity", "ppv")


def cells(size: Size) -> list[Cell]:
    """Identical groups at four sizes and two margins (0 is the hardest), and a planted gap in sensitivity."""
    found = []
    for margin in (0.0, 0.05):
        for rows in (50, 100, 300, 1000):
            settings = {"rows": rows, "margin": margin, "gap": 0.0, "prevalence": 0.3}
            name = f"identical groups, {rows} rows, margin {margin}"
            found.append(Cell(name, settings, size, band=(0.95, 1.0), refusal="answer"))
    for margin, words in ((0.05, "for four parities"), ({"sensitivity": 0.05}, "for sensitivity alone")):
        settings = {"positives": 500, "margin": margin, "gap": 0.15, "prevalence": 0.3}
        name = f"gap of 0.15 in sensitivity, 500 positives a group, margin 0.05 declared {words}"
        found.append(Cell(name, settings, size, band=(0.90, 1.0)))
    return found


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One study: "covered" is the right answer, none declared among identical groups or the planted gap found."""
    of = cell.settings
    scores = _identical(of["rows"], rng) if of["gap"] == 0 else _planted(of["positives"], of["gap"], rng)
    family = risk.discrimination() + risk.at_threshold(THRESHOLD)
    metrics = [metric for metric in family if metric.name in JUDGED]
    draws = Draws(seed=int(rng.integers(2**32)), replicates=REPLICATES)
    found = subgroups(scores, metrics, settings={"margin": of["margin"]}, draws=draws)
    verdicts = {(row["metric"], row["verdict"]) for row in found.comparisons}
    if of["gap"] == 0:
        return {"any disparity": "above" if any(verdict == "disparity" for _, verdict in verdicts) else "covered"}
    return {"sensitivity": "covered" if ("sensitivity", "disparity") in verdicts else "below"}


def _identical(rows: int, rng: np.random.Generator) -> Scores:
    """Two groups of about equal size, drawn from one population."""
    scores = Cohort(rows).draw(rng)
    return Scores(scores.values, scores.patient, groups={"group": Levels(rng.integers(0, 2, rows), ("A", "B"))})


def _planted(positives: int, gap: float, rng: np.random.Generator) -> Scores:
    """Two groups that differ in sensitivity alone: 0.80 and 0.65 of the events lie above the threshold."""
    negatives = round(positives * 7 / 3)
    outcome = np.tile(np.repeat([1.0, 0.0], [positives, negatives]), 2)
    group = np.repeat([0, 1], positives + negatives)
    chance = np.where(outcome > 0, np.where(group == 0, 0.80, 0.80 - gap), 0.25)
    flagged = rng.random(outcome.size) < chance
    risk_ = np.where(flagged, rng.uniform(THRESHOLD, 1, outcome.size), rng.uniform(0, THRESHOLD, outcome.size))
    made = Scores.of({"outcome": outcome, "risk": risk_})
    return Scores(made.values, made.patient, groups={"group": Levels(group, ("A", "B"))})


def summarise(results: Sequence[Result]) -> list[Result]:
    """The worst rate of false disparities, and the rate of found ones."""
    false = [1 - one["rate"] for one in results if one["gap"] == 0 and one["rate"] is not None]
    found = [one["rate"] for one in results if one["gap"] > 0]
    return [
        {"cell": "identical groups", "metric": "false disparities", "highest": max(false, default=None), "ok": None},
        {"cell": "planted gap", "metric": "found", "lowest": min(found, default=None), "ok": None},
    ]
