"""The new text of a document by pieces: insertions at their sites, gold spans of the source moved, all of it checked.

Knows places and pieces; not how they were chosen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from workup.corpora.inject.phrases import glued
from workup.documents.builder import Marked
from workup.documents.document import Document, Span, check_spans
from workup.errors import InputError, named


class Insertion(NamedTuple):
    """What comes in at a place of the source text."""

    at: int
    kind: str
    pieces: tuple[str | Marked, ...]

    @property
    def length(self) -> int:
        """Characters that come in."""
        return sum(len(piece if isinstance(piece, str) else piece.text) for piece in self.pieces)


def built(
    document: Document, insertions: Sequence[Insertion], residues: Sequence[Span]
) -> tuple[Document, tuple[tuple[int, int], ...]]:
    """The new text by pieces, the gold spans of the source moved, the new ones where their pieces came to be."""
    pieces: list[str] = []
    golds: list[Span] = []
    surfaces: list[str] = []
    inserted: list[tuple[int, int]] = []
    place = length = 0
    for one in insertions:
        pieces.append(document.text[place : one.at])
        length += one.at - place
        place, first = one.at, length
        for piece in one.pieces:
            text = piece if isinstance(piece, str) else piece.text
            if not isinstance(piece, str):
                golds.append(
                    Span(length, length + len(text), piece.label, piece.subtype, piece.entity, piece.identifier)
                )
                surfaces.append(text)
            pieces.append(text)
            length += len(text)
        inserted.append((first, length))
    text = "".join([*pieces, document.text[place:]])
    move = _moved(insertions)
    old = [*document.spans, *residues]
    spans = [*golds, *map(move, document.spans), *map(move, residues)]
    surfaces += [document.text[span.start : span.end] for span in old]
    layers = {
        name: tuple(sorted([*map(move, layer), *golds, *map(move, residues)], key=_order))
        for name, layer in document.layers.items()
    }
    _check(document, text, spans, surfaces, golds, inserted)
    for layer in document.layers.values():
        before = [document.text[span.start : span.end] for span in layer]
        check_spans(text, [move(span) for span in layer], document=document.id, surfaces=before)
    made = replace(document, text=text, spans=() if layers else tuple(sorted(spans, key=_order)), layers=layers)
    return made, tuple(inserted)


def _moved(insertions: Sequence[Insertion]) -> Callable[[Span], Span]:
    """Spans of the source in the new text: what comes in before a span moves it, what comes in after it does not."""
    at = [one.at for one in insertions]
    shifts = [0, *accumulate(one.length for one in insertions)]

    def move(span: Span) -> Span:
        start, end = span.start + shifts[bisect_right(at, span.start)], span.end + shifts[bisect_left(at, span.end)]
        return replace(span, start=start, end=end)

    return move


def _order(span: Span) -> tuple[int, int, str]:
    return span.start, span.end, span.label


def _check(
    document: Document,
    text: str,
    spans: Sequence[Span],
    surfaces: Sequence[str],
    golds: Sequence[Span],
    inserted: Sequence[tuple[int, int]],
) -> None:
    """Offsets true, source unchanged, no value glued: whatever a kind of site of somebody else's did."""
    check_spans(text, spans, document=document.id, surfaces=surfaces)
    where = named("document", document.id) or "a document"
    if without(text, inserted) != document.text:
        raise InputError("the source must come back when what was inserted is taken out", where=where)
    values = [gold for gold in golds if gold.identifier != "no_mask"]
    beside = glued(text, [(value.start, value.end) for value in values])
    if beside:
        raise InputError(
            "values must stand apart from their neighbours",
            where=where,
            got=f"{len(beside)} that do not, the first of label '{values[beside[0]].label}'",
            remedy="mend the phrase or the place of the kind of site",
        )


def without(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """A text with ranges taken out.

    >>> without("She was seen on 3/4/21 by us.", [(12, 22)])
    'She was seen by us.'
    """
    kept, place = [], 0
    for start, end in ranges:
        kept.append(text[place:start])
        place = end
    return "".join([*kept, text[place:]])
