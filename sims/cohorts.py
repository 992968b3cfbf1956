"""Cohorts with known truth: predicted risks and outcomes, one row a patient or several that resemble one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import integrate, optimize, special

from workup.scores import Scores

Floats = npt.NDArray[np.float64]

SPREAD = 1.2  # standard deviation of the true log odds: an AUROC of about 0.78
STRETCH = 1.25  # the model's log odds over the true ones: its risks are too extreme, its calibration slope is 0.8


@dataclass(frozen=True)
class Cohort:
    """Patients of `rows` rows each. The true log odds of a row are normal, and its outcome is Bernoulli with exactly
    that chance; within a patient the log odds correlate by `icc`, and so do the normals behind the outcomes (a
    Gaussian copula, which leaves every row's own chance as it was)."""

    patients: int
    rows: int = 1
    prevalence: float = 0.3
    icc: float = 0.3

    def draw(self, rng: np.random.Generator) -> Scores:
        """One sample, as the scores of a risk model."""
        log_odds = centre(self.prevalence) + SPREAD * alike(rng, self.patients, self.rows, self.icc)
        luck = special.ndtr(alike(rng, self.patients, self.rows, self.icc))
        return Scores.of(
            {
                "outcome": (luck < special.expit(log_odds)).ravel(),
                "risk": special.expit(STRETCH * log_odds).ravel(),
            },
            patient=None if self.rows == 1 else np.repeat(np.arange(self.patients), self.rows),
        )

    def truth(self, threshold: float) -> dict[str, float]:
        """Population values, by integration over the log odds; the clustering does not enter them."""
        return dict(_truth(self.prevalence, threshold))


def alike(rng: np.random.Generator, patients: int, rows: int, icc: float) -> Floats:
    """Standard normals [patient, row] that correlate by `icc` within a patient."""
    if rows == 1:
        return rng.standard_normal((patients, 1))
    shared = rng.standard_normal((patients, 1))
    return np.asarray(np.sqrt(icc) * shared + np.sqrt(1 - icc) * rng.standard_normal((patients, rows)))


@cache
def centre(prevalence: float) -> float:
    """Mean of the log odds that gives the prevalence."""

    def gap(mean: float) -> float:
        return population_mean(mean, lambda x: special.expit(x)) - prevalence

    return float(optimize.brentq(gap, -15, 15, xtol=1e-13))


def population_mean(mean: float, value: Callable[[float], float], low: float = -np.inf) -> float:
    """Mean of a function of the true log odds, over those above `low`."""
    first = max(low, mean - 12 * SPREAD)
    found = integrate.quad(lambda x: value(x) * _density(x, mean), first, mean + 12 * SPREAD, epsabs=1e-13, limit=400)
    return float(found[0])


def _density(x: float, mean: float) -> float:
    return float(np.exp(-0.5 * ((x - mean) / SPREAD) ** 2) / (SPREAD * np.sqrt(2 * np.pi)))


@cache
def _truth(prevalence: float, threshold: float) -> tuple[tuple[str, float], ...]:
    mean = centre(prevalence)
    cut = float(special.logit(threshold)) / STRETCH
    flagged = population_mean(mean, lambda x: 1.0, cut)
    hit = population_mean(mean, special.expit, cut)
    expected = population_mean(mean, lambda x: special.expit(STRETCH * x))

    def squared_error(x: float) -> float:
        chance, risk = special.expit(x), special.expit(STRETCH * x)
        return float(chance * (1 - chance) + (chance - risk) ** 2)

    def distance(x: float) -> float:
        return abs(float(special.expit(x)) - float(special.expit(STRETCH * x)))

    return (
        ("auroc", _auroc(mean, prevalence)),
        ("brier", population_mean(mean, squared_error)),
        ("calibration_slope", 1 / STRETCH),
        ("ici", population_mean(mean, distance)),
        ("oe_ratio", prevalence / expected),
        ("oe_ratio, expected events fixed", prevalence / expected),
        ("ppv", hit / flagged),
        ("sensitivity", hit / prevalence),
    )


def _auroc(mean: float, prevalence: float) -> float:
    """Chance that a row with the event has the higher log odds, by running integrals on a fine grid."""
    x = mean + SPREAD * np.linspace(-10, 10, 400_001)
    density = np.exp(-0.5 * ((x - mean) / SPREAD) ** 2) / (SPREAD * np.sqrt(2 * np.pi))
    event = density * special.expit(x) / prevalence
    other = density * special.expit(-x) / (1 - prevalence)
    below = integrate.cumulative_trapezoid(other, x, initial=0.0)
    return float(integrate.trapezoid(event * below, x))
