"""The Text Anonymization Benchmark: a JSON list of judgments with the mentions of each annotator, or its JSON lines.

Every annotator becomes a layer. The lines are the native form with TAB's own keys (`identifier_type`, `entity_id`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workup.corpora.formats.spans import native_jsonl
from workup.corpora.formats.spans.json_lists import records, write_list
from workup.corpora.formats.spans.sniff import first_item, first_line
from workup.documents.document import Document, Span
from workup.documents.offsets import Counting
from workup.documents.records import (
    Ids,
    Marked,
    Tally,
    build,
    count_left_out,
    identifier_of,
    listing,
    mapping,
    needed,
    offset,
    optional,
    surface_of,
    word,
)
from workup.errors import InputError, named, within
from workup.files.jsonlines import kind, lines, value_of

name = "tab"
endings = (".json",)  # to write lines, the format must be named

_ONE = "gold"  # the annotator under whom a document's one list of spans is written
_GROUPS = ("year", "country", "countries", "legal_branch")  # of `meta`; its other keys name the applicant
_LINES = (".jsonl", ".jsonl.gz", ".ndjson")


def recognises(path: Path) -> bool:
    """Whether the first item has TAB's annotations, or the first line TAB's kind of identifier."""
    annotations = first_item(path).get("annotations")
    if isinstance(annotations, dict):
        return True
    spans = first_line(path).get("spans")
    return isinstance(spans, list) and any(isinstance(span, dict) and "identifier_type" in span for span in spans)


def read(path: Path, *, offsets: str = "codepoint", left_out: Tally | None = None) -> Iterator[Document]:
    """Documents in the order of the file; `groups` holds year, country and legal branch where they are given."""
    path = Path(path)
    if path.name.lower().endswith(_LINES):
        yield from _read_lines(path, offsets, left_out)
        return
    counting, ids = Counting.of(offsets), Ids()
    for _, where, record in records(path):
        id = word(needed(record, "doc_id", where=where), field="doc_id", where=where)
        inside = within(where, named("document", id))
        ids.add(id, where=where)
        text = needed(record, "text", where=inside)
        if not isinstance(text, str):
            raise InputError("'text' must be a text", where=inside, got=kind(text), remedy="write it in quotes")
        annotations = mapping(needed(record, "annotations", where=inside), what="'annotations'", where=inside)
        if not annotations:
            raise InputError("an annotator was expected", where=inside, got="none", remedy="remove the document")
        layers = {
            word(who, field="annotations", where=inside): _mentions(found, inside, left_out)
            for who, found in annotations.items()
        }
        about = {"groups": _groups(record.get("meta"), left_out)}
        marked = layers[_ONE] if list(layers) == [_ONE] else layers
        yield build(id, text, marked, where=where, counting=counting, about=about)


def _read_lines(path: Path, offsets: str, left_out: Tally | None) -> Iterator[Document]:
    """The native reader checks; `meta` is looked at beside it, line by line."""
    metas = (value_of(line, where=path.name).get("meta") for _, line in lines(path))
    tally = Tally()
    for document, meta in zip(native_jsonl.read(path, offsets=offsets, left_out=tally), metas, strict=True):
        groups = _groups(meta, left_out)
        yield replace(document, groups={**groups, **document.groups}) if groups else document
    if left_out is not None:
        tally.pop("document key 'meta'", None)
        left_out.update(tally)


def _mentions(value: Any, where: str, left_out: Tally | None) -> list[Marked]:
    record = mapping(value, what="an annotation", where=where)
    mentions = listing(needed(record, "entity_mentions", where=where), field="entity_mentions", where=where)
    return [_mention(one, f"{where}, span {place}", left_out) for place, one in enumerate(mentions)]


def _mention(value: Any, where: str, left_out: Tally | None) -> Marked:
    record = mapping(value, what="a mention", where=where)
    start, end = (
        offset(needed(record, key, where=where), field=key, where=where) for key in ("start_offset", "end_offset")
    )
    label = word(needed(record, "entity_type", where=where), field="entity_type", where=where, numbers=False)
    if left_out is not None and record.get("confidential_status") not in (None, "NOT_CONFIDENTIAL"):
        left_out["confidential status of a mention"] += 1
    span = Span(
        start,
        end,
        label,
        subtype=optional(record, "subtype", where=where),
        entity=optional(record, "entity_id", where=where),
        identifier=identifier_of(record.get("identifier_type"), field="identifier_type", where=where),
    )
    return Marked(span, surface_of(record.get("span_text"), field="span_text", where=where))


def _groups(meta: Any, left_out: Tally | None) -> dict[str, Any]:
    if not isinstance(meta, Mapping):
        return {}
    if left_out is not None and any(key not in _GROUPS for key in meta):
        left_out["'meta' of a document, other than year, country and legal branch"] += 1
    return {key: meta[key] for key in _GROUPS if isinstance(meta.get(key), (str, int))}


def write(documents: Iterable[Document], path: Path, *, left_out: Tally | None = None) -> None:
    """One list of judgments; where the name ends in .jsonl, the native lines."""
    if Path(path).name.lower().endswith(_LINES):
        native_jsonl.write(documents, path, left_out=left_out)
        return
    write_list(path, _records(documents, left_out))


def _records(documents: Iterable[Document], left_out: Tally | None) -> Iterator[tuple[Document, dict[str, Any]]]:
    ids = Ids()
    for number, document in enumerate(documents, start=1):
        ids.add(document.id, where=f"document {number}")
        kept = all(key in _GROUPS for key in document.groups)
        count_left_out(document, left_out, keeps=("subtype", "entity", "identifier", *(("groups",) if kept else ())))
        layers = document.layers or {_ONE: document.spans}
        annotations = {
            who: {"entity_mentions": [_written(span, document, f"{who}_em{i}") for i, span in enumerate(spans, 1)]}
            for who, spans in layers.items()
        }
        meta = {key: level for key, level in document.groups.items() if key in _GROUPS}
        yield document, {"doc_id": document.id, "text": document.text, "annotations": annotations, "meta": meta}


def _written(span: Span, document: Document, mention: str) -> dict[str, Any]:
    record: dict[str, Any] = {
        "entity_type": span.label,
        "entity_mention_id": f"{document.id}_{mention}",
        "start_offset": span.start,
        "end_offset": span.end,
        "span_text": document.text[span.start : span.end],
    }
    if span.identifier is not None:
        record["identifier_type"] = span.identifier.upper()
    if span.entity is not None:
        record["entity_id"] = span.entity
    if span.subtype is not None:
        record["subtype"] = span.subtype
    return record
