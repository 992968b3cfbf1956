"""What of a stretch of text stays visible once others are masked. Knows offsets, and which characters say nothing."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from workup.documents.text_flags import ignorable

Range = tuple[int, int]
_TELLS = re.compile(r"[^\W_]")  # a letter or a digit: the cheap look before the exact one


def visible_ranges(start: int, end: int, masks: Iterable[Range]) -> list[Range]:
    """The parts of [start, end) on which no mask lies, in order. Masks may overlap and come in any order.

    >>> visible_ranges(0, 10, [(4, 6), (8, 20), (5, 7)])
    [(0, 4), (7, 8)]
    """
    found = []
    at = start
    for left, right in sorted(masks):
        if right <= at or left >= right:
            continue
        if left >= end:
            break
        if left > at:
            found.append((at, left))
        at = right
        if at >= end:
            return found
    found.append((at, end))
    return found


def touches(start: int, end: int, masks: Iterable[Range]) -> bool:
    """Whether any mask shares a character with [start, end)."""
    return any(left < end and right > start and left < right for left, right in masks)


def says_something(text: str) -> bool:
    """Whether anything but white space and punctuation is in a text: the rule by which a mask is whole.

    >>> says_something(" - "), says_something("$"), says_something("7")
    (False, True, True)
    """
    return _TELLS.search(text) is not None or not all(map(ignorable, text))


def telling_ranges(text: str, start: int, end: int, masks: Sequence[Range]) -> list[Range]:
    """The visible parts of a stretch that say something; empty where its mask is whole.

    >>> telling_ranges("Ann - Lee", 0, 9, [(0, 3), (6, 9)]), telling_ranges("Ann - Lee", 0, 9, [(0, 3)])
    ([], [(3, 9)])
    """
    return [(left, right) for left, right in visible_ranges(start, end, masks) if says_something(text[left:right])]


class Borders:
    """Stretches of text, asked which of them touch another; each answer takes a bisection."""

    def __init__(self, ranges: Iterable[Range]) -> None:
        self.ordered = sorted(ranges)
        self._starts = [start for start, _ in self.ordered]
        self._reach = list(accumulate((end for _, end in self.ordered), max))

    def touch(self, start: int, end: int) -> bool:
        """Whether any shares a character with [start, end)."""
        before = bisect_left(self._starts, end)
        return before > 0 and self._reach[before - 1] > start

    def touching(self, start: int, end: int) -> list[Range]:
        """Those that share a character with [start, end), of stretches that do not overlap each other."""
        return self.ordered[bisect_right(self._reach, start) : bisect_left(self._starts, end)]
