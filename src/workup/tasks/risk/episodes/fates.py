"""The fate of a moment of a stay: what may be said of a prediction, an alert or a landmark there. Exactly one holds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Ints, Whole
from workup.tasks.risk.episodes.moments import FAR
from workup.tasks.risk.episodes.settings import EpisodesPart
from workup.tasks.risk.episodes.stays import DEATH, DISCHARGE, Stays

# In the order in which they are looked at: the first that holds is the fate.
FATES = ("outside", "undated", "present", "after_event", "stopped", "late", "case", "control", "unknown")
OUTSIDE, UNDATED, PRESENT, AFTER_EVENT, STOPPED, LATE, CASE, CONTROL, UNKNOWN = range(9)
JUDGED = (CASE, CONTROL, UNKNOWN)  # fates of moments at which the model could still be right or wrong


class Fates(NamedTuple):
    """The fate of each moment, and where the counted onset that is next after it stands, -1 where there is none."""

    fate: npt.NDArray[np.int8]
    onset: Whole

    def take(self, rows: npt.NDArray[Any]) -> Fates:
        """The fates of a choice of moments."""
        return Fates(self.fate[rows], self.onset[rows])


def fates_of(stays: Stays, part: EpisodesPart, stay: Whole, moment: Ints) -> Fates:
    """The fates of moments, each of a stay."""
    place = stays.onsets.after(stay, moment)
    there = place < stays.onsets.bounds[stay + 1]
    onset = np.full(len(stay), FAR, dtype=np.int64)
    onset[there] = stays.onsets.time[place[there]]
    happened = place > stays.onsets.bounds[stay]
    present = stays.present[stay]
    if part.recurrent:
        last = np.full(len(stay), -FAR, dtype=np.int64)
        last[happened] = stays.onsets.time[place[happened] - 1]
        happened &= moment < last + part.rest.microseconds
        present = present & (moment < stays.onsets.first[stay])
    lead = onset - moment
    end, how = stays.end[stay], stays.how[stay]
    horizon = FAR - 1 if isinstance(part.horizon, str) else part.horizon.microseconds
    free = (how == DEATH) | ((how == DISCHARGE) & (part.discharge == "free"))
    if not isinstance(part.horizon, str):
        free |= end - moment >= horizon
    fate = np.select(
        [
            (moment < stays.start[stay]) | (moment >= end),
            stays.undated[stay],
            present,
            happened,
            moment >= stays.stop[stay],
            there & (lead < part.gap.microseconds),
            there & (lead <= horizon),
            there | free,
        ],
        [np.int8(code) for code in range(UNKNOWN)],
        default=np.int8(UNKNOWN),
    )
    return Fates(fate, np.where(there, place, -1))
