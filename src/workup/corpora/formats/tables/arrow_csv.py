"""Rows of a plain text table through pyarrow's reader. Knows which files it reads as Python's csv module does, and
refuses all others; what cells mean is in columns.py.

A cell that says the same as another is looked at once: whatever columns.py finds out of a column it finds out of the
different cells, and rows only refer to them. Numbers as programs write them are read by arrow, which rounds as Python
does; where the texts leave any doubt, they too go the slow way.
"""

from __future__ import annotations

import codecs
import io
from functools import cached_property
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from workup.corpora.formats.tables.columns import EXACT_LIMIT, Column, PackedCells, pack

_BLOCK = 4 * 2**20  # bytes that arrow looks at in one go; a line must fit in
_LONGEST_CELL = 131_072  # of Python's csv module, in characters; here in bytes, which are no fewer
_LOOK = 50  # cells that tell whether a column is likely to hold numbers
# Nothing but what columns.py, too, takes for a number: as programs write it, or no cell at all.
_PLAIN = {
    sign: rf"\A(?:[+-]?(?:0|[1-9][0-9]*)(?:{mark}[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-][0-9]+)?)?\z"
    for sign, mark in ((".", r"\."), (",", ","))
}
_QUOTE, _NEWLINE, _RETURN = (ord(sign) for sign in '"\n\r')


class NotPlain(Exception):
    """Arrow might read this file in another way than Python's csv module, or not at all."""


def read_rows(file: io.BufferedReader, *, columns: int, delimiter: str, skip: int) -> list[ArrowCells]:
    """The cells of every column below the header, which ends after `skip` lines.

    NotPlain or an error of pyarrow's where the file is not of the plain kind: quotes around whole cells only and none
    inside, each row on a line of its own with as many cells as the header has.
    """
    import pyarrow
    from pyarrow import csv

    for _ in range(skip):
        file.readline()
    if file.peek(3).startswith(codecs.BOM_UTF8):
        raise NotPlain  # which arrow would take from a row, as from the beginning of a file
    names = [str(place) for place in range(columns)]
    table = csv.read_csv(
        io.BufferedReader(_Checked(file, delimiter), buffer_size=_BLOCK),
        # One thread, so that a process that forks later has none to lose.
        read_options=csv.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=names),
        parse_options=csv.ParseOptions(delimiter=delimiter, double_quote=False, newlines_in_values=False),
        convert_options=csv.ConvertOptions(
            check_utf8=True,
            column_types=dict.fromkeys(names, pyarrow.string()),
            null_values=[],
            strings_can_be_null=False,
        ),
    )
    if table.num_rows == 0:
        raise NotPlain
    return [ArrowCells(table.column(name)) for name in names]


class _Checked(io.RawIOBase):
    """Bytes on their way to arrow; raises NotPlain before any that arrow and Python's csv module read differently."""

    def __init__(self, file: IO[bytes], delimiter: str) -> None:
        self._file, self._delimiter = file, ord(delimiter)
        self._tail = b""  # of a line whose end has not come yet

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        chunk = self._file.read(len(buffer))
        whole, newline, tail = (self._tail + chunk).rpartition(b"\n")
        self._tail = tail if chunk else b""
        if len(tail) > _BLOCK:
            raise NotPlain
        self._check(whole + newline + (b"" if chunk else tail))
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def _check(self, lines: bytes) -> None:
        """Whole lines: no NUL, no line that ends in a bare return, and quotes around whole cells alone."""
        if b"\0" in lines or lines.count(b"\r") != lines.count(b"\r\n"):
            raise NotPlain
        if b'"' not in lines:
            return
        # With the ends of lines around it, so that the first and the last cell have neighbours too.
        content = np.frombuffer(b"\n" + lines + b"\n", dtype=np.uint8)
        quotes = np.flatnonzero(content == _QUOTE)
        if len(quotes) % 2:
            raise NotPlain
        opening, closing = quotes[::2], quotes[1::2]
        before, behind = content[opening - 1], content[closing + 1]
        newlines = np.flatnonzero(content == _NEWLINE)
        if not (
            ((before == self._delimiter) | (before == _NEWLINE)).all()
            and ((behind == self._delimiter) | (behind == _NEWLINE) | (behind == _RETURN)).all()
            and (np.searchsorted(newlines, opening) == np.searchsorted(newlines, closing)).all()
        ):
            raise NotPlain


class ArrowCells:
    """The cells of one column of an arrow table, as columns.py asks for them."""

    def __init__(self, cells: Any) -> None:
        self._cells = cells
        self._numbers: dict[str, Column | None] = {}
        if self._longest() > _LONGEST_CELL:
            raise NotPlain

    def are_numbers(self, sign: str, /) -> bool:
        # Texts mostly show in the first cells that they are no numbers.
        first = PackedCells([pack(self._cells[:_LOOK].to_pylist())])
        return first.are_numbers(sign) and (self._plain(sign) is not None or self._different[0].are_numbers(sign))

    def hold_a_sign(self, signs: str = ".,", /) -> bool:
        for sign in ".,":
            if self._plain(sign) is not None:
                return sign in signs and self._hold(sign)
        return self._different[0].hold_a_sign(signs)

    def numbers(self, sign: str, /) -> Column:
        plain = self._plain(sign)
        return plain if plain is not None else self._different[0].numbers(sign)[self._different[1]]

    def truth_or_text(self) -> Column:
        cells, rows = self._different
        return cells.truth_or_text()[rows]

    def text(self) -> Column:
        cells, rows = self._different
        return cells.text()[rows]

    def _longest(self) -> int:
        import pyarrow.compute as pc

        return int(pc.max(pc.binary_length(self._cells)).as_py())

    def _hold(self, sign: str) -> bool:
        import pyarrow.compute as pc

        return bool(pc.any(pc.match_substring(self._cells, sign)).as_py())

    @cached_property
    def _different(self) -> tuple[PackedCells, npt.NDArray[np.int32]]:
        """The different cells, and for each row which of them it holds."""
        coded = self._cells.dictionary_encode()
        rows = np.concatenate([chunk.indices.to_numpy() for chunk in coded.chunks])
        return PackedCells([pack(coded.chunk(0).dictionary.to_pylist())]), rows

    def _plain(self, sign: str) -> Column | None:
        """The numbers, where all cells are as programs write numbers, or empty; None where any is not."""
        if sign not in self._numbers:
            read = []
            for chunk in (self._cells.chunk(0)[:_LOOK], *self._cells.chunks):
                values = _plain_numbers(chunk, sign)
                if values is None:
                    break
                read.append(values)
            self._numbers[sign] = np.concatenate(read[1:]) if len(read) > self._cells.num_chunks else None
        return self._numbers[sign]


def _plain_numbers(cells: Any, sign: str) -> npt.NDArray[np.float64] | None:
    """Plain numbers as floats, empty cells as NaN; None where a cell is neither."""
    import pyarrow
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(cells, _PLAIN[sign])).as_py():
        return None
    pointed = pc.replace_substring(cells, ",", ".") if sign == "," else cells
    values: npt.NDArray[np.float64] = pc.cast(
        pc.if_else(pc.equal(pointed, ""), None, pointed), pyarrow.float64()
    ).to_numpy(zero_copy_only=False)
    # Whole numbers so large are texts; columns.py knows which.
    return None if np.any(np.abs(values) >= EXACT_LIMIT) else values
