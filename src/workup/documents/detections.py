"""What a system found, joined to the documents it was asked about: from memory, or from a file read alongside.

A document that the system said nothing of is not one in which it found nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from workup.documents.batch import PIECE, in_pieces, joined_columns, span_columns, words_of
from workup.documents.document import SpanArrays
from workup.errors import InputError, named

Scores = list[float | None]


@dataclass(frozen=True, eq=False)
class Found:
    """Predictions over some documents, as columns; `answered` says which documents the system spoke of at all."""

    answered: list[bool]
    counts: list[int]
    spans: SpanArrays  # in their own order, under the labels that are written
    given_scores: Callable[[], Scores] | None = None  # asked for when needed, which is seldom; None: there are none

    @classmethod
    def of(cls, answers: Sequence[Sequence[Any] | None]) -> Found:
        """Of some documents, each with its spans, or None where the system gave no answer.

        >>> from workup.documents.document import Span
        >>> found = Found.of([[Span(0, 3, "name"), Span(4, 5, "date")], None, []])
        >>> found.answered, found.counts, found.labels, found.scores
        ([True, False, True], [2, 0, 0], ['name', 'date'], [None, None])
        """
        spans = [span for answer in answers if answer for span in answer]
        counts = [len(answer) if answer else 0 for answer in answers]
        places = [span.start for span in spans], [span.end for span in spans], [span.label for span in spans]
        answered = [answer is not None for answer in answers]
        return cls(answered, counts, span_columns(counts, *places), lambda: [span.score for span in spans])

    @classmethod
    def joined(cls, parts: Sequence[Found]) -> Found:
        """The documents of several, one after another."""
        if len(parts) == 1:
            return parts[0]
        scored = any(part.given_scores is not None for part in parts)
        return cls(
            list(chain.from_iterable(part.answered for part in parts)),
            list(chain.from_iterable(part.counts for part in parts)),
            joined_columns([part.spans for part in parts], [len(part.counts) for part in parts]),
            (lambda: list(chain.from_iterable(part.scores for part in parts))) if scored else None,
        )

    @property
    def starts(self) -> list[int]:
        """Where each prediction starts."""
        return list(self.spans.start.tolist())

    @property
    def ends(self) -> list[int]:
        """Where each prediction ends."""
        return list(self.spans.end.tolist())

    @property
    def labels(self) -> list[str]:
        """The label of each prediction, as it is written."""
        return words_of(self.spans)

    @property
    def scores(self) -> Scores:
        """The system's own score of each prediction, where it gave one."""
        return [None] * len(self.spans) if self.given_scores is None else self.given_scores()

    def documents(self, places: Sequence[int]) -> Found:
        """Those at some places, in that order; -1 stands for a document without an answer."""
        chosen = np.array(places, dtype=np.int64)
        counts = np.array([*self.counts, 0], dtype=np.int64)
        first = np.cumsum(counts) - counts
        many = counts[chosen]
        here = np.arange(many.sum()) + np.repeat(first[chosen] - (np.cumsum(many) - many), many)
        present, label = np.unique(self.spans.label[here], return_inverse=True)
        spans = SpanArrays(
            np.repeat(np.arange(len(chosen), dtype=np.int32), many),
            self.spans.start[here],
            self.spans.end[here],
            label.astype(np.int32),
            tuple(self.spans.labels[place] for place in present.tolist()),  # those that still occur
        )
        answered = [*self.answered, False]
        scores = None if self.given_scores is None else partial(_some, self.given_scores, here)
        return Found([answered[place] for place in places], many.tolist(), spans, scores)

    def as_one(self) -> Found:
        """All of them as those of one document."""
        nowhere = np.zeros(len(self.spans), dtype=np.int32)
        return Found([True], [len(self.spans)], replace(self.spans, document=nowhere), self.given_scores)


def _some(scores: Callable[[], Scores], here: npt.NDArray[np.int64]) -> Scores:
    every = scores()
    return [every[place] for place in here.tolist()]


class Detections(Protocol):
    """Predictions by document. `of` is asked for every document once, in the order of the corpus; then `unknown`."""

    def of(self, ids: Sequence[str]) -> Found:
        """The predictions of these documents; neighbours with one id are readings of one document."""
        ...

    def unknown(self) -> Found:
        """Predictions of documents that nobody asked for."""
        ...


class HeldDetections:
    """Predictions in memory; may be asked any number of times.

    >>> from workup.documents.document import Span
    >>> held = HeldDetections({"a": [Span(0, 3, "name")], "z": [Span(4, 5, "date")]})
    >>> held.of(["a", "b"]).answered, held.of(["a", "b"]).counts, held.unknown().labels
    ([True, False], [1, 0], ['date'])
    """

    def __init__(self, spans: Mapping[str, Sequence[Any] | None]) -> None:
        self._spans = spans
        self._asked: set[str] = set()

    def of(self, ids: Sequence[str]) -> Found:
        self._asked.update(ids)
        pieces = (ids[first : first + PIECE] for first in range(0, max(1, len(ids)), PIECE))
        return Found.joined([Found.of([self._spans.get(id) for id in piece]) for piece in pieces])

    def unknown(self) -> Found:
        return Found.of([spans for id, spans in self._spans.items() if id not in self._asked])


@dataclass(frozen=True)
class GivenSpans:
    """Predictions handed over in memory, in the place of a system: spans by the id of their document."""

    spans: Mapping[str, Sequence[Any] | None]
    name: str = "recorded"
    version: str = "recorded"
    recorded: ClassVar[bool] = True
    mapping: str = ""
    emits: tuple[str, ...] | None = None


Answers = tuple[list[str], Found]  # ids of some documents, and what was found in them
_Place = tuple[Found, int]  # some documents, and which of them is meant


class StreamedDetections:
    """Predictions read from a stream as the documents come; where both are in one order, little is held at a time.

    What comes before it is asked for is held until then, so another order costs memory and nothing else. A stream that
    has `batches` of its own is asked for these.

    >>> from workup.documents.document import Span
    >>> found = StreamedDetections([("b", [Span(4, 5, "date")]), ("a", [Span(0, 3, "name")]), ("z", [])])
    >>> found.of(["a"]).labels, found.of(["b", "c"]).answered, found.unknown().counts
    (['name'], [True, False], [0])
    """

    def __init__(self, stream: Iterable[tuple[str, Sequence[Any]]]) -> None:
        batches = getattr(stream, "batches", None)
        self._stream: Iterator[Answers] = answers_of(stream) if batches is None else batches()
        self._next: list[Answers] = []  # read, and neither asked for nor set aside
        self._waiting: dict[str, _Place] = {}

    def of(self, ids: Sequence[str]) -> Found:
        if self._come_next(ids):
            return self._taken(len(ids))
        places: dict[str, _Place | None] = {}
        for id in ids:
            if id not in places:
                places[id] = self._one(id)
        return _gathered([places[id] for id in ids])

    def unknown(self) -> Found:
        left = [_gathered([*self._waiting.values()]), *(found for _, found in chain(self._next, self._stream))]
        self._next, self._waiting = [], {}
        return Found.joined(left)

    def _come_next(self, ids: Sequence[str]) -> bool:
        """Whether the next documents of the stream are these, each once and in this order."""
        if len(set(ids)) < len(ids):  # readings of one document
            return False
        while sum(len(several) for several, _ in self._next) < len(ids):
            if (more := next(self._stream, None)) is None:
                return False
            self._next.append(more)
        return [id for several, _ in self._next for id in several][: len(ids)] == list(ids)

    def _taken(self, documents: int) -> Found:
        """The next so many documents."""
        parts = [Found.of([])] if not documents else []
        while documents:
            ids, found = self._next.pop(0)
            if len(ids) > documents:
                self._next.insert(0, (ids[documents:], found.documents(range(documents, len(ids)))))
                found = found.documents(range(documents))
            parts.append(found)
            documents -= len(found.counts)
        return Found.joined(parts)

    def _one(self, id: str) -> _Place | None:
        """Where one document is, wherever in the stream it stands."""
        while id not in self._waiting:
            more = self._next.pop(0) if self._next else next(self._stream, None)
            if more is None:
                return None
            ids, found = more
            for place, other in enumerate(ids):
                if other in self._waiting:
                    raise InputError(
                        "each document must have one line of predictions",
                        got=f"two of {named('document', other) or 'a document'}",
                    )
                self._waiting[other] = found, place
        return self._waiting.pop(id)


def _gathered(places: Sequence[_Place | None]) -> Found:
    """Documents out of several batches, in the order given."""
    parts = list({id(place[0]): place[0] for place in places if place is not None}.values())
    first, before = {}, 0
    for part in parts:
        first[id(part)] = before
        before += len(part.counts)
    together = Found.joined(parts) if parts else Found.of([])
    return together.documents([-1 if place is None else first[id(place[0])] + place[1] for place in places])


def answers_of(stream: Iterable[tuple[str, Sequence[Any]]]) -> Iterator[Answers]:
    """Documents one by one as columns of several."""
    for several in in_pieces(stream, lambda some: sum([len(spans) for _, spans in some])):
        yield [id for id, _ in several], Found.of([spans for _, spans in several])
