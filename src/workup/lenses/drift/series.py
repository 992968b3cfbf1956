"""Series that a drift chart follows: one metric on everyone, on one group, or the gap between a group and the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workup.estimate import jackknife
from workup.lenses.drift.windows import Minimum
from workup.lenses.withholding import FEW
from workup.metric import FEWEST_PATIENTS, Concern, Metric
from workup.scores import Scores
from workup.stats.intervals import z_critical
from workup.stats.scales import steepness, there

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


WITHHELD = Point(status="insufficient", reason=FEW)


@dataclass(frozen=True)
class Departure:
    """How far a window lies from the baseline: in standard errors of both, and in the metric's own units."""

    z: float
    effect: float
    se: float

    @property
    def ends(self) -> tuple[float, float]:
        """The 95 % interval of the change."""
        half = z_critical(0.95) * self.se
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
        own = self.metric.concern or _BY_SCALE[self.metric.scale]
        # Five points are a gap between shares or areas; between minutes or slopes they would be nothing.
        return GAP if self.gap and self.metric.scale == "logit" else own

    def point(self, scores: Scores, minimum: Minimum) -> Point:
        """The series on the rows of one window."""
        return points([self], scores, minimum)[0]

    def worse(self, before: float, now: float) -> bool:
        """Is the move for the worse? A target is missed by more, a gap is wider, more of a good thing is less.

        A metric of which neither more nor less is better (a rate of alerts) has no better way to move: any counts.
        """
        aim = 0.0 if self.gap else self.metric.target
        if aim is not None:
            return abs(now - aim) > abs(before - aim)
        if self.metric.better in ("higher", "lower"):
            return (now < before) == (self.metric.better == "higher") and now != before
        return now != before

    def harmful(self, baseline: Point, now: Point) -> bool:
        """Is the window worse than the baseline?"""
        return self.worse(baseline.value, now.value)


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


def points(
    series: Sequence[Series], scores: Scores, minimum: Minimum, withheld: Collection[tuple[str, str]] = ()
) -> list[Point]:
    """Every series on the rows of one window; those of groups that are `withheld`, by column and level, have none.

    Each group is cut out once, so that its metrics share what they keep (an order, a logarithm), and a gap asks for
    the points of its group and of the rest instead of making them again.
    """
    parts = _Parts(scores, minimum)
    return [
        WITHHELD
        if any(key in withheld for key in one.key.items())
        else parts.gap(one.metric, one.key)
        if one.gap
        else parts.point(one.metric, one.key)
        for one in series
    ]


class _Parts:
    """The groups of one window, cut out when asked for."""

    def __init__(self, scores: Scores, minimum: Minimum) -> None:
        self._scores, self._minimum = scores, minimum
        self._cut: dict[tuple[str, str, bool], Scores] = {}
        self._points: dict[tuple[int, str, str, bool], Point] = {}
        self._shared: dict[tuple[str, str], bool] = {}

    def point(self, metric: Metric, key: Mapping[str, str], *, rest: bool = False) -> Point:
        place = self._place(key, rest)
        known = (id(metric), *place)
        if known not in self._points:
            self._points[known] = _point(metric, self._part(place), self._minimum)
        return self._points[known]

    def gap(self, metric: Metric, key: Mapping[str, str]) -> Point:
        if self._patients_on_both_sides(key):
            return Point(status="insufficient", reason="patients are in the group and outside it")
        sides = [self.point(metric, key), self.point(metric, key, rest=True)]
        for side, where in zip(sides, ("in the group", "outside it"), strict=True):
            if not side.known:
                return Point(status=side.status, reason=f"{where}: {side.reason}")
        value, error = sides[0].value - sides[1].value, float(np.hypot(sides[0].se, sides[1].se))
        return Point(value, error, value, error)

    def _place(self, key: Mapping[str, str], rest: bool) -> tuple[str, str, bool]:
        if not key:
            return "", "", False
        [(name, level)] = key.items()
        if rest:
            others = [other for other, rows in self._scores.groups[name].masks() if other != level and rows.any()]
            if len(others) == 1:  # the rest is one group, whose points are known
                return name, others[0], False
        return name, level, rest

    def _part(self, place: tuple[str, str, bool]) -> Scores:
        name, level, rest = place
        if not name:
            return self._scores
        if place not in self._cut:
            levels = self._scores.groups[name]
            code = levels.names.index(level) if level in levels.names else -1
            self._cut[place] = self._scores.take(np.flatnonzero((levels.codes == code) != rest))
        return self._cut[place]

    def _patients_on_both_sides(self, key: Mapping[str, str]) -> bool:
        if self._scores.n_patients == len(self._scores):
            return False
        [(name, level)] = key.items()
        if (name, level) not in self._shared:
            own, rest = (self._part(self._place(key, rest)).patient for rest in (False, True))
            self._shared[name, level] = bool(np.intersect1d(own, rest).size)
        return self._shared[name, level]


def departure(metric: Metric, baseline: Point, now: Point) -> Departure:
    """The change since the baseline, with the errors of both.

    A share is judged as on a p chart: the window's error is that of the baseline's share at the window's size, since
    an error estimated from a window that happens to hold few misses would be too small.
    """
    effect = now.value - baseline.value
    se = float(np.hypot(now.se, baseline.se))
    if is_share(metric) and np.isfinite(now.n):
        at_baseline = share_error(baseline, now)
        return Departure(effect / at_baseline, effect, max(se, at_baseline))
    spread = float(np.hypot(now.chart_se, baseline.chart_se))
    return Departure((now.chart_value - baseline.chart_value) / spread, effect, se)


def share_error(baseline: Point, now: Point) -> float:
    """The error of a window's share less the baseline's, if the baseline's were true; clustering is the window's."""
    known, seen = _off_the_ends(baseline.value, baseline.n), _off_the_ends(now.value, now.n)
    deff = max(1.0, now.se**2 * now.n / (seen * (1 - seen)))
    return float(np.hypot(np.sqrt(known * (1 - known) / now.n * deff), baseline.se))


def _off_the_ends(share: float, n: float) -> float:
    """None or all of n rows is taken as half a row from it: a share that cannot be wrong has no error to judge by."""
    least = 0.5 / (n + 1)
    return min(max(share, least), 1 - least) if np.isfinite(n) else share


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
    if is_share(metric):
        return _share(metric, part, value, se, minimum)
    chart_value = there(value, metric.scale)
    with np.errstate(divide="ignore", invalid="ignore"):
        chart_se = float(np.divide(se, steepness(value, metric.scale)))
    if not (np.isfinite(chart_value) and np.isfinite(chart_se) and chart_se > 0):
        return Point(value=value, status="insufficient", reason="it has no standard error: all rows agree")
    return Point(value, se, chart_value, chart_se)


def _share(metric: Metric, part: Scores, value: float, se: float, minimum: Minimum) -> Point:
    assert metric.counts is not None
    # Design weights may have any unit; counted in rows, their mean is 1.
    n = metric.counts(part)[1] * len(part) / float(part.base_weight.sum())
    if n < minimum.events:
        reason = f"{n:.4g} rows count in it; at least {minimum.events} are needed"
        return Point(value=value, n=n, status="insufficient", reason=reason)
    if not se > 0:
        known = _off_the_ends(value, n)
        se = float(np.sqrt(known * (1 - known) / min(n, part.n_patients)))
    return Point(value, se, value, se, n)


def is_share(metric: Metric) -> bool:
    """Is it a share of counted rows, which a p chart can follow?"""
    return metric.counts is not None and metric.scale == "logit"


def _error(metric: Metric, part: Scores) -> float | str:
    if metric.interval is None:
        if part.n_patients < FEWEST_PATIENTS:
            return f"{part.n_patients} patients; leaving them out by turns needs at least {FEWEST_PATIENTS}"
        left_out = jackknife(part, [metric])[0]
        size = left_out.size
        error = float(np.sqrt((size - 1) / size * np.sum((left_out - left_out.mean()) ** 2)))
        return error if np.isfinite(error) and error > 0 else "leaving patients out gives no error"
    found = metric.interval(part, 0.95)
    if found.status != "ok" or found.se is None or not np.isfinite(found.se):
        return found.reason or "no interval"
    return found.se
