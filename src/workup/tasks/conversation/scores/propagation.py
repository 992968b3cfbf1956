"""What becomes of errors: whether they are made again at the next turn, and whether others follow. Counts only.

An error is a critical fact that the turn's own reply reverses, states with a wrong value or keeps although it is
retired, and one that its advice goes against. Slips are errors that were planted in the model's own reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.metrics import propagation as columns
from workup.tasks.conversation.read.judging import Held, Told
from workup.tasks.conversation.talk.slips import KINDS, SLIPPED
from workup.tasks.conversation.talk.transcripts import slip_turn

Row = dict[str, float]
WRONG = frozenset({"reversed", "wrong_value", "stale"})
CONTRAINDICATED, AGAINST_FACT = "contraindicated", "against_fact"
_UNREAD = frozenset({"unscorable", "refused", "truncated", "other_language", "not_asked"})


def error_counts(held: Held, facts: Sequence[Fact], events: Iterable[Any], pairs: Iterable[Any]) -> Row:
    """Errors of one live conversation from each turn to the next; `events` and `pairs` are those of its advice."""
    critical = {fact.id for fact in facts if fact.critical}
    advised: dict[int, set[str]] = {}
    for event in events:
        if event.kind == CONTRAINDICATED:
            advised.setdefault(event.turn, set()).update(getattr(event, "facts", ()) or (event.fact,))
    for pair in pairs:
        if pair.kind == AGAINST_FACT:
            advised.setdefault(pair.turns[1], set()).update(pair.facts)
    read = {told.turn: told for told in held.turns if told.reply and told.replied}
    wrong = {turn: (_wrong(told, facts) | advised.get(turn, set())) & critical for turn, told in read.items()}
    row: Row = {}
    for turn in read:
        if turn + 1 not in read:
            continue
        after = read[turn + 1]
        judged = {
            fact.id
            for fact, one in zip(facts, after.replied, strict=True)
            if fact.critical and one is not None and one.outcome not in _UNREAD
        } | wrong[turn + 1]
        row |= {
            columns.next_turn(turn, columns.FOLLOWED): 1.0,
            columns.next_turn(turn, columns.ERRED): float(bool(wrong[turn])),
            columns.next_turn(turn, columns.NEW): float(len(wrong[turn + 1] - wrong[turn])),
            columns.next_turn(turn, columns.AT_RISK): float(len(judged - wrong[turn])),
        }
        for name, count in (("wrong", len(wrong[turn] & judged)), ("again", len(wrong[turn] & wrong[turn + 1]))):
            row[name] = row.get(name, 0.0) + count
    return row


def _wrong(told: Told, facts: Sequence[Fact]) -> set[str]:
    return {
        fact.id
        for fact, judged in zip(facts, told.replied, strict=True)
        if judged is not None and judged.outcome in WRONG
    }


def slip_counts(arms: Mapping[str, Held], facts: Sequence[Fact], horizon: int) -> Row:
    """Facts that were slipped, and the others, at the horizon: in the conversation as it was held and in the other."""
    row: Row = {}
    live = _at(arms.get("live"), horizon)
    for arm, held in arms.items():
        turn, late = slip_turn(arm), _at(held, horizon)
        if turn is None or live is None or late is None:
            continue
        slipped = _slipped(_at(held, turn))
        for fact, before, after in zip(facts, live.outcomes, late.outcomes, strict=True):
            if not fact.critical or not fact.active(horizon) or before is None or after is None:
                continue
            if before.outcome in _UNREAD or after.outcome in _UNREAD:
                continue
            kind = slipped.get(fact.id)
            names = {"live": before.outcome, "slip": after.outcome}
            part = columns.OTHERS if kind is None else kind
            counted = {side: float(one == "correct" if kind is None else one in WRONG) for side, one in names.items()}
            for name, value in {"units": 1.0, **counted}.items():
                column = columns.of_slip(arm, part, name)
                row[column] = row.get(column, 0.0) + value
    return row


def _at(held: Held | None, turn: int) -> Told | None:
    return None if held is None else next((told for told in held.turns if told.turn == turn and told.said), None)


def _slipped(told: Told | None) -> dict[str, str]:
    """The kinds of the errors that were planted, by fact."""
    found = told.said[0].usage.get(SLIPPED) if told is not None and told.said else None
    if not isinstance(found, Mapping):
        return {}
    return {str(fact): kind for kind, fact in found.items() if kind in KINDS}
