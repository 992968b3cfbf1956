"""A reply cut into sentences and list items, each with the heading that it stands under. It knows no medicine."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import NamedTuple

from workup.tasks.conversation.read.sentence.folding import (
    ITEM,
    LABEL,
    MARKS,
    PARAGRAPH,
    TITLE,
    goes_on_behind,
    tokens,
)
from workup.tasks.conversation.read.sentence.vocabulary import strings_of, table, words_of

_BREAKERS = frozenset({".", "!", "?", "\n", ")", *MARKS})
_LONGEST_SENTENCE = 150  # words; what is longer is no sentence, and each mention looks over its whole sentence
_INLINE, _LONGEST_HEADING = 99, 12


class Sentence(NamedTuple):
    """The words of one sentence or list item; `heading` are the words of the heading or lead-in it stands under."""

    words: list[str]
    question: bool
    heading: tuple[str, ...]


def sentences(text: str, *, pairs: frozenset[tuple[str, str]] = frozenset()) -> list[Sentence]:
    """The sentences of a text, in order. `pairs` are neighbours in a name: no line end parts them.

    >>> [sentence.words for sentence in sentences("Dr. Ito gave 2.5 mg b.i.d. for gout. **No** fever\\n- Can't eat")]
    [['dr', 'ito', 'gave', '2.5', 'mg', 'bid', 'for', 'gout'], ['no', 'fever'], ['ca', 'not', 'eat']]
    """
    return _cut(tokens(text), pairs)


class _Cutter:
    """Sentences as they are completed, with the title and the lead-in that the next one stands under."""

    def __init__(self) -> None:
        self.done: list[Sentence] = []
        self.words: list[str] = []
        self.title: tuple[str, ...] = ()  # holds to the next title, or to the end of its list
        self.lead: tuple[str, ...] = ()  # "Denies:", holds for the items below it
        self.in_title = self.listed = False
        self.level = self.lead_level = -1  # of the item: how far it is set in; -1 for plain lines
        self.parted = False  # an empty line stands between the lead-in and here
        self.number = 0  # the last number of an inline list: "1. asthma 2. gout"

    def end(self, *, question: bool = False) -> None:
        words, self.words = self.words, []
        while len(words) > _LONGEST_SENTENCE:
            self.done.append(Sentence(words[:_LONGEST_SENTENCE], question, ()))
            words = words[_LONGEST_SENTENCE:]
        titled, self.in_title = self.in_title, False
        leads = False
        while words and words[-1] == ":":
            words.pop()
            leads = True
        if not words:
            return
        if titled:
            self.title, self.lead, self.parted, self.listed = _heading(words), (), False, False
            self.done.append(Sentence(words, question, ()))
            return
        self.done.append(Sentence(words, question, self._under()))
        if leads:
            self.lead, self.lead_level, self.parted = _heading(words), self.level, False

    def _under(self) -> tuple[str, ...]:
        beside = 0 <= self.level <= self.lead_level  # a sibling of the item that led in
        if beside or (self.parted and self.level < 0):
            self.lead = ()
        if self.level >= 0:
            self.listed = True
        elif self.listed and self.parted:  # prose behind the list of a title
            self.title = ()
        return self.title + self.lead

    def structure(self, token: str) -> None:
        """A mark between lines: what came before it is complete."""
        self.end()
        if token == TITLE:
            self.in_title, self.level = True, -1
        elif token == PARAGRAPH:
            self.parted, self.level = True, -1
        elif token == LABEL:
            self.level, self.lead = -1, ()
        else:
            self.level = ord(token) - ord(ITEM)


def _heading(words: list[str]) -> tuple[str, ...]:
    """The last clause of a heading; a longer one is a sentence that speaks of other things too."""
    cut = max((place + 1 for place, word in enumerate(words) if word in (",", ";")), default=0)
    return (*words[cut:][-_LONGEST_HEADING:], ":")


def _cut(found: list[str], pairs: frozenset[tuple[str, str]]) -> list[Sentence]:
    cutter = _Cutter()
    done, size = 0, len(found)
    for place in [place for place, token in enumerate(found) if token in _BREAKERS]:
        cutter.words += found[done:place]
        done = place + 1
        token = found[place]
        after = found[done] if done < size else ""
        if token == "\n":
            if not _goes_on(cutter.words, after, pairs):
                cutter.end()
                cutter.level = -1
        elif token in ("?", "!"):
            cutter.end(question=token == "?")
        elif token in (".", ")"):
            _stop(cutter, token, after, pairs)
        else:
            cutter.structure(token)
    cutter.words += found[done:]
    cutter.end()
    return cutter.done


def _stop(cutter: _Cutter, token: str, after: str, pairs: frozenset[tuple[str, str]]) -> None:
    """A full stop or a bracket: the end, a list number, or part of an abbreviation."""
    words = cutter.words
    last = words[-1] if words else ""
    numbered = last.isdecimal() and len(last) < 3 and (token == "." or "(" not in words)
    if numbered and (len(words) == 1 or int(last) == cutter.number + 1):
        cutter.number = int(words.pop())
        cutter.end()
        cutter.level = max(cutter.level, _INLINE)
        return
    if token == ")":
        words.append(token)
        return
    if last in words_of("abbreviations_never_last"):
        return
    if after and after not in _BREAKERS:
        if last in words_of("abbreviations_sometimes_last") and goes_on_behind(after):
            return
        if len(last) == 1 and last.isalpha() and _initial(words, after, pairs):
            return
    cutter.end()
    if cutter.level == _INLINE:  # the list within a line is over
        cutter.level, cutter.parted = -1, True


def _initial(words: list[str], after: str, pairs: frozenset[tuple[str, str]]) -> bool:
    """Whether a single letter is short for a name ("E. coli", "Dr. A. Roe"); "hepatitis B." ends its sentence."""
    if after in words_of("second_names") or (words[-1], after) in pairs:
        return True
    if after in words_of("sentence_starters"):
        return False
    before = words[-2] if len(words) > 1 else ""
    return not before or (len(before) == 1 and before.isalpha()) or before in words_of("abbreviations_never_last")


@cache
def _cue_pairs() -> frozenset[tuple[str, str]]:
    """Neighbours in a cue or a way of taking ("drug allergies", "twice daily"), which no line end parts either."""
    return frozenset(
        pair
        for name in ("cues", "values")
        for text in strings_of(table(name))
        if " " in text
        for pair in pairwise(text.split())
    )


@cache
def _taking() -> frozenset[str]:
    """Units, routes and first words of frequencies: a line that opens with one goes on about a drug."""
    values = table("values")
    listed = (*values["units"], *values["routes"], *values["frequencies"])
    return frozenset(text.split()[0] for text in listed) | {"every", "each"}


def _goes_on(words: list[str], after: str, pairs: frozenset[tuple[str, str]]) -> bool:
    """Whether a sentence runs on over a line end: its last word asks for another, or the next cannot open one."""
    if not words or after in _BREAKERS or not after:
        return False
    last = words[-1]
    if last in words_of("never_last") or after in words_of("never_first") or after[0].isdigit() or after in _taking():
        return True
    return (last, after) in pairs or (last, after) in _cue_pairs()
