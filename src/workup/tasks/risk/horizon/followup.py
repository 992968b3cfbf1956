"""The checked table of a study of horizons: follow-up in days, how it ended, and a risk by every horizon.

Every fault is refused with its place and remedy. Follow-up is counted in whole microseconds before it becomes days, so
that a time and a horizon that are meant to be equal are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from workup.errors import InputError, visible
from workup.scores import Levels, level_name
from workup.stats.arrays import Bools, Floats, Ints
from workup.stats.horizon_weights import CENSORED, COMPETING, EVENT
from workup.task import Case, Table
from workup.tasks.risk.checks import check_risk, missing_cells, numbers
from workup.tasks.risk.cohort import Cohort, Columns, check_cohort, columns_of, names_found
from workup.tasks.risk.derived import derive
from workup.tasks.risk.horizon.censoring import Horizon
from workup.tasks.risk.horizon.settings import DAY, UNITS, HorizonColumns, HorizonStudy, StatusPart
from workup.tasks.risk.identity import content, identities
from workup.tasks.times import check_time, rows_named

_LONGEST = 200 * 366  # days: longer than a life, a slip of the unit
_FALLS = 1e-9  # by which a later risk may lie below an earlier one: rounding
_HAPPENED = "event by the end of follow-up"  # a column of ours among those of the table
_MOST_LEVELS = 50  # of a text column in a Cox model of censoring


@dataclass(frozen=True, eq=False)
class Followup:
    """Rows fit to be scored at horizons. `cohort` is the same table as a study of yes or no would hold it: patients,
    sites, times, groups and weights, with the status as its outcome."""

    cohort: Cohort
    horizons: tuple[Horizon, ...]
    time: Floats  # days from the prediction on
    status: Ints
    risks: Mapping[str, Floats]  # by the name of the horizon, NaN where missing
    strata: Ints | None = None  # a code for each row, where censoring is estimated within levels
    covariates: Floats | None = None  # [row, column] of a Cox model of censoring
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.time.size

    @property
    def cases(self) -> Sequence[Case]:
        """The rows as cases, made when asked for; what is expected of one is how its follow-up ended."""
        return _Cases(self)

    @property
    def sha256(self) -> str:
        """Hash of the content, row by row, the same from every file format."""
        digest = hashlib.sha256(b"workup followup 1" + self.cohort.sha256.encode())
        for name, column in (("time", self.time), ("status", self.status.astype(np.float64)), *self.risks.items()):
            digest.update(len(name).to_bytes(4, "little") + name.encode() + content(column))
        return digest.hexdigest()


class _Cases(Sequence[Case]):
    def __init__(self, rows: Followup) -> None:
        self._rows, self._plain = rows, rows.cohort.cases

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, row: int) -> Case: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[Case]: ...

    def __getitem__(self, row: int | slice) -> Case | Sequence[Case]:
        if isinstance(row, slice):
            return [self[place] for place in range(*row.indices(len(self)))]
        ended = {"followup": float(self._rows.time[row]), "status": int(self._rows.status[row])}
        return replace(self._plain[row], expected=ended)


def check_followup(table: Table, study: HorizonStudy, *, where: str) -> Followup:
    """A table with its parts checked."""
    columns = study.columns
    assert columns is not None
    arrays = columns_of(table, where=where)
    named = _named(columns)
    derived = derive(arrays, {part: text for part, text in named.items() if _may_be_derived(part)}, where=where)
    arrays |= derived.columns
    _refuse_lacking(arrays, named, study, where=where)
    status = _status(arrays[columns.status_part.column], columns.status_part, where=where)
    cohort = _cohort(arrays, columns, study, status, where=where)
    time = _followup(arrays, columns, cohort, where=where)
    _refuse_at_once(time, status, where=f"{where}, column '{_source(columns)}'")
    risks = {
        name: check_risk(arrays[column], where=f"{where}, column '{column}'")[0]
        for name, column in columns.risk.items()
    }
    _refuse_falling(columns, risks, where=where)
    part = study.censoring_part
    return Followup(
        cohort=cohort,
        horizons=columns.horizons,
        time=time,
        status=status,
        risks=risks,
        strata=_strata(arrays, part.strata) if part.strata else None,
        covariates=_covariates(arrays, part.cox, where=where) if part.cox else None,
        notes=(*_told_of(columns, time, status), *cohort.notes, *derived.warnings),
    )


def _named(columns: HorizonColumns) -> dict[str, str]:
    """Every part that is given, with its column."""
    part = columns.followup_part
    own = {"followup": None if part is None else part.column, "event_time": columns.event_time}
    own |= {"status": columns.status_part.column, "landmark": columns.landmark}
    return {
        **{name: column for name, column in own.items() if column is not None},
        **{f"risk.{name}": column for name, column in columns.risk.items()},
    }


def _may_be_derived(part: str) -> bool:
    return part in ("followup", "status") or part.startswith("risk.")


def _refuse_lacking(table: Table, named: Mapping[str, str], study: HorizonStudy, *, where: str) -> None:
    part = study.censoring_part
    asked = {f"columns.{part}": column for part, column in named.items()}
    asked |= {f"censoring.strata[{i}]": column for i, column in enumerate(part.strata)}
    asked |= {f"censoring.cox[{i}]": column for i, column in enumerate(part.cox)}
    for field, column in asked.items():
        if column not in table:
            raise InputError(
                f"{field} names '{visible(column)}', which the table does not have",
                where=where,
                **names_found(column, list(table)),
            )


def _cohort(
    table: Mapping[str, npt.NDArray[Any]], columns: HorizonColumns, study: HorizonStudy, status: Ints, *, where: str
) -> Cohort:
    """Patients, sites, times, groups and weights, checked as in a study of yes or no."""
    groups: list[str | Mapping[str, Any]] = [
        one if isinstance(one, str) else one.model_dump() for one in columns.groups
    ]
    if columns.landmark is not None:
        groups.append({"column": columns.landmark, "name": "landmark"})
    parts = Columns(
        outcome=_HAPPENED,
        risk=next(iter(columns.risk.values())),
        patient=columns.patient,
        site=columns.site,
        time=columns.time,
        weight=columns.weight,
        groups=tuple(groups),
        inputs=columns.inputs,
        time_format=study.time_format,
    )
    return check_cohort({**table, _HAPPENED: (status == EVENT).astype(np.float64)}, parts, where=where)


# ---- status ----------------------------------------------------------------------------------------------------------


def _status(column: npt.NDArray[Any], part: StatusPart, *, where: str) -> Ints:
    """0, 1 and 2; anything else is refused, since a code of its own would be read as one of these."""
    place = f"{where}, column '{part.column}'"
    missing = missing_cells(column)
    if missing.any():
        raise InputError(
            "every row needs a status: 0 censored, 1 event, 2 competing event",
            where=place,
            got=f"none in {rows_named(missing)}",
            remedy="give 0 where the patient was last seen without an event",
        )
    meaning = part.meaning()
    texts = identities(column)
    known = np.array([text in meaning for text in texts.tolist()])
    if not known.all():
        codes = ", ".join(f"{value} ({_WORDS[code]})" for value, code in meaning.items())
        raise InputError(
            f"a status must be one of {codes}",
            where=place,
            got=f"{_others(texts[~known])} in {rows_named(~known)}",
            remedy="say what each value means, as in status: {column: "
            f"{part.column}, codes: {{alive: censored, relapse: event, dead: competing}}}}",
        )
    return np.array([meaning[text] for text in texts.tolist()], dtype=np.int64)


_WORDS = {CENSORED: "censored", EVENT: "event", COMPETING: "competing event"}


def _others(values: npt.NDArray[Any]) -> str:
    """How many values there are that nobody explained; a value itself may be a name."""
    found = len(set(values.tolist()))
    return "another value" if found == 1 else f"{found} other values"


# ---- follow-up -------------------------------------------------------------------------------------------------------


def _source(columns: HorizonColumns) -> str:
    part = columns.followup_part
    return str(columns.event_time) if part is None else part.column


def _followup(table: Table, columns: HorizonColumns, cohort: Cohort, *, where: str) -> Floats:
    """Days from the prediction to the end of follow-up."""
    part = columns.followup_part
    place = f"{where}, column '{_source(columns)}'"
    if part is not None:
        given = numbers(table[part.column], role="follow-up", where=place)
        days = np.round(given * UNITS[part.unit]) / DAY
        missing = np.isnan(given)
    else:
        assert columns.event_time is not None and cohort.time is not None
        ended = check_time(table[columns.event_time], time_format=cohort.columns.time_format, where=place)
        missing = np.isnat(ended) | np.isnat(cohort.time)
        days = np.where(missing, np.nan, (ended - cohort.time) / np.timedelta64(1, "us") / DAY)
    if missing.any():
        raise InputError(
            "every row needs its follow-up; whoever has had no event is followed until last seen",
            where=place,
            got=f"none in {rows_named(missing)}",
            remedy="give the time or date when the patient was last seen, with status 0",
        )
    _refuse_rows(
        ~np.isfinite(days) | (days > _LONGEST),
        "follow-up must be shorter than two hundred years",
        place,
        "name the unit of the column, as in followup: {column: months, unit: month}",
    )
    _refuse_rows(days < 0, "follow-up cannot be negative", place, "check which column is which, or mend these rows")
    return np.asarray(days, dtype=np.float64)


def _refuse_rows(bad: Bools, expected: str, where: str, remedy: str) -> None:
    if bad.any():
        raise InputError(expected, where=where, got=f"another value in {rows_named(bad)}", remedy=remedy)


def _refuse_at_once(time: Floats, status: Ints, *, where: str) -> None:
    at_once = (time == 0) & (status != CENSORED)
    if at_once.any():
        raise InputError(
            "an event must lie after the prediction",
            where=where,
            got=f"an event at follow-up 0, not after the prediction, in {rows_named(at_once)}",
            remedy="leave out patients who had the event already, or predict earlier",
        )


def _refuse_falling(columns: HorizonColumns, risks: Mapping[str, Floats], *, where: str) -> None:
    for first, second in pairwise(columns.horizons):
        with np.errstate(invalid="ignore"):
            falls = risks[second.name] < risks[first.name] - _FALLS
        if falls.any():
            raise InputError(
                "the risk of an event by a later moment cannot be smaller than by an earlier one",
                where=f"{where}, columns '{columns.risk[first.name]}' and '{columns.risk[second.name]}'",
                got=f"a risk that falls from {first.name} to {second.name} in {rows_named(falls)}",
                remedy="check which column belongs to which horizon; survival falls, and 1 - survival is the risk",
            )


# ---- what censoring may depend on ------------------------------------------------------------------------------------


def _strata(table: Table, names: tuple[str, ...]) -> Ints:
    found = Levels.of(identities(table[names[0]]))
    for name in names[1:]:
        found = found.crossed(Levels.of(identities(table[name])))
    return found.codes


def _covariates(table: Table, names: tuple[str, ...], *, where: str) -> Floats:
    """Columns of a Cox model: numbers as they are, and one column for every level of a text but the first."""
    found: list[Floats] = []
    for name in names:
        column = table[name]
        missing = missing_cells(column)
        if missing.any():
            raise InputError(
                "a column of a Cox model of censoring was expected in every row",
                where=f"{where}, column '{name}'",
                got=f"none in {rows_named(missing)}",
                remedy="fill these cells, or name another column under censoring.cox",
            )
        if column.dtype.kind in "biuf":
            values = np.asarray(column, dtype=np.float64)
            spread = float(values.std())
            found.append((values - values.mean()) / spread if spread > 0 else values)
            continue
        levels = Levels.of([level_name(value) for value in column.tolist()])
        if len(levels.names) > _MOST_LEVELS:
            raise InputError(
                f"a column of a Cox model of censoring may have at most {_MOST_LEVELS} levels",
                where=f"{where}, column '{name}'",
                got=f"{len(levels.names)} levels",
                remedy="name a column with fewer, or a number",
            )
        found += [(levels.codes == code).astype(np.float64) for code in range(1, len(levels.names))]
    return np.column_stack(found) if found else np.zeros((len(next(iter(table.values()))), 0))


def _told_of(columns: HorizonColumns, time: Floats, status: Ints) -> Iterator[str]:
    part = columns.followup_part
    if part is not None and "unit" not in part.model_fields_set:
        yield f"Follow-up is taken in days (column '{part.column}'); name its unit if that is not so."
    lost = int(np.count_nonzero((time == 0) & (status == CENSORED)))
    if lost:
        yield f"{lost:,} of {time.size:,} rows {'was' if lost == 1 else 'were'} never seen again after the prediction."
