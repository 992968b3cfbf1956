"""Cheap seeded draws for generators of text: one named stream of uniforms, consumed in blocks. Knows no values."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from workup.stats.random import generator

T = TypeVar("T")
_BLOCK = 64  # uniforms fetched at a time: most values need fewer than ten draws, a patient about a hundred
_FEW = 15  # digits that one uniform of 53 bits can give


class Chance:
    """Draws of one purpose. Equal seed and names give equal draws, on any machine and in any order of purposes.

    >>> a, b = Chance.of(7, "note", 3), Chance.of(7, "note", 3)
    >>> [a.integer(1, 6) for _ in range(9)] == [b.integer(1, 6) for _ in range(9)]
    True
    """

    __slots__ = ("_generator", "_waiting")

    def __init__(self, source: np.random.Generator) -> None:
        self._generator = source
        self._waiting: list[float] = []

    @classmethod
    def of(cls, seed: int, *names: str | int) -> Chance:
        """The stream of a purpose named by `names`, independent of every other."""
        return cls(generator(seed, *names))

    def uniform(self) -> float:
        """A number in [0, 1)."""
        waiting = self._waiting
        if not waiting:
            # How many are fetched at once does not change what comes: a block of doubles is the stream itself.
            waiting = self._waiting = self._generator.random(_BLOCK).tolist()[::-1]
        return waiting.pop()

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, each as likely."""
        return options[int(self.uniform() * len(options))]

    def weighted(self, options: Sequence[T], cumulative: Sequence[float]) -> T:
        """One of the options, with chances proportional to the steps of `cumulative` (its last entry is the total)."""
        at = bisect_right(cumulative, self.uniform() * cumulative[-1])
        return options[min(at, len(options) - 1)]

    def integer(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(self.uniform() * (high - low + 1))

    def happens(self, probability: float) -> bool:
        """True with this probability: never at 0, always at 1."""
        return self.uniform() < probability

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in a random order (Fisher and Yates)."""
        kept = list(items)
        for last in range(len(kept) - 1, 0, -1):
            other = int(self.uniform() * (last + 1))
            kept[last], kept[other] = kept[other], kept[last]
        return kept

    def digits(self, n: int) -> str:
        """A string of n decimal digits; the first may be 0.

        >>> len(Chance.of(1, "id").digits(40))
        40
        """
        pieces = []
        while n > 0:
            few = min(n, _FEW)
            pieces.append(str(int(self.uniform() * 10**few)).zfill(few))
            n -= few
        return "".join(pieces)
