"""Drafts of cases from what users said: the terms that their messages assert, from which turn and to which.

A draft is read by rules and by nobody else, so it is marked `"checked": false`, and no gate rests on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from workup.errors import InputError
from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.cases.json_files import needed, text_of, whole_of
from workup.tasks.conversation.read.content.extended import extended_facts

_OVER = ("historical", "absent")


def drafts(lines: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[dict[str, Any]]:
    """A draft for each case of a transcript whose lines hold the user's messages, as a case file has it."""
    said: dict[str, dict[int, str]] = {}
    for where, record in lines:
        known = ("case", "turn", "message")
        id = text_of(needed(record, "case", where=where, known=known), field="case", where=where)
        turn = whole_of(needed(record, "turn", where=where, known=known), field="turn", where=where, least=0)
        message = text_of(
            needed(record, "message", where=where, known=known, remedy="workup import writes it beside the reply"),
            field="message",
            where=where,
            empty=True,
        )
        if turn:
            earlier = said.setdefault(id, {}).setdefault(turn, message)
            if earlier != message:
                raise InputError("one message for each turn of a case was expected", where=where, got="another one")
    for id, turns in said.items():
        if sorted(turns) != list(range(1, len(turns) + 1)):
            raise InputError("turns without a gap were expected", where=f"a case of {len(turns)} turns", got="a gap")
        found = draft(id, [turns[number] for number in sorted(turns)])
        if found is not None:
            yield found


def draft(id: str, messages: list[str]) -> dict[str, Any] | None:
    """The case that messages make; None where they assert nothing.

    >>> made = draft("c1", ["I am allergic to penicillin. I take warfarin 5 mg.", "They stopped the warfarin."])
    >>> [(fact["type"], fact["concept"], fact["introduced"], fact.get("retired")) for fact in made["facts"]]
    [('allergy', 'penicillin', 1, None), ('medication', 'warfarin', 1, 2)]
    """
    turns = tuple(Turn(number, text if text.strip() else "-") for number, text in enumerate(messages, start=1))
    facts = _whole(id, turns, _facts(messages))
    if not facts:
        return None
    return {
        "id": id,
        "checked": False,
        "patient_summary": "",
        "turns": [{"turn": turn.turn, "message": turn.message} for turn in turns],
        "facts": [_record(fact) for fact in facts],
    }


def _facts(messages: list[str]) -> list[Fact]:
    found: list[Fact] = []
    current: dict[tuple[str, bool, bool], int] = {}
    for turn, message in enumerate(messages, start=1):
        for one in extended_facts(ConversationCase("draft", message, (Turn(1, message or "-"),), ())):
            key = (one.concept, one.status == "family", one.type == "allergy")
            place = current.get(key)
            fact = replace(one, id=f"f{len(found) + 1}", critical=True, introduced=turn)
            if place is None:
                current[key] = len(found)
                found.append(fact)
                continue
            before = found[place]
            if before.introduced == turn:
                continue
            if before.status == "present" and one.status in _OVER:
                found[place] = replace(before, retired=turn)
                del current[key]
            elif one.attributes and dict(one.attributes) != dict(before.attributes) and one.status == before.status:
                found[place] = replace(before, retired=turn, superseded_by=fact.id)
                current[key] = len(found)
                found.append(fact)
    return found


def _whole(id: str, turns: tuple[Turn, ...], facts: list[Fact]) -> tuple[Fact, ...]:
    """As many of the facts as make a ledger that does not contradict itself, in their order."""
    kept: list[Fact] = []
    for fact in facts:
        try:
            ConversationCase(id, "", turns, tuple(_pointing_inside([*kept, fact])))
        except InputError:
            continue
        kept.append(fact)
    return tuple(_pointing_inside(kept))


def _pointing_inside(facts: list[Fact]) -> list[Fact]:
    """The facts without the names of others that are not among them."""
    names = {fact.id for fact in facts}
    return [fact if fact.superseded_by in (None, *names) else replace(fact, superseded_by=None) for fact in facts]


def _record(fact: Fact) -> dict[str, Any]:
    plain = {
        "id": fact.id,
        "type": fact.type,
        "concept": fact.concept,
        "aliases": list(fact.aliases),
        "status": fact.status,
        "attributes": dict(fact.attributes),
        "introduced": fact.introduced,
        "retired": fact.retired,
        "superseded_by": fact.superseded_by,
    }
    return {key: value for key, value in plain.items() if value not in (None, [], {})}
