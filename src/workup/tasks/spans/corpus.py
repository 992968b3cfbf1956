"""A corpus of documents as the scorer reads it: once where it is small enough to be held, else anew each time.

A study walks over its documents four or five times: to check them all, to ask the system, to count, and to write the
details of gold spans and of lost terms. A corpus of up to `HELD` bytes is read for the first of them and kept; the
texts of a larger one stream through and are never all in memory. What is known of it is gathered on the way."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workup.documents.batch import ABOUT, Batch, span_columns
from workup.task import Case, Corpus

HELD = 64 * 2**20  # bytes of a corpus that is kept; a single batch of long documents may have half as many
_PER_SPAN, _PER_DOCUMENT = 200, 600  # bytes that columns take beside the text, roughly
_WHOLE = 1 << 256


@dataclass(eq=False)
class Facts:
    """What one pass over the documents tells: how many, of how many patients, and a hash that their order is not in."""

    documents: int = 0
    patients: set[int] = field(default_factory=set)
    unnamed: int = 0  # documents without a patient, each a patient of its own
    placed: bool = False  # some document names its site
    timed: bool = False  # some document has a time
    complete: bool = False
    _sum: int = 0

    @property
    def sha256(self) -> str:
        """Of all documents, whatever their order."""
        return f"{self._sum:064x}" if self.complete else ""

    @property
    def n_patients(self) -> int:
        """Patients, as far as the corpus names them."""
        return len(self.patients) + self.unnamed

    def add(self, batch: Batch) -> None:
        """Count and hash a batch; readings of one document count once and are hashed each."""
        first = batch.first or [True] * len(batch)
        self.placed |= any(site is not None for site in batch.about.get("site") or ())
        self.timed |= any(time is not None for time in batch.about.get("time") or ())
        for content, one, patient in zip(_contents(batch), first, batch.column("patient"), strict=True):
            digest = hashlib.sha256(content).digest()
            self._sum = (self._sum + int.from_bytes(digest, "big")) % _WHOLE
            if one:
                self.documents += 1
                if patient is None:
                    self.unnamed += 1
                else:
                    self.patients.add(hash_of(patient))


def hash_of(word: str) -> int:
    """Sixty-four bits of a word, the same in every process: ids are counted by it and not kept."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _contents(batch: Batch) -> Iterator[bytes]:
    """Bytes of each document, its golds in one order; the text comes last, after its length."""
    written, gold = _written(batch), 0
    about = [batch.column(name) for name in ABOUT]
    groups = batch.groups or [{}] * len(batch)
    for id, text, count, held, *known in zip(batch.ids, batch.texts, batch.counts, groups, *about, strict=True):
        head = repr((id, known, sorted(held.items()), sorted(written[gold : gold + count]), len(text)))
        gold += count
        yield (head + "\n" + text).encode("utf-8", "surrogatepass")


def _written(batch: Batch) -> list[str]:
    """Each gold as Python writes the tuple of what is known of it."""
    more = [column for column in (batch.subtypes, batch.entities, batch.identifiers) if column is not None]
    if more:
        return [repr(one) for one in zip(batch.starts, batch.ends, batch.labels, *more, strict=True)]
    labels = [repr(label) for label in batch.spans.labels]  # the same by hand, in half the time
    return [
        f"({start}, {end}, {labels[label]})"
        for start, end, label in zip(batch.starts, batch.ends, batch.spans.label.tolist(), strict=True)
    ]


@dataclass(eq=False)
class Held:
    """The batches of a first pass, while they are few enough to be kept; None once they are not."""

    batches: list[Batch] | None = field(default_factory=list)
    _bytes: int = 0

    def add(self, batch: Batch) -> None:
        """Keep a batch, or let go of all."""
        self._bytes += sum(map(sys.getsizeof, batch.texts))
        self._bytes += len(batch.spans) * _PER_SPAN + len(batch) * _PER_DOCUMENT
        if self._bytes > HELD:
            self.batches = None
        if self.batches is not None:
            self.batches.append(batch)


@dataclass(frozen=True)
class SpansCorpus(Corpus):
    """Documents with gold spans. `read` gives the batches anew; the first pass fills `facts`, and `held` as it may."""

    read: Callable[[], Iterable[Batch]] = tuple
    facts: Facts = field(default_factory=Facts)
    held: Held = field(default_factory=Held, repr=False, compare=False)

    def batches(self) -> Iterator[Batch]:
        """Every batch in the order of the corpus."""
        if self.facts.complete:
            yield from self.read() if self.held.batches is None else self.held.batches
            return
        # A pass that was broken off counts for nothing.
        self.facts.__init__()  # type: ignore[misc]
        self.held.__init__()  # type: ignore[misc]
        for batch in self.read():
            self.facts.add(batch)
            self.held.add(batch)
            yield batch
        self.facts.complete = True

    def as_dict(self) -> dict[str, Any]:
        """What a report says of its corpus; it is read where that has not been done."""
        if not self.facts.complete:
            for _ in self.batches():
                pass
        known = replace(self, cases=(), n_patients=self.facts.n_patients, sha256=self.facts.sha256)
        return {**Corpus.as_dict(known), "n_cases": self.facts.documents}


@dataclass(frozen=True)
class DocumentCases(Sequence[Case]):
    """The documents of a corpus as cases, read one after another; each reading of a document is a case."""

    corpus: SpansCorpus

    def __len__(self) -> int:
        return sum(len(batch) for batch in self.corpus.batches())

    def __getitem__(self, place: Any) -> Any:
        return list(self)[place]

    def __iter__(self) -> Iterator[Case]:
        for batch in self.corpus.batches():
            gold = 0
            for i, count in enumerate(batch.counts):
                one = _single(batch, i, slice(gold, gold + count))
                gold += count
                yield Case(batch.ids[i], batch.texts[i], one, batch.column("patient")[i], batch.column("site")[i])


def _single(batch: Batch, i: int, golds: slice) -> Batch:
    """One document of a batch as a batch."""
    return Batch(
        ids=[batch.ids[i]],
        texts=[batch.texts[i]],
        counts=[golds.stop - golds.start],
        spans=span_columns([golds.stop - golds.start], batch.starts[golds], batch.ends[golds], batch.labels[golds]),
        subtypes=None if batch.subtypes is None else batch.subtypes[golds],
        entities=None if batch.entities is None else batch.entities[golds],
        identifiers=None if batch.identifiers is None else batch.identifiers[golds],
        about={name: [batch.column(name)[i]] for name in ABOUT},
        groups=[batch.groups[i]] if batch.groups else (),
    )
