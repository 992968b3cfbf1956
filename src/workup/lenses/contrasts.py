"""Two slices compared on one metric: difference and ratio with their intervals, and the tests that these invert."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy import optimize, special

from workup.estimate import MOST_UNDEFINED
from workup.metric import FEWEST_PATIENTS, Interval, Metric
from workup.scores import Scores
from workup.stats import bootstrap
from workup.stats.arrays import Floats
from workup.stats.intervals import Ends, combine_difference, p_of_ends, z_critical

_NEAREST, _FARTHEST = 1e-9, 8.0  # normal quantiles between which a p value is looked for
_FAR_AWAY = 1e12
_FEWEST_BEYOND = 5  # replicates outside an end; a farther end is extrapolated, because the extremes say too little
ALONE = "the 95 % interval of this gap alone"


@dataclass(frozen=True)
class Side:
    """One slice of a comparison: its rows, and its shared replicates of the metric where there are any."""

    scores: Scores
    replicates: Floats | None = None

    def value(self, metric: Metric) -> float:
        """The metric on these rows, which a difference, a ratio and several comparisons ask for."""
        return float(_once(self.scores, ("value", id(metric)), metric, lambda: metric.value(self.scores)))

    def interval(self, metric: Metric) -> Interval:
        """The metric's own 95 % interval on these rows."""
        interval = metric.interval
        assert interval is not None
        found: Interval = _once(self.scores, ("interval", id(metric)), metric, lambda: interval(self.scores, 0.95))
        return found

    def overlaps(self, other: Side) -> bool:
        """Is a patient in both?"""
        mine, others = self.scores.patient, other.scores.patient
        key = ("overlap", id(other.scores))
        return bool(_once(self.scores, key, other.scores, lambda: np.intersect1d(mine, others).size > 0))


def _once(scores: Scores, key: tuple[str, int], held: Any, make: Callable[[], Any]) -> Any:
    """What `make` answers of these rows, made once; the object whose id is in the key is held, so it stays its own."""
    known: dict[tuple[str, int], tuple[Any, Any]] = scores.kept("compared", dict)
    if key not in known:
        known[key] = held, make()
    return known[key][1]


@dataclass(frozen=True)
class Contrast:
    """What separates two slices, with its interval at any level and the tests that the interval inverts.

    A test read off the interval cannot contradict it in the same row of a report. `interval` and margins are those of
    the logarithm when the value is a `ratio`. `costly` says that another level means fitting again; p against no gap is
    then read off the 95 % interval.
    """

    value: float
    se: float
    method: str
    interval: Callable[[float], Ends]
    ratio: bool = False
    costly: bool = False

    def ends(self, level: float) -> Ends:
        """The interval at a level."""
        low, high = self.interval(level)
        return Ends(float(np.exp(low)), float(np.exp(high))) if self.ratio else Ends(low, high)

    def p(self, margin: float = 0.0) -> float:
        """P of a gap this large or larger, either way, when the truth lies just at the margin."""
        if abs(self._gap) <= margin:
            return 1.0
        return min(1.0, 2 * self.tail(0.0) if margin == 0 else self.tail(margin) + self.tail(-margin))

    def p_alone(self) -> float | None:
        """P against no gap, below 0.05 exactly where the 95 % interval leaves no gap out."""
        if not self.costly:
            return self.p()
        return p_of_ends(self._gap, self.interval(0.95), level=0.95)

    def tail(self, limit: float) -> float:
        """The one-sided error at which the near end of the interval reaches a limit."""
        gap = self._gap

        def beyond(z: float) -> float:
            with np.errstate(over="ignore", invalid="ignore"):  # ends of a log scale run away at levels nobody shows
                low, high = self.interval(float(2 * special.ndtr(z) - 1))
            near = (low if gap > 0 else -high) - limit
            return near if near > -_FAR_AWAY else -_FAR_AWAY  # also where there is no such end

        if beyond(_FARTHEST) > 0:
            return float(special.ndtr(-_FARTHEST))
        if not beyond(_NEAREST) > 0:
            return 0.5
        found = float(optimize.brentq(beyond, _NEAREST, _FARTHEST, xtol=1e-10))
        return float(special.ndtr(-_first(beyond, found)))

    def near_share(self, margin: float) -> float:
        """The part of p(margin) beyond the near margin: half of it for a margin of 0, nearly all for a wide one."""
        if margin == 0:
            return 0.5
        near, far = self.tail(margin), self.tail(-margin)
        if far > special.ndtr(-_FARTHEST):
            return near / (near + far)
        if near > far or self.se == 0:
            return 1.0
        return float(special.expit(2 * margin * abs(self._gap) / self.se**2))  # of two normal tails this far out

    @property
    def _gap(self) -> float:
        return float(np.log(self.value)) if self.ratio else self.value


def _first(beyond: Callable[[float], float], root: float) -> float:
    """The smallest root: an end made of tied replicates stays at one value over a range of levels."""
    step = 1e-9 * max(1.0, root)
    if root - step <= _NEAREST or beyond(root - step) > 0:
        return root
    inside, outside = _NEAREST, root
    while outside - inside > step:
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if beyond(middle) > 0 else (inside, middle)
    return outside


def difference(metric: Metric, first: Side, second: Side) -> Contrast | str:
    """The metric on the first slice less that on the second; a sentence where it cannot be compared.

    Slices that share no patient are independent, and the ends of their own intervals are combined (Newcombe's square
    and add, which for proportions is his method 10). Slices that overlap are compared by their shared replicates.
    """
    values = first.value(metric), second.value(metric)
    if not np.isfinite(values).all():
        return f"undefined in one of them: {metric.undefined}"
    gap = values[0] - values[1]
    if metric.interval is None or first.overlaps(second):
        return paired_difference(gap, first, second)
    found = [side.interval(metric) for side in (first, second)]
    for one in found:
        if one.status != "ok" or one.low is None or one.high is None:
            return f"{one.status} in one of them: {one.reason or 'no interval'}"
    spread = float(np.hypot(found[0].se or 0.0, found[1].se or 0.0))
    ends = _combined(metric, values, found, (first.scores, second.scores))
    costly = not (found[0].ends and found[1].ends)
    return Contrast(gap, spread, f"square and add of {found[0].method}", cache(ends) if costly else ends, costly=costly)


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
    values = first.value(metric), second.value(metric)
    if not np.isfinite(values).all():
        return f"undefined in one of them: {metric.undefined}"
    if min(values) <= 0:
        return "one of them is 0, so a ratio says nothing"
    if metric.interval is None or first.overlaps(second):
        found = _resampled(float(np.log(values[0] / values[1])), first, second, _log_ratio)
    else:
        found = _log_combined(metric, values, first, second)
    if isinstance(found, str):
        return found
    return replace(found, value=values[0] / values[1], method=f"{found.method}, log scale", ratio=True)


def _log_combined(metric: Metric, values: tuple[float, float], first: Side, second: Side) -> Contrast | str:
    assert metric.interval is not None
    parts = []
    for side in (first, second):
        one = side.interval(metric)
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

    return Contrast(logs, spread, f"square and add of {parts[0].method}", ends)


def _log_ratio(a: Floats, b: Floats) -> Floats:
    positive = (a > 0) & (b > 0)
    return np.where(positive, np.log(np.where(positive, a, 1.0) / np.where(positive, b, 1.0)), np.nan)


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
    return Contrast(gap, spread, "shared replicates, bias-corrected", _corrected(gap, defined, spread))


def _corrected(gap: float, replicates: Floats, spread: float) -> Callable[[float], Ends]:
    """Bias-corrected percentile ends at any level.

    Simultaneous levels lie beyond what the replicates can show: past the last of them an end would no longer move. From
    the fifth-outermost replicate on it moves with the normal quantile instead.
    """
    ordered = np.sort(replicates)
    found = bootstrap.bias_correction(gap, ordered)
    z0 = found if np.isfinite(found) else 0.0
    last = -float(special.ndtri(_FEWEST_BEYOND / (ordered.size + 1)))

    def end(z: float, side: int) -> float:
        reach = max(z_critical(0.95), last - 2 * side * z0)
        near = min(z, reach)
        [value] = bootstrap.quantiles(ordered, np.array([special.ndtr(2 * z0 + side * near)]))
        away = max(0.0, side * (float(value) - gap))  # the value itself always lies inside
        if z <= reach:
            return gap + side * away
        return gap + side * (away or reach * spread) * z / reach

    def ends(level: float) -> Ends:
        z = z_critical(level)
        return Ends(end(z, -1), end(z, 1))

    return ends


def as_row(
    metric: str,
    keys: dict[str, Any],
    against: str,
    kind: str,
    found: Contrast | str,
) -> dict[str, Any]:
    """A comparison as the record holds it, before any verdict."""
    row: dict[str, Any] = {"metric": metric, "slice": keys, "against": against, "kind": kind, "level": 0.95}
    if isinstance(found, str):
        empty = dict.fromkeys(("value", "low", "high", "se", "p", "p_adjusted", "margin"))
        return {**row, **empty, "method": "none", "rule": None, "verdict": "not_assessed", "reason": found}
    low, high = found.ends(0.95)
    more: dict[str, Any] = {"value": found.value, "low": low, "high": high, "se": found.se, "p": found.p_alone()}
    more |= {"p_adjusted": None, "margin": None, "method": found.method, "rule": ALONE}
    return {**row, **more, "verdict": "not_assessed", "reason": "no margin was declared"}
