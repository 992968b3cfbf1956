"""How much of what a system masks was worth masking: masked words weighed by how rare they are in the corpus.

After Pilán et al. (2022): the weight of a word is -log p, p its share among the words of the corpus, so that masking
"the" counts for little and masking a rare word for much. Keeps counts of words while a corpus passes; they are needed
whole before the first weight is known, so it is asked of small and middling corpora only."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import numpy.typing as npt

from workup.documents.batch import Batch
from workup.documents.document import SpanArrays
from workup.documents.policies import MAY, MUST
from workup.stats.arrays import Floats
from workup.tasks.spans.counting.counting_rules import Golds

MOST = 20_000  # entries (documents, or readings of them) beyond which it is not measured
_WORD = re.compile(r"\w+")
_CREDITED, _FALSE = 1, 0


class Information:
    """Grows by batches, like the rows of the ledger and in step with them."""

    def __init__(self) -> None:
        self.entries = 0
        self._code: dict[str, int] = {}
        self._counts: Counter[str] = Counter()
        self._masked: dict[str, list[tuple[int, int, int]]] = {}  # by policy: entry, word, credited

    @property
    def measured(self) -> bool:
        """Whether the corpus is small enough."""
        return self.entries <= MOST

    def count_words(self, batch: Batch) -> None:
        """The words of one more batch, each document's once however many annotators read it."""
        self.entries += len(batch)
        if self.measured:
            first = batch.first or [True] * len(batch)
            for text, one in zip(batch.texts, first, strict=True):
                if one:
                    self._counts.update(_WORD.findall(text.lower()))

    def add(self, policy: str, batch: Batch, golds: Golds, found: SpanArrays) -> None:
        """The masked words of a batch under one policy; call after `count_words`."""
        if not self.measured:
            self._masked.clear()
            return
        before = self.entries - len(batch)
        into = self._masked.setdefault(policy, [])
        decision = golds.decisions[policy]
        kinds = [_flags(golds.spans, decision == kind, batch) for kind in (MUST, MAY)]
        for i, masked in enumerate(_flags(found, np.ones(len(found), np.bool_), batch)):
            if not any(masked):
                continue
            must, may = kinds[0][i], kinds[1][i]
            text = batch.texts[i].lower()
            if len(text) != len(masked):  # lower case of a few letters is longer; offsets would not hold
                text = batch.texts[i]
            for word in _WORD.finditer(text):
                start, end = word.span()
                if 1 in masked[start:end]:
                    if 1 in must[start:end]:
                        into.append((before + i, self._word(word[0]), _CREDITED))
                    elif 1 not in may[start:end]:
                        into.append((before + i, self._word(word[0]), _FALSE))

    def columns(self, policy: str) -> tuple[Floats, Floats]:
        """For every entry the weight of all that was masked, and of what of it had to be."""
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
