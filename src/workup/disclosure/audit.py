"""Could a reader of published counts work out one that was kept back? Knows tables that add up, nothing of medicine.

Counts are held by slice (a group of people) and by bin (between successive cuts of a score). What is published is the
count of a slice at or above a cut; everything else has to be inferred from sums, differences and the fact that no count
is negative. That is a set of linear equations: a count in their row space is known exactly, any other lies between the
least and the greatest value of a linear programme.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse

Floats = npt.NDArray[np.float64]
Who = tuple[str, ...]  # the name of a slice; () is everyone
Piece = tuple[Who, int]  # the count of a slice at or above a cut; cut 0 is all of it
Sum = tuple[Who, tuple[Who, ...]]  # a slice and the slices it is made of

_IN_ROW_SPACE = 1e-7
_NEARLY_WHOLE = 1e-5  # how far a linear programme's answer may lie from the whole number that it means


class Span(NamedTuple):
    """People of some slices from one cut up to another: the count that someone might want to know."""

    slices: tuple[Who, ...]
    start: int
    stop: int


@dataclass(frozen=True)
class Ledger:
    """True counts by slice and bin, and which slices make up which. `named` slices hold at least one, as all know."""

    counts: Mapping[Who, tuple[int, ...]]
    sums: tuple[Sum, ...] = ()
    named: bool = False

    @property
    def bins(self) -> int:
        """Bins of every slice."""
        return len(next(iter(self.counts.values())))

    def value(self, span: Span) -> int:
        """The true count of a span."""
        return sum(sum(self.counts[who][span.start : span.stop]) for who in span.slices)


class Audit:
    """What can be inferred from the published pieces of a ledger.

    `tables` collects whole tables that agree with all that is published, the true one first. Two of them that differ
    by enough in a count show that it is safe, and they stay good when less is published, so they can be handed on.

    >>> ledger = Ledger({(): (100,), ("F",): (60,), ("M",): (37,), ("X",): (3,)}, (((), (("F",), ("M",), ("X",))),))
    >>> everyone_but_x = [((), 0), (("F",), 0), (("M",), 0)]
    >>> Audit(ledger, everyone_but_x).range(Span((("X",),), 0, 1))
    (3, 3)
    >>> Audit(ledger, everyone_but_x[:2]).range(Span((("X",),), 0, 1))
    (0, 40)
    """

    def __init__(self, ledger: Ledger, published: Iterable[Piece], *, tables: list[Floats] | None = None) -> None:
        self._ledger = ledger
        self._place = {who: i * ledger.bins for i, who in enumerate(sorted(ledger.counts))}
        self._size = len(self._place) * ledger.bins
        self._pieces = sorted(set(published))
        rows = [self._adds_up(one, b) for one in ledger.sums for b in range(ledger.bins)]
        rows += [self._vector(Span((who,), cut, ledger.bins)) for who, cut in self._pieces]
        self._rows = np.array(rows).reshape(len(rows), self._size)
        truth = np.array([float(n) for who in self._place for n in ledger.counts[who]])
        self._right = self._rows @ truth
        self._right[: len(rows) - len(self._pieces)] = 0.0
        self.tables = [truth] if tables is None else tables
        if not self.tables:
            self.tables.append(truth)

    def _adds_up(self, one: Sum, b: int) -> Floats:
        row = np.zeros(self._size)
        whole, parts = one
        row[self._place[whole] + b] = 1.0
        for part in parts:
            row[self._place[part] + b] -= 1.0
        return row

    def _vector(self, span: Span) -> Floats:
        row = np.zeros(self._size)
        for who in span.slices:
            row[self._place[who] + span.start : self._place[who] + span.stop] = 1.0
        return row

    @cached_property
    def _inverse(self) -> Floats:
        return np.asarray(np.linalg.pinv(self._rows)) if len(self._rows) else np.zeros((self._size, 0))

    def exact(self, span: Span) -> bool:
        """Is the count a sum and difference of published ones?"""
        vector = self._vector(span)
        rest = vector - (vector @ self._inverse) @ self._rows
        return bool(np.linalg.norm(rest) < _IN_ROW_SPACE)

    def freeing(self, span: Span) -> set[Piece]:
        """Pieces of which any one, if it were not published, would leave an exact count unknown.

        A row that the others do not imply has a direction of its own, along which it alone changes: a column of the
        pseudo-inverse. Without the row, tables may move along it, and the count with them.
        """
        first = len(self._rows) - len(self._pieces)
        own = np.einsum("ij,ji->i", self._rows[first:], self._inverse[:, first:]) > 1 - _IN_ROW_SPACE
        moves = np.abs(self._vector(span) @ self._inverse[:, first:]) > _IN_ROW_SPACE
        return {piece for piece, free in zip(self._pieces, own & moves, strict=True) if free}

    def range(self, span: Span) -> tuple[int, int]:
        """The least and the greatest whole number that the published pieces leave possible."""
        if self.exact(span):
            value = self._ledger.value(span)
            return value, value
        vector = self._vector(span)
        low, high = (round(float(vector @ self._end(vector, sign))) for sign in (1, -1))
        return low, high

    def width(self, span: Span, *, enough: int) -> int:
        """How far the range reaches; looked into no further than needed to see that it is enough."""
        vector = self._vector(span)

        def seen() -> int:
            values = np.array(self.tables) @ vector
            return round(float(values.max() - values.min()))

        if seen() >= enough:
            return seen()
        if self.exact(span):
            return 0
        for sign in (-1, 1):
            self.tables.append(self._end(vector, sign))
            if seen() >= enough:
                break
        return seen()

    def _end(self, vector: Floats, sign: int) -> Floats:
        """A table at one end of the range. People are not divided, so whole numbers are asked for where the plain
        linear programme does not give them of itself."""
        for whole in (0, 1):
            found = optimize.milp(
                sign * vector,
                integrality=np.full(vector.size, whole),
                bounds=optimize.Bounds(0, self._most),
                constraints=self._constraints,
            )
            if found.x is None:
                raise ValueError(f"the counts of a ledger do not add up, so nothing can be inferred ({found.message})")
            if np.abs(found.x - np.round(found.x)).max() < _NEARLY_WHOLE:
                break
        return np.asarray(np.round(found.x))

    @cached_property
    def _most(self) -> float:
        """A count that nobody reaches, so that every range ends."""
        return 4.0 * max(sum(counts) for counts in self._ledger.counts.values()) + 1000.0

    @cached_property
    def _constraints(self) -> list[Any]:
        found: list[Any] = []
        if len(self._rows):
            found.append(optimize.LinearConstraint(sparse.csc_array(self._rows), self._right, self._right))
        if self._ledger.named:
            everyone = np.array([self._vector(Span((who,), 0, self._ledger.bins)) for who in self._place])
            found.append(optimize.LinearConstraint(sparse.csc_array(everyone), 1.0, np.inf))
        return found
