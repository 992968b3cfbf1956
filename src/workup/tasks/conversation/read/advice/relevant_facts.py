"""What the facts of a case speak of, and what happened to them between two turns. It knows no reply.

The drugs a fact names, what it forbids, and its coming, going or change; which advice that licenses is `licensing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.consistency import said_in
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice.forbidden import Forbidden, forbidden_by
from workup.tasks.conversation.read.advice.targets import (
    CLASS,
    DRUG,
    NAMED,
    Thing,
    members,
    parts_of,
    thing_of,
)
from workup.tasks.conversation.read.facts.mentions import prepare_fact

INTRODUCED, RETIRED, CHANGED = "introduced", "retired", "changed"
LEDGER, MESSAGE = "ledger", "message"


class Happened(NamedTuple):
    """A fact introduced or retired at a turn, or changed: `fact` is then the new one and `before` the old.

    `source` is the ledger, or the message of the turn where it asserts what no ledger holds.
    """

    turn: int
    kind: str
    fact: Fact
    before: Fact | None = None
    source: str = LEDGER


def happenings(case: ConversationCase) -> tuple[Happened, ...]:
    """All that happened to the facts of a case, by turn. Words of a late entity come at the turn that says them.

    >>> from workup.tasks.conversation.cases.case import Turn
    >>> turns = (Turn(1, "I take warfarin."), Turn(2, "Off warfarin now."))
    >>> case = ConversationCase("c1", "", turns, (Fact("f1", "medication", "warfarin", retired=2),))
    >>> [(one.turn, one.kind) for one in happenings(case)]
    [(1, 'introduced'), (2, 'retired')]
    """
    by_id = {fact.id: fact for fact in case.facts}
    changed = {old.superseded_by: old for old in case.facts if _changes(old, by_id.get(old.superseded_by or ""))}
    found = []
    for fact in case.facts:
        heard = fact.introduced
        if fact.id in case.late:
            heard = next((turn.turn for turn in case.turns if said_in(fact, [turn.message])), heard)
        old = changed.get(fact.id)
        found.append(Happened(heard, CHANGED if old else INTRODUCED, fact, old))
        if fact.retired is not None and fact.superseded_by not in changed:
            found.append(Happened(fact.retired, RETIRED, fact))
    return tuple(sorted(found, key=lambda one: (one.turn, one.kind, one.fact.id)))


def _changes(old: Fact, new: Fact | None) -> bool:
    """Whether one fact goes on as another; a fact whose successor is absent or past is over."""
    alive = new is not None and new.status == old.status and new.type == old.type and new.introduced == old.retired
    return alive and new is not None and _same_concept(old, new)


def _same_concept(old: Fact, new: Fact) -> bool:
    """ "Lisinopril 10 mg" and "lisinopril 20 mg", "potassium 5.9" and "potassium 4.1", "asthma" and "severe asthma"."""
    if old.type == "medication":
        return bool(things_of_fact(old) & things_of_fact(new))
    ours = {name.stems for name in prepare_fact(old).names}
    theirs = {name.stems for name in prepare_fact(new).names}
    return any(set(one) <= set(other) or set(other) <= set(one) for one in ours for other in theirs)


@lru_cache(maxsize=4096)
def things_of_fact(fact: Fact) -> frozenset[Thing]:
    """The drugs and classes that a fact names: a medication, the drug of an allergy.

    >>> things_of_fact(Fact("f1", "medication", "Coumadin 5 mg"))
    frozenset({Thing(kind='drug', name='warfarin')})
    """
    named = (thing_of(" ".join(name.words)) for name in prepare_fact(fact).names)
    found = {thing for thing in named if thing is not None}
    if not found and fact.type == "medication":
        found = {Thing(NAMED, f"drug of {fact.id}")}
    return frozenset(found)


def names_of_case(case: ConversationCase) -> Iterator[tuple[tuple[str, ...], str]]:
    """Names of medications that no table knows, to be looked for in replies to this case."""
    for fact in case.facts:
        if fact.type == "medication" and all(thing.kind == NAMED for thing in things_of_fact(fact)):
            for name in prepare_fact(fact).names:
                yield name.words, f"drug of {fact.id}"


def covers_thing(limit: Thing, thing: Thing) -> bool:
    """Whether a drug or class is, holds or belongs to another."""
    if limit == thing:
        return True
    if thing.kind == DRUG and limit.kind == DRUG:
        return limit.name in parts_of(thing.name) or thing.name in parts_of(limit.name)
    if thing.kind == DRUG and limit.kind == CLASS:
        return bool(parts_of(thing.name) & members(limit.name))
    if thing.kind == CLASS and limit.kind == DRUG:
        return bool(parts_of(limit.name) & members(thing.name))
    if thing.kind == CLASS and limit.kind == CLASS:
        return bool(members(thing.name) & members(limit.name))
    return False


def forbids(fact: Fact, thing: Thing) -> bool:
    """Whether a fact, while it is active, forbids a drug or class, whatever its dose."""
    rule: Forbidden | None = forbidden_by(fact)
    if rule is None:
        return False
    limit = rule.thing
    if limit == thing:
        return True
    if thing.kind == DRUG and limit.kind == DRUG:
        return limit.name in parts_of(thing.name)
    if thing.kind == DRUG and limit.kind == CLASS:
        return bool(parts_of(thing.name) & members(limit.name))
    return thing.kind == CLASS == limit.kind and members(thing.name) <= members(limit.name)
