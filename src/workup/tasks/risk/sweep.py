"""What each decision threshold would mean, over a grid, for everyone and by group. No threshold is preferred here."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workup.disclosure.differing_flags import told_by_column, told_settings
from workup.disclosure.risk_bands import risk_bands
from workup.metric import share_interval
from workup.scores import Levels, Scores
from workup.stats.arrays import Bools, Floats
from workup.stats.intervals import wilson

# Denser where most clinical thresholds lie.
GRID = (0.01, 0.02, 0.03, 0.05, 0.075, *(step / 100 for step in range(10, 45, 5)), 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
MOST_LEVELS = 12  # of a grouping whose groups are shown one by one
LEVEL = 0.95
Part = Mapping[str, Any]


def sweep(scores: Scores, thresholds: Sequence[float], *, smallest_cell: int = 1) -> dict[str, Any]:
    """Sensitivity, specificity, PPV, NPV, alerts per 100 rows and number needed to evaluate at every threshold of the
    grid and at those that the study names.

    By group, no two thresholds stand so near to each other that fewer patients of a group than `smallest_cell`, and not
    none, lie between them: those of the grid give way to those that the study names.
    """
    grid = sorted({*GRID, *thresholds})
    small, large = shown_groups(scores)
    untold = _untold(scores, thresholds, smallest_cell)
    rows = list(_rows({}, scores, grid))
    for key, own in small:
        [column] = key
        rows += _rows(key, scores.take(own), [at for at in grid if at not in untold[column]])
    return {"level": LEVEL, "rows": rows, "left_out": large}


def _untold(scores: Scores, thresholds: Sequence[float], k: int) -> dict[str, set[float]]:
    """By column, thresholds that are not told: of two that the study names the later, and of the grid each that few
    patients of a level set apart from the next that is told."""
    if k <= 1:
        return {name: set() for name in scores.groups}

    def flags(named: Iterable[float]) -> dict[float, list[Bools]]:
        return {at: [scores["risk"] >= at] for at in named}

    bands = risk_bands(scores, k)
    told = told_by_column(scores.groups, scores.patient, flags(thresholds), k=k, bands=bands)
    found: dict[str, set[float]] = {}
    for name, levels in scores.groups.items():
        kept = sorted(told[name])
        for step in GRID:
            place = bisect(kept, step)
            # Those between two thresholds are those between neighbours, added up: to look at these is enough.
            asked = flags((*kept[max(0, place - 1) : place + 1], step))
            may = told_settings(levels.codes, scores.patient, asked, k=k, within=name in bands)
            if step not in kept and step in may:
                kept.insert(place, step)
        found[name] = {*GRID, *thresholds} - set(kept)
    return found


def shown_groups(scores: Scores) -> tuple[list[tuple[dict[str, str], Any]], list[dict[str, Any]]]:
    """Every group of every column that has few enough levels, largest first; and the columns that have not."""
    shown: list[tuple[dict[str, str], Any]] = []
    left_out: list[dict[str, Any]] = []
    for name, levels in scores.groups.items():
        masks = _by_size(levels)
        if len(masks) > MOST_LEVELS:
            reason = f"{len(masks)} groups; at most {MOST_LEVELS} are shown one by one"
            left_out.append({"column": name, "reason": reason})
        else:
            shown += [({name: level}, rows) for level, rows in masks]
    return shown, left_out


def _by_size(levels: Levels) -> list[tuple[str, Any]]:
    masks = [(name, rows) for name, rows in levels.masks() if rows.any()]
    return sorted(masks, key=lambda item: (-int(item[1].sum()), item[0]))


def _rows(key: Mapping[str, str], scores: Scores, grid: Sequence[float]) -> Iterator[dict[str, Any]]:
    y, p = scores["outcome"], scores["risk"]
    share = _shares(scores)
    for threshold in grid:
        flagged = (p >= threshold).astype(np.float64)
        ppv = share(flagged * y, flagged, "no row is flagged")
        yield {
            "slice": dict(key),
            "threshold": float(threshold),
            "n_patients": scores.n_patients,
            "n_rows": len(scores),
            "n_events": int(y.sum()),
            "sensitivity": share(flagged * y, y, "no rows with the event"),
            "specificity": share((1 - flagged) * (1 - y), 1 - y, "no rows without the event"),
            "ppv": ppv,
            "npv": share((1 - flagged) * (1 - y), 1 - flagged, "every row is flagged"),
            "alerts_per_100": _times_100(share(flagged, np.ones(len(scores)), "no rows")),
            "needed_to_evaluate": needed_to_evaluate(ppv),
        }


def _shares(scores: Scores) -> Callable[[Floats, Floats, str], dict[str, Any]]:
    """A share of rows with the interval that the same share has at a named threshold."""
    weight, independent = scores.base_weight, scores.independent

    def share(top: Floats, bottom: Floats, undefined: str) -> dict[str, Any]:
        n = float(weight @ bottom)
        if not n > 0:
            return {"value": None, "low": None, "high": None, "n": 0.0, "reason": f"undefined: {undefined}"}
        value = float(weight @ top) / n
        if independent:  # what share_interval answers too, without looking for repeated patients every time
            low, high = wilson(value, n, level=LEVEL)
            return {"value": value, "low": low, "high": high, "n": n}
        found = share_interval(top, bottom, scores, LEVEL)
        row = {"value": value, "low": found.low, "high": found.high, "n": n}
        return row if found.status == "ok" else {**row, "reason": f"{found.status}: {found.reason}"}

    return share


def _times_100(share: Part) -> dict[str, Any]:
    return {**share, **{key: None if share[key] is None else 100 * share[key] for key in ("value", "low", "high")}}


def needed_to_evaluate(ppv: Part) -> dict[str, Any]:
    """How many alerts are looked at for one event: 1/PPV, its ends those of the PPV turned over.

    Null where the PPV is; and where it is 0, since no number of alerts was enough.
    """
    none = {"value": None, "low": None, "high": None, "n": ppv["n"]}
    if ppv["value"] is None:
        return {**none, "reason": ppv["reason"]}
    if ppv["value"] == 0:
        return {**none, "reason": "undefined: no flagged row has the event"}
    row = {"value": 1 / ppv["value"], "low": _over(ppv["high"]), "high": _over(ppv["low"]), "n": ppv["n"]}
    return {**row, "reason": ppv["reason"]} if "reason" in ppv else row


def _over(end: float | None) -> float | None:
    """An end of PPV so near 0 that a million alerts would be looked at for one event gives no end at all."""
    return 1 / end if end is not None and end > 1e-6 else None
