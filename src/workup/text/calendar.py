"""The English calendar: months, weekdays and seasons, in full and in short, to write and to read. Knows no date."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
SHORT_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SHORT_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
SEASONS = ("winter", "spring", "summer", "fall")

# By words in lower case: of months 1 to 12, of weekdays 0 (Monday) to 6, as datetime counts both.
MONTH_NUMBER: Mapping[str, int] = MappingProxyType(
    {name.lower(): number for names in (MONTHS, SHORT_MONTHS) for number, name in enumerate(names, start=1)}
    | {"sept": 9}
)
WEEKDAY_NUMBER: Mapping[str, int] = MappingProxyType(
    {name.lower(): number for names in (WEEKDAYS, SHORT_WEEKDAYS) for number, name in enumerate(names)}
    | {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}
)
MONTH_WORDS = frozenset(name.lower() for name in MONTHS)
WEEKDAY_WORDS = frozenset(name.lower() for name in WEEKDAYS)
PLAIN_MONTHS = MONTH_WORDS - {"march", "may"}  # in small letters the other two are verbs first

# Patterns as a title would write them; in lower case they are the same with `.lower()`. No group in them is numbered.
MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?)"
)
MONTH_NAMES = "|".join(sorted(MONTH_NUMBER, key=len, reverse=True))  # in lower case, the longer before the shorter
WEEKDAY = r"(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs?)?|Fri|Sat(?:ur)?|Sun)(?:day)?"
WEEKDAY_NAME = rf"(?:{'|'.join(name.removesuffix('day') for name in WEEKDAYS)})day"


def are_day_and_month(first: int, second: int) -> bool:
    """Whether two numbers can be a month and a day of it, in either order: 45/80 is a ratio, and so is 120/80.

    >>> are_day_and_month(3, 14), are_day_and_month(14, 3), are_day_and_month(13, 14), are_day_and_month(0, 3)
    (True, True, False, False)
    """
    return 1 <= min(first, second) <= 12 and max(first, second) <= 31


def season_of(month: int) -> str:
    """The season that a month of the northern year lies in, winter from December on.

    >>> season_of(12), season_of(3), season_of(11)
    ('winter', 'spring', 'fall')
    """
    return SEASONS[month % 12 // 3]
