"""Rows of Scores as they are gathered: one per document with its design and its counts, folded where there are many.

Knows names of columns only. Folding adds up documents of one patient, site, time and group, so that a corpus of a
million notes needs no more memory than its patients do."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int32]
MANY = 200_000  # documents that are held one by one before equal designs are added up
_LEAST_GAIN = 2  # folding that does not halve the rows is not tried again before they have doubled


class Rows:
    """Grows by batches; `keys` says what each row is of, `columns` what was counted there."""

    def __init__(self, *, many: int = MANY) -> None:
        self.keys: list[Hashable] = []
        self.folded = False
        self._parts: dict[str, list[Counts]] = {}
        self._limit = many

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, keys: Sequence[Hashable], columns: Mapping[str, npt.NDArray[Any]]) -> None:
        """More rows; every batch has the same columns."""
        self.keys.extend(keys)
        for name, column in columns.items():
            self._parts.setdefault(name, []).append(np.asarray(column, dtype=np.int32))

    def fold(self) -> Whole | None:
        """Where there are many rows, add up those with one key; gives the new place of each old row, if so."""
        if len(self.keys) <= self._limit:
            return None
        place: dict[Hashable, int] = {}
        new = np.fromiter((place.setdefault(key, len(place)) for key in self.keys), np.int64, len(self.keys))
        self._limit = max(self._limit, len(place) * _LEAST_GAIN)
        if len(place) == len(self.keys):
            return None
        self._parts = {name: [_added(self.column(name), new, len(place))] for name in self._parts}
        self.keys, self.folded = list(place), True
        return new

    def column(self, name: str) -> Counts:
        """One column whole."""
        parts = self._parts[name]
        if len(parts) > 1:
            self._parts[name] = parts = [np.concatenate(parts)]
        return parts[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._parts)


class Cells:
    """Counts by row and label, kept only where there are any: what recall by type is made from."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self._code: dict[str, int] = {}
        self._row: list[Whole] = []
        self._label: list[Whole] = []
        self._parts: dict[str, list[Counts]] = {}

    def add(self, row: Whole, label: Whole, names: Sequence[str], columns: Mapping[str, Counts]) -> None:
        """Cells of more rows; `label` counts into `names`."""
        for name in names:
            if name not in self._code:
                self._code[name] = len(self.labels)
                self.labels.append(name)
        self._row.append(row)
        self._label.append(np.array([self._code[name] for name in names], dtype=np.int64)[label])
        for name, column in columns.items():
            self._parts.setdefault(name, []).append(np.asarray(column, dtype=np.int32))

    def fold(self, new: Whole) -> None:
        """Follow rows that were added up."""
        row, label = new[self.row], self.label
        joint = row * len(self.labels) + label
        found, place = np.unique(joint, return_inverse=True)
        self._parts = {name: [_added(self.column(name), place, len(found))] for name in self._parts}
        self._row, self._label = [found // len(self.labels)], [found % len(self.labels)]

    @property
    def row(self) -> Whole:
        """The row of each cell."""
        return np.concatenate([np.empty(0, np.int64), *self._row])

    @property
    def label(self) -> Whole:
        """The label of each cell, a place in `labels`."""
        return np.concatenate([np.empty(0, np.int64), *self._label])

    def column(self, name: str) -> Counts:
        """One column whole."""
        return np.concatenate([np.empty(0, np.int32), *self._parts.get(name, [])])


def _added(column: Counts, place: Whole, n: int) -> Counts:
    return np.bincount(place, weights=column, minlength=n).astype(np.int32)
