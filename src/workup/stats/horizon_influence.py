"""What every row does to a figure at a horizon, the censoring curve re-estimated with it; and the errors that follow.

The influence of a row is its weight times the derivative of the figure by that weight: directly, by its own product of
design and censoring weight, and by way of the censoring curve that everyone shares. All of it in O(n log n).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from workup.stats import calibration, logistic, rank
from workup.stats.arrays import Floats, Ints
from workup.stats.horizon_weights import ByCurve, HorizonWeights


class Influence(NamedTuple):
    """A figure with the influence of every row on it."""

    value: float
    rows: Floats

    def se(self, patient: Ints) -> float:
        """Standard error over patients (counters): K/(K − 1) times the sum of squares of their summed influences."""
        totals = np.bincount(patient, weights=self.rows)
        k = int(np.count_nonzero(np.bincount(patient)))
        return float(np.sqrt(k / (k - 1) * np.sum(totals**2))) if k > 1 else float("nan")


@dataclass(frozen=True, eq=False)
class AtHorizon:
    """Risks held against what happened by a horizon, under one vector of design weights."""

    seen: HorizonWeights
    risk: Floats
    weight: Floats

    @cached_property
    def v(self) -> Floats:
        """Censoring weights."""
        return np.asarray(self.seen.under(self.weight[None, :]).v[0])

    @cached_property
    def a(self) -> Floats:
        """Design weight times censoring weight: the weight that a row has in a figure."""
        return self.weight * self.v

    @cached_property
    def _by_curve(self) -> ByCurve:
        return self.seen.by_curve(self.weight)

    @cached_property
    def outcome(self) -> Floats:
        """The outcome, 0 where it is unknown (its weight is 0 there)."""
        return np.nan_to_num(self.seen.outcome)

    @cached_property
    def total(self) -> float:
        """The sum of the design weights."""
        return float(self.weight.sum())

    def influence(self, value: float, by_product: Floats, direct: Floats | float = 0.0) -> Influence:
        """From the derivatives by the product of the two weights and by the design weight alone."""
        g = np.where(self.seen.known, by_product, 0.0)
        own = self.v * g + direct
        return Influence(value, self.weight * (own + self._by_curve.through(self.a * g)))

    def mean(self, column: Floats) -> Influence:
        """Σ a·column / Σ w."""
        value = float(self.a @ np.where(self.seen.known, column, 0.0)) / self.total
        return self.influence(value, column / self.total, -value / self.total)

    def ratio(self, top: Floats, bottom: Floats) -> Influence:
        """Σ a·top / Σ a·bottom, such as a sensitivity; NaN where nothing is in the denominator."""
        held = float(self.a @ bottom)
        if not held > 0:
            return Influence(float("nan"), np.full(len(self.seen), np.nan))
        value = float(self.a @ top) / held
        return self.influence(value, (top - value * bottom) / held)

    def observed_risk(self) -> Influence:
        """The risk of the event by the horizon (Aalen and Johansen's, where the weights are the marginal ones)."""
        return self.mean(self.outcome)

    def log_oe(self, *, expected_fixed: bool = False) -> Influence:
        """The logarithm of observed over expected, with the expected risk of all rows; sampled with them, or fixed."""
        observed = self.observed_risk()
        expected = float(self.weight @ self.risk) / self.total
        rows = observed.rows / observed.value
        if not expected_fixed:
            rows = rows - self.weight * (self.risk / expected - 1) / self.total
        return Influence(float(np.log(observed.value / expected)), rows)

    def brier(self) -> Influence:
        """Mean squared error of the risk."""
        return self.mean((self.outcome - self.risk) ** 2)

    def scaled_brier(self) -> Influence:
        """One less the Brier score over that of a model that gives everyone Aalen and Johansen's risk."""
        error, observed = self.brier(), self._marginal().observed_risk()
        f = observed.value
        null = self.mean((self.outcome - f) ** 2)
        value = 1 - error.value / null.value
        # The null moves with that risk too: its derivative is −2 Σ a(y − f)/Σ w, 0 where the weights are marginal.
        by_f = -2 * float(self.a @ (self.outcome - f)) / self.total
        of_null = null.rows + by_f * observed.rows
        return Influence(value, -error.rows / null.value + error.value / null.value**2 * of_null)

    def _marginal(self) -> AtHorizon:
        """The same rows with one censoring curve for all of them."""
        if len(self.seen.strata) == 1 and self.seen.known_weights is None:
            return self
        return AtHorizon(HorizonWeights.of(self.seen.time, self.seen.status, self.seen.horizon), self.risk, self.weight)

    def auroc(self) -> Influence:
        """Cumulative cases against dynamic controls, those with a competing event among the controls."""
        rows = np.flatnonzero(self.a > 0)
        placed = rank.placements(self.outcome[rows], self.risk[rows], self.a[rows])
        g = np.zeros(len(self.seen))
        cases = self.outcome[rows[placed.order]] > 0
        a = self.a[rows[placed.order]]
        held = np.where(cases, a[cases].sum(), a[~cases].sum())
        g[rows[placed.order]] = (placed.share - placed.auc) / held
        return self.influence(placed.auc, g)

    def slope(self) -> Influence:
        """Calibration slope."""
        lp = calibration.logit(self.risk)
        return self._logistic(logistic.with_constant(lp), np.zeros_like(lp), 1)

    def in_the_large(self) -> Influence:
        """Calibration-in-the-large."""
        lp = calibration.logit(self.risk)
        return self._logistic(np.ones((lp.size, 1)), lp, 0)

    def _logistic(self, design: Floats, offset: Floats, place: int) -> Influence:
        known = self.seen.known
        fits = logistic.fit(design[known], self.outcome[known], self.a[None, known], offset=offset[known])
        beta = fits.coefficients[0]
        fitted = logistic.expit(offset + design @ beta)
        g = (self.outcome - fitted) * (design @ fits.inverse_information[0, place])
        return self.influence(float(beta[place]), g)

    def flagged(self, threshold: float) -> Floats:
        """1 where the risk reaches the threshold."""
        return (self.risk >= threshold).astype(np.float64)

    def net_benefit(self, threshold: float) -> Influence:
        """True positives less false positives at the threshold's exchange rate, over all rows."""
        odds = threshold / (1 - threshold)
        return self.mean(self.flagged(threshold) * (self.outcome - odds * (1 - self.outcome)))

    def share(self, name: str, threshold: float) -> Influence:
        """Sensitivity, specificity, ppv, npv, accuracy or f1 at a threshold."""
        return self.ratio(*(part(self.flagged(threshold), self.outcome) for part in SHARES[name]))


Part = Callable[[Floats, Floats], Floats]

# Numerator and denominator of each share, from what is flagged and what happened.
SHARES: dict[str, tuple[Part, Part]] = {
    "sensitivity": (lambda f, y: f * y, lambda f, y: y),
    "specificity": (lambda f, y: (1 - f) * (1 - y), lambda f, y: 1 - y),
    "ppv": (lambda f, y: f * y, lambda f, y: f),
    "npv": (lambda f, y: (1 - f) * (1 - y), lambda f, y: 1 - f),
    "accuracy": (lambda f, y: f * y + (1 - f) * (1 - y), lambda f, y: np.ones_like(f)),
    "f1": (lambda f, y: 2 * f * y, lambda f, y: f + y),
}
