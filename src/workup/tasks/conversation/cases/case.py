"""Cases of conversations: turns, and the ledger of facts that must hold through them. Knows no model and no reply.

Errors name the file, the entry and the field; never a word of a patient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from workup.errors import InputError, near
from workup.files.jsonlines import kind
from workup.tasks.conversation.cases.consistency import check_case, late_entities
from workup.tasks.conversation.cases.entities import fact_of_entity
from workup.tasks.conversation.cases.facts import ATTRIBUTES, HARMS, STATUSES, TYPES, Fact
from workup.tasks.conversation.cases.json_files import (
    list_of,
    needed,
    records,
    refuse_misspelt,
    text_of,
    whole_of,
)

MOST_TURNS = 200
EVENTS = ("introduce", "change", "retire")
_CASE_KEYS = ("id", "patient_summary", "critical_entities", "turns", "facts", "target_plan", "metadata", "checked")
_TURN_KEYS = ("turn", "message", "events", "session", "after_days")
_EVENT_KEYS = ("kind", "fact", "by")
_FACT_KEYS = (
    *("id", "type", "concept", "aliases", "status", "attributes", "introduced", "retired", "superseded_by"),
    *("weight", "critical", "harm_tag"),
)


@dataclass(frozen=True)
class Event:
    """What a turn does to a fact: introduces it, changes it (`by` the fact that takes its place) or retires it."""

    kind: str
    fact: str
    by: str | None = None


@dataclass(frozen=True)
class Turn:
    """What the patient or clinician writes at one turn."""

    turn: int
    message: str
    events: tuple[Event, ...] = ()
    session: int = 1  # which visit, where a case has several
    after_days: float | None = None  # days since the session before, at the first turn of a later one


@dataclass(frozen=True)
class ConversationCase:
    """One conversation to be held, with the facts that it must keep.

    >>> turns = (Turn(1, "I take warfarin."), Turn(2, "I am off warfarin now."))
    >>> case = ConversationCase("c1", "", turns, (Fact("f1", "medication", "warfarin", retired=2),))
    >>> [fact.id for fact in case.active(1)], case.active(2), [fact.id for fact in case.retired(2)]
    (['f1'], (), ['f1'])
    """

    id: str
    patient_summary: str
    turns: tuple[Turn, ...]
    facts: tuple[Fact, ...]
    target_plan: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    form: str = "full"  # simple, where the ledger was made from a list of entities
    # Entities of the simple form whose words come after turn 1, where the ledger has them introduced.
    late: tuple[str, ...] = ()
    checked: bool = True  # false for a draft that nobody has looked at; no gate rests on one

    def __post_init__(self) -> None:
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))
        check_case(self)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.id, self.patient_summary, self.turns, self.facts, self.target_plan, dict(self.metadata))
        return (ConversationCase, (*parts, self.form, self.late, self.checked))

    @property
    def returns(self) -> tuple[int, ...]:
        """The first turn of each session after the first."""
        pairs = zip(self.turns, self.turns[1:], strict=False)
        return tuple(turn.turn for before, turn in pairs if turn.session != before.session)

    @property
    def last_turn(self) -> int:
        """The number of the last turn."""
        return len(self.turns)

    def active(self, turn: int) -> tuple[Fact, ...]:
        """Facts that hold at a turn: introduced <= turn < retired."""
        return tuple(fact for fact in self.facts if fact.active(turn))

    def retired(self, turn: int) -> tuple[Fact, ...]:
        """Facts that have been retired by a turn."""
        return tuple(fact for fact in self.facts if fact.over(turn))


def read_cases(path: Path | str) -> list[ConversationCase]:
    """The cases of a file: a JSON list, or one case on each line.

    >>> from tempfile import mkdtemp
    >>> cases = Path(mkdtemp()) / "cases.jsonl"
    >>> turn = '{"turn": 1, "message": "I am allergic to penicillin."}'
    >>> line = '{"id": "a", "patient_summary": "", "critical_entities": ["penicillin allergy"], "turns": [%s]}' % turn
    >>> _ = cases.write_text(line)
    >>> [(fact.type, fact.introduced) for fact in read_cases(cases)[0].facts]
    [('allergy', 1)]
    """
    found: list[ConversationCase] = []
    seen: dict[str, str] = {}
    for where, record in records(Path(path)):
        case = case_of(record, where=where)
        if case.id in seen:
            raise InputError(
                "every case must have an id of its own",
                where=where,
                got=f"that of {seen[case.id]}",
                remedy="rename one",
            )
        seen[case.id] = where
        found.append(case)
    if not found:
        raise InputError("a list of cases was expected", where=Path(path).name, got="none", remedy="check the path")
    return found


def case_of(record: Mapping[str, Any], *, where: str) -> ConversationCase:
    """The case that an object stands for, in the simple form or with its ledger."""
    refuse_misspelt(record, _CASE_KEYS, where=where)
    id = text_of(needed(record, "id", where=where, known=_CASE_KEYS), field="id", where=where)
    summary = text_of(
        needed(record, "patient_summary", where=where, known=_CASE_KEYS, remedy="add it; it may be empty"),
        field="patient_summary",
        where=where,
        empty=True,
    )
    turns = _turns(needed(record, "turns", where=where, known=_CASE_KEYS), where)
    plan = record.get("target_plan")
    if plan is not None:
        text_of(plan, field="target_plan", where=where)
    metadata = {} if record.get("metadata") is None else record["metadata"]
    if not isinstance(metadata, Mapping):
        raise InputError("'metadata' must be an object", where=where, got=kind(metadata))
    checked = True if record.get("checked") is None else record["checked"]
    if not isinstance(checked, bool):
        raise InputError("'checked' must be true or false", where=where, got=kind(checked))
    late: tuple[str, ...] = ()
    if record.get("facts") is not None:
        form, facts = "full", _facts(record["facts"], turns, where)
    else:
        form, facts = "simple", _from_entities(record, where)
        late = late_entities(facts, summary, turns, where=where)
    try:
        return ConversationCase(id, summary, turns, facts, plan, metadata, form, late, checked)
    except InputError as error:
        raise InputError(error.expected, where=f"{where}, {error.where}", got=error.got, remedy=error.remedy) from None


# ---- turns and facts as they are written ----------------------------------------------------------------------------


def _turns(value: Any, where: str) -> tuple[Turn, ...]:
    found: list[Turn] = []
    for number, record in enumerate(list_of(value, field="turns", where=where), start=1):
        place = f"{where}, turns[{number - 1}]"
        if not isinstance(record, Mapping):
            raise InputError("a turn must be an object", where=place, got=kind(record))
        refuse_misspelt(record, _TURN_KEYS, where=place)
        turn = whole_of(needed(record, "turn", where=place, known=_TURN_KEYS), field="turn", where=place)
        if turn != number:
            raise InputError(
                "turns must be numbered 1, 2, 3 in their order",
                where=place,
                got=f"{turn} where {number} was due",
                remedy="number them anew; a turn that is left out would shift every fact after it",
            )
        message = text_of(needed(record, "message", where=place, known=_TURN_KEYS), field="message", where=place)
        listed = [] if record.get("events") is None else list_of(record["events"], field="events", where=place)
        events = tuple(_event(one, f"{place}, events[{i}]") for i, one in enumerate(listed))
        session, days = _session(record, found[-1].session if found else 0, place)
        found.append(Turn(turn, message, events, session, days))
        if number > MOST_TURNS:
            raise InputError(f"a case of at most {MOST_TURNS} turns was expected", where=where, got="more")
    if not found:
        raise InputError("a case must have a turn", where=where, got="none", remedy="add one under 'turns'")
    return tuple(found)


def _session(record: Mapping[str, Any], before: int, where: str) -> tuple[int, float | None]:
    """The session that a turn belongs to, which follows that of the turn before, and the days between the two."""
    session = whole_of(record.get("session") or max(before, 1), field="session", where=where)
    if session not in ({before, before + 1} if before else {1}):
        raise InputError(
            "sessions must be numbered 1, 2, 3 in their order", where=where, got=f"{session} after {before or 'none'}"
        )
    days = record.get("after_days")
    if days is None:
        return session, None
    if isinstance(days, bool) or not isinstance(days, (int, float)) or not 0 <= days < 100_000:
        raise InputError("'after_days' must be a number of days from 0", where=where, got=kind(days))
    if session == before or not before:
        raise InputError("'after_days' belongs to the first turn of a later session", where=where, got="another turn")
    return session, float(days)


def _event(record: Any, where: str) -> Event:
    if not isinstance(record, Mapping):
        raise InputError("an event must be an object", where=where, got=kind(record))
    _only(record, _EVENT_KEYS, where=where)
    what = needed(record, "kind", where=where, known=_EVENT_KEYS)
    if what not in EVENTS:
        raise InputError(f"'kind' must be one of {', '.join(EVENTS)}", where=where, remedy=near(str(what)[:40], EVENTS))
    by = record.get("by")
    fact = text_of(needed(record, "fact", where=where, known=_EVENT_KEYS), field="fact", where=where)
    return Event(what, fact, text_of(by, field="by", where=where) if by is not None else None)


def _only(record: Mapping[str, Any], known: Sequence[str], *, where: str) -> None:
    for key in record:
        if key not in known:
            raise InputError(f"unknown key '{key[:40]}'", where=where, remedy=near(key[:40], known))


def _facts(value: Any, turns: tuple[Turn, ...], where: str) -> tuple[Fact, ...]:
    introduced = {event.fact: turn.turn for turn in turns for event in turn.events if event.kind == "introduce"}
    found = []
    listed = list_of(value, field="facts", where=where)
    if not listed:
        raise InputError(
            "'facts' must not be empty",
            where=where,
            remedy="add a fact, or leave 'facts' out and give 'critical_entities'",
        )
    for number, record in enumerate(listed):
        found.append(fact_of(record, where=f"{where}, facts[{number}]", introduced=introduced))
    return tuple(found)


def fact_of(record: Any, *, where: str, introduced: Mapping[str, int] = MappingProxyType({})) -> Fact:
    """The fact that an object stands for; `introduced` are turns that events name, by the id of the fact."""
    if not isinstance(record, Mapping):
        raise InputError("a fact must be an object", where=where, got=kind(record))
    _only(record, _FACT_KEYS, where=where)
    for key in ("id", "type", "concept"):
        text_of(needed(record, key, where=where, known=_FACT_KEYS), field=key, where=where)
    given = {key: value for key, value in record.items() if value is not None}
    id = str(given["id"])
    given.setdefault("introduced", introduced.get(id, 1))
    for key, needs in (("aliases", list), ("attributes", Mapping)):
        if key in given and not isinstance(given[key], needs):
            wanted = "a list" if key == "aliases" else "an object"
            raise InputError(f"'{key}' must be {wanted}", where=where, got=kind(given[key]))
    if "attributes" in given:
        given["attributes"] = {key: one for key, one in given["attributes"].items() if one is not None}
    try:
        return Fact(**given)
    except InputError as error:
        inner = error.where.partition(", ")[2]
        place = f"{where}, {inner}" if inner else where
        raise InputError(error.expected, where=place, got=error.got, remedy=error.remedy) from None


def _from_entities(record: Mapping[str, Any], where: str) -> tuple[Fact, ...]:
    known = (*_CASE_KEYS,)
    remedy = "add the list of what must be remembered, or the ledger under 'facts'"
    value = needed(record, "critical_entities", where=where, known=known, remedy=remedy)
    entities = list_of(value, field="critical_entities", where=where)
    if not entities:
        raise InputError("'critical_entities' must not be empty", where=where, remedy=remedy)
    found: dict[str, Fact] = {}
    for number, entity in enumerate(entities):
        place = f"{where}, critical_entities[{number}]"
        text = text_of(entity, field="critical_entities", where=place)
        if not any(sign.isalnum() for sign in text):
            raise InputError("an entity must have letters or digits", where=place, remedy="leave it out")
        if text.casefold() in found:
            raise InputError("an entity must stand once", where=place, got="one that stands twice", remedy="drop it")
        found[text.casefold()] = fact_of_entity(text, id=f"e{number + 1}")
    return tuple(found.values())


__all__ = [
    "ATTRIBUTES",
    "EVENTS",
    "HARMS",
    "STATUSES",
    "TYPES",
    "ConversationCase",
    "Event",
    "Fact",
    "Turn",
    "case_of",
    "read_cases",
]
