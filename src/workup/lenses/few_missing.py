"""Inputs that few patients of a group, site or window lack, and few of their rows that wait for an outcome: what a lens
says of them is left out of the whole grouping, since all but one part of a total that is told gives that part away.
Knows the form of the lenses' tables; measures nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workup.lenses.drift.inputs import MISSING_SUFFIX
from workup.report import LensResult
from workup.scores import MISSING, Levels, Scores
from workup.stats.arrays import Bools, Floats

DIFFERENCES = "standardised_differences"
_LACKING = "its interval and numbers would tell of few patients who lack this input (smallest_cell)"
_WAITING = "its interval and numbers would tell of few patients of a window who wait for an outcome (smallest_cell)"
_FREE = "without_labels"
_SIDES = ("n_patients", "n_against")
Row = Mapping[str, Any]


def lacking(column: Floats | Levels) -> Bools:
    """Rows without a value."""
    if isinstance(column, Levels):
        return np.asarray(column.codes == (column.names.index(MISSING) if MISSING in column.names else -1))
    return np.isnan(column)


def without_few_missing(result: LensResult, scores: Scores, k: int, groupings: Mapping[str, Levels]) -> LensResult:
    """The result of a lens without what tells that from 1 to `k` - 1 patients of a part lack an input or wait.

    `groupings` are the columns, crossings, sites or windows by which the lens tells of parts.
    """
    if k <= 1:
        return result
    tables = dict(result.tables)
    alerts, notes = result.alerts, result.notes
    few = {(name, one) for name, levels in groupings.items() for one in _few(scores, levels, k)}
    if rows := tables.get(DIFFERENCES):
        few |= set(_few_known(rows, k))
        tables[DIFFERENCES] = [_without_numbers(row) if few & set(_places(row)) else row for row in rows]
    if result.lens == "sites" and "sites" in tables:
        tables["sites"] = _sites(tables["sites"], {name for place, name in few if place == "site"}, k)
    if result.lens == "drift":
        hidden = {name for place, name in few if place == "window"}
        hidden |= set(_few_now(tables.get("inputs", ()), rows or (), k))
        gone = {name + MISSING_SUFFIX for name in hidden}
        if any(row["input"] in gone for row in tables.get("inputs", ())):
            notes = (*notes, f"How many lack {', '.join(sorted(hidden))} is not told by window, where they are few.")
        tables["inputs"] = [row for row in tables.get("inputs", ()) if row["input"] not in gone]
        alerts = tuple(row for row in alerts if row["metric"] not in gone)
        told = tables.get("windows", ())
        tables["windows"] = _all_or_none(told, "waiting", k)
        if any(row["waiting"] for row in told) and all(row["waiting"] is None for row in tables["windows"]):
            # Numbers of all rows of a window, beside those whose outcome is known, are those who wait.
            tables[_FREE] = [{**row, "rows": None} for row in tables.get(_FREE, ())]
            tables[DIFFERENCES] = [_without_numbers(row, _WAITING) for row in tables.get(DIFFERENCES, ())]
    return replace(result, tables=tables, alerts=alerts, notes=notes)


def _few(scores: Scores, levels: Levels, k: int) -> Iterator[str]:
    """Inputs that few patients of a part lack."""
    for name, column in scores.inputs.items():
        rows = np.flatnonzero(lacking(column))
        pairs = np.unique(np.column_stack([levels.codes[rows], scores.patient[rows]]), axis=0)
        sizes = np.bincount(pairs[:, 0], minlength=1)
        if np.any((sizes > 0) & (sizes < k)):
            yield name


def _places(row: Row) -> Iterator[tuple[str, str]]:
    yield from ((str(place), str(row["input"])) for place in row["slice"])


def _few_known(rows: Sequence[Row], k: int) -> Iterator[tuple[str, str]]:
    """The same as the numbers of those with a value show it, rows that wait for an outcome and the other side among
    them: the input that fewest lack counts everyone, as the risk always does."""
    whole: dict[tuple[str, str, str], int] = {}
    for row in rows:
        for side in _SIDES:
            at = (str(row["slice"]), str(row["against"]), side)
            whole[at] = max(whole.get(at, 0), row[side] or 0)
    for row in rows:
        sizes = [whole[str(row["slice"]), str(row["against"]), side] - (row[side] or 0) for side in _SIDES]
        if any(0 < size < k for size in sizes):
            yield from _places(row)


def _without_numbers(row: Row, reason: str = _LACKING) -> dict[str, Any]:
    """A difference alone. Its interval would give the numbers back, which the difference does not."""
    nothing = dict.fromkeys((*_SIDES, "low", "high"))
    return {**row, **nothing, "status": "withheld", "reason": reason}


def _sites(rows: Sequence[Row], hidden: set[str], k: int) -> list[dict[str, Any]]:
    found = []
    for row in _all_or_none(rows, "waiting", k):
        shares = {name: None if name in hidden else share for name, share in row["missing_inputs"].items()}
        found.append({**row, "missing_inputs": shares})
    delays = [(row["label_delay_days"] or {}).get("rows", 0) for row in found]
    sizes = [row["rows"] or 0 for row in found]
    if any(0 < n < k or (n and 0 < size - n < k) for n, size in zip(delays, sizes, strict=True)):
        found = [{**row, "label_delay_days": None} for row in found]
    return found


def _few_now(rows: Sequence[Row], differences: Sequence[Row], k: int) -> Iterator[str]:
    """Inputs that few of a window or of the baseline lack, by the shares that would be told of all their rows."""
    sizes: dict[str, list[int]] = {}
    for row in differences:
        held = sizes.setdefault(str(row["slice"].get("window")), [0, 0])
        held[:] = [max(n, row[side] or 0) for n, side in zip(held, _SIDES, strict=True)]
    for row in rows:
        if not str(row["input"]).endswith(MISSING_SUFFIX):
            continue
        now, before = sizes.get(str(row["window"]), (0, 0))
        for share, size in ((row.get("now"), now), (row.get("baseline"), before)):
            if share and (not size or 0 < round(share * size) < k):
                yield str(row["input"]).removesuffix(MISSING_SUFFIX)


def _all_or_none(rows: Sequence[Row], count: str, k: int) -> list[dict[str, Any]]:
    """Rows with a count, or all of them without where it is few in one: their total is told."""
    hidden = any(row[count] is None or 0 < row[count] < k for row in rows)
    return [{**row, count: None} if hidden else dict(row) for row in rows]
