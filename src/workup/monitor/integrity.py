"""Is the feed itself sound? Rows against those expected, duplicates, rows without a risk, inputs and scores that moved,
and outcomes that do not arrive: each followed by the drift lens like any metric. Silence alone is a plain limit."""

from __future__ import annotations

import numpy as np

from workup.lenses.drift.monitor.stream import Monitor
from workup.lenses.drift.windows import WINDOWS_A_YEAR
from workup.metric import Metric, mean, ratio
from workup.monitor.plan import FEED, LABELS, ROWS, Plan
from workup.monitor.scoring import SCORES, Rows, inputs_of
from workup.monitor.watching import Watch
from workup.scores import Scores, patient_codes
from workup.stats.arrays import Floats, Ints

ROWS_WATCH, FEED_WATCH, LABELS_WATCH, SILENCE_WATCH = "rows", "feed", "labels", "silence"
WATCHES = (ROWS_WATCH, FEED_WATCH, LABELS_WATCH)
_DAY, _HOUR = 86_400_000_000, 3_600_000_000  # microseconds
# A month holds enough days to see how they vary; a week or a day holds enough hours.
_UNITS = {"day": _HOUR, "week": _HOUR, "month": _DAY, "quarter": _DAY, "year": _DAY}
_FEWEST_UNITS = 20


def _ones(scores: Scores) -> Floats:
    return np.ones(len(scores))


METRICS: dict[str, list[Metric]] = {
    ROWS_WATCH: [
        mean(
            "rows_against_expected",
            lambda s: s["rows"],
            better="neither",
            describe="rows, as a share of those that the baseline had in as long a time",
        )
    ],
    FEED_WATCH: [
        ratio("duplicates", lambda s: s["duplicate"], _ones, better="lower", describe="rows that repeat another"),
        ratio("without_risk", lambda s: s["without_risk"], _ones, better="lower", describe="rows without a risk"),
    ],
    LABELS_WATCH: [
        ratio("labels_arrived", lambda s: s["labelled"], _ones, better="higher", describe="rows with an outcome")
    ],
}


def frozen(which: str, plan: Plan, rows: Rows, start: int, end: int) -> Watch:
    """One of the three watches over the feed, with its baseline frozen."""
    scores = scores_of(which, plan, rows, start, end, expected=expected_rows(len(rows), start, end, plan))
    metrics = METRICS[which] if which != FEED_WATCH or plan.task != SCORES else METRICS[which][:1]
    limit = plan.integrity.rows if which == ROWS_WATCH else plan.integrity.share
    minimum = {"rows": _FEWEST_UNITS} if which == ROWS_WATCH else {"rows": plan.minimum.rows}
    settings = {
        "window": plan.cadence,
        "metrics": [metric.name for metric in metrics],
        "by": [],
        "chance": plan.chance * {ROWS_WATCH: ROWS, FEED_WATCH: FEED, LABELS_WATCH: LABELS}[which],
        "minimum": minimum,
        "quiet": plan.quiet,
        "limits": {metric.name: {"medium": limit, "high": 2 * limit} for metric in metrics},
        "inputs": plan.integrity.inputs.model_dump() | {"together": "none"},
    }
    return Watch(which, "integrity", Monitor.start(scores, metrics, settings=settings))


def scores_of(
    which: str, plan: Plan, rows: Rows, start: int, end: int, *, expected: float = 0.0, watch: Watch | None = None
) -> Scores:
    """The rows of a stretch of time as one of the watches sees them.

    `expected` is how many rows a unit of time had in the baseline; the `watch` says what kind each input was there.
    """
    if which == ROWS_WATCH:
        return _units(rows.time, start, end, _UNITS[plan.cadence], expected)
    time = rows.time.astype("datetime64[us]")
    patient = patient_codes(rows.patient) if any(rows.patient) else np.arange(len(rows), dtype=np.int64)
    if which == LABELS_WATCH:
        return Scores({"labelled": rows.labelled.astype(np.float64)}, patient, time=time)
    inputs = inputs_of(rows, plan, levels=None if watch is None else watch.monitor.inputs.levels)
    values = {"duplicate": _repeated(rows), "without_risk": np.isnan(rows.risk).astype(np.float64)}
    return Scores(values, patient, time=time, inputs=inputs)


def expected_rows(baseline_rows: int, start: int, end: int, plan: Plan) -> float:
    """Rows that a unit of time had in the baseline."""
    return baseline_rows * _UNITS[plan.cadence] / (end - start)


def silence_limit(plan: Plan, time: Ints, start: int, end: int) -> float:
    """Days without a row that matter, where the plan names none: twice the longest in the baseline, and no less than a
    window, since many feeds come in one piece for each."""
    longest = float(np.max(np.diff(np.concatenate([[start], np.sort(time), [end]])))) / _DAY
    return max(2 * longest, 366.0 / WINDOWS_A_YEAR[plan.cadence])


def _units(time: Ints, start: int, end: int, unit: int, expected: float) -> Scores:
    """One row for each day, or hour, with its count as a share of that expected; times in which nothing came count."""
    count = max(1, -(-(end - start) // unit))
    held = np.bincount((time - start) // unit, minlength=count)[:count].astype(np.float64)
    at = (start + unit * np.arange(count, dtype=np.int64)).astype("datetime64[us]")
    return Scores({"rows": held / expected}, np.arange(count, dtype=np.int64), time=at)


def _repeated(rows: Rows) -> Floats:
    """1 for every row that repeats the patient, time, risk, groups and inputs of one before it under another id."""
    texts = zip(rows.patient, rows.site, rows.groups, rows.inputs, rows.scores, strict=True)
    numbers = zip(rows.time.tolist(), np.nan_to_num(rows.risk, nan=-1.0).tolist(), strict=True)
    seen: set[int] = set()
    found = np.zeros(len(rows))
    for place, row in enumerate(zip(numbers, texts, strict=True)):
        mark = hash(row)
        found[place] = mark in seen
        seen.add(mark)
    return found
