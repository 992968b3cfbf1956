"""Misspelled names: long words within a small distance, never a look-alike, an opposite, a number, a unit or a side."""

from __future__ import annotations

from functools import cache

from workup.lexicon.sources import everyday_words
from workup.tasks.conversation.read.sentence.doses import unit_of
from workup.tasks.conversation.read.sentence.vocabulary import known_words, table
from workup.text.typos import distance

SHORTEST, LONG = 8, 12


@cache
def _pairs() -> dict[str, frozenset[str]]:
    lists = table("look_alikes")
    neighbours: dict[str, set[str]] = {}
    for group in (*lists["drugs"], *lists["problems"]):
        for word in group:
            neighbours.setdefault(word, set()).update(group)
    return {word: frozenset(group - {word}) for word, group in neighbours.items()}


@cache
def _prefixes() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(group) for group in table("look_alikes")["prefixes"])


def can_be_misspelled(name: str) -> bool:
    """Whether a word of a name is long enough, and of letters alone."""
    return len(name) >= SHORTEST and name.isalpha()


def misspells(word: str, name: str) -> bool:
    """Whether a word of a reply is a misspelling of a word of a name.

    >>> misspells("penicilin", "penicillin"), misspells("hypokalemia", "hyperkalemia"), misspells("asprin", "aspirin")
    (True, False, False)
    >>> misspells("prednisolone", "prednisone"), misspells("painting", "fainting")
    (False, False)
    """
    most = 2 if len(name) >= LONG else 1
    if not -most <= len(word) - len(name) <= most or not _shares_a_piece(word, name, most):
        return False
    if word == name or not can_be_misspelled(name) or not word.isalpha() or distance(word, name) > most:
        return False
    if word in _pairs().get(name, ()) or _opposed(word, name) or unit_of(word) is not None:
        return False
    if word in table("values")["sides"]:
        return False
    known = known_words()
    if word in known:
        return bool(known[word] & known.get(name, frozenset()))
    return word not in everyday_words()


def _shares_a_piece(word: str, name: str, most: int) -> bool:
    """With at most k edits one of k + 1 pieces of the name is whole: a quick look that spares most distances."""
    if most == 1:
        half = len(name) // 2
        return word.startswith(name[:half]) or word.endswith(name[half:])
    third = len(name) // 3
    return word.startswith(name[:third]) or word.endswith(name[-third:]) or name[third:-third] in word


def _opposed(word: str, name: str) -> bool:
    """As "hypo" against "hyper": the words differ in a prefix that turns the meaning."""
    for group in _prefixes():
        mine = max((len(prefix) for prefix in group if word.startswith(prefix)), default=0)
        other = max((len(prefix) for prefix in group if name.startswith(prefix)), default=0)
        if mine and other and word[:mine] != name[:other]:
            return True
        if bool(mine) != bool(other) and (word[mine:] == name or name[other:] == word):
            return True
    return False
