"""Golds of several annotators: read each apart, or made into one by union, intersection or majority of characters.

Knows no system and no score; how far the annotators agree is in `agreement`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from workup.documents.document import Document, Span
from workup.documents.mappings import LabelMapping
from workup.errors import InputError, near

Annotators = Literal["each", "union", "intersection", "majority"]
_STRICTNESS = {"no_mask": 0, "unknown": 1, "quasi": 2, "direct": 3}


def readings(
    document: Document, *, annotators: Annotators = "each", mapping: LabelMapping | None = None
) -> tuple[Document, ...]:
    """The document as it is scored: once per annotator, or once with the golds of all made into one layer.

    `each` gives one document per annotator, in the order of their names; adding their counts is the micro-average.
    The others work on characters, for each canonical name apart (without a mapping, for each label): a character counts
    when one annotator marked it (union), every annotator (intersection), or more than half of the document's
    annotators (majority). Neighbouring characters that count are one span if some annotator has one span over both,
    so that two golds which only touch stay two. The identifier type is the strictest, the mildest or the most frequent
    (the stricter of equals) of the spans it is made of; entity and subtype are kept where these agree.

    >>> two = {"ann": (Span(0, 9, "PERSON"),), "bob": (Span(4, 9, "PERSON"),)}
    >>> document = Document("1", "Mrs Smith", layers=two)
    >>> [(one.start, one.end) for one in readings(document, annotators="intersection")[0].spans]
    [(4, 9)]
    >>> len(readings(document))
    2
    """
    if annotators not in get_args(Annotators):
        raise InputError(
            "annotators must be each, union, intersection or majority",
            got=repr(annotators[:60]),
            remedy=near(annotators, get_args(Annotators)),
        )
    if not document.layers:
        return (document,)
    if annotators == "each":
        return tuple(replace(document, spans=document.layers[name], layers={}) for name in sorted(document.layers))
    return (replace(document, spans=_one_layer(document.layers, annotators, mapping), layers={}),)


class Piece(NamedTuple):
    """A span of one annotator, under the name by which it is compared."""

    annotator: int
    span: Span


def by_name(layers: Mapping[str, Sequence[Span]], mapping: LabelMapping | None) -> dict[str, list[Piece]]:
    """Spans of all annotators, by canonical name; by the label itself where it has none."""
    found: dict[str, list[Piece]] = {}
    for i, annotator in enumerate(sorted(layers)):
        for span in layers[annotator]:
            canonical = mapping.of(span.label, subtype=span.subtype) if mapping else None
            found.setdefault(canonical.name if canonical else span.label, []).append(Piece(i, span))
    return found


class Votes(NamedTuple):
    """A text cut at every border of some spans: the borders, and who marked which piece."""

    borders: npt.NDArray[np.int64]
    marked: npt.NDArray[np.bool_]  # annotators × pieces
    inside: npt.NDArray[np.bool_]  # borders that some one span runs across


def votes(pieces: Sequence[Piece], annotators: int) -> Votes:
    """Who marked what. Spans of one annotator that overlap count once."""
    borders = np.unique([place for _, span in pieces for place in (span.start, span.end)]).astype(np.int64)
    marked = np.zeros((annotators, max(len(borders) - 1, 0)), dtype=bool)
    inside = np.zeros(len(borders), dtype=bool)
    for annotator, span in pieces:
        first, last = np.searchsorted(borders, (span.start, span.end))
        marked[annotator, first:last] = True
        inside[first + 1 : last] = True
    return Votes(borders, marked, inside)


def _one_layer(
    layers: Mapping[str, Sequence[Span]], annotators: Annotators, mapping: LabelMapping | None
) -> tuple[Span, ...]:
    needed = {"union": 1, "intersection": len(layers), "majority": len(layers) // 2 + 1}[annotators]
    made = []
    for pieces in by_name(layers, mapping).values():
        borders, marked, inside = votes(pieces, len(layers))
        counts = marked.sum(axis=0) >= needed
        joined = counts[1:] & counts[:-1] & inside[1:-1]
        opens = np.flatnonzero(counts & ~np.concatenate([[False], joined]))
        closes = np.flatnonzero(counts & ~np.concatenate([joined, [False]]))
        for start, end in zip(borders[opens], borders[closes + 1], strict=True):
            touching = [piece for piece in pieces if piece.span.start < end and piece.span.end > start]
            made.append(_described(int(start), int(end), touching, annotators, mapping))
    return tuple(sorted(made, key=lambda span: (span.start, span.end, span.label)))


def _described(
    start: int, end: int, pieces: Sequence[Piece], annotators: Annotators, mapping: LabelMapping | None
) -> Span:
    """A span with what the spans it is made of say in common."""
    written = Counter((piece.span.label, piece.span.subtype or "") for piece in pieces)
    label, subtype = min(written, key=lambda pair: (-written[pair], pair))
    entities = {piece.span.entity for piece in pieces}
    return Span(
        start,
        end,
        label,
        subtype=subtype or None,
        entity=entities.pop() if len(entities) == 1 else None,
        identifier=_identifier(pieces, annotators, mapping or LabelMapping.load("workup")),
    )


def _identifier(pieces: Sequence[Piece], annotators: Annotators, mapping: LabelMapping) -> str | None:
    strictest: dict[int, str] = {}  # an annotator has one voice, however many spans lie here
    for annotator, span in pieces:
        kind = mapping.identifier(span.identifier)
        if kind and _STRICTNESS[kind] >= _STRICTNESS.get(strictest.get(annotator, ""), -1):
            strictest[annotator] = kind
    voices = Counter(strictest.values())
    if not voices:
        return None
    if annotators == "majority":
        return max(voices, key=lambda kind: (voices[kind], _STRICTNESS[kind]))
    choose = max if annotators == "union" else min
    return choose(voices, key=lambda kind: _STRICTNESS[kind])
