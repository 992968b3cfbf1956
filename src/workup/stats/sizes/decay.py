"""Cases needed to find a decay over turns, or a gap at one turn, by a t test of one number per case."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from workup.stats.arrays import Floats
from workup.stats.sizes.proportions import check_error_rates, inside, whole, z_shift

MOST = 10**9  # cases; what needs more is called infeasible


class CasesPlan(NamedTuple):
    """Cases with which a mean over cases is told from 0: the effect, the spread of one case, and the power reached."""

    effect: float
    sd: float
    cases: int
    power: float


def cases_for_mean(effect: float, *, sd: float, alpha: float = 0.05, power: float = 0.8) -> CasesPlan:
    """The fewest cases with which a two-sided t test over cases finds a mean of `effect` (noncentral t, n − 1 df).

    >>> cases_for_mean(0.5, sd=1.0).cases
    34
    """
    check_error_rates(alpha, power)
    if effect == 0 or not (sd > 0 and math.isfinite(sd) and math.isfinite(effect)):
        raise ValueError(f"effect must not be 0 and sd must be positive; got {effect:g} and {sd:g}")
    # The normal size is a lower end: the t test needs a little more.
    low = max(1, whole((z_shift(alpha, power) * sd / effect) ** 2) - 1)
    high = low + 1
    if high > MOST:
        raise ValueError(f"not feasible: more than {MOST} cases would be needed; plan for a larger effect")
    while float(mean_power(effect, sd=sd, cases=high, alpha=alpha)) < power:
        low, high = high, high + max(1, (high - low) * 2)
    while high - low > 1:
        middle = (low + high) // 2
        found = float(mean_power(effect, sd=sd, cases=middle, alpha=alpha))
        low, high = (low, middle) if found >= power else (middle, high)
    return CasesPlan(effect, sd, high, float(mean_power(effect, sd=sd, cases=high, alpha=alpha)))


def mean_power(effect: npt.ArrayLike, *, sd: float, cases: npt.ArrayLike, alpha: float = 0.05) -> Floats:
    """Power of that t test; 0 with fewer than two cases, of which no spread is seen."""
    inside("alpha", alpha)
    n = np.asarray(cases, dtype=np.float64)
    df = np.maximum(n - 1, 1.0)
    shift = np.abs(np.asarray(effect, dtype=np.float64)) * np.sqrt(n) / sd
    limit = special.stdtrit(df, 1 - alpha / 2)
    # Far from the limit the noncentral t is 1 to every digit, and its series may fail.
    far = shift > limit + 12 * np.sqrt(1 + limit**2 / (2 * df))
    near = np.where(far, 0.0, shift)
    found = 1 - special.nctdtr(df, near, limit) + special.nctdtr(df, near, -limit)
    return np.where(n < 2, 0.0, np.where(far, 1.0, np.clip(found, 0.0, 1.0)))


def mean_detectable(*, sd: float, cases: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest mean that so many cases find.

    >>> round(mean_detectable(sd=1.0, cases=34), 3)
    0.495
    """
    check_error_rates(alpha, power)
    if cases < 2 or not sd > 0:
        raise ValueError(f"at least 2 cases and a positive sd are needed; got {cases} and {sd:g}")

    def excess(effect: float) -> float:
        return float(mean_power(effect, sd=sd, cases=cases, alpha=alpha)) - power

    top = sd
    while excess(top) < 0:
        top *= 2
    return float(optimize.brentq(excess, 0.0, top, xtol=1e-12))


# ---- slope over turns ------------------------------------------------------------------------------------------------


def decay_slope_sd(
    slope: float, *, start: float, turns: int, facts: float, correlation: float = 0.0, slope_sd: float = 0.0
) -> float:
    """Spread of one case's least-squares slope of recall over turns 1 … T.

    The model: recall of case i at turn t is start + slope·(t − 1) + a_i + d_i·(t − t̄) + e_it. The case's level a_i
    drops out of its slope; its own slope departs by d_i with standard deviation `slope_sd`; e_it is binomial error of
    `facts` facts, variance v_t = m_t(1 − m_t)/facts at mean recall m_t, equally correlated (`correlation`) between any
    two turns, since the same facts are asked for. With c_t = (t − t̄)/Σ(t − t̄)² the variance is

        slope_sd² + (1 − correlation) Σ c_t² v_t + correlation (Σ c_t √v_t)²

    the two-stage (summary measures) analysis of Fitzmaurice, Laird and Ware (2011, chapter 20); with v_t constant and
    slope_sd 0 it is σ²(1 − ρ)/Σ(t − t̄)², as in Diggle and others (2002, section 2.4).

    >>> round(decay_slope_sd(-0.02, start=0.95, turns=10, facts=8), 4)
    0.0132
    """
    inside("correlation", correlation, low=-1e-12, high=1.0)
    if turns < 2:
        raise ValueError(f"a slope needs at least 2 turns; got {turns}")
    if not facts > 0 or slope_sd < 0:
        raise ValueError(f"facts must be positive and slope_sd not negative; got {facts:g} and {slope_sd:g}")
    t = np.arange(1.0, turns + 1)
    mean = start + slope * (t - 1)
    if mean.min() < 0 or mean.max() > 1:
        raise ValueError(
            f"recall would leave 0 to 1: from {start:g} by {slope:g} a turn it is {mean[-1]:g} at turn {turns}; "
            "plan with fewer turns or a flatter slope"
        )
    weight = (t - t.mean()) / np.sum((t - t.mean()) ** 2)
    variance = mean * (1 - mean) / facts
    own = (1 - correlation) * np.sum(weight**2 * variance)
    shared = correlation * np.sum(weight * np.sqrt(variance)) ** 2
    return math.sqrt(slope_sd**2 + float(own + shared))


def decay_slope_size(
    slope: float,
    *,
    start: float,
    turns: int,
    facts: float,
    correlation: float = 0.0,
    slope_sd: float = 0.0,
    alpha: float = 0.05,
    power: float = 0.8,
) -> CasesPlan:
    """Cases with which a t test of per-case slopes tells a mean decay slope from 0; the model is `decay_slope_sd`'s.

    A correlation of 0 is the cautious choice as long as recall's variance changes little over the turns; a slope_sd of
    0 never is: cases that decay at different speeds need more, so take it from a pilot.

    >>> decay_slope_size(-0.02, start=0.95, turns=10, facts=8, slope_sd=0.03).cases
    24
    """
    model = {"start": start, "facts": facts, "correlation": correlation, "slope_sd": slope_sd}
    return cases_for_mean(slope, sd=decay_slope_sd(slope, turns=turns, **model), alpha=alpha, power=power)


# ---- gap at one turn -------------------------------------------------------------------------------------------------


def decay_gap_sd(live: float, oracle: float, *, facts: float, icc: float, correlation: float = 0.0) -> float:
    """Spread over cases of D = live − oracle recall at one turn, paired by case.

    Either recall of a case rests on `facts` facts with intra-case correlation `icc` (facts of a case are kept or lost
    together), variance r(1 − r)/facts · (1 + (facts − 1) icc); `correlation` is that of the two recalls over cases, and
    0 is the cautious choice.
    """
    for name, value in (("live", live), ("oracle", oracle), ("icc", icc)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must lie between 0 and 1; got {value:g}")
    inside("correlation", correlation, low=-1.0)
    if facts < 1:
        raise ValueError(f"facts must be at least 1; got {facts:g}")
    first, second = (r * (1 - r) / facts * (1 + (facts - 1) * icc) for r in (live, oracle))
    return math.sqrt(first + second - 2 * correlation * math.sqrt(first * second))


def decay_gap_size(
    live: float,
    oracle: float,
    *,
    facts: float,
    icc: float,
    correlation: float = 0.0,
    alpha: float = 0.05,
    power: float = 0.8,
) -> CasesPlan:
    """Cases with which the gap D(t) = live − oracle recall is told from 0 by a paired t test over cases.

    >>> decay_gap_size(0.80, 0.95, facts=8, icc=0.2).cases
    24
    """
    sd = decay_gap_sd(live, oracle, facts=facts, icc=icc, correlation=correlation)
    return cases_for_mean(live - oracle, sd=sd, alpha=alpha, power=power)
