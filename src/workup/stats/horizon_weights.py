"""Rows seen at one horizon, some lost before it: inverse-probability-of-censoring weights for many weight vectors.

At one moment events come before censorings, so those with an event at a moment are not at risk of being censored at it.
The censoring curve is a function of the weights it is given: every resample, slice and site has its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Bools, Floats, Ints, Rows

CENSORED, EVENT, COMPETING = 0, 1, 2  # what ended the follow-up of a row


class Weighted(NamedTuple):
    """Censoring weights `v[B, n]` (0 where the outcome is unknown), and which vectors have anyone at the horizon.

    Where none is left, nothing at the horizon can be estimated, however far software would draw the curve.
    """

    v: Floats
    estimable: Bools


class _Stratum(NamedTuple):
    """Rows that share a censoring curve, in the order of time, events of a moment before its censorings."""

    rows: Rows  # in that order
    first: Rows  # place of the first row censored at each censoring moment before the horizon
    after: Rows  # place behind the last of them
    passed: Rows  # of each row in that order: censoring moments that its weight looks back on

    @classmethod
    def of(cls, rows: Rows, time: Floats, lost: Bools, until: Floats, horizon: float) -> _Stratum:
        order = rows[np.lexsort((lost[rows], time[rows]))]
        t, c = time[order], lost[order]
        moments = np.unique(t[c & (t < horizon)])
        after = np.searchsorted(t, moments, side="right")
        # Those censored at a moment are the last of its rows.
        first = after - np.searchsorted(t[c], moments, side="right") + np.searchsorted(t[c], moments, side="left")
        return cls(order, first, after, np.searchsorted(moments, until[order], side="left"))

    def at_risk(self, weights: Floats) -> tuple[Floats, Floats]:
        """Weight at risk of being censored at each moment, and what of it stays: two arrays [moment, B]."""
        tail = np.concatenate([np.cumsum(weights[self.rows[::-1]], axis=0)[::-1], np.zeros((1, weights.shape[1]))])
        return tail[self.first], tail[self.after]

    def curve(self, weights: Floats) -> Floats:
        """Chance of not being censored before and after each moment, [1 + moment, B], from `weights[n, B]`."""
        everyone, staying = self.at_risk(weights)
        stays = np.divide(staying, everyone, out=np.ones_like(staying), where=everyone > 0)
        return np.concatenate([np.ones((1, weights.shape[1])), np.cumprod(stays, axis=0)])


@dataclass(frozen=True, eq=False)
class HorizonWeights:
    """Rows sorted once by the end of their follow-up, ready for any number of weight vectors.

    `outcome` is 1 for the event by the horizon, 0 for a competing event by it and for those free of both at it, NaN for
    those censored before; a row censored exactly at the horizon is known to be free. `known_weights` are censoring
    weights that were made elsewhere, by a model or on more rows; they are the same under all weights. `through_model`
    says what each row does by way of that model, where these rows are the ones it was fitted on.
    """

    time: Floats
    status: Ints
    horizon: float
    outcome: Floats
    strata: tuple[_Stratum, ...]
    known_weights: Floats | None = None
    through_model: Callable[[Floats, Floats], Floats] | None = None

    @classmethod
    def of(
        cls,
        time: npt.ArrayLike,
        status: npt.ArrayLike,
        horizon: float,
        *,
        strata: npt.ArrayLike | None = None,
        known_weights: Floats | None = None,
        through_model: Callable[[Floats, Floats], Floats] | None = None,
    ) -> HorizonWeights:
        """Sort the rows; with `strata` (a code per row) the censoring curve is made within each.

        >>> t, s = [1, 2, 2, 2, 3, 3, 4, 5, 5, 6], [1, 0, 1, 1, 0, 1, 0, 1, 0, 0]
        >>> HorizonWeights.of(t, s, 3).under(np.ones((1, 10))).v[0].round(4).tolist()
        [1.0, 0.0, 1.0, 1.0, 1.1667, 1.1667, 1.1667, 1.1667, 1.1667, 1.1667]
        """
        t, code = np.asarray(time, dtype=np.float64), np.asarray(status).astype(np.int64)
        early = (code != CENSORED) & (t <= horizon)
        known = early | (t >= horizon)
        outcome = np.where(early & (code == EVENT), 1.0, np.where(known, 0.0, np.nan))
        groups = np.zeros(t.size, dtype=np.int64) if strata is None else np.unique(strata, return_inverse=True)[1]
        until = np.where(early, t, horizon)
        parts = tuple(
            _Stratum.of(np.flatnonzero(groups == one), t, code == CENSORED, until, horizon) for one in np.unique(groups)
        )
        return cls(t, code, float(horizon), outcome, parts, known_weights, through_model)

    def __len__(self) -> int:
        return self.time.size

    @property
    def known(self) -> Bools:
        """Rows whose outcome at the horizon is known."""
        return np.isfinite(self.outcome)

    @property
    def until(self) -> Floats:
        """The moment just before which a weight looks at the curve: the event by the horizon, else the horizon."""
        early = (self.status != CENSORED) & (self.time <= self.horizon)
        return np.where(early, self.time, self.horizon)

    @property
    def lost(self) -> Bools:
        """Rows censored before the horizon."""
        return ~self.known

    def under(self, weights: Floats) -> Weighted:
        """The censoring weights under each weight vector of `weights[B, n]`.

        With design weights w, the sum of w·v is the sum of w, and the sum of w·v·outcome over it is Aalen and
        Johansen's risk (without competing events, 1 − Kaplan–Meier).
        """
        by_row = np.ascontiguousarray(weights.T)
        v = np.zeros_like(by_row)
        estimable = np.ones(len(weights), dtype=bool)
        for part in self.strata:
            curve = part.curve(by_row)
            estimable &= curve[-1] > 0
            seen = self.known[part.rows]
            chance = curve[part.passed[seen]]
            v[part.rows[seen]] = np.divide(1.0, chance, out=np.zeros_like(chance), where=chance > 0)
        if self.known_weights is not None:
            v = np.broadcast_to(np.where(self.known, self.known_weights, 0.0)[:, None], v.shape)
        return Weighted(v.T, estimable)

    def followed(self, weight: Floats) -> float:
        """The chance of being followed to the horizon, G(h−); the smallest where there are strata."""
        return min((float(part.curve(weight[:, None])[-1, 0]) for part in self.strata), default=1.0)

    def by_curve(self, weight: Floats, until: Floats | None = None) -> ByCurve:
        """How rows act on the curve that others look at just before `until`: the moments of their own weights, where
        none are given."""
        until = self.until if until is None else until
        if self.known_weights is not None:
            return ByCurve((), len(self), until, self.through_model)
        lost = self.status == CENSORED
        return ByCurve(
            tuple(_Acting.of(part, self.time, lost, weight, until) for part in self.strata), len(self), until
        )


class _Acting(NamedTuple):
    """What the rows of one stratum do to its curve under one vector of weights."""

    rows: Rows
    passed: Rows  # of each row: moments that its `until` looks back on
    staying: Floats  # weight at risk that stays, at each moment
    share: Floats  # of the weight at risk that is lost
    own: Rows  # moment at which the row is lost; one past the last where it is not
    last: Rows  # moments at which the row was at risk

    @classmethod
    def of(cls, part: _Stratum, time: Floats, lost: Bools, weight: Floats, until: Floats) -> _Acting:
        moments, t, gone = time[part.rows[part.first]], time[part.rows], lost[part.rows]
        everyone, staying = (one[:, 0] for one in part.at_risk(weight[:, None]))
        share = np.divide(everyone - staying, everyone, out=np.zeros_like(everyone), where=everyone > 0)
        here, beyond = (np.searchsorted(moments, t, side=side) for side in ("left", "right"))
        own = np.where(gone & (beyond > here), here, moments.size)
        # At risk at a moment: those with a later time, and those censored at it.
        passed = np.searchsorted(moments, until[part.rows], side="left")
        return cls(part.rows, passed, staying, share, own, np.where(gone, beyond, here))

    def through(self, moved: Floats) -> Floats:
        mass = np.bincount(self.passed, weights=moved[self.rows], minlength=self.staying.size + 1)
        later = np.cumsum(mass[::-1])[::-1][1:]  # of those whose weight looks back on each moment
        jump = np.divide(later, self.staying, out=np.zeros_like(later), where=self.staying > 0)
        spent = np.concatenate(([0.0], np.cumsum(self.share * jump)))
        return np.asarray(np.append(jump, 0.0)[self.own] - spent[self.last])


class ByCurve(NamedTuple):
    """What each row does to a statistic by way of the censoring curve alone, made once for many statistics."""

    strata: tuple[_Acting, ...]
    rows: int
    until: Floats
    by_model: Callable[[Floats, Floats], Floats] | None = None

    def through(self, moved: Floats) -> Floats:
        """−Σ_j moved_j ∂log G_j/∂w_i for every row i, where `moved_j` is what row j's product of weights would change
        in the statistic, relative to itself. 0 where the weights are taken as known."""
        if self.by_model is not None:
            return self.by_model(self.until, moved)
        found = np.zeros(self.rows)
        for part in self.strata:
            found[part.rows] = part.through(moved)
        return found
