"""Any corpus with spans as a stream of batches for the scorer; the native form goes straight from lines to columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from workup.corpora.formats.spans import fast_jsonl, native_jsonl
from workup.corpora.formats.spans.any_format import find_format, read_documents, recognise
from workup.documents.annotators import Annotators
from workup.documents.batch import ABOUT, Batch, batches_of, in_pieces, joined_batches, span_columns
from workup.documents.document import IDENTIFIERS, Document
from workup.documents.mappings import LabelMapping
from workup.documents.offsets import Counting
from workup.documents.records import Ids, Tally
from workup.files.jsonlines import lines
from workup.files.seen_ids import SeenIds

_NO_GROUPS: dict[str, Any] = {}


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
    """Documents of a file or folder, some thousands at a time; gold spans of several annotators are read as asked."""
    path = Path(path)
    chosen = find_format(format) if format else recognise(path)
    if chosen.name == native_jsonl.name and Counting.of(offsets).plain and not trim:
        return joined_batches(_native(path, annotators, mapping, left_out))
    documents = read_documents(path, format=chosen.name, offsets=offsets, trim=trim, left_out=left_out)
    return batches_of(documents, annotators=annotators, mapping=mapping)


def _native(
    path: Path, annotators: Annotators, mapping: LabelMapping | None, left_out: Tally | None
) -> Iterator[Batch]:
    """Lines that need no second look become columns at once; a batch with any other line goes through documents."""
    decode, seen, empty = fast_jsonl.documents_decoder(), SeenIds(), True
    for numbered in in_pieces(lines(path, cut=False), lambda some: sum([len(line) for _, line in some])):
        empty = False
        records = decode([line for _, line in numbered])
        batch = None if records is None else _batch(records)
        if batch is None:
            documents = _documents(path, numbered, left_out)
            batch = Batch.of(documents, annotators=annotators, mapping=mapping)
        ids = batch.ids if batch.first is None else [id for id, one in zip(batch.ids, batch.first, strict=True) if one]
        if seen.suspects(ids):
            _refuse_repeated(path, last=numbered[-1][0])
        yield batch
    if empty:
        raise native_jsonl.no_documents(path)


def _documents(path: Path, numbered: Sequence[tuple[int, bytes]], left_out: Tally | None) -> list[Document]:
    """Line by line, each with its own words for what is wrong."""
    decode, labels, found = fast_jsonl.decoder(), dict[str, str](), []
    for number, with_end in numbered:
        line = with_end.rstrip(b"\r\n")
        record = decode(line)
        if record is None:
            found.append(native_jsonl.read_line(line, where=f"{path.name}, line {number}", left_out=left_out))
        else:
            found.append(fast_jsonl.document_of(record, labels))
    return found


def _refuse_repeated(path: Path, *, last: int) -> None:
    """Look at every id up to a line of the file; an error where one of them occurs twice."""
    ids, decode = Ids(), fast_jsonl.decoder()
    for number, line in lines(path):
        if number > last:
            break
        where = f"{path.name}, line {number}"
        ids.add((decode(line) or native_jsonl.read_line(line, where=where)).id, where=where)


def _batch(records: list[Any]) -> Batch | None:
    """Records as columns, or None where a span is not as it must be."""
    spans = [span for record in records for span in record.spans]
    subtypes, entities, identifiers = (
        [getattr(span, name) for span in spans] if spans and hasattr(spans[0], name) else []
        for name in ("subtype", "entity", "identifier")
    )
    counts = [len(record.spans) for record in records]
    try:
        columns = span_columns(
            counts, [span.start for span in spans], [span.end for span in spans], [span.label for span in spans]
        )
    except OverflowError:  # what does not fit a column goes the careful way
        return None
    batch = Batch(
        ids=[record.id for record in records],
        texts=[record.text for record in records],
        counts=counts,
        spans=columns,
        subtypes=subtypes if any(subtypes) else None,
        entities=entities if any(entities) else None,
        identifiers=identifiers if any(identifiers) else None,
        about={name: [*map(attrgetter(name), records)] for name in ABOUT},
        groups=[record.groups or _NO_GROUPS for record in records],
    )
    good = _inside(batch) and {*identifiers} <= {None, *IDENTIFIERS} and _surfaces_hold(records, spans)
    return batch if good else None


def _inside(batch: Batch) -> bool:
    """Every gold has a label and lies inside its text."""
    lengths = np.fromiter(map(len, batch.texts), dtype=np.int64, count=len(batch))
    start, end = batch.spans.start, batch.spans.end
    inside = (start >= 0) & (start < end) & (end <= lengths.take(batch.spans.document))
    return "" not in batch.spans.labels and bool(inside.all())


def _surfaces_hold(records: list[Any], spans: list[Any]) -> bool:
    """Where a span says what its text is, it is so."""
    written = [span.text for span in spans]
    if written.count(None) == len(written):
        return True
    there = [record.text[span.start : span.end] for record in records for span in record.spans]
    return there == written or all(one is None or one == own for one, own in zip(written, there, strict=True))
