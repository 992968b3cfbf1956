"""Names are cut into parts in every form, and mentions are one person only where that is safe."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.redaction.linking import Mention, entities, value_key
from workup.redaction.surrogates.name_forms import read_name
from workup.values import PERSON_FORMS, Patient, Person

ADA = Person("Ada", "Ruth", "Berg", None, "F", "white", "common", 1950, "Addie")


@pytest.mark.parametrize("form", PERSON_FORMS)
def test_every_form_of_a_name_is_cut_and_put_together_again(form: str) -> None:
    said = ADA.surface(form)
    found = read_name(said)
    assert found is not None and "".join(word.text for word in found.words) == said
    parts = {word.part: word.text.casefold() for word in found.words}
    for part, name in (("given", "ada"), ("family", "berg")):
        if part in parts and form not in ("nickname_family",):
            assert name.startswith(parts[part]), (form, parts)


@given(st.text(max_size=60))
def test_no_surface_breaks_the_reader(said: str) -> None:
    found = read_name(said)
    if found is not None:
        assert "".join(word.text for word in found.words) == said
        assert any(word.part not in ("text", "suffix") for word in found.words)


def test_nothing_of_a_name_is_taken_for_a_credential() -> None:
    for said in ("JOHN DO", "Jane Ma", "JANE MA", "Van Tran", "Ma"):
        found = read_name(said)
        assert found is not None
        assert all(word.part != "text" for word in found.words if word.text[0].isalpha()), said


def test_titles_credentials_and_possessives_stay() -> None:
    found = read_name("Dr. Ann Lee, MD")
    assert found is not None and found.written(lambda word: "Roe") == "Dr. Roe Roe, MD"
    found = read_name("Mrs. O'Hara's")
    assert found is not None and found.written(lambda word: "Roe") == "Mrs. Roe's"


def _numbers(*said: str, label: str = "name_patient") -> list[int]:
    keys = entities([Mention(label, one) for one in said])
    order = list(dict.fromkeys(keys))
    return [order.index(key) for key in keys]


def test_spellings_and_parts_of_one_name_are_one_person() -> None:
    assert _numbers("Ann Lee", "ANN  LEE", "Lee, Ann", "Lee", "A. Lee", "Ann M. Lee", "Ms. Lee", "Ann") == [0] * 8


def test_a_part_that_fits_two_people_is_nobody_in_particular() -> None:
    assert _numbers("Ann Lee", "Bob Lee", "Lee", "Ann", "B. Lee") == [0, 1, 2, 0, 1]
    assert _numbers("Ann Lee", "Amy Lee", "A. Lee") == [0, 1, 2]
    assert _numbers("Ann B. Lee", "Ann C. Lee", "Ann Lee") == [0, 1, 2]
    assert _numbers("John Smith Jr.", "John Smith Sr.", "John Smith") == [0, 1, 2]
    assert _numbers("Ann Lee", "Leeds") == [0, 1]


def test_a_part_under_another_label_is_another_person() -> None:
    keys = entities([Mention("name_patient", "Ann Lee"), Mention("name_provider", "Lee"), Mention("NAME", "Lee")])
    assert keys[0] != keys[1] and keys[0] == keys[2]
    same = entities([Mention("name_patient", "Ann Lee"), Mention("name_provider", "Ann Lee")])
    assert same[0] == same[1]


def test_given_entities_come_first() -> None:
    keys = entities(
        [Mention("name_patient", "Ann", "p1"), Mention("name_patient", "Bea", "p1"), Mention("mrn", "1", "p1")]
    )
    assert keys[0] == keys[1] != keys[2]


def test_other_values_are_compared_without_their_dress() -> None:
    assert value_key("phone", "1-617-723-4411") == value_key("phone", "(617) 723 4411")
    assert value_key("county", "County of Kent") == value_key("county", "KENT COUNTY")
    assert value_key("mrn", "00-48") == value_key("mrn", "0048") != value_key("mrn", "048")
    days = entities(
        [Mention("date", "3/4/21", day="2021-03-04"), Mention("date_birth", "March 4, 2021", day="2021-03-04")]
    )
    assert days[0] == days[1]


def test_many_names_are_no_matter_of_squares() -> None:
    mentions = [
        Mention("name_patient", f"zz{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{chr(97 + i // 676)} Lee")
        for i in range(3000)
    ]
    keys = entities([*mentions, Mention("name_patient", "Lee")])
    assert len(set(keys)) == 3001


def test_generated_patients_are_one_person_in_all_their_forms() -> None:
    for seed in range(20):
        person = Patient.of(seed, 3).person
        said = [
            person.surface(form)
            for form in ("full", "family_first", "caps", "full_initial", "initial_family", "family")
        ]
        assert _numbers(*said) == [0] * 6, seed


def test_letters_beyond_ascii_are_names_and_other_scripts_are_not() -> None:
    assert read_name("Mr J. Wołąsiewicz") is not None and read_name("Guðmundsdóttir") is not None
    assert read_name("王伟") is None and read_name("Иванов") is None
