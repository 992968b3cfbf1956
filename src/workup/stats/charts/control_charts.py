"""Control charts over windows of time: p, Laney's p′, XmR, EWMA and CUSUM. Baselines are frozen and passed in; nothing
here knows what is charted, nor computes a limit from the windows it judges.

Windows are the last axis: `values[window]` or `values[series, window]`. NaN is a window without enough data: it is
`observed` False, never signals, and the statistic holds its last value. An EWMA or CUSUM that has seen nothing stands
at its start; a chart of single windows has nothing to hold yet and is NaN.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Bools, Floats
from workup.stats.charts.baselines import (
    RANGE_MEAN,
    RANGE_UPPER,
    counts_of,
    per_series,
    positive,
    share_se,
    spread_of,
    windows_of,
)

WEIGHT = 0.2
LIMIT = 2.86  # for a single series at weight 0.2: an in-control run length of 371. A family needs family_limit
REFERENCE = 0.5
DECISION = 4.77  # for a single series at reference 0.5, both sides: an in-control run length of 369


class Chart(NamedTuple):
    """What a chart shows in each window; all arrays have the shape of the values given."""

    statistic: Floats
    lower: Floats
    upper: Floats
    signal: Bools
    observed: Bools


class Cusum(NamedTuple):
    """A two-sided CUSUM: `up` is never below 0, `down` never above; each has its own limit and signals."""

    up: Floats
    down: Floats
    upper: Floats
    lower: Floats
    signal_up: Bools
    signal_down: Bools
    observed: Bools

    @property
    def signal(self) -> Bools:
        """A signal on either side."""
        return self.signal_up | self.signal_down

    @property
    def statistic(self) -> Floats:
        """The side that is nearer to its limit."""
        return np.where(self.up * np.abs(self.lower) >= -self.down * self.upper, self.up, self.down)


def p_chart(
    events: npt.ArrayLike,
    sizes: npt.ArrayLike,
    *,
    baseline: npt.ArrayLike,
    baseline_size: npt.ArrayLike | None = None,
    sigma_z: npt.ArrayLike = 1.0,
    sigmas: float = 3.0,
) -> Chart:
    """Shares within baseline ± sigmas·SE, limits kept inside [0, 1]. With `sigma_z` it is Laney's p′ chart (2002).

    >>> p_chart([10, 24], [100, 100], baseline=0.104).signal.tolist()
    [False, True]
    """
    x, n = counts_of(events, sizes)
    se = share_se(n, baseline=baseline, baseline_size=baseline_size)
    p = per_series(baseline, x.shape, what="baseline")
    half = positive(sigmas, "sigmas") * per_series(sigma_z, x.shape, what="sigma_z") * se
    share = np.divide(x, n, out=np.full(x.shape, np.nan), where=n > 0)
    return _judged(share, np.maximum(0.0, p - half), np.minimum(1.0, p + half))


def p_prime_chart(
    events: npt.ArrayLike, sizes: npt.ArrayLike, *, baseline: npt.ArrayLike, sigma_z: npt.ArrayLike, sigmas: float = 3.0
) -> Chart:
    """Laney's p′ chart: the p chart with limits widened by the σ_z that the baseline windows showed."""
    return p_chart(events, sizes, baseline=baseline, sigma_z=sigma_z, sigmas=sigmas)


class Xmr(NamedTuple):
    """Individual values and their moving ranges."""

    individuals: Chart
    ranges: Chart


def xmr_chart(values: npt.ArrayLike, *, centre: npt.ArrayLike, mean_range: npt.ArrayLike, sigmas: float = 3.0) -> Xmr:
    """Individuals and moving ranges against a frozen centre and mean range. A range needs two neighbouring windows.

    >>> chart = xmr_chart([0.85, 0.84, 0.80], centre=0.85, mean_range=0.01)
    >>> chart.individuals.signal.tolist(), chart.ranges.signal.tolist()
    ([False, False, True], [False, False, True])
    """
    x, _ = windows_of(values)
    middle = per_series(centre, x.shape, what="centre")
    width = per_series(mean_range, x.shape, what="mean_range")
    if np.any(width <= 0):
        raise ValueError("mean_range must be above 0: a baseline of equal values shows no spread to judge by")
    half = positive(sigmas, "sigmas") * width / RANGE_MEAN
    moved = np.concatenate([np.full((*x.shape[:-1], 1), np.nan), np.abs(np.diff(x, axis=-1))], axis=-1)
    return Xmr(_judged(x, middle - half, middle + half), _judged(moved, np.zeros(x.shape), RANGE_UPPER * width))


def ewma_spread(weight: float, updates: npt.ArrayLike = np.inf) -> Floats:
    """Standard deviation of an EWMA of independent unit normals after so many updates; steady-state by default."""
    if not 0 < weight <= 1:
        raise ValueError(f"weight must be above 0 and at most 1, got {weight}")
    reached = 1 - (1 - weight) ** (2 * np.asarray(updates, dtype=np.float64))
    return np.asarray(np.sqrt(weight / (2 - weight) * reached))


def ewma(
    values: npt.ArrayLike,
    *,
    centre: npt.ArrayLike = 0.0,
    sd: npt.ArrayLike = 1.0,
    weight: float = WEIGHT,
    limit: float = LIMIT,
    fast_start: bool = False,
) -> Chart:
    """Exponentially weighted mean, started at the centre, within centre ± limit·sd·√(weight/(2 − weight)).

    `fast_start` takes the exact standard deviation after each update instead of the steady one: narrower at first, so
    that an early shift is seen sooner and false alarms are commoner. It counts observed windows, not calendar ones.

    >>> chart = ewma([0.2, np.nan, 2.5, 3.0], limit=2.86)
    >>> chart.statistic.round(3).tolist(), chart.signal.tolist()
    ([0.04, 0.04, 0.532, 1.026], [False, False, False, True])
    """
    x, seen = windows_of(values)
    middle = per_series(centre, x.shape, what="centre")
    scale = spread_of(sd, x.shape)
    statistic = np.empty_like(x)
    level = middle[..., 0].copy() if x.shape[-1] else middle
    for t in range(x.shape[-1]):
        level = np.where(seen[..., t], (1 - weight) * level + weight * x[..., t], level)
        statistic[..., t] = level
    updates = np.maximum(1, np.cumsum(seen, axis=-1)) if fast_start else np.inf
    half = positive(limit, "limit") * scale * ewma_spread(weight, updates)
    lower, upper = middle - half, middle + half
    return Chart(statistic, lower, upper, seen & ((statistic < lower) | (statistic > upper)), seen)


def cusum(
    values: npt.ArrayLike,
    *,
    centre: npt.ArrayLike = 0.0,
    sd: npt.ArrayLike = 1.0,
    reference: float = REFERENCE,
    limit: float = DECISION,
) -> Cusum:
    """Cumulative sums of standardised values beyond ±reference (half the shift to be found), signalling beyond ±limit.

    >>> chart = cusum([0.0, 1.5, 3.0, 2.0], limit=4)
    >>> chart.up.tolist(), chart.signal.tolist()
    ([0.0, 1.0, 3.5, 5.0], [False, False, False, True])
    """
    x, seen = windows_of(values)
    z = (x - per_series(centre, x.shape, what="centre")) / spread_of(sd, x.shape)
    if reference < 0:
        raise ValueError(f"reference must not be negative, got {reference}")
    bound = positive(limit, "limit")
    return cusum_of(z - reference, -z - reference, seen, upper=bound, lower=bound)


def cusum_of(rise: Floats, fall: Floats, seen: Bools, *, upper: float, lower: float) -> Cusum:
    """The two sums of what each window adds to the upper and to the lower side."""
    up, down = _reflected(np.where(seen, rise, 0.0)), -_reflected(np.where(seen, fall, 0.0))
    high, low = np.full(up.shape, upper), np.full(up.shape, -lower)
    return Cusum(up, down, high, low, seen & (up > high), seen & (down < low), seen)


def _reflected(steps: Floats) -> Floats:
    """S_t = max(0, S_(t−1) + step): the running sum less its running minimum, without a loop."""
    total = np.cumsum(steps, axis=-1)
    return np.asarray(total - np.minimum(0.0, np.minimum.accumulate(total, axis=-1)))


def long_runs(values: npt.ArrayLike, *, centre: npt.ArrayLike, length: int = 7) -> Bools:
    """Windows that are at least the `length`-th in a row on one side of the centre (qcc's rule). A value on the centre
    ends a run; a window without enough data neither adds to it nor ends it."""
    x, seen = windows_of(values)
    side = np.where(seen, np.sign(x - per_series(centre, x.shape, what="centre")), np.nan)
    found = np.zeros(x.shape, dtype=bool)
    run, before = np.zeros(x.shape[:-1]), np.zeros(x.shape[:-1])
    for t in range(x.shape[-1]):
        now, here = side[..., t], seen[..., t]
        run = np.where(here, np.where(now == 0, 0, np.where(now == before, run + 1, 1)), run)
        before = np.where(here, now, before)
        found[..., t] = here & (run >= length)
    return found


def _judged(statistic: Floats, lower: Floats, upper: Floats) -> Chart:
    seen = ~np.isnan(statistic)
    return Chart(_held(statistic, seen), lower, upper, seen & ((statistic < lower) | (statistic > upper)), seen)


def _held(values: Floats, seen: Bools) -> Floats:
    """Every unobserved window holds the last observed value before it, NaN where there is none."""
    last = np.maximum.accumulate(np.where(seen, np.arange(values.shape[-1]), 0), axis=-1)
    return np.take_along_axis(values, last, axis=-1)
