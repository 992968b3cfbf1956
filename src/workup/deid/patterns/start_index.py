"""Where every pattern can begin in a text, told by one look at each word and mark of it. Finds nothing itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from workup.deid.patterns.regex_heads import DEPTH
from workup.deid.patterns.regex_tails import tail, wider
from workup.text.memo import Memo

_LONG = 7  # letters and digits; few words have as many figures or capitals, and many patterns ask for more
_MOST = 100_000


class Asked(NamedTuple):
    """What a pattern asks for at a place: beginnings, ends of the first word (None: any), and its least length."""

    heads: frozenset[str]
    tails: frozenset[str] | None
    least: int


class Register:
    """What patterns ask for, turned around: from a beginning, and from the end of a word, to the patterns.

    Sets of patterns are whole numbers with a bit each, so that what both allow is one operation."""

    def __init__(self) -> None:
        self._numbers: dict[Asked, int] = {}
        self._heads: dict[str, int] = {}
        self._tails: dict[str, int] = {}
        self._any_tail = self._for_long = 0
        self._unpacked: dict[int, tuple[int, ...]] = {}
        self._forget()

    def _forget(self) -> None:
        """New tables, not emptied ones: a thread that is looking up a place fills the old ones, which nobody reads."""
        self._by_head, self._by_tail = Memo(self._allowed_by_head), Memo(self._allowed_by_tail)
        self._marks, self._long = Memo(self._at_mark), Memo(self._at_word)
        self._short = Memo(self._at_short_word)

    def number(self, asked: Asked) -> int:
        """The number of what a pattern asks for, given to it at first sight."""
        found = self._numbers.get(asked)
        if found is None:
            found = self._numbers[asked] = len(self._numbers)
            for head in asked.heads:
                self._heads[head] = self._heads.get(head, 0) | 1 << found
            for one in asked.tails or ():
                self._tails[one] = self._tails.get(one, 0) | 1 << found
            self._any_tail |= (asked.tails is None) << found
            self._for_long |= (asked.least >= _LONG) << found
            self._forget()
        return found

    def places(self, folded: str, runs: Iterable[tuple[int, int]], marks: Iterable[int]) -> Mapping[int, list[int]]:
        """For each number, the places where its patterns may begin, from the left.

        `runs` are those of letters and digits; the text is padded by three signs."""
        found: defaultdict[int, list[int]] = defaultdict(list)
        short, long, at_mark = self._short, self._long, self._marks
        for place, end in runs:
            table = short if end < place + _LONG else long
            for number in table[folded[place : place + DEPTH] + folded[end - 1 : end + 2]]:
                found[number].append(place)
        after: set[int] = set()
        for place in marks:
            numbers = at_mark[folded[place : place + DEPTH]]
            after.update(numbers)
            for number in numbers:
                found[number].append(place)
        for number in after:
            found[number].sort()
        return found

    def _at_mark(self, head: str) -> tuple[int, ...]:
        return self._unpack(self._by_head[head])

    def _at_word(self, around: str) -> tuple[int, ...]:
        return self._unpack(self._by_head[around[:DEPTH]] & self._by_tail[around[DEPTH:]])

    def _at_short_word(self, around: str) -> tuple[int, ...]:
        return self._unpack(self._by_head[around[:DEPTH]] & self._by_tail[around[DEPTH:]] & ~self._for_long)

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
        numbers = self._unpacked.get(sets)
        if numbers is None:
            numbers = tuple(number for number in range(sets.bit_length()) if sets >> number & 1)
            if len(self._unpacked) < _MOST:
                self._unpacked[sets] = numbers
        return numbers


REGISTER = Register()
