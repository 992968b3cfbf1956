"""Columns that a study derives from those of its table: by an expression, and groups by cutting a number into bands.

Knows columns and their names; what an outcome or a risk must be is checked elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import InputError
from workup.task import Table
from workup.tasks.expressions import Expression, looks_like_expression
from workup.tasks.risk.checks import numbers
from workup.tasks.risk.identity import Ids, identities

_WITH_CUTS = re.compile(r"(?P<column>.+?):(?P<cuts>[-+\d.eE]+(?:,[-+\d.eE]+)*)", re.DOTALL)


@dataclass(frozen=True)
class Grouping:
    """How rows are grouped: by a column or an expression, whole or cut into bands; `name` is what reports show."""

    name: str
    source: str
    cuts: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: str | Mapping[str, Any], columns: Collection[str]) -> Grouping:
        """Read a group as a study or a command gives it; a column of exactly that name comes first.

        >>> Grouping.of("age:45,65", ["age"])
        Grouping(name='age', source='age', cuts=(45.0, 65.0), labels=())
        """
        if not isinstance(given, str):
            source = str(given["column"])
            return cls(
                str(given.get("name") or source),
                source,
                tuple(given.get("cuts") or ()),
                tuple(given.get("labels") or ()),
            )
        match = None if given in columns else _WITH_CUTS.fullmatch(given)
        if match is None:
            return cls(given, given)
        return cls(match["column"], match["column"], _cuts(match["cuts"], given))

    @property
    def plain(self) -> bool:
        """A column as it is, under its own name."""
        return not self.cuts and self.name == self.source

    def levels(self, table: Table, *, where: str) -> Ids:
        """The level of each row as text, None where it is missing."""
        if self.source in table:
            column = table[self.source]
        else:
            expression = Expression.parse(self.source, where=where)
            column = expression.column(table)
            if not self.cuts and expression.is_comparison:
                return np.array([None if np.isnan(one) else "yes" if one else "no" for one in column], dtype=object)
        return self._bands(column, where) if self.cuts else identities(column)

    def warnings(self, table: Table, *, where: str) -> list[str]:
        """What a reader must know of the expression, where the group is one."""
        return [] if self.source in table else Expression.parse(self.source, where=where).warnings(table)

    def _bands(self, column: npt.NDArray[Any], where: str) -> Ids:
        values = numbers(column, role="number to cut into bands", where=where)
        names = np.array([*(self.labels or band_names(self.cuts)), None], dtype=object)
        place = np.searchsorted(np.array(self.cuts), values, side="right")
        return np.asarray(names[np.where(np.isnan(values), len(names) - 1, place)], dtype=object)


def band_names(cuts: Sequence[float]) -> list[str]:
    """Names of the bands between cuts, each of which belongs to the band above it.

    They rest on the cuts alone, so that every site and every later table names the same band alike.

    >>> band_names([45, 65]), band_names([0.5, 1])
    (['<45', '45 to <65', '≥65'], ['<0.5', '0.5 to <1', '≥1'])
    """
    exact = [repr(float(cut) + 0.0).removesuffix(".0") for cut in cuts]
    return [f"<{exact[0]}", *(f"{low} to <{high}" for low, high in pairwise(exact)), f"≥{exact[-1]}"]


@dataclass(frozen=True)
class Derived:
    """Columns made by expressions, by the text of these, and the columns that each rests on."""

    columns: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def rests_on(self, name: str) -> set[str]:
        """The columns of the table behind a column: itself, where it is one of them."""
        return set(self.sources.get(name, (name,)))

    def hidden(self, names: Collection[str | None]) -> set[str]:
        """What these columns rest on: whoever must not see them must not see that either."""
        return {source for name in names if name is not None for source in self.sources.get(name, ())}


def derive(table: Table, parts: Mapping[str, str], *, where: str) -> Derived:
    """Every part of a study that is no column of the table and reads as an expression."""
    columns: dict[str, npt.NDArray[Any]] = {}
    sources: dict[str, tuple[str, ...]] = {}
    warnings: list[str] = []
    for part, text in parts.items():
        if text not in table and looks_like_expression(text):
            expression = Expression.parse(text, where=f"{where}, columns.{part}")
            columns[text] = expression.column(table)
            sources[text] = expression.names
            warnings += replace(expression, where=f"columns.{part}").warnings(table)
    return Derived(columns, sources, tuple(warnings))


def _cuts(text: str, given: str) -> tuple[float, ...]:
    try:
        cuts = tuple(float(cut) for cut in text.split(","))
    except ValueError:
        cuts = (np.nan,)
    if not np.isfinite(cuts).all() or any(low >= high for low, high in pairwise(cuts)):
        raise InputError(
            "cuts must be numbers that rise, such as age:45,65,75", where=f"group '{given[:60]}'", got=text[:60]
        )
    return cuts
