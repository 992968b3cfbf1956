"""The firm advice of one turn on one slot as stances that can be compared, and whether two of them conflict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from workup.tasks.conversation.read.advice.statements import Statement
from workup.tasks.conversation.read.advice.targets import CLASS, DRUG, Thing, members, parts_of
from workup.tasks.conversation.read.advice.verbs import AVOID, DECREASE, INCREASE, STOP
from workup.tasks.conversation.read.sentence.doses import same_amount

FOR, AGAINST, UP, DOWN = "for", "against", "up", "down"
_SIDES = {STOP: AGAINST, AVOID: AGAINST, INCREASE: UP, DECREASE: DOWN}
_BARRED = {INCREASE: UP, DECREASE: DOWN}


class Stance(NamedTuple):
    """What one turn advises on one thing: for it, against it, more or less of it; `derived` from its class."""

    turn: int
    thing: Thing
    side: str
    action: str
    sentence: int
    dose: tuple[float, str] | None = None
    same_dose: bool = False
    barred: str = ""
    derived: bool = False


def stances_of(turn: int, statements: Iterable[Statement]) -> list[Stance]:
    """The stances of a turn: statements that say the same of one thing are one."""
    found: dict[tuple[Thing, str], Stance] = {}
    for one in statements:
        if not one.firm:
            continue
        side = _SIDES.get(one.action, FOR)
        barred = _BARRED.get(one.barred, "")
        new = Stance(turn, one.thing, side, one.action, one.sentence, one.dose, one.same_dose, barred)
        held = found.get((one.thing, side))
        if held is None:
            found[one.thing, side] = new
        else:
            found[one.thing, side] = held._replace(
                dose=held.dose or new.dose, same_dose=held.same_dose or new.same_dose, barred=held.barred or new.barred
            )
    return [one for one in found.values() if not _said_better(one, found)]


def _said_better(stance: Stance, found: Mapping[tuple[Thing, str], Stance]) -> bool:
    """ "Continue it, and increase it to 20 mg": the change says all that the other does."""
    plain = stance.side == FOR and not stance.same_dose and not stance.barred
    return plain and ((stance.thing, UP) in found or (stance.thing, DOWN) in found)


def with_classes(stances: list[Stance], drugs: Iterable[Thing]) -> list[Stance]:
    """The stances of a turn, and those on single drugs that follow from advice against their class."""
    own = {one.thing for one in stances}
    against = [one for one in stances if one.thing.kind == CLASS and one.side == AGAINST]
    return [*stances, *_derived(against, [thing for thing in drugs if thing.kind == DRUG and thing not in own])]


def _derived(against: list[Stance], drugs: list[Thing]) -> Iterator[Stance]:
    for thing in drugs:
        whole = next((one for one in against if parts_of(thing.name) & members(one.thing.name)), None)
        if whole is not None:
            yield whole._replace(thing=thing, derived=True)


def conflict(one: Stance, other: Stance) -> bool:
    """Whether two stances on one thing contradict each other; `one` is the earlier.

    >>> warfarin = Thing("drug", "warfarin")
    >>> stop, go = Stance(1, warfarin, AGAINST, "stop", 0), Stance(2, warfarin, FOR, "continue", 0)
    >>> conflict(stop, go), conflict(go, go)
    (True, False)
    """
    if AGAINST in (one.side, other.side):
        return one.side != other.side and not (one.barred or other.barred)
    if {one.side, other.side} == {UP, DOWN}:
        return True
    for mine, theirs in ((one, other), (other, one)):
        if mine.barred and theirs.side == mine.barred:
            return True
    if one.side == FOR and one.same_dose and other.side in (UP, DOWN):
        return True  # "stay on the same dose", then "increase it"; the other order is a plan carried out
    return _doses_differ(one, other)


def _doses_differ(one: Stance, other: Stance) -> bool:
    if one.dose is None or other.dose is None or one.dose[1] != other.dose[1]:
        return False
    before, after = one.dose[0], other.dose[0]
    if same_amount(before, after):
        return False
    # "Increase to 20 mg", then "increase to 40 mg": steps of one plan, as long as they go its way.
    onward = after > before if one.side == UP else after < before
    return not (one.side == other.side and one.side in (UP, DOWN) and onward)


def same_advice(one: Stance, other: Stance) -> bool:
    """Whether the later stance keeps to the earlier one."""
    return (one.side == AGAINST) == (other.side == AGAINST) and not conflict(one, other)


__all__ = ["AGAINST", "FOR", "Stance", "conflict", "same_advice", "stances_of", "with_classes"]
