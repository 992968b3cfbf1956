"""Where each series is heading: its trend over the watched windows, and the day on which it would reach its limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workup.lenses.forecast import Trend, trend
from workup.lenses.series import Series
from workup.lenses.watching import Watching
from workup.lenses.windows import Window

_DAY = np.timedelta64(1, "D")


def forecasts(watching: Watching, later: Sequence[Window]) -> Iterator[dict[str, Any]]:
    """The trend of every series and when it would reach its limit, in days from the first watched window."""
    start = later[0].start
    middle = [float(((w.start - start) + (w.end - w.start) / 2) / _DAY) for w in later]
    for s, series in enumerate(watching.family.series):
        base, points = watching.family.baseline[s], watching.points[s]
        row: dict[str, Any] = {"metric": series.metric.name, "slice": series.slice, "type": series.type}
        found = trend(middle, [p.value for p in points], [p.se for p in points])
        if isinstance(found, str) or not base.known:
            yield {**row, "slope_a_year": None, "low": None, "high": None, "crosses": None, "reason": str(found)}
            continue
        low, high = (365.25 * end for end in found.slope_ends())
        row |= {"slope_a_year": 365.25 * found.slope, "low": low, "high": high}
        yield row | _crossing(found, series, base.value, watching.concern(series).medium, start)


def _crossing(found: Trend, series: Series, baseline: float, concern: float, start: np.datetime64) -> dict[str, Any]:
    """When the line reaches the limit on the side it moves to, as dates."""
    side = 1.0 if found.slope > 0 else -1.0
    aim = 0.0 if series.gap else series.metric.target
    worse = (
        abs(baseline + side * concern - aim) > abs(baseline - aim)
        if aim is not None
        else ((side < 0) == (series.metric.better == "higher"))
    )
    if not found.clear or not worse:
        reason = "no clear trend" if not found.clear else "it moves for the better"
        return {"crosses": None, "crosses_low": None, "crosses_high": None, "reason": reason}
    times = found.crossing(baseline + side * concern)
    if times is None:
        return {"crosses": None, "crosses_low": None, "crosses_high": None, "reason": "the crossing has no interval"}
    dates = [str(start + np.timedelta64(round(day * 86_400), "s"))[:10] for day in np.clip(times, -36_500, 36_500)]
    return {"crosses": dates[0], "crosses_low": dates[1], "crosses_high": dates[2], "reason": ""}
