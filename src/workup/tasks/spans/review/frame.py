"""The frame of a review: every region that a gold or a system marks, as columns of counts by patient and stratum.

Knows no text, no file and no answer; what is reviewed is drawn from it, and what was found projected back onto it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Floats, Ints

Metric = Literal["recall", "precision"]

STRATA = ("missed_by_all", "found_by_some", "found_by_all", "alarm_of_all", "alarm_of_some")
OF_GOLDS = ("missed_by_all", "found_by_some", "found_by_all")
MISSED_BY_ALL, FOUND_BY_SOME, FOUND_BY_ALL, ALARM_OF_ALL, ALARM_OF_SOME = range(5)
NOT_REVIEWED = -1  # predictions that a review says nothing of: their place is wrong, or nobody can look at it
IN_WORDS = {
    "missed_by_all": "golds that every system missed",
    "found_by_some": "golds that some systems found",
    "found_by_all": "golds that every system found",
    "alarm_of_all": "false alarms that all systems share",
    "alarm_of_some": "false alarms of some systems",
}


@dataclass(frozen=True, eq=False)
class Frame:
    """Rows of regions that are alike: `count` of them in one patient and stratum, with the same numbers per system.

    `golds` is how many golds lie at the region (0 for a false alarm). Per system: `hits` of these golds are found,
    `credits` predictions are credited by them (one that lies on several golds is divided among them by overlap), and
    `alarms` predictions are false alarms there. Where the stratum is NOT_REVIEWED, `credits` and `alarms` stay as the
    golds have them, whatever reviewers say.
    """

    patient: Ints
    stratum: Ints
    count: Floats
    golds: Floats
    hits: Floats
    credits: Floats
    alarms: Floats

    def __len__(self) -> int:
        return len(self.patient)

    @property
    def systems(self) -> int:
        """How many systems there are."""
        return int(self.hits.shape[1])

    def take(self, places: npt.NDArray[Any]) -> Frame:
        """Some of the rows."""
        return Frame(*(getattr(self, name)[places] for name in self.__dataclass_fields__))

    def sizes(self) -> list[int]:
        """Regions in each stratum."""
        return [int(self.count[self.stratum == place].sum()) for place in range(len(STRATA))]

    def folded(self) -> Frame:
        """Rows that are alike added up: what estimates rest on, small enough to be kept beside the queue.

        >>> one = Frame.of([(0, 2, 1, [1], [1], [0])] * 3 + [(1, 0, 1, [0], [0], [0])], systems=1)
        >>> one.folded().count.tolist()
        [3.0, 1.0]
        """
        if not len(self):
            return self
        keys: Floats = np.column_stack([self.patient, self.stratum, self.golds, self.hits, self.credits, self.alarms])
        keys = np.asarray(
            np.round(keys, 9), dtype=np.float64
        )  # parts of a credit: sums in another order differ in the last digit
        rows, place = np.unique(keys, axis=0, return_inverse=True)
        count: Floats = np.zeros(len(rows))
        np.add.at(count, place.ravel(), self.count)
        return Frame._from_keys(rows, count, self.systems)

    @classmethod
    def _from_keys(cls, rows: Floats, count: Floats, systems: int) -> Frame:
        hits, credits, alarms = (rows[:, 3 + i * systems : 3 + (i + 1) * systems] for i in range(3))
        return cls(rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64), count, rows[:, 2], hits, credits, alarms)

    @classmethod
    def of(
        cls,
        rows: Iterable[tuple[int, int, float, Sequence[float], Sequence[float], Sequence[float]]],
        *,
        systems: int,
    ) -> Frame:
        """From (patient, stratum, golds, hits, credits, alarms) of single regions."""
        flat = [
            [patient, stratum, golds, *hits, *credits, *alarms]
            for patient, stratum, golds, hits, credits, alarms in rows
        ]
        keys = np.array(flat, dtype=np.float64).reshape(-1, 3 + 3 * systems)
        return cls._from_keys(keys, np.ones(len(keys)), systems)

    def as_rows(self) -> list[list[Any]]:
        """Plain data: patient, stratum, count, golds, and three lists of a number per system."""
        return [
            [int(p), int(s), int(c), _short(g), [*map(_short, h)], [*map(_short, k)], [*map(_short, a)]]
            for p, s, c, g, h, k, a in zip(
                self.patient, self.stratum, self.count, self.golds, self.hits, self.credits, self.alarms, strict=True
            )
        ]

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[Any]], *, systems: int) -> Frame:
        """Read back from plain data."""
        found = cls.of(((r[0], r[1], r[3], r[4], r[5], r[6]) for r in rows), systems=systems)
        return cls(**{**vars(found), "count": np.array([r[2] for r in rows], dtype=np.float64)})


def _short(number: float) -> float | int:
    return int(number) if number == int(number) else round(float(number), 9)


@dataclass(frozen=True, eq=False)
class Terms:
    """What a row adds to a ratio: `top` and `bottom` times whether it is an identifier, and fixed parts beside."""

    top: Floats
    bottom: Floats
    fixed_top: Floats
    fixed_bottom: Floats

    def take(self, places: npt.NDArray[Any]) -> Terms:
        """Some of the rows."""
        return Terms(self.top[places], self.bottom[places], self.fixed_top[places], self.fixed_bottom[places])


def terms(frame: Frame, *, system: int, metric: Metric) -> Terms:
    """Recall counts identifiers: golds that are one, and unmarked ones that a system found. Precision counts
    predictions: those on a gold are right where the gold is, false alarms where they prove to be identifiers.

    >>> frame = Frame.of([(0, 2, 1, [1], [1], [0]), (0, 3, 0, [0], [0], [2])], systems=1)
    >>> found = terms(frame, system=0, metric="recall")
    >>> found.top.tolist(), found.bottom.tolist()
    ([1.0, 1.0], [1.0, 1.0])
    >>> terms(frame, system=0, metric="precision").top.tolist()
    [1.0, 2.0]
    """
    reviewed = frame.stratum != NOT_REVIEWED
    of_gold = reviewed & (frame.stratum <= FOUND_BY_ALL)
    hits, credits, alarms = (column[:, system] for column in (frame.hits, frame.credits, frame.alarms))
    zero = np.zeros(len(frame))
    if metric == "recall":
        found = np.where(of_gold, hits, (reviewed & (alarms > 0)).astype(np.float64))
        there = np.where(of_gold, frame.golds, reviewed.astype(np.float64))
        return Terms(found, there, zero, zero)
    predictions = credits + alarms
    return Terms(np.where(reviewed, predictions, 0.0), zero, np.where(reviewed, 0.0, credits), predictions)


def as_golds_say(frame: Frame) -> Floats:
    """Whether each row is an identifier, if the golds are right."""
    return ((frame.stratum >= 0) & (frame.stratum <= FOUND_BY_ALL)).astype(np.float64)
