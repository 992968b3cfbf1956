"""What the dates of one patient's notes have in common: the order of day and month, the years that go unsaid.

Reads surfaces that a detector called dates; knows no key and no replacement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from workup.redaction.dates import written as dates
from workup.redaction.dates.shifting import Reading, read_days
from workup.redaction.dates.written import Day

_NEAR = 2020  # where nothing says when a text was written
_NINETY_YEARS = 90 * 365.2425
_LEEWAY_OF_YEARS, _LEEWAY_OF_MONTHS = 3, 4  # days


class Almanac:
    """Dates of one patient, each read with what all of them together say.

    Day first: where some date can only be read so (14/03) and none only the other way (03/14). A year that goes unsaid
    is that of the note, else the one that most dates of the note give.

    >>> almanac = Almanac([("n1", None, ["14/03/2021", "05/04/2021", "06/04"])])
    >>> [str(almanac.read("n1", said).days[0]) for said in ("05/04/2021", "06/04")]
    ['2021-04-05', '2021-04-06']
    """

    def __init__(
        self, notes: Iterable[tuple[str, str | None, Iterable[str]]], *, day_first: bool | None = None
    ) -> None:
        held = [(note, time, list(surfaces)) for note, time, surfaces in notes]
        self.day_first = _order(held) if day_first is None else day_first
        self._years: dict[str, int | None] = {}
        self._near: dict[str, int] = {}
        self._latest: Day | None = None
        self._dates_given: set[Day] = set()
        for note, time, surfaces in held:
            self._settle(note, time, surfaces)

    def _settle(self, note: str, time: str | None, surfaces: list[str]) -> None:
        written = _day_of(time)
        dates_given = [found.days[-1] for one in surfaces if (found := self._read(one, _NEAR, None)) and found.whole]
        years = Counter(day.year for day in dates_given)
        most = min((year for year, count in years.items() if count == max(years.values())), default=None)
        self._years[note] = written.year if written else most
        self._near[note] = written.year if written else max(years, default=_NEAR)
        self._dates_given.update(dates_given, [written] if written else [])
        latest = max([*dates_given, *([written] if written else [])], default=None)
        if latest is not None and (self._latest is None or latest > self._latest):
            self._latest = latest

    def read(self, note: str, surface: str) -> Reading | None:
        """The days that a surface of a note writes."""
        return self._read(surface, self._near[note], self._years[note])

    def _read(self, surface: str, near: int, year: int | None) -> Reading | None:
        return read_days(surface, near=near, year=year, day_first=self.day_first)

    def is_ninety(self, born: Day) -> bool:
        """Whether somebody born then is 90 or older by the latest date of the notes."""
        return self._latest is not None and (self._latest - born).days >= _NINETY_YEARS

    def is_near_a_birthday(self, born: Day) -> bool:
        """Whether a date of the notes lies so close to a birthday that a moved pair may show another age.

        A year is 365 or 366 days and a month 28 to 31, so that the age of a moved pair is the age that was given unless
        a birthday (of a child of under three, the day of birth in any month) is as close as those differ.
        """
        return any(_near(born, day) for day in self._dates_given if day > born)


def _near(born: Day, day: Day) -> bool:
    if (day - born).days < 3 * 366:
        return min(abs(day.day - born.day), 31 - abs(day.day - born.day)) <= _LEEWAY_OF_MONTHS
    away = (day.timetuple().tm_yday - born.timetuple().tm_yday) % 365
    return min(away, 365 - away) <= _LEEWAY_OF_YEARS


def _order(notes: list[tuple[str, str | None, list[str]]]) -> bool:
    """Whether numbers are read day first, from those that can be read one way only."""
    day, month = 0, 0
    for _, _, surfaces in notes:
        for surface in surfaces:
            one = dates.read(surface)
            if one is None or one.ambiguous:
                continue
            day += one.day_first
            month += not one.day_first and _month_first(one)
    return day > 0 and month == 0


def _month_first(one: dates.Written) -> bool:
    roles = [field.role for field in one.fields if field.role in ("year", "month", "day")]
    return roles[:2] == ["month", "day"] and one.day.day > 12


def _day_of(time: str | None) -> Day | None:
    """The day of a time as a corpus holds it: ISO 8601, with or without the clock."""
    if time is None:
        return None
    try:
        return Day.fromisoformat(time.strip()[:10])
    except ValueError:
        return None
