"""Are identical groups left in peace, is a real gap found, and does no row of the record contradict itself? Verdicts
of the subgroups lens on planted truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sims.cohorts import Cohort
from sims.repetitions import Cell, Outcome, Result, Size
from workup.estimate import Draws
from workup.lenses.subgroups.lens import subgroups
from workup.scores import Levels, Scores
from workup.tasks.risk import metrics as risk

NAME = "fairness"
QUESTION = (
    "Is a disparity declared in at most 5 % of studies of identical groups, and in over 90 % with a gap of 0.15? Is a "
    "gap as large as the margin called within it in at most 5 %? Do verdict, p, interval and margin agree in every row?"
)
SEED = 20261115
TESTED = [
    "estimate.py",
    "lenses/contrasts.py",
    "lenses/subgroups/omnibus.py",
    "lenses/subgroups/lens.py",
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
    for margin, words in ((0.05, "for four parities"), ({"sensitivity": 0.05}, "for sensitivity alone")):
        settings = {"positives": 1000, "margin": margin, "gap": 0.05, "prevalence": 0.3}
        name = f"gap in sensitivity as large as the margin of 0.05, declared {words}, 1000 positives a group"
        found.append(Cell(name, settings, size, band=(0.95, 1.0)))
    for adjust, comparator in (("holm", "rest"), ("holm", "overall"), ("bh", "rest"), ("bh", "largest")):
        settings = {"rows": 600, "margin": 0.05, "gap": 0.0, "adjust": adjust, "comparator": comparator}
        name = f"four groups of which one is ranked worse, against {comparator}, {adjust}"
        found.append(Cell(name, settings, size, band=(1.0, 1.0)))
    return found


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One study: "covered" is the right answer, none declared among identical groups, the planted gap found or not
    called within the margin; and no row that contradicts itself."""
    of = cell.settings
    if "adjust" in of:
        scores = _four_groups(of["rows"], rng)
    else:
        scores = _identical(of["rows"], rng) if of["gap"] == 0 else _planted(of["positives"], of["gap"], rng)
    family = risk.discrimination() + risk.at_threshold(THRESHOLD)
    metrics = [metric for metric in family if metric.name in JUDGED]
    settings = {key: of[key] for key in ("margin", "adjust", "comparator") if key in of}
    draws = Draws(seed=int(rng.integers(2**32)), replicates=REPLICATES)
    found = subgroups(scores, metrics, settings=settings, draws=draws)
    agree: Outcome = "above" if any(contradiction(row) for row in found.comparisons) else "covered"
    verdicts = {(row["metric"], row["verdict"]) for row in found.comparisons}
    if "adjust" in of:
        return {"rows agree": agree}
    if of["gap"] == 0:
        declared = any(verdict == "disparity" for _, verdict in verdicts)
        return {"any disparity": "above" if declared else "covered", "rows agree": agree}
    if of["gap"] == 0.05:
        return {"not within": "below" if ("sensitivity", "within") in verdicts else "covered", "rows agree": agree}
    return {"sensitivity": "covered" if ("sensitivity", "disparity") in verdicts else "below", "rows agree": agree}


def contradiction(row: Mapping[str, Any], *, alpha: float = 0.05) -> str:
    """What in a row of comparisons a reader could not reconcile; "" where verdict, p, interval and margin agree."""
    low, high, margin, p = row["low"], row["high"], row["margin"], row["p"]
    if row["value"] is None or low is None or p is None:
        return "" if row["verdict"] == "not_assessed" else "a verdict without a figure"
    if not low <= row["value"] <= high:
        return "the value lies outside its interval"
    if margin is None:
        null = 1.0 if row["kind"] == "ratio" else 0.0
        if row["verdict"] != "not_assessed" or row["level"] != 0.95:
            return "judged without a margin"
        return "" if (p < 0.05) == (low > null or high < null) else "p and the 95 % interval disagree"
    beyond, inside = low > margin or high < -margin, -margin < low and high < margin
    right = {"disparity": beyond, "within": inside, "inconclusive": not beyond and not inside}
    if not right[row["verdict"]]:
        return f"{row['verdict']} beside this interval"
    if (row["p_adjusted"] < alpha) != (row["verdict"] == "disparity"):
        return f"{row['verdict']} beside this p"
    return "" if p <= row["p_adjusted"] else "the adjusted p is the smaller one"


def _four_groups(rows: int, rng: np.random.Generator) -> Scores:
    """Four groups of unequal size; in the smallest, risks say less."""
    scores = Cohort(rows).draw(rng)
    group = rng.choice(4, rows, p=(0.4, 0.3, 0.2, 0.1))
    mixed = np.where((group == 3) & (rng.random(rows) < 0.5), rng.permutation(scores["risk"]), scores["risk"])
    levels = {"group": Levels(group, ("A", "B", "C", "D"))}
    return Scores({**scores.values, "risk": mixed}, scores.patient, groups=levels)


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
    """The worst rates of false disparities and false equivalence, the rate of found gaps, and of rows that disagree."""

    def wrong(metric: str) -> float | None:
        return max((1 - one["rate"] for one in results if one["metric"] == metric), default=None)

    found = [one["rate"] for one in results if one["metric"] == "sensitivity"]
    disagree = wrong("rows agree")
    return [
        {"cell": "identical groups", "metric": "false disparities", "highest": wrong("any disparity"), "ok": None},
        {"cell": "planted gap", "metric": "found", "lowest": min(found, default=None), "ok": None},
        {"cell": "gap at the margin", "metric": "called within", "highest": wrong("not within"), "ok": None},
        {"cell": "all studies", "metric": "contradictory rows", "highest": disagree, "ok": not disagree},
    ]
