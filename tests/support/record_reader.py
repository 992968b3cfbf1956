"""Someone who holds a report and tries to work out how many people, and how many events, a withheld group has.

Shares no code with what decides. Knows the worst that can be known beside the report: which combinations of levels
occur among the patients at all. Every count of the record is an equation between the cells of these combinations, and
two linear programmes bound any count one likes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linprog

from workup.report import Report


def counts_in(node: Any, found: list[tuple[dict[str, str], dict[str, float]]] | None = None) -> Any:
    """Every slice in a record with the counts that stand beside it."""
    found = [] if found is None else found
    if isinstance(node, Mapping):
        keys = node.get("slice")
        if isinstance(keys, Mapping):
            own = {str(k): str(v) for k, v in keys.items() if isinstance(v, str)}
            told = {n: node[n] for n in ("n_patients", "n_rows", "n_events") if isinstance(node.get(n), (int, float))}
            if told.get("n_rows"):
                found.append((own, told))
        for one in node.values():
            counts_in(one, found)
    elif isinstance(node, (list, tuple)):
        for one in node:
            counts_in(one, found)
    return found


class Reader:
    """All that follows from the counts of a record about rows, by outcome."""

    def __init__(self, report: Report, columns: Mapping[str, Sequence[str]]) -> None:
        self._record = report.as_dict()
        names = list(columns)
        rows = list(zip(*(map(str, columns[name]) for name in names), strict=True))
        self._cells = sorted(set(rows))
        self._member = {
            (name, level): np.array([cell[i] == level for cell in self._cells])
            for i, name in enumerate(names)
            for level in {cell[i] for cell in self._cells}
        }
        self._crossed: dict[str, tuple[str, str]] = {
            f"{a} × {b}": (a, b) for a in names for b in names if f"{a} × {b}" in str(self._record["results"])
        }
        self.withheld = {row["column"]: row for row in self._tables("withheld_groups")}
        self._left: list[np.ndarray] = []
        self._right: list[float] = []
        for keys, told in counts_in(self._record["results"]):
            rows_of = self._rows(keys)
            if rows_of is not None:
                self._equal(rows_of, "rows", told["n_rows"])
                if "n_events" in told:
                    self._equal(rows_of, "events", told["n_events"])

    def _tables(self, name: str) -> Iterator[Mapping[str, Any]]:
        for result in self._record["results"].values():
            yield from result["tables"].get(name, ())

    def _rows(self, keys: Mapping[str, str]) -> np.ndarray | None:
        """The cells of a slice; None where it is of something else, such as a window."""
        inside = np.ones(len(self._cells), dtype=bool)
        for key, value in keys.items():
            own = self._of_level(key, value)
            if own is None:
                return None
            inside &= own
        return inside

    def _of_level(self, key: str, value: str) -> np.ndarray | None:
        if (key, value) in self._member:
            return self._member[key, value]
        held = self.withheld.get(key)
        if held is not None and value == held["together"]:
            parts = [self._of_level(key, level) for level in held["levels"]]
            return np.any([part for part in parts if part is not None], axis=0)
        if key in self._crossed:
            first, second = value.split(" × ")
            one, other = self._of_level(self._crossed[key][0], first), self._of_level(self._crossed[key][1], second)
            return None if one is None or other is None else one & other
        return None

    def _vector(self, inside: np.ndarray, what: str) -> np.ndarray:
        """Cells hold non-events first, then events."""
        return np.concatenate([inside if what == "rows" else np.zeros_like(inside), inside]).astype(float)

    def _equal(self, inside: np.ndarray, what: str, value: float) -> None:
        self._left.append(self._vector(inside, what))
        self._right.append(float(value))

    def bounds(self, key: str, level: str, what: str) -> tuple[float, float]:
        """The least and the most of a count that agree with all of the record."""
        inside = self._of_level(key, level)
        assert inside is not None
        ends = []
        for sign in (1, -1):
            goal = sign * self._vector(inside, what)
            found = linprog(goal, A_eq=np.array(self._left), b_eq=self._right, bounds=(0, None), method="highs")
            assert found.status == 0, found.message
            ends.append(round(sign * found.fun, 6))
        return ends[0], ends[1]
