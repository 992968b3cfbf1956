"""One way in for every table: a path, read by its ending or a named format, or a frame already in memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from workup import plugins
from workup.corpora.formats.tables.columnar import columns_of_duckdb
from workup.corpora.formats.tables.columns import Column
from workup.corpora.formats.tables.frames import read_frame
from workup.errors import InputError

_ENDINGS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".csv.gz": "csv",
    ".txt.gz": "csv",
    ".tsv.gz": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".duckdb": "duckdb",
    ".db": "duckdb",
}
_OF_SPANS = ("spans", "predictions", "span-batches")


def read_table(
    source: Any,
    *,
    format: str = "",
    sheet: str = "",
    query: str = "",
    decimal: str = "",
    largest_unpacked: int = 0,
    query_seconds: float = 0,
    rows: bool = True,
) -> dict[str, Column]:
    """The columns of a file or of a frame in memory, in the form of `workup.task.Table`.

    `sheet` chooses a sheet of an Excel workbook, `query` what to read from a database, and `decimal` says which sign
    ('.' or ',') a text file puts before decimals where the file alone cannot tell. `largest_unpacked` and
    `query_seconds` are limits where they are not 0. Without `rows`, nothing is run: the columns of a database come
    empty, and no other file is read.
    """
    limits = {"largest_unpacked": largest_unpacked, "query_seconds": query_seconds}
    asked = {"sheet": sheet, "query": query, "decimal": decimal, **limits}
    given = {key: value for key, value in asked.items() if value}
    if not isinstance(source, (str, os.PathLike)):
        if given or format:
            setting = "format" if format else next(iter(given))
            raise InputError(
                f"a table in memory takes no setting '{setting}'", where="table in memory", remedy="leave it out"
            )
        return read_frame(source)
    path = Path(source)
    chosen = format if format not in ("", "table") else _format_of(path)
    # Formats of spans are objects with a read of their own, or functions that give one document after the other.
    if chosen in _OF_SPANS or not callable(plugins.find("formats", chosen)):
        raise _no_table(path, chosen, got="a format of documents with spans")
    _check_file(path)
    if not rows:
        if chosen != "duckdb":
            return {}
        return {name: np.zeros(0) for name in columns_of_duckdb(path, query=query)}
    table = plugins.make("formats", chosen, given, where=path.name, context={"path": path})
    if not isinstance(table, Mapping):
        raise _no_table(path, chosen, got=f"a format that gives a {type(table).__name__}")
    return dict(table)


def _no_table(path: Path, format: str, *, got: str) -> InputError:
    return InputError(
        "a format of tables was expected, as risk studies, splits and lists of sites need",
        where=f"{path.name}, format '{format[:80]}'",
        got=got,
        remedy=f"use one of {', '.join(sorted(set(_ENDINGS.values())))}; documents are for studies with task: spans",
    )


def _format_of(path: Path) -> str:
    name = path.name.lower()
    for ending in sorted(_ENDINGS, key=len, reverse=True):
        if name.endswith(ending):
            return _ENDINGS[ending]
    if path.is_dir():
        _check_file(path)
    raise InputError(
        "a table in a known format was expected",
        where=path.name,
        got=f"the ending '{path.suffix}'" if path.suffix else "a name without an ending",
        remedy=f"use one of {', '.join(_ENDINGS)}, or name the format ({', '.join(sorted(set(_ENDINGS.values())))})",
    )


def _check_file(path: Path) -> None:
    known = ", ".join(_ENDINGS)
    if path.is_dir():
        raise InputError(
            "a file with a table was expected",
            where=str(path),
            got="a directory",
            remedy=f"give one file in it; known endings are {known}",
        )
    if not path.exists():
        beside = path.parent.name or "the working directory"
        raise InputError(
            "a file with a table was expected",
            where=str(path),
            got=f"no such file in {beside}" if path.parent.is_dir() else f"no directory '{path.parent}'",
            remedy=f"check the path; known endings are {known}",
        )
    if not path.is_file():  # to open a pipe would wait for its writer
        raise InputError(
            "a file with a table was expected",
            where=str(path),
            got="something that is no plain file",
            remedy="write what it gives into a file",
        )
