"""How much of one document's spans may lie on top of one another. Knows places; judges nothing.

Matching is exact, and what rivals for partners costs more than the square of its number; texts are read once for every
span that covers them. A document with thousands of equal or nested spans would take hours and gigabytes, so it is
refused before anything is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workup.documents.document import SpanArrays
from workup.errors import InputError, ids_shown, named

MOST_RIVALS = 2_500  # fifty golds under fifty predictions
DEEPEST = 50
_SHORT = 20_000  # characters that a shorter text is taken to have: depth is no burden there

_Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Crowding:
    """The limits of one document; 0 stands for the default."""

    rivals: int = 0  # overlapping pairs in which the gold and the prediction have other partners too
    depth: int = 0  # golds, or predictions, over a character on average

    def check(self, ids: Sequence[str], texts: Sequence[str], golds: SpanArrays, found: SpanArrays) -> None:
        """Refuse the first document that is over a limit.

        >>> equal = SpanArrays.of([(0, 0, 3, "name")] * 60)
        >>> Crowding().check(["a"], ["Ann"], equal, equal)
        Traceback (most recent call last):
        workup.errors.InputError: a document of 3 characters: at most 2,500 overlaps of golds and predictions \
that rival one another were expected; got 3,600. To fix: leave out what is annotated or predicted more than once, \
or raise corpus.most_overlaps (workup score spans: --most-overlaps); --show-ids names the document.
        """
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        sides = [_Side.of(spans, lengths) for spans in (golds, found)]
        room = np.maximum(lengths, _SHORT)
        for side, noun in zip(sides, ("golds", "predictions"), strict=True):
            covered = np.bincount(side.document, weights=side.end - side.start, minlength=len(texts))
            most = self.depth or DEEPEST
            deep = np.flatnonzero(covered > most * room)
            if len(deep):
                raise InputError(
                    f"at most {most:,} {noun} over a character, on average, were expected",
                    where=_named(ids, texts, int(deep[0])),
                    got="more",
                    remedy=f"leave out {noun} within {noun}, or raise corpus.most_depth "
                    "(workup score spans: --most-depth)" + _who_names_it(),
                )
        rivals = _rivals(*sides, documents=len(texts))
        most = self.rivals or MOST_RIVALS
        crowded = np.flatnonzero(rivals > most)
        if len(crowded):
            raise InputError(
                f"at most {most:,} overlaps of golds and predictions that rival one another were expected",
                where=_named(ids, texts, int(crowded[0])),
                got=f"{int(rivals[crowded[0]]):,}",
                remedy="leave out what is annotated or predicted more than once, or raise corpus.most_overlaps "
                "(workup score spans: --most-overlaps)" + _who_names_it(),
            )


@dataclass(frozen=True)
class _Side:
    """Golds or predictions as far as they lie in their texts."""

    document: _Places
    start: _Places
    end: _Places

    @classmethod
    def of(cls, spans: SpanArrays, lengths: _Places) -> _Side:
        document, start, end = (column.astype(np.int64) for column in (spans.document, spans.start, spans.end))
        start, end = np.maximum(start, 0), np.minimum(end, lengths.take(document))
        inside = start < end
        return cls(document[inside], start[inside], end[inside])


def _rivals(golds: _Side, found: _Side, *, documents: int) -> npt.NDArray[np.float64]:
    """Of each document, the overlaps that may rival one another; counted, and not made, since they may be millions."""
    line = np.int64(1 + max(golds.end.max(initial=0), found.end.max(initial=0)))  # each document has so much room
    counts = []
    for own, other in ((golds, found), (found, golds)):
        before, behind = np.sort(other.start + other.document * line), np.sort(other.end + other.document * line)
        start, end = own.start + own.document * line, own.end + own.document * line
        partners = np.searchsorted(before, end, side="left") - np.searchsorted(behind, start, side="right")
        several = np.where(partners > 1, partners, 0)
        counts.append(np.bincount(own.document, weights=several, minlength=documents))
    return np.minimum(*counts)


def _named(ids: Sequence[str], texts: Sequence[str], place: int) -> str:
    """By its id only where ids are shown; a batch does not know the places of its documents in the corpus."""
    name = named("document", ids[place]) if place < len(ids) else ""
    return name or f"a document of {len(texts[place]):,} characters"


def _who_names_it() -> str:
    return "" if ids_shown() else "; --show-ids names the document"
