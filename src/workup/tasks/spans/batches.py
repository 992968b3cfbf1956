"""Documents with their golds as lists, some hundreds at a time: the form in which a corpus streams into the scorer.

Knows no file; a format that reads quickly makes batches itself, every other one goes through documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from workup.tasks.spans.documents import Document
from workup.tasks.spans.layers import Annotators, readings
from workup.tasks.spans.mappings import LabelMapping

SIZE = 1_000  # documents in a batch: large enough for arrays to pay, small enough for memory to stay flat
ABOUT = ("patient", "site", "time", "type", "specialty")
Words = list[str | None]


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
        read = [readings(document, annotators=annotators, mapping=mapping) for document in documents]
        entries = [one for several in read for one in several]
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
            first=[place == 0 for several in read for place in range(len(several))],
            layered=[document for document in documents if len(document.layers) > 1],
        )


def batches_of(
    documents: Iterable[Document], *, annotators: Annotators = "each", mapping: LabelMapping | None = None
) -> Iterator[Batch]:
    """A stream of documents in batches."""
    source = iter(documents)
    while chunk := list(islice(source, SIZE)):
        yield Batch.of(chunk, annotators=annotators, mapping=mapping)


def _or_none(words: Words) -> Words | None:
    return words if any(word is not None for word in words) else None
