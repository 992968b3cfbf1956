"""A reference column kept for many comparisons: the whole sample in order, or counts at 2,000 of its quantiles.

Both kinds answer with the same `Distances`, so whoever watches a column need not know which is kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Floats, Ints
from workup.stats.categorical_distances import (
    Cuts,
    JensenShannon,
    Psi,
    Ties,
    decile_cuts,
    jensen_shannon,
    psi,
)
from workup.stats.distances import (
    KS,
    Missingness,
    Real,
    Wasserstein,
    in_spreads,
    ks_limit_p,
    ks_of_sorted,
    missingness,
    sample,
    spread,
    wasserstein_of_sorted,
)
from workup.stats.streaming_moments import Grid, Tally, edges_of


class Distances(NamedTuple):
    """How far a window lies from its reference, for one column.

    The errors bound what keeping only quantiles can hide: the true Kolmogorov–Smirnov statistic lies between
    `ks.statistic` and `ks.statistic + ks_error`, the true Wasserstein distance within `wasserstein_error` of the one
    given. Both are 0 for a reference kept whole. PSI and Jensen–Shannon, on the reference's deciles, are exact always.
    """

    rows_reference: int
    rows_window: int
    ks: KS
    ks_error: float
    wasserstein: Wasserstein
    wasserstein_error: float
    psi: Psi
    jensen_shannon: JensenShannon
    missing: Missingness


class Reference(ABC):
    """A stored reference, made by `exact` or by `binned`. Rows without a value are counted; infinite ones refused."""

    @staticmethod
    def exact(values: npt.ArrayLike, *, ties: Ties = "own_bin") -> ExactReference:
        """Keep the whole sample in order: 8 bytes a row, or 4 for float32. A window costs its own sort and little more.
        `ties` says what `decile_cuts` does where deciles coincide.

        >>> Reference.exact([1.0, 2.0, 3.0, 4.0]).compare([3.0, 4.0, 5.0, 6.0], seed=1).ks.statistic
        0.5
        """
        kept = sample(values, name="reference")
        return ExactReference(kept.ascending, kept.missing, ties)

    @staticmethod
    def binned(values: npt.ArrayLike, *, quantiles: int = 2_000, ties: Ties = "own_bin") -> BinnedReference:
        """Keep counts at `quantiles` rows of the sample, some 50 kB whatever its size; windows come in batches.

        >>> reference = Reference.binned(np.arange(10_000) / 10_000)
        >>> window = reference.window().update([0.1, 0.2]).update([0.3])
        >>> found = reference.compare(window, seed=1)
        >>> round(found.ks.statistic, 2), found.ks_error <= 0.0005
        (0.7, True)
        """
        if quantiles < 1:
            raise ValueError(f"at least one quantile must be kept, got {quantiles}")
        kept = sample(values, name="reference")
        return BinnedReference(kept.ascending, kept.missing, quantiles, ties)

    @abstractmethod
    def compare(self, window: npt.ArrayLike, *, seed: int, level: float = 0.95) -> Distances:
        """All distances of a window of new values. The seed serves the null of PSI where bins hold few rows."""


class ExactReference(Reference):
    """A reference kept whole, in ascending order."""

    def __init__(self, ascending: Real, missing: int, ties: Ties = "own_bin") -> None:
        """Keep an ascending sample without missing values, and their number."""
        self.ties: Ties = ties
        self.ascending = ascending
        self.missing = missing
        self.deviation = spread(ascending)
        self.cuts: Cuts = decile_cuts(ascending, ties=ties)
        self.counts: Ints = self.cuts.counts(ascending)

    def compare(self, window: npt.ArrayLike, *, seed: int, level: float = 0.95) -> Distances:
        """All distances of a window of new values.

        A window and a reference of different precision are compared in the coarser one, both rounded.
        """
        ascending, missing = sample(window, name="window")
        x = self.ascending
        if ascending.dtype != x.dtype:
            if x.dtype == np.float64:
                return ExactReference(x.astype(np.float32), self.missing, self.ties).compare(
                    window, seed=seed, level=level
                )
            ascending = ascending.astype(np.float32)  # rounding keeps the order
        n, m = x.size, ascending.size
        counts = self.cuts.counts(ascending)
        distance = wasserstein_of_sorted(x, ascending)
        return Distances(
            n,
            m,
            ks_of_sorted(x, ascending),
            0.0,
            Wasserstein(distance, in_spreads(distance, self.deviation)),
            0.0,
            psi(self.counts, counts, seed=seed, level=level),
            jensen_shannon(self.counts, counts),
            missingness(self.missing, n + self.missing, missing, m + missing, level=level),
        )


class BinnedReference(Reference):
    """A reference of which only counts at fixed edges are kept."""

    def __init__(self, ascending: Real, missing: int, quantiles: int, ties: Ties = "own_bin") -> None:
        """Take the edges and counts of an ascending sample; the sample itself is not kept."""
        cuts = decile_cuts(ascending, ties=ties)
        # With the deciles among the edges, PSI and Jensen–Shannon are counted exactly.
        self.grid = Grid(edges_of(ascending, quantiles=quantiles, also=cuts.values), typical=ascending)
        self.counts: Ints = self.grid.count_sorted(ascending)
        self.missing = missing
        self.deviation = spread(ascending)
        at = np.searchsorted(self.grid.edges, cuts.values.astype(np.float64))
        self._cut_after: Ints = 2 * at + np.where(cuts.before, 0, 1)  # the last bin before each cut

    @property
    def rows(self) -> int:
        """Rows with a value."""
        return int(self.counts.sum())

    @property
    def ks_bound(self) -> float:
        """The most by which a Kolmogorov–Smirnov statistic can be too small: the largest share between two edges.

        Between two edges the gap can only widen by what the reference holds there, however the window lies.
        """
        return int(self.counts[0::2].max()) / self.rows

    def note(self) -> str:
        """What is kept and how exact it is, in a sentence for a report."""
        return (
            f"The reference of {self.rows:,} rows is kept as counts at {self.grid.edges.size:,} of its quantiles: "
            f"Kolmogorov–Smirnov statistics are at most {self.ks_bound:.6f} too small, "
            "PSI and Jensen–Shannon are exact."
        )

    def window(self) -> Tally:
        """An empty window, to be updated batch by batch and merged with others."""
        return Tally(self.grid)

    def compare(self, window: npt.ArrayLike | Tally, *, seed: int, level: float = 0.95) -> Distances:
        """All distances of a window, given as values or as what was tallied of them."""
        tally = window if isinstance(window, Tally) else self.window().update(window)
        if tally.grid is not self.grid:
            tally = self.window().merge(tally)  # refuses another reference's
        n, m = self.rows, tally.rows
        if m == 0:
            raise ValueError(f"the window holds no value ({tally.missing} missing): a distance needs at least one row")
        ks, ks_error = _ks(self.counts, tally.counts)
        distance, wasserstein_error = _area(self.grid.edges, self.counts, tally.counts)
        distance += tally.outside / m
        deciles = self._in_deciles(self.counts), self._in_deciles(tally.counts)
        return Distances(
            n,
            m,
            ks,
            ks_error,
            Wasserstein(distance, in_spreads(distance, self.deviation)),
            wasserstein_error,
            psi(*deciles, seed=seed, level=level),
            jensen_shannon(*deciles),
            missingness(self.missing, n + self.missing, tally.missing, m + tally.missing, level=level),
        )

    def _in_deciles(self, counts: Ints) -> Ints:
        running = np.cumsum(counts)
        return np.diff(running[self._cut_after], prepend=0, append=running[-1])


def _ks(reference: Ints, window: Ints) -> tuple[KS, float]:
    """The statistic over both sides of every edge, and how much wider the gap may be between two edges.

    Inside an open bin the reference's distribution function is at most its value at the end and the window's at least
    its value at the start, and the other way round.
    """
    n, m = int(reference.sum()), int(window.sum())
    x, y = np.cumsum(reference) * m, np.cumsum(window) * n
    widest = int(np.abs(x - y).max())
    x_start, y_start = np.append(0, x[1:-1:2]), np.append(0, y[1:-1:2])
    room = int(np.maximum(x[0::2] - y_start, y[0::2] - x_start).max())
    statistic = widest / (n * m)
    return KS(statistic, ks_limit_p(statistic, n, m), "asymptotic"), max(0, room - widest) / (n * m)


def _area(edges: Floats, reference: Ints, window: Ints) -> tuple[float, float]:
    """The area between the distribution functions from the first edge to the last, drawn straight inside each open bin.

    A rising function strays from the straight line by at most half of what it rises times the width.
    """
    gap = np.cumsum(reference) / reference.sum() - np.cumsum(window) / window.sum()
    start, end, width = gap[1:-2:2], gap[2:-1:2], np.diff(edges)
    size = np.abs(start) + np.abs(end)
    crossing = np.divide(start**2 + end**2, size, out=np.zeros_like(size), where=size > 0)
    area = np.where(start * end >= 0, size, crossing) / 2
    rise = reference[2:-1:2] / reference.sum() + window[2:-1:2] / window.sum()
    return float(np.dot(area, width)), float(np.dot(rise, width)) / 2
