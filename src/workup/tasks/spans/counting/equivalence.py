"""Equivalence sets (ORG=GEO): types that a second, named column takes as equal. The strict column stays as it is.

Knows codes of labels only; denominators never change, since no gold and no prediction is added or removed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workup.documents.labels import BRANCHES, CODE, LEVEL_TABLES, NAMES, Codes, Level, branch_of, check_level
from workup.documents.mappings import LabelMapping
from workup.errors import InputError, near


@dataclass(frozen=True)
class Equivalence:
    """Sets of canonical names taken as equal, and the name of the column that does so."""

    name: str
    sets: tuple[frozenset[str], ...]

    @classmethod
    def parse(cls, rules: Iterable[str], *, mapping: LabelMapping) -> Equivalence:
        """From rules such as "ORG=LOC" or "date=date_birth=date_death"; labels of the mapping are what they map to.

        A set holds branches, which become equal at the level of branches, or names of one branch, which become equal at
        the level of leaves. Sets of one level that share a name are one.

        >>> Equivalence.parse(["ORG=LOC"], mapping=LabelMapping.load("tab")).sets == (frozenset({"ORG", "GEO"}),)
        True
        """
        sets: list[frozenset[str]] = []
        written = []
        for rule in rules:
            members = [_canonical(part.strip(), rule, mapping) for part in rule.split("=")]
            if len(set(members)) < 2:
                raise InputError("an equivalence must name at least two different types", got=repr(rule[:120]))
            found = frozenset(members)
            of_branches = _of_branches(found)
            meeting = [one for one in sets if one & found and _of_branches(one) == of_branches]
            sets = [one for one in sets if one not in meeting] + [found.union(*meeting)]
            written.append("=".join(part.strip() for part in rule.split("=")))
        return cls(", ".join(written), tuple(sets))

    def level_codes(self, canonical: npt.ArrayLike, level: Level) -> Codes:
        """As `labels.level_codes`, with the members of each set under one code.

        >>> equal = Equivalence.parse(["ORG=GEO"], mapping=LabelMapping.load("workup"))
        >>> equal.level_codes([CODE["city"], CODE["employer"], CODE["date"]], "branch").tolist()
        [1, 1, 3]
        """
        check_level(level)
        table = LEVEL_TABLES[level].copy()
        for one in self.sets if level != "phi" else ():
            if level == "branch" and _of_branches(one):
                codes = [BRANCHES.index(name) for name in one]
                table[np.isin(table, codes)] = min(codes)
            elif level == "leaf" and not _of_branches(one):
                places = [CODE[name] for name in one]
                table[places] = min(places)
        return table[np.asarray(canonical, dtype=np.int64)]


def _canonical(name: str, rule: str, mapping: LabelMapping) -> str:
    found = mapping.of(name)
    if found is None:
        raise InputError(
            "an equivalence must name labels of the mapping or canonical names",
            where=f"equivalence '{rule[:120]}'",
            got=repr(name[:60]),
            remedy=near(name, {*mapping.labels, *NAMES}),
        )
    return found.name


def _of_branches(names: frozenset[str]) -> bool:
    """Whether a set is of branches; if not, it must be of names of one branch."""
    if all(name in BRANCHES for name in names):
        return True
    if len({branch_of(name) for name in names}) == 1:
        return False
    # Leaves of two branches as equal, with the branches apart, would be equal at leaf and unequal at branch.
    raise InputError(
        "an equivalence must hold branches, or names of one branch",
        got=" = ".join(sorted(names)),
        remedy="name the branches: " + " = ".join(sorted({branch_of(name) for name in names})),
    )
