"""Times as whole microseconds on one clock. A time without a zone is read in the zone that is named, if any; what a
change of the clock makes doubtful is refused or counted, never guessed in silence."""

from __future__ import annotations

import datetime
import re
import zoneinfo
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import InputError
from workup.scores import MISSING, level_name
from workup.stats.arrays import Bools, Ints, Times
from workup.tasks.times import check_time, rows_named

_WITH_ZONE = re.compile(r".*\d{2}:\d{2}.*(?:[Zz]|[+-]\d{2}(?::?\d{2})?)", re.ASCII | re.DOTALL)
# Times as programs write them, one to a line, empty cells among them: looked at a block at a time, without a way back.
_CLOCK = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6}+)?+)?+)?+"
_ZONE = r"(?<!\d{4}-\d\d-\d\d)(?:Z|[+-]\d\d:?+\d\d)"
_WITHOUT_ZONES = re.compile(rf"(?:(?:{_CLOCK})?+\n)*+", re.ASCII)
_PERHAPS_WITH = re.compile(rf"(?:(?:{_CLOCK}(?:{_ZONE})?+)?+\n)*+", re.ASCII)
_PARTS = re.compile(rf"({_CLOCK})?+({_ZONE})?+\n", re.ASCII)
_BLOCK = 65_536
_SLOT = 15 * 60_000_000  # clocks are set at full quarters of an hour
_EARLIEST, _LATEST = (int(np.datetime64(year, "us").astype(np.int64)) for year in ("1800", "3000"))
_EPOCH = datetime.datetime(1970, 1, 1)
MIXED_REMEDY = "write every time with its zone, or name the time_zone of those without one"


@dataclass(frozen=True, eq=False)
class Clocked:
    """A column of times: microseconds since 1970, which are known, and whether some have a zone and some have none.

    `repeated` counts times that a clock set back shows twice: in the zone named, or, where none is, in the night when
    clocks are set back in Europe, America or Australia.
    """

    time: Ints
    known: Bools
    zoned: bool
    naive: bool
    repeated: int

    def notes(self, what: str) -> tuple[str, ...]:
        """What must be said of times that may be of a clock that was set back in between."""
        if not (self.naive and self.repeated):
            return ()
        return (
            f"Warning: times of {what} have no zone, and {self.repeated:,} are of a night in which clocks are set back "
            "in Europe, America or Australia. If they are local times, name episodes.time_zone: hours across the "
            "change are wrong by one otherwise.",
        )


def read_times(column: npt.NDArray[Any], *, time_format: str | None, time_zone: str | None, where: str) -> Clocked:
    """The times of a column; empty cells are unknown."""
    plain = _plainly_written(column) if time_format is None else None
    if plain is None:
        found, with_zone = check_time(column, time_format=time_format, where=where), _with_zone(column, time_format)
    else:
        found, with_zone = plain
    known = ~np.isnat(found)
    time = np.where(known, found.astype(np.int64), 0)
    placeholder = known & ((time < _EARLIEST) | (time >= _LATEST))
    if placeholder.any():
        raise InputError(
            "times between the years 1800 and 2999 were expected",
            where=where,
            got=f"others in {rows_named(placeholder)}",
            remedy="leave the cell empty where a placeholder such as 9999-12-31 means that nothing is known",
        )
    zoned = known & with_zone
    naive = known & ~zoned
    if time_zone is not None:
        return _read_in_zone(time, known, naive, zone=time_zone, zoned=bool(zoned.any()), where=where)
    if zoned.any() and naive.any():
        raise InputError(
            "times that all have a zone, or all have none, were expected",
            where=where,
            got=f"no zone in {rows_named(naive)}",
            remedy=MIXED_REMEDY,
        )
    shown_twice = naive & _often_set_back(time)
    if shown_twice.any() and column.dtype.kind != "M":
        raise InputError(
            "times that can be read one way only were expected",
            where=where,
            got=f"an hour that a clock set back in autumn shows twice, without a zone, in {rows_named(shown_twice)}",
            remedy="name the time_zone of the clock under 'episodes', such as Europe/Berlin, or UTC for one that is "
            "never set back",
        )
    return Clocked(time, known, bool(zoned.any()), bool(naive.any()), int(shown_twice.sum()))


def _plainly_written(column: npt.NDArray[Any]) -> tuple[Times, Bools] | None:
    """Times in UTC and which had a zone, where all are ISO text as programs write it; None where some are not.

    This is what most files hold, and to read it cell after cell takes minutes where there are millions.
    """
    if column.dtype.kind != "O":
        return None
    times, zoned = [np.zeros(0, dtype="datetime64[us]")], [np.zeros(0, dtype=bool)]
    for begin in range(0, len(column), _BLOCK):
        cells = ["" if cell is None else cell for cell in column[begin : begin + _BLOCK].tolist()]
        if not set(map(type, cells)) <= {str}:
            return None
        zones = [""] * len(cells)
        text = "\n".join([*cells, ""])
        if not _WITHOUT_ZONES.fullmatch(text):
            if not _PERHAPS_WITH.fullmatch(text):
                return None
            parts = _PARTS.findall(text)
            cells, zones = [clock for clock, _ in parts], [zone for _, zone in parts]
        ahead = {zone: _minutes(zone) for zone in set(zones)}
        if len(cells) != len(column[begin : begin + _BLOCK]) or None in ahead.values():
            return None
        try:
            clocks = np.array(cells, dtype="S26").astype("datetime64[us]")
        except ValueError:
            return None
        times.append(clocks - np.array(list(map(ahead.__getitem__, zones)), dtype="timedelta64[m]"))
        zoned.append(np.array(list(map(bool, zones)), dtype=bool))
    return np.concatenate(times), np.concatenate(zoned)


def _minutes(zone: str) -> int | None:
    """How far a zone is ahead of UTC, None where no zone is so far."""
    if zone in ("", "Z"):
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if hours > 23 or minutes > 59:
        return None
    return (hours * 60 + minutes) * (-1 if zone[0] == "-" else 1)


def _with_zone(column: npt.NDArray[Any], time_format: str | None) -> Bools:
    # Readers turn times whose type has a zone into UTC, so a column of times has none left.
    if column.dtype.kind != "O":
        return np.zeros(len(column), dtype=bool)
    if time_format is not None:
        return np.full(len(column), "%z" in time_format)
    seen: dict[Any, bool] = {MISSING: False}
    texts = [level_name(value) for value in column.tolist()]
    for text in set(texts) - {MISSING}:
        seen[text] = bool(_WITH_ZONE.fullmatch(text))
    return np.fromiter((seen[text] for text in texts), dtype=bool, count=len(texts))


def _read_in_zone(time: Ints, known: Bools, naive: Bools, *, zone: str, zoned: bool, where: str) -> Clocked:
    """Times without a zone, taken from the clock of one; of an hour shown twice, the first."""
    clock = zoneinfo.ZoneInfo(zone)
    slots, place = np.unique(np.floor_divide(time, _SLOT), return_inverse=True)
    before, after = np.zeros(len(slots), dtype=np.int64), np.zeros(len(slots), dtype=np.int64)
    for number, slot in enumerate(slots.tolist()):
        moment = (_EPOCH + datetime.timedelta(microseconds=slot * _SLOT)).replace(tzinfo=clock)
        before[number], after[number] = _offset(moment), _offset(moment.replace(fold=1))
    skipped = naive & (before < after)[place]
    if skipped.any():
        raise InputError(
            f"times that the clock of {zone} shows were expected",
            where=where,
            got=f"an hour that was skipped when the clock was set forward, in {rows_named(skipped)}",
            remedy="check time_zone: the times may be of another zone, or of a clock that is never set, such as UTC",
        )
    return Clocked(
        time - np.where(naive, before[place], 0),
        known,
        zoned,
        naive=False,
        repeated=int((naive & (before > after)[place]).sum()),
    )


def _offset(moment: datetime.datetime) -> int:
    offset = moment.utcoffset()
    return 0 if offset is None else offset // datetime.timedelta(microseconds=1)


def _often_set_back(time: Ints) -> Bools:
    """Hours shown twice in Europe (last Sunday of October), North America (first of November), Australia (April)."""
    hours = np.floor_divide(time, 3_600_000_000)
    sundays = np.flatnonzero((hours // 24 + 4) % 7 == 0)  # 1 January 1970 was a Thursday
    hour = hours[sundays] % 24
    days = (hours[sundays] // 24).astype("datetime64[D]")
    months = days.astype("datetime64[M]")
    month, day = months.astype(np.int64) % 12 + 1, (days - months).astype(np.int64) + 1
    europe = (month == 10) & (day >= 25) & (hour >= 1) & (hour <= 3)
    america = (month == 11) & (day <= 7) & (hour == 1)
    australia = (month == 4) & (day <= 7) & (hour == 2)
    found = np.zeros(len(time), dtype=bool)
    found[sundays] = europe | america | australia
    return found
