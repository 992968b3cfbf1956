"""Smooth calibration curves: restricted cubic splines and their distances from the risk; loess, to be drawn only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats import logistic
from workup.stats.arrays import Floats
from workup.stats.intervals import z_critical

CELLS, CELLS_ABOVE = 2_000, 20_000
_TILE = 131_072  # cells of a weight matrix worked on together, so that they stay in a core's own cache
KNOT_SHARES = (0.05, 0.275, 0.5, 0.725, 0.95)  # Harrell's places for five knots


# ---- loess -----------------------------------------------------------------------------------------------------------


def loess(x: Floats, y: Floats, at: Floats, *, weight: Floats | None = None, span: float = 0.75) -> Floats:
    """Local quadratic regression (Cleveland's loess with R's defaults: span 0.75, degree 2, gaussian).

    Like R, the local fits are made at the vertices of a k-d tree only and blended between them by cubic Hermite pieces;
    fitting at every point instead differs in the third digit. NaN where a neighbourhood holds fewer than three
    distinct values.
    """
    order = np.argsort(x, kind="stable")
    xs, ys = x[order], y[order]
    ws = np.ones(x.size) if weight is None else weight[order]
    neighbours = min(x.size, int(np.floor(x.size * span + 1e-5)))
    vertices = _vertices(xs, cell=max(1, int(np.floor(x.size * span * 0.2))))
    fits = np.array([_local_quadratic(xs, ys, ws, v, neighbours, span) for v in vertices])
    return _hermite(vertices, fits[:, 0], fits[:, 1], at)


def _vertices(xs: Floats, *, cell: int) -> Floats:
    """Edges of the k-d tree's cells: cut at medians until a cell holds at most `cell` points."""
    reach = max(float(xs[-1] - xs[0]), 1e-10 * max(abs(xs[0]), abs(xs[-1])) + 1e-30)
    low, high = xs[0] - 0.005 * reach, xs[-1] + 0.005 * reach
    edges = [low, high]
    pending = [(0, xs.size - 1, low, high)]
    while pending:
        first, last, left, right = pending.pop()
        if last - first + 1 <= cell:
            continue
        middle = _untied(xs, first, (first + last) // 2, last)
        cut = float(xs[middle])
        if cut in (left, right):
            continue
        edges.append(cut)
        pending += [(first, middle, left, cut), (middle + 1, last, cut, right)]
    return np.unique(np.array(edges))


def _untied(xs: Floats, first: int, middle: int, last: int) -> int:
    """The place nearest the middle whose right neighbour differs, looking right and left in turn; else the middle."""
    for distance in range(last - first + 1):
        for place in (middle + distance, middle - distance):
            if not first <= place < last:
                return middle
            if xs[place] != xs[place + 1]:
                return place
    return middle


def _local_quadratic(
    xs: Floats, ys: Floats, ws: Floats, vertex: float, neighbours: int, span: float
) -> tuple[float, float]:
    """Value and slope at a vertex of the tricube-weighted quadratic through its nearest points."""
    distance = np.abs(xs - vertex)
    bandwidth = float(np.partition(distance, neighbours - 1)[neighbours - 1]) * max(1.0, span)
    near = distance < bandwidth * 0.999
    close = distance[near] / bandwidth
    tricube = np.where(close > 1e-3, (1 - close**3) ** 3, 1.0)
    root = np.sqrt(tricube * ws[near])
    offset = xs[near] - vertex
    if np.unique(offset[root > 0]).size < 3:
        return np.nan, np.nan
    design = np.column_stack([np.ones(offset.size), offset, offset**2]) * root[:, None]
    coefficients = np.linalg.lstsq(design, root * ys[near], rcond=None)[0]
    return float(coefficients[0]), float(coefficients[1])


def _hermite(vertices: Floats, values: Floats, slopes: Floats, at: Floats) -> Floats:
    cell = np.clip(np.searchsorted(vertices, at, side="right") - 1, 0, vertices.size - 2)
    width = vertices[cell + 1] - vertices[cell]
    h = (at - vertices[cell]) / width
    left = (1 - h) ** 2 * ((1 + 2 * h) * values[cell] + h * width * slopes[cell])
    right = h**2 * ((3 - 2 * h) * values[cell + 1] - (1 - h) * width * slopes[cell + 1])
    return np.asarray(left + right)


# ---- restricted cubic splines ----------------------------------------------------------------------------------------


def knots(lp: Floats, weight: Floats) -> Floats:
    """Five knots at Harrell's quantiles of the log odds; fewer when ties make them coincide."""
    return np.unique(np.array([weighted_quantile(lp, weight, share) for share in KNOT_SHARES]))


def spline_basis(lp: Floats, at: Floats) -> Floats:
    """Columns 1, lp and the restricted cubic terms; just 1 and lp below three knots."""
    columns = [np.ones_like(lp), lp]
    if at.size >= 3:
        last, before, scale = at[-1], at[-2], (at[-1] - at[0]) ** 2
        for knot in at[:-2]:
            term = (
                np.maximum(lp - knot, 0) ** 3
                - np.maximum(lp - before, 0) ** 3 * (last - knot) / (last - before)
                + np.maximum(lp - last, 0) ** 3 * (before - knot) / (last - before)
            )
            columns.append(term / scale)
    return np.column_stack(columns)


class Curve(NamedTuple):
    """A calibration curve with a pointwise band."""

    risk: Floats
    observed: Floats
    low: Floats
    high: Floats


def spline_curve(
    lp: Floats,
    outcome: Floats,
    weight: Floats,
    cluster: npt.NDArray[np.int64],
    *,
    at: Floats,
    grid: Floats,
    level: float = 0.95,
) -> Curve:
    """Observed risk along `grid` (log odds) with a band from the cluster-robust covariance."""
    design = spline_basis(lp, at)
    fits = logistic.fit(design, outcome, weight[None, :])
    beta, bread = fits.coefficients[0], fits.inverse_information[0]
    mu = special.expit(design @ beta)
    _, codes = np.unique(cluster, return_inverse=True)
    scores = np.stack([np.bincount(codes, weights=weight * (outcome - mu) * column) for column in design.T], axis=1)
    units = scores.shape[0]
    covariance = bread @ (scores.T @ scores) @ bread * units / max(1, units - 1)
    points = spline_basis(grid, at)
    centre = points @ beta
    half = z_critical(level) * np.sqrt(np.maximum(0, np.einsum("gi,ij,gj->g", points, covariance, points)))
    ends = special.expit(np.vstack([centre, centre - half, centre + half]))
    return Curve(special.expit(grid), ends[0], ends[1], ends[2])


# ---- distances of the curve from the diagonal ------------------------------------------------------------------------


class Distances(NamedTuple):
    """Absolute distance between curve and risk over the rows: mean, median, 90th percentile, largest."""

    ici: Floats
    e50: Floats
    e90: Floats
    emax: Floats


def distances(curve: Floats, risk: Floats, weights: Floats | None = None) -> Distances:
    """Distances for curves [B, n], NaN where the curve is; quantiles of unweighted rows are R's type 7.

    With `weights[B, n]` quantiles are read off the weighted distribution function (type 2): type 7 depends on the sum
    of the weights, so that mere scaling would change it.
    """
    if weights is None:
        gap = np.abs(curve - risk)
        e50, e90 = np.quantile(gap, [0.5, 0.9], axis=1)
        return Distances(gap.mean(axis=1), e50, e90, gap.max(axis=1))
    size = max(4, _TILE // max(1, risk.size))
    tiles = [slice(first, first + size) for first in range(0, len(curve), size)]
    parts = [_weighted_distances(curve[tile], risk, np.ascontiguousarray(weights[tile])) for tile in tiles]
    return Distances(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _weighted_distances(curve: Floats, risk: Floats, weights: Floats) -> Distances:
    gap = np.abs(curve - risk)
    bad = ~np.isfinite(gap).all(axis=1)
    gap[bad] = 0.0
    total = weights.sum(axis=1)
    bad |= total <= 0
    ici = np.einsum("bn,bn->b", weights, gap) / np.where(bad, 1.0, total)
    emax = np.where(weights > 0, gap, 0.0).max(axis=1)
    e50, e90 = _row_quantiles(gap, weights, (0.5, 0.9))
    for values in (ici, e50, e90, emax):
        values[bad] = np.nan
    return Distances(ici, e50, e90, emax)


def spline_distance_replicates(
    lp: Floats,
    outcome: Floats,
    risk: Floats,
    weights: Floats,
    *,
    at: Floats,
    apart: npt.NDArray[np.int64] | None = None,
) -> Distances:
    """Distances of the spline curve refitted under every weight vector in `weights[B, n]`.

    `outcome` is [n], or [B, n] where every replicate has its own. Rows with a code above 0 in `apart` have no log odds
    (risks of 0 or 1): they are no part of the curve, and each code is held against its own observed share. Above 20,000
    rows, rows are gathered into cells of neighbouring risk, which moves a distance by about a hundredth of its standard
    error (root mean square over replicates) and keeps the cost independent of n.
    """
    ends: list[tuple[Floats, float, Floats]] = []
    if apart is not None and apart.any():
        ends = [_own_share(outcome, risk, weights, apart == code) for code in np.unique(apart[apart > 0])]
        inside = np.flatnonzero(apart == 0)
        lp, outcome, risk, weights = lp[inside], outcome[..., inside], risk[inside], np.take(weights, inside, axis=1)
    if lp.size > CELLS_ABOVE:
        lp, outcome, risk, weights = _cells(lp, outcome, risk, weights)
    curve = _spline_curves(lp, outcome, weights, at)
    if ends:
        curve = np.column_stack([curve, *(share for share, _, _ in ends)])
        risk = np.append(risk, [mean for _, mean, _ in ends])
        weights = np.column_stack([weights, *(mass for _, _, mass in ends)])
    return distances(curve, risk, weights)


def _spline_curves(lp: Floats, outcome: Floats, weights: Floats, at: Floats) -> Floats:
    """The fitted share of every row under every weight vector."""
    if not lp.size:
        return np.empty((len(weights), 0))
    design = spline_basis(lp, at)
    if outcome.ndim == 1:
        share, mass = outcome, np.ones(lp.size)
    else:
        mass = weights.sum(axis=0)
        events = np.einsum("bn,bn->n", weights, outcome)
        share = np.divide(events, mass, out=np.zeros_like(mass), where=mass > 0)
    centre = logistic.fit(design, share, mass[None, :]).coefficients[0]
    # All rows together have a finite fit wherever some of them do, so without one there is nothing to look for.
    if not np.isfinite(centre).all():
        return np.full((len(weights), lp.size), np.nan)
    return logistic.expit(logistic.refit(design, outcome, weights, start=centre) @ design.T)


def _own_share(
    outcome: Floats, risk: Floats, weights: Floats, rows: npt.NDArray[np.bool_]
) -> tuple[Floats, float, Floats]:
    """Observed share of some rows in every replicate, their mean risk, and their weight; the risk where none weighs."""
    mass, mean = weights[:, rows].sum(axis=1), float(risk[rows].mean())
    events = (weights[:, rows] * outcome[..., rows]).sum(axis=1)
    return np.divide(events, mass, out=np.full(len(weights), mean), where=mass > 0), mean, mass


def _cells(lp: Floats, outcome: Floats, risk: Floats, weights: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Cells of equal count along the risk: log odds and risk [C], share of events and weight [B, C]."""
    order = np.argsort(lp, kind="stable")
    starts = np.unique(np.linspace(0, lp.size, CELLS + 1)[:-1].astype(int))
    sizes = np.diff(np.append(starts, lp.size))
    ordered = np.take(weights, order, axis=1)
    mass = np.add.reduceat(ordered, starts, axis=1)
    events = np.add.reduceat(ordered * outcome[..., order], starts, axis=1)
    share = np.divide(events, mass, out=np.zeros_like(mass), where=mass > 0)
    mean_risk = np.add.reduceat(risk[order], starts) / sizes
    # The log odds of the mean risk, not the mean log odds: a cell must lie on the curve's own abscissa.
    return special.logit(np.clip(mean_risk, 1e-6, 1 - 1e-6)), share, mean_risk, mass


def weighted_quantile(values: Floats, weight: Floats, share: float) -> float:
    """Where the weighted distribution function passes a share; the middle of the step when it stops exactly there."""
    return float(_row_quantiles(values[None, :], weight[None, :], [share])[0][0])


def _row_quantiles(values: Floats, weights: Floats, shares: Sequence[float]) -> list[Floats]:
    """Weighted quantiles along the rows of `values[B, n]`."""
    size, n = values.shape
    # Distances along sorted risks rise and fall only a few times: a sort that merges runs is many times faster on them.
    order = np.argsort(values, axis=1, kind="stable")
    order += n * np.arange(size)[:, None]
    running = weights.take(order)
    np.cumsum(running, axis=1, out=running)
    found = []
    for share in shares:
        place, slack = share * running[:, -1], 1e-12 * running[:, -1]
        sides = []
        for target in (place - slack, place + slack):
            at = np.minimum(np.count_nonzero(running < target[:, None], axis=1), n - 1)
            sides.append(values.take(order[np.arange(size), at]))
        found.append((sides[0] + sides[1]) / 2)
    return found
