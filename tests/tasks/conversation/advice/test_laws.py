"""Laws of advice: order changes nothing, capitals change nothing, and no text makes it fail."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.advice_cases import case_with
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice import conflicts_of, never_events_of, statements_of
from workup.tasks.conversation.read.advice.probes import advice_probes
from workup.tasks.conversation.read.facts import Matcher

REPLIES = [probe.reply for probe in advice_probes()]
FACTS = (
    Fact("a", "allergy", "penicillin", introduced=2, harm_tag="avoid_class:penicillins"),
    Fact("w", "medication", "warfarin", retired=4, harm_tag="avoid_with:NSAIDs"),
    Fact("k", "diagnosis", "kidney disease", introduced=3, harm_tag="avoid_class:nsaids"),
    Fact("p", "diagnosis", "pregnancy", harm_tag="pregnancy"),
)
SAMPLE = """stop start continue avoid take don't not never if you your doctor wife should be is safe ibuprofen warfarin
NSAIDs amoxicillin , . ; : ? - and or but to it them until then instead of rather than no need increase 20 mg 911 MRI"""
WORDS = st.sampled_from(SAMPLE.split())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(REPLIES), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_order_of_facts_and_turns_changes_nothing(replies: list[str], chance: random.Random) -> None:
    case = case_with(*FACTS)
    said = dict(enumerate(replies, start=1))
    facts, turns = list(FACTS), list(said)
    chance.shuffle(facts)
    chance.shuffle(turns)
    other = ConversationCase(case.id, "", case.turns, tuple(facts))
    mixed = {turn: said[turn] for turn in turns}
    assert conflicts_of(case, said) == conflicts_of(other, mixed)
    outcomes = {
        turn: dict(zip([fact.id for fact in FACTS], Matcher(FACTS).judge(reply, turn=turn), strict=True))
        for turn, reply in said.items()
    }
    backwards = {turn: dict(reversed(list(outcomes[turn].items()))) for turn in turns}
    assert sorted(never_events_of(case, said, outcomes)) == sorted(never_events_of(other, mixed, backwards))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=400))
def test_no_text_makes_it_fail(text: str) -> None:
    case = case_with(*FACTS)
    statements_of(text)
    found = conflicts_of(case, {1: text, 2: "Stop warfarin."})
    assert 0 <= found.conflicting <= found.comparable
    never_events_of(case, {1: text}, {})


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, max_size=60))
def test_words_of_advice_in_any_order_are_read(words: list[str]) -> None:
    for one in statements_of(" ".join(words)):
        assert one.action in ("start", "continue", "stop", "increase", "decrease", "avoid", "seek_care")
        assert one.mood in ("plain", "conditional", "question", "report", "general")
        assert one.person in ("patient", "other")


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(REPLIES))
def test_capitals_change_nothing(reply: str) -> None:
    assert statements_of(reply.upper()) == statements_of(reply)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(REPLIES), st.sampled_from(REPLIES))
def test_a_sentence_before_moves_the_places_alone(first: str, reply: str) -> None:
    alone = [one._replace(sentence=0) for one in statements_of(reply) if one.firm]
    after = [one._replace(sentence=0) for one in statements_of(f"Good morning to you.\n\n{reply}") if one.firm]
    assert alone == after


def test_counts_of_pairs_hold_together() -> None:
    case = case_with(*FACTS, turns=40)
    chance = random.Random(7)
    for _ in range(20):
        replies = {turn: " ".join(chance.sample(REPLIES, 3)) for turn in range(1, 9)}
        found = conflicts_of(case, replies)
        kinds = [pair.kind for pair in found.pairs]
        assert kinds.count("conflict") + kinds.count("against_fact") == found.conflicting <= found.comparable
        assert kinds.count("against_fact") == found.against_fact
        assert kinds.count("licensed") + kinds.count("licensed (message)") == found.licensed
        assert kinds.count("unclear") == found.unclear
        assert kinds.count("failure_to_update") == found.failures_to_update
        assert all(pair.turns[0] <= pair.turns[1] for pair in found.pairs)


def test_a_long_reply_does_not_stall() -> None:
    found = statements_of("Stop warfarin and ibuprofen or take it then. " * 2000)
    assert found[0].sentence == 0
    statements_of("take " * 20_000)
    statements_of("to " * 5_000 + "take warfarin")
    statements_of("ibuprofen, " * 5_000)
