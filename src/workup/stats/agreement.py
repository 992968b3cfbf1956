"""Agreement of raters: intraclass correlation of two-way tables, and weighted kappa of pairs of raters.

It knows numbers in a table of units by raters; not who the raters are, nor what they rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Floats
from workup.stats.intervals import Ends, t_critical

_NONE = Ends(np.nan, np.nan)


class Icc(NamedTuple):
    """An intraclass correlation with its interval; NaN where the table cannot tell."""

    value: float
    low: float
    high: float


class IccPair(NamedTuple):
    """ICC(2,1), the reliability of one rater, and ICC(2,k), that of the mean of all k; two-way random, agreement."""

    single: Icc
    mean: Icc
    units: int
    raters: int


class Kappa(NamedTuple):
    """A mean of weighted kappas over pairs of raters, with a jackknife interval over clusters."""

    value: float
    low: float
    high: float
    se: float
    clusters: int
    pairs: int  # pairs of raters with a defined kappa
    ratings: int  # units that a pair rated, summed over pairs


def icc_agreement(table: npt.ArrayLike, *, level: float = 0.95) -> IccPair:
    """ICC(2,1) and ICC(2,k) of a complete table of units by raters.

    Shrout and Fleiss, Psychol Bull 1979, cases 2; intervals after McGraw and Wong, Psychol Methods 1996, table 7, with
    Satterthwaite's degrees of freedom. The mean of k raters has the interval of one, taken through Spearman and Brown.

    >>> four = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> found = icc_agreement(four)
    >>> round(found.single.value, 2), round(found.mean.value, 2)
    (0.29, 0.62)
    """
    x = np.asarray(table, dtype=np.float64)
    if x.ndim != 2 or not np.isfinite(x).all():
        raise ValueError("an intraclass correlation needs a complete table of units by raters with finite numbers")
    n, k = x.shape
    if n < 2 or k < 2:
        nothing = Icc(np.nan, np.nan, np.nan)
        return IccPair(nothing, nothing, n, k)
    rows, columns, error = _mean_squares(x)
    single = _ratio(rows - error, rows + (k - 1) * error + k * (columns - error) / n)
    mean = _ratio(rows - error, rows + (columns - error) / n)
    ends = _single_ends(rows, columns, error, single, n, k, level)
    through = Ends(_spearman_brown(ends.low, k), _spearman_brown(ends.high, k))
    return IccPair(Icc(single, *ends), Icc(mean, *through), n, k)


def _mean_squares(x: Floats) -> tuple[float, float, float]:
    n, k = x.shape
    centred = x - x.mean()
    by_row, by_column = centred.mean(axis=1), centred.mean(axis=0)
    rest = centred - by_row[:, None] - by_column[None, :]
    # Equal ratings leave a rounding error, of which no ratio may be taken.
    small = 1e-12 * max(1.0, float(np.abs(x).max())) ** 2
    parts = (
        k * float(by_row @ by_row) / (n - 1),
        n * float(by_column @ by_column) / (k - 1),
        float(np.sum(rest**2)) / ((n - 1) * (k - 1)),
    )
    rows, columns, error = (0.0 if part < small else part for part in parts)
    return rows, columns, error


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else np.nan


def _single_ends(rows: float, columns: float, error: float, value: float, n: int, k: int, level: float) -> Ends:
    if not value < 1 or rows == 0:
        return _NONE  # without any disagreement, or any difference of units, the table does not show its own error
    a = k * value / (n * (1 - value))
    b = 1 + k * value * (n - 1) / (n * (1 - value))
    parts = (a * columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
    if not parts > 0:
        return _NONE
    df = (a * columns + b * error) ** 2 / parts
    if not df > 0:
        return _NONE
    upper_tail = (1 + level) / 2
    first, second = float(special.fdtri(n - 1, df, upper_tail)), float(special.fdtri(df, n - 1, upper_tail))
    rest = k * columns + (k * n - k - n) * error
    low = n * (rows - first * error) / (first * rest + n * rows)
    high = n * (second * rows - error) / (rest + n * second * rows)
    return Ends(low, high)


def _spearman_brown(value: float, k: int) -> float:
    below = 1 + (k - 1) * value
    if np.isnan(below):
        return np.nan
    return k * value / below if below > 0 else -np.inf


def weighted_kappa(first: npt.ArrayLike, second: npt.ArrayLike, *, levels: Sequence[float], power: int = 2) -> float:
    """Cohen's kappa with weights |i - j|^power (2 is quadratic, 1 linear); NaN where chance leaves no room.

    `levels` are all ratings that the scale allows, in order; disagreement is counted in steps of the scale.

    >>> round(weighted_kappa([1, 2, 3, 4, 5, 3], [1, 2, 3, 5, 4, 3], levels=[1, 2, 3, 4, 5]), 4)
    0.9
    """
    a, b = _codes(first, levels), _codes(second, levels)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError("two raters must have rated the same units")
    size = len(levels)
    counts = np.bincount(a * size + b, minlength=size * size).reshape(1, size, size).astype(np.float64)
    return float(_kappas(counts, power)[0])


def _codes(ratings: npt.ArrayLike, levels: Sequence[float]) -> npt.NDArray[np.intp]:
    values, scale = np.asarray(ratings, dtype=np.float64), np.asarray(levels, dtype=np.float64)
    if scale.size < 2 or np.any(np.diff(scale) <= 0):
        raise ValueError("the levels of a scale must be at least two, in rising order")
    codes = np.searchsorted(scale, values)
    if values.size and (codes.max() >= scale.size or np.any(scale[np.minimum(codes, scale.size - 1)] != values)):
        raise ValueError("every rating must be a level of the scale")
    return codes


def _kappas(counts: Floats, power: int) -> Floats:
    """Kappa of each table in [..., levels, levels]: 1 - observed over expected disagreement."""
    size = counts.shape[-1]
    step = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64) ** power
    total = counts.sum(axis=(-2, -1))
    observed = np.sum(step * counts, axis=(-2, -1))
    expected = np.einsum("...i,ij,...j->...", counts.sum(axis=-1), step, counts.sum(axis=-2))
    found = np.full(total.shape, np.nan)
    room = expected > 0
    found[room] = 1 - observed[room] * total[room] / expected[room]
    return found


def paired_kappa(
    table: npt.ArrayLike,
    *,
    pairs: Sequence[tuple[int, int]],
    clusters: npt.ArrayLike,
    levels: Sequence[float],
    power: int = 2,
    level: float = 0.95,
) -> Kappa:
    """The mean of the weighted kappas of these pairs of columns (Light 1971), each over the units that both rated.

    NaN means no rating. The interval is a delete-one jackknife over clusters with a t quantile: units of one
    cluster (the turns of one case) are rated alike. A pair that shares no unit, or leaves chance no room, is left out.

    >>> table = [[1, 1], [2, 2], [3, 3], [4, 5], [5, 4], [3, 3], [2, 1], [4, 4]]
    >>> found = paired_kappa(table, pairs=[(0, 1)], clusters=range(8), levels=[1, 2, 3, 4, 5])
    >>> round(found.value, 3), found.low < found.value < found.high, found.clusters
    (0.889, True, 8)
    """
    x = np.asarray(table, dtype=np.float64)
    names, codes = np.unique(np.asarray(clusters), return_inverse=True)
    if x.ndim != 2 or codes.size != x.shape[0]:
        raise ValueError("a table of units by raters and one cluster for each unit were expected")
    size = len(levels)
    counts = np.zeros((names.size, len(pairs), size, size))
    for place, (a, b) in enumerate(pairs):
        both = np.isfinite(x[:, a]) & np.isfinite(x[:, b])
        spots = (codes[both], np.full(int(both.sum()), place), _codes(x[both, a], levels), _codes(x[both, b], levels))
        np.add.at(counts, spots, 1.0)
    whole = counts.sum(axis=0)
    kappas = _kappas(whole, power)
    used = np.isfinite(kappas)
    if not used.any():
        return Kappa(np.nan, np.nan, np.nan, np.nan, 0, 0, int(whole.sum()))
    value = float(kappas[used].mean())
    present = counts[:, used].sum(axis=(1, 2, 3)) > 0
    without = _kappas(whole[None, used] - counts[present][:, used], power)
    ends, se = _jackknife(value, without, level)
    return Kappa(value, ends.low, ends.high, se, int(present.sum()), int(used.sum()), int(whole[used].sum()))


def _jackknife(value: float, without: Floats, level: float) -> tuple[Ends, float]:
    n = without.shape[0]
    if n < 2 or not np.isfinite(without).all():
        return _NONE, np.nan  # a cluster without which kappa is undefined holds all that is known of it
    means = without.mean(axis=1)
    se = float(np.sqrt((n - 1) / n * np.sum((means - means.mean()) ** 2)))
    if se < 1e-12:
        return _NONE, np.nan  # no disagreement at all shows no error of its own
    half = t_critical(level, n - 1) * se
    return Ends(max(-1.0, value - half), min(1.0, value + half)), se
