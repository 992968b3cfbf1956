"""Unpenalised logistic regression for one fit or for a whole matrix of weights at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class _Pace(NamedTuple):
    """How Newton's steps are taken. A decrement is twice what a step promises to add to the log likelihood."""

    checked_above: float  # decrement from which a step is held against the deviance
    most: int
    settled: float  # decrement per unit of weight at which the fit is done


_CAREFUL = _Pace(checked_above=0.5, most=100, settled=1e-21)
_BOLD = _Pace(checked_above=50.0, most=15, settled=1e-13)


def expit(eta: Floats) -> Floats:
    """1 / (1 + exp(-eta)); several times faster than scipy's on large arrays."""
    with np.errstate(over="ignore"):
        found = np.exp(-eta)
    found += 1
    return np.reciprocal(found, out=found)


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

    `outcome` is [n], or [B, n] when rows are cells that hold a share of events in each replicate. Classes that a line
    separates have no finite maximum: such a fit is NaN, not a large number.
    """
    offset = np.zeros(len(design)) if offset is None else offset
    weights = np.ascontiguousarray(weights)  # replicates may come as a turned view, which every step would pay for
    if start is None:
        return _newton(design, outcome, weights, offset, np.zeros((len(weights), design.shape[1])), _CAREFUL)
    # From a good start full steps all but always lead home; the few that get lost set out again, carefully.
    begun = np.array(np.broadcast_to(start, (len(weights), design.shape[1])))
    found = _newton(design, outcome, weights, offset, begun, _BOLD)
    lost = ~np.isfinite(found.coefficients).all(axis=1)
    if lost.any():
        rows = outcome if outcome.ndim == 1 else outcome[lost]
        again = _newton(design, rows, weights[lost], offset, np.zeros((int(lost.sum()), design.shape[1])), _CAREFUL)
        found.coefficients[lost], found.inverse_information[lost] = again
    return found


def _newton(design: Floats, outcome: Floats, weights: Floats, offset: Floats, beta: Floats, pace: _Pace) -> Fits:
    """Newton steps from `beta` at a careful or a bold pace."""
    size, k = beta.shape
    upper = np.triu_indices(k)
    products = design[:, upper[0]] * design[:, upper[1]]
    information = np.empty((size, k, k))
    active = np.arange(size)
    reach = np.abs(design).max(axis=0)
    for _ in range(pace.most):
        w = weights if active.size == size else weights[active]
        y = outcome if outcome.ndim == 1 or active.size == size else outcome[active]
        mu = expit(beta[active] @ design.T + offset)
        gradient = (w * (y - mu)) @ design
        packed = (w * mu * (1 - mu)) @ products
        hessian = np.empty((active.size, k, k))
        hessian[:, upper[0], upper[1]] = packed
        hessian[:, upper[1], upper[0]] = packed
        information[active] = hessian
        step = _longest(_solve(hessian, gradient), reach)
        # The decrement is in units of the log likelihood, so neither rule depends on the scale of the columns.
        decrement = np.einsum("bi,bi->b", gradient, step)
        far = ~(np.abs(decrement) < pace.checked_above)
        if far.any():
            rows = y if y.ndim == 1 else y[far]
            step[far] *= _share_of_step(beta[active[far]], step[far], design, rows, w[far], offset)[:, None]
        beta[active] += step
        active = active[~(np.abs(decrement) < pace.settled * (1 + w.sum(axis=1)))]
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


def with_constant(column: Floats) -> Floats:
    """A design of an intercept and one column."""
    return np.column_stack([np.ones_like(column), column])


def deviance(
    coefficients: Floats, design: Floats, outcome: Floats, weight: Floats, *, offset: Floats | None = None
) -> float:
    """Minus twice the log likelihood at the coefficients."""
    shift = np.zeros(len(design)) if offset is None else offset
    return float(_deviance(coefficients[None, :], design, outcome, weight[None, :], shift)[0])


def _share_of_step(beta: Floats, step: Floats, design: Floats, outcome: Floats, w: Floats, offset: Floats) -> Floats:
    """How much of a long Newton step to take: halved until the deviance does not rise."""
    before = _deviance(beta, design, outcome, w, offset)
    share = np.ones(len(beta))
    for _ in range(40):
        after = _deviance(beta + share[:, None] * step, design, outcome, w, offset)
        worse = ~(after <= before + 1e-9 * (1 + np.abs(before)))
        if not worse.any():
            break
        share[worse] /= 2
    return share


def _longest(step: Floats, reach: Floats) -> Floats:
    """A step cut so that no row's log odds move by more than 200: beyond, exponentials say nothing and may overflow."""
    move = np.abs(step) @ reach
    return np.asarray(step * np.minimum(1.0, 200.0 / np.maximum(move, 1e-300))[:, None])


def _solve(hessian: Floats, gradient: Floats) -> Floats:
    """Newton steps; where the information is singular, within the directions that it does inform."""
    try:
        return np.asarray(np.linalg.solve(hessian, gradient[..., None])[..., 0], dtype=np.float64)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(hessian)
        informed = values > 1e-14 * np.maximum(values[:, -1:], 1e-300)
        inverse = np.divide(1.0, values, out=np.zeros_like(values), where=informed)
        along = np.einsum("bij,bi->bj", vectors, gradient)
        return np.asarray(np.einsum("bij,bj->bi", vectors, inverse * along))


def _inverse(matrix: Floats) -> Floats:
    """Inverses of a stack of information matrices, NaN where one is singular."""
    known = np.asarray(np.isfinite(matrix).all(axis=(1, 2)))
    safe: Floats = np.where(known[:, None, None], matrix, np.eye(matrix.shape[1]))
    values = np.linalg.eigvalsh(safe)
    singular = ~known | (values[:, 0] <= 1e-14 * np.abs(values[:, -1]))
    safe[singular] = np.eye(matrix.shape[1])
    inverse = np.asarray(np.linalg.inv(safe), dtype=np.float64)
    inverse[singular] = np.nan
    return inverse


def _separated(beta: Floats, design: Floats, outcome: Floats, weights: Floats, offset: Floats) -> npt.NDArray[np.bool_]:
    """A fit that gives every weighted row its own outcome has run away to infinity."""
    finite = np.where(np.isfinite(beta), beta, 0.0)
    mu = expit(finite @ design.T + offset)
    wrong = (weights > 0) & (np.abs(outcome - mu) > 1e-6)
    return np.asarray(~wrong.any(axis=1))
