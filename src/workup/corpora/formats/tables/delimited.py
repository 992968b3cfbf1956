"""Text tables: comma, semicolon or tab between cells. Knows encodings and quoting; what cells mean is in columns.py."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import re
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO

from workup.corpora.formats.tables.columns import Column, drop_empty, header_names, pack, text_columns, typed_columns
from workup.errors import InputError
from workup.files.received import open_named
from workup.files.unpacking import open_gzip

# In the order in which they are believed when both would do: commas turn up inside names and numbers, tabs never.
_DELIMITERS = {"\t": "tabs", ";": "semicolons", ",": "commas"}
_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_BLOCK = 50_000
_WORTH_ARROW = 2**20  # bytes of a file from which on the import of pyarrow pays
_LOOK = 1 << 16  # bytes at the beginning that tell a text from what is none
_LONGEST_LINE = 32 * 2**20  # characters; a line must fit in memory several times over
_LARGEST_SEARCHED = 512 * 2**20  # bytes that are looked through for the line of a fault
_SAVE_AS_UTF8 = "save the file as UTF-8 (in Excel: 'CSV UTF-8')"


def read_csv(path: Path, *, decimal: str = "", largest_unpacked: int = 0) -> dict[str, Column]:
    """A table whose cells are divided by commas, semicolons or tabs, whichever the header line shows.

    `decimal` names the decimal sign ('.' or ',') where the file alone cannot tell it.
    """
    return _read(Path(path), delimiter="", decimal=decimal, largest=largest_unpacked)


def read_tsv(path: Path, *, decimal: str = "", largest_unpacked: int = 0) -> dict[str, Column]:
    """A table whose cells are divided by tabs."""
    return _read(Path(path), delimiter="\t", decimal=decimal, largest=largest_unpacked)


def _read(path: Path, *, delimiter: str, decimal: str, largest: int) -> dict[str, Column]:
    where = path.name
    try:
        encoding = _encoding(path)
        if encoding == "utf-8-sig" and path.stat().st_size >= _WORTH_ARROW:
            table = _through_arrow(path, delimiter, decimal, largest)
            if table is not None:
                return table
        with _open_binary(path, largest) as file:
            lines = checked_lines(io.TextIOWrapper(file, encoding=encoding, newline=""), where)
            first, rest = _header_lines(lines, where)
            delimiter, skip = _delimiter(first, delimiter, where)
            names, columns = _cells(itertools.chain(first[skip:], rest), delimiter, skip, where)
    except UnicodeDecodeError:
        raise _wrong_encoding(path, largest) from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            "a file that can be read was expected",
            where=where,
            got=type(error).__name__,
            remedy="check that the file exists, is whole and may be read",
        ) from None
    # A file cut at commas cannot use them as decimal signs without quotes; one cut at semicolons probably does.
    return drop_empty(text_columns(zip(names, columns, strict=True), decimal=decimal, point_likely=delimiter != ";"))


def _through_arrow(path: Path, delimiter: str, decimal: str, largest: int) -> dict[str, Column] | None:
    """The same table several times faster, where pyarrow is installed and the file is of the plain kind.

    None where it is not, or where anything at all is wrong with it: the reading line by line then finds out what, and
    says it.
    """
    try:
        from workup.corpora.formats.tables.arrow_csv import read_rows

        with _open_binary(path, largest) as file:
            first = [line.decode() for line in itertools.islice(iter(file.readline, b""), 20)]
        first[0] = first[0].removeprefix("\ufeff")
        _, skip = found = _delimiter(first, delimiter, path.name)
        delimiter = found[0]
        skip += next(row for row, line in enumerate(first[skip:]) if line.rstrip("\r\n"))
        header = next(csv.reader([first[skip]], delimiter=delimiter, skipinitialspace=True, strict=True))
        names = header_names(header, where=path.name)
        with _open_binary(path, largest) as file:
            columns = read_rows(file, columns=len(names), delimiter=delimiter, skip=skip + 1)
    except Exception:  # pyarrow raises much; what is wrong with the file is told by the reading line by line
        return None
    columns.reverse()
    named = ((name, columns.pop()) for name in names)  # a column that is read is let go of
    return drop_empty(typed_columns(named, decimal=decimal, point_likely=delimiter != ";"))


def _open_binary(path: Path, largest: int = 0) -> io.BufferedReader:
    return open_gzip(path, largest=largest) if path.suffix.lower() == ".gz" else open_named(path)


def _encoding(path: Path) -> str:
    """What the mark at the beginning says; a NUL byte near it, without a mark, shows that the file is no text."""
    with _open_binary(path) as file:
        start = file.read(_LOOK)
    encoding = next((encoding for mark, encoding in _MARKS if start.startswith(mark)), "utf-8-sig")
    if encoding == "utf-8-sig" and b"\0" in start:
        raise _nul(f"{path.name}, line {start.count(10, 0, start.index(0)) + 1}")
    return encoding


def _wrong_encoding(path: Path, largest: int) -> InputError:
    encoding, line, content = _encoding(path), 1, b""
    # A torn archive cannot be read to its end a second time either: then no line is told but the first.
    with contextlib.suppress(OSError, EOFError, zlib.error), _open_binary(path, largest) as file:
        content = file.read(_LARGEST_SEARCHED)
    try:
        content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    return InputError(
        "text in UTF-8, or in UTF-16 with a byte-order mark, was expected",
        where=f"{path.name}, line {line}",
        got=f"bytes that are not valid {encoding.removesuffix('-sig').upper()}",
        remedy=_SAVE_AS_UTF8,
    )


def checked_lines(text: IO[str], where: str) -> Iterator[str]:
    """Lines of a text, none of which is without end."""
    for number, line in enumerate(iter(partial(text.readline, _LONGEST_LINE + 1), ""), start=1):
        if "\0" in line:
            raise _nul(f"{where}, line {number}")
        if len(line) > _LONGEST_LINE:
            raise InputError(
                f"a line of at most {_LONGEST_LINE:,} characters was expected",
                where=f"{where}, line {number}",
                got="a longer one",
                remedy="check that the file is a table, and whole",
            )
        yield line


def _nul(where: str) -> InputError:
    return InputError(
        "a text table was expected",
        where=where,
        got="a NUL byte, as in a binary file, a damaged file or UTF-16 without a byte-order mark",
        remedy=f"{_SAVE_AS_UTF8}, or name the true format",
    )


def _header_lines(lines: Iterator[str], where: str) -> tuple[list[str], Iterator[str]]:
    """The first few lines, enough to see the header and one row, and the iterator that goes on after them."""
    first = list(itertools.islice(lines, 20))
    if not any(line.strip() for line in first):
        raise InputError(
            "a table with a header line and rows was expected",
            where=where,
            got="an empty file",
            remedy="give a file whose first line names the columns",
        )
    return first, lines


def _delimiter(first: list[str], given: str, where: str) -> tuple[str, int]:
    """The delimiter, and how many lines come before the header (Excel may write a line such as sep=;)."""
    skip = next(row for row, line in enumerate(first) if line.strip())
    named = re.fullmatch(r"sep=([,;\t])\s*", first[skip])
    if named:
        return given or named.group(1), skip + 1
    widths = {mark: _widths(first[skip:], mark) for mark in _DELIMITERS}
    if given:
        other = max(widths, key=lambda mark: widths[mark][0])
        if widths[given][0] == 1 and widths[other][0] > 1:
            raise InputError(
                f"cells divided by {_DELIMITERS[given]} were expected",
                where=f"{where}, line {skip + 1}",
                got=f"{_DELIMITERS[other]}",
                remedy="name the file .csv, or give format csv",
            )
        return given, skip
    # The mark that cuts the header into most cells, first among those that cut the next row into as many.
    return max(widths, key=lambda mark: (widths[mark][0] > 1 and len(set(widths[mark])) == 1, widths[mark][0])), skip


def _widths(lines: list[str], delimiter: str) -> list[int]:
    """Cells in the header and in the row below it."""
    records = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        return [len(record) for record in itertools.islice((record for record in records if record), 2)]
    except csv.Error:  # an over-long cell; the reading proper says where
        return [1]


def _cells(lines: Iterable[str], delimiter: str, skipped: int, where: str) -> tuple[list[str], list[list[str]]]:
    """Column names, and for each column its cells in packed blocks."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    records = csv_records(reader, skipped=skipped, where=where)
    line, names = next(records)
    names = header_names(names, where=f"{where}, line {line}")
    columns: list[list[str]] = [[] for _ in names]
    rows: list[list[str]] = []

    def keep() -> None:
        for blocks, column in zip(columns, zip(*rows, strict=True), strict=False):
            blocks.append(pack(column))
        rows.clear()

    for line, record in records:
        if len(record) != len(names):
            raise InputError(
                f"{len(names)} cells were expected, as many as the header has",
                where=f"{where}, line {line}",
                got=str(len(record)),
                remedy=f"add or remove cells; a value that holds one of the {_DELIMITERS[delimiter]} must be in quotes",
            )
        rows.append(record)
        if len(rows) == _BLOCK:
            keep()
    keep()
    if not columns[0]:
        raise InputError(
            "rows were expected below the header", where=where, got="a header alone", remedy="give a file with rows"
        )
    return names, columns


def csv_records(reader: Iterator[list[str]], *, where: str, skipped: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line it starts on, after those that were skipped; blank lines are passed over."""
    line = skipped + 1
    try:
        for record in reader:
            if record:
                yield line, record
            line = skipped + reader.line_num + 1  # type: ignore[attr-defined]
    except csv.Error:
        # The message of the csv module may hold what it stumbled on, so it is not passed on.
        raise InputError(
            "cells in matching quotes were expected",
            where=f"{where}, line {line}",
            got="a quote that is not closed, text behind a closing quote, or a cell of more than 131,072 characters",
            remedy='close the quote; a quote inside a cell is written twice ("")',
        ) from None
