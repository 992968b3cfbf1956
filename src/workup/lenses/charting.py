"""Control charts over the windows of many series at once, with limits for the whole family. Knows points, not rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workup.errors import StudyError, near
from workup.lenses.series import Point, Series, departure, is_share
from workup.scores import Bools, Floats
from workup.stats import baselines, control_charts
from workup.stats.family_limits import cusum_family_limit, family_limit

LEAST_RATIO = 0.5  # a baseline of less than half a window's worth: its error is most of what any chart would show


@dataclass(frozen=True)
class Drawn:
    """One chart over [series, window]: what is charted, its limits, and where it signals."""

    chart: str
    limit: float  # in the chart's own units: L of an EWMA, h of a CUSUM, sigmas of the others
    statistic: Floats
    lower: Floats
    upper: Floats
    signal: Bools


@dataclass(frozen=True)
class Family:
    """What is frozen before the first window is judged: the series, their baselines, and the limits for all of them.

    `phase_one` are the baseline's own windows, from which charts of single windows take their spread.
    """

    series: tuple[Series, ...]
    baseline: tuple[Point, ...]
    phase_one: tuple[tuple[Point, ...], ...]  # [series][window]
    charts: tuple[str, ...]
    windows_a_year: int
    chance: float
    fast_start: bool

    def __post_init__(self) -> None:
        for name in self.charts:
            if name not in CHARTS:
                known = (*CHARTS, "ra_cusum")
                raise StudyError(f"lenses.drift.charts: '{name}' is not a known chart; {near(name, known)}.")

    def limits(self) -> dict[str, float]:
        """The limit of each chart at which at most `chance` of stable years raise any signal in the whole family.

        The chance is shared evenly among the charts that are drawn.
        """
        held = max(1, sum(point.known for point in self.baseline))
        chance = self.chance / max(1, len(self.charts))
        ratios = _ratios(self.baseline, self.phase_one)
        found = {}
        for name in self.charts:
            if name == "ewma":
                found[name] = family_limit(
                    held, self.windows_a_year, chance=chance, fast_start=self.fast_start, baseline_windows=ratios
                )
            elif name == "cusum":
                found[name] = cusum_family_limit(held, self.windows_a_year, chance=chance, baseline_windows=ratios)
            else:  # a chart of single windows is an EWMA that forgets everything
                found[name] = family_limit(
                    held, self.windows_a_year, weight=1.0, chance=chance, baseline_windows=ratios
                )
        return found

    def drawn(self, points: Sequence[Sequence[Point]], limits: Mapping[str, float]) -> list[Drawn]:
        """Every chart over the points [series][window] so far."""
        return [CHARTS[name](self, points, limits[name]) for name in self.charts]

    def departures(self, points: Sequence[Sequence[Point]]) -> Floats:
        """z of every series and window, NaN where either side is unknown."""
        z = np.full((len(self.series), len(points[0]) if points else 0), np.nan)
        for s, (series, base) in enumerate(zip(self.series, self.baseline, strict=True)):
            for w, now in enumerate(points[s]):
                if base.known and now.known:
                    z[s, w] = departure(series.metric, base, now).z
        return z


def _ratios(baseline: Sequence[Point], phase_one: Sequence[Sequence[Point]]) -> Floats:
    """How many windows' worth of information each known baseline holds, in whole windows so that few limits differ."""
    found = []
    for base, windows in zip(baseline, phase_one, strict=True):
        if base.known:
            errors = [point.chart_se for point in windows if point.known and point.chart_se > 0]
            ratio = (np.median(errors) / base.chart_se) ** 2 if errors and base.chart_se > 0 else float(len(windows))
            found.append(max(LEAST_RATIO, float(np.floor(ratio + 0.05)) if ratio >= 1 else float(ratio)))
    return np.array(found) if found else np.array([1.0])


def _ewma(family: Family, points: Sequence[Sequence[Point]], limit: float) -> Drawn:
    chart = control_charts.ewma(family.departures(points), limit=limit, fast_start=family.fast_start)
    return Drawn("ewma", limit, chart.statistic, chart.lower, chart.upper, chart.signal)


def _cusum(family: Family, points: Sequence[Sequence[Point]], limit: float) -> Drawn:
    chart = control_charts.cusum(family.departures(points), limit=limit)
    return Drawn("cusum", limit, chart.statistic, chart.lower, chart.upper, chart.signal)


def _xmr(family: Family, points: Sequence[Sequence[Point]], limit: float) -> Drawn:
    """Individual values against the moving ranges of the baseline's windows."""

    def one(row: int) -> tuple[float, float] | None:
        values = np.array([point.value if point.known else np.nan for point in family.phase_one[row]])
        try:
            found = baselines.xmr_baseline(values)
        except ValueError:  # fewer than two neighbouring windows
            return None
        return (float(found.centre), float(found.mean_range)) if found.mean_range > 0 else None

    return _single("xmr", family, points, limit, lambda row: (spread := one(row)) and _xmr_ends(spread, limit))


def _xmr_ends(spread: tuple[float, float], limit: float) -> Callable[[Point], tuple[float, float]]:
    half = limit * spread[1] / baselines.RANGE_MEAN
    return lambda point: (spread[0] - half, spread[0] + half)


def _p(family: Family, points: Sequence[Sequence[Point]], limit: float) -> Drawn:
    return _single("p", family, points, limit, lambda row: _share_ends(family, row, limit, 1.0))


def _p_prime(family: Family, points: Sequence[Sequence[Point]], limit: float) -> Drawn:
    """Laney's chart: limits widened by how much more the baseline's windows vary than counts would."""

    def ends(row: int) -> Callable[[Point], tuple[float, float]] | None:
        known = [point for point in family.phase_one[row] if point.known and np.isfinite(point.n)]
        if len(known) < 2 or not is_share(family.series[row].metric):
            return None
        counts, sizes = [round(point.value * point.n) for point in known], [point.n for point in known]
        share = family.baseline[row].value
        if not 0 < share < 1:
            return None
        sigma = float(baselines.laney_sigma_z(counts, sizes, baseline=share))
        return _share_ends(family, row, limit, max(1.0, sigma))

    return _single("p_prime", family, points, limit, ends)


def _share_ends(family: Family, row: int, limit: float, sigma: float) -> Callable[[Point], tuple[float, float]] | None:
    base = family.baseline[row]
    if family.series[row].gap or not (is_share(family.series[row].metric) and base.known and 0 < base.value < 1):
        return None

    def ends(point: Point) -> tuple[float, float]:
        half = limit * sigma * float(np.hypot(np.sqrt(base.value * (1 - base.value) / point.n), base.se))
        return max(0.0, base.value - half), min(1.0, base.value + half)

    return ends


def _single(
    name: str,
    family: Family,
    points: Sequence[Sequence[Point]],
    limit: float,
    ends: Callable[[int], Callable[[Point], tuple[float, float]] | None],
) -> Drawn:
    """A chart that judges each window by itself; a series that it does not suit stays empty."""
    shape = (len(family.series), len(points[0]) if points else 0)
    statistic, lower, upper = (np.full(shape, np.nan) for _ in range(3))
    for row in range(shape[0]):
        limits = ends(row)
        for w, point in enumerate(points[row] if limits is not None else ()):
            if point.known and limits is not None:
                statistic[row, w] = point.value
                lower[row, w], upper[row, w] = limits(point)
    with np.errstate(invalid="ignore"):
        signal = (statistic < lower) | (statistic > upper)
    return Drawn(name, limit, statistic, lower, upper, signal)


CHARTS: Mapping[str, Callable[[Family, Sequence[Sequence[Point]], float], Drawn]] = {
    "ewma": _ewma,
    "cusum": _cusum,
    "xmr": _xmr,
    "p": _p,
    "p_prime": _p_prime,
}
