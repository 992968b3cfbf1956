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


class Incidence(NamedTuple):
    """Shares that had had the event, or a competing event, or neither, from each time on at which one happened."""

    times: Floats
    event: Floats
    competing: Floats
    free: Floats

    def at(self, moments: npt.ArrayLike) -> Incidence:
        """The same at chosen moments, what happens at a moment itself counted."""
        chosen = np.asarray(moments, dtype=np.float64)
        place = np.searchsorted(self.times, chosen, side="right")
        event, competing = (np.concatenate(([0.0], one))[place] for one in (self.event, self.competing))
        return Incidence(chosen, event, competing, np.concatenate(([1.0], self.free))[place])


def aalen_johansen(time: npt.ArrayLike, status: npt.ArrayLike, weight: npt.ArrayLike | None = None) -> Incidence:
    """Aalen and Johansen's risks of the event (status 1) and of competing events (2) where others are censored (0).

    Where competing events are left out as if censored, the risk comes out too high: a death is no chance to still have
    the event.

    >>> aalen_johansen([1, 2, 2, 3], [1, 0, 2, 1]).event.tolist()
    [0.25, 0.25, 0.75]
    """
    t, code = np.asarray(time, dtype=np.float64), np.asarray(status).astype(np.int64)
    w = np.ones(t.size) if weight is None else np.asarray(weight, dtype=np.float64)
    times, place = np.unique(t, return_inverse=True)
    held = np.bincount(place, weights=w, minlength=times.size)
    at_risk = np.cumsum(held[::-1])[::-1]
    events, competing = (np.bincount(place, weights=w * (code == one), minlength=times.size) for one in (1, 2))
    stays = np.divide(at_risk - events - competing, at_risk, out=np.ones_like(at_risk), where=at_risk > 0)
    free = np.cumprod(stays)
    before = np.concatenate(([1.0], free[:-1]))
    share = np.divide(before, at_risk, out=np.zeros_like(at_risk), where=at_risk > 0)
    happens = events + competing > 0
    steps = (np.cumsum(share * events), np.cumsum(share * competing), free)
    return Incidence(times[happens], *(np.asarray(one[happens], dtype=np.float64) for one in steps))


def median_followup(time: npt.ArrayLike, status: npt.ArrayLike, weight: npt.ArrayLike | None = None) -> float:
    """Median time to censoring, events of all kinds taken as cutting it short (the reverse Kaplan–Meier method).

    NaN where the curve does not fall to a half.

    >>> median_followup([1, 2, 3, 4], [0, 1, 0, 0])
    3.0
    """
    t, code = np.asarray(time, dtype=np.float64), np.asarray(status)
    w = np.ones(t.size) if weight is None else np.asarray(weight, dtype=np.float64)
    curve = _still_observed(t, code == 0, w)
    fallen = np.flatnonzero(curve.survival <= 0.5)
    return float(curve.times[fallen[0]]) if fallen.size else float("nan")


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
