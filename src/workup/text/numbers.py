"""Numbers in words, ordinals and Roman numerals, in English whatever the locale, to write and to read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEENS = (
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER: Mapping[str, int] = MappingProxyType(
    dict(zip((*ONES, *TEENS, *TENS), (*range(1, 20), *range(20, 100, 10)), strict=True))
)
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_UNDER_TWENTY = ("zero", *ONES, *TEENS)
_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth", "twenty": "twentieth", "thirty": "thirtieth",
}  # fmt: skip
ENDINGS = ("th", "st", "nd", "rd")  # of ordinals in figures; 11th to 13th are exceptions


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th.

    >>> [ordinal(n) for n in (1, 12, 22, 31)]
    ['1st', '12th', '22nd', '31st']
    """
    return f"{number}{ENDINGS[0 if 10 < number % 100 < 14 or number % 10 > 3 else number % 10]}"


def number_words(number: int, *, joint: str = "-") -> str:
    """A number from 0 to 999 in words.

    >>> number_words(93), number_words(104)
    ('ninety-three', 'one hundred four')
    """
    if number < 20:
        return _UNDER_TWENTY[number]
    if number < 100:
        rest = f"{joint}{_UNDER_TWENTY[number % 10]}" if number % 10 else ""
        return TENS[number // 10 - 2] + rest
    rest = f" {number_words(number % 100, joint=joint)}" if number % 100 else ""
    return f"{_UNDER_TWENTY[number // 100]} hundred{rest}"


def ordinal_words(number: int) -> str:
    """A day of the month in words.

    >>> ordinal_words(3), ordinal_words(22), ordinal_words(30)
    ('third', 'twenty-second', 'thirtieth')
    """
    head, hyphen, last = number_words(number).rpartition("-")
    return head + hyphen + _ORDINALS.get(last, f"{last}th")


def spoken_year(year: int) -> str:
    """A year as it is said.

    >>> spoken_year(1952), spoken_year(2007), spoken_year(1905), spoken_year(2019), spoken_year(2000)
    ('nineteen fifty-two', 'two thousand seven', 'nineteen oh five', 'twenty nineteen', 'two thousand')
    """
    century, rest = divmod(year, 100)
    if century == 20 and rest < 10:
        return "two thousand" + (f" {_UNDER_TWENTY[rest]}" if rest else "")
    if rest == 0:
        return f"{number_words(century)} hundred"
    return f"{number_words(century)} {'oh ' if rest < 10 else ''}{number_words(rest)}"


def roman(month: int) -> str:
    """The number of a month in Roman numerals."""
    return ROMAN[month - 1]
