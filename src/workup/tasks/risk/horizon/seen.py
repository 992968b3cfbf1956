"""A slice as one horizon sees it: whose outcome is known, the weights of any resample, what it is too little for."""

from __future__ import annotations

import threading
from functools import cached_property

import numpy as np

from workup.scores import OUTCOME, RISK, Scores
from workup.stats.arrays import Bools, Floats
from workup.stats.horizon_influence import AtHorizon
from workup.stats.survival import NOBODY_FOLLOWED
from workup.tasks.risk.horizon.censoring import FOLLOWUP, Censoring, Horizon

FEWEST_EVENTS = FEWEST_AT_RISK = 10  # patients with the event by the horizon, and followed to it
LEAST_FOLLOWED = 0.10  # chance of being followed to the horizon below which a few rows stand for nearly everyone


class _Latest(threading.local):
    """The last products of each thread: the metrics of a block of resamples ask for them one after another. Two are
    kept, because a metric may ask for those of two censoring curves, and no more, because they are large."""

    kept: tuple[tuple[Seen, Floats, tuple[Floats, Bools]], ...] = ()


_LATEST = _Latest()


class Seen:
    """The rows of a slice at a horizon. `known` is the table that a binary metric reads: outcome and risk of the rows
    whose outcome is known; `everyone` the same of all rows, without outcomes."""

    def __init__(self, scores: Scores, horizon: Horizon, censoring: Censoring) -> None:
        self.horizon, self.censoring = horizon, censoring
        self.weights = censoring.weights(scores, horizon)
        self.complete = bool(self.weights.known.all())
        self._scores = scores

    @classmethod
    def of(cls, scores: Scores, horizon: Horizon, censoring: Censoring) -> Seen:
        """Made once for these rows."""
        return scores.kept(f"{censoring.name} at {horizon.name}", lambda: cls(scores, horizon, censoring))

    @cached_property
    def everyone(self) -> Scores:
        """All rows as the risk task would hold them."""
        s = self._scores
        return Scores(
            {OUTCOME: self.weights.outcome, RISK: s[self.horizon.risk]},
            s.patient,
            s.site,
            s.time,
            s.groups,
            s.weight,
            icc=s.icc,
        )

    @cached_property
    def known(self) -> Scores:
        """The rows whose outcome is known."""
        return self.everyone if self.complete else self.everyone.take(np.flatnonzero(self.weights.known))

    @cached_property
    def at(self) -> AtHorizon:
        """The rows under their design weights, with the influence of each."""
        return AtHorizon(self.weights, self._scores[self.horizon.risk], self._scores.base_weight)

    @cached_property
    def marginal(self) -> Seen:
        """The same rows with one censoring curve for all of them; this where it has no other."""
        if len(self.weights.strata) == 1 and self.weights.known_weights is None:
            return self
        return Seen.of(self._scores, self.horizon, Censoring())

    def products(self, weights: Floats) -> tuple[Floats, Bools]:
        """Design times censoring weight of the known rows under each weight vector, and which of these can be estimated
        at all: someone is followed to the horizon, with the event and without."""
        if self.complete:
            return weights, np.ones(len(weights), dtype=bool)
        for whose, given, made in _LATEST.kept:
            if whose is self and given is weights:
                return made
        v, estimable = self.weights.under(weights)
        rows = np.flatnonzero(self.weights.known)
        a = weights.T[rows] * v.T[rows]
        happened = self.weights.outcome[rows] > 0
        both = (a[happened].sum(axis=0) > 0) & (a[~happened].sum(axis=0) > 0)
        made = a.T, estimable & both
        _LATEST.kept = (*_LATEST.kept, (self, weights, made))[-2:]
        return made

    def lacking(self) -> str:
        """Why an interval would rest on too little; empty where it would not."""
        patient, w = self._scores.patient, self._scores.base_weight
        name = self.horizon.name
        events = int(np.unique(patient[(self.weights.outcome == 1) & (w > 0)]).size)
        if events < FEWEST_EVENTS:
            return f"{events} patients with the event by {name}; an interval needs at least {FEWEST_EVENTS}"
        at_risk = int(np.unique(patient[(self._scores[FOLLOWUP] >= self.horizon.days) & (w > 0)]).size)
        if at_risk < FEWEST_AT_RISK:
            return f"{at_risk} patients were followed to {name}; an interval needs at least {FEWEST_AT_RISK}"
        followed = self.weights.followed(w)
        if followed < LEAST_FOLLOWED:
            return (
                f"the chance of being followed to {name} is {followed:.3f}; below {LEAST_FOLLOWED:.2f} a few rows "
                "stand for nearly everyone"
            )
        return ""

    def undefined(self) -> str:
        """Why there is no value, where there is none."""
        if self.weights.followed(self._scores.base_weight) <= 0:
            return NOBODY_FOLLOWED
        return f"no one had the event by {self.horizon.name}, or no one was free of it"
