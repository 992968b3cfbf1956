"""The word lists of this package, read once. It knows where they are and nothing of what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from workup.text.wordlists import read_lists, words_of


@cache
def _content() -> Mapping[str, Any]:
    return read_lists((files("workup.tasks.conversation.read.content") / "data" / "lists.yaml").read_text("utf-8"))


@cache
def listed(name: str) -> frozenset[str]:
    """A list as a set: its entries, or the words of a list that is written as running text.

    >>> "pain" in listed("generic"), "patient" in listed("generic_words")
    (True, True)
    """
    held = _content()[name]
    return words_of(held) if isinstance(held, str) else frozenset(held)


@cache
def actions() -> Mapping[str, str]:
    """Words of action with their group."""
    return {word: group for group, words in _content()["actions"].items() for word in words.split()}


@cache
def opposed() -> frozenset[tuple[str, str]]:
    """Pairs of groups that oppose one another, both ways."""
    pairs = [tuple(line.split()) for line in _content()["opposed"]]
    return frozenset((a, b) for pair in pairs for a, b in (pair, pair[::-1]))
