"""A text made ready to be searched: look-alike characters as plain ones, words with places and cases.

No offset moves."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import accumulate, compress, count
from operator import add, sub

from workup.deid.patterns.regex_heads import fold
from workup.deid.patterns.start_index import REGISTER
from workup.text.memo import Memo
from workup.text.unicode import folded, lowered

_MOST_GAP = 80
_RUN = re.compile(r"\w+")
_MARK = re.compile(r"[^\w\s]")
_LETTERS = re.compile(r"[a-z]+")
_APOSTROPHE = re.compile(r"'(?<=[^\W_]')(?![sS](?![^\W_]))[^\W_]")
_WORD = re.compile(r"([^\W_]+(?:'(?![sS](?![^\W_]))[^\W_]+)?)")


def words_in(text: str) -> list[str]:
    """The words of a short text in lower case, as a page has them.

    >>> words_in("O'Hara, José")
    ["o'hara", 'jose']
    """
    return _WORD.findall(lowered(folded(text)))


class Page:
    """One text. `words` are in lower case, `size` of them; `starts`, `ends` their places; `cases` one letter each;
    `leads` and `gaps` what is before and after each.

    Cases: `t` Title, `u` UPPER, `l` lower, `m` mIxed, `d` holds a digit, `i` one capital letter. `restored` has a byte
    for each word where the case of some was given back (see letter_case): 1 for those words.

    >>> page = Page("Seen by Dr. O'HARA at 9.")
    >>> page.words, page.cases
    (['seen', 'by', 'dr', "o'hara", 'at', '9'], 'tltuld')
    """

    restored: bytes | None = None

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = folded(text)
        self.low = lowered(self.plain)
        pieces = _WORD.split(self.plain)
        parted, written = pieces[::2], pieces[1::2]
        self.words = list(map(str.lower, written)) if self.plain.isascii() else _WORD.findall(self.low)
        self.cases = "".join(map(_CASES.__getitem__, written))
        # A word ends after all words so far and what is between them. No loop of Python's own runs here.
        lengths = list(map(len, written))
        self.ends: list[int] = list(accumulate(map(add, map(len, parted), lengths)))
        self.starts: list[int] = list(map(sub, self.ends, lengths))
        self.size = len(written)
        wide = len(max(parted, key=len)) > _MOST_GAP
        # Blanks and marks, at most 80 on either side of a word.
        self.gaps = [gap[:_MOST_GAP] for gap in parted[1:]] if wide else parted[1:]
        self.leads = [gap[-_MOST_GAP:] for gap in parted[:-1]] if wide else parted[:-1]

    @cached_property
    def places(self) -> Mapping[int, list[int]]:
        """For each number of the register, the places where its patterns may begin."""
        runs: Iterable[tuple[int, int]] = zip(self.starts, self.ends, strict=True)
        if "_" in self.plain or _APOSTROPHE.search(self.plain):  # a word is not always one run of word characters
            runs = (match.span() for match in _RUN.finditer(self.plain))
        marks = (match.start() for match in _MARK.finditer(self.plain))
        return REGISTER.places(fold(self.plain) + "\x00" * 3, runs, marks)

    def word_at(self, place: int) -> int:
        """The first word that starts at or after a place."""
        return bisect_left(self.starts, place)

    def opens_line(self, word: int) -> bool:
        """Whether a word has nothing but blanks and marks before it in its line."""
        return word == 0 or "\n" in self.leads[word]

    def opens_sentence(self, word: int) -> bool:
        """Whether a word opens a line or follows the end of a sentence."""
        if word == 0:
            return True
        gap = self.leads[word]
        return gap != " " and ("\n" in gap or ". " in gap or "? " in gap or "! " in gap)

    def of(self, words: Container[str]) -> Iterator[int]:
        """The words of the page that are among these, from the left."""
        return compress(count(), map(words.__contains__, self.words))

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Its different words."""
        return frozenset(self.words)

    @cached_property
    def letters(self) -> frozenset[str]:
        """Its different runs of plain letters: words, and what words with digits or apostrophes are made of."""
        if "'" in self.plain or not self.plain.isascii():
            return frozenset(_LETTERS.findall(self.low))
        return self.vocabulary.union(_LETTERS.findall(" ".join(self.words[word] for word in self.figures)))

    @cached_property
    def figures(self) -> list[int]:
        """The words that hold a digit."""
        return [word for word, case in enumerate(self.cases) if case == "d"]

    @cached_property
    def longest(self) -> int:
        """Letters and digits of the longest word that holds a digit."""
        return max((len(self.words[word]) for word in self.figures), default=0)

    @cached_property
    def speakers(self) -> Counter[str]:
        """How often each word opens a line with a colon after it, as names do in transcripts."""
        marked = [at for at, gap in enumerate(self.gaps) if gap[:1] == ":"]
        return Counter(self.words[at] for at in marked if self.opens_line(at))

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


_CASES = Memo(_case)
