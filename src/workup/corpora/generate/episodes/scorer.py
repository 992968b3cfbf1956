"""The model under test, faults and all: what it sees of a patient, and how often it is silent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workup.corpora.generate.episodes.plan import EpisodesPlan, Fault
from workup.stats.arrays import Floats


class Scorer(NamedTuple):
    """How a stay is scored, with its faults: the plan's own figures changed by what is wrong with this kind of stay."""

    late: int = 0
    signal: float = 1.0
    shift: float = 0.0
    missing: float = 0.0
    missing_before_event: float = 0.0

    @classmethod
    def of(cls, plan: EpisodesPlan, faults: Sequence[Fault]) -> Scorer:
        """The scorer with these faults, which add up; a score is there if none of them has lost it."""
        found = cls(missing=plan.missing, missing_before_event=plan.missing)
        for fault in faults:
            near = 1 - (1 - fault.missing) * (1 - fault.missing_before_event)
            found = cls(
                found.late + plan.slots(fault.late_hours),
                found.signal * fault.signal,
                found.shift + fault.shift,
                1 - (1 - found.missing) * (1 - fault.missing),
                1 - (1 - found.missing_before_event) * (1 - near),
            )
        return found

    def seen(self, plan: EpisodesPlan, before: Any) -> Floats:
        """How much of the rise is seen so many scores before the last one that precedes the event, 0 to 1."""
        return np.asarray(np.clip(1 - (before + self.late) / plan.slots(plan.ramp_hours), 0.0, 1.0))

    def centre(self, plan: EpisodesPlan, frailty: Any, seen: Any) -> Floats:
        """The mean of the score, whose SD is 1."""
        return np.asarray(self.signal * (plan.knows_frailty * frailty + plan.rise * seen) + self.shift)

    def absent(self, plan: EpisodesPlan, before: Any, place: Any) -> Floats:
        """The chance that a score is not there; the first of a stay always is."""
        near = (before >= 0) & (before < plan.slots(plan.ramp_hours))
        return np.asarray(np.where(place == 0, 0.0, np.where(near, self.missing_before_event, self.missing)))


def chance_of_event(plan: EpisodesPlan, frailty: Any) -> Floats:
    """The chance of the event between two scores."""
    from scipy import special

    return np.asarray(special.expit(special.logit(plan.event_chance) + plan.frailty * frailty))
