"""Control charts over the windows of many series at once, with limits for the whole family. Sees points, not rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from workup.errors import StudyError, near
from workup.lenses.drift.series import Point, Series, departure, is_share, share_error
from workup.stats.arrays import Bools, Floats
from workup.stats.charts import baselines, control_charts
from workup.stats.charts.family_limits import cusum_family_limit, family_limit
from workup.stats.charts.run_lengths import solve_limit

LEAST_RATIO = 0.2  # of a baseline to a window; below it the limits cannot be solved well, and no chart would show much
SHORTEST_RUN = 12  # windows over which a rate of false alarms is held
MOST_FOR_CUSUM = 60  # windows a year; at 52 its limit is some 28 standard errors already, at 365 some 166
FEWEST_RANGES = 5  # moving ranges that a spread can be taken from
_DF_OF_RANGE = 0.62  # degrees of freedom that each moving range of two adds to their mean (Wheeler 1995)

Points = Sequence[Sequence[Point]]  # [series][window]


@dataclass(frozen=True)
class Drawn:
    """One chart over [series, window]: what is charted, its limits, and where it signals."""

    chart: str
    limit: float  # in the chart's own units: L of an EWMA, h of a CUSUM, sigmas of the others
    statistic: Floats
    lower: Floats
    upper: Floats
    signal: Bools

    def side(self, window: int) -> Floats:
        """Of each series in one window: 1 where it signals above, −1 below, 0 where it does not."""
        with np.errstate(invalid="ignore"):
            up = self.statistic[:, window] > self.upper[:, window]
        return np.where(self.signal[:, window], np.where(up, 1.0, -1.0), 0.0)


@dataclass(frozen=True)
class Family:
    """What is frozen before the first window is judged: the series, their baselines, and the limits for all of them.

    `phase_one` are the baseline's own windows, from which charts of single windows take their spread. `spared` are the
    baselines on rows that no one acted on; empty where that is not known.
    """

    series: tuple[Series, ...]
    baseline: tuple[Point, ...]
    phase_one: tuple[tuple[Point, ...], ...]  # [series][window]
    charts: tuple[str, ...]
    windows_a_year: int
    chance: float
    fast_start: bool
    spared: tuple[Point, ...] = ()

    def __post_init__(self) -> None:
        for name in self.charts:
            if name not in CHARTS:
                raise StudyError(f"lenses.drift.charts: '{name}' is not a known chart; {near(name, KNOWN_CHARTS)}.")
        if "cusum" in self.charts and self.windows_a_year > MOST_FOR_CUSUM:
            raise StudyError(
                f"lenses.drift.charts: a CUSUM adds up the baseline's own error over {self.windows_a_year} windows a "
                f"year, and no limit is left that a real change would reach (at most {MOST_FOR_CUSUM} windows). "
                "To fix: name longer windows, or the chart ewma."
            )

    def limits(self, watched: Points = ()) -> dict[str, float]:
        """The limit of each chart at which at most `chance` of stable years raise any signal in the whole family.

        The chance is shared evenly among the charts that are drawn. `watched` are the windows seen so far, or none yet
        and the baseline's own take their place: the largest, whose error hides least of the baseline's, decides. A year
        of few windows is held to its rate over a run of twelve, for a running mean that has only begun is quieter than
        it will be.
        """
        held = max(1, sum(point.known for point in self.baseline))
        run = max(self.windows_a_year, SHORTEST_RUN)
        chance = 1 - (1 - self.chance / max(1, len(self.charts))) ** (run / self.windows_a_year)
        seen = [window for window in _by_window(watched) if any(point.known for point in window)]
        ratio = _ratio(self.baseline, seen or _by_window(self.phase_one))
        return {name: _limit(name, held, run, chance, self.fast_start, ratio) for name in self.charts}

    def drawn(self, points: Points, limits: Mapping[str, float], z: Floats | None = None) -> list[Drawn]:
        """Every chart over the points [series][window] so far; `z` where they are known already."""
        known = self.departures(points) if z is None else z
        return [CHARTS[name](self, points, known, limits[name]) for name in self.charts]

    def latest(self, points: Points, limits: Mapping[str, float], z: Floats) -> Floats:
        """On which side each chart signals in the last window, [chart, series]; see `Drawn.side`."""
        last = [column[-1:] for column in points]
        found = [
            CHARTS[name](self, points, z, limits[name])
            if name in _REMEMBER
            else CHARTS[name](self, last, z[:, -1:], limits[name])
            for name in self.charts
        ]
        return np.array([chart.side(-1) for chart in found]).reshape(len(found), len(self.series))

    def departures(self, points: Points) -> Floats:
        """z of every series and window, NaN where either side is unknown."""
        z = np.full((len(self.series), len(points[0]) if points else 0), np.nan)
        for s, (series, base) in enumerate(zip(self.series, self.baseline, strict=True)):
            for w, now in enumerate(points[s]):
                if base.known and now.known:
                    z[s, w] = departure(series.metric, base, now).z
        return z

    def suited(self, chart: str) -> Bools:
        """Which series a chart can follow: shares for p and p′, those with enough baseline windows for XmR and p′."""
        known = np.array([point.known for point in self.baseline], dtype=bool)
        return known & ~np.isnan(_spreads(self, chart)) if chart not in _REMEMBER else known


@lru_cache(maxsize=256)
def _limit(chart: str, series: int, windows: int, chance: float, fast_start: bool, ratio: float) -> float:
    if chart == "cusum":
        return cusum_family_limit(series, windows, chance=chance, baseline_windows=ratio)
    if chart == "ewma":
        return family_limit(series, windows, chance=chance, fast_start=fast_start, baseline_windows=ratio)
    # A chart of single windows is an EWMA that forgets everything.
    return family_limit(series, windows, weight=1.0, chance=chance, baseline_windows=ratio)


def _by_window(points: Points) -> list[tuple[Point, ...]]:
    return list(zip(*points, strict=True)) if points else []


def _ratio(baseline: Sequence[Point], windows: Sequence[Sequence[Point]]) -> float:
    """How many windows' worth of information the baseline holds, by its largest window.

    Of each window the median over the series is taken, since the standard errors of one series are noisy themselves;
    of the windows the least. Whole windows, so that few limits need solving.
    """
    found = []
    for window in windows:
        pairs = zip(window, baseline, strict=True)
        known = [
            (now.chart_se / base.chart_se) ** 2 for now, base in pairs if now.known and base.known and base.chart_se
        ]
        if known:
            found.append(float(np.median(known)))
    ratio = min(found, default=float(max(1, len(windows))))
    return max(LEAST_RATIO, float(np.floor(ratio + 1e-6)) if ratio >= 1 else ratio)


def _ewma(family: Family, points: Points, z: Floats, limit: float) -> Drawn:
    chart = control_charts.ewma(z, limit=limit, fast_start=family.fast_start)
    return Drawn("ewma", limit, chart.statistic, chart.lower, chart.upper, chart.signal)


def _cusum(family: Family, points: Points, z: Floats, limit: float) -> Drawn:
    chart = control_charts.cusum(z, limit=limit)
    return Drawn("cusum", limit, chart.statistic, chart.lower, chart.upper, chart.signal)


def _xmr(family: Family, points: Points, z: Floats, limit: float) -> Drawn:
    """Individual values against the moving ranges of the baseline's windows.

    A spread from a handful of ranges is itself uncertain, which a normal limit does not know; so the limit is that at
    which as many stable years stay quiet when the spread is estimated as the normal one promised.
    """
    spread, middle = _spreads(family, "xmr"), np.full(len(family.series), np.nan)
    for row in np.flatnonzero(~np.isnan(spread)).tolist():
        values = _values(family.phase_one[row])
        ranges, windows = int(np.sum(~np.isnan(np.diff(values)))), int(np.sum(~np.isnan(values)))
        middle[row] = np.nanmean(values)
        spread[row] *= _wider(limit, _DF_OF_RANGE * ranges, family.windows_a_year) / limit * np.sqrt(1 + 1 / windows)
    half = np.repeat((limit * spread)[:, None], z.shape[1], axis=1)
    return _single("xmr", points, limit, middle, half)


@lru_cache(maxsize=256)
def _wider(limit: float, df: float, windows: int) -> float:
    """The limit for a spread of so many degrees of freedom, at which a stable series stays within it for so many
    windows as often as it stays within the normal one. The windows share the error of their spread."""
    at, mass = special.roots_legendre(200)
    share, mass = ((at + 1) / 2) ** 4, 2 * mass * ((at + 1) / 2) ** 3  # most points where the spread is far too small
    spread = np.sqrt(2 * special.gammaincinv(df / 2, share) / df)
    wanted = (1 - 2 * special.ndtr(-limit)) ** windows
    return solve_limit(
        lambda wide: float(mass @ (1 - 2 * special.ndtr(-wide * spread)) ** windows), wanted, start=limit
    )


def _p(family: Family, points: Points, z: Floats, limit: float) -> Drawn:
    """Shares against the baseline's, at the size of each window."""
    return _shares("p", family, points, limit)


def _p_prime(family: Family, points: Points, z: Floats, limit: float) -> Drawn:
    """Laney's chart: limits widened by how much more the baseline's windows vary than counts would."""
    return _shares("p_prime", family, points, limit)


def _shares(chart: str, family: Family, points: Points, limit: float) -> Drawn:
    spread = _spreads(family, chart)
    half = np.full((len(family.series), len(points[0]) if points else 0), np.nan)
    for row in np.flatnonzero(~np.isnan(spread)).tolist():
        errors = [share_error(family.baseline[row], now) if now.known else np.nan for now in points[row]]
        half[row] = limit * spread[row] * np.array(errors)
    found = _single(chart, points, limit, np.array([base.value for base in family.baseline]), half)
    return Drawn(
        chart, limit, found.statistic, np.maximum(0.0, found.lower), np.minimum(1.0, found.upper), found.signal
    )


def _spreads(family: Family, chart: str) -> Floats:
    """What a chart of single windows takes from the baseline for each series: the standard deviation of XmR, σ_z of the
    charts of shares (1 for p). NaN where the chart does not suit the series."""
    found = np.full(len(family.series), np.nan)
    for row, (series, base) in enumerate(zip(family.series, family.baseline, strict=True)):
        if base.known and (chart == "xmr" or (is_share(series.metric) and not series.gap)):
            found[row] = 1.0 if chart == "p" else _spread(chart, base, family.phase_one[row])
    return found


def _spread(chart: str, base: Point, windows: Sequence[Point]) -> float:
    values = _values(windows)
    if np.sum(~np.isnan(np.diff(values))) < FEWEST_RANGES:
        return np.nan
    if chart == "xmr":
        spread = float(baselines.xmr_baseline(values).sd)
        return spread if spread > 0 else np.nan
    if not 0 < base.value < 1:
        return np.nan
    sizes = np.array([point.n if point.known else np.nan for point in windows])
    events = np.minimum(values * sizes, sizes)
    return max(1.0, float(baselines.laney_sigma_z(events, sizes, baseline=base.value)))


def _values(windows: Sequence[Point]) -> Floats:
    return np.array([point.value if point.known else np.nan for point in windows])


def _single(chart: str, points: Points, limit: float, middle: Floats, half: Floats) -> Drawn:
    """A chart that judges each window by itself; a series that it does not suit stays empty."""
    statistic = np.array([_values(row) for row in points]).reshape(half.shape)
    statistic = np.where(np.isnan(half), np.nan, statistic)
    lower, upper = middle[:, None] - half, middle[:, None] + half
    with np.errstate(invalid="ignore"):
        signal = (statistic < lower) | (statistic > upper)
    lower, upper = (np.where(np.isnan(statistic), np.nan, end) for end in (lower, upper))
    return Drawn(chart, limit, statistic, lower, upper, signal)


_REMEMBER = ("ewma", "cusum")  # charts whose statistic holds earlier windows too

CHARTS: Mapping[str, Callable[[Family, Points, Floats, float], Drawn]] = {
    "ewma": _ewma,
    "cusum": _cusum,
    "xmr": _xmr,
    "p": _p,
    "p_prime": _p_prime,
}
KNOWN_CHARTS = (*CHARTS, "ra_cusum")
