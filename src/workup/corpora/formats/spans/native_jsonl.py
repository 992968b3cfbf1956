"""The native span corpus: one JSON object a line. Streams; memory holds one document, and the ids of those before it.

A key of a span that is not known is an error, since a misspelt one would be lost; an unknown key of a document is
passed over and counted, since other tools keep notes of their own there. TAB's spellings of span keys are known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from workup.corpora.formats.spans import fast_jsonl
from workup.corpora.formats.spans.sniff import first_line
from workup.documents.batch import ABOUT
from workup.documents.document import Document, Ints, Span, SpanArrays
from workup.documents.offsets import Counting
from workup.documents.records import (
    Ids,
    Marked,
    Tally,
    build,
    check_whole,
    groups_of,
    identifier_of,
    known_keys,
    listing,
    mapping,
    needed,
    offset,
    optional,
    shown_key,
    surface_of,
    word,
)
from workup.errors import InputError, named, within
from workup.files.disk import replace_whole
from workup.files.jsonlines import kind, lines, value_of

name = "spans-jsonl"
endings = (".jsonl", ".jsonl.gz", ".ndjson")

_DOCUMENT_KEYS = ("id", "text", "spans", "layers", "groups", *ABOUT)
_SPAN_KEYS = ("start", "end", "label", "text", "subtype", "entity", "identifier")
_OTHER_SPELLINGS = {"entity_id": "entity", "identifier_type": "identifier"}
_PASSED_OVER = ("confidential_status",)  # TAB's; says nothing of whether to mask


def recognises(path: Path) -> bool:
    """Whether the first line is a document of this form; one with TAB's own keys is left to that format."""
    record = first_line(path)
    spans = record.get("spans")
    if isinstance(spans, list) and any(isinstance(span, dict) and "identifier_type" in span for span in spans):
        return False
    return "text" in record and ("spans" in record or "layers" in record or "id" in record)


def read(
    path: Path, *, offsets: str = "codepoint", left_out: Tally | None = None, annotated: bool = True
) -> Iterator[Document]:
    """Documents in the order of the file. `annotated=False` also takes lines without spans, as a detector's input.

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> corpus = Path(mkdtemp()) / "corpus.jsonl"
    >>> line = '{"id": "a", "text": "Seen by Rose.", "spans": [{"start": 8, "end": 12, "label": "name_provider"}]}'
    >>> _ = corpus.write_text(line)
    >>> [(document.id, document.spans[0].label) for document in read(corpus)]
    [('a', 'name_provider')]
    """
    counting, ids, empty = Counting.of(offsets), Ids(), True
    path = Path(path)
    decode, labels = fast_jsonl.decoder() if counting.plain else None, dict[str, str]()
    for number, line in lines(path):
        where, empty = f"{path.name}, line {number}", False
        record = decode(line) if decode else None
        if record is not None:
            document = fast_jsonl.document_of(record, labels)
        else:
            document = _document(value_of(line, where=where), where, counting, left_out, annotated)
        ids.add(document.id, where=where)
        yield document
    if empty:
        raise no_documents(path)


def read_arrays(path: Path, *, offsets: str = "codepoint") -> tuple[list[str], Ints, SpanArrays]:
    """Ids, lengths in characters, and all gold spans as columns: checked as `read` does, without an object per span."""
    counting, ids = Counting.of(offsets), Ids()
    path = Path(path)
    decode = fast_jsonl.decoder() if counting.plain else None
    names: list[str] = []
    lengths: list[int] = []
    counts: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    labels: list[str] = []
    for number, line in lines(path):
        where = f"{path.name}, line {number}"
        record = decode(line) if decode else None
        if record is None:
            record = _document(value_of(line, where=where), where, counting, None, True)
        if getattr(record, "layers", None):  # the quick way takes no line that has them
            raise InputError(
                "one list of spans per document was expected",
                where=within(where, named("document", record.id)),
                got="those of several annotators",
                remedy="read them as documents, and choose how annotators are joined",
            )
        ids.add(record.id, where=where)
        spans: Any = record.spans
        names.append(record.id)
        lengths.append(len(record.text))
        counts.append(len(spans))
        starts += [span.start for span in spans]
        ends += [span.end for span in spans]
        labels += [span.label for span in spans]
    if not names:
        raise no_documents(path)
    return names, np.array(lengths, dtype=np.int32), columns(counts, starts, ends, labels)


def columns(counts: list[int], starts: list[int], ends: list[int], labels: list[str]) -> SpanArrays:
    """Flat lists, with the number of spans in each document, as sorted columns.

    >>> columns([1, 2], [5, 7, 0], [9, 8, 3], ["date", "name", "date"]).start.tolist()
    [5, 0, 7]
    """
    known = tuple(sorted(set(labels)))
    code = {label: place for place, label in enumerate(known)}
    document = np.repeat(np.arange(len(counts), dtype=np.int32), np.array(counts, dtype=np.int64))
    start, end = np.array(starts, dtype=np.int32), np.array(ends, dtype=np.int32)
    label = np.fromiter(map(code.__getitem__, labels), dtype=np.int32, count=len(labels))
    order = np.lexsort((label, end, start, document))
    return SpanArrays(document[order], start[order], end[order], label[order], known)


def write(documents: Iterable[Document], path: Path, *, left_out: Tally | None = None) -> None:
    """One line per document, each span with its surface; the file is put in place whole."""
    ids = Ids()

    def texts() -> Iterator[str]:
        for number, document in enumerate(documents, start=1):
            where = f"document {number}"
            ids.add(document.id, where=where)
            line = json.dumps(record_of(document), ensure_ascii=False, allow_nan=False) + "\n"
            check_whole(line, field="its line", where=named("document", document.id, number=number))
            yield line

    replace_whole(Path(path), texts())


def record_of(document: Document) -> dict[str, Any]:
    """A document as the object on its line; what is not known of it is left out."""
    record: dict[str, Any] = {"id": document.id, "text": document.text}
    if document.layers:
        layers = document.layers.items()
        record["layers"] = {name: [span_record(span, document.text) for span in spans] for name, spans in layers}
    else:
        record["spans"] = [span_record(span, document.text) for span in document.spans]
    record |= {key: getattr(document, key) for key in ABOUT if getattr(document, key) is not None}
    if document.groups:
        record["groups"] = dict(document.groups)
    return record


def span_record(span: Span, text: str | None) -> dict[str, Any]:
    """A span as an object, with its surface where the text is given."""
    start, end = span.start, span.end
    record: dict[str, Any] = {"start": start, "end": end, "label": span.label}
    if text is not None:
        record["text"] = text[start:end]
    # Written out one by one: a corpus of a million notes has thirty million spans.
    if span.subtype is not None:
        record["subtype"] = span.subtype
    if span.entity is not None:
        record["entity"] = span.entity
    if span.identifier is not None:
        record["identifier"] = span.identifier
    if span.score is not None:
        record["score"] = span.score
    return record


# ---- one line, with care: what judges a line that the quick way does not take ---------------------------------------


def read_line(line: bytes, *, where: str, left_out: Tally | None = None) -> Document:
    """The document on one line, or an error that says what is wrong with it; offsets are code points."""
    return _document(value_of(line, where=where), where, Counting.of("codepoint"), left_out, True)


def read_record(record: Any, *, where: str) -> Document:
    """The document that an object of this form stands for, checked as a line of a file is."""
    return _document(record, where, Counting.of("codepoint"), None, True)


def _document(value: Any, where: str, counting: Counting, left_out: Tally | None, annotated: bool) -> Document:
    record = mapping(value, what="a line", where=where)
    id = word(needed(record, "id", where=where), field="id", where=where)
    inside = within(where, named("document", id))
    text = needed(record, "text", where=inside, remedy="this form holds the text; predictions alone are read as such")
    if not isinstance(text, str):
        raise InputError("'text' must be a text", where=inside, got=kind(text), remedy="write it in quotes")
    if left_out is not None:
        left_out.update(f"document {shown_key(key)}" for key in record if key not in _DOCUMENT_KEYS)
    about: dict[str, Any] = {key: optional(record, key, where=inside) for key in ABOUT}
    about["groups"] = groups_of(record.get("groups"), where=inside)
    marked = _marked(record, inside, left_out, annotated)
    return build(id, text, marked, where=where, counting=counting, about=about)


def _marked(
    record: dict[str, Any], where: str, left_out: Tally | None, annotated: bool
) -> list[Marked] | dict[str, list[Marked]]:
    if "layers" in record:
        if "spans" in record:
            raise InputError("either 'spans' or 'layers' was expected", where=where, got="both", remedy="keep one")
        layers = mapping(record["layers"], what="'layers'", where=where)
        if not layers:
            raise InputError("'layers' must name an annotator", where=where, got="none", remedy="use 'spans'")
        names = [word(name, field="layers", where=where) for name in layers]
        found = [listing(layers[name], field="layers", where=where) for name in names]
        return {name: spans_of(spans, where=where, left_out=left_out) for name, spans in zip(names, found, strict=True)}
    if "spans" not in record and not annotated:
        return []
    remedy = "give an empty list where there is nothing to mask; a document that nobody annotated is no gold"
    spans = needed(record, "spans", where=where, remedy=remedy)
    return spans_of(listing(spans, field="spans", where=where), where=where, left_out=left_out)


def spans_of(spans: list[Any], *, where: str, left_out: Tally | None) -> list[Marked]:
    """Spans of one document as the file has them, their keys and types checked."""
    return [_span(value, f"{where}, span {place}", left_out) for place, value in enumerate(spans)]


def _span(value: Any, where: str, left_out: Tally | None) -> Marked:
    record = mapping(value, what="a span", where=where)
    known_keys(record, (*_SPAN_KEYS, *_OTHER_SPELLINGS, *_PASSED_OVER), what="a span", where=where)
    for key in _PASSED_OVER:
        if left_out is not None and key in record:
            left_out[f"span key '{key}'"] += 1
    record = {_OTHER_SPELLINGS.get(key, key): content for key, content in record.items()}
    start, end = (offset(needed(record, key, where=where), field=key, where=where) for key in ("start", "end"))
    span = Span(
        start,
        end,
        word(needed(record, "label", where=where), field="label", where=where, numbers=False),
        subtype=optional(record, "subtype", where=where),
        entity=optional(record, "entity", where=where),
        identifier=identifier_of(record.get("identifier"), field="identifier", where=where),
    )
    return Marked(span, surface_of(record.get("text"), field="text", where=where))


def no_documents(path: Path) -> InputError:
    """What is said of an empty file."""
    return InputError(
        "a document on every line was expected", where=path.name, got="an empty file", remedy="check the path"
    )
