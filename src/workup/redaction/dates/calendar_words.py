"""What is said of time without a day that could move: relative dates, years, times of day; and days and years in words.

The names of months and weekdays are those of `text.calendar`. Knows no patient."""

from __future__ import annotations

import re

from workup.text.calendar import MONTH_NAMES, SEASONS, WEEKDAY_NUMBER
from workup.text.numbers import number_words, ordinal_words, spoken_year
from workup.values import tables

DAY_WORDS = {ordinal_words(day): day for day in range(1, 32)} | {number_words(day): day for day in range(1, 32)}
YEAR_WORDS = {spoken_year(year): year for year in range(1900, 2100)}
SEASON = {name: place for place, name in enumerate(SEASONS)} | {"autumn": 3}
PARTS = ("early", "mid", "late")
_HOLIDAYS = frozenset(name.casefold() for name in tables.words("holidays"))
_MORE_HOLIDAYS = frozenset(
    ("christmas", "thanksgiving", "halloween", "easter", "new year", "valentine", "independence day", "labor day")
)
_DAY_NAMES = "|".join(sorted(WEEKDAY_NUMBER, key=len, reverse=True))
_RELATIVE = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|overnight|ago|last|next|this|past|previous|following|coming|later|earlier"
    r"|before|after|since|within|pod|post-?op(?:erative)?|hospital day|hd|day|days|weeks?|months?|years?|hours?"
    rf"|morning|afternoon|evening|night|weekend|current(?:ly)?|(?:{_DAY_NAMES})s?)\b",
    re.IGNORECASE,
)
# The 3rd of last month, March, 2021, 3/4: with the day of the note at hand these fix a day, and give away the shift.
_FIXES = re.compile(
    rf"\d{{4}}|\d\s?[/.]\s?\d|\b\d{{1,2}}(?:st|nd|rd|th)\b(?!\s+birthday)|\b(?:{MONTH_NAMES})\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?:at\s+)?(?:\d{1,2}(?:[:.h]\d{2}){1,2}(?:\.\d{1,6})?|\d{1,2}(?=\s*[ap]\.?m)|\d{4}(?=\s*h))"
    r"\s*(?:[ap]\.?m\.?|h(?:ou)?rs?|h)?\s*(?:Z|[+-]\d{2}:?\d{2}|[A-Z]{2,4})?",
    re.IGNORECASE,
)
_YEARS = re.compile(r"(?:the\s+)?(?:(?:1[89]|20)\d{2}(?:s|\s?[-–/]\s?(?:\d{2}|\d{4}))?|['’]?\d{2}s|['’]\d{2})")
LONGEST = 80


def is_relative(surface: str) -> bool:
    """Whether a date is given by another day or by its weekday, so that it stays true when all days move alike.

    What also fixes a day of the calendar (a holiday, a month, the 3rd of last month) does not.

    >>> [is_relative(said) for said in ("two days ago", "last Tuesday", "Christmas Eve", "the 3rd of last month")]
    [True, True, False, False]
    """
    said = surface.casefold()
    if len(said) > LONGEST or any(name in said for name in (*_HOLIDAYS, *_MORE_HOLIDAYS)):
        return False
    return _RELATIVE.search(said) is not None and _FIXES.search(said) is None


def is_year(surface: str) -> bool:
    """Whether only years are given: one, a range of them, a decade.

    >>> [is_year(said) for said in ("2019", "2019-20", "'98", "the 1990s", "nineteen ninety", "3/2019")]
    [True, True, True, True, True, False]
    """
    return len(surface) <= LONGEST and (bool(_YEARS.fullmatch(surface)) or surface.casefold() in YEAR_WORDS)


def is_time(surface: str) -> bool:
    """Whether only a time of day is given.

    >>> [is_time(said) for said in ("14:30", "2 pm", "0830 hrs", "2:30 p.m.", "3/4")]
    [True, True, True, True, False]
    """
    return len(surface) <= LONGEST and bool(_TIME.fullmatch(surface))


_CLOCK = re.compile(
    r"(?:T|,?\s+(?:at\s+)?|\s*@\s*)\d{1,2}(?::\d{2}){1,2}(?:\.\d{1,6})?\s*(?:[ap]\.?m\.?)?\s*(?:Z|[+-]\d{2}:?\d{2}"
    r"|[A-Z]{2,4})?",
    re.IGNORECASE,
)


def clock_at(surface: str) -> int:
    """Where the time of day begins that closes a date; the length of the surface where there is none.

    >>> clock_at("2021-03-04T14:30:00Z"), clock_at("3/4/21 2:30 pm"), clock_at("3/4/21")
    (10, 6, 6)
    """
    colon = surface.find(":")
    for at in range(max(0, colon - 8), max(0, colon)):
        if _CLOCK.fullmatch(surface, at):
            return at
    return len(surface)
