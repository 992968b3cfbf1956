"""From a label for each token to spans of the text: BIO, BILOU, BIOES and plain labels, words out of pieces.

Knows no model and no tokenizer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from workup.documents.document import Span
from workup.errors import InputError
from workup.stats.arrays import Floats

Aggregation = Literal["first", "average", "max", "simple"]
AGGREGATIONS: tuple[str, ...] = get_args(Aggregation)

_OUTSIDE = "O"
_PREFIXED = re.compile(r"([BIESLU])[-_](.+)", re.DOTALL)
_OPENS, _CLOSES = frozenset("BSU"), frozenset("ESLU")


@dataclass(frozen=True)
class TagScheme:
    """What each output of a model stands for: whether it opens or closes a span, and of which type; None is outside.

    >>> scheme = TagScheme.of(["O", "B-NAME", "I-NAME"])
    >>> scheme.types, scheme.parts
    (('NAME',), (None, ('B', 'NAME'), ('I', 'NAME')))
    """

    parts: tuple[tuple[str, str] | None, ...]
    types: tuple[str, ...]

    @classmethod
    def of(cls, labels: Sequence[str], *, where: str = "") -> TagScheme:
        """Labels are read as prefixed only where all are: E-MAIL beside NAME is a type, not the end of a MAIL."""
        named = [label for label in labels if label != _OUTSIDE]
        if len(named) == len(labels) or not named or not all(named):
            raise InputError(
                "the model must have a label 'O' for what is no span, and others beside it",
                where=where,
                got=f"{len(labels)} labels, {', '.join(label[:30] for label in labels[:4])} …",
                remedy="write the names into id2label of its config.json",
            )
        found = {label: _PREFIXED.fullmatch(label) for label in named}
        prefixed = all(found.values())
        parts: list[tuple[str, str] | None] = []
        for label in labels:
            match = found.get(label)
            if label == _OUTSIDE:
                parts.append(None)
            else:
                parts.append((match[1], match[2]) if prefixed and match else ("I", label))
        return cls(tuple(parts), tuple(sorted({part[1] for part in parts if part})))


@dataclass(frozen=True, eq=False)
class Tokens:
    """Tokens of one text in order: where each is, which word it belongs to, and the probability of each label."""

    offsets: tuple[tuple[int, int], ...]
    words: tuple[int | None, ...]
    probabilities: Floats

    @classmethod
    def of(cls, pieces: Iterable[tuple[tuple[int, int], int | None, Floats]]) -> Tokens:
        """From (offsets, word, probabilities), leaving out tokens that stand for no character."""
        kept = [piece for piece in pieces if piece[0][1] > piece[0][0]]
        stacked = np.array([piece[2] for piece in kept], dtype=np.float64) if kept else np.zeros((0, 1))
        return cls(tuple(piece[0] for piece in kept), tuple(piece[1] for piece in kept), stacked)


def spans_of(tokens: Tokens, text: str, *, scheme: TagScheme, aggregation: Aggregation) -> list[Span]:
    """Spans over words of one type that belong together, without white space at their ends.

    >>> shares = np.array([[0.1, 0.9, 0.0], [0.2, 0.0, 0.8], [1.0, 0.0, 0.0]])
    >>> tokens = Tokens(((0, 3), (3, 9), (9, 12)), (0, 1, 2), shares)
    >>> found = spans_of(tokens, "Ann Smith ill", scheme=TagScheme.of(["O", "B-NAME", "I-NAME"]), aggregation="first")
    >>> [(span.start, span.end, span.label, round(span.score, 3)) for span in found]
    [(0, 9, 'NAME', 0.85)]
    """
    found: list[Span] = []
    open_type: str | None = None
    start = end = 0
    scores: list[float] = []

    def close() -> None:
        if open_type is not None:
            found.extend(_trimmed(text, start, end, open_type, float(np.mean(scores))))

    for first, last, shares in _units(tokens, aggregation):
        best = int(np.argmax(shares))
        part = scheme.parts[best]
        kind = None if part is None else part[1]
        if part is None or part[0] in _OPENS or kind != open_type:
            close()
            open_type, start, scores = kind, first, []
        end = last
        scores.append(float(shares[best]))
        if part is not None and part[0] in _CLOSES:
            close()
            open_type = None
    close()
    return found


def _units(tokens: Tokens, aggregation: Aggregation) -> Iterator[tuple[int, int, Floats]]:
    """Words, or single tokens where `simple` is asked for: their places and the probabilities they are judged by."""
    begin, count = 0, len(tokens.offsets)
    while begin < count:
        stop = begin + 1
        word = tokens.words[begin]
        while aggregation != "simple" and word is not None and stop < count and tokens.words[stop] == word:
            stop += 1
        pieces = tokens.probabilities[begin:stop]
        if aggregation == "average":
            shares = pieces.mean(axis=0)
        elif aggregation == "max":
            shares = pieces[int(np.argmax(pieces.max(axis=1)))]
        else:
            shares = pieces[0]
        yield tokens.offsets[begin][0], tokens.offsets[stop - 1][1], shares
        begin = stop


def _trimmed(text: str, start: int, end: int, label: str, score: float) -> Iterator[Span]:
    """Byte-level tokenizers count the blank before a word to it."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        yield Span(start, end, label, score=min(score, 1.0))
