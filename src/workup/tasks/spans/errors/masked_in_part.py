"""A value that is masked in part: its text, and which of its characters are visible. Knows no kind of value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from workup.documents.visible import Range

Severity = Literal["low", "medium", "high"]
SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high")
Seen = Literal["whole", "some", "none"]
_ALNUM = re.compile(r"[^\W_]")


class Part(NamedTuple):
    """What stayed visible, in a word, and how grave that is by itself."""

    name: str
    severity: Severity


class Remnant:
    """A surface with what is visible of it; places are counted from its own start.

    >>> left = Remnant("Ann Lee", [(2, 7)])
    >>> left.seen(0, 3), left.seen(4, 7), left.letters(0, 7)
    ('some', 'whole', (4, 6))
    """

    def __init__(self, surface: str, visible: Sequence[Range]) -> None:
        self.surface = surface
        shown = bytearray(len(surface))
        for left, right in visible:
            shown[left:right] = b"\x01" * (right - left)
        self._shown = shown

    def letters(self, start: int, end: int) -> tuple[int, int]:
        """Letters and digits of a stretch: how many are visible, and how many there are."""
        places = [place.start() for place in _ALNUM.finditer(self.surface, start, end)]
        return sum(self._shown[place] for place in places), len(places)

    def seen(self, start: int, end: int) -> Seen:
        """Whether all, some or none of the letters and digits of a stretch are visible."""
        visible, total = self.letters(start, end)
        return "none" if not visible else "whole" if visible == total else "some"

    def flags(self) -> list[bool]:
        """Of each letter and digit, whether it is visible."""
        return [bool(self._shown[place.start()]) for place in _ALNUM.finditer(self.surface)]

    def matches(self, pattern: re.Pattern[str]) -> Iterator[tuple[str, int, int, Seen]]:
        """Everything that a pattern finds in the surface, with its place and how much of it is visible."""
        for match in pattern.finditer(self.surface):
            yield match[0], match.start(), match.end(), self.seen(match.start(), match.end())
