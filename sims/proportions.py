"""Do nominal 95 % intervals of a share cover? Sensitivity over a range of truths, on independent and repeated rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from sims.cohorts import alike
from sims.repetitions import Cell, Outcome, Result, Size, outcome, within
from workup.estimate import Draws, estimate
from workup.scores import Scores
from workup.tasks.risk import metrics as risk

NAME = "proportions"
QUESTION = (
    "Do nominal 95 % intervals of sensitivity cover 93-97 % on average over the truth, and never under 92 %; and with "
    "repeated rows, whose intervals are conservative by choice, at least 93 % on average and never under 92 %, of few "
    "patients too?"
)
SEED = 20261115
TESTED = [
    "estimate.py",
    "metric.py",
    "scores.py",
    "stats/intervals.py",
    "stats/random.py",
    "tasks/risk/calibration_metrics.py",
    "tasks/risk/decisions.py",
    "tasks/risk/discrimination.py",
    "tasks/risk/metrics.py",
]
MADE_BY = ["cohorts.py", "proportions.py", "repetitions.py"]

MEAN_BAND = (0.93, 0.97)
CLUSTERED_BAND = (0.93, 1.0)  # of repeated rows: no upper limit, since the method is conservative by choice
LEAST = 0.92
TRUTHS = tuple(round(0.60 + 0.05 * i, 2) for i in range(8))
ICC = 0.3
THRESHOLD = 0.5
# Positive patients and rows of each.
ENOUGH = ((20, 1), (200, 1), (40, 5), (100, 5))
FEW = ((4, 5), (6, 5), (10, 5), (15, 5), (19, 5))


def cells(size: Size) -> list[Cell]:
    """Every number of positive patients at every true sensitivity."""
    return [
        Cell(
            name=f"{_who(patients, rows)}, sensitivity {truth}",
            settings={"patients": patients, "rows_per_patient": rows, "icc": 0.0 if rows == 1 else ICC},
            size=size,
            band=(LEAST, 1.0),
            truth={"sensitivity": truth},
        )
        for patients, rows in ENOUGH + FEW
        for truth in TRUTHS
    ]


def _who(patients: int, rows: int) -> str:
    return f"{patients} positive patients of {rows} {'row' if rows == 1 else 'rows'}"


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One sample of positives, found or missed, and as many negatives that the metric must leave aside."""
    patients, rows = cell.settings["patients"], cell.settings["rows_per_patient"]
    hit = (special.ndtr(alike(rng, patients, rows, ICC)) < cell.truth["sensitivity"]).ravel()
    alarm = rng.random(hit.size) < 0.2
    scores = Scores.of(
        {
            "outcome": np.repeat([1.0, 0.0], hit.size),
            "risk": np.where(np.concatenate([hit, alarm]), 0.8, 0.2),
        },
        patient=np.repeat(np.arange(2 * patients), rows),
    )
    [metric] = [one for one in risk.at_threshold(THRESHOLD) if one.name == "sensitivity"]
    [found] = estimate(scores, [metric], draws=Draws(seed=0, replicates=cell.size.replicates))
    return {"sensitivity": outcome(found, cell.truth["sensitivity"])}


def summarise(results: Sequence[Result]) -> list[Result]:
    """Per number of patients, the mean coverage over the truths."""
    found = []
    for patients, rows in ENOUGH:
        of = [one for one in results if (one["patients"], one["rows_per_patient"]) == (patients, rows)]
        rates = [one["rate"] for one in of if one["rate"] is not None]
        if not rates:
            continue
        band = MEAN_BAND if rows == 1 else CLUSTERED_BAND
        rate, se = float(np.mean(rates)), float(np.sqrt(np.sum([one["se"] ** 2 for one in of])) / len(of))
        found.append(
            {
                "cell": f"{_who(patients, rows)}, mean over sensitivities",
                "metric": "sensitivity",
                "lowest": min(rates),
                "highest": max(rates),
                "rate": rate,
                "se": se,
                "band": list(band),
                "ok": len(rates) == len(of) and within(rate, se, band),
            }
        )
    return found
