"""Months, weekdays, numbers and states, once: the tables that rooms had written for themselves, against the floor."""

from __future__ import annotations

import datetime
import re

import pytest

from workup.deid import gazetteer
from workup.deid.places.states_and_zips import _OLD_FORMS
from workup.deid.typos.repair import _MONTHS, CALENDAR
from workup.documents.ambiguous_words import ambiguous_names, empty_words
from workup.redaction.linking import value_key
from workup.text import calendar, numbers, states
from workup.text.wordlists import words_of

FULL = "january february march april may june july august september october november december"
SHORT = "jan feb mar apr may jun jul aug sep sept oct nov dec"
DAYS = "monday tuesday wednesday thursday friday saturday sunday"
# The states and what else has a code, as the de-identifier listed them.
CODES = (
    "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH "
    "OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY PR GU VI AS MP AE AP AA"
)
# As residual PHI was looked for.
CODE = (
    "(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|"
    "W[AIVY])"
)


def test_words_of_months_and_weekdays() -> None:
    assert words_of(FULL) == calendar.MONTH_WORDS and words_of(DAYS) == calendar.WEEKDAY_WORDS
    assert calendar.MONTH_NUMBER.keys() == words_of(FULL) | words_of(SHORT)
    assert words_of(FULL) - {"march", "may"} == calendar.PLAIN_MONTHS
    assert set(_MONTHS) <= calendar.MONTH_NUMBER.keys()  # of the de-identifier, in the order in which it tries them


def test_numbers_of_months_and_weekdays_are_those_of_datetime() -> None:
    for month in range(1, 13):
        day = datetime.date(2021, month, 1)
        for name in (day.strftime("%B").lower(), day.strftime("%b").lower()):
            assert calendar.MONTH_NUMBER[name] == month
    assert calendar.MONTH_NUMBER["sept"] == 9
    shorts = (("mon",), ("tue", "tues"), ("wed", "weds"), ("thu", "thur", "thurs"), ("fri",), ("sat",), ("sun",))
    old = {short: place for place, group in enumerate(shorts) for short in group}
    assert old | {name: place for place, name in enumerate(DAYS.split())} == calendar.WEEKDAY_NUMBER


def test_seasons_by_month() -> None:
    old = ("winter", "winter", *["spring"] * 3, *["summer"] * 3, *["fall"] * 3, "winter")
    assert tuple(map(calendar.season_of, range(1, 13))) == old


def test_two_numbers_are_a_day_in_some_order_as_each_room_had_it() -> None:
    for a in range(40):
        for b in range(40):
            detected = 1 <= a <= 31 and 1 <= b <= 31 and not (a > 12 and b > 12)
            alone = (1 <= a <= 12 and 1 <= b <= 31) or (1 <= b <= 12 and 1 <= a <= 31)
            residual = 1 <= min(a, b) <= 12 and 1 <= max(a, b) <= 31
            assert calendar.are_day_and_month(a, b) == detected == alone == residual


def test_patterns_read_every_name_and_no_other_word() -> None:
    month, weekday = (re.compile(one, re.IGNORECASE) for one in (calendar.MONTH, calendar.WEEKDAY))
    assert all(month.fullmatch(word) for word in calendar.MONTH_NUMBER)
    assert all(weekday.fullmatch(word) for word in calendar.WEEKDAY_NUMBER if word not in ("weds",))
    for word in ("ma", "day", "juni", "octo", "t"):
        assert not month.fullmatch(word) and not weekday.fullmatch(word)
    assert all(re.fullmatch(calendar.WEEKDAY_NAME, day) for day in calendar.WEEKDAYS)


def test_words_of_the_calendar_that_are_spelt_right_first() -> None:
    old = words_of(
        "january february march april june july august september october november december monday tuesday wednesday "
        "thursday friday saturday sunday first second third fourth fifth sixth seventh eighth ninth tenth eleventh "
        "twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth "
        "twenty thirty forty fifty sixty seventy eighty ninety nineteen eighteen seventeen sixteen fifteen fourteen "
        "thirteen twelve eleven hundred thousand three four five seven eight nine year-old years months weeks days "
        "photograph fingerprint voiceprint template identification extension"
    )
    assert old == CALENDAR


def test_months_and_weekdays_are_names_and_empty_words() -> None:
    old = words_of(f"{FULL} {SHORT} {DAYS} mon tue wed thu fri sat sun")
    assert old <= ambiguous_names() and old <= empty_words()
    assert not {"tues", "thurs", "weds"} & (ambiguous_names() | empty_words())


def test_number_words_are_read_as_they_are_written() -> None:
    assert all(numbers.number_words(number) == word for word, number in numbers.NUMBER.items())
    assert list(numbers.NUMBER.values()) == [*range(1, 20), 20, 30, 40, 50, 60, 70, 80, 90]
    assert "|".join(numbers.TEENS) == (
        "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
    )
    assert "|".join(map(numbers.ordinal_words, range(1, 10))) == (
        "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth"
    )
    assert [numbers.roman(month) for month in range(1, 13)] == list(numbers.ROMAN)


def test_codes_of_states_are_one_table() -> None:
    assert words_of(CODES) == states.POSTAL_CODES
    assert [state.code for state in states.STATES] == CODES.split()[:51]
    assert all(re.fullmatch(CODE, state.code) for state in states.STATES)


@pytest.mark.parametrize("code", sorted(states.STATE))
def test_every_room_knows_a_state_by_name_code_and_old_abbreviation(code: str) -> None:
    state = states.STATE[code]
    place = gazetteer.places().get(state.name.lower())
    assert code == "DC" or (place is not None and "s" in place.kinds)
    assert value_key("state", state.name) == value_key("state", code) == code.lower()
    short = states.OLD_ABBREVIATIONS.get(code)
    if short is not None:
        assert _OLD_FORMS.fullmatch(short.removesuffix(".")) and value_key("state", short) == code.lower()


def test_the_gazetteer_has_no_other_state() -> None:
    listed = {name for name, place in gazetteer.places().items() if "s" in place.kinds}
    assert {state.name.lower() for state in states.STATES} - listed <= {"district of columbia"}
    assert listed - {state.name.lower() for state in states.STATES} <= {"nan", "columbia", "washington dc"}
