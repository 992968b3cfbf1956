"""Watching: a frozen baseline and what has been seen since. One window after another is added, and the rows of a window
are not kept, so that a year of them costs no more memory than a month."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from workup.lenses.alerts import Alerts, Finding, Severity
from workup.lenses.charting import Drawn, Family
from workup.lenses.series import Departure, Point, Series, departure
from workup.lenses.windows import Minimum
from workup.metric import Concern
from workup.scores import Scores

ACTED = "acted"


@dataclass(frozen=True)
class Watching:
    """The state of a monitor. `after` answers the state once one more window has been seen."""

    family: Family
    limits: Mapping[str, float]  # of each chart
    minimum: Minimum
    concerns: Mapping[str, Concern]  # by metric, where a study names its own
    names: tuple[str, ...] = ()
    points: tuple[tuple[Point, ...], ...] = ()  # [series][window]
    held_back: tuple[Mapping[str, Any], ...] = ()  # what would have fired had rows that were acted on been enough
    alerts: Alerts = field(default_factory=Alerts)

    @classmethod
    def start(
        cls, family: Family, *, minimum: Minimum, concerns: Mapping[str, Concern], quiet_windows: int
    ) -> Watching:
        """Freeze the limits; nothing has been seen yet."""
        return cls(
            family,
            family.limits(),
            minimum,
            concerns,
            points=tuple(() for _ in family.series),
            alerts=Alerts(quiet_windows),
        )

    def after(self, name: str, scores: Scores | None, *, more: Sequence[Finding] = ()) -> Watching:
        """One more window; None for one that held too little. `more` are findings of other kinds in that window."""
        now = [
            Point(status="insufficient", reason="the window holds too little")
            if scores is None
            else series.point(scores, self.minimum)
            for series in self.family.series
        ]
        points = tuple((*before, point) for before, point in zip(self.points, now, strict=True))
        drawn = self.family.drawn(points, self.limits)
        findings, back = self._findings(name, scores, now, drawn)
        return replace(
            self,
            names=(*self.names, name),
            points=points,
            held_back=(*self.held_back, *back),
            alerts=self.alerts.after([*findings, *more]),
        )

    def concern(self, series: Series) -> Concern:
        """Which change of a series matters."""
        return series.concern if series.gap else self.concerns.get(series.metric.name, series.concern)

    def _findings(
        self, name: str, scores: Scores | None, now: Sequence[Point], drawn: Sequence[Drawn]
    ) -> tuple[list[Finding], list[Mapping[str, Any]]]:
        found: list[Finding] = []
        back: list[Mapping[str, Any]] = []
        for s, series in enumerate(self.family.series):
            base = self.family.baseline[s]
            if not (base.known and now[s].known):
                found.append(Finding(series.type, series.metric.name, series.slice, name, None))
                continue
            moved = departure(series.metric, base, now[s])
            signals = any(chart.signal[s, -1] for chart in drawn)
            fires = signals and self._matters(series, base, now[s], moved)
            if fires and scores is not None and ACTED in scores.values and not series.gap:
                spared = self._without_acted(series, scores, base)
                if spared is not True:
                    fires = False
                    back.append(_held_back(series, name, moved, spared))
            found.append(self._finding(series, name, fires, base, now[s], moved))
        return found, back

    def _matters(self, series: Series, base: Point, now: Point, moved: Departure) -> bool:
        """Is the change for the worse, as large as its limit, and does its interval exclude none?"""
        low, high = moved.ends
        large = abs(moved.effect) >= self._least(series)
        return large and (low > 0 or high < 0) and series.harmful(base, now)

    def _least(self, series: Series) -> float:
        concern = self.concern(series)
        return concern.in_group if series.key and not series.gap else concern.medium

    def _without_acted(self, series: Series, scores: Scores, base: Point) -> bool | str:
        """Does the change show in rows that no one acted on? A sentence where those are too few to tell."""
        spared = scores.take(np.flatnonzero(~(scores.values[ACTED] > 0)))
        point = series.point(spared, self.minimum)
        if not point.known:
            return f"too few rows were not acted on: {point.reason}"
        moved = departure(series.metric, base, point)
        if abs(moved.effect) >= self._least(series) and series.harmful(base, point):
            return True
        return f"rows that were not acted on changed by {moved.effect:+.3g} only"

    def _finding(self, series: Series, name: str, fires: bool, base: Point, now: Point, moved: Departure) -> Finding:
        severity: Severity = "high" if abs(moved.effect) >= self.concern(series).high else "medium"
        what = "gap in " + series.metric.name if series.gap else series.metric.name
        low, high = moved.ends
        message = (
            f"{what} {now.value:.3g} against {base.value:.3g} in the baseline: a change of {moved.effect:+.3g} "
            f"(95 % interval {low:+.3g} to {high:+.3g})"
        )
        return Finding(series.type, series.metric.name, series.slice, name, fires, moved.effect, severity, message)

    def states(self) -> Iterator[dict[str, Any]]:
        """Every chart, series and window as the record holds them."""
        z = self.family.departures(self.points)
        for chart in self.family.drawn(self.points, self.limits):
            for s, series in enumerate(self.family.series):
                if np.isnan(chart.statistic[s]).all() and chart.chart != "ewma":
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
                        "baseline": self.family.baseline[s].value,
                        "z": z[s, w],
                        "statistic": chart.statistic[s, w],
                        "lower": chart.lower[s, w],
                        "upper": chart.upper[s, w],
                        "limit": chart.limit,
                        "signal": bool(chart.signal[s, w]),
                        "status": point.status,
                        "reason": point.reason,
                    }


def _held_back(series: Series, name: str, moved: Departure, reason: bool | str) -> dict[str, Any]:
    return {
        "metric": series.metric.name,
        "slice": series.slice,
        "window": name,
        "effect": moved.effect,
        "reason": str(reason),
    }
