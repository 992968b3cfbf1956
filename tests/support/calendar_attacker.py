"""A reader of redacted notes who wants the days back: knows the calendar and how shifting works, no key, no original.

Written apart from the redaction: plain dates (MM/DD/YYYY) and words in one sentence are held against each other."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable

DAY = datetime.timedelta(days=1)
EVERY = frozenset(one for one in range(-365, 366) if one)
_DATE = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")
_NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = re.compile(r"\b(mon|tue|tues|wed|weds|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:days?)?\b", re.IGNORECASE)
_AGE = re.compile(r"\b(\d{1,3})-year-old")
_SEASONS = {"winter": (12, 1, 2, 3), "spring": (3, 4, 5, 6), "summer": (6, 7, 8, 9), "autumn": (9, 10, 11, 12)}
_MONTHS = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
]  # fmt: skip


def easter(year: int) -> datetime.date:
    """Gauss, with the correction for the Gregorian calendar."""
    a, b, c = year % 19, year % 4, year % 7
    k = year // 100
    m = (15 - (13 + 8 * k) // 25 + k - k // 4) % 30
    n = (4 + k - k // 4) % 7
    d = (19 * a + m) % 30
    e = (2 * b + 4 * c + 6 * d + n) % 7
    days = 22 + d + e
    if (d, e) == (29, 6) or ((d, e) == (28, 6) and (11 * m + 11) % 30 < 19):
        days -= 7
    return datetime.date(year, 3, 1) + (days - 1) * DAY


def holiday(sentence: str, day: datetime.date) -> bool | None:
    """Whether the day is the holiday that the sentence names; None where it names none."""
    low = sentence.lower()
    fixed = {"christmas eve": (12, 24), "new year's eve": (12, 31), "christmas": (12, 25), "halloween": (10, 31),
             "fourth of july": (7, 4), "independence day": (7, 4), "juneteenth": (6, 19)}  # fmt: skip
    for name, when in fixed.items():
        if name in low:
            return (day.month, day.day) == when
    if "thanksgiving" in low:
        return day.month == 11 and day.weekday() == 3 and 22 <= day.day <= 28
    if "labor day" in low:
        return day.month == 9 and day.weekday() == 0 and day.day <= 7
    if "memorial day" in low:
        return day.month == 5 and day.weekday() == 0 and day.day > 24
    if "easter" in low:
        return day == easter(day.year)
    return None


def candidates(notes: Iterable[str]) -> frozenset[int]:
    """Shifts that fit everything that the notes of one patient still say."""
    left = set(EVERY)
    for note in notes:
        born = None
        ages = {int(one) for one in _AGE.findall(note)}
        seen = []
        for sentence in re.split(r"(?<=[a-z\])\d])(?<!Sat)\.\s|\n", note):
            for found in _DATE.finditer(sentence):
                day = datetime.date(int(found[3]), int(found[1]), int(found[2]))
                if re.search(r"born (?:on )?$", sentence[: found.start()], re.IGNORECASE):
                    born = day
                    continue
                seen.append(day)
                # A weekday right in front that fits the date moved along with it, and tells nothing.
                before = _WEEKDAY.search(sentence[: found.start()][-14:])
                words = sentence
                if before and _NAMES.index(before[1][:3].lower()) == day.weekday():
                    words = sentence[: found.start()][:-14] + sentence[found.end() :]
                left = {one for one in left if _true(words, day - one * DAY)}
        if born and len(ages) == 1 and seen:
            age = ages.pop()
            left = {one for one in left if any(_age(born - one * DAY, day - one * DAY) == age for day in seen)}
        years = re.findall(r"born in (\d{4})", note, re.IGNORECASE)
        if years and len(ages) == 1 and seen:
            age, year = ages.pop(), int(years[0])
            left = {one for one in left if any((d - one * DAY).year - year - age in (0, 1) for d in seen)}
    return frozenset(left)


def _age(born: datetime.date, day: datetime.date) -> int:
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))


def _true(sentence: str, day: datetime.date) -> bool:
    """Whether a sentence can have been written of a day."""
    low = re.sub(r"\bsat \d", "", sentence.lower())
    named = {_NAMES.index(one[:3]) for one in _WEEKDAY.findall(low)}
    if len(named) == 1 and day.weekday() not in named:
        return False
    if re.search(r"\bm/?w/?f\b", low) and day.weekday() not in (0, 2, 4):
        return False
    if re.search(r"\bweekend\b", low) and day.weekday() < 5:
        return False
    if holiday(sentence, day) is False:
        return False
    for season, months in _SEASONS.items():
        if re.search(rf"\b(?:this|in|the) {season}\b", low) and day.month not in months:
            return False
    for number, month in enumerate(_MONTHS, start=1):
        if re.search(rf"\b(?:in|this|of) {month}\b", low) and day.month != number:
            return False
    for pattern, value in (
        (r"\bq([1-4])\b", (day.month + 2) // 3),
        (r"\b(?:iso |calendar )week (\d+)", day.isocalendar().week),
        (r"\bday (\d+) of the year", day.timetuple().tm_yday),
        (r"\bthe (\d+)(?:st|nd|rd|th)\b", day.day),
    ):
        told = re.search(pattern, low)
        if told and int(told[1]) != value:
            return False
    zone = re.search(r"\d [ecmp]([sd])t\b", low)
    if zone:
        summer = _second_sunday_of_march(day.year) <= day < _first_sunday_of_november(day.year)
        if (zone[1] == "d") != summer:
            return False
    return True


def _second_sunday_of_march(year: int) -> datetime.date:
    first = datetime.date(year, 3, 1)
    return first + ((6 - first.weekday()) % 7 + 7) * DAY


def _first_sunday_of_november(year: int) -> datetime.date:
    first = datetime.date(year, 11, 1)
    return first + (6 - first.weekday()) % 7 * DAY
