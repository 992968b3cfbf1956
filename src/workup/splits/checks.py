"""What a split may be asked for, and the sentence that says so when it is asked for something else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from workup.errors import InputError, near
from workup.scores import MISSING, Levels
from workup.splits.patients import Rows, Table, levels_of, patient_counters, times_of
from workup.stats.arrays import Floats

STRATEGIES = ("random", "outcome", "demographics", "multidimensional", "temporal", "site")
MOST_DAYS = 36_525  # of an embargo: a hundred years
_LISTED = 30
_FEW = 10  # levels that are always few enough, however small the table


@dataclass(frozen=True)
class Plan:
    """Everything a split was asked for."""

    strategy: str
    patient: str | None = None
    outcome: str | None = None
    by: tuple[str, ...] = ()
    site: str | None = None
    time: str | None = None
    share: Fraction = Fraction(1, 5)
    cut: np.datetime64 | None = None
    embargo: int = 0
    minimum: int = 10
    minimum_rows: int = 50
    quota: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    hold_out: tuple[str, ...] = ()
    seed: int = 0

    @property
    def stratified(self) -> bool:
        """Whether patients are drawn one by one."""
        return self.strategy not in ("temporal", "site")

    @property
    def strata(self) -> tuple[str, ...]:
        """Variables whose margins are held, the most important first."""
        chosen = {
            "outcome": (self.outcome,),
            "demographics": self.by,
            "multidimensional": (self.outcome, *self.by, self.site),
        }.get(self.strategy, ())
        return tuple(dict.fromkeys(name for name in (*chosen, *self.quota) if name is not None))

    @property
    def shown(self) -> tuple[str, ...]:
        """Variables whose levels are counted on each side."""
        parts = (self.outcome, *self.by, *self.quota, self.site)
        return tuple(dict.fromkeys(name for name in parts if name is not None))


def exact_share(share: float) -> Fraction:
    """The share as it was written: 0.2 is a fifth, not the float beside it."""
    try:
        found = Fraction(str(share))
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found < 1:
        raise InputError(
            "the validation share must lie between 0 and 1", got=str(share), remedy="0.2 puts a fifth in validation"
        )
    return found


def exact_cut(cut: Any) -> np.datetime64 | None:
    """A calendar day, from ISO text or a date."""
    if cut is None:
        return None
    try:
        # Checked first, because numpy reads 'today' from the clock.
        if isinstance(cut, str) and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", cut, re.ASCII):
            raise ValueError
        day = np.datetime64(cut, "D")
        if not np.isnat(day):
            return day
    except (ValueError, TypeError):
        pass
    raise InputError("the cut must be a date such as 2023-07-01", got=f"'{cut}'", remedy="write year, month and day")


def check_plan(plan: Plan) -> None:
    """Refuse a plan that lacks what its strategy needs, or holds what its strategy would ignore."""
    if plan.strategy not in STRATEGIES:
        raise InputError(
            "the strategy must be a known one", got=f"'{plan.strategy}'", remedy=near(plan.strategy, STRATEGIES)
        )
    _check_needs(plan)
    _check_unused(plan)
    numbers = {"seed": plan.seed, "minimum": plan.minimum, "minimum number of rows": plan.minimum_rows}
    for name, number in numbers.items():
        if number < 0:
            raise InputError(f"the {name} must be 0 or more", got=str(number))
    if not 0 <= plan.embargo <= MOST_DAYS:
        raise InputError(f"the embargo must be 0 to {MOST_DAYS:,} days", got=f"{plan.embargo}")
    named = [name for name in (plan.patient, plan.outcome, plan.site, plan.time, *plan.by) if name is not None]
    twice = [name for name in named if named.count(name) > 1]
    if twice:
        raise InputError("a column can play one part only", got=f"'{twice[0]}' for two", remedy="name it once")


def _check_needs(plan: Plan) -> None:
    needs = {
        "outcome": (plan.outcome, "the column of the outcome (--outcome)"),
        "demographics": (plan.by, "a column to group by (--by)"),
        "temporal": (plan.time, "the column of the time (--time)"),
        "site": (plan.site, "the column of the site (--site)"),
    }
    given, what = needs.get(plan.strategy, (True, ""))
    if not given:
        raise InputError(f"the strategy '{plan.strategy}' needs {what}", got="none")
    if plan.strategy == "multidimensional" and len(plan.strata) < 2:
        raise InputError(
            "the strategy 'multidimensional' needs two columns or more to hold at once",
            got=str(len(plan.strata)),
            remedy="name the outcome (--outcome), groups (--by) or the site (--site)",
        )


def _check_unused(plan: Plan) -> None:
    unused = {
        "cut": (plan.cut is not None and plan.strategy != "temporal", "temporal"),
        "embargo": (bool(plan.embargo) and plan.strategy != "temporal", "temporal"),
        "hold_out": (bool(plan.hold_out) and plan.strategy != "site", "site"),
        "quota": (bool(plan.quota) and not plan.stratified, "random, outcome, demographics or multidimensional"),
    }
    for setting, (wrong, where) in unused.items():
        if wrong:
            raise InputError(
                f"the setting '{setting}' belongs to the strategy {where}",
                got=f"the strategy '{plan.strategy}'",
                remedy="leave it out, or choose that strategy",
            )


def check_table(table: Table, plan: Plan, *, where: str) -> dict[str, Any]:
    """Columns as arrays of one length, with all that the plan names."""
    arrays = {str(name): _as_column(column) for name, column in table.items()}
    lengths = {len(column) for column in arrays.values()}
    if not arrays or lengths == {0} or len(lengths) > 1:
        raise InputError(
            "a table of equally long columns with at least one row was expected",
            where=where,
            got="an empty table" if len(lengths) < 2 else f"columns of {min(lengths)} to {max(lengths)} rows",
        )
    for part, name in (("patient", plan.patient), ("time", plan.time), *(("column", shown) for shown in plan.shown)):
        if name is not None and name not in arrays:
            raise _absent(part, name, list(arrays), where)
    return arrays


def _as_column(column: Any) -> Any:
    array = np.asarray(column)
    if array.dtype.kind in "biu":
        return array.astype(np.float64)
    return array.astype(object) if array.dtype.kind in "US" else array


def _absent(part: str, name: str, names: Sequence[str], where: str) -> InputError:
    if any(re.fullmatch(r"[-+0-9.,:/\s]*", known) for known in names):
        # A file without a header has data where names should be, and data are not shown.
        got, remedy = "a first line that looks like data", "put a line with the names of the columns above the data"
    else:
        listed = names if len(names) <= _LISTED else [known for known in names if name.lower() in known.lower()]
        got, remedy = f"{len(names)} other columns", f"use the exact name of a column; {near(name, listed)}"
    return InputError(
        f"the {part} '{name}' must be a column of the table" if part != "column" else f"'{name}' must be a column",
        where=where,
        got=got,
        remedy=remedy,
    )


def gathered(table: Table, plan: Plan, *, where: str) -> Rows:
    """The rows with their patients, outcomes, times and levels, each found fit."""
    patient = patient_counters(table, plan.patient, where=where)
    n_patients = int(patient.max()) + 1
    if n_patients < 2:
        raise InputError(
            "a split needs two patients or more, because a patient is on one side only",
            where=where,
            got="one",
            remedy="name the column that tells patients apart, or give more rows",
        )
    outcome = None if plan.outcome is None else _outcome(table[plan.outcome], where=f"{where}, column '{plan.outcome}'")
    moment = None if plan.time is None else times_of(table[plan.time], where=f"{where}, column '{plan.time}'")
    levels: dict[str, Levels] = {}
    for name in plan.shown:
        column = outcome if name == plan.outcome and outcome is not None else table[name]
        levels[name] = levels_of(column)
        most = n_patients * 3 // 4 if name == plan.site else n_patients // 3
        _refuse_ids(levels[name], n_patients, most, where=f"{where}, column '{name}'")
    day = None if moment is None else moment.astype("datetime64[D]")
    return Rows(patient, outcome, day, moment, levels)


def _outcome(column: Any, *, where: str) -> Floats:
    values = column
    if column.dtype.kind == "O" and all(value is None for value in column.tolist()):
        values = np.full(len(column), np.nan)
    if values.dtype.kind != "f" or not np.isin(values[~np.isnan(values)], (0.0, 1.0)).all():
        raise InputError(
            "an outcome must be 0 (no event) or 1 (event), and empty where it is not known yet",
            where=where,
            got="text" if values.dtype.kind == "O" else "other values",
            remedy="recode what means event to 1 and everything else to 0",
        )
    return np.asarray(values, dtype=np.float64)


def _refuse_ids(levels: Levels, n_patients: int, most: int, *, where: str) -> None:
    """A column with a level for every few patients holds ids or measurements, which are no groups to show."""
    if len(levels.names) > max(_FEW, most):
        raise InputError(
            "a column of groups was expected",
            where=where,
            got=f"{len(levels.names):,} different values among {n_patients:,} patients",
            remedy="group the values first, such as ages in bands, or name another column",
        )


def level_codes(levels: Levels, wanted: Sequence[str], *, where: str) -> list[int]:
    """Places of levels by name; an unknown name answers with the near ones."""
    for name in wanted:
        if name not in levels.names:
            listed = levels.names if len(levels.names) <= _LISTED else ()
            remedy = near(name, listed) if listed else f"it has {len(levels.names):,} levels"
            raise InputError("a level of the column was expected", where=where, got=f"'{name}'", remedy=remedy)
    return [levels.names.index(name) for name in wanted]


def known_levels(levels: Levels) -> list[int]:
    """Places of all levels but "missing"."""
    return [place for place, name in enumerate(levels.names) if name != MISSING]
