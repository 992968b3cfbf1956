"""Excel workbooks: one sheet with the column names in its first row. Cells keep the types the workbook gives them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workup.corpora.formats.tables.columns import (
    MISSING_CELLS,
    Column,
    drop_empty,
    header_names,
    native_column,
    pack,
    text_columns,
)
from workup.errors import InputError, MissingExtra, WorkupError, near, visible
from workup.files.unpacking import check_zip, limit, too_large

_MOST_ROWS = 1_048_576
_CELL = 16  # bytes that an empty cell takes here, in its row and in its column


def read_excel(path: Path, *, sheet: str = "", largest_unpacked: int = 0) -> dict[str, Column]:
    """A sheet of an .xlsx workbook: the named one, or the only one that holds anything."""
    path = Path(path)
    with _opened(path, formulas=False, largest=largest_unpacked) as book:
        chosen = _sheet(book, sheet, path.name)
        where = f"{path.name}, sheet '{visible(chosen)}'"
        rows = _rows(book[chosen], largest_unpacked, where)
    if len(rows) < 2:
        raise InputError(
            "a row of column names and rows below it were expected",
            where=where,
            got="an empty sheet" if not rows else "a header alone",
            remedy="give a sheet with rows",
        )
    _refuse_uncomputed(path, chosen, rows, where, largest_unpacked)
    width = max(len(row) for row in rows)
    _check_cells(width * len(rows), largest_unpacked, where)
    padded = [[*row, *[None] * (width - len(row))] for row in rows]
    names = header_names(padded[0], where=f"{where}, row 1")
    columns = zip(*padded[1:], strict=True)
    return drop_empty({name: _column(cells) for name, cells in zip(names, columns, strict=True)})


@contextlib.contextmanager
def _opened(path: Path, *, formulas: bool, largest: int) -> Iterator[Any]:
    """The workbook, whose sheets are unpacked only as they are read, so that damage may show at any row."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("openpyxl", extra="excel", purpose="reading Excel workbooks") from None
    try:
        check_zip(path, largest=largest)  # before openpyxl unpacks the texts of all sheets at once
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on styles and extensions, which no value hangs on
            book = openpyxl.load_workbook(path, read_only=True, data_only=not formulas)
            try:
                yield book
            finally:
                book.close()
    except WorkupError:
        raise
    except Exception as error:  # zip, zlib, XML and openpyxl itself each have errors of their own
        raise InputError(
            "an Excel workbook (.xlsx) was expected",
            where=path.name,
            got=f"a file that cannot be opened as one ({type(error).__name__})",
            remedy="save it from Excel as .xlsx without a password, or as CSV UTF-8",
        ) from None


def _sheet(book: Any, wanted: str, where: str) -> str:
    names: list[str] = [str(sheet.title) for sheet in book.worksheets]
    if not names:
        raise InputError("a workbook with a sheet of cells was expected", where=where, got="none", remedy="add one")
    if wanted:
        if wanted in names:
            return wanted
        raise InputError(
            f"there is no sheet '{wanted}'", where=where, got=near(wanted, names), remedy="name one of these"
        )
    filled = [str(sheet.title) for sheet in book.worksheets if any(True for _ in _filled_rows(sheet))]
    if len(filled) > 1:
        raise InputError(
            "one sheet with data was expected",
            where=where,
            got=f"{len(filled)}: {', '.join(filled)}",
            remedy="name the one to read with the setting 'sheet'",
        )
    return filled[0] if filled else names[0]


def _filled_rows(sheet: Any) -> Iterator[tuple[Any, ...]]:
    sheet.reset_dimensions()  # some programs write a wrong size, which would cut the sheet off
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        if number > _MOST_ROWS:  # openpyxl counts up to whatever number a row gives itself
            raise InputError(
                f"a sheet of at most {_MOST_ROWS:,} rows, which is all that Excel knows, was expected",
                where=f"sheet '{visible(str(sheet.title))}'",
                got="a row beyond them",
                remedy="do not trust this workbook; save the table as CSV",
            )
        if any(cell not in (None, "") for cell in row):
            yield row


def _rows(sheet: Any, largest: int, where: str) -> list[tuple[Any, ...]]:
    rows, cells = [], 0
    for row in _filled_rows(sheet):
        cells += len(row)
        _check_cells(cells, largest, where)
        rows.append(row)
    return rows


def _check_cells(cells: int, largest: int, where: str) -> None:
    """A cell far to the right fills its row, and a wide row all others: a few bytes become as many cells as there are
    columns."""
    if cells * _CELL > limit(largest):
        raise too_large(where=where, largest=largest)


def _refuse_uncomputed(path: Path, sheet: str, rows: list[tuple[Any, ...]], where: str, largest: int) -> None:
    """A formula that no spreadsheet program has computed reads as empty: a missing outcome that is not missing."""
    width = len(rows[0])
    if all(len(row) == width and None not in row for row in rows):
        return
    with _opened(path, formulas=True, largest=largest) as book:
        for shown, written in zip(rows, _filled_rows(book[sheet]), strict=False):
            for value, formula in zip(shown, written, strict=False):
                if value is None and isinstance(formula, str) and formula.startswith("="):
                    raise InputError(
                        "computed values were expected",
                        where=where,
                        got="formulas whose results are not stored in the file",
                        remedy="open the workbook in Excel and save it, or paste the results as values",
                    )


def _column(cells: tuple[Any, ...]) -> Column:
    """Typed cells keep their types; a column typed in as text is read as a text file would be."""
    present = [None if isinstance(cell, str) and cell.strip() in MISSING_CELLS else cell for cell in cells]
    if all(cell is None or isinstance(cell, str) for cell in present):
        texts = ["" if cell is None else cell for cell in present]
        return text_columns([("", [pack(texts)])], point_likely=False)[""]
    return native_column(present)
