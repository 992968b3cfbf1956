"""A table whose columns are read one at a time: from Parquet each by itself, so that a wide table never is in memory.

Any other table is read whole first. Texts come as codes and names, since rows only refer to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from workup.corpora.formats.tables.columnar import is_text, unreadable
from workup.corpora.formats.tables.columns import Column, check_width, native_column
from workup.corpora.formats.tables.frames import read_frame
from workup.corpora.formats.tables.reader import read_table
from workup.errors import InputError, MissingExtra
from workup.files.unpacking import limit, too_large

_CELL = 8  # bytes of a number


class Coded(NamedTuple):
    """A column of texts: the different ones, None among them where a cell is empty, and which of them each row has."""

    different: Column
    codes: npt.NDArray[np.int64]


class HeldColumns:
    """A table in memory."""

    def __init__(self, table: Mapping[str, Column]) -> None:
        self._table = table
        self.names = list(table)
        self.rows = len(next(iter(table.values())))

    def column(self, name: str) -> Column | Coded:
        """One column."""
        column = self._table[name]
        if column.dtype.kind != "O":
            return column
        known: dict[Any, int] = {}
        codes = np.fromiter((known.setdefault(cell, len(known)) for cell in column.tolist()), np.int64, self.rows)
        return Coded(native_column(list(known)), codes)


class ParquetColumns:
    """A Parquet file, of which one column is read at a time."""

    def __init__(self, path: Path, *, largest_unpacked: int = 0) -> None:
        try:
            import pyarrow.parquet
        except ImportError:
            raise MissingExtra("pyarrow", extra="tables", purpose="reading Parquet files") from None
        self._path, self._largest = path, largest_unpacked
        try:
            with pyarrow.parquet.ParquetFile(path) as file:
                schema, self.rows = file.schema_arrow, file.metadata.num_rows
                self._metadata = file.metadata
        except Exception as error:  # pyarrow's own errors, OSError, and others where a page is damaged
            raise unreadable(path, "a Parquet file", error) from None
        check_width(len(schema), where=path.name)
        self.names = [str(name) for name in schema.names]
        if len(set(self.names)) < len(self.names):
            raise InputError("every column needs a name of its own", where=path.name, got="a name that occurs twice")
        if not self.names or not self.rows:
            raise InputError("columns and rows were expected", where=path.name, got="an empty table")
        if self.rows * _CELL > limit(largest_unpacked):
            raise too_large(where=path.name, largest=largest_unpacked)
        self._texts = [field.name for field in schema if is_text(field.type)]

    def column(self, name: str) -> Column | Coded:
        """One column; may be asked from several threads at once."""
        import pyarrow
        import pyarrow.parquet

        asked = [name] if name in self._texts else None
        try:
            # A file of its own for each call, since threads must not share a place in one.
            with pyarrow.parquet.ParquetFile(self._path, metadata=self._metadata, read_dictionary=asked) as file:
                table = file.read(columns=[name], use_threads=False)
            column = table.column(0).combine_chunks()
            if pyarrow.types.is_dictionary(column.type):
                return self._coded(column)
            return read_frame(table)[name]
        except InputError as error:
            raise InputError(error.expected, where=self._path.name, got=error.got, remedy=error.remedy) from None
        except Exception as error:
            raise unreadable(self._path, "a Parquet file", error) from None

    def _coded(self, column: Any) -> Coded:
        if column.dictionary.nbytes > limit(self._largest):
            raise too_large(where=self._path.name, largest=self._largest)
        different = column.dictionary.to_pylist()
        codes = column.indices.fill_null(len(different)).to_numpy(zero_copy_only=False).astype(np.int64)
        return Coded(native_column([*different, None]), codes)


def columns_in_turn(path: Path, *, largest_unpacked: int = 0) -> HeldColumns | ParquetColumns:
    """The columns of a table in a file, by the ending of its name."""
    if path.suffix.lower() in (".parquet", ".pq") and path.is_file():
        return ParquetColumns(path, largest_unpacked=largest_unpacked)
    return HeldColumns(read_table(path, largest_unpacked=largest_unpacked))
