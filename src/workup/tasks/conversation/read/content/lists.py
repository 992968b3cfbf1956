"""The word lists of this package, read once. It knows where they are and nothing of what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@cache
def _content() -> Mapping[str, Any]:
    text = (files("workup.tasks.conversation.read.content") / "data" / "lists.yaml").read_text(encoding="utf-8")
    # Every scalar is text: in YAML's own reading "no" and "on" are truth values.
    loaded: Mapping[str, Any] = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    return loaded


@cache
def listed(name: str) -> frozenset[str]:
    """A list as a set: its entries, or the words of a list that is written as running text.

    >>> "pain" in listed("generic"), "patient" in listed("generic_words")
    (True, True)
    """
    held = _content()[name]
    return frozenset(held.split() if isinstance(held, str) else held)


@cache
def actions() -> Mapping[str, str]:
    """Words of action with their group."""
    return {word: group for group, words in _content()["actions"].items() for word in words.split()}


@cache
def opposed() -> frozenset[tuple[str, str]]:
    """Pairs of groups that oppose one another, both ways."""
    pairs = [tuple(line.split()) for line in _content()["opposed"]]
    return frozenset((a, b) for pair in pairs for a, b in (pair, pair[::-1]))
