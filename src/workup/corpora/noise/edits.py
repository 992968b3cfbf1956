"""Edits of a text under which spans follow their characters. Knows no kind of noise and no rate.

An edit never crosses the border of a span and nothing is inserted at one, so where a border goes is never in doubt."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from workup.documents.document import Document, Span, check_spans
from workup.documents.labels import branch_of, is_canonical
from workup.errors import InputError
from workup.text.typos import distance

_CLEAN = 64  # characters without an edit that part two stretches measured apart


@dataclass(frozen=True, slots=True)
class Edit:
    """The characters from `start` to `end` become `text`; `cost` is their edit distance."""

    start: int
    end: int
    text: str
    cost: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Characters between two borders of spans: on a span or beside all of them, on one that names PHI or not."""

    start: int
    end: int
    on_span: bool
    on_phi: bool


def stretches(document: Document) -> list[Stretch]:
    """The text cut at every border of every span, those of all annotators too.

    >>> golds = (Span(0, 6, "anatomy"), Span(15, 19, "name_provider"))
    >>> found = stretches(Document("1", "Breast seen by Rose.", golds))
    >>> [(stretch.start, stretch.end, stretch.on_span, stretch.on_phi) for stretch in found]
    [(0, 6, True, False), (6, 15, False, False), (15, 19, True, True), (19, 20, False, False)]
    """
    depth: dict[int, list[int]] = {0: [0, 0], len(document.text): [0, 0]}
    for span in (*document.spans, *(span for layer in document.layers.values() for span in layer)):
        phi = int(names_phi(span))
        for border, rise in ((span.start, 1), (span.end, -1)):
            here = depth.setdefault(border, [0, 0])
            here[0] += rise
            here[1] += rise * phi
    borders = sorted(depth)
    spans, phis = (list(accumulate(depth[border][which] for border in borders)) for which in (0, 1))
    return [
        Stretch(start, end, spans[i] > 0, phis[i] > 0)
        for i, (start, end) in enumerate(pairwise(borders))
        if start < end
    ]


def names_phi(span: Span) -> bool:
    """Whether a gold is about a person: clinical terms, and what is marked no_mask or unknown, count as context."""
    clinical = is_canonical(span.label) and branch_of(span.label) == "CLIN"
    return not clinical and span.identifier not in ("no_mask", "unknown")


def edited(document: Document, edits: Sequence[Edit]) -> Document:
    """The document with its text edited and its spans moved; `edits` are sorted and do not overlap.

    >>> noisy = edited(Document("1", "Seen by Rose.", (Span(8, 12, "name_provider"),)), [Edit(0, 1, "5S", 1)])
    >>> noisy.text, noisy.spans[0].start, noisy.spans[0].end
    ('5Seen by Rose.', 9, 13)
    """
    if not edits:
        return document
    text = _spliced(document.text, edits, 0, len(document.text))
    place = moved(edits)

    def follow(spans: Iterable[Span]) -> tuple[Span, ...]:
        return tuple(replace(span, start=place(span.start), end=place(span.end)) for span in spans)

    noisy = replace(
        document,
        text=text,
        spans=follow(document.spans),
        layers={name: follow(layer) for name, layer in document.layers.items()},
    )
    for before, after in (
        (document.spans, noisy.spans),
        *zip(document.layers.values(), noisy.layers.values(), strict=True),
    ):
        # Once more by another way: each surface edited by itself must be what is at the span's new place.
        surfaces = [_spliced(document.text, _within(edits, span), span.start, span.end) for span in before]
        check_spans(text, after, document=document.id, surfaces=surfaces)
    return noisy


def moved(edits: Sequence[Edit]) -> Callable[[int], int]:
    """A function of places in the old text that no edit lies across: where they are in the new one."""
    ends = [edit.end for edit in edits]
    shifts = [0, *accumulate(len(edit.text) - (edit.end - edit.start) for edit in edits)]
    return lambda place: place + shifts[bisect_right(ends, place)]


def measured(document: Document, edits: Sequence[Edit], within: Sequence[Stretch]) -> int:
    """Edit distance between old and new, summed over the stretches; neighbouring ones are read as one.

    The distance is that of the texts, not the sum of the edits' own: a letter lost and the same letter come again
    beside it is less than two. Between long runs without an edit the parts are measured apart.
    """
    text, found, next_edit = document.text, 0, 0
    for start, end in joined(within):
        while next_edit < len(edits) and edits[next_edit].start < start:
            next_edit += 1
        first = next_edit
        while next_edit < len(edits) and edits[next_edit].end <= end:
            next_edit += 1
        for part in _apart(edits[first:next_edit]):
            left, right = max(start, part[0].start - _CLEAN // 2), min(end, part[-1].end + _CLEAN // 2)
            found += part[0].cost if len(part) == 1 else distance(text[left:right], _spliced(text, part, left, right))
    return found


def joined(within: Iterable[Stretch]) -> list[tuple[int, int]]:
    """Stretches as ranges, those that touch made one."""
    found: list[tuple[int, int]] = []
    for stretch in within:
        if found and found[-1][1] == stretch.start:
            found[-1] = (found[-1][0], stretch.end)
        else:
            found.append((stretch.start, stretch.end))
    return found


def _apart(edits: Sequence[Edit]) -> Iterable[Sequence[Edit]]:
    first = 0
    for i in range(1, len(edits) + 1):
        if i == len(edits) or edits[i].start - edits[i - 1].end >= _CLEAN:
            yield edits[first:i]
            first = i


def _within(edits: Sequence[Edit], span: Span) -> list[Edit]:
    return [edit for edit in edits if span.start <= edit.start and edit.end <= span.end]


def _spliced(text: str, edits: Iterable[Edit], start: int, end: int) -> str:
    pieces, place = [], start
    for edit in edits:
        if edit.start < place or edit.end > end:
            raise InputError("edits must be in order and inside their text", got="one that overlaps another")
        pieces += [text[place : edit.start], edit.text]
        place = edit.end
    return "".join([*pieces, text[place:end]])
