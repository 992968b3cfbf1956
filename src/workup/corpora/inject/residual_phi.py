"""What in a source text looks like PHI before anything is injected: found by the patterns of a table, marked unknown.

Nobody checked it, so it is neither a hit nor a miss, and a mask on it is neutral. Knows no site and no value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import yaml

from workup.documents.document import Span
from workup.text.calendar import MONTH, MONTHS, WEEKDAY_NAME, are_day_and_month
from workup.text.states import STATES
from workup.text.unicode import without_marks
from workup.values import ambiguous, tables

UNKNOWN = "unknown"  # the identifier of a gold that nobody checked
_WORDS = {
    "MONTH": f"(?:{MONTH}|{'|'.join(MONTHS).upper()})",
    "DAY": WEEKDAY_NAME,
    "STATE": f"(?:{'|'.join(state.name for state in STATES if state.code != 'DC')})",
    "CODE": f"(?:{'|'.join(state.code for state in STATES)})",
}


class Residue(NamedTuple):
    """A pattern, the canonical name of what it finds, and a second look, which may refuse the find or name its leaf."""

    label: str
    finds: re.Pattern[str]
    holds: Callable[[str], bool | str] | None


def read_table(name: str) -> Any:
    """A YAML table that comes with this package."""
    text = (files("workup.corpora.inject") / "data" / name).read_text(encoding="utf-8")
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@cache
def residues() -> tuple[Residue, ...]:
    """The patterns of the sweep, in the order in which they take characters."""
    table = read_table("residues.yaml")
    found = []
    for row in table["residues"]:
        pattern = row["finds"]
        for word, meaning in (_WORDS | table["words"]).items():
            pattern = pattern.replace(f"<{word}>", meaning)
        found.append(Residue(row["label"], re.compile(pattern), _LOOKS[row["holds"]] if "holds" in row else None))
    return tuple(found)


def sweep(text: str, *, known: Iterable[Span] = ()) -> tuple[Span, ...]:
    """Spans of what looks like PHI in a text, apart from one another and from the gold spans that are known already.

    >>> text = "Mr. Olsen, a 67-year-old man, was seen by Dr. Ann Berg on 03/04/2021; strength was 5/5."
    >>> [(text[span.start : span.end], span.label, span.identifier) for span in sweep(text)]
    [('Olsen', 'NAME', 'unknown'), ('67', 'age_under_90', 'unknown'), ('Ann Berg', 'NAME', 'unknown'),
     ('03/04/2021', 'date', 'unknown')]
    """
    taken = bytearray(len(text))
    for span in known:
        taken[span.start : span.end] = b"\x01" * (span.end - span.start)
    found: list[Span] = []
    for residue in residues():
        group = 1 if residue.finds.groups else 0
        for match in residue.finds.finditer(text):
            start, end = match.span(group)
            if taken.find(1, start, end) >= 0:
                continue
            held = True if residue.holds is None else residue.holds(text[start:end])
            if held:
                label = held if isinstance(held, str) else residue.label
                found.append(Span(start, end, label, identifier=UNKNOWN))
                taken[start:end] = b"\x01" * (end - start)
    return tuple(sorted(found, key=lambda span: span.start))


# ---- second looks ----------------------------------------------------------------------------------------------------


def _has_digit(surface: str) -> bool:
    return any(map(str.isdigit, surface))


def _age(surface: str) -> bool | str:
    years = int(surface)
    return years <= 120 and ("age_over_89" if years > 89 else "age_under_90")


def _day(surface: str) -> bool:
    first, second = (int(part) for part in re.split("[/-]", surface)[:2])
    return are_day_and_month(first, second)


@cache
def _people() -> tuple[frozenset[str], frozenset[str]]:
    """Given names and surnames that are no everyday words."""
    decades = range(tables.FIRST_DECADE, tables.LAST_DECADE + 1, 10)
    groups = [(origin, sex, decade) for origin in tables.ORIGINS for sex in "FM" for decade in decades]
    given = {name.text for group in groups for name in tables.given_names(*group).names}
    family = {name.text for origin in tables.ORIGINS for name in tables.surnames(origin).names}
    return frozenset(given - ambiguous.WORDS), frozenset(family - ambiguous.WORDS)


def _person(surface: str) -> bool:
    """A given name known as one, with a surname known as one after it."""
    given, family = _people()
    words = without_marks(surface).split()  # the lists of names are written without accents
    return words[0] in given and words[-1] in family


@cache
def _cities() -> frozenset[str]:
    return frozenset(city for places in tables.places().values() for city in places.cities)


def _city(surface: str) -> bool:
    return surface in _cities()


_LOOKS: Mapping[str, Callable[[str], bool | str]] = {
    "digit": _has_digit,
    "age": _age,
    "day": _day,
    "person": _person,
    "city": _city,
}
