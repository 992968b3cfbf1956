"""How much weight of the first k rows lies below a score, ties half: for many k and scores at once in O(n log n)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workup.stats.arrays import Bools, Floats, Rows


class _Level(NamedTuple):
    """One bit of the ranks: the rows as they lie, which of them have it not, and the queries that pass those by."""

    rows: Rows
    low: Bools
    passing: Rows
    start: Rows
    stop: Rows


class PrefixRanks(NamedTuple):
    """Rows in a fixed order, ready to answer under any weights (a wavelet tree over the ranks of their scores)."""

    levels: tuple[_Level, ...]
    queries: int

    @classmethod
    def of(cls, score: Floats, *, first: Rows, below: Floats) -> PrefixRanks:
        """`score` of the rows in their order; the i-th query asks for the first `first[i]` rows with a score under
        `below[i]`, those that equal it counted half.

        >>> asked = PrefixRanks.of(np.array([3.0, 1.0, 2.0, 2.0]), first=np.array([2, 4]), below=np.array([3.0, 2.0]))
        >>> asked.under(np.ones((4, 1)))[:, 0].tolist()
        [1.5, 2.0]
        """
        distinct, ranks = np.unique(score, return_inverse=True)
        # Once for scores under the query's and once for those at most equal to it: the mean counts ties half.
        limit = np.concatenate([np.searchsorted(distinct, below, side=side) for side in ("left", "right")])
        stop, start = np.concatenate([first, first]), np.zeros(2 * first.size, dtype=np.intp)
        rows = np.arange(score.size)
        levels = []
        for bit in reversed(range(int(distinct.size).bit_length())):
            low = (ranks[rows] >> bit) & 1 == 0
            zeros = np.concatenate(([0], np.cumsum(low)))
            up = (limit >> bit) & 1 == 1
            passing = np.flatnonzero(up)
            levels.append(_Level(rows, low, passing, start[passing], stop[passing]))
            start, stop = (np.where(up, zeros[-1] + place - zeros[place], zeros[place]) for place in (start, stop))
            rows = np.concatenate([rows[low], rows[~low]])
        return cls(tuple(levels), first.size)

    def under(self, weights: Floats) -> Floats:
        """The sums for every column of `weights[n, B]`, as an array [query, B]."""
        found = np.zeros((2 * self.queries, weights.shape[1]))
        for level in self.levels:
            held = np.where(level.low[:, None], weights[level.rows], 0.0)
            running = np.concatenate([np.zeros((1, weights.shape[1])), np.cumsum(held, axis=0)])
            found[level.passing] += running[level.stop] - running[level.start]
        return np.asarray((found[: self.queries] + found[self.queries :]) / 2)
