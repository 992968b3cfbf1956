"""From what the tagger says of each piece to what it says of each word, and from words to spans."""

from __future__ import annotations

import math
import unicodedata
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workup.deid.tagger.encoding import LABELS, Pieces

Floats = npt.NDArray[np.float32]
_OPENING = np.arange(1, 2 * len(LABELS), 2)  # places of B- among the tags; that of I- is the next


class Words(NamedTuple):
    """The words of a text with the probability of each kind: `odds[:, 0]` of none, the others as in `LABELS`.

    `opens` marks words that would begin a mention of their own rather than go on with the one before."""

    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    odds: Floats
    opens: npt.NDArray[np.bool_]

    @property
    def identifying(self) -> Floats:
        """How likely each word is part of an identifier of any kind."""
        return np.asarray(1 - self.odds[:, 0], dtype=np.float32)


class Tagged(NamedTuple):
    """A span that the tagger found: `sure` is the mean over its words of being an identifier, `least` the lowest."""

    start: int
    end: int
    label: str
    sure: float
    least: float


NO_WORDS = Words(
    np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 1 + len(LABELS)), np.float32), np.zeros(0, np.bool_)
)


def joined(parts: list[Words]) -> Words:
    """The words of consecutive stretches of a text as those of one."""
    if len(parts) < 2:
        return parts[0] if parts else NO_WORDS
    return Words(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def words_of(text: str, pieces: Pieces, logits: Floats, *, offset: int = 0) -> Words:
    """Words out of pieces: probabilities are means over the pieces of a word, ends take in marks that combine.

    `text` is the stretch that was cut into the pieces; `offset` is where it begins in the whole."""
    if not len(pieces.ids):
        return NO_WORDS
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    opening = np.flatnonzero(pieces.first)
    sizes = np.diff(np.append(opening, len(pieces.ids)))
    kinds = np.column_stack([odds[:, 0], odds[:, _OPENING] + odds[:, _OPENING + 1]])
    means = np.add.reduceat(kinds, opening, axis=0) / sizes[:, None]
    opens = odds[opening][:, _OPENING].sum(axis=1) > odds[opening][:, _OPENING + 1].sum(axis=1)
    ends = pieces.ends[opening + sizes - 1].copy()
    if not text.isascii():
        for word, end in enumerate(ends.tolist()):
            while end < len(text) and unicodedata.category(text[end])[0] == "M":
                end += 1
            ends[word] = end
    return Words(pieces.starts[opening] + offset, ends + offset, means.astype(np.float32), opens)


def spans_of(text: str, words: Words, *, caution: float = 0.0) -> list[Tagged]:
    """Runs of words of one kind, without marks at their ends.

    A word is taken where being an identifier of any kind is likelier than being none; `caution` is added to the
    logarithm of those odds first."""
    none = words.odds[:, 0].astype(np.float64)
    taken = np.flatnonzero(1 - none > none * math.exp(-caution)).tolist()
    kinds = words.odds[:, 1:].argmax(axis=1) if taken else np.zeros(0, np.int64)
    starts, ends, opens = words.starts, words.ends, words.opens
    runs: list[list[int]] = []
    for word in taken:
        last = runs[-1][-1] if runs else -2
        together = word == last + 1 and kinds[word] == kinds[last] and not opens[word]
        if together and text.count("\n", ends[last], starts[word]) < 2:
            runs[-1].append(word)
        else:
            runs.append([word])
    found = []
    for run in runs:
        while run and not _speaks(text, words, run[-1]):
            run.pop()
        first = next((at for at, word in enumerate(run) if _speaks(text, words, word)), 0)
        if run := run[first:]:
            sure = 1 - none[run]
            label = LABELS[int(kinds[run[0]])]
            found.append(Tagged(int(starts[run[0]]), int(ends[run[-1]]), label, float(sure.mean()), float(sure.min())))
    return found


def _speaks(text: str, words: Words, word: int) -> bool:
    return any(map(str.isalnum, text[words.starts[word] : words.ends[word]]))
