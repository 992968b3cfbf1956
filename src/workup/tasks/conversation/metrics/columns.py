"""Names of the columns of Scores: counts of a conversation by arm, set and turn, spelled in one place."""

from __future__ import annotations

SETS = ("critical", "extended")
# Of facts active at a turn and asked for: those that are scorable are correct, reversed, wrong in a value or omitted;
# of the others no reply can be read, and these are the ways.
OF_ACTIVE = ("facts", "scorable", "correct", "reversed", "wrong_value", "omitted")
UNREAD = ("refused", "truncated", "other_language", "unscorable")
# Of facts that a reply speaks of although nobody asked.
MENTIONED = ("mentioned", "mentioned_reversed", "mentioned_wrong_value", "mentioned_retired", "mentioned_stale")
# Of entities that a reply or summary names; those of a reply that answers no probe are not held against the facts.
NAMED, LISTED, SUPPORTED, UNGROUNDED = "entities", "listed", "supported", "ungrounded"
RETURN = "return"  # the first turn of every session after the first
LOSSES = ("first", "sustained")


def at_turn(arm: str, kind: str, turn: int, field: str) -> str:
    """A count of one arm, set and turn."""
    return f"{arm}|{kind}|{turn}|{field}"


def of_arm(arm: str, kind: str, field: str) -> str:
    """A number of one arm and set over the whole conversation."""
    return f"{arm}|{kind}|{field}"


def of_type(arm: str, kind: str, type: str, field: str, turn: int | None = None) -> str:
    """A count of facts of one type over the whole conversation, or at one turn."""
    return f"type|{arm}|{kind}|{type}|{field}" if turn is None else f"type|{arm}|{kind}|{type}|{turn}|{field}"


def of_loss(arm: str, kind: str, loss: str, field: str, clock: int) -> str:
    """Facts at risk of their loss, or lost, at a tick of the clock since they were introduced."""
    return f"{arm}|{kind}|{loss}_{field}|{clock}"


def of_session(arm: str, kind: str, session: int | str, field: str) -> str:
    """A count of one session of a conversation; RETURN stands for the first turns of later ones."""
    return of_arm(arm, kind, f"session {session} {field}")


def whole(field: str) -> str:
    """A number of the conversation as it was held live."""
    return f"live|{field}"
