"""Transcripts of a scripted model, written down without a single call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.scripted.behaviours import Behaviour
from workup.tasks.conversation.scripted.plan import Plan
from workup.tasks.conversation.scripted.scripted_advice import counsel
from workup.tasks.conversation.scripted.writing import account, answer

FAILURE = "timeout"
Asked = Literal["none", "summary", "question"]


def transcripts(
    behaviour: Behaviour,
    cases: Sequence[ConversationCase],
    arms: Sequence[str] = ("live", "oracle"),
    seed: int = 0,
    *,
    replicates: int = 1,
    probe: Asked = "summary",
) -> list[dict[str, Any]]:
    """Every line as a file of transcripts holds it. Each call fails by itself: none is broken off by another.

    >>> from workup.tasks.conversation.cases.case import Turn
    >>> from workup.tasks.conversation.cases.facts import Fact
    >>> case = ConversationCase("c", "", (Turn(1, "I take warfarin."),), (Fact("f", "medication", "warfarin"),))
    >>> [line["reply"] for line in transcripts(Behaviour(), [case], ["live", "naive"])]
    ['The patient takes warfarin.', 'Thank you for your message.']
    """
    plan = Plan(behaviour, cases, seed=seed)
    return [
        line
        for case in plan.cases
        for replicate in range(replicates)
        for arm in arms
        for turn in range(1, case.last_turn + 1)
        for line in _lines(plan, case, replicate, arm, turn, probe)
    ]


def _lines(
    plan: Plan, case: ConversationCase, replicate: int, arm: str, turn: int, probe: Asked
) -> list[dict[str, Any]]:
    where = {"case": case.id, "replicate": replicate, "arm": arm, "turn": turn}
    failed = plan.fails(case, arm, turn, draw=replicate)
    outcomes = plan.outcomes(case, arm, turn, draw=replicate)
    told = account(case, outcomes, padding=plan.behaviour.padding)
    advice = counsel(plan.behaviour, case, turn) if arm == "live" else ()
    reply = " ".join([told, *advice])
    said: dict[str, Any] = {"reply": None, "error": FAILURE} if failed else {"reply": reply}
    if probe == "none":
        return [{**where, **said}]
    if probe == "summary":
        answered: dict[str, Any] = {"kind": "summary", "reply": None if failed else told}
        return [{**where, **said, "probe": {**answered, "error": FAILURE} if failed else answered}]
    facts = {fact.id: fact for fact in case.active(turn)}
    lines = []
    for id, fact in facts.items():
        asked: dict[str, Any] = {"kind": "question", "fact": id}
        asked |= {"reply": None, "error": FAILURE} if failed else {"reply": answer(fact, outcomes[id])}
        lines.append({**where, **said, "probe": asked})
    return lines or [{**where, **said}]
