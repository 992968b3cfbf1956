"""What must hold between the turns of a case and its facts: words that were said, lives that do not overlap, events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from workup.errors import InputError
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts.mentions import Prepared, prepare_fact
from workup.tasks.conversation.read.facts.names import SIDE, stem
from workup.tasks.conversation.read.sentence.folding import tokens

if TYPE_CHECKING:
    from workup.tasks.conversation.cases.case import ConversationCase, Turn


def check_case(case: ConversationCase) -> None:
    """Refuse a ledger that contradicts itself or its turns."""
    places: dict[str, int] = {}
    for number, fact in enumerate(case.facts):
        if fact.id in places:
            raise InputError(
                "every fact must have an id of its own",
                where=f"facts[{number}]",
                got=f"that of facts[{places[fact.id]}]",
                remedy="rename one",
            )
        places[fact.id] = number
    for number, fact in enumerate(case.facts):
        _check_fact(case, fact, places, where=f"facts[{number}]")
    _check_overlaps(case)
    _check_events(case, places)


def _check_fact(case: ConversationCase, fact: Fact, places: Mapping[str, int], *, where: str) -> None:
    if fact.introduced > case.last_turn:
        raise InputError(
            f"'introduced' must be a turn of the case, from 1 to {case.last_turn}",
            where=where,
            got=str(fact.introduced),
            remedy="a fact that is never introduced would never be scored",
        )
    if fact.superseded_by is not None and fact.superseded_by not in places:
        raise InputError(
            "'superseded_by' must be the id of another fact of the case",
            where=where,
            got="an id that is not there",
            remedy="add that fact, or leave 'superseded_by' out",
        )
    if case.form == "full" and not said_in(fact, [turn.message for turn in case.turns[: fact.introduced]]):
        raise InputError(
            "the words of a fact must occur in a turn up to the one that introduces it",
            where=where,
            got=f"none of its {len(fact.names)} names in turns 1 to {fact.introduced}",
            remedy="add the words of the turn as an alias, or correct 'introduced'",
        )


def said_in(fact: Fact, texts: Sequence[str]) -> bool:
    """Whether all words of one of the fact's names stand in one of the texts, inflected or not.

    >>> said_in(Fact("f1", "allergy", "penicillin allergy"), ["I'm allergic to penicillin."])
    True
    """
    heard = [{stem(word) for word in tokens(text)} for text in texts]
    names = prepare_fact(fact).names
    return any({one for one in name.stems if one != SIDE} <= words for name in names for words in heard)


def late_entities(facts: Sequence[Fact], summary: str, turns: Sequence[Turn], *, where: str) -> tuple[str, ...]:
    """Ids of entities whose words come after turn 1 only; one whose words come nowhere is refused."""
    late = []
    for number, fact in enumerate(facts):
        if said_in(fact, [summary, turns[0].message]):
            continue
        if not said_in(fact, [turn.message for turn in turns]):
            raise InputError(
                "the words of an entity must occur in the summary or in a turn",
                where=f"{where}, critical_entities[{number}]",
                got="words that occur in neither",
                remedy="write it as the conversation does, or give it aliases in the full form under 'facts'",
            )
        late.append(fact.id)
    return tuple(late)


def _check_overlaps(case: ConversationCase) -> None:
    """Two facts of one name that hold at once and differ: no reply could be right on both."""
    prepared = [prepare_fact(fact) for fact in case.facts]
    for (first, one), (second, other) in combinations(enumerate(prepared), 2):
        if not _namesakes(one, other):
            continue
        ends = [fact.retired or case.last_turn + 1 for fact in (one.fact, other.fact)]
        meet = max(one.fact.introduced, other.fact.introduced)
        if meet < min(ends):
            raise InputError(
                "two facts of one name must not be active at the same turn",
                where=f"facts[{first}] and facts[{second}]",
                got=f"both active at turn {meet}",
                remedy="retire the first at the turn that introduces the second, or join them into one",
            )


def _namesakes(one: Prepared, other: Prepared) -> bool:
    """Facts that one mention would meet alike: of one kind and name, of one person, side and date."""
    a, b = one.fact, other.fact
    if a.type != b.type or (a.status == "family") != (b.status == "family"):
        return False
    if one.wanted.side != other.wanted.side or one.wanted.dates != other.wanted.dates:
        return False
    return bool({name.stems for name in one.names} & {name.stems for name in other.names})


def _check_events(case: ConversationCase, places: Mapping[str, int]) -> None:
    for turn in case.turns:
        for number, event in enumerate(turn.events):
            where = f"turns[{turn.turn - 1}], events[{number}]"
            if event.fact not in places or (event.by is not None and event.by not in places):
                raise InputError("an event must name a fact of the case", where=where, got="an id that is not there")
            fact = case.facts[places[event.fact]]
            due = fact.introduced if event.kind == "introduce" else fact.retired
            if due != turn.turn:
                name = "introduced" if event.kind == "introduce" else "retired"
                raise InputError(
                    f"an event must stand at the turn that its fact gives as '{name}'",
                    where=where,
                    got=f"turn {turn.turn} where the fact says {due if due is not None else 'never'}",
                    remedy="correct the fact, or move the event",
                )
