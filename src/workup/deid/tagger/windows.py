"""A long run of word pieces cut into windows that overlap, and which window speaks for which piece."""

from __future__ import annotations

from typing import NamedTuple

LONGEST = 510  # pieces that the tagger takes at once, beside the marks at both ends
OVERLAP = 128


class Window(NamedTuple):
    """Pieces [start, end) are read together; [own_start, own_end) are those that this window speaks for."""

    start: int
    end: int
    own_start: int
    own_end: int


def windows(count: int, *, longest: int = LONGEST, overlap: int = OVERLAP) -> list[Window]:
    """Windows over so many pieces, each piece owned once, by the window in which it stands deeper inside.

    >>> windows(9, longest=6, overlap=4)
    [Window(start=0, end=6, own_start=0, own_end=4), Window(start=2, end=8, own_start=4, own_end=6),
     Window(start=4, end=9, own_start=6, own_end=9)]
    """
    if not count:
        return []
    starts = range(0, max(1, count - overlap), longest - overlap)
    ends = [min(count, start + longest) for start in starts]
    borders = [0, *((after + end) // 2 for after, end in zip(starts[1:], ends, strict=False)), count]
    return [Window(*one) for one in zip(starts, ends, borders[:-1], borders[1:], strict=True)]
