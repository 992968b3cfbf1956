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
    kept: list[Finding] = []
    for one in sorted(set(findings), key=lambda f: (f.start, -f.end, -f.score, f.rule)):
        while one is not None:
            if not kept or kept[-1].end <= one.start:
                kept.append(one)
                break
            last = kept[-1]
            if one.end <= last.end:  # inside what was kept
                if one.score > last.score + _CLOSE:
                    kept.pop()
                    kept += _without(last, one, text)
                break
            # It sticks out to the right.
            if (
                last.start == one.start
                or one.score > last.score + _CLOSE
                or ((last.end - last.start) < (one.end - one.start) and one.score >= last.score - 0.05)
            ):
                kept.pop()
                head = _piece(last, last.start, one.start, text)
                if head is not None:
                    kept.append(head)
                kept.append(one)
                break
            rest = _piece(one, last.end, one.end, text)
            if rest is None:
                break
            one = rest
    return [one for one in kept if one.end > one.start]


def _without(outer: Finding, inner: Finding, text: str) -> list[Finding]:
    pieces = (_piece(outer, outer.start, inner.start, text), inner, _piece(outer, inner.end, outer.end, text))
    return [one for one in pieces if one is not None]


def _piece(one: Finding, start: int, end: int, text: str) -> Finding | None:
    """What is left of a finding, if it holds at least two letters or digits."""
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    if sum(map(str.isalnum, text[start:end])) < 2:
        return None
    return one._replace(start=start, end=end)
