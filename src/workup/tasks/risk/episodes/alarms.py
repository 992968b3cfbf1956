"""Alerts: which predictions fire one under a policy, which are silenced, and what became of each.

A system does not know fates: alerts are fired over all predictions inside a stay, and judged by fate only then.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Bools, Floats, Ints, Whole
from workup.tasks.risk.episodes.fates import CASE, CONTROL, OUTSIDE, Fates, fates_of
from workup.tasks.risk.episodes.moments import FAR, Moments, least
from workup.tasks.risk.episodes.settings import EpisodesPart
from workup.tasks.risk.episodes.stays import Stays

RECORDED = "recorded"  # in place of a threshold, where alerts are those that were really fired


@dataclass(frozen=True, eq=False)
class Inside:
    """Predictions inside their stays, in the order of stays and times, with their fates."""

    moments: Moments
    risk: Floats
    fates: Fates


@dataclass(frozen=True, eq=False)
class Alarms:
    """The alerts fired at one threshold, in the order of stays and times.

    `prediction` is where the prediction that was in force stands among those inside, -1 where there was none. `above`
    and `silenced` are of the predictions inside: at or above the threshold, and of these the ones that fired nothing;
    None where alerts were recorded.
    """

    label: str
    stay: Whole
    time: Ints
    fates: Fates
    prediction: Whole
    acted: Bools
    above: Bools | None = None

    def __len__(self) -> int:
        return len(self.time)

    @cached_property
    def true(self) -> Bools:
        """Which alerts were followed by the event in time."""
        return np.asarray(self.fates.fate == CASE)

    @cached_property
    def false(self) -> Bools:
        """Which alerts were followed by none."""
        return np.asarray(self.fates.fate == CONTROL)

    @cached_property
    def silenced(self) -> Bools | None:
        """Which predictions inside stood at or above the threshold and fired nothing."""
        if self.above is None:
            return None
        silenced = self.above.copy()
        silenced[self.prediction] = False
        return silenced

    def first_acted(self, stays: int) -> Ints:
        """When the first alert of each stay fired that was acted on, FAR where none was."""
        return least(self.stay[self.acted], self.time[self.acted], stays=stays)


def label_of(threshold: float) -> str:
    """A threshold as the names of columns write it.

    >>> label_of(0.3), label_of(0.29)
    ('0.3', '0.29')
    """
    return format(threshold, ".12g")


def fired_at(threshold: float, inside: Inside, stays: Stays, part: EpisodesPart) -> Alarms:
    """The alerts that a threshold fires under the policy of the study."""
    moments = inside.moments
    above = np.asarray(inside.risk >= threshold)
    candidate = above
    if part.policy == "crossing":
        rises = above.copy()
        rises[1:] &= ~above[:-1]
        first = moments.bounds[:-1][moments.counts > 0]
        rises[first] = above[first]
        candidate = rises
    places = np.flatnonzero(candidate)
    wait = None if isinstance(part.refractory, str) else part.refractory.microseconds
    if wait != 0:
        places = places[moments.take(candidate).spaced(wait)]
    stay, time = moments.stay[places], moments.time[places]
    fates = inside.fates.take(places)
    return Alarms(label_of(threshold), stay, time, fates, places, _acted(stays, part, stay, time), above)


def recorded(inside: Inside, stays: Stays, part: EpisodesPart) -> Alarms:
    """The alerts that the events record, each with the fate of its own moment."""
    stay, time = stays.alerts.stay, stays.alerts.time
    fates = fates_of(stays, part, stay, time)
    there = fates.fate != OUTSIDE
    stay, time, fates = stay[there], time[there], fates.take(there)
    in_force = inside.moments.latest(stay, time)
    return Alarms(RECORDED, stay, time, fates, in_force, _acted(stays, part, stay, time))


def _acted(stays: Stays, part: EpisodesPart, stay: Whole, time: Ints) -> Bools:
    """Which alerts an intervention inside the stay followed soon enough."""
    answer = stays.interventions.next(stay, time)
    return np.asarray((answer - time <= part.act_within.microseconds) & (answer <= stays.end[stay]))


@dataclass(frozen=True, eq=False)
class Flagged:
    """What alerts made of the eligible events: which were flagged, and when the first alert for each fired (or FAR)."""

    flagged: Bools
    first: Ints


def flagged_events(alarms: Alarms, event: Ints, *, events: int) -> Flagged:
    """Events by the alerts that were true for them; `event` numbers the event of each counted onset, -1 for none."""
    true = np.flatnonzero(alarms.true)
    number = event[alarms.fates.onset[true]]
    true, number = true[number >= 0], number[number >= 0]
    first = least(number, alarms.time[true], stays=events)
    return Flagged(first < FAR, first)


def predicted_events(chosen: Bools, fates: Fates, event: Ints, *, events: int) -> Bools:
    """Which eligible events have a case prediction among those chosen."""
    rows: npt.NDArray[np.intp] = np.flatnonzero(chosen & (fates.fate == CASE))
    number = event[fates.onset[rows]]
    found = np.zeros(events, dtype=bool)
    found[number[number >= 0]] = True
    return found
