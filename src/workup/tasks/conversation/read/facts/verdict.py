"""Does what is said of one mention agree with the fact, contradict it, or neither? One rule per status."""

from __future__ import annotations

from typing import NamedTuple

from workup.tasks.conversation.read.facts.context import Said
from workup.tasks.conversation.read.facts.timing import MILD, NOW, STRONG

AGREES, CONTRADICTS, OPPOSES, NEITHER = "agrees", "contradicts", "opposes", "neither"


class Vote(NamedTuple):
    """`agrees`, `contradicts`, `opposes` (contradicts unless another mention agrees) or `neither`; why, as a code."""

    side: str
    reason: str
    current: bool = True  # said of now, and not of what was


def vote(said: Said, kind: str, status: str) -> Vote:
    """What one mention says of a fact of this kind and status.

    >>> vote(Said(negated=True), "symptom", "present")
    Vote(side='contradicts', reason='negated', current=True)
    >>> vote(Said(possible=True), "diagnosis", "present").reason
    'doubted'
    """
    if said.mood:
        return Vote(NEITHER, said.mood)
    if status == "family":
        return _family(said)
    if said.family and not said.personal:
        return Vote(NEITHER, "relative")
    return {"present": _present, "absent": _absent, "historical": _historical, "uncertain": _uncertain}[status](
        said, kind
    )


def _present(said: Said, kind: str) -> Vote:
    if said.ruled_out:
        return Vote(CONTRADICTS, "ruled_out")
    if said.possible:
        return Vote(NEITHER, "doubted")
    if said.negated:
        return Vote(CONTRADICTS, "negated")
    if said.ended:
        return Vote(CONTRADICTS, "ended", current=False)
    if said.time == STRONG and kind != "procedure":  # what was done stays done
        return Vote(CONTRADICTS, "past", current=False)
    return Vote(AGREES, "affirmed", current=said.time not in (MILD, STRONG))


def _absent(said: Said, kind: str) -> Vote:
    if said.ruled_out:
        return Vote(AGREES, "ruled_out")
    if said.possible:
        return Vote(NEITHER, "doubted")
    if said.negated:
        return Vote(AGREES, "negated")
    if said.ended:
        return Vote(AGREES, "ended")
    if said.time == STRONG or said.attack:
        return Vote(NEITHER, "past" if said.time == STRONG else "no_attack")
    return Vote(CONTRADICTS, "affirmed")


def _historical(said: Said, kind: str) -> Vote:
    if said.ruled_out:
        return Vote(CONTRADICTS, "ruled_out")
    if said.possible:
        return Vote(NEITHER, "doubted")
    if said.ended and not said.negated:
        return Vote(AGREES, "ended")
    if said.negated:
        # "No active tuberculosis" leaves the old one as it is.
        return Vote(NEITHER, "not_now") if said.time == NOW else Vote(CONTRADICTS, "negated")
    if said.time in (STRONG, MILD):
        return Vote(AGREES, "past")
    if said.time == NOW:
        return Vote(CONTRADICTS, "active")
    if kind in ("procedure", "result"):
        return Vote(AGREES, "affirmed")
    return Vote(CONTRADICTS, "active") if said.outright else Vote(NEITHER, "no_time")


def _family(said: Said) -> Vote:
    if said.family:
        if said.possible:
            return Vote(NEITHER, "doubted")
        if said.negated or said.ruled_out:
            return Vote(CONTRADICTS if said.family == "history" else OPPOSES, "family_denied")
        return Vote(AGREES, "relative")
    asserted = said.outright or said.confirmed or said.undergone
    if asserted and not (said.negated or said.ruled_out or said.possible or said.ended):
        return Vote(CONTRADICTS, "of_the_patient")
    return Vote(NEITHER, "of_the_patient")


def _uncertain(said: Said, kind: str) -> Vote:
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


def allergy_vote(said: Said, relation: str, status: str) -> Vote:
    """An allergy is stated as one, avoided or tolerated; the drug by itself, given or prescribed, says nothing."""
    if said.mood:
        return Vote(NEITHER, said.mood)
    if not relation and status != "family":
        return Vote(NEITHER, "not_as_allergy")
    if relation == "tolerated":
        flipped = said._replace(negated=not said.negated)
        return vote(flipped, "allergy", status)._replace(reason="tolerated")
    if relation == "avoided":
        if status == "present":
            return Vote(AGREES, "avoided")
        return Vote(NEITHER, "avoided")
    return vote(said, "allergy", status)


__all__ = ["AGREES", "CONTRADICTS", "NEITHER", "OPPOSES", "Vote", "allergy_vote", "vote"]
