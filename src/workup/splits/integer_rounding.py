"""The last few cells of a controlled rounding, settled by integer programming where the random walk left fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Bools, Floats, Ints

_NODES = 2000  # of the search tree; counted, not timed, so that a slow machine gives the same answer


@dataclass(frozen=True)
class Limits:
    """Whole numbers each margin may take: `low` and `high` beside its sum; `exact` where the sum is whole itself."""

    low: Ints
    high: Ints
    exact: Bools
    hard: Bools


def landed(
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
