"""Noisy texts: what is read, what is left, and the way back to the characters of the text as it came."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.detected import found
from workup.deid import settings
from workup.deid.finding import Finding
from workup.deid.typos.ocr_digits import as_numbers
from workup.deid.typos.repair import Change, Repair, Repaired
from workup.text.typos import Speller, apart


@pytest.mark.parametrize(
    ("text", "surface", "leaf"),
    [
        ("Patienf Narne: Ingrid Solberg", "Ingrid Solberg", "name_patient"),
        ("Pt Name; Ingrid Solberg", "Ingrid Solberg", "name_patient"),
        ("Seen by Or. Solberg today.", "Solberg", "name_provider"),
        ("Seen by Dr, Solberg today.", "Solberg", "name_provider"),
        ("Attending: Ingrid Solb3rg, MD", "Ingrid Solb3rg", "name_provider"),
        ("Transferred from Bluff City Hosp1tal.", "Bluff City Hosp1tal", "facility"),
        ("Home health from Bluff City Nursinhg Home", "Bluff City Nursinhg Home", "facility"),
        ("Discharged Novcmber 4, 2019 home.", "Novcmber 4, 2019", "date"),
        ("Seen on Thursdav, Febuary 7, 2019.", "Thursdav, Febuary 7, 2019", "date"),
        ("Collected 12/I7/19A7 in clinic.", "12/I7/19A7", "date"),
        ("Collected 10/231/2019 in clinic.", "10/231/2019", "date"),
        ("Date: 5/14/20192", "5/14/20192", "date"),
        ("call (9O6) s55~0136 tonight", "(9O6) s55~0136", "phone"),
        ("MRB: 00417702", "00417702", "mrn"),
        ("Posspont M95181580 was shown", "M95181580", "id_other"),
        ("Lives at 6692 East 88fh Blvd", "6692 East 88fh Blvd", "street_address"),
    ],
)
def test_noise_is_read_through(text: str, surface: str, leaf: str) -> None:
    assert (surface, leaf) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "Vena cava is patent.",
        "HPI: cough. MEDS: none. FEV 1 was low; JAK 2 negative.",
        "Judkins left 4 catheter, L5-S1.",
    ],
)
def test_clean_clinical_words_are_not_mended_into_something_else(text: str) -> None:
    assert Repair(settings.load()).read(text).text == text


def test_numbers_keep_their_length_and_codes_their_letters() -> None:
    text = "S21-4410, 2010s, 2001:0DB8:2FF2:6AEA::1, T4 and z024 on 8/z3/2020: 1l/28"
    read = as_numbers(text)
    assert len(read) == len(text)
    assert read == "S21-4410, 2010s, 2001:0DB8:2FF2:6AEA::1, T4 and 2024 on 8/23/2020: 11/28"


_WORDS = st.lists(st.sampled_from(["Hosp1tal", "was", "Novcmber", "12", "Berg", "patieut", "z024", "\n"]), max_size=12)


@given(_WORDS)
def test_every_place_has_its_way_back(words: list[str]) -> None:
    text = " ".join(words)
    read = Repair(settings.load()).read(text)
    whole = [Finding(at, at + 1, "mrn", 1.0, "x") for at in range(len(read.text))]
    back = read.back(whole)
    assert all(0 <= one.start < one.end <= len(text) for one in back)
    assert [one.start for one in back] == sorted(one.start for one in back)


def test_a_finding_over_a_change_covers_all_of_it() -> None:
    read = Repaired("at Hospltall now", [Change(3, 12, "Hospital")])
    assert read.text == "at Hospital now"
    (back,) = read.back([Finding(3, 11, "facility", 0.8, "x")])
    assert (back.start, back.end) == (3, 12)


def test_spelling() -> None:
    speller = Speller(["street", "november"], twice=["november"])
    assert speller.meant("strcet") == "street" and speller.meant("nov3mbcr") == "november"
    assert speller.meant("stxxet") is None and speller.meant("to") is None
    assert apart("march", "mrach", 2) == 1 and apart("may", "december", 2) == 3
