"""Which columns of a feed are what, and batches of rows checked against them: only what is named is kept.

Every fault is told by the row's number and the column, never by its value, which may be a patient's.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from workup.errors import InputError, near
from workup.scores import level_name
from workup.settings import Part
from workup.stats.arrays import Bools, Ints

LONGEST = 200  # characters of an id or a level
_EARLIEST, _LATEST = (int(np.datetime64(day, "us").astype(np.int64)) for day in ("1900-01-01", "2200-01-01"))
_MOST_NAMED = 5  # rows that one message names


class Columns(Part):
    """Which column of the feed holds what; what is not named here is not kept."""

    id: str = Field("id", min_length=1, description="Id of a prediction, the same in predictions and outcomes")
    time: str = Field("time", min_length=1, description="When the prediction was made")
    risk: str | None = Field("risk", description="Risk that the model gave, 0 to 1; null where it gives scores only")
    outcome: str = Field("outcome", min_length=1, description="Outcome, 0 or 1, in the file of outcomes")
    known: str | None = Field(None, description="When the outcome was known, in the file of outcomes")
    patient: str | None = Field(None, description="Patient, where one patient has several predictions")
    site: str | None = Field(None, description="Site")
    version: str | None = Field(None, description="Version of the model; that of the plan where absent")
    data_version: str | None = Field(None, description="Version of the data or of the feed")
    acted: str | None = Field(None, description="Whether someone acted on it, in either file")
    groups: tuple[str, ...] = Field((), description="Columns of groups to follow", examples=[["sex", "age_band"]])
    inputs: tuple[str, ...] = Field((), description="Inputs of the model to watch", examples=[["age", "creatinine"]])
    scores: tuple[str, ...] = Field((), description="Named numbers of an audited de-identifier or chat model")


class Fault(NamedTuple):
    """What is wrong with one row. Rows are counted from 1."""

    row: int
    column: str
    expected: str

    def __str__(self) -> str:
        return f"row {self.row:,}, column '{self.column}': {self.expected}"


class Hidden(NamedTuple):
    """How ids are kept: as they are, or as a keyed hash that nobody without the key can turn back or try out."""

    key: bytes | None = None

    def __call__(self, text: str) -> str:
        if self.key is None or not text:
            return text
        return hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()[:40]


AS_THEY_ARE = Hidden()


@dataclass(frozen=True, eq=False)
class Predictions:
    """Checked predictions, column by column, as the store holds them. `rows` are their numbers in what was given."""

    rows: Ints
    id: list[str]
    time: list[int]
    version: list[str]
    data_version: list[str]
    patient: list[str]
    site: list[str]
    risk: list[float | None]
    acted: list[int | None]
    groups: list[str]
    inputs: list[str]
    scores: list[str]
    faults: tuple[Fault, ...] = ()

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Checked outcomes, column by column."""

    rows: Ints
    id: list[str]
    outcome: list[int | None]
    acted: list[int | None]
    known: list[int | None]
    faults: tuple[Fault, ...] = ()

    def __len__(self) -> int:
        return len(self.id)


def checked_predictions(
    table: Mapping[str, Any], columns: Columns, *, version: str = "", hidden: Hidden = AS_THEY_ARE
) -> Predictions:
    """The predictions of a table of columns; rows that cannot be used are left out and listed as faults.

    >>> table = {"id": ["a", "b"], "time": ["2025-01-03", "2025-01-04T09:30"], "risk": [0.2, 7.0]}
    >>> found = checked_predictions(table, Columns(), version="1")
    >>> found.id, [str(fault) for fault in found.faults]
    (['a'], ["row 2, column 'risk': a risk from 0 to 1, or nothing where the model gave none"])
    """
    read = _Read(table, columns)
    ids = read.texts(columns.id, required=True)
    time = read.times(columns.time, required=True)
    risk = read.shares(columns.risk)
    versions = read.texts(columns.version, default=version)
    if columns.version is None and not version:
        raise InputError("the version of the model must be known", remedy="name it in the plan or in a column")
    data_version, patient, site = (
        read.texts(name, absent=True) for name in (columns.data_version, columns.patient, columns.site)
    )
    acted = read.truths(columns.acted)
    groups = {name: read.levels(name) for name in columns.groups}
    inputs = {name: read.inputs(name) for name in columns.inputs}
    scores = {name: read.numbers(name) for name in columns.scores}
    kept = read.kept()
    take = _taker(kept)
    return Predictions(
        kept + 1,
        [hidden(one) for one in take(ids)],
        take(time),
        take(versions),
        take(data_version),
        [hidden(one) for one in take(patient)],
        take(site),
        take(risk),
        take(acted),
        _objects(groups, kept),
        _objects(inputs, kept),
        _objects(scores, kept),
        read.faults(),
    )


def checked_outcomes(table: Mapping[str, Any], columns: Columns, *, hidden: Hidden = AS_THEY_ARE) -> Outcomes:
    """The outcomes of a table of columns. A row may hold an outcome, whether it was acted on, or both."""
    read = _Read(table, columns)
    ids = read.texts(columns.id, required=True)
    outcome = read.truths(columns.outcome if columns.outcome in table else None)
    acted = read.truths(columns.acted if columns.acted in table else None)
    known = read.times(columns.known if columns.known in table else None)
    for row in np.flatnonzero([a is None and b is None for a, b in zip(outcome, acted, strict=True)]):
        read.refuse(int(row), columns.outcome, "an outcome of 0 or 1, or whether it was acted on")
    kept = read.kept()
    take = _taker(kept)
    return Outcomes(
        kept + 1, [hidden(one) for one in take(ids)], take(outcome), take(acted), take(known), read.faults()
    )


def columns_of_rows(rows: Sequence[Mapping[str, Any]], columns: Columns) -> dict[str, list[Any]]:
    """Rows of JSON as columns: those that are named and stand in any row."""
    single = [getattr(columns, name) for name in ("id", "time", "risk", "outcome", "known", "patient", "site")]
    single += [columns.version, columns.data_version, columns.acted]
    wanted = [one for one in (*single, *columns.groups, *columns.inputs, *columns.scores) if one]
    held = set().union(*(row.keys() for row in rows)) if rows else set()
    return {name: [row.get(name) for row in rows] for name in dict.fromkeys(wanted) if name in held}


def refuse_faults(faults: Sequence[Fault], *, where: str) -> None:
    """One error for all rows that cannot be used."""
    if not faults:
        return
    more = f", and {len(faults) - _MOST_NAMED:,} more" if len(faults) > _MOST_NAMED else ""
    raise InputError("every row must be usable", where=where, got="; ".join(map(str, faults[:_MOST_NAMED])) + more)


class _Read:
    """The columns of one table, with the faults of their rows."""

    def __init__(self, table: Mapping[str, Any], columns: Columns) -> None:
        self._table = table
        lengths = {len(column) for column in table.values()}
        if len(lengths) > 1:
            raise InputError("all columns must have one length", got=f"{min(lengths)} to {max(lengths)} rows")
        if columns.id not in table:
            raise InputError(
                f"a column '{columns.id}' with the id of every prediction was expected",
                got=near(columns.id, map(str, table)),
            )
        self._n = lengths.pop()
        self._bad = np.zeros(self._n, dtype=bool)
        self._faults: list[Fault] = []

    def refuse(self, row: int, column: str, expected: str) -> None:
        self._bad[row] = True
        self._faults.append(Fault(row + 1, column, expected))

    def kept(self) -> Ints:
        return np.flatnonzero(~self._bad).astype(np.int64)

    def faults(self) -> tuple[Fault, ...]:
        return tuple(sorted(self._faults))

    def _column(self, name: str) -> Any:
        if name not in self._table:
            raise InputError(f"a column '{name}' was expected", got=near(name, map(str, self._table)))
        return self._table[name]

    def _each(self, name: str, make: Callable[[Any], Any], expected: str, fallback: Any) -> list[Any]:
        """Each value as `make` reads it; where it answers with an error, a fault."""
        column = self._column(name)
        found = []
        for row, value in enumerate(column.tolist() if isinstance(column, np.ndarray) else column):
            try:
                found.append(make(value))
            except (ValueError, TypeError, OverflowError):
                self.refuse(row, name, expected)
                found.append(fallback)
        return found

    def texts(self, name: str | None, *, required: bool = False, absent: bool = False, default: str = "") -> list[str]:
        if name is None:
            return [default] * self._n
        make = _text if required or not absent else _text_or_nothing
        return self._each(name, make, f"a text of 1 to {LONGEST} characters", "")

    def levels(self, name: str) -> list[str]:
        return self._each(name, _level, f"a text or number of at most {LONGEST} characters, or nothing", "")

    def inputs(self, name: str) -> list[float | str | None]:
        return self._each(name, _input, f"a number, a text of at most {LONGEST} characters, or nothing", None)

    def numbers(self, name: str) -> list[float | None]:
        return self._each(name, _number, "a number that is finite, or nothing", None)

    def shares(self, name: str | None) -> list[float | None]:
        if name is None:
            return [None] * self._n
        column = self._column(name)
        said = "a risk from 0 to 1, or nothing where the model gave none"
        if isinstance(column, np.ndarray) and column.dtype.kind == "f":
            missing = np.isnan(column)
            with np.errstate(invalid="ignore"):
                wrong = ~missing & ~((column >= 0) & (column <= 1))
            for row in np.flatnonzero(wrong):
                self.refuse(int(row), name, said)
            return [None if gone else value for gone, value in zip(missing.tolist(), column.tolist(), strict=True)]
        return self._each(name, _share, said, None)

    def truths(self, name: str | None) -> list[int | None]:
        if name is None:
            return [None] * self._n
        return self._each(name, _truth, "0 or 1, or nothing where it is not known", None)

    def times(self, name: str | None, *, required: bool = False) -> list[int | None]:
        if name is None:
            return [None] * self._n
        column = self._column(name)
        said = "a time such as 2025-01-31T08:30:00Z, from 1900 to 2199"
        if isinstance(column, np.ndarray) and column.dtype.kind == "M":
            at = column.astype("datetime64[us]").astype(np.int64)
            missing = np.isnat(column)
            wrong: Bools = (missing & required) | (~missing & ((at < _EARLIEST) | (at >= _LATEST)))
            for row in np.flatnonzero(wrong):
                self.refuse(int(row), name, said)
            return [None if gone else value for gone, value in zip(missing.tolist(), at.tolist(), strict=True)]
        return self._each(name, _moment if required else _moment_or_nothing, said, 0)


def _taker(kept: Ints) -> Callable[[list[Any]], list[Any]]:
    rows = kept.tolist()

    def take(column: list[Any]) -> list[Any]:
        return column if len(rows) == len(column) else [column[row] for row in rows]

    return take


_ENCODE = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def _objects(columns: Mapping[str, list[Any]], kept: Ints) -> list[str]:
    """One JSON object for each row; equal rows share one text."""
    rows = kept.tolist()
    if not columns:
        return ["{}"] * len(rows)
    names = sorted(columns)
    made: dict[tuple[Any, ...], str] = {}
    found = []
    for row in (
        zip(*(columns[name] for name in names), strict=True)
        if len(rows) == len(columns[names[0]])
        else (tuple(columns[name][row] for name in names) for row in rows)
    ):
        text = made.get(row)
        if text is None:
            text = _ENCODE(dict(zip(names, row, strict=True)))
            if len(made) < 10_000:
                made[row] = text
        found.append(text)
    return found


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float, np.integer, np.floating)):
        raise TypeError
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise ValueError
        value = level_name(value)
    text = str(value).strip()
    if not 1 <= len(text) <= LONGEST or "\0" in text:
        raise ValueError
    text.encode()  # a lone surrogate is no text that a database can hold
    return text


def _text_or_nothing(value: Any) -> str:
    return "" if _is_missing(value) else _text(value)


def _level(value: Any) -> str:
    return "" if _is_missing(value) else _text(int(value) if isinstance(value, (bool, np.bool_)) else value)


def _is_missing(value: Any) -> bool:
    return (
        value is None or (isinstance(value, str) and not value.strip()) or (isinstance(value, float) and value != value)
    )


def _number(value: Any) -> float | None:
    if _is_missing(value):
        return None
    if isinstance(value, str) or not isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating)):
        raise TypeError
    found = float(value)
    if not np.isfinite(found):
        raise ValueError
    return found


def _input(value: Any) -> float | str | None:
    return _text(value) if isinstance(value, str) and value.strip() else _number(value)


def _share(value: Any) -> float | None:
    if isinstance(value, (bool, np.bool_)):
        raise TypeError
    found = _number(value)
    if found is not None and not 0 <= found <= 1:
        raise ValueError
    return found


def _truth(value: Any) -> int | None:
    found = _number(value)
    if found not in (None, 0.0, 1.0):
        raise ValueError
    return None if found is None else int(found)


def _moment(value: Any) -> int:
    if isinstance(value, str):
        value = datetime.fromisoformat(value.strip())
    if not isinstance(value, datetime):
        raise TypeError
    value = value.replace(tzinfo=UTC) if value.tzinfo is None else value
    since: timedelta = value - datetime(1970, 1, 1, tzinfo=UTC)
    found = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    if not _EARLIEST <= found < _LATEST:
        raise ValueError
    return found


def _moment_or_nothing(value: Any) -> int | None:
    return None if _is_missing(value) else _moment(value)
