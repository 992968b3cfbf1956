"""A plan is what shall hold in the end: what was true before the last change does not oppose it."""

from __future__ import annotations

from workup import score_conversation
from workup.tasks.conversation.read.content import plan_score

TURNS = ("I take prednisone 10 mg.", "And methotrexate 20 mg weekly.", "They stopped the prednisone today.", "Thanks.")
FACTS = [
    {"id": "f1", "type": "medication", "concept": "prednisone", "introduced": 1, "retired": 3},
    {"id": "f2", "type": "medication", "concept": "methotrexate", "introduced": 2},
]


def _case(plan: str) -> dict[str, object]:
    turns = [{"turn": number, "message": text} for number, text in enumerate(TURNS, start=1)]
    return {"id": "a", "patient_summary": "", "facts": FACTS, "turns": turns, "target_plan": plan}


def _said(*replies: str) -> list[dict[str, object]]:
    return [{"case": "a", "turn": number, "reply": text} for number, text in enumerate(replies, start=1)]


def test_what_was_true_at_its_turn_does_not_oppose_the_plan() -> None:
    replies = _said("You take prednisone.", "You take prednisone and methotrexate.", "Noted.", "Continue methotrexate.")
    report = score_conversation([_case("Do not restart prednisone. Continue methotrexate.")], replies)
    assert report.estimate("plan_contradicted").value == 0.0
    assert report.estimate("plan_coverage").value == 0.5


def test_what_opposes_it_after_the_change_does() -> None:
    replies = _said("Fine.", "Fine.", "Restart prednisone tomorrow.", "Stop methotrexate now.")
    report = score_conversation([_case("Do not restart prednisone. Continue methotrexate.")], replies)
    assert report.estimate("plan_contradicted").value == 1.0


def test_an_allergy_is_no_reason_against_avoiding() -> None:
    assert plan_score(["Avoid peanut."], ["You are allergic to peanut."])[:3] == (1, 0, 0)
    assert plan_score(["Avoid peanut."], ["Eat peanut every day."]).contradicted == 1
