"""Real names that are also words, months, places, eponyms, drugs or parts of the body, as data/words.txt lists them.

They are kept by origin group, so that a group's tag stays true of an ambiguous name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from workup.text.unicode import unaccented
from workup.values import tables
from workup.values.tables import ORIGINS

Kinds = Mapping[str, tuple[str, ...]]  # names by kind of ambiguity
GIVEN: Mapping[tuple[str, str], Kinds] = MappingProxyType(
    {(origin, sex): tables.word_lists("ambiguous given", origin, sex) for origin in ORIGINS for sex in ("F", "M")}
)
FAMILY: Mapping[str, Kinds] = MappingProxyType(
    {origin: tables.word_lists("ambiguous family", origin) for origin in ORIGINS}
)


def _all() -> dict[str, tuple[str, ...]]:
    kinds: dict[str, set[str]] = {}
    for lists in (*GIVEN.values(), *FAMILY.values()):
        for kind, names in lists.items():
            kinds.setdefault(kind, set()).update(names)
    return {kind: tuple(sorted(names)) for kind, names in sorted(kinds.items())}


AMBIGUOUS: Mapping[str, tuple[str, ...]] = MappingProxyType(_all())
WORDS: frozenset[str] = frozenset(name for names in AMBIGUOUS.values() for name in names)


def is_ambiguous(name: str) -> bool:
    """Whether any part of a name is also a word, with or without accents.

    >>> is_ambiguous("de Jesús"), is_ambiguous("Lockhart-Rose"), is_ambiguous("Lockhart")
    (True, True, False)
    """
    return not WORDS.isdisjoint(unaccented(name).replace("-", " ").split())
