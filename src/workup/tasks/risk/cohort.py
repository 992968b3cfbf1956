"""The checked cohort: which column plays which part, each found fit for it. Knows no file, model or lens."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from workup.errors import InputError, near
from workup.stats.arrays import Floats, Times
from workup.task import Case, Table
from workup.tasks.expressions import looks_like_expression
from workup.tasks.risk.checks import (
    check_outcome,
    check_risk,
    check_weight,
    missing_cells,
    refuse_doubtful_numbers,
)
from workup.tasks.risk.derived import Derived, Grouping, derive
from workup.tasks.risk.identity import Ids, content, identities
from workup.tasks.times import check_time, rows_named

NO_PATIENT_COLUMN = "No patient column: each row is taken as a patient of its own."

# Spelt without the signs between words, so that Patient_ID and patient.id are one.
_PATIENT_NAMES = frozenset(
    (
        *("patient", "patientid", "patientnbr", "patientno", "patientnum", "patientnumber", "patientkey", "patid"),
        *("subject", "subjectid", "subjid", "usubjid", "person", "personid", "participant", "participantid"),
        *("mrn", "pid", "uniquepid", "hadm", "hadmid", "memberid", "nhsnumber", "empi"),
        # Ids of stays: finer than patients, but where even these repeat, patients do.
        *("stayid", "icustayid", "patientunitstayid", "patienthealthsystemstayid", "encounterid", "admissionid"),
    )
)
# Floats from here on cannot tell neighbouring whole numbers apart.
_EXACT_LIMIT = 2.0**53
_LISTED = 30
_DATED = re.compile(r"\d{4}-\d\d-\d\d|\d\.\d\d")  # a date or a decimal inside a name: cells that ran together


@dataclass(frozen=True)
class Columns:
    """Which column of a table plays which part; `risk` is absent when a model is to predict.

    Outcome, risk, weight and acted may be expressions over other columns; a group may also be a mapping with `column`,
    `cuts`, `name` and `labels`.
    """

    outcome: str
    risk: str | None = None
    patient: str | None = None
    site: str | None = None
    time: str | None = None
    weight: str | None = None
    groups: tuple[str | Mapping[str, Any], ...] = ()
    inputs: tuple[str, ...] = ()
    outcome_time: str | None = None
    acted: str | None = None
    time_format: str | None = None

    def named(self) -> dict[str, str]:
        """Every part that is given, with its column."""
        parts = {
            "outcome": self.outcome,
            "risk": self.risk,
            "patient": self.patient,
            "site": self.site,
            "time": self.time,
            "weight": self.weight,
            "outcome_time": self.outcome_time,
            "acted": self.acted,
        }
        given = {part: name for part, name in parts.items() if name is not None}
        return given | {f"inputs[{place}]": name for place, name in enumerate(self.inputs)}

    def derivable(self) -> dict[str, str]:
        """The parts that may be expressions, as far as they are given."""
        parts = {"outcome": self.outcome, "risk": self.risk, "weight": self.weight, "acted": self.acted}
        return {part: text for part, text in parts.items() if text is not None}

    def told_later(self) -> set[str | None]:
        """Columns that no model may see: what is known only afterwards, and who the patient is."""
        return {self.outcome, self.risk, self.weight, self.patient, self.outcome_time, self.acted}


@dataclass(frozen=True, eq=False)
class Cohort:
    """Rows fit to be validated on. Ids, sites and groups are text as reports show it, None where missing.

    `outcome` is NaN where it is not mature yet. `risk` is None when a model will predict. `table` keeps every column
    as it was read, and `notes` say what a reader must know of these data.
    """

    columns: Columns
    outcome: Floats
    table: Table
    risk: Floats | None = None
    patient: Ids | None = None
    site: Ids | None = None
    time: Times | None = None
    weight: Floats | None = None
    label_delay: Floats | None = None
    acted: Floats | None = None
    groups: Mapping[str, Ids] = field(default_factory=dict)
    plain_groups: frozenset[str] = frozenset()  # columns that are groups as they are
    derived: Derived = field(default_factory=Derived)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.outcome)

    @property
    def cases(self) -> Sequence[Case]:
        """The rows as cases, made when asked for, so that a million of them cost nothing."""
        return _Cases(self)

    @property
    def predictors(self) -> dict[str, npt.NDArray[Any]]:
        """The columns a model may see: all but what is known afterwards, the design weight and the patient's id.

        Nor may it see what such a column is derived from: with `status == "dead"` for the outcome, the status.
        """
        later = self.columns.told_later()
        hidden = later | self.derived.hidden(later)
        return {name: column for name, column in self.table.items() if name not in hidden}

    @property
    def inputs(self) -> dict[str, npt.NDArray[Any]]:
        """The inputs a study names: numbers as they are, anything else as text."""
        columns = {name: self.table[name] for name in self.columns.inputs}
        return {name: column if column.dtype.kind == "f" else identities(column) for name, column in columns.items()}

    @cached_property
    def sha256(self) -> str:
        """Hash of the content of all columns, row by row, the same from every file format and on every machine.

        The columns a model may see are part of what is tested: were they left out, a run directory would answer from
        memory after they changed.
        """
        digest = hashlib.sha256(b"workup cohort 1")
        parts: list[tuple[str, npt.NDArray[Any] | None]] = [
            ("outcome", self.outcome),
            ("risk", self.risk),
            ("patient", self.patient),
            ("site", self.site),
            ("time", self.time),
            ("weight", self.weight),
            ("label delay", self.label_delay),
            ("acted", self.acted),
            *((f"group {name}", column) for name, column in sorted(self.groups.items())),
        ]
        roles = {self.columns.site, self.columns.time, *self.plain_groups}
        inputs = {name: column for name, column in self.predictors.items() if name not in roles}
        parts += [(f"input {name}", inputs[name]) for name in sorted(inputs)]
        for part, column in parts:
            if column is not None:
                label = part.encode()
                digest.update(len(label).to_bytes(4, "little") + label)
                digest.update(content(column))
        return digest.hexdigest()

    @cached_property
    def shown_sha256(self) -> str:
        """Hash of the columns a model may see, row by row: what its answers depend on."""
        digest = hashlib.sha256(b"workup inputs 1")
        for name, column in sorted(self.predictors.items()):
            label = name.encode()
            digest.update(len(label).to_bytes(4, "little") + label + content(column))
        return digest.hexdigest()


class _Cases(Sequence[Case]):
    def __init__(self, cohort: Cohort) -> None:
        self._cohort = cohort
        self._inputs = cohort.predictors

    def __len__(self) -> int:
        return len(self._cohort)

    @overload
    def __getitem__(self, row: int) -> Case: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[Case]: ...

    def __getitem__(self, row: int | slice) -> Case | Sequence[Case]:
        if isinstance(row, slice):
            return [self._case(place) for place in range(*row.indices(len(self)))]
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return self._case(row % len(self))

    def __iter__(self) -> Iterator[Case]:
        return (self._case(row) for row in range(len(self)))

    def _case(self, row: int) -> Case:
        cohort = self._cohort
        return Case(
            id=str(row + 1),
            input={name: _plain(column[row]) for name, column in self._inputs.items()},
            expected=float(cohort.outcome[row]),
            patient=None if cohort.patient is None else cohort.patient[row],
            site=None if cohort.site is None else cohort.site[row],
            time=None if cohort.time is None else cohort.time[row],
            groups={name: column[row] for name, column in cohort.groups.items()},
        )


def check_cohort(table: Table, columns: Columns, *, where: str) -> Cohort:
    """A table with its parts checked: every fault is refused with its place and remedy, what is tolerable is noted.

    >>> table = {"died": np.array([0.0, 1.0, np.nan]), "risk": np.array([0.1, 0.7, 0.3])}
    >>> cohort = check_cohort(table, Columns(outcome="died", risk="risk"), where="cohort.csv")
    >>> print(*cohort.notes, sep="\\n")
    No patient column: each row is taken as a patient of its own.
    1 of 3 rows has no outcome yet and is left out of every metric.
    """
    arrays = columns_of(table, where=where)
    derived = derive(arrays, columns.derivable(), where=where)
    _refuse_outcome_as_risk(derived, columns, where=where)
    groupings = _groupings(arrays, columns, where=where)
    table = _checked_table(arrays, derived, columns, groupings, where=where)

    def at(name: str) -> str:
        return f"{where}, {'' if name in derived.columns else 'column '}'{name}'"

    outcome = check_outcome(table[columns.outcome], where=at(columns.outcome))
    risk: Floats | None = None
    risk_notes: tuple[str, ...] = ()
    if columns.risk is not None:
        risk, risk_notes = check_risk(table[columns.risk], where=at(columns.risk))
    else:
        _refuse_doubtful_inputs(table, columns, groupings, where=where)
    patient = None if columns.patient is None else _patients(table[columns.patient], where=at(columns.patient))
    time = None
    if columns.time is not None:
        time = check_time(table[columns.time], time_format=columns.time_format, where=at(columns.time))
    return Cohort(
        columns=columns,
        outcome=outcome,
        table=table,
        risk=risk,
        patient=patient,
        site=None if columns.site is None else identities(table[columns.site]),
        time=time,
        weight=None if columns.weight is None else check_weight(table[columns.weight], where=at(columns.weight)),
        label_delay=_label_delay(table, columns, time, where=where),
        acted=None if columns.acted is None else check_outcome(table[columns.acted], where=at(columns.acted)),
        groups={one.name: one.levels(table, where=f"{where}, group '{one.name}'") for one in groupings},
        plain_groups=frozenset(one.source for one in groupings if one.plain and one.source in arrays),
        derived=derived,
        notes=(
            *patient_notes(arrays, columns),
            *_missing_notes(outcome, time),
            *duplicate_notes(arrays, patient=patient, time=time),
            *_derived_notes(columns, derived),
            *(note for one in groupings for note in one.warnings(table, where=f"group '{one.name}'")),
            *risk_notes,
        ),
    )


def _label_delay(table: Table, columns: Columns, time: Times | None, *, where: str) -> Floats | None:
    """Days from the prediction to the known outcome, NaN where either is missing."""
    if columns.outcome_time is None:
        return None
    if time is None:
        raise InputError(
            "columns.outcome_time needs columns.time, or a delay cannot be counted",
            where=where,
            got="no time of the prediction",
            remedy="name the column of the prediction's time as columns.time",
        )
    place = f"{where}, column '{columns.outcome_time}'"
    known = check_time(table[columns.outcome_time], time_format=columns.time_format, where=place)
    days = (known - time) / np.timedelta64(1, "D")
    early = days < 0
    if early.any():
        raise InputError(
            "an outcome cannot be known before its prediction",
            where=place,
            got=f"an earlier time in {rows_named(early)}",
            remedy="check which column is which, or mend these rows",
        )
    return np.where(np.isnat(known) | np.isnat(time), np.nan, days)


def columns_of(table: Table, *, where: str) -> dict[str, npt.NDArray[Any]]:
    """The columns of a table that has rows, all of one length; numbers are floats."""
    arrays = {name: _as_column(column) for name, column in table.items()}
    lengths = {len(column) for column in arrays.values()}
    if not arrays or lengths == {0} or len(lengths) > 1:
        raise InputError(
            "a table of equally long columns with at least one row was expected",
            where=where,
            got="an empty table" if len(lengths) < 2 else f"columns of {min(lengths)} to {max(lengths)} rows",
            remedy="give one value per row in each column",
        )
    return arrays


def _refuse_outcome_as_risk(derived: Derived, columns: Columns, *, where: str) -> None:
    """A risk made from what the outcome is made from predicts it perfectly, and says nothing of a model."""
    if columns.risk is None or columns.risk == columns.outcome:
        return
    shared = sorted(derived.rests_on(columns.outcome) & derived.rests_on(columns.risk))
    if shared:
        raise InputError(
            "the outcome and the risk must come from different columns",
            where=where,
            got=f"both rest on '{shared[0]}'",
            remedy="name the column that the model wrote as 'columns.risk'",
        )


def _groupings(table: Table, columns: Columns, *, where: str) -> list[Grouping]:
    found = [Grouping.of(given, table) for given in columns.groups]
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            "each group needs a name of its own", where=where, got=f"two groups '{twice}'", remedy="give one a 'name:'"
        )
    return found


def _checked_table(
    arrays: Table, derived: Derived, columns: Columns, groupings: Sequence[Grouping], *, where: str
) -> dict[str, npt.NDArray[Any]]:
    table = {**arrays, **derived.columns}
    named = columns.named() | {f"groups[{place}]": one.source for place, one in enumerate(groupings)}
    lacking = {
        part: name
        for part, name in named.items()
        if name not in table and not (part.startswith("groups") and looks_like_expression(name))
    }
    if lacking:
        said = ", ".join(f"columns.{part} names '{name}'" for part, name in lacking.items())
        name = next(iter(lacking.values()))
        raise InputError(f"{said}, which the table does not have", where=where, **names_found(name, list(arrays)))
    for part, other in (("risk", columns.risk), ("patient", columns.patient), ("weight", columns.weight)):
        if other == columns.outcome:
            raise InputError(
                f"outcome and {part} must be two columns",
                where=where,
                got=f"'{columns.outcome}' for both",
                remedy=f"name the column that holds the outcome and the one that holds the {part}",
            )
    return table


def _as_column(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array = np.asarray(column)
    if array.dtype.kind in "biu":
        return array.astype(np.float64)
    return array.astype(object) if array.dtype.kind in "US" else array


def names_found(name: str, names: list[str]) -> dict[str, str]:
    """What to say of a table that has no column of this name: which it has, nearest first."""
    # A file without a header has data where names should be, and data are not shown.
    like_data = [bool(re.fullmatch(r"[-+0-9.,:/\s]*", known) or _DATED.search(known)) for known in names]
    if any(like_data):
        return {
            "got": "a first line that looks like data rather than column names",
            "remedy": "put a line with the names of the columns above the data",
        }
    likely = names if len(names) <= _LISTED else difflib.get_close_matches(name, names, n=_LISTED, cutoff=0.3)
    return {"got": f"{len(names)} other columns", "remedy": f"use the exact name of a column; {near(name, likely)}"}


def _refuse_doubtful_inputs(table: Table, columns: Columns, groupings: Sequence[Grouping], *, where: str) -> None:
    """A model must not be fed "12%" or "1,234" as if it were a category."""
    plain = (one.source for one in groupings if one.plain)
    of_design = {columns.site, columns.time, *plain, *columns.told_later()}
    for name, column in table.items():
        if column.dtype.kind == "O" and name not in of_design:
            refuse_doubtful_numbers(column, where=f"{where}, column '{name}'")


def _patients(column: npt.NDArray[Any], *, where: str) -> Ids:
    missing = missing_cells(column)
    if missing.any():
        raise InputError(
            "every row needs the id of its patient",
            where=where,
            got=f"none in {rows_named(missing)}",
            remedy="give these rows an id, remove them, or name no patient column if each row is a patient",
        )
    if column.dtype.kind == "f":
        merged = np.abs(column) >= _EXACT_LIMIT
        if merged.any():
            raise InputError(
                "patient ids must be exact",
                where=where,
                got=f"floating-point numbers too large to tell neighbours apart in {rows_named(merged)}",
                remedy="store the ids as text or as integers",
            )
    return identities(column)


def patient_notes(table: Table, columns: Columns) -> list[str]:
    """What must be said where no patient column was named: above all, that one seems to be there."""
    if columns.patient is not None:
        return []
    notes = [NO_PATIENT_COLUMN]
    for name, column in table.items():
        if re.sub(r"[^a-z]", "", name.lower()) in _PATIENT_NAMES:
            ids = identities(column)
            known = ids[ids != np.array(None)]
            distinct = len(set(known.tolist()))
            if distinct < len(known):
                notes.append(
                    f"Warning: column '{name}' is named like a patient id and repeats ({distinct} ids in {len(known)} "
                    "rows). If rows share patients, name it as the patient column: intervals are too short otherwise."
                )
    return notes


def duplicate_notes(table: Table, *, patient: Ids | None, time: Times | None) -> list[str]:
    """Rows that stand in the table twice: the same in every column, or of one patient at one time."""
    rows = _row_keys(table)
    n, distinct = len(rows), len(set(rows.tolist()))
    notes = []
    # Few short columns repeat by chance; rows that hold an id or a fine number do not.
    fine = patient is not None or max(len(set(_cell_keys(column).tolist())) for column in table.values()) > n / 2
    if distinct < n and fine:
        copies = n - distinct
        notes.append(
            f"Warning: {copies:,} of {n:,} rows {'is a copy' if copies == 1 else 'are copies'} of another row, "
            "the same in every column. They count as rows of their own: remove them if the table was exported twice."
        )
    if patient is not None and time is not None:
        dated = ~np.isnat(time)
        pairs = set(zip(patient[dated].tolist(), time[dated].astype(np.int64).tolist(), strict=True))
        again = len(set(rows[dated].tolist())) - len(pairs)  # copies are counted above
        if again > 0:
            notes.append(
                f"Warning: {again:,} more {'row is' if again == 1 else 'rows are'} of a patient and a time that "
                "another row has too, with other values."
            )
    return notes


def _row_keys(table: Table) -> npt.NDArray[np.uint64]:
    """A number for each row, the same for rows that are the same in every column (and hardly ever for others)."""
    keys = np.zeros(len(next(iter(table.values()))), dtype=np.uint64)
    for column in table.values():
        with np.errstate(over="ignore"):
            keys = (keys ^ _cell_keys(column)) * np.uint64(0x9E3779B97F4A7C15)
            keys ^= keys >> np.uint64(29)
    return keys


def _cell_keys(column: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    if column.dtype.kind == "f":
        return np.where(np.isnan(column), np.nan, column + 0.0).astype(np.float64).view(np.uint64)
    if column.dtype.kind == "M":
        return column.astype("datetime64[us]").view(np.uint64)
    texts = (hash(value) & 0xFFFFFFFFFFFFFFFF for value in identities(column).tolist())
    return np.fromiter(texts, dtype=np.uint64, count=len(column))


def _derived_notes(columns: Columns, derived: Derived) -> list[str]:
    notes = [f"The {part} is derived: {text}." for part, text in columns.derivable().items() if text in derived.columns]
    hidden = sorted(derived.hidden(columns.told_later()))
    if hidden and columns.risk is None:
        notes.append(f"A model is not shown {', '.join(hidden)}, from which these are derived.")
    return [*notes, *derived.warnings]


def _missing_notes(outcome: Floats, time: Times | None) -> list[str]:
    notes, n = [], len(outcome)
    immature = int(np.isnan(outcome).sum())
    if immature:
        verb = ("has", "is") if immature == 1 else ("have", "are")
        notes.append(f"{immature} of {n} rows {verb[0]} no outcome yet and {verb[1]} left out of every metric.")
    undated = 0 if time is None else int(np.isnat(time).sum())
    if undated:
        notes.append(f"{undated} of {n} rows {'has' if undated == 1 else 'have'} no time.")
    return notes


def _plain(value: Any) -> Any:
    """A cell as JSON can hold it: numbers, text, ISO times, None where missing."""
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else str(value)
    if isinstance(value, (float, np.floating)):
        return None if np.isnan(value) else float(value)
    return value
