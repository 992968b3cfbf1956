"""How many patients a difference of two AUCs, an AUC above chance, or an interval of an AUC needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from workup.stats.arrays import Floats
from workup.stats.intervals import z_critical
from workup.stats.sizes.auc_variance import Shape, auc_variance, obuchowski_variance
from workup.stats.sizes.proportions import (
    Detectable,
    Directions,
    both_directions,
    check_error_rates,
    detectable,
    inside,
    whole,
    z_shift,
)

MOST = 1e10  # patients; what needs more is called infeasible
FEWEST = 2.0  # of either class in a group: below, no variance of an AUC can be estimated


class AucSize(NamedTuple):
    """Two AUCs and the patients each group needs (`n1`, `n2` exact); for two models of the same patients n1 is n2.

    Positives and negatives are those expected by the prevalence.
    """

    auc1: float
    auc2: float
    n1: float
    n2: float
    prevalence1: float
    prevalence2: float
    paired: bool

    @property
    def first(self) -> int:
        """Whole patients of the first group."""
        return whole(self.n1)

    @property
    def second(self) -> int:
        """Whole patients of the second group."""
        return whole(self.n2)

    @property
    def total(self) -> int:
        """Whole patients in all; the same ones serve both models."""
        return self.first if self.paired else self.first + self.second

    @property
    def classes(self) -> tuple[float, float, float, float]:
        """Positives and negatives expected in the first group, then in the second."""
        p, q = self.prevalence1, self.prevalence2
        return self.n1 * p, self.n1 * (1 - p), self.n2 * q, self.n2 * (1 - q)


# ---- two groups of different patients --------------------------------------------------------------------------------


def auc_groups(
    auc1: float,
    auc2: float,
    *,
    prevalence: float,
    prevalence2: float | None = None,
    share: float = 0.5,
    alpha: float = 0.05,
    power: float = 0.8,
    scores: Shape = "exponential",
) -> AucSize:
    """Patients per group with which a two-sided z test tells the AUCs of two disjoint groups apart.

    Different patients give uncorrelated AUCs, so there is no correlation to pass: assuming 0.5, as is often done,
    halves the answer and the power with it. `share` is the first group's part of the total, `prevalence2` the second
    group's prevalence where it differs. The variance is Hanley and McNeil's unless `scores` is "normal": for normal
    scores theirs asks for too many patients when positives are the rarer class and for too few when negatives are.

    >>> auc_groups(0.80, 0.85, prevalence=0.1).first
    4224
    """
    other = prevalence if prevalence2 is None else prevalence2
    _checked(auc1, auc2, prevalence, other, alpha, power)
    inside("share", share)
    r = (1 - share) / share

    def variance(n: float) -> float:
        first = auc_variance(auc1, n * prevalence, n * (1 - prevalence), scores=scores)
        return float(first + auc_variance(auc2, r * n * other, r * n * (1 - other), scores=scores))

    fewest = FEWEST / min(prevalence, 1 - prevalence, r * other, r * (1 - other))
    n1 = _solved(variance, abs(auc1 - auc2) / z_shift(alpha, power), fewest)
    return AucSize(auc1, auc2, n1, r * n1, prevalence, other, paired=False)


def auc_groups_power(
    auc1: npt.ArrayLike,
    auc2: npt.ArrayLike,
    *,
    positives: npt.ArrayLike,
    negatives: npt.ArrayLike,
    positives2: npt.ArrayLike | None = None,
    negatives2: npt.ArrayLike | None = None,
    alpha: float = 0.05,
    scores: Shape = "exponential",
) -> Floats:
    """Power of that test from the class sizes (those of the second group equal the first's when left out).

    >>> round(float(auc_groups_power(0.80, 0.85, positives=422.4, negatives=3801.4)), 3)
    0.8
    """
    m = positives if positives2 is None else positives2
    n = negatives if negatives2 is None else negatives2
    first = auc_variance(auc1, positives, negatives, scores=scores)
    return _power(auc1, auc2, first + auc_variance(auc2, m, n, scores=scores), alpha)


def auc_and_gap(
    auc: float,
    gap: float,
    *,
    prevalence: float,
    prevalence2: float | None = None,
    share: float = 0.5,
    alpha: float = 0.05,
    power: float = 0.8,
    scores: Shape = "exponential",
) -> Directions[AucSize]:
    """Patients for auc against auc − gap and against auc + gap in disjoint groups; the larger is needed."""
    inside("auc", auc)

    def plan(other: float) -> AucSize:
        rates = {"alpha": alpha, "power": power, "share": share}
        return auc_groups(auc, other, prevalence=prevalence, prevalence2=prevalence2, scores=scores, **rates)

    return both_directions(auc, gap, plan, lambda found: found.total)


def auc_detectable(
    auc: float,
    *,
    positives: float,
    negatives: float,
    positives2: float | None = None,
    negatives2: float | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    scores: Shape = "exponential",
) -> Detectable:
    """The smallest difference from `auc` that two disjoint groups of these class sizes detect.

    >>> found = auc_detectable(0.80, positives=422.4, negatives=3801.4)
    >>> round(found.up, 3), round(found.down, 3)
    (0.05, 0.054)
    """
    inside("auc", auc)
    check_error_rates(alpha, power)

    def reached(other: float) -> float:
        found = auc_groups_power(
            auc,
            other,
            positives=positives,
            negatives=negatives,
            positives2=positives2,
            negatives2=negatives2,
            alpha=alpha,
            scores=scores,
        )
        return float(found)

    return detectable(auc, reached, power=power)


# ---- two models of the same patients ---------------------------------------------------------------------------------


def auc_models(
    auc1: float,
    auc2: float,
    *,
    correlation: float,
    prevalence: float,
    alpha: float = 0.05,
    power: float = 0.8,
    scores: Shape = "exponential",
) -> AucSize:
    """Patients with which two models scored on the SAME patients are told apart.

    `correlation` is that of the two estimated AUCs (Hanley and McNeil 1983), not that of the scores; it has no default.

    >>> auc_models(0.80, 0.85, correlation=0.5, prevalence=0.1).first
    2124
    """
    _checked(auc1, auc2, prevalence, prevalence, alpha, power)
    inside("correlation", correlation, low=-1.0)

    def variance(n: float) -> float:
        return float(_paired_variance(auc1, auc2, n * prevalence, n * (1 - prevalence), correlation, scores))

    fewest = FEWEST / min(prevalence, 1 - prevalence)
    n = _solved(variance, abs(auc1 - auc2) / z_shift(alpha, power), fewest)
    return AucSize(auc1, auc2, n, n, prevalence, prevalence, paired=True)


def auc_models_power(
    auc1: npt.ArrayLike,
    auc2: npt.ArrayLike,
    *,
    correlation: float,
    positives: npt.ArrayLike,
    negatives: npt.ArrayLike,
    alpha: float = 0.05,
    scores: Shape = "exponential",
) -> Floats:
    """Power of the paired test from the class sizes."""
    inside("correlation", correlation, low=-1.0)
    return _power(auc1, auc2, _paired_variance(auc1, auc2, positives, negatives, correlation, scores), alpha)


def _paired_variance(
    auc1: npt.ArrayLike,
    auc2: npt.ArrayLike,
    positives: npt.ArrayLike,
    negatives: npt.ArrayLike,
    correlation: float,
    scores: Shape,
) -> Floats:
    first = auc_variance(auc1, positives, negatives, scores=scores)
    second = auc_variance(auc2, positives, negatives, scores=scores)
    return np.asarray(first + second - 2 * correlation * np.sqrt(first * second))


def _power(auc1: npt.ArrayLike, auc2: npt.ArrayLike, variance: Floats, alpha: float) -> Floats:
    inside("alpha", alpha)
    shift = np.abs(np.asarray(auc1, dtype=np.float64) - np.asarray(auc2, dtype=np.float64)) / np.sqrt(variance)
    z = z_critical(1 - alpha)
    return np.asarray(special.ndtr(shift - z) + special.ndtr(-shift - z))


def _checked(auc1: float, auc2: float, prevalence: float, other: float, alpha: float, power: float) -> None:
    check_error_rates(alpha, power)
    inside("prevalence", prevalence), inside("prevalence", other)
    for name, auc in (("auc1", auc1), ("auc2", auc2)):
        if not 0 < auc < 1:
            raise ValueError(f"{name} must lie strictly between 0 and 1 (at 0 and 1 the variance is 0); got {auc:g}")
    if auc1 == auc2:
        raise ValueError(f"auc1 and auc2 are both {auc1:g}: no number of patients tells equal AUCs apart")


def _solved(variance: Callable[[float], float], se: float, fewest: float) -> float:
    """The size at which the standard error has fallen to `se`; sizes below `fewest` are not answers."""
    if variance(fewest) <= se**2:
        return fewest
    if variance(MOST) > se**2:
        raise ValueError(
            f"not feasible: even {MOST:.0e} patients leave a standard error of {math.sqrt(variance(MOST)):.2g} "
            f"where {se:.2g} is needed; plan for a larger difference"
        )
    return float(optimize.brentq(lambda n: variance(n) - se**2, fewest, MOST, xtol=1e-9, rtol=1e-14))


# ---- one AUC ---------------------------------------------------------------------------------------------------------


class OneAucSize(NamedTuple):
    """Cases and controls (exact) that tell an AUC from 0.5, and Obuchowski's variance function at that AUC."""

    auc: float
    cases: float
    controls: float
    variance: float


NULL_VARIANCE = 0.0792  # Obuchowski and McClish (1997): the variance function at AUC 0.5, for cases alone


def auc_above_chance(
    auc: float, *, controls_per_case: float = 1.0, alpha: float = 0.05, power: float = 0.9
) -> OneAucSize:
    """Cases and controls with which a two-sided test tells one AUC from 0.5 (Obuchowski 2004, pROC's power.roc.test).

    >>> found = auc_above_chance(0.7)
    >>> round(found.cases, 2), round(found.variance, 4)
    (40.21, 0.1451)
    """
    check_error_rates(alpha, power)
    inside("auc", auc, low=0.5)
    variance = float(obuchowski_variance(auc, controls_per_case=controls_per_case))
    null = math.sqrt(NULL_VARIANCE * (1 + 1 / controls_per_case))
    reach = z_critical(1 - alpha) * null + float(special.ndtri(power)) * math.sqrt(variance)
    cases = (reach / (auc - 0.5)) ** 2
    return OneAucSize(auc, cases, cases * controls_per_case, variance)


def auc_above_chance_power(auc: float, *, cases: npt.ArrayLike, controls: npt.ArrayLike, alpha: float = 0.05) -> Floats:
    """Power of that test."""
    inside("auc", auc, low=0.5), inside("alpha", alpha)
    m, n = np.asarray(cases, dtype=np.float64), np.asarray(controls, dtype=np.float64)
    spread = np.sqrt(obuchowski_variance(auc, controls_per_case=n / m))
    limit = z_critical(1 - alpha) * np.sqrt(NULL_VARIANCE * (1 + m / n))
    return np.asarray(special.ndtr((np.sqrt(m) * (auc - 0.5) - limit) / spread))


def auc_interval_size(
    auc: float, *, prevalence: float, width: float, level: float = 0.95, scores: Shape = "exponential"
) -> float:
    """Patients with which Wald's interval of an AUC is so wide from end to end, by Hanley and McNeil's variance.

    >>> round(auc_interval_size(0.75, prevalence=0.2, width=0.1), 1)
    690.4
    """
    inside("auc", auc), inside("prevalence", prevalence), inside("width", width), inside("level", level)

    def variance(n: float) -> float:
        return float(auc_variance(auc, n * prevalence, n * (1 - prevalence), scores=scores))

    return _solved(variance, width / (2 * z_critical(level)), FEWEST / min(prevalence, 1 - prevalence))
