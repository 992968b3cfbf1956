"""Do pointwise 95 % intervals of a decision curve cover? Net benefit and its gain over treating everyone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from sims.cohorts import SPREAD, STRETCH, Cohort, centre, population_mean
from sims.repetitions import Cell, Outcome, Result, Size, where
from workup.stats.net_benefit import net_benefit_curve

NAME = "decision_curves"
QUESTION = (
    "Do pointwise 95 % intervals of net benefit, and of its gain over treating everyone, cover 93-97 %; and at least "
    "93 % where fewer than 20 events or others lie on one side of the threshold?"
)
SEED = 20261115
TESTED = ["scores.py", "stats/intervals.py", "stats/net_benefit.py", "stats/random.py"]
MADE_BY = ["cohorts.py", "decision_curves.py", "repetitions.py"]

BAND = (0.93, 0.97)
AT_LEAST = (0.93, 1.0)
FEW = 20  # of a cell of the two-by-two table: below that an interval may be wider than it needs to be
THRESHOLDS = (0.02, 0.1, 0.3, 0.6)
COHORTS = tuple(Cohort(patients, rows) for rows in (1, 5) for patients in (200, 1000))
ANSWERS = ("net_benefit", "gain_over_all")


def cells(size: Size) -> list[Cell]:
    """Two sizes with independent rows and with five rows a patient, each at four thresholds."""
    found = []
    for cohort in COHORTS:
        for threshold in THRESHOLDS:
            shares = _shares(cohort.prevalence, threshold)
            fewest = cohort.patients * min(shares)
            found.append(
                Cell(
                    name=f"{cohort.patients} patients of {cohort.rows} rows, threshold {threshold}",
                    settings={"patients": cohort.patients, "rows_per_patient": cohort.rows, "threshold": threshold},
                    size=size,
                    band=BAND if fewest >= FEW else AT_LEAST,
                    truth=_truth(cohort.prevalence, threshold),
                )
            )
    return found


def _shares(prevalence: float, threshold: float) -> tuple[float, float, float, float]:
    """Shares of rows: flagged and left alone, with the event and without."""
    mean, cut = centre(prevalence), float(special.logit(threshold)) / STRETCH
    flagged = float(special.ndtr((mean - cut) / SPREAD))
    hit = population_mean(mean, special.expit, cut)
    return hit, flagged - hit, prevalence - hit, 1 - flagged - (prevalence - hit)


def _truth(prevalence: float, threshold: float) -> dict[str, float]:
    hit, alarm, missed, spared = _shares(prevalence, threshold)
    odds = threshold / (1 - threshold)
    return {"net_benefit": hit - odds * alarm, "gain_over_all": odds * spared - missed}


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One sample, one threshold."""
    of = cell.settings
    scores = Cohort(of["patients"], of["rows_per_patient"]).draw(rng)
    patient = None if scores.independent else scores.patient
    [one] = net_benefit_curve(scores["outcome"], scores["risk"], [of["threshold"]], cluster=patient)
    return {
        "net_benefit": where(*one.ends, cell.truth["net_benefit"]),
        "gain_over_all": where(*one.over_all_ends, cell.truth["gain_over_all"]),
    }


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
                "band": list(AT_LEAST),
                "ok": all(one["ok"] for one in of),
            }
        )
    return found
