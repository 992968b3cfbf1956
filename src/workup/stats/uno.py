"""Uno's C to a horizon, with competing events, and the influence of every row on it.

Pairs are an event by the horizon and a row that was still free then, or that had the competing event first. Weights of
inverse probability of censoring make it the same number whoever was censored, which Harrell's C is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workup.stats.arrays import Floats, Rows
from workup.stats.horizon_influence import Influence
from workup.stats.horizon_weights import CENSORED, COMPETING, EVENT, HorizonWeights
from workup.stats.prefix_ranks import PrefixRanks


@dataclass(frozen=True, eq=False)
class UnoC:
    """Rows made ready for concordance to the horizon under any weights."""

    seen: HorizonWeights
    events: Rows  # by the horizon
    beside: Rows  # rows with a competing event by the horizon, in the order of time
    by_lateness: Rows  # all rows, the latest first, those censored at a moment before those with an event at it
    later: Rows  # of each event: how many of them outlast it
    before: Rows  # of each event: how many of `beside` came first, or at the same moment
    beaten_later: PrefixRanks
    beaten_beside: PrefixRanks

    @classmethod
    def of(cls, seen: HorizonWeights, risk: Floats) -> UnoC:
        """Sort once."""
        t, status = seen.time, seen.status
        early = t <= seen.horizon
        events = np.flatnonzero(early & (status == EVENT))
        beside = np.flatnonzero(early & (status == COMPETING))
        beside = beside[np.argsort(t[beside], kind="stable")]
        lateness = np.lexsort((status != CENSORED, -t))
        censored = np.sort(t[status == CENSORED])
        ordered = np.sort(t)
        later = t.size - np.searchsorted(ordered, t[events], side="right")
        later += np.searchsorted(censored, t[events], "right") - np.searchsorted(censored, t[events], "left")
        before = np.searchsorted(t[beside], t[events], side="right")
        return cls(
            seen,
            events,
            beside,
            lateness,
            later,
            before,
            PrefixRanks.of(risk[lateness], first=later, below=risk[events]),
            PrefixRanks.of(risk[beside], first=before, below=risk[events]),
        )

    def under(self, weights: Floats) -> Floats:
        """C under each weight vector of `weights[B, n]`, NaN where there is no pair or no one at the horizon."""
        v, estimable = self.seen.under(weights)
        w, g = np.ascontiguousarray(weights.T), np.ascontiguousarray(v.T)
        case = w[self.events] * g[self.events]
        top, bottom = self._pairs(w, g)
        beating, all_pairs = (case * top).sum(axis=0), (case * bottom).sum(axis=0)
        defined = estimable & (all_pairs > 0)
        return np.asarray(np.divide(beating, all_pairs, out=np.full(len(weights), np.nan), where=defined))

    def _pairs(self, w: Floats, g: Floats) -> tuple[Floats, Floats]:
        """Of each event: the weight of its pairs that it beats, and of all of them, but for its own weight."""
        own = g[self.events]
        late, other = w[self.by_lateness], (w * g)[self.beside]
        top = own * self.beaten_later.under(late) + self.beaten_beside.under(other)
        bottom = own * _running(late)[self.later] + _running(other)[self.before]
        return top, bottom

    def influence(self, weight: Floats, risk: Floats) -> Influence:
        """C under one weight vector with the influence of every row, the censoring curve re-estimated."""
        seen, t, n = self.seen, self.seen.time, weight.size
        w, g = weight[:, None], seen.under(weight[None, :]).v.T
        case = (w * g)[self.events, 0]
        top, bottom = (one[:, 0] for one in self._pairs(w, g))
        total = float(case @ bottom)
        c = float(case @ top) / total if total > 0 else float("nan")
        if not np.isfinite(c):
            return Influence(c, np.full(n, np.nan))
        late_top = g[self.events, 0] * self.beaten_later.under(w[self.by_lateness])[:, 0]
        late_all = g[self.events, 0] * _running(w[self.by_lateness])[self.later, 0]
        direct, masses = np.zeros(n), np.zeros(n)
        # As a case: every pair counts once; pairs with later rows look at the curve twice at the case's time.
        direct[self.events] = g[self.events, 0] * (top - c * bottom)
        masses[self.events] = case * ((top - c * bottom) + (late_top - c * late_all))
        # As a control, from the other side: the events that a row outlasted, and those that came after its own.
        by_time = self.events[np.argsort(t[self.events], kind="stable")]
        times = t[by_time]
        outlasted = np.where(
            seen.status == CENSORED,
            np.searchsorted(times, t, side="right"),
            np.searchsorted(times, t, side="left"),
        )
        heavy = (w * g**2)[by_time]
        direct += _surplus(risk[by_time], heavy, outlasted, risk, c)
        backwards = by_time[::-1]
        reached = by_time.size - np.searchsorted(times, t[self.beside], side="left")
        own = _surplus(risk[backwards], (w * g)[backwards], reached, risk[self.beside], c)
        direct[self.beside] += g[self.beside, 0] * own
        masses[self.beside] += (w * g)[self.beside, 0] * own
        return Influence(c, weight * (direct + seen.by_curve(weight, seen.time).through(masses)) / total)


def _surplus(score: Floats, weight: Floats, first: Rows, risk: Floats, c: float) -> Floats:
    """Σ over the first cases of weight·(beats − c), for every control with its risk."""
    beaten_by = PrefixRanks.of(score, first=first, below=risk).under(weight)[:, 0]  # weight of cases below the control
    everyone = _running(weight)[first, 0]
    return np.asarray(everyone - beaten_by - c * everyone)


def _running(values: Floats) -> Floats:
    return np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
