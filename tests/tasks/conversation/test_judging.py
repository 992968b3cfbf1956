"""Transcripts held against the ledger: which words are read, what is missing, and what a bare yes or no means."""

from __future__ import annotations

from typing import Any

import pytest

from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.judging import Held, held_of
from workup.tasks.conversation.talk.transcripts import Probe, Said, line_of, transcripts_of

FACTS = (
    Fact("warfarin", "medication", "warfarin", attributes={"dose_value": 5, "dose_unit": "mg"}, retired=3),
    Fact("asthma", "diagnosis", "asthma"),
    Fact("gout", "diagnosis", "gout", introduced=2),
)
TURNS = (
    Turn(1, "I take warfarin 5 mg and I have asthma."),
    Turn(2, "Now they found gout."),
    Turn(3, "I am off warfarin now."),
)
CASE = ConversationCase("c", "", TURNS, FACTS)
ALL = "The patient takes warfarin 5 mg. The patient has asthma. The patient has gout."


def said(turn: int, reply: str | None, *, arm: str = "live", replicate: int = 0, **more: Any) -> Said:
    return Said("c", replicate, arm, turn, reply, **more)


def outcomes(held: Held) -> list[list[str | None]]:
    return [[None if one is None else one.outcome for one in told.outcomes] for told in held.turns]


def reasons(held: Held, turn: int) -> set[str]:
    return {one.reason for one in held.turns[turn - 1].outcomes if one is not None}


def test_facts_count_from_their_turn_and_are_stale_after_it() -> None:
    [held] = held_of(CASE, [said(turn, ALL) for turn in (1, 2, 3)], facts=FACTS)
    assert outcomes(held) == [
        ["correct", "correct", None],
        ["correct", "correct", "correct"],
        ["stale", "correct", "correct"],
    ]


def test_a_missing_turn_a_failed_call_and_an_empty_reply_can_not_be_scored() -> None:
    [held] = held_of(CASE, [said(1, None, failure="http_500"), said(3, "  ")], facts=FACTS)
    assert outcomes(held) == [["unscorable"] * 2 + [None], ["unscorable"] * 3, ["unscorable"] * 3]
    assert [reasons(held, turn) for turn in (1, 2, 3)] == [{"http_500"}, {"missing_turn"}, {"empty_reply"}]


def test_a_case_that_nobody_held_is_not_heard_in_every_run_of_the_others() -> None:
    runs = [(0, "live"), (0, "oracle"), (1, "live")]
    held = list(held_of(CASE, [], facts=FACTS, runs=runs))
    assert [(one.replicate, one.arm) for one in held] == runs
    assert all(reasons(one, turn) == {"no_transcript"} for one in held for turn in (1, 2, 3))
    assert list(held_of(CASE, [], facts=FACTS)) == []


def test_the_summary_is_read_in_the_place_of_the_reply_and_the_reply_kept_for_advice() -> None:
    line = said(1, "You do not have asthma.", probe=Probe("summary", "The patient has asthma."))
    [held] = held_of(CASE, [line], facts=FACTS)
    told = held.turns[0]
    assert [one and one.outcome for one in told.outcomes] == ["omitted", "correct", None]
    assert [one and one.outcome for one in told.replied] == ["omitted", "reversed", None]
    assert (told.text, told.reply) == ("The patient has asthma.", "You do not have asthma.")


def test_a_summary_that_failed_does_not_fall_back_on_the_reply() -> None:
    line = said(1, ALL, probe=Probe("summary", None, failure="timeout"))
    [held] = held_of(CASE, [line], facts=FACTS)
    assert outcomes(held)[0] == ["unscorable", "unscorable", None]
    assert reasons(held, 1) == {"timeout"}


def test_questions_speak_of_the_fact_that_was_asked_for_alone() -> None:
    asked = [
        said(2, "Noted.", probe=Probe("question", "Yes, warfarin 5 mg.", "warfarin")),
        said(2, "Noted.", probe=Probe("question", "The patient has asthma and no gout.", "asthma")),
    ]
    [held] = held_of(CASE, asked, facts=FACTS)
    assert outcomes(held)[1] == ["correct", "correct", "not_asked"]


@pytest.mark.parametrize(
    ("fact", "answer", "turn", "expected"),
    [
        ("asthma", "Yes.", 1, "correct"),
        ("asthma", "That's right", 1, "correct"),
        ("asthma", "No.", 1, "reversed"),
        ("warfarin", "No, never.", 1, "reversed"),
        ("warfarin", "Yes.", 1, "unscorable"),  # it says no dose, and might have said a wrong one
        ("warfarin", "Yes, warfarin 50 mg.", 1, "wrong_value"),
        ("warfarin", "I do not know.", 1, "omitted"),
        ("warfarin", "Nobody told me.", 1, "omitted"),
        ("warfarin", "Yes.", 3, "stale"),
        ("warfarin", "No.", 3, "retired_ok"),
    ],
)
def test_a_bare_yes_or_no_answers_the_question(fact: str, answer: str, turn: int, expected: str) -> None:
    line = said(turn, "Noted.", probe=Probe("question", answer, fact))
    [held] = held_of(CASE, [line], facts=FACTS)
    place = [one.id for one in FACTS].index(fact)
    assert outcomes(held)[turn - 1][place] == expected


@pytest.mark.parametrize(
    ("status", "answer", "expected"),
    [
        ("absent", "No.", "correct"),
        ("absent", "Yes.", "reversed"),
        ("family", "Yes.", "unscorable"),
        ("historical", "No.", "unscorable"),
    ],
)
def test_a_bare_answer_is_held_against_the_status_of_the_fact(status: str, answer: str, expected: str) -> None:
    """The question names the thing and not its status: "Does chest pain apply to the patient?"."""
    fact = Fact("pain", "symptom", "chest pain", status=status)
    case = ConversationCase("c", "", (Turn(1, "About chest pain."),), (fact,))
    [held] = held_of(case, [said(1, "Noted.", probe=Probe("question", answer, "pain"))], facts=(fact,))
    assert outcomes(held) == [[expected]]


def test_arms_and_replicates_come_apart_and_in_order() -> None:
    lines = [said(1, ALL, arm=arm, replicate=number) for number in (1, 0) for arm in ("oracle", "live")]
    held = list(held_of(CASE, lines, facts=FACTS))
    assert [(one.replicate, one.arm) for one in held] == [(0, "live"), (0, "oracle"), (1, "live"), (1, "oracle")]
    assert all(one.turns[0].replied for one in held if one.arm == "live")
    assert not any(one.turns[0].replied for one in held if one.arm != "live")  # advice is of the live replies alone


def test_the_published_rule_knows_neither_dose_nor_context() -> None:
    line = said(1, None, probe=Probe("summary", "She takes warfarin 50 mg. Her mother has asthma."))
    [ours] = held_of(CASE, [line], facts=FACTS)
    [published] = held_of(CASE, [line], facts=FACTS, matcher="published")
    assert outcomes(ours)[0] == ["wrong_value", "omitted", None]
    assert outcomes(published)[0] == ["correct", "correct", None]
    [after] = held_of(CASE, [said(3, "She takes warfarin.")], facts=FACTS, matcher="published")
    assert outcomes(after)[2][0] == "stale"


def test_lines_in_any_order_are_held_alike() -> None:
    records = [
        {"case": "c", "turn": turn, "arm": arm, "reply": ALL if turn != 2 else "The patient has asthma."}
        for turn in (1, 2, 3)
        for arm in ("live", "oracle")
    ]
    known = {"c": CASE}

    def read(some: list[dict[str, Any]]) -> list[Held]:
        lines = [(f"line {n}", line_of(one, known, where=f"line {n}")) for n, one in enumerate(some)]
        return list(held_of(CASE, transcripts_of(lines, known, where="x").said, facts=FACTS))

    assert read(records) == read(records[::-1]) == read(records[3:] + records[:3])


def test_an_arm_that_a_case_lacks_is_not_heard() -> None:
    held = list(held_of(CASE, [said(1, ALL)], facts=FACTS, runs=[(0, "live"), (0, "oracle")]))
    assert [one.arm for one in held] == ["live", "oracle"]
    assert reasons(held[1], 1) == {"no_transcript"}
