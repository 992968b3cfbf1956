"""Where clauses begin in a sentence, and of which kind: a turn, a new subject, a new predicate, a cause.

Verbs are a list, not a parse: what it does not know runs on.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.sentence.cues import phrases, starts_with, word_set
from workup.tasks.conversation.read.sentence.vocabulary import table

HARD, EXCEPTION, SUBJECT, PREDICATE, COMMA_PREDICATE, CAUSE, RELATIVE, DASH = "H", "X", "S", "V", "v", "C", "R", "D"


class Bound(NamedTuple):
    """A clause of some kind begins at this word."""

    place: int
    kind: str


@cache
def _pairs(name: str) -> dict[str, list[tuple[str, ...]]]:
    opened: dict[str, list[tuple[str, ...]]] = {}
    for phrase in phrases(table("clauses")[name]):
        opened.setdefault(phrase[0], []).append(phrase)
    return opened


@cache
def _openers() -> dict[str, str]:
    """First words of all that can begin a clause, so that most words are passed by with one look."""
    kinds = dict.fromkeys(word_set("hard"), HARD)
    kinds |= {word: "pair" for name in ("exceptions", "cause_pairs") for word in _pairs(name)}
    kinds |= dict.fromkeys(word_set("causes"), CAUSE) | dict.fromkeys(word_set("relative_words"), RELATIVE)
    kinds |= {";": ";", ",": ",", "and": ",", "then": ",", "so": ",", "therefore": ",", "hence": ",", ":": ":"}
    return kinds | {"—": DASH, "-": DASH, "&": ",", "→": ","}


def find_bounds(words: list[str]) -> list[Bound]:
    """Where clauses begin, from the left.

    >>> find_bounds("denies chest pain and takes warfarin but no fever".split())
    [Bound(place=4, kind='V'), Bound(place=6, kind='H')]
    """
    openers = _openers()
    found: list[Bound] = []
    if openers.keys().isdisjoint(words):
        return found
    commas = [place for place, word in enumerate(words) if word == ","]
    if commas and words[0] in word_set("subordinators"):
        found.append(Bound(commas[0] + 1, SUBJECT))
    size = len(words)
    for place, word in enumerate(words):
        kind = openers.get(word)
        if kind is None:
            continue
        if kind == ",":
            found += _after_joint(words, place)
        elif kind == ";":
            found.append(Bound(place + 1, HARD))
        elif kind == ":":
            found += [Bound(comma + 1, SUBJECT) for comma in commas if 0 < place - comma <= 4]
        elif kind == DASH:
            if not (0 < place < size - 1 and words[place - 1][0].isdigit() and words[place + 1][0].isdigit()):
                found.append(Bound(place + 1, DASH))
        elif kind == CAUSE and place and words[place - 1] in word_set("before_participles"):
            continue  # "should be given" opens nothing
        elif kind != "pair":
            found.append(Bound(place, kind))
            if kind == CAUSE and place + 1 < size and words[place + 1] in word_set("subjects"):
                found.append(Bound(place, SUBJECT))
        elif starts_with(words, place, _pairs("exceptions")):
            found.append(Bound(place, EXCEPTION))
        elif starts_with(words, place, _pairs("cause_pairs")):
            found.append(Bound(place, CAUSE))
    return found


def _has_verb(words: list[str], place: int) -> bool:
    """Whether a noun that opens here gets its own verb: "and your digoxin 0.125 mg stays the same"."""
    for word in words[place + 1 : place + 8]:
        if word in word_set("finite_verbs"):
            return True
        if word in (",", ";", ":", "and", "or", "(", "but", "if", "which", "who", "that", "because"):
            return False
    return False


def _after_joint(words: list[str], joint: int) -> list[Bound]:
    """What an "and" or a comma opens: a clause with its own subject, its own predicate, or neither."""
    place, size = joint + 1, len(words)
    if place < size and words[place] in ("and", "then", "so", "or", "nor") and words[joint] == ",":
        return []  # judged at the second of the two
    while place < size and words[place] in word_set("adverbs"):
        place += 1
    if place >= size:
        return []
    word = words[place]
    if word in ("neither", "nor") and place + 1 < size and words[place + 1] in word_set("finite_verbs"):
        return [Bound(joint + 1, SUBJECT)]  # "and neither is your asthma"
    if word in word_set("subjects"):
        return [Bound(joint + 1, SUBJECT)]
    if word in word_set("determiners") and place + 1 < size:
        following = words[place + 1]
        if following in word_set("subjects") or following in word_set("relatives") or _has_verb(words, place + 1):
            return [Bound(joint + 1, SUBJECT)]
        return []
    if word in word_set("relatives") and place + 1 < size and words[place + 1] in word_set("verbs"):
        return [Bound(joint + 1, SUBJECT)]
    if word in word_set("verbs"):
        return [Bound(joint + 1, COMMA_PREDICATE if words[joint] == "," else PREDICATE)]
    if words[joint] in ("so", "therefore", "hence"):
        return [Bound(joint + 1, SUBJECT)]
    if word == "no" and words[place + 1 : place + 2] == ["longer"] and place + 3 < size:
        return [Bound(joint + 1, PREDICATE)]
    if words[joint] == "," and word == "when":
        return [Bound(joint + 1, RELATIVE)]
    if words[joint] == "," and words[joint + 1] in word_set("comma_starters"):
        return [Bound(joint + 1, COMMA_PREDICATE)]
    return []
