"""Which facts bear on a slot of advice, and what happened to them between two turns. It knows no reply.

A change of advice is licensed by an event on a fact that bears on its slot; the conditions and results that bear on
classes of drugs are in data/advice_bearing.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.consistency import said_in
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice.forbidden import Forbidden, forbidden_by
from workup.tasks.conversation.read.advice.targets import (
    CARE,
    CLASS,
    DRUG,
    NAMED,
    REFERRAL,
    SAFETY,
    TEST,
    Thing,
    members,
    parts_of,
    thing_of,
)
from workup.tasks.conversation.read.facts.mentions import prepare_fact
from workup.tasks.conversation.read.facts.names import stem
from workup.tasks.conversation.read.sentence.vocabulary import table

INTRODUCED, RETIRED = "introduced", "retired"


class Happened(NamedTuple):
    """A fact introduced or retired at a turn; a fact that is changed is retired and its successor introduced."""

    turn: int
    kind: str
    fact: Fact


def happenings(case: ConversationCase) -> tuple[Happened, ...]:
    """All that happened to the facts of a case, by turn. Words of a late entity come at the turn that says them.

    >>> from workup.tasks.conversation.cases.case import Turn
    >>> turns = (Turn(1, "I take warfarin."), Turn(2, "Off warfarin now."))
    >>> case = ConversationCase("c1", "", turns, (Fact("f1", "medication", "warfarin", retired=2),))
    >>> [(one.turn, one.kind) for one in happenings(case)]
    [(1, 'introduced'), (2, 'retired')]
    """
    found = []
    for fact in case.facts:
        heard = fact.introduced
        if fact.id in case.late:
            heard = next((turn.turn for turn in case.turns if said_in(fact, [turn.message])), heard)
        found.append(Happened(heard, INTRODUCED, fact))
        if fact.retired is not None:
            found.append(Happened(fact.retired, RETIRED, fact))
    return tuple(sorted(found, key=lambda one: (one.turn, one.kind, one.fact.id)))


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


def bears_on(fact: Fact, thing: Thing) -> bool:
    """Whether what happens to a fact is a reason to change advice on a thing.

    >>> bears_on(Fact("f1", "diagnosis", "acute kidney injury"), Thing("drug", "ibuprofen"))
    True
    >>> bears_on(Fact("f2", "social", "lives alone"), Thing("drug", "ibuprofen"))
    False
    """
    if thing.kind in (DRUG, CLASS, NAMED):
        return _bears_on_drug(fact, thing)
    if thing.kind == TEST:
        return fact.type in ("result", "procedure", "plan") and _names_test(fact, thing)
    if thing.kind in (CARE, REFERRAL):
        return fact.type in ("symptom", "diagnosis", "risk", "result", "procedure", "plan")
    return thing.kind == SAFETY and fact.type in ("risk", "symptom", "diagnosis", "social", "plan")


def _bears_on_drug(fact: Fact, thing: Thing) -> bool:
    if fact.harm_tag is not None and forbids(fact, thing):
        return True
    if fact.type in ("medication", "allergy", "plan") and any(covers_thing(own, thing) for own in things_of_fact(fact)):
        return True
    if fact.type == "allergy" and _of_allergy(fact, thing):
        return True
    limits = [Thing(CLASS, name) if name in table("advice_classes") else Thing(DRUG, name) for name in _moved_by(fact)]
    return any(covers_thing(limit, thing) for limit in limits)


def _of_allergy(fact: Fact, thing: Thing) -> bool:
    """An allergy to a drug bears on the drugs of its class, tagged or not."""
    names = {own.name for own in things_of_fact(fact) if own.kind == DRUG}
    held = members_named(thing)
    return any(names & members(key) and held & members(key) for key in _allergy_classes())


@cache
def _allergy_classes() -> tuple[str, ...]:
    return tuple(table("advice_bearing")["allergy_classes"])


def members_named(thing: Thing) -> frozenset[str]:
    """The drugs that a thing stands for."""
    if thing.kind == CLASS:
        return members(thing.name)
    return parts_of(thing.name) if thing.kind == DRUG else frozenset()


@cache
def _moving() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    return {
        tuple(stem(word) for word in name.split()): tuple(record["drugs"])
        for record in table("advice_bearing")["conditions"]
        for name in record["names"]
    }


@lru_cache(maxsize=4096)
def _moved_by(fact: Fact) -> tuple[str, ...]:
    """Classes and drugs on which a condition, a symptom or a result bears."""
    if fact.type in ("medication", "allergy"):
        return ()
    found: list[str] = []
    for name in prepare_fact(fact).names:
        for phrase, drugs in _moving().items():
            if _within(phrase, name.stems):
                found += drugs
    return tuple(dict.fromkeys(found))


def _within(phrase: tuple[str, ...], stems: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(stems[place : place + size] == phrase for place in range(len(stems) - size + 1))


def _names_test(fact: Fact, thing: Thing) -> bool:
    written = table("advice_things")[TEST].get(thing.name, ())
    phrases = [tuple(stem(word) for word in name.split()) for name in (thing.name, *written)]
    return any(_within(phrase, name.stems) for name in prepare_fact(fact).names for phrase in phrases)
