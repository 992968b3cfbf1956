"""Does what is said of one mention agree with the fact, contradict it, or neither? One rule per status."""

from __future__ import annotations

from typing import NamedTuple

from workup.tasks.conversation.read.sentence.mention import (
    AFFIRMED,
    CONDITIONAL,
    DENIED,
    ENDED,
    GROUND,
    HAS,
    NONE,
    NOT_OWN,
    NOW,
    OWNED,
    PAST,
    STATEMENT,
    Mention,
)
from workup.tasks.conversation.read.sentence.orders import AVOID, PRESUPPOSING, STOP

AGREES, CONTRADICTS, OPPOSES, NEITHER = "agrees", "contradicts", "opposes", "neither"


class Vote(NamedTuple):
    """`agrees`, `contradicts`, `opposes` (contradicts unless another mention agrees) or `neither`; why, as a code."""

    side: str
    reason: str
    current: bool = True  # said of now, and not of what was


def vote(said: Mention, kind: str, status: str, *, asked: bool = False) -> Vote:
    """What one mention says of a fact of this kind and status.

    With `asked` an order counts for what it asks for, as against a plan: to stop a drug then ends it.

    >>> vote(Mention(polarity="denied"), "symptom", "present")
    Vote(side='contradicts', reason='negated', current=True)
    >>> vote(Mention(certainty="possible"), "diagnosis", "present").reason
    'doubted'
    """
    if said.silent:
        return Vote(NEITHER, said.silent)
    if said.order:
        return _ordered(said, kind, status, asked=asked)
    if status == "family":
        return _family(said)
    if said.family and not said.personal:
        if NOT_OWN not in said.rules:
            return Vote(NEITHER, "relative")
        said = Mention(polarity=DENIED, rules=("negated",))  # "your brother has it; you do not"
    return {"present": _present, "absent": _absent, "historical": _historical, "uncertain": _uncertain}[status](
        said, kind
    )


def _ordered(said: Mention, kind: str, status: str, *, asked: bool) -> Vote:
    """An order states nothing; to keep, to change or to stop a drug presupposes that it is taken up to now."""
    if asked and CONDITIONAL in said.rules:
        return Vote(NEITHER, "conditional")
    if asked:
        away = said.order in (STOP, AVOID)
        return vote(Mention(time=ENDED) if away else Mention(time=NOW, rules=(HAS,)), kind, status)
    if said.order not in PRESUPPOSING or kind not in ("medication", "social") or said.family:
        return Vote(NEITHER, "ordered")
    if status == "absent" and said.order == STOP and OWNED not in said.rules:
        return Vote(NEITHER, "ordered")  # what nobody is said to take may be told to be stopped all the same
    taken = Mention(time=NOW, rules=(HAS,))
    return vote(taken, kind, status)._replace(reason="presupposed", current=said.order != STOP)


def _present(said: Mention, kind: str) -> Vote:
    if said.ruled_out:
        return Vote(CONTRADICTS, "ruled_out")
    if said.possible:
        return Vote(NEITHER, "doubted")
    if said.negated:
        return Vote(CONTRADICTS, "negated")
    if said.ended:
        return Vote(CONTRADICTS, "ended", current=False)
    if said.time == ENDED and kind != "procedure":  # what was done stays done
        return Vote(CONTRADICTS, "past", current=False)
    return Vote(AGREES, "affirmed", current=said.time not in (PAST, ENDED))


def _absent(said: Mention, kind: str) -> Vote:
    if said.ruled_out:
        return Vote(AGREES, "ruled_out")
    if said.possible:
        return Vote(NEITHER, "doubted")
    if said.negated:
        return Vote(AGREES, "negated")
    if said.ended:
        return Vote(AGREES, "ended")
    if said.time == ENDED or said.attack:
        return Vote(NEITHER, "past" if said.time == ENDED else "no_attack")
    if said.role == GROUND and OWNED not in said.rules:
        return Vote(NEITHER, "general")  # "not safe in pregnancy" may be said to anyone
    return Vote(CONTRADICTS, "affirmed")


def _historical(said: Mention, kind: str) -> Vote:
    if said.ruled_out:
        return Vote(CONTRADICTS, "ruled_out")
    if said.possible:
        return Vote(NEITHER, "doubted")
    if said.ended and not said.negated:
        return Vote(AGREES, "ended")
    if said.negated:
        # "No active tuberculosis" leaves the old one as it is.
        return Vote(NEITHER, "not_now") if said.time == NOW else Vote(CONTRADICTS, "negated")
    if said.time in (PAST, ENDED):
        return Vote(AGREES, "past")
    if said.time == NOW:
        return Vote(CONTRADICTS, "active")
    if kind in ("procedure", "result"):
        return Vote(AGREES, "affirmed")
    return Vote(CONTRADICTS, "active") if said.outright else Vote(NEITHER, "no_time")


def _family(said: Mention) -> Vote:
    if said.family:
        if said.possible:
            return Vote(NEITHER, "doubted")
        if said.negated or said.ruled_out:
            return Vote(CONTRADICTS if said.family == "history" else OPPOSES, "family_denied")
        return Vote(AGREES, "relative")
    asserted = said.outright or said.confirmed or said.undergone
    over = said.ended and not said.undergone
    if asserted and not (said.negated or said.ruled_out or said.possible or over):
        return Vote(CONTRADICTS, "of_the_patient")
    return Vote(NEITHER, "of_the_patient")


def _uncertain(said: Mention, kind: str) -> Vote:
    if said.ruled_out:
        return Vote(CONTRADICTS, "ruled_out")
    if said.possible:
        return Vote(AGREES, "doubted")
    if said.negated:
        return Vote(CONTRADICTS, "negated")
    if said.ended:
        return Vote(CONTRADICTS, "ended")
    if said.confirmed or said.outright:
        return Vote(CONTRADICTS, "without_doubt")
    return Vote(NEITHER, "without_doubt")


def allergy_vote(said: Mention, relation: str, status: str) -> Vote:
    """An allergy is stated as one, avoided or tolerated; the drug by itself, given or prescribed, says nothing."""
    if said.silent:
        return Vote(NEITHER, said.silent)
    if said.order == AVOID and status == "present":
        return Vote(AGREES, "avoided")
    if said.order and relation in ("", "avoided"):
        return Vote(NEITHER, "ordered")
    if not relation and status != "family":
        return Vote(NEITHER, "not_as_allergy")
    if relation == "tolerated":
        flipped = said._replace(polarity=AFFIRMED if said.negated else DENIED, mood=STATEMENT, act=NONE)
        return vote(flipped, "allergy", status)._replace(reason="tolerated")
    if relation == "avoided":
        if status == "present":
            return Vote(AGREES, "avoided")
        return Vote(NEITHER, "avoided")
    return vote(said._replace(mood=STATEMENT, act=NONE), "allergy", status)


__all__ = ["AGREES", "CONTRADICTS", "NEITHER", "OPPOSES", "Vote", "allergy_vote", "vote"]
