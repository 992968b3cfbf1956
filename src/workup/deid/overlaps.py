"""One answer where findings meet: the longer if it is about as sure, else the surer; what sticks out is kept."""

from __future__ import annotations

from collections.abc import Iterable

from workup.deid.finding import Finding

_CLOSE = 0.3


def resolved(findings: Iterable[Finding], text: str) -> list[Finding]:
    """Findings by start, none overlapping.

    >>> long, short = Finding(0, 20, "facility", 0.8, "a"), Finding(0, 9, "name_patient", 0.95, "b")
    >>> [one.rule for one in resolved([short, long], "x" * 30)]
    ['a']
    """
    taken = bytearray(len(text))
    kept: list[Finding] = []
    for one in sorted(_not_inside(findings), key=lambda f: (-f.score, f.start - f.end, f.start, *f[4:], f.label)):
        for piece in left_of(one, taken, text):
            kept.append(piece)
            taken[piece.start : piece.end] = b"\1" * (piece.end - piece.start)
    return sorted(kept)


def left_of(one: Finding, taken: bytearray, text: str) -> list[Finding]:
    """What is left of a finding where others have taken their characters, which are marked with 1."""
    found = []
    for start, end in _free(taken, one.start, one.end):
        piece = one if (start, end) == (one.start, one.end) else _piece(one, start, end, text)
        if piece is not None:
            found.append(piece)
    return found


def _not_inside(findings: Iterable[Finding]) -> list[Finding]:
    """Without those that lie inside another that is about as sure."""
    kept: list[Finding] = []
    around: list[Finding] = []  # those that reach over the place looked at
    for one in sorted(set(findings), key=lambda f: (f.start, -f.end, -f.score, *f[4:], f.label)):
        around = [other for other in around if other.end > one.start]
        if not any(other.end >= one.end and other.score >= one.score - _CLOSE for other in around):
            kept.append(one)
            around.append(one)
    return kept


def _free(taken: bytearray, start: int, end: int) -> list[tuple[int, int]]:
    """Stretches of a range that nothing has taken."""
    found = []
    while start < end:
        start = taken.find(0, start, end)
        if start < 0:
            break
        stop = taken.find(1, start, end)
        stop = end if stop < 0 else stop
        found.append((start, stop))
        start = stop
    return found


def _piece(one: Finding, start: int, end: int, text: str) -> Finding | None:
    """What is left of a finding, if it holds at least two letters or digits."""
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    if sum(map(str.isalnum, text[start:end])) < 2:
        return None
    return one._replace(start=start, end=end)
