"""Sixty written sentences in the manner of clinical notes, with the terms a reader would mark; none is from a patient.

Written for the measured error of the lexicon. A mark is `{words:category}`. Rules of marking: the whole name of the
thing without degree or side; anatomy only where it is not part of another mark; negated and family mentions are marked;
names of people, places and devices that look like terms are not; a sentence may hold no term at all.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


class Gold(NamedTuple):
    """One marked term: its place in the text and its category."""

    start: int
    end: int
    category: str


_MARK = re.compile(r"\{([^{}:]+):(disease|drug|procedure|anatomy|lab|vital)\}")


def read(marked: str) -> tuple[str, list[Gold]]:
    """The text of a marked sentence and its marks."""
    text, gold, last = "", [], 0
    for match in _MARK.finditer(marked):
        text += marked[last : match.start()]
        gold.append(Gold(len(text), len(text) + len(match[1]), match[2]))
        text += match[1]
        last = match.end()
    return text + marked[last:], gold


LINES = (Path(__file__).parents[1] / "lexicon" / "sentences.txt").read_text(encoding="utf-8").splitlines()
SENTENCES = [read(line) for line in LINES if not line.startswith("#")]
