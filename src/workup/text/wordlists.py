"""Lists of words, as they are written in a module: one string, blanks between them."""

from __future__ import annotations


def listed(words: str) -> frozenset[str]:
    """The words of a string.

    >>> sorted(listed("de la"))
    ['de', 'la']
    """
    return frozenset(words.split())
