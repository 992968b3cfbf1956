"""Rows gathered into patients: who each row belongs to, and which level of a grouping a patient has."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import InputError
from workup.scores import MISSING, Levels, level_name
from workup.stats.arrays import Bools, Floats, Ints

Table = Mapping[str, npt.NDArray[Any]]
Days = npt.NDArray[np.datetime64]
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ].*)?", re.ASCII)
NEVER = np.datetime64("NaT", "D")


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a table as a split sees them. `patient` holds counters in an order that rows cannot change."""

    patient: Ints
    outcome: Floats | None = None
    day: Days | None = None
    moment: npt.NDArray[np.datetime64] | None = None
    levels: Mapping[str, Levels] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.patient)

    @property
    def n_patients(self) -> int:
        """Counters run without a gap."""
        return int(self.patient.max()) + 1


def rows_named(bad: Bools) -> str:
    """How many rows are at fault and which is the first, never what they hold."""
    return f"{int(bad.sum()):,} of {len(bad):,} rows, the first is row {int(np.argmax(bad)) + 1} below the header"


def levels_of(column: npt.NDArray[Any]) -> Levels:
    """A column as levels, fast for numbers and times; a missing value is a level of its own.

    >>> levels_of(np.array([2.0, np.nan, 10.0])).names
    ('10', '2', 'missing')
    """
    if column.dtype.kind == "O":
        return Levels.of(column)
    distinct, places = np.unique(column, return_inverse=True)
    if column.dtype.kind == "M":
        whole = bool((distinct[~np.isnat(distinct)] == distinct[~np.isnat(distinct)].astype("datetime64[D]")).all())
        texts = np.datetime_as_string(distinct, unit="D" if whole else "s").tolist()
        few = Levels.of(np.array([None if text == "NaT" else text for text in texts], dtype=object))
    else:
        few = Levels.of(distinct.astype(object))
    return few.take(places.reshape(-1))


def patient_counters(table: Table, column: str | None, *, where: str) -> Ints:
    """A counter for each row. Without a patient column each row is one, numbered by the content of the whole row."""
    if column is None:
        return _ranks(table)
    found = levels_of(table[column])
    if MISSING in found.names:
        bad = found.codes == found.names.index(MISSING)
        if bad.any():
            raise InputError(
                "every row needs the id of its patient",
                where=f"{where}, column '{column}'",
                got=f"none in {rows_named(bad)}",
                remedy="give these rows an id, remove them, or name no patient column if each row is a patient",
            )
    return np.unique(found.codes, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _ranks(table: Table) -> Ints:
    """Rows in the order of their content, column after column by name until all differ; equal rows are exchangeable."""
    n = len(next(iter(table.values())))
    key = np.zeros(n, dtype=np.int64)
    for name in sorted(table):
        codes = levels_of(table[name]).codes
        distinct, key = np.unique(key * (int(codes.max()) + 1) + codes, return_inverse=True)
        if distinct.size == n:
            break
    ranks = np.empty(n, dtype=np.int64)
    ranks[np.argsort(key.reshape(-1), kind="stable")] = np.arange(n)
    return ranks


def times_of(column: npt.NDArray[Any], *, where: str) -> npt.NDArray[np.datetime64]:
    """Times as they are, or from ISO text; NaT where missing. Words such as 'today' are refused: they read a clock."""
    if column.dtype.kind == "M":
        return column.astype("datetime64[us]")
    if column.dtype.kind == "f" and np.isnan(column).all():
        return np.full(len(column), NEVER).astype("datetime64[us]")
    texts = [level_name(value) for value in column.tolist()]
    read = {text: _moment(text) for text in set(texts)}
    bad = np.array([read[text] is None for text in texts])
    if bad.any():
        raise InputError(
            "times in ISO form (2024-03-31 or 2024-03-31T14:05) were expected",
            where=where,
            got=f"others in {rows_named(bad)}",
            remedy="convert the column to times first (on the command line: --time-format)",
        )
    return np.array([read[text] for text in texts], dtype="datetime64[us]")


def _moment(text: str) -> np.datetime64 | None:
    if text == MISSING:
        return np.datetime64("NaT", "us")
    if not _ISO.fullmatch(text):
        return None
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(moment, "us")


def level_of_patients(rows: Rows, levels: Levels) -> tuple[Ints, int]:
    """One level for each patient, and how many patients have rows that disagree.

    Known levels come before "missing", the earliest row before later ones where times are known, then the level that
    most rows have, then the first by name.
    """
    patient, code = rows.patient, levels.codes
    pairs = np.unique(patient * len(levels.names) + code)
    varying = int((np.bincount(pairs // len(levels.names)) > 1).sum())
    unknown = np.array([name == MISSING for name in levels.names])[code]
    use = ~unknown | ~_any(patient, ~unknown)[patient]
    if rows.moment is not None:
        late = np.iinfo(np.int64).max
        since = np.where(np.isnat(rows.moment), late, rows.moment.astype("datetime64[us]").astype(np.int64))
        first = np.full(rows.n_patients, late)
        np.minimum.at(first, patient[use], since[use])
        use &= since == first[patient]
    keys, counts = np.unique(patient[use] * len(levels.names) + code[use], return_counts=True)
    who, which = keys // len(levels.names), keys % len(levels.names)
    order = np.lexsort((which, -counts, who))
    _, firsts = np.unique(who[order], return_index=True)
    return which[order][firsts], varying


def event_of_patients(rows: Rows, levels: Levels) -> tuple[Ints, int]:
    """A patient with an event in any row has it; else one with a known outcome has none; else it is missing."""
    assert rows.outcome is not None
    code = {name: place for place, name in enumerate(levels.names)}
    had, free = (_any(rows.patient, rows.outcome == value) for value in (1.0, 0.0))
    unknown = _any(rows.patient, np.isnan(rows.outcome))
    found = np.where(had, code.get("1", 0), np.where(free, code.get("0", 0), code.get(MISSING, 0)))
    return found.astype(np.int64), int(((had.astype(int) + free + unknown) > 1).sum())


def _any(patient: Ints, true: Bools) -> Bools:
    return np.bincount(patient, weights=true) > 0
