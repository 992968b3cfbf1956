"""Scores: the one table every lens reads. Numbers and study design, never source text, and no knowledge of the task."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from workup.errors import InputError
from workup.stats.arrays import Bools, Floats, Ints

MISSING = "missing"
CROSS = " × "  # between the names of two groupings that are crossed, and between their levels
# Columns of `values` that lenses know, where a task has them: whether the event happened, and the chance of it that the
# system gave.
OUTCOME, RISK = "outcome", "risk"
Kept = TypeVar("Kept")
_MAKING = threading.RLock()  # workers that share rows make a thing once, not each for itself


@dataclass(frozen=True, eq=False)
class Levels:
    """A grouping of rows: a code per row and the names of the codes. A missing value is a level of its own.

    >>> sex = Levels.of(["F", None, "M", "F"])
    >>> sex.names, sex.codes.tolist()
    (('F', 'M', 'missing'), [0, 2, 1, 0])
    """

    codes: Ints
    names: tuple[str, ...]

    @classmethod
    def of(cls, values: Sequence[Any] | npt.NDArray[Any]) -> Levels:
        """Code a column; the names are sorted, with "missing" last."""
        texts = [level_name(value) for value in np.asarray(values, dtype=object).tolist()]
        names = sorted(set(texts) - {MISSING}) + ([MISSING] if MISSING in texts else [])
        index = {name: code for code, name in enumerate(names)}
        return cls(np.fromiter((index[text] for text in texts), dtype=np.int64, count=len(texts)), tuple(names))

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: npt.NDArray[Any]) -> Levels:
        """The same names over a choice of rows."""
        return Levels(self.codes[rows], self.names)

    def masks(self) -> Iterator[tuple[str, Bools]]:
        """Each level with the rows it holds, in the order of the names; an empty level is kept."""
        for code, name in enumerate(self.names):
            yield name, self.codes == code

    def crossed(self, other: Levels) -> Levels:
        """Every combination of two groupings that occurs, named "a × b"."""
        pairs = self.codes * len(other.names) + other.codes
        found, codes = np.unique(pairs, return_inverse=True)
        names = tuple(self.names[p // len(other.names)] + CROSS + other.names[p % len(other.names)] for p in found)
        return Levels(codes.astype(np.int64), names)


def level_name(value: Any) -> str:
    """The text under which a grouping value is reported; whole floats lose their ".0", absent values are "missing"."""
    if value is None:
        return MISSING
    if isinstance(value, (float, np.floating)):
        if np.isnan(value):
            return MISSING
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    if isinstance(value, (np.datetime64, np.timedelta64)) and np.isnat(value):
        return MISSING
    text = str(value).strip()
    return text if text else MISSING


@dataclass(frozen=True, eq=False)
class Scores:
    """Rows of numbers with their design: which patient, site, time and groups each row belongs to.

    `patient` holds counters 0, 1, … and not the ids themselves. `icc` is how alike rows of one patient are taken to
    be where the data cannot show it; None is the customary third. `weight` is a design weight (sampling or censoring),
    1 where absent; every metric sees it multiplied into the weights a lens chose. `inputs` are what the system was
    shown (numbers with NaN, or levels), for completeness and drift; `waiting` are rows whose answer is not known yet.
    Two columns of `values` mean the same in every task: `label_delay` (days until the answer was known, NaN where
    unknown) and `acted` (1 where someone acted on the output).
    """

    values: Mapping[str, Floats]
    patient: Ints
    site: Levels | None = None
    time: npt.NDArray[np.datetime64] | None = None
    groups: Mapping[str, Levels] = field(default_factory=dict)
    weight: Floats | None = None
    inputs: Mapping[str, Floats | Levels] = field(default_factory=dict)
    waiting: Scores | None = None
    icc: float | None = None

    @classmethod
    def of(
        cls,
        values: Mapping[str, Any],
        *,
        patient: Sequence[Any] | npt.NDArray[Any] | None = None,
        site: Sequence[Any] | npt.NDArray[Any] | None = None,
        time: npt.NDArray[np.datetime64] | None = None,
        groups: Mapping[str, Sequence[Any] | npt.NDArray[Any]] | None = None,
        weight: Any = None,
        inputs: Mapping[str, npt.NDArray[Any]] | None = None,
        waiting: Scores | None = None,
    ) -> Scores:
        """Build from plain columns. Without `patient` every row is a patient of its own.

        >>> Scores.of({"risk": [0.1, 0.9, 0.4]}, patient=["a", "b", "a"]).patient.tolist()
        [0, 1, 0]
        """
        columns = {name: np.ascontiguousarray(column, dtype=np.float64) for name, column in values.items()}
        if not columns:
            raise InputError("Scores needs at least one column of values", got="none")
        n = len(next(iter(columns.values())))
        codes = np.arange(n, dtype=np.int64) if patient is None else patient_codes(patient)
        return cls(
            values=columns,
            patient=codes,
            site=None if site is None else Levels.of(site),
            time=time,
            groups={name: Levels.of(column) for name, column in (groups or {}).items()},
            weight=None if weight is None else np.ascontiguousarray(weight, dtype=np.float64),
            inputs={name: _input(column) for name, column in (inputs or {}).items()},
            waiting=waiting,
        )

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.values.items()}
        lengths["patient"] = len(self.patient)
        lengths |= {name: len(levels) for name, levels in self.groups.items()}
        lengths |= {f"input {name}": len(column) for name, column in self.inputs.items()}
        for name, column in (("site", self.site), ("time", self.time), ("weight", self.weight)):
            if column is not None:
                lengths[name] = len(column)
        if len(set(lengths.values())) > 1:
            raise InputError("all columns of Scores must have one length", got=str(lengths))
        if self.weight is not None and not (np.isfinite(self.weight).all() and (self.weight >= 0).all()):
            raise InputError("weights must be finite and not negative", got="a negative or missing weight")

    def __len__(self) -> int:
        return len(self.patient)

    def __getitem__(self, column: str) -> Floats:
        return self.values[column]

    @cached_property
    def n_patients(self) -> int:
        """Distinct patients among the rows."""
        return int(np.unique(self.patient).size)

    @cached_property
    def independent(self) -> bool:
        """One row per patient and no design weights: the case in which textbook intervals hold."""
        return self.weight is None and self.n_patients == len(self)

    @cached_property
    def base_weight(self) -> Floats:
        """The design weight of each row, 1 where none was given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @cached_property
    def _kept(self) -> dict[str, Any]:
        return {}

    def kept(self, name: str, make: Callable[[], Kept]) -> Kept:
        """What `make` answers, made once for these rows: an order, a logarithm, anything many weights can share."""
        if name not in self._kept:
            with _MAKING:
                if name not in self._kept:
                    self._kept[name] = make()
        return cast(Kept, self._kept[name])

    def take(self, rows: npt.NDArray[Any]) -> Scores:
        """A choice of rows (a mask or positions), patient counters unchanged so that replicates stay shared.

        Rows that wait for their answer are not among the rows to choose from and are left behind.
        """
        return replace(
            self,
            values={name: column[rows] for name, column in self.values.items()},
            patient=self.patient[rows],
            site=None if self.site is None else self.site.take(rows),
            time=None if self.time is None else self.time[rows],
            groups={name: levels.take(rows) for name, levels in self.groups.items()},
            weight=None if self.weight is None else self.weight[rows],
            inputs={name: c.take(rows) if isinstance(c, Levels) else c[rows] for name, c in self.inputs.items()},
            waiting=None,
        )


def _input(column: npt.NDArray[Any]) -> Floats | Levels:
    array = np.asarray(column)
    if array.dtype.kind in "biuf":
        return np.ascontiguousarray(array, dtype=np.float64)
    return Levels.of(array)


def patient_codes(ids: Sequence[Any] | npt.NDArray[Any]) -> Ints:
    """Counters 0, 1, … in the order of the sorted ids: ids leave the data here, and row order decides nothing."""
    array = np.asarray(ids)
    if array.dtype == object:
        array = np.array([level_name(value) for value in array.tolist()], dtype=str)
    return np.unique(array, return_inverse=True)[1].astype(np.int64)
