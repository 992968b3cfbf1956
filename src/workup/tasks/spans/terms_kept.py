"""Clinical terms of one text before and after masking, joined place by place: which survive, are lost, or come.

Knows no corpus and no policy. Masks by one neutral token, whatever a redactor would write there, and hands on places,
categories and labels, never text or concepts."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

TOKEN = "[X]"  # its brackets part terms on both sides, and the letter is none
# Categories of the lexicon under the names of reports; laboratory tests and vital signs are read as one.
CATEGORIES = {
    "disease": "disease",
    "drug": "medication",
    "procedure": "procedure",
    "anatomy": "anatomy",
    "lab": "lab/vital",
    "vital": "lab/vital",
}
WHOLE, PART, BESIDE, NO_ANSWER = "whole", "part", "beside", "no_answer"
Range = tuple[int, int]
Place = tuple[int, int, str, str]  # start, end, category, concept
Find = Callable[[str], Sequence[Place]]


class Lost(NamedTuple):
    """A term that masking destroyed: where it stood, its category, how, and the prediction that did it.

    `prediction` is the place of that prediction among those of its document; None where the system gave no answer.
    `on_identifier` says that the prediction lies on something that must or may be masked as well.
    """

    start: int
    end: int
    category: str
    how: str
    prediction: int | None = None
    label: str | None = None
    on_identifier: bool = False


class Fate(NamedTuple):
    """Of one document by category: terms that had to survive, those lost of them one by one, and those that came."""

    terms: Counter[str]
    lost: list[Lost]
    gained: Counter[str]


class Masked:
    """A text with the union of some ranges replaced by one token each, and the way between old places and new ones.

    >>> masked = Masked("Seen by Ann Lee today", [(8, 11), (11, 15)])
    >>> masked.text, masked.new(16, 21), masked.old(12, 17), masked.new(12, 18)
    ('Seen by [X] today', (12, 17), (16, 21), None)
    """

    def __init__(self, text: str, ranges: Sequence[Range]) -> None:
        self._starts: list[int] = []  # of the visible pieces in the old text
        self._ends: list[int] = []
        self._moved: list[int] = []  # and their starts in the new one
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
                parts.append(TOKEN)
                length += len(TOKEN)
            place = end
        self.text = "".join(parts)

    def new(self, start: int, end: int) -> Range | None:
        """Where a stretch of the old text stands now; None where any of it is masked."""
        piece = bisect_right(self._starts, start) - 1
        if piece < 0 or end > self._ends[piece]:
            return None
        shift = self._moved[piece] - self._starts[piece]
        return start + shift, end + shift

    def old(self, start: int, end: int) -> Range | None:
        """Where a stretch of the new text stood; None where it holds any of a token."""
        piece = bisect_right(self._moved, start) - 1
        if piece < 0:
            return None
        shift = self._starts[piece] - self._moved[piece]
        return (start + shift, end + shift) if end + shift <= self._ends[piece] else None


def united(ranges: Sequence[Range], length: int) -> list[Range]:
    """The union of ranges, cut to a text of this length, in order; those that touch are one.

    >>> united([(4, 9), (0, 2), (9, 12), (1, 3), (20, 30)], 15)
    [(0, 3), (4, 12)]
    """
    found: list[Range] = []
    for start, end in sorted((max(0, start), min(end, length)) for start, end in ranges):
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


class Reading:
    """The terms of one document in its own text, and in the text with the predictions masked.

    >>> def find(text):
    ...     place = text.find("chest pain")
    ...     return [(place, place + 10, "disease", "chest pain")] if place >= 0 else []
    >>> note = "Ann Lee has chest pain."
    >>> Reading(note, [(0, 7, "name_patient")], find).fate([(0, 7)]).lost
    []
    >>> [lost] = Reading(note, [(0, 17, "name_patient")], find).fate([(0, 7)]).lost
    >>> lost.how, lost.label, lost.on_identifier
    ('part', 'name_patient', True)
    """

    def __init__(
        self, text: str, predictions: Sequence[tuple[int, int, str]], find: Find, *, answered: bool = True
    ) -> None:
        self._text, self._find, self._answered = text, find, answered
        self._predictions = predictions
        self._order = sorted(range(len(predictions)), key=lambda i: predictions[i][0])
        self._starts, self._ends = (np.array([predictions[i][k] for i in self._order], dtype=np.int64) for k in (0, 1))
        self._furthest = np.maximum.accumulate(self._ends)  # end reached so far, so that few are looked at
        self._hidden = united([(start, end) for start, end, _ in predictions], len(text))
        self.before = find(text)
        self._kept, self._gained = self._compared(self._hidden)

    def _compared(self, masks: Sequence[Range]) -> tuple[set[Place], list[Place]]:
        """Terms found again at their own place with their own meaning, and those that did not stand there before."""
        if not masks:
            return set(self.before), []
        masked = Masked(self._text, masks)
        after = set(self._find(masked.text))
        kept = set()
        for term in self.before:
            start, end, category, concept = term
            moved = masked.new(start, end)
            if moved is not None and (*moved, category, concept) in after:
                after.remove((*moved, category, concept))
                kept.add(term)
        came = []
        for start, end, category, concept in sorted(after):
            place = masked.old(start, end)
            if place is not None:
                came.append((*place, category, concept))
        return kept, came

    def fate(self, golds: Sequence[Range]) -> Fate:
        """Against golds that must or may be masked. A term has to survive if it does so when they alone are masked.

        So a term on an identifier does not count, nor one that was read as such from an identifier beside it ("T 98"
        when 98 is part of a number of the patient), and a detector that masks the golds alone keeps all that counts.
        """
        marked = united(golds, len(self._text))
        at_stake, _ = self._compared(marked)
        if self._answered:
            lost = [self._lost(term, marked) for term in self.before if term in at_stake and term not in self._kept]
        else:  # no redacted text could hold them
            lost = [Lost(start, end, CATEGORIES[kind], NO_ANSWER) for start, end, kind, _ in sorted(at_stake)]
        came = (term for term in self._gained if not covered(marked, term[0], term[1]))
        return Fate(_tally(at_stake), lost, _tally(came))

    def _lost(self, term: Place, marked: Sequence[Range]) -> Lost:
        """The prediction that covers most of the term did it, or the nearest one where none covers any."""
        start, end, category, _ = term
        chosen = self._order[self._nearest(start, end)]
        first, last, label = self._predictions[chosen]
        hidden = covered(self._hidden, start, end)
        how = BESIDE if not hidden else WHOLE if hidden == end - start else PART
        return Lost(start, end, CATEGORIES[category], how, chosen, label, covered(marked, first, last) > 0)

    def _nearest(self, start: int, end: int) -> int:
        """Among the predictions by their starts, the one that covers most of a stretch, else the nearest to it."""
        low = int(np.searchsorted(self._furthest, start, side="right"))
        high = int(np.searchsorted(self._starts, end))
        shared = np.minimum(self._ends[low:high], end) - np.maximum(self._starts[low:high], start)
        if shared.size and shared.max() > 0:
            return low + int(np.argmax(shared))
        before = int(np.searchsorted(self._furthest, self._furthest[high - 1])) if high else 0  # who reaches furthest
        if high == len(self._order) or (high and start - self._furthest[high - 1] <= self._starts[high] - end):
            return before
        return high


def _tally(terms: Iterable[Place]) -> Counter[str]:
    return Counter(CATEGORIES[category] for _, _, category, _ in terms)


def covered(union: Sequence[Range], start: int, end: int) -> int:
    """How many characters of a stretch some ranges cover that stand in order and apart.

    >>> covered([(0, 3), (4, 12)], 2, 6)
    3
    """
    found = 0
    for i in range(max(0, bisect_right(union, (start, start)) - 1), len(union)):
        if union[i][0] >= end:
            break
        found += max(0, min(end, union[i][1]) - max(start, union[i][0]))
    return found
