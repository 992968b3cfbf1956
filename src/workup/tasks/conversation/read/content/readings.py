"""Sentences read once: whether any word in one could deny, end, doubt or suppose, and its cues where one could.

It knows the matcher's cues, and no term. What was read is kept for as long as there is room, in memory alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.sentence.allergies import speaks_of_allergy
from workup.tasks.conversation.read.sentence.analysed import Analysed
from workup.tasks.conversation.read.sentence.cues import phrase_list, word_set
from workup.tasks.conversation.read.sentence.hypothetical import may_suppose
from workup.tasks.conversation.read.sentence.mention import Mention
from workup.tasks.conversation.read.sentence.orders import deciding_words
from workup.tasks.conversation.read.sentence.text import Sentence
from workup.tasks.conversation.read.sentence.vocabulary import table


class Reading:
    """A sentence as it was read: whether it has any deciding word at all, and what it says, found when asked for."""

    __slots__ = ("_analysed", "_following", "_sentence", "decisive", "of_allergy", "said")

    def __init__(self, sentence: Sentence, following: Sentence | None) -> None:
        words = [*sentence.heading, *sentence.words] if sentence.heading else sentence.words
        self._sentence, self._following = sentence, following
        self._analysed: Analysed | None = None
        self.decisive = sentence.question or following is not None or _decides(words) or may_suppose(words)
        self.of_allergy = speaks_of_allergy(words)
        self.said: dict[tuple[int, int, str], Mention] = {}

    @property
    def analysed(self) -> Analysed:
        """The sentence with its cues and clauses."""
        if self._analysed is None:
            self._analysed = Analysed(self._sentence, self._following)
        return self._analysed


# A model says the same sentences again at every turn: each is read once.
_READINGS: dict[tuple[object, ...], Reading] = {}
_MOST_READINGS = 2048


def reading_of(sentence: Sentence, following: Sentence | None) -> Reading:
    """The reading of a sentence and, where it matters, of the one that follows."""
    # What follows matters only where it answers a question or takes up what was said ("It was stopped.").
    if following is not None and not sentence.question and following.words[0] not in _TAKEN_UP:
        following = None
    after = tuple(following.words) if following is not None else None
    key = (tuple(sentence.words), sentence.heading, sentence.question, after)
    found = _READINGS.get(key)
    if found is None:
        if len(_READINGS) >= _MOST_READINGS:
            _READINGS.clear()
        found = _READINGS[key] = Reading(sentence, following)
    return found


# A sentence that opens with one of these may end what the one before it says ("It was stopped.").
_TAKEN_UP = frozenset({"it", "this", "that", "these", "they"})
_DECIDING = (
    *("negated", "trouble", "ruled_out", "stopped", "resolved", "no_longer", "past", "family", "possible", "tested"),
    *("supposed", "feared", "flagged", "weighed", "condition"),
)


class _Deciding(NamedTuple):
    alone: frozenset[str]  # words that are a cue by themselves
    joined: dict[str, tuple[frozenset[str], ...]]  # the longest word of a longer cue: all words of such cues


@cache
def _deciding() -> _Deciding:
    lists = table("cues")
    cues = {tuple(line.split()) for name in _DECIDING for side in lists[name].values() for line in side}
    alone = {words[0] for words in cues if len(words) == 1}
    alone |= word_set("relatives") | word_set("modals_of_diseases") | word_set("modals_of_treatments")
    alone |= set(phrase_list("answers_no")) | word_set("people") | deciding_words()
    joined: dict[str, set[frozenset[str]]] = {}
    for words in cues:
        if alone.isdisjoint(words):
            joined.setdefault(max(words, key=len), set()).add(frozenset(words))
    return _Deciding(frozenset(alone), {word: tuple(held) for word, held in joined.items()})


def _decides(words: Sequence[str]) -> bool:
    """Whether all words of some cue stand here, or a "(-)": where they do not, no cue can be found."""
    alone, joined = _deciding()
    if not alone.isdisjoint(words) or ("(" in words and "-" in words):
        return True
    present = joined.keys() & set(words)
    return any(cue.issubset(words) for word in present for cue in joined[word])
