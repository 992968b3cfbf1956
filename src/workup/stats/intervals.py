"""Intervals and tests for proportions, on independent rows and on rows that cluster in patients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]


class Ends(NamedTuple):
    """Two ends of an interval."""

    low: float
    high: float


class Test(NamedTuple):
    """A test statistic with its two-sided p value."""

    statistic: float
    p: float
    df: float = np.nan


def z_critical(level: float) -> float:
    """Two-sided normal quantile: 1.96 for 0.95."""
    return float(special.ndtri((1 + level) / 2))


def t_critical(level: float, df: float) -> float:
    """Two-sided t quantile."""
    return float(special.stdtrit(df, (1 + level) / 2))


def chi2_p(statistic: float, df: float) -> float:
    """Upper tail of chi-square."""
    return float(special.chdtrc(df, statistic))


def normal_p(z: float) -> float:
    """Two-sided p of a normal statistic."""
    return float(2 * special.ndtr(-abs(z)))


def wilson(
    share: float, n: float, *, level: float = 0.95, critical: float | None = None, correct: bool = False
) -> Ends:
    """Wilson's score interval. `n` may be an effective size; `critical` replaces the normal quantile (a t quantile
    when the size was estimated); `correct` adds the continuity correction of R's prop.test.

    >>> [round(end, 4) for end in wilson(0.8, 70)]
    [0.6918, 0.877]
    """
    z = z_critical(level) if critical is None else critical
    x = share * n
    yates = min(0.5, abs(x - n / 2)) if correct else 0.0
    centre = z * z / 2
    down, up = x - yates, x + yates
    low = (down + centre - z * np.sqrt(z * z / 4 + down * (1 - down / n))) / (n + z * z)
    high = (up + centre + z * np.sqrt(z * z / 4 + up * (1 - up / n))) / (n + z * z)
    return Ends(0.0 if share <= 0 else max(0.0, float(low)), 1.0 if share >= 1 else min(1.0, float(high)))


def clopper_pearson(x: float, n: float, *, level: float = 0.95) -> Ends:
    """The exact binomial interval.

    >>> [round(end, 4) for end in clopper_pearson(0, 10)]
    [0.0, 0.3085]
    """
    tail = (1 - level) / 2
    low = 0.0 if x <= 0 else float(special.betaincinv(x, n - x + 1, tail))
    high = 1.0 if x >= n else float(special.betaincinv(x + 1, n - x, 1 - tail))
    return Ends(low, high)


def jeffreys(x: float, n: float, *, level: float = 0.95) -> Ends:
    """Equal-tailed interval under Jeffreys' prior, with the end closed at none and at all."""
    tail = (1 - level) / 2
    low = 0.0 if x <= 0 else float(special.betaincinv(x + 0.5, n - x + 0.5, tail))
    high = 1.0 if x >= n else float(special.betaincinv(x + 0.5, n - x + 0.5, 1 - tail))
    return Ends(low, high)


def agresti_coull(x: float, n: float, *, level: float = 0.95) -> Ends:
    """Agresti and Coull's interval; its ends may leave [0, 1]."""
    z = z_critical(level)
    size = n + z * z
    centre = (x + z * z / 2) / size
    half = z * np.sqrt(centre * (1 - centre) / size)
    return Ends(float(centre - half), float(centre + half))


class ClusteredShare(NamedTuple):
    """A share over rows that cluster in patients, and how many independent rows it is worth."""

    share: float
    effective_n: float
    design_effect: float
    clusters: int
    se: float


def clustered_share(
    numerator: Floats, denominator: Floats, cluster: npt.NDArray[np.int64], weight: Floats
) -> ClusteredShare:
    """Share of weighted rows with its linearised cluster variance (a ratio of cluster totals).

    The design effect is the variance over the binomial one, never below 1. When all or none of the rows count it
    cannot be seen, so patients are counted instead of rows.
    """
    use = (denominator > 0) & (weight > 0)
    cluster, w = cluster[use], weight[use]
    d, x = denominator[use], numerator[use]
    total = float(np.sum(w * d))
    share = float(np.sum(w * x)) / total
    _, codes = np.unique(cluster, return_inverse=True)
    clusters = int(codes.max()) + 1
    rows = float(d.sum())
    if share in (0.0, 1.0) or clusters < 2:
        effective = float(min(clusters, _kish(w)))
        return ClusteredShare(share, effective, rows / effective, clusters, 0.0)
    residual = np.bincount(codes, weights=w * (x - share * d))
    variance = clusters / (clusters - 1) * float(np.sum(residual**2)) / total**2
    binomial = share * (1 - share) / rows
    effect = max(1.0, variance / binomial)
    return ClusteredShare(share, rows / effect, effect, clusters, float(np.sqrt(binomial * effect)))


def _kish(weight: Floats) -> float:
    """Kish's effective size of unequal weights."""
    return float(weight.sum() ** 2 / np.sum(weight**2))


def wilson_clustered(share: ClusteredShare, *, level: float = 0.95) -> Ends:
    """Wilson on the effective size, with a t quantile because the design effect was estimated from the clusters."""
    critical = t_critical(level, max(1, share.clusters - 1))
    return wilson(share.share, share.effective_n, level=level, critical=critical)


def newcombe(p1: float, n1: float, p2: float, n2: float, *, level: float = 0.95) -> Ends:
    """Newcombe's hybrid score interval (method 10) for a difference of independent proportions.

    >>> [round(end, 4) for end in newcombe(56 / 70, 70, 48 / 80, 80)]
    [0.0524, 0.3339]
    """
    first, second = wilson(p1, n1, level=level), wilson(p2, n2, level=level)
    return combine_difference(p1, first, p2, second)


def combine_difference(v1: float, first: Ends, v2: float, second: Ends) -> Ends:
    """Ends of a difference from the ends of its two independent parts (the square-and-add rule, MOVER)."""
    difference = v1 - v2
    low = difference - np.hypot(v1 - first.low, second.high - v2)
    high = difference + np.hypot(first.high - v1, v2 - second.low)
    return Ends(float(low), float(high))


def p_of_ends(value: float, ends: Ends, *, level: float = 0.95) -> float | None:
    """Two-sided p against 0 read off the end on the side of 0, so that it cannot contradict the interval beside it.

    None where that end does not move away from the value.

    >>> p_of_ends(1.0, Ends(0.0, 3.0))
    0.05
    """
    if value == 0:
        return 1.0
    near = value - ends.low if value > 0 else ends.high - value
    return float(normal_p(value / near * z_critical(level))) if near > 0 else None


def agresti_caffo(x1: float, n1: float, x2: float, n2: float, *, level: float = 0.95) -> Ends:
    """Agresti and Caffo's interval for a difference: one success and one failure added to each side."""
    p1, p2 = (x1 + 1) / (n1 + 2), (x2 + 1) / (n2 + 2)
    half = z_critical(level) * np.sqrt(p1 * (1 - p1) / (n1 + 2) + p2 * (1 - p2) / (n2 + 2))
    return Ends(float(p1 - p2 - half), float(p1 - p2 + half))


def katz_ratio(x1: float, n1: float, x2: float, n2: float, *, level: float = 0.95) -> Ends:
    """Interval of a ratio of proportions on the log scale; NaN ends when either numerator is 0."""
    if x1 <= 0 or x2 <= 0:
        return Ends(np.nan, np.nan)
    centre = np.log((x1 / n1) / (x2 / n2))
    half = z_critical(level) * np.sqrt(1 / x1 - 1 / n1 + 1 / x2 - 1 / n2)
    return Ends(float(np.exp(centre - half)), float(np.exp(centre + half)))


def chi2_proportions(x: npt.ArrayLike, n: npt.ArrayLike, *, correct: bool = False) -> Test:
    """Pearson's chi-square that k proportions are equal; `correct` is Yates's form for two."""
    hits, sizes = np.asarray(x, dtype=np.float64), np.asarray(n, dtype=np.float64)
    pooled = hits.sum() / sizes.sum()
    if pooled in (0.0, 1.0):
        return Test(np.nan, np.nan, hits.size - 1)
    gap = np.abs(hits - sizes * pooled)
    if correct and hits.size == 2:
        gap = gap - min(0.5, float(gap.min()))
    statistic = float(np.sum(gap**2 / (sizes * pooled * (1 - pooled))))
    return Test(statistic, chi2_p(statistic, hits.size - 1), hits.size - 1)


def fisher_exact(x1: int, n1: int, x2: int, n2: int) -> float:
    """Two-sided Fisher test: the probability of all tables no likelier than the one seen, margins fixed."""
    hits, total = x1 + x2, n1 + n2
    k = np.arange(max(0, hits - n2), min(hits, n1) + 1)
    log_p = _log_choose(n1, k) + _log_choose(n2, hits - k) - _log_choose(total, hits)
    seen = log_p[x1 - k[0]]
    return float(min(1.0, np.exp(log_p[log_p <= seen + 1e-7]).sum()))


def _log_choose(n: float, k: npt.ArrayLike) -> Floats:
    k = np.asarray(k, dtype=np.float64)
    return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))


class McNemar(NamedTuple):
    """Tests of two paired yes/no answers from the discordant counts, with the difference of shares."""

    chi2: float
    p: float
    chi2_corrected: float
    p_corrected: float
    p_exact: float
    p_mid: float
    difference: float
    low: float
    high: float


def mcnemar(both: int, only_first: int, only_second: int, neither: int, *, level: float = 0.95) -> McNemar:
    """McNemar's test, plain, corrected, exact and mid-p, and Wald's interval of the paired difference."""
    b, c = only_first, only_second
    n = b + c
    total = both + n + neither
    if n == 0:
        return McNemar(np.nan, 1.0, np.nan, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    chi2 = (b - c) ** 2 / n
    corrected = max(0, abs(b - c) - 1) ** 2 / n
    tail = float(special.bdtr(min(b, c), n, 0.5))
    point = float(np.exp(_log_choose(n, min(b, c)) - n * np.log(2)))
    half = z_critical(level) * np.sqrt(n - (b - c) ** 2 / total) / total
    return McNemar(
        chi2=chi2,
        p=chi2_p(chi2, 1),
        chi2_corrected=corrected,
        p_corrected=chi2_p(corrected, 1),
        p_exact=1.0 if b == c else min(1.0, 2 * tail),
        p_mid=min(1.0, 2 * tail - point),
        difference=(b - c) / total,
        low=float((b - c) / total - half),
        high=float((b - c) / total + half),
    )
