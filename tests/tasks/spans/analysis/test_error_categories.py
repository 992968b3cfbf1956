"""Categories of misses and false alarms, by hand: each kind, which comes first, and where a span lies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.tasks.spans.errors.categories import (
    FALSE_ALARMS,
    MISSES,
    category_of_false_alarm,
    category_of_miss,
    fifth,
)
from workup.documents.labels import NAMES


def miss(surface: str, label: str | None) -> str:
    """The category of a gold wholly missed, with words around it."""
    return category_of_miss(f"note of {surface} today", 8, 8 + len(surface), label=label)


@pytest.mark.parametrize(
    ("surface", "label", "expected"),
    [
        ("Will", "name_patient", "ambiguous_name"),
        ("April Hendrickson", "name_patient", "ambiguous_name"),
        ("Hendrickson, Rose", "name_relative", "ambiguous_name"),
        ("Dr. Parkinson", "name_provider", "ambiguous_name"),
        ("FLORENCE", "NAME", "ambiguous_name"),  # before capitals
        ("John Smith", "name_patient", "other"),
        ("HENDRICKSON", "name_patient", "all_caps"),
        ("J. B.", "name_patient", "other"),
        ("rose22", "username", "other"),
        ("J0hn Smith", "name_patient", "noise"),
        ("Joh\u200bn", "name_patient", "noise"),
        ("Sm\u0456th", "name_patient", "noise"),  # a Cyrillic letter in a Latin word
        ("Ｓｍｉｔｈ", "name_patient", "noise"),
        ("John  Smith", "name_patient", "noise"),
        ("John\nSmith", "name_patient", "noise"),
        ("J o h n", "name_patient", "noise"),
        ("Sm!th", "name_patient", "noise"),
        ("Юрий", "name_patient", "other"),  # one script throughout is no noise
        ("Müller-Lüdenscheidt", "name_patient", "other"),
        ("03/14/2020", "date", "other"),
        ("2020-03-14", "date_birth", "other"),
        ("14 MAR 2020", "date", "other"),
        ("Saturday, March 14, 2020", "date", "other"),
        ("March 2020", "date", "other"),
        ("3/14", "date", "unusual_date"),
        ("20200314", "date_birth", "unusual_date"),
        ("the ides of March", "date", "unusual_date"),
        ("14.III.2020", "date", "unusual_date"),
        ("13/32/2020", "date", "unusual_date"),
        ("next Tuesday", "date_relative", "unusual_date"),
        ("1998", "year_only", "other"),
        ("'98", "year_only", "unusual_date"),
        ("1998", "DATE", "other"),
        ("10:30 AM", "time", "other"),
        ("half past ten", "time", "unusual_date"),
        ("O3/14/2O20", "date", "noise"),  # before the unusual form it causes
        ("0ct 5, 2020", "date", "noise"),
        ("05SEP2020", "date", "unusual_date"),
        ("12 Oak Street", "street_address", "other"),
        ("1200 N. Lake Shore Dr.", "street_address", "other"),
        ("12 Oak Street, Apt 4", "street_address", "complex_address"),
        ("12 Oak Street\nSpringfield", "street_address", "complex_address"),
        ("PO Box 12", "street_address", "complex_address"),
        ("Rural Route 2", "street_address", "complex_address"),
        ("Broadway", "street_address", "complex_address"),
        ("6750 Koskikatu 25", "street_address", "complex_address"),
        ("12 OAK STREET, APT 4", "street_address", "complex_address"),
        ("12 OAKLEY STREET", "street_address", "all_caps"),
        ("12 Ma1n Street", "street_address", "noise"),
        ("Paris", "GEO", "other"),
        ("Reading", "city", "other"),
        ("SPRINGFIELD", "city", "all_caps"),
        ("TX", "state", "other"),
        ("MGH", "facility", "other"),
        ("MERCY HOSPITAL", "facility", "all_caps"),
        ("Genera1 Hospital", "facility", "noise"),
        ("4 West", "facility_unit", "other"),
        ("555-0l23", "phone", "noise"),
        ("555-0123 x44", "phone", "other"),
        ("941I0", "zip", "noise"),
        ("K1A 0B1", "zip", "other"),
        ("AB12CD", "mrn", "other"),
        ("ABCDEFGH", "mrn", "other"),  # capitals are what codes are made of
        ("44", "age_under_90", "other"),
        ("gardener", "profession", "other"),
        ("ANYTHING", None, "all_caps"),
        ("anything", None, "other"),
    ],
)
def test_what_explains_a_gold_that_was_missed(surface: str, label: str | None, expected: str) -> None:
    assert miss(surface, label) == expected


def test_what_the_detector_did_comes_after_what_the_text_explains() -> None:
    text = "Mark Johnson, 3/14"
    name = {"start": 0, "end": 12, "label": "name_patient"}
    assert category_of_miss(text, **name) == "ambiguous_name"
    # Only words that stayed whole and visible can be what was ambiguous.
    assert category_of_miss(text, **name, same=[(0, 4)]) == "partial"
    assert category_of_miss(text, **name, same=[(5, 12)]) == "ambiguous_name"
    assert category_of_miss(text, **name, same=[(3, 12)]) == "partial"
    assert category_of_miss(text, **name, other=[(0, 4)]) == "wrong_type"
    assert category_of_miss(text, **name, same=[(0, 2)], other=[(0, 12)]) == "partial"
    # All of it masked: whatever the text looks like, it was seen.
    assert category_of_miss(text, **name, other=[(0, 12)]) == "wrong_type"
    assert category_of_miss(text, **name, same=[(0, 13)]) == "partial"
    assert category_of_miss(text, **name, same=[(0, 4)], other=[(5, 12)]) == "partial"
    assert category_of_miss(text, 14, 18, label="date", other=[(14, 18)]) == "wrong_type"
    # What only touches it, or lies elsewhere in the document, is not on it.
    assert category_of_miss("John Smith, 44", 0, 10, label="name_patient", same=[(10, 11), (12, 14)]) == "other"


NOTE = """DISCHARGE SUMMARY
Allergies: penicillin
Patient with Huntington's disease and tetralogy of Fallot; Foley catheter, Hodgkin lymphoma.
Took Lasix 40 mg, 1-2 tablets, pain 5/10, BP 120/80, A1C 7.2, 3/4 strength, 98.6 F. Sample 00417 of 12.
May need Rose to will. Seen 3/14/2020 at 10:30. XYLOPHONE and gr0wth. Zorgon."""


@pytest.mark.parametrize(
    ("surface", "expected"),
    [
        ("Huntington's disease", "eponym"),
        ("Huntington", "eponym"),
        ("Fallot", "eponym"),
        ("Foley", "eponym"),
        ("Hodgkin", "eponym"),
        ("Lasix", "drug"),
        ("Lasix 40 mg", "measurement"),  # less than half of it is the drug
        ("penicillin", "drug"),
        ("40 mg", "measurement"),
        ("40", "measurement"),
        ("1-2", "measurement"),
        ("5/10", "measurement"),
        ("120/80", "measurement"),
        ("7.2", "measurement"),
        ("3/4", "measurement"),
        ("00417", "number"),
        ("DISCHARGE", "heading"),
        ("Allergies", "heading"),
        ("May", "ambiguous_name"),
        ("Rose", "ambiguous_name"),
        ("3/14/2020", "date"),
        ("10:30", "date"),
        ("XYLOPHONE", "all_caps"),
        ("Zorgon", "other"),
        ("lymphoma", "clinical_term"),
    ],
)
def test_what_a_false_alarm_fell_on(surface: str, expected: str) -> None:
    start = NOTE.index(surface)
    assert category_of_false_alarm(NOTE, start, start + len(surface)) == expected


def test_a_false_alarm_on_phi_is_named_by_that() -> None:
    text = "Foley catheter for Ann Lee"
    assert category_of_false_alarm(text, 0, 26, same=[(19, 26)]) == "partial"
    assert category_of_false_alarm(text, 0, 26, other=[(19, 26)]) == "wrong_type"
    assert category_of_false_alarm(text, 0, 5, same=[(19, 26)], other=[(5, 6)]) == "eponym"
    assert category_of_false_alarm("a  b", 0, 4) == "noise"


@given(st.text(min_size=1, max_size=60), st.data())
def test_every_span_has_one_known_category(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    ranges = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=3)
    same, other = data.draw(ranges), data.draw(ranges)
    label = data.draw(st.sampled_from([None, *NAMES]))
    assert category_of_miss(text, start, end, label=label, same=same, other=other) in MISSES
    assert category_of_false_alarm(text, start, end, same=same, other=other) in FALSE_ALARMS


def test_fifths_of_a_document() -> None:
    assert [fifth(start, 10) for start in range(10)] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert fifth(0, 1) == 1 and fifth(2, 3) == 4
    assert fifth(12, 10) == 5 and fifth(0, 0) == 1  # outside the text, and no text
    starts = np.arange(7)
    assert fifth(starts, 7).tolist() == [fifth(int(start), 7) for start in starts]
