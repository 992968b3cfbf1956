"""Documents with their golds as columns, some thousands at a time: the form in which a corpus streams into the scorer.

Knows no file; a format that reads quickly makes batches itself, every other one goes through documents."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count, islice, repeat
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np

from workup.documents.annotators import Annotators, readings
from workup.documents.document import Document, Ints, SpanArrays
from workup.documents.mappings import LabelMapping

SIZE = 8_000  # documents in a batch: large enough for arrays to pay, small enough for memory to stay flat
LARGEST = 1 << 25  # characters after which a batch ends, where documents are long
PIECE = 500  # documents that are made columns at once: their objects still lie in the cache when they are read
_LOOKED_AT = 20  # documents that are taken before their length is asked for
ABOUT = ("patient", "site", "time", "type", "specialty")
Words = list[str | None]
Way = tuple[str, str | None, str | None]
_Thing = TypeVar("_Thing")


@dataclass(frozen=True, eq=False)
class Batch:
    """Some documents. `counts` says how many golds each has; `spans` holds the golds of all, one after another.

    What no gold of a batch has (a subtype, an entity, an identifier type) is None as a whole. `readings` holds the
    golds of several annotators as entries of their own: such entries repeat the id and the text of their document, and
    `first` says which of them is the document's first.
    """

    ids: list[str]
    texts: list[str]
    counts: list[int]
    spans: SpanArrays  # in their own order, under the labels that are written
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
    def starts(self) -> list[int]:
        """Where each gold starts."""
        return list(self.spans.start.tolist())

    @cached_property
    def ends(self) -> list[int]:
        """Where each gold ends."""
        return list(self.spans.end.tolist())

    @cached_property
    def labels(self) -> list[str]:
        """The label of each gold, as it is written."""
        return words_of(self.spans)

    @cached_property
    def ways(self) -> tuple[list[Way], Ints]:
        """The ways in which golds are written (label, subtype, identifier type), and the place of each gold's there."""
        if self.subtypes is None and self.identifiers is None:
            return [(label, None, None) for label in self.spans.labels], self.spans.label
        subtypes, identifiers = self.subtypes or repeat(None), self.identifiers or repeat(None)
        written: list[Way] = list(zip(self.labels, subtypes, identifiers, strict=False))
        code = {way: i for i, way in enumerate(dict.fromkeys(written))}
        return list(code), np.fromiter(map(code.__getitem__, written), dtype=np.int32, count=len(written))

    @classmethod
    def of(
        cls, documents: Sequence[Document], *, annotators: Annotators = "each", mapping: LabelMapping | None = None
    ) -> Batch:
        """From documents; the golds of several annotators are read as asked.

        >>> from workup.documents.document import Span
        >>> batch = Batch.of([Document("a", "Ann, 9 May", (Span(0, 3, "name_patient"), Span(5, 10, "date")))])
        >>> batch.counts, batch.starts, batch.labels, batch.entities
        ([2], [0, 5], ['name_patient', 'date'], None)
        """
        entries, first = _entries(documents, annotators, mapping)
        spans = [span for one in entries for span in one.spans]
        counts = [len(one.spans) for one in entries]
        places = [span.start for span in spans], [span.end for span in spans], [span.label for span in spans]
        more = [
            True for span in spans if span.subtype is not None or span.entity is not None or span.identifier is not None
        ]
        return cls(
            ids=[one.id for one in entries],
            texts=[one.text for one in entries],
            counts=counts,
            spans=span_columns(counts, *places),
            subtypes=_or_none([span.subtype for span in spans]) if more else None,
            entities=_or_none([span.entity for span in spans]) if more else None,
            identifiers=_or_none([span.identifier for span in spans]) if more else None,
            about={name: [*map(attrgetter(name), entries)] for name in ABOUT},
            groups=[one.groups for one in entries],
            first=first,
            layered=[document for document in documents if len(document.layers) > 1],
        )

    @classmethod
    def joined(cls, parts: Sequence[Batch]) -> Batch:
        """The documents of several batches, one after another."""
        if len(parts) == 1:
            return parts[0]

        def words(name: str) -> Words | None:
            columns = [getattr(part, name) for part in parts]
            if all(column is None for column in columns):
                return None
            missing = ([None] * len(part.spans) for part in parts)
            return list(chain.from_iterable(c or none for c, none in zip(columns, missing, strict=True)))

        def every(columns: Iterable[Iterable[Any]]) -> list[Any]:
            return list(chain.from_iterable(columns))

        firsts = None
        if any(part.first is not None for part in parts):
            firsts = every(part.first or [True] * len(part) for part in parts)
        return cls(
            ids=every(part.ids for part in parts),
            texts=every(part.texts for part in parts),
            counts=every(part.counts for part in parts),
            spans=joined_columns([part.spans for part in parts], [len(part) for part in parts]),
            subtypes=words("subtypes"),
            entities=words("entities"),
            identifiers=words("identifiers"),
            about={name: every(part.column(name) for part in parts) for name in ABOUT},
            groups=every(part.groups or [{}] * len(part) for part in parts),
            first=firsts,
            layered=every(part.layered for part in parts),
        )


def batches_of(
    documents: Iterable[Document], *, annotators: Annotators = "each", mapping: LabelMapping | None = None
) -> Iterator[Batch]:
    """A stream of documents in batches."""
    pieces = in_pieces(documents, lambda some: sum([len(document.text) for document in some]))
    return joined_batches(Batch.of(piece, annotators=annotators, mapping=mapping) for piece in pieces)


def in_pieces(things: Iterable[_Thing], size: Callable[[Sequence[_Thing]], int]) -> Iterator[list[_Thing]]:
    """As many at a time as are made columns at once; `size` says how many characters some of them hold.

    >>> [len(one) for one in in_pieces(["word"] * 1_200, lambda some: sum(map(len, some)))]
    [500, 500, 200]
    """
    source, held, total = iter(things), list[_Thing](), 0
    while some := list(islice(source, min(_LOOKED_AT, PIECE))):
        held += some
        total += size(some)
        if len(held) >= PIECE or total >= LARGEST:
            yield held
            held, total = [], 0
    if held:
        yield held


def joined_batches(pieces: Iterable[Batch]) -> Iterator[Batch]:
    """Small batches as large ones."""
    held: list[Batch] = []
    documents = characters = 0
    for piece in pieces:
        held.append(piece)
        documents += len(piece)
        characters += sum(map(len, piece.texts))
        if documents >= SIZE or characters >= LARGEST:
            yield Batch.joined(held)
            held, documents, characters = [], 0, 0
    if held:
        yield Batch.joined(held)


# ---- columns ---------------------------------------------------------------------------------------------------------


def coded(words: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """The distinct words as they come, and the place of each word among them.

    >>> coded(["zip", "date", "zip"])
    (('zip', 'date'), array([0, 1, 0], dtype=int32))
    """
    places: dict[str, int] = defaultdict(count().__next__)  # a new word gets the next number
    place = _whole([*map(places.__getitem__, words)])
    return tuple(places), place


def span_columns(
    counts: Sequence[int], starts: Sequence[int], ends: Sequence[int], labels: Sequence[str]
) -> SpanArrays:
    """Flat lists, with the number of spans of each document, as columns in their own order.

    Raises OverflowError where a place does not fit 32 bits.
    """
    names, label = coded(labels)
    document = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return SpanArrays(document, _whole(starts), _whole(ends), label, names)


def _whole(numbers: Sequence[int]) -> Ints:
    """Whole numbers as a column; packed first, which takes half the time that numpy needs to look at each."""
    try:
        return np.frombuffer(struct.pack(f"={len(numbers)}i", *numbers), dtype=np.int32)
    except struct.error:
        raise OverflowError("a place of 32 bits was expected") from None


def joined_columns(parts: Sequence[SpanArrays], documents: Sequence[int]) -> SpanArrays:
    """Columns of several parts, of so many documents each, as those of all their documents.

    >>> one, two = span_columns([1], [0], [3], ["zip"]), span_columns([0, 1], [5], [9], ["date"])
    >>> both = joined_columns([one, two], [1, 2])
    >>> both.document.tolist(), both.labels, both.label.tolist()
    ([0, 2], ('date', 'zip'), [1, 0])
    """
    names = tuple(sorted({name for part in parts for name in part.labels}))
    code = {name: place for place, name in enumerate(names)}
    first = np.cumsum([0, *documents[:-1]], dtype=np.int32)
    none = np.empty(0, dtype=np.int32)
    label = [np.array([code[name] for name in part.labels], dtype=np.int32)[part.label] for part in parts]
    return SpanArrays(
        np.concatenate([none, *(part.document + start for part, start in zip(parts, first, strict=True))]),
        np.concatenate([none, *(part.start for part in parts)]),
        np.concatenate([none, *(part.end for part in parts)]),
        np.concatenate([none, *label]),
        names,
    )


def words_of(spans: SpanArrays) -> list[str]:
    """The label of each span."""
    return [spans.labels[place] for place in spans.label.tolist()]


def _entries(
    documents: Sequence[Document], annotators: Annotators, mapping: LabelMapping | None
) -> tuple[Sequence[Document], list[bool] | None]:
    """Documents as they are scored, and which is a document's first reading; None where there is one of each."""
    if documents and not any(document.layers for document in documents):
        readings(documents[0], annotators=annotators)  # refuses a way of reading that is not known
        return documents, None
    read = [readings(document, annotators=annotators, mapping=mapping) for document in documents]
    entries = [one for several in read for one in several]
    return entries, [place == 0 for several in read for place in range(len(several))]


def _or_none(words: Words) -> Words | None:
    return words if words.count(None) < len(words) else None
