"""A pattern is tried only where it can begin, and finds there all that it finds anywhere."""

from __future__ import annotations

import random

import pytest

from tests.support.broken_text import broken
from workup.corpora.generate.notes import generate
from workup.deid import settings
from workup.deid.dates import ages
from workup.deid.dates.patterns import RULES
from workup.deid.names import finder as name_finder
from workup.deid.patterns.finder import Finder
from workup.deid.places import towns
from workup.deid.places.streets import Streets
from workup.deid.text_view import Page

PATTERNS = (
    r"(?<!\w)(?i:dob)[: ]{1,3}\d{1,2}/\d{1,2}",
    r"(?i)(?<!\w)sept(?:ember)? \d{1,2}",
    r"(?<![\w])[A-Z]{2}\d{4,9}(?!\w)",
    r"(?<![\w])(?:[a-z]{1,3}|X\d)[-.]?\d{2}",
    r"(?<![\w])[^\W\d_]{2,5}:[^ ]{1,4}",
    r"(?<![\w])(?i:[k-s])\d{1,4}",
    r"(?<![\w])(?:\d{4}[- ]){2}\d{2}",
    r"(?<![\w])[A-Za-z0-9]{7,9}(?!\w)",
    r"(?<![\w])[a-z.]{1,9}@[a-z]{1,4}",
    r"(?<![\w])\d{1,2}(?=[- ]{0,2}(?:s|y)(?:t|\b))",
    r"(?<![\w])(?P<a>[Xx])-?(?P=a)\d",
    r"(?<![\w])(?:[.]?[A-Z]{1,3}_?|-)(?=\d)",
)


def same(finder: Finder, text: str) -> bool:
    page = Page(text)
    return [one.span() for one in finder.find(page)] == [one.span() for one in finder.pattern.finditer(page.plain)]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_of_every_kind(pattern: str) -> None:
    finder = Finder(pattern)
    draw = random.Random(11)
    signs = "DOBdob: sSepPtT0129/-.@yXxKkſıİK\u0301é_'\n"
    texts = ["".join(draw.choice(signs) for _ in range(40)) for _ in range(300)]
    assert all(same(finder, text) for text in (*texts, "ſept 3 K12 ı9 DOB: 1/2 dOb 3/4 SEPTEMBER 1, 4111 1111 1111"))


def test_the_rules_that_ship() -> None:
    notes = [note.text for note in generate(12, seed=31, ambiguity="high").documents()]
    draw = random.Random(12)
    texts = [*notes, *(broken(draw, notes) for _ in range(150))]
    shipped = settings.load()
    finders = {rule.id: rule.finds for rule in (*shipped.patterns, *RULES)}
    finders |= {name: finder for name, _, finder in (*ages._FINDS, *Streets(shipped)._rules)}
    finders |= {"country": towns._COUNTRY, "city.before_state": towns._BEFORE_STATE, "name.dotted": name_finder._DOTTED}
    for name, finder in finders.items():
        assert all(same(finder, text) for text in texts), name


def test_a_pattern_made_later_is_tried_at_words_that_were_met_before() -> None:
    text = "order of zq77-x and zq81-y"
    first = Finder(r"(?<![\w])zq\d{2}-x")
    assert [one[0] for one in first.find(Page(text))] == ["zq77-x"]
    later = Finder(r"(?<![\w])zq\d{2}-y")
    assert [one[0] for one in later.find(Page(text))] == ["zq81-y"]
    assert [one[0] for one in first.find(Page(text))] == ["zq77-x"]


def test_most_places_are_passed_over() -> None:
    """The point of it all: an address in the net is not tried at words with a blank behind them."""
    finder = Finder(r"(?<![\w])[a-z0-9]{2,20}@[a-z]{2,9}(?!\w)")
    page = Page("the patient wrote from ann2@example and was called back")
    assert finder.number is not None
    assert page.places[finder.number] == [page.plain.index("ann2")]
