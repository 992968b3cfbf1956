"""A text cut into sentences as they are written: case, signs and words stay. Knows no medicine.

Three ways, because texts end their sentences in three ways: plans and replies (`sentences_of`) have lines, items and
abbreviations; transcripts (`spoken_sentences`) have none of them, and every stop ends one; where another reader has
to agree with the cut (`sentences_by`), that reader is asked. The reader of conversations itself cuts words that are
folded already, with the headings that they are under, and does so in its own room."""

from __future__ import annotations

import re
from collections.abc import Callable

_LONGEST = 100_000  # characters
_LINE_MARK = re.compile(r"^[ \t]{0,20}(?:[-*+\u2022\u25e6\u2023]+|\(?\d{1,2}[.)]|\(?[a-z]\)|#{1,6})[ \t]+")
_ABBREVIATIONS = ("dr", "mr", "mrs", "ms", "vs", "e.g", "i.e", "no", "approx", "st")
_DOTTED = re.compile(r"(?:^|[\s(])[a-z](?:\.[a-z])+\.?$", re.IGNORECASE)
_GAP = re.compile(r"(?<=[.!?])[\"')\]]*[ \t]+|[ \t]*\n\s*")
_SPOKEN = re.compile(r"(?:[^.?!]|[.](?=\d))+[.?!]*")


def sentences_of(text: str) -> list[str]:
    """The sentences, list items and lines of a text as they are written, for what must see the words themselves.

    >>> sentences_of("1. Take 2.5 mg b.i.d. with food; see Dr. Ito.\\n- Rest")
    ['Take 2.5 mg b.i.d. with food', 'see Dr. Ito.', 'Rest']
    """
    found: list[str] = []
    for line in text[:_LONGEST].splitlines():
        rest = _LINE_MARK.sub("", line)
        start = 0
        for place, sign in enumerate(rest):
            if sign == ";" or (sign in ".!?" and _ends(rest, start, place)):
                found.append(rest[start : place + (sign != ";")])
                start = place + 1
        found.append(rest[start:])
    pieces = [piece.strip(" \t*_") for piece in found]
    return [piece for piece in pieces if any(sign.isalnum() for sign in piece)]


def _ends(line: str, start: int, place: int) -> bool:
    """Whether a stop ends a sentence: a blank follows, and no abbreviation or lower-case word says that it goes on."""
    if place + 1 < len(line) and not line[place + 1].isspace() and line[place + 1] not in "\"')]*":
        return False
    if line[place] != ".":
        return True
    before = line[max(start, place - 12) : place]
    last = before.rsplit(" ", 1)[-1].strip("(").casefold()
    following = line[place + 1 :].lstrip()[:1]
    if last in _ABBREVIATIONS:
        return not following
    return not (_DOTTED.search(before) and following and not following.isupper())


def spoken_sentences(text: str) -> list[str]:
    """The sentences of speech that was written down: each stop ends one, unless a digit follows it.

    >>> spoken_sentences("I take 2.5 mg. Is that right? yes")
    ['I take 2.5 mg.', ' Is that right?', ' yes']
    """
    return _SPOKEN.findall(text)


def sentences_by(text: str, *, one_sentence: Callable[[str, str], bool]) -> list[str]:
    """The pieces between stops and line ends, those joined again of which `one_sentence(before, after)` says so.

    >>> sentences_by("Dr. Ito came.\\nGood", one_sentence=lambda before, after: before.endswith("Dr. "))
    ['Dr. Ito came.', 'Good']
    """
    found: list[str] = []
    start = 0
    for gap in [*_GAP.finditer(text), None]:
        piece = text[start : gap.end() if gap else len(text)]
        start = gap.end() if gap else start
        if not piece.strip():
            continue
        if found and one_sentence(found[-1], piece):
            found[-1] += piece
        else:
            found.append(piece)
    return [piece.strip() for piece in found]
