"""Parquet files and DuckDB databases, read through arrow tables. Types come from the file and are not guessed at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from workup.corpora.formats.tables.columns import Column, check_width, native_column
from workup.corpora.formats.tables.fenced_duckdb import LONGEST_QUERY, opened
from workup.corpora.formats.tables.frames import read_frame
from workup.errors import InputError, MissingExtra
from workup.files.unpacking import limit, too_large

_CELL = 8  # bytes of a number, and of the place of a text
_BATCH = 8192  # rows between two looks at how much has come


def read_parquet(path: Path, *, largest_unpacked: int = 0) -> dict[str, Column]:
    """A Parquet file."""
    path = Path(path)
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise MissingExtra("pyarrow", extra="tables", purpose="reading Parquet files") from None
    try:
        table = _unpacked(path, largest_unpacked)
    except InputError:
        raise
    except Exception as error:  # pyarrow's own errors, OSError, and others where a page is damaged
        raise unreadable(path, "a Parquet file", error) from None
    return _with_rows(table, path.name)


def _unpacked(path: Path, largest: int) -> Any:
    """The arrow table, built batch by batch within the limit.

    A ratio says nothing here: a column of one value is packed into a few bytes whatever its length. Text is read as
    references to its dictionary and its size counted before it is written out, since one long text may be referred to
    by every row.
    """
    import pyarrow
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        schema, about = file.schema_arrow, file.metadata
    check_width(len(schema), where=path.name)
    stated = sum(about.row_group(place).total_byte_size for place in range(about.num_row_groups))
    if max(stated, about.num_rows * len(schema) * _CELL) > limit(largest):
        raise too_large(where=path.name, largest=largest)
    texts = [field.name for field in schema if is_text(field.type)]
    batches, size = [], 0
    with pyarrow.parquet.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(batch_size=_BATCH):
            size += sum(map(_size, batch.columns))
            if size > limit(largest):
                raise too_large(where=path.name, largest=largest)
            columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
            batches.append(pyarrow.RecordBatch.from_arrays(columns, schema=schema))
    return pyarrow.Table.from_batches(batches, schema=schema)


def is_text(kind: Any) -> bool:
    """Whether a type of arrow is text, or bytes."""
    from pyarrow import types

    return any(test(kind) for test in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary))


def _size(column: Any) -> int:
    """Bytes of a column once every cell is written out."""
    import pyarrow
    import pyarrow.compute

    if not pyarrow.types.is_dictionary(column.type) or not is_text(column.type.value_type):
        return int(column.nbytes)
    lengths = pyarrow.compute.binary_length(column.dictionary).take(column.indices)
    return int(pyarrow.compute.sum(lengths).as_py() or 0) + _CELL * len(column)


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
        return _columns(table)
    except InputError as error:
        raise InputError(error.expected, where=where, got=error.got, remedy=error.remedy) from None
    except UnicodeDecodeError:  # Parquet calls bytes text without looking at them
        raise InputError("text in UTF-8 was expected", where=where, got="bytes that are none") from None


def _columns(table: Any) -> dict[str, Column]:
    """Every column; each different text is looked at once, and rows that say the same share it."""
    names = [field.name for field in table.schema]
    texts = [field.name for field in table.schema if is_text(field.type)]
    if len(set(names)) < len(names) or not texts:
        return read_frame(table)
    plain = read_frame(table.drop_columns(texts)) if len(texts) < len(names) else {}
    return {name: plain[name] if name in plain else _texts(table.column(name)) for name in names}


def _texts(column: Any) -> Column:
    coded = column.dictionary_encode()
    different = coded.chunk(0).dictionary.to_pylist()
    rows = [chunk.indices.fill_null(len(different)).to_numpy(zero_copy_only=False) for chunk in coded.chunks]
    found: Column = native_column([*different, None])[np.concatenate(rows)]
    return found


def unreadable(path: Path, kind: str, error: Exception) -> InputError:
    """What is said of a file that its library cannot read; what the library says may quote the file."""
    return InputError(
        f"{kind} was expected",
        where=path.name,
        got=f"a file that cannot be read as one ({type(error).__name__})",
        remedy="check that the file is whole and that its ending says what it is",
    )
