"""Whether a drug is mentioned as an allergy, as something to avoid, as tolerated, or merely as a drug."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.sentence.analysed import Analysed
from workup.tasks.conversation.read.sentence.clauses import (
    CAUSE,
    COMMA_PREDICATE,
    EXCEPTION,
    HARD,
    PREDICATE,
    RELATIVE,
    SUBJECT,
)
from workup.tasks.conversation.read.sentence.cues import phrases, starts_with, word_set
from workup.tasks.conversation.read.sentence.vocabulary import drug_words, table

_PARTING = frozenset({HARD, SUBJECT, PREDICATE, COMMA_PREDICATE, CAUSE, RELATIVE})


class Relation(NamedTuple):
    """How the mention stands: `kind` is allergy, avoided, tolerated or empty; [start, end) takes in its words."""

    kind: str
    start: int
    end: int


@cache
def _list(name: str) -> frozenset[str]:
    return frozenset(word for line in table("allergies")[name] for word in line.split())


@cache
def _phrases(name: str) -> dict[str, list[tuple[str, ...]]]:
    opened: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted(phrases(table("allergies")[name]), key=len, reverse=True):
        opened.setdefault(phrase[0], []).append(phrase)
    return opened


def speaks_of_allergy(words: list[str]) -> bool:
    """Whether a sentence has a word of allergy at all; most have none."""
    return not (_list("nouns").isdisjoint(words) and _list("reactions").isdisjoint(words))


def relation_of(analysed: Analysed, start: int, end: int) -> Relation:
    """How the words [start, end) stand as an allergy.

    >>> from workup.tasks.conversation.read.sentence.text import Sentence
    >>> analysed = Analysed(Sentence("not allergic to sulfa or penicillin".split(), False, ()), None)
    >>> relation_of(analysed, 5, 6)
    Relation(kind='allergy', start=1, end=6)
    """
    words = analysed.words
    if _excepted(words, start) and speaks_of_allergy(words):
        return Relation("allergy", start, end)  # "apart from penicillin, no known allergies"
    behind = _allergy_behind(words, end)
    if behind:
        return Relation("allergy", start, behind)
    before = _allergy_before(analysed, start)
    if before >= 0:
        avoided = _cue_before(analysed, start, "avoided_before")
        if avoided > before:
            return Relation("avoided", avoided, end)  # "allergies: avoid penicillin"
        # "No allergies except penicillin": what is denied before the exception is not denied of what follows it.
        excepted = analysed.parted(before + 1, start, frozenset({EXCEPTION}))
        return Relation("allergy", start if excepted else before, end)
    for name, kind in (("avoided_before", "avoided"), ("tolerated_before", "tolerated")):
        place = _cue_before(analysed, start, name)
        if place >= 0:
            return Relation(kind, place, end)
    for name, kind in (("avoided_after", "avoided"), ("tolerated_after", "tolerated")):
        length = _cue_after(words, end, name)
        if length:
            return Relation(kind, start, length)
    if _called_no_allergy(analysed, end):
        return Relation("tolerated", start, end)
    if _called_allergy(analysed, end):
        return Relation("allergy", start, end)
    return Relation("", start, end)


def _excepted(words: list[str], start: int) -> bool:
    """Whether an exception opens the sentence with the mention: "other than penicillin, ..."."""
    opened = start and starts_with(words, 0, _phrases("exceptions_before"))
    return bool(opened) and all(word in _list("excepted_between") for word in words[opened:start])


def _called_no_allergy(analysed: Analysed, end: int) -> bool:
    """As "codeine upset her stomach; this is not an allergy": said of it in a later clause or the next sentence."""
    following = analysed.following
    after = analysed.words[end:] + ([";", *following.words] if following is not None and not following.question else [])
    if "not" not in after or _list("nouns").isdisjoint(after):
        return False
    for place, word in enumerate(after[1:], start=1):
        if word in ("this", "that", "it", "which") and after[place - 1] in (";", ",", "but", "and", "although", "—"):
            near = after[place + 1 : place + 9]
            denied = near.index("not") if "not" in near[:4] else -1
            if denied >= 0 and not _list("nouns").isdisjoint(near[denied : denied + 5]):
                return True
    return False


def _called_allergy(analysed: Analysed, end: int) -> bool:
    """As "codeine made you vomit, so it is on your allergy list"."""
    after = analysed.words[end:]
    for place, word in enumerate(after[1:], start=1):
        follows = after[place + 1] if place + 1 < len(after) else ""
        if word in _list("taken_up") and after[place - 1] in _list("taking_up") and follows in _list("told_of_it"):
            near = after[place + 1 : place + 9]
            if not drug_words().isdisjoint(after[:place]):
                return False
            if not _list("nouns").isdisjoint(near) and _list("negators").isdisjoint(near):
                return True
    return False


def is_reaction(analysed: Analysed, start: int, end: int) -> bool:
    """Whether a symptom is named as what an allergy did: "Allergies: penicillin (rash)", "codeine allergy - nausea"."""
    words = analysed.words
    noun = next((place for place in range(start - 1, -1, -1) if words[place] in _list("nouns")), -1)
    if noun < 0 or analysed.parted(max(noun + 1, analysed.shift + 1), start, _PARTING):
        return False
    gap = words[noun + 1 : start]
    if "(" in gap and ")" not in gap[len(gap) - 1 - gap[::-1].index("(") :]:
        return True
    return bool(gap) and gap[-1] in _list("causes") and len(gap) > 1


def _allergy_behind(words: list[str], end: int) -> int:
    """As in "penicillin allergy", "penicillin and sulfa allergies", "penicillin (hives)", "penicillin causes hives"."""
    noun, reaction, joins = _list("nouns"), _list("reactions"), _list("joins_behind")
    caused = False
    for place in range(end, min(end + 7, len(words))):
        word = words[place]
        if word in noun and not (place + 1 < len(words) and words[place + 1] in ("to", "of")):
            return place + 1
        if word in reaction and (caused or place == end):
            return place + 1
        if word in _list("causes"):
            caused = True
        elif word not in joins and not (caused and word.isalpha()) and not _listed_drug(words, place):
            return 0
    return 0


def _listed_drug(words: list[str], place: int) -> bool:
    """A neighbour in a list ("penicillin, sulfa and latex allergies"): a single word between commas or "and"."""
    joints = (",", "and", "/", "or", "&")
    return (
        words[place - 1] in joints
        and place + 1 < len(words)
        and (words[place + 1] in joints or words[place + 1] in _list("nouns"))
        and words[place].isalpha()
    )


def _allergy_before(analysed: Analysed, start: int) -> int:
    """As in "allergic to", "allergies:", "reaction to": the nearest, with no verb between it and the mention."""
    words = analysed.words
    if not speaks_of_allergy(words):
        return -1
    verbs = word_set("finite_verbs") - _list("copulas")
    for place in range(start - 1, -1, -1):
        word = words[place]
        if word in _list("nouns") or word in _list("reactions"):
            gap = words[place + 1 : start]
            if _parted(analysed, place, start) and place >= analysed.shift and not _but_not(gap):
                return -1
            if gap and _connects(gap, reaction=word not in _list("nouns")):
                return place
            if place == start - 1 and word in _list("adjectives"):
                return place
        elif word in verbs and place >= analysed.shift and word not in _list("given"):
            return -1
    return -1


def _parted(analysed: Analysed, place: int, start: int) -> bool:
    """Clauses part an allergy from a drug; a dash and an exception ("no allergies except penicillin") do not."""
    return analysed.parted(place + 1, start, _PARTING)


def _but_not(gap: list[str]) -> bool:
    """As "allergic to codeine but not to shellfish": the turn goes on with the same allergy."""
    turn = max((place for place, word in enumerate(gap) if word == "but"), default=-1)
    rest = gap[turn + 1 :]
    return turn >= 0 and bool(rest) and rest[0] in ("not", "also") and all(word in _ELIDED for word in rest)


_ELIDED = frozenset({"not", "also", "to", "or", "the", "any", "other"})


def _connects(gap: list[str], *, reaction: bool) -> bool:
    return gap[0] in (_list("connectors_of_reactions") if reaction else _list("connectors"))


def _cue_before(analysed: Analysed, start: int, name: str) -> int:
    words = analysed.words
    opened = _phrases(name)
    if opened.keys().isdisjoint(words):
        return -1
    for place in range(start - 1, -1, -1):
        length = starts_with(words, place, opened) if words[place] in opened else 0
        if length and place + length <= start:
            return -1 if analysed.clause_between(place + length - 1, start) and place >= analysed.shift else place
    return -1


def _cue_after(words: list[str], end: int, name: str) -> int:
    opened = _phrases(name)
    for place in range(end, min(end + 7, len(words))):
        length = starts_with(words, place, opened)
        if length:
            return place + length
        if words[place] not in word_set("after_fillers") and words[place] not in _list("times_between"):
            return 0
    return 0
