"""Do nominal 95 % intervals of risk metrics cover? At 200 patients or more, 40 or more of them with the event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sims.cohorts import Cohort
from sims.repetitions import Cell, Outcome, Result, Size, outcome
from workup.estimate import Draws, estimate
from workup.metric import Metric
from workup.scores import Scores
from workup.tasks.risk import metrics as risk

NAME = "coverage"
QUESTION = (
    "Do nominal 95 % intervals cover 93-97 %, at 200 patients or more of whom 40 or more have the event; and those of "
    "PPV over repeated rows, which are conservative by choice, at least 93 %?"
)
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
    "stats/refits.py",
    "stats/smooth.py",
    "tasks/risk/calibration_metrics.py",
    "tasks/risk/decisions.py",
    "tasks/risk/discrimination.py",
    "tasks/risk/metrics.py",
]
MADE_BY = ["cohorts.py", "coverage.py", "repetitions.py"]

BAND = (0.93, 0.97)
CLUSTERED = (0.93, 1.0)  # of shares over repeated rows
METRICS = ("auroc", "brier", "calibration_slope", "oe_ratio", "ppv")
# Shown and not judged: the absolute distance of a fitted curve is biased upwards, and the customary interval of O/E,
# which takes the expected events as fixed, is too wide by design.
FIXED = "oe_ratio, expected events fixed"
MEASURED = ("ici", FIXED)
# Prevalence 0.3 keeps 40 event patients or more in all but one sample of a thousand at 200 rows; nothing is redrawn,
# so the truth stays that of the population. The rare outcome has about 57 event patients among 200 of five rows.
PREVALENCE, RARE = 0.3, 0.08
THRESHOLD = {PREVALENCE: 0.3, RARE: 0.1}


def cells(size: Size) -> list[Cell]:
    """Three sizes, each with independent rows and with five rows a patient; and a rarer outcome in repeated rows."""
    cohorts = [Cohort(patients, rows) for rows in (1, 5) for patients in (200, 500, 1000)]
    cohorts.append(Cohort(200, 5, RARE))
    measured = [_cell(cohort, size, judged=False) for cohort in (Cohort(200), Cohort(500), Cohort(200, 5))]
    return [_cell(cohort, size) for cohort in cohorts] + measured


def _cell(cohort: Cohort, size: Size, *, judged: bool = True) -> Cell:
    shape = "independent rows" if cohort.rows == 1 else f"{cohort.rows} rows each"
    return Cell(
        name=f"{cohort.patients} patients, {shape}, prevalence {cohort.prevalence}"
        + ("" if judged else ", measured only"),
        settings={
            "patients": cohort.patients,
            "rows_per_patient": cohort.rows,
            "prevalence": cohort.prevalence,
            "icc": 0.0 if cohort.rows == 1 else cohort.icc,
            "threshold": THRESHOLD[cohort.prevalence],
        },
        size=size,
        band=BAND if judged else None,
        truth=cohort.truth(THRESHOLD[cohort.prevalence]),
        bands={"ppv": CLUSTERED} if judged and cohort.rows > 1 else {},
    )


def metrics(threshold: float) -> list[Metric]:
    """The metrics that are judged."""
    found = risk.discrimination() + risk.calibration_metrics() + risk.at_threshold(threshold)
    return [metric for metric in found if metric.name in METRICS]


def measured_metrics(scores: Scores) -> list[Metric]:
    """The metrics that are measured only."""
    [ici] = [metric for metric in risk.calibration_distances(risk.Smoother.of(scores)) if metric.name == "ici"]
    [fixed] = [metric for metric in risk.calibration_metrics(expected="fixed") if metric.name == "oe_ratio"]
    return [ici, replace(fixed, name=FIXED)]


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One sample, all metrics."""
    of = cell.settings
    scores = Cohort(of["patients"], of["rows_per_patient"], of["prevalence"]).draw(rng)
    draws = Draws(seed=int(rng.integers(2**32)), replicates=cell.size.replicates)
    chosen = metrics(of["threshold"]) if cell.band is not None else measured_metrics(scores)
    found = estimate(scores, chosen, draws=draws)
    return {one.metric: outcome(one, cell.truth[one.metric]) for one in found}


def summarise(results: Sequence[Result]) -> list[Result]:
    """Per metric, the lowest and highest rate."""
    found = []
    for name in (*METRICS, *MEASURED):
        of = [one for one in results if one["metric"] == name]
        if not of:
            continue
        rates = [one["rate"] for one in of if one["rate"] is not None]
        found.append(
            {
                "cell": "all",
                "metric": name,
                "lowest": min(rates, default=None),
                "highest": max(rates, default=None),
                "rate": float(np.mean(rates)) if rates else None,
                "band": list(CLUSTERED if name == "ppv" else BAND) if name in METRICS else None,
                "ok": all(one["ok"] for one in of) if name in METRICS else None,
            }
        )
    return found
