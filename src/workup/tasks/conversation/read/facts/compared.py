"""Doses, frequencies and routes around a mention, held against those of the fact."""

from __future__ import annotations

from functools import cache

from workup.tasks.conversation.read.facts.expected_values import Wanted
from workup.tasks.conversation.read.sentence.doses import Dose, Unit, find_doses, number_of, same_amount
from workup.tasks.conversation.read.sentence.frequencies import Frequency, same_frequency, together
from workup.tasks.conversation.read.sentence.routes_sides_dates import find_routes, same_route
from workup.tasks.conversation.read.sentence.vocabulary import table

_NUMBER_LEADS = frozenset(("at", "of", "dose", "to", ":", "is", "was", "=", "(", "takes", "@", "level", "about"))
_JUDGED = ("normal", "high", "low", "elevated", "fine", "good", "slightly", "bit", "still", "only", "just", "raised")
_MOVED = ("down", "up", "to", "rose", "fell", "dropped", "improved", "went", "now", "risen", "fallen", *_JUDGED)
_RESULT_LEADS = frozenset(("last", "today", "a", "the", "has", "been", "came", "back", "value", "latest", *_MOVED))
_NO_DOSE_AFTER = frozenset(
    (
        *("days", "day", "weeks", "week", "months", "month", "years", "year", "hours", "hour", "times", "time", "x"),
        *("tablets", "tablet", "pills", "pill", "st", "nd", "rd", "th", "am", "pm", "episodes", "doses", "more"),
        *("other", "of", "out", "minutes", "/", "o", "%"),
    )
)
_CHANGES = frozenset(("increase", "increased", "decrease", "decreased", "reduce", "reduced", "from"))


def doses(words: list[str], tail: list[str], first: int, start: int, kind: str, wanted: Wanted) -> list[Dose]:
    """Doses of the mention that starts at `start`: behind it in `tail`, or right before it from `first` on."""
    if not wanted.amounts:
        return []
    found = [dose for dose in find_doses(tail, 0, len(tail)) if _is_dose(dose, kind)]
    if kind == "medication" and found and not _CHANGES.isdisjoint(words[first:start]):
        found = _last_of_change(tail, found)
    nearby = (dose for dose in find_doses(words, first, start) if _touches(words, dose.end, start))
    before = [dose for dose in nearby if _is_dose(dose, kind)]
    if before and (not found or "of" in words[before[-1].end : start]):
        return [*before, *found] if "of" in words[before[-1].end : start] else before
    if found:
        return found
    bare = _bare_number(tail, kind)
    return [bare] if bare is not None else []


def _last_of_change(tail: list[str], found: list[Dose]) -> list[Dose]:
    kept = []
    for place, dose in enumerate(found):
        follows = found[place + 1] if place + 1 < len(found) else None
        moved = follows is not None and "to" in tail[dose.end : follows.start]
        if dose.kind != "one" and "to" in tail[dose.start : dose.end]:
            dose = dose._replace(amounts=dose.amounts[-1:], kind="one", past=False)
        kept.append(dose._replace(past=True) if moved else dose)
    return kept


def _is_dose(dose: Dose, kind: str) -> bool:
    """Amounts per volume are results: a glucose of 180 mg/dl is no dose."""
    return kind == "result" or dose.per not in table("values")["per_volume"]


def _touches(words: list[str], end: int, start: int) -> bool:
    """Whether only words of taking stand between a dose and the drug behind it: "5 mg of oral warfarin"."""
    gap = words[end:start]
    between = _in_between()
    return len(gap) <= 6 and all(word in between for word in gap)


@cache
def _in_between() -> frozenset[str]:
    values = table("values")
    routes = {word for phrase in values["routes"] for word in phrase.split()}
    often = {word for phrase in values["frequencies"] for word in phrase.split()}
    small = {"of", "the", "her", "his", "your", "daily", "tablet", "tablets", "dose", "doses", "(", ")", "a"}
    return frozenset(routes | often | small | set(values["units"])) - {"and", "/"}


def _bare_number(tail: list[str], kind: str) -> Dose | None:
    """A number with no unit right behind the name: "metformin 500 twice daily", "potassium was 3.1"."""
    place = 0
    leads = _NUMBER_LEADS | _RESULT_LEADS if kind == "result" else _NUMBER_LEADS
    while place < len(tail) and tail[place] in leads:
        place += 1
    if place >= len(tail):
        return None
    number = number_of(tail[place])
    following = tail[place + 1] if place + 1 < len(tail) else ""
    if number is None or _is_year(tail[place]):
        return None
    if following == "/" and place + 2 < len(tail):
        second = number_of(tail[place + 2])
        return Dose(place, place + 3, (number, second), None, "parts") if second is not None else None
    if following in _NO_DOSE_AFTER or (following == "-" and kind != "result"):
        return None
    return Dose(place, place + 1, (number,), None)


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit() and word[:2] in ("19", "20")


def dose_verdict(wanted: Wanted, found: list[Dose]) -> bool | str | None:
    """True where a dose agrees, the name of the attribute where all differ, None where none can be compared."""
    current = [dose for dose in found if not dose.past and _comparable(dose, wanted.unit)]
    if not current or not wanted.amounts:
        return None
    if any(_same_dose(dose, wanted) for dose in current):
        return True
    unit = wanted.unit
    for dose in current:
        other_unit = unit is not None and dose.unit is not None and dose.unit.name != unit.name
        same_number = len(dose.amounts) == len(wanted.amounts) and all(map(same_amount, dose.amounts, wanted.amounts))
        if other_unit and same_number:
            return "dose_unit"
    return "dose_value"


def _comparable(dose: Dose, unit: Unit | None) -> bool:
    if unit is None or dose.unit is None or dose.unit.measure == unit.measure:
        return True
    return dose.unit.name not in table("values")["counted"]


def _same_dose(dose: Dose, wanted: Wanted) -> bool:
    mine, theirs = wanted.unit, dose.unit
    if mine is not None and theirs is not None:
        if mine.measure.split("/")[0] != theirs.measure and mine.measure != f"{theirs.name}/{dose.per}":
            return False
        if dose.per in table("values")["per_other"] and f"{theirs.name}/{dose.per}" != mine.name:
            return False
    factor = theirs.factor if mine is not None and theirs is not None else 1.0
    other = mine.factor if mine is not None and theirs is not None else 1.0
    amounts = [amount * factor for amount in dose.amounts]
    needed = [amount * other for amount in wanted.amounts]
    if dose.kind == "range" or wanted.kind == "range" or (wanted.kind == "parts" and dose.kind == "parts"):
        return len(amounts) == len(needed) and all(map(same_amount, amounts, needed))
    if dose.per in table("values")["per_day"] and wanted.frequency is not None and wanted.frequency.rate:
        needed = [*needed, needed[0] * wanted.frequency.rate]
    return any(same_amount(one, two) for one in amounts for two in needed)


def leading(found: list[Frequency], words: list[str], start: int) -> list[Frequency]:
    """Frequencies right before the name ("twice daily metformin")."""
    return [one for one in found if _touches(words, one.end, start)]


def frequency_verdict(wanted: Wanted, found: list[Frequency], tail: list[str]) -> bool | None:
    if wanted.frequency_words:
        size = len(wanted.frequency_words)
        literal = any(tuple(tail[place : place + size]) == wanted.frequency_words for place in range(len(tail)))
        return True if literal else (False if found else None)
    if wanted.frequency is None or not found:
        return None
    if any(same_frequency(wanted.frequency, one) for one in found if one.rate is not None and not one.part):
        return True
    stated = together(found)
    if stated is None:
        return None
    return same_frequency(wanted.frequency, stated)


def by_the_day(wanted: Wanted, doses: list[Dose], found: list[Frequency], tail: list[str]) -> bool:
    """Whether amount and times come to the same by the day: "1,800 mg a day in three doses" of 600 mg three times."""
    stated = together(found)
    rate = wanted.frequency.rate if wanted.frequency is not None else None
    if wanted.unit is None or len(wanted.amounts) != 1 or rate is None or stated is None or stated.rate is None:
        return False
    if stated.needed or wanted.once or (_once(tail) and not _divided(tail)):
        return False
    total = wanted.amounts[0] * wanted.unit.factor * rate
    divided = _divided(tail)
    for dose in doses:
        if dose.past or dose.unit is None or dose.unit.measure != wanted.unit.measure:
            continue
        for amount in dose.amounts:
            times = 1.0 if divided or stated.rate <= 1 else stated.rate
            if (times == 1.0) == (rate <= 1) and not divided:
                continue  # both each time, or both by the day: compared as they stand
            if same_amount(amount * dose.unit.factor * times, total):
                return True
    return False


def _divided(tail: list[str]) -> bool:
    return not frozenset(table("values")["divided"]).isdisjoint(tail)


def _once(tail: list[str]) -> bool:
    return "once" in tail


def route_verdict(wanted: Wanted, words: list[str], tail: list[str], first: int, start: int) -> bool | None:
    if not wanted.route:
        return None
    found = find_routes(tail, 0, len(tail))
    found += [one for one in find_routes(words, first, start) if _touches(words, one.end, start)]
    if not found:
        literal = tuple(wanted.route.split())
        size = len(literal)
        return True if any(tuple(tail[place : place + size]) == literal for place in range(len(tail))) else None
    return any(same_route(wanted.route, one.value) for one in found)
