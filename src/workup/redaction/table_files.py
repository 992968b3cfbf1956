"""CSV and Parquet tables as documents: each cell of text, each identifier, and the same table with both replaced.

A row is its patient's: the cells of one key share numbers, shift and surrogates. Cells that are left alone keep their
value, and in Parquet their type; a column of identifiers comes out as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from workup.documents.document import Document
from workup.errors import InputError, MissingExtra
from workup.redaction.columns import Chosen, planned

if TYPE_CHECKING:
    from workup.redaction.patient import Redacted

_KEY = "id_other"  # what a patient's key is as a value
_LARGEST = 1 << 30  # bytes of a Parquet file once it is unpacked


class TableFile:
    """A table taken apart; its subclasses know how a file holds it."""

    def __init__(self, columns: dict[str, list[str]], *, name: str, chosen: Chosen, where: str) -> None:
        self._columns = columns
        self._plans = planned(columns, chosen, where=where)
        self.plan = [one.record(number) for number, one in enumerate(self._plans, start=1)]
        self._cells: list[tuple[int, int]] = []  # column and row of each document
        key = next((number for number, one in enumerate(self._plans) if one.treated == "key"), None)
        keys = list(columns.values())[key] if key is not None else None
        documents: list[Document] = []
        whole: list[str] = []
        for number, (plan, cells) in enumerate(zip(self._plans, columns.values(), strict=True)):
            if plan.treated == "kept":
                continue
            for row, cell in enumerate(cells):
                if not cell.strip():
                    continue
                self._cells.append((number, row))
                patient = (keys[row].strip() if keys is not None else "") or f"row {row + 1} of {name}"
                documents.append(Document(f"{name}:{row + 1}:{number + 1}", cell, patient=patient))
                whole.append(_KEY if plan.treated == "key" else plan.leaf)
        self.documents, self.whole = tuple(documents), tuple(whole)

    def _redacted(self, redacted: Sequence[Redacted]) -> dict[int, list[str]]:
        """New cells of the columns in which something may change, by the column's number; a key is its pseudonym."""
        names = list(self._columns)
        new = {
            number: list(self._columns[names[number]])
            for number, one in enumerate(self._plans)
            if one.treated != "kept"
        }
        for (number, row), one in zip(self._cells, redacted, strict=True):
            pseudonym = self._plans[number].treated == "key"
            new[number][row] = one.document.patient or "" if pseudonym else one.document.text
        return new

    def changed(self, redacted: Sequence[Redacted]) -> dict[int, list[str]]:
        """Columns that hold another cell than before."""
        columns = list(self._columns.values())
        return {number: cells for number, cells in self._redacted(redacted).items() if cells != columns[number]}


class CsvFile(TableFile):
    """A table of text."""

    def __init__(self, content: bytes, *, name: str, chosen: Chosen, where: str) -> None:
        from workup.corpora.formats.tables.delimited import checked_lines, csv_records
        from workup.files.jsonlines import decoded

        text = decoded(content, where=where, whole_file=True)
        self._bom = content.startswith(b"\xef\xbb\xbf")
        text = text.removeprefix("\ufeff")
        head = text.partition("\n")[0]
        self._end = "\r\n" if head.endswith("\r") else "\n"
        self._delimiter = max("\t;,", key=head.count) if any(mark in head for mark in "\t;,") else ","
        reader = csv.reader(checked_lines(io.StringIO(text, newline=""), where), delimiter=self._delimiter, strict=True)
        records: Iterator[tuple[int, list[str]]] = csv_records(reader, where=where)
        self._names = [name.strip() for name in next(records, (0, []))[1]]
        self._rows = []
        for line, record in records:
            if len(record) != len(self._names):
                raise InputError(
                    f"{len(self._names)} cells were expected, as many as the header has",
                    where=f"{where}, line {line}",
                    got=str(len(record)),
                )
            self._rows.append(record)
        if not self._rows or len(set(self._names)) < len(self._names):
            raise InputError("a table with rows, and columns of different names, was expected", where=where)
        cells = [list(column) for column in zip(*self._rows, strict=True)]
        super().__init__(dict(zip(self._names, cells, strict=True)), name=name, chosen=chosen, where=where)

    def rewritten(self, redacted: Sequence[Redacted]) -> bytes:
        """The table with redacted cells, every other cell with its value."""
        columns = [list(column) for column in self._columns.values()]
        for number, cells in self._redacted(redacted).items():
            columns[number] = cells
        buffer = io.StringIO()
        writer = csv.writer(buffer, delimiter=self._delimiter, lineterminator=self._end)
        writer.writerow(self._names)
        writer.writerows(zip(*columns, strict=True))
        return (b"\xef\xbb\xbf" if self._bom else b"") + buffer.getvalue().encode("utf-8")


class ParquetFile(TableFile):
    """A table of columns with types."""

    def __init__(self, content: bytes, *, name: str, chosen: Chosen, where: str) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise MissingExtra("pyarrow", extra="tables", purpose="reading Parquet files") from None
        try:
            file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content))
            about = file.metadata
            size = sum(about.row_group(place).total_byte_size for place in range(about.num_row_groups))
            if max(size, 8 * about.num_rows * max(1, about.num_columns)) > _LARGEST:
                raise InputError("a table of at most 1 GB was expected", where=where, got="a larger one")
            self._table = file.read()
        except InputError:
            raise
        except Exception as error:  # pyarrow's own errors and others, where a page is damaged
            raise InputError("a Parquet file was expected", where=where, got=type(error).__name__) from None
        names = self._table.column_names
        if self._table.num_rows == 0 or len(set(names)) < len(names):
            raise InputError("a table with rows, and columns of different names, was expected", where=where)
        for number, kind in enumerate(self._table.schema.types, start=1):
            if pyarrow.types.is_nested(kind) or pyarrow.types.is_binary(kind) or pyarrow.types.is_large_binary(kind):
                raise InputError(
                    "columns of plain values were expected",
                    where=f"{where}, column {number}",
                    got="lists, objects or bytes, in which nothing can be looked for",
                    remedy="write the table without it",
                )
        columns = {name: [_text(value) for value in self._table.column(name).to_pylist()] for name in names}
        super().__init__(columns, name=name, chosen=chosen, where=where)

    def rewritten(self, redacted: Sequence[Redacted]) -> bytes:
        """The table with redacted columns as text, every other column as it is."""
        import pyarrow
        import pyarrow.parquet

        table = self._table
        for number, cells in self.changed(redacted).items():
            held = table.column(number).is_valid().to_pylist()
            values = [cell if there else None for cell, there in zip(cells, held, strict=True)]
            table = table.set_column(number, table.column_names[number], pyarrow.array(values, pyarrow.string()))
        sink = io.BytesIO()
        pyarrow.parquet.write_table(table, sink)
        return sink.getvalue()


def _text(value: Any) -> str:
    """A cell as text: nothing where it is missing, a whole number without a point."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)
