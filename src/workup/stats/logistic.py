"""Unpenalised logistic regression for one fit or for a whole matrix of weights at once."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Floats


class _Pace(NamedTuple):
    """How Newton's steps are taken. A decrement is twice what a step promises to add to the log likelihood."""

    checked_above: float  # decrement from which a step is held against the deviance
    most: int
    settled: float  # decrement per unit of weight at which the fit is done


_CAREFUL = _Pace(checked_above=0.5, most=100, settled=1e-21)
_BOLD = _Pace(checked_above=50.0, most=15, settled=1e-13)
_TILE = 131_072  # cells of a weight matrix worked on together: a megabyte, which stays in a core's own cache


def expit(eta: Floats, *, out: Floats | None = None) -> Floats:
    """1 / (1 + exp(-eta)); several times faster than scipy's on large arrays. `out` may be `eta` itself."""
    found: Floats = np.negative(eta, out=out)
    with np.errstate(over="ignore"):
        np.exp(found, out=found)
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


def refit(design: Floats, outcome: Floats, weights: Floats, *, start: Floats, offset: Floats | None = None) -> Floats:
    """Coefficients [B, k] of the fits that `fit` would give, for many weight vectors that all lie near one fit.

    `start` is the fit to all rows. The first Newton step from there needs no pass over the cells of `weights`: score
    and information at the start are column sums, the same columns for every weight vector. The few fits that this does
    not bring home are left to `fit`.
    """
    ready = _Start.of(design, outcome, np.zeros(len(design)) if offset is None else offset, start)
    found = np.empty((len(weights), design.shape[1]))
    size = min(len(weights), max(4, _TILE // len(design)))
    room = np.empty((4, size, len(design)))  # asking the system for memory in every step would cost more than the step
    for first in range(0, len(weights), size):
        tile = slice(first, first + size)
        found[tile] = ready.fits(weights[tile], outcome if outcome.ndim == 1 else outcome[tile], room)
    lost = ~np.isfinite(found).all(axis=1)
    if lost.any():
        rows = outcome if outcome.ndim == 1 else outcome[lost]
        found[lost] = fit(design, rows, weights[lost], offset=offset, start=start).coefficients
    return found


class _Start(NamedTuple):
    """One fit, made ready to set out from for any number of weight vectors."""

    design: Floats  # [n, k]
    turned: Floats  # [k, n]
    products: Floats  # [n, pairs of columns and one more]
    columns: Floats  # [n, …]: what the score and the information at the start sum
    offset: Floats
    beta: Floats

    @classmethod
    def of(cls, design: Floats, outcome: Floats, offset: Floats, beta: Floats) -> _Start:
        first, second = np.triu_indices(design.shape[1])
        # A last product of ones: its sum is the variance of all rows together.
        products = np.hstack([design[:, first] * design[:, second], np.ones((len(design), 1))])
        mu = expit(design @ beta + offset)[:, None]
        sums = [design * mu, products * (mu * (1 - mu))]
        if outcome.ndim == 1:
            sums.append(design * outcome[:, None])
        return cls(design, np.ascontiguousarray(design.T), products, np.hstack(sums), offset, beta)

    def fits(self, weights: Floats, outcome: Floats, room: Floats) -> Floats:
        """Newton's method for a tile of weight vectors; NaN where it strays or the information is singular."""
        size, k = len(weights), self.beta.size
        w = room[0, :size]
        w[:] = weights
        at_start = w @ self.columns
        events = at_start[:, -k:] if outcome.ndim == 1 else np.multiply(w, outcome, out=room[1, :size]) @ self.design
        gradient, packed = events - at_start[:, :k], at_start[:, k : k + self.products.shape[1]]
        total, reach = w.sum(axis=1), np.abs(self.turned).max(axis=1)
        beta = np.tile(self.beta, (size, 1))
        fitted, active = np.zeros(size, dtype=bool), np.arange(size)
        for _ in range(_BOLD.most):
            hessian = _unpacked(packed[:, :-1], k)
            step = _longest(_solve(hessian, gradient), reach)
            decrement = np.abs(np.einsum("bi,bi->b", gradient, step))
            beta[active] += step
            arrived = decrement < _BOLD.settled * (1 + total[active])
            # A fit that gave every row its own outcome to within 1e-6 would leave less variance than this.
            uncertain = packed[:, -1] > 2e-6 * total[active]
            if arrived.any():
                fitted[active[arrived]] = uncertain[arrived] & _regular(hessian[arrived])
            active = active[~arrived & (decrement < _BOLD.checked_above)]
            if active.size == 0:
                break
            here = w if active.size == size else np.take(w, active, axis=0, out=room[3, : active.size])
            gradient, packed = self._derivatives(beta[active], here, room)
            gradient = events[active] - gradient
        beta[~fitted] = np.nan
        return beta

    def _derivatives(self, beta: Floats, weights: Floats, room: Floats) -> tuple[Floats, Floats]:
        """Weighted sums over the rows of fitted share times column, and of variance times each product."""
        mu, mass = room[1, : len(beta)], room[2, : len(beta)]
        np.matmul(beta, self.turned, out=mu)
        mu += self.offset
        expit(mu, out=mu)
        np.multiply(weights, mu, out=mass)
        expected = mass @ self.design
        mass -= np.multiply(mass, mu, out=mu)
        return expected, mass @ self.products


def _regular(information: Floats) -> npt.NDArray[np.bool_]:
    """Which of a stack of finite information matrices have full rank."""
    values = np.linalg.eigvalsh(information)
    return np.asarray(values[:, 0] > 1e-14 * np.abs(values[:, -1]))


def _unpacked(packed: Floats, k: int) -> Floats:
    """Symmetric matrices [B, k, k] from their upper triangles."""
    return packed[:, _places(k)].reshape(-1, k, k)


@lru_cache
def _places(k: int) -> npt.NDArray[np.intp]:
    """Where each entry of a symmetric matrix stands in its upper triangle."""
    places = np.empty((k, k), dtype=np.intp)
    first, second = np.triu_indices(k)
    places[first, second] = places[second, first] = np.arange(first.size)
    return places.ravel()


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
        hessian = _unpacked(packed, k)
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
    singular = ~known | ~_regular(safe)
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
