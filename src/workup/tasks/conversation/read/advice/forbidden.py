"""What the harm tag of a fact forbids: the drugs of a class, one drug, a drug beside the fact's own, teratogens.

The classes are those of data/advice_classes.yaml. A tag that names no known class is refused: read as nothing, it
would forbid nothing and every model would pass.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from workup.errors import InputError, near
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice.statements import Statement
from workup.tasks.conversation.read.advice.targets import (
    CLASS,
    DRUG,
    LIFE,
    NAMED,
    Thing,
    Words,
    class_names,
    members,
    parts_of,
    thing_of,
    way_of_life,
)
from workup.tasks.conversation.read.names import plain
from workup.tasks.conversation.read.sentence.doses import unit_of
from workup.tasks.conversation.read.sentence.vocabulary import table

AVOID_CLASS, AVOID_DRUG, AVOID_WITH, PREGNANCY = "avoid_class", "avoid_drug", "avoid_with", "pregnancy"
# A fact that is denied or of the family forbids nothing. A past pregnancy and a drug no longer taken forbid nothing
# either; a past reaction to a drug still does.
_FORBIDS = {
    AVOID_CLASS: frozenset({"present", "historical", "uncertain"}),
    AVOID_DRUG: frozenset({"present", "historical", "uncertain"}),
    AVOID_WITH: frozenset({"present", "uncertain"}),
    PREGNANCY: frozenset({"present", "uncertain"}),
}
_MG = unit.factor if (unit := unit_of("mg")) else 1.0
_MASS = unit.measure if unit else ""


class Forbidden(NamedTuple):
    """What one fact forbids. `named` are words to look for where the tables do not know the drug."""

    rule: str
    thing: Thing
    low_dose: tuple[tuple[str, float], ...] = ()
    named: Words = ()


@lru_cache(maxsize=4096)
def forbidden_by(fact: Fact) -> Forbidden | None:
    """What a fact forbids by its tag and status, or None.

    >>> forbidden_by(Fact("f1", "allergy", "penicillin", harm_tag="avoid_class:penicillins")).thing
    Thing(kind='class', name='penicillins')
    >>> forbidden_by(Fact("f2", "allergy", "penicillin")) is None
    True
    """
    rule, _, rest = (fact.harm_tag or "").partition(":")
    if not rule or fact.status not in _FORBIDS[rule]:
        return None
    if rule == PREGNANCY:
        return Forbidden(rule, Thing(CLASS, "teratogens"))
    thing = _thing_of(rest, rule=rule)
    if thing is None and rule == AVOID_CLASS:
        known = sorted(table("advice_classes"))
        raise InputError(
            "'harm_tag' must name a class of drugs that the class map knows",
            where="a fact",
            got="avoid_class with another name",
            remedy=f"{near(rest[:40], known)}; or name one drug with avoid_drug",
        )
    thing = thing or way_of_life(rest)
    if thing is None:
        return Forbidden(rule, Thing(NAMED, f"tag of {fact.id}"), named=tuple(plain(rest).split()))
    doses = table("advice_classes")[thing.name].get("low_dose", {}) if thing.kind == CLASS else {}
    return Forbidden(rule, thing, tuple((name, float(dose)) for name, dose in doses.items()))


def _thing_of(name: str, *, rule: str) -> Thing | None:
    """The class or drug that a tag names. Where a word is both (penicillin, tetracycline), the rule says which."""
    words = plain(name).split()
    loose_ends = table("advice_verbs")["loose_ends"]
    while words:
        text = " ".join(words)
        key = class_names().get(text)
        drug = thing_of(text)
        found = Thing(CLASS, key) if key and (rule == AVOID_CLASS or drug is None) else drug
        if found is not None:
            return found
        if words[-1] not in loose_ends:
            return None
        words.pop()
    return None


def covers(forbidden: Forbidden, statement: Statement) -> bool:
    """Whether advice is about what is forbidden: a drug by any name or in any combination, or a class within the class.

    >>> from workup.tasks.conversation.read.advice.statements import statements_of
    >>> rule = forbidden_by(Fact("f1", "allergy", "penicillin", harm_tag="avoid_class:penicillins"))
    >>> [covers(rule, statements_of(f"Take {name}.")[0]) for name in ("Augmentin", "penicillamine", "a cephalosporin")]
    [True, False, False]
    """
    thing, limit = statement.thing, forbidden.thing
    if limit.kind == NAMED or thing.kind == NAMED or limit.kind in LIFE:
        return thing == limit
    if thing.kind == DRUG:
        parts = parts_of(thing.name)
        if limit.kind == DRUG:
            return limit.name in parts
        met = parts & members(limit.name)
        return bool(met - _small(forbidden, statement))
    if thing.kind == CLASS and limit.kind == CLASS:
        return bool(members(thing.name)) and members(thing.name) <= members(limit.name)
    return False


def _small(forbidden: Forbidden, statement: Statement) -> frozenset[str]:
    """Members whose advised dose is too small to count: aspirin for the heart among the NSAIDs."""
    if statement.dose is None or statement.dose[1] != _MASS:
        return frozenset()
    return frozenset(name for name, most in forbidden.low_dose if statement.dose[0] <= most * _MG)


def named_by(facts: Iterable[Fact]) -> tuple[tuple[Words, str], ...]:
    """Further names to look for in replies: drugs of tags that the tables do not know."""
    rules = (forbidden_by(fact) for fact in facts)
    return tuple(dict.fromkeys((rule.named, rule.thing.name) for rule in rules if rule is not None and rule.named))


def check_harm_tags(facts: Iterable[Fact]) -> None:
    """Refuse tags that name an unknown class; to be called before a run, so that none ends in the middle."""
    for fact in facts:
        forbidden_by(fact)
