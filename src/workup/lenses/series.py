"""Series that a drift chart follows: one metric on everyone, on one group, or the gap between a group and the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

from workup.estimate import jackknife
from workup.lenses.windows import Minimum
from workup.metric import Concern, Metric
from workup.scores import Levels, Scores

GAP = Concern(medium=0.05, high=0.10, in_group=0.05)  # by custom, for shares and areas
# Where a metric names no change of its own: shares by five and ten points, ratios by a fifth, the rest by 0.2.
_BY_SCALE = {
    "logit": Concern(0.05, 0.10, 0.08),
    "log": Concern(0.20, 0.40, 0.25),
    "identity": Concern(0.20, 0.40, 0.20),
}


@dataclass(frozen=True)
class Point:
    """One series in one window: the value with its standard error, on its own scale and on that of the chart.

    `n` is the denominator of a share. Without a value, `status` and `reason` say why.
    """

    value: float = float("nan")
    se: float = float("nan")
    chart_value: float = float("nan")
    chart_se: float = float("nan")
    n: float = float("nan")
    status: str = "ok"
    reason: str = ""

    @property
    def known(self) -> bool:
        """Is there a value with an error?"""
        return self.status == "ok"


@dataclass(frozen=True)
class Departure:
    """How far a window lies from the baseline: in standard errors of both, and in the metric's own units."""

    z: float
    effect: float
    se: float

    @property
    def ends(self) -> tuple[float, float]:
        """The 95 % interval of the change."""
        half = 1.959963984540054 * self.se
        return self.effect - half, self.effect + half


@dataclass(frozen=True)
class Series:
    """A metric followed over time on one slice; `gap` follows the difference between a group and everyone else."""

    metric: Metric
    key: Mapping[str, str] = field(default_factory=dict)
    gap: bool = False

    @property
    def slice(self) -> dict[str, Any]:
        """The slice as reports name it."""
        return {**self.key, **self.metric.at}

    @property
    def type(self) -> str:
        """The kind of alert that it can raise."""
        return "fairness" if self.gap else "performance"

    @property
    def concern(self) -> Concern:
        """Which change matters, when a study says nothing."""
        return GAP if self.gap else self.metric.concern or _BY_SCALE[self.metric.scale]

    def point(self, scores: Scores, minimum: Minimum) -> Point:
        """The series on the rows of one window."""
        inside = _inside(scores, self.key)
        if not self.gap:
            return _point(self.metric, scores if inside is None else scores.take(inside), minimum)
        assert inside is not None
        own, rest = (scores.take(rows) for rows in (inside, np.setdiff1d(np.arange(len(scores)), inside)))
        if np.intersect1d(own.patient, rest.patient).size:
            return Point(status="insufficient", reason="patients are in the group and outside it")
        first, second = (_point(self.metric, part, minimum) for part in (own, rest))
        for one in (first, second):
            if not one.known:
                return one
        gap, error = first.value - second.value, float(np.hypot(first.se, second.se))
        return Point(gap, error, gap, error)

    def harmful(self, baseline: Point, now: Point) -> bool:
        """Is the move for the worse? A target is missed by more, a gap is wider, more of a good thing is less."""
        aim = 0.0 if self.gap else self.metric.target
        if aim is not None:
            return abs(now.value - aim) > abs(baseline.value - aim)
        return (now.value < baseline.value) == (self.metric.better == "higher")


def every_series(scores: Scores, metrics: Sequence[Metric], by: Sequence[str]) -> Iterator[Series]:
    """Everyone and every group on every metric, and the gap of every group on the metrics that parity is asked of."""
    for metric in metrics:
        yield Series(metric)
    for name in by:
        levels = [level for level, rows in scores.groups[name].masks() if rows.any()]
        for level in levels:
            yield from (Series(metric, {name: level}) for metric in metrics)
        # With two groups each is the other's rest: one gap, not the same one twice.
        for level in levels[1:] if len(levels) == 2 else levels if len(levels) > 2 else ():
            yield from (Series(metric, {name: level}, gap=True) for metric in metrics if metric.parity)


def departure(metric: Metric, baseline: Point, now: Point) -> Departure:
    """The change since the baseline, with the errors of both.

    A share is judged as on a p chart: the window's error is that of the baseline's share at the window's size, since
    an error estimated from a window that happens to hold no misses would be nothing.
    """
    effect = now.value - baseline.value
    se = float(np.hypot(now.se, baseline.se))
    if is_share(metric) and np.isfinite(now.n):
        at_baseline = float(np.hypot(_share_se(baseline.value, now, baseline.n), baseline.se))
        return Departure(effect / at_baseline, effect, max(se, at_baseline))
    spread = float(np.hypot(now.chart_se, baseline.chart_se))
    return Departure((now.chart_value - baseline.chart_value) / spread, effect, se)


def _share_se(share: float, now: Point, n_baseline: float) -> float:
    """The error that the window's share would have if the baseline's were true; clustering kept from the window."""
    known = min(max(share, 0.5 / (n_baseline + 1)), 1 - 0.5 / (n_baseline + 1)) if np.isfinite(n_baseline) else share
    plain = known * (1 - known) / now.n
    spread = now.value * (1 - now.value)
    deff = now.se**2 * now.n / spread if spread > 0 else 1.0
    return float(np.sqrt(plain * max(1.0, deff)))


def _inside(scores: Scores, key: Mapping[str, str]) -> Any:
    if not key:
        return None
    [(name, level)] = key.items()
    levels: Levels = scores.groups[name]
    code = levels.names.index(level) if level in levels.names else -1
    return np.flatnonzero(levels.codes == code)


def _point(metric: Metric, part: Scores, minimum: Minimum) -> Point:
    lacking = minimum.lacking(part, metric.events)
    if lacking:
        return Point(status="insufficient", reason=lacking)
    value = metric.value(part)
    if not np.isfinite(value):
        return Point(status="undefined", reason=metric.undefined)
    se = _error(metric, part)
    if isinstance(se, str):
        return Point(value=value, status="insufficient", reason=se)
    n = metric.counts(part)[1] if metric.counts is not None and is_share(metric) else float("nan")
    if is_share(metric):
        return Point(value, se, value, se, n)
    chart_value, chart_se = _on_scale(metric.scale, value, se)
    if not (np.isfinite(chart_value) and np.isfinite(chart_se) and chart_se > 0):
        return Point(value=value, status="insufficient", reason="it lies at the end of its scale and has no error")
    return Point(value, se, chart_value, chart_se, n)


def is_share(metric: Metric) -> bool:
    """Is it a share of counted rows, which a p chart can follow?"""
    return metric.counts is not None and metric.scale == "logit"


def _error(metric: Metric, part: Scores) -> float | str:
    if metric.interval is None:
        left_out = jackknife(part, [metric])[0]
        size = left_out.size
        error = float(np.sqrt((size - 1) / size * np.sum((left_out - left_out.mean()) ** 2)))
        return error if np.isfinite(error) and error > 0 else "leaving patients out gives no error"
    found = metric.interval(part, 0.95)
    if found.status != "ok" or found.se is None or not np.isfinite(found.se):
        return found.reason or "no interval"
    return found.se


def _on_scale(scale: str, value: float, se: float) -> tuple[float, float]:
    with np.errstate(divide="ignore", invalid="ignore"):
        if scale == "logit":
            return float(special.logit(value)), float(np.divide(se, value * (1 - value)))
        if scale == "log":
            return float(np.log(value)), float(np.divide(se, value))
    return value, se
