"""How much must speak for a word before it is taken for a known name or place: everyday words are not, by themselves.

A word that is nothing but a name is taken wherever it stands in the patient's notes. One that is an everyday word too
(Rose, Young) needs a capital that its place in the sentence does not explain; one that sentences are made of, that is a
month, a clinical word or an abbreviation (Will, May, Burns, MS), and one of two letters, needs a cue beside it: a
title, another part of the name, a relation, a label, or what only people do.
"""

from __future__ import annotations

from enum import IntEnum

from workup.deid import gazetteer
from workup.deid.known_words import clinical_words, is_clinical_part
from workup.deid.names.word_weights import weigh
from workup.deid.names.words import ABBREVIATIONS, DONE, KIN, MEETING, VERBS
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.text.calendar import MONTH_NUMBER, SEASONS, WEEKDAY_NUMBER
from workup.text.memo import Memo
from workup.text.wordlists import function_words, words_of

_CALENDAR = frozenset((*MONTH_NUMBER, *WEEKDAY_NUMBER, *SEASONS))
_MOSTLY_A_WORD = -1.0  # log-odds of being a name, below which a capital alone does not make one
_AUXILIARIES = words_of("is was has had will would did does notes saw seen left received needs felt fell did")
_PEOPLE_DO = VERBS - _AUXILIARIES
_CALLED = words_of("contact name named called pt patient client resident aka dear hi hello thanks thank goes")
_WITH = frozenset(("with", "by", "from", "to"))
_SMALL = 50  # one word in so many with a capital, and fewer
_BEFORE = (" ", ". ", ": ", ", ", ":", "  ", ".", " (", '"', ' "')


class Need(IntEnum):
    """What has to speak for a word: nothing, a capital, or a cue."""

    NOTHING = 0
    CAPITAL = 1
    CUE = 2


def _need(word: str) -> Need:
    bare = word.replace("'", "")
    if len(bare) < 3 or bare in _CALENDAR or bare in ABBREVIATIONS or bare in function_words():
        return Need.CUE
    if bare in clinical_words() or (bare in gazetteer.everyday() and is_clinical_part(bare)):
        return Need.CUE
    if bare in gazetteer.everyday():
        return Need.CAPITAL if weigh(bare).odds > _MOSTLY_A_WORD else Need.CUE
    return Need.NOTHING


NEEDS = Memo(_need)


def is_of_sentences(word: str) -> bool:
    """Whether sentences are made of a word, or a date: in small letters it is never a part of a name.

    >>> is_of_sentences("may"), is_of_sentences("rose")
    (True, False)
    """
    return word in _CALENDAR or word in function_words()


def _can_be_misspelt(word: str) -> bool:
    return 3 < len(word) < 32 and word.isalpha() and word not in gazetteer.everyday() and not is_clinical_part(word)


CAN_BE_MISSPELT = Memo(_can_be_misspelt)  # what is a word itself is not read as a typo of another


class Support:
    """The cues that are looked for beside the words of a page.

    >>> from workup.deid.settings import load
    >>> page = Page("Ms. Will called. She will return, and Rose agrees.")
    >>> support = Support(page, titles(load()))
    >>> [support.of(at, NEEDS[page.words[at]]) for at in (1, 4, 7)]
    ['title', None, 'verb']
    """

    def __init__(self, page: Page, titles: frozenset[str]) -> None:
        self.page, self.titles = page, titles
        # Where nearly nothing has a capital, small letters say nothing.
        self.small = page.cases.count("t") * _SMALL < page.size

    def of(self, at: int, need: Need) -> str | None:
        """What speaks for a word by itself, as evidence; None where it is too little."""
        if need is Need.NOTHING:
            return "known"
        page, word, case = self.page, self.page.words[at], self.page.cases[at]
        capital = case == "t" or (case == "u" and not page.capitals[at])
        called = self._called(at, capital=capital)
        if called == "title" and not (case == "l" and word in function_words()):
            return called
        if called is not None and (capital or (not is_of_sentences(word) and self._is_free(word, case, need))):
            return called
        if not capital or (case == "u" and need is Need.CUE):
            return None
        following = page.words[at + 1] if at + 1 < page.size else ""
        if following in _PEOPLE_DO and page.gaps[at] == " ":
            return "verb"
        if following in KIN and page.gaps[at] in (", ", " ("):
            return "kin"
        if need is Need.CAPITAL and not page.opens_sentence(at) and not _in_a_heading(page, at):
            return "capital"
        return None

    def _is_free(self, word: str, case: str, need: Need) -> bool:
        """Whether a word without a capital of its own may be a name: its case says nothing, or it is hardly a word."""
        if need is Need.CAPITAL or word not in gazetteer.everyday():
            return True
        return (case == "u" or self.small) and not is_clinical_part(word) and word not in ABBREVIATIONS

    def _called(self, at: int, *, capital: bool) -> str | None:
        """A title, a relation or a label before the word, or a meeting with somebody."""
        page = self.page
        gap = page.gaps[at - 1] if at else ""
        if gap not in _BEFORE:
            return None
        before = page.words[at - 1]
        if before in self.titles and gap in (" ", ". ", "."):
            return "title"
        marked = capital or gap != " "  # "patient may", in small letters or in capitals
        if marked and before in KIN and before != "self":
            return "kin"
        if marked and (before in _CALLED or gap.startswith(":")):
            return "label"
        earlier = page.words[at - 2] if at > 1 else ""
        if (before in _WITH and earlier in MEETING) or (before == "for" and earlier in DONE):
            return "met"
        following = page.words[at + 1] if at + 1 < page.size else ""
        return "kin" if following in KIN and page.gaps[at] == " (" else None


def titles(settings: Settings) -> frozenset[str]:
    """Titles of one word: what follows is a person."""
    return frozenset(title for title in settings.cues.get("title", ()) if " " not in title)


def _in_a_heading(page: Page, at: int) -> bool:
    """Whether the words beside it have capitals too, so that its own says little."""
    after = at + 1 < page.size and page.cases[at + 1] in "tu" and page.gaps[at] == " "
    before = at > 0 and page.cases[at - 1] in "tu" and page.gaps[at - 1] == " "
    return before or after
