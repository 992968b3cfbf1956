"""A line of the plan, watched: its baseline frozen, one window after another seen by the drift lens, a window restated.

All judging is the lens's. Here it is decided what the lens is asked, and its answers are made into rows to keep.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workup.errors import StudyError
from workup.lenses.drift.alerts import Alerts
from workup.lenses.drift.charts import Family
from workup.lenses.drift.monitor.state import ACTED, Watching, not_acted_on
from workup.lenses.drift.monitor.stream import Monitor
from workup.lenses.drift.risk_adjusted_chart import NAME as RISK_ADJUSTED
from workup.lenses.drift.series import Point, Series, points
from workup.metric import Metric
from workup.monitor.plan import Line, Plan, check_known
from workup.report import canonical
from workup.scores import Scores
from workup.stats.intervals import z_critical

ALL, NOT_ACTED = "all", "not acted on"
_SHARE = "logit"  # the scale of metrics that lie between 0 and 1


@dataclass(frozen=True, eq=False)
class Watch:
    """One line with the lens's state of it. `after` answers the next state; nothing is changed in place."""

    key: str
    kind: str  # integrity, or empty where each series has its own (performance, fairness)
    monitor: Monitor

    def stored(self) -> dict[str, Any]:
        """The state as plain JSON."""
        return self.monitor.stored()

    @property
    def windows(self) -> int:
        """How many windows it has seen."""
        return len(self.monitor.watching.names)

    def after(self, window: str, scores: Scores, *, over: Collection[tuple[str, int]] = ()) -> Watch:
        """One more window. Alerts that people declared to be `over`, by cause and relapse, are so for the lens too."""
        monitor = self.monitor
        held = monitor.watching.alerts.held
        ended = {
            cause: replace(alert, state="resolved")
            for cause, alert in held.items()
            if (cause, alert.relapses) in over and alert.state != "resolved"
        }
        if ended:
            alerts = replace(monitor.watching.alerts, held={**held, **ended})
            monitor = replace(monitor, watching=replace(monitor.watching, alerts=alerts))
        return replace(self, monitor=monitor.after(window, scores))

    def restated(self, window: str, scores: Scores) -> Watch:
        """The same with one window seen anew. Charts go on from the new figures; alerts stay as they are."""
        watching = self.monitor.watching
        at = watching.names.index(window)
        anew = replace(self.monitor, watching=_unseen(watching)).after(window, scores)
        seen = tuple(
            (*before[:at], now[0], *before[at + 1 :])
            for before, now in zip(watching.points, anew.watching.points, strict=True)
        )
        z = np.concatenate([watching.z[:, :at], anew.watching.z, watching.z[:, at + 1 :]], axis=1)
        own = tuple(anew.windows[-1] if one["window"] == window else one for one in self.monitor.windows)
        return replace(self, monitor=replace(self.monitor, watching=replace(watching, points=seen, z=z), windows=own))

    def begun_anew(self) -> Watch:
        """The same baseline with no window seen."""
        adjusted = None if self.monitor.adjusted is None else replace(self.monitor.adjusted, up=0.0, down=0.0)
        monitor = replace(self.monitor, watching=_unseen(self.monitor.watching), adjusted=adjusted)
        monitor = replace(monitor, adjusted_states=(), input_rows=())
        return replace(self, monitor=replace(monitor, windows=(), unseen={}))

    def alerts(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Every alert that the lens holds: the part of its key that is its own, and what is known of it."""
        for cause, alert in self.monitor.watching.alerts.held.items():
            yield (
                {"watch": self.key, "cause": cause, "relapse": alert.relapses},
                {
                    "kind": self.kind or alert.type,
                    "metric": alert.metric,
                    "slice": canonical(dict(alert.slice)),
                    "state": alert.state,
                    "severity": alert.severity,
                    "effect": alert.effect,
                    "message": alert.message,
                    "opened_window": alert.window,
                    "last_window": alert.last_window,
                    "quiet": alert.quiet,
                    "resolved_window": alert.resolved_window,
                },
            )

    def estimates(self, window: str, scores: Scores | None) -> Iterator[dict[str, Any]]:
        """What a window shows: every chart of every series, and the same figure in rows that no one acted on."""
        at = {(one.metric.name, canonical(one.slice), one.type): one for one in self.monitor.watching.family.series}
        for state in self.monitor.states():
            if state["window"] == window:
                series = at.get((state["metric"], canonical(dict(state["slice"])), state["type"]))
                yield self._row(state, series)
        for row in self.monitor.input_rows:
            if row["window"] == window:
                yield self._input(row)
        if scores is not None and ACTED in scores.values:
            family = self.monitor.watching.family
            spared = points(family.series, not_acted_on(scores), self.monitor.watching.minimum)
            baselines = family.spared or (Point(status="insufficient"),) * len(family.series)
            for series, point, base in zip(family.series, spared, baselines, strict=True):
                yield self._apart(series, point, base)

    def _row(self, state: Mapping[str, Any], series: Series | None) -> dict[str, Any]:
        value, low, high = _ends(state["value"], state["se"], None if series is None else series)
        return {
            "watch": self.key,
            "kind": self.kind or state["type"],
            "metric": state["metric"],
            "slice": canonical(dict(state["slice"])),
            "part": ALL,
            "value": value,
            "low": low,
            "high": high,
            "n": None,
            "baseline": _number(state["baseline"]),
            "chart": state["chart"],
            "statistic": _number(state["statistic"]),
            "lower": _number(state["lower"]),
            "upper": _number(state["upper"]),
            "signal": int(bool(state["signal"])),
            "status": state["status"],
            "reason": state["reason"],
        }

    def _apart(self, series: Series, point: Point, base: Point) -> dict[str, Any]:
        value, low, high = _ends(point.value, point.se, series)
        return {
            "watch": self.key,
            "kind": self.kind or series.type,
            "metric": series.metric.name,
            "slice": canonical(series.slice),
            "part": NOT_ACTED,
            "value": value,
            "low": low,
            "high": high,
            "n": _number(point.n),
            "baseline": _number(base.value),
            "chart": "",
            "statistic": None,
            "lower": None,
            "upper": None,
            "signal": None,
            "status": point.status,
            "reason": point.reason,
        }

    def _input(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "watch": self.key,
            "kind": "integrity",
            "metric": str(row["input"]),
            "slice": canonical({"test": row.get("test")}),
            "part": ALL,
            "value": _number(row.get("effect")),
            "low": None,
            "high": None,
            "n": None,
            "baseline": None,
            "chart": "",
            "statistic": _number(row.get("p_adjusted")),
            "lower": None,
            "upper": _number(row.get("limit")),
            "signal": int(bool(row.get("flagged"))),
            "status": str(row.get("status") or "ok"),
            "reason": str(row.get("reason") or ""),
        }


def key_of(line: Line, plan: Plan) -> str:
    """What tells one line from another in the store: all that the lens is asked, and not who answers for it."""
    asked = line.model_dump(mode="json", exclude={"owner", "action", "escalation"})
    said = [asked, plan.cadence_of(line), plan.chance, plan.quiet, plan.minimum.model_dump(mode="json")]
    return hashlib.sha256(canonical(said).encode()).hexdigest()[:16]


def frozen(line: Line, plan: Plan, baseline: Scores, metrics: Sequence[Metric], *, chance: float) -> Watch:
    """A line with its baseline frozen; no window has been seen."""
    check_known(line, list(dict.fromkeys(metric.name for metric in metrics)))
    chosen = [replace(m, parity=True) if line.gap else m for m in metrics if _meant(m, line)]
    if not chosen:
        raise StudyError(f"watch: '{line.metric}' is not measured at {line.at}. To fix: name a threshold of the plan.")
    if any(metric.whole_study for metric in chosen):
        raise StudyError(
            f"watch: '{line.metric}' rests on knots or bins of a whole study, which a window has not. "
            "To fix: follow another metric, such as calibration_slope or oe_ratio."
        )
    high = line.high or 2 * line.limit
    limit = {"medium": line.limit, "high": high, "in_group": line.limit}
    settings = {
        "window": plan.cadence_of(line),
        "metrics": [line.metric],
        "by": [] if line.column is None else [line.column],
        "charts": [line.chart],
        "chance": chance,
        "minimum": plan.minimum.model_dump(),
        "quiet": plan.quiet,
        "limits": {line.metric: limit},
        "gap": limit,
    }
    monitor = Monitor.start(baseline, chosen, settings=settings)
    return Watch(key_of(line, plan), "", _only(monitor, line))


def restored(key: str, kind: str, state: Mapping[str, Any], metrics: Sequence[Metric]) -> Watch:
    """A watch from what was stored."""
    return Watch(key, kind, Monitor.restored(state, metrics))


def _meant(metric: Metric, line: Line) -> bool:
    return metric.name == line.metric and all(metric.at.get(name) == value for name, value in line.at.items())


def _only(monitor: Monitor, line: Line) -> Monitor:
    """The monitor with the series of the line and no others, so that limits allow for those alone."""
    family = monitor.watching.family
    kept = [s for s, one in enumerate(family.series) if _asked(one, line)]
    if not kept:
        raise StudyError(f"watch: '{line.said}' follows nothing: the baseline holds no such group.")
    if line.chart == RISK_ADJUSTED and line.column is not None:
        raise StudyError(f"watch: the chart '{RISK_ADJUSTED}' follows everyone, not '{line.said}'.")
    narrowed = Family(
        tuple(family.series[s] for s in kept),
        tuple(family.baseline[s] for s in kept),
        tuple(family.phase_one[s] for s in kept),
        family.charts,
        family.windows_a_year,
        family.chance,
        family.fast_start,
        tuple(family.spared[s] for s in kept) if family.spared else (),
    )
    watching = monitor.watching
    started = Watching.start(
        narrowed,
        minimum=watching.minimum,
        concerns=watching.concerns,
        quiet_windows=watching.alerts.quiet_windows,
        gap=watching.gap,
    )
    return replace(monitor, watching=started)


def _asked(series: Series, line: Line) -> bool:
    if line.gap:
        return series.gap
    if line.group:
        return not series.gap and dict(series.key) == line.group
    return not series.gap and bool(series.key) == bool(line.by)


def _unseen(watching: Watching) -> Watching:
    return replace(
        watching,
        names=(),
        points=tuple(() for _ in watching.family.series),
        z=np.empty((len(watching.family.series), 0)),
        held_back=(),
        alerts=Alerts(watching.alerts.quiet_windows),
    )


def _ends(value: float, se: float, series: Series | None) -> tuple[float | None, float | None, float | None]:
    """A value with the ends of its 95 % interval; a share, though not a gap between shares, stays between 0 and 1."""
    if not np.isfinite(value) or not np.isfinite(se):
        return _number(value), None, None
    low, high = value - z_critical(0.95) * se, value + z_critical(0.95) * se
    if series is not None and series.metric.scale == _SHARE and not series.gap:
        low, high = max(0.0, low), min(1.0, high)
    return float(value), float(low), float(high)


def _number(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)
