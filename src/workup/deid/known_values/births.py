"""A known date in a text, in whatever form: 1985-03-14, 3/14/85, 14 March 1985, Mar 14th, 1985, 14MAR1985.

Day and month without the year are taken only after words of birth."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence

from workup.deid.finding import Finding
from workup.deid.known_values.misspellings import Misspellings
from workup.deid.settings import DateOrder
from workup.deid.text_view import Page
from workup.text.calendar import MONTH_NUMBER, MONTHS, SHORT_MONTHS
from workup.text.numbers import ordinal
from workup.text.wordlists import words_of

_SURE = 0.99
_PIECES = re.compile(r"[a-z]+|\d+")
_BIRTH = words_of("dob born birth birthday birthdate bday birthdays")
_GAPS = frozenset(" -/.,\n\t'of")
_THIS_CENTURY = 30  # years of two figures up to here are of this century
_NEAR = 5  # words before a day and month in which one of birth must stand


def read_date(value: str, order: DateOrder) -> datetime.date | None:
    """The day that a register means; numbers that leave it open are read in the order given.

    >>> read_date("1985-03-14T00:00:00", "mdy"), read_date("14 Mar 1985", "mdy"), read_date("03/04/1985", "dmy")
    (datetime.date(1985, 3, 14), datetime.date(1985, 3, 14), datetime.date(1985, 4, 3))
    """
    text = value.strip().lower()
    if re.fullmatch(r"\d{8}", text):
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    pieces = [one for one in _PIECES.findall(text[:40]) if one not in ("st", "nd", "rd", "th", "of")][:3]
    if len(pieces) < 3:
        return None
    month_at = next((at for at, one in enumerate(pieces) if one in MONTH_NUMBER), None)
    numbers = [MONTH_NUMBER[one] if one in MONTH_NUMBER else int(one) if one.isdigit() else -1 for one in pieces]
    if month_at is not None:
        others = [number for at, number in enumerate(numbers) if at != month_at]
        year, day = (others[0], others[1]) if others[0] > 31 else (others[1], others[0])
        return _date(year, numbers[month_at], day)
    first, second, third = numbers
    if first > 31:
        return _date(first, second, third)
    if order == "ymd" and third <= 31:
        return _date(first, second, third)
    day_first = first > 12 or (order == "dmy" and second <= 12)
    return _date(third, second, first) if day_first else _date(third, first, second)


def _date(year: int, month: int, day: int) -> datetime.date | None:
    if 0 <= year < 100:
        year += 1900 if year > _THIS_CENTURY else 2000
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None


class Days:
    """Known days of one patient (birth, death), ready to be found."""

    def __init__(self, days: Sequence[tuple[str, datetime.date]]) -> None:
        self._whole: dict[tuple[str, ...], str] = {}
        self._without_year: dict[tuple[str, ...], str] = {}
        self._years: set[str] = set()
        self._joined: dict[str, str] = {}
        for leaf, day in days:
            self._add(leaf, day)
        self._months = {word for pair in self._without_year for word in pair}
        self._misspelt = Misspellings({"".join(form) for form in self._whole})

    def _add(self, leaf: str, day: datetime.date) -> None:
        years = {str(day.year), f"{day.year % 100:02d}"}
        self._years |= years
        month_words = {MONTHS[day.month - 1].lower(), SHORT_MONTHS[day.month - 1].lower()}
        month_words |= {"sept"} if day.month == 9 else set()
        month_numbers = {str(day.month), f"{day.month:02d}"}
        days = {str(day.day), f"{day.day:02d}"}
        said = days | {ordinal(day.day)}
        for month, dates in (*((one, said) for one in month_words), *((one, days) for one in month_numbers)):
            for date in dates:
                self._without_year[month, date] = self._without_year[date, month] = leaf
                for year in years:
                    for form in ((month, date, year), (date, month, year), (year, month, date)):
                        self._whole[form] = leaf
        short = SHORT_MONTHS[day.month - 1].lower()
        for year in years:
            self._joined |= {f"{one}{short}{year}": leaf for one in days}
        whole = f"{day.year}{day.month:02d}{day.day:02d}"
        self._joined |= {whole: leaf, whole[4:] + whole[:4]: leaf, whole[6:] + whole[4:6] + whole[:4]: leaf}

    def find(self, page: Page) -> Iterator[Finding]:
        """All of them on a page."""
        if not self._whole:
            return
        for at in page.of(self._years):
            for first in (at - 2, at):
                words = tuple(page.words[first : first + 3]) if first >= 0 else ()
                if words in self._whole and _together(page, first, first + 2):
                    yield _finding(page, first, first + 2, self._whole[words], "whole")
        for at in page.of(self._joined):
            yield _finding(page, at, at, self._joined[page.words[at]], "whole")
        if not page.vocabulary.isdisjoint(_BIRTH):
            yield from self._typed(page)
            for at in page.of(self._months):
                words = tuple(page.words[at : at + 2])
                born = words in self._without_year and not _BIRTH.isdisjoint(page.words[max(0, at - _NEAR) : at])
                if born and _together(page, at, at + 1):
                    yield _finding(page, at, at + 1, self._without_year[words], "without the year")

    def _typed(self, page: Page) -> Iterator[Finding]:
        """A date with a typo, right after a word of birth."""
        for at in page.of(_BIRTH):
            first = at + 1
            while first < page.size and first - at < 3 and page.words[first] in ("date", "of", "on", "is", "was"):
                first += 1
            words = tuple(page.words[first : first + 3])
            if len(words) < 3 or words in self._whole or not any(map(str.isdigit, words[2])):
                continue
            near = self._misspelt.meant("".join(words))
            if near is not None and _together(page, first, first + 2, wide=True):
                yield _finding(page, first, first + 2, "date_birth", "one letter off")


def _together(page: Page, first: int, last: int, *, wide: bool = False) -> bool:
    return all(
        0 < len(page.gaps[at]) < (9 if wide else 5) and _GAPS.issuperset(page.gaps[at].lower())
        for at in range(first, last)
    )


def _finding(page: Page, first: int, last: int, leaf: str, how: str) -> Finding:
    what = "known: date of birth" if leaf == "date_birth" else "known: date"
    return Finding(page.starts[first], page.ends[last], leaf, _SURE, "known.date", (what, how))
