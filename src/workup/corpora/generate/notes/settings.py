"""What a corpus of notes is asked to be, checked before anything is made."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from workup.corpora.checks import time_of, whole_number
from workup.corpora.generate.notes import grammar, visits
from workup.corpora.generate.notes.note_writer import Manner
from workup.documents.labels import SCHEME, branch_of
from workup.errors import InputError, near
from workup.values import ORIGINS, SEXES

VERSION = "2"  # of the grammar and of what is drawn: equal seeds give equal bytes within one version only
LENGTHS: Mapping[str, int] = MappingProxyType({"short": 500, "medium": 1500, "long": 4000})
_REPEATS: Mapping[str, float] = MappingProxyType({"short": 0.45, "medium": 1.15, "long": 2.4})
# Chance that an optional identifier is written, and that a line of identifiers is.
_DENSITIES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"low": (0.25, 0.3), "medium": (0.6, 0.75), "high": (0.95, 1.0)}
)
_HARD: Mapping[str, float] = MappingProxyType({"none": 0.0, "standard": 0.45, "high": 0.95})
SWAPS: Mapping[str, tuple[tuple[str | None, str | None], ...]] = MappingProxyType(
    {
        "none": ((None, None),),
        "origin": tuple((origin, None) for origin in ORIGINS),
        "sex": tuple((None, sex) for sex in SEXES),
        "both": tuple((origin, sex) for origin in ORIGINS for sex in SEXES),
    }
)
_MOST = 9_000_000  # documents; numbers of people beyond are kept for those that stand in for sites
_WHERE = "notes"


@dataclass(frozen=True)
class NoteSettings:
    """A corpus of notes, as asked for.

    `leaves` are the identifying leaves that may be written (None: all); `swap` repeats every note with names of other
    groups; `phi_free` is the share of notes without any identifier.
    """

    count: int
    seed: int
    length: str = "medium"
    density: str = "medium"
    ambiguity: str = "standard"
    as_of: str | None = None
    types: tuple[str, ...] = ()
    specialties: tuple[str, ...] = ()
    leaves: frozenset[str] | None = None
    swap: str = "none"
    phi_free: float = 0.08

    @property
    def manner(self) -> Manner:
        """How much is written of what."""
        density, lines = _DENSITIES[self.density]
        return Manner(density, lines, _HARD[self.ambiguity], _REPEATS[self.length])

    @property
    def wanted(self) -> visits.Wanted:
        """Types and specialties to draw from."""
        types = tuple(kind for name, kind in grammar.source().types.items() if name in self.types or not self.types)
        kept = tuple(one for one in visits.all_specialties() if one.name in self.specialties or not self.specialties)
        return visits.Wanted(types, kept, self.ambiguity, neutral=self.swap in ("sex", "both"))


def checked(
    *,
    count: Any,
    seed: Any,
    length: str,
    density: str,
    ambiguity: str,
    as_of: Any,
    types: Sequence[str],
    specialties: Sequence[str],
    leaves: Sequence[str] | None,
    swap: str,
    phi_free: float,
) -> NoteSettings:
    """The settings, or an error that names the one that cannot be."""
    whole_number("count", count, low=1, high=_MOST, where=_WHERE)
    whole_number("seed", seed, low=0, high=2**63 - 1, where=_WHERE)
    for name, value, known in (
        ("length", length, LENGTHS),
        ("density", density, _DENSITIES),
        ("ambiguity", ambiguity, _HARD),
        ("swap", swap, SWAPS),
    ):
        _one_of(name, value, known)
    for kind in _listed("types", types):
        _one_of("types", kind, grammar.source().types)
    names = [one.name for one in visits.all_specialties()]
    for specialty in _listed("specialties", specialties):
        _one_of("specialties", specialty, names)
    group = len(SWAPS[swap])
    if count % group:
        raise InputError(
            f"with swap {swap} notes come in sets of {group}, so that their number must be a multiple of it",
            where=_WHERE,
            got=f"{count:,}",
            remedy=f"ask for {count + group - count % group:,}",
        )
    if isinstance(phi_free, bool) or not isinstance(phi_free, (int, float)) or not 0 <= phi_free <= 1:
        raise InputError("phi_free must be a share between 0 and 1", where=_WHERE, got=repr(phi_free)[:40])
    return NoteSettings(
        int(count), int(seed), length, density, ambiguity, time_of(as_of, where=_WHERE), tuple(types),
        tuple(specialties), _leaves(leaves), swap, float(phi_free),
    )  # fmt: skip


def _one_of(name: str, value: Any, known: Collection[str]) -> None:
    if not isinstance(value, str) or value not in known:
        raise InputError(
            f"{name} must be one of those that there are", where=_WHERE, got=repr(value)[:60],
            remedy=near(str(value)[:60], known),
        )  # fmt: skip


def _listed(name: str, values: Any) -> Sequence[Any]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"{name} must be a list of names", where=_WHERE, got=type(values).__name__)
    return values


def _leaves(leaves: Sequence[str] | None) -> frozenset[str] | None:
    if leaves is None:
        return None
    for leaf in _listed("leaves", leaves):
        _one_of("leaves", leaf, SCHEME)
        if branch_of(leaf) == "CLIN":
            raise InputError(
                "leaves names what may identify; clinical terms are written in any case", where=_WHERE, got=repr(leaf)
            )
    if not leaves:
        raise InputError("leaves must name at least one", where=_WHERE, got="none", remedy="or set phi_free to 1")
    return frozenset(leaves)
