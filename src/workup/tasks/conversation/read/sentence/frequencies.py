"""How often, in one form: times a day, part of the day, as needed. BID, twice daily and q12h are the same."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.sentence.doses import read_number
from workup.tasks.conversation.read.sentence.folding import word_tokens
from workup.tasks.conversation.read.sentence.vocabulary import table

_RATES = {"week": 1 / 7, "fortnight": 1 / 14, "month": 1 / 30, "year": 1 / 365}
_EVERY_HOURS = re.compile(r"q(\d{1,2})(h|hr|hrs|hour|hours|d|w|wk)?")


class Frequency(NamedTuple):
    """At words [start, end): times a day (None where not said), part of the day, as needed."""

    start: int
    end: int
    rate: float | None
    part: str = ""
    needed: bool = False


@cache
def _phrases() -> dict[str, list[tuple[tuple[str, ...], float | None, str, bool]]]:
    opened: dict[str, list[tuple[tuple[str, ...], float | None, str, bool]]] = {}
    for phrase, (rate, part, needed) in table("values")["frequencies"].items():
        words = tuple(phrase.split())
        times = round(_RATES[rate], 6) if rate in _RATES else float(rate) if rate else None
        opened.setdefault(words[0], []).append((words, times, part, bool(needed)))
    for entries in opened.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return opened


@cache
def _days() -> dict[str, float]:
    return {word: float(days) for word, days in table("values")["spans_of_days"].items()}


@cache
def _counts() -> dict[str, float]:
    return {word: float(count) for word, count in table("values")["counts"].items()}


@cache
def _not_taken() -> frozenset[str]:
    return frozenset(table("values")["not_taken"])


def find_frequencies(words: list[str], first: int, last: int) -> list[Frequency]:
    """Frequencies in words [first, last), the longest reading at each place.

    >>> [found.rate for found in find_frequencies("every twelve hours as needed".split(), 0, 5)]
    [2.0, None]
    """
    found: list[Frequency] = []
    place = first
    not_taken = _not_taken()
    while place < last:
        one = _pattern_at(words, place, last) or _phrase_at(words, place, last)
        if one is None:
            place += 1
            continue
        timed = one.start > 0 and words[one.start - 1] == "time"  # "at the same time each day"
        if not timed and not (one.end < len(words) and words[one.end] in not_taken):
            found.append(one)
        place = one.end
    return found


def _phrase_at(words: list[str], place: int, last: int) -> Frequency | None:
    for phrase, rate, part, needed in _phrases().get(words[place], ()):
        if place + len(phrase) <= last and tuple(words[place : place + len(phrase)]) == phrase:
            return Frequency(place, place + len(phrase), rate, part, needed)
    return None


def _pattern_at(words: list[str], place: int, last: int) -> Frequency | None:
    """As in "every 8 hours", "q8h", "q 8 h", "three times a day", "2 x daily", "twice weekly"."""
    word = words[place]
    if word in ("every", "each") or word == "q":
        return _every(words, place, last)
    if word[0] == "q" and len(word) > 1 and word[1].isdigit():
        match = _EVERY_HOURS.fullmatch(word)
        if match is not None:
            unit, end = match[2] or "", place + 1
            if not unit and end < last and words[end] in _days():
                unit, end = words[end], end + 1
            days = {"d": 1.0, "w": 7.0, "wk": 7.0}.get(unit) or _days().get(unit, _days()["h"])
            return _rated(place, end, 1 / (int(match[1]) * days) if int(match[1]) else None)
    return _times(words, place, last)


def _rated(start: int, end: int, rate: float | None) -> Frequency | None:
    return Frequency(start, end, round(rate, 6)) if rate else None


def _every(words: list[str], place: int, last: int) -> Frequency | None:
    read = read_number(words, place + 1) if place + 1 < last else None
    if read is None or read[1] >= last or read[0] <= 0:
        return None
    end, number = read[1], read[0]
    if words[end] in ("-", "to") and end + 1 < last:  # "every 4 to 6 hours": the shorter, which is the most often
        second = read_number(words, end + 1)
        if second is None or second[1] >= last:
            return None
        end = second[1]
    days = _days().get(words[end])
    return None if days is None else _rated(place, end + 1, 1 / (number * days))


def _times(words: list[str], place: int, last: int) -> Frequency | None:
    count, end = _counts().get(words[place]), place + 1
    if count is None or words[place] == "one":
        read = read_number(words, place)
        if read is None:
            return None
        count, end = read
        if end >= last or words[end] not in ("times", "time", "x", "×"):
            return None
        end += 1
    while end < last and words[end] in ("a", "per", "each", "every", "/", "times"):
        end += 1
    if end >= last or words[end] not in _days() or words[end] in ("h", "hr", "hrs", "d"):
        return None
    if words[end] in ("hours", "days", "weeks", "months", "years"):
        return None
    return _rated(place, end + 1, count / _days()[words[end]])


def frequency_of(text: str) -> Frequency | None:
    """The frequency that a text of its own states, or None where it is not one of the known ways to write it.

    >>> frequency_of("BID").rate == frequency_of("q12h").rate == frequency_of("Two times daily").rate
    True
    """
    words = list(word_tokens(text))
    return together(find_frequencies(words, 0, len(words)))


def together(found: list[Frequency]) -> Frequency | None:
    """Several statements as one: "in the morning and at bedtime" is twice a day."""
    if not found:
        return None
    rated = [one for one in found if one.rate is not None]
    needed = any(one.needed for one in found)
    plain = [one for one in rated if not one.part]
    parts = {one.part for one in rated if one.part}
    if plain:
        rate: float | None = plain[0].rate
        part = next(iter(parts)) if len(parts) == 1 else ""
    else:
        rate = float(len(parts)) if parts else None
        part = next(iter(parts)) if len(parts) == 1 else ""
    return Frequency(found[0].start, found[-1].end, rate, part, needed)


def same_frequency(wanted: Frequency, stated: Frequency) -> bool:
    """Whether a stated frequency is the wanted one: as often, and not at another part of the day."""
    if wanted.rate is None or stated.rate is None:
        return wanted.needed == stated.needed if (wanted.rate is None) == (stated.rate is None) else False
    if not math.isclose(wanted.rate, stated.rate, rel_tol=0.02):
        return False
    return not wanted.part or not stated.part or wanted.part == stated.part
