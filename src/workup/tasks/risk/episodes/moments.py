"""Moments of stays: times in order within each stay, and the search among them. Knows microseconds and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Bools, Ints, Whole

FAR = 2**62  # later than any moment, and far from overflowing when a duration is added


@dataclass(frozen=True, eq=False)
class Moments:
    """Times sorted within stays: those of stay i are `time[bounds[i]:bounds[i + 1]]`.

    >>> moments, order = Moments.of(np.array([1, 0, 1]), np.array([9, 4, 7]), stays=2)
    >>> moments.time.tolist(), moments.bounds.tolist(), order.tolist()
    ([4, 7, 9], [0, 1, 3], [1, 2, 0])
    """

    time: Ints
    bounds: Ints

    @classmethod
    def of(cls, stay: Whole, time: Ints, *, stays: int) -> tuple[Moments, npt.NDArray[np.intp]]:
        """Moments in any order, and the order that sorts them."""
        order = np.lexsort((time, stay))
        return cls.sorted(stay[order], time[order], stays=stays), order

    @classmethod
    def sorted(cls, stay: Whole, time: Ints, *, stays: int) -> Moments:
        """Moments that are sorted by stay and time already."""
        counts = np.bincount(stay, minlength=stays)
        return cls(time, np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts))).astype(np.int64))

    def __len__(self) -> int:
        return len(self.time)

    @cached_property
    def counts(self) -> Ints:
        """How many moments each stay has."""
        return np.diff(self.bounds)

    @cached_property
    def stay(self) -> Whole:
        """The stay of each moment."""
        return np.repeat(np.arange(len(self.counts), dtype=np.int32), self.counts)

    @cached_property
    def first(self) -> Ints:
        """The first moment of each stay, FAR where it has none."""
        return _at(self.time, self.bounds[:-1], self.counts > 0)

    def take(self, chosen: Bools) -> Moments:
        """A choice of the moments, over the same stays."""
        return Moments.sorted(self.stay[chosen], self.time[chosen], stays=len(self.counts))

    def from_on(self, stay: Whole, moment: Ints) -> Whole:
        """Where the first moment of each stay at or after the one asked for stands; its bound where there is none."""
        return self._place(stay, moment, after=False)

    def after(self, stay: Whole, moment: Ints) -> Whole:
        """Where the first moment of each stay after the one asked for stands; its bound where there is none."""
        return self._place(stay, moment, after=True)

    def next(self, stay: Whole, moment: Ints) -> Ints:
        """The first moment of each stay after the one asked for, FAR where there is none."""
        place = self.after(stay, moment)
        return _at(self.time, place, place < self.bounds[stay + 1])

    def latest(self, stay: Whole, moment: Ints) -> Whole:
        """Where the last moment of each stay at or before the one asked for stands, -1 where there is none."""
        place = self.after(stay, moment) - 1
        return np.where(place >= self.bounds[stay], place, -1)

    def _place(self, stay: Whole, moment: Ints, *, after: bool) -> Whole:
        bounds = self.bounds.astype(np.int32)
        low, high = bounds[stay], bounds[stay + 1]
        if not len(self.time):
            return low
        while (searching := low < high).any():
            middle = (low + high) >> 1
            # Where the search is over, the place may lie behind the last moment of all.
            found = self.time[np.minimum(middle, len(self.time) - 1)]
            beyond = searching & ((found <= moment) if after else (found < moment))
            low, high = np.where(beyond, middle + 1, low), np.where(searching & ~beyond, middle, high)
        return low

    def spaced(self, wait: int | None) -> Bools:
        """The first moment of each stay and, again and again, the next that is at least `wait` later; None: never.

        A moment that is passed over does not prolong the wait.
        """
        chosen = np.zeros(len(self.time), dtype=bool)
        current: Whole = self.bounds[:-1][self.counts > 0]
        if wait is None:
            chosen[current] = True
            return chosen
        following = self.from_on(self.stay, self.time + wait)
        # One round for each chosen moment of the stay that has most, over all stays at once.
        while len(current):
            chosen[current] = True
            stay, current = self.stay[current], following[current]
            current = current[current < self.bounds[stay + 1]]
        return chosen


def least(stay: Whole, value: Ints, *, stays: int) -> Ints:
    """The least value of each stay, FAR where it has none."""
    found = np.full(stays, FAR, dtype=np.int64)
    np.minimum.at(found, stay, value)
    return found


def _at(time: Ints, place: Whole, there: Bools) -> Ints:
    if not len(time):
        return np.full(len(place), FAR, dtype=np.int64)
    return np.where(there, time[np.minimum(place, len(time) - 1)], FAR)
