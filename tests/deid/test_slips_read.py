"""Slips of keyboards and scanners beside names, days, streets and codes: what is read through, and what is left."""

from __future__ import annotations

import re

import pytest

from tests.support.detected import found
from workup.deid import settings
from workup.deid.typos.in_addresses import Kinds
from workup.deid.typos.in_names import as_name, initials_struck_twice, marks_read, nearest, titles
from workup.deid.typos.ocr_digits import as_numbers
from workup.deid.typos.repair import Repair, small_words, years_old
from workup.text.typos import beside


@pytest.mark.parametrize(
    ("text", "surface", "leaf"),
    [
        # the capital was lost with the first letter
        ("Dictated by Miriam henderson... signed Miriam enderson, MD", "Miriam enderson", "name_provider"),
        ("Her son eonard Whitfield drove her.", "eonard Whitfield", "name_relative"),
        # a neighbouring key, a letter too many, glyphs misread
        ("Whitfield, Patrlcia P.  F  MRN: 00417702", "Whitfield, Patrlcia P.", "name_patient"),
        ("Reviewed with Monuca Whitfield (niece).", "Monuca Whitfield", "name_patient"),
        ("Attending: Bernice Holcornb, MD", "Bernice Holcornb", "name_provider"),
        ("Patient: WHitfield, Leonard", "WHitfield, Leonard", "name_patient"),
        # initials and their marks
        ("Signed by T,R. Whitfield, MD", "T,R. Whitfield", "name_provider"),
        ("Attending: J.4. Whitfield, MD", "J.4. Whitfield", "name_provider"),
        ("Taken by FG.T. Whitfield, RN.", "FG.T. Whitfield", "name_provider"),
        ("Whitfield. Leonard P.  M  MRN: 00417702", "Whitfield. Leonard P.", "name_patient"),
        # titles, labels
        ("I am referring Msd. Whitfield, a 66-year-old.", "Whitfield", "name_provider"),
        ("Next pf kin:    Whitfield, Leonard - son", "Whitfield, Leonard", "name_relative"),
        ("Patient Nsme: Leonard Whitfield", "Leonard Whitfield", "name_patient"),
        # bodies
        ("Transferred from Bluff City Medical Cenver.", "Bluff City Medical Cenver", "facility"),
        ("Home health from Bluff City Nursing Hone starts today.", "Bluff City Nursing Hone", "facility"),
        ("Treated at Bluff City Community ospital in May.", "Bluff City Community ospital", "facility"),
        ("Seen at Sf. Agatha's General Hospital.", "Sf. Agatha's General Hospital", "facility"),
        # days
        ("Seen 6//2019 in clinic.", "6//2019", "date"),
        ("Collected 2019-0-23 in clinic.", "2019-0-23", "date"),
        ("Collected 22019/04/01 in clinic.", "22019/04/01", "date"),
        ("Advance directive dated 6/84/'17 on file.", "6/84/'17", "date"),
        ("Signed 44-30-19 by staff.", "44-30-19", "date"),
        ("Seen on 11.23,2019 at noon.", "11.23,2019", "date"),
        ("Admitted z.8.2019 at noon.", "z.8.2019", "date"),
        ("Born 14SEPl95I in town.", "14SEPl95I", "date_birth"),
        ("A 97-year-olx woman.", "97", "age_over_89"),
        # streets, towns, codes
        ("Lives at 4417 Juniper n., Albany, NY 12207", "4417 Juniper n.", "street_address"),
        ("Towed from S417 Juniper Lane, Albany.", "S417 Juniper Lane", "street_address"),
        ("Delivered to 2281 Coumty Roas 41.", "2281 Coumty Roas 41", "street_address"),
        ("12 Juniper Way\nAlbany, NU 12207", "12207", "zip"),
        ("12 Juniper Way\nAlbany, NY 122075", "122075", "zip"),
        ("Address: 12 Juniper Way, Beckley, WV Z5801\n", "Z5801", "zip"),
        ("Lives in Tulsaa, Oklahpma with her aunt.", "Tulsaa", "city"),
        # contacts and codes
        ("Write leonard.w @ example.oeg please.", "leonard.w @ example.oeg", "email"),
        ("Call 1-814-555-014 at night.", "1-814-555-014", "phone"),
        ("Call 814.555,0142 at night.", "814.555,0142", "phone"),
        ("Call 814/455-01422 at night.", "814/455-01422", "phone"),
        ("Photographed (DSC_4471.JLG).", "DSC_4471.JLG", "photo"),
        ("the vehicle 1FTYH4500GS50923", "1FTYH4500GS50923", "id_other"),
    ],
)
def test_slips_are_read_through(text: str, surface: str, leaf: str) -> None:
    assert (surface, leaf) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "Grade 4. Tumor was seen in the ED. Blood was drawn.",
        "Vitamin A, Zinc and iron. Heparin 5000 units SC, IV 12345 mL.",
        "The patient came to the medical staff; pain 4/10, strength 5/5.",
        "Lund-Mackay 7. Audiogram normal. Apgar 8. Baby well.",
        "Take 2 Tylenol po, then 1 Motrin pr.",
        "Ludwig angina, Crohn disease, an old skin tear of this kind.",
        "T-score -2.1. Kidneys are normal. L4-5, L5-S1. A 2-3-4 pattern.",
    ],
)
def test_clean_clinical_text_stays_as_it_is(text: str) -> None:
    assert Repair(settings.load()).read(text).text == text
    assert not [one for one in found(text) if one[1] not in ("date_relative", "quantity")]


def test_a_name_is_read_only_where_one_is_due() -> None:
    word = re.compile("bnown").search

    def read(text: str) -> str | None:
        match = re.search(r"[Bb]nown", text)
        assert match is not None
        return as_name(text, match)

    assert word("bnown") is not None
    assert read("Signed by Alton Bnown, MD") == "Brown"
    assert read("The lesion is Bnown in part.") is None
    assert read("Color: bnown in part.") is None
    assert nearest("juditn", sure=False) == "judith" and nearest("qqqqqq", sure=True) is None


def test_short_forms_and_clock_times_are_no_slips() -> None:
    assert Repair(settings.load()).read("PATIENT: MTCH, in February.").text == "PATIENT: MTCH, in February."
    assert ("0336", "phone") not in found("Encounter date: 11/21/2021 0336 hrs")
    assert ("0907", "zip") not in found("Electronically signed by Leonard Whitfield, MD 0907\n")


def test_marks_keep_their_places() -> None:
    text = "cc: L,M. Reyes, MD; O.4. Perez, MD; Mercy 8. Jacobs. Vitamin B, Smith; stage 4. Tumor"
    read = marks_read(text)
    assert len(read) == len(text)
    assert read == "cc: L.M. Reyes, MD; O.A. Perez, MD; Mercy B. Jacobs. Vitamin B, Smith; stage 4. Tumor"
    assert list(initials_struck_twice("by AQ.T. Long, seen in ED. Blood")) == [(3, 5, "A")]
    assert list(initials_struck_twice("by AP.T. Long")) == []


def test_numbers_with_a_comma_for_a_point() -> None:
    assert as_numbers("27.02,2023 and 814.555,0142") == "27.02.2023 and 814.555.0142"
    assert as_numbers("12.5,2023 mg; 1,250.5000; 3.25,1000") == "12.5.2023 mg; 1.250.5000; 3.25,1000"


def test_kinds_of_streets() -> None:
    kinds = Kinds(["lane", "ln", "road", "rd", "street", "st", "way"])
    assert list(kinds.changes("at 4417 Juniper n., Albany")) == [(16, 17, "Ln")]
    assert list(kinds.changes("at 4417 Juniper Streey, Albany")) == [(16, 22, "Street")]
    assert list(kinds.changes("at 4417 Juniper Lane, Albany; 2 Tylenol po, then")) == []


def test_small_words_and_titles() -> None:
    assert small_words("mailed t0 them; T0 stage; Nexf of kin: A; of this kin: B") == (
        "mailed to them; T0 stage; Next of kin: A; of this kin: B"
    )
    assert list(titles("Heloo Msq. Legg. Mt. Sinai Medical Center")) == [(6, 9, "Ms")]
    assert list(years_old("a 92-year-olx man, two year out")) == [(10, 13, "old")]
    assert beside("j", "u") and not beside("j", "j") and not beside("a", "p")
