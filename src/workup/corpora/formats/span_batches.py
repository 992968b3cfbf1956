"""Any corpus with spans as a stream of batches for the scorer; the native form goes straight from lines to lists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workup.corpora.formats import fast_jsonl, spans_jsonl
from workup.corpora.formats.json_text import lines
from workup.corpora.formats.offsets import Counting
from workup.corpora.formats.span_format import find_format, read_documents, recognise
from workup.corpora.formats.span_records import Ids, Tally
from workup.tasks.spans.batches import ABOUT, SIZE, Batch, batches_of
from workup.tasks.spans.layers import Annotators
from workup.tasks.spans.mappings import LabelMapping


def read_batches(
    path: Path,
    *,
    format: str = "",
    offsets: str = "codepoint",
    trim: str = "",
    annotators: Annotators = "each",
    mapping: LabelMapping | None = None,
    left_out: Tally | None = None,
) -> Iterator[Batch]:
    """Documents of a file or folder, some hundreds at a time, with the golds of several annotators read as asked."""
    path = Path(path)
    chosen = find_format(format) if format else recognise(path)
    if chosen.name == spans_jsonl.name and Counting.of(offsets).plain and not trim:
        return _native(path, annotators, mapping, left_out)
    documents = read_documents(path, format=chosen.name, offsets=offsets, trim=trim, left_out=left_out)
    return batches_of(documents, annotators=annotators, mapping=mapping)


def _native(
    path: Path, annotators: Annotators, mapping: LabelMapping | None, left_out: Tally | None
) -> Iterator[Batch]:
    """Lines that need no second look become lists at once; a batch with any other line goes through documents."""
    decode, ids = fast_jsonl.decoder(), Ids()
    ready: list[Any] = []
    quick, empty = True, True
    for number, line in lines(path):
        where, empty = f"{path.name}, line {number}", False
        record = decode(line)
        if record is None:
            record, quick = spans_jsonl.read_line(line, where=where, left_out=left_out), False
        ids.add(record.id, where=where)
        ready.append(record)
        if len(ready) == SIZE:
            yield _made(ready, quick=quick, annotators=annotators, mapping=mapping)
            ready, quick = [], True
    if ready:
        yield _made(ready, quick=quick, annotators=annotators, mapping=mapping)
    if empty:
        raise spans_jsonl.no_documents(path)


def _made(records: list[Any], *, quick: bool, annotators: Annotators, mapping: LabelMapping | None) -> Batch:
    if quick:
        return _batch(records)
    return Batch.of([fast_jsonl.document_of(one) for one in records], annotators=annotators, mapping=mapping)


def _batch(records: list[Any]) -> Batch:
    spans = [span for record in records for span in record.spans]
    subtypes, entities, identifiers = (
        [getattr(span, name) for span in spans] for name in ("subtype", "entity", "identifier")
    )
    return Batch(
        ids=[record.id for record in records],
        texts=[record.text for record in records],
        counts=[len(record.spans) for record in records],
        starts=[span.start for span in spans],
        ends=[span.end for span in spans],
        labels=[span.label for span in spans],
        subtypes=subtypes if any(subtypes) else None,
        entities=entities if any(entities) else None,
        identifiers=identifiers if any(identifiers) else None,
        about={name: [getattr(record, name) for record in records] for name in ABOUT},
        groups=[record.groups for record in records],
    )
