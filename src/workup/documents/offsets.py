"""Offsets as others count them, UTF-16 units, bytes or inclusive ends, turned into code points, half-open, and back.

Knows texts and numbers; which file they came from is the reader's affair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workup.errors import InputError, named, near, within

Pairs = Sequence[tuple[int, int]]

_UNITS = {"codepoint": "characters", "utf16": "UTF-16 units", "byte": "bytes of UTF-8"}
INCLUSIVE = "-inclusive"
COUNTINGS = tuple(f"{unit}{ends}" for ends in ("", INCLUSIVE) for unit in _UNITS)


@dataclass(frozen=True)
class Counting:
    """What one step of an offset is, and whether an end names the last unit of its span or the one after it."""

    unit: str = "codepoint"
    inclusive: bool = False

    @classmethod
    def of(cls, name: str) -> Counting:
        """By the name that readers and the command line take: codepoint, utf16 or byte, alone or with -inclusive.

        >>> Counting.of("utf16-inclusive")
        Counting(unit='utf16', inclusive=True)
        """
        if name not in COUNTINGS:
            raise InputError(
                "offsets must be counted in a known way", got=f"'{name[:40]}'", remedy=near(name, COUNTINGS)
            )
        return cls(name.removesuffix(INCLUSIVE), name.endswith(INCLUSIVE))

    @property
    def plain(self) -> bool:
        """Whether offsets are already what Workup counts."""
        return self == Counting()


def to_codepoints(
    text: str, pairs: Pairs, *, counting: Counting, document: str, beyond: bool = False
) -> list[tuple[int, int]]:
    """Starts and ends in code points, half-open; one that falls inside a character is an error.

    Offsets behind the text are an error too, unless `beyond`: then they stay as far behind it as they were.

    >>> to_codepoints("\\U0001f600 Rose", [(3, 7)], counting=Counting("utf16"), document="a")
    [(2, 6)]
    >>> to_codepoints("Zoë", [(0, 3)], counting=Counting("byte", inclusive=True), document="a")
    [(0, 3)]
    """
    if counting.plain:
        return list(pairs)
    bounds = _bounds(text, counting.unit)
    found = []
    for number, (start, last) in enumerate(pairs):
        end = last + counting.inclusive
        where = within(named("document", document) if document else "", f"span {number}")
        if not 0 <= start < end or (end > bounds[-1] and not beyond):
            raise InputError(
                "a span must lie inside its text with its end after its start",
                where=where,
                got=f"{start} to {last}{' inclusive' * counting.inclusive} in {_lengths(bounds, counting.unit)}",
                remedy="check whether offsets count code points, UTF-16 units or bytes, and whether ends are inclusive",
            )
        found.append(tuple(_place(bounds, offset, counting=counting, where=where) for offset in (start, end)))
    return found  # type: ignore[return-value]


def from_codepoints(text: str, pairs: Pairs, *, counting: Counting) -> list[tuple[int, int]]:
    """Starts and ends of spans inside the text, as the counting has them.

    >>> from_codepoints("\\U0001f600 Rose", [(2, 6)], counting=Counting("utf16", inclusive=True))
    [(3, 6)]
    """
    if counting.plain:
        return list(pairs)
    bounds = _bounds(text, counting.unit)
    return [(int(bounds[start]), int(bounds[end]) - counting.inclusive) for start, end in pairs]


def _bounds(text: str, unit: str) -> npt.NDArray[np.int64]:
    """Where each character starts in the unit, and behind the last one where the text ends."""
    if unit == "codepoint" or text.isascii():
        return np.arange(len(text) + 1)
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    widths = 1 + (codes > 0xFFFF).astype(np.int64)
    if unit == "byte":
        widths += (codes > 0x7F).astype(np.int64) + (codes > 0x7FF)
    return np.concatenate([[0], np.cumsum(widths)])


def _place(bounds: npt.NDArray[np.int64], offset: int, *, counting: Counting, where: str) -> int:
    if offset > bounds[-1]:
        return len(bounds) - 1 + offset - int(bounds[-1])
    place = int(np.searchsorted(bounds, offset))
    if bounds[place] != offset:
        raise InputError(
            "an offset must fall between two characters",
            where=where,
            got=f"{offset}, which is inside a character of {int(bounds[place] - bounds[place - 1])} "
            f"{_UNITS[counting.unit]}, in {_lengths(bounds, counting.unit)}",
            remedy="check whether offsets count code points, UTF-16 units or bytes, and whether ends are inclusive",
        )
    return place


def _lengths(bounds: npt.NDArray[np.int64], unit: str) -> str:
    characters = f"a text of {len(bounds) - 1} characters"
    return characters if unit == "codepoint" else f"{characters}, {int(bounds[-1])} {_UNITS[unit]}"
