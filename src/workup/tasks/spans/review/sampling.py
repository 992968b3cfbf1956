"""Which regions are reviewed: sizes per stratum, given or planned, and a seeded draw with known chances.

Knows strata and numbers, not what lies in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from workup.errors import InputError, near
from workup.stats.arrays import Floats, Ints
from workup.stats.random import generator
from workup.tasks.spans.review.frame import STRATA

DEFAULT_TOTAL = 400
LEAST = 20  # regions of every stratum, where it has them and there is room
# How often the golds may be wrong, by stratum, before anyone has looked: only the division of the work hangs on these.
SUSPECTS = ("missed_by_all", "alarm_of_all")
EXPECTED_WRONG = {
    "missed_by_all": 0.3,
    "found_by_some": 0.1,
    "found_by_all": 0.02,
    "alarm_of_all": 0.4,
    "alarm_of_some": 0.15,
}


def planned_sizes(
    sizes: Sequence[int], *, total: int = DEFAULT_TOTAL, fixed: Mapping[str, int] | None = None
) -> list[int]:
    """How many regions of each stratum to review, `total` in all: what looks like errors of the golds first.

    Golds that all systems missed and false alarms that all share are reviewed whole, or as far as half of the work
    goes; the rest is divided by Neyman's rule on expected error rates. Every stratum gets 20 where it has as many and
    there is room: of a stratum without any nothing could be said. `fixed` sizes are taken as they are.

    >>> planned_sizes([30, 400, 3000, 12, 250], total=300)
    [30, 57, 153, 12, 48]
    >>> planned_sizes([900, 400, 3000, 200, 250], total=300, fixed={"found_by_all": 40})
    [145, 35, 40, 49, 31]
    """
    fixed = dict(fixed or {})
    for name in fixed:
        if name not in STRATA:
            raise InputError("a stratum must be a known one", got=f"'{name[:40]}'", remedy=near(name, STRATA))
    if total < 0 or any(size < 0 for size in fixed.values()):
        raise InputError("sizes of a sample must not be negative", got="one below 0")
    there = np.array(sizes, dtype=np.float64)
    found = np.array(
        [min(fixed.get(name, 0), size) for name, size in zip(STRATA, sizes, strict=True)], dtype=np.float64
    )
    free = np.array([name not in fixed for name in STRATA]) & (there > 0)
    if free.any():
        room, needs = max(0.0, total - found.sum()), _needs(there)
        least = np.where(free, np.minimum(there, min(LEAST, room // free.sum())), 0.0)
        suspects = free & np.array([name in SUSPECTS for name in STRATA])
        found += least
        first = min(room // 2 - least[suspects].sum(), room - least.sum())
        found += _divided(max(0.0, first), suspects, there - found, needs)
        found += _divided(total - found.sum(), free, there - found, needs)
    return [int(size) for size in found]


def _needs(there: Floats) -> Floats:
    wrong = np.array([EXPECTED_WRONG[name] for name in STRATA])
    return np.asarray(there * np.sqrt(wrong * (1 - wrong)))


def _divided(room: float, free: npt.NDArray[np.bool_], left: Floats, needs: Floats) -> Floats:
    """What is left of the work, by need; a stratum that is full gives its part to the others."""
    found = np.zeros(len(left))
    open_ = free & (left > 0)
    while open_.any() and room >= 1:
        part = np.where(open_, needs, 0.0)
        part = np.floor(room * part / part.sum())
        if not part.any():
            part[np.argmax(np.where(open_, needs, -1.0))] = 1
        part = np.minimum(part, left - found)
        found, room = found + part, room - part.sum()
        open_ = free & (left - found > 0)
    return found


def drawn(stratum: Ints, sizes: Sequence[int], *, seed: int) -> Ints:
    """Places of the regions to review, ascending: so many of each stratum, each with the same chance.

    The draw hangs on the order of the regions, so they must stand in one that does not depend on how they were read.

    >>> drawn(np.array([0, 0, 0, 2, 2]), [2, 0, 1, 0, 0], seed=1).tolist()
    [0, 2, 3]
    """
    found = []
    for code, (name, size) in enumerate(zip(STRATA, sizes, strict=True)):
        here = np.flatnonzero(stratum == code)
        found.append(generator(seed, "review", name).choice(here, size=min(size, here.size), replace=False))
    return np.sort(np.concatenate(found).astype(np.int64))
