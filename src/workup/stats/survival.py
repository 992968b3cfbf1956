"""Censored times turned into outcomes at a fixed horizon, with weights for those lost before it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Steps(NamedTuple):
    """A survival curve: the times at which it falls, and its value from each of them on."""

    times: Floats
    survival: Floats

    def before(self, at: npt.ArrayLike) -> Floats:
        """The curve just before each time: a fall at the time itself is not yet counted."""
        place = np.searchsorted(self.times, np.asarray(at, dtype=np.float64), side="left")
        return np.concatenate(([1.0], self.survival))[place]

    def at(self, at: npt.ArrayLike) -> Floats:
        """The curve at each time, a fall at the time itself counted."""
        place = np.searchsorted(self.times, np.asarray(at, dtype=np.float64), side="right")
        return np.concatenate(([1.0], self.survival))[place]


def kaplan_meier(time: npt.ArrayLike, happened: npt.ArrayLike) -> Steps:
    """Kaplan and Meier's estimate of the share still free of the event.

    >>> kaplan_meier([1, 2, 2, 3], [1, 0, 1, 1]).survival.tolist()
    [0.75, 0.5, 0.0]
    """
    t, d = np.asarray(time, dtype=np.float64), np.asarray(happened).astype(bool)
    times = np.unique(t[d])
    at_risk = t.size - np.searchsorted(np.sort(t), times, side="left")
    falls = np.searchsorted(np.sort(t[d]), times, side="right") - np.searchsorted(np.sort(t[d]), times, side="left")
    return Steps(times, np.asarray(np.cumprod(1 - falls / at_risk), dtype=np.float64))


class AtHorizon(NamedTuple):
    """Outcome by a horizon (NaN where censored earlier) and inverse-probability-of-censoring weight (0 there)."""

    outcome: Floats
    weight: Floats


def at_horizon(time: npt.ArrayLike, event: npt.ArrayLike, horizon: float) -> AtHorizon:
    """Did the event happen by the horizon? Those censored before it are not mature; the others' weights stand in for
    them (Graf 1999): one over the chance of still being observed, just before the event or at the horizon.

    >>> found = at_horizon([1, 2, 4, 5], [1, 0, 0, 1], horizon=3)
    >>> found.outcome.tolist(), found.weight.round(3).tolist()
    ([1.0, nan, 0.0, 0.0], [1.0, 0.0, 1.5, 1.5])
    """
    t, d = np.asarray(time, dtype=np.float64), np.asarray(event).astype(bool)
    early_event = d & (t <= horizon)
    # Still watched at the horizon: free of the event up to it, whether it came later or never.
    beyond = ~early_event & (t >= horizon)
    outcome = np.where(early_event, 1.0, np.where(beyond, 0.0, np.nan))
    observed = kaplan_meier(t, ~d)
    chance = np.where(early_event, observed.before(t), observed.before(np.full(t.size, horizon)))
    weight = np.where(np.isfinite(outcome), 1 / np.maximum(chance, 1e-12), 0.0)
    return AtHorizon(outcome, weight)
