"""Planted truth by quadrature: what each risk metric tends to where log odds are normal in cells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from workup.stats.arrays import Floats

_NODES = 16  # Gauss–Legendre nodes in a panel; with panels of one SD the integrals are exact to about 1e-13
REACH = 9.0  # SDs either side; the normal tail beyond holds 1e-19


class Cell(NamedTuple):
    """A homogeneous part of a cohort: the risk's log odds x are Normal(mean, sd), the outcome's are shift + slope·x."""

    mean: float
    sd: float
    shift: float
    slope: float


class Axis(NamedTuple):
    """Places along the log odds with the weights that integrate over them, in panels of Gauss–Legendre nodes."""

    nodes: Floats
    weights: Floats

    @classmethod
    def over(cls, low: float, high: float, *, width: float, cuts: Sequence[float] = ()) -> Axis:
        """Panels at most `width` wide from low to high, with an edge at every cut so that no panel straddles one."""
        even = np.linspace(low, high, int(np.ceil((high - low) / width)) + 1)
        edges = np.unique(np.concatenate([even, [cut for cut in cuts if low < cut < high]]))
        x, w = _legendre()
        half = np.diff(edges)[:, None] / 2
        return cls((edges[:-1, None] + half * (1 + x)).ravel(), (half * w).ravel())

    @classmethod
    def of(cls, cells: Sequence[Cell], *, cuts: Sequence[float] = ()) -> Axis:
        """An axis on which the densities of all cells are resolved."""
        mean, sd, _, slope = np.array(cells).T
        width = min(float(sd.min()), 1.5 / max(1.0, float(slope.max())))
        return cls.over(float((mean - REACH * sd).min()), float((mean + REACH * sd).max()), width=width, cuts=cuts)

    def below(self, density: Floats) -> Floats:
        """The integral of a density from the left end up to each node."""
        panels = density.reshape(-1, _NODES)
        weights = self.weights.reshape(-1, _NODES)
        half = weights.sum(axis=1, keepdims=True) / 2
        whole = np.sum(panels * weights, axis=1, keepdims=True)
        return np.asarray((np.cumsum(whole, axis=0) - whole + half * (panels @ _partial_integrals().T)).ravel())


@cache
def _legendre() -> tuple[Floats, Floats]:
    x, w = np.polynomial.legendre.leggauss(_NODES)
    return x, w


@cache
def _partial_integrals() -> Floats:
    """The matrix from values at the nodes of [-1, 1] to integrals from -1 to each node, by Legendre polynomials."""
    legendre = np.polynomial.legendre
    x, _ = _legendre()
    coefficients = np.linalg.inv(legendre.legvander(x, _NODES - 1))
    integrals = [legendre.legval(x, legendre.legint(row, lbnd=-1)) for row in np.eye(_NODES)]
    return np.asarray(np.column_stack(integrals) @ coefficients)


def normal(x: Floats) -> Floats:
    """The standard normal density."""
    return np.asarray(np.exp(-x * x / 2) / np.sqrt(2 * np.pi))


def densities(cell: Cell, axis: Axis) -> tuple[Floats, Floats]:
    """How events and non-events of a cell lie along the risk's log odds; the two integrate to 1 together."""
    from scipy import special

    mass = normal((axis.nodes - cell.mean) / cell.sd) / cell.sd
    log_odds = cell.shift + cell.slope * axis.nodes
    return mass * special.expit(log_odds), mass * special.expit(-log_odds)


def mixtures(cells: Sequence[Cell], shares: Floats, *, thresholds: Sequence[float]) -> list[dict[str, Any]]:
    """The truth of every mixture of the cells: one for each row of `shares[mixture, cell]`, rows adding up to 1."""
    from scipy import special

    axis = Axis.of(cells, cuts=[float(special.logit(threshold)) for threshold in thresholds])
    events = np.zeros((len(shares), axis.nodes.size))
    others = np.zeros_like(events)
    for cell, share in zip(cells, shares.T, strict=True):
        of_events, of_others = densities(cell, axis)
        events += share[:, None] * of_events
        others += share[:, None] * of_others
    return [truth(f1, f0, axis, thresholds=thresholds) for f1, f0 in zip(events, others, strict=True)]


def truth(events: Floats, others: Floats, axis: Axis, *, thresholds: Sequence[float]) -> dict[str, Any]:
    """Every metric from the densities of events and non-events, keyed by the metric's name in a report."""
    from scipy import special

    weights, risk = axis.weights, special.expit(axis.nodes)
    prevalence = float(weights @ events)
    expected = float(weights @ ((events + others) * risk))
    brier = float(weights @ (events * (1 - risk) ** 2 + others * risk**2))
    found = {
        "prevalence": prevalence,
        "mean_risk": expected,
        "auroc": auroc(events, others, axis),
        "auprc": _auprc(events, others, axis),
        "calibration_slope": slope(events, others, axis),
        "calibration_in_the_large": _in_the_large(events, others, axis),
        "oe_ratio": prevalence / expected,
        "brier": brier,
        "scaled_brier": 1 - brier / (prevalence * (1 - prevalence)),
    }
    at = {f"{threshold:g}": _decisions(events, others, axis, threshold) for threshold in thresholds}
    return {**{name: _tidy(value) for name, value in found.items()}, "thresholds": at}


def _tidy(value: float) -> float:
    """Ten significant digits, and none below 1e-12: what lies beyond is quadrature noise that differs by machine."""
    return float(f"{round(value, 12):.10g}") + 0.0


def auroc(events: Floats, others: Floats, axis: Axis) -> float:
    """Chance that an event lies above a non-event."""
    beaten = axis.weights @ (events * axis.below(others))
    return float(beaten / ((axis.weights @ events) * (axis.weights @ others)))


def _auprc(events: Floats, others: Floats, axis: Axis) -> float:
    above = (axis.weights @ events) - axis.below(events)
    flagged = above + (axis.weights @ others) - axis.below(others)
    # Where hardly anyone is left above, both sums are cancellation noise and the density of events is as good as 0.
    precision = np.clip(np.divide(above, flagged, out=np.ones_like(above), where=flagged > 1e-13), 0.0, 1.0)
    return float(axis.weights @ (events * precision) / (axis.weights @ events))


def slope(events: Floats, others: Floats, axis: Axis) -> float:
    """Maximiser of the expected log likelihood. Solved here and not by workup.stats, whose fits this truth judges."""
    from scipy import optimize, special

    x = axis.nodes
    centre = float(axis.weights @ ((events + others) * x))

    def score(line: Floats) -> tuple[Floats, Floats]:
        fitted = special.expit(line[0] + line[1] * (x - centre))
        residual = axis.weights * (events - (events + others) * fitted)
        working = axis.weights * (events + others) * fitted * (1 - fitted)
        moments = [float(np.sum(working * (x - centre) ** power)) for power in range(3)]
        gradient = np.array([residual.sum(), np.sum(residual * (x - centre))])
        return gradient, -np.array([[moments[0], moments[1]], [moments[1], moments[2]]])

    start = np.array([special.logit(float(axis.weights @ events)), 1.0])
    return float(optimize.root(score, start, jac=True, tol=1e-14).x[1])


def _in_the_large(events: Floats, others: Floats, axis: Axis) -> float:
    from scipy import optimize, special

    everyone = axis.weights * (events + others)
    prevalence = float(axis.weights @ events)

    def surplus(shift: float) -> float:
        return float(everyone @ special.expit(shift + axis.nodes)) - prevalence

    return float(optimize.brentq(surplus, -60, 60, xtol=1e-14))


def _decisions(events: Floats, others: Floats, axis: Axis, threshold: float) -> dict[str, float | None]:
    """What flagging everyone at or above the threshold does; null where no one, or everyone, is flagged."""
    from scipy import special

    flagged = axis.nodes > special.logit(threshold)  # no node lies on an edge of a panel, where the cut is
    hit, missed = float(axis.weights[flagged] @ events[flagged]), float(axis.weights[~flagged] @ events[~flagged])
    false, spared = float(axis.weights[flagged] @ others[flagged]), float(axis.weights[~flagged] @ others[~flagged])
    found = {
        "sensitivity": hit / (hit + missed),
        "specificity": spared / (spared + false),
        "ppv": hit / (hit + false) if hit + false > 0 else None,
        "npv": spared / (spared + missed) if spared + missed > 0 else None,
        "accuracy": hit + spared,
        "alert_rate": hit + false,
        "f1": 2 * hit / (2 * hit + false + missed),
        "net_benefit": hit - false * threshold / (1 - threshold),
    }
    return {name: None if value is None else _tidy(value) for name, value in found.items()}
