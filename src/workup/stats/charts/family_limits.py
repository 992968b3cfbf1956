"""Limits for a family of charts, so that a stable year of all of them seldom raises any alarm.

Two things make single-series limits too narrow. Many series over many windows are many chances of a false alarm; and
windows judged against one estimated baseline share its error, which no average over windows takes away.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Floats
from workup.stats.charts.control_charts import REFERENCE, WEIGHT, ewma_spread
from workup.stats.charts.run_lengths import cusum_survival, ewma_survival, solve_limit
from workup.stats.random import generator

CHANCE = 0.05
# Points over the baseline's error. Less information makes the chance of a signal steeper in it; with these, more points
# change a limit by less than 3e-5 from one window's worth on, and by less than 0.03 from a fifth of one on.
_ERRORS = 60
_ERRORS_WHEN_VAGUE = 120
_VAGUE = 2.0
_AT_ONCE = 2_000_000  # simulated values held at a time


def family_limit(
    series: int,
    windows: int,
    *,
    weight: float = WEIGHT,
    fast_start: bool = False,
    chance: float = CHANCE,
    baseline_windows: npt.ArrayLike = np.inf,
    correlation: npt.ArrayLike | None = None,
    seed: int = 0,
    years: int = 20_000,
) -> float:
    """The EWMA limit at which at most `chance` of stable years raise any signal in so many series and windows.

    Exact for independent series. For series that are correlated in any way it is on the safe side: jointly normal
    series stay within symmetric limits together at least as often as independent ones (Šidák 1967 for single windows,
    Royen 2014 for whole charts). `correlation`, one for all pairs or a matrix [series, series] between series in the
    same window, gives the narrower limit that it allows, by simulation of so many years from the seed; it is taken
    two standard errors of the simulation on the safe side and is never above the independent one.

    `baseline_windows` says how many windows' worth of information the frozen baseline holds, (SE_window/SE_baseline)²,
    one figure or one per series. Then z is that of `standardise`, whose windows share the baseline's error, and the
    chance is over that error too. Where windows differ in size give the smallest ratio, that of the largest window.
    Infinity, a baseline known exactly, is right only when the baseline is a standard and not an estimate.

    A weight of 1 is Shewhart's chart: the limit in standard errors for single windows.

    >>> [round(family_limit(25, 12, fast_start=fast), 2) for fast in (False, True)]
    [3.55, 3.71]
    >>> round(family_limit(25, 12, baseline_windows=10), 2)
    4.31
    """
    _check(series, windows, chance)
    ratios = _ratios(baseline_windows, series)

    def quiet(limit: float) -> float:
        return _quiet_years(ratios, windows, weight, limit, fast_start=fast_start)

    independent = solve_limit(quiet, 1 - chance, start=3.0)
    if correlation is None or series == 1:
        return independent
    highest = _highest(
        _root(correlation, series),
        np.broadcast_to(np.asarray(baseline_windows, dtype=np.float64), series),
        windows,
        weight,
        fast_start=fast_start,
        years=years,
        rng=generator(seed, "family limit", series, windows),
    )
    # The order statistic whose share of years above is, up to two standard errors, no more than the chance.
    place = int(np.ceil(years * (1 - chance) + 2 * np.sqrt(years * chance * (1 - chance))))
    if place > years:
        raise ValueError(f"years must be more to see a chance of {chance}, got {years}")
    return min(independent, float(np.sort(highest)[place - 1]))


def false_alarm_chance(
    series: int,
    windows: int,
    *,
    limit: float,
    weight: float = WEIGHT,
    fast_start: bool = False,
    baseline_windows: npt.ArrayLike = np.inf,
) -> float:
    """Share of stable years in which any of so many independent EWMAs signals; an upper bound for correlated ones.

    >>> round(false_alarm_chance(25, 12, limit=2.86, fast_start=True), 2)
    0.6
    """
    _check(series, windows, CHANCE)
    return 1 - _quiet_years(_ratios(baseline_windows, series), windows, weight, limit, fast_start=fast_start)


def cusum_family_limit(
    series: int,
    windows: int,
    *,
    reference: float = REFERENCE,
    chance: float = CHANCE,
    baseline_windows: npt.ArrayLike = np.inf,
) -> float:
    """The same for two-sided CUSUMs. The two sides are added up, which is on the safe side by next to nothing.

    >>> round(cusum_family_limit(25, 12), 2)
    6.43
    """
    _check(series, windows, chance)
    ratios = _ratios(baseline_windows, series)

    def quiet(limit: float) -> float:
        found = 1.0
        for ratio, count in ratios.items():
            shift, mass, spread = _baseline_error(ratio)
            both = np.concatenate([shift, -shift])  # what pushes the upper side pulls the lower one
            up = cusum_survival(windows, reference=reference, limit=limit, shift=both, spread=spread)[:, -1]
            found *= max(0.0, 1 - float(np.tile(mass, 2) @ (1 - up))) ** count
        return found

    return solve_limit(quiet, 1 - chance, start=3.0)


def _quiet_years(ratios: dict[float, int], windows: int, weight: float, limit: float, *, fast_start: bool) -> float:
    """Chance that no series signals in a year, the error of each baseline integrated out."""
    found = 1.0
    for ratio, count in ratios.items():
        shift, mass, spread = _baseline_error(ratio)
        within = ewma_survival(windows, weight=weight, limit=limit, shift=shift, spread=spread, fast_start=fast_start)
        found *= float(mass @ within[:, -1]) ** count
    return found


def _baseline_error(ratio: float) -> tuple[Floats, Floats, float]:
    """Given the baseline's error, windows are independent again: shifts that it may cause, their chances, and the
    windows' own spread. z = (e − b)/√(1 + 1/ratio), b with variance 1/ratio: so b moves all z by a normal of variance
    1/(1 + ratio), and what is left has variance ratio/(1 + ratio). Gauss–Hermite; one half, for a chart is symmetric.
    """
    if np.isinf(ratio):
        return np.zeros(1), np.ones(1), 1.0
    at, mass = special.roots_hermitenorm(_ERRORS if ratio >= _VAGUE else _ERRORS_WHEN_VAGUE)
    half = at > 0
    return at[half] / np.sqrt(1 + ratio), 2 * mass[half] / mass.sum(), float(np.sqrt(ratio / (1 + ratio)))


def _highest(
    root: Floats,
    ratio: Floats,
    windows: int,
    weight: float,
    *,
    fast_start: bool,
    years: int,
    rng: np.random.Generator,
) -> Floats:
    """The highest |EWMA| of each simulated year, in units of the limit; baselines are correlated as windows are."""
    series = len(root)
    unit = ewma_spread(weight, np.arange(1, windows + 1) if fast_start else np.full(windows, np.inf))
    shared = np.sqrt(1 / (1 + ratio))
    own = np.sqrt(1 - shared**2)
    found = np.zeros(years)
    size = max(1, _AT_ONCE // series)
    for first in range(0, years, size):
        last = min(first + size, years)
        error = (rng.standard_normal((last - first, series)) @ root) * shared
        level, high = np.zeros(error.shape), np.zeros(last - first)
        for t in range(windows):
            z = (rng.standard_normal(error.shape) @ root) * own - error
            level = (1 - weight) * level + weight * z
            np.maximum(high, np.abs(level).max(axis=1) / unit[t], out=high)
        found[first:last] = high
    return found


def _root(correlation: npt.ArrayLike, series: int) -> Floats:
    """A matrix that turns independent normals [year, series] into ones with this correlation."""
    given = np.asarray(correlation, dtype=np.float64)
    matrix = np.where(np.eye(series) > 0, 1.0, given) if given.ndim == 0 else given
    if matrix.shape != (series, series):
        raise ValueError(f"correlation must be one number or a {series} × {series} matrix, got shape {given.shape}")
    if not np.allclose(matrix, matrix.T) or not np.allclose(np.diag(matrix), 1):
        raise ValueError("correlation must be symmetric with ones on its diagonal")
    values, vectors = np.linalg.eigh(matrix)
    if values.min() < -1e-8:
        raise ValueError("no series can be correlated like this: the matrix has a negative eigenvalue")
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _ratios(baseline_windows: npt.ArrayLike, series: int) -> dict[float, int]:
    """How many series have a baseline of so many windows' worth."""
    given = np.asarray(baseline_windows, dtype=np.float64)
    if given.ndim > 1 or (given.ndim == 1 and given.size != series):
        raise ValueError(f"baseline_windows must be one number or one for each of {series} series")
    if not np.all(given > 0):
        raise ValueError("baseline_windows must be above 0: a baseline without information judges nothing")
    ratio, count = np.unique(np.broadcast_to(given, series), return_counts=True)
    return {float(r): int(c) for r, c in zip(ratio, count, strict=True)}


def _check(series: int, windows: int, chance: float) -> None:
    if series < 1 or windows < 1:
        raise ValueError(f"series and windows must be at least 1, got {series} and {windows}")
    if not 0 < chance < 1:
        raise ValueError(f"chance must lie between 0 and 1, got {chance}")
