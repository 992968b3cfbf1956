"""The parts that a written date is made of, and how each is written for another day. Reads nothing."""

from __future__ import annotations

import datetime
from typing import Literal, NamedTuple

from workup.redaction.dates import calendar_words as words
from workup.text.calendar import MONTHS, SHORT_MONTHS, WEEKDAY_NUMBER, WEEKDAYS, season_of
from workup.text.numbers import ordinal, ordinal_words, roman, spoken_year

Day = datetime.date
Role = Literal[
    "text", "day", "month", "year", "month_name", "month_roman", "weekday", "ordinal", "day_words", "year_words",
    "day_of_year", "part", "season", "quarter",
]  # fmt: skip


class Field(NamedTuple):
    """One part of a written date: its role, and the words it had."""

    role: Role
    words: str
    wide: bool = False  # of numbers, filled up with zeros; of the name of a month, set between dashes or digits


def written(field: Field, day: Day, *, moved: int) -> str:
    """A part of a date for the day that it became, `moved` days from the one it was.

    >>> written(Field("month_name", "MARCH"), Day(2021, 5, 12), moved=69)
    'MAY'
    """
    role, old, wide = field
    match role:
        case "text":
            return old
        case "day":
            return f"{day.day:02d}" if wide else str(day.day)
        case "month":
            return f"{day.month:02d}" if wide else str(day.month)
        case "year":
            return f"{day.year:04d}" if len(old) == 4 else f"{day.year % 100:02d}"
        case "day_of_year":
            return f"{day.timetuple().tm_yday:03d}"
        case "month_roman":
            return roman(day.month)
        case "quarter":
            return str((day.month + 2) // 3)
        case "weekday":
            # From the weekday that was written: where no year is told, that of the day would be a guess.
            name = WEEKDAYS[(WEEKDAY_NUMBER[old.casefold()] + moved) % 7]
            return _cased(name if old.casefold().endswith("day") else name[:3], old)
        case _:
            return _cased(_named(field, day), old)


def _named(field: Field, day: Day) -> str:
    role, old, wide = field
    match role:
        case "month_name":
            # May is both: it is taken for the whole name, unless it stands as short ones do (04MAY2021).
            whole = len(old) > 4 or old.casefold() in ("june", "july") or (old.casefold() == "may" and not wide)
            return (MONTHS if whole else SHORT_MONTHS)[day.month - 1]
        case "ordinal":
            return ordinal(day.day)[-2:]
        case "day_words":
            return ordinal_words(day.day)
        case "year_words":
            return spoken_year(day.year)
        case "season":
            return season_of(day.month)
        case _:
            return words.PARTS[min(2, (day.day - 1) // 10)]


def _cased(new: str, old: str) -> str:
    if len(old) > 1 and old.isupper():
        return new.upper()
    if old.islower():
        return new.lower()
    return new[:1].upper() + new[1:]
