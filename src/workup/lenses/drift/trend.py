"""Where each series is heading: its trend over the watched windows, and the day on which it would reach its limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workup.lenses.drift.forecast import Trend, trend
from workup.lenses.drift.monitor.state import Watching
from workup.lenses.drift.series import Series
from workup.lenses.drift.windows import Window

_DAY = np.timedelta64(1, "D")
_YEAR = 365.25
FURTHEST = 10.0  # years ahead; a straight line says nothing of what lies beyond
_NONE = {"crosses": None, "crosses_low": None, "crosses_high": None}


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
