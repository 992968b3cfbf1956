"""What a system found, joined to the documents it was asked about: from memory, or from a file read alongside.

A document that the system said nothing of is not one in which it found nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from workup.errors import InputError


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
        found = Found()
        self._asked.update(ids)
        for id in ids:
            found.add(self._spans.get(id))
        return found

    def unknown(self) -> Found:
        found = Found()
        for id, spans in self._spans.items():
            if id not in self._asked:
                found.add(spans)
        return found


@dataclass(frozen=True)
class GivenSpans:
    """Predictions handed over in memory, in the place of a system: spans by the id of their document."""

    spans: Mapping[str, Sequence[Any] | None]
    name: str = "recorded"
    version: str = "recorded"
    recorded: ClassVar[bool] = True
    mapping: str = ""
    emits: tuple[str, ...] | None = None


class StreamedDetections:
    """Predictions read from a stream as the documents come; where both are in one order, little is held at a time.

    What comes before it is asked for is held until then, so another order costs memory and nothing else.
    """

    def __init__(self, stream: Iterable[tuple[str, Sequence[Any]]]) -> None:
        self._stream: Iterator[tuple[str, Sequence[Any]]] = iter(stream)
        self._waiting: dict[str, Sequence[Any]] = {}

    def of(self, ids: Sequence[str]) -> Found:
        found, here = Found(), dict[str, Sequence[Any] | None]()
        for id in ids:
            if id not in here:
                here[id] = self._next(id)
            found.add(here[id])
        return found

    def unknown(self) -> Found:
        found = Found()
        for spans in [*self._waiting.values(), *(spans for _, spans in self._stream)]:
            found.add(spans)
        return found

    def _next(self, id: str) -> Sequence[Any] | None:
        if id in self._waiting:
            return self._waiting.pop(id)
        for other, spans in self._stream:
            if other == id:
                return spans
            if other in self._waiting:
                raise InputError("each document must have one line of predictions", got=f"two of '{other[:80]}'")
            self._waiting[other] = spans
        return None
