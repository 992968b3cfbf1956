"""Raw columns to the columns of a Table: numbers, times, or anything else. Knows nothing of files or of roles.

Identity comes before convenience: a whole number too large for a float and a code with leading zeros stay text, so
that two patients never become one.
"""

from __future__ import annotations

import datetime
import itertools
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from workup.errors import InputError

Column = npt.NDArray[Any]

# From here on neighbouring whole numbers share one float.
EXACT_LIMIT = 2**53
MOST_COLUMNS = 20_000  # each is read, named and looked at by itself


_NAMELESS = "column {}"


def _spellings(word: str) -> set[str]:
    return {"".join(letters) for letters in itertools.product(*((c.lower(), c.upper()) for c in word))}


# Every spelling is listed, because one look-up per cell is what a table of a million rows can afford.
MISSING_CELLS = frozenset({"", "."}).union(*(_spellings(word) for word in ("na", "nan", "n/a", "null", "none")))
_TRUTH = dict.fromkeys(_spellings("true"), 1.0) | dict.fromkeys(_spellings("false"), 0.0)


def _grammar(decimal: str, thousands: str) -> re.Pattern[str]:
    # A whole number with a bare exponent ("12E4") is a ward or a batch far more often than a number: programs write
    # the sign of an exponent or a decimal sign, so one of the two is asked for.
    d, t = re.escape(decimal), re.escape(thousands)
    whole = r"(?:0|[1-9][0-9]*)"
    return re.compile(
        rf"[+-]?(?:{whole}(?:[eE][+-][0-9]+)?"
        rf"|{whole}?{d}[0-9]+(?:[eE][+-]?[0-9]+)?"
        rf"|{whole}{d}"
        rf"|[1-9][0-9]{{0,2}}(?:{t}[0-9]{{3}})+(?:{d}[0-9]*)?"
        rf"|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)"
    )


_GRAMMARS = {".": _grammar(".", ","), ",": _grammar(",", ".")}
_END = "\0"
# A block of numbers as programs write them, with empty cells among them: what most columns of most files are. Looked
# at in one go, without a way back, this costs a third of what cell after cell costs.
_PLAIN = {
    sign: re.compile(rf"(?:(?:[+-]?(?:0|[1-9][0-9]*+)(?:{re.escape(sign)}[0-9]++(?:[eE][+-]?[0-9]++)?)?+)?(?:\0|\Z))++")
    for sign in _GRAMMARS
}
_DIGITS_ONLY = re.compile(r"[+-]?[0-9]+")


def check_decimal(decimal: str) -> None:
    """Refuse a decimal sign that is neither a point nor a comma; empty means: find out."""
    if decimal not in ("", ".", ","):
        raise InputError("the setting 'decimal' must be '.' or ','", got=repr(decimal), remedy="leave it out or set it")


def text_columns(
    columns: Iterable[tuple[str, Sequence[str]]], *, decimal: str = "", point_likely: bool = True
) -> dict[str, Column]:
    """Columns of text, each in blocks of packed cells, read as numbers where every cell that is not missing is one.

    The decimal sign of a column is the one under which all its cells are numbers. Where both signs would do ("1,234"
    alone is 1234 or 1.234), the other columns of the file decide; where they are silent, a point is taken as decimal
    if `point_likely`, and otherwise the column stays text, to be refused when someone asks for its numbers.

    >>> raw = {"id": ["007", "12"], "risk": ["0,25", "NA"], "cost": ["1.234", "1.500"]}
    >>> table = text_columns((name, [pack(cells)]) for name, cells in raw.items())
    >>> table["id"].tolist(), table["risk"].tolist(), table["cost"].tolist()
    (['007', '12'], [0.25, nan], [1234.0, 1500.0])
    """
    return typed_columns(
        ((name, PackedCells(blocks)) for name, blocks in columns), decimal=decimal, point_likely=point_likely
    )


class Cells(Protocol):
    """One column of text, whatever it is kept in, and what its cells may be read as."""

    def are_numbers(self, sign: str, /) -> bool:
        """Whether every cell that is not missing is a number with this decimal sign."""

    def hold_a_sign(self, signs: str = ".,", /) -> bool:
        """Whether one of these signs stands beside a digit somewhere."""

    def numbers(self, sign: str, /) -> Column:
        """The numbers; the texts, where a whole number is too large for a float."""

    def truth_or_text(self) -> Column:
        """1 and 0 where every cell that is not missing says true or false; else the texts."""

    def text(self) -> Column:
        """The texts without space around them, and None where a cell is missing."""


def typed_columns(
    columns: Iterable[tuple[str, Cells]], *, decimal: str = "", point_likely: bool = True
) -> dict[str, Column]:
    """What `text_columns` does, for cells that are kept in any form."""
    check_decimal(decimal)
    read: dict[str, Column] = {}
    undecided: dict[str, Cells] = {}
    signs_seen: set[str] = set()
    for name, cells in columns:
        signed = cells.hold_a_sign()
        signs = [sign for sign in decimal or (".," if signed else ".") if cells.are_numbers(sign)]
        if signed and len(signs) == 2:
            undecided[name] = cells
        elif signed and signs:
            signs_seen.add(signs[0])
        read[name] = cells.numbers(signs[0]) if signs else cells.truth_or_text()
    for name, cells in undecided.items():
        if len(signs_seen) == 1:
            read[name] = cells.numbers(next(iter(signs_seen)))
        elif not point_likely or cells.hold_a_sign(","):
            read[name] = cells.text()
    return read


def pack(cells: Iterable[str]) -> str:
    """Cells as one text, which is small to keep and quick to look through. No cell may hold a NUL."""
    return _END.join(cells)


class PackedCells:
    """The cells of one column, in packed blocks."""

    def __init__(self, blocks: Sequence[str]) -> None:
        self._blocks = blocks

    def are_numbers(self, sign: str) -> bool:
        return all(
            _PLAIN[sign].fullmatch(block) or all(map(_GRAMMARS[sign].fullmatch, filter(None, _texts(block))))
            for block in self._blocks
        )

    def hold_a_sign(self, signs: str = ".,") -> bool:
        # "." alone and "n/a" are missing cells, so a sign counts beside a digit only.
        return any(re.search(rf"[0-9][{signs}]|[{signs}][0-9]", block) for block in self._blocks)

    def numbers(self, sign: str) -> Column:
        thousands = "," if sign == "." else "."
        blocks = []
        for block in self._blocks:
            if _PLAIN[sign].fullmatch(block):
                texts: list[Any] = block.replace(",", ".").split(_END)
            else:
                texts = [text and text.replace(thousands, "").replace(",", ".") for text in _texts(block)]
            values = np.array([float(text) if text else np.nan for text in texts], dtype=np.float64)
            too_large = np.flatnonzero(np.abs(values) >= EXACT_LIMIT)
            if any(_DIGITS_ONLY.fullmatch(texts[row]) for row in too_large.tolist()):
                return self.text()
            blocks.append(values)
        return np.concatenate(blocks)

    def truth_or_text(self) -> Column:
        if not all(text in _TRUTH for block in self._blocks for text in _texts(block) if text is not None):
            return self.text()
        return np.array([_TRUTH.get(text or "", np.nan) for block in self._blocks for text in _texts(block)])

    def text(self) -> Column:
        # Rows that say the same share one text, so that a group of a million rows costs a million pointers.
        shared: dict[str | None, str | None] = {}
        texts = [shared.setdefault(text, text) for block in self._blocks for text in _texts(block)]
        return object_column(texts)


def _texts(block: str) -> list[str | None]:
    return [None if (text := cell.strip()) in MISSING_CELLS else text for cell in block.split(_END)]


def check_width(count: int, *, where: str) -> None:
    """Refuse a table with more columns than any has that was made for a study."""
    if count > MOST_COLUMNS:
        raise InputError(
            f"at most {MOST_COLUMNS:,} columns were expected",
            where=where,
            got=f"{count:,}",
            remedy="give a table of the columns that the study uses, with a row for each patient or visit",
        )


def header_names(cells: Sequence[Any], *, where: str) -> list[str]:
    """Column names from a header row; a nameless column (pandas writes its index so) is called by its place."""
    check_width(len(cells), where=where)
    names = [
        _NAMELESS.format(place) if cell is None else str(cell).strip() for place, cell in enumerate(cells, start=1)
    ]
    names = [name or _NAMELESS.format(place) for place, name in enumerate(names, start=1)]
    places: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if name in places:
            raise InputError(
                "every column needs a name of its own",
                where=where,
                got=f"'{name}' as the name of columns {places[name]} and {place}",
                remedy="rename or remove one of them; if the first line holds data, add a line of names above it",
            )
        places[name] = place
    return names


def drop_empty(table: dict[str, Column]) -> dict[str, Column]:
    """The table without the nameless and wholly empty columns that spreadsheets leave at the edge."""
    own = {_NAMELESS.format(place) for place in range(1, len(table) + 1)}
    return {
        name: column
        for name, column in table.items()
        if name not in own or column.dtype != np.float64 or not np.isnan(column).all()
    }


def object_column(values: Sequence[Any]) -> Column:
    """One object per row, whatever the objects are."""
    # Through an iterator, since numpy would unpack rows that are themselves lists.
    return np.fromiter(values, dtype=object, count=len(values))


def native_column(values: Sequence[Any]) -> Column:
    """A column of Python or numpy values: numbers and truth values, dates and times, or objects.

    >>> native_column([True, None, 3]).tolist(), native_column([2**60, 2**60 + 1]).tolist()
    ([1.0, nan, 3.0], ['1152921504606846976', '1152921504606846977'])
    """
    cells = [None if _is_missing(value) else value for value in values]
    present = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, (bool, np.bool_, int, float, np.integer, np.floating, Decimal)) for cell in present):
        if any(isinstance(cell, (int, np.integer)) and abs(int(cell)) >= EXACT_LIMIT for cell in present):
            return object_column([None if cell is None else str(cell) for cell in cells])
        return np.array([np.nan if cell is None else float(cell) for cell in cells], dtype=np.float64)
    if all(isinstance(cell, (datetime.date, np.datetime64)) for cell in present):
        return np.array([_moment(cell) for cell in cells], dtype="datetime64[us]")
    return object_column(cells)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    if isinstance(value, (float, np.floating, Decimal)):
        return bool(value != value)
    return isinstance(value, str) and not value.strip()


def _moment(value: Any) -> np.datetime64:
    if value is None:
        return np.datetime64("NaT", "us")
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")
