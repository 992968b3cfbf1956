"""Doses in words of a text: amounts with units in one form, ranges, changes and tapers. Knows not whose they are."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.sentence.vocabulary import table
from workup.text.numbers import NUMBER

_VALUES = "values"


class Unit(NamedTuple):
    """A unit in one form, with the factor to the unit in which amounts are compared."""

    name: str
    factor: float
    measure: str


class Dose(NamedTuple):
    """Amounts at words [start, end): one, the two ends of a range, or the parts of a combination (`kind`)."""

    start: int
    end: int
    amounts: tuple[float, ...]
    unit: Unit | None
    kind: str = "one"  # one, range, parts
    per: str = ""  # what stands behind a stroke
    past: bool = False  # not the dose that is taken now


@cache
def _units() -> dict[str, Unit]:
    return {
        word: Unit(name, float(factor), measure) for word, (name, factor, measure) in table(_VALUES)["units"].items()
    }


@cache
def _listed(name: str) -> frozenset[str]:
    return frozenset(word for line in table(_VALUES)[name] for word in line.split())


@cache
def numbers() -> dict[str, float]:
    """Numbers in words: those of a count, and a half."""
    return {"half": 0.5} | {word: float(number) for word, number in NUMBER.items()}


def unit_of(text: str) -> Unit | None:
    """A unit by any of its names.

    >>> unit_of("micrograms").name
    'mcg'
    """
    return _units().get(text.casefold().strip(" ."))


def number_of(word: str) -> float | None:
    """A number in digits: "1,000" is a thousand, "2,5" two and a half.

    >>> number_of("1,000"), number_of("2,5"), number_of("five")
    (1000.0, 2.5, None)
    """
    if word[:1].isalpha() or not word.replace(".", "").replace(",", "").isdecimal():
        return None
    whole, _, fraction = word.partition(",")
    if fraction and not all(len(part) == 3 for part in word.split(",")[1:]):
        word = f"{whole}.{fraction}" if "." not in word and "," not in fraction else word.replace(",", "")
    else:
        word = word.replace(",", "")
    try:
        found = float(word)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def read_number(words: list[str], place: int) -> tuple[float, int] | None:
    """The number that begins at this word, in digits or in words, and the word behind it.

    >>> read_number("twenty five mg".split(), 0), read_number("one hundred mg".split(), 0)
    ((25.0, 2), (100.0, 2))
    """
    if place >= len(words):
        return None
    digits = number_of(words[place])
    if digits is not None:
        return digits, place + 1
    known = numbers()
    total = known.get(words[place])
    if total is None:
        return (100.0, place + 1) if words[place] == "hundred" else None
    place += 1
    while place < len(words):
        word = words[place]
        if word in ("hundred", "thousand"):
            total *= 100 if word == "hundred" else 1000
        elif (word in known and total >= 20 and known[word] < 10 and total % 10 == 0) or (
            word in known and total >= 100 and total % 100 == 0
        ):
            total += known[word]
        elif words[place : place + 3] == ["and", "a", "half"]:
            return total + 0.5, place + 3
        else:
            break
        place += 1
    return total, place


_JOINTS = frozenset({"-", "to", "or", "/"})


def find_doses(words: list[str], first: int, last: int) -> list[Dose]:
    """Doses in words [first, last).

    >>> find_doses("up from 5 mg to 7.5 mg".split(), 0, 7)[0].amounts
    (7.5,)
    """
    found: list[Dose] = []
    place = first
    while place < last:
        dose = _dose_at(words, place, last)
        if dose is None:
            place += 1
            continue
        dose = _multiplied(words, dose, first, last)
        bracketed = (
            bool(found) and words[dose.start - 1] == "was" and words[dose.start - 2] in ("(", ",", ";", "—", "-")
        )
        found.append(dose._replace(past=bracketed or _past(words, dose.start, first)))
        place = dose.end
    return _changed(words, found, first)


def _dose_at(words: list[str], place: int, last: int) -> Dose | None:
    units = _units()
    read = read_number(words, place)
    if read is None:
        return None
    amounts, end, kind = [read[0]], read[1], "one"
    unit = units.get(words[end]) if end < last else None
    end += unit is not None
    if end < last - 1 and words[end] in _JOINTS:
        second = read_number(words, end + 1)
        other = units.get(words[second[1]]) if second is not None and second[1] < last else None
        if second is not None and other is not None and unit in (None, other):
            kind = "range" if words[end] in ("-", "to") and second[0] > read[0] else "parts"
            amounts.append(second[0])
            unit, end = other, second[1] + 1
    if unit is None:
        return None
    per = words[end + 1] if end + 1 < last and words[end] == "/" and words[end + 1].isalnum() else ""
    return Dose(place, end + 2 * bool(per), tuple(amounts), unit, kind, per)


def _multiplied(words: list[str], dose: Dose, first: int, last: int) -> Dose:
    """Of "two 250 mg tablets", "2 x 250 mg", "two tablets of 250 mg" the sum is a dose as well as the strength."""
    part = _part_taken(words, dose, first, last)
    if part is not None:
        return dose._replace(amounts=(dose.amounts[0] * part,))
    behind = dose.end
    while behind < last and (words[behind] in _TAKEN or words[behind] in _TABLETS):
        behind += 1
    several = read_number(words, behind) if behind > dose.end else None
    if several is not None and several[1] < last and words[several[1]] in _TABLETS and len(dose.amounts) == 1:
        return dose._replace(amounts=(dose.amounts[0], dose.amounts[0] * several[0]), kind="parts")
    counted = _COUNTED
    place = dose.start - 1
    while place >= first and words[place] in counted:
        place -= 1
    count = read_number(words, place) if place >= first else None
    direct = place == dose.start - 1
    shaped = dose.end < last and words[dose.end] in counted
    if count is None or count[1] != place + 1 or len(dose.amounts) != 1 or (direct and not shaped):
        return dose
    return dose._replace(amounts=(dose.amounts[0], dose.amounts[0] * count[0]), kind="parts")


_TABLETS = frozenset({"tablet", "tablets", "tab", "tabs", "capsule", "capsules", "pill", "pills"})
_COUNTED = _TABLETS | {"x", "×", "of"}
_TAKEN = frozenset({",", "(", ":", "-", "—", "take", "takes", "taking", "at", "as", "a", "by", "mouth", "po"})


def _part_taken(words: list[str], dose: Dose, first: int, last: int) -> float | None:
    """The half of "25 mg, half a tablet" or of "half of a 25 mg tablet": what is taken is less than the strength."""
    if len(dose.amounts) != 1 or dose.unit is None or dose.unit.measure != "mg":
        return None
    place = dose.end
    while place < last and (words[place] in _TABLETS or words[place] in _TAKEN):
        place += 1
    part, end = _fraction(words, place, last)
    while end < last and words[end] in ("a", "of", "one"):
        end += 1
    if part is not None and end < last and words[end] in _TABLETS:
        return part
    before = dose.start - 1
    while before >= first and words[before] in ("a", "of", "one", "the", "her", "his", "your"):
        before -= 1
    if before < first or not (dose.end < last and words[dose.end] in _TABLETS):
        return None
    part, end = _fraction(words, max(first, before - 2), last)
    if part is None or end != before + 1:
        part, end = _fraction(words, before, last)
    return part if part is not None and end == before + 1 else None


def _fraction(words: list[str], place: int, last: int) -> tuple[float | None, int]:
    if place >= last:
        return None, place
    if words[place] in ("half", "0.5", ".5", "quarter", "0.25"):
        return (0.25 if words[place] in ("quarter", "0.25") else 0.5), place + 1
    if words[place : place + 3] in (["1", "/", "2"], ["1", "/", "4"]) and place + 3 <= last:
        return 1 / int(words[place + 2]), place + 3
    return None, place


def _past(words: list[str], start: int, first: int) -> bool:
    before = words[max(first, start - 3) : start]
    return bool(before) and (before[-1] == "from" or not _listed("not_now_strict").isdisjoint(before[-2:]))


def _changed(words: list[str], found: list[Dose], first: int) -> list[Dose]:
    """Of "increased 5 mg to 10 mg" the second is the dose; a taper has several."""
    within = words[max(0, first - 4) : found[-1].end] if found else []
    changes = not _listed("changed").isdisjoint(within) or "→" in within
    if not changes:
        return found
    kept = []
    for place, dose in enumerate(found):
        if dose.kind != "one" and "to" in words[dose.start : dose.end]:
            dose = dose._replace(amounts=dose.amounts[-1:], kind="one", past=False)
        follows = found[place + 1] if place + 1 < len(found) else None
        if follows is not None and words[dose.end : follows.start] in (["to"], ["→"]):
            dose = dose._replace(past=True)
        kept.append(dose)
    return kept


def same_amount(one: float, other: float) -> bool:
    """Whether two amounts are one, but for rounding."""
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-12)
