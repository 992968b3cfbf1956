"""The time of each row: dates as they are, ISO text, or text in the format a study names. Never a guess at an order."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import InputError
from workup.scores import MISSING, level_name
from workup.stats.arrays import Bools, Times

EXCEL = "excel"
_ISO = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)\s?(Z|z|[+-]\d{2}(?::?\d{2})?)?)?", re.ASCII
)
_DAY_AND_MONTH = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})\b.*", re.ASCII)
_NEVER = np.datetime64("NaT", "us")


def rows_named(bad: Bools) -> str:
    """How many rows are at fault and which is the first, never what they hold.

    >>> rows_named(np.array([False, True, True]))
    '2 of 3 rows, the first is row 2 below the header'
    """
    return f"{int(bad.sum())} of {len(bad)} rows, the first is row {int(np.argmax(bad)) + 1} below the header"


def check_time(column: npt.NDArray[Any], *, time_format: str | None, where: str) -> Times:
    """Times in UTC, NaT where the cell is empty.

    >>> cells = np.array(["2024-03-01", "2024-03-01T10:00+02:00"], dtype=object)
    >>> check_time(cells, time_format=None, where="cohort.csv").tolist()
    [datetime.datetime(2024, 3, 1, 0, 0), datetime.datetime(2024, 3, 1, 8, 0)]
    """
    if column.dtype.kind == "M":
        return np.asarray(column.astype("datetime64[us]"))
    if time_format == EXCEL:
        return _from_serials(column, where)
    if time_format is not None:
        _check_format(time_format, where)
    elif column.dtype.kind in "biuf" and not np.isnan(column.astype(np.float64)).all():
        raise _numbers_refused(column.astype(np.float64), where)
    texts = [level_name(value) for value in column.tolist()]
    parsed: dict[str, np.datetime64 | None] = {MISSING: _NEVER}
    for text in set(texts) - {MISSING}:
        parsed[text] = _iso(text) if time_format is None else _formatted(text, time_format)
    bad = np.fromiter((parsed[text] is None for text in texts), dtype=bool, count=len(texts))
    if bad.any():
        raise _unreadable([text for text, time in parsed.items() if time is None], bad, time_format, where)
    return np.array([parsed[text] for text in texts], dtype="datetime64[us]")


def _iso(text: str) -> np.datetime64 | None:
    found = _ISO.fullmatch(text)
    if not found:
        return None
    day, clock, zone = found.groups()
    try:
        moment = datetime.datetime.fromisoformat(f"{day}T{(clock or '00:00').replace(',', '.')}{(zone or '').upper()}")
        return _utc(moment)
    except (ValueError, OverflowError):
        return None


def _formatted(text: str, time_format: str) -> np.datetime64 | None:
    try:
        return _utc(datetime.datetime.strptime(text, time_format))
    except (ValueError, OverflowError):
        return None


def _utc(moment: datetime.datetime) -> np.datetime64:
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(moment, "us")


def _check_format(time_format: str, where: str) -> None:
    try:
        datetime.datetime.strptime("", time_format)
    except ValueError as error:
        if "does not match" in str(error):
            return
        fault = "an unknown or unfinished % directive"
    else:
        fault = "a format that says nothing"
    raise InputError(
        "time_format must be a format such as %d/%m/%Y",
        where=where,
        got=f"{time_format!r} with {fault}",
        remedy="use %Y %m %d %H %M %S, or 'excel' for day numbers of a spreadsheet",
    )


def _from_serials(column: npt.NDArray[Any], where: str) -> Times:
    if column.dtype.kind not in "biuf":
        raise InputError(
            "time_format 'excel' needs day numbers",
            where=where,
            got="text",
            remedy="name the format of the text instead",
        )
    days = column.astype(np.float64)
    bad = ~np.isnan(days) & ~((days >= 1) & (days < 2958466))  # the days from 1900 to 9999 that a spreadsheet knows
    if bad.any():
        raise InputError(
            "a day number of a spreadsheet was expected",
            where=where,
            got=f"others in {rows_named(bad)}",
            remedy="mend them",
        )
    times = np.full(len(days), _NEVER)
    known = ~np.isnan(days)
    # Serials are floats: to the millisecond they are exact, below it they are noise. Day 0 is 30 December 1899,
    # since a spreadsheet believes that 1900 was a leap year.
    milliseconds = np.round(days[known] * 86_400_000).astype("int64")
    times[known] = np.datetime64("1899-12-30", "us") + milliseconds.astype("timedelta64[ms]")
    return times


def _numbers_refused(values: npt.NDArray[np.float64], where: str) -> InputError:
    present = values[~np.isnan(values)]
    if ((present >= 20000) & (present <= 60000)).all():
        got = "numbers that look like day numbers of Excel"
        remedy = "format the cells as dates in the spreadsheet, or set time_format: excel"
    elif ((present >= 19000101) & (present <= 21001231) & (present == np.round(present))).all():
        got, remedy = "numbers of eight digits", "set time_format: '%Y%m%d' if they are year, month and day"
    elif ((present >= 1900) & (present <= 2100) & (present == np.round(present))).all():
        got, remedy = "numbers that look like years", "set time_format: '%Y'"
    else:
        got, remedy = "numbers", "write dates as 2024-03-31, or set time_format to the form they have"
    return InputError("dates or ISO text were expected as times", where=where, got=got, remedy=remedy)


def _unreadable(texts: list[str], bad: npt.NDArray[np.bool_], time_format: str | None, where: str) -> InputError:
    if time_format is not None:
        return InputError(
            f"times in the format {time_format!r} were expected",
            where=where,
            got=f"others in {rows_named(bad)}",
            remedy="mend these cells, or empty them where the time is unknown",
        )
    dates = [found for text in texts if (found := _DAY_AND_MONTH.fullmatch(text))]
    if 2 * len(dates) >= len(texts):
        first, second = (max(int(found.group(group)) for found in dates) for group in (1, 3))
        mark, year = dates[0].group(2), "%Y" if len(dates[0].group(4)) == 4 else "%y"
        day_first, month_first = f"%d{mark}%m{mark}{year}", f"%m{mark}%d{mark}{year}"
        likely = {(True, False): [day_first], (False, True): [month_first]}.get(
            (first > 12, second > 12), [day_first, month_first]
        )
        return InputError(
            "dates whose day and month cannot be confused were expected",
            where=where,
            got=f"day and month in an order that is not said, in {rows_named(bad)}",
            remedy=f"set time_format to {' or '.join(repr(form) for form in likely)} (and %H:%M for a time of day), or "
            "write dates as 2024-03-31",
        )
    return InputError(
        "times in ISO form (2024-03-31 or 2024-03-31T14:05) were expected",
        where=where,
        got=f"others in {rows_named(bad)}",
        remedy="set time_format to the form they have, or empty the cells where the time is unknown",
    )
