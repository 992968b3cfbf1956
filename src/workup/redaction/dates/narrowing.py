"""Which shifts a reader of the redacted notes of one patient can still rule out, with a calendar at hand.

Plays the attacker: reads the redacted text, and knows how a redaction works, but no key and no original. A word of the
calendar is held against the nearest moved date within a line's length, as its reader would."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from workup.redaction.dates.anchors import Anchor, anchors
from workup.redaction.dates.calendar_words import SEASON
from workup.redaction.dates.holidays import falls_on, is_summer_time
from workup.redaction.dates.shifting import MOST_DAYS, MOST_WEEKS, read_days
from workup.redaction.dates.written import Day
from workup.redaction.patient import Redacted
from workup.text.calendar import MONTH_NUMBER, WEEKDAY_NUMBER

_REACH = 48  # characters between a word and the date that it speaks of
_NUMBER = re.compile(r"\d+")
_ORDINAL = re.compile(r"(?:the\s)?\d{1,2}(?:st|nd|rd|th)", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]+")
_AGES = re.compile(
    r"(\d{1,3})[- ]?(?:years?|yrs?)[- ]?old|(\d{1,3})\s?(?:y/?o|yo)\b|\bage[d:]?:?\s(\d{1,3})\b", re.IGNORECASE
)
_BORN = re.compile(r"\b(?:born|birth|dob|d\.o\.b\.?)\W{0,3}(?:(?:on|date)\W{0,2})?$", re.IGNORECASE)
# Winter is December to February, or the solstice to the equinox: a reader has to allow for both.
_MONTHS_OF_SEASON = ((12, 1, 2, 3), (3, 4, 5, 6), (6, 7, 8, 9), (9, 10, 11, 12))
Fits = Callable[[Day], bool]


def shifts(*, whole_weeks: bool) -> list[int]:
    """Every shift that a patient may have."""
    step, most = (7, MOST_WEEKS) if whole_weeks else (1, MOST_DAYS)
    return [step * one for one in range(-most, most + 1) if one]


def remaining(notes: Sequence[Redacted], *, whole_weeks: bool) -> tuple[int, int, int]:
    """Shifts that stay possible, all that there are, and words of the calendar that could not be held to a date."""
    possible = shifts(whole_weeks=whole_weeks)
    every, loose = len(possible), 0
    for note in notes:
        dates = list(_dates(note))
        for anchor, day in _linked(note, dates):
            fits = _meaning(anchor.kind, note.document.text[anchor.start : anchor.end])
            if fits is None or day is None:
                loose += 1
                continue
            possible = [one for one in possible if fits(_back(day, one))]
        possible = _by_age(note, dates, possible)
    return len(possible), every, loose


Moved = tuple[int, int, Day, bool]  # where a moved date is, its day, and whether it is a birth


def _dates(note: Redacted) -> Iterator[Moved]:
    text = note.document.text
    for piece in note.pieces:
        if piece.done != "shift":
            continue
        read = read_days(text[piece.new_start : piece.new_end], day_first=note.day_first)
        if read is not None and read.whole:
            born = piece.label == "date_birth" or _BORN.search(text[max(0, piece.new_start - 24) : piece.new_start])
            yield piece.new_start, piece.new_end, read.days[0], bool(born)


def _linked(note: Redacted, dates: Sequence[Moved]) -> Iterator[tuple[Anchor, Day | None]]:
    """Words of the calendar that were left as they were, each with the date nearest to it."""
    moved = [(piece.new_start, piece.new_end) for piece in note.pieces if piece.done != "rule"]
    for anchor in anchors(note.document.text):
        if any(start < anchor.end and anchor.start < end for start, end in moved):
            continue
        near = [
            (max(start - anchor.end, anchor.start - end), day)
            for start, end, day, born in dates
            if not born and max(start - anchor.end, anchor.start - end) <= _REACH
        ]
        yield anchor, min(near)[1] if near else None


def _back(day: Day, shift: int) -> Day:
    return day - datetime.timedelta(days=shift)


def _meaning(kind: str, said: str) -> Fits | None:
    """What a day must be for a word to be true of it; None where the word says nothing of one day."""
    words = [word.casefold() for word in _WORDS.findall(said)]
    number = int(found[0]) if (found := _NUMBER.search(said)) else None
    match kind:
        case "weekday":
            days = {_weekday(word) for word in words} - {None}
            return (lambda day: day.weekday() in days) if len(days) == 1 else None
        case "weekend":
            return lambda day: day.weekday() >= 5
        case "holiday":
            return None if falls_on(said, Day(2021, 1, 1)) is None else lambda day: bool(falls_on(said, day))
        case "season":
            seasons = [SEASON[word] for word in words if word in SEASON]
            return (lambda day: day.month in _MONTHS_OF_SEASON[seasons[0]]) if seasons else None
        case "month":
            months = [MONTH_NUMBER[word] for word in words if word in MONTH_NUMBER]
            return (lambda day: day.month == months[0]) if months else None
        case "quarter":
            return (lambda day: (day.month + 2) // 3 == number) if number and number <= 4 else None
        case "day_of_month":
            return (lambda day: day.day == number) if _ORDINAL.fullmatch(said) else None
        case "day_of_year":
            return lambda day: day.timetuple().tm_yday == number
        case "week":
            return (lambda day: day.isocalendar().week == number) if number and number <= 53 else None
        case "zone":
            summer = said[1:2] in ("D", "d")
            return (lambda day: is_summer_time(day) == summer) if said[1:2] in ("D", "S", "d", "s") else None
    return None


def _weekday(word: str) -> int | None:
    return WEEKDAY_NUMBER.get(word, WEEKDAY_NUMBER.get(word.removesuffix("s")))


def _by_age(note: Redacted, dates: Iterable[Moved], possible: list[int]) -> list[int]:
    """Shifts under which an age that is given is the age on some date of the note."""
    dates = list(dates)
    births = [day for _, _, day, born in dates if born]
    seen = [day for _, _, day, born in dates if not born]
    ages = {int(next(filter(None, match.groups()))) for match in _AGES.finditer(note.document.text)}
    if len(births) != 1 or not seen or len(ages) != 1:
        return possible
    age = ages.pop()
    fitting = [one for one in possible if any(_age(_back(births[0], one), _back(day, one)) == age for day in seen)]
    return fitting or possible  # of somebody else, or wrong


def _age(born: Day, day: Day) -> int:
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))
