"""Rows of Scores as they are gathered: one per document with its design and its counts, folded where there are many.

Knows names of columns only. Folding adds up documents of one patient, site, time and group, so that a corpus of a
million notes needs no more memory than its patients do."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Ints

_Small = npt.NDArray[np.integer[Any]]
MANY = 100_000  # documents that are held one by one before equal designs are added up
_LEAST_GAIN = 2  # folding that does not halve the rows is not tried again before they have doubled


class Rows:
    """Grows by batches; `keys` says what each row is of, `columns` what was counted there."""

    def __init__(self, *, many: int = MANY) -> None:
        self.keys: list[Hashable] = []
        self.folded = False
        self._parts: dict[str, list[_Small]] = {}
        self._limit = many

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, keys: Sequence[Hashable], columns: Mapping[str, npt.NDArray[Any]]) -> None:
        """More rows; every batch has the same columns."""
        self.keys.extend(keys)
        for name, column in columns.items():
            self._parts.setdefault(name, []).append(_small(column))

    def fold(self) -> Ints | None:
        """Where there are many rows, add up those with one key; gives the new place of each old row, if so."""
        if len(self.keys) <= self._limit:
            return None
        place: dict[Hashable, int] = {}
        new = np.fromiter((place.setdefault(key, len(place)) for key in self.keys), np.int64, len(self.keys))
        self._limit = max(self._limit, len(place) * _LEAST_GAIN)
        if len(place) == len(self.keys):
            return None
        for name in self._parts:  # one after another, so that only one column is held twice
            self._parts[name] = [_added(self.column(name), new, len(place))]
        self.keys, self.folded = list(place), True
        return new

    def column(self, name: str) -> Ints:
        """One column whole."""
        parts = self._parts[name]
        if len(parts) > 1:
            self._parts[name] = parts = [np.concatenate(parts)]
        return parts[0].astype(np.int64)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._parts)


class Cells:
    """Counts by row and label, kept only where there are any: what recall by type is made from."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self._code: dict[str, int] = {}
        self._row: list[_Small] = []
        self._label: list[_Small] = []
        self._parts: dict[str, list[_Small]] = {}

    def add(self, row: Ints, label: Ints, names: Sequence[str], columns: Mapping[str, npt.NDArray[Any]]) -> None:
        """Cells of more rows; `label` counts into `names`."""
        for name in names:
            if name not in self._code:
                self._code[name] = len(self.labels)
                self.labels.append(name)
        self._row.append(_small(row))
        self._label.append(_small(np.array([self._code[name] for name in names], dtype=np.int64)[label]))
        for name, column in columns.items():
            self._parts.setdefault(name, []).append(_small(column))

    def fold(self, new: Ints) -> None:
        """Follow rows that were added up."""
        joint = new[self.row] * max(1, len(self.labels)) + self.label
        found, place = np.unique(joint, return_inverse=True)
        for name in self._parts:  # one after another, so that only one column is held twice
            self._parts[name] = [_added(self.column(name), place, len(found))]
        row, label = np.divmod(found, max(1, len(self.labels)))
        self._row, self._label = [_small(row)], [_small(label)]

    @property
    def row(self) -> Ints:
        """The row of each cell."""
        return np.concatenate([np.empty(0, np.int64), *self._row]).astype(np.int64)

    @property
    def label(self) -> Ints:
        """The label of each cell, a place in `labels`."""
        return np.concatenate([np.empty(0, np.int64), *self._label]).astype(np.int64)

    def column(self, name: str) -> Ints:
        """One column whole."""
        return np.concatenate([np.empty(0, np.int64), *self._parts.get(name, [])]).astype(np.int64)


def _added(column: Ints, place: Ints, n: int) -> _Small:
    return _small(np.bincount(place, weights=column, minlength=n))


def _small(column: npt.NDArray[Any]) -> _Small:
    """Counts in the fewest bytes that hold them: most are below 256, and there are many columns."""
    whole = np.asarray(column).astype(np.int64)
    if whole.min(initial=0) < 0:
        return whole
    return whole.astype(np.min_scalar_type(int(whole.max(initial=0))))
