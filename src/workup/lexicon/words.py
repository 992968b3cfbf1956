"""A text cut into words with their places, and whether two neighbours may be in one term. It knows no vocabulary."""

from __future__ import annotations

import re
from itertools import accumulate, compress
from operator import add
from typing import NamedTuple

from workup.lexicon.terms import WORD
from workup.text.unicode import NOT_ASCII, lowered, unaccented

_WORDS = re.compile(WORD)
# Every ASCII character that is no letter or digit becomes one blank: the fast way to cut most notes into words.
_BLANKED = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
# Between two words of one term: blanks, at most one line end, one hyphen or one apostrophe. A stop or comma parts them.
_JOINS = re.compile(r"[^\S\n]*\n?[^\S\n]*|[-\u2010\u2011\u2012\u2013'\u2018\u2019\xad]\n?[^\S\n]*")
_WIDEST = 40  # wider gaps part columns; and no pattern meets a long run of blanks
# After a single letter also a stop or a stroke: "E. coli", "V/Q scan".
_JOINS_A_LETTER = re.compile(r"\.[^\S\n]?|/")


class Words(NamedTuple):
    """The text without accents, its words in lower case, and where each one starts; all in code points."""

    plain: str
    words: list[str]
    starts: list[int]

    def end(self, word: int) -> int:
        """Where a word ends."""
        return self.starts[word] + len(self.words[word])

    def written(self, first: int, last: int) -> str:
        """Words as the text writes them, with one blank between them."""
        return " ".join(self.plain[self.starts[word] : self.end(word)] for word in range(first, last + 1))


def cut(text: str) -> Words:
    """The words of a text: runs of letters and digits of any script, and ampersands.

    >>> cut("No D&C; K+ 3.4")[1:]
    (['no', 'd', '&', 'c', 'k', '3', '4'], [0, 3, 4, 5, 8, 11, 13])
    """
    if "&" in text:
        return cut_any(text)
    plain = unaccented(text)
    pieces = _blanked(plain).split(" ")
    # A piece starts after all pieces before it and one blank for each; the empty ones are dropped. No Python loop runs.
    starts = map(add, accumulate(map(len, pieces), initial=0), range(len(pieces)))
    return Words(plain, list(filter(None, pieces)), list(compress(starts, pieces)))


def words_alone(text: str) -> list[str]:
    """The words that `cut` finds, without their places, for a text without ampersands.

    >>> words_alone("K+ 3.4") == cut("K+ 3.4").words
    True
    """
    return _blanked(unaccented(text)).split()


def _blanked(plain: str) -> str:
    """In lower case, and a blank for all that is no letter or digit."""
    low = lowered(plain)
    if not low.isascii():
        low = NOT_ASCII.sub(lambda match: match[0] if match[0].isalnum() else " ", low)
    return low.translate(_BLANKED)


def cut_any(text: str) -> Words:
    """The same by its definition, for any text; slower."""
    plain = unaccented(text)
    matches = list(_WORDS.finditer(lowered(plain)))
    return Words(plain, [match[0] for match in matches], [match.start() for match in matches])


def joined(text: Words, word: int, *, stroke: bool) -> bool:
    """Whether what is between this word and the next leaves them in one term; a stroke does only where it may."""
    gap = text.plain[text.end(word) : text.starts[word + 1]]
    if gap == " " or gap == "-" or (stroke and gap == "/"):
        return True
    if len(gap) > _WIDEST:
        return False
    before = text.words[word]
    letter = len(before) == 1 and before.isalpha()  # a digit before a stop ends a sentence: "stage 3. Chronic …"
    return bool(_JOINS.fullmatch(gap)) or (letter and bool(_JOINS_A_LETTER.fullmatch(gap)))
