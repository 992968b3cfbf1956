"""Distances between two sets of counts: the population stability index, Jensen–Shannon and chi-square for categories.

Knows bins and levels, not what they mean; `decile_cuts` makes the bins of a continuous column.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Floats, Ints
from workup.stats.intervals import chi2_p
from workup.stats.random import generator

FLOOR = 1e-4  # the least share of a bin inside a logarithm: an empty bin counts as one row in 10,000
_SMALL_EXPECTED = 5.0
_SMALL_IN_LOGARITHM = 50.0
_CELLS_AT_ONCE = 1_000_000


def _counts(reference: npt.ArrayLike, window: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Both sets of counts as floats, checked."""
    ref, win = np.asarray(reference, dtype=np.float64), np.asarray(window, dtype=np.float64)
    if ref.shape != win.shape or ref.ndim != 1:
        raise ValueError(f"both sides need a count for each bin, got shapes {ref.shape} and {win.shape}")
    if not (np.isfinite(ref).all() and np.isfinite(win).all() and (ref >= 0).all() and (win >= 0).all()):
        raise ValueError("counts must be finite and not negative")
    if not (ref.sum() > 0 and win.sum() > 0):
        raise ValueError("the reference or the window holds no rows: a distance needs at least one on each side")
    return ref, win


# ---- bins of a continuous column -------------------------------------------------------------------------------------


class Cuts(NamedTuple):
    """Where a column is cut: `values` ascending, with `before` true where the cut lies just before the value, so that
    the value begins the next bin; otherwise it ends its own. A value cut on both sides is a bin by itself."""

    values: npt.NDArray[Any]
    before: npt.NDArray[np.bool_]

    def counts(self, ascending: npt.NDArray[Any]) -> Ints:
        """Rows of an ascending sample in each bin."""
        left, right = np.searchsorted(ascending, self.values), np.searchsorted(ascending, self.values, side="right")
        return np.diff(np.where(self.before, left, right), prepend=0, append=ascending.size)


Ties = Literal["own_bin", "merge"]


def decile_cuts(ascending: npt.NDArray[Any], *, bins: int = 10, ties: Ties = "own_bin") -> Cuts:
    """Cuts at the reference's quantiles (R's type 7), each bin closed on the right.

    A value on which two or more quantiles fall holds a tenth of the reference or more and gets a bin of its own: bins
    closed on the right alone would put it together with everything below, and a column that was always 0 could fall
    without any change in its shares. `ties="merge"` is the convention of most R code, cut(x, c(-Inf,
    unique(quantile(reference, 1:9 / 10)), Inf)), which does just that.

    >>> decile_cuts(np.array([0.0, 0.0, 0.0, 0.0, 5.0]), bins=4)
    Cuts(values=array([0., 0.]), before=array([ True, False]))
    >>> decile_cuts(np.array([0.0, 0.0, 0.0, 0.0, 5.0]), bins=4, ties="merge")
    Cuts(values=array([0.]), before=array([False]))
    """
    if ties not in ("own_bin", "merge"):
        raise ValueError(f"tied quantiles get their own bin ('own_bin') or are merged ('merge'), got {ties!r}")
    if bins < 2:
        raise ValueError(f"at least 2 bins are needed, got {bins}")
    # Places as whole numbers over `bins`: the product of a float share and n - 1 may miss the row it means.
    place, rest = np.divmod(np.arange(1, bins) * (ascending.size - 1), bins)
    lower, upper = ascending[place], ascending[np.minimum(place + 1, ascending.size - 1)]
    share = rest / bins
    quantiles = np.where(lower == upper, lower, (1 - share) * lower + share * upper).astype(ascending.dtype)
    values, times = np.unique(quantiles, return_counts=True)
    if ties == "merge":
        return Cuts(values, np.zeros(values.size, dtype=bool))
    both = np.repeat(values, 1 + (times > 1))
    return Cuts(both, np.append(both[1:] == both[:-1], False))


# ---- population stability index --------------------------------------------------------------------------------------


class Psi(NamedTuple):
    """The index beside what chance alone gives: its expectation, the value it passes with probability 1 − level, and p.

    `bins` counts those that hold a row of either side; `method` says where the null distribution is from.
    """

    value: float
    bins: int
    expected: float
    critical: float
    p: float
    method: Literal["chi-square", "monte carlo"]


def psi(reference: npt.ArrayLike, window: npt.ArrayLike, *, seed: int, level: float = 0.95, draws: int = 9_999) -> Psi:
    """The population stability index of two sets of counts, Σ(a − e)·log(a/e), in nats, with its null distribution.

    Shares below 0.0001 are raised to it inside the sum (an empty bin would give an infinite index). The customary
    limits of 0.1 and 0.25 mean little without n: from samples of 60 and 50 rows chance alone passes 0.6 one time in
    twenty. From 50 expected rows in every bin the null is `psi_null`'s chi-square; below that chi-square would raise
    false flags (7 % at 100 rows in ten bins, 73 % at 20), and `draws` windows without drift are drawn instead.

    >>> found = psi([500, 300, 200], [450, 350, 200], seed=1)
    >>> round(found.value, 6), round(found.critical, 5), found.method
    (0.012976, 0.01198, 'chi-square')
    """
    ref, win = _counts(reference, window)
    held = (ref + win) > 0
    ref, win = ref[held], win[held]
    n, m = float(ref.sum()), float(win.sum())
    value = float(psi_of_shares(ref / n, win / m))
    if ref.size == 1 or float(ref.min()) * min(1.0, m / n) >= _SMALL_IN_LOGARITHM:
        return psi_null(value, ref.size, n, m, level=level)
    if draws < 1:
        raise ValueError(f"at least one window must be drawn, got {draws}")
    null = _null_indices(ref, int(np.rint(m)), generator(seed, "psi"), draws)
    p = (1 + int(np.count_nonzero(null >= value * (1 - 1e-9)))) / (1 + draws)
    return Psi(value, ref.size, float(null.mean()), float(np.quantile(null, level)), p, "monte carlo")


def psi_of_shares(reference: Floats, window: Floats) -> Floats:
    """The index itself, from shares (along the last axis). Bins empty on both sides add nothing."""
    e, a = np.maximum(reference, FLOOR), np.maximum(window, FLOOR)
    return np.asarray(np.sum((a - e) * np.log(a / e), axis=-1))


def psi_null(value: float, bins: int, n: float, m: float, *, level: float = 0.95) -> Psi:
    """An index beside its large-sample null, (1/n + 1/m)·chi²(bins − 1) (Yurdakul 2018).

    The sizes may be effective ones. One bin only: nothing can differ, and p is 1.
    """
    unit, df = 1 / n + 1 / m, bins - 1
    if df < 1:
        return Psi(float(value), bins, 0.0, 0.0, 1.0, "chi-square")
    critical = float(special.chdtri(df, 1 - level)) * unit
    return Psi(float(value), bins, df * unit, critical, chi2_p(value / unit, df), "chi-square")


def _null_indices(ref: Floats, m: int, rng: np.random.Generator, draws: int) -> Floats:
    """Indices of windows without drift.

    What the bins hold of the population is uncertain by the reference's size: between order statistics it follows a
    Dirichlet distribution, whatever the column. A bin that the reference left empty holds something like half a row.
    """
    at_once = max(1, _CELLS_AT_ONCE // ref.size)
    found = []
    for done in range(0, draws, at_once):
        population = rng.dirichlet(np.maximum(ref, 0.5), size=min(at_once, draws - done))
        found.append(psi_of_shares(ref / ref.sum(), rng.multinomial(m, population) / m))
    return np.concatenate(found)


# ---- Jensen–Shannon --------------------------------------------------------------------------------------------------


class JensenShannon(NamedTuple):
    """`divergence` in nats (natural logarithm, at most log 2); `distance` is the root of the divergence in bits (base
    2), so it lies between 0 and 1."""

    divergence: float
    distance: float


def jensen_shannon(reference: npt.ArrayLike, window: npt.ArrayLike) -> JensenShannon:
    """Jensen and Shannon's divergence of two sets of counts; empty bins need no floor.

    >>> round(jensen_shannon([50, 30, 20], [45, 35, 20]).divergence, 9)
    0.001620688
    """
    ref, win = _counts(reference, window)
    e, a = ref / ref.sum(), win / win.sum()
    middle = (e + a) / 2
    nats = float(np.sum(special.rel_entr(e, middle) + special.rel_entr(a, middle))) / 2
    nats = min(max(nats, 0.0), float(np.log(2)))  # rounding may leave the range by 1e-17
    return JensenShannon(nats, float(np.sqrt(nats / np.log(2))))


# ---- categories ------------------------------------------------------------------------------------------------------


class Categories(NamedTuple):
    """Counts of every level of either side, in the order of the levels."""

    levels: npt.NDArray[Any]
    reference: Ints
    window: Ints

    @property
    def unseen(self) -> int:
        """Levels of the window that the reference never held."""
        return int(np.count_nonzero((self.reference == 0) & (self.window > 0)))


def categories(reference: npt.ArrayLike, window: npt.ArrayLike) -> Categories:
    """Count levels (codes or names) on both sides; one seen on one side only is a category like any other.

    Missing values (NaN) are left out; whoever counts them as a level gives them a name.

    >>> categories(["a", "b", "a"], ["a", "c"]).window
    array([1, 0, 1])
    """
    sides = [np.asarray(reference), np.asarray(window)]
    kinds = {"text" if side.dtype.kind in "US" else side.dtype.kind for side in sides}
    if any(side.ndim != 1 for side in sides) or not kinds <= {"text", "i", "u", "b", "f"}:
        raise ValueError("categories must be one column of codes or names on each side")
    if "text" in kinds and len(kinds) > 1:
        raise ValueError("the reference and the window hold different kinds of levels, numbers and names")
    sides = [side[~np.isnan(side)] if side.dtype.kind == "f" else side for side in sides]
    levels, codes = np.unique(np.concatenate(sides), return_inverse=True)
    split = sides[0].size
    counts = [np.bincount(part, minlength=levels.size).astype(np.int64) for part in (codes[:split], codes[split:])]
    return Categories(levels, counts[0], counts[1])


class ChiSquare(NamedTuple):
    """Pearson's test that two samples share one distribution over levels. Cramér's V is its effect size, 0 to 1."""

    statistic: float
    df: int
    p: float
    cramers_v: float
    method: Literal["asymptotic", "monte carlo"]
    smallest_expected: float


def chi_square(reference: npt.ArrayLike, window: npt.ArrayLike, *, seed: int, draws: int = 9_999) -> ChiSquare:
    """Pearson's chi-square of two sets of counts, without continuity correction.

    When an expected count is below 5 the p is the share of `draws` tables with the same margins, drawn at random, that
    lie as far out, the table seen included (so never below 1/(draws + 1)); no level is merged or left out. Levels
    empty on both sides do not count. One level only: nothing can differ, and p is 1.

    >>> round(chi_square([50, 30, 20], [45, 35, 20], seed=1).p, 6)
    0.723332
    """
    ref, win = _counts(reference, window)
    held = (ref + win) > 0
    ref, win = ref[held], win[held]
    n, m = float(ref.sum()), float(win.sum())
    both, total = ref + win, n + m
    smallest = float(both.min() * min(n, m) / total)
    df = both.size - 1
    if df == 0:
        return ChiSquare(0.0, 0, 1.0, 0.0, "asymptotic", smallest)
    statistic = float(_pearson(win[None, :], both, m)[0])
    size = float(np.sqrt(statistic / total))
    if smallest >= _SMALL_EXPECTED:
        return ChiSquare(statistic, df, chi2_p(statistic, df), size, "asymptotic", smallest)
    p = _monte_carlo_p(statistic, both, m, seed=seed, draws=draws)
    return ChiSquare(statistic, df, p, size, "monte carlo", smallest)


def _pearson(window: Floats, both: Floats, m: float) -> Floats:
    """The statistic of each row of window counts, given the margins."""
    total = both.sum()
    return np.asarray(np.sum((window - m * both / total) ** 2 / both, axis=1) * total**2 / (m * (total - m)))


def _monte_carlo_p(statistic: float, both: Floats, m: float, *, seed: int, draws: int) -> float:
    if draws < 1:
        raise ValueError(f"at least one table must be drawn, got {draws}")
    if not (np.all(both == np.rint(both)) and m == np.rint(m)):
        raise ValueError("small counts are tested by drawing tables, which needs whole counts, not weighted ones")
    rng = generator(seed, "chi-square")
    at_once = max(1, _CELLS_AT_ONCE // both.size)
    as_far = 0
    for done in range(0, draws, at_once):
        drawn = rng.multivariate_hypergeometric(both.astype(np.int64), int(m), size=min(at_once, draws - done))
        as_far += int(np.count_nonzero(_pearson(drawn.astype(np.float64), both, m) >= statistic * (1 - 1e-9)))
    return (1 + as_far) / (1 + draws)
