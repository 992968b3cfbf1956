"""Dates moved by one number of days: the constant of a patient, single dates and ranges. Knows no document.

A surface that does not read as a date is answered with None; what is then done about it is decided elsewhere."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, replace

from workup.redaction.dates import written as dates
from workup.redaction.dates.calendar_words import LONGEST
from workup.redaction.dates.written import Day, Field, Written
from workup.redaction.keys import Secret
from workup.text.calendar import MONTHS

MOST_DAYS, MOST_WEEKS = 365, 52
_JOINTS = re.compile(r"\s+(?:to|through|thru|until|till|and)\s+|\s*[-–—]\s*", re.IGNORECASE)
_MOST_JOINTS = 8
# Detectors often take a neighbour along: "March 4, 2021 and", "(3/4/21)".
_BEFORE = re.compile(
    r"(?:(?:on|since|from|between|in|at|by|until|around|about|approximately|circa|dated?)\s+|[(\[\"“:,])+", re.I
)
_AFTER = re.compile(r"(?:\s+(?:and|or|at|to|in|on|with|by|for)|[)\]\"”.,;:])+", re.I)


def shift_of(secret: Secret, patient: str, *, whole_weeks: bool = False) -> int:
    """By how many days all dates of a patient move: 1 to 365 forward or back, never 0, fixed by key and patient.

    With `whole_weeks` 1 to 52 weeks, so that weekdays stay true.

    >>> secret = Secret(b"0123456789abcdef")
    >>> shift_of(secret, "P1") == shift_of(secret, "P1"), shift_of(secret, "P1", whole_weeks=True) % 7
    (True, 0)
    """
    step, most = (7, MOST_WEEKS) if whole_weeks else (1, MOST_DAYS)
    drawn = secret.number("shift", "weeks" if whole_weeks else "days", patient) % (2 * most)
    return step * (drawn + 1 if drawn < most else most - drawn - 1)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a surface says: one day, or the first and the last of a range."""

    written: tuple[Written, ...]
    joint: str = ""
    short_end: bool = False  # March 4-9: the last day borrows its month
    short_start: bool = False  # 4-9 March: the first day borrows all but its own number
    around: tuple[str, str] = ("", "")  # words that a detector took along

    @property
    def days(self) -> tuple[Day, ...]:
        return tuple(one.day for one in self.written)

    @property
    def whole(self) -> bool:
        """Whether day, month and year are all given, so that a distance to it in days is a fact."""
        return all(one.precise for one in self.written) and self.written[-1].dated

    def moved(self, days: int) -> str | None:
        """The surface with every day moved; None where the calendar ends."""
        try:
            after = [one.day + datetime.timedelta(days=days) for one in self.written]
        except OverflowError:
            return None
        lead, trail = self.around
        if len(after) == 1:
            return f"{lead}{self.written[0].on(after[0])}{trail}"
        first, last = self.written
        if self.short_start and (after[0].month, after[0].year) != (after[1].month, after[1].year):
            first = replace(first, fields=last.fields)
        if not self.short_start and not first.dated and last.dated and after[0].year != after[1].year:
            first = replace(first, fields=_full(first, last))
        month = f"{MONTHS[after[1].month - 1]} " if self.short_end and after[0].month != after[1].month else ""
        return f"{lead}{first.on(after[0])}{self.joint}{month}{last.on(after[1])}{trail}"


def _full(first: Written, last: Written) -> tuple[Field, ...]:
    """The form of a first day that has to give its year: that of the last day, or its own with the year after it."""
    if any(field.role in ("month", "month_name") for field in last.fields):
        return last.fields
    year = next(field for field in last.fields if field.role == "year")
    return (*first.fields, Field("text", ", "), year)


def read_days(surface: str, *, near: int = 2020, year: int | None = None, day_first: bool = False) -> Reading | None:
    """The day or the range of days that a surface writes, as `dates.read` reads them; None where it writes none.

    >>> read_days("March 4-9, 2021").moved(30), read_days("3/4-3/9/2021").moved(-64), read_days("3 to 5 days")
    ('April 3-8, 2021', '12/30/2020-1/4/2021', None)
    """
    if len(surface) > LONGEST:
        return None
    found = _days(surface, near, year, day_first)
    start = opening.end() if (opening := _BEFORE.match(surface)) else 0
    closing = next((match for match in _AFTER.finditer(surface, start) if match.end() == len(surface)), None)
    end = closing.start() if closing else len(surface)
    if found is not None or (start, end) == (0, len(surface)) or start >= end:
        return found
    found = _days(surface[start:end], near, year, day_first)
    return None if found is None else replace(found, around=(surface[:start], surface[end:]))


def _days(surface: str, near: int, year: int | None, day_first: bool) -> Reading | None:
    whole = dates.read(surface, near=near, year=year, day_first=day_first)
    if whole is not None:
        return Reading((whole,))
    for count, joint in enumerate(_JOINTS.finditer(surface)):
        if count >= _MOST_JOINTS:
            break
        found = _range(surface[: joint.start()], joint[0], surface[joint.end() :], near, year, day_first)
        if found is not None:
            return found
    return None


def _range(left: str, joint: str, right: str, near: int, year: int | None, day_first: bool) -> Reading | None:
    last = dates.read(right, near=near, year=year, day_first=day_first)
    short = last is None
    if short:
        last = _borrowed(left, right, near, year)
    if last is None:
        return None
    given_year = last.day.year if last.dated else year
    if left.isdigit() and left.isascii() and len(left) <= 2 and not short:
        first = _first_of(left, last)
        return None if first is None else Reading((first, last), joint, short_start=True)
    first = dates.read(left, near=near, year=given_year, day_first=day_first)
    if first is None or first.precise != last.precise:
        return None
    if not first.dated and first.day > last.day:  # 12/30-1/4/2021 begins in the year before
        first = dates.read(left, near=near, year=last.day.year - 1, day_first=day_first)
    if first is None or first.day > last.day:
        return None
    return Reading((first, last), joint, short)


def _borrowed(left: str, right: str, near: int, year: int | None) -> Written | None:
    """The end of "March 4-9, 2021", which gives no month of its own."""
    head = left.split(" ", 1)[0]
    found = dates.read(f"{head} {right}", near=near, year=year) if right[:1].isdigit() else None
    if found is None or found.fields[0].role != "month_name" or not found.precise:
        return None
    return replace(found, fields=found.fields[2:])


def _first_of(left: str, last: Written) -> Written | None:
    """The beginning of "4-9 March 2021", which gives a number alone."""
    if not last.precise or next(field.role for field in last.fields if field.role != "text") != "day":
        return None
    try:
        day = last.day.replace(day=int(left))
    except ValueError:
        return None
    return replace(last, day=day, fields=(Field("day", left),)) if day < last.day else None
