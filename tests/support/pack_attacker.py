"""Someone who reads a pack and tries to work out the counts that were withheld from it. Shares no code with the audit.

Unknowns are the rows of every slice that the pack names, by outcome and by risk between successive thresholds. Every
figure in the pack is an equation between them: counts, shares times denominators, gaps added back, sizes from standard
errors, prevalence from two Brier scores. Two linear programmes then bound any count one likes, and whole numbers are
asked for where those leave it in doubt.

Who knows how the levels of different columns relate (that male "yes" is sex "M") gives that as `together`: the
combinations of levels that occur. `Both` holds two packs of one site against each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array, hstack, vstack

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

    def __init__(
        self, pack: dict[str, Any], together: list[dict[str, str]] | None = None, slices: list[Who] | None = None
    ) -> None:
        self.columns = [*pack["columns"], *(c for c in pack["holdings"]["groups"] if c not in pack["columns"])]
        self.thresholds = sorted(pack["settings"]["thresholds"])
        self.bins = len(self.thresholds) + 1
        named = [self._who(row["slice"]) for row in pack["estimates"]]
        named += [(c, level) for c, levels in pack["holdings"]["groups"].items() for level in levels]
        self.named: list[Who] = sorted({(), *named})
        self.atoms: list[Who] = [("atom", str(i), "") for i in range(len(together or ()))]
        self.slices: list[Who] = [*(slices or self.named), *self.atoms]
        self._place = {who: i for i, who in enumerate(self.slices)}
        self._withheld = {
            (self._who(row["slice"]), (row["metric"], row["slice"].get("threshold")))
            for row in pack["estimates"]
            if row["status"] == "withheld"
        }
        self._rows: list[np.ndarray] = []
        self._right: list[float] = []
        if not together:
            self._add_up(pack)
        for who in self.named if together else ():  # which holds all sums as well
            self._made_of(who, [atom for atom, one in zip(self.atoms, together, strict=True) if _inside(who, one)])
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
        for row in pack["holdings"]["inputs"]:
            if row["missing"] is not None and (row["input"], "missing") in self._place:
                self._equal(self.count(((row["input"], "missing"),)), row["missing"])

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

    def _about(self, vector: np.ndarray, value: float) -> None:
        """A count read off a standard error: it is whole, and the difference of two errors has lost digits."""
        if abs(value - round(value)) < 0.01:
            self._equal(vector, round(value))

    def _add_up(self, pack: dict[str, Any]) -> None:
        sums: list[tuple[Who, list[Who]]] = [((), [w for w in self.named if w and w[0] == c]) for c in self.columns]
        for first, second in pack["settings"]["intersections"]:
            crossed = [w for w in self.named if w and w[0] == f"{first} × {second}"]
            for place, parent in enumerate((first, second)):
                for w in self.named:
                    if w and w[0] == parent:
                        sums.append((w, [x for x in crossed if x[1].split(" × ")[place] == w[1]]))
        for whole, parts in sums:
            if parts:
                self._made_of(whole, parts)

    def _made_of(self, whole: Who, parts: list[Who]) -> None:
        for y in (0, 1):
            for b in range(self.bins):
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
            self._about(bottom, row["value"] * (1 - row["value"]) / row["se"] ** 2)

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
            others = tuple(w for w in self.named if w and w[0] == who[0] and w != who)
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
                self._about(bottom, value * (1 - value) / left)

    def programme(self) -> tuple[csr_array, np.ndarray, csr_array]:
        """Equations, their right sides, and rows that are at least 1: every group that is named holds someone."""
        least_one = csr_array(np.array([self.count((who,)) for who in self.named]))
        return csr_array(np.array(self._rows)), np.array(self._right), least_one

    def bounds(self, cell: Cell) -> tuple[int, int]:
        """The least and the greatest whole number that a count can be."""
        if not hasattr(self, "_programme"):
            self._programme = self.programme()
        return ends(self.count(cell.slices, cell.outcomes, cell.start, cell.stop), *self._programme)

    def cells(self) -> Iterator[Cell]:
        """Every count worth knowing: of each slice and of each set of withheld levels, by outcome and by risk."""
        ends = [(i, j) for i in range(self.bins) for j in range(i + 1, self.bins + 1)]
        for who in [*self.named, *self.atoms]:
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


def ends(
    vector: np.ndarray, matrix: csr_array, right: np.ndarray, least_one: csr_array, *, whole: bool = False
) -> tuple[int, int]:
    """The least and the greatest value of a count, by linear programmes or over whole numbers."""
    found = []
    for sign in (1, -1):
        if whole:
            solved = milp(
                sign * vector,
                integrality=np.ones(vector.size),
                bounds=Bounds(0, 1e7),
                constraints=[LinearConstraint(matrix, right - 1e-6, right + 1e-6), LinearConstraint(least_one, 1)],
            )
            assert solved.x is not None, solved.message
            found.append(sign * solved.fun)
            continue
        solved = linprog(
            sign * vector, A_eq=matrix, b_eq=right, A_ub=-least_one, b_ub=-np.ones(least_one.shape[0]),
            bounds=(0, None), method="highs",
        )  # fmt: skip
        assert solved.status in (0, 3), solved.message
        found.append(sign * solved.fun if solved.status == 0 else float("inf"))
    return ceil(found[0] - 1e-4), 10**9 if found[1] == float("inf") else floor(found[1] + 1e-4)


def recovered(
    pack: dict[str, Any],
    truth: dict[Who, np.ndarray],
    k: int,
    together: list[dict[str, str]] | None = None,
    *,
    exactly: bool = False,
) -> list[tuple[Cell, int, int]]:
    """Counts under k that the attacker narrows to fewer than k whole numbers, or, `exactly`, to a single one;
    `truth[who]` is [outcome, bin]."""
    attacker = Attacker(pack, together)
    found = []
    for cell in attacker.cells():
        value = sum(int(truth[who][list(cell.outcomes), cell.start : cell.stop].sum()) for who in cell.slices)
        if value >= k:
            continue
        low, high = attacker.bounds(cell)
        assert low <= value <= high, (cell, low, value, high)
        if low == high if exactly else high - low < k - 1:
            found.append((cell, low, high))
    return found


class Both:
    """Two packs of one site, of which the second holds everyone of the first and those who came since."""

    def __init__(self, first: dict[str, Any], second: dict[str, Any], together: list[dict[str, str]]) -> None:
        self.then = Attacker(first, together)
        named = sorted({*self.then.named, *Attacker(second).named})
        self.then = Attacker(first, together, named)
        self.now = Attacker(second, together, named)
        before, right_then, someone_then = self.then.programme()
        after, right_now, someone_now = self.now.programme()
        nothing = csr_array(before.shape)
        absent = [self.then.count((who,)) for who in named if who not in self.then.named]
        self._matrix = vstack([hstack([before, nothing]), hstack([after, after])], format="csr")
        self._right = np.concatenate([right_then, right_now])
        if absent:  # a group that the first pack did not name held nobody
            rows = csr_array(np.array(absent))
            self._matrix = vstack([self._matrix, hstack([rows, csr_array(rows.shape)])], format="csr")
            self._right = np.concatenate([self._right, np.zeros(len(absent))])
        self._someone = vstack(
            [hstack([someone_then, csr_array(someone_then.shape)]), hstack([someone_now, someone_now])], format="csr"
        )

    def recovered(
        self, then: dict[Who, np.ndarray], now: dict[Who, np.ndarray], k: int
    ) -> list[tuple[str, Cell, int, int]]:
        """Counts under k of then, of now, and of who came between (unless nobody did), narrowed to fewer than k."""
        found = []
        cells = dict.fromkeys([*self.then.cells(), *self.now.cells()])
        for cell in cells:
            vector = self.now.count(cell.slices, cell.outcomes, cell.start, cell.stop)
            none = np.zeros_like(vector)
            for what, whole in (("then", [vector, none]), ("now", [vector, vector]), ("came", [none, vector])):
                value = sum(_rows(what, then, now, who, cell) for who in cell.slices)
                if value >= k or (what == "came" and value == 0):
                    continue
                low, high = ends(np.concatenate(whole), self._matrix, self._right, self._someone)
                assert low <= value <= high, (what, cell, low, value, high)
                if high - low < k - 1:
                    found.append((what, cell, low, high))
        return found


def _rows(what: str, then: dict[Who, np.ndarray], now: dict[Who, np.ndarray], who: Who, cell: Cell) -> int:
    def count(truth: dict[Who, np.ndarray]) -> int:
        return int(truth[who][list(cell.outcomes), cell.start : cell.stop].sum()) if who in truth else 0

    return {"then": count(then), "now": count(now), "came": count(now) - count(then)}[what]


def _inside(who: Who, atom: dict[str, str]) -> bool:
    if not who:
        return True
    if " × " in who[0]:
        return all(atom[c] == level for c, level in zip(who[0].split(" × "), who[1].split(" × "), strict=True))
    return atom[who[0]] == who[1]


def combinations_of(table: dict[str, Any], columns: list[str]) -> list[dict[str, str]]:
    """The combinations of levels that occur."""
    levels = [["missing" if v in (None, "") else str(v) for v in table[c]] for c in columns]
    return [dict(zip(columns, one, strict=True)) for one in sorted(set(zip(*levels, strict=True)))]


def true_counts(
    table: dict[str, Any],
    columns: list[str],
    pairs: list[tuple[str, str]],
    thresholds: list[float],
    together: list[dict[str, str]] | None = None,
):
    """Rows of every slice by outcome and by risk between successive thresholds, from the table itself."""
    place = np.searchsorted(sorted(thresholds), np.asarray(table["risk"], dtype=float), side="right")
    outcome = np.asarray(table["outcome"], dtype=float).astype(int)
    levels = {c: np.array(["missing" if v in (None, "") else str(v) for v in table[c]]) for c in columns}
    for a, b in pairs:
        levels[f"{a} × {b}"] = np.array([f"{x} × {y}" for x, y in zip(levels[a], levels[b], strict=True)])
    masks: dict[Who, np.ndarray] = {(): np.ones(outcome.size, dtype=bool)}
    masks |= {(c, str(level)): levels[c] == level for c in levels for level in np.unique(levels[c])}
    for i, atom in enumerate(together or ()):
        masks["atom", str(i), ""] = np.all([levels[c] == level for c, level in atom.items()], axis=0)
    bins = len(thresholds) + 1
    return {
        who: np.array([np.bincount(place[rows & (outcome == y)], minlength=bins) for y in (0, 1)])
        for who, rows in masks.items()
    }
