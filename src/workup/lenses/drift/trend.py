"""Where each series is heading: the straight trend over the watched windows, and the day on which it would reach its
limit. A day is given only where there is a trend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workup.lenses.drift.monitor.state import Watching
from workup.lenses.drift.series import Series
from workup.lenses.drift.windows import Window
from workup.stats.arrays import Floats
from workup.stats.intervals import t_critical

FEWEST_WINDOWS = 4  # a line through three points has one degree of freedom left: its interval says nothing
_DAY = np.timedelta64(1, "D")
_YEAR = 365.25
FURTHEST = 10.0  # years ahead; a straight line says nothing of what lies beyond
_NONE = {"crosses": None, "crosses_low": None, "crosses_high": None}


@dataclass(frozen=True)
class Trend:
    """A weighted straight line: `value` at time 0, `slope` per unit of time, their covariance, degrees of freedom."""

    value: float
    slope: float
    covariance: Floats
    df: int

    def slope_ends(self, *, level: float = 0.95) -> tuple[float, float]:
        """The interval of the slope."""
        half = t_critical(level, self.df) * float(np.sqrt(self.covariance[1, 1]))
        return self.slope - half, self.slope + half

    @property
    def clear(self) -> bool:
        """Does the 95 % interval of the slope exclude 0?"""
        low, high = self.slope_ends()
        return low > 0 or high < 0

    def crossing(self, limit: float, *, level: float = 0.95) -> tuple[float, float, float] | None:
        """When the line meets the limit, with Fieller's interval; None where the slope is not clear.

        The interval holds every time at which the line could lie at the limit, so a slope near 0 makes it endless.
        """
        t = t_critical(level, self.df)
        (v_value, covariance), (_, v_slope) = self.covariance.tolist()
        gap = self.value - limit
        a = self.slope**2 - t**2 * v_slope
        b = 2 * (gap * self.slope - t**2 * covariance)
        c = gap**2 - t**2 * v_value
        inside = b**2 - 4 * a * c
        if a <= 0 or inside < 0:
            return None
        root = float(np.sqrt(inside))
        return -gap / self.slope, (-b - root) / (2 * a), (-b + root) / (2 * a)


def trend(time: Sequence[float], value: Sequence[float], se: Sequence[float]) -> Trend | str:
    """The line through the windows, weighted by their precision; a sentence where there are too few.

    The spread about the line is estimated and never taken below what the standard errors say.

    >>> line = trend([0, 1, 2, 3, 4], [0.80, 0.78, 0.76, 0.74, 0.72], [0.005] * 5)
    >>> round(line.slope, 3), line.clear, [round(t, 1) for t in line.crossing(0.70)]
    (-0.02, True, [5.0, 4.3, 6.1])
    """
    times, values, errors = (np.asarray(column, dtype=np.float64) for column in (time, value, se))
    used = np.isfinite(values) & np.isfinite(errors) & (errors > 0)
    if np.count_nonzero(used) < FEWEST_WINDOWS:
        return f"{np.count_nonzero(used)} windows with a value; a trend needs at least {FEWEST_WINDOWS}"
    design = np.column_stack([np.ones(used.sum()), times[used]])
    weighted = design / errors[used][:, None]
    target = values[used] / errors[used]
    information = weighted.T @ weighted
    fitted = np.linalg.solve(information, weighted.T @ target)
    df = int(used.sum()) - 2
    dispersion = max(1.0, float(np.sum((target - weighted @ fitted) ** 2)) / df)
    covariance = np.asarray(np.linalg.inv(information) * dispersion, dtype=np.float64)
    return Trend(float(fitted[0]), float(fitted[1]), covariance, df)


def forecasts(watching: Watching, later: Sequence[Window]) -> Iterator[dict[str, Any]]:
    """The trend of every series a year, and the day on which it would reach its limit."""
    start = later[0].start
    middle = [float(((w.start - start) + (w.end - w.start) / 2) / _DAY) for w in later]
    for s, series in enumerate(watching.family.series):
        base, points = watching.family.baseline[s], watching.points[s]
        row: dict[str, Any] = {"metric": series.metric.name, "slice": series.slice, "type": series.type}
        found = trend(middle, [p.value for p in points], [p.se for p in points])
        if isinstance(found, str) or not base.known:
            reason = found if isinstance(found, str) else f"no baseline: {base.reason}"
            yield {**row, "slope_a_year": None, "low": None, "high": None, **_NONE, "reason": reason}
            continue
        low, high = (_YEAR * end for end in found.slope_ends())
        row |= {"slope_a_year": _YEAR * found.slope, "low": low, "high": high}
        yield row | _crossing(found, series, base.value, watching.least(series), start, middle[-1])


def _crossing(
    found: Trend, series: Series, baseline: float, least: float, start: np.datetime64, now: float
) -> dict[str, Any]:
    """When the line reaches the limit on the side it moves to, as dates; an end too far ahead to mean anything is None.

    Each trend is judged by itself, so of many stable series some will seem to have one.
    """
    limit = baseline + (least if found.slope > 0 else -least)
    if not found.clear:
        return {**_NONE, "reason": "no clear trend"}
    if not series.worse(baseline, limit):
        return {**_NONE, "reason": "it moves for the better"}
    times = found.crossing(limit)
    if times is None:
        return {**_NONE, "reason": "the crossing has no interval"}
    names = ("crosses", "crosses_low", "crosses_high")
    if times[0] > now + FURTHEST * _YEAR:
        return {**_NONE, "reason": f"it would take more than {FURTHEST:g} years"}
    dates = [_date(start, day, now) for day in times]
    reason = "the line has reached it already" if times[0] <= now else ""
    return {**dict(zip(names, dates, strict=True)), "reason": reason}


def _date(start: np.datetime64, day: float, now: float) -> str | None:
    if abs(day - now) > FURTHEST * _YEAR:
        return None
    return str(start + np.timedelta64(round(day * 86_400), "s"))[:10]
