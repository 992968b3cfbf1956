"""How much of what a system masks was worth masking: masked words weighed by how rare they are in the corpus.

After Pilán et al. (2022): the weight of a word is -log p, p its share among the words of the corpus, so that masking
"the" counts for little and masking a rare word for much. Keeps counts of words while a corpus passes; they are needed
whole before the first weight is known, so it is asked of small and middling corpora only."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workup.documents.batch import Batch
from workup.documents.document import SpanArrays
from workup.documents.policies import MAY, MUST
from workup.documents.visible import Range
from workup.stats.arrays import Floats
from workup.tasks.spans.counting.counting_rules import Golds

MOST = 20_000  # entries (documents, or readings of them) beyond which it is not measured
_WORD = re.compile(r"\w+")
_IN_WORD = re.compile(r"\w")
_CREDITED, _FALSE = 1, 0
_WAITING = 48 * 2**20  # characters of batches that wait


class _Unread(NamedTuple):
    """The masks of a batch under one policy, and how many entries came before it."""

    policy: str
    before: int
    batch: Batch
    golds: Golds
    found: SpanArrays


class Information:
    """Grows by batches, like the rows of the ledger and in step with them.

    Batches wait, up to so many characters, since a corpus that turns out to be too large is not worth the work.
    """

    def __init__(self) -> None:
        self.entries = 0
        self._code: dict[str, int] = {}
        self._counts: Counter[str] = Counter()
        self._masked: dict[str, list[tuple[int, int, int]]] = {}  # by policy: entry, word, credited
        self._uncounted: list[Batch] = []
        self._unread: list[_Unread] = []
        self._characters = 0  # of the batches that wait

    @property
    def measured(self) -> bool:
        """Whether the corpus is small enough."""
        return self.entries <= MOST

    def count_words(self, batch: Batch) -> None:
        """The words of one more batch, each document's once however many annotators read it."""
        if self._characters > _WAITING:
            self._catch_up()
        self.entries += len(batch)
        if self.measured:
            self._uncounted.append(batch)
            self._characters += sum(map(len, batch.texts))
        else:
            self._uncounted.clear()
            self._unread.clear()
            self._masked.clear()

    def add(self, policy: str, batch: Batch, golds: Golds, found: SpanArrays) -> None:
        """The masked words of a batch under one policy; call after `count_words`."""
        if self.measured:
            self._unread.append(_Unread(policy, self.entries - len(batch), batch, golds, found))

    def _catch_up(self) -> None:
        """Read what waits."""
        for batch in self._uncounted:
            first = batch.first or [True] * len(batch)
            for text, one in zip(batch.texts, first, strict=True):
                if one:
                    self._counts.update(_WORD.findall(text.lower()))
        for unread in self._unread:
            self._read(unread)
        self._uncounted.clear()
        self._unread.clear()
        self._characters = 0

    def _read(self, unread: _Unread) -> None:
        policy, before, batch, golds, found = unread
        into = self._masked.setdefault(policy, [])
        decision = golds.decisions[policy]
        kinds = [_flags(golds.spans, decision == kind, batch) for kind in (MUST, MAY)]
        for i, masked in enumerate(_ranges(found, batch)):
            if not masked:
                continue
            must, may = kinds[0][i], kinds[1][i]
            text = batch.texts[i].lower()
            if len(text) != len(must):  # lower case of a few letters is longer; offsets would not hold
                text = batch.texts[i]
            for word in _words_touched(text, masked):
                start, end = word.span()
                if 1 in must[start:end]:
                    into.append((before + i, self._word(word[0]), _CREDITED))
                elif 1 not in may[start:end]:
                    into.append((before + i, self._word(word[0]), _FALSE))

    def columns(self, policy: str) -> tuple[Floats, Floats]:
        """For every entry the weight of all that was masked, and of what of it had to be."""
        self._catch_up()
        total = max(1, sum(self._counts.values()))
        weight = np.zeros(max(1, len(self._code)))
        for word, code in self._code.items():
            weight[code] = -np.log(max(1, self._counts[word]) / total)
        rows = np.array(self._masked.get(policy, []), dtype=np.int64).reshape(-1, 3)
        own = weight[rows[:, 1]]
        every, credited = (
            np.bincount(rows[:, 0], weights=one, minlength=self.entries).astype(np.float64)
            for one in (own, own * rows[:, 2])
        )
        return every, credited

    def _word(self, word: str) -> int:
        return self._code.setdefault(word, len(self._code))


def _ranges(spans: SpanArrays, batch: Batch) -> list[list[Range]]:
    """The stretches of each document that spans cover, as far as they lie in it, in order."""
    found: list[list[Range]] = [[] for _ in batch.texts]
    lengths = [len(text) for text in batch.texts]
    for document, start, end in zip(spans.document.tolist(), spans.start.tolist(), spans.end.tolist(), strict=True):
        first, last = max(0, start), min(end, lengths[document])
        if first < last:
            found[document].append((first, last))
    for ranges in found:
        ranges.sort()
    return found


def _words_touched(text: str, ranges: Sequence[Range]) -> Iterator[re.Match[str]]:
    """Each word of which some stretch covers a character, once and in order; stretches come in order too.

    >>> [word[0] for word in _words_touched("the old_ward, Ann Lee", [(5, 6), (5, 14), (15, 17)])]
    ['old_ward', 'Ann']
    """
    read = 0  # the end of the last word that was given
    for start, end in ranges:
        start = max(start, read)
        if _IN_WORD.match(text, start):  # in a word, which may have begun before
            while start > read and _IN_WORD.match(text, start - 1):
                start -= 1
        for word in _WORD.finditer(text, start):
            if word.start() >= end:
                break
            yield word
            read = word.end()


def _flags(spans: SpanArrays, which: npt.NDArray[np.bool_], batch: Batch) -> list[bytearray]:
    """Characters of each document that some of the spans cover."""
    found = [bytearray(len(text)) for text in batch.texts]
    chosen = np.flatnonzero(which)
    for document, start, end in zip(
        spans.document[chosen].tolist(), spans.start[chosen].tolist(), spans.end[chosen].tolist(), strict=True
    ):
        flags = found[document]
        first, last = max(0, start), min(end, len(flags))
        if first < last:
            flags[first:last] = b"\1" * (last - first)
    return found
