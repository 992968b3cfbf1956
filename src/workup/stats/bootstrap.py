"""The cluster bootstrap: which units a replicate holds, and intervals from replicates, whatever the statistic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Floats
from workup.stats.random import generator

# Draws are made in runs of this many replicates, each from a generator of its own name. The size is part of the
# definition (changing it changes every interval in the last digits), so memory may group runs freely.
RUN = 16
_TILE = 4096  # units turned over at a time, so that both sides of the copy stay in the cache


class Resamples(NamedTuple):
    """Resamples of units with replacement, within `strata` (one code per unit) where a design fixed the case mix.

    Any block of them can be drawn by itself, in any order and by any worker.
    """

    n_units: int
    replicates: int
    seed: int
    strata: npt.NDArray[np.int64] | None = None

    def blocks(self, *, cells: int = 1_000_000) -> list[range]:
        """The replicates in blocks of about `cells` counts, which keep memory flat."""
        size = RUN * max(1, cells // max(1, RUN * self.n_units))
        return [range(first, min(first + size, self.replicates)) for first in range(0, self.replicates, size)]

    def counts(self, block: range) -> Floats:
        """How often each unit stands in each replicate of a block, [b, n_units]."""
        runs = [
            _run(
                self.n_units, min(RUN, block.stop - start), generator(self.seed, "bootstrap", start // RUN), self.strata
            )
            for start in range(block.start, block.stop, RUN)
        ]
        return runs[0] if len(runs) == 1 else np.concatenate([run.T for run in runs], axis=1).T


def unit_counts(
    n_units: int, replicates: int, *, seed: int, strata: npt.NDArray[np.int64] | None = None, cells: int = 1_000_000
) -> Iterator[Floats]:
    """How often each unit stands in each replicate, block by block.

    >>> block = next(unit_counts(5, 3, seed=1))
    >>> block.shape, block.sum(axis=1).tolist()
    ((3, 5), [5.0, 5.0, 5.0])
    """
    drawn = Resamples(n_units, replicates, seed, strata)
    for block in drawn.blocks(cells=cells):
        yield drawn.counts(block)


def _run(n: int, size: int, rng: np.random.Generator, strata: npt.NDArray[np.int64] | None) -> Floats:
    if strata is None:
        return _counts(n, size, rng)
    counts = np.zeros((n, size))
    for code in np.unique(strata):
        members = np.flatnonzero(strata == code)
        counts[members] = _counts(members.size, size, rng).T
    return counts.T


def _counts(n: int, size: int, rng: np.random.Generator) -> Floats:
    """Counting drawn indices is about three times faster than a multinomial draw.

    In memory a unit's counts lie side by side (the answer is a transposed view), so that choosing units copies runs of
    numbers instead of single ones.
    """
    drawn = np.empty((size, n), dtype=np.int16)  # n draws over n units: no count comes near its limit
    for row in drawn:
        row[:] = np.bincount(rng.integers(0, n, n), minlength=n)
    counts = np.empty((n, size))
    for first in range(0, n, _TILE):
        counts[first : first + _TILE] = drawn[:, first : first + _TILE].T
    return counts.T


class BootstrapInterval(NamedTuple):
    """Ends of a bootstrap interval with what they were made from."""

    low: float
    high: float
    method: str


Interpolation = Literal["normal", "linear"]


def quantiles(replicates: Floats, probabilities: Floats, *, interpolation: Interpolation = "normal") -> Floats:
    """Quantiles of replicates: "normal" interpolates order statistics on the normal scale (Davison and Hinkley 1997,
    eq. 5.8, as R's boot does), "linear" is numpy's default (R's type 7)."""
    if interpolation == "linear":
        return np.asarray(np.quantile(replicates, probabilities))
    ordered = np.sort(replicates)
    size = ordered.size
    place = (size + 1) * np.asarray(probabilities)
    k = np.trunc(place).astype(int)
    result = np.empty(len(place))
    for i, (exact, lower) in enumerate(zip(place, k, strict=True)):
        if lower <= 0:
            result[i] = ordered[0]
        elif lower >= size:
            result[i] = ordered[-1]
        elif exact == lower:
            result[i] = ordered[lower - 1]
        else:
            wanted, left, right = special.ndtri([probabilities[i], lower / (size + 1), (lower + 1) / (size + 1)])
            share = (wanted - left) / (right - left)
            result[i] = ordered[lower - 1] + share * (ordered[lower] - ordered[lower - 1])
    return result


def percentile(replicates: Floats, *, level: float = 0.95, interpolation: Interpolation = "normal") -> Floats:
    """The percentile interval."""
    tail = (1 - level) / 2
    return quantiles(replicates, np.array([tail, 1 - tail]), interpolation=interpolation)


def basic(value: float, replicates: Floats, *, level: float = 0.95) -> Floats:
    """The basic interval: the percentile interval reflected about the value."""
    return 2 * value - percentile(replicates, level=level)[::-1]


def normal(value: float, replicates: Floats, *, level: float = 0.95) -> Floats:
    """The normal interval with the bootstrap's own bias taken off."""
    centre = 2 * value - replicates.mean()
    half = special.ndtri((1 + level) / 2) * replicates.std(ddof=1)
    return np.array([centre - half, centre + half])


def bias_correction(value: float, replicates: Floats, *, ties: Literal["half", "none"] = "half") -> float:
    """BCa's z0. A replicate equal to the value counts half: strict counting (R's boot.ci) is biased for statistics
    that take few values."""
    if ties == "none":
        return float(special.ndtri(np.count_nonzero(replicates < value) / replicates.size))
    # Equal up to rounding: sums in another order may differ in the last digit, and an interval must not hang on that.
    equal = np.isclose(replicates, value, rtol=1e-12, atol=1e-15)
    below = np.count_nonzero((replicates < value) & ~equal)
    return float(special.ndtri((below + np.count_nonzero(equal) / 2) / replicates.size))


def acceleration(influence: Floats) -> float:
    """BCa's a from influence values (jackknife: mean of the leave-out values minus each)."""
    spread = float(np.sum(influence**2))
    return float(np.sum(influence**3) / (6 * spread**1.5)) if spread > 0 else 0.0


def adjusted_levels(z0: float, a: float, *, level: float = 0.95) -> Floats:
    """The two probabilities at which BCa reads the replicates."""
    tail = (1 - level) / 2
    z = z0 + special.ndtri(np.array([tail, 1 - tail]))
    return np.asarray(special.ndtr(z0 + z / (1 - a * z)))


def bca(
    value: float,
    replicates: Floats,
    influence: Floats,
    *,
    level: float = 0.95,
    ties: Literal["half", "none"] = "half",
    interpolation: Interpolation = "normal",
) -> BootstrapInterval:
    """Bias-corrected and accelerated interval (Efron 1987); the percentile interval where it cannot be formed:
    no jackknife variance, or a value outside all of its replicates."""
    z0 = bias_correction(value, replicates, ties=ties)
    if not np.isfinite(z0) or not np.any(influence):
        low, high = percentile(replicates, level=level, interpolation=interpolation)
        return BootstrapInterval(float(low), float(high), "percentile bootstrap")
    probabilities = adjusted_levels(z0, acceleration(influence), level=level)
    low, high = quantiles(replicates, probabilities, interpolation=interpolation)
    return BootstrapInterval(float(low), float(high), "BCa bootstrap")
