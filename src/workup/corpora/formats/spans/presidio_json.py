"""The JSON of presidio-evaluator: a list of samples with `full_text` and spans. Samples have no ids of their own.

The id and what else is known of a document are written into `metadata`, which presidio-evaluator passes on, and read
from there again; a sample without them gets the name of the file and its number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from workup.corpora.formats.spans.json_lists import records, write_list
from workup.corpora.formats.spans.sniff import first_item
from workup.documents.batch import ABOUT
from workup.documents.document import Document, Span
from workup.documents.offsets import Counting
from workup.documents.records import (
    Ids,
    Marked,
    Tally,
    build,
    count_left_out,
    groups_of,
    listing,
    mapping,
    needed,
    offset,
    one_list,
    optional,
    surface_of,
    word,
)
from workup.errors import InputError, named
from workup.files.jsonlines import kind

name = "presidio"
endings = (".json",)

_PASSED_OVER = ("tokens", "tags", "create_tags_from_span", "scores")


def recognises(path: Path) -> bool:
    """Whether the first item has a `full_text`."""
    return "full_text" in first_item(path)


def read(path: Path, *, offsets: str = "codepoint", left_out: Tally | None = None) -> Iterator[Document]:
    """Documents in the order of the list."""
    path, counting, ids = Path(path), Counting.of(offsets), Ids()
    for number, where, record in records(path):
        metadata = record.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        own = isinstance(metadata.get("id"), str) and metadata["id"]
        id = word(metadata["id"], field="id", where=where) if own else f"{path.name.partition('.')[0]}-{number}"
        ids.add(id, where=where)
        text = needed(record, "full_text", where=where)
        if not isinstance(text, str):
            raise InputError("'full_text' must be a text", where=where, got=kind(text), remedy="write it in quotes")
        spans = listing(needed(record, "spans", where=where), field="spans", where=where)
        marked = [_span(span, f"{where}, span {place}") for place, span in enumerate(spans)]
        about: dict[str, Any] = {key: optional(metadata, key, where=where) for key in ABOUT} if own else {}
        if own:
            about["groups"] = groups_of(metadata.get("groups"), where=where)
        if left_out is not None:
            left_out.update(f"'{key}' of a sample" for key in _PASSED_OVER if record.get(key))
        yield build(id, text, marked, where=where, counting=counting, about=about)


def _span(value: Any, where: str) -> Marked:
    record = mapping(value, what="a span", where=where)
    start, end = (
        offset(needed(record, key, where=where), field=key, where=where) for key in ("start_position", "end_position")
    )
    label = word(needed(record, "entity_type", where=where), field="entity_type", where=where, numbers=False)
    return Marked(Span(start, end, label), surface_of(record.get("entity_value"), field="entity_value", where=where))


def write(documents: Iterable[Document], path: Path, *, left_out: Tally | None = None) -> None:
    """One list of samples."""
    write_list(path, _records(documents, left_out))


def _records(documents: Iterable[Document], left_out: Tally | None) -> Iterator[tuple[Document, dict[str, Any]]]:
    ids = Ids()
    for number, document in enumerate(documents, start=1):
        ids.add(document.id, where=f"document {number}")
        one_list(document, format="Presidio's JSON", where=named("document", document.id, number=number))
        count_left_out(document, left_out, keeps=(*ABOUT, "groups"))
        metadata: dict[str, Any] = {"id": document.id}
        metadata |= {key: getattr(document, key) for key in ABOUT if getattr(document, key) is not None}
        if document.groups:
            metadata["groups"] = dict(document.groups)
        spans = [
            {
                "entity_type": span.label,
                "entity_value": document.text[span.start : span.end],
                "start_position": span.start,
                "end_position": span.end,
            }
            for span in document.spans
        ]
        yield (
            document,
            {"full_text": document.text, "masked": None, "spans": spans, "template_id": None, "metadata": metadata},
        )
