"""How far a calibration curve strays by chance alone, when every risk is right."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import optimize, special

from workup.stats import logistic, smooth
from workup.stats.arrays import Floats, Ints

DRAWS = 500
CELLS = 1_000  # neighbouring risks are drawn row by row and fitted together; more cells change nothing that is shown
_AT_ONCE = 4_000_000  # outcomes in memory
_MOST_ALIKE = 0.99


class Chance(NamedTuple):
    """Distances under perfect calibration, one per draw, and the correlation within patients that they allow for."""

    distances: smooth.Distances
    correlation: float


def distances_by_chance(
    outcome: Floats,
    lp: Floats,
    risk: Floats,
    weight: Floats,
    patient: Ints,
    *,
    at: Floats,
    apart: Ints,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> Chance:
    """Outcomes drawn from the risks, the curve fitted anew each time, its distances taken as those of the data.

    Outcomes of one patient resemble one another. They are drawn with a shared normal, which leaves each row its own
    risk for a chance and gives pairs of rows the correlation that the data have about their fitted curve.
    """
    correlation = _correlation(outcome, lp, weight, patient, at, apart)
    _, codes = np.unique(patient, return_inverse=True)
    shared = _latent(correlation, float(np.average(outcome, weights=weight)))
    order, starts, kinds = _gathered(lp, apart)
    mass = np.add.reduceat(weight[order], starts)
    rows = np.add.reduceat(np.ones(order.size), starts)
    mean_risk = np.add.reduceat(risk[order], starts) / rows
    kept = mass > 0
    place = special.logit(np.where(kinds == 0, mean_risk, 0.5))
    shares = np.empty((draws, int(kept.sum())))
    block = max(1, _AT_ONCE // order.size)
    for first in range(0, draws, block):
        drawn = _outcomes(risk, codes, shared, min(block, draws - first), rng) * weight
        events = np.add.reduceat(np.take(drawn, order, axis=1), starts, axis=1)
        shares[first : first + block] = events[:, kept] / mass[kept]
    weights = np.broadcast_to(mass[kept], shares.shape)
    found = smooth.spline_distance_replicates(place[kept], shares, mean_risk[kept], weights, at=at, apart=kinds[kept])
    return Chance(found, correlation)


def _gathered(lp: Floats, apart: Ints) -> tuple[Ints, Ints, Ints]:
    """Rows in order of kind and risk, where each cell begins among them, and the kind of each cell."""
    order = np.lexsort((lp, apart))
    starts, kinds = [], []
    first = 0
    for code, count in zip(*np.unique(apart, return_counts=True), strict=True):
        cells = min(int(count), CELLS) if code == 0 else 1
        starts.append(first + np.linspace(0, count, cells + 1)[:-1].astype(np.int64))
        kinds.append(np.full(cells, code))
        first += int(count)
    return order, np.concatenate(starts), np.concatenate(kinds)


def _outcomes(risk: Floats, patient: Ints, shared: float, size: int, rng: np.random.Generator) -> Floats:
    """Outcomes [size, row], each with its risk for a chance, alike within patients by a shared normal."""
    if shared == 0:
        return np.asarray(rng.random((size, risk.size)) < risk, dtype=np.float64)
    common = rng.standard_normal((size, int(patient.max()) + 1))
    own = rng.standard_normal((size, risk.size))
    luck = special.ndtr(np.sqrt(shared) * common[:, patient] + np.sqrt(1 - shared) * own)
    return np.asarray(luck < risk, dtype=np.float64)


def _correlation(outcome: Floats, lp: Floats, weight: Floats, patient: Ints, at: Floats, apart: Ints) -> float:
    """Mean correlation of two outcomes of one patient about the fitted curve, at least 0; 0 where none repeats."""
    inside = np.flatnonzero(apart == 0)
    _, codes, sizes = np.unique(patient[inside], return_inverse=True, return_counts=True)
    pairs = float(np.sum(sizes * (sizes - 1)))
    if pairs == 0:
        return 0.0
    design = smooth.spline_basis(lp[inside], at)
    beta = logistic.fit(design, outcome[inside], weight[None, inside]).coefficients[0]
    if not np.isfinite(beta).all():
        return 0.0
    mu = logistic.expit(design @ beta)
    residual = (outcome[inside] - mu) / np.sqrt(np.maximum(mu * (1 - mu), 1e-12))
    totals = np.bincount(codes, weights=residual)
    return float(np.clip((np.sum(totals**2) - np.sum(residual**2)) / pairs, 0.0, _MOST_ALIKE))


def _latent(correlation: float, share: float) -> float:
    """Correlation of two normals that, cut where a share lies below, gives outcomes of this correlation."""
    if correlation == 0 or not 0 < share < 1:
        return 0.0
    cut = float(special.ndtri(share))
    wanted = correlation * share * (1 - share) + share**2

    def gap(shared: float) -> float:
        both = share - 2 * special.owens_t(cut, np.sqrt((1 - shared) / (1 + shared)))
        return float(both - wanted)

    return float(optimize.brentq(gap, 0.0, 1.0, xtol=1e-10)) if gap(1.0) > 0 else _MOST_ALIKE
