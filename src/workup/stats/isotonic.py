"""Isotonic calibration: pooled adjacent violators over distinct risks, linear between the steps and flat outside."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal
from typing import NamedTuple

import numpy as np
from scipy import optimize

from workup.stats.arrays import Floats, Ints


class Steps(NamedTuple):
    """Blocks of rising risk, each with its first and last distinct risk, its share of events and its rows' weight."""

    first: Floats
    last: Floats
    share: Floats
    weight: Floats

    def at(self, risk: Floats) -> Floats:
        """The share at each risk."""
        x, y = self.points()
        return between(x, y, risk)

    def points(self) -> tuple[Floats, Floats]:
        """Both ends of every step."""
        return np.column_stack([self.first, self.last]).ravel(), np.repeat(self.share, 2)


def between(x: Floats, y: Floats, at: Floats) -> Floats:
    """Linear between the points and flat outside. Where two points share an x, the later one holds at it."""
    right = np.searchsorted(x, at, side="right")
    after = np.clip(right, 0, x.size - 1)
    before = np.clip(right - 1, 0, x.size - 1)
    gap = x[after] - x[before]
    share = np.divide(at - x[before], gap, out=np.zeros(at.shape), where=gap > 0)
    # A weighted mean rather than y + share · rise, which rounding can carry past the end and break the order.
    found = np.where(gap > 0, (1 - share) * y[before] + share * y[after], y[before])
    return np.asarray(np.where(np.isnan(at), np.nan, found))


def pooled(outcome: Floats, risk: Floats, weight: Floats | None = None) -> Steps:
    """The steps that fit best among all that never fall.

    >>> found = pooled(np.array([0.0, 1, 0, 1]), np.array([0.1, 0.2, 0.3, 0.4]))
    >>> found.first.tolist(), found.last.tolist(), found.share.tolist()
    ([0.1, 0.2, 0.4], [0.1, 0.3, 0.4], [0.0, 0.5, 1.0])
    """
    w = np.ones(risk.size) if weight is None else weight
    x, place = np.unique(risk, return_inverse=True)
    mass: Floats = np.asarray(np.bincount(place, weights=w), dtype=np.float64)
    mean = np.bincount(place, weights=w * outcome) / mass
    found = optimize.isotonic_regression(mean, weights=mass)
    level = found.x[found.blocks[:-1]]
    # Neighbours that happen to have the same share are one step.
    start = found.blocks[:-1][np.concatenate(([True], np.diff(level) > 1e-12))]
    return _steps(x, mean, mass, np.asarray(start, dtype=np.int64))


def _steps(x: Floats, mean: Floats, mass: Floats, start: Ints) -> Steps:
    """Steps that begin at these places among the distinct risks."""
    weight = np.add.reduceat(mass, start)
    share = np.add.reduceat(mass * mean, start) / weight
    return Steps(x[start], x[np.append(start[1:], x.size) - 1], share, weight)


def merged(steps: Steps, risk: Floats, patient: Ints, *, fewest: int) -> Steps:
    """Steps each of at least so many patients: the smallest is joined to the neighbour nearest in share, and again.

    One step is left as it is, however few patients it has.
    """
    first, last, share, weight = (list(column.tolist()) for column in steps)
    inside = np.searchsorted(steps.first, risk, side="right") - 1
    members = [set(patient[inside == i].tolist()) for i in range(len(first))]
    while len(first) > 1:
        sizes = [len(one) for one in members]
        small = int(np.argmin(sizes))
        if sizes[small] >= fewest:
            break
        sides = [i for i in (small - 1, small + 1) if 0 <= i < len(first)]
        other = min(sides, key=lambda i: abs(share[i] - share[small]))
        low, high = min(small, other), max(small, other)
        total = weight[low] + weight[high]
        share[low] = (share[low] * weight[low] + share[high] * weight[high]) / total
        weight[low], last[low] = total, last[high]
        members[low] |= members[high]
        for column in (first, last, share, weight):
            del column[high]
        del members[high]
    return Steps(*(np.array(column) for column in (first, last, share, weight)))


def blurred(risk: Floats, *, digits: int = 4) -> Floats:
    """Risks to so many significant digits, which name no patient's own."""
    return np.array([_blurred(float(one), digits) for one in risk])


def _blurred(risk: float, digits: int) -> float:
    exact = Decimal(repr(risk))
    if exact == 0:
        return 0.0
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding=ROUND_HALF_EVEN))
