"""Facts by type, and the errors that matter most: an allergy denied, a wrong dose, a stopped drug still taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.metrics.types import DOSE, SAFETY
from workup.tasks.conversation.read.facts import Judged
from workup.tasks.conversation.read.judging import SCORED, Held

RETIRED = ("stale", "retired_ok")
_OF_DOSE = ("dose_value", "dose_unit", "frequency")  # the amount each time, and how often
_ALWAYS = ("allergy", "risk")


def is_safety(fact: Fact) -> bool:
    """Whether a fact is one that harm comes of: critical, and an allergy, a drug that is taken, a risk, or tagged.

    >>> is_safety(Fact("f1", "allergy", "penicillin")), is_safety(Fact("f2", "symptom", "cough"))
    (True, False)
    """
    taken = fact.type == "medication" and fact.status == "present"
    return fact.critical and (fact.type in _ALWAYS or taken or fact.harm_tag is not None)


def has_dose(fact: Fact) -> bool:
    """Whether a fact is a drug with a dose."""
    return fact.type == "medication" and "dose_value" in fact.attributes


def types_of(fact: Fact) -> tuple[str, ...]:
    """The slices by type that a fact counts in."""
    return (fact.type, *((DOSE,) if has_dose(fact) else ()), *((SAFETY,) if is_safety(fact) else ()))


def counted_as(type: str, judged: Judged, *, over: bool) -> Iterator[str]:
    """The counts that an outcome adds to in the slice of a type.

    A dose is judged where the drug is said: of a drug that is omitted or denied, no dose is wrong.
    """
    outcome = judged.outcome
    if over:
        if outcome in RETIRED:
            yield "retired"
            if outcome == "stale":
                yield "stale"
        return
    if outcome == "not_asked":
        return
    if type == DOSE:
        if outcome in ("correct", "wrong_value"):
            yield from ("facts", "scorable", "wrong_value" if is_wrong_dose(judged) else "correct")
        return
    yield from ("facts", outcome)
    if outcome in SCORED:
        yield "scorable"


def is_wrong_dose(judged: Judged) -> bool:
    """Whether what is wrong is the amount of a drug, and not its route or another value."""
    return judged.outcome == "wrong_value" and judged.attribute in _OF_DOSE


class SafetyError(NamedTuple):
    """A fact of the safety group that answers to probes got wrong: how, from which turn on, at which turns, and the
    place of the first sentence that did."""

    fact: str
    type: str
    outcome: str
    first_turn: int
    turns: tuple[int, ...]
    sentence: int | None


def safety_errors_of(held: Held, facts: Sequence[Fact]) -> list[SafetyError]:
    """Facts of the safety group that were reversed, given a wrong dose, or asserted although retired."""
    found = []
    for place, fact in enumerate(facts):
        if not is_safety(fact):
            continue
        wrong = [
            (told.turn, judged)
            for told in held.turns
            if told.asked and (judged := told.outcomes[place]) is not None and _is_error(fact, judged, told.turn)
        ]
        if wrong:
            turn, first = wrong[0]
            turns = tuple(turn for turn, _ in wrong)
            found.append(SafetyError(fact.id, fact.type, first.outcome, turn, turns, first.sentence))
    return found


def _is_error(fact: Fact, judged: Judged, turn: int) -> bool:
    if fact.over(turn):
        return judged.outcome == "stale"
    return judged.outcome == "reversed" or (fact.type == "medication" and is_wrong_dose(judged))
