"""A whole source injected and written: one JSONL of the corpus, a ground-truth file per document, and the record.

All of it is put in place, or nothing. Knows no clock: a time is in the truth only where the user gives one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from workup.corpora.checks import time_of
from workup.corpora.formats.spans.native_jsonl import record_of
from workup.corpora.inject.document import VERSION, Injected, Injector
from workup.corpora.inject.residual_phi import UNKNOWN
from workup.corpora.writer import (
    folder_of,
    json_line,
    private_file,
    put_sidecar,
    said_in_words,
    sidecar,
    targets,
    workshop,
)
from workup.documents.builder import Written
from workup.documents.document import Document
from workup.documents.records import Ids, all_spans, check_whole
from workup.errors import InputError, ids_shown, named
from workup.values import versions
from workup.version import __version__


@dataclass
class InjectionCount:
    """What an injection did, added up over documents."""

    documents: int = 0
    asked: int = 0
    placed: int = 0
    short: int = 0
    characters: int = 0
    inserted: int = 0
    leaves: Counter[str] = field(default_factory=Counter)
    hard_negatives: int = 0
    residues: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, found: Injected) -> None:
        """One more document."""
        self.documents += 1
        self.asked += found.asked
        self.placed += found.placed
        self.short += found.placed < found.asked
        inserted = sum(end - start for start, end in found.inserted)
        self.inserted += inserted
        self.characters += len(found.document.text) - inserted
        self.kinds.update(found.kinds)
        # Where several annotators worked, each has every injected gold: one layer tells of all.
        layers = found.document.layers
        spans = next(iter(layers.values())) if layers else found.document.spans
        for span in spans:
            inside = any(start <= span.start and span.end <= end for start, end in found.inserted)
            if span.identifier == UNKNOWN:
                self.residues[span.label] += 1
            elif inside and span.identifier == "no_mask":
                self.hard_negatives += 1
            elif inside:
                self.leaves[span.label] += 1

    def record(self) -> dict[str, Any]:
        """As plain data. `short` counts documents with fewer sites than the density asked for."""
        numbers = {
            key: getattr(self, key) for key in ("documents", "characters", "asked", "placed", "short", "inserted")
        }
        tables = {key: dict(sorted(getattr(self, key).items())) for key in ("leaves", "residues", "kinds")}
        return {**numbers, "hard_negatives": self.hard_negatives, **tables}


def inject_all(documents: Iterable[Document], *, injector: Injector) -> Iterator[Injected]:
    """Every document injected, in order. Documents of one patient of the source get one made-up person."""
    people: dict[str, int] = {}
    for index, document in enumerate(documents):
        key = f"patient {document.patient}" if document.patient is not None else f"document {index}"
        yield injector.inject(document, index=index, patient=people.setdefault(key, len(people)))


def truth_of(found: Injected, *, injector: Injector, source: str, as_of: str | None = None) -> dict[str, Any]:
    """The ground truth of one document as the file beside it holds it: with what was inserted, and how spans are meant.

    `identifier` is unknown for what the source seemed to hold, no_mask for what must stay.
    """
    spans = tuple(dict.fromkeys(all_spans(found.document)))
    config = {
        "phiDensity": injector.density,
        "ambiguityLevel": injector.ambiguity,
        "seed": injector.seed,
        "libraries": {"workup": __version__, "inject": VERSION, "numpy": np.__version__, **versions()},
    }
    truth = sidecar(Written(replace(found.document, spans=spans)), corpus=source, config=config, as_of=as_of)
    for annotation, span in zip(truth["annotations"], spans, strict=True):
        annotation["identifier"] = span.identifier
    return truth | {"inserted": [list(pair) for pair in found.inserted]}


def write_injected(
    documents: Iterable[Document], out: Path, *, injector: Injector, source: str, as_of: str | None = None
) -> tuple[InjectionCount, list[Path]]:
    """Inject all documents into `out`, a name that ends in .jsonl or a new folder.

    Beside `<stem>.jsonl` come the folder `<stem>.truth` and `<stem>.injection.json`; in a folder all three lie inside.
    """
    as_of = time_of(as_of, where="inject")
    corpus, truth = targets(Path(out))
    folder = folder_of(out)
    record = corpus.with_name("injection.json" if folder else f"{corpus.stem}.injection.json")
    with said_in_words(out), workshop([truth, record, corpus], folder=folder) as room:
        (room / truth.name).mkdir(mode=0o700)
        total, ids = InjectionCount(), Ids()
        with private_file(room / corpus.name) as file:
            for number, found in enumerate(_numbered(inject_all(documents, injector=injector)), start=1):
                id = found.document.id
                ids.add(id, where=f"document {number}")
                line = json_line(record_of(found.document))
                check_whole(line, field="its line", where=named("document", id, number=number))
                file.write(line.encode())
                held = truth_of(found, injector=injector, source=source, as_of=as_of)
                put_sidecar(room / truth.name, id, held)
                total.add(found)
        with private_file(room / record.name) as file:
            file.write(f"{json.dumps(total.record(), indent=1)}\n".encode())
    return total, [corpus, truth, record]


def _numbered(found: Iterator[Injected]) -> Iterator[Injected]:
    """The same, with errors that give a document's place and not its id."""
    number = 0
    while True:
        number += 1
        try:
            yield next(found)
        except StopIteration:
            return
        except InputError as error:
            told = ids_shown() or not error.where.startswith("document '")  # a fault of the source names its file
            where = error.where if told else f"document {number:,}"
            raise InputError(error.expected, where=where, got=error.got, remedy=error.remedy) from None
