"""A corpus from one format into another, document by document, whole or not at all. Knows formats by name only."""

from __future__ import annotations

from collections.abc import Iterator
from os.path import exists
from pathlib import Path
from typing import Any

from workup.corpora.formats.spans.any_format import (
    TITLES,
    SpanFormat,
    find_format,
    read_documents,
    recognise,
    span_formats,
)
from workup.documents.document import Document
from workup.documents.records import Tally, all_spans
from workup.errors import InputError


def convert_corpus(
    source: Path, out: Path, *, read_as: str = "", write_as: str = "", offsets: str = "codepoint", trim: str = ""
) -> dict[str, Any]:
    """Convert, and answer what was done: formats, counts, what was not taken, and what had no place in the new form."""
    source, out = Path(source), Path(out)
    reader = chosen_format(source, read_as)
    writer = find_format(write_as) if write_as else _by_ending(out)
    _check_apart(source, out)
    taken, placed, counts = Tally(), Tally(), Tally()

    def counted() -> Iterator[Document]:
        found = read_documents(source, format=read_as or reader.name, offsets=offsets, trim=trim, left_out=taken)
        for document in found:
            counts["documents"] += 1
            counts["spans"] += sum(1 for _ in all_spans(document))
            yield document

    try:
        writer.write(counted(), out, left_out=placed)
    except OSError as error:
        raise InputError(
            "the output must be a place that can be written",
            where=str(out),
            got=error.strerror or type(error).__name__,
            remedy="name a place in a folder that exists and that you may write to",
        ) from None
    return {
        "from": reader.name,
        "to": writer.name,
        "documents": counts["documents"],
        "spans": counts["spans"],
        "titles_cut": taken.pop(TITLES, 0),
        "not_taken": dict(sorted(taken.items())),
        "no_place": dict(sorted(placed.items())),
    }


def chosen_format(path: Path, name: str) -> SpanFormat:
    """The format that is named, or the one that recognises the file; a path that leads nowhere is an error first."""
    if name and exists(path):
        return find_format(name)
    return recognise(path)


def _by_ending(path: Path) -> SpanFormat:
    formats = span_formats()
    found = [one for one in formats.values() if path.name.lower().endswith(one.endings)]
    if len(found) == 1:
        return found[0]
    raise InputError(
        "the format to write must be clear",
        where=path.name,
        got=f"a name that {' and '.join(one.name for one in found)} share" if found else "a name that tells none",
        remedy=f"name it with --to, one of {', '.join(formats)}",
    )


def _check_apart(source: Path, out: Path) -> None:
    """A corpus is not written over itself."""
    if source.resolve() == out.resolve():
        raise InputError(
            "the output must be apart from what is read",
            where=str(out),
            got="the same place",
            remedy="name another place",
        )
