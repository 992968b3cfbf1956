"""Where the facts of a case stand in its words: sentences as they were written, and which of them introduced a fact.

Mentions are those of the matcher. Nothing here is ever shown or logged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts import Matcher, outcome_of, outcomes
from workup.tasks.conversation.read.facts.mentions import Index, prepare_fact
from workup.tasks.conversation.read.facts.names import SIDE, stem
from workup.tasks.conversation.read.sentence.folding import tokens
from workup.tasks.conversation.read.sentence.text import sentences
from workup.tasks.conversation.read.sentence.vocabulary import words_of
from workup.tasks.conversation.talk.prompts import NEUTRAL, opening_of
from workup.text.sentences import sentences_by

_PLAIN_END = re.compile(r"([^\W\d_]{2,})[.!?][\"')\]]*\s*\Z")
_ABBREVIATIONS = ("abbreviations_never_last", "abbreviations_sometimes_last")
_SPACES = re.compile(r"\s+")
_MISLEADING = ("wrong_value", "reversed")
_CONTEXT = 160  # characters on each side of a place where a sentence may end
_MOST_REMEMBERED = 5_000  # texts of one case


class Passage(NamedTuple):
    """A sentence of the user's side, by its turn and its place in all that the user says."""

    turn: int
    place: int
    text: str


def cut(text: str) -> list[str]:
    """The sentences of a text as they are written; abbreviations and lines that run on are not parted.

    >>> cut("Dr. Ito gave me 2.5 mg of it. Is that right?\\nI think so")
    ['Dr. Ito gave me 2.5 mg of it.', 'Is that right?', 'I think so']
    """
    return sentences_by(text, one_sentence=_one_sentence)


def _one_sentence(before: str, after: str) -> bool:
    """Whether the matcher reads the end of one piece and the beginning of the next as one sentence."""
    sure = _PLAIN_END.search(before[-_CONTEXT:])
    if sure and not any(sure[1].casefold() in words_of(listed) for listed in _ABBREVIATIONS):
        return False
    near, far = before[-_CONTEXT:], after[:_CONTEXT]
    return len(sentences(near + far)) < len(sentences(near)) + len(sentences(far))


class Passages:
    """The words of one case, cut and searched once."""

    def __init__(self, case: ConversationCase) -> None:
        self.case = case
        self.matcher = Matcher(case.facts)
        prepared = [prepare_fact(fact) for fact in case.facts]
        self._index = Index(prepared)
        self._stems = [(one, [set(name.stems) - {SIDE} for name in one.names]) for one in prepared]
        self._mentioned: dict[str, frozenset[str]] = {}
        self._standing: dict[str, frozenset[str]] = {}
        # With a ledger every fact is said in a turn, and the summary tells how all of it ends: sent at turn 1 it would
        # give away what later turns bring and take back. Without one it may be the only place where a fact is told.
        self.summary = case.patient_summary.strip() if case.form == "simple" else ""
        said = [(1, one) for one in cut(self.summary)]
        said += [(turn.turn, one) for turn in case.turns for one in cut(turn.message)]
        self.all = tuple(Passage(turn, place, text) for place, (turn, text) in enumerate(said))
        self.introducing: Mapping[str, tuple[Passage, ...]] = {fact.id: self._introducing(fact) for fact in case.facts}

    def message(self, turn: int) -> str:
        """What the user says at a turn; the first has the summary of the patient before it."""
        said = self.case.turns[turn - 1].message
        return opening_of(self.summary, said) if turn == 1 else said

    def mentioned(self, sentence: str) -> frozenset[str]:
        """Ids of the facts that a sentence mentions, or all words of which it holds in any order."""
        known = self._mentioned.get(sentence)
        if known is None:
            words = {stem(word) for word in tokens(sentence)}
            found = {one.fact.id for one, names in self._stems if any(stems <= words for stems in names)}
            known = frozenset(found | self._met(sentence))
            if len(self._mentioned) < _MOST_REMEMBERED:
                self._mentioned[sentence] = known
        return known

    def _met(self, text: str) -> set[str]:
        read = sentences(text, pairs=self._index.pairs)
        misspelled = self._index.misspelled({word for sentence in read for word in sentence.words})
        facts = self.case.facts
        return {facts[one.fact].id for part in read for one in self._index.find(part.words, misspelled)}

    def available(self, texts: Iterable[str], turn: int) -> tuple[str, ...]:
        """Ids of the active facts whose words stand in what was sent.

        The sentences that introduced a fact always count. Any other mention does, unless it states another value or
        the contrary: an old dose that is still there does not make the new one available.
        """
        sent = list(texts)
        standing = frozenset[str]().union(*(self._standing_in(text) for text in sent))
        spaced = [_spaced(text) for text in sent]
        found = []
        for fact in self.case.active(turn):
            pieces = [_spaced(one.text) for one in self.introducing[fact.id]]
            literal = bool(pieces) and all(any(piece in text for text in spaced) for piece in pieces)
            if literal or fact.id in standing:
                found.append(fact.id)
        return tuple(sorted(found))

    def _standing_in(self, text: str) -> frozenset[str]:
        known = self._standing.get(text)
        if known is None:
            found: set[str] = set()
            for sentence in cut(text) if self._met(text) else ():
                met = self._met(sentence)
                if met - found:
                    judged = zip(self.case.facts, self.matcher.judge(sentence), strict=True)
                    found |= {fact.id for fact, one in judged if fact.id in met and one.outcome not in _MISLEADING}
            known = frozenset(found)
            if len(self._standing) < _MOST_REMEMBERED:
                self._standing[text] = known
        return known

    def _introducing(self, fact: Fact) -> tuple[Passage, ...]:
        """The fewest sentences that tell a fact with its values: its mentions, what follows, or all of the turn."""
        mentions = [one for one in self.all if fact.id in self.mentioned(one.text)]
        own = [one for one in self.all if one.turn == fact.introduced]
        here = [one for one in mentions if one.turn == fact.introduced]
        before = [one for one in mentions if one.turn < fact.introduced]
        if not here and not before:  # an entity of the simple form that is spoken of later than turn 1
            first = min((one.turn for one in mentions), default=None)
            own = [one for one in self.all if one.turn == first]
            here = [one for one in mentions if one.turn == first]
        if not here:  # named earlier; what the turn adds ("they cut it to 2.5 mg") may not name it again
            earlier = [one for one in before if one.turn == before[-1].turn]
            return tuple(earlier if _tells(earlier, fact) else earlier + own)
        places = {one.place for one in here}
        followed = [one for one in own if one.place in places or one.place - 1 in places]
        return tuple(next((choice for choice in (here, followed) if _tells(choice, fact)), own))

    def oracle(self, turn: int, *, before: int | None = None) -> list[str]:
        """The sentences that introduced the facts active at a turn, of those said up to it (or before another turn).

        Where one of them also speaks of a fact that no longer holds, the sentence that ended it comes along, or the
        ceiling would teach what is over.
        """
        last = turn if before is None else before - 1
        chosen = {one for fact in self.case.active(turn) for one in self.introducing[fact.id] if one.turn <= last}
        over = {fact.id: fact for fact in self.case.retired(turn)}
        spoken = {id for one in chosen for id in self.mentioned(one.text)} & over.keys()
        chosen |= {
            one
            for id in spoken
            for one in self.all
            if one.turn == over[id].retired and one.turn <= last and id in self.mentioned(one.text)
        }
        return [one.text for one in sorted(chosen)]

    def without_facts(self, turn: int, *, first: int = 1) -> list[str]:
        """What the user said from turn `first` to a turn, without every sentence that mentions a fact."""
        return [one.text for one in self.all if first <= one.turn <= turn and not self.mentioned(one.text)]

    def neutral(self, count: int) -> list[str]:
        """Sentences for filler turns, none of which mentions a fact of the case."""
        if not count:
            return []
        usable = [one for one in NEUTRAL if not self.mentioned(one)] or [NEUTRAL[0]]
        return [usable[place % len(usable)] for place in range(count)]


def _tells(passages: Iterable[Passage], fact: Fact) -> bool:
    """Whether sentences state a fact with each of its values.

    The matcher lets a value that is not stated pass, so each is asked for under another value: what is stated then
    differs, what is not stated still passes.
    """
    text = "\n".join(one.text for one in passages)
    if outcome_of(fact, text).outcome != "correct":
        return False
    others = [
        replace(fact, attributes={**fact.attributes, name: _other_value(name, fact.attributes[name])})
        for name in fact.attributes
        if name != "dose_unit"  # it goes with the dose
    ]
    return all(one.outcome != "correct" for one in outcomes(others, text))


def _other_value(name: str, value: Any) -> Any:
    if name == "dose_value":
        return 77771 if str(value) != "77771" else 77773
    first, second = {
        "frequency": ("once weekly", "three times daily"),
        "route": ("oral", "intravenous"),
        "laterality": ("left", "right"),
    }.get(name, ("1901", "1902"))
    return second if str(value).casefold() in (first, "weekly", "po", "by mouth", "1901") else first


def _spaced(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
