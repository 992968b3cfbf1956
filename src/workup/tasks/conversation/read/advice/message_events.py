"""What a turn's own message asserts of the patient although no ledger holds it: events that may license a change.

Terms of data/advice_bearing.yaml that stand in a message are read as facts are in a reply; a complaint in the patient's
own words ("one calf is hot and tight") is a part of the body and what is wrong with it, in one sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice.relevant_facts import INTRODUCED, MESSAGE, RETIRED, Happened
from workup.tasks.conversation.read.facts.names import stem
from workup.tasks.conversation.read.facts.reply_outcomes import Matcher
from workup.tasks.conversation.read.names import plain
from workup.tasks.conversation.read.sentence.cues import word_set
from workup.tasks.conversation.read.sentence.text import sentences
from workup.tasks.conversation.read.sentence.vocabulary import table

_SAID, _DENIED = "correct", "reversed"
_LONGEST = 20_000  # letters of a message; what is longer is a document, and its terms are the ledger's affair
_APART = 8  # words between a part of the body and what is wrong with it


def message_events(case: ConversationCase) -> tuple[Happened, ...]:
    """Terms that messages assert of the patient and that no fact of the case names, by the turn that says them first.

    >>> from workup.tasks.conversation.cases.case import Turn
    >>> turns = (Turn(1, "Hello."), Turn(2, "I have a nosebleed since last night."))
    >>> case = ConversationCase("c1", "", turns, (Fact("f1", "social", "hello"),))
    >>> [(one.turn, one.kind, one.fact.concept) for one in message_events(case)]
    [(2, 'introduced', 'nosebleed')]
    """
    known = [tuple(stem(word) for word in plain(name).split()) for fact in case.facts for name in fact.names]
    held: dict[str, Fact] = {}
    found: list[Happened] = []
    for turn in case.turns:
        for fact, outcome in _read(turn.message[:_LONGEST]):
            if any(_overlap(tuple(stem(word) for word in plain(fact.concept).split()), name) for name in known):
                continue
            if outcome == _SAID and fact.concept not in held:
                held[fact.concept] = fact
                found.append(Happened(turn.turn, INTRODUCED, fact, None, MESSAGE))
            elif outcome == _DENIED and fact.concept in held:
                found.append(Happened(turn.turn, RETIRED, held.pop(fact.concept), None, MESSAGE))
    return tuple(found)


def _overlap(term: tuple[str, ...], name: tuple[str, ...]) -> bool:
    size = len(term)
    within = any(name[place : place + size] == term for place in range(len(name) - size + 1))
    return within or (bool(name) and set(name) <= set(term))


@cache
def _terms() -> Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """Names to look for in a message, by the stem of their first word: the stems, and the name as it is written."""
    lists = table("advice_bearing")
    names = [name for record in lists["conditions"] for name in record["names"]]
    names += [*lists["alarm"], *lists["self_harm"]]
    opened: dict[str, dict[tuple[str, ...], str]] = {}
    for name in names:
        words = tuple(stem(word) for word in plain(name).split())
        opened.setdefault(words[0], {}).setdefault(words, name)
    return {first: tuple(sorted(some.items(), key=lambda one: -len(one[0]))) for first, some in opened.items()}


@lru_cache(maxsize=1024)
def _read(message: str) -> tuple[tuple[Fact, str], ...]:
    facts = list(dict.fromkeys(_named(message)))
    judged = Matcher(facts).judge(message) if facts else []
    named = [(fact, one.outcome) for fact, one in zip(facts, judged, strict=True)]
    return (*named, *((fact, _SAID) for fact in dict.fromkeys(_in_own_words(message))))


def _named(message: str) -> Iterator[Fact]:
    for sentence in sentences(message):
        kept = [word for word in sentence.words if word not in ("my", "the", "some", "a")]
        stems = [stem(word) for word in kept]
        done = 0
        for place, first in enumerate(stems):
            if place < done:
                continue
            for words, name in _terms().get(first, ()):
                if tuple(stems[place : place + len(words)]) == words:
                    done = place + len(words)
                    yield Fact(f"message: {name}", "symptom", name, _as_said(sentence.words, kept[place:done]))
                    break


def _as_said(words: list[str], kept: list[str]) -> tuple[str, ...]:
    """A term with the small words that the patient put into it: "blood in my urine"."""
    first = next((place for place in range(len(words)) if words[place] == kept[0]), 0)
    last = next((place for place in range(first, len(words)) if words[place] == kept[-1]), first)
    return (" ".join(words[first : last + 1]),) if last - first < len(kept) + 3 else ()


def _in_own_words(message: str) -> Iterator[Fact]:
    for sentence in sentences(message):
        if sentence.question:
            continue
        for record in table("advice_bearing")["alarm_in_words"]:
            if any(_of_the_patient(sentence.words[:first]) for first, _ in _spans(sentence.words, record)):
                yield Fact(f"message: {record['is']}", "symptom", record["is"])


def _spans(words: list[str], record: Mapping[str, list[str]]) -> list[tuple[int, int]]:
    """The words from a part of the body to what is wrong with it, where both stand near each other."""
    parts = [place for place, word in enumerate(words) if word in record["part"]]
    wrong = [
        (place, place + len(phrase.split()))
        for phrase in record["wrong"]
        for place in range(len(words))
        if words[place : place + len(phrase.split())] == phrase.split()
    ]
    return [
        (min(part, first), max(part + 1, last))
        for part in parts
        for first, last in wrong
        if abs(part - first) <= _APART and part != first
    ]


def _of_the_patient(before: list[str]) -> bool:
    """Whether what stands before a complaint leaves it the patient's own, now, and not denied or only supposed."""
    lists = table("advice_bearing")["takes_back"]
    joints = [place for place, word in enumerate(before) if word in (",", ";", "and", "but")]
    before = before[joints[-1] :] if joints else before
    return set(before[-_APART:]).isdisjoint(lists) and set(before).isdisjoint(word_set("relatives"))
