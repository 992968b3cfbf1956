"""The firm advice of one turn on one slot as stances that can be compared, and whether two of them conflict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from workup.tasks.conversation.read.advice.statements import Statement
from workup.tasks.conversation.read.advice.targets import CARE, CLASS, DRUG, TEST, URGENCY, Thing, members, parts_of
from workup.tasks.conversation.read.advice.verbs import AVOID, CONTINUE, DECREASE, INCREASE, STOP
from workup.tasks.conversation.read.sentence.doses import same_amount
from workup.tasks.conversation.read.sentence.vocabulary import table

FOR, AGAINST, UP, DOWN = "for", "against", "up", "down"
_SIDES = {STOP: AGAINST, AVOID: AGAINST, INCREASE: UP, DECREASE: DOWN}
_BARRED = {INCREASE: UP, DECREASE: DOWN}
LADDER = ("self_care", "routine", "soon", "same_day", "emergency")  # how soon the patient is to be seen
VISIT = Thing(URGENCY, "visit")  # any two steps of the ladder are one slot
_PLACES = {"emergency": "emergency", "urgent_care": "same_day"}  # of care that says by itself how soon


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
    step: int | None = None  # of urgency alone: its place on the ladder
    said_of: Thing | None = None  # of urgency alone: the care that it was said of


def stances_of(turn: int, statements: Iterable[Statement]) -> list[Stance]:
    """The stances of a turn: statements that say the same of one thing are one. Urgency is the most urgent said."""
    found: dict[tuple[Thing, str], Stance] = {}
    firm = [one for one in statements if one.firm]
    for one in firm:
        if one.thing.kind == URGENCY:
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
    urgent = [one for one in (_urgency(turn, one) for one in firm) if one is not None]
    most = max(urgent, key=lambda one: (one.step or 0, -one.sentence), default=None)
    return [*(one for one in found.values() if not _said_better(one, found)), *([most] if most else [])]


def _urgency(turn: int, one: Statement) -> Stance | None:
    """How soon a statement sends the patient to be seen; None where it does not say."""
    if one.action in _SIDES:
        return None
    place = _PLACES.get(one.thing.name, "") if one.thing.kind == CARE else ""
    name = one.thing.name if one.thing.kind == URGENCY else place or one.step
    if name not in LADDER:
        return None
    return Stance(turn, VISIT, FOR, one.action, one.sentence, step=LADDER.index(name), said_of=one.thing)


def _said_better(stance: Stance, found: Mapping[tuple[Thing, str], Stance]) -> bool:
    """ "Continue it, and increase it to 20 mg": the change says all that the other does."""
    plain = stance.side == FOR and not stance.same_dose and not stance.barred
    return plain and ((stance.thing, UP) in found or (stance.thing, DOWN) in found)


def with_classes(stances: list[Stance], drugs: Iterable[Thing]) -> list[Stance]:
    """The stances of a turn, and those that follow from advice on a whole."""
    own = {one.thing for one in stances}
    return [*stances, *_derived(stances, [thing for thing in drugs if thing not in own])]


def _derived(stances: list[Stance], things: list[Thing]) -> Iterator[Stance]:
    for thing in things:
        whole = next((one for one in stances if _stands_for(one.side, one.thing, thing)), None)
        if whole is not None:
            yield whole._replace(thing=thing, derived=True)


def _stands_for(side: str, whole: Thing, thing: Thing) -> bool:
    """Whether advice on one thing is advice on another: against a class and its drugs, or against blood tests and one
    of them; for a combination and for its ingredients.
    """
    if side != AGAINST:
        return whole.kind == DRUG == thing.kind and thing.name in parts_of(whole.name)
    if whole.kind == CLASS and thing.kind == DRUG:
        return bool(parts_of(thing.name) & members(whole.name))
    listed = table("advice_things")["stands_for"].get(whole.name, ())
    return whole.kind == TEST == thing.kind and thing.name in listed


def conflict(one: Stance, other: Stance) -> bool:
    """Whether two stances on one thing contradict each other; `one` is the earlier.

    >>> warfarin = Thing("drug", "warfarin")
    >>> stop, go = Stance(1, warfarin, AGAINST, "stop", 0), Stance(2, warfarin, FOR, "continue", 0)
    >>> conflict(stop, go), conflict(go, go)
    (True, False)
    """
    if one.step is not None and other.step is not None:
        return one.step != other.step
    if AGAINST in (one.side, other.side):
        return one.side != other.side and not (one.barred or other.barred)
    if {one.side, other.side} == {UP, DOWN}:
        return True
    for mine, theirs in ((one, other), (other, one)):
        if mine.barred and theirs.side == mine.barred:
            return True
    if one.side == FOR and one.same_dose and other.side in (UP, DOWN):
        return True  # "stay on the same dose", then "increase it"; the other order is a plan carried out
    if one.action == CONTINUE and other.side == DOWN:
        return True  # "keep taking it", then "cut it in half"; what was only started is tapered by its plan
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


def moves_toward(one: Stance, other: Stance) -> bool:
    """Whether opposed advice moves toward the thing: start it, more of it, sooner. Else it moves away.

    >>> warfarin = Thing("drug", "warfarin")
    >>> stop, go = Stance(1, warfarin, AGAINST, "stop", 0), Stance(2, warfarin, FOR, "continue", 0)
    >>> moves_toward(stop, go), moves_toward(go, stop)
    (True, False)
    """
    if one.step is not None and other.step is not None:
        return other.step > one.step
    if AGAINST in (one.side, other.side):
        return other.side != AGAINST
    if one.dose is not None and other.dose is not None and one.dose[1] == other.dose[1] and one.dose != other.dose:
        return other.dose[0] > one.dose[0]
    if UP in (one.side, other.side) or DOWN in (one.side, other.side):
        return other.side == UP or (other.side == FOR and one.side == DOWN)
    return True


def same_advice(one: Stance, other: Stance) -> bool:
    """Whether the later stance keeps to the earlier one."""
    return (one.side == AGAINST) == (other.side == AGAINST) and not conflict(one, other)


__all__ = [
    "AGAINST",
    "DOWN",
    "FOR",
    "LADDER",
    "VISIT",
    "Stance",
    "conflict",
    "moves_toward",
    "same_advice",
    "stances_of",
    "with_classes",
]
