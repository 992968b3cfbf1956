"""Cox's proportional hazards by Newton's steps (Breslow's ties), with cluster-robust errors and the baseline hazard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workup.stats.arrays import Bools, Floats, Ints, Rows

_STEPS, _HALVINGS, _CLOSE = 60, 30, 1e-12
_FARTHEST = 25.0  # log hazard ratio between two rows beyond which a fit is taken to run away
_CONDITION = 1e12


class _Risk(NamedTuple):
    """Rows from the latest on, and at every moment of an event how many of them were still at risk."""

    order: Rows
    moments: Floats  # rising
    at_risk: Rows  # at each moment, as a count of rows in that order
    events: Rows  # places of the rows with an event, in that order
    codes: Rows  # moment of each of them

    @classmethod
    def of(cls, time: Floats, happened: Bools, goes_first: Bools) -> _Risk:
        order = np.lexsort((goes_first, -time))  # of one moment, those who leave it first come last
        t, gone = time[order], goes_first[order]
        events = np.flatnonzero(happened[order])
        moments, codes = np.unique(t[events], return_inverse=True)
        leaving = -t[gone]
        left = np.searchsorted(leaving, -moments, side="right") - np.searchsorted(leaving, -moments, side="left")
        return cls(order, moments, np.searchsorted(-t, -moments, side="right") - left, events, codes)


class _Derivatives(NamedTuple):
    """Of the partial likelihood, with what the risk sets hold: the means of the columns, and steps of the hazard."""

    likelihood: float
    gradient: Floats
    information: Floats
    means: Floats  # [moment, column]
    sums: Floats  # Σ w e^{xb} at each moment
    steps: Floats

    @classmethod
    def of(cls, x: Floats, w: Floats, beta: Floats, risk: _Risk) -> _Derivatives:
        score = x @ beta
        e = w * np.exp(score)
        last = risk.at_risk - 1
        s0 = np.cumsum(e)[last]
        means = np.cumsum(e[:, None] * x, axis=0)[last] / s0[:, None]
        squares = np.cumsum(e[:, None, None] * x[:, :, None] * x[:, None, :], axis=0)[last] / s0[:, None, None]
        own = w[risk.events]
        happened = np.bincount(risk.codes, weights=own, minlength=risk.moments.size)
        return cls(
            float(own @ (score[risk.events] - np.log(s0[risk.codes]))),
            own @ (x[risk.events] - means[risk.codes]),
            np.einsum("m,mij->ij", happened, squares - means[:, :, None] * means[:, None, :]),
            means,
            s0,
            happened / s0,
        )


@dataclass(frozen=True, eq=False)
class Cox:
    """Log hazard ratios with their covariance: that of the model, and the robust one over clusters.

    Everything is NaN where there is no finite maximum: no event, a column that does not vary, or one that orders all
    events.
    """

    coefficients: Floats
    covariance: Floats
    robust: Floats
    x: Floats  # the columns, centred, in the order of the rows given
    weight: Floats
    risk: _Risk
    found: _Derivatives | None

    @property
    def fitted(self) -> bool:
        """Is there a finite maximum?"""
        return self.found is not None

    def before(self, until: Floats) -> Floats:
        """The chance of no event before a moment of each row, in Breslow's form: exp(−Λ₀(u−) e^{xb})."""
        return np.asarray(np.exp(-self._hazard(until) * np.exp(self.x @ self.coefficients)))

    def _hazard(self, until: Floats) -> Floats:
        assert self.found is not None
        return np.concatenate(([0.0], np.cumsum(self.found.steps)))[self._passed(until)]

    def _passed(self, until: Floats) -> Rows:
        return np.searchsorted(self.risk.moments, until, side="left")

    def through(self, until: Floats, moved: Floats) -> Floats:
        """What each row does by way of the fit: −Σ_j moved_j ∂log(chance before until_j)/∂w_i, the coefficients and the
        baseline hazard re-estimated."""
        assert self.found is not None
        found, risk = self.found, self.risk
        mass = moved * np.exp(self.x @ self.coefficients)
        passed = self._passed(until)
        held = np.bincount(passed, weights=mass, minlength=risk.moments.size + 1)
        later = np.cumsum(held[::-1])[::-1][1:]  # mass that looks back on each moment
        e = np.exp(self.x @ self.coefficients)
        spent = np.concatenate(([0.0], np.cumsum(later * found.steps / found.sums)))
        direct = -e * spent[self._reached()]
        direct[risk.order[risk.events]] += (later / found.sums)[risk.codes]
        drawn = np.concatenate([np.zeros((1, self.x.shape[1])), np.cumsum(found.steps[:, None] * found.means, axis=0)])
        slope = mass @ (self.x * self._hazard(until)[:, None] - drawn[passed])
        return np.asarray(direct + self.score_residuals() @ (self.covariance @ slope))

    def _reached(self) -> Rows:
        """At how many moments, from the first on, each row was at risk."""
        risk = self.risk
        reached = np.empty(len(self.x), dtype=np.intp)
        held = np.searchsorted(risk.at_risk[::-1], np.arange(len(self.x)), side="right")
        reached[risk.order] = risk.moments.size - held
        return reached

    def score_residuals(self) -> Floats:
        """Lin and Wei's: what a unit of weight on each row gives to the score, its part in every risk set taken off."""
        assert self.found is not None
        found, risk, reached = self.found, self.risk, self._reached()
        hazard = np.concatenate(([0.0], np.cumsum(found.steps)))[reached]
        drawn = np.concatenate([np.zeros((1, self.x.shape[1])), np.cumsum(found.steps[:, None] * found.means, axis=0)])
        residuals = -np.exp(self.x @ self.coefficients)[:, None] * (self.x * hazard[:, None] - drawn[reached])
        rows = risk.order[risk.events]
        residuals[rows] += self.x[rows] - found.means[risk.codes]
        return np.asarray(residuals)


def cox(
    time: Floats,
    happened: Bools,
    columns: Floats,
    *,
    weight: Floats | None = None,
    cluster: Ints | None = None,
    goes_first: Bools | None = None,
) -> Cox:
    """Fit the hazard of what `happened` on `columns[n, k]`.

    `goes_first` are rows that leave a moment before what happens at it: where censoring is modelled, those whose event
    came at the same moment.

    >>> found = cox(np.arange(1.0, 7), np.ones(6, dtype=bool), np.array([[1.0], [0], [1], [1], [0], [0]]))
    >>> found.coefficients.round(4).tolist(), np.sqrt(found.covariance).round(4).tolist()
    ([1.3945], [[1.1643]])
    """
    n, k = columns.shape
    w = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    x = columns - np.average(columns, axis=0, weights=w)
    risk = _Risk.of(time, happened & (w > 0), np.zeros(n, dtype=bool) if goes_first is None else goes_first)
    nothing = np.full((k, k), np.nan)
    beta = _maximum(x[risk.order], w[risk.order], risk) if risk.events.size and k else None
    if beta is None:
        return Cox(np.full(k, np.nan), nothing, nothing, x, w, risk, None)
    found = _Derivatives.of(x[risk.order], w[risk.order], beta, risk)
    fit = Cox(beta, np.asarray(np.linalg.inv(found.information), dtype=np.float64), nothing, x, w, risk, found)
    unit = np.arange(n) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    totals = np.zeros((int(unit.max()) + 1, k))
    np.add.at(totals, unit, fit.score_residuals() * w[:, None])
    moved = totals @ fit.covariance
    robust = moved.T @ moved * (len(totals) / max(1, len(totals) - 1))
    return Cox(beta, fit.covariance, robust, x, w, risk, found)


def _maximum(x: Floats, w: Floats, risk: _Risk) -> Floats | None:
    """Newton's steps, each halved until the likelihood does not fall; None where they lead nowhere."""
    beta = np.zeros(x.shape[1])
    here = _Derivatives.of(x, w, beta, risk)
    for _ in range(_STEPS):
        if not np.isfinite(here.information).all() or np.linalg.cond(here.information) > _CONDITION:
            return None
        step = np.linalg.solve(here.information, here.gradient)
        if np.abs(step).max() < _CLOSE:
            return beta
        for _ in range(_HALVINGS):
            if np.ptp(x @ (beta + step)) <= _FARTHEST:
                there = _Derivatives.of(x, w, beta + step, risk)
                if there.likelihood >= here.likelihood - 1e-12 * (1 + abs(here.likelihood)):
                    break
            step = step / 2
        else:
            return None
        beta, here = beta + step, there
    return None
