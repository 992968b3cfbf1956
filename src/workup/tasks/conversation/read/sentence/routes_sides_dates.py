"""Routes, sides and dates in words of a text, each in one form."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.sentence.vocabulary import table
from workup.text.calendar import MONTH_NUMBER

Date = tuple[int, int, int]  # year, month, day; 0 where not said


class Stated(NamedTuple):
    """A value at words [start, end)."""

    start: int
    end: int
    value: str


@cache
def _routes() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    opened: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for phrase, route in table("values")["routes"].items():
        words = tuple(phrase.split())
        opened.setdefault(words[0], []).append((words, route))
    for entries in opened.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return opened


def route_of(text: str) -> str:
    """A route in one form; an unknown one is its own words.

    >>> route_of("PO"), route_of("by mouth"), route_of("via the port")
    ('oral', 'oral', 'via the port')
    """
    words = text.casefold().replace(".", "").split()
    plain = " ".join(words)
    routes: dict[str, str] = table("values")["routes"]
    return routes.get(plain, plain)


def find_routes(words: list[str], first: int, last: int) -> list[Stated]:
    """Routes in words [first, last)."""
    found = []
    for place in range(first, last):
        for phrase, route in _routes().get(words[place], ()):
            if tuple(words[place : place + len(phrase)]) == phrase:
                found.append(Stated(place, place + len(phrase), route))
                break
    return found


def same_route(wanted: str, stated: str) -> bool:
    """Whether two routes are one; an injection may be any that needs a needle."""
    if wanted == stated:
        return True
    injected = table("values")["injected"]
    return "injected" in (wanted, stated) and wanted in injected and stated in injected


def side_at(words: list[str], place: int) -> str:
    """The side that this word names, or nothing: "right now" and "left the house" name none.

    >>> side_at("right knee".split(), 0), side_at("right now".split(), 0)
    ('right', '')
    """
    values = table("values")
    side: str = values["sides"].get(words[place], "")
    if not side or words[place] == "both":
        return side if words[place : place + 2] != ["both", "of"] else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    before = words[place - 1] if place else ""
    if after in values["no_side_after"] and after not in ("hand",):
        return ""
    if after == "hand" and words[place + 2 : place + 3] == ["dominant"]:
        return ""
    if len(words[place]) == 1 and not (after.isalpha() or before == "("):
        return ""
    return "" if before in values["no_side_before"] and after in ("", ",", ".") and before != "is" else side


_ISO = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?")
_NUMERIC = re.compile(r"(\d{1,2})[/.](\d{1,2})[/.](\d{4}|\d{2})")
_MONTH_YEAR = re.compile(r"(\d{1,2})[/-](\d{4})")


def date_of(text: str) -> list[Date]:
    """The readings of a date written by itself; none where it is no date. Day and month may be in either order.

    >>> date_of("2019-03"), date_of("March 2019"), date_of("3/4/2019")
    ([(2019, 3, 0)], [(2019, 3, 0)], [(2019, 3, 4), (2019, 4, 3)])
    """
    from workup.tasks.conversation.read.sentence.folding import tokens

    words = tokens(text)
    found = find_dates(words, 0, len(words))
    return found[0].readings if found and (found[0].start, found[0].end) == (0, len(words)) else []


class Dated(NamedTuple):
    """A date at words [start, end), with every reading of it."""

    start: int
    end: int
    readings: list[Date]


def find_dates(words: list[str], first: int, last: int) -> list[Dated]:
    """Dates in words [first, last): ISO, numeric, with the name of a month, or a year by itself."""
    found = []
    place = first
    while place < last:
        one = _date_at(words, place, last)
        if one is None:
            place += 1
        else:
            found.append(one)
            place = one.end
    return found


def _date_at(words: list[str], place: int, last: int) -> Dated | None:
    word = words[place]
    if word in MONTH_NUMBER:
        return _named_month(words, place, last, MONTH_NUMBER[word])
    if not word[0].isdigit():
        return None
    following = words[place + 1 : min(place + 7, last)]
    if word.isdigit() and len(word) <= 2 and following:
        skip = 1 + (following[0] in ("st", "nd", "rd", "th")) + ("of" in following[:2])
        if place + skip < last and words[place + skip] in MONTH_NUMBER:
            named = _named_month(words, place + skip, last, MONTH_NUMBER[words[place + skip]])
            if named is not None and named.readings[0][2] == 0:
                year, month, _ = named.readings[0]
                return Dated(place, named.end, [(year, month, int(word))])
    joined, end = word, place + 1
    while end + 1 < last and words[end] in ("/", "-") and words[end + 1].isdigit() and end - place < 5:
        joined, end = joined + words[end] + words[end + 1], end + 2
    readings = _numeric(joined)
    return Dated(place, end, readings) if readings else None


def _named_month(words: list[str], place: int, last: int, month: int) -> Dated | None:
    """As in "March 2019", "March 14, 2019", "March 14th 2019"."""
    day, end = 0, place + 1
    if end < last and words[end].isdigit() and len(words[end]) <= 2 and 1 <= int(words[end]) <= 31:
        day, end = int(words[end]), end + 1
        end += end < last and words[end] in ("st", "nd", "rd", "th")
    while end < last and words[end] in (",", "of"):
        end += 1
    if end < last and len(words[end]) == 4 and words[end].isdigit():
        return Dated(place, end + 1, [(int(words[end]), month, day)])
    return None


def _numeric(text: str) -> list[Date]:
    if len(text) == 4 and text.isdigit():
        return [(int(text), 0, 0)] if 1900 <= int(text) <= 2099 else []
    if match := _ISO.fullmatch(text):
        return _valid([(int(match[1]), int(match[2]), int(match[3] or 0))])
    if match := _MONTH_YEAR.fullmatch(text):
        return _valid([(int(match[2]), int(match[1]), 0)])
    if match := _NUMERIC.fullmatch(text.replace("-", "/")):
        year = int(match[3]) if len(match[3]) == 4 else 2000 + int(match[3]) - 100 * (int(match[3]) > 50)
        orders = [(year, int(match[1]), int(match[2])), (year, int(match[2]), int(match[1]))]
        return _valid(list(dict.fromkeys(orders)))
    return []


def _valid(readings: list[Date]) -> list[Date]:
    return [one for one in readings if 1 <= one[1] <= 12 and 0 <= one[2] <= 31]


def same_date(wanted: list[Date], stated: list[Date]) -> bool:
    """Whether some reading of one agrees with some reading of the other as far as both go.

    >>> same_date([(2019, 3, 14)], [(2019, 0, 0)]), same_date([(2019, 3, 14)], [(2019, 4, 0)])
    (True, False)
    """
    return any(
        all(a == b or not a or not b for a, b in zip(one, other, strict=True)) for one in wanted for other in stated
    )
