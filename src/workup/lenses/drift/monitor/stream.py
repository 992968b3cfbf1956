"""A monitor that sees one window after another and keeps no row of any: a frozen baseline, limits, points and alerts.

The drift lens is this monitor run over the windows of a table, so both give the same charts and alerts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from workup.errors import InputError, StudyError
from workup.lenses.drift.alerts import Finding
from workup.lenses.drift.charts import Family
from workup.lenses.drift.inputs import MISSING_SUFFIX, InputReference
from workup.lenses.drift.monitor import stored
from workup.lenses.drift.monitor.state import ACTED, TOO_LITTLE, TOO_YOUNG, Watching, not_acted_on
from workup.lenses.drift.risk_adjusted_chart import NAME, RiskAdjusted
from workup.lenses.drift.series import WITHHELD, every_series, points
from workup.lenses.drift.settings import Settings
from workup.lenses.drift.windows import Window
from workup.lenses.drift.windows import windows as windows_of
from workup.metric import Metric
from workup.report import LensResult
from workup.scores import Scores

FEEDBACK = (
    "Some rows were acted on. What was done changed what happened, so the figures of all rows understate the system, "
    "and those of rows not acted on are of other patients: neither is the untreated truth."
)


@dataclass(frozen=True, eq=False)
class Monitor:
    """The state of the watch over one system. `after` answers the next state; nothing is changed in place.

    >>> from workup.metric import ratio
    >>> found = ratio("found", lambda s: s["hit"], lambda s: np.ones(len(s)), describe="share found")
    >>> def month(number, share):
    ...     day = np.datetime64("2024-01-15", "us") + np.timedelta64(30 * number, "D")
    ...     return Scores.of({"hit": np.arange(1000) < 1000 * share}, time=np.full(1000, day))
    >>> frozen = Scores.of({"hit": np.arange(6000) % 10 < 9}, time=np.repeat(month(0, 1).time[:6], 1000)
    ...                    + np.repeat(np.arange(6), 1000) * np.timedelta64(30, "D"))
    >>> monitor = Monitor.start(frozen, [found], settings={})
    >>> for number, share in ((6, 0.90), (7, 0.70), (8, 0.70)):
    ...     monitor = monitor.after(f"month {number}", month(number, share))
    >>> [(alert["metric"], alert["window"], alert["severity"]) for alert in monitor.result().alerts]
    [('found', 'month 7', 'high')]
    """

    settings: Settings
    metrics: tuple[Metric, ...]
    by: tuple[str, ...]
    watching: Watching
    inputs: InputReference
    adjusted: RiskAdjusted | None = None
    adjusted_states: tuple[Mapping[str, Any], ...] = ()
    input_rows: tuple[Mapping[str, Any], ...] = ()
    windows: tuple[Mapping[str, Any], ...] = ()
    unseen: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # levels that the baseline never held
    acted: bool = False

    @classmethod
    def start(
        cls,
        baseline: Scores,
        metrics: Sequence[Metric],
        *,
        settings: Settings | Mapping[str, Any],
        windows: Sequence[Window] | int | None = None,
        seed: int = 0,
        keep: Literal["binned", "exact"] = "binned",
        withheld: Collection[tuple[str, str]] = (),
    ) -> Monitor:
        """Freeze a baseline. `windows` are its own windows, or their number; as the settings cut them when absent.

        `keep="exact"` holds the inputs of the baseline whole, which can be compared but not stored. Groups that are
        `withheld`, by column and level, have no baseline.
        """
        chosen = settings if isinstance(settings, Settings) else Settings.checked(settings, where="lenses.drift")
        followed, by, minimum = tuple(chosen.followed(metrics)), chosen.columns(baseline), chosen.least
        events = _events(followed)
        lacking = minimum.lacking(baseline, events)
        if lacking:
            raise StudyError(
                f"lenses.drift: the baseline holds too little to judge by: {lacking}. "
                "To fix: let it end later (baseline), or lower 'minimum' if so little must do."
            )
        own = _own_windows(baseline, windows, chosen)
        family = _family(baseline, own, followed, by, chosen, withheld)
        concerns = {name: part.concern for name, part in chosen.limits.items()}
        watching = Watching.start(
            family,
            minimum=minimum,
            concerns=concerns,
            quiet_windows=chosen.quiet,
            gap=None if chosen.gap is None else chosen.gap.concern,
        )
        return cls(
            chosen,
            followed,
            by,
            watching,
            InputReference.of(baseline, limits=chosen.inputs, seed=seed, keep=keep),
            _adjusted(baseline, events, len(baseline) / len(own), chosen, family, seed),
            acted=ACTED in baseline.values,
        )

    @property
    def events(self) -> str | None:
        """The column that counts events, where the metrics have one."""
        return _events(self.metrics)

    def after(
        self,
        name: str,
        scores: Scores,
        *,
        mature: bool = True,
        latest: bool = False,
        withheld: Collection[tuple[str, str]] = (),
        inputs_withheld: Collection[str] = (),
    ) -> Monitor:
        """One more window: its rows, with those that wait for their answer as `scores.waiting`.

        A window that is not `mature` is compared in its inputs alone. `latest` asks for the tests of all inputs
        together, where the settings want them of the latest window only and the baseline was kept whole. Groups that
        are `withheld`, by column and level, and `inputs_withheld` are not looked at.
        """
        self._checked(scores)
        minimum, events = self.watching.minimum, self.events
        lacking = minimum.lacking(scores, events)
        chance = self.settings.chance / self.watching.family.windows_a_year
        inputs = [
            one
            for one in self.inputs.compared(name, scores, chance=chance, latest=latest)
            if str(one[0]["input"]).removesuffix(MISSING_SUFFIX) not in inputs_withheld
        ]
        more = [finding for _, finding in inputs]
        judged = scores if mature and not lacking else None
        adjusted, states = self.adjusted, self.adjusted_states
        back: list[dict[str, Any]] = []
        if adjusted is not None and judged is not None:
            adjusted, state, finding = adjusted.after(name, judged)
            states, more = (*states, state), [*more, finding]
            back = [_held_back(finding)] if finding.fires is None else []
        unknown = TOO_LITTLE if mature else TOO_YOUNG
        watching = self.watching.after(name, judged, more=more, unknown=unknown, withheld=withheld)
        return replace(
            self,
            watching=replace(watching, held_back=(*watching.held_back, *back)),
            adjusted=adjusted,
            adjusted_states=states,
            input_rows=(*self.input_rows, *(row for row, _ in inputs)),
            windows=(*self.windows, self._window(name, scores, "immature" if not mature else lacking)),
            unseen=self._unseen(scores),
            acted=self.acted or ACTED in scores.values,
        )

    def without(self, name: str) -> Monitor:
        """One more window of which nothing is looked at, so that no figure and no alert holds anything of it."""
        return replace(self, watching=self.watching.after(name, None, unknown=WITHHELD))

    def _checked(self, scores: Scores) -> None:
        for column in self.by:
            if column not in scores.groups:
                raise InputError(
                    "every window needs the groups of the baseline",
                    where=f"group '{column}'",
                    got="none in this window",
                    remedy="give the column, empty where it is not known",
                )
        if self.adjusted is not None and scores.time is None:
            raise InputError(f"the chart '{NAME}' needs the time of every row", got="a window without times")

    def _window(self, name: str, scores: Scores, lacking: str) -> dict[str, Any]:
        status = "immature" if lacking == "immature" else "insufficient" if lacking else "ok"
        events = self.events
        return {
            "window": name,
            "rows": len(scores),
            "patients": scores.n_patients,
            "events": None if events is None else int(np.count_nonzero(scores[events] > 0)),
            "waiting": 0 if scores.waiting is None else len(scores.waiting),
            "status": status,
            "reason": lacking if status == "insufficient" else "",
        }

    def _unseen(self, scores: Scores) -> dict[str, dict[str, int]]:
        found = {column: dict(levels) for column, levels in self.unseen.items()}
        known = {(column, level) for one in self.watching.family.series for column, level in one.key.items()}
        for column in self.by:
            for level, rows in scores.groups[column].masks():
                if rows.any() and (column, level) not in known:
                    held = found.setdefault(column, {})
                    held[level] = held.get(level, 0) + int(rows.sum())
        return found

    def acknowledged(self, cause: str) -> Monitor:
        """The same with one open alert marked as seen by someone."""
        return replace(self, watching=replace(self.watching, alerts=self.watching.alerts.acknowledged(cause)))

    def states(self) -> tuple[Mapping[str, Any], ...]:
        """Every chart, series and window so far."""
        return (*self.watching.states(), *self.adjusted_states)

    def notes(self) -> list[str]:
        """What a reader of the charts must know."""
        said = standing_notes(self.watching, self.settings)
        for column, levels in self.unseen.items():
            listed = ", ".join(f"{level} ({n} rows)" for level, n in sorted(levels.items())[:6])
            more = f" and {len(levels) - 6} more" if len(levels) > 6 else ""
            said.append(f"Not in the baseline, so not judged: {column} {listed}{more}.")
        return [*said, *self.inputs.notes(), *([FEEDBACK] if self.acted else [])]

    def result(self) -> LensResult:
        """Alerts, charts and inputs so far, as a report holds them."""
        return LensResult(
            lens="drift",
            settings=self.recorded_settings(),
            tables={
                "windows": list(self.windows),
                "inputs": list(self.input_rows),
                "held_back": list(self.watching.held_back),
            },
            notes=tuple(self.notes()),
            alerts=tuple(alert.as_row() for alert in self.watching.alerts.listed()),
            charts_state=self.states(),
        )

    def recorded_settings(self) -> dict[str, Any]:
        """The settings with what they came to."""
        names = list(dict.fromkeys(metric.name for metric in self.metrics))
        return self.settings.model_dump(mode="json") | {"by": list(self.by), "metrics": names}

    def stored(self) -> dict[str, Any]:
        """Everything needed to go on, as plain JSON; its size does not depend on how many rows were seen."""
        return stored.stored(stored.Fields(**vars(self)))

    @classmethod
    def restored(cls, data: Mapping[str, Any], metrics: Sequence[Metric]) -> Monitor:
        """A monitor from what was stored, and the metrics of its task."""
        return cls(*stored.restored(data, metrics))


def _events(metrics: Sequence[Metric]) -> str | None:
    return next((metric.events for metric in metrics if metric.events), None)


def _own_windows(baseline: Scores, given: Sequence[Window] | int | None, chosen: Settings) -> list[Window]:
    if given is None:
        return windows_of(baseline, size=chosen.window)
    if not isinstance(given, int):
        return list(given)
    if not 1 <= given <= len(baseline):
        raise InputError("the baseline is cut into at least one window, each with rows", got=f"{given} windows")
    return windows_of(baseline, size=-(-len(baseline) // given))


def _family(
    baseline: Scores,
    own: Sequence[Window],
    followed: Sequence[Metric],
    by: Sequence[str],
    chosen: Settings,
    withheld: Collection[tuple[str, str]],
) -> Family:
    series, minimum = tuple(every_series(baseline, followed, by)), chosen.least
    parts = [points(series, baseline.take(window.rows), minimum, withheld) for window in own]
    charts = tuple(chart for chart in chosen.charts if chart != NAME)
    family = Family(
        series,
        tuple(points(series, baseline, minimum, withheld)),
        tuple(tuple(part[s] for part in parts) for s in range(len(series))),
        charts,
        chosen.in_a_year(own),
        chosen.chance * len(charts) / len(chosen.charts),  # the rest of it is the risk-adjusted chart's
        chosen.fast_start,
        tuple(points(series, not_acted_on(baseline), minimum, withheld)) if ACTED in baseline.values else (),
    )
    if not any(point.known for point in family.baseline):
        raise StudyError(f"lenses.drift: no series has a baseline to judge by: {family.baseline[0].reason}.")
    for chart in charts:
        if not family.suited(chart).any():
            raise StudyError(
                f"lenses.drift.charts: '{chart}' suits none of the series: p and p_prime follow shares, xmr and "
                "p_prime need a baseline of several windows that hold enough. To fix: name 'ewma', which follows any."
            )
    return family


def _adjusted(
    baseline: Scores, events: str | None, rows: float, chosen: Settings, family: Family, seed: int
) -> RiskAdjusted | None:
    if NAME not in chosen.charts:
        return None
    return RiskAdjusted.start(
        baseline,
        events,
        rows_a_year=family.windows_a_year * rows,
        chance=chosen.chance / len(chosen.charts),
        seed=seed,
    )


def _held_back(finding: Finding) -> dict[str, Any]:
    return {
        "type": finding.type,
        "metric": finding.metric,
        "slice": finding.slice,
        "window": finding.window,
        "effect": finding.effect,
        "reason": finding.message,
    }


def standing_notes(watching: Watching, settings: Settings) -> list[str]:
    """How many series are followed, and which are not."""
    family = watching.family
    held = sum(point.known for point in family.baseline)
    said = [
        f"{held} series are followed over {family.windows_a_year} windows a year with limits for all of them together: "
        f"in at most {settings.chance:.0%} of stable first years would any chart signal."
    ]
    for reason, names in _without_baseline(watching).items():
        listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        said.append(f"Not judged, for want of a baseline ({reason}): {listed}.")
    for chart in family.charts:
        off = held - int(family.suited(chart).sum())
        if off:
            said.append(f"The chart '{chart}' does not suit {off} of the {held} series, which it leaves out.")
    return said


def _without_baseline(watching: Watching) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for series, point in zip(watching.family.series, watching.family.baseline, strict=True):
        if not point.known:
            what = ("gap in " if series.gap else "") + series.metric.name
            at = ", ".join(f"{key}={value}" for key, value in series.slice.items())
            found.setdefault(point.reason, []).append(f"{what} [{at}]" if at else what)
    return found
