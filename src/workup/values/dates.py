"""Days, years and clock times in the many ways in which notes write them. Knows no patient and no locale."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from types import MappingProxyType

from workup.text.calendar import MONTHS, SHORT_MONTHS, WEEKDAYS, season_of
from workup.text.numbers import number_words, ordinal, ordinal_words, roman, spoken_year

Day = datetime.date


def _long(d: Day) -> str:
    return f"{MONTHS[d.month - 1]} {d.day}, {d.year}"


def _short(d: Day) -> str:
    return SHORT_MONTHS[d.month - 1]


def _month(d: Day) -> str:
    return MONTHS[d.month - 1]


def _weekday(d: Day) -> str:
    return WEEKDAYS[d.weekday()]


def _two(d: Day) -> str:
    return f"{d.year % 100:02d}"


def end_of_range(d: Day) -> Day:
    """The last day of a range that begins on a day: two to ten days long, fixed by the day itself."""
    return d + datetime.timedelta(days=1 + d.toordinal() % 9)


def _days_of_month(d: Day) -> str:
    last = end_of_range(d)
    if last.month == d.month:
        return f"{_month(d)} {d.day}-{last.day}, {d.year}"
    return f"{_month(d)} {d.day} - {_month(last)} {last.day}, {last.year}"


def _numeric_range(d: Day) -> str:
    last = end_of_range(d)
    return f"{d.month}/{d.day}-{last.month}/{last.day}/{last.year}"


def _words_range(d: Day) -> str:
    last = end_of_range(d)
    return f"{_month(d)} {ordinal(d.day)} through {_month(last)} {ordinal(last.day)}"


def _full_range(d: Day) -> str:
    last = end_of_range(d)
    return f"{d.month:02d}/{d.day:02d}/{d.year} to {last.month:02d}/{last.day:02d}/{last.year}"


# Day, month and year all given: what a date of birth is written in.
FULL_FORMS: Mapping[str, Callable[[Day], str]] = MappingProxyType(
    {
        "iso": lambda d: d.isoformat(),
        "iso_slash": lambda d: f"{d.year}/{d.month:02d}/{d.day:02d}",
        "iso_compact": lambda d: f"{d.year}{d.month:02d}{d.day:02d}",
        "us_slash": lambda d: f"{d.month:02d}/{d.day:02d}/{d.year}",
        "us_slash_unpadded": lambda d: f"{d.month}/{d.day}/{d.year}",
        "us_slash_two": lambda d: f"{d.month:02d}/{d.day:02d}/{_two(d)}",
        "us_slash_unpadded_two": lambda d: f"{d.month}/{d.day}/{_two(d)}",
        "us_dash": lambda d: f"{d.month:02d}-{d.day:02d}-{d.year}",
        "us_dash_two": lambda d: f"{d.month}-{d.day}-{_two(d)}",
        "us_dot": lambda d: f"{d.month}.{d.day}.{d.year}",
        "us_dot_two": lambda d: f"{d.month:02d}.{d.day:02d}.{_two(d)}",
        "us_compact": lambda d: f"{d.month:02d}{d.day:02d}{d.year}",
        "us_spaced": lambda d: f"{d.month:02d} / {d.day:02d} / {d.year}",
        "us_apostrophe": lambda d: f"{d.month}/{d.day}/'{_two(d)}",
        "eu_slash": lambda d: f"{d.day:02d}/{d.month:02d}/{d.year}",
        "eu_dot": lambda d: f"{d.day:02d}.{d.month:02d}.{d.year}",
        "eu_dash": lambda d: f"{d.day:02d}-{d.month:02d}-{d.year}",
        "long": _long,
        "long_no_comma": lambda d: f"{_month(d)} {d.day} {d.year}",
        "long_ordinal": lambda d: f"{_month(d)} {ordinal(d.day)}, {d.year}",
        "long_caps": lambda d: _long(d).upper(),
        "long_lower": lambda d: _long(d).lower(),
        "long_apostrophe": lambda d: f"{_month(d)} {d.day}, '{_two(d)}",
        "short": lambda d: f"{_short(d)} {d.day}, {d.year}",
        "short_dot": lambda d: f"{_short(d)}. {d.day}, {d.year}" if d.month != 5 else f"May {d.day}, {d.year}",
        "day_month_year": lambda d: f"{d.day} {_month(d)} {d.year}",
        "day_short_year": lambda d: f"{d.day:02d} {_short(d)} {d.year}",
        "day_short_dash": lambda d: f"{d.day:02d}-{_short(d)}-{d.year}",
        "day_short_dash_two": lambda d: f"{d.day}-{_short(d)}-{_two(d)}",
        "military": lambda d: f"{d.day:02d}{_short(d).upper()}{d.year}",
        "military_spaced": lambda d: f"{d.day:02d} {_short(d).upper()} {_two(d)}",
        "ordinal_of": lambda d: f"{ordinal(d.day)} of {_month(d)}, {d.year}",
        "the_ordinal_of_year": lambda d: f"the {ordinal(d.day)} of {_month(d)} {d.year}",
        "weekday_long": lambda d: f"{_weekday(d)}, {_long(d)}",
        "weekday_day_month_year": lambda d: f"{_weekday(d)} {d.day} {_month(d)} {d.year}",
        "weekday_short": lambda d: f"{_weekday(d)[:3]} {d.month}/{d.day}/{_two(d)}",
        "roman": lambda d: f"{d.day}.{roman(d.month)}.{d.year}",
        "roman_slash": lambda d: f"{d.day}/{roman(d.month)}/{_two(d)}",
        "spoken": lambda d: f"{_month(d)} {ordinal_words(d.day)}, {spoken_year(d.year)}",
        "ordinal_day_of_year": lambda d: f"{d.year}-{d.timetuple().tm_yday:03d}",
    }
)
# Something left out, or several days: finer than a year all the same.
PARTIAL_FORMS: Mapping[str, Callable[[Day], str]] = MappingProxyType(
    {
        "month_day_slash": lambda d: f"{d.month}/{d.day}",
        "month_day_padded": lambda d: f"{d.month:02d}/{d.day:02d}",
        "month_day": lambda d: f"{_month(d)} {d.day}",
        "month_ordinal": lambda d: f"{_month(d)} {ordinal(d.day)}",
        "short_day": lambda d: f"{_short(d)} {d.day}",
        "day_month": lambda d: f"{d.day} {_month(d)}",
        "the_ordinal_of": lambda d: f"the {ordinal(d.day)} of {_month(d)}",
        "the_ordinal": lambda d: f"the {ordinal(d.day)}",
        "month_ordinal_words": lambda d: f"{_month(d)} {ordinal_words(d.day)}",
        "month_year": lambda d: f"{_month(d)} {d.year}",
        "month_of_year": lambda d: f"{_month(d)} of {d.year}",
        "short_year": lambda d: f"{_short(d)} {d.year}",
        "month_apostrophe": lambda d: f"{_month(d)} '{_two(d)}",
        "short_dash_two": lambda d: f"{_short(d)}-{_two(d)}",
        "month_slash_year": lambda d: f"{d.month:02d}/{d.year}",
        "iso_month": lambda d: f"{d.year}-{d.month:02d}",
        "weekday_month_day": lambda d: f"{_weekday(d)}, {_month(d)} {d.day}",
        "weekday_the_ordinal": lambda d: f"{_weekday(d)} the {ordinal(d.day)}",
        "weekday_slash": lambda d: f"{_weekday(d)[:3]}. {d.month}/{d.day}",
        "part_of_month": lambda d: f"{('early', 'mid', 'late')[min(2, (d.day - 1) // 10)]} {_month(d)} {d.year}",
        "season_year": lambda d: f"{season_of(d.month)} of {d.year}",
        "quarter": lambda d: f"Q{(d.month + 2) // 3} {d.year}",
        "range_month": _days_of_month,
        "range_slash": _numeric_range,
        "range_through": _words_range,
        "range_to": _full_range,
    }
)
DATE_FORMS: Mapping[str, Callable[[Day], str]] = MappingProxyType({**FULL_FORMS, **PARTIAL_FORMS})
USUAL_FULL = (
    "iso",
    "us_slash",
    "us_slash_unpadded",
    "us_slash_two",
    "us_slash_unpadded_two",
    "long",
    "short",
    "day_short_dash",
)
USUAL_DATES = (*USUAL_FULL, "month_day_slash", "month_day")

YEAR_FORMS: Mapping[str, Callable[[int], str]] = MappingProxyType(
    {
        "plain": str,
        "apostrophe": lambda year: f"'{year % 100:02d}",
        "range": lambda year: f"{year}-{year + 1 + year % 4}",
        "range_short": lambda year: f"{year}-{(year + 1) % 100:02d}",
        "spoken": spoken_year,
        "range_slash": lambda year: f"{year}/{(year + 1) % 100:02d}",
        "decade": lambda year: f"{year // 10 * 10}s",
    }
)


def _twelve(hour: int) -> int:
    return hour % 12 or 12


TIME_FORMS: Mapping[str, Callable[[int, int], str]] = MappingProxyType(
    {
        "clock_24": lambda hour, minute: f"{hour:02d}:{minute:02d}",
        "clock_12": lambda hour, minute: f"{_twelve(hour)}:{minute:02d} {'AM' if hour < 12 else 'PM'}",
        "clock_12_tight": lambda hour, minute: f"{_twelve(hour)}:{minute:02d}{'am' if hour < 12 else 'pm'}",
        "clock_12_dots": lambda hour, minute: f"{_twelve(hour)}:{minute:02d} {'a.m.' if hour < 12 else 'p.m.'}",
        "hour_only": lambda hour, minute: f"{_twelve(hour)} {'am' if hour < 12 else 'pm'}",
        "hour_tight": lambda hour, minute: f"{_twelve(hour)}{'AM' if hour < 12 else 'PM'}",
        "military": lambda hour, minute: f"{hour:02d}{minute:02d}",
        "military_hours": lambda hour, minute: f"{hour:02d}{minute:02d} hrs",
        "seconds": lambda hour, minute: f"{hour:02d}:{minute:02d}:{(7 * hour + minute) % 60:02d}",
        "h": lambda hour, minute: f"{hour:02d}h{minute:02d}",
        "dot": lambda hour, minute: f"{hour}.{minute:02d}",
        "o_clock": lambda hour, minute: f"{number_words(_twelve(hour))} o'clock",
        "zone": lambda hour, minute: f"{hour:02d}:{minute:02d} EST",
    }
)
