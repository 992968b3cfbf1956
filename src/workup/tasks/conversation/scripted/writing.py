"""The words of a scripted model: facts as they are planted, padding that says nothing, and advice."""

from __future__ import annotations

from collections.abc import Mapping

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.scripted.sentences import contrary, right, wrong

UNKNOWN = "I do not know."  # to a question about a fact that is forgotten
NOTHING = "Thank you for your message."  # where every fact is forgotten
_SAID = {"correct": right, "stale": right, "reversed": contrary, "wrong_value": wrong}
_PADDING = (
    "We can take this one step at a time.",
    "It helps to write such things down.",
    "Many people ask about this.",
    "I am glad that you brought it up.",
    "There is no hurry about any of it.",
    "Let me put it another way.",
    "That is a fair thing to wonder about.",
    "We will come back to it another day.",
)


def answer(fact: Fact, outcome: str) -> str:
    """One fact in a sentence, as it is planted."""
    say = _SAID.get(outcome)
    return UNKNOWN if say is None else say(fact)


def account(case: ConversationCase, outcomes: Mapping[str, str], *, padding: int = 0) -> str:
    """All facts that are said, in the order of the ledger, one sentence each."""
    facts = {fact.id: fact for fact in case.facts}
    said = [answer(facts[id], outcome) for id, outcome in outcomes.items() if outcome in _SAID]
    padded = [_PADDING[place % len(_PADDING)] for place in range(padding)]
    half = len(padded) // 2
    return " ".join([*padded[:half], *(said or [NOTHING]), *padded[half:]])
