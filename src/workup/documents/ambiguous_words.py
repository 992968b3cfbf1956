"""Words that make error analysis hard: names that are also words, eponyms, words too common to search for.

Reads the lists that come with the package, once; knows no text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from workup.documents.labels import NAMES, branch_of, read_shipped
from workup.lexicon.sources import ambiguous
from workup.text.calendar import MONTH_NUMBER, SHORT_WEEKDAYS, WEEKDAY_WORDS
from workup.text.wordlists import function_words, words_of

# A table rather than `branch_of`: it answers for every span, and nothing at all for labels without a canonical name.
BRANCH_OF: Mapping[str, str] = MappingProxyType({name: branch_of(name) for name in NAMES})
# Function words that the test of language leaves out because other languages share them.
_SHARED = frozenset(
    ["a", "an", "am", "as", "do", "he", "i", "in", "is", "me", "no", "of", "on", "or", "so", "under", "was", "we"]
)
# Months and weekdays, in full and by their first letters.
_CALENDAR = frozenset((*MONTH_NUMBER, *WEEKDAY_WORDS, *(day.lower() for day in SHORT_WEEKDAYS)))


@cache
def _lists() -> dict[str, frozenset[str]]:
    return {name: words_of(words) for name, words in read_shipped("ambiguous_names.yaml").items()}


@cache
def ambiguous_names() -> frozenset[str]:
    """Names that are also everyday words, months, eponyms, medicines or places, in lower case.

    >>> sorted(ambiguous_names() & {"april", "florence", "parkinson", "johnson"})
    ['april', 'florence', 'parkinson']
    """
    return name_words() | _CALENDAR | _lists()["eponyms"] | _lists()["drugs"] | _lists()["places"]


@cache
def name_words() -> frozenset[str]:
    """Names that are everyday words: met with a small letter, or where a sentence opens, they say nothing.

    >>> "rose" in name_words(), "huntington" in name_words()
    (True, False)
    """
    return _lists()["words"] | frozenset(word for word in ambiguous() if " " not in word)


@cache
def eponyms() -> frozenset[str]:
    """People after whom something clinical is called, in lower case."""
    return _lists()["eponyms"]


@cache
def empty_words() -> frozenset[str]:
    """Function words, months and the words of addresses and firms: met in most texts, whoever they are about.

    >>> "hospital" in empty_words(), "will" in empty_words(), "huntington" in empty_words()
    (True, True, False)
    """
    return function_words() | _SHARED | _CALENDAR | _lists()["generic"]
