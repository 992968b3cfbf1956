"""The canonical label scheme: leaves, branches and the letters of Safe Harbor. Knows no other scheme and no policy.

A canonical name is a leaf (`city`) or, for a label that says no more, a branch (`GEO`). In arrays a canonical name is
its place in `NAMES`, and `UNMAPPED` stands where a label has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import yaml

from workup.errors import InputError, near

Level = Literal["leaf", "branch", "phi"]
LEVELS: tuple[Level, ...] = ("leaf", "branch", "phi")
PHI = "PHI"
UNMAPPED = -1  # the code of a label without a canonical name; equal to nothing below phi
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Leaf:
    """The finest kind of label. `safe_harbor` is its letter of 45 CFR 164.514(b)(2)(i), None where it has none.

    `condition` says when the letter holds, where that depends on the text.
    """

    name: str
    branch: str
    safe_harbor: str | None
    note: str
    condition: str | None = None


def read_shipped(*path: str) -> Any:
    """The content of a YAML file that comes with the package (its data folder, then `path`)."""
    text = files("workup.documents").joinpath("data", *path).read_text(encoding="utf-8")
    # libyaml, where PyYAML was built with it, reads the same language many times faster.
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _read() -> dict[str, Leaf]:
    table = read_shipped("labels.yaml")
    return {
        name: Leaf(name, branch, entry.get("letter"), entry["note"], entry.get("when"))
        for branch, leaves in table.items()
        for name, entry in leaves.items()
    }


SCHEME: Mapping[str, Leaf] = MappingProxyType(_read())
BRANCHES: tuple[str, ...] = tuple(dict.fromkeys(leaf.branch for leaf in SCHEME.values()))
NAMES: tuple[str, ...] = (*SCHEME, *BRANCHES)  # canonical names in the order of their codes: leaves first
CODE: Mapping[str, int] = MappingProxyType({name: i for i, name in enumerate(NAMES)})
LETTERS: tuple[str, ...] = tuple("ABCDEFGHIJKLMNOPQR")


def is_canonical(name: str) -> bool:
    """Whether this is, letter for letter, a leaf or a branch.

    >>> is_canonical("city"), is_canonical("GEO"), is_canonical("City")
    (True, True, False)
    """
    return name in CODE


def branch_of(name: str) -> str:
    """The branch of a leaf; a branch is its own.

    >>> branch_of("date_birth"), branch_of("DATE")
    ('DATE', 'DATE')
    """
    return SCHEME[name].branch if name in SCHEME else canonical_name(name)


def leaves_of(name: str) -> tuple[str, ...]:
    """The leaves under a canonical name; of a leaf, itself.

    >>> leaves_of("AGE")
    ('age_over_89', 'age_under_90')
    """
    canonical_name(name)
    return (name,) if name in SCHEME else tuple(leaf.name for leaf in SCHEME.values() if leaf.branch == name)


def at_level(name: str, level: Level) -> str | None:
    """The ancestor of a canonical name at a level; None for a branch at the level of leaves, which it does not reach.

    >>> at_level("city", "branch"), at_level("city", "phi"), at_level("GEO", "leaf")
    ('GEO', 'PHI', None)
    """
    check_level(level)
    if level == "phi":
        return PHI
    if level == "branch":
        return branch_of(name)
    return name if canonical_name(name) in SCHEME else None


def canonical_name(name: str, *, where: str = "") -> str:
    """The name itself, or an error with the near ones."""
    if name not in CODE:
        raise InputError(
            "a canonical label must be a leaf or a branch of the scheme",
            where=where,
            got=repr(name[:60]),
            remedy=near(name, NAMES),
        )
    return name


def check_level(level: str) -> None:
    """Levels are leaf, branch and phi."""
    if level not in LEVELS:
        raise InputError("a level must be leaf, branch or phi", got=repr(level[:60]))


def level_codes(canonical: npt.ArrayLike, level: Level) -> Codes:
    """Codes of the ancestors at a level: equal codes are equal types, -1 is equal to nothing (not even to -1).

    `canonical` holds places in NAMES. At phi every type is equal, so all codes are 0, also of unmapped labels.

    >>> level_codes([CODE["city"], CODE["zip"], CODE["GEO"], UNMAPPED], "leaf").tolist()
    [5, 7, -1, -1]
    >>> level_codes([CODE["city"], CODE["zip"], CODE["GEO"], UNMAPPED], "branch").tolist()
    [1, 1, 1, -1]
    """
    check_level(level)
    # A place of -1 reads the last entry, which is what is kept there for unmapped labels.
    return LEVEL_TABLES[level][np.asarray(canonical, dtype=np.int64)]


def _tables() -> dict[str, Codes]:
    branch = [BRANCHES.index(branch_of(name)) for name in NAMES]
    leaf = [i if name in SCHEME else UNMAPPED for i, name in enumerate(NAMES)]
    tables = {"leaf": [*leaf, UNMAPPED], "branch": [*branch, UNMAPPED], "phi": [0] * (len(NAMES) + 1)}
    return {level: np.array(codes, dtype=np.int32) for level, codes in tables.items()}


LEVEL_TABLES: Mapping[str, Codes] = MappingProxyType(_tables())
