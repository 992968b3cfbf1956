"""Names of the columns of Scores: counts of a conversation by arm, set and turn, spelled in one place."""

from __future__ import annotations

SETS = ("critical", "extended")
# Of facts active at a turn; those that are scorable are correct, reversed, wrong in a value or omitted.
OF_ACTIVE = ("facts", "scorable", "correct", "reversed", "wrong_value", "omitted")
WEIGHTED = ("weight_scorable", "weight_correct")
OF_RETIRED = ("retired", "stale")
OF_FACTS = (*OF_ACTIVE, *WEIGHTED, *OF_RETIRED)
# Of entities that a reply or summary names.
NAMED, SUPPORTED, UNGROUNDED = "entities", "supported", "ungrounded"
RETURN = "return"  # the first turn of every session after the first
LOSSES = ("first", "sustained")


def at_turn(arm: str, kind: str, turn: int, field: str) -> str:
    """A count of one arm, set and turn."""
    return f"{arm}|{kind}|{turn}|{field}"


def of_arm(arm: str, kind: str, field: str) -> str:
    """A number of one arm and set over the whole conversation."""
    return f"{arm}|{kind}|{field}"


def of_loss(arm: str, kind: str, loss: str, field: str, clock: int) -> str:
    """Facts at risk of their loss, or lost, at a tick of the clock since they were introduced."""
    return f"{arm}|{kind}|{loss}_{field}|{clock}"


def of_session(arm: str, kind: str, session: int | str, field: str) -> str:
    """A count of one session of a conversation; RETURN stands for the first turns of later ones."""
    return of_arm(arm, kind, f"session {session} {field}")


def whole(field: str) -> str:
    """A number of the conversation as it was held live."""
    return f"live|{field}"
