"""Dates, years, times and ages. Ages are the number alone; a weekday that belongs to a date is inside it."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from workup.text.calendar import WEEKDAYS
from workup.text.numbers import number_words, ordinal
from workup.values import dates, tables
from workup.values.draws import Chance
from workup.values.patients import Patient
from workup.values.surfaces import Forms, Write, Written, drawn, own

_DEATH, _ELDER = 21, 22  # places of the patient's digits
_HOLIDAYS = tables.words("holidays")
_UNITS = ("days", "weeks", "months")
_EVENTS = ("surgery", "admission", "discharge", "the fall", "delivery", "transplant", "the accident", "her last visit")


def event_day(patient: Patient, chance: Chance, when: datetime.date) -> datetime.date:
    """A day that a note of `when` may name: mostly days or months before, sometimes years, sometimes still to come."""
    reach = chance.uniform()
    if reach < 0.05:
        return when + datetime.timedelta(days=chance.integer(1, 90))
    back = (
        chance.integer(0, 10) if reach < 0.45 else chance.integer(0, 365) if reach < 0.85 else chance.integer(0, 3650)
    )
    day = when - datetime.timedelta(days=back)
    return day if day > patient.birth else when


def death_day(patient: Patient) -> datetime.date:
    """The day on which a relative of the patient died: some time before the first visit."""
    return patient.visit - datetime.timedelta(days=1 + int(patient.own(_DEATH, 6)) % 9000)


def _event(form: Callable[[datetime.date], str]) -> Write:
    def write(patient: Patient, chance: Chance, when: datetime.date) -> Written:
        day = event_day(patient, chance, when)
        return form(day), f"date:{day.isoformat()}"

    return write


def _year(form: Callable[[int], str]) -> Write:
    def write(patient: Patient, chance: Chance, when: datetime.date) -> Written:
        year = chance.integer(min(max(patient.birth.year + 5, when.year - 40), when.year), when.year)
        return form(year), f"year:{year}"

    return write


def _time(form: Callable[[int, int], str]) -> Write:
    def write(patient: Patient, chance: Chance, when: datetime.date) -> Written:
        hour, minute = chance.integer(0, 23), chance.integer(0, 59)
        return form(hour, minute), ""

    return write


def _relative(form: Callable[[Chance, datetime.date], str]) -> Write:
    return lambda patient, chance, when: (form(chance, when), "")


def _over_89(patient: Patient, when: datetime.date) -> tuple[int, str]:
    """The patient's own age, or, of a younger patient, that of a very old relative."""
    age = patient.age_at(when)
    return (age, "age") if age > 89 else (90 + int(patient.own(_ELDER, 6)) % 15, "age:elder")


def _under_90(patient: Patient, when: datetime.date) -> tuple[int, str]:
    """The patient's own age, or, of a very old patient, that of a child or grandchild."""
    age = patient.age_at(when)
    return (age, "age") if age < 90 else (30 + int(patient.own(_ELDER, 6)) % 40, "age:younger")


def _ages(age_of: Callable[[Patient, datetime.date], tuple[int, str]]) -> Forms:
    def writer(form: Callable[[int], str]) -> Write:
        def write(patient: Patient, chance: Chance, when: datetime.date) -> Written:
            age, thing = age_of(patient, when)
            return form(age), thing

        return write

    ways: dict[str, Callable[[int], str]] = {
        "number": str,
        "words": number_words,
        "words_spaced": lambda age: number_words(age, joint=" "),
        "padded": lambda age: f"{age:03d}",
    }
    return drawn({name: writer(form) for name, form in ways.items()}, usual=("number",))


def _around(chance: Chance, when: datetime.date) -> str:
    return f"{chance.pick(('last', 'next', 'this', 'this past'))} {chance.pick(WEEKDAYS)}"


LEAVES: dict[str, Forms] = {
    "date": drawn({name: _event(form) for name, form in dates.DATE_FORMS.items()}, usual=dates.USUAL_DATES),
    "date_birth": own(
        "birth",
        {name: (lambda p, form=form: form(p.birth)) for name, form in dates.FULL_FORMS.items()},  # type: ignore[misc]
        usual=dates.USUAL_FULL,
        subtypes=dict.fromkeys(dates.FULL_FORMS, "DOB"),
    ),
    "date_death": own(
        "death",
        {name: (lambda p, form=form: form(death_day(p))) for name, form in dates.FULL_FORMS.items()},  # type: ignore[misc]
        usual=dates.USUAL_FULL,
    ),
    "date_relative": drawn(
        {
            "word": _relative(lambda c, w: c.pick(("yesterday", "tomorrow", "the day before yesterday", "last night"))),
            "weekday": _relative(_around),
            "weekday_alone": _relative(lambda c, w: c.pick(WEEKDAYS)),
            "ago": _relative(lambda c, w: f"{c.integer(2, 9)} {c.pick(_UNITS)} ago"),
            "ago_words": _relative(lambda c, w: f"{number_words(c.integer(2, 9))} {c.pick(_UNITS)} ago"),
            "ahead": _relative(lambda c, w: f"in {c.integer(2, 14)} days"),
            "holiday": _relative(lambda c, w: c.pick(_HOLIDAYS)),
            "holiday_year": _relative(lambda c, w: f"{c.pick(_HOLIDAYS)} {w.year - c.integer(0, 3)}"),
            "holiday_shift": _relative(lambda c, w: f"the day {c.pick(('before', 'after'))} {c.pick(_HOLIDAYS)}"),
            "counted": _relative(lambda c, w: f"day {c.integer(2, 9)} after {c.pick(_EVENTS)}"),
            "anchored": _relative(lambda c, w: f"{number_words(c.integer(2, 9))} days after {c.pick(_EVENTS)}"),
            "postoperative": _relative(lambda c, w: f"{c.pick(('POD', 'POD #', 'post-op day '))}{c.integer(1, 9)}"),
            "hospital_day": _relative(lambda c, w: f"hospital day {c.integer(2, 14)}"),
            "week_from": _relative(lambda c, w: f"a week from {c.pick(WEEKDAYS)}"),
            "of_month": _relative(
                lambda c, w: f"the {ordinal(c.integer(1, 28))} of {c.pick(('this', 'last', 'next'))} month"
            ),
            "her_birthday": _relative(
                lambda c, w: f"the day of {c.pick(('her', 'his'))} {ordinal(c.integer(18, 88))} birthday"
            ),
        },
        usual=("word", "weekday", "ago", "ago_words", "holiday"),
    ),
    "year_only": drawn({name: _year(form) for name, form in dates.YEAR_FORMS.items()}, usual=("plain",)),
    "time": drawn(
        {name: _time(form) for name, form in dates.TIME_FORMS.items()}, usual=("clock_24", "clock_12", "military")
    ),
    "age_over_89": _ages(_over_89),
    "age_under_90": _ages(_under_90),
}
