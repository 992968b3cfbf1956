"""Errors planted in the model's own reply: one dose and one denial, by rule, from the ledger and the seed.

The arm `slip-k` is the live conversation up to turn k, with its reply at k so edited, and held on from there. Whether
the model keeps to what it seems to have said, and whether other facts suffer, is then caused by the edit alone.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from workup.stats.random import generator
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.talk.passages import cut
from workup.tasks.conversation.talk.prompts import denial_of, name_of, wrong_dose_of

DOSE, DENIAL = "dose", "denial"
KINDS = (DOSE, DENIAL)
SLIPPED = "slipped"  # the key under which a line's usage says which facts were slipped
_DENIED_FIRST = ("allergy",)
_DENIED = ("diagnosis", "symptom", "risk")
_TIMES = 2  # a dose read from the wrong line, or taken twice: large enough to matter, small enough to be believed


class Slip(NamedTuple):
    """A reply as it was edited, and the ids of the facts that it now states wrongly, by the kind of the error."""

    text: str
    facts: dict[str, str]


def slip_of(case: ConversationCase, turn: int, reply: str, *, horizon: int, seed: int, replicate: int) -> Slip | None:
    """The reply with one dose and one denial of its own put in; None where the ledger has nothing that could slip.

    Only facts that hold from this turn to the horizon are taken, and none whose name another fact has too. What the
    reply speaks of comes first, so that its own words are changed rather than new ones added.

    >>> from workup.tasks.conversation.cases.case import Turn
    >>> facts = (
    ...     Fact("w", "medication", "warfarin", attributes={"dose_value": 5, "dose_unit": "mg"}),
    ...     Fact("p", "allergy", "penicillin"),
    ... )
    >>> turns = Turn(1, "I take warfarin. I am allergic to penicillin."), Turn(2, "And now?")
    >>> case = ConversationCase("c", "", turns, facts)
    >>> found = slip_of(case, 1, "You take warfarin 5 mg daily.", horizon=2, seed=1, replicate=0)
    >>> found.text, found.facts
    ('You take warfarin 10 mg daily. You are not allergic to penicillin.', {'dose': 'w', 'denial': 'p'})
    """
    rng = generator(seed, "slip", case.id, replicate, turn)
    last = min(horizon, case.last_turn)
    held = [f for f in case.facts if f.critical and f.status == "present" and f.active(turn) and f.active(last)]
    alone = [fact for fact in held if not _has_namesake(case, fact)]
    text = reply.strip()
    facts: dict[str, str] = {}
    dosed = [fact for fact in alone if fact.type == "medication" and _amount(fact) is not None]
    denied = [fact for fact in alone if fact.type in _DENIED_FIRST] or [f for f in alone if f.type in _DENIED]
    for kind, candidates in ((DOSE, dosed), (DENIAL, denied)):
        named = [fact for fact in candidates if _names(text, fact)]
        chosen = named or candidates
        draw = float(rng.random())  # drawn for either kind, so that one without candidates moves nothing else
        if not chosen:
            continue
        fact = chosen[int(draw * len(chosen))]
        facts[kind] = fact.id
        text = _misdosed(text, fact) if kind == DOSE else _denied(text, fact, case)
    return Slip(text, facts) if facts else None


def _misdosed(text: str, fact: Fact) -> str:
    """The dose changed where the reply states it, or a sentence with another dose behind it."""
    amount, unit = _amount(fact), re.escape(str(fact.attributes.get("dose_unit", "")))
    assert amount is not None
    other = f"{amount * _TIMES:g}"
    stated = re.compile(rf"(?<![\d.,/]){re.escape(f'{amount:g}')}(?![\d/]|[.,]\d)(?=\s*{unit})", re.IGNORECASE)
    changed = {part: stated.sub(other, part) for part in cut(text) if _names(part, fact)}
    for part, new in changed.items():
        text = text.replace(part, new)
    return text if any(part != new for part, new in changed.items()) else _behind(text, wrong_dose_of(fact, other))


def _denied(text: str, fact: Fact, case: ConversationCase) -> str:
    """A denial in the place of what the reply says of the fact; behind it, where a sentence names other facts too."""
    others = [one for one in case.facts if one.id != fact.id]
    own = [part for part in cut(text) if _names(part, fact) and not any(_names(part, one) for one in others)]
    if not own:
        return _behind(text, denial_of(fact))
    for place, part in enumerate(dict.fromkeys(own)):
        text = text.replace(part, denial_of(fact) if place == 0 else "", 1 if place == 0 else -1)
    return text


def _behind(text: str, sentence: str) -> str:
    return f"{text} {sentence}".strip()


def _amount(fact: Fact) -> float | None:
    """The dose of a fact where it is one plain number."""
    value = fact.attributes.get("dose_value")
    try:
        return None if isinstance(value, bool) or value is None else float(value)
    except ValueError:
        return None


def _names(part: str, fact: Fact) -> bool:
    names = {*fact.names, name_of(fact)}
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", part, re.IGNORECASE) for name in names)


def _has_namesake(case: ConversationCase, fact: Fact) -> bool:
    names = {name.casefold() for name in (*fact.names, name_of(fact))}
    return any(
        names & {name.casefold() for name in (*one.names, name_of(one))} for one in case.facts if one.id != fact.id
    )
