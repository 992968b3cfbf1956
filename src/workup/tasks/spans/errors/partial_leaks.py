"""What of a value stayed visible when a mask covered only some of it, in words of its kind, and how grave that is.

Says which parts, never which letters. Severity is about how much of the value is left; whose it is and what harm that
does is for the weights of leaves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from operator import and_
from typing import Literal, NamedTuple

from workup.documents.ambiguous_words import BRANCH_OF, empty_words
from workup.documents.titles import title_length
from workup.documents.visible import Range, telling_ranges, touches
from workup.tasks.spans.errors.grammars import STREET_WORDS
from workup.text.calendar import MONTH_NAMES, WEEKDAY
from workup.text.numbers import ENDINGS

Severity = Literal["low", "medium", "high"]
SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high")
Seen = Literal["whole", "some", "none"]
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_READ = 400  # characters of a value that are looked at; longer ones are passages


class Part(NamedTuple):
    """What stayed visible, in a word, and how grave that is by itself."""

    name: str
    severity: Severity


class Remnant:
    """A surface with what is visible of it; places are counted from its own start.

    >>> left = Remnant("Ann Lee", [(2, 7)])
    >>> left.seen(0, 3), left.seen(4, 7), left.letters(0, 7)
    ('some', 'whole', (4, 6))
    """

    def __init__(self, surface: str, visible: Sequence[Range]) -> None:
        self.surface = surface
        shown = bytearray(len(surface))
        for left, right in visible:
            shown[left:right] = b"\x01" * (right - left)
        self._shown = shown
        # 1 for each letter or digit, so that stretches of them are counted without a look at each character.
        self._alnum = bytes(map(str.isalnum, surface))
        self._shown_alnum = bytes(map(and_, self._alnum, shown))

    def letters(self, start: int, end: int) -> tuple[int, int]:
        """Letters and digits of a stretch: how many are visible, and how many there are."""
        return self._shown_alnum.count(1, start, end), self._alnum.count(1, start, end)

    def seen(self, start: int, end: int) -> Seen:
        """Whether all, some or none of the letters and digits of a stretch are visible."""
        visible, total = self.letters(start, end)
        return "none" if not visible else "whole" if visible == total else "some"

    def flags(self) -> list[bool]:
        """Of each letter and digit, whether it is visible."""
        return [bool(shown) for shown, own in zip(self._shown, self._alnum, strict=True) if own]

    def matches(self, pattern: re.Pattern[str]) -> Iterator[tuple[str, int, int, Seen]]:
        """Everything that a pattern finds in the surface, with its place and how much of it is visible."""
        for match in pattern.finditer(self.surface):
            yield match[0], match.start(), match.end(), self.seen(match.start(), match.end())


class PartialLeak(NamedTuple):
    """What is visible of a value that was touched by a mask: parts by name, the graver first, and the gravest's level.

    `visible` and `total` count its letters and digits.
    """

    parts: tuple[str, ...]
    severity: Severity
    visible: int
    total: int


def partial_leak(text: str, start: int, end: int, *, label: str | None, masks: Sequence[Range]) -> PartialLeak | None:
    """What stayed visible of a gold span that masks touch without covering it; None where they cover it or miss it.

    `label` is the span's canonical name, None where it has none. A mask is whole when it leaves blanks and punctuation.

    >>> partial_leak("Ann Lee", 0, 7, label="name_patient", masks=[(0, 3)])
    PartialLeak(parts=('surname',), severity='high', visible=3, total=6)
    >>> partial_leak("123-45-6789", 0, 11, label="ssn", masks=[(0, 7)]).parts
    ('last_four_digits',)
    >>> partial_leak("Ann Lee", 0, 7, label="name_patient", masks=[]) is None
    True
    """
    if not touches(start, end, masks):
        return None
    visible = telling_ranges(text, start, end, masks)
    if not visible:
        return None
    cut = min(end, start + _READ)
    left = Remnant(text[start:cut], [(a - start, min(b, cut) - start) for a, b in visible if a < cut])
    leaf = label or ""
    reader = _BY_LEAF.get(leaf) or _BY_BRANCH.get(BRANCH_OF.get(leaf, ""), _words)
    # What no reader can name (a sign such as $) is a fragment: visible, and never silently nothing.
    found = dict.fromkeys(reader(left, leaf)) or {Part("fragment", "low"): None}
    gravest = sorted(found, key=lambda part: -SEVERITIES.index(part.severity))
    shown, total = left.letters(0, len(left.surface))
    return PartialLeak(tuple(dict.fromkeys(part.name for part in gravest)), gravest[0].severity, shown, total)


# ---- names -----------------------------------------------------------------------------------------------------------

_SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv", "md", "phd", "do", "rn", "esq", "dds", "np", "pa"})
_PARTICLES = frozenset(
    {"van", "von", "der", "den", "de", "del", "della", "la", "le", "di", "da", "dos", "das", "du", "bin", "ibn"}
    | {"al", "el", "st", "ter", "ten", "zu", "mac"}
)


def _name(left: Remnant, leaf: str) -> list[Part]:
    titles = title_length(left.surface)
    found = [Part("title", "low")] if left.seen(0, titles) != "none" else []
    words = [(match[0], match.start(), match.end()) for match in _WORD.finditer(left.surface, titles)]
    for role, (word, start, end) in zip(_name_roles(left.surface, words), words, strict=True):
        how = left.seen(start, end)
        if how == "whole":
            found.append(_NAME_PARTS[role])
        elif how == "some":
            shown, _ = left.letters(start, end)
            found.append(Part("name_fragment", "medium" if shown >= 3 and 2 * shown >= len(word) else "low"))
    return found


_NAME_PARTS = {
    "surname": Part("surname", "high"),
    "given_name": Part("given_name", "medium"),
    "initial": Part("initial", "low"),
    "suffix": Part("suffix", "low"),
}


def _name_roles(surface: str, words: Sequence[tuple[str, int, int]]) -> list[str]:
    """Surname, given name, initial or suffix, for each word. A lone word counts as a surname, the graver of the two."""
    low = [word.lower() for word, _, _ in words]
    last = len(words)
    while last > 1 and low[last - 1] in _SUFFIXES:
        last -= 1
    comma = surface.find(",")
    before = sum(1 for _, start, _ in words[:last] if start < comma)
    if 0 < before < last:  # Lee, Ann B.
        surnames = set(range(before))
    else:
        first = last - 1
        while first > 1 and low[first - 1] in _PARTICLES:
            first -= 1
        surnames = set(range(first, last))
    return [
        "suffix" if place >= last else "surname" if place in surnames else "initial" if len(word) == 1 else "given_name"
        for place, (word, _, _) in enumerate(words)
    ]


# ---- dates -----------------------------------------------------------------------------------------------------------

# Reads English months and the order of the United States. A number that may be a day or a month is taken for what it
# most likely is; both visible is what matters.
_DATE_TOKENS = re.compile(
    rf"(?P<month>(?<![^\W\d_])(?:{MONTH_NAMES})(?![^\W\d_]))|(?P<number>\d+)|(?P<word>[^\W\d_]+)",
    re.IGNORECASE,
)
_WEEKDAYS = re.compile(WEEKDAY, re.IGNORECASE)
_QUIET = frozenset((*ENDINGS, "of", "the"))
_Role = Literal["day", "month", "year", "weekday", "word", "none"]


class _DateToken(NamedTuple):
    role: _Role
    start: int
    end: int


def _date(left: Remnant, leaf: str) -> list[Part]:
    """The parts of a date or time that are visible.

    >>> [part.name for part in _date(Remnant("03/14/2020", [(0, 6)]), "date")]
    ['day_and_month']
    >>> [part.name for part in _date(Remnant("March 14, 2020", [(0, 6), (10, 14)]), "date_birth")]
    ['month_and_year']
    """
    if leaf == "time":
        return [Part("time_of_day", "low")]
    seen: set[_Role] = set()
    fragment = False
    for token in _date_tokens(left.surface):
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


def _date_tokens(surface: str) -> list[_DateToken]:
    """The words and numbers of a date with their roles."""
    found: list[_DateToken] = []
    numbers: list[tuple[int, int]] = []
    has_month = False
    for match in _DATE_TOKENS.finditer(surface):
        if match["month"]:
            has_month = True
            found.append(_DateToken("month", match.start(), match.end()))
        elif match["number"]:
            numbers += _parted(match[0], match.start())
        elif _WEEKDAYS.fullmatch(match[0]):
            found.append(_DateToken("weekday", match.start(), match.end()))
        else:
            role: _Role = "none" if match[0].lower() in _QUIET else "word"
            found.append(_DateToken(role, match.start(), match.end()))
    values = [surface[start:end] for start, end in numbers]
    for (start, end), role in zip(numbers, _number_roles(values, has_month=has_month), strict=True):
        found.append(_DateToken(role, start, end))
    return found


def _parted(digits: str, start: int) -> list[tuple[int, int]]:
    """Dates run together: 20200314 and 03142020."""
    if len(digits) != 8:
        return [(start, start + len(digits))]
    cuts = (0, 4, 6, 8) if digits[:2] in ("18", "19", "20") else (0, 2, 4, 8)
    return [(start + a, start + b) for a, b in pairwise(cuts)]


def _number_roles(values: list[str], *, has_month: bool) -> list[_Role]:
    """A number of four digits is a year; the others are month, day and year in that order, or the day beside a month
    in letters. Where the first cannot be a month it is the day."""
    short = [value for value in values if len(value) <= 2]
    waiting: list[_Role] = ["day", "year"] if has_month else ["month", "day", "year"]
    if not has_month and len(short) > 1 and int(short[0]) > 12:
        waiting = ["day", "month", "year"]
    roles: list[_Role] = []
    for value in values:
        if len(value) == 4:
            roles.append("year")
        elif len(value) <= 2 and waiting:
            roles.append(waiting.pop(0))
        else:
            roles.append("none")
    return roles


# ---- numbers ---------------------------------------------------------------------------------------------------------

_EXTENSION = re.compile(r"(?:ext\.?|extension|x|#)\s*\d+\s*$", re.IGNORECASE)


def _digits(left: Remnant, leaf: str) -> list[Part]:
    """Parts of a number or code: what its last four places, its first or most of it are."""
    flags = left.flags()
    shown, total = sum(flags), len(flags)
    reaches_person = leaf in ("phone", "fax", "CONTACT")
    found = []
    if total > 4 and all(flags[-4:]):
        # The last four of an identifier are what people are asked for to prove who they are.
        found.append(Part("last_four_digits", "medium" if reaches_person else "high"))
    if 2 * shown > total:
        found.append(Part("most_digits", "high"))
    elif not found:
        found.append(Part("digits", "medium" if shown >= 4 else "low"))
    return found


def _phone(left: Remnant, leaf: str) -> list[Part]:
    if "@" in left.surface:  # a coarse label holds both
        return _email(left, leaf)
    extension = _EXTENSION.search(left.surface)
    if extension and left.seen(0, extension.start()) == "none":
        return [Part("extension", "low")]
    flags = left.flags()
    if len(flags) == 10 and all(flags[:3]) and not any(flags[3:]):
        return [Part("area_code", "low")]
    return _digits(left, leaf)


def _zip(left: Remnant, leaf: str) -> list[Part]:
    flags = left.flags()
    if len(flags) in (5, 9) and not any(flags[3:]):
        return [Part("zip_first_three", "low")]
    return [Part("zip_digits", "medium")]


def _age(left: Remnant, leaf: str) -> list[Part]:
    return [Part("age_digits", "medium" if leaf == "age_over_89" else "low")]


# ---- addresses -------------------------------------------------------------------------------------------------------


def _email(left: Remnant, leaf: str) -> list[Part]:
    at = left.surface.rfind("@")
    if at < 0:
        return _words(left, leaf)
    return _halves(left, at, ("local_part", "high"), ("domain", "medium"))


def _url(left: Remnant, leaf: str) -> list[Part]:
    scheme = left.surface.find("://")
    host = scheme + 3 if scheme >= 0 else 0
    slash = left.surface.find("/", host)
    found = _halves(left, slash if slash >= 0 else len(left.surface), ("domain", "medium"), ("path", "medium"), host)
    return found or [Part("scheme", "low")]


def _halves(
    left: Remnant, cut: int, first: tuple[str, Severity], last: tuple[str, Severity], start: int = 0
) -> list[Part]:
    found = []
    for (name, severity), (a, b) in ((first, (start, cut)), (last, (cut, len(left.surface)))):
        how = left.seen(a, b)
        if how == "whole":
            found.append(Part(name, severity))
        elif how == "some":
            found.append(Part(f"{name}_fragment", "low"))
    return found


_HOUSE = re.compile(r"\s*\d+\w?(?![^\s,])")
_UNIT = re.compile(r"(?:\b(?:apt|apartment|suite|ste|unit|floor|fl|room|rm|lot|bldg)\b\.?|#)\s*#?\s*\w+", re.IGNORECASE)
_BOX = re.compile(r"\bp\.?\s*o\.?\s*box\s*\d+|\bbox\s*\d+", re.IGNORECASE)
_COMPASS = frozenset({"n", "s", "e", "w", "ne", "nw", "se", "sw", "north", "south", "east", "west"})
_STREET_NAME = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")


def _address(left: Remnant, leaf: str) -> list[Part]:
    """House number, street, unit or box; street and number together name the household."""
    taken: list[Range] = []
    seen: dict[str, str] = {}
    for name, match in (
        ("box_number", _BOX.search(left.surface)),
        ("unit", _UNIT.search(left.surface)),
        ("house_number", _HOUSE.match(left.surface)),
    ):
        if match and not any(match.start() < b and match.end() > a for a, b in taken):
            taken.append(match.span())
            seen[name] = left.seen(*match.span())
    street = [
        how
        for word, start, end, how in left.matches(_STREET_NAME)
        if word.lower() not in STREET_WORDS | _COMPASS and not any(a <= start < b for a, b in taken)
    ]
    number = seen.get("house_number") == "whole"
    found = [Part("street", "high" if number else "medium")] if "whole" in street else []
    found += [Part("house_number", "low")] * number
    found += [Part(part, grave) for part, grave in _BESIDE if seen.get(part) == "whole"]
    if "some" in street or "some" in seen.values():
        found.append(Part("address_fragment", "low"))
    return found or [Part("street_word", "low")]


_BESIDE: tuple[Part, ...] = (Part("box_number", "medium"), Part("unit", "low"))


# ---- anything else ---------------------------------------------------------------------------------------------------

_PLACES = ("GEO", "ORG")


def _words(left: Remnant, leaf: str) -> list[Part]:
    """Words that stayed whole: telling ones, and those that any hospital or town may have in its name."""
    found = []
    for word, _, _, how in left.matches(_WORD):
        if how == "whole" and len(word) > 2:
            generic = word.lower() in empty_words()
            telling = Part("word", "medium" if BRANCH_OF.get(leaf) in _PLACES or not leaf else "low")
            found.append(Part("generic_word", "low") if generic else telling)
        elif how != "none":
            found.append(Part("fragment", "low"))
    return found


def _handle(left: Remnant, leaf: str) -> list[Part]:
    shown, total = left.letters(0, len(left.surface))
    return [Part("handle_fragment", "medium" if 2 * shown > total else "low")]


_Reader = Callable[[Remnant, str], list[Part]]
_BY_LEAF: dict[str, _Reader] = {
    "username": _handle,
    "street_address": _address,
    "zip": _zip,
    "phone": _phone,
    "fax": _phone,
    "email": _email,
    "url": _url,
}
_BY_BRANCH: dict[str, _Reader] = {
    "NAME": _name,
    "DATE": _date,
    "AGE": _age,
    "CONTACT": _phone,
    "NET": _digits,
    "ID": _digits,
    "GEO": _words,
    "ORG": _words,
}
