"""Pseudo-values of the risk by a horizon, and a calibration line through them: a second route to calibration.

A pseudo-value is what a patient adds to Aalen and Johansen's risk, n F − (n − 1) F without them; their mean is the
risk. Regressed on the complementary log-log of the risks they need no censoring weight, which makes them a check on
figures that do. They are no definition of calibration here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workup.stats.arrays import Floats
from workup.stats.horizon_weights import HorizonWeights

_STEPS, _CLOSE, _BLOCK = 100, 1e-12, 4_000_000


def pseudo_values(seen: HorizonWeights) -> Floats:
    """One for every row; NaN where the risk is not known without someone.

    >>> pseudo_values(HorizonWeights.of([1, 2, 4, 5], [1, 0, 0, 1], 3)).round(3).tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    n = len(seen)
    y = np.nan_to_num(seen.outcome)

    def risk(weights: Floats) -> Floats:
        v, estimable = seen.under(weights)
        return np.where(estimable, np.einsum("bn,bn->b", weights * v, y[None, :]) / weights.sum(axis=1), np.nan)

    whole = risk(np.ones((1, n)))[0]
    without = np.empty(n)
    block = max(1, _BLOCK // max(1, n))
    for first in range(0, n, block):
        rows = np.arange(first, min(n, first + block))
        weights = np.ones((rows.size, n))
        weights[np.arange(rows.size), rows] = 0.0
        without[rows] = risk(weights)
    return np.asarray(n * whole - (n - 1) * without)


class Line(NamedTuple):
    """A coefficient with its robust standard error; NaN where the steps lead nowhere."""

    value: float
    se: float


def cloglog_intercept(pseudo: Floats, risk: Floats) -> Line:
    """How far the complementary log-log of the risks lies from that of the pseudo-values' mean; 0 is perfect."""
    return _fitted(pseudo, np.ones((risk.size, 1)), _cloglog(risk), 0)


def cloglog_slope(pseudo: Floats, risk: Floats) -> Line:
    """Slope of the pseudo-values on the complementary log-log of the risks; 1 is perfect."""
    x = _cloglog(risk)
    found = _fitted(pseudo, np.column_stack([np.ones(x.size), x]), x, 1)
    return Line(1 + found.value, found.se)


def _cloglog(risk: Floats) -> Floats:
    inside = np.clip(risk, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(-np.log1p(-inside)))


def _fitted(pseudo: Floats, design: Floats, offset: Floats, place: int) -> Line:
    """Estimating equations of a mean on the complementary log-log scale, rows independent (Gauss–Newton steps)."""
    beta = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        eta = np.clip(offset + design @ beta, -30, 5)
        mean, slope = -np.expm1(-np.exp(eta)), np.exp(eta - np.exp(eta))
        x = design * slope[:, None]
        bread = x.T @ x
        if not np.isfinite(bread).all() or np.linalg.cond(bread) > 1e12:
            return Line(np.nan, np.nan)
        step = np.linalg.solve(bread, x.T @ (pseudo - mean))
        beta = beta + step
        if np.abs(step).max() < _CLOSE:
            inverse = np.linalg.inv(bread)
            meat = (x * (pseudo - mean)[:, None]).T @ (x * (pseudo - mean)[:, None])
            return Line(float(beta[place]), float(np.sqrt((inverse @ meat @ inverse)[place, place])))
    return Line(np.nan, np.nan)
