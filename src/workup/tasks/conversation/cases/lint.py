"""What an author of cases should look at: names that are looked for, terms that no fact names, missing harm tags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.content.naming import Naming, names_of_fact
from workup.tasks.conversation.read.content.passages import Passage, extractor
from workup.tasks.conversation.read.facts.mentions import prepare_fact
from workup.tasks.conversation.read.facts.names import SIDE


@dataclass(frozen=True)
class FactLint:
    """One fact: the names that are looked for in replies, and what may be amiss with it."""

    fact: str
    type: str
    names: tuple[str, ...]
    one_name: bool
    no_harm_tag: bool  # an allergy to a drug that forbids nothing
    unknown: bool  # the lexicon knows none of its names


@dataclass(frozen=True)
class CaseLint:
    """One case: its facts, and clinical terms of its turns that no fact names, each with its first turn."""

    facts: tuple[FactLint, ...]
    unnamed: tuple[tuple[int, str], ...]


def lint_case(case: ConversationCase) -> CaseLint:
    """What to look at in one case.

    >>> from workup.tasks.conversation.cases.case import Turn
    >>> turns = (Turn(1, "I am allergic to penicillin and take metformin."),)
    >>> found = lint_case(ConversationCase("c1", "", turns, (Fact("f1", "allergy", "penicillin"),)))
    >>> [(one.fact, one.no_harm_tag) for one in found.facts], found.unnamed
    ([('f1', True)], ((1, 'metformin'),))
    """
    return CaseLint(tuple(_fact(fact) for fact in case.facts), tuple(_unnamed(case)))


def _fact(fact: Fact) -> FactLint:
    cores = (" ".join(word for word in name.words if word != SIDE) for name in prepare_fact(fact).names)
    names = tuple(dict.fromkeys(core for core in cores if core))
    terms = [term for name in (*fact.names, *names) for term in extractor().extract(name)]
    drug = fact.type == "allergy" and any(term.category == "drug" for term in terms)
    return FactLint(
        fact.id,
        fact.type,
        names,
        one_name=len(names) == 1,
        no_harm_tag=drug and fact.harm_tag is None and fact.status in ("present", "uncertain"),
        unknown=not names_of_fact(fact).concepts,
    )


def _unnamed(case: ConversationCase) -> Iterator[tuple[int, str]]:
    naming = Naming(case.facts)
    seen: set[str] = set()
    for turn in case.turns:
        for entity in Passage(turn.message).entities:
            named = any(naming.named(entity, as_allergy=as_allergy) for as_allergy in (True, False))
            if not named and entity.concept not in seen:
                seen.add(entity.concept)
                yield turn.turn, " ".join(entity.words)


def telling(found: CaseLint) -> Iterator[str]:
    """In lines, without the name of the case."""
    for one in found.facts:
        amiss = [
            *(["one name only"] if one.one_name else []),
            *(["no name at all"] if not one.names else []),
            *(["allergy to a drug without harm_tag"] if one.no_harm_tag else []),
            *(["kind unknown to the lexicon"] if one.unknown else []),
        ]
        said = f"  {one.fact} ({one.type}): {', '.join(one.names)}"
        yield f"{said} [{'; '.join(amiss)}]" if amiss else said
    if found.unnamed:
        yield "  named by no fact: " + ", ".join(f"{words} (turn {turn})" for turn, words in found.unnamed)
