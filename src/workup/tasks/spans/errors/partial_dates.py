"""What stayed visible of a date: its day, its month, its year. Reads English months and the order of the United States.

A number that may be a day or a month is taken for what it most likely is; both visible is what matters."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal, NamedTuple

from workup.tasks.spans.errors.grammars import MONTHS
from workup.tasks.spans.errors.masked_in_part import Part, Remnant
from workup.text.calendar import WEEKDAY

_TOKENS = re.compile(
    rf"(?P<month>(?<![^\W\d_])(?:{MONTHS})(?![^\W\d_]))|(?P<number>\d+)|(?P<word>[^\W\d_]+)", re.IGNORECASE
)
_WEEKDAYS = re.compile(WEEKDAY, re.IGNORECASE)
_ORDINALS = frozenset({"st", "nd", "rd", "th", "of", "the"})
Role = Literal["day", "month", "year", "weekday", "word", "none"]


class _Token(NamedTuple):
    role: Role
    start: int
    end: int


def parts_of_date(left: Remnant, leaf: str) -> list[Part]:
    """The parts of a date or time that are visible.

    >>> [part.name for part in parts_of_date(Remnant("03/14/2020", [(0, 6)]), "date")]
    ['day_and_month']
    >>> [part.name for part in parts_of_date(Remnant("March 14, 2020", [(0, 6), (10, 14)]), "date_birth")]
    ['month_and_year']
    """
    if leaf == "time":
        return [Part("time_of_day", "low")]
    seen: set[Role] = set()
    fragment = False
    for token in _tokens(left.surface):
        how = left.seen(token.start, token.end)
        if how == "whole":
            seen.add(token.role)
        elif how == "some":
            fragment = True
    found = []
    if {"day", "month"} <= seen:
        found.append(Part("day_and_month", "high"))
        seen -= {"day", "month"}
    elif {"month", "year"} <= seen:
        found.append(Part("month_and_year", "medium"))
        seen -= {"month", "year"}
    for role in ("day", "month", "year", "weekday"):
        if role in seen:
            found.append(Part(role, "low"))
    if "word" in seen:
        found.append(Part("date_word", "medium" if leaf == "date_relative" else "low"))
    return found + [Part("date_fragment", "low")] * fragment


def _tokens(surface: str) -> list[_Token]:
    """The words and numbers of a date with their roles."""
    found: list[_Token] = []
    numbers: list[tuple[int, int]] = []
    has_month = False
    for match in _TOKENS.finditer(surface):
        if match["month"]:
            has_month = True
            found.append(_Token("month", match.start(), match.end()))
        elif match["number"]:
            numbers += _split(match[0], match.start())
        elif _WEEKDAYS.fullmatch(match[0]):
            found.append(_Token("weekday", match.start(), match.end()))
        else:
            role: Role = "none" if match[0].lower() in _ORDINALS else "word"
            found.append(_Token(role, match.start(), match.end()))
    values = [surface[start:end] for start, end in numbers]
    for (start, end), role in zip(numbers, _roles(values, has_month=has_month), strict=True):
        found.append(_Token(role, start, end))
    return found


def _split(digits: str, start: int) -> list[tuple[int, int]]:
    """Dates run together: 20200314 and 03142020."""
    if len(digits) != 8:
        return [(start, start + len(digits))]
    cuts = (0, 4, 6, 8) if digits[:2] in ("18", "19", "20") else (0, 2, 4, 8)
    return [(start + a, start + b) for a, b in pairwise(cuts)]


def _roles(values: list[str], *, has_month: bool) -> list[Role]:
    """A number of four digits is a year; the others are month, day and year in that order, or the day beside a month
    in letters. Where the first cannot be a month it is the day."""
    short = [value for value in values if len(value) <= 2]
    waiting: list[Role] = ["day", "year"] if has_month else ["month", "day", "year"]
    if not has_month and len(short) > 1 and int(short[0]) > 12:
        waiting = ["day", "month", "year"]
    roles: list[Role] = []
    for value in values:
        if len(value) == 4:
            roles.append("year")
        elif len(value) <= 2 and waiting:
            roles.append(waiting.pop(0))
        else:
            roles.append("none")
    return roles
