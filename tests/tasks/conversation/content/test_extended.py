"""Facts of the patient summary that the ledger does not hold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import STATUSES, TYPES, Fact
from workup.tasks.conversation.read.content import extended_facts
from workup.tasks.conversation.read.content.extended import aliases_of
from workup.tasks.conversation.read.facts import Matcher

TREMOR = Fact("f1", "symptom", "tremor")


def facts_of(summary: str, *ledger: Fact) -> dict[str, Fact]:
    held = ledger or (TREMOR,)
    message = ". ".join(name for fact in held for name in fact.names)
    case = ConversationCase("c1", summary, (Turn(1, message),), held)
    return {fact.concept: fact for fact in extended_facts(case)}


@pytest.mark.parametrize(
    ("summary", "concept", "type", "status"),
    [
        ("She has HTN.", "hypertension", "diagnosis", "present"),
        ("No chest pain today.", "chest pain", "symptom", "absent"),
        ("Possible sleep apnea.", "sleep apnea", "diagnosis", "uncertain"),
        ("Her mother had breast cancer.", "breast cancer", "diagnosis", "family"),
        ("History of stroke.", "stroke", "diagnosis", "historical"),
        ("History of hypertension.", "hypertension", "diagnosis", "present"),
        ("Prior MI.", "myocardial infarction", "diagnosis", "historical"),
        ("Stopped warfarin last year.", "warfarin", "medication", "historical"),
        ("Allergic to penicillin.", "penicillin", "allergy", "present"),
        ("Penicillin allergy.", "penicillin", "allergy", "present"),
        ("Not allergic to penicillin.", "penicillin", "allergy", "absent"),
        ("S/p cholecystectomy in 2010.", "cholecystectomy", "procedure", "historical"),
    ],
)
def test_status_comes_from_context(summary: str, concept: str, type: str, status: str) -> None:
    fact = facts_of(summary)[concept]
    assert (fact.type, fact.status) == (type, status)
    assert fact.critical is False and fact.introduced == 1 and fact.retired is None


def test_doses_are_attached_where_they_are_plain() -> None:
    found = facts_of("Takes metformin 500 mg BID for diabetes and lisinopril 10mg PO daily; also warfarin.")
    assert dict(found["metformin"].attributes) == {"dose_value": 500.0, "dose_unit": "mg", "frequency": "bid"}
    assert found["lisinopril"].attributes["route"] == "oral"
    assert not found["warfarin"].attributes
    brand = facts_of("apixaban (Eliquis) 5 mg twice daily")["apixaban"]
    assert brand.attributes["dose_value"] == 5.0


def test_two_doses_of_one_drug_leave_it_without_any() -> None:
    fact = facts_of("Warfarin 5 mg on Mondays. Warfarin 7.5 mg on Fridays.")["warfarin"]
    assert "dose_value" not in fact.attributes


def test_results_need_their_value_and_sides_are_kept() -> None:
    found = facts_of("BP 150/95, K 3.4. Check the TSH. Left knee pain.")
    assert found["blood pressure"].attributes["dose_value"] == "150/95"
    assert found["potassium"].attributes["dose_value"] == 3.4
    assert "thyroid stimulating hormone" not in found
    assert found["knee pain"].attributes["laterality"] == "left"


def test_generic_words_anatomy_and_suppositions_are_no_facts() -> None:
    text = "The patient has pain. Medication was given. Surgery on the knee. If fever develops, call. Avoid ibuprofen."
    assert facts_of(text) == {}
    assert facts_of("Is there any asthma?") == {}
    assert facts_of("No family history of breast cancer.") == {}


@pytest.mark.parametrize(
    ("summary", "held"),
    [
        ("Takes warfarin.", Fact("f1", "medication", "warfarin")),
        ("Takes Coumadin.", Fact("f1", "medication", "warfarin")),
        ("High blood pressure.", Fact("f1", "diagnosis", "HTN")),
        ("Allergic to penicillin.", Fact("f1", "allergy", "penicillin allergy")),
        ("Her diabetes is stable.", Fact("f1", "diagnosis", "type 2 diabetes")),
        ("Type 2 diabetes.", Fact("f1", "diagnosis", "diabetes")),
        ("Warfarin 5 mg.", Fact("f1", "medication", "blood thinner", ("warfarin 5 mg",))),
    ],
)
def test_what_the_ledger_holds_is_not_held_twice(summary: str, held: Fact) -> None:
    assert facts_of(summary, held) == {}


def test_a_relative_has_another_disease_than_the_patient() -> None:
    own = Fact("f1", "diagnosis", "breast cancer")
    assert facts_of("Her sister had breast cancer.", own)["breast cancer"].status == "family"


def test_said_both_ways_is_left_out_and_said_twice_stands_once() -> None:
    assert "diabetes mellitus" not in facts_of("He has diabetes. No diabetes.")
    found = facts_of("Chronic kidney disease. Her kidney disease is stable. Chronic kidney disease again.")
    assert list(found) == ["chronic kidney disease"]


def test_ids_are_new_ones_in_order() -> None:
    case = ConversationCase(
        "c", "Asthma and gout. Takes metformin.", (Turn(1, "a tremor"),), (Fact("x2", "symptom", "tremor"),)
    )
    assert [fact.id for fact in extended_facts(case)] == ["x1", "x3", "x4"]


def test_hives_of_an_allergy_are_part_of_it() -> None:
    assert list(facts_of("Allergic to penicillin (hives).")) == ["penicillin"]


def test_an_abbreviation_that_is_another_word_is_no_name() -> None:
    assert "ms" not in aliases_of("multiple sclerosis", "ms")
    assert aliases_of("rheumatoid arthritis", "ra")[0] == "ra"
    assert "k" not in facts_of("K 3.4")["potassium"].aliases


def test_the_matcher_reads_what_was_extracted() -> None:
    found = list(facts_of("Takes metformin 500 mg BID. HTN. No chest pain. K 3.4.").values())
    reply = "You take metformin 1000 mg twice daily for your high blood pressure... no chest pain; potassium 3.4."
    outcomes = {fact.concept: one.outcome for fact, one in zip(found, Matcher(found).judge(reply), strict=True)}
    assert outcomes == {
        "metformin": "wrong_value",
        "hypertension": "correct",
        "chest pain": "correct",
        "potassium": "correct",
    }


words = st.sampled_from(
    [
        "no",
        "warfarin",
        "5 mg",
        "0 mg",
        "asthma",
        "mother",
        "K",
        "3.4",
        "BP 120/80",
        "allergic to",
        "~~",
        "<think>",
        "?",
        "\n",
    ]
)


@settings(max_examples=80, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(words, max_size=25).map(" ".join)))
def test_no_summary_crashes_it(summary: str) -> None:
    for fact in facts_of(summary).values():
        assert fact.type in TYPES and fact.status in STATUSES
