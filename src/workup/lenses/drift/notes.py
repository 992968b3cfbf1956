"""What a reader of drift charts must know, in sentences. Knows the watch and its windows; judges nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.lenses.drift.monitor.state import Watching
from workup.lenses.drift.settings import Settings
from workup.lenses.drift.windows import Window, dated
from workup.scores import Levels, Scores

FEEDBACK = (
    "Some rows were acted on. What was done changed what happened, so the figures of all rows understate the system, "
    "and those of rows not acted on are of other patients: neither is the untreated truth."
)
WITHOUT_LABELS = (
    "Estimates without labels take the risks, recalibrated on the baseline, at their word: they follow changes in who "
    "comes, and are blind to a change in what a risk means (concept drift), which only outcomes can show."
)
BASELINE_WINDOWS = 10  # a baseline with fewer windows' worth of events has an error of its own that charts feel


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


def table_notes(
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
    if held < BASELINE_WINDOWS * typical:
        yield (
            f"The baseline holds {held} events, fewer than {BASELINE_WINDOWS} windows of about {typical:g}; "
            "its own error is counted in every limit, and real changes are found later for it."
        )


def _repeated(scores: Scores) -> Iterator[str]:
    """Rows that are the same as another in patient, time and all else: often a feed that was sent twice.

    Without ids rows of one day may well be alike; those of one second are told.
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
