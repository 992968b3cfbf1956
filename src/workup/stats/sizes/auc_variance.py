"""Variances of an AUC that has not been measured yet, from its value, the class sizes and the shape of the scores."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Floats

Shape = Literal["exponential", "normal"]


def auc_variance(
    auc: npt.ArrayLike, positives: npt.ArrayLike, negatives: npt.ArrayLike, *, scores: Shape = "exponential"
) -> Floats:
    """The variance of an AUC over arrays: (A(1 − A) + (m − 1)(Q1 − A²) + (n − 1)(Q2 − A²))/(mn).

    Q1 is the chance that two positives beat one negative, Q2 that one positive beats two negatives. "exponential" is
    Hanley and McNeil's (1982; `rank.hanley_mcneil` for single numbers), exact for exponential scores of different
    rates. "normal" is exact for normal scores of equal spread, Q1 = Q2 = A − 2T(Φ⁻¹(A), 1/√3) with Owen's T. They part
    where the classes do: at A = 0.8 the first is 1.4 times the second with one positive to nine negatives, and two
    thirds of it with nine positives to one negative.

    >>> float(auc_variance(0.8, 50, 450).round(6)), float(auc_variance(0.8, 50, 450, scores="normal").round(6))
    (0.001484, 0.001051)
    """
    a, m, n = (np.asarray(x, dtype=np.float64) for x in (auc, positives, negatives))
    if scores == "exponential":
        q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
    elif scores == "normal":
        q1 = q2 = a - 2 * special.owens_t(special.ndtri(a), 1 / math.sqrt(3))
    else:
        raise ValueError(f"scores must be exponential or normal; got {scores!r}")
    return np.asarray((a * (1 - a) + (m - 1) * (q1 - a * a) + (n - 1) * (q2 - a * a)) / (m * n))


def obuchowski_variance(auc: npt.ArrayLike, *, controls_per_case: npt.ArrayLike = 1.0) -> Floats:
    """Obuchowski's variance function (2004) of a normal AUC of equal spreads, to be divided by the number of cases.

    >>> float(obuchowski_variance(0.7).round(4))
    0.1451
    """
    # √2 to three digits, as it was printed and as pROC computes it.
    a = special.ndtri(np.asarray(auc, dtype=np.float64)) * 1.414
    kappa = np.asarray(controls_per_case, dtype=np.float64)
    return np.asarray(0.0099 * np.exp(-a * a / 2) * ((5 * a * a + 8) + (a * a + 8) / kappa))
