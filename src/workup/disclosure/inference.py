"""Could a reader of published counts work out one that was withheld? Knows tables that add up, nothing of medicine.

Counts are held by slice (a group of people) and by bin (between successive cuts of a score). What is published is the
count of a slice at or above a cut; everything else has to be inferred from sums, differences and the fact that no count
is negative. That is a set of linear equations: a count in their row space is known exactly, any other lies between the
least and the greatest value of a linear programme.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, sparse

from workup.stats.arrays import Floats

Who = tuple[str, ...]  # the name of a slice; () is everyone
Piece = tuple[Who, int]  # the count of a slice at or above a cut; cut 0 is all of it
Sum = tuple[Who, tuple[Who, ...]]  # a slice and the slices it is made of

_IN_ROW_SPACE = 1e-7
_NEARLY_WHOLE = 1e-5  # how far a linear programme's answer may lie from the whole number that it means
_MATTERS = 1e-7  # a dual price above this says that a bound rests on the published piece
_DENSE = 1_500  # unknowns up to which a pseudo-inverse is cheaper than two linear programmes
_MOST_NODES = 400  # of a search for whole numbers; the number of nodes, unlike a time limit, is the same on any machine


class Span(NamedTuple):
    """People of some slices from one cut up to another: the count that someone might want to know."""

    slices: tuple[Who, ...]
    start: int
    stop: int


@dataclass(frozen=True)
class Ledger:
    """True counts by slice and bin, and which slices make up which. `named` slices hold at least one, as all know.

    `inner` slices are never published and nobody says that they hold anyone: combinations of levels, of which only the
    sums are known. Their counts here need not be the true ones, so long as all adds up.
    """

    counts: Mapping[Who, tuple[int, ...]]
    sums: tuple[Sum, ...] = ()
    named: bool = False
    inner: frozenset[Who] = frozenset()

    @property
    def bins(self) -> int:
        """Bins of every slice."""
        return len(next(iter(self.counts.values())))

    def value(self, span: Span) -> int:
        """The true count of a span."""
        return sum(sum(self.counts[who][span.start : span.stop]) for who in span.slices)

    @cached_property
    def place(self) -> Mapping[Who, int]:
        """Where the bins of a slice begin in a table, the slices in the order of their names."""
        return {who: i * self.bins for i, who in enumerate(sorted(self.counts))}

    @cached_property
    def table(self) -> Floats:
        """The counts in one row."""
        return np.array([float(n) for who in self.place for n in self.counts[who]])

    @cached_property
    def adding_up(self) -> Any:
        """The sums as the rows of a sparse matrix, one for each sum and bin, which every table brings to 0."""
        rows: list[int] = []
        columns: list[int] = []
        signs: list[float] = []
        for i, (whole, parts) in enumerate(self.sums):
            for b in range(self.bins):
                rows += [i * self.bins + b] * (1 + len(parts))
                columns += [self.place[whole] + b, *(self.place[part] + b for part in parts)]
                signs += [1.0, *([-1.0] * len(parts))]
        shape = (len(self.sums) * self.bins, self.table.size)
        return sparse.csr_array((signs, (rows, columns)), shape=shape)

    def vectors(self, spans: Sequence[Span]) -> Any:
        """Spans as the rows of a sparse matrix: a table times a row is the count."""
        rows = [i for i, span in enumerate(spans) for _ in span.slices for _ in range(span.start, span.stop)]
        columns = [self.place[who] + b for span in spans for who in span.slices for b in range(span.start, span.stop)]
        return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(spans), self.table.size))

    def pieces(self, published: Sequence[Piece]) -> Any:
        """Published pieces as the rows of a sparse matrix."""
        return self.vectors([Span((who,), cut, self.bins) for who, cut in published])


class Audit:
    """What can be inferred from the published pieces of a ledger.

    `tables` collects whole tables that agree with all that is published, the true one first. Two of them that differ
    by enough in a count show that it is safe, and they stay good when less is published, so they can be handed on.

    >>> ledger = Ledger({(): (100,), ("F",): (60,), ("M",): (37,), ("X",): (3,)}, (((), (("F",), ("M",), ("X",))),))
    >>> everyone_but_x = [((), 0), (("F",), 0), (("M",), 0)]
    >>> Audit(ledger, everyone_but_x).range(Span((("X",),), 0, 1))
    (3, 3)
    >>> sorted(Audit(ledger, everyone_but_x).proof(Span((("X",),), 0, 1)))
    [((), 0), (('F',), 0), (('M',), 0)]
    >>> Audit(ledger, everyone_but_x[:2]).range(Span((("X",),), 0, 1))
    (0, 40)
    """

    def __init__(self, ledger: Ledger, published: Iterable[Piece], *, tables: list[Floats] | None = None) -> None:
        self._ledger = ledger
        self._pieces = sorted(set(published))
        told = ledger.pieces(self._pieces)
        self._first = ledger.adding_up.shape[0]
        self._matrix = sparse.csr_array(sparse.vstack([ledger.adding_up, told]))
        self._right = np.concatenate([np.zeros(self._first), told @ ledger.table])
        self.tables = [ledger.table] if tables is None else tables
        if not self.tables:
            self.tables.append(ledger.table)

    def _vector(self, span: Span) -> Floats:
        return np.asarray(self._ledger.vectors([span]).toarray()[0])

    @cached_property
    def _rows(self) -> Floats:
        return np.asarray(self._matrix.toarray())

    @cached_property
    def _inverse(self) -> Floats:
        return np.asarray(np.linalg.pinv(self._rows)) if self._rows.size else np.zeros(self._rows.T.shape)

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
        own = np.einsum("ij,ji->i", self._rows[self._first :], self._inverse[:, self._first :]) > 1 - _IN_ROW_SPACE
        moves = np.abs(self._vector(span) @ self._inverse[:, self._first :]) > _IN_ROW_SPACE
        return {piece for piece, free in zip(self._pieces, own & moves, strict=True) if free}

    def range(self, span: Span) -> tuple[int, int]:
        """The least and the greatest whole number that the published pieces leave possible."""
        if self._ledger.table.size <= _DENSE and not {*span.slices} & self._ledger.inner and self.exact(span):
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
        if self._ledger.table.size <= _DENSE and self.exact(span):
            return 0
        for sign in (-1, 1):
            self.tables.append(self._end(vector, sign))
            if seen() >= enough:
                break
        return seen()

    def bound(self, vector: Floats, *, least: bool) -> tuple[float, Floats]:
        """One end of the range as a linear programme sees it, and the table there, which need not be whole."""
        found = self._solved(vector if least else -vector)
        return float(vector @ found), found

    def witness(self, vector: Floats, *, at_least: float | None = None, at_most: float | None = None) -> Floats | None:
        """A whole table whose count lies on one side of a number; None where none was found in a limited search."""
        ends = (-np.inf if at_least is None else at_least, np.inf if at_most is None else at_most)
        aimed = optimize.LinearConstraint(sparse.csr_array(vector[None, :]), *ends)
        found = self._solve(np.zeros(vector.size), whole=True, more=[aimed])
        return None if found.x is None else np.asarray(np.round(found.x))

    def proof(self, span: Span) -> set[Piece]:
        """The published pieces that the ends of a range rest on, by the dual prices of the linear programme. While all
        of them hold, so does the range; it can only widen when one is withdrawn."""
        vector = self._vector(span)
        found: set[Piece] = set()
        upper = self._at_least_one
        for sign in (1.0, -1.0):
            solved = optimize.linprog(
                sign * vector,
                A_eq=self._matrix,
                b_eq=self._right,
                A_ub=None if upper is None else -upper,
                b_ub=None if upper is None else -np.ones(upper.shape[0]),
                bounds=(0, self._most),
                method="highs",
            )
            if solved.status != 0:
                continue
            prices = np.abs(solved.eqlin.marginals[self._first :])
            found |= {piece for piece, price in zip(self._pieces, prices, strict=True) if price > _MATTERS}
        return found

    def _end(self, vector: Floats, sign: int) -> Floats:
        """A table at one end of the range. People are not divided, so whole numbers are asked for where the plain
        linear programme does not give them of itself."""
        table = self._solved(sign * vector)
        if not whole(table):
            table = self._solved(sign * vector, whole=True)
        return np.asarray(np.round(table))

    def _solved(self, objective: Floats, *, whole: bool = False) -> Floats:
        found = self._solve(objective, whole=whole)
        if found.x is None:
            raise ValueError(f"the counts of a ledger do not add up, so nothing can be inferred ({found.message})")
        return np.asarray(found.x)

    def _solve(self, objective: Floats, *, whole: bool, more: Sequence[Any] = ()) -> Any:
        return optimize.milp(
            objective,
            integrality=np.full(objective.size, int(whole)),
            bounds=optimize.Bounds(0, self._most),
            constraints=[*self._constraints, *more],
            options={"node_limit": _MOST_NODES} if more else None,
        )

    @cached_property
    def _most(self) -> float:
        """A count that nobody reaches, so that every range ends."""
        return 4.0 * max(sum(counts) for counts in self._ledger.counts.values()) + 1000.0

    @cached_property
    def _at_least_one(self) -> Any:
        """Slices that hold someone, as the rows of a sparse matrix."""
        if not self._ledger.named:
            return None
        whose = [who for who in self._ledger.place if who not in self._ledger.inner]
        return self._ledger.vectors([Span((who,), 0, self._ledger.bins) for who in whose])

    @cached_property
    def _constraints(self) -> list[Any]:
        found: list[Any] = []
        if self._matrix.shape[0]:
            found.append(optimize.LinearConstraint(sparse.csc_array(self._matrix), self._right, self._right))
        if self._at_least_one is not None:
            found.append(optimize.LinearConstraint(sparse.csc_array(self._at_least_one), 1.0, np.inf))
        return found


def whole(table: Floats) -> bool:
    """Is every count of a table a whole number?"""
    return bool(np.abs(table - np.round(table)).max(initial=0.0) < _NEARLY_WHOLE)
