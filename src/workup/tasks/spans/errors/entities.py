"""Mentions of one document that speak of the same thing: by entity id where given, else by what they say.

Knows no policy and no detector; which mentions must be masked, and which were, the caller says."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from workup.documents.batch import Batch
from workup.documents.document import IDENTIFIERS
from workup.documents.labels import LEVEL_TABLES
from workup.errors import InputError, near
from workup.stats.arrays import Bools
from workup.text.unicode import compatibility_caseless

Kind = Literal["direct", "quasi", "unspecified"]
KINDS: tuple[Kind, ...] = ("direct", "quasi", "unspecified")  # a kind's code is its place here
Codes = npt.NDArray[np.int64]
_EDGES = "".join(mark for mark in string.punctuation if unicodedata.category(mark).startswith("P")) + " "


def normalised(surface: str) -> str:
    """What a surface says, however it is set: NFKC, case folded, blanks collapsed, punctuation at its edges cut.

    A surface of nothing but punctuation and blanks stays what it is, so that two different ones stay different.

    >>> normalised(' "Ann-Marie  O’NEIL", '), normalised("ＳＭＩＴＨ"), normalised("(--)")
    ('ann-marie o’neil', 'smith', '(--)')
    """
    if surface.isascii():
        if surface.isalnum():  # one word and no sign around it, as most are
            return surface.lower()
        folded = " ".join(surface.lower().split())
        return folded.strip(_EDGES) or folded
    folded = " ".join(compatibility_caseless(surface).split())
    first, last = 0, len(folded)
    while first < last and _edge(folded[first]):
        first += 1
    while last > first and _edge(folded[last - 1]):
        last -= 1
    return folded[first:last] or folded


def _edge(character: str) -> bool:
    return character == " " or unicodedata.category(character).startswith("P")


class EntityTable(NamedTuple):
    """One row per entity with a mention that must be masked: its document, whether all such mentions are, its kind."""

    document: Codes
    protected: Bools
    kind: Codes


@dataclass(frozen=True, eq=False)
class Entities:
    """Which entity each mention belongs to. `number` counts over all documents given; no two documents share one."""

    document: Codes
    number: Codes
    kind: Codes  # of the entity, repeated for each of its mentions: a place in KINDS

    def is_kind(self, kind: str) -> Bools:
        """Mentions of entities of a kind: direct if any mention is direct, else quasi if any is, else unspecified."""
        if kind not in KINDS:
            raise InputError(
                "a kind of entity must be direct, quasi or unspecified", got=repr(kind[:60]), remedy=near(kind, KINDS)
            )
        return np.asarray(self.kind == KINDS.index(kind))

    def table(self, must: npt.ArrayLike, masked: npt.ArrayLike) -> EntityTable:
        """Entities to be protected, and whether they are: an entity with one visible mention is not.

        `must` and `masked` say of every mention whether it must be masked and whether it is. Entities without any
        mention that must be masked have no row: they count neither for nor against.
        """
        wanted = np.asarray(must, dtype=np.bool_)
        number, first, place = np.unique(self.number[wanted], return_index=True, return_inverse=True)
        visible = np.bincount(place, weights=~np.asarray(masked, dtype=np.bool_)[wanted], minlength=len(number))
        return EntityTable(self.document[wanted][first], visible == 0, self.kind[wanted][first])


def group_mentions(
    document: npt.ArrayLike,
    surfaces: Sequence[str],
    branch: Sequence[Hashable],
    *,
    entity: Sequence[str | None] | None = None,
    identifier: npt.ArrayLike | None = None,
) -> Entities:
    """Mentions grouped within each document: by entity id where one is given, else by normalised surface and branch.

    An empty id is no id. `identifier` holds places in documents.IDENTIFIERS, -1 where nothing is said.

    >>> found = group_mentions([0, 0, 0, 1], ["Ann Lee", "ANN  LEE,", "Lee", "Ann Lee"], ["NAME"] * 4)
    >>> found.number.tolist()
    [0, 0, 1, 2]
    >>> found.table([True] * 4, [True, False, True, True]).protected.tolist()
    [False, True, True]
    """
    owner = np.asarray(document, dtype=np.int64)
    known: dict[Hashable, int] = {}
    ids = [None] * len(owner) if entity is None else entity
    # The two kinds of key differ in length, so that an id never meets a surface that reads the same.
    keys = (
        (where, id) if id and not id.isspace() else (where, of, normalised(surface))
        for where, surface, of, id in zip(owner.tolist(), surfaces, branch, ids, strict=True)
    )
    number = np.fromiter((known.setdefault(key, len(known)) for key in keys), dtype=np.int64, count=len(owner))
    said = np.full(len(owner), -1) if identifier is None else np.asarray(identifier, dtype=np.int64)
    kind = np.full(len(known), KINDS.index("unspecified"), dtype=np.int64)
    for name in ("quasi", "direct"):  # the last one said wins: direct
        kind[number[said == IDENTIFIERS.index(name)]] = KINDS.index(name)
    return Entities(owner, number, kind[number])


def group_entities(batch: Batch, canonical: npt.ArrayLike, identifier: npt.ArrayLike) -> Entities:
    """The gold spans of a batch grouped into entities; `canonical` and `identifier` are their codes.

    >>> from workup.documents.document import Document, Span
    >>> batch = Batch.of([Document("1", "Ann saw ann", (Span(0, 3, "name_patient"), Span(8, 11, "name_patient")))])
    >>> group_entities(batch, [0, 0], [-1, 0]).is_kind("direct").tolist()
    [True, True]
    """
    document = np.repeat(np.arange(len(batch)), batch.counts)
    texts = (text for text, count in zip(batch.texts, batch.counts, strict=True) for _ in range(count))
    surfaces = [text[start:end] for text, start, end in zip(texts, batch.starts, batch.ends, strict=True)]
    branch = LEVEL_TABLES["branch"][np.asarray(canonical, dtype=np.int64)].tolist()
    return group_mentions(document, surfaces, branch, entity=batch.entities, identifier=identifier)
