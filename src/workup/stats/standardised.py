"""Standardised differences between two groups of patients: how far apart they lie in their own spread, not how surely.

Unlike a p value they do not grow with n, so they compare case mix between groups, sites and periods of any size. Rows
count as independent: whoever holds several rows of a patient chooses one of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from workup.stats.arrays import Floats
from workup.stats.intervals import t_critical


class Moments(NamedTuple):
    """What a standardised difference needs of one side; `variance` is the unbiased one, `third` and `fourth` are
    central, and `n` is Kish's effective number where rows carry weights."""

    n: float
    mean: float
    variance: float
    third: float
    fourth: float


def moments(values: Floats, weight: Floats | None = None) -> Moments:
    """Moments of the values that are there (NaN is missing). The weighted variance is Austin and Stuart's (2015), which
    no scaling of the weights changes."""
    there = np.isfinite(values) if weight is None else np.isfinite(values) & (weight > 0)
    x = values[there]
    w = np.ones(x.size) if weight is None else weight[there]
    total = float(w.sum())
    if not total > 0:
        return Moments(0.0, np.nan, np.nan, np.nan, np.nan)
    share = w / total
    squares = float(share @ share)
    if x.min() == x.max():  # whose mean may miss it by rounding
        return Moments(1 / squares, float(x[0]), 0.0, 0.0, 0.0)
    mean = float(share @ x)
    # In units of the spread, so that powers neither overflow nor vanish.
    unit = float(np.sqrt(share @ (x - mean) ** 2))
    z = (x - mean) / unit
    return Moments(
        1 / squares, mean, unit**2 / (1 - squares), unit**3 * float(share @ z**3), unit**4 * float(share @ z**4)
    )


class Standardised(NamedTuple):
    """A standardised difference with its interval; NaN where there is none."""

    value: float
    low: float
    high: float


_NONE = Standardised(np.nan, np.nan, np.nan)


def of_numbers(first: Moments, second: Moments, *, level: float = 0.95) -> Standardised:
    """Cohen's d with the mean of the two variances: (m₁ − m₂) / √((s₁² + s₂²) / 2).

    The interval is d ± t · SE. SE by the delta method from the third and fourth moments, so that neither normal values
    nor equal variances are assumed; for normal values of equal spread it is Hedges and Olkin's (1985).

    >>> x, y = moments(np.array([1.0, 2, 3, 4])), moments(np.array([2.0, 3, 4, 5]))
    >>> round(of_numbers(x, y).value, 4)
    -0.7746
    """
    if not (first.n > 1 and second.n > 1):
        return _NONE
    pooled = (first.variance + second.variance) / 2
    if not pooled > 0:
        return Standardised(0.0, np.nan, np.nan) if first.mean == second.mean else _NONE
    d = (first.mean - second.mean) / float(np.sqrt(pooled))
    # d falls by d / (4 S²) for each unit that a variance grows.
    slope = d / (4 * pooled)
    variance = 0.0
    for side, sign in ((first, 1.0), (second, -1.0)):
        spread = side.fourth - side.variance**2
        each = side.variance / pooled - 2 * sign * slope * side.third / np.sqrt(pooled) + slope**2 * max(0.0, spread)
        variance += each / side.n
    half = t_critical(level, max(1.0, first.n + second.n - 2)) * float(np.sqrt(variance))
    return Standardised(d, d - half, d + half)


def of_categories(first: npt.ArrayLike, second: npt.ArrayLike, *, level: float = 0.95) -> Standardised:
    """Yang and Dalton's difference (2012) of two sets of counts: the Mahalanobis distance of the two vectors of shares,
    under the mean of their multinomial covariances. For two levels it is the absolute difference of the shares over the
    root mean variance.

    It has no sign and is never below 0, so chance alone raises it. The interval inverts the noncentral chi-square
    distribution of (D / SE)², SE by the delta method; a low end of 0 means that chance alone could give as much.

    >>> round(of_categories([50, 50], [30, 70]).value, 4)
    0.417
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    held = (a + b) > 0
    a, b = a[held], b[held]
    n, m = float(a.sum()), float(b.sum())
    if not (n > 0 and m > 0):
        return _NONE
    df = a.size - 1
    if df == 0:
        return Standardised(0.0, np.nan, np.nan)
    p, q = (a / n)[1:], (b / m)[1:]
    covariances = [np.diag(share) - np.outer(share, share) for share in (p, q)]
    pooled = (covariances[0] + covariances[1]) / 2
    if np.linalg.matrix_rank(pooled) < df:
        return _NONE  # no level is shared: the distance is without measure
    lean = np.linalg.solve(pooled, p - q)
    d = float(np.sqrt(max(0.0, float((p - q) @ lean))))
    precision = n * m / (n + m)  # 1 / SE² where D is 0
    if d > 0:
        # How D² moves with the shares of either side, through their difference and through their covariance.
        moves = [2 * lean - lean**2 / 2 + lean * (p @ lean), -2 * lean - lean**2 / 2 + lean * (q @ lean)]
        variance = sum(
            float(move @ one @ move) / rows for move, one, rows in zip(moves, covariances, (n, m), strict=True)
        )
        precision = 4 * d * d / variance if variance > 0 else precision
    low, high = (
        float(np.sqrt(_noncentrality(d * d * precision, df, tail) / precision))
        for tail in ((1 + level) / 2, (1 - level) / 2)
    )
    return Standardised(d, min(low, d), max(high, d))


def _noncentrality(statistic: float, df: int, tail: float) -> float:
    """The noncentrality at which the chance of a statistic this small is `tail`; 0 where it is smaller even at 0."""

    def excess(noncentral: float) -> float:
        return float(special.chndtr(statistic, df, noncentral)) - tail

    if excess(0.0) <= 0:
        return 0.0
    top = statistic + 10 * np.sqrt(statistic + df) + 50
    return float(optimize.brentq(excess, 0.0, top, xtol=1e-9 * max(1.0, top)))
