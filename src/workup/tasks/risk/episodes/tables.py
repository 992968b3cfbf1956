"""The two tables of episodes, checked: predictions and events, each row with its patient, stay and moment.

What cannot be used is refused with its file, row and remedy. What is put aside is counted in `aside`, by these names:
`duplicate_predictions` (the same risk at the same moment of a stay, which counts once), `duplicates_in_two_groups` (of
these, rows that differ in site, group or weight), `predictions_without_risk`, `predictions_of_other_versions`,
`events_without_type`, `events_of_other_types`, `times_shown_twice` (times that a clock set back shows twice).
Ids never stand in a message.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import InputError, near, visible
from workup.scores import MISSING, level_name
from workup.stats.arrays import Bools, Floats, Ints, Whole
from workup.task import Table
from workup.tasks.expressions import looks_like_expression
from workup.tasks.risk.checks import check_risk, check_weight
from workup.tasks.risk.cohort import columns_of, names_found
from workup.tasks.risk.derived import Grouping
from workup.tasks.risk.episodes.clock import read_times
from workup.tasks.risk.episodes.settings import EpisodeColumnsPart, EpisodesPart, EventsPart
from workup.tasks.times import rows_named

_EXACT_LIMIT = 2.0**53  # floats from here on cannot tell neighbouring whole numbers apart
_LISTED = 30  # types of events that a message can list
_LONGEST_TYPE = 60  # characters of a type that a message shows
_ALIKE = 0.8  # how alike two names are, from 0 to 1, that are one name misspelt


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as codes, of 32 bits: `names` are sorted, and -1 is a cell without a value."""

    codes: Whole
    names: tuple[str, ...]

    @classmethod
    def of(cls, column: npt.NDArray[Any]) -> Coded:
        """Code a column by the text under which its values are reported; the same from every file format.

        >>> Coded.of(np.array(["b", None, "a", " b"], dtype=object)).codes.tolist()
        [1, -1, 0, 1]
        """
        if column.dtype.kind in "fM":
            values, raw = np.unique(column, return_inverse=True)
            keys: list[Any] = list(values)
            raw = raw.reshape(-1)
        else:
            cells = column.tolist()
            if set(map(type, cells)) != {str}:
                cells = [cell if type(cell) is str else level_name(cell) for cell in cells]
            index = {cell: place for place, cell in enumerate(dict.fromkeys(cells))}
            raw = np.fromiter(map(index.__getitem__, cells), dtype=np.int32, count=len(cells))
            keys = list(index)
        texts = [level_name(key) for key in keys]
        names = tuple(sorted(set(texts) - {MISSING}))
        code = {name: place for place, name in enumerate(names)}
        return cls(np.array([code.get(text, -1) for text in texts], dtype=np.int32)[raw], names)

    @property
    def missing(self) -> Bools:
        """Which cells have no value."""
        return self.codes < 0

    def take(self, rows: npt.NDArray[Any]) -> Coded:
        """The same names over a choice of rows."""
        return Coded(self.codes[rows], self.names)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions in the order of stays and times, each once.

    `row` is the row of the file, from 1, for messages. `number` counts the moments at which a prediction was made,
    those without a risk among them, so that the risks of two models at one moment have one number.
    """

    where: str
    patient: Coded
    encounter: Coded
    time: Ints
    risk: Floats
    row: Whole
    number: Whole
    site: Coded | None = None
    groups: Mapping[str, Coded] = field(default_factory=dict)
    weight: Floats | None = None
    elsewhere: tuple[str, ...] = ()  # encounters of which another version of the model made every prediction
    zoned: bool = False
    naive: bool = False
    aside: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True, eq=False)
class Events:
    """Events that have a role, in the order of the file. `roles` has one mask per role, and `stop_at` is one of them.

    `dated` says which have a time; a patient or an encounter may be missing.
    """

    where: str
    patient: Coded
    encounter: Coded
    time: Ints
    dated: Bools
    row: Ints
    roles: Mapping[str, Bools]
    zoned: bool = False
    naive: bool = False
    aside: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.time)


def read_predictions(
    table: Table,
    columns: EpisodeColumnsPart,
    part: EpisodesPart,
    *,
    where: str = "predictions",
    time_format: str | None = None,
) -> Predictions:
    """The predictions of a table, checked, each moment of a stay once."""
    arrays = columns_of(table, where=where)
    groupings = _groupings(arrays, columns, where=where)
    named: dict[str, str | None] = {
        "patient": columns.patient,
        "encounter": columns.encounter,
        "time": columns.time,
        "risk": columns.risk,
        "version": columns.version,
        "site": columns.site,
        "weight": columns.weight,
    }
    named |= {f"groups[{place}]": one.source for place, one in enumerate(groupings)}
    _refuse_absent(arrays, named, where=where, part="columns")

    def at(name: str) -> str:
        return f"{where}, column '{name}'"

    patient = _ids(arrays[columns.patient], of="its patient", where=at(columns.patient))
    encounter = _ids(arrays[columns.encounter], of="its stay", where=at(columns.encounter))
    clocked = read_times(
        arrays[columns.time], time_format=time_format, time_zone=part.time_zone, where=at(columns.time)
    )
    if not clocked.known.all():
        raise InputError(
            "every prediction needs its time",
            where=at(columns.time),
            got=f"none in {rows_named(~clocked.known)}",
            remedy="give these rows the moment at which the risk was known, or remove them",
        )
    risk, risk_notes = check_risk(arrays[columns.risk], where=at(columns.risk))
    weight = None if columns.weight is None else check_weight(arrays[columns.weight], where=at(columns.weight))
    of_version = _of_version(arrays, columns.version, part.version, where=where)
    usable = of_version & np.isfinite(risk)
    if not usable.any():
        raise InputError(
            "predictions with a risk were expected",
            where=where,
            got="none" if part.version is None else "none of the version named",
            remedy="check the risk column and the version",
        )
    other = np.zeros(len(encounter.names), dtype=bool)
    other[encounter.codes] = True
    other[encounter.codes[of_version]] = False
    everything = Predictions(
        where=where,
        patient=patient,
        encounter=encounter,
        time=clocked.time,
        risk=risk,
        row=np.arange(1, len(risk) + 1, dtype=np.int32),
        number=np.zeros(0, dtype=np.int32),
        site=None if columns.site is None else Coded.of(arrays[columns.site]),
        groups={one.name: _levels(one, arrays, where=f"{where}, group '{one.name}'") for one in groupings},
        weight=weight,
        elsewhere=tuple(encounter.names[place] for place in np.flatnonzero(other)),
        zoned=clocked.zoned,
        naive=clocked.naive,
        notes=(
            *clocked.notes("predictions"),
            *risk_notes,
            *(note for one in groupings for note in one.warnings(arrays, where=f"group '{one.name}'")),
        ),
    )
    refuse_two_patients(patient.codes, encounter.codes, everything.row, where=where)
    counted = {
        "predictions_without_risk": int((of_version & ~np.isfinite(risk)).sum()),
        "predictions_of_other_versions": int((~of_version).sum()),
        "times_shown_twice": clocked.repeated,
    }
    return _each_once(everything, of_version, usable, counted)


def _each_once(table: Predictions, listed: Bools, usable: Bools, counted: dict[str, int]) -> Predictions:
    """In the order of stays and times, without rows that say again what another says."""
    encounter, time = table.encounter.codes, table.time
    rows = np.flatnonzero(listed)
    order = rows[np.lexsort((time[rows], encounter[rows]))]
    number = np.zeros(len(listed), dtype=np.int32)
    number[order] = np.cumsum(~_equal_neighbours(encounter[order], time[order])) - 1
    rows, order = rows[usable[rows]], order[usable[order]]
    again = _equal_neighbours(encounter[order], time[order])
    if again.any():
        # Which of several equal rows is kept must not rest on their order in the file.
        design: list[npt.NDArray[Any]] = [levels.codes for _, levels in sorted(table.groups.items())]
        design += [] if table.site is None else [table.site.codes]
        design += [] if table.weight is None else [table.weight]
        order = rows[np.lexsort([*(column[rows] for column in design), table.risk[rows], time[rows], encounter[rows]])]
        again = _equal_neighbours(encounter[order], time[order])
        _refuse_two_risks(table, order, again)
        differ = np.zeros(len(order), dtype=bool)
        for column in design:
            differ[1:] |= column[order][1:] != column[order][:-1]
        counted["duplicates_in_two_groups"] = int((again & differ).sum())
    kept = order[~again]
    return Predictions(
        where=table.where,
        patient=table.patient.take(kept),
        encounter=table.encounter.take(kept),
        time=time[kept],
        risk=table.risk[kept],
        row=table.row[kept],
        number=number[kept],
        site=None if table.site is None else table.site.take(kept),
        groups={name: levels.take(kept) for name, levels in table.groups.items()},
        weight=None if table.weight is None else table.weight[kept],
        elsewhere=table.elsewhere,
        zoned=table.zoned,
        naive=table.naive,
        aside={"duplicate_predictions": int(again.sum()), "duplicates_in_two_groups": 0, **counted},
        notes=table.notes,
    )


def _equal_neighbours(first: Whole, second: Whole) -> Bools:
    """Which rows are equal to the one before."""
    equal = np.zeros(len(first), dtype=bool)
    equal[1:] = (first[1:] == first[:-1]) & (second[1:] == second[:-1])
    return equal


def _refuse_two_risks(table: Predictions, order: npt.NDArray[np.intp], again: Bools) -> None:
    risk = table.risk[order]
    two = np.flatnonzero(again[1:] & (risk[1:] != risk[:-1])) + 1
    if not two.size:
        return
    pairs = np.sort(np.stack((table.row[order[two - 1]], table.row[order[two]])), axis=0)
    first = pairs[:, np.lexsort(pairs[::-1])[0]]
    raise InputError(
        "one risk at each moment of a stay was expected",
        where=table.where,
        got=f"two different ones in rows {first[0]} and {first[1]} below the header"
        + (f", and at {two.size - 1:,} more moments" if two.size > 1 else ""),
        remedy="keep the one that clinicians saw; if they are of two versions of the model, name columns.version; if "
        "they are of an hour that the clock shows twice, write times with their zone",
    )


def read_events(
    table: Table,
    events: EventsPart,
    part: EpisodesPart,
    *,
    where: str = "events",
    time_format: str | None = None,
) -> Events:
    """The events of a table that have a role, checked; a table without any event of the target is refused."""
    if not table or all(np.size(column) == 0 for column in table.values()):
        raise InputError(
            "a table of events with at least one row was expected",
            where=where,
            got="no row",
            remedy="name the file that holds the events; without it every prediction would count as one that no event "
            "followed",
        )
    arrays = columns_of(table, where=where)
    columns = events.columns
    named = {"patient": columns.patient, "encounter": columns.encounter, "type": columns.type, "time": columns.time}
    _refuse_absent(arrays, named, where=where, part="events.columns")
    kind = Coded.of(arrays[columns.type])
    roles = {**events.roles(), "stop_at": part.stop_at}
    notes = _check_types(kind, roles, where=f"{where}, column '{columns.type}'")
    masks = {role: np.isin(kind.codes, _places(kind.names, names)) for role, names in roles.items()}
    used = np.flatnonzero(np.logical_or.reduce(list(masks.values())))
    where_time = f"{where}, column '{columns.time}'"
    column = arrays[columns.time][used]
    try:
        clocked = read_times(column, time_format=time_format, time_zone=part.time_zone, where=where_time)
    except InputError:
        # Say it again of the whole column, so that the row named is that of the file.
        read_times(arrays[columns.time], time_format=time_format, time_zone=part.time_zone, where=where_time)
        raise
    encounter: Coded
    if columns.encounter is None:
        encounter = Coded(np.full(len(kind.codes), -1, dtype=np.int64), ())
    else:
        _refuse_inexact(arrays[columns.encounter], where=f"{where}, column '{columns.encounter}'")
        encounter = Coded.of(arrays[columns.encounter])
    _refuse_inexact(arrays[columns.patient], where=f"{where}, column '{columns.patient}'")
    return Events(
        where=where,
        patient=Coded.of(arrays[columns.patient]).take(used),
        encounter=encounter.take(used),
        time=clocked.time,
        dated=clocked.known,
        row=used + 1,
        roles={role: mask[used] for role, mask in masks.items()},
        zoned=clocked.zoned,
        naive=clocked.naive,
        aside={
            "events_without_type": int(kind.missing.sum()),
            "events_of_other_types": len(kind.codes) - len(used) - int(kind.missing.sum()),
            "times_shown_twice": clocked.repeated,
        },
        notes=(*clocked.notes("events"), *notes),
    )


def _check_types(kind: Coded, roles: Mapping[str, tuple[str, ...]], *, where: str) -> list[str]:
    """Refuse a target that no row has, and a type that looks misspelt; tell of others that no row has."""
    notes = []
    known = set(kind.names)
    targets = [name for name in roles["target"] if name in known]
    for role, names in roles.items():
        for name in names:
            if name in known:
                continue
            alike = difflib.get_close_matches(name.casefold(), [one.casefold() for one in known], n=1, cutoff=_ALIKE)
            if alike or (role == "target" and not targets):
                raise InputError(
                    f"events of the type {visible(name)[:_LONGEST_TYPE]!r}, which is named as {role}, were expected",
                    where=where,
                    got="no row of that type"
                    + ("; to read that as no events would make every prediction a control" if role == "target" else ""),
                    remedy=f"name the type as the file has it; {_types_found(name, kind.names)}",
                )
            notes.append(f"No event is of the type {visible(name)[:_LONGEST_TYPE]!r}, which is named as {role}.")
    return notes


def _types_found(name: str, names: Iterable[str]) -> str:
    # A column of many or long values is no column of types, and may hold anything: it is not shown.
    names = list(names)
    if len(names) > _LISTED or any(len(one) > _LONGEST_TYPE for one in names):
        close = [one for one in difflib.get_close_matches(name, names, n=3, cutoff=_ALIKE) if len(one) <= _LONGEST_TYPE]
        return near(name, map(visible, close)) if close else f"the column has {len(names):,} different values"
    return near(name, map(visible, names))


def _places(names: tuple[str, ...], chosen: Iterable[str]) -> list[int]:
    wanted = set(chosen)
    return [place for place, name in enumerate(names) if name in wanted]


def _groupings(arrays: Table, columns: EpisodeColumnsPart, *, where: str) -> list[Grouping]:
    found = [Grouping.of(given if isinstance(given, str) else given.model_dump(), arrays) for given in columns.groups]
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            "each group needs a name of its own", where=where, got=f"two groups '{twice}'", remedy="give one a 'name:'"
        )
    return found


def _levels(grouping: Grouping, arrays: Table, *, where: str) -> Coded:
    whole = grouping.source in arrays and not grouping.cuts
    return Coded.of(arrays[grouping.source] if whole else grouping.levels(arrays, where=where))


def _refuse_absent(arrays: Table, named: Mapping[str, str | None], *, where: str, part: str) -> None:
    lacking = {
        role: name
        for role, name in named.items()
        if name is not None and name not in arrays and not (role.startswith("groups") and looks_like_expression(name))
    }
    if lacking:
        said = ", ".join(f"{part}.{role} names '{visible(name)}'" for role, name in lacking.items())
        name = next(iter(lacking.values()))
        raise InputError(f"{said}, which the table does not have", where=where, **names_found(name, list(arrays)))


def _ids(column: npt.NDArray[Any], *, of: str, where: str) -> Coded:
    _refuse_inexact(column, where=where)
    coded = Coded.of(column)
    if coded.missing.any():
        raise InputError(
            f"every prediction needs the id of {of}",
            where=where,
            got=f"none in {rows_named(coded.missing)}",
            remedy="give these rows an id, or remove them",
        )
    return coded


def _refuse_inexact(column: npt.NDArray[Any], *, where: str) -> None:
    if column.dtype.kind == "f":
        merged = np.abs(column) >= _EXACT_LIMIT
        if merged.any():
            raise InputError(
                "ids must be exact",
                where=where,
                got=f"floating-point numbers too large to tell neighbours apart in {rows_named(merged)}",
                remedy="store the ids as text or as integers",
            )


def refuse_two_patients(patient: Whole, encounter: Whole, row: Whole, *, where: str) -> None:
    """Refuse an encounter that is of one patient in one row and of another in another."""
    first = np.zeros(int(encounter.max()) + 1, dtype=np.int64)
    first[encounter[::-1]] = np.arange(len(encounter))[::-1]  # the last to be written is the first row
    two = np.flatnonzero(patient != patient[first[encounter]])
    if two.size:
        rows = (row[first[encounter[two[0]]]], row[two[0]])
        raise InputError(
            "an encounter of one patient was expected",
            where=where,
            got=f"two patients for one encounter in rows {rows[0]} and {rows[1]} below the header",
            remedy="check which column is the encounter; if ids of encounters begin anew with each patient, join the "
            "two columns into one",
        )


def _of_version(arrays: Table, column: str | None, version: str | None, *, where: str) -> Bools:
    n = len(next(iter(arrays.values())))
    if column is None:
        if version is not None:
            raise InputError(
                "episodes.version needs columns.version, or its rows cannot be found",
                where=where,
                got="no column of versions",
                remedy="name the column of the model's version as columns.version, or leave episodes.version out",
            )
        return np.ones(n, dtype=bool)
    found = Coded.of(arrays[column])
    names = [*found.names, *(["missing"] if found.missing.any() else [])]
    if version is None:
        if len(names) > 1:
            raise InputError(
                "predictions of one version of the model were expected",
                where=f"{where}, column '{column}'",
                got=f"{len(names)} versions" + (", rows without one among them" if found.missing.any() else ""),
                remedy=f"name the one to be judged as episodes.version; {_types_found('', found.names)}",
            )
        return np.ones(n, dtype=bool)
    if version.strip() not in found.names:
        raise InputError(
            "predictions of the version named were expected",
            where=f"{where}, column '{column}'",
            got="no row of that version",
            remedy=f"name a version as the file has it; {_types_found(version, found.names)}",
        )
    return np.asarray(found.codes == found.names.index(version.strip()))
