"""The drift lens: is the system still what it was? Windows of calendar time against a frozen baseline, with a known
chance of a false alarm over a whole year of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from pydantic import Field

from workup.errors import StudyError, near
from workup.estimate import Draws, Estimate, Progress, Slice, estimate, slices_by
from workup.lenses.alerts import Finding
from workup.lenses.charting import Family
from workup.lenses.input_drift import InputLimits, InputReference, all_rows
from workup.lenses.kinds import RISK, concept_drift, prior_drift, recalibration, without_labels
from workup.lenses.outlook import forecasts
from workup.lenses.risk_adjusted_chart import NAME, risk_adjusted_chart
from workup.lenses.series import every_series
from workup.lenses.watching import ACTED, Watching
from workup.lenses.windows import WINDOWS_A_YEAR, Minimum, Window, dated, judged, windows
from workup.metric import Concern, Metric
from workup.report import LensResult
from workup.scores import Scores
from workup.study import Part

FEEDBACK = (
    "Some rows were acted on. What was done changed what happened, so the figures of all rows understate the system, "
    "and those of rows not acted on are of other patients: neither is the untreated truth."
)
BASELINE_WINDOWS = 10  # a baseline with fewer windows' worth of events has an error of its own that charts feel


class MinimumPart(Part):
    """The least a window must hold before it can alarm anyone."""

    rows: int = Field(100, ge=1, description="Rows")
    events: int = Field(10, ge=1, description="Rows with the event")
    others: int = Field(10, ge=1, description="Rows without the event")


class LimitPart(Part):
    """Which change of a metric matters."""

    medium: float = Field(gt=0, description="Change of medium concern")
    high: float = Field(gt=0, description="Change of high concern")
    in_group: float | None = Field(None, gt=0, description="Change that matters in one group; medium when absent")


class Settings(Part):
    """Which windows are watched, against what, and what would alarm."""

    window: str | int = Field("month", description="day, week, month, quarter, year, or a number of rows")
    baseline: str | int | None = Field(
        None, description="Date before which rows are the baseline, or its number of windows; half of them when absent"
    )
    label_delay: float = Field(0.0, ge=0, description="Days until an outcome is known; younger windows are immature")
    fast_start: bool = Field(False, description="Narrower limits at first: early changes sooner, more false alarms")
    metrics: tuple[str, ...] = Field(
        (), description="Metrics to follow; those with a target or asked for parity if empty"
    )
    by: tuple[str, ...] | None = Field(
        None, description="Columns to follow by group; all of columns.groups when absent"
    )
    charts: tuple[str, ...] = Field(("ewma",), min_length=1, description="ewma, cusum, xmr, p, p_prime, ra_cusum")
    chance: float = Field(0.05, gt=0, lt=1, description="Share of stable years in which any alert may be raised")
    windows_a_year: int | None = Field(
        None, ge=1, description="Windows of a year, where the window is a number of rows"
    )
    minimum: MinimumPart = Field(default_factory=MinimumPart, description="The least a window must hold")
    small: Literal["insufficient", "merge"] = Field(
        "insufficient", description="What becomes of a window that holds too little: marked, or joined to the next"
    )
    quiet: int = Field(3, ge=1, description="Quiet windows after which an alert is resolved")
    limits: dict[str, LimitPart] = Field(default_factory=dict, description="Changes that matter, by metric")
    inputs: InputLimits = Field(default_factory=InputLimits, description="Changes of inputs that matter")
    as_of: str | None = Field(None, description="Date the data speak of; their last time when absent")


def drift(
    scores: Scores,
    metrics: Sequence[Metric],
    *,
    settings: Mapping[str, Any],
    draws: Draws,
    levels: Sequence[float] = (0.95,),
    progress: Progress | None = None,
) -> LensResult:
    """Charts, alerts, input drift, kinds of drift and a forecast, window by window after the baseline."""
    chosen = Settings.checked(settings, where="lenses.drift")
    followed = _followed(metrics, chosen)
    by = _columns(scores, chosen)
    events = next((metric.events for metric in followed if metric.events), None)
    minimum = Minimum(**chosen.minimum.model_dump())
    before, later, frozen = _periods(scores, chosen, minimum, events)
    base = scores.take(np.concatenate([window.rows for window in before]))
    lacking = minimum.lacking(base, events)
    if lacking:
        raise StudyError(f"lenses.drift: the baseline holds too little to judge by: {lacking}.")
    family = _family(base, scores, before, followed, by, chosen, minimum)
    concerns = {
        name: Concern(part.medium, part.high, part.in_group or part.medium) for name, part in chosen.limits.items()
    }
    watching = Watching.start(family, minimum=minimum, concerns=concerns, quiet_windows=chosen.quiet)
    reference = InputReference.of(all_rows(scores, before), limits=chosen.inputs, seed=draws.seed)
    a_year = family.windows_a_year
    tables: dict[str, list[Any]] = {"inputs": [], "kinds": []}
    adjusted = _risk_adjusted(scores, base, later, events, family, chosen, draws)
    of_window = {str(state["window"]): finding for state, finding in adjusted}
    for i, window in enumerate(later):
        inputs = reference.compared(
            window.name,
            all_rows(scores, [window]),
            chance=chosen.chance / a_year,
            latest=i == len(later) - 1,
        )
        tables["inputs"] += [row for row, _ in inputs]
        enough = scores.take(window.rows) if window.status == "ok" else None
        more = [*(finding for _, finding in inputs), *([of_window[window.name]] if window.name in of_window else [])]
        watching = watching.after(window.name, enough, more=more)
        if enough is not None and events is not None:
            kinds = [prior_drift(base, enough, events), *concept_drift(base, enough, followed)]
            tables["kinds"] += [{"window": window.name, **row} for row in kinds]
        if progress is not None:
            progress(i + 1, len(later))
    tables |= {
        "windows": [{"period": frozen[w.name], **w.as_row(scores, events)} for w in (*before, *later)],
        "forecast": list(forecasts(watching, later)),
        "without_labels": _label_free(scores, base, later, followed, events, draws),
        "held_back": list(watching.held_back),
    }
    slices = slices_by({name: scores.groups[name] for name in by})
    return LensResult(
        lens="drift",
        settings=chosen.model_dump(mode="json") | {"by": list(by), "metrics": [m.name for m in followed]},
        estimates=tuple(_now_and_then(scores, base, later, followed, slices, draws, levels)),
        tables=tables,
        notes=tuple(_notes(scores, base, watching, before, later, chosen, events)),
        alerts=tuple(alert.as_row() for alert in watching.alerts.listed()),
        charts_state=(*watching.states(), *(state for state, _ in adjusted)),
    )


def _followed(metrics: Sequence[Metric], chosen: Settings) -> list[Metric]:
    known = list(dict.fromkeys(metric.name for metric in metrics))
    for name in (*chosen.metrics, *chosen.limits):
        if name not in known:
            raise StudyError(f"lenses.drift: '{name}' is not a metric of this study; {near(name, known)}.")
    if chosen.metrics:
        return [metric for metric in metrics if metric.name in chosen.metrics]
    found = [m for m in metrics if (m.parity or m.target is not None or m.concern) and m.interval is not None]
    return found or [metric for metric in metrics if metric.interval is not None and not metric.whole_study]


def _columns(scores: Scores, chosen: Settings) -> tuple[str, ...]:
    by = tuple(scores.groups) if chosen.by is None else chosen.by
    for name in by:
        if name not in scores.groups:
            raise StudyError(f"lenses.drift.by: '{name}' is not one of columns.groups; {near(name, scores.groups)}.")
    return by


def _periods(
    scores: Scores, chosen: Settings, minimum: Minimum, events: str | None
) -> tuple[list[Window], list[Window], dict[str, str]]:
    """The baseline's windows, those that are watched, and which is which by name."""
    found = windows(scores, size=chosen.window, label_delay=chosen.label_delay, as_of=chosen.as_of)
    before, later = _cut(found, dated(scores), chosen)
    if not before or not later:
        raise StudyError(
            f"lenses.drift needs windows before and after the end of the baseline; got {len(before)} and {len(later)}. "
            "To fix: set 'baseline' to a date, or to a number of windows, that lies inside the data."
        )
    later = judged(later, scores, minimum, events, merge=chosen.small == "merge")
    frozen = {window.name: "baseline" for window in before} | {window.name: "watched" for window in later}
    return before, later, frozen


def _cut(found: list[Window], time: Any, chosen: Settings) -> tuple[list[Window], list[Window]]:
    if not isinstance(chosen.baseline, str):
        count = len(found) // 2 if chosen.baseline is None else chosen.baseline
        return found[:count], found[count:]
    try:
        end = np.datetime64(chosen.baseline, "us")
    except ValueError:
        raise StudyError(
            f"lenses.drift.baseline must be an ISO date or a number of windows; got '{chosen.baseline[:40]}'."
        ) from None
    before = [replace(w, rows=w.rows[time[w.rows] < end]) for w in found if w.start < end]
    later = [replace(w, rows=w.rows[time[w.rows] >= end]) for w in found if w.end > end]
    return before, later


def _family(
    base: Scores,
    scores: Scores,
    before: Sequence[Window],
    followed: Sequence[Metric],
    by: Sequence[str],
    chosen: Settings,
    minimum: Minimum,
) -> Family:
    series = tuple(every_series(base, followed, by))
    parts = [scores.take(window.rows) for window in before]
    a_year = chosen.windows_a_year or (WINDOWS_A_YEAR.get(chosen.window) if isinstance(chosen.window, str) else None)
    return Family(
        series,
        tuple(one.point(base, minimum) for one in series),
        tuple(tuple(one.point(part, minimum) for part in parts) for one in series),
        tuple(chart for chart in chosen.charts if chart != NAME),
        a_year or WINDOWS_A_YEAR["month"],
        chosen.chance,
        chosen.fast_start,
    )


def _risk_adjusted(
    scores: Scores,
    base: Scores,
    later: Sequence[Window],
    events: str | None,
    family: Family,
    chosen: Settings,
    draws: Draws,
) -> list[tuple[dict[str, Any], Finding]]:
    if NAME not in chosen.charts:
        return []
    line = None if events is None else recalibration(base, events)
    if events is None or line is None:
        raise StudyError(f"lenses.drift.charts: '{NAME}' needs a risk and an outcome in every row.")
    chance = chosen.chance / len(chosen.charts)
    a_year = family.windows_a_year
    return risk_adjusted_chart(scores, base, later, events, line, windows_a_year=a_year, chance=chance, seed=draws.seed)


def _now_and_then(
    scores: Scores,
    base: Scores,
    later: Sequence[Window],
    followed: Sequence[Metric],
    slices: Sequence[Slice],
    draws: Draws,
    levels: Sequence[float],
) -> Iterator[Estimate]:
    """The baseline and the latest window that holds enough, for everyone and by group, with full intervals."""
    last = next((window for window in reversed(later) if window.status == "ok"), None)
    parts = {"baseline": base} if last is None else {"baseline": base, "latest": scores.take(last.rows)}
    keys = [dict(one.key) for one in slices]
    for name, part in parts.items():
        own = [Slice({"window": name})]
        for key in keys:
            [(column, level)] = key.items()
            rows = next(rows for known, rows in part.groups[column].masks() if known == level)
            own.append(Slice({"window": name, **key}, rows))
        yield from estimate(part, followed, own, draws=replace(draws, strata=None), levels=levels)


def _label_free(
    scores: Scores,
    base: Scores,
    later: Sequence[Window],
    followed: Sequence[Metric],
    events: str | None,
    draws: Draws,
) -> list[dict[str, Any]]:
    """What the metrics should be in the last windows if the risks still mean what they meant; labels are not used."""
    # With a target, such as a calibration slope of 1, the assumption itself would be the answer.
    followed = [metric for metric in followed if metric.target is None]
    line = None if events is None else recalibration(base, events)
    if line is None or events is None:
        return []
    rows = []
    for window in later[-3:]:
        part = all_rows(scores, [window])
        if len(part) and RISK in part.values:
            found = without_labels(part, followed, events, line, draws)
            rows += [{"window": window.name, "status": window.status, **row} for row in found]
    return rows


def _notes(
    scores: Scores,
    base: Scores,
    watching: Watching,
    before: Sequence[Window],
    later: Sequence[Window],
    chosen: Settings,
    events: str | None,
) -> Iterator[str]:
    held = sum(point.known for point in watching.family.baseline)
    yield (
        f"{held} series are followed over {watching.family.windows_a_year} windows a year with limits for all of them "
        f"together: in at most {chosen.chance:.0%} of stable years would any chart signal."
    )
    undated = int(np.isnat(dated(scores)).sum())
    if undated:
        yield f"{undated} rows have no time and are in no window."
    few = [w.name for w in later if w.status == "insufficient"]
    if few:
        yield f"Too little to judge by in {len(few)} of {len(later)} watched windows: {', '.join(few[:6])}."
    young = sum(window.status == "immature" for window in later)
    if young:
        yield f"{young} watched windows are too young: their outcomes are not all known yet."
    if events is not None and before and later:
        held_events = np.count_nonzero(base[events] > 0)
        counts = [int(np.count_nonzero(scores[events][w.rows] > 0)) for w in later if w.rows.size]
        typical = float(np.median(counts)) if counts else 0.0
        if held_events < BASELINE_WINDOWS * typical:
            yield (
                f"The baseline holds {held_events} events, fewer than {BASELINE_WINDOWS} windows of about {typical:g}; "
                "its own error is counted in every limit, and real changes are found later for it."
            )
    unknown = [s for s, point in zip(watching.family.series, watching.family.baseline, strict=True) if not point.known]
    if unknown:
        yield f"{len(unknown)} series have no baseline and are not judged: their groups are too small in it."
    if not scores.inputs:
        yield "No inputs are named (columns.inputs), so no drift of inputs is looked for."
    if ACTED in scores.values:
        yield FEEDBACK
    repeats = _repeated(scores)
    if repeats:
        yield f"{repeats} rows repeat the patient, time and values of another row; they are counted as they come."


def _repeated(scores: Scores) -> int:
    """Rows that are the same as another in patient, time and every value: often a feed that was sent twice."""
    if scores.time is None or scores.n_patients == len(scores):
        return 0
    # `row` is the place in the table, which no two rows share.
    columns = [scores.patient, scores.time.astype(np.int64)] + [v for name, v in scores.values.items() if name != "row"]
    table = np.column_stack([column.astype(np.float64) for column in columns])
    return int(len(table) - len(np.unique(table, axis=0)))
