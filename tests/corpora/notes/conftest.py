"""One corpus of 1,000 notes, made once for all that is asked of it."""

from __future__ import annotations

import pytest

from workup.corpora.generate.notes import generate
from workup.documents.builder import Written


@pytest.fixture(scope="session")
def thousand() -> list[Written]:
    notes = generate(1000, seed=42)
    return [notes.written(number) for number in range(1000)]
