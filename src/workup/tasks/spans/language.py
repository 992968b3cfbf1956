"""Whether a text looks English, by its share of function words. A mark for the report; nothing is refused for it.

Knows no other language: what is not marked is not thereby proven English."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Literal

# Set with 2,292 English reports and 1,000 Spanish cases in view, so what it does on them is no independent check: it
# marks all of the Spanish, and 22 of the English (1.0 %), mostly telegraphic ("Negative rash, negative jaundice"). The
# two do overlap: the lowest English share is 0.010, the highest Spanish 0.014.
LEAST_SHARE = 0.1
Language = Literal["english", "uncertain"]
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = b"abcdefghijklmnopqrstuvwxyz"


@cache
def function_words() -> frozenset[str]:
    """The English function words that are counted."""
    text = files("workup.tasks.spans").joinpath("data", "function_words.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def function_word_share(text: str) -> float | None:
    """Share of the words that are English function words; None where there is no word.

    >>> function_word_share("The patient was seen by the nurse")
    0.42857142857142855
    >>> function_word_share("120/80") is None
    True
    """
    words = _WORD.findall(text.lower())
    if not words:
        return None
    known = function_words()
    return sum(word in known for word in words) / len(words)


def language_of(text: str) -> Language:
    """`english`, or `uncertain` where the share of function words is below LEAST_SHARE or there is no word at all.

    >>> language_of("She was admitted to the ward with chest pain."), language_of("Ingresa por dolor de pecho.")
    ('english', 'uncertain')
    """
    if _surely_english(text.lower()):
        return "english"
    share = function_word_share(text)
    return "uncertain" if share is None or share < LEAST_SHARE else "english"


def _surely_english(lowered: str) -> bool:
    """Whether the first function words are enough already, whatever stands after them; cutting all words takes longer.

    A word that stands between blanks is a word however words are cut, and a text has at most one word more than it has
    places that are no letter. So this share is never above the real one.
    """
    most = len(lowered.encode("utf-8", "surrogatepass").translate(None, _LETTERS)) + 1
    some = 2 * most // 3  # running text has function words enough among the first of its words
    first = lowered.split(None, some)[:some]
    return sum(map(_plain_function_words().__contains__, first)) / most >= LEAST_SHARE


@cache
def _plain_function_words() -> frozenset[str]:
    """Those that are one word however words are cut."""
    return frozenset(word for word in function_words() if _WORD.fullmatch(word))


def count_uncertain(texts: Iterable[str]) -> int:
    """How many of the texts are marked uncertain, for the report."""
    return sum(language_of(text) == "uncertain" for text in texts)
