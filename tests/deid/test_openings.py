"""A pattern is tried only where it can begin, and finds there all that it finds anywhere."""

from __future__ import annotations

import random
import re

import pytest
from test_fuzzed_unicode import broken

from workup.corpora.generate.notes import generate
from workup.deid import settings
from workup.deid.linear import Finder
from workup.deid.page import Page

PATTERNS = (
    r"(?<!\w)(?i:dob)[: ]{1,3}\d{1,2}/\d{1,2}",
    r"(?i)(?<!\w)sept(?:ember)? \d{1,2}",
    r"(?<![\w])[A-Z]{2}\d{4,9}(?!\w)",
    r"(?<![\w])(?:[a-z]{1,3}|X\d)[-.]?\d{2}",
    r"(?<![\w])[^\W\d_]{2,5}:[^ ]{1,4}",
    r"(?<![\w])(?i:[k-s])\d{1,4}",
)


def same(finder: Finder, text: str) -> bool:
    page = Page(text)
    return [one.span() for one in finder.find(page)] == [one.span() for one in finder.pattern.finditer(page.plain)]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_of_every_kind(pattern: str) -> None:
    finder = Finder(re.compile(pattern))
    draw = random.Random(11)
    signs = "DOBdob: sSepPtT0129/-.XxKkſıİK\u0301é_\n"
    texts = ["".join(draw.choice(signs) for _ in range(40)) for _ in range(300)]
    assert all(same(finder, text) for text in (*texts, "ſept 3 K12 ı9 DOB: 1/2 dOb 3/4 SEPTEMBER 1"))


def test_the_rules_that_ship() -> None:
    notes = [note.text for note in generate(12, seed=31, ambiguity="high").documents()]
    draw = random.Random(12)
    texts = [*notes, *(broken(draw, notes) for _ in range(150))]
    for rule in settings.load().patterns:
        assert all(same(rule.finds, text) for text in texts), rule.id
