"""Replies that repeat themselves: how much of one is repeated, and the reply without it. Knows words, no medicine.

Only whole sentences and lines that come again, and runs of words that loop at once, count as repeated. Lines of a list
that share their wording ("take … once a day") stay: taking words out of a sentence could join one drug to the dose of
another.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LIMIT = 0.30  # share of repeated words above which a reply is cleaned
LOOPS = 3  # times that a run of words stands in a row before it is a loop
_LONGEST_LOOP = 30  # words
_UNIT = re.compile(r"[^\n]*?(?:[.!?]+[\"')\]]*(?=\s)|\n|\Z)", re.DOTALL)
_WORD = re.compile(r"\S+")
_EDGES = re.compile(r"^\W+|\W+$")


class _Word(NamedTuple):
    start: int
    end: int
    folded: str
    repeated: bool


def repeated_share(reply: str) -> float:
    """Share of the words that stand in a sentence or line which the reply has already said, or in a loop of words.

    >>> repeated_share("Take it with food. " * 4)
    0.75
    """
    words = _words(reply)
    return sum(word.repeated for word in words) / len(words) if words else 0.0


def cleaned(reply: str) -> str:
    """The reply without what it repeats, where that is more than 30 % of it; else the reply as it is.

    >>> cleaned("Take it with food. " * 4)
    'Take it with food.'
    """
    words = _words(reply)
    if not words or sum(word.repeated for word in words) / len(words) <= LIMIT:
        return reply
    pieces, end = [], 0
    for word in words:
        if not word.repeated:
            pieces.append(reply[end : word.end])
        end = word.end
    return "".join(pieces).strip()


def _words(reply: str) -> list[_Word]:
    found: list[_Word] = []
    seen: set[tuple[str, ...]] = set()
    for unit in _UNIT.finditer(reply):
        spots = [(one.start(), one.end()) for one in _WORD.finditer(reply, unit.start(), unit.end())]
        folded = [_EDGES.sub("", reply[start:end]).casefold() or reply[start:end] for start, end in spots]
        again = tuple(folded) in seen
        seen.add(tuple(folded))
        marks = [True] * len(folded) if again else _looping(folded)
        found += [_Word(*spot, word, mark) for spot, word, mark in zip(spots, folded, marks, strict=True)]
    return found


def _looping(words: list[str]) -> list[bool]:
    """For each word, whether it belongs to the second or a later round of a loop."""
    marks = [False] * len(words)
    place = 0
    while place < len(words):
        step = 1
        for size in range(1, min(_LONGEST_LOOP, (len(words) - place) // LOOPS) + 1):
            rounds = _rounds(words, place, size)
            if rounds >= LOOPS:
                step = size * rounds
                marks[place + size : place + step] = [True] * (step - size)
                break
        place += step
    return marks


def _rounds(words: list[str], place: int, size: int) -> int:
    first = words[place]
    rounds = 1
    while True:
        start = place + rounds * size
        if start + size > len(words) or words[start] != first:
            return rounds
        if words[start : start + size] != words[place : place + size]:
            return rounds
        rounds += 1
