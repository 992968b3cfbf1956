"""Stretches of a text that are replaced: how overlapping spans become one, and where everything is afterwards.

Knows labels but not what is put in the place of a value."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workup.documents.document import Span
from workup.documents.labels import CODE, SCHEME

# token: [NAME-1]; rule: ZIP3 or 90+; fallback: a token where nothing of the kind that was asked for could be made.
Done = Literal["token", "mask", "hash", "surrogate", "shift", "rule", "fallback"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One replacement: `text[start:end]` of the original is at `[new_start, new_end)` of the redacted text."""

    start: int
    end: int
    new_start: int
    new_end: int
    label: str
    done: Done


@dataclass(frozen=True, slots=True)
class Kept:
    """A stretch that a detector found and that stays as it is, with the reason."""

    start: int
    end: int
    label: str
    reason: str


def merged(text: str, spans: Iterable[Span]) -> list[Span]:
    """Spans that do not overlap and together cover every character that the given ones cover, blanks at edges apart.

    The rule: spans that share a character become one, from the first start to the last end. It bears the label of the
    longest of them; of equally long ones, a leaf comes before a branch, the earlier start before the later, then the
    order of the scheme. Spans that only touch stay two. Blanks at the edges of a span are left in the text, so that no
    word is glued to its neighbour; a span of nothing but blanks is none.

    >>> merged("Ann Lee Ray", [Span(0, 7, "name_patient"), Span(4, 11, "NAME"), Span(3, 4, "date")])
    [Span(start=0, end=11, label='name_patient', subtype=None, entity=None, identifier=None, score=None)]
    """
    found: list[Span] = []
    group: list[Span] = []
    reach = -1
    for span in sorted((_trimmed(text, span) for span in spans), key=lambda one: (one.start, one.end)):
        if span.start >= span.end:
            continue
        if group and span.start >= reach:
            found.append(_joined(group))
            group = []
        reach = max(reach, span.end) if group else span.end
        group.append(span)
    if group:
        found.append(_joined(group))
    return found


def _trimmed(text: str, span: Span) -> Span:
    start, end = span.start, span.end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return span if (start, end) == (span.start, span.end) else replace(span, start=start, end=end)


def _joined(group: Sequence[Span]) -> Span:
    if len(group) == 1:
        return group[0]
    best = min(group, key=_rank)
    return replace(best, start=min(one.start for one in group), end=max(one.end for one in group))


def _rank(span: Span) -> tuple[int, bool, int, int]:
    return (span.start - span.end, span.label not in SCHEME, span.start, CODE.get(span.label, len(CODE)))


def rebuilt(text: str, changes: Sequence[tuple[Span, str, Done]]) -> tuple[str, tuple[Piece, ...]]:
    """The text with new words in the places of old ones, and every replacement with its place in both texts.

    >>> rebuilt("Seen by Ann Lee.", [(Span(8, 15, "name_provider"), "[NAME-1]", "token")])[0]
    'Seen by [NAME-1].'
    """
    parts: list[str] = []
    pieces: list[Piece] = []
    at = length = 0
    for span, words, done in changes:
        parts += [text[at : span.start], words]
        length += span.start - at
        pieces.append(Piece(span.start, span.end, length, length + len(words), span.label, done))
        length += len(words)
        at = span.end
    return "".join([*parts, text[at:]]), tuple(pieces)


class Alignment:
    """Where places of the original text lie in the redacted one."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self._starts = [piece.start for piece in pieces]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the redacted text that a stretch of the original became.

        An edge inside a replaced piece goes out to the edge of what replaced it: half a name has no place of its own.

        >>> both = Alignment([Piece(8, 15, 8, 16, "name_provider", "token")])
        >>> both.span(0, 4), both.span(8, 11), both.span(8, 16)
        ((0, 4), (8, 16), (8, 17))
        """
        return self._edge(start, outer=False), self._edge(end, outer=True)

    def _edge(self, place: int, *, outer: bool) -> int:
        # An end looks at the character before it: a piece that starts just there is not part of the stretch.
        index = bisect_right(self._starts, place - 1 if outer else place) - 1
        if index < 0:
            return place
        piece = self._pieces[index]
        if place < piece.end or (outer and place == piece.end):
            return piece.new_end if outer else piece.new_start
        return piece.new_end + place - piece.end


def moved(spans: Iterable[Span], pieces: Sequence[Piece]) -> tuple[Span, ...]:
    """Golds of the original text at their places in the redacted one."""
    both = Alignment(pieces)
    return tuple(
        replace(span, start=start, end=end) for span in spans for start, end in [both.span(span.start, span.end)]
    )
