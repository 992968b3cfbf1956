"""Watching: a frozen baseline and what has been seen since. One window after another is added, and the rows of a window
are not kept, so that a year of them costs no more memory than a month."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from workup.errors import InputError
from workup.lenses.drift.alerts import Alerts, Finding, Severity
from workup.lenses.drift.charts import Family
from workup.lenses.drift.series import Departure, Point, Series, departure, points
from workup.lenses.drift.windows import Minimum
from workup.metric import Concern
from workup.scores import Scores
from workup.stats.arrays import Floats

ACTED = "acted"
TOO_LITTLE = Point(status="insufficient", reason="the window holds too little")
TOO_YOUNG = Point(status="immature", reason="its outcomes are not all known yet")


def not_acted_on(scores: Scores) -> Scores:
    """The rows that no one acted on. A row of which that is not known is not among them."""
    return scores.take(np.flatnonzero(scores.values[ACTED] == 0))


def reaches(effect: float, limit: float) -> bool:
    """Is a change as large as its limit? 0.9 less 0.8 falls short of 0.1 in binary, and must not in a report."""
    return abs(effect) >= limit - 1e-9


@dataclass(frozen=True, eq=False)
class Watching:
    """The state of a monitor. `after` answers the state once one more window has been seen."""

    family: Family
    limits: Mapping[str, float]  # of each chart
    minimum: Minimum
    concerns: Mapping[str, Concern]  # by metric, where a study names its own
    gap: Concern | None = None  # of gaps, where a study names its own
    names: tuple[str, ...] = ()
    points: tuple[tuple[Point, ...], ...] = ()  # [series][window]
    z: Floats = field(default_factory=lambda: np.empty((0, 0)))  # [series, window]
    held_back: tuple[Mapping[str, Any], ...] = ()  # what would have fired had rows that were acted on been enough
    alerts: Alerts = field(default_factory=Alerts)

    @classmethod
    def start(
        cls,
        family: Family,
        *,
        minimum: Minimum,
        concerns: Mapping[str, Concern],
        quiet_windows: int,
        gap: Concern | None = None,
    ) -> Watching:
        """Freeze the limits; nothing has been seen yet."""
        return cls(
            family,
            family.limits(),
            minimum,
            concerns,
            gap,
            points=tuple(() for _ in family.series),
            z=np.empty((len(family.series), 0)),
            alerts=Alerts(quiet_windows),
        )

    def after(
        self,
        name: str,
        scores: Scores | None,
        *,
        more: Sequence[Finding] = (),
        unknown: Point = TOO_LITTLE,
        withheld: Collection[tuple[str, str]] = (),
    ) -> Watching:
        """One more window; without scores it is not judged, for the reason that `unknown` bears.

        `more` are findings of other kinds in that window. A window larger than all before it widens the limits. Groups
        that are `withheld` in it, by column and level, are not looked at.
        """
        if name in self.names:
            raise InputError(
                f"each window is given once, under a name of its own; '{name}' was seen before",
                remedy="give every window its own name, and a window whose rows came late only when it is whole",
            )
        series = self.family.series
        now = [unknown] * len(series) if scores is None else points(series, scores, self.minimum, withheld)
        moved = [
            departure(one.metric, base, point) if base.known and point.known else None
            for one, base, point in zip(series, self.family.baseline, now, strict=True)
        ]
        column = np.array([[np.nan if one is None else one.z] for one in moved]).reshape(len(series), 1)
        seen = tuple((*before, point) for before, point in zip(self.points, now, strict=True))
        z = np.concatenate([self.z, column], axis=1)
        limits = self.family.limits(seen)
        side = self.family.latest(seen, limits, z)
        findings, back = self._findings(name, scores, now, moved, side)
        return replace(
            self,
            limits=limits,
            names=(*self.names, name),
            points=seen,
            z=z,
            held_back=(*self.held_back, *back),
            alerts=self.alerts.after([*findings, *more]),
        )

    def concern(self, series: Series) -> Concern:
        """Which change of a series matters."""
        if series.gap:
            return self.gap or series.concern
        return self.concerns.get(series.metric.name, series.concern)

    def least(self, series: Series) -> float:
        """The smallest change of a series that can raise an alert."""
        concern = self.concern(series)
        return concern.in_group if series.key and not series.gap else concern.medium

    def _findings(
        self,
        name: str,
        scores: Scores | None,
        now: Sequence[Point],
        moved: Sequence[Departure | None],
        side: Floats,
    ) -> tuple[list[Finding], list[Mapping[str, Any]]]:
        family = self.family
        fires = [self._fires(s, now[s], moved[s], side[:, s]) for s in range(len(family.series))]
        doubts: dict[int, str] = {}
        if scores is not None and ACTED in scores.values:
            firing = [s for s, one in enumerate(fires) if one]
            spared = points([family.series[s] for s in firing], not_acted_on(scores), self.minimum) if firing else []
            doubts = {s: doubt for s, point in zip(firing, spared, strict=True) if (doubt := self._doubt(s, point))}
        found: list[Finding] = []
        back: list[Mapping[str, Any]] = []
        for s, series in enumerate(family.series):
            change = moved[s]
            if change is None:
                found.append(Finding(series.type, series.metric.name, series.slice, name, None))
                continue
            if s in doubts:  # neither an alert nor a quiet window: what was done may be all there is to see
                back.append(_held_back(series, name, change, doubts[s]))
            found.append(
                self._finding(series, name, None if s in doubts else fires[s], family.baseline[s], now[s], change)
            )
        return found, back

    def _fires(self, s: int, now: Point, moved: Departure | None, side: Floats) -> bool | None:
        """Does a chart signal on the side of the change, and does the change matter? None where that is not known.

        A chart that signals improvement is no ground for alarm at one bad window.
        """
        if moved is None:
            return None
        signals = moved.effect != 0 and bool(np.any(side == np.sign(moved.effect)))
        return signals and self._matters(self.family.series[s], self.family.baseline[s], now, moved)

    def _matters(self, series: Series, base: Point, now: Point, moved: Departure) -> bool:
        """Is the change for the worse, as large as its limit, and does its interval exclude none?"""
        low, high = moved.ends
        large = reaches(moved.effect, self.least(series))
        return large and (low > 0 or high < 0) and series.harmful(base, now)

    def _doubt(self, s: int, now: Point) -> str:
        """Why the change may be due to what was done: it does not show in rows that no one acted on. Else nothing.

        Those rows are compared with the like rows of the baseline: who is not acted on differs from everyone always.
        """
        series, base = self.family.series[s], (self.family.spared or self.family.baseline)[s]
        if not now.known:
            return f"too few rows were not acted on: {now.reason}"
        if not base.known:
            return f"too few rows of the baseline were not acted on: {base.reason}"
        moved = departure(series.metric, base, now)
        if self._matters(series, base, now, moved):
            return ""
        low, high = moved.ends
        return f"rows that were not acted on changed by {moved.effect:+.3g} ({low:+.3g} to {high:+.3g})"

    def _finding(
        self, series: Series, name: str, fires: bool | None, base: Point, now: Point, moved: Departure
    ) -> Finding:
        severity: Severity = "high" if reaches(moved.effect, self.concern(series).high) else "medium"
        what = "gap in " + series.metric.name if series.gap else series.metric.name
        low, high = moved.ends
        message = (
            f"{what} {now.value:.3g} against {base.value:.3g} in the baseline: a change of {moved.effect:+.3g} "
            f"(95 % interval {low:+.3g} to {high:+.3g})"
        )
        return Finding(series.type, series.metric.name, series.slice, name, fires, moved.effect, severity, message)

    def states(self) -> Iterator[dict[str, Any]]:
        """Every chart, series and window as the record holds them."""
        for chart in self.family.drawn(self.points, self.limits, self.z):
            suited = self.family.suited(chart.chart)
            for s, series in enumerate(self.family.series):
                base = self.family.baseline[s]
                if base.known and not suited[s]:
                    continue
                for w, point in enumerate(self.points[s]):
                    yield {
                        "chart": chart.chart,
                        "type": series.type,
                        "metric": series.metric.name,
                        "slice": series.slice,
                        "window": self.names[w],
                        "value": point.value,
                        "se": point.se,
                        "baseline": base.value,
                        "z": self.z[s, w],
                        # A series without a baseline is on no chart: the 0 at which its sum rests would be a lie.
                        "statistic": chart.statistic[s, w] if base.known else np.nan,
                        "lower": chart.lower[s, w] if base.known else np.nan,
                        "upper": chart.upper[s, w] if base.known else np.nan,
                        "limit": chart.limit,
                        "signal": bool(chart.signal[s, w]),
                        "status": point.status if base.known else base.status,
                        "reason": point.reason if base.known else f"no baseline: {base.reason}",
                    }


def _held_back(series: Series, name: str, moved: Departure, reason: str) -> dict[str, Any]:
    return {
        "type": series.type,
        "metric": series.metric.name,
        "slice": series.slice,
        "window": name,
        "effect": moved.effect,
        "reason": reason,
    }
