"""What redaction does to the clinical content: terms found before and after masking, joined place by place.

Knows an extractor by its `extract(text)` alone and masks by one neutral token, whatever a redactor would write there.
No text and no concept leaves this module: counts, categories, labels and offsets do."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from workup.metric import Interval, Metric
from workup.scores import Scores
from workup.tasks.spans import columns
from workup.tasks.spans.batches import Batch
from workup.tasks.spans.documents import SpanArrays
from workup.tasks.spans.metrics import share
from workup.tasks.spans.policies import MUST_NOT
from workup.tasks.spans.yardstick import Golds

TOKEN = "[X]"  # brackets part terms on both sides, and the letter is none
# Categories of the lexicon under the names of reports; laboratory tests and vital signs are read as one.
CATEGORIES = {
    "disease": "disease",
    "drug": "medication",
    "procedure": "procedure",
    "anatomy": "anatomy",
    "lab": "lab/vital",
    "vital": "lab/vital",
}
NAMES = tuple(dict.fromkeys(CATEGORIES.values()))
WHOLE, PART, BESIDE, NO_ANSWER = "whole", "part", "beside", "no_answer"
_Range = tuple[int, int]
_Place = tuple[int, int, str, str]  # start, end, category, concept


class TermExtractor(Protocol):
    """Finds clinical terms: each with `start`, `end`, `category` and `concept`."""

    name: str
    version: str

    def extract(self, text: str) -> Sequence[Any]:
        """The terms of one text."""
        ...


class Lost(NamedTuple):
    """A term that masking destroyed: where it stood, its category, how, and the prediction that did it.

    `prediction` is the place of that prediction among those of its document, None where the system gave no answer.
    `on_identifier` says that the prediction also lies on something that must or may be masked.
    """

    start: int
    end: int
    category: str
    how: str
    prediction: int | None
    label: str | None
    on_identifier: bool


class Fate(NamedTuple):
    """What became of the terms of one document: those that had to survive, those lost of them, and those that came."""

    terms: Counter[str]
    lost: list[Lost]
    gained: Counter[str]


# ---- masking ---------------------------------------------------------------------------------------------------------


class Masked:
    """A text with the union of some ranges replaced by one token each, and the way from old places to new ones.

    >>> masked = Masked("Seen by Ann Lee today", [(8, 11), (11, 15)])
    >>> masked.text, masked.new(16, 21), masked.old(12, 17), masked.new(12, 18)
    ('Seen by [X] today', (12, 17), (16, 21), None)
    """

    def __init__(self, text: str, ranges: Sequence[_Range], *, token: str = TOKEN) -> None:
        self._starts: list[int] = []  # of the visible pieces in the old text
        self._ends: list[int] = []
        self._moved: list[int] = []  # and in the new one
        parts: list[str] = []
        length = place = 0
        for start, end in [*united(ranges, len(text)), (len(text), len(text))]:
            if place < start:
                self._starts.append(place)
                self._ends.append(start)
                self._moved.append(length)
                parts.append(text[place:start])
                length += start - place
            if start < end:
                parts.append(token)
                length += len(token)
            place = end
        self.text = "".join(parts)

    def new(self, start: int, end: int) -> _Range | None:
        """Where a stretch of the old text stands now; None where any of it is masked."""
        piece = bisect_right(self._starts, start) - 1
        if piece < 0 or end > self._ends[piece]:
            return None
        shift = self._moved[piece] - self._starts[piece]
        return start + shift, end + shift

    def old(self, start: int, end: int) -> _Range | None:
        """Where a stretch of the new text stood; None where it holds any of a token."""
        piece = bisect_right(self._moved, start) - 1
        if piece < 0:
            return None
        shift = self._starts[piece] - self._moved[piece]
        return (start + shift, end + shift) if end + shift <= self._ends[piece] else None


def united(ranges: Sequence[_Range], length: int) -> list[_Range]:
    """The union of ranges, cut to the text, in order; those that touch are one.

    >>> united([(4, 9), (0, 2), (9, 12), (1, 3), (20, 30)], 15)
    [(0, 3), (4, 12)]
    """
    found: list[_Range] = []
    for start, end in sorted((max(0, start), min(end, length)) for start, end in ranges):
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


# ---- one document ----------------------------------------------------------------------------------------------------


class Reading:
    """The terms of one document in its own text and with the predictions masked."""

    def __init__(
        self, text: str, predictions: Sequence[tuple[int, int, str]], extract: Extraction, *, answered: bool = True
    ) -> None:
        self._text, self._extract, self._answered = text, extract, answered
        self._predictions = predictions
        self.before = extract(text)
        masked = Masked(text, [(start, end) for start, end, _ in predictions])
        self.kept, self.gained = self._compared(masked) if predictions else (set(self.before), [])

    def _compared(self, masked: Masked) -> tuple[set[_Place], list[_Place]]:
        """Terms found again at their own place with their own meaning, and those that stood there in no such way."""
        after = set(self._extract(masked.text))
        kept = set()
        for term in self.before:
            moved = masked.new(term[0], term[1])
            if moved is not None and (*moved, *term[2:]) in after:
                kept.add(term)
                after.remove((*moved, *term[2:]))
        came = ((masked.old(start, end), *what) for start, end, *what in sorted(after))
        return kept, [(*place, *what) for place, *what in came if place is not None]

    def fate(self, golds: Sequence[_Range]) -> Fate:
        """Against the golds that must or may be masked: a term has to survive if it survives when just they are."""
        at_stake = self._compared(Masked(self._text, golds))[0] if golds else set(self.before)
        terms = Counter(CATEGORIES[category] for _, _, category, _ in at_stake)
        lost = [self._lost(term, golds) for term in self.before if term in at_stake and term not in self.kept]
        if not self._answered:  # there is no redacted text that could hold them
            lost = [Lost(s, e, CATEGORIES[c], NO_ANSWER, None, None, False) for s, e, c, _ in sorted(at_stake)]
        came = (term for term in self.gained if not any(_overlap(term, gold) for gold in golds))
        return Fate(terms, lost, Counter(CATEGORIES[category] for _, _, category, _ in came))

    def _lost(self, term: _Place, golds: Sequence[_Range]) -> Lost:
        """The prediction that covers most of the term did it, or the nearest one where none covers any."""
        start, end, category, _ = term
        hidden = sum(
            min(end, e) - max(start, s) for s, e in united([p[:2] for p in self._predictions], end) if e > start
        )
        hidden = max(0, hidden)
        order = [
            (-_overlap(term, (s, e)), max(s - end, start - e, 0), i) for i, (s, e, _) in enumerate(self._predictions)
        ]
        chosen = min(order)[2]
        label = self._predictions[chosen][2]
        how = BESIDE if not hidden else WHOLE if hidden == end - start else PART
        meets = any(_overlap(self._predictions[chosen], gold) for gold in golds)
        return Lost(start, end, CATEGORIES[category], how, chosen, label, meets)


def _overlap(one: Sequence[Any], other: Sequence[Any]) -> int:
    return max(0, int(min(one[1], other[1]) - max(one[0], other[0])))
