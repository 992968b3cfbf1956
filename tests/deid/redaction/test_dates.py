"""Dates are read in every form that notes have, moved by one constant, and written in the same form."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.redaction.dates.calendar_words import is_relative, is_time, is_year
from workup.redaction.dates.context import Almanac
from workup.redaction.dates.shifting import read_days, shift_of
from workup.redaction.dates.written import read
from workup.redaction.keys import Secret
from workup.values.dates import FULL_FORMS, PARTIAL_FORMS

DAYS = st.dates(datetime.date(1901, 1, 1), datetime.date(2098, 12, 31))
SHIFTS = st.integers(-365, 365).filter(bool)
NOT_READ = {"the_ordinal", "weekday_the_ordinal"}  # the 4th of which month, nobody knows
KEY = Secret(b"0123456789abcdef")


@pytest.mark.parametrize("form", FULL_FORMS)
@given(day=DAYS, days=SHIFTS)
def test_every_full_form_is_read_and_moves_by_so_many_days(form: str, day: datetime.date, days: int) -> None:
    order = form.startswith("eu")
    found = read_days(FULL_FORMS[form](day), near=day.year, day_first=order)
    assert found is not None and found.days == (day,) and found.whole
    new = found.moved(days)
    assert new is not None
    again = read_days(new, near=day.year, day_first=order)
    assert again is not None and again.days == (day + datetime.timedelta(days=days),)


@pytest.mark.parametrize(
    "form", [name for name in FULL_FORMS if name in ("iso", "long", "weekday_long", "spoken", "roman")]
)
@given(day=DAYS, days=SHIFTS)
def test_the_form_stays_letter_for_letter(form: str, day: datetime.date, days: int) -> None:
    found = read_days(FULL_FORMS[form](day), near=day.year)
    assert found is not None
    assert found.moved(days) == FULL_FORMS[form](day + datetime.timedelta(days=days))


@pytest.mark.parametrize("form", sorted(set(PARTIAL_FORMS) - NOT_READ))
@given(day=DAYS, days=SHIFTS)
def test_every_partial_form_is_read_and_moved(form: str, day: datetime.date, days: int) -> None:
    found = read_days(PARTIAL_FORMS[form](day), near=day.year, year=day.year)
    assert found is not None and found.moved(days) is not None


@pytest.mark.parametrize(
    ("said", "days", "becomes"),
    [
        ("3/4/21", 10, "3/14/21"),
        ("03/04/2021", 30, "04/03/2021"),
        ("12/31/1999", 1, "01/01/2000"),
        ("2/28/2020", 1, "2/29/2020"),
        ("2/28/2021", 1, "3/1/2021"),
        ("Thursday, March 4th, 2021", 1, "Friday, March 5th, 2021"),
        ("Mon. 3/4", 1, "Tue. 3/5"),
        ("MARCH 4, 2021", 28, "APRIL 1, 2021"),
        ("04MAY2021", 60, "03JUL2021"),
        ("4-May-21", 60, "3-Jul-21"),
        ("2021-03-04T14:30:00Z", 1, "2021-03-05T14:30:00Z"),
        ("3/4/2021 2:30 pm", 1, "3/5/2021 2:30 pm"),
        ("March 4-9, 2021", 25, "March 29-April 3, 2021"),
        ("December 26-30, 2020", 3, "December 29, 2020-January 2, 2021"),
        ("3/4-3/9/2021", 7, "3/11-3/16/2021"),
        ("11-13 May 1994", 1, "12-14 May 1994"),
        ("11-13 May 1994", 19, "30 May 1994-1 June 1994"),
        ("1 and 2 July 1996", -1, "30 June 1996 and 1 July 1996"),
        ("between 15 March 1985 and 10 March 1989", 1, "between 16 March 1985 and 11 March 1989"),
        ("March 4, 2021 and", 1, "March 5, 2021 and"),
        ("2021-063", 1, "2021-064"),
        ("March fourth, twenty twenty-one", 18, "March twenty-second, twenty twenty-one"),
        ("early March 2021", 20, "late March 2021"),
        ("winter of 2021", 90, "spring of 2021"),
        ("Q1 2021", 90, "Q2 2021"),
        ("March 2021", 30, "April 2021"),
    ],
)
def test_dates_by_hand(said: str, days: int, becomes: str) -> None:
    found = read_days(said)
    assert found is not None and found.moved(days) == becomes


@pytest.mark.parametrize(
    "said",
    ["five", "120/80", "3.14", "13/13/2020", "2/30/2021", "1/2/3", "99/99", "4", "the 4th", "1-2 tablets", "",
     "٣/٤/٢٠٢١", "3/4/2021 3/5/2021", "1/1/9999 x", "0/0/0000", "3-4 days", "Ward 3/4", "3/4/5/2021"],
)  # fmt: skip
def test_what_is_no_date_is_not_read(said: str) -> None:
    assert read_days(said) is None


@given(st.text(max_size=120))
def test_no_surface_breaks_the_reader(said: str) -> None:
    found = read_days(said)
    if found is not None:
        assert found.moved(0) is not None
        is_relative(said), is_year(said), is_time(said)


@given(st.text("0123456789/-., MarchQ'thof", max_size=80))
def test_no_surface_of_dates_breaks_the_reader(said: str) -> None:
    found = read_days(said)
    assert found is None or isinstance(found.moved(-365), str | None)


def test_the_end_of_the_calendar_is_no_date() -> None:
    found = read("9999-12-31")
    assert found is None  # no year that a note means


def test_day_and_month_are_told_apart_by_the_other_dates() -> None:
    day_first = Almanac([("n", None, ["14/03/2021", "05/04/2021"])])
    assert day_first.day_first and str(day_first.read("n", "05/04/2021").days[0]) == "2021-04-05"  # type: ignore[union-attr]
    month_first = Almanac([("n", None, ["03/14/2021", "05/04/2021"])])
    assert not month_first.day_first
    assert not Almanac([("n", None, ["03/14/2021", "14/03/2021"])]).day_first  # they contradict each other
    assert Almanac([("n", None, ["05/04/2021"])], day_first=True).day_first


def test_years_that_go_unsaid_come_from_the_note() -> None:
    almanac = Almanac([("n", None, ["3/4/2019", "3/5/2019", "7/1/2020"]), ("m", "2022-05-01", [])])
    assert almanac.read("n", "6/7").days[0].year == 2019  # type: ignore[union-attr]
    assert almanac.read("m", "6/7").days[0].year == 2022  # type: ignore[union-attr]
    assert almanac.read("m", "6/7/31").days[0].year == 2031  # type: ignore[union-attr]


@given(st.text(max_size=12))
def test_a_patient_has_one_shift_of_one_to_365_days(patient: str) -> None:
    days = shift_of(KEY, patient)
    weeks = shift_of(KEY, patient, whole_weeks=True)
    assert days == shift_of(KEY, patient) and 1 <= abs(days) <= 365
    assert weeks % 7 == 0 and 7 <= abs(weeks) <= 364


def test_shifts_reach_both_ways_and_both_ends() -> None:
    drawn = [shift_of(KEY, str(patient)) for patient in range(20_000)]
    assert min(drawn) == -365 and max(drawn) == 365 and 0 not in drawn
    assert 0.48 < sum(days > 0 for days in drawn) / len(drawn) < 0.52
    assert shift_of(KEY, "P1") != shift_of(Secret(b"another key, long"), "P1")


@pytest.mark.parametrize(
    "said", ["yesterday", "two days ago", "last Tuesday", "POD #3", "Friday", "sundays", "hospital day 4"]
)
def test_relative_dates(said: str) -> None:
    assert is_relative(said)


@pytest.mark.parametrize(
    "said", ["Christmas", "day after Thanksgiving", "the 3rd of last month", "last March", "in 2019"]
)
def test_what_fixes_a_day_is_not_relative(said: str) -> None:
    assert not is_relative(said)
