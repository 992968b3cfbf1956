"""What the formats that are one JSON list share: reading item by item, and writing the list whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from workup.documents.document import Document
from workup.documents.records import check_whole, mapping
from workup.errors import InputError, named
from workup.files.disk import replace_whole
from workup.files.jsonlines import items


def records(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Number from 1, place and content of every item."""
    content = items(path)
    if not content:
        raise InputError("a list of documents was expected", where=path.name, got="an empty one", remedy="check it")
    for number, item in enumerate(content, start=1):
        where = f"{path.name}, item {number}"
        yield number, where, mapping(item, what="an item", where=where)


def write_list(path: Path, found: Iterable[tuple[Document, dict[str, Any]]]) -> None:
    """A JSON list with an item on each line, put in place whole."""

    def texts() -> Iterator[str]:
        before = "[\n"
        for number, (document, record) in enumerate(found, start=1):
            line = json.dumps(record, ensure_ascii=False, allow_nan=False)
            check_whole(line, field="its text", where=named("document", document.id, number=number))
            yield before + line
            before = ",\n"
        yield "\n]\n" if before != "[\n" else "[]\n"

    replace_whole(Path(path), texts())
