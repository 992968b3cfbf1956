"""A text without a difference of case on its way to one: which words are to get a capital. Knows no names, no places.

Only words of lines whose case says nothing are ever marked."""

from __future__ import annotations

from workup.deid.gazetteer import everyday
from workup.deid.known_words import clinical_words
from workup.deid.names.word_weights import Weight, weigh
from workup.deid.names.words import KIN, VERBS
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.deid.word_lists import words
from workup.text.calendar import MONTH_WORDS, WEEKDAY_WORDS
from workup.text.wordlists import function_words

TITLE, UPPER = 1, 2
_NEVER = words("letter_case.never_names") | MONTH_WORDS | WEEKDAY_WORDS
_UNKNOWN = frozenset(("unknown", "typo"))


class Draft:
    """The words of a page, whether the case of each says nothing, and what each is to become."""

    def __init__(self, page: Page, silent: bytes, settings: Settings) -> None:
        self.page, self.silent, self.settings = page, silent, settings
        self.wanted = bytearray(page.size)
        self._own, self._stop = settings.names, settings.not_names

    def mark(self, first: int, last: int, how: int = TITLE) -> None:
        """Give words a capital; a single letter is one capital either way."""
        for word in range(first, last + 1):
            possessive = self.page.words[word] == "s" and self.page.leads[word] == "'"
            if self.silent[word] and not possessive:
                self.wanted[word] = max(how, self.wanted[word])

    def weight(self, word: int) -> Weight:
        """The weight of a word as a name, as if it had a capital."""
        return weigh(self.page.words[word])

    def plain(self, word: int) -> bool:
        """Whether a word is one of sentences and notes: a function word, a heading, a clinical word."""
        text = self.page.words[word]
        if text in self._own:
            return False
        return text in function_words() or text in self._stop or text in _NEVER or text in clinical_words()

    def proper(self, word: int) -> bool:
        """Whether a word is a name of a person or place and nothing else."""
        text = self.page.words[word]
        if text in self._own:
            return True
        if len(text) < 3 or self.plain(word) or text in self.settings.lists["instruments"]:
            return False
        weight = weigh(text)
        return weight.known and not weight.everyday and (weight.given or weight.family)

    def strange(self, word: int) -> bool:
        """Whether no list holds a word that is long enough to be somebody's or something's name."""
        text = self.page.words[word]
        return len(text) > 3 and text.isalpha() and not self.plain(word) and weigh(text).why in _UNKNOWN

    def bearable(self, word: int, least: float) -> bool:
        """Whether a word may be part of a name that something announces."""
        text = self.page.words[word]
        if text in self._own:
            return True
        if len(text) < 2 or self.plain(word) or text in VERBS or text in KIN:
            return False
        weight = weigh(text)
        if weight.why in _UNKNOWN:
            return len(text) > 2 and text not in everyday()
        return weight.known and (weight.given or weight.family) and weight.odds > least
