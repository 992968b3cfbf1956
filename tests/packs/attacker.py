"""Someone who reads a pack and tries to work out the counts that were withheld from it. Shares no code with the audit.

Unknowns are the rows of every slice that the pack names, by outcome and by risk between successive thresholds. Every
figure in the pack is an equation between them: counts, shares times denominators, gaps added back, sizes from standard
errors, prevalence from two Brier scores. Two linear programmes then bound any count one likes.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

Who = tuple[str, ...]
SHARES = ("sensitivity", "specificity", "ppv", "npv", "accuracy", "alert_rate")


class Cell(NamedTuple):
    """A count of people: in these slices, with these outcomes, in risk bins [start, stop)."""

    slices: tuple[Who, ...]
    outcomes: tuple[int, ...]
    start: int
    stop: int


class Attacker:
    """All that can be inferred from one pack."""

    def __init__(self, pack: dict[str, Any]) -> None:
        self.columns = [*pack["columns"], *(c for c in pack["holdings"]["groups"] if c not in pack["columns"])]
        self.thresholds = sorted(pack["settings"]["thresholds"])
        self.bins = len(self.thresholds) + 1
        named = [self._who(row["slice"]) for row in pack["estimates"]]
        named += [(c, level) for c, levels in pack["holdings"]["groups"].items() for level in levels]
        self.slices: list[Who] = sorted({(), *named})
        self._place = {who: i for i, who in enumerate(self.slices)}
        self._withheld = {
            (self._who(row["slice"]), (row["metric"], row["slice"].get("threshold")))
            for row in pack["estimates"]
            if row["status"] == "withheld"
        }
        self._rows: list[np.ndarray] = []
        self._right: list[float] = []
        self._add_up(pack)
        for row in pack["estimates"]:
            if row["status"] != "withheld":
                self._read(row)
        self._brier(pack)
        for row in pack["gaps"]:
            if row["status"] == "ok":
                self._gap(row, pack)
        for c, levels in pack["holdings"]["groups"].items():
            for level, size in levels.items():
                if size["rows"] is not None:
                    self._equal(self.count(((c, level),)), size["rows"])

    def _who(self, keys: dict[str, Any]) -> Who:
        own = [c for c in self.columns if c in keys]
        return (own[0], keys[own[0]]) if own else ()

    def count(
        self, slices: tuple[Who, ...], outcomes: tuple[int, ...] = (0, 1), start: int = 0, stop: int | None = None
    ) -> np.ndarray:
        """The vector of a count."""
        vector = np.zeros((len(self.slices), 2, self.bins))
        for who in slices:
            for y in outcomes:
                vector[self._place[who], y, start : self.bins if stop is None else stop] = 1
        return vector.ravel()

    def _equal(self, vector: np.ndarray, value: float) -> None:
        self._rows.append(vector)
        self._right.append(value)

    def _add_up(self, pack: dict[str, Any]) -> None:
        sums: list[tuple[Who, list[Who]]] = [((), [w for w in self.slices if w and w[0] == c]) for c in self.columns]
        for first, second in pack["settings"]["intersections"]:
            crossed = [w for w in self.slices if w and w[0] == f"{first} × {second}"]
            for place, parent in enumerate((first, second)):
                for w in self.slices:
                    if w and w[0] == parent:
                        sums.append((w, [x for x in crossed if x[1].split(" × ")[place] == w[1]]))
        for whole, parts in sums:
            for y in (0, 1):
                for b in range(self.bins) if parts else ():
                    inside = self.count(tuple(parts), (y,), b, b + 1)
                    self._equal(self.count((whole,), (y,), b, b + 1) - inside, 0.0)

    def _fraction(self, metric: str, who: Who, at: float) -> tuple[np.ndarray, np.ndarray]:
        """Numerator and denominator of a figure at a threshold, as vectors of counts."""
        cut = self.thresholds.index(at) + 1
        tp, fp = self.count((who,), (1,), cut), self.count((who,), (0,), cut)
        events, others = self.count((who,), (1,)), self.count((who,), (0,))
        everyone = events + others
        fn, tn = events - tp, others - fp
        odds = at / (1 - at)
        return {
            "sensitivity": (tp, events),
            "specificity": (tn, others),
            "ppv": (tp, tp + fp),
            "npv": (tn, tn + fn),
            "accuracy": (tp + tn, everyone),
            "alert_rate": (tp + fp, everyone),
            "f1": (2 * tp, tp + fp + events),
            "net_benefit": (tp - odds * fp, everyone),
        }[metric]

    def _read(self, row: dict[str, Any]) -> None:
        who = self._who(row["slice"])
        self._equal(self.count((who,)), row["n_rows"])
        if row["n_events"] is not None:
            self._equal(self.count((who,), (1,)), row["n_events"])
        at = row["slice"].get("threshold")
        if at is None:
            return
        top, bottom = self._fraction(row["metric"], who, at)
        if row["numerator"] is not None:
            self._equal(top, row["numerator"])
            self._equal(bottom, row["denominator"])
        if row["value"] is not None:
            self._equal(top - row["value"] * bottom, 0.0)
        if row["metric"] in SHARES and row["method"] == "Wilson" and row["se"]:
            self._equal(bottom, row["value"] * (1 - row["value"]) / row["se"] ** 2)

    def _brier(self, pack: dict[str, Any]) -> None:
        """scaled = 1 - brier / (p (1 - p)): two scores give the prevalence, whoever withheld the events."""
        found: dict[Who, dict[str, float]] = {}
        for row in pack["estimates"]:
            if row["metric"] in ("brier", "scaled_brier") and row["status"] == "ok":
                found.setdefault(self._who(row["slice"]), {})[row["metric"]] = row["value"]
        for who, both in found.items():
            if len(both) == 2 and both["scaled_brier"] < 1:
                null = both["brier"] / (1 - both["scaled_brier"])
                share = (1 - np.sqrt(max(0.0, 1 - 4 * null))) / 2
                self._prevalence = {**getattr(self, "_prevalence", {}), who: float(share)}

    def _gap(self, row: dict[str, Any], pack: dict[str, Any]) -> None:
        """Own value less the gap is the value of the others, and the standard error gives their size."""
        who, at = self._who(row["slice"]), row["slice"].get("threshold")
        if at is None:
            return
        own = next((e for e in pack["estimates"] if e["metric"] == row["metric"] and e["slice"] == row["slice"]), None)
        others: tuple[Who, ...]
        if row["against"] == "rest":
            others = tuple(w for w in self.slices if w and w[0] == who[0] and w != who)
        elif row["against"] == "overall":
            others = ((),)
        else:
            others = ((who[0], row["against"]),)
        parts = [self._fraction(row["metric"], one, at) for one in others]
        top, bottom = sum(p[0] for p in parts), sum(p[1] for p in parts)
        if own is not None and own["status"] == "ok":
            value = own["value"] - row["value"]
            self._equal(top - value * bottom, 0.0)
            left = (row["se"] or 0) ** 2 - (own["se"] or 0) ** 2
            if row["metric"] in SHARES and row["method"].endswith("Wilson") and left > 1e-12 and 0 < value < 1:
                self._equal(bottom, value * (1 - value) / left)

    def bounds(self, cell: Cell) -> tuple[int, int]:
        """The least and the greatest whole number that a count can be."""
        vector = self.count(cell.slices, cell.outcomes, cell.start, cell.stop)
        least_one = np.array([-self.count((who,)) for who in self.slices])
        ends = []
        for sign in (1, -1):
            found = linprog(
                sign * vector,
                A_eq=np.array(self._rows),
                b_eq=np.array(self._right),
                A_ub=least_one,
                b_ub=-np.ones(len(self.slices)),
                bounds=(0, None),
                method="highs",
            )
            assert found.status in (0, 3), found.message
            ends.append(sign * found.fun if found.status == 0 else float("inf"))
        return ceil(ends[0] - 1e-4), 10**9 if ends[1] == float("inf") else floor(ends[1] + 1e-4)

    def cells(self) -> Iterator[Cell]:
        """Every count worth knowing: of each slice and of each set of withheld levels, by outcome and by risk."""
        ends = [(i, j) for i in range(self.bins) for j in range(i + 1, self.bins + 1)]
        for who in self.slices:
            for outcomes in ((0, 1), (1,), (0,)):
                yield from (Cell((who,), outcomes, i, j) for i, j in ends)
        for column in self.columns:
            for together in self._silent(column):
                for outcomes in ((0, 1), (1,), (0,)):
                    yield from (Cell(together, outcomes, i, j) for i, j in ends)

    def _silent(self, column: str) -> set[tuple[Who, ...]]:
        """Levels of a column that say nothing at all, or nothing at a threshold, taken together."""
        found = set()
        for kind in {kind for who, kind in self._withheld if who and who[0] == column}:
            together = tuple(sorted(who for who, one in self._withheld if one == kind and who and who[0] == column))
            if len(together) > 1:
                found.add(together)
        return found


def recovered(pack: dict[str, Any], truth: dict[Who, np.ndarray], k: int) -> list[tuple[Cell, int, int]]:
    """Counts under k that the attacker narrows to fewer than k whole numbers; `truth[who]` is [outcome, bin]."""
    attacker = Attacker(pack)
    found = []
    for cell in attacker.cells():
        value = sum(int(truth[who][list(cell.outcomes), cell.start : cell.stop].sum()) for who in cell.slices)
        if value >= k:
            continue
        low, high = attacker.bounds(cell)
        assert low <= value <= high, (cell, low, value, high)
        if high - low < k - 1:
            found.append((cell, low, high))
    return found


def true_counts(table: dict[str, Any], columns: list[str], pairs: list[tuple[str, str]], thresholds: list[float]):
    """Rows of every slice by outcome and by risk between successive thresholds, from the table itself."""
    place = np.searchsorted(sorted(thresholds), np.asarray(table["risk"], dtype=float), side="right")
    outcome = np.asarray(table["outcome"], dtype=float).astype(int)
    levels = {c: np.array(["missing" if v in (None, "") else str(v) for v in table[c]]) for c in columns}
    for a, b in pairs:
        levels[f"{a} × {b}"] = np.array([f"{x} × {y}" for x, y in zip(levels[a], levels[b], strict=True)])
    masks: dict[Who, np.ndarray] = {(): np.ones(outcome.size, dtype=bool)}
    masks |= {(c, str(level)): levels[c] == level for c in levels for level in np.unique(levels[c])}
    bins = len(thresholds) + 1
    return {
        who: np.array([np.bincount(place[rows & (outcome == y)], minlength=bins) for y in (0, 1)])
        for who, rows in masks.items()
    }
