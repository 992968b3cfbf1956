"""Distances between a reference sample and a window of new rows, column by column, with their tests.

Rows count as independent: whoever holds several rows of a patient chooses one of them, or passes effective sizes.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.intervals import chi2_proportions, fisher_exact, newcombe

Real = npt.NDArray[Any]  # float64 or float32, as it was given

# Walking all paths takes one step for each pooled row, each over the smaller sample: some 50 ms at these limits.
_EXACT_PRODUCT, _EXACT_ROWS = 1_000_000, 5_000
_STRIDE = 64
_ROWS_AT_ONCE = 1 << 14  # so that what is made on the way stays in the cache
_SMALL_EXPECTED = 5.0


# ---- samples ---------------------------------------------------------------------------------------------------------


class Sample(NamedTuple):
    """The values of one column in ascending order, and how many more rows had none."""

    ascending: Real
    missing: int


def sample(values: npt.ArrayLike, *, name: str) -> Sample:
    """Sort a column and set its missing values (NaN) apart. Infinite values and columns without a value are refused.

    >>> sample([2.0, float("nan"), 1.0], name="window")
    Sample(ascending=array([1., 2.]), missing=1)
    """
    ordered = np.sort(real(values, name=name))  # NaN sorts last
    missing = int(ordered.size - np.searchsorted(ordered, np.nan)) if ordered.size and np.isnan(ordered[-1]) else 0
    ordered = ordered[: ordered.size - missing]
    if ordered.size == 0:
        raise ValueError(f"the {name} holds no value ({missing} missing): a distance needs at least one on each side")
    if np.isinf(ordered[0]) or np.isinf(ordered[-1]):
        raise infinite(name)
    return Sample(ordered, missing)


def real(values: npt.ArrayLike, *, name: str) -> Real:
    """A column as float64, or as float32 when that is what it is; anything else than one column of numbers is refused.

    Precision is kept because a float32 0.1 is not a float64 0.1: see `alike`.
    """
    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError(f"the {name} must be one column of numbers, got {column.ndim} dimensions")
    if column.dtype in (np.float64, np.float32):
        return column
    if column.dtype.kind in "iub":
        return column.astype(np.float64)
    if column.size == 0:
        return np.empty(0)
    raise ValueError(f"the {name} must hold float64, float32 or whole numbers, got {column.dtype}")


def infinite(name: str) -> ValueError:
    """What is said of infinite values: they are mistakes of the export, and would make a mean distance infinite."""
    return ValueError(f"the {name} holds infinite values: replace them by numbers, or by NaN where they mean missing")


def alike(first: Real, second: Real) -> tuple[Real, Real]:
    """Two ascending samples in the coarser precision of the two, so that equal numbers stored differently stay equal.

    Rounding never turns two numbers round, so both remain ascending.
    """
    if first.dtype == second.dtype:
        return first, second
    return first.astype(np.float32, copy=False), second.astype(np.float32, copy=False)


def _both(reference: npt.ArrayLike, window: npt.ArrayLike) -> tuple[Real, Real]:
    return alike(sample(reference, name="reference").ascending, sample(window, name="window").ascending)


# ---- Kolmogorov–Smirnov ----------------------------------------------------------------------------------------------


class KS(NamedTuple):
    """The largest gap between two distribution functions. `method` says how p was found."""

    statistic: float
    p: float
    method: Literal["exact", "asymptotic"]


def kolmogorov_smirnov(
    reference: npt.ArrayLike, window: npt.ArrayLike, *, method: Literal["auto", "exact", "asymptotic"] = "auto"
) -> KS:
    """The two-sample Kolmogorov–Smirnov test, two-sided, right with ties.

    The exact p is the share of all ways to deal the pooled values into two samples of these sizes that give a gap as
    large; ties are kept as they are. It is taken when n·m is at most 1,000,000 and n + m at most 5,000. The asymptotic
    p is Kolmogorov's limit at D·√(nm/(n+m)), too large when values tie.

    >>> kolmogorov_smirnov([1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 5.0, 6.0]).statistic
    0.5
    """
    x, y = _both(reference, window)
    return ks_of_sorted(x, y, method=method)


def ks_of_sorted(x: Real, y: Real, *, method: Literal["auto", "exact", "asymptotic"] = "auto") -> KS:
    """The same for two samples that are ascending already, of one precision."""
    n, m = x.size, y.size
    gap = _largest_gap(x, y)
    statistic = gap / (n * m)
    small = n * m <= _EXACT_PRODUCT and n + m <= _EXACT_ROWS
    if method == "exact" or (method == "auto" and small):
        pooled = np.sort(np.concatenate([x, y]))
        return KS(statistic, _exact_p(gap, n, m, np.append(pooled[1:] != pooled[:-1], True)), "exact")
    return KS(statistic, ks_limit_p(statistic, n, m), "asymptotic")


def _largest_gap(x: Real, y: Real) -> int:
    """n·m·D as a whole number.

    The gap is widest at a value of the window or just before one, so only those are looked at; and of every 64 only
    those between two looked-up ranks that leave room for a wider gap than the widest so far. At a million rows against
    a million this searches the reference for some hundredth of the window, and the answer is still exact.
    """
    n, m = x.size, y.size
    at = np.append(np.arange(0, m - 1, _STRIDE), m - 1)
    below, up_to = np.searchsorted(x, y[at], side="left"), np.searchsorted(x, y[at], side="right")
    widest = int(max((below * m - at * n).max(), ((at + 1) * n - up_to * m).max()))
    room = np.maximum(below[1:] * m - (at[:-1] + 1) * n, at[1:] * n - up_to[:-1] * m)
    blocks = at[:-1][room > widest]
    if blocks.size:
        inside = (blocks[:, None] + np.arange(1, _STRIDE)).ravel()
        inside = inside[inside < m]
        below, up_to = np.searchsorted(x, y[inside], side="left"), np.searchsorted(x, y[inside], side="right")
        widest = max(widest, int((below * m - inside * n).max()), int(((inside + 1) * n - up_to * m).max()))
    return widest


def ks_limit_p(statistic: float, n: float, m: float) -> float:
    """Upper tail of Kolmogorov's limiting distribution; the sizes may be effective ones."""
    return float(special.kolmogorov(statistic * np.sqrt(n * m / (n + m))))


def _exact_p(gap: int, n: int, m: int, block_ends: npt.NDArray[np.bool_]) -> float:
    """Share of the paths from (0, 0) to (n, m) that come as far from the diagonal as `gap` where a block of ties ends.

    A random path to (i, j) took its last step from (i - 1, j) with probability i/(i + j). Probabilities of having been
    far out are summed, never subtracted from one, so that a p of 1e-14 has all its digits (cf. Schröer and Trenkler
    1995 for ties).
    """
    if gap == 0:
        return 1.0
    if n > m:
        n, m = m, n  # the distance to the diagonal is the same seen from the other sample
    steps = np.arange(n + 1)
    far = np.zeros(n + 2)  # far[i + 1] belongs to (i, k - i); far[0] stays 0
    for k in range(1, n + m + 1):
        low, high = max(0, k - m), min(n, k)
        i = steps[low : high + 1]
        reached = (i * far[low : high + 1] + (k - i) * far[low + 1 : high + 2]) / k
        if block_ends[k - 1]:
            reached[np.abs(i * m - (k - i) * n) >= gap] = 1.0
        far[low + 1 : high + 2] = reached
    return float(far[n + 1])


# ---- Wasserstein -----------------------------------------------------------------------------------------------------


class Wasserstein(NamedTuple):
    """The mean distance values must travel, and the same in standard deviations of the reference.

    `scaled` is NaN when the reference has no spread (one value only, or one row).
    """

    distance: float
    scaled: float


def wasserstein(reference: npt.ArrayLike, window: npt.ArrayLike) -> Wasserstein:
    """Wasserstein's distance of order 1, the area between the two distribution functions.

    >>> wasserstein([0.0, 1.0, 2.0], [1.0, 2.0, 3.0])
    Wasserstein(distance=1.0, scaled=1.0)
    """
    x, y = _both(reference, window)
    distance = wasserstein_of_sorted(x, y)
    return Wasserstein(distance, in_spreads(distance, spread(x)))


def wasserstein_of_sorted(x: Real, y: Real) -> float:
    """The distance of two ascending samples: the mean gap between their quantiles.

    Quantile functions step at i/n and at j/m. With n at least m, each 1/n of the larger sample meets one or two values
    of the smaller, and which ones follows from n and m alone: nothing is merged or searched.
    """
    x, y = (x, y) if x.size >= y.size else (y, x)
    n, m = x.size, y.size
    if n == m:
        return float(np.mean(np.abs(np.subtract(x, y, dtype=np.float64))))
    total = 0.0
    for begin in range(0, n, _ROWS_AT_ONCE):
        part = x[begin : begin + _ROWS_AT_ONCE].astype(np.float64, copy=False)
        start = np.arange(begin, begin + part.size) * m  # in units of 1/(n·m)
        meets = start // n
        length = np.minimum((meets + 1) * n - start, m).astype(np.float64)
        total += float(np.dot(np.abs(part - y[meets]), length))
        total += float(np.dot(np.abs(part - y[np.minimum(meets + 1, m - 1)]), m - length))
    return total / (n * m)


def spread(x: Real) -> float:
    """Standard deviation with n - 1; NaN for one row and for a constant column, whose mean may miss it by rounding."""
    if x.size < 2 or x.min() == x.max():
        return np.nan
    largest = float(np.abs([x.min(), x.max()]).max())
    unit = 1.0 if 1e-100 < largest < 1e100 else largest  # squares must neither overflow nor vanish
    return float(np.std(x / unit, ddof=1, dtype=np.float64)) * unit


def in_spreads(distance: float, deviation: float) -> float:
    """A distance in standard deviations; NaN without a spread."""
    return distance / deviation if deviation > 0 else np.nan


# ---- missing values --------------------------------------------------------------------------------------------------


class Missingness(NamedTuple):
    """Shares of missing values, their difference (window minus reference) with Newcombe's interval, and its test."""

    reference: float
    window: float
    difference: float
    low: float
    high: float
    p: float
    method: Literal["chi-square", "fisher"]


def missingness(
    missing_reference: int, rows_reference: int, missing_window: int, rows_window: int, *, level: float = 0.95
) -> Missingness:
    """Compare how many values are missing: Pearson's chi-square, or Fisher's test when an expected count is below 5.

    >>> found = missingness(50, 1000, 90, 1000)
    >>> round(found.difference, 3), round(found.p, 5), found.method
    (0.04, 0.00046, 'chi-square')
    """
    if min(rows_reference, rows_window) < 1:
        raise ValueError(f"both sides need rows, got {rows_reference} and {rows_window}")
    if not (0 <= missing_reference <= rows_reference and 0 <= missing_window <= rows_window):
        raise ValueError("the number of missing values must lie between 0 and the number of rows")
    first, second = missing_reference / rows_reference, missing_window / rows_window
    low, high = newcombe(second, rows_window, first, rows_reference, level=level)
    missing, rows = missing_reference + missing_window, rows_reference + rows_window
    expected = min(missing, rows - missing) * min(rows_reference, rows_window) / rows
    if expected < _SMALL_EXPECTED:
        p = fisher_exact(missing_reference, rows_reference, missing_window, rows_window)
        return Missingness(first, second, second - first, low, high, p, "fisher")
    p = chi2_proportions([missing_reference, missing_window], [rows_reference, rows_window]).p
    return Missingness(first, second, second - first, low, high, p, "chi-square")
