"""Windows of few patients, and groups of few within a window, kept out of what the drift lens reports. Knows the form
of its result; judges nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workup.disclosure.small_groups import regrouped
from workup.lenses.drift.monitor.state import ACTED
from workup.lenses.drift.windows import Window
from workup.lenses.withholding import FEW, without_small_counts
from workup.report import LensResult
from workup.scores import OUTCOME, Levels, Scores

_COUNTS = ("rows", "patients", "events", "waiting")
_FIGURES = ("value", "se", "z", "statistic", "lower", "upper")


def few_in(part: Scores, columns: Sequence[str], k: int) -> set[tuple[str, str]]:
    """Column and level of every group of these rows that must be withheld."""
    if k <= 1:
        return set()
    groupings = {name: part.groups[name] for name in columns if name in part.groups}
    if ACTED in columns:
        groupings[ACTED] = Levels.of(np.where(part[ACTED] == 0, "no", "yes"))
    outcome = part[OUTCOME] > 0 if OUTCOME in part.values else None
    found = regrouped(groupings, part.patient, k=k, outcome=outcome)
    return {(name, level) for name, one in found.items() for level in one.withheld}


def hide_small_windows(
    result: LensResult, scores: Scores, periods: Mapping[str, Sequence[Window]], k: int
) -> LensResult:
    """The result without the counts of windows of fewer than k patients and without figures of such windows or of
    groups of so few in a window. With a small window goes the next smallest of its period, from whose count and the
    total that of the small one would follow."""
    small, hidden = set[str](), set[str]()
    for windows in periods.values():
        own = {window.name: scores.take(window.rows).n_patients for window in windows if window.rows.size}
        tiny = {name for name, n in own.items() if n < k}
        small |= tiny
        hidden |= _with_company(tiny, own, scores, windows, k)
    by = tuple(result.settings.get("by") or ())
    groups = {
        (window.name, column, level)
        for windows in periods.values()
        for window in windows
        if window.rows.size
        for column, level in _few_levels(scores.take(window.rows), by, k)
    }

    def few(row: Mapping[str, Any]) -> bool:
        keys = row.get("slice") or {}
        return row["window"] in small or any((row["window"], key, str(value)) in groups for key, value in keys.items())

    tables = {
        name: [_scrubbed(row, k) for row in rows if "window" not in row or row["window"] not in small]
        if isinstance(rows, list) and name not in ("windows", "standardised_differences")
        else rows
        for name, rows in result.tables.items()
    }
    tables["windows"] = [_window(row, hidden, k) for row in result.tables["windows"]]
    if mix := result.tables.get("standardised_differences"):
        tables["standardised_differences"] = [row for row in mix if row["slice"].get("window") not in small]
    return replace(
        result,
        tables=tables,
        notes=tuple(without_small_counts(note, k) for note in result.notes),
        charts_state=tuple(
            {**row, **dict.fromkeys(_FIGURES), "status": "insufficient", "reason": FEW}
            if few(row)
            else _scrubbed(row, k)
            for row in result.charts_state
        ),
    )


def _with_company(
    few: set[str], sizes: Mapping[str, int], scores: Scores, windows: Sequence[Window], k: int
) -> set[str]:
    hidden = set(few)
    rows = {window.name: window.rows for window in windows}
    last = next((window.name for window in reversed(windows) if window.status == "ok"), None)
    others = sorted(set(sizes) - hidden, key=lambda name: (name == last, sizes[name], name))
    while hidden and others and scores.take(np.concatenate([rows[name] for name in hidden])).n_patients < k:
        hidden.add(others.pop(0))
    return hidden


def _few_levels(part: Scores, by: Sequence[str], k: int) -> set[tuple[str, str]]:
    found = set()
    for column in by:
        for level, rows in part.groups[column].masks():
            if 0 < np.unique(part.patient[rows]).size < k:
                found.add((column, level))
    return found


def _window(row: Mapping[str, Any], hidden: set[str], k: int) -> dict[str, Any]:
    if row["window"] in hidden:
        return {**row, **dict.fromkeys(_COUNTS), "reason": FEW}
    return _scrubbed(row, k)


def _scrubbed(row: Mapping[str, Any], k: int) -> dict[str, Any]:
    """A reason may count rows of a group in a window."""
    said = row.get("reason")
    return {**row, "reason": without_small_counts(said, k)} if isinstance(said, str) else dict(row)
