"""Censored times turned into outcomes at a fixed horizon, with weights for those lost before it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Floats


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


NOBODY_FOLLOWED = "no one was followed to the horizon"


class AtHorizon(NamedTuple):
    """Outcome by a horizon (NaN where censored earlier) and inverse-probability-of-censoring weight (0 there).

    A `reason` means that the figures at this horizon do not exist: every outcome is NaN and every weight 0.
    """

    outcome: Floats
    weight: Floats
    reason: str = ""


def at_horizon(
    time: npt.ArrayLike, status: npt.ArrayLike, horizon: float, *, weight: npt.ArrayLike | None = None
) -> AtHorizon:
    """Did the event happen by the horizon? `status` is 0 censored, 1 event, 2 competing event (or false and true).

    Those censored before the horizon are not mature; the weights let the others stand in for them (Graf 1999): one over
    the chance of still being observed, just before the event or just before the horizon. With a design `weight` w, the
    sum of w times these weights is the sum of w, and the weighted share of events is Aalen and Johansen's risk (without
    competing events, 1 − Kaplan–Meier).

    >>> found = at_horizon([1, 2, 4, 5], [1, 0, 0, 1], horizon=3)
    >>> found.outcome.tolist(), found.weight.round(3).tolist()
    ([1.0, nan, 0.0, 0.0], [1.0, 0.0, 1.5, 1.5])
    """
    t, code = np.asarray(time, dtype=np.float64), np.asarray(status).astype(np.float64)
    w = np.ones(t.size) if weight is None else np.asarray(weight, dtype=np.float64)
    if not np.isin(code, (0, 1, 2)).all():
        raise ValueError("status must be 0 (censored), 1 (event) or 2 (competing event) in every row")
    if np.isnan(t).any():
        raise ValueError("every row needs a follow-up time; some are missing")
    counted = w > 0
    last = t[counted].max(initial=-np.inf)
    if last < horizon and np.any(counted & (t == last) & (code == 0)):
        # The curve of those free of the event is not known up to the horizon, however far software would draw it.
        return AtHorizon(np.full(t.size, np.nan), np.zeros(t.size), NOBODY_FOLLOWED)
    early = (code > 0) & (t <= horizon)
    # Still watched at the horizon: free of every event up to it, whether one came later or never.
    beyond = ~early & (t >= horizon)
    outcome = np.where(early, np.where(code == 1, 1.0, 0.0), np.where(beyond, 0.0, np.nan))
    known = early | beyond
    chance = _still_observed(t, code == 0, w).before(np.where(early, t, horizon))
    stand_in = np.divide(1.0, chance, out=np.zeros(t.size), where=known & (chance > 0))
    return AtHorizon(outcome, stand_in)


def _still_observed(time: Floats, censored: npt.NDArray[np.bool_], weight: Floats) -> Steps:
    """The reverse Kaplan–Meier curve: the weighted chance of not being censored yet.

    At one moment events come before censorings: those with an event at a moment are no longer at risk of being
    censored at it. The Kaplan–Meier curve of the flipped status keeps them, and whole days make such ties the rule.
    """
    moments, code = np.unique(time, return_inverse=True)
    lost = np.bincount(code, weights=weight * censored)
    total = np.bincount(code, weights=weight)
    later = np.concatenate((np.cumsum(total[::-1])[::-1][1:], [0.0]))
    falls = lost > 0
    return Steps(moments[falls], np.asarray(np.cumprod(later[falls] / (later[falls] + lost[falls])), dtype=np.float64))
