"""Hostile texts: work grows with the length and no faster, counted in steps of the interpreter, never in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from workup.deid import Deidentifier, settings
from workup.deid.text_view import Page

TEXTS: dict[str, Callable[[int], str]] = {
    "letters": lambda n: "a" * n,
    "capitals": lambda n: "A " * (n // 2),
    "dashes": lambda n: "1-" * (n // 2),
    "strokes": lambda n: "1/" * (n // 2),
    "brackets": lambda n: "(" * (n // 2) + ")" * (n // 2),
    "nul": lambda n: "\0" * n,
    "surrogates": lambda n: "\ud800a " * (n // 3),
    "blanks": lambda n: " " * n,
    "lines": lambda n: "\n" * n,
    "names": lambda n: "John Smith, " * (n // 12),
    "speakers": lambda n: "\nemily: diabetes" * (n // 16),
    "addresses": lambda n: "12 Elm " * (n // 7),
    "marks": lambda n: "a@." * (n // 3),
    "labels": lambda n: "MRN: " * (n // 5),
    "digits": lambda n: "1" * n,
    "slips": lambda n: "Nexy ov kin: A.4. Lomg, seem by Msq. Leg at 12 Elm n. on Mqy 3 2O21. " * (n // 68),
}


def steps(text: str) -> int:
    """Calls that the interpreter makes while the text is searched; C code of the matcher is not among them."""
    count = 0

    def watch(*_: object) -> None:
        nonlocal count
        count += 1

    deid = Deidentifier.load(tagger="off")
    sys.setprofile(watch)
    try:
        deid.detect([text])
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("kind", TEXTS)
def test_work_is_linear(kind: str) -> None:
    make = TEXTS[kind]
    Deidentifier.load(tagger="off").detect([make(2_000)])  # gazetteers and caches
    small, large = steps(make(4_000)), steps(make(16_000))
    assert large <= 5 * small + 2_000


@pytest.mark.parametrize("kind", TEXTS)
def test_a_long_text_is_answered(kind: str) -> None:
    text = TEXTS[kind](60_000)
    (findings,) = Deidentifier.load(tagger="off").detect([text])
    assert all(0 <= one.start < one.end <= len(text) for one in findings)


def test_a_pattern_is_tried_at_few_places_and_finds_the_same() -> None:
    text = "Dr. A. Berg, NPI 1234567893, seen 3/14/2021 at 192.0.2.1; MRN HB-70600641, a@b.example, é 1 (617) 555-0142"
    page = Page(text)
    for rule in settings.load().patterns:
        tried = [match.span() for match in rule.finds.find(page)]
        assert tried == [match.span() for match in rule.finds.pattern.finditer(page.plain)], rule.id
