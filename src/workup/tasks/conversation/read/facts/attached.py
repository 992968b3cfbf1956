"""Which values belong to a mention, and whether they are those of the fact. Another drug's dose is not this one's."""

from __future__ import annotations

from workup.tasks.conversation.read.facts.compared import (
    by_the_day,
    dose_verdict,
    doses,
    frequency_verdict,
    leading,
    route_verdict,
)
from workup.tasks.conversation.read.facts.expected_values import Wanted
from workup.tasks.conversation.read.sentence.analysed import Analysed
from workup.tasks.conversation.read.sentence.clauses import HARD, SUBJECT
from workup.tasks.conversation.read.sentence.frequencies import find_frequencies
from workup.tasks.conversation.read.sentence.routes_sides_dates import find_dates, same_date, side_at
from workup.tasks.conversation.read.sentence.vocabulary import drug_words

_STOPS = frozenset({HARD, SUBJECT})


def differing(
    wanted: Wanted, analysed: Analysed, start: int, end: int, kind: str, others: list[tuple[int, int]]
) -> tuple[str, bool]:
    """The first attribute that is stated and differs (or nothing), and whether any was stated and agrees.

    `others` are the places of other mentions in the sentence.
    """
    if kind in ("medication", "result"):
        return _of_drug(wanted, analysed, start, end, kind, others)
    stated = False
    for name, verdict in (
        ("laterality", _side(wanted, analysed, start, end, others) if wanted.side else None),
        ("date", _date(wanted, analysed, start, end, others) if wanted.dates else None),
    ):
        if verdict is False:
            return name, stated
        stated = stated or verdict is True
    return "", stated


def _of_drug(
    wanted: Wanted, analysed: Analysed, start: int, end: int, kind: str, others: list[tuple[int, int]]
) -> tuple[str, bool]:
    words = analysed.words
    if "respectively" in words:
        return "", False
    last = _window_end(analysed, end, others)
    first = _window_start(analysed, start, others)
    tail: list[str] = words[end:last]
    if last == len(words) and analysed.following is not None and not analysed.question:
        tail = tail + _continued(analysed.following.words)
    frequencies = find_frequencies(tail, 0, len(tail)) + leading(find_frequencies(words, first, start), words, start)
    amounts = doses(words, tail, first, start, kind, wanted)
    stated = False
    day = by_the_day(wanted, amounts, frequencies, tail)
    for name, verdict in (
        ("dose_value", day or dose_verdict(wanted, amounts)),
        ("frequency", day or frequency_verdict(wanted, frequencies, tail)),
        ("route", route_verdict(wanted, words, tail, first, start)),
        ("date", _date(wanted, analysed, start, end, others) if wanted.dates else None),
    ):
        if isinstance(verdict, str):
            return verdict, stated
        if verdict is False:
            return name, stated
        stated = stated or verdict is True
    return "", stated


def _window_end(analysed: Analysed, end: int, others: list[tuple[int, int]]) -> int:
    words = analysed.words
    last = len(words)
    for bound in analysed.bounds:
        if bound.place > end and bound.kind in _STOPS:
            last = min(last, bound.place)
            break
    last = min([last, *(place for place, _ in others if place >= end)])
    drugs = drug_words()
    for place in range(end, last):
        if words[place] in drugs and words[place - 1] != "(":
            # "warfarin (Coumadin) 5 mg" names one drug twice; any other drug takes what follows it.
            return place
    return last


def _window_start(analysed: Analysed, start: int, others: list[tuple[int, int]]) -> int:
    words = analysed.words
    first = max([analysed.shift, *(stop for _, stop in others if stop <= start)])
    for bound in analysed.bounds:
        if bound.place <= start:
            first = max(first, bound.place)
    drugs = drug_words()
    for place in range(start - 1, first - 1, -1):
        if words[place] in drugs or words[place] in (",", ":"):
            return place + 1
    return first


def _continued(words: list[str]) -> list[str]:
    """A next sentence that goes on about the dose ("The dose is 5 mg."), where it names no other drug."""
    opens = {"dose", "dosage", "it", "taken"} & set(words[:3])
    return [";", *words] if opens and drug_words().isdisjoint(words) else []


def _side(wanted: Wanted, analysed: Analysed, start: int, end: int, others: list[tuple[int, int]]) -> bool | None:
    words = analysed.words
    sides = [side_at(words, place) for place in range(start, end)]
    if not any(sides):
        first = max([start - 5, analysed.shift, *(stop for _, stop in others if stop <= start)])
        for place in range(start - 1, first - 1, -1):
            if words[place] in (",", ";", ":", "but"):
                break
            side = side_at(words, place)
            if side:
                sides.append(side)
                both = place > 1 and words[place - 1] in ("and", "or", "/") and side_at(words, place - 2)
                if not both:
                    break
    if not any(sides):
        last = min([end + 7, len(words), *(place for place, _ in others if place >= end)])
        for place in range(end, last):
            if words[place] == ";" or (words[place] == "," and place > end):
                break
            side = side_at(words, place)
            if side:
                sides.append(side)
    said = {side for side in sides if side}
    if not said:
        return None
    return ("bilateral" if len(said) > 1 else said.pop()) == wanted.side


def _date(wanted: Wanted, analysed: Analysed, start: int, end: int, others: list[tuple[int, int]]) -> bool | None:
    words = analysed.words
    last = min([len(words), *(place for place, _ in others if place >= end)])
    first = max([analysed.shift, *(stop for _, stop in others if stop <= start)])
    for bound in analysed.bounds:
        if bound.kind in _STOPS and end < bound.place < last:
            last = bound.place
    found = find_dates(words, end, last) or find_dates(words, first, start)[-1:]
    if not found:
        return None
    return any(same_date(list(wanted.dates), one.readings) for one in found)
