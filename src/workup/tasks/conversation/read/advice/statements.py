"""What a reply advises: an action on a drug, a test, care, a safety plan or a way of life, sentence by sentence.

Rules and lists, no model. Answers hold names of the project's own tables and places, never words of the reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from workup.tasks.conversation.read.advice.reading import Advised, read_sentence, verbs_of_acts
from workup.tasks.conversation.read.advice.subjects import PATIENT, PLAIN
from workup.tasks.conversation.read.advice.targets import CLASS, DRUG, NAMED, Names, Thing, Words
from workup.tasks.conversation.read.advice.verbs import AVOID, STOP
from workup.tasks.conversation.read.sentence.text import sentences

_LONGEST = 200_000  # letters; what is longer is no reply of a conversation and would stall a run
_FAR = 2  # sentences that a pronoun may look back
_REMEMBERED = 512  # replies: conflicts and never-events ask of the same ones


class Statement(NamedTuple):
    """One piece of advice. `sentence` is the place of its sentence in the reply, from 0.

    `mood` is plain, conditional, question, report or general; `person` patient or other. `dose` is in the unit in which
    doses are compared, with what it measures. `barred` is a change of dose that is advised against. `step` is how soon,
    on the ladder of urgency, where care or a referral is advised with a time.
    """

    sentence: int
    action: str
    thing: Thing
    person: str = PATIENT
    mood: str = PLAIN
    dose: tuple[float, str] | None = None
    same_dose: bool = False
    barred: str = ""
    fuzzy: bool = False
    step: str = ""

    @property
    def slot(self) -> str:
        """What the advice is about, as `kind:name`."""
        return self.thing.slot

    @property
    def firm(self) -> bool:
        """Unconditional advice to this patient: what can conflict, and what can harm."""
        return self.mood == PLAIN and self.person == PATIENT


def statements_of(reply: str | None, *, more: Iterable[tuple[Words, str]] = ()) -> tuple[Statement, ...]:
    """All advice in a reply, in its order. `more` are further names to look for, as words with a name to give them.

    >>> for one in statements_of("Please stop ibuprofen. If it hurts, take Tylenol. Is naproxen safe?"):
    ...     print(one.sentence, one.action, one.slot, one.mood)
    0 stop drug:ibuprofen plain
    1 start drug:acetaminophen conditional
    2 start drug:naproxen question
    """
    if not reply:
        return ()
    return _read(reply, tuple(more))


@lru_cache(maxsize=16)
def _names(more: tuple[tuple[Words, str], ...]) -> Names:
    return Names(more)


@lru_cache(maxsize=_REMEMBERED)
def _read(reply: str, more: tuple[tuple[Words, str], ...]) -> tuple[Statement, ...]:
    names = _names(more)
    found: list[Statement] = []
    recent: tuple[Thing, ...] = ()
    run: tuple[Thing, ...] = ()
    since = _FAR + 1
    before: Sequence[str] = ()
    last: list[Advised] = []
    cut = sentences(reply[:_LONGEST])
    for place, sentence in enumerate(cut):
        things = names.find(sentence.words)
        known = recent if since <= _FAR else ()
        if things or known or not verbs_of_acts().isdisjoint(sentence.words):
            following = cut[place + 1] if place + 1 < len(cut) else None
            read = read_sentence(sentence, things, known, run if known else (), before, following, _dosed(known, last))
            found += [_statement(place, one) for one in read]
            last = read or last
        named = (thing for one in things for thing in one.things if thing.kind in (DRUG, CLASS, NAMED))
        drugs = tuple(dict.fromkeys(named))
        if drugs:
            # Items of one list are meant together: "Please continue both".
            run = tuple(dict.fromkeys((*run, *drugs))) if since <= 1 else drugs
            recent, since = drugs, 0
        since += 1
        before = sentence.words
    return tuple(dict.fromkeys(found))


def _dosed(known: tuple[Thing, ...], last: list[Advised]) -> tuple[Thing, ...]:
    """The drug that a dose without a name means: the last one named, unless it was just advised against."""
    against = {one.thing for one in last if one.action in (STOP, AVOID)}
    drugs = [thing for thing in known if thing.kind != CLASS and thing not in against]
    return tuple(drugs[-1:])


def _statement(place: int, one: Advised) -> Statement:
    return Statement(place, *one)
