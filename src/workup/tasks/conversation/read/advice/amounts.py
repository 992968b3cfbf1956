"""The dose that advice names, in the unit in which doses are compared. Knows not whose dose it is."""

from __future__ import annotations

from collections.abc import Sequence

from workup.tasks.conversation.read.advice.targets import Found
from workup.tasks.conversation.read.advice.verbs import Verb, at
from workup.tasks.conversation.read.sentence.doses import Dose, find_doses, numbers, unit_of

_MARKS = frozenset(["dose", "dosage", "unchanged", "is", "change"])
_LIMITS = frozenset(["maximum", "max", "than", "exceed", "exceeding", "limit", "total", "most"])
_REACH = 12  # words behind a drug that may hold its dose


def has_number(text: Sequence[str]) -> bool:
    """Whether a sentence holds a number at all; most hold none."""
    return not numbers().keys().isdisjoint(text) or any(word[0].isdigit() for word in text)


def dose_near(text: Sequence[str], verb: Verb | None, target: Found, after: int) -> tuple[float, str] | None:
    """The dose advised: behind the drug up to the next one, or between verb and drug. A change "by" some is no dose.

    >>> from workup.tasks.conversation.read.advice.targets import Thing
    >>> words = "increase lisinopril from 10 mg to 20 mg".split()
    >>> dose_near(words, None, Found(1, 2, (Thing("drug", "lisinopril"),)), 8)
    (20.0, 'mg')
    """
    stated = _in_base(target.stated, "mg") if target.stated is not None else None
    listed = list(text)
    last = min(after, len(listed), target.end + _REACH)
    spans = [(target.end, last)]
    if verb is not None and verb.end < target.start:
        spans.append((verb.end, target.start))
    for first, end in spans:
        doses = [dose for dose in find_doses(listed, first, end) if _advised(listed, dose, first)]
        if doses:
            return _amount(doses[-1] if len(doses) > 1 and "to" in listed[first:end] else doses[0])
    return stated


def _advised(text: Sequence[str], dose: Dose, first: int) -> bool:
    before = text[max(first, dose.start - 2) : dose.start]
    bounded = "by" in before[-1:] or not _LIMITS.isdisjoint(before) or list(before) == ["up", "to"]
    return not dose.past and not bounded and dose.unit is not None and dose.kind != "range" and not dose.per


def _amount(dose: Dose) -> tuple[float, str] | None:
    return (dose.amounts[0] * dose.unit.factor, dose.unit.measure) if dose.unit is not None else None


def _in_base(amount: float, unit: str) -> tuple[float, str] | None:
    found = unit_of(unit)
    return (amount * found.factor, found.measure) if found is not None else None


def says_same_dose(text: Sequence[str]) -> bool:
    """Whether a sentence says that the dose stays as it is."""
    if _MARKS.isdisjoint(text):
        return False
    return any(at(text, place, "same_dose") for place in range(len(text)))
