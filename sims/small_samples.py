"""How small is too small? Coverage where intervals begin to fail; it judges nothing and informs the limits in code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import special

from sims.cohorts import Cohort, alike
from sims.repetitions import Cell, Outcome, Result, Size, outcome, where
from workup.estimate import Draws, estimate
from workup.scores import Scores
from workup.stats import calibration, intervals, rank
from workup.tasks.risk import metrics as risk

NAME = "small_samples"
QUESTION = "From how many events or patients on does a nominal 95 % interval deserve its name?"
SEED = 20261115
TESTED = [
    "estimate.py",
    "metric.py",
    "scores.py",
    "stats/bootstrap.py",
    "stats/calibration.py",
    "stats/intervals.py",
    "stats/logistic.py",
    "stats/random.py",
    "stats/rank.py",
    "tasks/risk/calibration_metrics.py",
    "tasks/risk/decisions.py",
    "tasks/risk/discrimination.py",
    "tasks/risk/metrics.py",
]
MADE_BY = ["cohorts.py", "repetitions.py", "small_samples.py"]

THRESHOLD = 0.3
NEGATIVES = 100


def cells(size: Size) -> list[Cell]:
    """AUROC with few positives, Brier with few patients, slope and O/E with few patients or events, shares with few
    patients of repeated rows."""
    return [
        *_auroc_cells(size),
        *(_cohort_cell("auroc", Cohort(n, 5), size) for n in (15, 20, 40)),
        *(_cohort_cell("auroc", Cohort(n, 5, 0.05), size) for n in (50, 75, 100)),
        *(_cohort_cell("brier", Cohort(n), size) for n in (20, 30, 50, 100)),
        *(_cohort_cell("brier", Cohort(n, 5), size) for n in (20, 40)),
        *(_cohort_cell("calibration_slope", Cohort(n), size) for n in (20, 40)),
        *(_cohort_cell("calibration_slope", Cohort(n, 5), size) for n in (20, 40)),
        *(_cohort_cell("oe_ratio", Cohort(n, 1, 0.1), size) for n in (50, 100, 200)),
        *(_cohort_cell("oe_ratio", Cohort(n, 5), size) for n in (20, 40)),
        *(_cohort_cell("oe_ratio", Cohort(n, 5, 0.05), size) for n in (40, 80)),
        *_share_cells(size),
    ]


def _auroc_cells(size: Size) -> list[Cell]:
    return [
        Cell(
            name=f"auroc {truth}, {positives} positives, {NEGATIVES} negatives",
            settings={"kind": "two normals", "positives": positives, "negatives": NEGATIVES},
            size=size,
            band=None,
            truth={"auroc": truth},
        )
        for positives in (3, 5, 10, 20)
        for truth in (0.7, 0.8, 0.9)
    ]


def _cohort_cell(metric: str, cohort: Cohort, size: Size) -> Cell:
    shape = "independent rows" if cohort.rows == 1 else f"{cohort.rows} rows each"
    return Cell(
        name=f"{metric}, {cohort.patients} patients, {shape}, prevalence {cohort.prevalence}",
        settings={
            "kind": metric,
            "patients": cohort.patients,
            "rows_per_patient": cohort.rows,
            "prevalence": cohort.prevalence,
            "expected_events": cohort.patients * cohort.rows * cohort.prevalence,
        },
        size=size,
        band=None,
        truth=cohort.truth(THRESHOLD),
    )


def _share_cells(size: Size) -> list[Cell]:
    return [
        Cell(
            name=f"share {truth} over {patients} patients of 5 rows, icc {icc}",
            settings={"kind": "share", "patients": patients, "rows_per_patient": 5, "icc": icc},
            size=size,
            band=None,
            truth={"share": truth},
        )
        for patients in (4, 6, 8, 10, 12, 15, 19)
        for icc in (0.0, 0.1, 0.3, 0.6)
        for truth in (0.6, 0.8, 0.9, 0.95)
    ]


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One sample, by the interval that reports give; where a refusal would hide it, by the method itself."""
    return _KINDS[cell.settings["kind"]](cell, rng)


def _estimated(name: str, cell: Cell, scores: Scores, rng: np.random.Generator) -> dict[str, Outcome]:
    [metric] = [one for one in risk.discrimination() + risk.calibration_metrics() if one.name == name]
    draws = Draws(seed=int(rng.integers(2**32)), replicates=cell.size.replicates)
    [found] = estimate(scores, [metric], draws=draws)
    return {name: outcome(found, cell.truth[name])}


def _two_normals(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    positives = cell.settings["positives"]
    shift = np.sqrt(2) * special.ndtri(cell.truth["auroc"])
    x = np.concatenate([shift + rng.standard_normal(positives), rng.standard_normal(NEGATIVES)])
    y = np.repeat([1.0, 0.0], [positives, NEGATIVES])
    return _estimated("auroc", cell, Scores.of({"outcome": y, "risk": special.expit(x)}), rng)


def _cohort(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    of = cell.settings
    scores = Cohort(of["patients"], of["rows_per_patient"], of["prevalence"]).draw(rng)
    found = _estimated(of["kind"], cell, scores, rng)
    direct = _UNREFUSED.get(of["kind"])
    if direct is not None and not scores.independent:
        found[f"{of['kind']}, never refused"] = direct(cell, scores)
    return found


def _slope_unrefused(cell: Cell, scores: Scores) -> Outcome:
    y, lp = scores["outcome"], calibration.logit(scores["risk"])
    ends, _ = calibration.slope_robust(y, lp, scores.base_weight, scores.patient)
    return where(ends.low, ends.high, cell.truth["calibration_slope"])


def _oe_unrefused(cell: Cell, scores: Scores) -> Outcome:
    y, risks = scores["outcome"], scores["risk"]
    if not np.any(y > 0):
        return "insufficient"
    ends, _ = calibration.oe_interval(y, risks, scores.base_weight, scores.patient)
    return where(ends.low, ends.high, cell.truth["oe_ratio"])


def _share(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    patients, rows, icc = (cell.settings[name] for name in ("patients", "rows_per_patient", "icc"))
    hit = (special.ndtr(alike(rng, patients, rows, icc)) < cell.truth["share"]).ravel().astype(np.float64)
    ones = np.ones(hit.size)
    share = intervals.clustered_share(hit, ones, np.repeat(np.arange(patients), rows), ones)
    return {"share": where(*intervals.effective_ends(share), cell.truth["share"])}


def _auroc_unrefused(cell: Cell, scores: Scores) -> Outcome:
    found = rank.delong(scores["outcome"], scores["risk"], cluster=scores.patient)
    if min(found.positive_units, found.negative_units) < 2:
        return "insufficient"
    return where(*rank.auc_interval(found, clustered=True), cell.truth["auroc"])


_UNREFUSED: dict[str, Callable[[Cell, Scores], Outcome]] = {
    "auroc": _auroc_unrefused,
    "calibration_slope": _slope_unrefused,
    "oe_ratio": _oe_unrefused,
}
_KINDS: dict[str, Callable[[Cell, np.random.Generator], dict[str, Outcome]]] = {
    "two normals": _two_normals,
    "auroc": _cohort,
    "brier": _cohort,
    "calibration_slope": _cohort,
    "oe_ratio": _cohort,
    "share": _share,
}


def summarise(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Nothing is judged, so nothing is summed up: the cells speak for themselves."""
    return []
