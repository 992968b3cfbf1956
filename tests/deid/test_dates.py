"""Days in many forms, ages by number, and numbers that are neither."""

from __future__ import annotations

import pytest

from workup.deid import Deidentifier

FORMS = (
    "2021-03-14", "2021/03/14", "20210314", "03/14/2021", "3/14/2021", "03/14/21", "3-14-21", "03-14-2021", "3.14.2021",
    "03 / 14 / 2021", "3/14/'21", "14/03/2021", "14.03.2021", "March 14, 2021", "March 14 2021", "March 14th, 2021",
    "MARCH 14, 2021", "march 14, 2021", "Mar. 14, 2021", "14 March 2021", "14-Mar-2021", "14MAR2021", "14 MAR 21",
    "14th of March, 2021", "the 14th of March 2021", "Sunday, March 14, 2021", "Sun 3/14/21", "14.III.2021",
    "March fourteenth, twenty twenty-one", "2021-073", "March 14", "Mar-21", "March 2021", "03/2021", "2021-03",
    "Q1 2021", "spring of 2021", "early March 2021", "March 14-20, 2021", "3/14-3/20/2021",
)  # fmt: skip


def covered(text: str, surface: str, *, least: float = 0.5) -> bool:
    (findings,) = Deidentifier.load(tagger="off").detect([text])
    start = text.index(surface)
    masked = {i for one in findings if one.label.startswith("date") for i in range(one.start, one.end)}
    return all(i in masked or not text[i].isalnum() for i in range(start, start + len(surface)))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_day(form: str) -> None:
    assert covered(f"She was seen on {form} for chest pain.", form)


@pytest.mark.parametrize("form", ["3/14", "03/14"])
def test_month_and_day_need_words(form: str) -> None:
    assert covered(f"He was last seen on {form}.", form)
    assert not covered(f"Pain was {form} at rest.", form)


def test_births_and_deaths_are_told_apart() -> None:
    text = "DOB: 05/10/1962. His father died 12/25/2003. Seen 1/2/2020."
    (findings,) = Deidentifier.load(tagger="off").detect([text])
    assert [one.label for one in findings] == ["date_birth", "date_death", "date"]


@pytest.mark.parametrize(("text", "leaf"), [("a 95-year-old man", "age_over_89"), ("a 47 y.o. woman", "age_under_90")])
def test_age_is_the_number(text: str, leaf: str) -> None:
    (findings,) = Deidentifier.load(tagger="off").detect([text])
    assert [(text[one.start : one.end], one.label) for one in findings] == [(text.split()[1][:2], leaf)]


def test_misread_digits_and_months() -> None:
    assert covered("Collected 27-Au9-2024 in clinic.", "27-Au9-2024")
    assert covered("Seen on O3/14/2O21.", "O3/14/2O21")
