"""Ten thousand broken texts: nothing crashes, every span lies in its text, and what is redacted comes back."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from tests.support.broken_text import broken
from workup.corpora.generate.notes import generate
from workup.deid import Deidentifier
from workup.documents.document import Document, Span
from workup.redaction import redact

PARTS, OF_A_PART = 10, 1_000


@pytest.fixture(scope="module")
def notes() -> list[str]:
    return [note.text for note in generate(40, seed=77, ambiguity="high").documents()]


@pytest.mark.parametrize("part", range(PARTS))
def test_broken_texts_are_read_and_given_back(part: int, notes: list[str]) -> None:
    draw = random.Random(1_000 + part)
    texts = [broken(draw, notes) for _ in range(OF_A_PART)]
    for text, findings in zip(texts, Deidentifier.load(tagger="off").detect(texts), strict=True):
        ends = [(one.start, one.end) for one in findings]
        assert ends == sorted(ends)
        assert all(0 <= start < end <= len(text) for start, end in ends)
        assert all(before[1] <= after[0] for before, after in pairwise(ends)), "spans overlap"
        if findings and not any("\ud800" <= sign <= "\udfff" for sign in text):
            spans = [Span(one.start, one.end, one.label) for one in findings]
            done = redact(Document(id="a", text=text, spans=()), spans)
            again = done.document.text
            for piece in reversed(done.pieces):
                again = again[: piece.new_start] + text[piece.start : piece.end] + again[piece.new_end :]
            assert again == text
