"""One reading of a reply: its sentences, their clauses, and what is said of every thing that they name.

Facts, advice, never-events and plans take their answers from here, each with its own names; no text leaves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from workup.tasks.conversation.read.sentence.analysed import Analysed
from workup.tasks.conversation.read.sentence.clauses import Bound
from workup.tasks.conversation.read.sentence.context import said_of
from workup.tasks.conversation.read.sentence.cues import word_set
from workup.tasks.conversation.read.sentence.mention import (
    NOBODY,
    NONE,
    ORDER,
    OTHER,
    PATIENT,
    QUESTION,
    STATEMENT,
    SUPPOSITION,
    Mention,
)
from workup.tasks.conversation.read.sentence.orders import asked_in
from workup.tasks.conversation.read.sentence.text import sentences

OPENERS = {"H": "turn", "X": "exception", "S": "subject", "V": "predicate", "v": "predicate", "C": "cause"}
OPENERS |= {"R": "relative", "D": "dash"}


class Met(NamedTuple):
    """A thing met in words [start, end) of a sentence: which, of what kind (medication, symptom …), by which name."""

    thing: str
    kind: str
    start: int
    end: int
    via: str = "concept"


class Names(Protocol):
    """What is looked for: pairs of words that no line end parts, and the things that a sentence names."""

    @property
    def pairs(self) -> frozenset[tuple[str, str]]: ...

    def met(self, words: list[str]) -> Iterable[Met]: ...


class Clause(NamedTuple):
    """Words [start, end) with one head: told, asked for, asked or supposed; of whom; which act; what opened it."""

    start: int
    end: int
    mood: str
    person: str
    act: str
    opener: str


class Sentence(NamedTuple):
    """The sentence at `place` (from 0): its clauses and mentions. It holds no words."""

    place: int
    clauses: tuple[Clause, ...]
    mentions: tuple[Mention, ...]


def read(reply: str, names: Names) -> tuple[Sentence, ...]:
    """A reply as it is read, with the things that `names` looks for.

    >>> class Warfarin:
    ...     pairs = frozenset()
    ...     def met(self, words):
    ...         return [Met("warfarin", "medication", at, at + 1) for at, w in enumerate(words) if w == "warfarin"]
    >>> (sentence,) = read("Hold your warfarin until we have spoken.", Warfarin())
    >>> said = sentence.mentions[0]
    >>> said.thing, said.mood, said.act, said.polarity
    ('warfarin', 'order', 'stop', 'affirmed')
    """
    cut = sentences(reply, pairs=names.pairs)
    found = []
    for place, one in enumerate(cut):
        analysed = Analysed(one, cut[place + 1] if place + 1 < len(cut) else None)
        mentions = tuple(mention_of(analysed, met) for met in names.met(one.words))
        found.append(Sentence(place, clauses_of(analysed), mentions))
    return tuple(found)


def mention_of(analysed: Analysed, met: Met) -> Mention:
    """What a sentence says of a thing that it names; places count from the heading on, where there is one."""
    start, end = met.start + analysed.shift, met.end + analysed.shift
    return said_of(analysed, start, end, met.kind)._replace(thing=met.thing, via=met.via)


def clauses_of(analysed: Analysed) -> tuple[Clause, ...]:
    """The clauses of a sentence from the left, with mood, person and act of each.

    >>> from workup.tasks.conversation.read.sentence.text import Sentence as Words
    >>> analysed = Analysed(Words("you take warfarin , so please avoid ibuprofen".split(), False, ()), None)
    >>> [(one.start, one.mood, one.act) for one in clauses_of(analysed)]
    [(0, 'statement', 'none'), (5, 'order', 'avoid')]
    """
    size = len(analysed.words)
    opened: dict[int, Bound] = {}
    for bound in analysed.bounds:
        opened.setdefault(bound.place, bound)
    starts = [analysed.shift, *sorted(place for place in opened if analysed.shift < place < size)]
    found = []
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else size
        kind = opened[start].kind if start in opened else ""
        mood, act = _mood(analysed, start, end)
        found.append(Clause(start, end, mood, _person(analysed.words[start:end]), act, OPENERS.get(kind, "start")))
    return tuple(found)


def _mood(analysed: Analysed, start: int, end: int) -> tuple[str, str]:
    if analysed.question:
        return QUESTION, NONE
    if any(cue.category == "condition" and start <= cue.start < end for cue in analysed.cues):
        return SUPPOSITION, NONE
    order = asked_in(analysed, start, end)
    if order is not None:
        return (order.mood if order.mood in (ORDER, SUPPOSITION) else STATEMENT), order.act
    return STATEMENT, NONE


def _person(words: Sequence[str]) -> str:
    for place, word in enumerate(words):
        if word in word_set("relatives"):
            return f"relative({word})"
        if word in word_set("people"):
            return NOBODY
        if word in word_set("subjects"):
            return PATIENT if word not in ("i", "we", "they", "it") else OTHER if word == "they" else PATIENT
        if place > _SUBJECT_WITHIN:
            break
    return PATIENT


_SUBJECT_WITHIN = 5

__all__ = ["Clause", "Mention", "Met", "Names", "Sentence", "clauses_of", "mention_of", "read"]
