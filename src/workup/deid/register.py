"""Where every pattern can begin in a text, told by one look at each word and mark of it. Finds nothing itself."""

from __future__ import annotations

from collections.abc import Iterable

from workup.deid.memo import Memo
from workup.deid.openings import DEPTH
from workup.deid.tails import tail, wider

_MOST_UNPACKED = 200_000


class Register:
    """What patterns ask for at a place, turned around: from a beginning, and from the end of a word, to the patterns.

    Sets of patterns are whole numbers with a bit each, so that what both allow is one operation."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[frozenset[str], frozenset[str] | None], int] = {}
        self._heads: dict[str, int] = {}
        self._tails: dict[str, int] = {}
        self._any_tail = 0
        self._by_head = Memo(self._allowed_by_head)
        self._by_tail = Memo(self._allowed_by_tail)
        self._unpacked: dict[int, tuple[int, ...]] = {0: ()}

    def number(self, heads: frozenset[str], tails: frozenset[str] | None) -> int:
        """The number of what a pattern asks for, given to it at first sight."""
        found = self._numbers.get((heads, tails))
        if found is None:
            found = self._numbers[heads, tails] = len(self._numbers)
            for head in heads:
                self._heads[head] = self._heads.get(head, 0) | 1 << found
            for one in tails or ():
                self._tails[one] = self._tails.get(one, 0) | 1 << found
            self._any_tail |= (tails is None) << found
            self._by_head.clear()
            self._by_tail.clear()
        return found

    def places(self, folded: str, begin: Iterable[tuple[int, int]]) -> list[list[int]]:
        """For each number, the places where its patterns may begin, from the left.

        `begin` are words, and marks as stretches of no length; the text is padded by three signs."""
        found: list[list[int]] = [[] for _ in self._numbers]
        by_head, by_tail, unpacked = self._by_head, self._by_tail, self._unpacked
        for place, end in begin:
            sets = by_head[folded[place : place + DEPTH]]
            if sets and end > place:
                sets &= by_tail[folded[end - 1 : end + 2]]
            if sets:
                numbers = unpacked.get(sets)
                for number in self._unpack(sets) if numbers is None else numbers:
                    found[number].append(place)
        return found

    def _allowed_by_head(self, head: str) -> int:
        sets = 0
        for length in range(1, DEPTH + 1):
            sets |= self._heads.get(head[:length], 0)
        return sets

    def _allowed_by_tail(self, end: str) -> int:
        sets = self._any_tail
        for one in wider(tail(end[0], end[1:])):
            sets |= self._tails.get(one, 0)
        return sets

    def _unpack(self, sets: int) -> tuple[int, ...]:
        numbers = tuple(number for number in range(sets.bit_length()) if sets >> number & 1)
        if len(self._unpacked) < _MOST_UNPACKED:
            self._unpacked[sets] = numbers
        return numbers


REGISTER = Register()
