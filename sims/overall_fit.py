"""Does the interval of Nagelkerke's R² cover, and does Spiegelhalter's test hold its level where risks are right?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from sims.cohorts import STRETCH, Cohort, centre, population_mean
from sims.repetitions import Cell, Outcome, Result, Size, outcome
from workup.estimate import Draws, estimate
from workup.stats.calibration import spiegelhalter
from workup.tasks.risk import metrics as risk

NAME = "overall_fit"
QUESTION = (
    "Does the 95 % interval of Nagelkerke's R² cover 93-97 %, and does Spiegelhalter's test, by patients' totals where "
    "rows repeat, accept right risks in 93-97 % of samples at a level of 5 %?"
)
SEED = 20261115
TESTED = [
    "estimate.py",
    "metric.py",
    "scores.py",
    "stats/bootstrap.py",
    "stats/calibration.py",
    "stats/random.py",
    "tasks/risk/calibration_metrics.py",
]
MADE_BY = ["cohorts.py", "overall_fit.py", "repetitions.py"]

BAND = (0.93, 0.97)
COHORTS = tuple(Cohort(patients, rows) for rows in (1, 5) for patients in (200, 500))
ANSWERS = ("nagelkerke_r2", "spiegelhalter")


def cells(size: Size) -> list[Cell]:
    """Two sizes, each with independent rows and with five rows a patient."""
    return [
        Cell(
            name=f"{one.patients} patients of {one.rows} rows",
            settings={"patients": one.patients, "rows_per_patient": one.rows},
            size=size,
            band=BAND,
            truth={"nagelkerke_r2": _truth(one.prevalence)},
        )
        for one in COHORTS
    ]


def _truth(prevalence: float) -> float:
    """R² of the population, by integration over the log odds."""

    def log_likelihood(x: float) -> float:
        chance, lp = special.expit(x), STRETCH * x
        return float(chance * special.log_expit(lp) + (1 - chance) * special.log_expit(-lp))

    model = population_mean(centre(prevalence), log_likelihood)
    null = float(special.xlogy(prevalence, prevalence) + special.xlogy(1 - prevalence, 1 - prevalence))
    return float((1 - np.exp(2 * (null - model))) / (1 - np.exp(2 * null)))


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One sample: R² of its risks, and the test of the same risks put right."""
    of = cell.settings
    scores = Cohort(of["patients"], of["rows_per_patient"]).draw(rng)
    [metric] = [one for one in risk.calibration_metrics() if one.name == "nagelkerke_r2"]
    draws = Draws(seed=int(rng.integers(2**32)), replicates=cell.size.replicates)
    [found] = estimate(scores, [metric], draws=draws)
    right = special.expit(special.logit(scores["risk"]) / STRETCH)
    test = spiegelhalter(scores["outcome"], right, cluster=None if scores.independent else scores.patient)
    kept: Outcome = "covered" if test.p >= 0.05 else "above" if test.statistic > 0 else "below"
    return {"nagelkerke_r2": outcome(found, cell.truth["nagelkerke_r2"]), "spiegelhalter": kept}


def summarise(results: Sequence[Result]) -> list[Result]:
    """Per figure, the lowest and the highest rate."""
    found = []
    for name in ANSWERS:
        of = [one for one in results if one["metric"] == name]
        rates = [one["rate"] for one in of if one["rate"] is not None]
        found.append(
            {
                "cell": "all",
                "metric": name,
                "lowest": min(rates, default=None),
                "highest": max(rates, default=None),
                "rate": float(np.mean(rates)) if rates else None,
                "band": list(BAND),
                "ok": all(one["ok"] for one in of),
            }
        )
    return found
