"""What became of golds and predictions: the codes, and arrays of them for many settings at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Bools

OUTCOMES = ("false_alarm", "credited", "neutral", "removed")  # an outcome's code is its place here
FALSE_ALARM, CREDITED, NEUTRAL, REMOVED = range(4)


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Settings down, units across: golds that are found, found with equal borders; the outcome of each prediction.

    `rests` says of pairs without a rival whether the verdict rests on them; it is unused where rivals are.
    """

    hit: Bools
    exact: Bools
    outcome: npt.NDArray[np.int8]
    rests: Bools

    @classmethod
    def empty(cls, settings: int, golds: int, predictions: int) -> Verdicts:
        """All missed, all false alarms."""
        shape = (settings, golds)
        return cls(
            np.zeros(shape, dtype=np.bool_),
            np.zeros(shape, dtype=np.bool_),
            np.zeros((settings, predictions), dtype=np.int8),
            np.zeros(shape, dtype=np.bool_),
        )
