"""Excel workbooks: one sheet with the column names in its first row. Cells keep the types the workbook gives them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workup.corpora.formats.columns import (
    MISSING_CELLS,
    Column,
    drop_empty,
    header_names,
    native_column,
    pack,
    text_columns,
)
from workup.errors import InputError, MissingExtra, WorkupError, near


def read_excel(path: Path, *, sheet: str = "") -> dict[str, Column]:
    """A sheet of an .xlsx workbook: the named one, or the only one that holds anything."""
    path = Path(path)
    with _opened(path, formulas=False) as book:
        chosen = _sheet(book, sheet, path.name)
        rows = _rows(book[chosen])
    where = f"{path.name}, sheet '{chosen}'"
    if len(rows) < 2:
        raise InputError(
            "a row of column names and rows below it were expected",
            where=where,
            got="an empty sheet" if not rows else "a header alone",
            remedy="give a sheet with rows",
        )
    _refuse_uncomputed(path, chosen, rows, where)
    width = max(len(row) for row in rows)
    padded = [[*row, *[None] * (width - len(row))] for row in rows]
    names = header_names(padded[0], where=f"{where}, row 1")
    columns = zip(*padded[1:], strict=True)
    return drop_empty({name: _column(cells) for name, cells in zip(names, columns, strict=True)})


@contextlib.contextmanager
def _opened(path: Path, *, formulas: bool) -> Iterator[Any]:
    """The workbook, whose sheets are unpacked only as they are read, so that damage may show at any row."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("openpyxl", extra="excel", purpose="reading Excel workbooks") from None
    try:
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
    return (row for row in sheet.iter_rows(values_only=True) if any(cell not in (None, "") for cell in row))


def _rows(sheet: Any) -> list[tuple[Any, ...]]:
    return list(_filled_rows(sheet))


def _refuse_uncomputed(path: Path, sheet: str, rows: list[tuple[Any, ...]], where: str) -> None:
    """A formula that no spreadsheet program has computed reads as empty: a missing outcome that is not missing."""
    width = len(rows[0])
    if all(len(row) == width and None not in row for row in rows):
        return
    with _opened(path, formulas=True) as book:
        for shown, written in zip(rows, _rows(book[sheet]), strict=False):
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
