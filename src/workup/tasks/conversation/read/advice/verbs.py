"""Verbs of advice in a sentence, with what they ask of a drug, a test, a referral or a safety plan.

It knows the words and their forms; who says them to whom is read elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.advice.targets import (
    ACTIVITY,
    CARE,
    CLASS,
    DRUG,
    FOOD,
    MEANS,
    NAMED,
    REFERRAL,
    SAFETY,
    SUBSTANCE,
    TEST,
)
from workup.tasks.conversation.read.sentence.vocabulary import table

START, CONTINUE, STOP, AVOID, INCREASE, DECREASE, SEEK = (
    *("start", "continue", "stop", "avoid", "increase", "decrease"),
    "seek_care",
)
CHANGE = "change"  # asks nothing by itself; denied, it leaves the dose as it is
SPLIT = "split"  # asks what its second half says: "bring it down", "treat it with"
ACTIONS = (START, CONTINUE, STOP, INCREASE, DECREASE, AVOID, SEEK)
BASE, THIRD, GERUND, PAST, PARTICIPLE = "base", "third", "gerund", "past", "participle"
# Which list of verbs a kind of thing takes.
_GROUPS = {
    **dict.fromkeys((DRUG, CLASS, NAMED), "drug"),
    **dict.fromkeys((REFERRAL, CARE), "seek"),
    **dict.fromkeys((SUBSTANCE, FOOD, ACTIVITY), "life"),
    TEST: "test",
    SAFETY: "safety",
    MEANS: "means",
}
_PERSONS = ("", "you", "her", "him", "them", "patient", "the patient", "yourself", "myself")


class Verb(NamedTuple):
    """Words [start, end) of a sentence; `asks` has an action for each group of things it can take."""

    start: int
    end: int
    head: str  # the plain form
    forms: frozenset[str]
    asks: Mapping[str, str]

    def action(self, kind: str) -> str:
        """What it asks of a thing of this kind; empty where it takes no such thing."""
        return self.asks.get(_GROUPS.get(kind, ""), "")


class _Entry(NamedTuple):
    words: tuple[str, ...]
    head: str
    forms: frozenset[str]
    asks: Mapping[str, str]


@cache
def words(name: str) -> frozenset[str]:
    """A plain list of data/advice_verbs.yaml as a set of words."""
    return frozenset(word for line in table("advice_verbs")[name] for word in line.split())


@cache
def phrases(name: str) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """A list of phrases by first word, the longest first."""
    opened: dict[str, list[tuple[str, ...]]] = {}
    for line in table("advice_verbs")[name]:
        phrase = tuple(line.split())
        opened.setdefault(phrase[0], []).append(phrase)
    return {first: tuple(sorted(some, key=len, reverse=True)) for first, some in opened.items()}


def at(text: Sequence[str], place: int, name: str) -> int:
    """How many words from `place` on are one of the phrases of a list; 0 where none is.

    >>> at("stay off limits for you".split(), 1, "bad")
    2
    """
    if not 0 <= place < len(text):
        return 0
    for phrase in phrases(name).get(text[place], ()):
        if tuple(text[place : place + len(phrase)]) == phrase:
            return len(phrase)
    return 0


def _persons(phrase: str) -> Iterator[str]:
    if "<you>" not in phrase:
        yield phrase
        return
    for person in _PERSONS:
        yield " ".join(phrase.replace("<you>", person).split())


def _inflected(phrase: str) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """A phrase in all forms of its verb: the words, the plain form of the verb, which form it is."""
    first, *rest = phrase.split()
    forms = table("advice_verbs")["forms"].get(first)
    yield (first, *rest), first, BASE
    for form, word in zip((THIRD, GERUND, PAST, PARTICIPLE), forms or (), strict=False):
        yield (word, *rest), first, form


@cache
def _entries() -> Mapping[str, tuple[_Entry, ...]]:
    forms: dict[tuple[str, ...], set[str]] = {}
    heads: dict[tuple[str, ...], str] = {}
    asks: dict[tuple[str, ...], dict[str, str]] = {}
    for group in dict.fromkeys(_GROUPS.values()):
        for action, listed in table("advice_verbs")[group].items():
            for phrase in (person for line in listed for person in _persons(line)):
                for inflected, head, form in _inflected(phrase):
                    forms.setdefault(inflected, set()).add(form)
                    heads.setdefault(inflected, head)
                    asks.setdefault(inflected, {}).setdefault(group, action)
    for inflected, found in asks.items():
        bare = asks.get(inflected[:1], {})
        if "life" in bare and heads[inflected] in table("advice_verbs")["goes_somewhere"]:
            found.setdefault("life", bare["life"])  # "drive to work" is driving, "drive to the hospital" seeks care
    opened: dict[str, list[_Entry]] = {}
    for inflected, some in forms.items():
        entry = _Entry(inflected, heads[inflected], frozenset(some), asks[inflected])
        opened.setdefault(inflected[0], []).append(entry)
    return {first: tuple(sorted(some, key=lambda one: -len(one.words))) for first, some in opened.items()}


def second_half(text: Sequence[str], verb: Verb, end: int) -> str:
    """The action of a verb whose second half stands behind the thing that ends at `end`.

    >>> text = "leave the aspirin out".split()
    >>> second_half(text, find_verbs(text)[0], 3)
    'avoid'
    """
    halves: Mapping[str, str] = table("advice_verbs")["split"].get(verb.head, {})
    for half, action in halves.items():
        listed = half.split()
        if list(text[end : end + len(listed)]) == listed:
            return action
    return ""


def find_verbs(text: Sequence[str]) -> list[Verb]:
    """The verbs of advice in one sentence, from the left, the longest phrases first.

    >>> [(verb.head, verb.asks["drug"]) for verb in find_verbs("avoid stopping it or keep taking it".split())]
    [('avoid', 'avoid'), ('stop', 'stop'), ('keep', 'continue')]
    """
    opened, done = _entries(), 0
    found: list[Verb] = []
    for place in [place for place, word in enumerate(text) if word in opened]:
        if place < done:
            continue
        for entry in opened[text[place]]:
            length = len(entry.words)
            if length == 1 or tuple(text[place : place + length]) == entry.words:
                done = place + length
                found.append(Verb(place, done, entry.head, entry.forms, entry.asks))
                break
    return found


_OPPOSITE = {START: AVOID, CONTINUE: STOP, STOP: CONTINUE, AVOID: START, SEEK: AVOID}


def opposite(action: str) -> str:
    """What the denial of an action asks for; a change of dose that is denied leaves the dose as it is.

    >>> opposite("stop"), opposite("start"), opposite("increase")
    ('continue', 'avoid', 'continue')
    """
    return _OPPOSITE.get(action, CONTINUE)


def composed(outer: str, inner: str, head: str) -> str:
    """One action of two verbs: "avoid stopping" continues, "keep avoiding" avoids, "stop using" stops."""
    if head in words("bringing"):
        return inner
    if outer in (AVOID, STOP):
        return outer if inner == START else opposite(inner)
    return outer if outer == CONTINUE and inner == START else inner
