"""Long texts cut into pieces that a service takes, with every offset kept exact. Knows no service.

Each piece is sent with some text around what is its own, so that a mention on a cut is seen whole. What touches a
piece's own part is that piece's to report: a mention on a cut is never lost between two pieces that differ on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_WIDEST = 6  # bytes of one character in JSON at most: a control character is written as \u0000
_MARGIN = 1_000  # characters on either side of a piece's own part
SHORTEST = 200  # characters that are not worth cutting again


@dataclass(frozen=True, slots=True)
class Piece:
    """Code points [start, end) are sent; [own_start, own_end) are this piece's to report."""

    start: int
    end: int
    own_start: int
    own_end: int


def pieces(text: str, *, limit: int) -> list[Piece]:
    """The fewest pieces whose text takes at most `limit` bytes in JSON; none for an empty text.

    >>> [(piece.own_start, piece.own_end) for piece in pieces("Seen today. " * 20, limit=100)]
    [(0, 89), (89, 180), (180, 240)]
    """
    if not text:
        return []
    ends = _bytes_up_to(text)
    if ends[-1] <= limit:
        return [Piece(0, len(text), 0, len(text))]
    return list(_cut(text, ends, limit=limit, margin=min(_MARGIN, limit // (_WIDEST * 10))))


def halves(text: str, piece: Piece) -> tuple[Piece, Piece] | None:
    """A piece cut in two, for a service that could not report all of it; None where it is too short for that."""
    length = piece.own_end - piece.own_start
    if length < 2 * SHORTEST:
        return None
    middle = _break_before(text, piece.own_start + length // 4, piece.own_start + length // 2)
    margin = min(_MARGIN, length // 8)  # shrinks too, or what is sent would never get small
    parts = ((piece.own_start, middle), (middle, piece.own_end))
    first, second = (
        Piece(max(piece.start, own_start - margin), min(piece.end, own_end + margin), own_start, own_end)
        for own_start, own_end in parts
    )
    return first, second


def _cut(text: str, ends: npt.NDArray[np.int64], *, limit: int, margin: int) -> Iterator[Piece]:
    own_start = 0
    while own_start < len(text):
        start = max(0, own_start - margin)
        furthest = int(np.searchsorted(ends, ends[start] + limit, side="right")) - 1
        if furthest >= len(text):
            own_end = end = len(text)
        else:
            # At least a sixth of the limit is left between the margins, whatever the characters are.
            last = int(np.searchsorted(ends, ends[start] + limit - _WIDEST * margin, side="right")) - 1
            own_end = _break_before(text, own_start + (last - own_start) // 2, last)
            end = min(len(text), own_end + margin)
        yield Piece(start, end, own_start, own_end)
        own_start = own_end


def _break_before(text: str, earliest: int, latest: int) -> int:
    """A place to cut: after the last empty line, else line, else blank in reach, else where it must be."""
    for mark in ("\n\n", "\n", " "):
        found = text.rfind(mark, earliest, latest)
        if found >= 0:
            return found + len(mark)
    return latest


def _bytes_up_to(text: str) -> npt.NDArray[np.int64]:
    """How many bytes of JSON (UTF-8, control characters, quotes and backslashes escaped) stand before each place."""
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    widths = np.ones(len(codes), dtype=np.int64)
    for bound in (0x7F, 0x7FF, 0xFFFF):
        widths += codes > bound
    widths[codes < 0x20] = _WIDEST
    widths[np.isin(codes, np.frombuffer('"\\\n\r\t\b\f'.encode("utf-32-le"), dtype=np.uint32))] = 2
    return np.concatenate([[0], np.cumsum(widths)])
