"""Label Studio: its JSON export read, and a list of tasks written that it imports. One annotation is one annotator.

Old releases counted offsets in UTF-16 units, as a browser does (`offsets="utf16"`); later ones count characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from workup.files.jsonlines import kind

name = "label-studio"
endings = (".json",)


def recognises(path: Path) -> bool:
    """Whether the first item is a task with its data and a list of annotations."""
    item = first_item(path)
    return isinstance(item.get("data"), dict) and isinstance(item.get("annotations"), list)


def read(path: Path, *, offsets: str = "codepoint", left_out: Tally | None = None) -> Iterator[Document]:
    """Documents in the order of the tasks; several annotations of a task become layers.

    A task that nobody annotated is refused: taken for a text without anything to mask, it would be gold that is wrong.
    """
    path, counting, ids = Path(path), Counting.of(offsets), Ids()
    tally = Tally() if left_out is None else left_out
    for number, where, record in records(path):
        data = mapping(
            needed(record, "data", where=where, remedy="export as JSON, not as JSON-MIN"), what="'data'", where=where
        )
        known = next((one for one in (data.get("id"), record.get("id")) if isinstance(one, (str, int)) and one), number)
        id = word(known, field="id", where=where)
        inside = within(where, named("document", id))
        ids.add(id, where=where)
        text = needed(data, "text", where=inside, remedy="name the field with the text 'text' in Label Studio")
        if not isinstance(text, str):
            raise InputError("'text' must be a text", where=inside, got=kind(text), remedy="write it in quotes")
        about: dict[str, Any] = {key: optional(data, key, where=inside) for key in ABOUT}
        about["groups"] = groups_of(data.get("groups"), where=inside)
        marked = _annotations(record, inside, tally)
        yield build(id, text, marked, where=where, counting=counting, about=about)


def _annotations(record: Mapping[str, Any], where: str, tally: Tally) -> Sequence[Marked] | Mapping[str, list[Marked]]:
    found = listing(record.get("annotations", []), field="annotations", where=where)
    given = [mapping(one, what="an annotation", where=where) for one in found]
    valid = [one for one in given if not one.get("was_cancelled")]
    tally.update({"cancelled annotation": len(given) - len(valid)} if len(given) > len(valid) else {})
    tally.update({"prediction of a task": len(record["predictions"])} if record.get("predictions") else {})
    if not valid:
        raise InputError(
            "a finished annotation was expected for every task",
            where=where,
            got="none",
            remedy="finish the task, or leave it out of the export",
        )
    names = _annotators(valid, mapping(record["data"], what="'data'", where=where))
    results = [listing(needed(one, "result", where=where), field="result", where=where) for one in valid]
    layers = [
        [one for at, result in enumerate(found) for one in _region(result, f"{where}, region {at}", tally)]
        for found in results
    ]
    return dict(zip(names, layers, strict=True)) if names else layers[0]


def _annotators(annotations: list[dict[str, Any]], data: Mapping[str, Any]) -> list[str]:
    """A name for each annotation, or none where there is one alone.

    Label Studio numbers its users; an address is not taken. What we wrote keeps the names beside the text, since Label
    Studio imports no annotator whom it does not know."""
    users = [one.get("completed_by") for one in annotations]
    written = data.get("layers")
    if isinstance(written, list) and len(written) == len(users) and not any(users):
        return [str(one) for one in written]
    if len(users) == 1:
        return []
    numbers = [user.get("id") if isinstance(user, dict) else user for user in users]
    names: list[str] = []
    for place, number in enumerate(numbers, start=1):
        name = f"annotator {number}" if isinstance(number, int) else f"annotation {place}"
        names.append(name if name not in names else f"{name}, annotation {place}")
    return names


def _region(value: Any, where: str, tally: Tally) -> Iterator[Marked]:
    record = mapping(value, what="a region", where=where)
    if record.get("type") != "labels":
        tally["result that is no labelled stretch of text"] += 1
        return
    content = mapping(needed(record, "value", where=where), what="'value'", where=where)
    start, end = (offset(needed(content, key, where=where), field=key, where=where) for key in ("start", "end"))
    labels = listing(needed(content, "labels", where=where), field="labels", where=where)
    if not labels:
        raise InputError("a label was expected", where=where, got="none", remedy="label the region or remove it")
    meta = record.get("meta") if isinstance(record.get("meta"), dict) else {}
    surface = surface_of(content.get("text"), field="text", where=where)
    for label in labels:
        span = Span(
            start,
            end,
            word(label, field="labels", where=where, numbers=False),
            subtype=optional(meta or {}, "subtype", where=where),
            entity=optional(meta or {}, "entity", where=where),
            identifier=identifier_of((meta or {}).get("identifier"), field="identifier", where=where),
        )
        yield Marked(span, surface)


def write(documents: Iterable[Document], path: Path, *, left_out: Tally | None = None) -> None:
    """A list of tasks, one annotation per annotator, for the labelling setup <Labels name="label" toName="text">."""
    write_list(path, _records(documents, left_out))


def _records(documents: Iterable[Document], left_out: Tally | None) -> Iterator[tuple[Document, dict[str, Any]]]:
    ids = Ids()
    for number, document in enumerate(documents, start=1):
        ids.add(document.id, where=f"document {number}")
        count_left_out(document, left_out, keeps=(*ABOUT, "groups", "subtype", "entity", "identifier"))
        data: dict[str, Any] = {"text": document.text, "id": document.id}
        data |= {key: getattr(document, key) for key in ABOUT if getattr(document, key) is not None}
        if document.groups:
            data["groups"] = dict(document.groups)
        if document.layers:
            data["layers"] = list(document.layers)
        annotators = document.layers.values() or [document.spans]
        annotations = [{"result": _results(spans, document.text)} for spans in annotators]
        yield document, {"data": data, "annotations": annotations}


def _results(spans: Sequence[Span], text: str) -> list[dict[str, Any]]:
    return [_result(place, span, text) for place, span in enumerate(spans)]


def _result(place: int, span: Span, text: str) -> dict[str, Any]:
    value = {"start": span.start, "end": span.end, "text": text[span.start : span.end], "labels": [span.label]}
    record = {"id": f"r{place}", "from_name": "label", "to_name": "text", "type": "labels", "value": value}
    meta = {key: getattr(span, key) for key in ("subtype", "entity", "identifier") if getattr(span, key) is not None}
    return {**record, "meta": meta} if meta else record
