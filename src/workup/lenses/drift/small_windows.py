"""Windows of few patients, and groups of few within a window: which of them the drift lens does not look at, and what
its result says in their place. Knows the form of that result; judges nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from workup.disclosure.small_cells import Cell, withheld_cells
from workup.lenses.drift.monitor.state import ACTED
from workup.lenses.drift.windows import Window
from workup.lenses.withholding import FEW, without_small_counts
from workup.report import LensResult
from workup.scores import OUTCOME, Levels, Scores
from workup.stats.arrays import Bools

BASELINE = "baseline"
_COUNTS = ("rows", "patients", "events", "waiting")
_FIGURES = ("value", "se", "z", "statistic", "lower", "upper")
_TOO_FEW = re.compile(r"\d+(?:\.\d+)? (rows count in it|rows without the event|rows|events|patients); at least (\d+)")
_LISTED_ROWS = re.compile(r" \(\d+ rows\)")
_CHANGED = re.compile(r"rows that were not acted on changed by .*")


@dataclass(frozen=True)
class Untold:
    """Windows of which nothing is told, and cells of window, column and level; the baseline as a whole is a window too.

    `same` are inputs that are groups under another name or the same.
    """

    k: int = 1
    windows: frozenset[str] = frozenset()
    cells: frozenset[Cell] = frozenset()
    same: Mapping[str, str] | None = None

    @classmethod
    def of(
        cls,
        scores: Scores,
        before: Sequence[Window],
        later: Sequence[Window],
        by: Sequence[str],
        *,
        k: int,
        withheld: Bools | None,
    ) -> Untold:
        """What may not be told of these windows, where the rows that are `withheld` are in windows of few or keep them
        company."""
        if k <= 1:
            return cls()
        hidden = np.zeros(len(scores), dtype=bool) if withheld is None else withheld
        names = frozenset(window.name for window in (*before, *later) if hidden[window.rows].any())
        places = np.full(len(scores), len(later) + 1, dtype=np.int64)
        for i, window in enumerate(later):
            places[window.rows] = i
        for window in before:
            places[window.rows] = len(later)
        parts = Levels(places, (*(window.name for window in later), BASELINE, ""))
        groupings = {name: scores.groups[name] for name in by}
        if ACTED in scores.values:
            groupings[ACTED] = Levels.of(np.where(scores[ACTED] == 0, "no", "yes"))
        last = next((window.name for window in reversed(later) if window.status == "ok"), "")
        cells = withheld_cells(
            parts,
            groupings,
            scores.patient,
            k=k,
            untold=("", *names),
            outcome=scores[OUTCOME] > 0 if OUTCOME in scores.values else None,
            wanted=(BASELINE, last),
            once=(ACTED,),
        )
        same = {
            name: group
            for name, column in scores.inputs.items()
            for group in by
            if name == group or (isinstance(column, Levels) and _alike(column, scores.groups[group]))
        }
        return cls(k, names, frozenset(cells), same)

    def marked(self, windows: Sequence[Window]) -> list[Window]:
        """The same windows, those that are withheld all with one status and reason: which of them is small is not
        said."""
        return [
            replace(window, status="insufficient", reason=FEW) if window.name in self.windows else window
            for window in windows
        ]

    def groups(self, window: str) -> frozenset[tuple[str, str]]:
        """Column and level of every group that is not told in a window."""
        return frozenset((column, level) for part, column, level in self.cells if part == window)

    def inputs(self, window: str) -> frozenset[str]:
        """Inputs that would tell of such groups, in this window or in the baseline that it is compared with."""
        columns = {column for part, column, _ in self.cells if part in (window, BASELINE)}
        return frozenset(name for name, group in (self.same or {}).items() if group in columns)

    def left_out(self, result: LensResult) -> LensResult:
        """The result without counts of what is not told. Figures of it there are none."""
        if self.k <= 1:
            return result
        tables = {
            name: [self._row(row) for row in rows] if isinstance(rows, list) else rows
            for name, rows in result.tables.items()
        }
        tables["windows"] = [self._window(row) for row in tables["windows"]]
        tables["held_back"] = [self._held_back(row) for row in tables.get("held_back", ())]
        return replace(
            result,
            tables=tables,
            notes=tuple(self._note(note) for note in result.notes),
            charts_state=tuple(self._row(row) for row in result.charts_state),
        )

    def _note(self, note: str) -> str:
        if self.windows or self.cells:
            note = _LISTED_ROWS.sub("", note)
        return without_small_counts(note, self.k)

    def _window(self, row: Mapping[str, Any]) -> dict[str, Any]:
        if row["window"] in self.windows:
            return {**row, **dict.fromkeys(_COUNTS)}
        few = row["waiting"] is not None and 0 < row["waiting"] < self.k
        return {**row, "waiting": None} if few else dict(row)

    def _row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A reason may count rows of a group in a window; it does not where a group of that column is withheld."""
        said = row.get("reason")
        if not isinstance(said, str):
            return dict(row)
        keys, window = row.get("slice") or {}, row.get("window")
        if "statistic" in row and (window in self.windows or self.groups(str(window)) & set(keys.items())):
            return {**row, **dict.fromkeys(_FIGURES), "status": "insufficient", "reason": FEW}
        if any(column in keys and part in (window, BASELINE) for part, column, _ in self.cells):
            said = _without_counts(said)
        return {**row, "reason": without_small_counts(said, self.k)}

    def _held_back(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Rows that no one acted on, less all rows of the window, are those that someone did."""
        said = _without_counts(str(row["reason"]))
        few = any(column == ACTED and part in (row["window"], BASELINE) for part, column, _ in self.cells)
        if few or set(row.get("slice") or {}) & {column for _, column, _ in self.cells}:
            said = _CHANGED.sub("rows that were not acted on did not change as much", said)
        return {**row, "reason": said}


@lru_cache(maxsize=4096)
def _without_counts(text: str) -> str:
    """A reason that says what is needed and not what there is.

    >>> _without_counts("in the group: 99 rows; at least 100 are needed")
    'in the group: fewer rows than the 100 that are needed'
    """
    return _TOO_FEW.sub(r"fewer \1 than the \2 that", text)


def _alike(column: Levels, group: Levels) -> bool:
    """Are two columns the same grouping, whatever their levels are called?"""
    pairs = np.unique(np.column_stack([column.codes, group.codes]), axis=0)
    return len(pairs) == np.unique(column.codes).size == np.unique(group.codes).size
