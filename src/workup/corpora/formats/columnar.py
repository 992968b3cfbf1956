"""Parquet files and DuckDB databases, read through arrow tables. Types come from the file and are not guessed at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workup.corpora.formats.columns import Column
from workup.corpora.formats.frames import read_frame
from workup.errors import InputError, MissingExtra, WorkupError


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


def read_duckdb(path: Path, *, query: str = "") -> dict[str, Column]:
    """The only table of a DuckDB database, or the answer to a query on it; the database is opened for reading only."""
    path = Path(path)
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingExtra(error.name or "duckdb", extra="tables", purpose="reading DuckDB databases") from None
    try:
        connection = duckdb.connect(str(path), read_only=True)
    except Exception as error:  # a damaged file raises more than duckdb.Error
        raise _unreadable(path, "a DuckDB database", error) from None
    with connection:
        try:
            asked = query or f'select * from "{_only_table(connection, path.name)}"'
            relation = connection.sql(asked)
            table = None if relation is None else relation.to_arrow_table()
        except (duckdb.ParserException, duckdb.CatalogException, duckdb.BinderException) as error:
            # These three speak of the query and the names in it, never of rows.
            raise InputError(
                "the query cannot be run", where=path.name, got=str(error).splitlines()[0], remedy="mend the query"
            ) from None
        except WorkupError:
            raise
        except Exception as error:
            raise InputError(
                "the query cannot be run", where=path.name, got=type(error).__name__, remedy="try it in DuckDB itself"
            ) from None
    if table is None:
        raise InputError("a query that gives rows was expected", where=path.name, remedy="write it as select … from …")
    return _with_rows(table, path.name)


def _only_table(connection: Any, where: str) -> str:
    tables = "select table_name from information_schema.tables where table_schema = 'main' order by 1"
    names = [str(row[0]) for row in connection.execute(tables).fetchall()]
    if len(names) != 1:
        raise InputError(
            "a database with one table was expected",
            where=where,
            got=f"{len(names)} tables: {', '.join(names[:20])}" if names else "no table",
            remedy="say what to read with the setting 'query', such as select * from one_of_them",
        )
    return names[0].replace('"', '""')


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
