"""The written cases: all load, a perfect summary of each ledger is perfect, and no plan or tag contradicts its case."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
import yaml

from tests.support.ledger_sentences import faults_of
from workup.errors import InputError
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.consistency import said_in
from workup.tasks.conversation.cases.facts import STATUSES, TYPES
from workup.tasks.conversation.cases.written import families, load_cases
from workup.tasks.conversation.read.facts import Matcher
from workup.tasks.conversation.read.facts.expected_values import amounts_of
from workup.tasks.conversation.read.sentence.doses import number_of
from workup.tasks.conversation.read.sentence.folding import tokens
from workup.tasks.conversation.read.sentence.vocabulary import data_file

CASES = load_cases()
FACTS = [(case, fact) for case in CASES for fact in case.facts]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


def test_there_are_many_of_many_kinds() -> None:
    assert len(CASES) >= 30 and len({case.id for case in CASES}) == len(CASES)
    specialties = Counter(case.metadata["specialty"] for case in CASES)
    assert len(specialties) >= 18 and specialties["mental_health"] >= 5
    assert {fact.type for _, fact in FACTS} == set(TYPES)
    assert {fact.status for _, fact in FACTS} == set(STATUSES)
    assert sum(fact.superseded_by is not None for _, fact in FACTS) >= 40
    assert sum(fact.retired is not None and fact.superseded_by is None for _, fact in FACTS) >= 60
    for name, least in (("absent", 70), ("historical", 30), ("family", 35), ("uncertain", 4)):
        assert sum(fact.status == name for _, fact in FACTS) >= least, name
    assert {key for _, fact in FACTS for key in fact.attributes} == {
        *("dose_value", "dose_unit", "frequency", "route", "laterality", "date")
    }


def test_groups_sites_and_times_have_something_to_compare() -> None:
    for name, levels in (("sex", 2), ("age", 4), ("language", 2)):
        held = Counter(case.metadata["groups"][name] for case in CASES)
        assert len(held) == levels and min(held.values()) >= 2, name
    assert len({case.metadata["site"] for case in CASES}) == 4
    assert len({case.metadata["time"][:7] for case in CASES}) == 12
    assert len({case.metadata["persona"] for case in CASES}) == len(CASES)


@each_case
def test_a_case_is_a_full_conversation(case: ConversationCase) -> None:
    assert case.form == "full" and 10 <= case.last_turn <= 20 and 10 <= len(case.facts) <= 18
    assert case.target_plan and case.patient_summary and {fact.critical for fact in case.facts} == {True, False}
    assert len({fact.introduced for fact in case.facts}) >= 7
    assert any(fact.retired for fact in case.facts) and any(fact.harm_tag for fact in case.facts)
    words = [len(turn.message.split()) for turn in case.turns]
    assert min(words) >= 7 and sum(words) / len(words) > 18  # people, not telegrams
    told = {(event.kind, event.fact) for turn in case.turns for event in turn.events}
    assert {("introduce", fact.id) for fact in case.facts} <= told
    assert {("change" if fact.superseded_by else "retire", fact.id) for fact in case.facts if fact.retired} <= told


@each_case
def test_a_perfect_summary_is_perfect_at_every_turn(case: ConversationCase) -> None:
    assert faults_of(case) == []


@each_case
def test_a_fact_is_said_in_the_very_turn_that_introduces_it(case: ConversationCase) -> None:
    for fact in case.facts:
        message = case.turns[fact.introduced - 1].message
        assert said_in(fact, [message]), fact.id
        spoken = {number for word in tokens(message) if (number := number_of(word)) is not None}
        amounts, _ = amounts_of(fact.attributes.get("dose_value")) or ((), "")
        assert set(amounts) <= spoken | {1.0}, fact.id
        year = str(fact.attributes.get("date", ""))[:4]
        assert year in message, fact.id


@each_case
def test_plan_and_summary_agree_with_the_ledger_at_the_end(case: ConversationCase) -> None:
    matcher = Matcher(case.facts)
    for text in (case.target_plan, case.patient_summary):
        for fact, judged in zip(case.facts, matcher.judge(text, turn=case.last_turn), strict=True):
            assert judged.outcome in ("correct", "omitted", "retired_ok"), (fact.id, judged)


@each_case
def test_a_change_is_of_the_same_thing_and_at_the_same_turn(case: ConversationCase) -> None:
    known = {fact.id: fact for fact in case.facts}
    for fact in case.facts:
        if fact.superseded_by:
            after = known[fact.superseded_by]
            assert (after.type, after.concept, after.introduced) == (fact.type, fact.concept, fact.retired)
            assert (after.status, after.attributes) != (fact.status, fact.attributes)
    order = [fact.introduced for fact in case.facts]
    assert all(one <= other for one, other in pairwise(order))


def test_at_the_end_no_drug_is_taken_that_a_fact_forbids() -> None:
    for case, fact in FACTS:
        kind, _, forbidden = (fact.harm_tag or "").partition(":")
        if kind != "pregnancy" and fact.active(case.last_turn):
            taken = [one for one in case.active(case.last_turn) if (one.type, one.status) == ("medication", "present")]
            assert forbidden not in {one.concept for one in taken}, (case.id, fact.id)


def test_every_class_of_a_tag_is_in_the_class_map() -> None:
    classes = yaml.safe_load(data_file("advice_classes"))
    tags = {tag for _, fact in FACTS if (tag := fact.harm_tag)}
    named = {tag.partition(":")[2] for tag in tags if tag.startswith("avoid_class:")}
    assert named <= set(classes) and len(named) >= 8
    assert {tag.partition(":")[0] for tag in tags} == {"avoid_class", "avoid_drug", "avoid_with", "pregnancy"}


def test_families_can_be_chosen_by_name() -> None:
    assert sum(len(load_cases(only=[name])) for name in families()) == len(CASES)
    with pytest.raises(InputError, match="mental_health"):
        load_cases(only="mental_helth")
