"""Facts of the patient summary that the ledger does not hold: the extended set is the ledger and these.

Terms come from the lexicon, their status from ConText; what is said both ways is left out. It knows no reply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from workup.errors import InputError
from workup.lexicon import sources
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.consistency import said_in
from workup.tasks.conversation.cases.entities import fact_of_entity
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.content.lists import listed
from workup.tasks.conversation.read.content.naming import FactNames, heads_of, names_of_fact
from workup.tasks.conversation.read.content.passages import Entity, Passage, stems_of
from workup.tasks.conversation.read.facts.names import names_of
from workup.tasks.conversation.read.sentence.mention import ENDED, PAST, Mention
from workup.tasks.conversation.read.sentence.routes_sides_dates import side_at

_MOST_ALIASES = 12
_WIDEST_VALUE = 10  # words behind a drug in which its dose may stand
_ENDS = frozenset({",", ";", ":", "(", "for", "and", "but", "because", "since", "from"})
_FIRST = ("present", "historical", "uncertain", "absent", "family")


class _Stated(NamedTuple):
    """One mention in the summary: what it is, how it stands, and what values it gives."""

    entity: Entity
    type: str
    status: str
    attributes: Mapping[str, Any]


def extended_facts(case: ConversationCase) -> tuple[Fact, ...]:
    """The facts of the summary that no fact of the ledger names, not critical, from turn 1 on.

    >>> from workup.tasks.conversation.cases.case import Turn
    >>> ledger = (Fact("f1", "medication", "warfarin"),)
    >>> summary = "Takes warfarin and lisinopril 10 mg daily. No chest pain. Mother had breast cancer."
    >>> case = ConversationCase("c1", summary, (Turn(1, "I take warfarin."),), ledger)
    >>> for fact in extended_facts(case):
    ...     print(fact.id, fact.type, fact.concept, fact.status, dict(fact.attributes))
    x1 medication lisinopril present {'dose_value': 10.0, 'dose_unit': 'mg', 'frequency': 'daily'}
    x2 symptom chest pain absent {}
    x3 diagnosis breast cancer family {}
    """
    passage = Passage(case.patient_summary)
    held = [(names_of_fact(fact), fact.status == "family") for fact in case.facts]
    groups: dict[tuple[str, bool, bool], list[_Stated]] = {}
    for entity in passage.entities:
        one = _stated(passage, entity)
        if one is None or _is_held(entity, one.status == "family", held):
            continue
        groups.setdefault((entity.concept, one.status == "family", one.type == "allergy"), []).append(one)
    ids = _free_ids({fact.id for fact in case.facts})
    found: list[Fact] = []
    for one in _each_once(groups):
        fact = _fact(one, next(ids))
        if fact is None:
            continue
        found.append(fact)
    return tuple(found)


def told_facts(case: ConversationCase) -> tuple[Fact, ...]:
    """Facts of the summary that a turn tells, each from that turn on: for runs in which the summary is not sent.

    The summary of a case with a ledger tells how things stand in the end, so a model that is asked turn by turn never
    sees it; what no turn says, it cannot have forgotten.

    >>> from workup.tasks.conversation.cases.case import Turn
    >>> turns = (Turn(1, "I take warfarin."), Turn(2, "And lisinopril for years."))
    >>> case = ConversationCase("c1", "Lisinopril. Asthma.", turns, (Fact("f1", "medication", "warfarin"),))
    >>> [(fact.concept, fact.introduced) for fact in told_facts(case)]
    [('lisinopril', 2)]
    """
    if case.form == "simple":
        return extended_facts(case)
    found = []
    for fact in extended_facts(case):
        turn = next((turn.turn for turn in case.turns if said_in(fact, [turn.message])), None)
        if turn is not None:
            found.append(replace(fact, introduced=turn))
    return tuple(found)


def _free_ids(taken: set[str]) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        if f"x{number}" not in taken:
            yield f"x{number}"


def _is_held(entity: Entity, family: bool, held: Sequence[tuple[FactNames, bool]]) -> bool:
    """Whether the ledger speaks of this already: the same concept or name, or one is the head of the other."""
    stems = stems_of(entity.words)
    longer = set(heads_of(stems))
    return any(
        family == theirs
        and (
            entity.concept in names.concepts
            or stems in names.stems
            or stems in names.heads
            or not longer.isdisjoint(names.stems)
        )
        for names, theirs in held
    )


def _stated(passage: Passage, entity: Entity) -> _Stated | None:
    """What the summary says with one mention; None where it states nothing of a patient or a family."""
    relation = passage.allergy(entity) if entity.category == "drug" else ""
    if relation in ("avoided", "tolerated"):
        return None
    type = "allergy" if relation else _type(entity)
    said = passage.said(entity, type, closely=True)
    status = _status(said, entity, type)
    if status is None:
        return None
    values: dict[str, Any] = {}
    if type in ("medication", "result") and status != "absent":
        values = values_behind(passage, entity, type)
        if type == "result" and "dose_value" not in values:
            return None
    elif type in ("diagnosis", "symptom", "procedure") and entity.start > 0:
        side = side_at(passage.sentences[entity.sentence].words, entity.start - 1)
        values = {"laterality": side} if side else {}
    return _Stated(entity, type, status, values)


def _type(entity: Entity) -> str:
    if entity.category == "disease":
        return "symptom" if entity.kind == "symptom" else fact_of_entity(entity.concept, id="x").type
    return entity.kind


def _status(said: Mention, entity: Entity, type: str) -> str | None:
    if said.silent:
        return None
    if said.family and not said.personal:
        return None if said.negated or said.ruled_out or said.possible else "family"
    if said.negated or said.ruled_out:
        return "absent"
    if said.possible:
        return "uncertain"
    if said.time == ENDED:
        return "historical"
    # "History of hypertension" is hypertension; "history of stroke" is an old stroke.
    over = type == "procedure" or entity.concept in listed("events")
    return "historical" if said.time == PAST and over else "present"


def values_behind(passage: Passage, entity: Entity, type: str) -> dict[str, Any]:
    """Dose, frequency and route that stand right behind a drug, or the value behind a test; nothing that is in doubt.

    The longest run of words that is the name and its values, and not a word more.
    """
    words = passage.sentences[entity.sentence].words
    others = [one.start for one in passage.entities if one.sentence == entity.sentence and one.start >= entity.end]
    last = min([len(words), entity.end + _WIDEST_VALUE, *others])
    for place in range(entity.end, last):
        if words[place] in _ENDS and not (words[place] == ":" and place == entity.end):
            last = place
            break
    name = tuple(word for word in words[entity.start : entity.end] if word[0].isalnum())
    for end in range(last, entity.end, -1):
        text = " ".join(word for word in words[entity.start : end] if word not in (":", "=", "of", "is", "at", "was"))
        names, stated = names_of((text,), type, "present")
        if stated and any(one.words == name for one in names):
            return stated
    return {}


def _each_once(groups: Mapping[tuple[str, bool, bool], list[_Stated]]) -> Iterator[_Stated]:
    """One fact for each concept, the first in the order of the summary; of a name and its head, the longer alone."""
    chosen = [one for mentions in groups.values() if (one := _joined(mentions)) is not None]
    heads = {(head, one.status == "family") for one in chosen for head in heads_of(stems_of(one.entity.words))}
    for one in chosen:
        if (stems_of(one.entity.words), one.status == "family") not in heads:
            yield one


def _joined(mentions: list[_Stated]) -> _Stated | None:
    """One statement out of several; None where they contradict one another: a wrong fact is worse than none."""
    statuses = {one.status for one in mentions}
    if "absent" in statuses and len(statuses) > 1:
        return None
    values: dict[str, Any] = {}
    for one in mentions:
        for key, value in one.attributes.items():
            if values.setdefault(key, value) != value:
                return mentions[0]._replace(status=min(statuses, key=_FIRST.index), attributes={})
    return mentions[0]._replace(status=min(statuses, key=_FIRST.index), attributes=values)


def _fact(one: _Stated, id: str) -> Fact | None:
    """The fact, without its values where they are refused; None where it is refused altogether."""
    written = " ".join(one.entity.words)
    aliases = aliases_of(one.entity.concept, written)
    for attributes in (one.attributes, {}):
        try:
            return Fact(id, one.type, one.entity.concept, aliases, one.status, attributes, introduced=1, critical=False)
        except InputError:
            continue
    return None


def aliases_of(concept: str, written: str) -> tuple[str, ...]:
    """Other names of a concept: as the text writes it, and as our own lists do; no abbreviation that is another word.

    >>> "high blood pressure" in aliases_of("hypertension", "htn")
    True
    """
    never = listed("never_names")
    found: dict[tuple[str, ...], str] = {}
    for name in (concept, written, *_synonyms().get(concept, ())):
        stems = stems_of(tuple(name.split()))
        if name not in never and len(name) > 1 and any(word[0].isalpha() for word in stems):
            found.setdefault(stems, name)
    found.pop(stems_of(tuple(concept.split())), None)
    return tuple(found.values())[:_MOST_ALIASES]


@cache
def _synonyms() -> Mapping[str, tuple[str, ...]]:
    """Surfaces of the hand-written lists that are met in any case; other sources list narrower terms as synonyms."""
    found: dict[str, list[str]] = {}
    for source in sources.provenance():
        if source.file == "own.tsv.gz":
            for row in sources.read_source(source):
                if not row.kind:
                    found.setdefault(row.concept, []).extend(row.surfaces)
    return {concept: tuple(surfaces) for concept, surfaces in found.items()}
