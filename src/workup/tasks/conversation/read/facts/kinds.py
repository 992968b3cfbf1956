"""Whole kinds of facts denied at once: "no known drug allergies", "takes no medications"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.names import generic_names, plain
from workup.tasks.conversation.read.sentence.cues import phrases, starts_with, word_set
from workup.tasks.conversation.read.sentence.text import Sentence
from workup.tasks.conversation.read.sentence.vocabulary import table

ALLERGY, DRUG, FOOD, OTHER = "allergy", "drug", "food", "other"
_ALL = frozenset({DRUG, FOOD, OTHER})
_FARTHEST = 7  # words between a negator and "allergies"


class Denial(NamedTuple):
    """A kind of fact that is denied; of allergies also which allergens, and whether only those not named besides."""

    kind: str
    allergens: frozenset[str] = frozenset()
    others: bool = False


@cache
def _list(name: str) -> frozenset[str]:
    return frozenset(word for line in table("allergies")[name] for word in line.split())


def denial_of(kind: str, status: str) -> str:
    """The kind of denial that speaks of a fact; nothing for facts that no such sentence can touch."""
    if status == "family":
        return "family"
    if kind == "diagnosis":
        return "diagnosis" if status == "present" else ""
    if kind in (ALLERGY, "medication"):
        return kind if status in ("present", "absent") else ""
    return ""


def allergen_kind(names: Sequence[str]) -> str:
    """Whether an allergen is a drug, a food or something else.

    >>> allergen_kind(["penicillin"]), allergen_kind(["peanuts"]), allergen_kind(["latex"])
    ('drug', 'food', 'other')
    """
    for name in names:
        words = plain(name).split()
        if not _list("foods").isdisjoint(words):
            return FOOD
        if not _list("no_drugs").isdisjoint(words):
            return OTHER
    drugs = generic_names()
    known = any(plain(name) in drugs or not _list("drugs").isdisjoint(plain(name).split()) for name in names)
    return DRUG if known else OTHER


@cache
def _denials(kind: str) -> dict[str, list[tuple[str, ...]]]:
    opened: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted(phrases(table("cues")["kinds_denied"][kind]), key=len, reverse=True):
        opened.setdefault(phrase[0], []).append(phrase)
    return opened


def may_deny(words: Sequence[str]) -> bool:
    """Whether a sentence has a word without which it denies no kind."""
    return not _list("heads").isdisjoint(words)


def denied_kinds(sentence: Sentence, kinds: frozenset[str]) -> Iterator[Denial]:
    """The kinds that a sentence denies as a whole.

    >>> words = "no known drug allergies".split()
    >>> [sorted(one.allergens) for one in denied_kinds(Sentence(words, False, ()), frozenset({"allergy"}))]
    [['drug']]
    """
    words = [*sentence.heading, *sentence.words] if sentence.heading else sentence.words
    if not word_set("relatives").isdisjoint(words) or not _list("not_now").isdisjoint(words):
        return
    if ALLERGY in kinds:
        yield from _no_allergies(words)
    for kind in sorted(kinds - {ALLERGY}):
        opened = _denials(kind)
        if opened.keys().isdisjoint(words) or not _list("exceptions").isdisjoint(words):
            continue
        for place, word in enumerate(words):
            length = starts_with(words, place, opened) if word in opened else 0
            if length and _closes(words[place + length : place + length + 3]):
                yield Denial(kind)
                break


def _no_allergies(words: Sequence[str]) -> Iterator[Denial]:
    """ "No allergies", of which kinds; "no other allergies", which denies nothing that the reply names."""
    for place, word in enumerate(words):
        if word in _list("none_known"):
            yield Denial(ALLERGY, frozenset({DRUG}) if word != "nka" else _ALL)
            continue
        if word not in ("allergies", "allergy", "allergic", "allergens"):
            continue
        after = place + 1
        while after < len(words) and words[after] in _list("labels"):
            after += 1
        if after < len(words) and words[after].isalnum():
            after = place + 1
        behind = words[after : after + 3]
        before = list(words[max(0, place - _FARTHEST) : place])
        closing = [one for one in behind if one not in (":", "-", "\u2014", "=", "(", "are", "is", "list", "listed")]
        if word != "allergic" and behind and closing:
            labelled = behind[0] in (":", "-", "\u2014", "=", "(", "are", "is", "list")
            if labelled and closing[0] in _list("nothing") and closing[1:2] != ["to"]:
                yield Denial(ALLERGY, _kinds_in([*before, *closing[:3]]))
                continue
        if word != "allergic" and not _list("only").isdisjoint(before[-4:]):
            yield Denial(ALLERGY, _kinds_in(before[-4:]))  # "your only drug allergy is sulfa"
            continue
        negator = next((at for at in range(len(before) - 1, -1, -1) if before[at] in _list("negators")), -1)
        if negator < 0 or not all(one in _list("between") for one in before[negator + 1 :]):
            continue
        excepted = not _list("exceptions").isdisjoint(words[place + 1 : place + 4])
        named = not _list("nouns").isdisjoint(words[: max(0, place - len(before) + negator)])
        others = not _list("others").isdisjoint(before) and not excepted and not named
        kinds = _kinds_in(before[negator:])
        if behind[:1] == ["to"]:
            object_kinds = _kinds_in(list(words[place + 2 : place + 8]), default=frozenset())
            if not object_kinds:
                continue
            kinds = object_kinds
        elif word == "allergic" or not _ends_there(list(words[place + 1 : place + 5])):
            continue
        yield Denial(ALLERGY, kinds, others)


def _kinds_in(words: Sequence[str], default: frozenset[str] = _ALL) -> frozenset[str]:
    found = set()
    for name, kind in (("drug_nouns", DRUG), ("food_nouns", FOOD), ("other_nouns", OTHER)):
        if not _list(name).isdisjoint(words):
            found.add(kind)
    if not found and not _list("any_nouns").isdisjoint(words):
        return _ALL
    return frozenset(found) or default


def _ends_there(rest: list[str]) -> bool:
    """Behind "allergies": the end, a sign, what excepts or who told it; "no allergies were mentioned by" too."""
    if not rest or not rest[0][0].isalpha() or rest[0] in _list("exceptions") or rest[0] in _list("closing"):
        return True
    return rest[0] in ("were", "are", "is", "have", "has") and not _list("told").isdisjoint(rest[1:])


def _closes(rest: list[str]) -> bool:
    """ "No medications" ends the statement; "no medications were changed" says less."""
    if not rest or not rest[0][0].isalnum() or rest[0] in _list("closing"):
        return True
    return rest[0] in ("were", "are", "is") and not _list("told").isdisjoint(rest[1:])
