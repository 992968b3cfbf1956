"""Hard negatives: phrases that look like names, dates or identifiers and must not be masked.

They are kept in data/hard_negatives.tsv, the part that must stay in brackets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workup.values import tables
from workup.values.forms import clinical


@dataclass(frozen=True, slots=True)
class HardNegative:
    """A phrase with the inner span [start, end) that must stay; `leaf` is its CLIN leaf where it has one.

    `kind` is what it is taken for: eponym, drug, word, place (each like a name or a place), date, identifier, measure,
    age, time, contact.
    """

    text: str
    start: int
    end: int
    leaf: str | None
    kind: str

    @property
    def inner(self) -> str:
        """The part that must stay."""
        return self.text[self.start : self.end]


def _written() -> Iterator[tuple[str, str | None, str]]:
    for kind, leaf_or_dash, phrase in tables.bracketed():
        yield kind, None if leaf_or_dash == "-" else leaf_or_dash, phrase
    lists: tuple[tuple[str, str, Iterable[str]], ...] = (
        ("eponym", "disease", clinical.EPONYMS),
        ("eponym", "procedure", clinical.NAMED_PROCEDURES),
        ("eponym", "anatomy", clinical.NAMED_ANATOMY),
        ("drug", "drug", clinical.NAME_LIKE_DRUGS),
    )
    for kind, leaf, names in lists:
        for name in names:
            yield kind, leaf, f"[{name}]"


def _read(kind: str, leaf: str | None, phrase: str) -> HardNegative:
    before, inner, after = phrase.replace("]", "[").split("[")
    return HardNegative(before + inner + after, len(before), len(before) + len(inner), leaf, kind)


def _distinct(phrases: Iterable[HardNegative]) -> tuple[HardNegative, ...]:
    return tuple({one.text: one for one in phrases}.values())


HARD_NEGATIVES: tuple[HardNegative, ...] = _distinct(_read(*written) for written in _written())
