"""Patients with which a validation study's intervals are as narrow as wanted: O/E, slope, c-statistic, net benefit.

The four criteria of Riley and others (Stat Med 2021; BMJ 2024), solved exactly where pmvalsampsize simulates.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import integrate, optimize, special

from workup.stats.arrays import Floats
from workup.stats.intervals import z_critical
from workup.stats.sizes.proportions import inside, whole


class Criterion(NamedTuple):
    """One width wanted: the value expected, the standard error that gives it, patients (`n` exact) and events."""

    name: str
    value: float
    width: float
    se: float
    n: float
    events: float

    @property
    def patients(self) -> int:
        """Whole patients."""
        return whole(self.n)


class PrecisionPlan(NamedTuple):
    """Every criterion that was asked for, and the one that needs the most patients."""

    criteria: tuple[Criterion, ...]
    patients: int
    events: float
    decided_by: str


def plan_of(criteria: tuple[Criterion, ...]) -> PrecisionPlan:
    """The size that satisfies all criteria given."""
    if not criteria:
        raise ValueError("no criterion was given")
    most = max(criteria, key=lambda one: one.n)
    share = most.events / most.n
    return PrecisionPlan(criteria, most.patients, most.patients * share, most.name)


# ---- O/E -------------------------------------------------------------------------------------------------------------


def oe_size(*, prevalence: float, width: float, oe: float = 1.0, level: float = 0.95) -> Criterion:
    """Patients with which the interval of O/E, made on the log scale, is so wide from end to end.

    >>> oe_size(prevalence=0.1, width=0.2).patients
    3469
    """
    inside("prevalence", prevalence), inside("level", level)
    if not (width > 0 and oe > 0):
        raise ValueError(f"interval of O/E: width and oe must be positive; got {width:g} and {oe:g}")
    # exp(zs) − exp(−zs) is 2 sinh(zs).
    se = math.asinh(width / (2 * oe)) / z_critical(level)
    n = (1 - prevalence) / (prevalence * se**2)
    return Criterion("oe", oe, width, se, n, n * prevalence)


# ---- calibration slope -----------------------------------------------------------------------------------------------


class Information(NamedTuple):
    """Fisher's information per patient on the intercept and slope of a calibration model, and the share of events."""

    i00: float
    i01: float
    i11: float
    events: float


def normal_information(
    mean: float, sd: float, *, calibration_intercept: float = 0.0, calibration_slope: float = 1.0
) -> Information:
    """When linear predictors are normal, by exact integrals.

    >>> round(normal_information(-2.5, 1.1).i00, 6)
    0.087287
    """
    if not sd > 0:
        raise ValueError(f"sd of the linear predictor must be positive; got {sd:g}")
    # The trapezoid rule over ±12 sd has no error left in double precision for a smooth bell.
    places = np.linspace(-12.0, 12.0, 4001)
    weight = np.exp(-(places**2) / 2)
    return _information(mean + sd * places, weight, calibration_intercept, calibration_slope)


def sample_information(
    linear_predictor: npt.ArrayLike, *, calibration_intercept: float = 0.0, calibration_slope: float = 1.0
) -> Information:
    """When linear predictors are those of a sample, such as a pilot's."""
    values = np.asarray(linear_predictor, dtype=np.float64)
    if values.size < 2 or not np.isfinite(values).all() or values.min() == values.max():
        raise ValueError("linear predictors must be finite numbers that are not all the same")
    return _information(values, np.ones(values.size), calibration_intercept, calibration_slope)


def cstatistic_information(cstatistic: float, *, prevalence: float) -> Information:
    """When only the c-statistic is known: a calibrated model whose linear predictor is normal in either class.

    Both classes have variance 2 Φ⁻¹(c)²; their means lie half of it below and above the logit of the prevalence.
    """
    inside("cstatistic", cstatistic, low=0.5), inside("prevalence", prevalence)
    variance = 2 * float(special.ndtri(cstatistic)) ** 2
    sd, centre = math.sqrt(variance), float(special.logit(prevalence))
    places = np.linspace(-12.0, 12.0, 4001)
    weight = np.exp(-(places**2) / 2)
    values = np.concatenate([centre - variance / 2 + sd * places, centre + variance / 2 + sd * places])
    return _information(values, np.concatenate([(1 - prevalence) * weight, prevalence * weight]), 0.0, 1.0)


def _information(values: Floats, weight: Floats, intercept: float, slope: float) -> Information:
    share = weight / weight.sum()
    risk = special.expit(intercept + slope * values)
    part = share * risk * (1 - risk)
    return Information(
        float(part.sum()),
        float(np.sum(part * values)),
        float(np.sum(part * values**2)),
        float(np.sum(share * risk)),
    )


def slope_size(
    information: Information, *, width: float, slope: float = 1.0, level: float = 0.95, prevalence: float | None = None
) -> Criterion:
    """Patients with which the interval of the calibration slope is so wide from end to end.

    `slope` is shown; a slope other than 1 changes the answer through the information, made with that slope. Events
    are counted by `prevalence`, by the linear predictors when it is left out.

    >>> slope_size(normal_information(-2.5, 1.1), width=0.2).patients
    4778
    """
    inside("level", level)
    if not width > 0:
        raise ValueError(f"interval of the calibration slope: width must be positive; got {width:g}")
    se = width / (2 * z_critical(level))
    i00, i01, i11, events = information
    n = i00 / (se**2 * (i00 * i11 - i01**2))
    return Criterion("calibration_slope", slope, width, se, n, n * (events if prevalence is None else prevalence))


# ---- c-statistic -----------------------------------------------------------------------------------------------------


def cstatistic_size(cstatistic: float, *, prevalence: float, width: float, level: float = 0.95) -> Criterion:
    """Patients with which the interval of the c-statistic is so wide from end to end (Newcombe's 2006 variance).

    >>> cstatistic_size(0.8, prevalence=0.1, width=0.1).patients
    836
    """
    inside("cstatistic", cstatistic), inside("prevalence", prevalence), inside("level", level)
    inside("interval of the c-statistic: width", width)
    se = width / (2 * z_critical(level))
    spread = (1 - cstatistic) / (2 - cstatistic) + cstatistic / (1 + cstatistic)

    def excess(n: float) -> float:
        between = cstatistic * (1 - cstatistic) * (1 + (n / 2 - 1) * spread)
        return between / (n**2 * prevalence * (1 - prevalence)) - se**2

    fewest = 2 / min(prevalence, 1 - prevalence)
    n = fewest if excess(fewest) <= 0 else float(optimize.brentq(excess, fewest, 1e12, xtol=1e-9, rtol=1e-14))
    return Criterion("auroc", cstatistic, width, se, n, n * prevalence)


# ---- net benefit -----------------------------------------------------------------------------------------------------


def net_benefit_size(
    *, sensitivity: float, specificity: float, prevalence: float, threshold: float, width: float, level: float = 0.95
) -> Criterion:
    """Patients with which the interval of the standardised net benefit (over prevalence) is so wide from end to end.

    >>> plan = net_benefit_size(sensitivity=0.6, specificity=0.8, prevalence=0.1, threshold=0.1, width=0.2)
    >>> round(plan.value, 3), plan.patients
    (0.4, 1161)
    """
    inside("prevalence", prevalence), inside("threshold", threshold), inside("level", level)
    for name, value in (("sensitivity", sensitivity), ("specificity", specificity)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must lie between 0 and 1; got {value:g}")
    if not width > 0:
        raise ValueError(f"interval of the standardised net benefit: width must be positive; got {width:g}")
    w = (1 - prevalence) / prevalence * threshold / (1 - threshold)
    value = sensitivity - (1 - specificity) * w
    se = width / (2 * z_critical(level))
    variance = (
        sensitivity * (1 - sensitivity) / prevalence
        + w**2 * specificity * (1 - specificity) / (1 - prevalence)
        + w**2 * (1 - specificity) ** 2 / (prevalence * (1 - prevalence))
    )
    n = variance / se**2
    return Criterion("net_benefit", value, width, se, n, n * prevalence)


class Accuracy(NamedTuple):
    """Sensitivity and specificity at a threshold."""

    sensitivity: float
    specificity: float


def normal_accuracy(mean: float, sd: float, *, threshold: float) -> Accuracy:
    """Sensitivity and specificity at a threshold of a calibrated model whose linear predictors are normal.

    >>> [round(one, 3) for one in normal_accuracy(-2.5, 1.1, threshold=0.1)]
    [0.74, 0.652]
    """
    inside("threshold", threshold)
    cut = (float(special.logit(threshold)) - mean) / sd

    def mass(low: float, high: float) -> float:
        def density(x: float) -> float:
            return math.exp(-x * x / 2) / math.sqrt(2 * math.pi) * float(special.expit(mean + sd * x))

        return (
            float(integrate.quad(density, low, high, epsabs=1e-13, epsrel=1e-11, limit=200)[0]) if high > low else 0.0
        )

    cut = min(max(cut, -12.0), 12.0)
    missed, caught = mass(-12.0, cut), mass(cut, 12.0)
    events = missed + caught
    left_alone = float(special.ndtr(cut)) - missed
    return Accuracy(caught / events, left_alone / (1 - events))
