"""Dates as notes write them: read into days, moved, and written again in the same form. Knows no patient and no key.

English words; numbers month first unless the caller or the numbers say otherwise. Every step looks at each character
a fixed number of times, so that no surface can make it slow."""

from __future__ import annotations

import datetime
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from workup.redaction.dates import calendar_words as words
from workup.text.calendar import MONTH_NUMBER, MONTHS, SHORT_MONTHS, WEEKDAY_NUMBER, WEEKDAYS, season_of
from workup.text.numbers import ENDINGS, ROMAN, ordinal, ordinal_words, roman, spoken_year

Day = datetime.date
Role = Literal[
    "text", "day", "month", "year", "month_name", "month_roman", "weekday", "ordinal", "day_words", "year_words",
    "day_of_year", "part", "season", "quarter",
]  # fmt: skip
_TOKENS = re.compile(r"\d+|[^\W\d_]+|\s+|[\W_]")
_QUIET = frozenset(("of", "the", "on"))
_MID = 15  # the day that stands for a month where no day is given
_FIRST, _LAST = 1800, 2199  # years that four digits may mean
NO_YEAR = 2001  # where neither the date nor its document gives a year; not a leap year, so that every day moves


class Field(NamedTuple):
    """One part of a written date: its role, and the words it had."""

    role: Role
    words: str
    wide: bool = False  # of numbers, filled up with zeros; of the name of a month, set between dashes or digits


@dataclass(frozen=True, slots=True)
class Written:
    """A date that was read: the day, the form it has, and which parts are given.

    `precise`: the day of the month is given. `dated`: the year is given. `day_first`: how its numbers were read.
    """

    day: Day
    fields: tuple[Field, ...]
    precise: bool
    dated: bool
    day_first: bool = False
    ambiguous: bool = False

    def on(self, day: Day) -> str:
        """Another day in the same form.

        >>> read("Thursday, March 4th, 2021").on(Day(2021, 5, 12))
        'Wednesday, May 12th, 2021'
        """
        moved = (day - self.day).days
        return "".join(_field_on(field, day, moved=moved) for field in self.fields)


def read(surface: str, *, near: int = 2020, year: int | None = None, day_first: bool = False) -> Written | None:
    """The date that a surface writes, or None where it writes none, or more than one.

    `near` is a year close to the text, for years of two digits; `year` the one meant where none is given.

    >>> [str(read(said).day) for said in ("3/4/21", "4-Mar-2021", "20210304", "March fourth, twenty twenty-one")]
    ['2021-03-04', '2021-03-04', '2021-03-04', '2021-03-04']
    >>> read("14/03/2021").day_first, read("30/30/2021"), read("five tablets")
    (True, None, None)
    """
    if not 3 <= len(surface) <= words.LONGEST:
        return None
    clock = words.clock_at(surface)
    body, rest = surface[:clock], surface[clock:]
    tokens = _TOKENS.findall(body)
    found = (
        _numeric(tokens, near, year, day_first)
        or _by_name(tokens, near, year)
        or _compact(body)
        or _spoken(body, year)
        or _coarse(tokens)
    )
    if found is None or not rest:
        return found
    return replace(found, fields=(*found.fields, Field("text", rest)))


# ---- another day in the same form ------------------------------------------------------------------------------------


def _field_on(field: Field, day: Day, *, moved: int) -> str:
    """A part of a date for the day that it became, `moved` days from the one it was.

    >>> _field_on(Field("month_name", "MARCH"), Day(2021, 5, 12), moved=69)
    'MAY'
    """
    role, old, wide = field
    match role:
        case "text":
            return old
        case "day":
            return f"{day.day:02d}" if wide else str(day.day)
        case "month":
            return f"{day.month:02d}" if wide else str(day.month)
        case "year":
            return f"{day.year:04d}" if len(old) == 4 else f"{day.year % 100:02d}"
        case "day_of_year":
            return f"{day.timetuple().tm_yday:03d}"
        case "month_roman":
            return roman(day.month)
        case "quarter":
            return str((day.month + 2) // 3)
        case "weekday":
            # From the weekday that was written: where no year is given, that of the day would be a guess.
            name = WEEKDAYS[(WEEKDAY_NUMBER[old.casefold()] + moved) % 7]
            return _cased(name if old.casefold().endswith("day") else name[:3], old)
        case _:
            return _cased(_named(field, day), old)


def _named(field: Field, day: Day) -> str:
    role, old, wide = field
    match role:
        case "month_name":
            # May is both: it is taken for the whole name, unless it is written as short names are (04MAY2021).
            whole = len(old) > 4 or old.casefold() in ("june", "july") or (old.casefold() == "may" and not wide)
            return (MONTHS if whole else SHORT_MONTHS)[day.month - 1]
        case "ordinal":
            return ordinal(day.day)[-2:]
        case "day_words":
            return ordinal_words(day.day)
        case "year_words":
            return spoken_year(day.year)
        case "season":
            return season_of(day.month)
        case _:
            return words.PARTS[min(2, (day.day - 1) // 10)]


def _cased(new: str, old: str) -> str:
    if len(old) > 1 and old.isupper():
        return new.upper()
    if old.islower():
        return new.lower()
    return new[:1].upper() + new[1:]


# ---- numbers only ----------------------------------------------------------------------------------------------------


def _numeric(tokens: Sequence[str], near: int, year: int | None, day_first: bool) -> Written | None:
    """3/4/2021, 2021-03-04, 4.3.21, 3/4, 03/2021, 2021-063, each with a weekday before it where there is one."""
    prefix, tokens = _weekday(tokens)
    numbers = [(place, token) for place, token in enumerate(tokens) if token.isdigit()]
    if not 2 <= len(numbers) <= 3 or numbers[0][0] != 0 or numbers[-1][0] != len(tokens) - 1:
        return None
    if not all(number.isascii() for _, number in numbers):
        return None
    between = ["".join(tokens[a + 1 : b]).strip() for (a, _), (b, _) in itertools.pairwise(numbers)]
    marks = {gap.rstrip("'’") for gap in between}
    if len(marks) != 1 or marks.pop() not in ("/", ".", "-") or any(gap[-1] in "'’" for gap in between[:-1]):
        return None
    lengths = [len(number) for _, number in numbers]
    roles = _numeric_roles(lengths, [int(number) for _, number in numbers], between, day_first)
    if roles is None:
        return None
    return _settled(prefix, tokens, dict(zip([place for place, _ in numbers], roles, strict=True)), near, year)


def _numeric_roles(
    lengths: list[int], values: list[int], between: list[str], day_first: bool
) -> tuple[Role, ...] | None:
    if lengths[0] == 4 and len(lengths) == 3 and max(lengths[1:]) <= 2:
        return ("year", "month", "day")
    if lengths == [4, 3] and between[0] == "-":
        return ("year", "day_of_year")
    if lengths[0] == 4 and len(lengths) == 2 and lengths[1] <= 2 and between[0] != ".":
        return ("year", "month")
    if lengths[0] > 2 or lengths[1] > 2:
        return ("month", "year") if lengths[0] <= 2 and lengths[1] == 4 and len(lengths) == 2 else None
    if len(lengths) == 2 and between[0] == ".":
        return None  # 3.14 is a number
    first: tuple[Role, Role] = ("month", "day")
    if values[0] > 12 or (day_first and values[1] <= 12):
        first = ("day", "month")
    if len(lengths) == 2:
        return None if "'" in between[0] or "’" in between[0] else first
    return (*first, "year") if lengths[2] in (2, 4) else None


# ---- with the name of a month ----------------------------------------------------------------------------------------


def _by_name(tokens: Sequence[str], near: int, year: int | None) -> Written | None:
    """March 4, 2021 · 4 Mar 21 · 04MAR2021 · the 4th of March · March '21 · 4.III.2021."""
    prefix, tokens = _weekday(tokens)
    roles: dict[int, Role] = {}
    numbers: list[int] = []
    for place, token in enumerate(tokens):
        low = token.casefold()
        if low in MONTH_NUMBER:
            roles[place] = "month_name"
        elif token in ROMAN and 0 < place < len(tokens) - 1:
            roles[place] = "month_roman"
        elif token.isdigit() and token.isascii():
            numbers.append(place)
        elif low in ENDINGS and place and tokens[place - 1].isdigit():
            roles[place] = "ordinal"
        elif not (token.isspace() or token in ".,-/'’" or low in _QUIET):
            return None
    months = [place for place, role in roles.items() if role in ("month_name", "month_roman")]
    if len(months) != 1 or not _dated_numbers(tokens, numbers, months[0], roles):
        return None
    return _settled(prefix, tokens, roles, near, year)


def _dated_numbers(tokens: Sequence[str], numbers: list[int], month: int, roles: dict[int, Role]) -> bool:
    """Give each number beside the name of a month its role; False where they make no date."""
    lengths = [len(tokens[place]) for place in numbers]
    marked = [place > 0 and tokens[place - 1] in ("'", "’") for place in numbers]
    if len(numbers) == 2 and lengths[0] <= 2 and lengths[1] in (2, 4) and not marked[0]:
        roles |= {numbers[0]: "day", numbers[1]: "year"}
    elif len(numbers) == 1 and (lengths[0] == 4 or (marked[0] and lengths[0] == 2)):
        roles[numbers[0]] = "year"
    elif len(numbers) == 1 and lengths[0] <= 2 and not marked[0]:
        # Mar-21 is a month with its year; March 21 a day of it.
        dashed = numbers[0] == month + 2 and tokens[month + 1] == "-" and lengths[0] == 2
        roles[numbers[0]] = "year" if dashed else "day"
    else:
        return False
    return "ordinal" not in roles.values() or any(roles.get(place - 1) == "day" for place in roles)


def _weekday(tokens: Sequence[str]) -> tuple[list[Field], Sequence[str]]:
    """The weekday that opens a date, with what follows it, and the rest."""
    if not tokens or tokens[0].casefold() not in WEEKDAY_NUMBER:
        return [], tokens
    fields, place = [Field("weekday", tokens[0])], 1
    while place < len(tokens) and (tokens[place].isspace() or tokens[place] in (",", ".")):
        fields.append(Field("text", tokens[place]))
        place += 1
    return fields, tokens[place:]


def _settled(
    prefix: list[Field], tokens: Sequence[str], roles: dict[int, Role], near: int, year: int | None
) -> Written | None:
    """The day of tokens whose roles are known, or None where there is no such day."""
    value: dict[str, int] = {}
    for place, role in roles.items():
        value[role] = _value(tokens[place], role, near)
    given_year = value.get("year")
    full_year = given_year if given_year is not None else year if year is not None else NO_YEAR
    month = value.get("month") or value.get("month_name") or value.get("month_roman") or 0
    try:
        if "day_of_year" in value:
            day = Day(full_year, 1, 1) + datetime.timedelta(days=value["day_of_year"] - 1)
            if day.year != full_year:
                return None
        else:
            day = Day(full_year, month, value.get("day", _MID))
    except (ValueError, OverflowError):
        return None
    if given_year is not None and len(tokens[_place(roles, "year")]) == 4 and not _FIRST <= given_year <= _LAST:
        return None
    numeric = [tokens[place] for place, role in roles.items() if role in ("day", "month", "day_of_year")]
    wide = any(number[0] == "0" for number in numeric) or (
        all(len(number) > 1 for number in numeric)
        and given_year is not None
        and ("month" in roles.values() or _is_tight(tokens, roles))
    )
    tight = _is_tight(tokens, roles)
    fields = [
        Field(role, token, tight if role == "month_name" else wide)
        for place, token in enumerate(tokens)
        for role in [roles.get(place, "text")]
    ]
    order = [role for role in roles.values() if role in ("day", "month")]
    both = order in (["day", "month"], ["month", "day"]) and next(iter(roles.values())) != "year"
    return Written(
        day,
        (*prefix, *fields),
        precise="day" in value or "day_of_year" in value,
        dated=given_year is not None,
        day_first=both and order[0] == "day",
        ambiguous=both and value["day"] <= 12 and value["day"] != value["month"],
    )


def _is_tight(tokens: Sequence[str], roles: dict[int, Role]) -> bool:
    """04MAR2021 and 04-Mar-2021, which are written with short names and two digits."""
    month = next((place for place, role in roles.items() if role == "month_name"), 0)
    return month > 0 and (tokens[month - 1].isdigit() or tokens[month - 1] == "-")


def _place(roles: dict[int, Role], wanted: Role) -> int:
    return next(place for place, role in roles.items() if role == wanted)


def _value(token: str, role: Role, near: int) -> int:
    if role == "month_name":
        return MONTH_NUMBER[token.casefold()]
    if role == "month_roman":
        return ROMAN.index(token) + 1
    if role == "ordinal":
        return 0
    if role == "year" and len(token) == 2:
        # The century that brings it closest to the text; of two equally close ones the earlier.
        return min((century + int(token) for century in range(1800, 2200, 100)), key=lambda one: abs(one - near))
    return int(token)


# ---- other forms -----------------------------------------------------------------------------------------------------


def _compact(body: str) -> Written | None:
    """20210304 and 03042021."""
    if len(body) != 8 or not (body.isdigit() and body.isascii()):
        return None
    for roles, cuts in (((("year", "month", "day")), (0, 4, 6, 8)), ((("month", "day", "year")), (0, 2, 4, 8))):
        parts = {role: body[a:b] for role, a, b in zip(roles, cuts, cuts[1:], strict=False)}
        if not 1880 <= int(parts["year"]) <= 2100:
            continue
        try:
            day = Day(int(parts["year"]), int(parts["month"]), int(parts["day"]))
        except ValueError:
            continue
        fields = tuple(Field(role, parts[role], True) for role in roles)  # type: ignore[arg-type]
        return Written(day, fields, precise=True, dated=True)
    return None


def _spoken(body: str, year: int | None) -> Written | None:
    """March fourth, and March fourth, twenty twenty-one."""
    name, blank, rest = body.partition(" ")
    month = MONTH_NUMBER.get(name.casefold())
    if month is None or not rest:
        return None
    for at in (len(rest), rest.find(", "), rest.find(" ")):
        head, tail = rest[:at], rest[at:]
        said = tail.strip(", ").casefold()
        day, spoken = words.DAY_WORDS.get(head.casefold()), words.YEAR_WORDS.get(said)
        if at < 0 or day is None or (said and spoken is None):
            continue
        gap = tail[: len(tail) - len(said)] if said else ""
        try:
            found = Day(spoken or year or NO_YEAR, month, day)
        except ValueError:
            return None
        fields = [Field("month_name", name), Field("text", blank), Field("day_words", head), Field("text", gap)]
        if said:
            fields.append(Field("year_words", tail[len(gap) :]))
        return Written(found, tuple(fields), precise=True, dated=bool(said))
    return None


def _coarse(tokens: Sequence[str]) -> Written | None:
    """early March 2021 · winter of 2021 · Q1 2021."""
    at = next((place for place, token in enumerate(tokens) if len(token) == 4 and token.isdigit()), -1)
    if at != len(tokens) - 1 or at < 2 or not tokens[at].isascii():
        return None
    year, first = int(tokens[at]), tokens[0].casefold()
    if not _FIRST <= year <= _LAST:
        return None
    fields = [Field("text", token) for token in tokens]
    fields[at] = Field("year", tokens[at], True)
    between = [token.casefold() for token in tokens[1:at]]
    if first in words.SEASON and all(token.isspace() or token in ("of", ",") for token in between):
        fields[0] = Field("season", tokens[0])
        return Written(Day(year, 3 * words.SEASON[first] + 1, _MID), tuple(fields), precise=False, dated=True)
    if first == "q" and between[0] in ("1", "2", "3", "4") and all(not token.strip(" ,/-") for token in between[1:]):
        fields[1] = Field("quarter", tokens[1])
        return Written(Day(year, 3 * int(between[0]) - 1, _MID), tuple(fields), precise=False, dated=True)
    named = [place for place in range(1, at) if tokens[place].casefold() in MONTH_NUMBER]
    if first not in words.PARTS or len(named) != 1:
        return None
    if any(token.isalnum() and token != "of" for token in between if token not in MONTH_NUMBER):
        return None
    fields[0], fields[named[0]] = Field("part", tokens[0]), Field("month_name", tokens[named[0]])
    day = (5, _MID, 25)[words.PARTS.index(first)]
    return Written(Day(year, MONTH_NUMBER[tokens[named[0]].casefold()], day), tuple(fields), precise=False, dated=True)
