"""Documents with their golds as lists, some hundreds at a time: the form in which a corpus streams into the scorer.

Knows no file; a format that reads quickly makes batches itself, every other one goes through documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import Any, TypeVar

import numpy as np

from workup.tasks.spans.documents import Document, Ints
from workup.tasks.spans.layers import Annotators, readings
from workup.tasks.spans.mappings import LabelMapping

SIZE = 4_000  # documents in a batch: large enough for arrays to pay, small enough for memory to stay flat
LARGEST = 1 << 25  # characters (or bytes of a file) after which a batch ends, where documents are long
ABOUT = ("patient", "site", "time", "type", "specialty")
Words = list[str | None]
Way = tuple[str, str | None, str | None]
_Thing = TypeVar("_Thing")


@dataclass(frozen=True, eq=False)
class Batch:
    """Some documents. `counts` says how many golds each has; the other lists hold the golds of all, one after another.

    What no gold of a batch has (a subtype, an entity, an identifier type) is None as a whole. `readings` holds the
    golds of several annotators as entries of their own: such entries repeat the id and the text of their document, and
    `first` says which of them is the document's first.
    """

    ids: list[str]
    texts: list[str]
    counts: list[int]
    starts: list[int]
    ends: list[int]
    labels: list[str]
    subtypes: Words | None = None
    entities: Words | None = None
    identifiers: Words | None = None
    about: Mapping[str, Words] = field(default_factory=dict)
    groups: Sequence[Mapping[str, Any]] = ()
    first: list[bool] | None = None
    layered: Sequence[Document] = ()  # those that several annotators read, as they came

    def __len__(self) -> int:
        return len(self.ids)

    def column(self, name: str) -> Words:
        """What is known about each document under this name."""
        return self.about.get(name) or [None] * len(self)

    @cached_property
    def start(self) -> Ints:
        """Where each gold starts."""
        return np.array(self.starts, dtype=np.int32)

    @cached_property
    def end(self) -> Ints:
        """Where each gold ends."""
        return np.array(self.ends, dtype=np.int32)

    @cached_property
    def ways(self) -> tuple[list[Way], Ints]:
        """The ways in which golds are written (label, subtype, identifier type), and the place of each gold's there."""
        if self.subtypes is None and self.identifiers is None:
            labels, place = coded(self.labels)
            return [(label, None, None) for label in labels], place
        subtypes, identifiers = self.subtypes or repeat(None), self.identifiers or repeat(None)
        written: list[Way] = list(zip(self.labels, subtypes, identifiers, strict=False))
        code = {way: i for i, way in enumerate(dict.fromkeys(written))}
        return list(code), np.fromiter(map(code.__getitem__, written), dtype=np.int32, count=len(written))

    @classmethod
    def of(
        cls, documents: Sequence[Document], *, annotators: Annotators = "each", mapping: LabelMapping | None = None
    ) -> Batch:
        """From documents; the golds of several annotators are read as asked.

        >>> from workup.tasks.spans.documents import Span
        >>> batch = Batch.of([Document("a", "Ann, 9 May", (Span(0, 3, "name_patient"), Span(5, 10, "date")))])
        >>> batch.counts, batch.starts, batch.labels, batch.entities
        ([2], [0, 5], ['name_patient', 'date'], None)
        """
        entries, first = _entries(documents, annotators, mapping)
        spans = [span for one in entries for span in one.spans]
        return cls(
            ids=[one.id for one in entries],
            texts=[one.text for one in entries],
            counts=[len(one.spans) for one in entries],
            starts=[span.start for span in spans],
            ends=[span.end for span in spans],
            labels=[span.label for span in spans],
            subtypes=_or_none([span.subtype for span in spans]),
            entities=_or_none([span.entity for span in spans]),
            identifiers=_or_none([span.identifier for span in spans]),
            about={name: [getattr(one, name) for one in entries] for name in ABOUT},
            groups=[one.groups for one in entries],
            first=first,
            layered=[document for document in documents if len(document.layers) > 1],
        )


def batches_of(
    documents: Iterable[Document], *, annotators: Annotators = "each", mapping: LabelMapping | None = None
) -> Iterator[Batch]:
    """A stream of documents in batches."""
    for chunk in in_batches(documents, lambda document: len(document.text)):
        yield Batch.of(chunk, annotators=annotators, mapping=mapping)


def in_batches(things: Iterable[_Thing], size: Callable[[_Thing], int]) -> Iterator[list[_Thing]]:
    """As many at a time as a batch holds.

    >>> [len(one) for one in in_batches(["word"] * 9_000, len)]
    [4000, 4000, 1000]
    """
    held: list[_Thing] = []
    total = 0
    for thing in things:
        held.append(thing)
        total += size(thing)
        if len(held) == SIZE or total >= LARGEST:
            yield held
            held, total = [], 0
    if held:
        yield held


def coded(words: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """The distinct words in order, and the place of each word among them.

    >>> coded(["zip", "date", "zip"])
    (('date', 'zip'), array([1, 0, 1], dtype=int32))
    """
    distinct = tuple(sorted(set(words)))
    code = {word: place for place, word in enumerate(distinct)}
    return distinct, np.fromiter(map(code.__getitem__, words), dtype=np.int32, count=len(words))


def _entries(
    documents: Sequence[Document], annotators: Annotators, mapping: LabelMapping | None
) -> tuple[Sequence[Document], list[bool] | None]:
    """Documents as they are scored, and which of them is a document's first reading; None where there is one of each."""
    if documents and not any(document.layers for document in documents):
        readings(documents[0], annotators=annotators)  # refuses a way of reading that is not known
        return documents, None
    read = [readings(document, annotators=annotators, mapping=mapping) for document in documents]
    entries = [one for several in read for one in several]
    return entries, [place == 0 for several in read for place in range(len(several))]


def _or_none(words: Words) -> Words | None:
    return words if words.count(None) < len(words) else None
