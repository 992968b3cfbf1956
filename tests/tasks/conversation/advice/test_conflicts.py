"""K: which pairs of advice can be compared, which conflict, which an event licenses, which one should have changed."""

from __future__ import annotations

import pytest

from tests.support.advice_cases import FixedJudge, WordJudge, case_with
from workup.errors import PluginError
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice import conflicts_of

WARFARIN = Fact("w", "medication", "warfarin", ("Coumadin",))
PLAIN = case_with(WARFARIN)


def counts(case: object, replies: dict[int, str]) -> tuple[int, int, int, int]:
    found = conflicts_of(case, replies)  # type: ignore[arg-type]
    return found.comparable, found.conflicting, found.licensed, found.failures_to_update


def test_flip_flop_counts_all_pairs() -> None:
    replies = {1: "Continue warfarin.", 2: "Stop warfarin.", 3: "Continue warfarin.", 4: "Stop warfarin."}
    found = conflicts_of(PLAIN, replies)
    assert (found.comparable, found.conflicting) == (6, 4)
    assert found.rate == pytest.approx(4 / 6)
    assert {pair.turns for pair in found.pairs} == {(1, 2), (1, 4), (2, 3), (3, 4)}
    assert found.method == "rules"
    assert found.judged is None


def test_turns_far_apart_are_compared() -> None:
    found = conflicts_of(PLAIN, {1: "Keep taking Coumadin.", 2: "Fine.", 5: "Rest.", 8: "Hello. Stop warfarin."})
    pair = found.pairs[0]
    assert (found.comparable, found.conflicting) == (1, 1)
    assert (pair.turns, pair.slot, pair.actions, pair.sentences) == (
        (1, 8),
        "drug:warfarin",
        ("continue", "stop"),
        (0, 1),
    )


def test_repeating_oneself_is_one_piece_of_advice_per_turn() -> None:
    assert counts(PLAIN, {1: "Stop warfarin. Stop it. Avoid Coumadin.", 2: "Stop warfarin."}) == (1, 0, 0, 0)


def test_a_reply_can_contradict_itself() -> None:
    assert counts(PLAIN, {1: "Stop warfarin. Rest well. Continue warfarin."}) == (1, 1, 0, 0)
    assert counts(PLAIN, {1: "Take warfarin until Friday, then stop it."}) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    "other",
    [
        "If you bleed, stop warfarin.",
        "Should you stop warfarin?",
        "Your doctor told you to stop warfarin.",
        "Your wife should stop warfarin.",
        "Warfarin is stopped before most operations.",
        "Stop ibuprofen.",
        "Warfarin thins the blood.",
    ],
)
def test_what_cannot_be_compared(other: str) -> None:
    found = conflicts_of(PLAIN, {1: "Continue warfarin.", 2: other})
    assert (found.comparable, found.conflicting) == (0, 0)
    assert found.rate is None


def test_a_change_that_an_event_licenses_is_none() -> None:
    stopped = case_with(Fact("w", "medication", "warfarin", retired=3))
    assert counts(stopped, {2: "Continue warfarin.", 4: "Stop warfarin."}) == (0, 0, 1, 0)
    found = conflicts_of(stopped, {2: "Continue warfarin.", 4: "Stop warfarin."})
    assert found.pairs[0].kind == "licensed"
    assert found.pairs[0].facts == ("w",)


def test_the_turn_of_the_event_is_after_it() -> None:
    stopped = case_with(Fact("w", "medication", "warfarin", retired=3))
    assert counts(stopped, {2: "Continue warfarin.", 3: "Stop warfarin."}) == (0, 0, 1, 0)
    assert counts(stopped, {3: "Continue warfarin.", 4: "Stop warfarin."}) == (1, 1, 0, 0)


def test_advice_that_stays_although_an_event_forbids_it() -> None:
    allergy = Fact("a", "allergy", "penicillin", introduced=3, harm_tag="avoid_class:penicillins")
    case = case_with(allergy)
    assert counts(case, {2: "Take amoxicillin.", 5: "Keep taking Amoxil."}) == (0, 0, 0, 1)
    assert counts(case, {2: "Take amoxicillin.", 5: "Stop amoxicillin."}) == (0, 0, 1, 0)
    assert counts(case, {2: "Take azithromycin.", 5: "Keep taking azithromycin."}) == (1, 0, 0, 0)


def test_advice_on_a_drug_that_was_stopped_or_changed() -> None:
    stopped = case_with(Fact("w", "medication", "warfarin", retired=3))
    assert counts(stopped, {2: "Continue warfarin.", 4: "Continue Coumadin."}) == (0, 0, 0, 1)
    old = Fact("o", "medication", "lisinopril", attributes=_mg(10), retired=4, superseded_by="n")
    new = Fact("n", "medication", "lisinopril", attributes=_mg(20), introduced=4)
    changed = case_with(old, new)
    assert counts(changed, {2: "Continue lisinopril 10 mg.", 6: "Continue lisinopril 10 mg."}) == (0, 0, 0, 1)
    assert counts(changed, {2: "Continue lisinopril 10 mg.", 6: "Continue lisinopril 20 mg."}) == (0, 0, 1, 0)
    assert counts(changed, {2: "Continue lisinopril.", 6: "Continue lisinopril."}) == (0, 0, 0, 0)


def _mg(value: float) -> dict[str, object]:
    return {"dose_value": value, "dose_unit": "mg"}


def test_advice_against_a_drug_whose_ground_is_gone() -> None:
    allergy = Fact("a", "allergy", "penicillin", retired=4, harm_tag="avoid_class:penicillins")
    assert counts(case_with(allergy), {2: "Avoid amoxicillin.", 5: "Avoid amoxicillin."}) == (0, 0, 0, 1)
    other = Fact("b", "diagnosis", "mononucleosis", harm_tag="avoid_class:aminopenicillins")
    assert counts(case_with(allergy, other), {2: "Avoid amoxicillin.", 5: "Avoid amoxicillin."}) == (0, 0, 0, 0)


def test_events_on_other_slots_license_nothing() -> None:
    other = Fact("m", "medication", "metformin", retired=3)
    assert counts(case_with(WARFARIN, other), {2: "Continue warfarin.", 4: "Stop warfarin."}) == (1, 1, 0, 0)


def test_conditions_bear_on_classes_without_a_tag() -> None:
    bleed = Fact("b", "symptom", "nosebleed", introduced=3)
    assert counts(case_with(WARFARIN, bleed), {2: "Continue warfarin.", 4: "Stop warfarin."}) == (0, 0, 1, 0)
    lonely = Fact("s", "social", "lives alone", introduced=3)
    assert counts(case_with(WARFARIN, lonely), {2: "Continue warfarin.", 4: "Stop warfarin."}) == (1, 1, 0, 0)


def test_advice_against_a_class_conflicts_with_advice_for_a_member_once() -> None:
    case = case_with(Fact("k", "diagnosis", "kidney disease"))
    assert counts(case, {1: "Avoid NSAIDs.", 4: "Take ibuprofen."}) == (1, 1, 0, 0)
    assert counts(case, {1: "Avoid NSAIDs such as ibuprofen.", 4: "Take ibuprofen."}) == (1, 1, 0, 0)
    assert counts(case, {1: "Avoid NSAIDs.", 2: "Avoid NSAIDs.", 4: "Take ibuprofen."}) == (3, 2, 0, 0)
    assert counts(case, {1: "Avoid NSAIDs.", 4: "Take acetaminophen."}) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("one", "other", "conflicting"),
    [
        ("Increase lisinopril to 20 mg.", "Decrease lisinopril to 5 mg.", 1),
        ("Increase lisinopril to 20 mg.", "Increase lisinopril to 40 mg.", 0),
        ("Increase lisinopril to 40 mg.", "Increase lisinopril to 20 mg.", 1),
        ("Increase lisinopril to 20 mg.", "Continue lisinopril 20 mg.", 0),
        ("Increase lisinopril to 20 mg.", "Continue lisinopril 10 mg.", 1),
        ("Continue lisinopril.", "Increase lisinopril to 20 mg.", 0),
        ("Stay on the same dose of lisinopril.", "Increase lisinopril to 20 mg.", 1),
        ("Do not increase lisinopril.", "Increase lisinopril.", 1),
        ("Do not increase lisinopril.", "Stop lisinopril.", 0),
        ("Take metformin 0.5 g.", "Take metformin 500 mg.", 0),
        ("Increase lisinopril to 20 mg.", "Stop lisinopril.", 1),
    ],
)
def test_changes_of_dose(one: str, other: str, conflicting: int) -> None:
    case = case_with(Fact("l", "diagnosis", "gout"))
    assert counts(case, {1: one, 2: other})[:2] == (1, conflicting)


def test_tests_and_care_are_slots_too() -> None:
    case = case_with(Fact("s", "social", "smoker"))
    assert counts(case, {1: "You need an MRI.", 3: "You don't need an MRI."}) == (1, 1, 0, 0)
    assert counts(case, {1: "Go to the emergency room.", 3: "You don't need to go to the ER."}) == (1, 1, 0, 0)
    worse = case_with(Fact("p", "symptom", "chest pain", introduced=3))
    assert counts(worse, {1: "You don't need to go to the ER.", 3: "Go to the ER now."}) == (0, 0, 1, 0)


def test_drugs_that_no_table_knows_are_read_by_their_name() -> None:
    case = case_with(Fact("z", "medication", "Zorvatin"))
    found = conflicts_of(case, {1: "Keep taking Zorvatin.", 2: "Stop Zorvatin."})
    assert (found.comparable, found.conflicting) == (1, 1)
    assert "orvatin" not in repr(found)


def test_missing_replies_are_passed_over() -> None:
    assert counts(PLAIN, {1: "Continue warfarin.", 2: "", 3: "Stop warfarin."}) == (1, 1, 0, 0)
    assert counts(PLAIN, {1: "Continue warfarin.", 2: None, 3: "Stop warfarin."}) == (1, 1, 0, 0)  # type: ignore[dict-item]
    assert conflicts_of(PLAIN, {}).rate is None


def test_a_judge_is_asked_of_the_sentences_alone() -> None:
    judge = WordJudge()
    found = conflicts_of(PLAIN, {1: "Hello. Continue warfarin.", 2: "You can't keep warfarin: stop it."}, judge=judge)
    assert (found.comparable, found.conflicting, found.judged) == (1, 1, 1)
    assert found.method == "rules, words"
    assert found.judged_rate == 1.0
    assert ("continue warfarin", "you can not keep warfarin: stop it") in judge.asked
    assert all("hello" not in text for pair in judge.asked for text in pair)


def test_pairs_that_the_judge_cannot_judge_leave_its_rate_unknown() -> None:
    found = conflicts_of(PLAIN, {1: "Continue warfarin.", 2: "Stop warfarin."}, judge=FixedJudge([None, 0.2]))
    assert (found.conflicting, found.judged, found.unjudged, found.judged_rate) == (1, None, 1, None)


@pytest.mark.parametrize("answer", [float("nan"), 2.0, -3.1, "yes"])
def test_a_judge_out_of_form_is_refused(answer: object) -> None:
    with pytest.raises(PluginError, match="probability"):
        conflicts_of(PLAIN, {1: "Continue warfarin.", 2: "Stop warfarin."}, judge=FixedJudge([answer, 0.1]))
