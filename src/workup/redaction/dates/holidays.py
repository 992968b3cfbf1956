"""On which day a holiday falls in a year: fixed dates, the n-th weekday of a month, and what is counted from Easter.

Holidays of other calendars (Ramadan, Diwali, Passover) are not worked out here."""

from __future__ import annotations

import datetime
import re

Day = datetime.date
_ONE = datetime.timedelta(days=1)
_FIXED = {
    "christmas eve": (12, 24), "christmas": (12, 25), "xmas": (12, 25), "boxing": (12, 26), "new years eve": (12, 31),
    "new years": (1, 1), "new year": (1, 1), "groundhog": (2, 2), "valentine": (2, 14), "patrick": (3, 17),
    "cinco de mayo": (5, 5), "juneteenth": (6, 19), "fourth of july": (7, 4), "4th of july": (7, 4),
    "july fourth": (7, 4), "july 4th": (7, 4), "july the 4th": (7, 4), "july the fourth": (7, 4),
    "independence": (7, 4), "halloween": (10, 31), "veteran": (11, 11), "leap": (2, 29),
    "april fool": (4, 1), "bonfire": (11, 5), "guy fawkes": (11, 5), "armistice": (11, 11), "remembrance day": (11, 11),
    "tax": (4, 15), "earth": (4, 22), "patriot": (9, 11), "pi day": (3, 14), "ides of march": (3, 15), "v-day": (2, 14),
    "paddy": (3, 17), "flag": (6, 14),
    "bastille": (7, 14), "canada day": (7, 1), "australia day": (1, 26), "anzac": (4, 25), "nye": (12, 31),
}  # fmt: skip
_NTH = {  # month, weekday (0 is Monday), which one; -1 is the last
    "martin luther king": (1, 0, 3), "mlk": (1, 0, 3), "president": (2, 0, 3), "mother": (5, 6, 2),
    "memorial": (5, 0, -1), "father": (6, 6, 3), "labor": (9, 0, 1), "columbus": (10, 0, 2), "indigenous": (10, 0, 2),
    "thanksgiving": (11, 3, 4),
}  # fmt: skip
_FROM_THANKSGIVING = {"black friday": 1, "small business saturday": 2, "cyber monday": 4, "giving tuesday": 5}
_FROM_EASTER = {
    "mardi gras": -47, "shrove tuesday": -47, "pancake": -47, "ash wednesday": -46, "palm sunday": -7,
    "maundy thursday": -3, "holy thursday": -3, "good friday": -2, "holy saturday": -1, "easter monday": 1,
    "pentecost monday": 50, "whit monday": 50, "pentecost": 49, "whit": 49, "trinity": 56, "divine mercy": 7,
    "easter eve": -1, "easter": 0,
}  # fmt: skip
_MARKS = re.compile(r"['’.,]")


def easter(year: int) -> Day:
    """Easter Sunday of the Gregorian calendar, by the anonymous algorithm (Nature, 1876).

    >>> easter(2021), easter(2024)
    (datetime.date(2021, 4, 4), datetime.date(2024, 3, 31))
    """
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return Day(year, month, day + 1)


def falls_on(name: str, day: Day) -> bool | None:
    """Whether a holiday, as a note names it, falls on a day; None where its day is not worked out.

    >>> [falls_on(name, Day(2021, 11, 25)) for name in ("Thanksgiving", "Christmas Day", "Diwali")]
    [True, False, None]
    """
    said = " ".join(_MARKS.sub("", name).casefold().replace("x-mas", "xmas").split())
    for words, (month, date) in sorted(_FIXED.items(), key=lambda one: -len(one[0])):
        if words in said and not said.startswith(("lunar", "chinese")):
            return (day.month, day.day) == (month, date)
    for words, days in _FROM_THANKSGIVING.items():
        if words in said:
            return day - days * _ONE == _nth((day - days * _ONE).year, 11, 3, 4)
    for words, (month, weekday, which) in _NTH.items():
        if words in said:
            return day == _nth(day.year, month, weekday, which)
    for words, days in _FROM_EASTER.items():
        if words in said:
            return day == easter(day.year) + days * _ONE
    return None


def _nth(year: int, month: int, weekday: int, which: int) -> Day:
    if which < 0:
        last = Day(year + month // 12, month % 12 + 1, 1) - _ONE
        return last - (last.weekday() - weekday) % 7 * _ONE
    first = Day(year, month, 1)
    return first + ((weekday - first.weekday()) % 7 + 7 * (which - 1)) * _ONE


def is_summer_time(day: Day) -> bool:
    """Whether clocks of the United States show summer time, by the rule that holds since 2007."""
    return _nth(day.year, 3, 6, 2) <= day < _nth(day.year, 11, 6, 1)
