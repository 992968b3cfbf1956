"""One coefficient of a logistic fit under any number of weights, fast enough for a bootstrap of a million rows."""

from __future__ import annotations

from math import comb, factorial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats import logistic
from workup.stats.arrays import Floats, Ints

# Above this many rows Newton steps from row to row give way to an expansion about the full fit. Rows, not cells, so
# that how replicates are grouped in memory decides nothing.
_EXPAND_ABOVE = 4_000
_TRUSTED = 3e-5


def slope_replicates(outcome: Floats, lp: Floats, weights: Floats) -> Floats:
    """The slope under every weight vector in `weights[B, n]`; NaN where there is none."""
    return Refits.of_slope(outcome, lp).under(weights)


def in_the_large_replicates(outcome: Floats, lp: Floats, weights: Floats) -> Floats:
    """Calibration-in-the-large under every weight vector."""
    return Refits.of_intercept(outcome, lp).under(weights)


class Refits(NamedTuple):
    """The last coefficient of a fit to one set of rows, made ready for any number of weights.

    Many rows are expanded about their own fit: what the expansion needs of the weights is a handful of column sums,
    one matrix product for all replicates instead of an exponential per row, replicate and step. Few rows, and the
    replicates that lie too far from the fit, are fitted row by row.
    """

    design: Floats
    outcome: Floats
    offset: Floats | None
    centre: Floats
    expansion: _Expansion | None

    @classmethod
    def of_slope(cls, outcome: Floats, lp: Floats) -> Refits:
        """The calibration slope."""
        return cls._of(logistic.with_constant(lp), outcome, None)

    @classmethod
    def of_intercept(cls, outcome: Floats, lp: Floats) -> Refits:
        """Calibration-in-the-large."""
        return cls._of(np.ones((lp.size, 1)), outcome, lp)

    @classmethod
    def _of(cls, design: Floats, outcome: Floats, offset: Floats | None) -> Refits:
        centre = logistic.fit(design, outcome, np.ones((1, len(design))), offset=offset).coefficients[0]
        expanded = len(design) > _EXPAND_ABOVE and bool(np.isfinite(centre).all())
        return cls(
            design, outcome, offset, centre, _Expansion.of(design, outcome, offset, centre) if expanded else None
        )

    def under(self, weights: Floats) -> Floats:
        """The coefficient under every weight vector in `weights[B, n]`; NaN where there is none."""
        if self.expansion is None or len(weights) == 1:  # a point value is always fitted exactly
            return self._row_by_row(weights)
        shift, rough = self.expansion.solve(weights)
        value = np.asarray(self.centre[-1] + shift)
        if rough.any():
            value[rough] = self._row_by_row(weights[rough])
        return value

    def _row_by_row(self, weights: Floats) -> Floats:
        if not np.isfinite(self.centre).all():
            fits = logistic.fit(self.design, self.outcome, weights, offset=self.offset).coefficients
        else:
            fits = logistic.refit(self.design, self.outcome, weights, offset=self.offset, start=self.centre)
        return np.asarray(fits[:, -1])


class _Expansion(NamedTuple):
    """Fourth-order expansion of the logistic score about a fit."""

    terms: _Terms
    columns: Floats  # [column, row]

    @classmethod
    def of(cls, design: Floats, outcome: Floats, offset: Floats | None, centre: Floats) -> _Expansion:
        """The columns whose weighted sums are the score and its derivatives at the fit."""
        x, terms = design[:, -1], _TERMS[design.shape[1]]
        s = special.expit(design @ centre + (0.0 if offset is None else offset))
        s1 = s * (1 - s)
        derivatives = [s1, s1 * (1 - 2 * s), s1 * (1 - 6 * s + 6 * s * s), s1 * (1 - 2 * s) * (1 - 12 * s + 12 * s * s)]
        columns = np.empty((terms.columns, len(x)))
        columns[: design.shape[1]] = design.T * (outcome - s)
        for derivative, first, last in zip(derivatives, terms.first, [*terms.first[1:], terms.columns], strict=True):
            columns[first] = derivative
            for place in range(first + 1, last):
                np.multiply(columns[place - 1], x, out=columns[place])
        return cls(terms, columns)

    def solve(self, weights: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Shift of the last coefficient by Newton's method on the expansion, and where that is not to be trusted:
        where the fourth order alone moves the fit by 3e-5 standard errors (what is left out is many times less)."""
        k, terms = self.terms.k, self.terms
        sums = (self.columns @ weights.T).T
        scores, informations = sums[:, terms.gradient], sums[:, terms.hessian]
        shift = np.zeros((len(sums), k))
        for _ in range(4):
            at = terms.at(shift)
            gradient = sums[:, :k] - np.einsum("bt,btj->bj", at[:, 1:], scores)
            hessian = np.einsum("bt,btij->bij", at[:, : len(terms.hessian)], informations)
            step = _solved(hessian, gradient)
            shift += step
        # Both in units of the log likelihood: what the fourth order alone moves, and the last step taken.
        last = np.einsum("bt,btj->bj", terms.at(shift)[:, terms.fourth :], scores[:, terms.fourth - 1 :])
        moved = np.einsum("bi,bi->b", last, _solved(hessian, last))
        left = np.einsum("bi,bi->b", gradient, step)
        settled = (np.abs(moved) < _TRUSTED**2) & (np.abs(left) < 1e-12) & (informations[:, 0, -1, -1] > 0)
        return shift[:, -1], ~settled


def _solved(matrix: Floats, vector: Floats) -> Floats:
    """Solutions of a stack of 1×1 or 2×2 systems, 0 where singular. numpy's own costs more in calls than in work."""
    if matrix.shape[1] == 1:
        return np.asarray(np.divide(vector, matrix[:, 0], out=np.zeros_like(vector), where=matrix[:, 0] != 0))
    (a, b), (c, d) = matrix[:, 0].T, matrix[:, 1].T
    determinant = a * d - b * c
    found = np.stack([d * vector[:, 0] - b * vector[:, 1], a * vector[:, 1] - c * vector[:, 0]], axis=1)
    return np.asarray(np.divide(found, determinant[:, None], out=np.zeros_like(found), where=determinant[:, None] != 0))


class _Terms(NamedTuple):
    """The terms of (da + db x)^order / order! for a model of k coefficients, and where the sums they meet stand."""

    k: int
    columns: int
    first: list[int]  # the first column of each order
    intercept: Ints
    slope: Ints
    factor: Floats
    gradient: Ints  # [term of order 1 to 4, coefficient]
    hessian: Ints  # [term of order 0 to 3, coefficient, coefficient]
    fourth: int  # the first term of order 4

    @classmethod
    def of(cls, k: int, orders: int = 4) -> _Terms:
        """Lay out the columns: the score first, then each order's derivative times the powers of x it needs."""
        powers = k - 1
        pairs = [(order, i) for order in range(orders + 1) for i in range(powers * order + 1)]
        ends = k + np.cumsum([powers * (order + 1) + 1 for order in range(1, orders + 1)])
        first = [k, *(int(end) for end in ends[:-1])]
        span = np.arange(k)
        return cls(
            k=k,
            columns=int(ends[-1]),
            first=first,
            intercept=np.array([order - i for order, i in pairs]),
            slope=np.array([i for _, i in pairs]),
            factor=np.array([comb(order, i) / factorial(order) for order, i in pairs]),
            gradient=np.array([first[order - 1] + i + span for order, i in pairs if order > 0]),
            hessian=np.array([first[order] + i + span[:, None] + span for order, i in pairs if order < orders]),
            fourth=sum(order < orders for order, _ in pairs),
        )

    def at(self, shift: Floats) -> Floats:
        """Every term at the shifts [B, k]."""
        powers = np.ones((len(shift), self.k, self.intercept.max() + 1))
        np.cumprod(np.broadcast_to(shift[:, :, None], powers[:, :, 1:].shape), axis=2, out=powers[:, :, 1:])
        found = self.factor * powers[:, 0, self.intercept]
        return np.asarray(found * powers[:, 1, self.slope] if self.k > 1 else found)


_TERMS = {k: _Terms.of(k) for k in (1, 2)}
