"""Patients needed to develop a model of a yes/no outcome: the three criteria of Riley and others (Stat Med 2019)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import special

from workup.stats.sizes.proportions import inside, whole

SMALL_DIFFERENCE = 0.05  # of the apparent and the adjusted Nagelkerke R²
MARGIN = 0.05  # of the overall risk
Z = 1.96  # as the package has it: the answers are compared with its answers


class DevelopRow(NamedTuple):
    """One criterion as pmsampsize prints it: sizes whole, shrinkage and R² to 3 digits, events per parameter to 2."""

    criterion: str
    n: int
    shrinkage: float
    parameters: int
    cox_snell: float
    cox_snell_max: float
    nagelkerke: float
    events_per_parameter: float


class DevelopPlan(NamedTuple):
    """The criteria, the size that meets all of them, and what it rests on (R² unrounded)."""

    criteria: tuple[DevelopRow, ...]
    n: int
    events: int
    events_per_parameter: float
    shrinkage: float
    cox_snell: float
    cox_snell_max: float
    nagelkerke: float
    decided_by: str


def develop(
    *,
    prevalence: float,
    parameters: int,
    cox_snell: float | None = None,
    nagelkerke: float | None = None,
    cstatistic: float | None = None,
    shrinkage: float = 0.9,
) -> DevelopPlan:
    """The least patients to develop a model with so many candidate parameters; one of three forms of its expected fit.

    Criterion 1: shrinkage of the effects by no more than 1 − `shrinkage`. 2: apparent and adjusted Nagelkerke R² within
    0.05. 3: the overall risk within 0.05. `nagelkerke` is turned into Cox and Snell's R² by its maximum, `cstatistic`
    by `cox_snell_of`.

    >>> plan = develop(prevalence=0.2, parameters=10, cox_snell=0.2)
    >>> plan.n, [row.n for row in plan.criteria], plan.events_per_parameter
    (398, [398, 279, 246], 7.96)
    """
    inside("prevalence", prevalence), inside("shrinkage", shrinkage)
    if parameters < 1:
        raise ValueError(f"parameters must be at least 1; got {parameters}")
    if sum(one is not None for one in (cox_snell, nagelkerke, cstatistic)) != 1:
        raise ValueError("give the expected fit in one form: cox_snell, nagelkerke or cstatistic")
    top = cox_snell_max(prevalence)
    if cstatistic is not None:
        r2 = cox_snell_of(cstatistic, prevalence=prevalence)
    else:
        r2 = cox_snell if cox_snell is not None else inside("nagelkerke", nagelkerke or 0.0) * top
    inside("Cox-Snell R²", r2, high=min(top, shrinkage))
    shrunk = r2 / (r2 + SMALL_DIFFERENCE * top)
    sizes = {
        "shrinkage": (_for_shrinkage(parameters, r2, shrinkage), shrinkage),
        "optimism": (_for_shrinkage(parameters, r2, shrunk), shrunk),
        "overall risk": (whole((Z / MARGIN) ** 2 * prevalence * (1 - prevalence)), max(shrunk, shrinkage)),
    }
    rows = tuple(
        DevelopRow(
            name,
            n,
            round(kept, 3),
            parameters,
            round(r2, 3),
            round(top, 3),
            round(r2 / top, 3),
            round(n * prevalence / parameters, 2),
        )
        for name, (n, kept) in sizes.items()
    )
    decided_by = max(sizes, key=lambda name: sizes[name][0])
    n = sizes[decided_by][0]
    return DevelopPlan(
        rows,
        n,
        whole(n * prevalence),
        round(n * prevalence / parameters, 2),
        round(max(shrunk, shrinkage), 3),
        r2,
        top,
        r2 / top,
        decided_by,
    )


def _for_shrinkage(parameters: int, r2: float, shrinkage: float) -> int:
    return whole(parameters / ((shrinkage - 1) * math.log1p(-r2 / shrinkage)))


def cox_snell_max(prevalence: float) -> float:
    """The largest Cox–Snell R² there can be at a prevalence.

    >>> round(cox_snell_max(0.2), 3)
    0.632
    """
    q = 1 - prevalence
    return -math.expm1(2 * (prevalence * math.log(prevalence) + q * math.log(q)))


def cox_snell_of(cstatistic: float, *, prevalence: float) -> float:
    """Cox–Snell R² of a model with this c-statistic, scores normal with equal spread in either class (Riley 2021).

    There a logistic model on the score is the true one, so R² = 1 − exp(−2 I) with I the mutual information of score
    and outcome: an integral, which the published simulation of a million patients approaches.

    >>> round(cox_snell_of(0.81, prevalence=0.77), 3)
    0.212
    """
    inside("cstatistic", cstatistic, low=0.5), inside("prevalence", prevalence)
    mu = math.sqrt(2) * float(special.ndtri(cstatistic))
    x = np.linspace(-12.0, 12.0 + mu, 8001)
    positive = prevalence * np.exp(-((x - mu) ** 2) / 2)
    negative = (1 - prevalence) * np.exp(-(x**2) / 2)
    risk = positive / (positive + negative)
    left = -special.xlogy(positive, risk) - special.xlog1py(negative, -risk)  # entropy of the outcome given the score
    entropy = float(np.sum(left)) * float(x[1] - x[0]) / math.sqrt(2 * math.pi)
    whole_entropy = -prevalence * math.log(prevalence) - (1 - prevalence) * math.log(1 - prevalence)
    return -math.expm1(-2 * (whole_entropy - entropy))
