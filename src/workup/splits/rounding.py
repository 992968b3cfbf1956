"""Controlled rounding: whole numbers for the cells of a table whose margins stay within one of what was expected.

A random walk settles most cells, integer programming the last few that it leaves with a fraction. Knows cells and the
groups of cells that make margins; nothing of patients or of what a variable means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Bools, Floats, Ints

_NONE = 1e-9  # below this a direction does not move a unit; entries of the inverse are ratios of small whole numbers
_NODES = 2000  # of the search tree; counted, not timed, so that a slow machine gives the same answer


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
    return landing(whole, part, walked, sizes, [margin.cells for margin in margins], limits, rng=rng)


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


# ---- the landing phase: cells that the walk left with a fraction ---------------------------------------------------


@dataclass(frozen=True)
class Limits:
    """Whole numbers each margin may take: `low` and `high` beside its sum; `exact` where the sum is whole itself."""

    low: Ints
    high: Ints
    exact: Bools
    hard: Bools


def landing(
    whole: Ints,
    part: Floats,
    walked: Floats,
    sizes: Ints,
    groups: Sequence[Ints],
    limits: Limits,
    *,
    rng: np.random.Generator,
) -> Ints:
    """Whole numbers near where the walk ended, by ever more freedom until the hard margins hold.

    First the cells left with a fraction are rounded; then any cell may take either number beside its expectation; then
    numbers one further, with sums that are whole allowed to miss by one; at last hard margins are missed by as little
    as can be.
    """
    problem = _Problem(whole, part, walked, sizes, groups, limits, rng.random(len(whole)) * 1e-3)
    for attempt in (problem.open_cells, problem.all_cells, problem.one_further):
        found = attempt()
        if found is not None:
            return found
    return problem.nearest()


@dataclass(frozen=True)
class _Problem:
    whole: Ints
    part: Floats
    walked: Floats
    sizes: Ints
    groups: Sequence[Ints]
    limits: Limits
    noise: Floats

    def open_cells(self) -> Ints | None:
        is_open = np.abs(self.walked - np.round(self.walked)) >= 1e-6
        low = np.where(is_open, 0, np.round(self.walked)).astype(np.int64)
        high = np.where(is_open, 1, low).astype(np.int64)
        return self._solve(low, high, self.walked, self.limits.low, self.limits.high)

    def all_cells(self) -> Ints | None:
        high = (self.part > 0).astype(np.int64)
        return self._solve(np.zeros_like(high), high, self.walked, self.limits.low, self.limits.high)

    def one_further(self) -> Ints | None:
        low = np.maximum(-1, -self.whole)
        high = np.minimum((self.part > 0) + 1, self.sizes - self.whole).astype(np.int64)
        spare = self.limits.exact.astype(np.int64)
        return self._solve(low, high, self.walked, self.limits.low - spare, self.limits.high + spare)

    def nearest(self) -> Ints:
        found = self._solve(-self.whole, self.sizes - self.whole, self.walked, self.limits.low, self.limits.high, 100.0)
        if found is None:  # the search gave up; what the walk found is close
            return self.whole + np.round(self.walked).astype(np.int64)
        return found

    def _solve(
        self, low: Ints, high: Ints, aim: Floats, floor: Ints, ceiling: Ints, price: float = np.inf
    ) -> Ints | None:
        """Whole numbers in [low, high] added to the cells, near the aim. Missing a soft margin costs 10 for each.

        A hard margin may be missed only where `price` is finite. Distance from the aim is |x - aim|, written as a cost
        of 1 - 2·aim on the step from 0 to 1 and of 1 on every step beyond.
        """
        from scipy import optimize

        n, m = len(low), len(self.groups)
        price_of_missing = np.where(self.limits.hard, 0.0 if np.isinf(price) else price, 10.0)
        most_missed = np.where(self.limits.hard & np.isinf(price), 0.0, np.inf)
        # x = step + beyond - below, with step in {0, 1}: a piecewise linear distance needs the three apart.
        base = np.array([self.whole[cells].sum() for cells in self.groups])
        answer = optimize.milp(
            np.concatenate([1 - 2 * aim + self.noise, np.ones(2 * n), np.tile(price_of_missing, 2)]),
            constraints=optimize.LinearConstraint(self._matrix(), floor - base, ceiling - base),
            integrality=np.concatenate([np.ones(3 * n), np.zeros(2 * m)]),
            bounds=optimize.Bounds(
                np.concatenate([np.clip(low, 0, 1), np.zeros(2 * n + 2 * m)]),
                np.concatenate([np.clip(high, 0, 1), np.maximum(high - 1, 0), np.maximum(-low, 0), *[most_missed] * 2]),
            ),
            options={"node_limit": _NODES},
        )
        if answer.x is None:
            return None
        parts: npt.NDArray[np.int64] = np.round(answer.x[: 3 * n]).astype(np.int64)
        return self.whole + parts[:n] + parts[n : 2 * n] - parts[2 * n :]

    def _matrix(self) -> Any:
        """Margins by step, beyond and below of each cell, and by what is missing from and over each margin."""
        from scipy import sparse

        n, m = len(self.whole), len(self.groups)
        rows = np.repeat(np.arange(m), [len(cells) for cells in self.groups])
        inside = sparse.csr_array((np.ones(len(rows)), (rows, np.concatenate(self.groups))), shape=(m, n))
        eye = sparse.eye_array(m, format="csr")
        return sparse.hstack([inside, inside, -inside, eye, -eye], format="csr")
