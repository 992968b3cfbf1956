"""Counts of a column at fixed edges, batch by batch in constant memory, to be added up across batches and machines.

Every edge is a bin of its own between two open bins, so a value that half of all rows share is never split or blurred.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Floats, Ints
from workup.stats.distances import Real, infinite, real

_ROWS_AT_ONCE = 1 << 15
_SORTED_AT_ONCE = 1 << 18
_CELLS = 1 << 14
_CROWDED = 0.02


class Grid:
    """Edges e1 < e2 < …, and bins in their order: below e1, e1 itself, between e1 and e2, e2 itself, and so on.

    Rows are counted exactly in one of two ways that give the same counts. Where the edges lie evenly enough, a table of
    equal cells names the one edge that a row must be held against; this needs no sort, and numpy's is several times
    slower on some processors with AVX-512. Where they do not (long tails), a sorted batch is searched for the edges.
    """

    def __init__(self, edges: Real, *, typical: Real) -> None:
        """Build for distinct ascending edges; `typical` values, ascending, decide which way of counting is used."""
        self.edges: Floats = edges.astype(np.float64)
        self.single = edges.dtype == np.float32
        self.bins = 2 * edges.size + 1
        end = edges.size // 500  # the sparse ends of the column may share a cell
        self._low, high = self.edges[end], self.edges[-1 - end]
        with np.errstate(over="ignore", divide="ignore"):
            self._scale = (_CELLS - 1) / (high - self._low) if high > self._low else np.inf
        self.by_table = bool(np.isfinite(self._scale) and self._scale > 0)
        if self.by_table:
            self._make_table()
            self.by_table = bool(np.mean(self._crowded[self._cell(typical)]) < _CROWDED)

    def _make_table(self) -> None:
        of_edge = self._cell(self.edges)
        self._crowded = np.bincount(of_edge, minlength=_CELLS) > 1
        self._edge = np.full(_CELLS, np.inf)
        self._edge[of_edge] = self.edges
        self._edge[self._crowded] = np.inf
        self._bin = 2 * np.searchsorted(of_edge, np.arange(_CELLS)).astype(np.int64)  # of the rows below that edge
        self._bin[self._crowded] = self.bins  # one bin too many: rows to be sorted after all

    def _cell(self, values: Real) -> npt.NDArray[np.int32]:
        """Cells in the order of the values: subtraction and product may round, but never turn two values round."""
        with np.errstate(over="ignore"):
            place = np.subtract(values, self._low, dtype=np.float64)
            place *= self._scale
        np.maximum(place, 0, out=place)
        np.minimum(place, _CELLS - 1, out=place)
        return np.asarray(place.astype(np.int32))

    def count(self, values: Real) -> Ints:
        """Rows in each bin; the values must be finite."""
        return self._by_table(values) if self.by_table else self.by_sorting(values)

    def _by_table(self, values: Real) -> Ints:
        counts = np.zeros(self.bins + 1, dtype=np.int64)
        crowded = []
        for begin in range(0, values.size, _ROWS_AT_ONCE):
            part = values[begin : begin + _ROWS_AT_ONCE]
            cell = self._cell(part)
            into, edge = self._bin.take(cell), self._edge.take(cell)
            into += part >= edge
            into += part > edge
            counts += np.bincount(into, minlength=counts.size)
            if counts[-1]:
                crowded.append(part[into == self.bins])
                counts[-1] = 0
        return counts[:-1] + self.by_sorting(np.concatenate(crowded)) if crowded else counts[:-1]

    def by_sorting(self, values: Real) -> Ints:
        """The same counts from sorted batches."""
        counts = np.zeros(self.bins, dtype=np.int64)
        for begin in range(0, values.size, _SORTED_AT_ONCE):
            counts += self.count_sorted(np.sort(values[begin : begin + _SORTED_AT_ONCE]))
        return counts

    def count_sorted(self, ascending: Real) -> Ints:
        """The same counts of values in ascending order."""
        # Edges go into the type of the values, which holds them exactly; the other way would copy all values.
        edges = self.edges.astype(ascending.dtype)
        ends = np.empty(self.bins, dtype=np.int64)
        ends[0:-1:2] = np.searchsorted(ascending, edges, side="left")
        ends[1:-1:2] = np.searchsorted(ascending, edges, side="right")
        ends[-1] = ascending.size
        return np.diff(ends, prepend=0)


class Tally:
    """What a grid keeps of the rows seen so far. Its size never changes, and tallies of one grid add up."""

    def __init__(self, grid: Grid) -> None:
        """Nothing seen yet."""
        self.grid = grid
        self.counts: Ints = np.zeros(grid.bins, dtype=np.int64)
        self.missing = 0
        self.outside = 0.0  # how far rows lie beyond the first and the last edge, summed

    @property
    def rows(self) -> int:
        """Rows with a value."""
        return int(self.counts.sum())

    def update(self, batch: npt.ArrayLike) -> Tally:
        """Count another batch. NaN counts as missing; infinite values are refused and nothing of the batch is kept."""
        column = real(batch, name="window")
        if self.grid.single:
            column = column.astype(np.float32, copy=False)
        elif column.dtype == np.float32:
            raise ValueError(
                "the window is float32 and the reference float64, in which equal numbers differ: "
                "convert the reference to float32, or read the window in double precision"
            )
        known = np.isfinite(column)
        missing = 0
        if not known.all():
            if np.isinf(column).any():
                raise infinite("window")
            missing = int(column.size - np.count_nonzero(known))
            column = column[known]
        counts = self.grid.count(column)
        self.outside += self._beyond(column, counts)
        self.counts += counts
        self.missing += missing
        return self

    def _beyond(self, column: Real, counts: Ints) -> float:
        first, last = self.grid.edges[0], self.grid.edges[-1]
        distance = 0.0
        if counts[0]:
            distance += float(np.sum(first - column[column < first].astype(np.float64)))
        if counts[-1]:
            distance += float(np.sum(column[column > last].astype(np.float64) - last))
        return distance

    def merge(self, other: Tally) -> Tally:
        """Add what another tally of the same reference has seen."""
        if self.grid is not other.grid and not (
            self.grid.single == other.grid.single and np.array_equal(self.grid.edges, other.grid.edges)
        ):
            raise ValueError("the two windows were counted against different references: count both against one")
        self.counts += other.counts
        self.missing += other.missing
        self.outside += other.outside
        return self


def edges_of(ascending: Real, *, quantiles: int, also: npt.NDArray[Any]) -> Real:
    """Rows of the reference so chosen that fewer than one in `quantiles` lie strictly between two, both ends included,
    and the values in `also`. A column of no more distinct values than that keeps them all, and nothing is lost.

    Towards both ends the rows come closer (the 1st, 2nd, 4th, 8th …): in a long tail the last step alone may be wider
    than the rest of the column, and an area cannot be read off it.
    """
    n = ascending.size
    distinct = ascending[np.append(True, ascending[1:] != ascending[:-1])]
    if distinct.size > quantiles:
        tail = 2 ** np.arange(int(np.log2(max(1, n / quantiles))) + 1) - 1
        distinct = ascending[np.concatenate([np.arange(quantiles) * n // quantiles, tail, n - 1 - tail])]
    return np.asarray(np.unique(np.concatenate([distinct, also.astype(ascending.dtype)])))
