"""Lists of words: written as one string in a module, kept in YAML, or shipped with this room.

The shipped ones are function words, English and other, by which a language shows itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple


def words_of(text: str) -> frozenset[str]:
    """The words of a list that is written as one string, blanks between them.

    >>> sorted(words_of("de la"))
    ['de', 'la']
    """
    return frozenset(text.split())


def read_lists(text: str) -> Mapping[str, Any]:
    """Lists and tables kept in YAML, every scalar as text: in YAML's own reading "no", "on" and "off" are truth values.

    >>> read_lists("denials: [no, off]")
    {'denials': ['no', 'off']}
    """
    import yaml

    loaded: Mapping[str, Any] = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    return loaded


def alternatives(rows: str) -> Mapping[str, tuple[str, ...]]:
    """Rows of what is written, an equals sign, and what may stand for it instead, divided by strokes.

    >>> dict(alternatives("0=O|o rn=m"))
    {'0': ('O', 'o'), 'rn': ('m',)}
    """
    found = dict(row.split("=") for row in rows.split())
    return MappingProxyType({key: tuple(options.split("|")) for key, options in found.items()})


@cache
def function_words() -> frozenset[str]:
    """The English function words by which a text shows that it is English."""
    lines = _shipped("function_words.txt")
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


class OtherLanguages(NamedTuple):
    """Function words of other languages, without those that English notes use too."""

    by_language: dict[str, frozenset[str]]
    particles: frozenset[str]  # of names: "de la Cruz"
    any_language: frozenset[str]


@cache
def other_languages() -> OtherLanguages:
    """What is known of other languages.

    >>> known = other_languages()
    >>> "nicht" in known.by_language["de"], "nicht" in known.by_language["es"], "von" in known.particles
    (True, False, True)
    """
    lists = {name: words_of(words) for name, words in (line.split("\t") for line in _shipped("other_languages.tsv"))}
    particles = lists.pop("particles")
    return OtherLanguages(lists, particles, frozenset().union(*lists.values()))


def _shipped(name: str) -> list[str]:
    return files("workup.text").joinpath("data", name).read_text(encoding="utf-8").splitlines()
