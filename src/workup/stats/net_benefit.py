"""Net benefit over thresholds with pointwise intervals, for independent rows and for rows that cluster in patients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Floats, Ints
from workup.stats.intervals import Ends, t_critical, wilson


class Benefit(NamedTuple):
    """Net benefit at one threshold, and what it is above that of treating everyone, each with its ends."""

    threshold: float
    value: float
    ends: Ends
    over_all: float
    over_all_ends: Ends


class _Pair(NamedTuple):
    """Two cells of the two-by-two table on one side of the threshold, as shares of all rows: those with the event and
    those without, each with its ends; and how they correlate from sample to sample."""

    event: float
    event_ends: Ends
    other: float
    other_ends: Ends
    correlation: float

    def benefit(self, odds: float) -> tuple[float, Ends]:
        """Events less odds times the others."""
        value, r = self.event - odds * self.other, self.correlation
        down, up = self.event - self.event_ends.low, odds * (self.other_ends.high - self.other)
        low = value - np.sqrt(max(0.0, down**2 + up**2 - 2 * r * down * up))
        up, down = self.event_ends.high - self.event, odds * (self.other - self.other_ends.low)
        high = value + np.sqrt(max(0.0, up**2 + down**2 - 2 * r * up * down))
        return value, Ends(float(low), float(high))


def net_benefit_curve(
    outcome: Floats,
    risk: Floats,
    thresholds: npt.ArrayLike,
    *,
    weight: Floats | None = None,
    cluster: Ints | None = None,
    level: float = 0.95,
) -> list[Benefit]:
    """Net benefit TP/n − t/(1 − t)·FP/n at every threshold (Vickers and Elkin 2006), with pointwise intervals.

    Both shares get Wilson's ends and are combined with their correlation (Zou and Donner 2008, MOVER), which keeps its
    level where a handful of rows is flagged or none, and a normal interval of the difference does not: with few events
    below the threshold that covers 30 to 80 % for a nominal 95. With `cluster`, Wilson's n is divided by the design
    effect of the clusters' totals (at least 1) and the quantile is t with clusters − 1 degrees of freedom; where a
    share is 0 or 1 its design effect cannot be seen and clusters are counted.

    >>> [one] = net_benefit_curve(np.array([1.0, 1, 0, 0]), np.array([0.9, 0.3, 0.6, 0.1]), [0.5])
    >>> one.value, one.over_all
    (0.0, 0.0)
    """
    order = np.argsort(risk, kind="stable")
    risk, outcome = risk[order], outcome[order]
    w = np.ones(risk.size) if weight is None else weight[order]
    codes = np.arange(risk.size) if cluster is None else np.unique(cluster[order], return_inverse=True)[1]
    independent = weight is None and (cluster is None or int(codes.max()) + 1 == risk.size)
    table: _Independent | _Clustered = _Independent(outcome) if independent else _Clustered(outcome, w, codes)
    found = []
    for threshold in np.sort(np.asarray(thresholds, dtype=np.float64)):
        flagged, left = table.at(int(np.searchsorted(risk, threshold)), level)
        odds = float(threshold / (1 - threshold))
        value, ends = flagged.benefit(odds)
        lost, lost_ends = left.benefit(odds)  # what treating everyone gains among those that the model leaves alone
        found.append(
            Benefit(float(threshold), value, ends, 0.0 - lost, Ends(0.0 - lost_ends.high, 0.0 - lost_ends.low))
        )
    return found


class _Independent:
    """Counts of independent rows, ascending in risk; the correlation of two shares is a multinomial's."""

    def __init__(self, outcome: Floats) -> None:
        self.n = outcome.size
        self.events_below = np.concatenate([[0.0], np.cumsum(outcome)])

    def at(self, first: int, level: float) -> tuple[_Pair, _Pair]:
        """The rows from `first` on, which are flagged, and those before it."""
        missed = float(self.events_below[first])
        hit = float(self.events_below[-1]) - missed
        return self._pair(hit, self.n - first - hit, level), self._pair(missed, first - missed, level)

    def _pair(self, events: float, others: float, level: float) -> _Pair:
        a, b = events / self.n, others / self.n
        r = -float(np.sqrt(a * b / ((1 - a) * (1 - b)))) if a < 1 and b < 1 else 0.0
        return _Pair(a, wilson(a, self.n, level=level), b, wilson(b, self.n, level=level), r)


class _Clustered:
    """Totals of clusters. As the threshold rises rows move from flagged to not flagged, each of them once."""

    def __init__(self, outcome: Floats, weight: Floats, codes: Ints) -> None:
        self.outcome, self.weight, self.codes = outcome, weight, codes
        self.rows, self.size = outcome.size, float(weight.sum())
        self.clusters = int(codes.max()) + 1
        self.totals = np.bincount(codes, weights=weight)
        self.kish = self.size**2 / float(np.sum(weight**2))
        events = np.bincount(codes, weights=weight * outcome)
        self.flagged: list[Floats] = [np.asarray(events), np.asarray(self.totals - events)]
        self.left: list[Floats] = [np.zeros(self.clusters), np.zeros(self.clusters)]
        self.moved = 0

    def at(self, first: int, level: float) -> tuple[_Pair, _Pair]:
        """The rows from `first` on, which are flagged, and those before it; `first` must not fall between calls."""
        rows = slice(self.moved, first)
        self.moved = first
        for i, kind in enumerate((self.outcome[rows], 1 - self.outcome[rows])):
            gone = np.bincount(self.codes[rows], weights=self.weight[rows] * kind, minlength=self.clusters)
            self.flagged[i] -= gone
            self.left[i] += gone
        return self._pair(self.flagged, level), self._pair(self.left, level)

    def _pair(self, cells: list[Floats], level: float) -> _Pair:
        shares = [self._share(float(cell.sum()) / self.size) for cell in cells]
        apart = [cell - share * self.totals for cell, share in zip(cells, shares, strict=True)]
        ends = [self._ends(share, float(one @ one), level) for share, one in zip(shares, apart, strict=True)]
        size = float(np.sqrt((apart[0] @ apart[0]) * (apart[1] @ apart[1])))
        r = float(apart[0] @ apart[1]) / size if size > 0 else 0.0
        return _Pair(shares[0], ends[0], shares[1], ends[1], r)

    @staticmethod
    def _share(value: float) -> float:
        """Sums that were added and taken away again end near 0 or 1, not at them."""
        return 0.0 if value < 1e-12 else 1.0 if value > 1 - 1e-12 else value

    def _ends(self, share: float, squares: float, level: float) -> Ends:
        n = min(float(self.clusters), self.kish)
        if 0 < share < 1 and self.clusters > 1:
            variance = self.clusters / (self.clusters - 1) * squares / self.size**2
            n = self.rows / max(1.0, variance / (share * (1 - share) / self.rows))
        return wilson(share, n, level=level, critical=t_critical(level, max(1, self.clusters - 1)))
