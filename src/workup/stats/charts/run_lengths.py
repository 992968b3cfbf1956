"""How long a chart runs before it signals: exactly for normal input, and by simulation.

The chart's level is a Markov chain (Brook and Evans 1972). Its states here are Gauss–Legendre points instead of equal
cells, so that a few dozen give ten digits where cells would need thousands (Crowder 1987; Knoth's R package spc).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from workup.stats.arrays import Floats
from workup.stats.charts.baselines import positive
from workup.stats.charts.control_charts import DECISION, LIMIT, REFERENCE, WEIGHT, ewma_spread
from workup.stats.random import generator

_SETTLED = 1e-10  # of the variance: exact limits closer than this to the steady ones are taken for them


def ewma_run_length(
    *, weight: float = WEIGHT, limit: float = LIMIT, shift: float = 0.0, fast_start: bool = False
) -> float:
    """Mean number of windows until an EWMA of independent unit normals signals, when their mean has moved by `shift`.

    An error in the baseline that nobody counts is such a shift, from the first window on:

    >>> [round(ewma_run_length(shift=error)) for error in (0.0, 0.29)]
    [371, 97]
    """
    points = _Points.of(limit, weight)
    bound = positive(limit, "limit") * float(ewma_spread(weight))
    level, mass = bound * points.at, bound * points.weight
    onward = _normal((level[None, :] - (1 - weight) * level[:, None]) / weight - shift) / weight * mass
    left = np.linalg.solve(np.eye(level.size) - onward, np.ones(level.size))  # mean windows left from each level
    if not fast_start:
        return float(1 + left @ (mass * _normal(level / weight - shift) / weight))
    settled = int(np.ceil(np.log(_SETTLED) / (2 * np.log1p(-weight)))) if weight < 1 else 1
    path = _ewma_path(settled, weight, limit, np.array([shift]), 1.0, fast_start=True)
    return float(1 + path.survival[0, :-1].sum() + left @ path.mass[0])


def ewma_survival(
    windows: int,
    *,
    weight: float = WEIGHT,
    limit: float = LIMIT,
    shift: npt.ArrayLike = 0.0,
    spread: float = 1.0,
    fast_start: bool = False,
) -> Floats:
    """Chance of no signal up to each of so many windows, for normals of mean `shift` and standard deviation `spread`
    (limits stay those of unit normals): an array [window], or [shift, window] for several shifts.

    >>> round(1 - float(ewma_survival(12, fast_start=True)[-1]) ** 25, 2)  # 25 independent series, a stable year
    0.6
    """
    at = np.asarray(shift, dtype=np.float64)
    found = _ewma_path(windows, weight, limit, np.atleast_1d(at), spread, fast_start=fast_start).survival
    return found if at.ndim else found[0]


def ewma_limit(run_length: float, *, weight: float = WEIGHT, fast_start: bool = False) -> float:
    """The limit at which a single in-control EWMA runs so long.

    >>> round(ewma_limit(370), 3)
    2.859
    """
    return solve_limit(
        lambda limit: ewma_run_length(weight=weight, limit=limit, fast_start=fast_start), run_length, start=2.0
    )


def cusum_run_length(
    *, reference: float = REFERENCE, limit: float = DECISION, shift: float = 0.0, sides: int = 2
) -> float:
    """Mean number of windows until a CUSUM of independent unit normals, started at 0, signals.

    Both sides together by 1/L = 1/L⁺ + 1/L⁻, exact for equal limits (van Dobben de Bruyn 1968).

    >>> round(cusum_run_length(), 1), round(cusum_run_length(shift=1.0), 2)
    (368.6, 9.92)
    """
    if sides not in (1, 2):
        raise ValueError(f"sides must be 1 (upper) or 2, got {sides}")
    up = _one_sided(reference, limit, shift)
    return up if sides == 1 else 1 / (1 / up + 1 / _one_sided(reference, limit, -shift))


def _one_sided(reference: float, limit: float, shift: float) -> float:
    onward = _cusum_chain(reference, limit, np.array([shift]), 1.0)[0]
    return float(np.linalg.solve(np.eye(len(onward)) - onward, np.ones(len(onward)))[0])


def cusum_survival(
    windows: int,
    *,
    reference: float = REFERENCE,
    limit: float = DECISION,
    shift: npt.ArrayLike = 0.0,
    spread: float = 1.0,
) -> Floats:
    """Chance that the upper side alone gives no signal up to each window: [window], or [shift, window]."""
    at = np.asarray(shift, dtype=np.float64)
    onward = _cusum_chain(reference, limit, np.atleast_1d(at), spread)
    state = np.zeros((len(onward), onward.shape[-1]))
    state[:, 0] = 1.0
    found = np.empty((len(onward), windows))
    for t in range(windows):
        state = (state[:, None, :] @ onward)[:, 0, :]
        found[:, t] = state.sum(axis=1)
    return found if at.ndim else found[0]


def cusum_limit(run_length: float, *, reference: float = REFERENCE, sides: int = 2) -> float:
    """The limit at which a single in-control CUSUM runs so long."""
    return solve_limit(
        lambda limit: cusum_run_length(reference=reference, limit=limit, sides=sides), run_length, start=2.0
    )


def solve_limit(reached: Callable[[float], float], wanted: float, *, start: float) -> float:
    """The limit at which something that grows with it (a run length, a chance of no alarm) reaches what is wanted."""
    low, high = start, start
    while reached(low) > wanted:
        low /= 2
        if low < 1e-6:
            raise ValueError(f"{wanted} is passed at any limit above 0: ask for more")
    while reached(high) < wanted:
        high *= 1.25
        if high > 1e3:
            raise ValueError(f"{wanted} is not reached at any limit: ask for less")
    return low if low == high else float(optimize.brentq(lambda at: reached(at) - wanted, low, high, xtol=1e-10))


class _Points(NamedTuple):
    """Gauss–Legendre points and weights on [−1, 1]."""

    at: Floats
    weight: Floats

    @classmethod
    def of(cls, limit: float, weight: float, spread: float = 1.0) -> _Points:
        """As many as an EWMA's steps, narrow beside its range when the weight is small, ask for."""
        return cls.some(2 * limit * float(ewma_spread(weight)) / (weight * spread))

    @classmethod
    def some(cls, standard_deviations: float) -> _Points:
        """Four points per standard deviation of a step over the whole range, never fewer than 60."""
        return cls(*special.roots_legendre(max(60, int(np.ceil(4 * standard_deviations)))))


class _Path(NamedTuple):
    """Chance of no signal [shift, window], and how it is spread over the levels [shift, point] at the last window."""

    survival: Floats
    mass: Floats


def _ewma_path(windows: int, weight: float, limit: float, shift: Floats, spread: float, *, fast_start: bool) -> _Path:
    """The level's distribution, window by window, on points that move with the limits."""
    if windows < 1:
        raise ValueError(f"windows must be at least 1, got {windows}")
    points = _Points.of(positive(limit, "limit"), weight, positive(spread, "spread"))
    bounds = limit * ewma_spread(weight, np.arange(1, windows + 1) if fast_start else np.full(windows, np.inf))
    scale = weight * spread
    drift = weight * shift[:, None]
    level = bounds[0] * points.at
    mass = _normal((level - drift) / scale) / scale * bounds[0] * points.weight
    survival = np.empty((shift.size, windows))
    survival[:, 0] = mass.sum(axis=1)
    step = None
    for t in range(1, windows):
        if step is None or bounds[t] != bounds[t - 1]:
            before, level = level, bounds[t] * points.at
            ahead = level[None, None, :] - (1 - weight) * before[None, :, None] - drift[:, :, None]
            step = _normal(ahead / scale) / scale * (bounds[t] * points.weight)
        mass = (mass[:, None, :] @ step)[:, 0, :]
        survival[:, t] = mass.sum(axis=1)
    return _Path(survival, mass)


def _cusum_chain(reference: float, limit: float, shift: Floats, spread: float) -> Floats:
    """Transitions [shift, from, to] of the upper side: state 0 is a sum of 0 itself, the others are points above it."""
    points = _Points.some(positive(limit, "limit") / positive(spread, "spread"))
    level = np.concatenate(([0.0], limit * (points.at + 1) / 2))
    mass = np.concatenate(([0.0], limit * points.weight / 2))
    pull = (reference - shift)[:, None, None] - level[None, :, None]
    onward = _normal((level[None, None, :] + pull) / spread) / spread * mass
    onward[:, :, 0] = special.ndtr(pull[:, :, 0] / spread)
    return np.asarray(onward)


def _normal(x: Floats) -> Floats:
    """The standard normal density."""
    return np.asarray(np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi))


def simulated_ewma_run_lengths(
    *,
    weight: float = WEIGHT,
    limit: float = LIMIT,
    shift: float = 0.0,
    fast_start: bool = False,
    runs: int = 10_000,
    seed: int = 0,
    longest: int = 100_000,
) -> Floats:
    """Run lengths of so many EWMAs of unit normals; infinite where none of `longest` windows signalled."""
    bounds = limit * ewma_spread(weight, np.arange(1, longest + 1) if fast_start else np.full(longest, np.inf))

    def advance(level: Floats, z: Floats, t: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
        level = (1 - weight) * level + weight * z
        return level, np.abs(level[0]) > bounds[t]

    return _until_signal(advance, np.zeros((1, runs)), shift, generator(seed, "ewma run lengths"), longest)


def simulated_cusum_run_lengths(
    *,
    reference: float = REFERENCE,
    limit: float = DECISION,
    shift: float = 0.0,
    runs: int = 10_000,
    seed: int = 0,
    longest: int = 100_000,
) -> Floats:
    """Run lengths of so many two-sided CUSUMs of unit normals; infinite where none of `longest` windows signalled."""

    def advance(level: Floats, z: Floats, t: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
        level = np.maximum(0.0, level + np.stack([z, -z]) - reference)
        return level, level.max(axis=0) > limit

    return _until_signal(advance, np.zeros((2, runs)), shift, generator(seed, "cusum run lengths"), longest)


def _until_signal(
    advance: Callable[[Floats, Floats, int], tuple[Floats, npt.NDArray[np.bool_]]],
    level: Floats,
    shift: float,
    rng: np.random.Generator,
    longest: int,
) -> Floats:
    """All runs window by window; those that signalled leave."""
    found = np.full(level.shape[1], np.inf)
    left = np.arange(level.shape[1])
    for t in range(longest):
        level, signal = advance(level, shift + rng.standard_normal(left.size), t)
        found[left[signal]] = t + 1
        level, left = level[:, ~signal], left[~signal]
        if left.size == 0:
            break
    return found
