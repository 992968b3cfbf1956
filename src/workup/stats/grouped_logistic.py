"""Greatest likelihoods of logistic models that give every group an intercept, and a slope in common or one each.

A design of dummies holds rows times groups, and its products rows times groups squared. The same maxima are found from
sums per group: slopes of their own make one small fit per group, and a slope in common makes an information matrix
shaped like an arrow, which Schur's complement solves. Knows one column and its groups, nothing of what they mean.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workup.stats.arrays import Bools, Floats, Ints
from workup.stats.logistic import expit

# The pace of `logistic.fit`: the decrement is twice what a Newton step promises to add to the log likelihood.
_MOST_STEPS = 100
_SETTLED = 1e-21  # decrement per row at which a fit is done
_CHECKED_ABOVE = 0.5  # decrement from which a step is held against the deviance
_FARTHEST = 200.0  # log odds that one step may move a row: beyond, exponentials say nothing
_SINGULAR = 1e-14


class Grouped(NamedTuple):
    """Outcomes and one column, in groups numbered from 0 without gaps."""

    outcome: Floats
    column: Floats  # measured from its group's mean, so that the sums of a group far from 0 stay exact
    group: Ints
    sizes: Ints
    one_class: Bools  # its intercept has no finite maximum
    rising: Bools  # a rising step parts its events from the rest, ties allowed: a slope of its own would run away
    falling: Bools

    @classmethod
    def of(cls, outcome: Floats, column: Floats, group: Ints) -> Grouped:
        """Rows with a group of any whole number each."""
        names, codes = np.unique(group, return_inverse=True)
        sizes = np.bincount(codes, minlength=names.size)
        lowest, highest = np.full((2, names.size), np.inf), np.full((2, names.size), -np.inf)
        for place, rows in enumerate((outcome < 1, outcome > 0)):
            np.minimum.at(lowest[place], codes[rows], column[rows])
            np.maximum.at(highest[place], codes[rows], column[rows])
        means = np.bincount(codes, weights=column, minlength=names.size) / sizes
        return cls(
            outcome,
            column - means[codes],
            codes,
            sizes,
            np.isinf(lowest).any(axis=0),
            highest[0] <= lowest[1],
            highest[1] <= lowest[0],
        )

    def with_own_slopes(self) -> float:
        """Least deviance of an intercept and a slope for each group; NaN where no finite fit has it."""
        if (self.one_class | self.rising | self.falling).any():
            return np.nan
        return _least_deviance(self, np.arange(self.sizes.size))

    def with_common_slope(self) -> float:
        """Least deviance of an intercept for each group and one slope; NaN where no finite fit has it."""
        if self.one_class.any() or self.rising.all() or self.falling.all():
            return np.nan
        return _least_deviance(self, np.zeros(self.sizes.size, dtype=np.int64))


def _least_deviance(rows: Grouped, sharing: Ints) -> float:
    """Newton's method; `sharing` numbers the groups' slopes, so that groups of one number share theirs."""
    fits = _Fits(rows, sharing)
    intercept, slope = np.zeros(rows.sizes.size), np.zeros(fits.slopes)
    settled = np.zeros(fits.slopes, dtype=bool)
    for _ in range(_MOST_STEPS):
        step = fits.step(intercept, slope)
        if not step.finite:
            return np.nan
        share = np.where(settled, 0.0, fits.share_of(step, intercept, slope, ~settled))
        intercept, slope = intercept + share[sharing] * step.intercept, slope + share * step.slope
        settled |= step.decrement < _SETTLED * (1 + fits.n)
        if settled.all():
            return float(fits.deviance(intercept, slope).sum()) if step.regular else np.nan
    return np.nan


class _Step(NamedTuple):
    """One Newton step of every fit."""

    intercept: Floats  # per group
    slope: Floats  # per slope, as are the decrements
    decrement: Floats
    regular: bool  # the information is of full rank

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.intercept).all() and np.isfinite(self.slope).all())


class _Fits:
    """The derivatives of the log likelihood of groups that share slopes."""

    def __init__(self, rows: Grouped, sharing: Ints) -> None:
        self.rows, self.sharing, self.slopes = rows, sharing, int(sharing.max()) + 1
        self.n = self.per_slope(rows.sizes.astype(np.float64))
        self.reach = np.zeros(rows.sizes.size)
        np.maximum.at(self.reach, rows.group, np.abs(rows.column))

    def per_group(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.rows.group, weights=values, minlength=self.rows.sizes.size), np.float64)

    def per_slope(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.sharing, weights=values, minlength=self.slopes), np.float64)

    def log_odds(self, intercept: Floats, slope: Floats) -> Floats:
        return np.asarray(intercept[self.rows.group] + slope[self.sharing][self.rows.group] * self.rows.column)

    def deviance(self, intercept: Floats, slope: Floats) -> Floats:
        """Minus twice the log likelihood of the groups that share each slope."""
        eta = self.log_odds(intercept, slope)
        return 2 * self.per_slope(self.per_group(np.logaddexp(0, eta) - self.rows.outcome * eta))

    def step(self, intercept: Floats, slope: Floats) -> _Step:
        mu = expit(self.log_odds(intercept, slope))
        residual, mass = self.rows.outcome - mu, mu * (1 - mu)
        pull, total = self.per_group(residual), self.per_group(mass)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a fit that strays is not finite
            centre = self.per_group(mass * self.rows.column) / total
            apart = self.rows.column - centre[self.rows.group]
            within = self.per_slope(self.per_group(mass * apart**2))  # Schur's complement of the intercepts
            along = self.per_slope(self.per_group(residual * apart)) / within
            shift = pull / total - centre * along[self.sharing]
            decrement = self.per_slope(pull**2 / total) + within * along**2
        scale = self.per_slope(total)
        regular = (within > _SINGULAR * scale).all() and (total > _SINGULAR * scale[self.sharing]).all()
        return _Step(shift, along, decrement, bool(regular))

    def share_of(self, step: _Step, intercept: Floats, slope: Floats, active: Bools) -> Floats:
        """How much of a step to take: cut where it leaps, and halved until the deviance does not rise."""
        move = np.zeros(self.slopes)
        np.maximum.at(move, self.sharing, np.abs(step.intercept) + np.abs(step.slope[self.sharing]) * self.reach)
        share = np.minimum(1.0, _FARTHEST / np.maximum(move, 1e-300))
        far = active & ~(step.decrement * share < _CHECKED_ABOVE)
        if not far.any():
            return share
        before = self.deviance(intercept, slope)
        for _ in range(40):
            after = self.deviance(intercept + share[self.sharing] * step.intercept, slope + share * step.slope)
            worse = far & ~(after <= before + 1e-9 * (1 + np.abs(before)))
            if not worse.any():
                break
            share[worse] /= 2
        return share
