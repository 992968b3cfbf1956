"""From what a file says of a document to a checked Document: types, offsets, surfaces, ids. Knows no file format."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workup.documents.document import IDENTIFIERS, Document, Span, check_spans
from workup.documents.offsets import Counting, to_codepoints
from workup.errors import InputError, named, near, within
from workup.files.jsonlines import kind

Tally = Counter[str]  # what a reader or writer left out, by name, so that nothing vanishes unsaid

_LARGEST = 2**31 - 1  # what a column of offsets can hold
_PLAIN_KEY = re.compile(r"[a-z][a-z_]{0,39}")


@dataclass(frozen=True, slots=True)
class Marked:
    """A span as the file has it: offsets in the file's own counting, and the surface where it is written down."""

    span: Span
    surface: str | None = None


def build(
    id: str,
    text: str,
    marked: Sequence[Marked] | Mapping[str, Sequence[Marked]],
    *,
    where: str,
    counting: Counting,
    about: Mapping[str, Any] | None = None,
    fold: Callable[[str], str] | None = None,
) -> Document:
    """The document with its spans checked; a mapping holds one list of spans per annotator.

    `fold` is applied to both sides where the file cannot hold a surface as it is (line ends in BRAT). `where` names
    the file, and stands before what `check_spans` says of document and span.
    """
    check_whole(text, field="text", where=within(where, named("document", id)))
    try:
        if isinstance(marked, Mapping):
            layers = {
                name: _checked(id, text, found, counting=counting, fold=fold, annotator=(number, name))
                for number, (name, found) in enumerate(marked.items(), start=1)
            }
            return Document(id, text, layers=layers, **(about or {}))
        return Document(id, text, _checked(id, text, marked, counting=counting, fold=fold), **(about or {}))
    except InputError as error:
        raise located(error, where) from None


def _checked(
    id: str,
    text: str,
    marked: Sequence[Marked],
    *,
    counting: Counting,
    fold: Callable[[str], str] | None,
    annotator: tuple[int, str] | None = None,
) -> tuple[Span, ...]:
    if annotator is not None:
        try:
            return _checked(id, text, marked, counting=counting, fold=fold)
        except InputError as error:
            raise located(error, named("annotator", annotator[1], number=annotator[0])) from None
    spans, document = [one.span for one in marked], id
    if not counting.plain:
        pairs = to_codepoints(text, [(s.start, s.end) for s in spans], counting=counting, document=document)
        spans = [replace(span, start=start, end=end) for span, (start, end) in zip(spans, pairs, strict=True)]
    surfaces = [one.surface for one in marked]
    if fold is not None:
        surfaces = [
            None if surface is None or fold(text[span.start : span.end]) == fold(surface) else surface
            for span, surface in zip(spans, surfaces, strict=True)
        ]
    check_spans(text, spans, document=document, surfaces=surfaces)
    return tuple(spans)


def located(error: InputError, where: str) -> InputError:
    """The same error with the file before the place it names."""
    return InputError(error.expected, where=within(where, error.where), got=error.got, remedy=error.remedy)


class Ids:
    """Ids seen so far: a second document under one id would be scored as the first."""

    def __init__(self) -> None:
        self._places: dict[str, str] = {}

    def add(self, id: str, *, where: str) -> None:
        """Refuse an id that stood elsewhere."""
        if id in self._places:
            raise InputError(
                "every document must have an id of its own",
                where=within(where, named("document", id)),
                got=f"the id of {self._places[id].rpartition(', ')[2]} again",
                remedy="rename or remove one of them",
            )
        self._places[id] = where


# ---- single values --------------------------------------------------------------------------------------------------


def mapping(value: Any, *, what: str, where: str) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise InputError(f"{what} must be a JSON object", where=where, got=kind(value), remedy="check the format")
    return value


def listing(value: Any, *, field: str, where: str) -> list[Any]:
    """A JSON list."""
    if not isinstance(value, list):
        raise InputError(f"'{field}' must be a list", where=where, got=kind(value), remedy="check the format")
    return value


def needed(record: Mapping[str, Any], key: str, *, where: str, remedy: str = "") -> Any:
    """The value of a key that must be there."""
    if key not in record:
        raise InputError(
            f"the key '{key}' was expected", where=where, got="a record without it", remedy=remedy or "add it"
        )
    return record[key]


def offset(value: Any, *, field: str, where: str) -> int:
    """A whole number; true, "3" and 3.0 are none, so that no reader guesses what was meant."""
    if isinstance(value, bool) or not isinstance(value, int):
        got = "a number with a decimal point" if isinstance(value, float) else kind(value)
        raise InputError(f"'{field}' must be a whole number", where=where, got=got, remedy="write it as in 12")
    if not -_LARGEST <= value <= _LARGEST:
        raise InputError(
            f"'{field}' must be a place in a text", where=where, got="a number beyond two thousand million"
        )
    return value


def word(value: Any, *, field: str, where: str, numbers: bool = True) -> str:
    """A text that is not empty; whole numbers are taken as their digits, where ids may be numbers."""
    if numbers and isinstance(value, int) and not isinstance(value, bool):
        if abs(value) >= 10**40:
            raise InputError(f"'{field}' must be a text or a number", where=where, got="one of more than 40 digits")
        value = str(value)
    if not isinstance(value, str):
        raise InputError(f"'{field}' must be a text", where=where, got=kind(value), remedy="write it in quotes")
    if not value:
        raise InputError(f"'{field}' must not be empty", where=where, got="an empty text", remedy="fill it in")
    check_whole(value, field=field, where=where)
    return value


def optional(record: Mapping[str, Any], key: str, *, where: str) -> str | None:
    """A text that may be absent or null."""
    value = record.get(key)
    return None if value is None else word(value, field=key, where=where)


def surface_of(value: Any, *, field: str, where: str) -> str | None:
    """The text that a file writes down under a span; null is none."""
    if value is not None and not isinstance(value, str):
        raise InputError(f"'{field}' must be the text under the span", where=where, got=kind(value))
    return value


def identifier_of(value: Any, *, field: str, where: str) -> str | None:
    """direct, quasi, no_mask or unknown, in capitals or not."""
    if value is None:
        return None
    name = value.lower() if isinstance(value, str) else ""
    if name not in IDENTIFIERS:
        raise InputError(
            f"'{field}' must be one of {', '.join(IDENTIFIERS)}",
            where=where,
            got="another text" if isinstance(value, str) else kind(value),
            remedy="use one of them, or leave it out",
        )
    return name


def check_whole(text: str, *, field: str, where: str) -> None:
    """Half of a surrogate pair is no character: it cannot be written again, and every count behind it is in doubt."""
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            "whole characters were expected",
            where=where,
            got=f"half of a surrogate pair in '{field}', at character {error.start}",
            remedy="write the text anew from its source, as UTF-8",
        ) from None


def known_keys(record: Mapping[str, Any], known: Collection[str], *, what: str, where: str) -> None:
    """Refuse a key that is not known: a misspelt one would be lost without a word."""
    for key in record:
        if key not in known:
            raise InputError(
                f"{what} holds known keys only",
                where=where,
                got=f"the {shown_key(key)}",
                remedy=near(key, known) if _PLAIN_KEY.fullmatch(key) else f"use {', '.join(known)}",
            )


def shown_key(key: str) -> str:
    """A key by its name where it looks like one; a name of a person never does."""
    return f"key '{key}'" if _PLAIN_KEY.fullmatch(key) else "key with a name that is not shown"


def groups_of(value: Any, *, where: str) -> dict[str, Any]:
    """Groups of a document: names with plain values."""
    if value is None:
        return {}
    record = mapping(value, what="'groups'", where=where)
    for name, level in record.items():
        check_whole(name, field="groups", where=where)
        if isinstance(level, (dict, list)):
            raise InputError("a group must be a text, a number or null", where=where, got=kind(level))
        if isinstance(level, float) and level - level != 0:
            raise InputError("a group must be a finite number", where=where, got="an infinite one")
        if isinstance(level, str):
            check_whole(level, field="groups", where=where)
    return record


def count_left_out(document: Document, tally: Tally | None, *, keeps: Collection[str] = ()) -> None:
    """Count the fields of a document and of its spans that a format has no place for."""
    if tally is None:
        return
    for field in ("patient", "site", "time", "groups", "type", "specialty"):
        if field not in keeps and getattr(document, field):
            tally[f"'{field}' of a document"] += 1
    for span in all_spans(document):
        for field in ("subtype", "entity", "identifier", "score"):
            if field not in keeps and getattr(span, field) is not None:
                tally[f"'{field}' of a span"] += 1


def all_spans(document: Document) -> Iterable[Span]:
    """The spans of a document, those of every annotator where there are several."""
    yield from document.spans
    for spans in document.layers.values():
        yield from spans


def one_list(document: Document, *, format: str, where: str) -> None:
    """Refuse a document that several annotators worked on, for a format with room for one list of spans."""
    if document.layers:
        raise InputError(
            f"one list of spans per document was expected, as {format} keeps it",
            where=where,
            got=f"those of {len(document.layers)} annotators",
            remedy="choose a format that keeps annotators apart: spans-jsonl, tab or label-studio",
        )
