"""Names of people: forms, cues, ambiguous words, all mentions, and clinical words that look like names."""

from __future__ import annotations

import pytest

from tests.support.detected import found
from workup.deid import Deidentifier


@pytest.mark.parametrize(
    ("text", "surface", "leaf"),
    [
        ("Seen by Dr. Olga Diana Aguilar today.", "Olga Diana Aguilar", "name_provider"),
        ("Attending: J.A. Dailey, RN", "J.A. Dailey", "name_provider"),
        ("Patient: Trevino, Emily R.", "Trevino, Emily R.", "name_patient"),
        ("Name: HARPER^APRIL^KATHY", "HARPER^APRIL^KATHY", "name_patient"),
        ("Her daughter Rosa Ramos called.", "Rosa Ramos", "name_relative"),
        ("Billy Trevino (father) was updated.", "Billy Trevino", "name_patient"),
        ("Mr. de la Cruz reports pain.", "de la Cruz", "name_patient"),
        ("Dr. May Head scrubbed in.", "May Head", "name_provider"),
        ("signed by August Olsen, MD", "August Olsen", "name_provider"),
        ("Nguyễn Thị Hoa, MD", "Nguyễn Thị Hoa", "name_provider"),
        ("Robert O'Hara Jr. was admitted.", "Robert O'Hara Jr.", "name_patient"),
    ],
)
def test_name(text: str, surface: str, leaf: str) -> None:
    assert (surface, leaf) in found(text)


def test_title_and_possessive_stay_outside() -> None:
    assert found("Dr. Berg's note") == [("Dr.", "misc"), ("Berg", "name_provider")]


def test_every_mention_is_found() -> None:
    text = "Patient: Emily Trevino. TREVINO was stable. We told emily to rest. Login etrevino2 reset."
    surfaces = [surface for surface, _ in found(text)]
    assert surfaces == ["Emily Trevino", "TREVINO", "emily", "etrevino2"]


@pytest.mark.parametrize(
    "text",
    ["Hope is a good sign; grace under fire.", "He will rest in May or June.", "Rose bengal stain of the eye."],
)
def test_words_that_are_names_elsewhere(text: str) -> None:
    assert not [one for one in found(text) if one[1].startswith("name")]


def test_an_eponym_is_a_person_only_with_a_cue() -> None:
    assert found("Parkinson disease is stable.") == []
    assert ("Parkinson", "name_provider") in found("Dr. Parkinson agrees.")


@pytest.mark.parametrize(
    "text", ["Of note, Yasmin. Exam normal.", "Chart lists Camila.", "She was switched to Heather in May."]
)
def test_a_medicine_sold_under_a_given_name_stays(text: str) -> None:
    assert not found(text)


@pytest.mark.parametrize(
    "text", ["Heather called about her results.", "Her sister Camila drove.", "Spoke with Yasmin."]
)
def test_the_same_word_is_a_person_where_a_person_is_told_of(text: str) -> None:
    assert [leaf[:5] for _, leaf in found(text)] == ["name_"]


def test_a_chart_that_ends_a_sentence_is_no_header() -> None:
    assert not found("Vision by Snellen chart. 3-vessel disease on angiography; Adam's apple midline.")


def test_address_block() -> None:
    text = "Lives at 12 Elm Street, Apt 4, Chapel Hill, NC 27514."
    assert found(text) == [
        ("12 Elm Street, Apt 4", "street_address"),
        ("Chapel Hill", "city"),
        ("NC", "state"),
        ("27514", "zip"),
    ]


def test_bodies() -> None:
    assert ("Silver Creek Eye Clinic", "facility") in found("Transferred from Silver Creek Eye Clinic.")
    assert ("Thornton Aerospace Corporation", "employer") in found("She works for Thornton Aerospace Corporation.")


def test_another_language_is_searched_and_marked() -> None:
    reading = Deidentifier.load(tagger="off").read("Paciente: Emily Trevino. Ingresa el 14/03/2021 por dolor de pecho.")
    assert reading.language == "uncertain"
    assert {one.label for one in reading.findings} >= {"date"}
