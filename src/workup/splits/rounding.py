"""Controlled rounding: whole numbers for the cells of a table whose margins stay within one of what was expected.

Knows cells and the groups of cells that make margins; nothing of patients or of what a variable means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from workup.splits.integer_rounding import Limits, landed
from workup.stats.arrays import Floats, Ints

_NONE = 1e-9  # below this a direction does not move a unit; entries of the inverse are ratios of small whole numbers


@dataclass(frozen=True)
class Margin:
    """Cells that are counted together. Those that are not `hard` give way where not all can be held."""

    cells: Ints
    hard: bool = True


def rounded(expected: Sequence[Fraction], sizes: Ints, margins: Sequence[Margin], *, rng: np.random.Generator) -> Ints:
    """A whole number for each cell, next to what is expected there, such that every margin is next to its sum too.

    Each cell is rounded up with the probability of its fraction. For two variables the margins can always be met (Cox
    1987, unbiased controlled rounding); for more, the last few cells are settled by integer programming, and a cell
    may then lie one further off. Where no whole numbers would do, the hard margins miss by as little as possible:
    the caller compares.

    >>> rows, columns = [np.array([0, 1]), np.array([2, 3])], [np.array([0, 2]), np.array([1, 3])]
    >>> margins = [Margin(cells) for cells in (*rows, *columns, np.arange(4))]
    >>> half = [Fraction(1, 2)] * 4
    >>> found = rounded(half, np.ones(4, dtype=int), margins, rng=np.random.default_rng(1))
    >>> [int(found[margin.cells].sum()) for margin in margins]
    [1, 1, 1, 1, 2]
    """
    whole = np.array([math.floor(value) for value in expected], dtype=np.int64)
    part = np.array([float(value - math.floor(value)) for value in expected])
    totals = [sum((expected[cell] for cell in margin.cells.tolist()), Fraction(0)) for margin in margins]
    ceilings = np.array([math.ceil(total) for total in totals], dtype=np.int64)
    slack = np.array([float(math.ceil(total) - total) for total in totals])
    walked = _walk(part, [margin.cells for margin in margins], slack, rng)
    settled = np.abs(walked - np.round(walked)) < 1e-6
    if settled.all():
        counts = whole + np.round(walked).astype(np.int64)
        if _met(counts, margins, totals):
            return counts
    limits = Limits(
        low=np.array([math.floor(total) for total in totals], dtype=np.int64),
        high=ceilings,
        exact=np.array([total.denominator == 1 for total in totals]),
        hard=np.array([margin.hard for margin in margins]),
    )
    return landed(whole, part, walked, sizes, [margin.cells for margin in margins], limits, rng=rng)


def _met(counts: Ints, margins: Sequence[Margin], totals: Sequence[Fraction]) -> bool:
    return all(abs(int(counts[margin.cells].sum()) - total) < 1 for margin, total in zip(margins, totals, strict=True))


def _walk(part: Floats, groups: Sequence[Ints], slack: Floats, rng: np.random.Generator) -> Floats:
    """The flight phase of the cube method (Deville and Tillé 2004), with a slack for each margin.

    Fractions move along directions that leave every margin plus its slack as it is, up or down at random such that
    their mean never changes, until each is 0 or 1 or belongs to a basis of as many units as there are margins. Slacks
    lie in [0, 1] too, so a margin ends between the whole numbers beside its sum. With margins of two variables the
    matrix is totally unimodular, and the basis ends whole as well.
    """
    value = part.copy()
    rows_of: list[list[int]] = [[] for _ in part]
    for row, cells in enumerate(groups):
        for cell in cells.tolist():
            rows_of[cell].append(row)
    n = len(groups)
    inverse, basis = np.eye(n), np.full(n, -1)  # -1: the slack of that row
    held, top = slack.copy(), np.where(slack > 0, 1.0, 0.0)  # a margin that is whole stays as it is
    moving = np.flatnonzero((part > 0) & (part < 1))
    for cell in rng.permutation(moving).tolist():
        along = inverse[:, rows_of[cell]].sum(axis=1)
        up, up_at = _reach(1 - value[cell], along, held, top)
        down, down_at = _reach(value[cell], -along, held, top)
        rising = up + down == 0 or rng.random() * (up + down) < down
        step, at = (up, up_at) if rising else (-down, down_at)
        value[cell] += step
        held -= step * along
        if at < 0:
            value[cell] = 1.0 if rising else 0.0
            continue
        if basis[at] >= 0:
            value[basis[at]] = round(float(held[at]))
        _pivot(inverse, along, at)
        basis[at], held[at], top[at] = cell, value[cell], 1.0
    for at in np.flatnonzero(basis >= 0).tolist():
        value[basis[at]] = held[at]
    return np.clip(value, 0.0, 1.0)


def _reach(own: float, along: Floats, held: Floats, top: Floats) -> tuple[float, int]:
    """How far a unit may rise while the basis falls along a direction, and who stops it; -1 for the unit itself."""
    room = np.full(len(held), np.inf)
    falls, rises = along > _NONE, along < -_NONE
    room[falls] = held[falls] / along[falls]
    room[rises] = (top[rises] - held[rises]) / -along[rises]
    at = int(np.argmin(room)) if room.size else -1
    if at < 0 or own <= room[at]:
        return own, -1
    return max(0.0, float(room[at])), at


def _pivot(inverse: Floats, along: Floats, at: int) -> None:
    """Exchange a unit of the basis, in place."""
    inverse[at] /= along[at]
    others: npt.NDArray[np.intp] = np.flatnonzero(np.abs(along) > _NONE)
    others = others[others != at]
    inverse[others] -= np.outer(along[others], inverse[at])
