"""Where the sentences of a reply stand in its own words: the reader counts folded sentences, people read the reply."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from workup.tasks.conversation.read.sentence.folding import word_tokens
from workup.tasks.conversation.read.sentence.text import Sentence

Place = tuple[int, int]
_WORD = re.compile(r"[^\W_]+(?:[.,'’/-][^\W_]+)*")
_UNREAD = re.compile(r"~~[^~\n]{0,400}~~|\]\([^()\n]{0,400}\)")  # struck out, and the addresses of links
_BEHIND = re.compile(r"[^\w\s]{1,4}")
_AHEAD = 12  # folded words that may be passed over at once, where a sign became a word or a word was left out
_ENOUGH = 0.6  # of the words of a sentence must stand at its place, or it has none


def places(text: str, cut: Sequence[Sentence]) -> list[Place | None]:
    """The stretch [start, end) of each sentence in the text that it was cut from; None where it cannot be told.

    >>> from workup.tasks.conversation.read.sentence.text import sentences
    >>> text = "I see. Dr. Ito gave **2.5 mg** b.i.d. for gout!  Can't you eat?"
    >>> [text[start:end] for start, end in places(text, sentences(text))]
    ['I see.', 'Dr. Ito gave **2.5 mg** b.i.d. for gout!', "Can't you eat?"]
    """
    flat: list[str] = []
    owner: list[int] = []
    for number, sentence in enumerate(cut):
        words = [word for word in sentence.words if word[0].isalnum()]
        flat += words
        owner += [number] * len(words)
    spans: list[list[int]] = [[] for _ in cut]
    met = [0] * len(cut)
    free = 0
    for match in _WORD.finditer(_UNREAD.sub(lambda gap: " " * len(gap[0]), text)):
        for word in _folded(match[0]):
            at = _next(flat, word, free)
            if at < 0:
                continue
            number = owner[at]
            met[number] += 1
            spans[number] = [spans[number][0] if spans[number] else match.start(), match.end()]
            free = at + 1
    sizes = Counter(owner)
    return [
        _with_signs(text, span) if span and count >= _ENOUGH * sizes[number] else None
        for number, (span, count) in enumerate(zip(spans, met, strict=True))
    ]


@lru_cache(maxsize=20_000)
def _folded(word: str) -> tuple[str, ...]:
    return word_tokens(word)


def _next(flat: Sequence[str], word: str, free: int) -> int:
    """The next place of a word, near where the text is; a word that the reader left out is nowhere."""
    for at in range(free, min(free + _AHEAD, len(flat))):
        if flat[at] == word:
            return at
    return -1


def _with_signs(text: str, span: Sequence[int]) -> Place:
    """A sentence with its closing marks."""
    start, end = span
    behind = _BEHIND.match(text, end)
    return start, behind.end() if behind else end
