"""The word lists of the matcher, read once from data/*.yaml. It knows where they are and nothing of what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from workup.text.wordlists import read_lists

_DATA = files("workup.tasks.conversation") / "data"


@cache
def table(name: str) -> Mapping[str, Any]:
    """A shipped file of lists, by its name without the ending.

    >>> "same_word" in table("words")
    True
    """
    return read_lists(data_file(name))


@cache
def listed(name: str) -> frozenset[str]:
    """A list of data/orders.yaml as a set of words.

    >>> "must" in listed("modals")
    True
    """
    return frozenset(word for line in table("orders")[name] for word in line.split())


def strings_of(value: Any) -> Iterator[str]:
    """All texts in lists and mappings of lists, keys that are phrases included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, held in value.items():
            yield key
            yield from strings_of(held)
    else:
        for part in value:
            yield from strings_of(part)


def data_file(name: str) -> str:
    """The text of a shipped file."""
    return (_DATA / f"{name}.yaml").read_text(encoding="utf-8")


@cache
def words_of(name: str) -> Mapping[str, str]:
    """A list of data/words.yaml to look words up in; where the file gives no second word, each stands for itself.

    >>> "dr" in words_of("abbreviations_never_last")
    True
    """
    listed = table("words")[name]
    if isinstance(listed, dict):
        return dict(listed)
    return {word: word for line in listed for word in line.split()}


@cache
def drug_words() -> frozenset[str]:
    """Single words that name a drug in the shipped vocabularies: a dose beside one of them is that drug's dose."""
    from workup.lexicon import sources

    found = {
        surface.casefold()
        for source in sources.provenance()
        for row in sources.read_source(source)
        if row.category == "drug"
        for surface in row.surfaces
        if " " not in surface and len(surface) > 3
    }
    return frozenset(found) - frozenset(words_of("no_drugs"))


@cache
def known_words() -> Mapping[str, frozenset[str]]:
    """Every word of the shipped vocabularies, with the concepts that it names by itself.

    A word that is right as it stands is no misspelling of another, unless both name one thing.
    """
    from workup.lexicon import sources

    found: dict[str, set[str]] = {}
    for source in sources.provenance():
        for row in sources.read_source(source):
            for surface in row.surfaces:
                words = surface.casefold().split()
                for word in words:
                    found.setdefault(word, set()).update([row.concept] if len(words) == 1 else [])
    return {word: frozenset(concepts) for word, concepts in found.items()}
