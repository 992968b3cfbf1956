"""Which of several ways to flag people may be told of a grouping: at two thresholds that are both told, those who are
flagged at one and not at the other stand between them for all to subtract. Knows groupings of rows, whose rows they are
and who is flagged; nothing of what is measured on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from workup.disclosure.small_groups import tied
from workup.scores import OUTCOME, Levels, Scores
from workup.stats.arrays import Bools, Floats, Ints

Flags = Sequence[
    Bools | Floats
]  # what a row shows at one setting: flagged or not, or how often, how early, how rightly
Name = TypeVar("Name")


def told_settings(
    parts: npt.NDArray[np.int64],
    patient: Ints,
    flags: Mapping[Name, Flags],
    *,
    k: int,
    within: bool = False,
) -> list[Name]:
    """Settings that may be told, in their order: each with every other differs in nobody, or in `k` patients or more,
    of every part. `parts` says for every row which part it is in.

    `within` says that the parts are cut from what the flags are made of: then each part must also be flagged whole, or
    not at all, or have `k` patients on both sides.

    >>> risk, sex = np.linspace(0, 0.99, 100), np.arange(100) % 2
    >>> at = {t: [risk >= t] for t in (0.2, 0.23, 0.4)}
    >>> told_settings(sex, np.arange(100), at, k=5)
    [0.2, 0.4]
    """

    def enough(rows: Bools) -> bool:
        return _none_or_enough(parts[rows], patient[rows], k)

    told: list[Name] = []
    for name, own in flags.items():
        alone = not within or all(enough(side) for one in own for side in (_flagged(one), ~_flagged(one)))
        if alone and all(enough(differing(own, flags[other])) for other in told):
            told.append(name)
    return told


def told_by_column(
    groups: Mapping[str, Levels],
    patient: Ints,
    flags: Mapping[Name, Flags],
    *,
    k: int,
    bands: Collection[str] = (),
) -> dict[str, list[Name]]:
    """The settings that may be told by each column; `bands` are cut from what the flags are made of.

    Two columns that are tied by what they mean leave people between them: all aged 85 and over less all above 85. Where
    few of these lie between two settings, the later column tells only one of them.
    """
    found: dict[str, list[Name]] = {}
    for name, levels in groups.items():
        told = told_settings(levels.codes, patient, flags, k=k, within=name in bands)
        for other in found if len(flags) > 1 else ():
            both = {one: flags[one] for one in told if one in found[other]}
            if len(both) > 1 and (tied(levels, groups[other]) or tied(groups[other], levels)):
                kept = told_settings(levels.crossed(groups[other]).codes, patient, both, k=k)
                told = [one for one in told if one not in both or one in kept]
        found[name] = told
    return found


def differing(one: Flags, other: Flags) -> Bools:
    """Rows that do not show the same at two settings."""
    found = [(a != b) & ~((a != a) & (b != b)) for a, b in zip(one, other, strict=True)]
    return np.asarray(np.logical_or.reduce(found))


def known_at(scores: Scores) -> dict[str, Flags]:
    """Whose outcome is known by each horizon, after everyone under the empty name."""
    names = [name for name in scores.values if name.startswith(f"{OUTCOME}@")]
    found: dict[str, Flags] = {"": [np.ones(len(scores), dtype=bool)]}
    return found | {name.partition("@")[2]: [np.isfinite(scores[name])] for name in names}


def _flagged(one: Bools | Floats) -> Bools:
    return np.asarray(one > 0)


def _none_or_enough(codes: npt.NDArray[np.int64], patient: Ints, k: int) -> bool:
    if not codes.size:
        return True
    pairs = np.unique(np.column_stack([codes, patient]), axis=0)
    return int(np.unique(pairs[:, 0], return_counts=True)[1].min()) >= k


def cells_within(places: Levels, levels: Levels, patient: Ints, k: int) -> npt.NDArray[np.int64]:
    """The cell of place and level that every row is in. Those of fewer than `k` patients, which are not told, are one
    cell in each place: all of the place less those that are told."""
    n = len(levels.names)
    cell = places.codes.astype(np.int64) * n + levels.codes
    size = len(places.names) * n
    sizes = np.bincount(np.unique(patient.astype(np.int64) * size + cell) % size, minlength=size)
    return np.where(sizes[cell] < k, size + places.codes, cell)
