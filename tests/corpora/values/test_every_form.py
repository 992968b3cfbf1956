"""Every leaf in every form: there, non-empty, conforming to the span conventions, the same every time."""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.values.draws import Chance
from workup.values import LEAVES, Patient, Value, date_value, forms, make, name_value
from workup.text.numbers import number_words
from workup.values.dates import DATE_FORMS, FULL_FORMS
from workup.values.tables import VALUES_VERSION
from workup.errors import InputError
from workup.documents.labels import SCHEME
from workup.documents.titles import title_length

PAIRS = [(leaf, form) for leaf in LEAVES for form in forms(leaf)]
seeds = st.integers(0, 2**32)
days = st.dates(datetime.date(2015, 1, 1), datetime.date(2030, 12, 31))
SMALL = settings(max_examples=25, deadline=None)


def everything(seed: int, index: int, when: datetime.date) -> list[Value]:
    """One value of each leaf and form."""
    patient, chance = Patient.of(seed, index), Chance.of(seed, "values", index)
    return [make(leaf, patient=patient, chance=chance, when=when, form=form) for leaf, form in PAIRS]


def test_every_leaf_of_the_scheme_has_forms() -> None:
    assert set(LEAVES) == set(SCHEME)
    assert all(len(forms(leaf)) >= 2 for leaf in LEAVES)
    assert len(forms("date")) >= 25 and len(forms("date_birth")) >= 25


@SMALL
@given(seeds, st.integers(0, 10**6), days)
def test_values_hold_what_their_leaf_and_form_promise(seed: int, index: int, when: datetime.date) -> None:
    for value, (leaf, form) in zip(everything(seed, index, when), PAIRS, strict=True):
        assert (value.label, value.form) == (leaf, form)
        assert value.text == value.text.strip() and value.text, (leaf, form)
        assert any(c.isalnum() for c in value.text), (leaf, form)
        assert "\n" not in value.text and "  " not in value.text, (leaf, form)
        assert (value.identifier is None) == (SCHEME[leaf].branch == "CLIN")


@SMALL
@given(seeds, st.sampled_from(["none", "standard", "high"]))
def test_no_name_holds_a_title_or_a_possessive(seed: int, ambiguity: str) -> None:
    patient, chance = Patient.of(seed, 1, ambiguity=ambiguity), Chance.of(seed, "names")
    for leaf in ("name_patient", "name_relative", "name_provider"):
        for form in forms(leaf):
            text = make(leaf, patient=patient, chance=chance, when=patient.visit, form=form).text
            assert title_length(text) == 0, form
            assert not re.search(r"['’]s\b|,? (MD|M\.D\.|RN|DO|PhD|NP|PA-C)$", text), form


def test_last_first_is_one_value_and_a_suffix_is_inside() -> None:
    patient = next(p for p in (Patient.of(3, i, sex="M") for i in range(500)) if p.person.suffix)
    chance, person = Chance.of(1, "x"), patient.person
    texts = {
        form: make("name_patient", patient=patient, chance=chance, when=patient.visit, form=form).text
        for form in ("full", "family_first")
    }
    assert texts == {
        "full": f"{person.given} {person.family} {person.suffix}",
        "family_first": f"{person.family} {person.suffix}, {person.given}",
    }


@SMALL
@given(seeds, days)
def test_an_age_is_the_number_alone_and_on_its_side_of_89(seed: int, when: datetime.date) -> None:
    patient, chance = Patient.of(seed, 0), Chance.of(seed, "age")
    spelt = {number_words(n): n for n in range(130)} | {number_words(n, joint=" "): n for n in range(130)}
    for leaf in ("age_over_89", "age_under_90"):
        for form in forms(leaf):
            text = make(leaf, patient=patient, chance=chance, when=when, form=form).text
            age = int(text) if text.isdigit() else spelt[text]
            assert (age > 89) == (leaf == "age_over_89")
            if leaf == patient.age_leaf(when):
                assert age == patient.age_at(when)


def test_age_turns_on_the_birthday() -> None:
    patient = next(p for p in (Patient.of(3, i) for i in range(100)) if p.birth.day > 1)
    ninety = patient.birth.replace(year=patient.birth.year + 90, day=patient.birth.day - 1)
    assert (patient.age_at(ninety), patient.age_leaf(ninety)) == (89, "age_under_90")
    after = ninety + datetime.timedelta(days=1)
    assert (patient.age_at(after), patient.age_leaf(after)) == (90, "age_over_89")
    assert patient.age_at(patient.birth - datetime.timedelta(days=40)) == 0


# Written by hand, not by the code: what each form must say of 4 March 2021, a Thursday.
MARCH_4 = {
    "iso": "2021-03-04",
    "iso_compact": "20210304",
    "us_slash": "03/04/2021",
    "us_slash_unpadded_two": "3/4/21",
    "us_dash_two": "3-4-21",
    "us_dot": "3.4.2021",
    "us_apostrophe": "3/4/'21",
    "eu_slash": "04/03/2021",
    "eu_dot": "04.03.2021",
    "long": "March 4, 2021",
    "long_ordinal": "March 4th, 2021",
    "long_caps": "MARCH 4, 2021",
    "short_dot": "Mar. 4, 2021",
    "day_month_year": "4 March 2021",
    "day_short_dash": "04-Mar-2021",
    "military": "04MAR2021",
    "ordinal_of": "4th of March, 2021",
    "weekday_long": "Thursday, March 4, 2021",
    "weekday_short": "Thu 3/4/21",
    "roman": "4.III.2021",
    "spoken": "March fourth, twenty twenty-one",
    "ordinal_day_of_year": "2021-063",
    "month_day_slash": "3/4",
    "the_ordinal_of": "the 4th of March",
    "month_ordinal_words": "March fourth",
    "month_year": "March 2021",
    "month_apostrophe": "March '21",
    "short_dash_two": "Mar-21",
    "month_slash_year": "03/2021",
    "part_of_month": "early March 2021",
    "season_year": "spring of 2021",
    "quarter": "Q1 2021",
}


@pytest.mark.parametrize(("form", "text"), MARCH_4.items())
def test_a_date_reads_as_it_should(form: str, text: str) -> None:
    value = date_value(
        datetime.date(2021, 3, 4),
        patient=Patient.of(1, 1),
        chance=Chance.of(1, "x"),
        form=form,
        subtype="ADMISSION_DATE",
    )
    assert value.text == text
    assert (value.entity, value.subtype) == ("P000001:date:2021-03-04", "ADMISSION_DATE")


@SMALL
@given(st.dates(datetime.date(1900, 1, 1), datetime.date(2035, 12, 31)))
def test_full_forms_tell_day_month_and_year_apart_from_every_other_day(day: datetime.date) -> None:
    other = day + datetime.timedelta(days=1)
    for name, write in FULL_FORMS.items():
        assert write(day) != write(other), name
        if name not in ("spoken",):
            assert f"{day.year % 100:02d}" in write(day), name


def test_no_date_holds_a_clock_time() -> None:
    for name, write in DATE_FORMS.items():
        assert ":" not in write(datetime.date(2021, 3, 4)), name


def test_extension_and_unit_are_inside_and_the_county_has_its_word() -> None:
    chance = Chance.of(2, "x")
    for index in range(60):
        patient = Patient.of(2, index)

        def text(leaf: str, form: str, patient: Patient = patient) -> str:
            return make(leaf, patient=patient, chance=chance, when=patient.visit, form=form).text

        assert re.fullmatch(r"\(\d{3}\) 555-01\d\d ext\. \d+", text("phone", "extension"))
        assert text("street_address", "unit").endswith(f", Unit {patient.home.spare_unit}")
        assert re.search(r"\b(County|Parish|Borough)\b", text("county", "plain"))
        assert patient.home.zip not in text("street_address", "standard").split()


@SMALL
@given(seeds, st.integers(0, 1000), days)
def test_what_is_the_patients_own_is_the_same_in_every_note(seed: int, index: int, when: datetime.date) -> None:
    patient = Patient.of(seed, index)
    own = ("mrn", "ssn", "date_birth", "health_plan_id", "street_address", "email", "vin", "employer", "zip", "plate")
    for leaf in own:
        for form in forms(leaf):
            one = make(leaf, patient=patient, chance=Chance.of(seed, "one"), when=when, form=form)
            two = make(leaf, patient=Patient.of(seed, index), chance=Chance.of(9, "two"), when=patient.visit, form=form)
            assert one == two


def test_an_entity_ties_forms_of_one_thing_together_and_no_others() -> None:
    patient, chance = Patient.of(4, 4), Chance.of(4, "x")

    def entity(leaf: str, form: str) -> str | None:
        return make(leaf, patient=patient, chance=chance, when=patient.visit, form=form).entity

    assert entity("phone", "dots") == entity("phone", "bare") == "P000004:phone"
    assert entity("phone", "mobile") != entity("phone", "dots")
    assert entity("name_patient", "given") == entity("name_patient", "hl7") == "P000004:patient"
    assert (
        entity("street_address", "caps") == entity("street_address", "standard") != entity("street_address", "po_box")
    )
    assert entity("disease", "plain") is None
    for at, provider in enumerate(patient.providers):
        named = name_value(provider.person, leaf="name_provider", patient=patient, chance=chance, form="family")
        assert (named.text, named.entity) == (provider.person.last, f"P000004:provider:{at}")


def test_usual_forms_come_more_often_and_all_come() -> None:
    patient, chance = Patient.of(5, 5), Chance.of(5, "x")
    drawn = [make("age_under_90", patient=patient, chance=chance, when=patient.visit).form for _ in range(3000)]
    assert {form: drawn.count(form) > 0 for form in forms("age_under_90")} == dict.fromkeys(forms("age_under_90"), True)
    assert drawn.count("number") / 3000 == pytest.approx(4 / 7, abs=0.04)


def test_unknown_names_are_answered_with_the_near_ones() -> None:
    patient, chance = Patient.of(1, 1), Chance.of(1, "x")
    with pytest.raises(InputError, match="did you mean 'phone'"):
        make("phones", patient=patient, chance=chance, when=patient.visit)
    with pytest.raises(InputError, match="did you mean 'dashes'"):
        make("phone", patient=patient, chance=chance, when=patient.visit, form="dashe")
    with pytest.raises(InputError, match="origin group"):
        Patient.of(1, 1, origin="martian")
    with pytest.raises(InputError, match="none, standard or high"):
        Patient.of(1, 1, ambiguity="some")
    with pytest.raises(InputError, match="date_birth"):
        date_value(patient.visit, patient=patient, chance=chance, leaf="year_only")


DIGEST = """
import datetime, hashlib
from workup.values.draws import Chance
from workup.values import LEAVES, Patient, forms, make
whole = hashlib.sha256()
for index in range(25):
    patient, chance = Patient.of(11, index), Chance.of(11, "all", index)
    for leaf in LEAVES:
        for form in (None, *forms(leaf)):
            value = make(leaf, patient=patient, chance=chance, when=datetime.date(2024, 2, 29), form=form)
            whole.update(repr(value).encode())
print(whole.hexdigest())
"""


def test_the_same_bytes_in_another_process_locale_and_time_zone() -> None:
    def digest(**settings_of_the_host: str) -> str:
        environment = {**os.environ, **settings_of_the_host}
        ran = subprocess.run(
            [sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True
        )
        return ran.stdout.strip()

    one = digest(TZ="Pacific/Kiritimati", LC_ALL="C.utf8", LANG="C.utf8", PYTHONHASHSEED="1")
    two = digest(TZ="America/Los_Angeles", LC_ALL="POSIX", LANG="tr_TR.UTF-8", PYTHONHASHSEED="77")
    assert one == two
    # What the version promises. Whoever changes a form, a list or the order of draws raises VALUES_VERSION with it.
    assert (VALUES_VERSION, one) == ("1", "a70a54cbd1ba2193d4520b174321ed88224c28ce98c7772ca9686fc9c4faaee0")
