"""Windows of calendar time, or of equal counts, over dated rows: which are mature, and which hold enough to judge.

Times are UTC. A row without a time is in no window and is counted; the order of the rows decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from workup.errors import StudyError, near
from workup.scores import Scores
from workup.stats.arrays import Rows, Times

Status = Literal["ok", "insufficient", "immature"]

WINDOWS_A_YEAR = {"day": 365, "week": 52, "month": 12, "quarter": 4, "year": 1}
MOST_WINDOWS = 4_000  # ten years of days; more are a typo in a date, and would take hours
_EPOCH_MONDAY = np.datetime64("1969-12-29", "D")
_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True)
class Minimum:
    """The least a window must hold before anyone is alarmed by it."""

    rows: int = 100
    events: int = 10
    others: int = 10

    def lacking(self, scores: Scores, events: str | None) -> str:
        """What these rows lack, in words; empty when they hold enough."""
        if len(scores) < self.rows:
            return f"{len(scores)} rows; at least {self.rows} are needed"
        if events is None:
            return ""
        with_event = int(np.count_nonzero(scores[events] > 0))
        if with_event < self.events:
            return f"{with_event} events; at least {self.events} are needed"
        without = len(scores) - with_event
        return f"{without} rows without the event; at least {self.others} are needed" if without < self.others else ""


@dataclass(frozen=True, eq=False)
class Window:
    """A stretch of time with its rows: `rows` of the scores, `waiting` of those whose answer is not known yet."""

    name: str
    start: np.datetime64
    end: np.datetime64  # not part of it
    rows: Rows
    waiting: Rows
    status: Status = "ok"
    reason: str = ""

    def as_row(self, scores: Scores, events: str | None) -> dict[str, Any]:
        """What a report says of the window."""
        part = scores.take(self.rows)
        return {
            "window": self.name,
            "start": str(self.start)[:10],
            "end": str(self.end)[:10],
            "rows": len(part),
            "patients": part.n_patients,
            "events": None if events is None else int(np.count_nonzero(part[events] > 0)),
            "waiting": int(self.waiting.size),
            "status": self.status,
            "reason": self.reason,
        }


def windows(scores: Scores, *, size: str | int, label_delay: float = 0.0, as_of: str | None = None) -> list[Window]:
    """All windows from the first dated row to the last, those without rows among them.

    Rows that wait for their answer count in where windows begin and end. `label_delay` is how many days an outcome
    takes to be known. A window is immature until so many days have passed since its end, or the events that come early
    would be counted before the non-events that come late.

    >>> times = np.array(["2024-01-31T23:59", "2024-02-01", "2024-04-30"], dtype="datetime64[us]")
    >>> found = windows(Scores.of({"hit": [1, 0, 1]}, time=times), size="month")
    >>> [(window.name, window.rows.tolist()) for window in found]
    [('2024-01', [0]), ('2024-02', [1]), ('2024-03', []), ('2024-04', [2])]
    """
    time = dated(scores)
    waiting = None if scores.waiting is None else scores.waiting.time
    known = time[~np.isnat(time)]
    seen = known if waiting is None else np.concatenate([known, waiting[~np.isnat(waiting)]])
    edges, names = _by_count(seen, size) if isinstance(size, int) else _by_calendar(seen, size)
    place = _places(time, edges)
    later = np.empty(0, dtype=np.int64) if waiting is None else _places(waiting, edges)
    found = [
        Window(name, edges[i], edges[i + 1], np.flatnonzero(place == i), np.flatnonzero(later == i))
        for i, name in enumerate(names)
    ]
    now = _now(seen.max(), as_of)
    return [_aged(window, label_delay, now) for window in found] if label_delay else found


def _now(last: np.datetime64, as_of: str | None) -> np.datetime64:
    """The day the data speak of: that of the last row, or a later one that the study names."""
    if as_of is None:
        return last
    now = moment(as_of, field="as_of")
    if last.astype("datetime64[D]") > now.astype("datetime64[D]"):
        raise StudyError(
            f"lenses.drift.as_of must not lie before the last row; got {str(now)[:10]}, with rows until "
            f"{str(last)[:10]}. To fix: leave later rows out of the table, or name a later day."
        )
    return now


def _aged(window: Window, label_delay: float, now: np.datetime64) -> Window:
    mature_on = window.end + np.timedelta64(round(label_delay * 86_400_000_000), "us")
    if mature_on <= now:
        return window
    reason = f"its outcomes are known from {str(mature_on)[:10]} on; the data end on {str(now)[:10]}"
    return replace(window, status="immature", reason=reason)


def cut(found: Sequence[Window], scores: Scores, end: np.datetime64) -> tuple[list[Window], list[Window]]:
    """The windows before a moment and those from it on. A window that it falls into becomes two, each with a name."""
    times = dated(scores), None if scores.waiting is None else scores.waiting.time
    before = [window for window in found if window.end <= end]
    later = [window for window in found if window.start >= end]
    for window in found:
        if window.start < end < window.end:
            day = str(end)[:10] if end == end.astype("datetime64[D]") else str(end)[:16]
            early, late = (_side(window, times, end, after=after) for after in (False, True))
            before.append(replace(early, name=f"{window.name} (before {day})", end=end))
            later.insert(0, replace(late, name=f"{window.name} (from {day})", start=end))
    return before, later


def _side(window: Window, times: tuple[Times, Times | None], end: np.datetime64, *, after: bool) -> Window:
    rows = window.rows[(times[0][window.rows] >= end) == after]
    waiting = window.waiting if times[1] is None else window.waiting[(times[1][window.waiting] >= end) == after]
    return replace(window, rows=rows, waiting=waiting)


def rows_of(scores: Scores, chosen: Sequence[Window]) -> Scores:
    """The rows of some windows, with those of their rows that still wait for their answer."""
    known = scores.take(np.concatenate([window.rows for window in chosen]))
    if scores.waiting is None:
        return known
    return replace(known, waiting=scores.waiting.take(np.concatenate([window.waiting for window in chosen])))


def dated(scores: Scores) -> Times:
    """The times of the rows, or an error where there are none."""
    if scores.time is None or np.isnat(scores.time).all():
        raise StudyError("the drift lens needs times. To fix: name the column of the prediction's time (columns.time).")
    return scores.time


def judged(
    found: Sequence[Window], scores: Scores, minimum: Minimum, events: str | None, *, merge: bool
) -> list[Window]:
    """Windows that hold too little are joined to the next where `merge` is set, and marked insufficient otherwise."""
    done: list[Window] = []
    held: Window | None = None
    for window in found:
        one = window if held is None else _joined(held, window)
        held = None
        lacking = "" if one.status == "immature" else minimum.lacking(scores.take(one.rows), events)
        if lacking and merge:
            held = replace(one, reason=lacking)
        else:
            done.append(replace(one, status="insufficient", reason=lacking) if lacking else one)
    return done if held is None else [*done, replace(held, status="insufficient")]


def _joined(first: Window, second: Window) -> Window:
    return Window(
        f"{first.name.split(' to ')[0]} to {second.name}",
        first.start,
        second.end,
        np.concatenate([first.rows, second.rows]),
        np.concatenate([first.waiting, second.waiting]),
        second.status,
        second.reason,
    )


def moment(text: str, *, field: str) -> np.datetime64:
    """A day or moment that a study names, in UTC. Words such as "today" would read a clock, so they are refused."""
    try:
        if re.fullmatch(r"\d{4}(-\d{2})?", text):
            return np.datetime64(text, "us")
        found = datetime.fromisoformat(text)
        if found.tzinfo is not None:
            found = found.astimezone(UTC).replace(tzinfo=None)
        return np.datetime64(found, "us")
    except (ValueError, OverflowError):
        raise StudyError(f"lenses.drift.{field} must be an ISO date such as 2024-06-30; got '{text[:40]}'.") from None


def _by_calendar(time: Times, size: str) -> tuple[Times, list[str]]:
    if size not in WINDOWS_A_YEAR:
        raise StudyError(
            f"lenses.drift.window must be {', '.join(WINDOWS_A_YEAR)} or a number of rows; got '{size}'; "
            f"{near(size, WINDOWS_A_YEAR)}."
        )
    first, last = time.min(), time.max()
    days = {"day": 1, "week": 7, "month": 28, "quarter": 90, "year": 365}[size]
    if (last - first) / _DAY / days > MOST_WINDOWS:
        raise StudyError(
            f"lenses.drift.window: a {size} at a time, rows from {str(first)[:10]} to {str(last)[:10]} make more than "
            f"{MOST_WINDOWS:,} windows. To fix: mend dates that cannot be right, or name longer windows."
        )
    if size in ("day", "week"):
        step = (1 if size == "day" else 7) * _DAY
        start = first.astype("datetime64[D]")
        if size == "week":
            start -= (start - _EPOCH_MONDAY) % step
        edges = np.arange(start, last.astype("datetime64[D]") + 2 * step, step)
        edges = edges[: np.searchsorted(edges, last, side="right") + 1]
        names = [str(edge) if size == "day" else f"week of {edge}" for edge in edges[:-1]]
    else:
        months = {"month": 1, "quarter": 3, "year": 12}[size]
        begin, end = (int(edge.astype("datetime64[M]").astype(np.int64)) // months for edge in (first, last))
        edges = (np.arange(begin, end + 2) * months).astype("datetime64[M]").astype("datetime64[D]")
        names = [_calendar_name(edge, size) for edge in edges[:-1]]
    return edges.astype("datetime64[us]"), names


def _calendar_name(edge: np.datetime64, size: str) -> str:
    month = str(edge.astype("datetime64[M]"))
    if size == "month":
        return month
    return month[:4] if size == "year" else f"{month[:4]}-Q{(int(month[5:]) + 2) // 3}"


def _by_count(time: Times, size: int) -> tuple[Times, list[str]]:
    """Windows of at least `size` rows in the order of time, the last of what is left; rows of one moment stay together.

    Rows that wait for their answer are counted too: they would be in no window if only answered rows set the edges.
    """
    if size < 1:
        raise StudyError(f"lenses.drift.window must be at least 1 row; got {size}.")
    if time.size / size > MOST_WINDOWS:
        raise StudyError(
            f"lenses.drift.window: {time.size:,} rows, {size:,} at a time, make more than {MOST_WINDOWS:,} windows. "
            "To fix: name a larger number of rows."
        )
    moments, counts = np.unique(time, return_counts=True)
    edges, held = [moments[0]], 0
    for moment, count in zip(moments, counts, strict=True):
        if held >= size:
            edges.append(moment)
            held = 0
        held += int(count)
    edges.append(moments[-1] + np.timedelta64(1, "us"))
    names = [f"{i + 1} (from {str(edge)[:10]})" for i, edge in enumerate(edges[:-1])]
    return np.array(edges, dtype="datetime64[us]"), names


def _places(time: Times, edges: Times) -> npt.NDArray[np.int64]:
    """The window of each row, −1 where it has no time or lies outside."""
    place = np.searchsorted(edges, time, side="right").astype(np.int64) - 1
    place[np.isnat(time) | (place >= len(edges) - 1)] = -1
    return place
