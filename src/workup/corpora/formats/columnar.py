"""Parquet files and DuckDB databases, read through arrow tables. Types come from the file and are not guessed at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workup.corpora.formats.columns import Column
from workup.corpora.formats.fenced_duckdb import LONGEST_QUERY, opened
from workup.corpora.formats.frames import read_frame
from workup.errors import InputError, MissingExtra


def read_parquet(path: Path) -> dict[str, Column]:
    """A Parquet file."""
    path = Path(path)
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow", extra="tables", purpose="reading Parquet files") from None
    try:
        table = pyarrow.parquet.ParquetFile(path).read()
    except Exception as error:  # pyarrow's own errors, OSError, and others where a page is damaged
        raise _unreadable(path, "a Parquet file", error) from None
    return _with_rows(table, path.name)


def read_duckdb(
    path: Path,
    *,
    query: str = "",
    largest_unpacked: int = 0,
    query_seconds: float = LONGEST_QUERY,
) -> dict[str, Column]:
    """The only table of a DuckDB database, or the answer to a query on it; see fenced_duckdb.py for what is let in."""
    path = Path(path)
    with opened(path, largest=largest_unpacked, seconds=query_seconds) as database:
        table = database.table(query)
    return _with_rows(table, path.name)


def columns_of_duckdb(path: Path, *, query: str = "", query_seconds: float = LONGEST_QUERY) -> list[str]:
    """The names of the columns that `read_duckdb` would give; the query is not run."""
    with opened(Path(path), seconds=query_seconds) as database:
        return database.columns(query)


def _with_rows(table: Any, where: str) -> dict[str, Column]:
    if table.num_rows == 0 or table.num_columns == 0:
        raise InputError("columns and rows were expected", where=where, got="an empty table", remedy="give some data")
    try:
        return read_frame(table)
    except InputError as error:
        raise InputError(error.expected, where=where, got=error.got, remedy=error.remedy) from None
    except UnicodeDecodeError:  # Parquet calls bytes text without looking at them
        raise InputError("text in UTF-8 was expected", where=where, got="bytes that are none") from None


def _unreadable(path: Path, kind: str, error: Exception) -> InputError:
    return InputError(
        f"{kind} was expected",
        where=path.name,
        got=f"a file that cannot be read as one ({type(error).__name__})",
        remedy="check that the file is whole and that its ending says what it is",
    )
