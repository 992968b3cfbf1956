"""Which levels of different groupings occur together, without a count: that male "yes" is sex "M" and no other.

Who publishes counts of overlapping groupings must know it, because whoever reads them does. Of a level of few patients
nothing is said, as if it occurred with all that occurs: what else is true of three people is nobody's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

import numpy as np

from workup.scores import Levels, Scores
from workup.stats.arrays import Bools, Ints

FEW = 11  # patients of a level below which nothing is said of it
MOST_LEVELS = 50  # of a column; beyond that its levels are more likely names or numbers of people than groups
MOST_COMBINATIONS = 512  # of three columns or more taken together; beyond that they are described two by two


class _Column(NamedTuple):
    names: tuple[str, ...]
    codes: Ints
    few: Bools


def overlaps(scores: Scores) -> list[dict[str, Any]]:
    """Sets of columns that do not occur in every combination: their levels, and a 1 or 0 for each combination.

    The last column varies fastest. All columns are taken together while their combinations are few; otherwise those
    that exclude each other most, and the rest two by two.

    >>> sex, male = ["F"] * 20 + ["M"] * 20, ["no"] * 20 + ["yes"] * 20
    >>> overlaps(Scores.of({"x": [0] * 40}, groups={"sex": sex, "male": male}))
    [{'columns': ['male', 'sex'], 'levels': [['no', 'yes'], ['F', 'M']], 'occurs': '1001'}]
    """
    found = {name: _column(scores, levels) for name, levels in sorted(scores.groups.items())}
    columns = {name: one for name, one in found.items() if 2 <= len(one.names) <= MOST_LEVELS}
    described = [_described(names, columns) for names in _sets(columns)]
    return [one for one in described if "0" in one["occurs"]]


def _column(scores: Scores, levels: Levels) -> _Column:
    held = [(name, rows) for name, rows in levels.masks() if rows.any()]
    codes = np.zeros(len(scores), dtype=np.int64)
    for code, (_, rows) in enumerate(held):
        codes[rows] = code
    few = np.array([np.unique(scores.patient[rows]).size < FEW for _, rows in held], dtype=bool)
    return _Column(tuple(name for name, _ in held), codes, few)


def _sets(columns: Mapping[str, _Column]) -> list[tuple[str, ...]]:
    """Which columns are taken together."""
    if len(columns) < 2:
        return []
    if prod(len(one.names) for one in columns.values()) <= MOST_COMBINATIONS:
        return [tuple(columns)]
    absent = {pair: _absent(pair, columns) for pair in combinations(columns, 2)}
    cluster: dict[str, tuple[str, ...]] = {name: (name,) for name in columns}
    for pair in sorted(absent, key=lambda pair: (-absent[pair], pair)):
        joined = tuple(sorted({*cluster[pair[0]], *cluster[pair[1]]}))
        if absent[pair] and prod(len(columns[name].names) for name in joined) <= MOST_COMBINATIONS:
            cluster |= dict.fromkeys(joined, joined)
    whole = sorted({one for one in cluster.values() if len(one) > 1})
    return [*whole, *(pair for pair in absent if absent[pair] and not any({*pair} <= {*one} for one in whole))]


def _absent(names: Sequence[str], columns: Mapping[str, _Column]) -> float:
    occurs = _occurs(names, columns)
    return 1.0 - np.count_nonzero(occurs) / occurs.size


def _occurs(names: Sequence[str], columns: Mapping[str, _Column]) -> Bools:
    shape = tuple(len(columns[name].names) for name in names)
    occurs = np.zeros(shape, dtype=bool)
    occurs[tuple(columns[name].codes for name in names)] = True
    few = [columns[name].few for name in names]
    found = occurs.copy()
    for size in range(1, len(names)):
        for axes in combinations([axis for axis, own in enumerate(few) if own.any()], size):
            own = np.ix_(*(few[axis] if axis in axes else ~few[axis] for axis in range(len(names))))
            found[own] = np.broadcast_to(occurs.any(axis=axes, keepdims=True), shape)[own]
    found[np.ix_(*few)] = True
    return found


def _described(names: Sequence[str], columns: Mapping[str, _Column]) -> dict[str, Any]:
    occurs = "".join("1" if one else "0" for one in _occurs(names, columns).ravel().tolist())
    return {"columns": list(names), "levels": [list(columns[name].names) for name in names], "occurs": occurs}


def missing_as_levels(missing: Bools, groups: Mapping[str, Levels]) -> dict[str, list[str]]:
    """By column, the levels whose rows are exactly those where an input is missing, if there are such.

    >>> band = Levels.of(["18-64", "missing", "65+"])
    >>> missing_as_levels(np.array([False, True, False]), {"band": band})
    {'band': ['missing']}
    """
    found = {}
    for name, levels in groups.items():
        if not missing.any() or missing.all() or len(levels.names) > MOST_LEVELS:
            continue
        inside = [level for level, rows in levels.masks() if rows.any() and missing[rows].all()]
        if inside and sum(int(rows.sum()) for level, rows in levels.masks() if level in inside) == missing.sum():
            found[name] = inside
    return found
