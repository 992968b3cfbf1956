"""Shares whose logits are normal over sites: the binomial-normal mixed model by maximum likelihood.

Exact for sparse counts, where a logit with its variance is not: sites with no event or nothing but events need no
correction. Knows counts, not what they count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import optimize, special

from workup.stats.arrays import Floats

LARGEST_TAU = 10.0  # on the logit scale: one site in three would lie beyond 5e-5 of a share of 0 or 1
SCANNED = 25  # values of tau at which the profile likelihood is looked at before it is climbed
STEP = 0.08  # of the quadrature; the log-likelihood is then within 1e-9 of the integral at any tau up to the largest
SMALL_TAU = 0.05  # below it slopes are summed as they are, above it by parts
TOLERANCE = 1e-12
LOG_ROOT_TWO_PI = 0.5 * float(np.log(2 * np.pi))


class Mixture(NamedTuple):
    """Mean logit and variance between sites, with the log-likelihood less the binomial constants."""

    mean: float
    se: float
    tau2: float
    tau2_low: float
    tau2_high: float | None  # None: the likelihood falls too little to bound it
    log_likelihood: float


class Moments(NamedTuple):
    """The log-likelihood at (mean, tau), its slopes and its 2 × 2 Hessian in these two."""

    value: float
    by_mean: float
    by_tau: float
    hessian: Floats


def fit(events: Floats, totals: Floats, *, level: float) -> Mixture | None:
    """The most likely mixture, with the profile-likelihood interval of tau²; None when the likelihood has no peak.

    That is so when no site, or every site, has nothing but events, or when each site has all or none.

    >>> found = fit(np.array([48.0, 30, 95, 22, 70]), np.array([60.0, 45, 120, 30, 80]), level=0.95)
    >>> round(found.mean, 3), round(found.se, 3), round(found.tau2, 3)
    (1.313, 0.178, 0.059)
    """
    if events.sum() <= 0 or events.sum() >= totals.sum():
        return None
    ridge = _Ridge(events, totals)
    grid = np.expm1(np.linspace(0, np.log1p(LARGEST_TAU), SCANNED))
    slope = np.array([ridge.slope(tau) for tau in grid])
    if slope[-1] > 0:
        return None
    peaks = [0.0] if slope[0] <= 0 else []
    for i in np.flatnonzero((slope[:-1] > 0) & (slope[1:] <= 0)):
        peaks.append(float(optimize.brentq(ridge.slope, grid[i], grid[i + 1], xtol=TOLERANCE, rtol=TOLERANCE)))
    tau = max(peaks, key=ridge.height)
    low, high = _tau_interval(ridge.height, tau, drop=float(special.chdtri(1, 1 - level)) / 2)
    mean, at = ridge.at(tau)
    information = -at.hessian
    variance = 1 / information[0, 0] if tau == 0 else float(np.linalg.inv(information)[0, 0])
    return Mixture(mean, float(np.sqrt(variance)), tau**2, low**2, None if high is None else high**2, at.value)


def _tau_interval(height: Callable[[float], float], tau: float, *, drop: float) -> tuple[float, float | None]:
    """Where the profile likelihood lies `drop` below its peak, on either side."""
    floor = height(tau) - drop

    def above(value: float) -> float:
        return height(value) - floor

    low = 0.0 if tau == 0 or above(0.0) >= 0 else float(optimize.brentq(above, 0.0, tau, rtol=TOLERANCE))
    if above(LARGEST_TAU) > 0:
        return low, None
    return low, float(optimize.brentq(above, tau, LARGEST_TAU, rtol=TOLERANCE))


class _Ridge:
    """The likelihood along tau, at the best mean of each tau."""

    def __init__(self, events: Floats, totals: Floats) -> None:
        self._events, self._totals = events, totals
        self._mean = float(special.logit(events.sum() / totals.sum()))
        self._seen: dict[float, tuple[float, Moments]] = {}

    def at(self, tau: float) -> tuple[float, Moments]:
        """The best mean and the moments there.

        Given tau the likelihood is log-concave in the mean (a marginal of a log-concave density), so Newton's method
        inside a shrinking bracket finds the one peak.
        """
        if tau in self._seen:
            return self._seen[tau]
        mean, low, high = self._mean, -np.inf, np.inf
        for _ in range(100):
            found = moments(mean, tau, self._events, self._totals)
            low, high = (mean, high) if found.by_mean > 0 else (low, mean)
            curvature = float(found.hessian[0, 0])
            step = -found.by_mean / curvature if curvature < 0 else float(np.sign(found.by_mean))
            if min(abs(step), high - low) <= TOLERANCE * max(1.0, abs(mean)):
                break
            moved = mean + float(np.clip(step, -2 - tau, 2 + tau))
            mean = moved if low < moved < high else (low + high) / 2
        self._seen[tau] = mean, found
        self._mean = mean  # a near start for the next
        return mean, found

    def height(self, tau: float) -> float:
        """The profile log-likelihood."""
        return self.at(tau)[1].value

    def slope(self, tau: float) -> float:
        """Its derivative by tau, over tau: at 0, where that by tau vanishes, twice the one by tau²."""
        if tau > 0:
            return self.at(tau)[1].by_tau / tau
        share = special.expit(self.at(0.0)[0])
        spread = self._totals * share * (1 - share)
        return float(np.sum((self._events - self._totals * share) ** 2 - spread))


def free(events: Floats, totals: Floats) -> float:
    """The log-likelihood when every site has a share of its own, less the binomial constants."""
    share = events / totals
    return float(np.sum(special.xlogy(events, share) + special.xlogy(totals - events, 1 - share)))


def common(events: Floats, totals: Floats) -> float:
    """The log-likelihood when all sites have one share, less the binomial constants."""
    return free(events.sum(keepdims=True), totals.sum(keepdims=True))


def moments(mean: float, tau: float, events: Floats, totals: Floats) -> Moments:
    """The log-likelihood at (mean, tau) with its first and second derivatives.

    Each site's integral over its standardised departure z is taken by the trapezoidal rule in s, z = mode + sinh(s)/c,
    with c² the curvature at the mode: narrow and wide, even and lopsided integrands alike. The derivatives are
    posterior moments of those of the complete data (Louis 1982).
    """
    mode, curvature = _modes(mean, tau, events, totals)
    root = np.sqrt(curvature)[:, None]
    half = int(np.ceil(np.arcsinh(9 * root.max()) / STEP))  # the normal part alone is below e-40 nine units away
    s = STEP * np.arange(-half, half + 1)
    z = mode[:, None] + np.sinh(s) / root
    eta = mean + tau * z
    share = special.expit(eta)
    x, n = events[:, None], totals[:, None]
    log_f = x * special.log_expit(eta) + (n - x) * special.log_expit(-eta) - z**2 / 2 - LOG_ROOT_TWO_PI
    log_f += np.log(np.cosh(s) * STEP) - np.log(root)
    peak = log_f.max(axis=1, keepdims=True)
    chance = np.exp(log_f - peak)
    total = chance.sum(axis=1, keepdims=True)
    chance /= total
    gap, spread = x - n * share, n * share * (1 - share)
    bend = gap**2 - spread
    by_mean, by_tau = np.sum(chance * gap, axis=1), np.sum(chance * gap * z, axis=1)
    hessian = np.empty((2, 2))
    hessian[0, 0] = np.sum(chance * bend) - np.sum(by_mean**2)
    hessian[0, 1] = hessian[1, 0] = np.sum(chance * z * bend) - np.sum(by_mean * by_tau)
    hessian[1, 1] = np.sum(chance * z**2 * bend) - np.sum(by_tau**2)
    if tau > SMALL_TAU:
        # The same by parts, E[tau·gap] = E z and so on: events and expected events are large and nearly cancel.
        first, second = np.sum(chance * z, axis=1), np.sum(chance * z**2, axis=1)
        by_mean, by_tau = first / tau, (second - 1) / tau
        hessian[0, 0] = np.sum(second - first**2 - 1) / tau**2
    return Moments(float(np.sum(peak + np.log(total))), float(by_mean.sum()), float(by_tau.sum()), hessian)


def _modes(mean: float, tau: float, events: Floats, totals: Floats) -> tuple[Floats, Floats]:
    """Where each site's integrand is highest, and its curvature there: z = tau (x − n p), by bracketed Newton steps."""
    low, high = -tau * (totals - events), tau * events
    near, variance = special.logit((events + 0.5) / (totals + 1)), 1 / (events + 0.5) + 1 / (totals - events + 0.5)
    z = np.clip(tau * (near - mean) / (tau**2 + variance), low, high)
    curvature = np.ones(events.size)
    for _ in range(100):
        share = special.expit(mean + tau * z)
        slope = tau * (events - totals * share) - z
        curvature = 1 + tau**2 * totals * share * (1 - share)
        low, high = np.where(slope > 0, z, low), np.where(slope > 0, high, z)
        moved = z + slope / curvature
        moved = np.where((moved >= low) & (moved <= high), moved, (low + high) / 2)
        if np.all(np.abs(moved - z) <= 1e-9 / np.sqrt(curvature)):
            break
        z = moved
    return z, curvature
