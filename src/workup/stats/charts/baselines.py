"""Frozen baselines: what the windows of phase I say about centre and spread, and how later windows compare with it.
Nothing here judges a window.

Windows are the last axis, NaN is a window without enough data, and figures are one per series.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Bools, Floats

# Of a range of two normals: its mean, and the upper limit over its mean. Three decimals, as tables and R's qcc have it.
RANGE_MEAN = 1.128
RANGE_UPPER = 3.267


def windows_of(values: npt.ArrayLike, *, what: str = "values") -> tuple[Floats, Bools]:
    """Values as floats, and which were observed. An infinite one would stay in a running mean for ever: refused."""
    x = np.array(values, dtype=np.float64)
    if x.ndim == 0:
        raise ValueError(f"{what} must have an axis of windows, got a single number")
    if np.isinf(x).any():
        place = ", ".join(str(int(i)) for i in np.argwhere(np.isinf(x))[0])
        raise ValueError(
            f"{what} must be finite, or NaN for a window without enough data; an infinite one stands at [{place}]"
        )
    return x, ~np.isnan(x)


def per_series(given: npt.ArrayLike, shape: tuple[int, ...], *, what: str) -> Floats:
    """A frozen figure (one for all, one per series, or one per window) made to stand beside the windows."""
    figure = np.asarray(given, dtype=np.float64)
    wide = figure[..., None] if 0 < figure.ndim == len(shape) - 1 else figure
    if not np.isfinite(figure).all():
        raise ValueError(f"{what} must be finite: it is frozen before the first window is judged")
    try:
        return np.asarray(np.broadcast_to(wide, shape))
    except ValueError:
        raise ValueError(
            f"{what} must be one number or one per series; got shape {figure.shape} for values of shape {shape}"
        ) from None


def standardise(
    values: npt.ArrayLike, se: npt.ArrayLike, *, baseline: npt.ArrayLike, baseline_se: npt.ArrayLike = 0.0
) -> Floats:
    """z = (value − baseline) / √(SE_window² + SE_baseline²); NaN where value or SE is unknown, or both SEs are 0.

    The baseline's own error is counted here, but all windows share it: their z are correlated by SE_b²/(SE_w² + SE_b²),
    and an EWMA, which averages the windows' errors away, keeps that one. Limits must know it (`family_limit`,
    `baseline_windows`). A share should bring its SE under the baseline (`share_se`): the SE of the window itself is
    smaller whenever the share happens to be nearer to 0 or 1, which makes z lopsided, and 0 when it is 0 or 1.

    >>> standardise([0.80, 0.74], [0.03, 0.03], baseline=0.80, baseline_se=0.01).round(2).tolist()
    [0.0, -1.9]
    """
    x, _ = windows_of(values)
    spread = np.asarray(se, dtype=np.float64)
    if np.any(spread < 0):
        raise ValueError("se must not be negative")
    own = per_series(baseline_se, x.shape, what="baseline_se")
    total = np.hypot(np.broadcast_to(spread, x.shape), own)
    gap = x - per_series(baseline, x.shape, what="baseline")
    known = np.isfinite(total) & (total > 0)  # an infinite SE says nothing: NaN, not the 0 that a division would give
    return np.asarray(np.divide(gap, total, out=np.full(x.shape, np.nan), where=known))


def share_se(sizes: npt.ArrayLike, *, baseline: npt.ArrayLike, baseline_size: npt.ArrayLike | None = None) -> Floats:
    """Standard error of a window's share if the baseline's share is true; with the baseline's own error when its size
    is given. NaN for a window of no rows. A baseline of 0 or 1 has no spread to judge by and is refused."""
    n = np.array(sizes, dtype=np.float64)
    if np.any(n < 0):
        raise ValueError("sizes must not be negative")
    p = per_series(baseline, n.shape, what="baseline")
    if np.any((p <= 0) | (p >= 1)):
        raise ValueError("a baseline share must lie strictly between 0 and 1: none or all shows no spread to judge by")
    inverse = np.divide(1.0, n, out=np.full(n.shape, np.nan), where=n > 0)
    if baseline_size is not None:
        held = per_series(baseline_size, n.shape, what="baseline_size")
        if np.any(held <= 0):
            raise ValueError("baseline_size must be above 0")
        inverse = inverse + 1 / held
    return np.asarray(np.sqrt(p * (1 - p) * inverse))


def share_baseline(events: npt.ArrayLike, sizes: npt.ArrayLike) -> Floats:
    """The pooled share of the baseline windows, one per series; for phase I only."""
    x, n = counts_of(events, sizes)
    total = np.nansum(n, axis=-1)
    if np.any(total == 0):
        raise ValueError("a baseline needs rows: some series has none in any window")
    return np.asarray(np.nansum(x, axis=-1) / total)


def laney_sigma_z(events: npt.ArrayLike, sizes: npt.ArrayLike, *, baseline: npt.ArrayLike) -> Floats:
    """Laney's σ_z of baseline windows, one per series: how much more shares vary from window to window than binomial
    counts would. From neighbouring windows, so that a slow trend does not enter; for phase I only."""
    x, n = counts_of(events, sizes)
    share = np.divide(x, n, out=np.full(x.shape, np.nan), where=n > 0)
    z = (share - per_series(baseline, x.shape, what="baseline")) / share_se(n, baseline=baseline)
    return _mean_range(z) / RANGE_MEAN


class XmrBaseline(NamedTuple):
    """Centre, mean moving range and the standard deviation it implies, one per series."""

    centre: Floats
    mean_range: Floats
    sd: Floats


def xmr_baseline(values: npt.ArrayLike) -> XmrBaseline:
    """Centre and spread of baseline windows; for phase I only. The spread comes from moving ranges: the standard
    deviation of all windows would swell by any shift among them and then miss it."""
    x, seen = windows_of(values)
    mean_range = _mean_range(x)
    centre = np.sum(np.where(seen, x, 0.0), axis=-1) / np.sum(seen, axis=-1)
    return XmrBaseline(np.asarray(centre), mean_range, mean_range / RANGE_MEAN)


def _mean_range(values: Floats) -> Floats:
    moved = np.abs(np.diff(values, axis=-1))
    pairs = np.sum(~np.isnan(moved), axis=-1)
    if np.any(pairs == 0):
        raise ValueError("a moving range needs at least two neighbouring observed windows in every series")
    return np.asarray(np.nansum(moved, axis=-1) / pairs)


def counts_of(events: npt.ArrayLike, sizes: npt.ArrayLike) -> tuple[Floats, Floats]:
    x, _ = windows_of(events, what="events")
    n, _ = windows_of(sizes, what="sizes")
    if x.shape != n.shape:
        raise ValueError(f"events and sizes must have one shape, got {x.shape} and {n.shape}")
    if np.any((x < 0) | (n < 0) | (x > n)):
        raise ValueError("events must lie between 0 and the size of their window")
    return x, np.where(np.isnan(x), np.nan, n)


def spread_of(sd: npt.ArrayLike, shape: tuple[int, ...]) -> Floats:
    found = per_series(sd, shape, what="sd")
    if np.any(found <= 0):
        raise ValueError("sd must be above 0")
    return found


def positive(value: float, what: str) -> float:
    if not value > 0:
        raise ValueError(f"{what} must be above 0, got {value}")
    return value
