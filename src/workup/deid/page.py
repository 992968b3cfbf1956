"""A text made ready to be searched: look-alike characters as plain ones, words with places and cases. No offset moves.

Knows no rule, no name and no label."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from functools import cached_property
from itertools import chain

from workup.deid.openings import fold

# Letters that most fonts draw like Latin ones, dashes, quotes, blanks and strokes: one character for one.
_PAIRS = """
АA ВB СC ЕE НH ІI ЈJ КK МM ОO РP ЅS ТT ХX ҮY аa сc ԁd еe ɡg һh іi јj ӏl оo рp ԛq ѕs уy ԝw хx З3 б6
ΑA ΒB ϹC ΕE ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΧX ΥY ΖZ οo υu νv łl đd øo ßs æa œo ıi ŁL ĐD ØO
‐- ‑- ‒- –- —- ―- −- ﹣- ’' ‘' ʼ' ´' `' ′' “" ”" „" ⁄/ ∕/ ‚, ．. ：: ＠@
"""
_FOLD = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
_FOLD |= dict.fromkeys((160, 8199, 8200, 8201, 8202, 8194, 8195, 8239, 12288), " ")
_FOLD |= {0xFF01 + i: chr(0x21 + i) for i in range(94)}
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_OPENING = re.compile(r"(?<!\w)\w|[^\w\s]")
_WORD = re.compile(r"[^\W_]+(?:'(?![sS](?![^\W_]))[^\W_]+)?")


# Letters that scanners read for digits, in words that are mostly digits: "2O23", "l2". Codes such as "S21" stay.
_CONFUSED = re.compile(r"(?<![A-Za-z0-9])(?:[OoIl]|(?=\d))[0-9OoIlSsBZzGbgq]{1,12}(?![A-Za-z0-9])")
_AS_DIGITS = str.maketrans("OoIlZzSsBGbgq", "0011225586699")


def _as_number(match: re.Match[str]) -> str:
    word = match[0]
    letters = sum(map(str.isalpha, word))
    if not letters or letters > len(word) / 2:
        return word
    if (word[0].isalpha() or word[-1].isalpha()) and len(word) < 4:
        beside = match.string[max(0, match.start() - 1) : match.start()] + match.string[match.end() : match.end() + 1]
        ends = {word[0], word[-1]} & set("OoIlSsBZzGbgq")
        if not ends <= set("OoIl") or not set(beside) & set("/-:"):
            return word
    return word.translate(_AS_DIGITS)


def words_of(text: str) -> frozenset[str]:
    """The words of a list that is written in one string."""
    return frozenset(text.split())


def folded(text: str) -> str:
    """The text in plain letters, digits, blanks, dashes and quotes, as many characters as before.

    >>> folded("Núñez\u00a0–\u00a0О’Hara")
    "Nunez - O'Hara"
    """
    if text.isascii():
        return text
    return _NOT_ASCII.sub(lambda match: _plain(match[0]), text.translate(_FOLD))


def _plain(character: str) -> str:
    first = unicodedata.normalize("NFD", character)[0]
    return first if first < "\x80" else character


class Page:
    """One text. `words` are in lower case; `starts`, `ends` their places; `cases` one letter each.

    Cases: `t` Title, `u` UPPER, `l` lower, `m` mIxed, `d` holds a digit, `i` one capital letter.

    >>> page = Page("Seen by Dr. O'HARA at 9.")
    >>> page.words, page.cases
    (['seen', 'by', 'dr', "o'hara", 'at', '9'], 'tltuld')
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = _CONFUSED.sub(_as_number, folded(text))
        low = self.plain.lower()
        self.low = low if len(low) == len(text) else "".join(c.lower()[:1] for c in self.plain)
        spans = [match.span() for match in _WORD.finditer(self.plain)]
        self.starts = [start for start, _ in spans]
        self.ends = [end for _, end in spans]
        low = self.low
        self.words = [low[start:end] for start, end in spans]
        plain = self.plain
        self.cases = "".join([_case(plain[start:end]) for start, end in spans])

        self._places: dict[frozenset[str], list[int]] = {}
        self._indexes: dict[int, dict[str, list[int]]] = {}
        self._folded = ""
        self._begin: list[int] = []

    def __len__(self) -> int:
        return len(self.words)

    def places(self, heads: frozenset[str]) -> list[int]:
        """Places where a word begins, or a mark stands, with one of these beginnings (folded, all of one length)."""
        found = self._places.get(heads)
        if found is None:
            index = self._openings(len(next(iter(heads), "")))
            if len(heads) < len(index):
                lists = [index[head] for head in heads if head in index]
            else:
                lists = [places for head, places in index.items() if head in heads]
            found = sorted(chain.from_iterable(lists))
            self._places[heads] = found
        return found

    def _openings(self, length: int) -> dict[str, list[int]]:
        """Places by the folded characters there; what is shorter, at the end of the text, is filled up."""
        index = self._indexes.get(length)
        if index is None:
            if not self._indexes:
                self._folded = fold(self.low) + "\x00" * 4
                self._begin = [match.start() for match in _OPENING.finditer(self.plain)]
            index = self._indexes[length] = {}
            folded = self._folded
            for place in self._begin:
                head = folded[place : place + length]
                if head in index:
                    index[head].append(place)
                else:
                    index[head] = [place]
        return index

    def gap(self, word: int) -> str:
        """What stands between a word and the next, or the end of the text."""
        after = self.starts[word + 1] if word + 1 < len(self.starts) else len(self.plain)
        return self.plain[self.ends[word] : min(after, self.ends[word] + 80)]

    def before(self, word: int) -> str:
        """What stands between a word and the one before, or the start of the text; at most 80 characters."""
        start = self.starts[word]
        return self.plain[max(self.ends[word - 1] if word else 0, start - 80) : start]

    def word_at(self, place: int) -> int:
        """The first word that starts at or behind a place."""
        return bisect_left(self.starts, place)

    def opens_line(self, word: int) -> bool:
        """Whether nothing but blanks and marks stands before a word in its line."""
        return word == 0 or "\n" in self.before(word)

    def opens_sentence(self, word: int) -> bool:
        """Whether a word opens a line or stands behind the end of a sentence."""
        if word == 0:
            return True
        gap = self.before(word)
        return "\n" in gap or any(mark in gap for mark in (". ", "? ", "! ", ".  "))

    @cached_property
    def speakers(self) -> Counter[str]:
        """How often each word opens a line with a colon behind it, as names do in transcripts."""
        return Counter(
            word
            for at, word in enumerate(self.words)
            if self.plain[self.ends[at] : self.ends[at] + 1] == ":" and self.opens_line(at)
        )

    @cached_property
    def capitals(self) -> list[bool]:
        """For each word, whether its line is written in capitals throughout, so that case says nothing there."""
        answer: list[bool] = []
        end = 0
        while end < len(self.plain):
            end = self.plain.find("\n", end) + 1 or len(self.plain)
            cases = self.cases[len(answer) : self.word_at(end)]
            upper = cases.count("u")
            shouted = upper >= 3 and cases.count("l") + cases.count("t") + cases.count("m") <= upper // 6
            answer += [shouted] * len(cases)
        return answer


def _case(word: str) -> str:
    if word.isalpha():
        if word.islower():
            return "l"
        if word.isupper():
            return "u" if len(word) > 1 else "i"
        return "t" if word.istitle() else "m"
    if "'" in word and not any(map(str.isdigit, word)):
        return "l" if word.islower() else "u" if word.isupper() else "t"
    return "d"
