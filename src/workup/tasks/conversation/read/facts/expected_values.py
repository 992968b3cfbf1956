"""The attributes of a fact in the form in which they are compared. Knows no reply."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from workup.tasks.conversation.read.sentence.doses import Unit, number_of, unit_of
from workup.tasks.conversation.read.sentence.folding import word_tokens
from workup.tasks.conversation.read.sentence.frequencies import Frequency, frequency_of
from workup.tasks.conversation.read.sentence.routes_sides_dates import Date, date_of, route_of


class Wanted(NamedTuple):
    """What a fact says of itself; None or empty where it says nothing."""

    amounts: tuple[float, ...] = ()
    kind: str = "one"  # one, range, parts
    unit: Unit | None = None
    frequency: Frequency | None = None
    frequency_words: tuple[str, ...] = ()  # as written, for a frequency that is in none of the known forms
    route: str = ""
    side: str = ""
    dates: tuple[Date, ...] = ()
    once: bool = False  # the fact itself says once, so that no other way to divide the day is the same

    @property
    def anything(self) -> bool:
        """Whether there is anything to compare."""
        said = (self.amounts, self.frequency, self.frequency_words, self.route, self.side, self.dates)
        return any(bool(one) for one in said)


def amounts_of(value: Any) -> tuple[tuple[float, ...], str] | None:
    """The amounts of a dose and how they stand together, or None where it is no dose.

    >>> amounts_of(5), amounts_of("5-10"), amounts_of("875/125"), amounts_of("five mg")
    (((5.0,), 'one'), ((5.0, 10.0), 'range'), ((875.0, 125.0), 'parts'), None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if not isinstance(value, str):
        return ((float(value),), "one") if math.isfinite(value) and value > 0 else None
    for sign, kind in (("/", "parts"), ("-", "range"), ("\u2013", "range")):
        if sign in value.strip():
            parts = [number_of(part.strip()) for part in value.split(sign)]
            amounts = tuple(part for part in parts if part is not None)
            return (amounts, kind) if len(amounts) == len(parts) == 2 else None
    number = number_of(value.strip())
    return ((number,), "one") if number else None


def dates_of(value: Any) -> tuple[Date, ...]:
    """The readings of a date; a year may be a number."""
    return tuple(date_of(str(value)))


def wanted_of(attributes: Mapping[str, Any]) -> Wanted:
    """The attributes of a fact, read.

    >>> wanted_of({"dose_value": 0.5, "dose_unit": "g", "route": "PO"}).route
    'oral'
    """
    amounts, kind = amounts_of(attributes["dose_value"]) or ((), "one") if "dose_value" in attributes else ((), "one")
    said = attributes.get("frequency")
    frequency = frequency_of(str(said)) if said is not None else None
    unit_word = attributes.get("dose_unit")
    unit = None
    if unit_word is not None:
        plain = str(unit_word).casefold().strip()
        unit = unit_of(plain) or Unit(plain, 1.0, plain)
    return Wanted(
        amounts,
        kind,
        unit,
        frequency,
        word_tokens(str(said)) if said is not None and frequency is None else (),
        route_of(str(attributes["route"])) if "route" in attributes else "",
        str(attributes.get("laterality", "")),
        dates_of(attributes["date"]) if "date" in attributes else (),
        said is not None and ("once" in word_tokens(str(said)) or bool(frequency is not None and frequency.part)),
    )
