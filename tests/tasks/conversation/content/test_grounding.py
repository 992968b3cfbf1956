"""What a reply asserts, against what it could know."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.places import DATA
from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.content import (
    Grounding,
    Support,
    extended_facts,
    extractor_facts,
    support_of,
)
from workup.tasks.conversation.read.content.passages import Passage
from workup.tasks.conversation.read.facts.probes import probes

FACTS = (
    Fact("f1", "allergy", "penicillin", ("PCN",)),
    Fact("f2", "medication", "warfarin", retired=3),
    Fact("f3", "diagnosis", "type 2 diabetes"),
    Fact("f4", "symptom", "chest pain", status="absent", critical=False),
    Fact("f5", "medication", "apixaban", introduced=3),
    Fact("f6", "diagnosis", "breast cancer", status="family"),
)
TURNS = (
    Turn(
        1,
        "I am allergic to penicillin (PCN), take warfarin, have type 2 diabetes, no chest pain; mum had breast cancer.",
    ),
    Turn(2, "My gout is back, and I take metforman."),
    Turn(3, "They stopped warfarin and started apixaban."),
    Turn(4, "I got pneumonia."),
)
CASE = ConversationCase("c1", "62-year-old with hypertension.", TURNS, FACTS)
ALL = (*FACTS, *extended_facts(CASE))
GROUNDING = Grounding(CASE, ALL)


@pytest.mark.parametrize(
    ("reply", "turn", "expected"),
    [
        # entities, in_critical, in_extended, ungrounded, denied
        ("You take warfarin.", 1, Support(1, 1, 1, 0)),
        ("You take Coumadin, that is warfarin.", 1, Support(1, 1, 1, 0)),  # brand and generic are one
        ("Your diabetes needs care.", 1, Support(1, 1, 1, 0)),  # the head of a longer name
        ("You have hypertension.", 1, Support(1, 0, 1, 0)),  # of the summary: extended only
        ("You have high blood pressure.", 1, Support(1, 0, 1, 0)),
        ("You have asthma.", 1, Support(1, 0, 0, 1)),  # nobody said so
        ("Gout it is.", 1, Support(1, 0, 0, 1)),  # not said yet
        ("Gout it is.", 2, Support(1, 0, 0, 0)),  # said, though no fact
        ("You take metformin.", 2, Support(1, 0, 0, 0)),  # misspelled when it was said
        ("You take apixaban.", 2, Support(1, 0, 0, 1)),  # a fact of a later turn
        ("You take apixaban.", 3, Support(1, 1, 1, 0)),
        ("You take warfarin.", 3, Support(1, 0, 0, 0)),  # retired: stale, but not made up
        ("Warfarin was stopped.", 3, Support(0, 0, 0, 0, 1)),  # and rightly said to be over
        ("You do not take warfarin.", 1, Support(1, 0, 0, 0)),  # the opposite of a fact is no support
        ("No chest pain.", 1, Support(1, 0, 1, 0)),  # a denial that the ledger holds
        ("You have chest pain.", 1, Support(1, 0, 0, 0)),
        ("No fever, no cough, no asthma.", 1, Support(0, 0, 0, 0, 3)),  # denials of what nobody spoke of
        ("Allergic to penicillin.", 1, Support(1, 1, 1, 0)),
        ("Penicillin allergy noted.", 1, Support(1, 1, 1, 0)),
        ("We started penicillin today.", 1, Support(1, 0, 0, 0)),  # the drug is not the allergy
        ("Please avoid penicillin.", 1, Support(1, 1, 1, 0)),
        ("Allergic to warfarin.", 1, Support(1, 0, 0, 0)),  # nor is the allergy the drug
        ("Your mother had breast cancer.", 1, Support(1, 1, 1, 0)),
        ("You have breast cancer.", 1, Support(1, 0, 0, 0)),
        ("If you get a fever, call. Do you have asthma?", 1, Support(0, 0, 0, 0)),
        ("The pain, the surgery and your knee.", 1, Support(0, 0, 0, 0)),
        ("Let us check your potassium and blood pressure.", 1, Support(0, 0, 0, 0)),
        ("Your potassium was 3.4.", 1, Support(1, 0, 0, 1)),  # a result nobody gave
        ("Asthma. Asthma! Your asthma.", 1, Support(1, 0, 0, 1)),  # distinct entities
        ("<think>Maybe gout and asthma.</think>Warfarin it is.", 1, Support(1, 1, 1, 0)),
        ("You have ~~asthma~~ gout.", 2, Support(1, 0, 0, 0)),
        ("", 1, Support(0, 0, 0, 0)),
        (None, 1, Support(0, 0, 0, 0)),
    ],
)
def test_support(reply: str | None, turn: int, expected: Support) -> None:
    assert GROUNDING.support(reply, turn) == expected


def test_a_summary_by_hand() -> None:
    reply = (
        "Type 2 diabetes, hypertension and asthma. Takes warfarin and lisinopril. Allergic to penicillin. "
        "No chest pain, no fever. Mother had breast cancer."
    )
    # asthma and lisinopril came from nowhere; hypertension is of the summary; chest pain is denied by the ledger too.
    assert GROUNDING.support(reply, 1) == Support(8, 4, 6, 2, 1)


def test_denials_cannot_thin_out_what_was_made_up() -> None:
    plain = GROUNDING.support("You have asthma.", 1)
    padded = GROUNDING.support("You have asthma. No fever, no cough, no rash, no gout, no stroke.", 1)
    assert plain[:4] == padded[:4]


def test_the_thin_form_is_the_same() -> None:
    for reply in ("You take warfarin and have asthma.", "No chest pain."):
        assert support_of(reply, CASE, 1, ALL) == GROUNDING.support(reply, 1)
    # Facts of the summary alone may be given: those of the ledger are added.
    assert support_of("Warfarin, hypertension.", CASE, 1, extended_facts(CASE)) == Support(2, 1, 2, 0)


def test_counts_hold_together_for_every_labelled_reply() -> None:
    for probe in probes():
        found = GROUNDING.support(probe.reply, 2)
        assert 0 <= found.in_critical <= found.in_extended <= found.entities
        assert 0 <= found.ungrounded <= found.entities - found.in_extended


def test_plain_sentences_are_read_as_closely_read_ones() -> None:
    """The short way round for sentences without a deciding word must not change what is said."""
    short = 0
    for probe in probes():
        passage = Passage(probe.reply)
        for entity in passage.entities:
            quick, close = passage.said(entity, entity.kind), passage.said(entity, entity.kind, closely=True)
            for name in ("mood", "family", "negated", "ruled_out", "ended", "possible"):
                assert getattr(quick, name) == getattr(close, name), (probe.name, name)
            short += quick != close
    assert short > 0


def test_where_a_name_is_split_over_lines_or_signs_it_is_placed() -> None:
    passage = Passage("She takes hydrocodone/\nacetaminophen; no chest\npain. V/Q scan was negative.")
    assert {entity.concept for entity in passage.entities} >= {"chest pain"}
    entity = next(one for one in passage.entities if one.concept == "chest pain")
    assert passage.said(entity, "symptom").negated


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=300), st.integers(1, 4))
def test_no_reply_crashes_it(reply: str, turn: int) -> None:
    found = GROUNDING.support(reply, turn)
    assert 0 <= found.ungrounded <= found.entities


PARTS = (
    "You take warfarin.",
    "You have asthma.",
    "No chest pain.",
    "Allergic to penicillin.",
    "No fever.",
    "Your gout is back.",
    "Potassium 3.4.",
)


@settings(max_examples=40, deadline=None)
@given(st.permutations(PARTS))
def test_order_of_sentences_changes_nothing(parts: list[str]) -> None:
    assert GROUNDING.support(" ".join(parts), 2) == GROUNDING.support(" ".join(PARTS), 2)


def test_a_long_reply_of_one_word_takes_no_time_to_speak_of() -> None:
    found = GROUNDING.support("warfarin " * 20_000 + "~~asthma~~ " * 5_000, 1)
    assert found == Support(1, 1, 1, 0)


def test_extractor_is_named_with_its_error() -> None:
    told = extractor_facts()
    assert told["name"] == "lexicon" and told["version"]
    total = told["error"][-1]
    assert total["category"] == "all" and total["right"] > 100 and 0 < total["recall"] <= 1


@pytest.mark.real_data
def test_notes_are_grounded_in_their_own_visit_and_not_in_another() -> None:
    data = DATA
    with (data / "aci_bench" / "valid.csv").open(encoding="utf-8") as file:
        visits = list(csv.DictReader(file))
    own, others = [0, 0], [0, 0]
    for visit, other in zip(visits, [*visits[1:], visits[0]], strict=True):
        heard = Grounding(ConversationCase("v", "", (Turn(1, visit["dialogue"]),), ()), ())
        for counts, note in ((own, visit["note"]), (others, other["note"])):
            found = heard.support(note, 1)
            counts[0] += found.ungrounded
            counts[1] += found.entities
    assert own[1] > 200
    assert own[0] / own[1] < 0.25 < 0.75 < others[0] / others[1]
