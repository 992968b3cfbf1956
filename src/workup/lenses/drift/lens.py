"""The drift lens: is the system still what it was? Windows of calendar time against a frozen baseline, with a known
chance of a false alarm over a whole year of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import StudyError, near
from workup.estimate import Draws, Estimate, Progress, Slice, estimate, slices_by
from workup.lenses.case_mix import between
from workup.lenses.checks import crowded, unknown_groups, unknown_metrics
from workup.lenses.drift.charts import KNOWN_CHARTS
from workup.lenses.drift.inputs import all_rows
from workup.lenses.drift.kinds import (
    concept_drift,
    evidence,
    named,
    prior_drift,
    recalibration,
    without_labels,
)
from workup.lenses.drift.monitor.state import ACTED
from workup.lenses.drift.monitor.stream import FEEDBACK, Monitor
from workup.lenses.drift.settings import LimitPart, MinimumPart, Settings
from workup.lenses.drift.small_windows import BASELINE, Untold
from workup.lenses.drift.trend import forecasts
from workup.lenses.drift.windows import WINDOWS_A_YEAR, Window, cut, dated, judged, moment, rows_of, windows
from workup.lenses.input_rows import one_row_each
from workup.lenses.withholding import as_withheld
from workup.metric import Metric
from workup.report import LensResult
from workup.scores import OUTCOME, RISK, Levels, Scores
from workup.stats.arrays import Bools
from workup.stats.random import generator
from workup.task import StudyDesign

__all__ = ["FEEDBACK", "LimitPart", "MinimumPart", "Settings", "drift"]

UNDATED = "in no window"  # among the windows of all rows
ELSEWHERE = "not in the baseline"
_MOST_TO_TELL_APART = 50_000
_ESTIMATED_WITHOUT_LABELS = 3  # the last windows: those whose labels are still to come are among them
_BASELINE_WINDOWS = 10  # a baseline with fewer windows' worth of events has an error of its own that charts feel
_WITHOUT_LABELS = (
    "Estimates without labels take the risks, recalibrated on the baseline, at their word: they follow changes in who "
    "comes, and are blind to a change in what a risk means (concept drift), which only outcomes can show."
)


def check(chosen: Settings, design: StudyDesign) -> Iterator[str]:
    """What cannot work, as far as it is known before a system is asked."""
    if design.timed is False:
        yield " needs times. To fix: name the column of the prediction's time as columns.time."
    yield from unknown_groups("by", chosen.by or (), design)
    yield from crowded("by", (design.groups or ()) if chosen.by is None else chosen.by, design)
    yield from unknown_metrics("metrics", (*chosen.metrics, *chosen.limits), design)
    size = chosen.window
    if isinstance(size, str) and size not in WINDOWS_A_YEAR:
        yield f".window: expected a number of rows, or a word; got '{size}'; {near(size, WINDOWS_A_YEAR)}."
    if isinstance(size, int) and size < 1:
        yield f".window: expected at least 1 row; got {size}."
    for name in chosen.charts:
        if name not in KNOWN_CHARTS:
            yield f".charts: '{name}' is not a known chart; {near(name, KNOWN_CHARTS)}."
    for field, date in (("baseline", chosen.baseline), ("as_of", chosen.as_of)):
        if isinstance(date, str):
            moment(date, field=field)
    if design.metrics is not None:
        chosen.followed(design.metrics)


def slice_keys(chosen: Settings, design: StudyDesign) -> list[str]:
    """Keys of the slices that the lens will make."""
    return ["window", ACTED, *(design.groups or () if chosen.by is None else chosen.by)]


def drift(
    scores: Scores,
    metrics: Sequence[Metric],
    *,
    settings: Mapping[str, Any],
    draws: Draws,
    levels: Sequence[float] = (0.95,),
    progress: Progress | None = None,
    smallest_cell: int = 1,
    withheld_rows: Bools | None = None,
) -> LensResult:
    """Charts, alerts, input drift, kinds of drift and a forecast, window by window after the baseline.

    Windows of `withheld_rows`, and groups of fewer patients than `smallest_cell` within a window, are named and not
    told: nothing of them is measured.
    """
    chosen = Settings.checked(settings, where="lenses.drift")
    chosen.followed(metrics)  # a wrong name is reported before a wrong date
    chosen.columns(scores)
    before, later = _periods(scores, chosen)
    base = rows_of(scores, before)
    events = next((metric.events for metric in chosen.followed(metrics) if metric.events), None)
    later = judged(later, scores, chosen.least, events, merge=chosen.small == "merge")
    untold = Untold.of(scores, before, later, chosen.columns(scores), k=smallest_cell, withheld=withheld_rows)
    before, later = untold.marked(before), untold.marked(later)
    monitor = Monitor.start(
        base,
        metrics,
        settings=chosen,
        windows=_inside(before),
        seed=draws.seed,
        keep="exact",
        withheld=untold.groups(BASELINE),
    )
    kinds: dict[str, list[Any]] = {"kinds": [], "drift_kind": []}
    some = _some_rows(base, draws.seed)
    last = max((i for i, window in enumerate(later) if window.name not in untold.windows), default=-1)
    for i, window in enumerate(later):
        rows = rows_of(scores, [window])
        if window.name in untold.windows:
            monitor = monitor.without(window.name)
            continue
        monitor = monitor.after(
            window.name,
            rows,
            mature=window.status != "immature",
            latest=i == last,
            withheld=untold.groups(window.name),
            inputs_withheld=untold.inputs(window.name),
        )
        if window.status == "ok":
            _tell_apart(kinds, window.name, some, rows, monitor)
        if progress is not None:
            progress(i + 1, len(later))
    result = monitor.result()
    shown = [window for window in later if window.name not in untold.windows]
    free = _label_free(scores, base, shown, monitor, draws)
    tables = {
        **result.tables,
        **kinds,
        "windows": [
            {"period": period, **window.as_row(scores, monitor.events)}
            for period, some in (("baseline", before), ("watched", later))
            for window in some
        ],
        **_case_mix(scores, before, shown, untold),
        "forecast": list(forecasts(monitor.watching, later)),
        "without_labels": free,
    }
    slices = slices_by({name: scores.groups[name] for name in monitor.by})
    notes = _notes(scores, before, later, monitor.events, untold.windows)
    said = [*monitor.notes(), *notes, *([_WITHOUT_LABELS] if free else [])]
    parts = _now_and_then(scores, base, later, slices)
    found = replace(
        result,
        estimates=tuple(_estimates(parts, monitor.metrics, draws, levels, untold)),
        tables=tables,
        notes=tuple(said),
    )
    return untold.left_out(found)


def window_levels(scores: Scores, settings: Mapping[str, Any]) -> tuple[Levels, Levels, str]:
    """The window of every row as the lens will make them: those that are watched, with the baseline as one level and
    rows in no window as another; those of the baseline, with all else as one level; and the last that is judged."""
    chosen = Settings.checked(settings, where="lenses.drift")
    before, later = _periods(scores, chosen)
    events = OUTCOME if OUTCOME in scores.values else None
    later = judged(later, scores, chosen.least, events, merge=chosen.small == "merge")
    names = (*(window.name for window in later), BASELINE, UNDATED), (*(window.name for window in before), ELSEWHERE)
    watched, own = (np.full(len(scores), len(one) - 1, dtype=np.int64) for one in names)
    for i, window in enumerate(later):
        watched[window.rows] = i
    for i, window in enumerate(before):
        watched[window.rows] = len(later)
        own[window.rows] = i
    last = next((window.name for window in reversed(later) if window.status == "ok"), "")
    return Levels(watched, names[0]), Levels(own, names[1]), last


def _case_mix(scores: Scores, before: Sequence[Window], later: Sequence[Window], untold: Untold) -> dict[str, Any]:
    """How inputs and risks of each window differ from those of the baseline, rows that wait for an answer included."""
    base = one_row_each(all_rows(scores, before))
    rows: list[dict[str, Any]] = []
    for window in later:
        now = one_row_each(all_rows(scores, [window]))
        if len(now) and len(base):
            found = between(now, base, keys={"window": window.name}, against="baseline")
            rows += [row for row in found if row["input"] not in untold.inputs(window.name)]
    return {"standardised_differences": rows} if rows else {}


def _periods(scores: Scores, chosen: Settings) -> tuple[list[Window], list[Window]]:
    """The baseline's windows, and those that are watched."""
    found = windows(scores, size=chosen.window, label_delay=chosen.label_delay, as_of=chosen.as_of)
    if isinstance(chosen.baseline, str):
        before, later = cut(found, scores, moment(chosen.baseline, field="baseline"))
    else:
        count = len(found) // 2 if chosen.baseline is None else chosen.baseline
        before, later = found[:count], found[count:]
    if not before or not later:
        raise StudyError(
            f"lenses.drift needs windows before and after the end of the baseline; got {len(before)} and {len(later)}, "
            f"from {str(found[0].start)[:10]} to {str(found[-1].end)[:10]}. "
            "To fix: set 'baseline' to a date, or to a number of windows, that lies inside the data."
        )
    young = next((window for window in before if window.status == "immature"), None)
    if young is not None:
        raise StudyError(
            f"lenses.drift: the baseline must be whole before it is frozen; in '{young.name}' {young.reason}. "
            "To fix: let the baseline end sooner, or give data until a later day."
        )
    return before, later


def _inside(before: Sequence[Window]) -> list[Window]:
    """The baseline's windows with their rows counted from the baseline's first."""
    ends = np.cumsum([0, *(window.rows.size for window in before)])
    return [replace(w, rows=np.arange(ends[i], ends[i + 1]), waiting=w.waiting[:0]) for i, w in enumerate(before)]


def _some_rows(base: Scores, seed: int) -> Scores:
    """At most so many rows of the baseline as tests of its kind of drift can use; more would only cost time."""
    if len(base) <= _MOST_TO_TELL_APART:
        return base
    chosen = generator(seed, "baseline to tell kinds of drift apart").choice(
        len(base), _MOST_TO_TELL_APART, replace=False
    )
    return base.take(np.sort(chosen))


def _tell_apart(kinds: dict[str, list[Any]], window: str, base: Scores, rows: Scores, monitor: Monitor) -> None:
    """Which kind of drift a window shows: the tests, and what they come to."""
    if monitor.events is None:
        return
    tests = [prior_drift(base, rows, monitor.events), *concept_drift(base, rows, monitor.metrics)]
    kinds["kinds"] += [{"window": window, **row} for row in tests]
    level = monitor.settings.chance / monitor.watching.family.windows_a_year
    moved = any(row["flagged"] for row in monitor.input_rows if row["window"] == window)
    found = named(evidence(base, rows, monitor.events), level=level, inputs_moved=moved)
    kinds["drift_kind"].append({"window": window, **found})


def _now_and_then(
    scores: Scores, base: Scores, later: Sequence[Window], slices: Sequence[Slice]
) -> Iterator[tuple[str, Scores, list[Slice]]]:
    """The baseline and the latest window that holds enough: everyone, rows that no one acted on, and every group."""
    last = next((window for window in reversed(later) if window.status == "ok"), None)
    parts = {"baseline": (BASELINE, base)}
    if last is not None:
        parts["latest"] = (last.name, scores.take(last.rows))
    for name, (window, part) in parts.items():
        own = [Slice({"window": name})]
        if ACTED in part.values:
            own.append(Slice({"window": name, ACTED: "no"}, part[ACTED] == 0))
        for one in slices:
            [(column, level)] = one.key.items()
            rows = next(rows for known, rows in part.groups[column].masks() if known == level)
            own.append(Slice({"window": name, **one.key}, rows))
        yield window, part, own


def _estimates(
    parts: Iterable[tuple[str, Scores, list[Slice]]],
    followed: Sequence[Metric],
    draws: Draws,
    levels: Sequence[float],
    untold: Untold,
) -> Iterator[Estimate]:
    """Full intervals of every part and slice; those of few patients say no more than that."""
    for window, part, own in parts:
        few = untold.groups(window)
        for e in estimate(part, followed, own, draws=replace(draws, strata=None), levels=levels):
            yield as_withheld(e) if any((key, str(value)) in few for key, value in e.slice.items()) else e


def _label_free(
    scores: Scores, base: Scores, later: Sequence[Window], monitor: Monitor, draws: Draws
) -> list[dict[str, Any]]:
    """What the metrics should be in the last windows if the risks still mean what they meant; labels are not used."""
    # With a target, such as a calibration slope of 1, the assumption itself would be the answer.
    asked = [metric for metric in monitor.metrics if metric.target is None]
    events = monitor.events
    line = None if events is None else recalibration(base, events)
    if line is None or events is None or not asked:
        return []
    rows = []
    for window in later[-_ESTIMATED_WITHOUT_LABELS:]:
        part = all_rows(scores, [window])
        if len(part) and RISK in part.values:
            found = without_labels(part, asked, events, line, draws)
            rows += [{"window": window.name, "status": window.status, **row} for row in found]
    return rows


def _notes(
    scores: Scores,
    before: Sequence[Window],
    later: Sequence[Window],
    events: str | None,
    withheld: Collection[str] = (),
) -> Iterator[str]:
    """What the windows of a table lack. Of those that are `withheld` nothing is counted."""
    undated = int(np.isnat(dated(scores)).sum())
    if scores.waiting is not None and scores.waiting.time is not None:
        undated += int(np.isnat(scores.waiting.time).sum())
    if undated:
        yield f"{undated} rows have no time and are in no window."
    few = [window.name for window in later if window.status == "insufficient"]
    if few:
        more = ", …" if len(few) > 6 else ""
        yield f"Too little to judge by in {len(few)} of {len(later)} watched windows: {', '.join(few[:6])}{more}."
    young = [window.name for window in later if window.status == "immature"]
    if young:
        yield f"{len(young)} watched windows are too young: their outcomes are not all known yet."
    late = sum(int(window.waiting.size) for window in later if window.status == "ok")
    if late:
        yield (
            f"{late} rows of windows that are judged have no outcome yet. Where those with the event are known sooner, "
            "the window looks worse than it is; set label_delay to wait for it."
        )
    if events is not None:
        yield from _small_baseline(scores, before, [one for one in later if one.name not in withheld], events)
    if not scores.inputs:
        yield "No inputs are named (columns.inputs), so no drift of inputs is looked for."
    yield from _repeated(scores)


def _small_baseline(scores: Scores, before: Sequence[Window], later: Sequence[Window], events: str) -> Iterator[str]:
    held = sum(int(np.count_nonzero(scores[events][window.rows] > 0)) for window in before)
    counts = [int(np.count_nonzero(scores[events][window.rows] > 0)) for window in later if window.rows.size]
    typical = float(np.median(counts)) if counts else 0.0
    if held < _BASELINE_WINDOWS * typical:
        yield (
            f"The baseline holds {held} events, fewer than {_BASELINE_WINDOWS} windows of about {typical:g}; "
            "its own error is counted in every limit, and real changes are found later for it."
        )


def _repeated(scores: Scores) -> Iterator[str]:
    """Rows that are the same as another in patient, time and all else: often a feed that was sent twice.

    Without ids rows of one day may well be alike; those of one second are reported.
    """
    assert scores.time is not None
    known = scores.n_patients < len(scores)
    if not known and not np.any(scores.time != scores.time.astype("datetime64[D]")):
        return
    # `row` is the place in the table, which no two rows share.
    columns: list[npt.NDArray[Any]] = [column for name, column in scores.values.items() if name != "row"]
    beside = (*scores.groups.values(), *scores.inputs.values())
    columns += [one.codes if isinstance(one, Levels) else one for one in beside]
    columns += [scores.time.astype(np.int64), *([scores.patient] if known else [])]
    repeats = len(scores) - int(np.unique(_fingerprints(columns)).size)
    if repeats and known:
        yield f"{repeats} rows repeat the patient, time and values of another row; they are counted as they come."
    elif repeats:
        yield (
            f"{repeats} rows repeat the time and all values of another row; without ids of patients it cannot be told "
            "whether they were sent twice, and they are counted as they come."
        )


def _fingerprints(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.uint64]:
    """A number for each row that equal rows share and others, but for one chance in 10¹⁹ a pair, do not."""
    found = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        bits = (column + 0).view(np.uint64) if column.dtype == np.int64 else (column + 0.0).view(np.uint64)
        found = (found ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(32)
    return found
