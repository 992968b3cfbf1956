"""The word lists of the rules that no user adds to, read from `data/words.yaml` once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from workup.text.wordlists import read_lists, words_of


def words(name: str) -> frozenset[str]:
    """The words of one list by its room and name; phrases where the list has phrases.

    >>> "lives" in words("names.verbs"), "hospital" in words("organisations.open_ended")
    (True, True)
    """
    room, _, own = name.partition(".")
    listed = _lists()[room][own]
    return words_of(listed) if isinstance(listed, str) else frozenset(listed)


@cache
def _lists() -> Mapping[str, Mapping[str, str | list[str]]]:
    return read_lists((files("workup.deid") / "data" / "words.yaml").read_text(encoding="utf-8"))
