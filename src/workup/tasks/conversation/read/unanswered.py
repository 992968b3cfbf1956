"""Replies that are no answer: declined, cut off, or in another language. Decided by the end that the provider names and
by how a reply opens; words are data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.sentence.vocabulary import table

CUT = "length"  # what most providers say of a reply that met its limit
FEWEST_WORDS = 2  # function words below which a reply does not show its language
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_SIGN = re.compile("[\u3400-\u9fff]")  # of Chinese, which has no blanks between words
_ENDED = re.compile(r"[.!?:;…。！？)\]\"'*|}]\s*\Z")
_SENTENCE_END = re.compile(r"[.!?;。！？](?=\s)|\n")
_MOST_READ = 20_000  # characters; a language shows itself long before


def is_filtered(finish: str) -> bool:
    """Whether the provider says that a filter withheld the reply."""
    return finish.casefold() in table("unanswered")["finish"]["filtered"]


def is_cut(finish: str) -> bool:
    """Whether the provider says that the reply was cut at its limit.

    >>> is_cut("length"), is_cut("MAX_TOKENS"), is_cut("stop")
    (True, True, False)
    """
    return finish.casefold() in table("unanswered")["finish"]["cut"]


def ends_open(text: str) -> bool:
    """Whether a text breaks off without a sign that ends a sentence.

    >>> ends_open("You take warfarin 5"), ends_open("You take warfarin 5 mg.")
    (True, False)
    """
    return _ENDED.search(text) is None


def whole_sentences(text: str) -> str:
    """A text without the sentence that it breaks off in.

    >>> whole_sentences("You have gout. You take warfarin 5"), whole_sentences("You take")
    ('You have gout.', '')
    """
    if not ends_open(text):
        return text
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]].rstrip() if ends else ""


def declines(text: str) -> bool:
    """Whether a reply opens by declining to answer.

    >>> declines("I'm sorry, but I can't help with that."), declines("I cannot recall any allergy.")
    (True, False)
    """
    said = _words(text[:400].replace("\u2019", "'"))
    phrases = _phrases()
    place = 0
    while size := _longest(phrases.leads, said, place):
        place += size
    if _longest(phrases.declines, said, place):
        return True
    size = _longest(phrases.unable, said, place)
    if not size:
        return False
    place += size
    while size := _longest(phrases.between, said, place):
        place += size
    return bool(_longest(phrases.acts, said, place))


def in_other_language(text: str, language: str = "en") -> bool:
    """Whether fewer than half of the function words of a reply are of the language of the study.

    A reply that holds next to none, such as a list of drugs, does not show its language and counts as read.

    >>> in_other_language("Vous êtes allergique à la pénicilline."), in_other_language("Warfarin 5 mg, metformin.")
    (True, False)
    """
    own, known = function_words()[language], _known_words()
    words = [*_words(text[:_MOST_READ].replace("\u2019", "'"), apart=True), *_SIGN.findall(text[:_MOST_READ])]
    held = [word for word in words if word in known]
    return len(held) >= FEWEST_WORDS and 2 * sum(word in own for word in held) < len(held)


@cache
def function_words() -> Mapping[str, frozenset[str]]:
    """Sixty function words of each language that can be told."""
    return {language: frozenset(words.split()) for language, words in table("languages").items()}


@cache
def _known_words() -> frozenset[str]:
    return frozenset().union(*function_words().values())


class _Phrases(NamedTuple):
    leads: frozenset[tuple[str, ...]]
    unable: frozenset[tuple[str, ...]]
    between: frozenset[tuple[str, ...]]
    acts: frozenset[tuple[str, ...]]
    declines: frozenset[tuple[str, ...]]


@cache
def _phrases() -> _Phrases:
    lists = table("unanswered")
    return _Phrases(*(frozenset(tuple(one.split()) for one in lists[name]) for name in _Phrases._fields))


def _words(text: str, *, apart: bool = False) -> list[str]:
    """Words in lower case; with `apart`, what an apostrophe joins is two ("l'allergie")."""
    return list(_split(_WORD.findall(text.casefold()), apart))


def _split(words: Sequence[str], apart: bool) -> Iterator[str]:
    for word in words:
        yield from word.split("'") if apart else (word,)


def _longest(phrases: frozenset[tuple[str, ...]], words: Sequence[str], place: int) -> int:
    """Words of the longest phrase that stands at a place; 0 where none does."""
    return next((size for size in range(8, 0, -1) if tuple(words[place : place + size]) in phrases), 0)
