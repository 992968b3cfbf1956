"""Known values are found through every way of writing them, and everyday words are left without support."""

from __future__ import annotations

import itertools
import pickle

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from workup.deid import Deidentifier
from workup.deid.known_values import KnownValues, joined
from workup.deid.settings import load
from workup.errors import InputError
from workup.values import Patient

MARIA = [
    ("name_patient.given", "María"),
    ("name_patient.given", "Josefina"),
    ("name_patient.family", "Trevino"),
    ("name_relative", "Anthony Castellanos (husband)"),
    ("date_birth", "1961-03-04"),
    ("phone", "(412) 555-0134"),
    ("mrn", "00482913"),
    ("ssn", "745-12-3456"),
    ("email", "m.trevino@home.example.org"),
    ("street_address", "12 Alderbrook Street, Apt 4, Springfield, IL 62704"),
    ("health_plan_id", "XQR123456789"),
    ("employer", "Acme Mill"),
]


def register(*values: tuple[str, str]) -> KnownValues:
    return KnownValues([("p1", list(values) or MARIA)], load())


KNOWN = register(*MARIA)


def found(text: str, known: KnownValues = KNOWN) -> list[tuple[str, str]]:
    return [(text[one.start : one.end], one.label) for one in known.find(text, "p1")]


@pytest.mark.parametrize(
    "surface",
    [
        "Maria Trevino",
        "Trevino, Maria",
        "TREVINO^MARIA^JOSEFINA",
        "maria trevino",
        "M. Trevino",
        "M.J. Trevino",
        "Trevino M",
        "Trevino",
        "TREVINO",
        "trevino",
        "Treviño",
        "Trevi\u0303no".replace("i\u0303n", "in\u0303"),
        "Tre\u200bvino",
        "Trevnio",
        "Trvino",
        "Trevinno",
        "Trevimo",
        "Trev1no",
        "Tre vino",
        "MariaTrevino",
        "Maria K. Trevino",
        "M.J.T.",
        "Mаria Trevino",  # with a Cyrillic letter
    ],
)
def test_a_name_is_found_in_every_form(surface: str) -> None:
    text = f"Today {surface} came in."
    ((got, label),) = found(text)
    assert label == "name_patient" and surface in (got, got.rstrip("."), f"{got}.")


@pytest.mark.parametrize(
    ("surface", "leaf"),
    [
        ("3/4/1961", "date_birth"),
        ("03/04/61", "date_birth"),
        ("March 4th, 1961", "date_birth"),
        ("4 Mar 1961", "date_birth"),
        ("04MAR1961", "date_birth"),
        ("1961-03-04", "date_birth"),
        ("19610304", "date_birth"),
        ("412-555-0134", "phone"),
        ("412.555.0134", "phone"),
        ("+1 412 555 0134", "phone"),
        ("4125550134", "phone"),
        ("555-0134", "phone"),
        ("412-555-0143", "phone"),
        ("00482913", "mrn"),
        ("00-48-29-13", "mrn"),
        ("482913", "mrn"),
        ("745123456", "ssn"),
        ("745 12 3456", "ssn"),
        ("M.TREVINO@home.example.org", "email"),
        ("xqr-123-456-789", "health_plan_id"),
        ("12 Alderbrook St Apt 4", "street_address"),
        ("12 ALDERBROOK STREET", "street_address"),
        ("12 Alderbrok St", "street_address"),
        ("Alderbrook Street", "street_address"),
        ("Springfield", "city"),
        ("62704", "zip"),
        ("Anthony Castellanos", "name_relative"),
        ("Tony", "name_relative"),
        ("Kastellanos", "name_relative"),
        ("Acme Mill", "employer"),
    ],
)
def test_every_kind_of_value_is_found_under_its_leaf(surface: str, leaf: str) -> None:
    text = f"It says that {surface} is on file."
    own = [one for one in KNOWN.find(text, "p1") if one.label == leaf]
    start = text.index(surface)
    assert own and min(one.start for one in own) <= start + (surface[0] == "+")
    assert max(one.end for one in own) >= start + len(surface)


@pytest.mark.parametrize(
    "text",
    [
        "She may will it; will she march in May? In May she will.",
        "MS was diagnosed; ROM full; the burns are healing, colon clear.",
        "Given 12 mg and 4 units, 61 kg, 04 tablets; room 4.",
        "Elm wood, brown stool, a long young day. Rose to stand.",
        "BP 482/913, ratio 4.82913, at 1961 and 3/4 of a tablet.",
        "Parkinson's disease, Hodgkin lymphoma and a Burns unit.",
    ],
)
def test_everyday_and_clinical_words_are_left_without_support(text: str) -> None:
    known = register(
        ("name_patient", "Will May"),
        ("name_relative", "Rose Young"),
        ("name_relative", "Brown Long"),
        ("name_relative", "Burns Colon"),
        ("name_relative", "Parkinson Hodgkin"),
        ("name_patient", "MS"),
        ("street_address", "12 Elm"),
        ("mrn", "4"),
        ("mrn", "12"),
        ("date_birth", "1961-03-04"),
        ("mrn", "482913"),
    )
    assert found(text, known) == []


@pytest.mark.parametrize(
    ("text", "surface"),
    [
        ("Ms. May called.", "May"),
        ("Her daughter May agrees.", "May"),
        ("Seen with May Will today.", "May Will"),
        ("WILL, MAY", "WILL, MAY"),
        ("Will reports pain.", "Will"),
        ("Name: Will", "Will"),
    ],
)
def test_an_everyday_word_is_taken_where_it_is_supported(text: str, surface: str) -> None:
    known = register(("name_patient", "May Will"))
    assert [got for got, _ in found(text, known)] == [surface]


def test_a_short_number_needs_a_label() -> None:
    known = register(("mrn", "48291"))
    assert found("Platelets 48291 today", known) == []
    assert found("MRN 48291", known) == [("48291", "mrn")]
    assert found("SSN ending in 3456") == [("3456", "ssn")] and found("3456 mL given") == []


def test_findings_say_why_and_hold_no_value() -> None:
    finding = KNOWN.find("Mrs. Trevnio called.", "p1")[0]
    assert finding.evidence[0] == "known: patient's name, one letter off" and finding.rule == "known.name"
    for one in KNOWN.find("Maria Trevino, 412-555-0134, 3/4/1961, 12 Alderbrook St", "p1"):
        said = " ".join((one.rule, *one.evidence)).lower()
        assert "trevino" not in said and "alderbrook" not in said and not any(map(str.isdigit, said))


def test_only_the_patients_own_notes_are_searched() -> None:
    deid = Deidentifier.load(known=[("p1", MARIA)])
    text = "seen with qzvexi trevnio"
    own, other, nobody = deid.detect([text] * 3, ["p1", "p2", None])
    assert own and other == nobody == deid.detect([text])[0]


def test_it_is_never_written() -> None:
    with pytest.raises(TypeError, match="memory alone"):
        pickle.dumps(KNOWN)
    assert repr(KNOWN) == str(KNOWN) == "KnownValues(1 patient)"
    deid = Deidentifier.load(known=[("p1", MARIA)])
    assert "revino" not in repr(deid) + repr(vars(deid)) + repr(KNOWN.find("Maria Trevino", "p1"))


@pytest.mark.parametrize(
    "value",
    ["", " ", "nan", "NaN", "x", "A", "?", "(*+[", "\\", ".*", "(?i)", "\u200b", "\ue000x\ue001", "a" * 1_000_000,
     "\ud800", "é\u0301", "O'", "'", "-", "1", "12", ",", "^^", "Dr.", "Jr", "(wife)", "מרים", "王"],
)  # fmt: skip
def test_strange_values_neither_crash_nor_spoil(value: str) -> None:
    for kind in ("name_patient", "name_patient.given", "phone", "mrn", "date_birth", "street_address", "email", "city"):
        known = register((kind, value))
        text = "The patient is a 12 year old (x) with A and B, seen by Dr. X on 1/2/2020. *+[ \\ \u200b O'Hara Jr."
        assert sum(one.end - one.start for one in known.find(text, "p1")) <= 6


def test_too_many_values_under_one_key_are_refused_without_one() -> None:
    many = [("mrn", f"{number:08d}") for number in range(1_001)]
    with pytest.raises(InputError, match="at most 1,000") as caught:
        register(*many)
    assert "00000" not in str(caught.value)


def test_several_values_of_a_cell_and_rows_of_one_key() -> None:
    known = KnownValues([("p", [("phone", "412-555-0134; 412-555-0199")]), ("p", [("phone", "412-555-0155")])], load())
    assert len(known.find("4125550134 4125550199 4125550155 now", "p")) >= 3 and len(known) == 1


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=120), st.integers(0, 3))
def test_offsets_lie_in_the_text_whatever_it_holds(text: str, number: int) -> None:
    known = register(*MARIA)
    whole = text + " Maria Trevino 412 555 0134 " * number
    for one in known.find(whole, "p1"):
        assert 0 <= one.start < one.end <= len(whole)
    assert len([one for one in known.find(whole, "p1") if one.label == "phone"]) >= number


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 5_000), st.sampled_from(["full", "family_first", "family", "caps", "hl7", "initial_family", "lower"])
)
def test_names_of_made_up_patients_are_covered(index: int, form: str) -> None:
    patient = Patient.of(5, index, ambiguity="none")
    person = patient.person
    known = register(("name_patient", f"{person.given} {person.middle} {person.family}"))
    surface = person.surface(form)
    text = f"Spoke with Mr. {surface} today."
    covered = {at for one in known.find(text, "p1") for at in range(one.start, one.end)}
    start = text.index(surface)
    small = {
        "de",
        "la",
        "del",
        "van",
        "von",
        "der",
        "den",
        "di",
        "da",
        "dos",
        "le",
        "el",
        "al",
        "st",
        "san",
        "y",
        "ter",
        "bin",
    }
    words = [
        word for word in surface.replace("^", " ").replace(",", " ").split() if word.lower().strip(".") not in small
    ]
    longest = max(words, key=len)
    assume(len(longest.rstrip(".")) > 1)  # a single letter is nobody's name by itself
    at = text.index(longest, start)
    assert set(range(at, at + len(longest.rstrip(".")))) <= covered


@pytest.mark.parametrize(
    "piece", ["Trevnio ", "412-555-01 ", "a.b. ", "4 Mar 1961 ", "Maria Trevino, ", "1-", "12 Alderbrook "]
)
def test_long_texts_come_to_an_end(piece: str) -> None:
    text = piece * 10_000
    deid = Deidentifier.load(known=[("p1", MARIA)])
    assert deid.known is not None
    own = deid.known.find(text, "p1")
    kept = joined(own[:0], own, text)
    assert all(one.end <= other.start for one, other in itertools.pairwise(kept))
