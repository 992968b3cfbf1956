"""Target plans: where the plan of a case comes from, and the items it is made of. It knows no reply.

A plan made by rule asks only for what the ledger already says is critical; it is no clinician's plan, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from workup.errors import InputError
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.content.lists import actions, listed
from workup.text.sentences import sentences_of

SOURCES = ("case", "target_plans", "synthesised", "none")
_WORD = re.compile(r"[^\W_]+")
# What a fact that must be kept asks for; a fact that is absent, uncertain, past or of the family asks for nothing.
_ASKS = {
    "medication": "Continue {}",
    "allergy": "Avoid {}",
    "diagnosis": "Monitor {}",
    "symptom": "Monitor {}",
    "risk": "Assess {}",
    "result": "Recheck {}",
    "procedure": "Review {}",
    "social": "Discuss {}",
    "plan": "{}",
}


class Plan(NamedTuple):
    """The text of a plan, and where it is from: the case, the file of target plans, a rule, or nowhere."""

    text: str
    source: str


def plan_of(case: ConversationCase, plans: Mapping[str, str] | None = None) -> Plan:
    """The plan of a case: its own, else the one in the file, else one made by rule; empty where nothing asks for any.

    >>> from workup.tasks.conversation.cases.case import Turn
    >>> facts = (Fact("f1", "medication", "lithium"), Fact("f2", "allergy", "penicillin"))
    >>> case = ConversationCase("c1", "", (Turn(1, "I take lithium, I am allergic to penicillin."),), facts)
    >>> plan_of(case, {}).text, plan_of(case, {"c1": "Check lithium level."}).source
    ('Continue lithium.\\nAvoid penicillin.', 'target_plans')
    """
    if case.target_plan and case.target_plan.strip():
        return Plan(case.target_plan, "case")
    given = (plans or {}).get(case.id)
    if given is not None:
        if not isinstance(given, str) or not given.strip():
            raise InputError(
                "a plan must be a text that is not empty",
                where="target_plans",
                got="an empty one or another value",
                remedy="leave the case out to have its plan made by rule",
            )
        return Plan(given, "target_plans")
    asked = [*_of_summary(case.patient_summary), *_of_facts(case)]
    text = "\n".join(dict.fromkeys(asked))
    return Plan(text, "synthesised" if text else "none")


def _of_summary(summary: str) -> Iterable[str]:
    """Sentences of the summary that say what is planned."""
    for sentence in sentences_of(summary):
        words = set(_WORD.findall(sentence.casefold()))
        if not listed("planned").isdisjoint(words) and not sentence.rstrip().endswith("?"):
            yield sentence if sentence.endswith((".", "!")) else f"{sentence}."


def _of_facts(case: ConversationCase) -> Iterable[str]:
    """One line for each critical fact that still holds at the end of the conversation."""
    for fact in case.active(case.last_turn):
        if fact.critical and fact.status == "present":
            yield _ASKS[fact.type].format(_named(fact)) + "."


def _named(fact: Fact) -> str:
    told = [fact.concept]
    if fact.type == "medication" and "dose_value" in fact.attributes:
        value = fact.attributes["dose_value"]
        told.append(f"{value:g}" if isinstance(value, (int, float)) else str(value))
        told.append(str(fact.attributes.get("dose_unit", "")))
    return " ".join(part for part in told if part)


def items_of(plan: str | Plan) -> tuple[str, ...]:
    """The items of a plan: its sentences and lines, parted once more where "and" or a comma opens a new action.

    >>> items_of("Continue lithium and check TSH, avoid NSAIDs. Follow up in 2 weeks.")
    ('Continue lithium', 'check TSH', 'avoid NSAIDs.', 'Follow up in 2 weeks.')
    """
    text = plan.text if isinstance(plan, Plan) else plan
    found: list[str] = []
    for sentence in sentences_of(text):
        if sentence.rstrip().endswith(":") and len(sentence.split()) <= 4:
            continue  # a heading asks for nothing
        found += _by_action(sentence)
    return tuple(dict.fromkeys(found))


_JOINT = re.compile(r"(?:,\s*(?:and|then)\s+|,\s*|\s+(?:and|then)\s+)(?=[^\W\d_])", re.IGNORECASE)


def _by_action(sentence: str) -> list[str]:
    known = actions()
    pieces: list[str] = []
    start = 0
    for joint in _JOINT.finditer(sentence):
        opening = _WORD.match(sentence, joint.end())
        before = {word.casefold() for word in _WORD.findall(sentence[start : joint.start()])}
        # "Monitor and record weight" is one item: both sides need their own object.
        objects = before - known.keys() - listed("stopwords")
        if opening is not None and opening[0].casefold() in known and objects and not before.isdisjoint(known.keys()):
            pieces.append(sentence[start : joint.start()])
            start = joint.end()
    pieces.append(sentence[start:])
    return [piece.strip() for piece in pieces if any(sign.isalnum() for sign in piece)]
