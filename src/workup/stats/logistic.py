"""Unpenalised logistic regression for one fit or for a whole matrix of weights at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]

_MOST_STEPS = 60


class Fits(NamedTuple):
    """Coefficients [B, k] with the inverse information [B, k, k]; rows of NaN where no finite maximum was found."""

    coefficients: Floats
    inverse_information: Floats


def fit(
    design: Floats,
    outcome: Floats,
    weights: Floats,
    *,
    offset: Floats | None = None,
    start: Floats | None = None,
) -> Fits:
    """Maximum likelihood by Newton steps, for each weight vector in `weights[B, n]`.

    `outcome` is [n], or [B, n] when rows are cells that hold a share of events in each replicate. Classes that a line separates have no finite maximum: such a fit is NaN, not a large number.
    """
    size, k = len(weights), design.shape[1]
    offset = np.zeros(len(design)) if offset is None else offset
    beta = np.zeros((size, k)) if start is None else np.array(np.broadcast_to(start, (size, k)))
    upper = np.triu_indices(k)
    products = design[:, upper[0]] * design[:, upper[1]]
    information = np.empty((size, k, k))
    active = np.arange(size)
    deviance = _deviance(beta, design, outcome, weights, offset)
    for _ in range(_MOST_STEPS):
        w = weights if active.size == size else weights[active]
        y = outcome if outcome.ndim == 1 or active.size == size else outcome[active]
        mu = special.expit(beta[active] @ design.T + offset)
        gradient = (w * (y - mu)) @ design
        packed = (w * mu * (1 - mu)) @ products
        hessian = np.empty((active.size, k, k))
        hessian[:, upper[0], upper[1]] = packed
        hessian[:, upper[1], upper[0]] = packed
        information[active] = hessian
        step = _solve(hessian, gradient)
        beta[active], deviance[active] = _step(beta[active], step, deviance[active], design, y, w, offset)
        # The decrement is in units of the log likelihood, so the rule does not depend on the scale of the columns.
        decrement = np.einsum("bi,bi->b", gradient, step)
        active = active[~(np.abs(decrement) < 1e-18 + 1e-20 * np.abs(deviance[active]))]
        if active.size == 0:
            break
    failed = np.zeros(size, dtype=bool)
    failed[active] = True
    inverse = _inverse(information)
    failed |= ~np.isfinite(beta).all(axis=1) | ~np.isfinite(inverse).all(axis=(1, 2))
    failed |= _separated(beta, design, outcome, weights, offset)
    beta[failed], inverse[failed] = np.nan, np.nan
    return Fits(beta, inverse)


def _deviance(beta: Floats, design: Floats, outcome: Floats, weights: Floats, offset: Floats) -> Floats:
    eta = beta @ design.T + offset
    return np.asarray(2 * np.einsum("bn,bn->b", weights, np.logaddexp(0, eta) - outcome * eta))


def deviance(coefficients: Floats, design: Floats, outcome: Floats, weight: Floats, *, offset: Floats | None = None) -> float:
    """Minus twice the log likelihood at the coefficients."""
    shift = np.zeros(len(design)) if offset is None else offset
    return float(_deviance(coefficients[None, :], design, outcome, weight[None, :], shift)[0])


def _step(
    beta: Floats, step: Floats, before: Floats, design: Floats, outcome: Floats, w: Floats, offset: Floats
) -> tuple[Floats, Floats]:
    """A full Newton step, halved where it would raise the deviance."""
    share = np.ones(len(beta))
    for _ in range(12):
        candidate = beta + share[:, None] * step
        after = _deviance(candidate, design, outcome, w, offset)
        worse = ~(after <= before + 1e-9 * (1 + np.abs(before)))
        if not worse.any():
            break
        share[worse] /= 2
    return candidate, after


def _solve(hessian: Floats, gradient: Floats) -> Floats:
    try:
        return np.linalg.solve(hessian, gradient[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.asarray(np.einsum("bij,bj->bi", np.linalg.pinv(hessian), gradient))


def _inverse(matrix: Floats) -> Floats:
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        result = np.full_like(matrix, np.nan)
        for i, one in enumerate(matrix):
            if np.linalg.cond(one) < 1e14:
                result[i] = np.linalg.inv(one)
        return result


def _separated(beta: Floats, design: Floats, outcome: Floats, weights: Floats, offset: Floats) -> npt.NDArray[np.bool_]:
    """A fit that gives every weighted row its own outcome has run away to infinity."""
    finite = np.where(np.isfinite(beta), beta, 0.0)
    mu = special.expit(finite @ design.T + offset)
    wrong = (weights > 0) & (np.abs(outcome - mu) > 1e-6)
    return ~wrong.any(axis=1)
