"""Two slices compared on one metric: difference and ratio with their intervals, and tests against a margin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special

from workup.estimate import MOST_UNDEFINED
from workup.metric import FEWEST_PATIENTS, Interval, Metric
from workup.scores import Floats, Scores
from workup.stats import bootstrap
from workup.stats.intervals import Ends, combine_difference, z_critical

_NEAREST, _FARTHEST = 1e-9, 8.0  # normal quantiles between which a p value is looked for


@dataclass(frozen=True)
class Side:
    """One slice of a comparison: its rows, and its shared replicates of the metric where there are any."""

    scores: Scores
    replicates: Floats | None = None


@dataclass(frozen=True)
class Contrast:
    """What separates two slices: `ends(level)` is the interval, `p(margin)` tests that the gap is within a margin."""

    value: float
    se: float
    method: str
    ends: Callable[[float], Ends]
    p: Callable[[float], float]


def difference(metric: Metric, first: Side, second: Side) -> Contrast | str:
    """The metric on the first slice less that on the second; a sentence where it cannot be compared.

    Slices that share no patient are independent, and the ends of their own intervals are combined (Newcombe's square
    and add, which for proportions is his method 10). Slices that overlap are compared by their shared replicates.
    """
    values = metric.value(first.scores), metric.value(second.scores)
    if not np.isfinite(values).all():
        return f"undefined in one of them: {metric.undefined}"
    gap = values[0] - values[1]
    if metric.interval is None or _overlap(first.scores, second.scores):
        return paired_difference(gap, first, second)
    found = [metric.interval(side.scores, 0.95) for side in (first, second)]
    for one in found:
        if one.status != "ok" or one.low is None or one.high is None:
            return f"{one.status} in one of them: {one.reason or 'no interval'}"
    spread = float(np.hypot(found[0].se or 0.0, found[1].se or 0.0))
    ends = _combined(metric, values, found, (first.scores, second.scores))
    if found[0].ends and found[1].ends:
        return Contrast(gap, spread, f"square and add of {found[0].method}", ends, lambda m: _p_inverted(gap, ends, m))
    return Contrast(gap, spread, f"square and add of {found[0].method}", ends, lambda m: _p_normal(gap, spread, m))


def _combined(
    metric: Metric, values: tuple[float, float], found: list[Interval], scores: tuple[Scores, Scores]
) -> Callable[[float], Ends]:
    def at(one: Interval, rows: Scores, level: float) -> Ends:
        assert metric.interval is not None
        if one.ends is not None:
            return Ends(*one.ends(level))
        again = metric.interval(rows, level)
        return Ends(np.nan if again.low is None else again.low, np.nan if again.high is None else again.high)

    def ends(level: float) -> Ends:
        first, second = (at(one, rows, level) for one, rows in zip(found, scores, strict=True))
        return combine_difference(values[0], first, values[1], second)

    return ends


def paired_difference(gap: float, first: Side, second: Side) -> Contrast | str:
    """A gap between two sides of the same patients, with the interval of their shared replicates."""
    return _resampled(gap, first, second, lambda a, b: a - b)


def ratio(metric: Metric, first: Side, second: Side) -> Contrast | str:
    """The metric on the first slice over that on the second, on the log scale."""
    values = metric.value(first.scores), metric.value(second.scores)
    if not np.isfinite(values).all():
        return f"undefined in one of them: {metric.undefined}"
    if min(values) <= 0:
        return "one of them is 0, so a ratio says nothing"
    if metric.interval is None or _overlap(first.scores, second.scores):
        found = _resampled(float(np.log(values[0] / values[1])), first, second, _log_ratio)
    else:
        found = _log_combined(metric, values, first, second)
    if isinstance(found, str):
        return found
    logs = found

    def ends(level: float) -> Ends:
        low, high = logs.ends(level)
        return Ends(float(np.exp(low)), float(np.exp(high)))

    return Contrast(values[0] / values[1], logs.se, f"{logs.method}, log scale", ends, logs.p)


def _log_combined(metric: Metric, values: tuple[float, float], first: Side, second: Side) -> Contrast | str:
    assert metric.interval is not None
    parts = []
    for side in (first, second):
        one = metric.interval(side.scores, 0.95)
        if one.status != "ok" or one.low is None or one.high is None or one.low <= 0:
            return f"{one.status} in one of them: {one.reason or 'an end of 0 has no logarithm'}"
        parts.append(one)
    logs = float(np.log(values[0] / values[1]))
    errors = [(one.se or 0.0) / value for one, value in zip(parts, values, strict=True)]
    spread = float(np.hypot(errors[0], errors[1]))

    def ends(level: float) -> Ends:
        scale = z_critical(level) / z_critical(0.95)
        first_logs, second_logs = (
            Ends(np.log(v) + scale * np.log((one.low or v) / v), np.log(v) + scale * np.log((one.high or v) / v))
            for v, one in zip(values, parts, strict=True)
        )
        return combine_difference(np.log(values[0]), first_logs, np.log(values[1]), second_logs)

    return Contrast(logs, spread, f"square and add of {parts[0].method}", ends, lambda m: _p_normal(logs, spread, m))


def _log_ratio(a: Floats, b: Floats) -> Floats:
    positive = (a > 0) & (b > 0)
    return np.where(positive, np.log(np.where(positive, a, 1.0) / np.where(positive, b, 1.0)), np.nan)


def _overlap(first: Scores, second: Scores) -> bool:
    return np.intersect1d(first.patient, second.patient).size > 0


def _resampled(gap: float, first: Side, second: Side, combine: Callable[[Floats, Floats], Floats]) -> Contrast | str:
    """Paired replicates: both slices saw the same resampled patients."""
    if first.replicates is None or second.replicates is None:
        return "no shared replicates were made"
    both = combine(first.replicates, second.replicates)
    defined = both[np.isfinite(both)]
    lost = both.size - defined.size
    if lost > MOST_UNDEFINED * both.size:
        return f"insufficient: undefined in {lost} of {both.size} resamples"
    fewest = min(first.scores.n_patients, second.scores.n_patients)
    if fewest < FEWEST_PATIENTS:
        return f"insufficient: {fewest} patients in one of them; shared replicates need at least {FEWEST_PATIENTS}"
    spread = float(defined.std(ddof=1))
    if spread == 0:
        return "insufficient: every resample gives the same value"
    z0 = bootstrap.bias_correction(gap, defined)

    def ends(level: float) -> Ends:
        probabilities = bootstrap.adjusted_levels(z0 if np.isfinite(z0) else 0.0, 0.0, level=level)
        low, high = bootstrap.quantiles(defined, probabilities)
        return Ends(min(float(low), gap), max(float(high), gap))  # bias-corrected ends can pass the gap itself by

    return Contrast(gap, spread, "shared replicates, bias-corrected", ends, lambda m: _p_normal(gap, spread, m))


def _p_normal(gap: float, spread: float, margin: float) -> float:
    """P of a gap this large when the truth is just at the margin; two-sided when the margin is 0."""
    if abs(gap) <= margin or spread <= 0:
        return 1.0
    return float(special.ndtr((margin - abs(gap)) / spread) + special.ndtr((-margin - abs(gap)) / spread))


def _p_inverted(gap: float, ends: Callable[[float], Ends], margin: float) -> float:
    """The same from the interval itself: the level at which its near end just touches the margin.

    A test and an interval that agree cannot contradict each other in one row of a report.
    """
    if abs(gap) <= margin:
        return 1.0

    def touching(limit: float) -> float:
        def near_end(z: float) -> float:
            low, high = ends(float(2 * special.ndtr(z) - 1))
            return (low if gap > 0 else -high) - limit

        if near_end(_FARTHEST) > 0:
            return float(special.ndtr(-_FARTHEST))
        if near_end(_NEAREST) <= 0:
            return 0.5
        return float(special.ndtr(-optimize.brentq(near_end, _NEAREST, _FARTHEST, xtol=1e-10)))

    return min(1.0, touching(margin) + touching(-margin))


def as_row(
    metric: str,
    keys: dict[str, Any],
    against: str,
    kind: str,
    found: Contrast | str,
    *,
    level: float = 0.95,
) -> dict[str, Any]:
    """A comparison as the record holds it, before any verdict."""
    row: dict[str, Any] = {"metric": metric, "slice": keys, "against": against, "kind": kind, "level": level}
    if isinstance(found, str):
        empty = dict.fromkeys(("value", "low", "high", "se", "p", "p_adjusted", "margin"))
        return {**row, **empty, "method": "none", "verdict": "not_assessed", "reason": found}
    low, high = found.ends(level)
    p = found.p(0.0)
    more = {"value": found.value, "low": low, "high": high, "se": found.se, "p": p, "p_adjusted": None, "margin": None}
    return {**row, **more, "method": found.method, "verdict": "not_assessed", "reason": "no margin was declared"}
