"""What a system found, joined to the documents it was asked about: from memory, or from a file read alongside.

A document that the system said nothing of is not one in which it found nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Any, ClassVar, Protocol

import numpy as np

from workup.errors import InputError
from workup.tasks.spans.batches import coded, in_batches


@dataclass(eq=False)
class Found:
    """Predictions over some documents, as lists; `answered` says which documents the system spoke of at all."""

    answered: list[bool] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    scores: list[float | None] = field(default_factory=list)

    def add(self, spans: Sequence[Any] | None) -> None:
        """One more document: its spans, or None where the system gave no answer."""
        self.answered.append(spans is not None)
        self.counts.append(len(spans or ()))
        for span in spans or ():
            self.starts.append(span.start)
            self.ends.append(span.end)
            self.labels.append(span.label)
            self.scores.append(span.score)


    @classmethod
    def of(cls, answers: Sequence[Sequence[Any] | None]) -> Found:
        """Of many documents at once.

        >>> from workup.tasks.spans.documents import Span
        >>> found = Found.of([[Span(0, 3, "name"), Span(4, 5, "date")], None, []])
        >>> found.answered, found.counts, found.labels
        ([True, False, True], [2, 0, 0], ['name', 'date'])
        """
        spans = [span for answer in answers if answer for span in answer]
        return cls(
            answered=[answer is not None for answer in answers],
            counts=[len(answer) if answer else 0 for answer in answers],
            starts=[span.start for span in spans],
            ends=[span.end for span in spans],
            labels=[span.label for span in spans],
            scores=[span.score for span in spans],
        )

    def extend(self, other: Found) -> None:
        """The documents of another after these."""
        self.answered += other.answered
        self.counts += other.counts
        self.starts += other.starts
        self.ends += other.ends
        self.labels += other.labels
        self.scores += other.scores

    def cut(self, documents: int) -> tuple[Found, Found]:
        """The first so many documents, and the rest."""
        spans = sum(self.counts[:documents])
        return (
            Found(
                self.answered[:documents],
                self.counts[:documents],
                self.starts[:spans],
                self.ends[:spans],
                self.labels[:spans],
                self.scores[:spans],
            ),
            Found(
                self.answered[documents:],
                self.counts[documents:],
                self.starts[spans:],
                self.ends[spans:],
                self.labels[spans:],
                self.scores[spans:],
            ),
        )


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

    >>> from workup.tasks.spans.documents import Span
    >>> held = HeldDetections({"a": [Span(0, 3, "name")], "z": [Span(4, 5, "date")]})
    >>> held.of(["a", "b"]).answered, held.of(["a", "b"]).counts, held.unknown().labels
    ([True, False], [1, 0], ['date'])
    """

    def __init__(self, spans: Mapping[str, Sequence[Any] | None]) -> None:
        self._spans = spans
        self._asked: set[str] = set()

    def of(self, ids: Sequence[str]) -> Found:
        self._asked.update(ids)
        return Found.of([self._spans.get(id) for id in ids])

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


class StreamedDetections:
    """Predictions read from a stream as the documents come; where both are in one order, little is held at a time.

    What comes before it is asked for is held until then, so another order costs memory and nothing else. A stream that
    has `batches` of its own is asked for these.

    >>> from workup.tasks.spans.documents import Span
    >>> found = StreamedDetections([("b", [Span(4, 5, "date")]), ("a", [Span(0, 3, "name")]), ("z", [])])
    >>> found.of(["a"]).labels, found.of(["b", "c"]).answered, found.unknown().counts
    (['name'], [True, False], [0])
    """

    def __init__(self, stream: Iterable[tuple[str, Sequence[Any]]]) -> None:
        batches = getattr(stream, "batches", None)
        self._stream: Iterator[Answers] = _in_answers(stream) if batches is None else batches()
        self._ids: list[str] = []  # of documents that were read and neither asked for nor set aside
        self._found = Found()
        self._waiting: dict[str, tuple[_Held, int]] = {}

    def of(self, ids: Sequence[str]) -> Found:
        if self._come_next(ids):
            if len(ids) == len(self._ids):
                found, self._ids, self._found = self._found, [], Found()
                return found
            found, self._found = self._found.cut(len(ids))
            self._ids = self._ids[len(ids) :]
            return found
        found, here = Found(), dict[str, Found]()
        for id in ids:
            if id not in here:
                here[id] = self._one(id)
            found.extend(here[id])
        return found

    def unknown(self) -> Found:
        found = Found()
        for held, place in self._waiting.values():
            found.extend(held.of(place))
        for _, others in chain([(self._ids, self._found)], self._stream):
            found.extend(others)
        self._ids, self._found, self._waiting = [], Found(), {}
        return found

    def _come_next(self, ids: Sequence[str]) -> bool:
        """Whether the next documents of the stream are these, each once and in this order."""
        if len(set(ids)) < len(ids):  # readings of one document
            return False
        while len(self._ids) < len(ids):
            if (more := next(self._stream, None)) is None:
                return False
            if self._ids:
                self._ids += more[0]
                self._found.extend(more[1])
            else:
                self._ids, self._found = more
        return self._ids[: len(ids)] == list(ids)

    def _one(self, id: str) -> Found:
        """One document, wherever in the stream it is."""
        while id not in self._waiting:
            if not self._ids:
                more = next(self._stream, None)
                if more is None:
                    return Found([False], [0])
                self._ids, self._found = more
            held = _Held(self._found)
            for place, other in enumerate(self._ids):
                if other in self._waiting:
                    raise InputError("each document must have one line of predictions", got=f"two of '{other[:80]}'")
                self._waiting[other] = held, place
            self._ids, self._found = [], Found()
        held, place = self._waiting.pop(id)
        return held.of(place)


class _Held:
    """Predictions that wait until they are asked for, in little room."""

    def __init__(self, found: Found) -> None:
        self._answered = found.answered
        self._first = [0, *accumulate(found.counts)]
        self._start, self._end = (np.array(column, dtype=np.int32) for column in (found.starts, found.ends))
        self._names, self._label = coded(found.labels)
        self._scores = found.scores if found.scores.count(None) < len(found.scores) else None

    def of(self, place: int) -> Found:
        """Those of one document."""
        spans = slice(self._first[place], self._first[place + 1])
        count = spans.stop - spans.start
        return Found(
            [self._answered[place]],
            [count],
            self._start[spans].tolist(),
            self._end[spans].tolist(),
            [self._names[label] for label in self._label[spans].tolist()],
            [None] * count if self._scores is None else self._scores[spans],
        )


def _in_answers(stream: Iterable[tuple[str, Sequence[Any]]]) -> Iterator[Answers]:
    for several in in_batches(stream, lambda answer: len(answer[1])):
        yield [id for id, _ in several], Found.of([spans for _, spans in several])
