"""Words that are known, so that a typo can be told from a word: clinical words, books, names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

from workup.deid import gazetteer
from workup.lexicon import sources

_COMMON_NAME = 3.25  # log10 of bearers: rarer names are as often a typo


@cache
def _clinical() -> tuple[frozenset[str], frozenset[str]]:
    """Single words of the clinical vocabulary that are met in any case, and every word of any of its terms."""
    alone: set[str] = set()
    cased: set[str] = set()
    surfaces: list[str] = []
    for source in sources.provenance():
        for row in sources.read_source(source):
            surfaces += row.surfaces
            single = cased if "e" in row.kind or "n" in row.kind else alone
            single.update(surface for surface in row.surfaces if " " not in surface)
    return _lower(alone) - _lower(cased) - sources.ambiguous(), _lower(surfaces)


def _lower(surfaces: Iterable[str]) -> frozenset[str]:
    return frozenset(" ".join(surfaces).lower().split())


def clinical_words() -> frozenset[str]:
    """Single words of the clinical vocabulary that are no names and no everyday words besides.

    >>> "metformin" in clinical_words(), "colon" in clinical_words()
    (True, False)
    """
    return _clinical()[0]


def clinical_parts() -> frozenset[str]:
    """Every word of any clinical term."""
    return _clinical()[1]


def is_clinical_part(word: str) -> bool:
    """Whether a word in lower case is in any clinical term, alone or among others.

    >>> is_clinical_part("cava"), is_clinical_part("trevino")
    (True, False)
    """
    return word in _clinical()[1]


@lru_cache(maxsize=1 << 16)
def is_known(word: str) -> bool:
    """Whether a word in lower case is in books, in clinical terms, or is borne by many.

    >>> is_known("hospital"), is_known("trevino"), is_known("hospltal")
    (True, True, False)
    """
    bare = word.replace("'", "")
    if bare in _clinical()[1] or bare in gazetteer.everyday():
        return True
    known = gazetteer.people().get(bare)
    return known is not None and (known.word > 0 or max(known.given, known.surname) >= _COMMON_NAME)
