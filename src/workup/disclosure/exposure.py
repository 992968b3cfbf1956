"""Looks through the small counts of a ledger for one that what is told gives away, and names the published pieces that
give it away. Whole tables that agree with all that is told are kept as witnesses: one pair of them clears many counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from workup.disclosure.inference import Audit, Ledger, Piece, Span, whole
from workup.stats.arrays import Floats

_EPSILON = 1e-6
_FEW_OPEN = 4  # counts in doubt up to which each is looked at by itself
_ROUNDS = 40  # witnesses sought at random before each count in doubt is looked at by itself


class Watched(NamedTuple):
    """A count to protect: its range must reach `enough` beyond its least value.

    `small` is a count known to be under k. `inner` is one whose value is not known here: it is given away when what is
    told narrows it although it may be under `k`. Of a `change` that is not known, no change at all gives nothing away.
    """

    span: Span
    enough: int
    k: int
    kind: Literal["small", "inner", "change"] = "small"


class Exposed(NamedTuple):
    """A count that is given away, and what can be inferred of it."""

    number: int
    audit: Audit


@dataclass(frozen=True)
class _Range:
    low: float
    high: float
    safe: bool

    @property
    def width(self) -> int:
        return floor(self.high + _EPSILON) - ceil(self.low - _EPSILON)


class Search:
    """One ledger, the counts in it that are watched, and all witnesses found so far."""

    def __init__(self, ledger: Ledger, watched: Sequence[Watched]) -> None:
        self.ledger = ledger
        self.watched = list(dict.fromkeys(watched))
        self._vectors = ledger.vectors([one.span for one in self.watched])
        self._enough = np.array([one.enough for one in self.watched])
        self._settled = np.zeros(len(self.watched), dtype=bool)
        self._tables = [ledger.table]
        self._values = [self._vectors @ ledger.table]
        self._random = np.random.default_rng(0)

    def settle(self, number: int) -> None:
        """Look at a count no more."""
        self._settled[number] = True

    def exposed(self, told: Iterable[Piece]) -> Exposed | None:
        """The first count that what is told gives away."""
        if not self.watched:
            return None
        audit = Audit(self.ledger, told)
        low, high = self._seen(told)
        self._meet_many(audit, low, high)
        for number in range(len(self.watched)):
            if not self._open(low, high)[number]:
                continue
            found = self._look(number, audit, low, high)
            if not found.safe and self._given_away(number, found):
                return Exposed(number, audit)
        return None

    def reach(self, number: int, told: Iterable[Piece]) -> int:
        """How far the range of a count reaches with this told, up to what is enough."""
        low, high = self._seen(told)
        if high[number] - low[number] >= self._enough[number]:
            return int(self._enough[number])
        found = self._look(number, Audit(self.ledger, told), low, high)
        return int(self._enough[number]) if found.safe else min(found.width, int(self._enough[number]) - 1)

    def _seen(self, told: Iterable[Piece]) -> tuple[Floats, Floats]:
        """The least and the greatest value of every count among the witnesses that agree with what is told."""
        pieces = self.ledger.pieces(sorted(set(told)))
        tables = np.array(self._tables)
        agree = np.abs((tables - self.ledger.table) @ pieces.T).max(axis=1, initial=0.0) < 0.5
        values = np.array(self._values)[agree]
        return values.min(axis=0), values.max(axis=0)

    def _open(self, low: Floats, high: Floats) -> npt.NDArray[np.bool_]:
        return np.asarray(~self._settled & (high - low < self._enough))

    def _add(self, table: Floats, low: Floats, high: Floats) -> None:
        table = np.round(table)
        values = self._vectors @ table
        if np.any(values < low) or np.any(values > high):
            self._tables.append(table)
            self._values.append(values)
            np.minimum(low, values, out=low)
            np.maximum(high, values, out=high)

    def _meet_many(self, audit: Audit, low: Floats, high: Floats) -> None:
        """Witnesses that push many counts in doubt at once, while each clears some."""
        idle = 0
        for _ in range(_ROUNDS):
            numbers = np.flatnonzero(self._open(low, high))
            if numbers.size <= _FEW_OPEN or idle == 3:
                return
            chosen = numbers[self._random.random(numbers.size) < 0.5]
            weights = self._random.uniform(0.5, 1.0, chosen.size)
            objective = np.asarray(weights @ self._vectors[chosen])
            _, table = audit.bound(objective, least=bool(self._random.random() < 0.3))
            if whole(table):
                self._add(table, low, high)
            idle = idle + 1 if np.count_nonzero(self._open(low, high)) == numbers.size else 0

    def _look(self, number: int, audit: Audit, low: Floats, high: Floats) -> _Range:
        """The range of one count by linear programmes, and by whole numbers where those leave it wide enough."""
        one, enough = self.watched[number], int(self._enough[number])
        vector = np.asarray(self._vectors[[number]].toarray()[0])
        least, table = audit.bound(vector, least=True)
        if whole(table):
            self._add(table, low, high)
        if one.kind != "small" and least >= one.k - _EPSILON:
            return _Range(least, least, safe=False)
        if high[number] - low[number] >= enough:
            return _Range(least, high[number], safe=True)
        most, table = audit.bound(vector, least=False)
        if whole(table):
            self._add(table, low, high)
        found = _Range(least, most, safe=bool(high[number] - low[number] >= enough))
        if found.safe or found.width < enough:
            return found
        for at_least, at_most in (
            (low[number] + enough, None),
            (None, high[number] - enough),
            (floor(most + _EPSILON), None),
            (None, ceil(least - _EPSILON)),
        ):
            met = audit.witness(vector, at_least=at_least, at_most=at_most)
            if met is not None:
                self._add(met, low, high)
            if high[number] - low[number] >= enough:
                return _Range(least, most, safe=True)
        return _Range(float(low[number]), float(high[number]), safe=False)

    def _given_away(self, number: int, found: _Range) -> bool:
        """Does a narrow range give a count under k away?"""
        one = self.watched[number]
        if one.kind == "small":
            return True
        if found.low >= one.k - _EPSILON:
            self.settle(number)  # the true count is at least as great, whatever is told later
            return False
        return not (one.kind == "change" and found.high < 1 - _EPSILON)
