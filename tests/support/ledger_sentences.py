"""A perfect summary: one plain sentence for each fact that holds, made from the ledger alone."""

from __future__ import annotations

from collections.abc import Iterable

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts import Matcher

_DRUG = {
    "present": "The patient takes {}.",
    "absent": "The patient does not take {}.",
    "historical": "The patient took {} in the past.",
    "family": "There is a family history of {}.",
    "uncertain": "The patient possibly takes {}.",
}
_ALLERGY = {
    "present": "The patient is allergic to {}.",
    "absent": "The patient is not allergic to {}.",
    "historical": "The patient had an allergy to {} in the past.",
    "family": "There is a family history of allergy to {}.",
    "uncertain": "The patient has a possible allergy to {}.",
}
_PROBLEM = {
    "present": "The patient has {}.",
    "absent": "The patient has no {}.",
    "historical": "The patient has a history of {}.",
    "family": "There is a family history of {}.",
    "uncertain": "Suspected {}.",
}
_OTHER = {
    "social": {"present": "Social situation: {}.", "absent": "Not {}.", "historical": "In the past: {}."},
    "result": {"present": "The {}."},
    "plan": {"present": "Plan: {}."},
    "allergy": _ALLERGY,
    "medication": _DRUG,
}


def sentence_of(fact: Fact) -> str:
    """The fact in one sentence, with every attribute it has."""
    attributes = fact.attributes
    words = [str(attributes["laterality"])] if "laterality" in attributes else []
    words.append(fact.concept)
    if fact.type == "result" and "dose_value" in attributes:
        words.append("is")
    words += [str(attributes[key]) for key in ("dose_value", "dose_unit", "frequency") if key in attributes]
    if "route" in attributes:
        words.append(f"by the {attributes['route']} route")
    if "date" in attributes:
        words.append(f"in {attributes['date']}")
    return _OTHER.get(fact.type, {}).get(fact.status, _PROBLEM[fact.status]).format(" ".join(words))


def summary_of(facts: Iterable[Fact]) -> str:
    """The perfect summary of these facts."""
    return "\n".join(sentence_of(fact) for fact in facts)


def faults_of(case: ConversationCase) -> list[str]:
    """Where the matcher does not find a perfect summary perfect: turn, fact, outcome and reason."""
    matcher = Matcher(case.facts)
    found: list[str] = []
    before: tuple[Fact, ...] | None = None
    for turn in range(1, case.last_turn + 1):
        held = case.active(turn)
        if held == before:
            continue  # nothing came, nothing went: the same summary has the same outcomes
        before = held
        for fact, judged in zip(case.facts, matcher.judge(summary_of(held) or "Nothing yet.", turn=turn), strict=True):
            due = "correct" if fact.active(turn) else "retired_ok" if fact.over(turn) else "unscorable"
            if judged.outcome != due:
                found.append(f"{case.id}, turn {turn}, {fact.id}: {judged.outcome} ({judged.reason}), not {due}")
    return found
