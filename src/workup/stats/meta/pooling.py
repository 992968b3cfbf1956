"""Pooling of one estimate per site: mean, heterogeneity, prediction interval.

Estimates come on a scale where they are about normal (logit, log, a slope as it is), with their sampling variances.
Freeman and Tukey's double arcsine is not offered: its way back to a share depends on one "mean" sample size, so a
pooled share can lie outside those of all sites (Schwarzer et al. 2019). Shares with few events go to `pool_shares`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Floats
from workup.stats.intervals import chi2_p, t_critical
from workup.stats.meta import binomial_mixture, heterogeneity
from workup.stats.meta.heterogeneity import HigginsI2, Method, SiteModel, TestKind, higgins_i2
from workup.stats.meta.regression import Regression, regress

__all__ = [
    "HigginsI2",
    "Method",
    "Pooled",
    "Regression",
    "Subgroups",
    "TestKind",
    "higgins_i2",
    "leave_one_out",
    "pool",
    "pool_shares",
    "regress",
    "subgroups",
]


@dataclass(frozen=True)
class Pooled:
    """A pooled mean with the spread between sites, on the scale of the estimates.

    `df` is None where the quantile is normal. `p` is that of a mean of 0. `i2` and its ends are fractions,
    tau²/(tau² + typical sampling variance) at tau² and at the ends of its interval; under FE, which has no tau²,
    (Q − df)/Q without ends. `h2` is 1 + tau²/typical variance; under FE Q/df. `pi_low` and `pi_high` hold the true
    value of a new site, approximately: mean ± t(k − 2)·√(tau² + se²); None below three sites and under FE.
    `weights` add to 1. With one site there is no heterogeneity to speak of: those fields are NaN and None.
    """

    k: int
    method: str
    test: str
    level: float
    estimate: float
    se: float
    low: float
    high: float
    df: float | None
    p: float
    tau2: float
    tau2_low: float | None
    tau2_high: float | None
    q: float
    q_df: int
    q_p: float
    i2: float
    i2_low: float | None
    i2_high: float | None
    h2: float
    pi_low: float | None
    pi_high: float | None
    weights: Floats


@dataclass(frozen=True)
class Subgroups:
    """Pooled estimates of groups of sites, in the order of their names, and the test that the means are equal.

    Every group has its own tau², which a single site cannot have. With one group there is nothing to test: NaN.
    """

    names: tuple[str, ...]
    pooled: tuple[Pooled, ...]
    q_between: float
    df: int
    p: float


def pool(
    yi: npt.ArrayLike,
    vi: npt.ArrayLike,
    *,
    method: Method = "REML",
    test: TestKind = "adhoc",
    level: float = 0.95,
) -> Pooled:
    """Pool one estimate per site, `yi`, with their sampling variances `vi`.

    `test` makes the interval: "knha" of Hartung and Knapp, "adhoc" the same and never shorter than with a factor of 1,
    "z" Wald's, which covers too little with few sites.

    >>> found = pool([1.73, 1.27, 1.45, 0.94, 1.99], [0.062, 0.061, 0.026, 0.076, 0.057])
    >>> [round(value, 3) for value in (found.estimate, found.low, found.high, found.tau2)]
    [1.486, 1.001, 1.971, 0.088]
    """
    y, v = heterogeneity.checked(yi, vi, method=method, test=test, level=level)
    if y.size == 1:
        return _alone(float(y[0]), float(v[0]), method=method, level=level)
    model = heterogeneity.site_model(y, v, np.ones((y.size, 1)))
    tau2 = heterogeneity.tau_squared(model, method)
    weight = 1 / (v + tau2)
    weights = weight / weight.sum()
    # About the middle, so that sites which all agree give exactly their common value.
    middle = float(np.median(y))
    estimate = middle + float(weights @ (y - middle))
    at = heterogeneity.profile(model, np.array([tau2]))
    se = float(np.sqrt(heterogeneity.inflation(at, model.df, test) / weight.sum()))
    df = None if test == "z" else model.df
    return _pooled((estimate, se, df), _spread(model, tau2, method, level), weights, method, test, level)


class _Spread(NamedTuple):
    """What is known of the heterogeneity, under the names that `Pooled` gives it."""

    tau2: float
    tau2_low: float | None
    tau2_high: float | None
    q: float
    q_df: int
    q_p: float
    i2: float
    i2_low: float | None
    i2_high: float | None
    h2: float


_UNKNOWN = _Spread(np.nan, None, None, np.nan, 0, np.nan, np.nan, None, None, np.nan)


def _spread(model: SiteModel, tau2: float, method: Method, level: float) -> _Spread:
    q, df = heterogeneity.cochran_q(model), model.df
    if method == "FE":
        i2 = max(0.0, (q - df) / q) if q > 0 else 0.0
        return _Spread(0.0, None, None, q, df, chi2_p(q, df), i2, None, None, q / df)
    low, high = heterogeneity.q_profile(model, level)
    return _around(tau2, low, high, (q, df), heterogeneity.typical_variance(model))


def _around(tau2: float, low: float, high: float | None, q: tuple[float, int], typical: float) -> _Spread:
    return _Spread(
        tau2=tau2,
        tau2_low=low,
        tau2_high=high,
        q=q[0],
        q_df=q[1],
        q_p=chi2_p(*q),
        i2=tau2 / (tau2 + typical),
        i2_low=low / (low + typical),
        i2_high=None if high is None else high / (high + typical),
        h2=1 + tau2 / typical,
    )


def _pooled(
    mean: tuple[float, float, float | None],
    spread: _Spread,
    weights: Floats,
    method: str,
    test: str,
    level: float,
) -> Pooled:
    """The whole result from the mean, its standard error and degrees of freedom, and the spread."""
    estimate, se, df = mean
    half = heterogeneity.critical(level, df) * se
    k = weights.size
    ahead = None
    if k >= 3 and method != "FE" and np.isfinite(se):  # FE assumes one common value: it predicts none for a new site
        # Riley, Higgins and Deeks 2011, with the standard error in use.
        ahead = t_critical(level, k - 2) * float(np.sqrt(spread.tau2 + se**2))
    return Pooled(
        k=k,
        method=method,
        test=test,
        level=level,
        estimate=estimate,
        se=se,
        low=estimate - half,
        high=estimate + half,
        df=df,
        p=float(heterogeneity.two_sided_p(np.array([estimate]), np.array([se]), df)[0]),
        tau2=spread.tau2,
        tau2_low=spread.tau2_low,
        tau2_high=spread.tau2_high,
        q=spread.q,
        q_df=spread.q_df,
        q_p=spread.q_p,
        i2=spread.i2,
        i2_low=spread.i2_low,
        i2_high=spread.i2_high,
        h2=spread.h2,
        pi_low=None if ahead is None else estimate - ahead,
        pi_high=None if ahead is None else estimate + ahead,
        weights=weights,
    )


def _alone(estimate: float, variance: float, *, method: str, level: float) -> Pooled:
    """One site: its own estimate and normal interval."""
    return _pooled((estimate, float(np.sqrt(variance)), None), _UNKNOWN, np.ones(1), method, "z", level)


def leave_one_out(
    yi: npt.ArrayLike,
    vi: npt.ArrayLike,
    *,
    method: Method = "REML",
    test: TestKind = "adhoc",
    level: float = 0.95,
) -> list[Pooled]:
    """The pooled result without each site in turn, in the order of the sites; nothing is left of a single site.

    >>> [round(one.estimate, 2) for one in leave_one_out([1.0, 1.1, 3.0], [0.1, 0.1, 0.1])]
    [2.05, 2.0, 1.05]
    """
    y, v = heterogeneity.checked(yi, vi, method=method, test=test, level=level)
    if y.size == 1:
        return []
    kept = (np.delete(np.arange(y.size), i) for i in range(y.size))
    return [pool(y[keep], v[keep], method=method, test=test, level=level) for keep in kept]


def subgroups(
    yi: npt.ArrayLike,
    vi: npt.ArrayLike,
    groups: Sequence[str],
    *,
    method: Method = "REML",
    test: TestKind = "adhoc",
    level: float = 0.95,
) -> Subgroups:
    """Pool each group of sites apart and test by Q that their means are equal.

    Q weighs the means by their Wald variances whatever `test` makes the intervals: plain Hartung-Knapp can have none.
    A site whose group is unknown needs a name for that: none is left out.

    >>> found = subgroups([1.6, 1.5, 1.1, 1.0], [0.02, 0.03, 0.03, 0.02], ["academic", "academic", "rural", "rural"])
    >>> found.names, [round(one.estimate, 2) for one in found.pooled], round(found.p, 4)
    (('academic', 'rural'), [1.56, 1.04], 0.0008)
    """
    y, v = heterogeneity.checked(yi, vi, method=method, test=test, level=level)
    if len(groups) != y.size:
        raise ValueError(f"expected one group per site, got {len(groups)} groups for {y.size} sites")
    if not all(isinstance(group, str) for group in groups):
        raise ValueError('every site needs the name of its group, as text; name the unknown ones, say "unknown"')
    names = tuple(sorted(set(groups)))
    member = [np.array([group == name for group in groups]) for name in names]
    pooled = tuple(pool(y[of], v[of], method=method, test=test, level=level) for of in member)
    df = len(names) - 1
    if df == 0:
        return Subgroups(names, pooled, np.nan, 0, np.nan)
    means = np.array([one.estimate for one in pooled])
    wald = [1 / np.sum(1 / (v[of] + np.nan_to_num(one.tau2))) for of, one in zip(member, pooled, strict=True)]
    q = heterogeneity.cochran_q(heterogeneity.site_model(means, np.array(wald), np.ones((len(names), 1))))
    return Subgroups(names, pooled, q, df, chi2_p(q, df))


def pool_shares(events: npt.ArrayLike, totals: npt.ArrayLike, *, level: float = 0.95) -> Pooled:
    """Pool shares by a binomial-normal mixed model, on the logit scale; `totals` may be effective sizes.

    For sparse counts, where the logit of a site is undefined or far from normal. Maximum likelihood; the interval of
    the mean is Wald's with a t quantile on k − 1 degrees of freedom, because tau² is estimated from k sites, and that
    of tau² is the profile likelihood's. Q is the likelihood ratio of free shares against one common share. I², H² and
    `weights` rest on logits with ½ added where a site has all or no events; the model itself uses none of them. Where
    the likelihood has no peak (no events at all, nothing but events, or each site all or none) every result is NaN.

    >>> found = pool_shares([4, 0, 7], [60, 45, 80])
    >>> round(float(special.expit(found.estimate)), 3), round(found.tau2, 3)
    (0.055, 0.102)
    """
    x, n = _checked_counts(events, totals, level)
    k = x.size
    added = np.where((x == 0) | (x == n), 0.5, 0.0)
    v = 1 / (x + added) + 1 / (n - x + added)
    if k == 1 and 0 < x[0] < n[0]:
        return _alone(float(special.logit(x[0] / n[0])), float(v[0]), method="GLMM", level=level)
    found = None if k == 1 else binomial_mixture.fit(x, n, level=level)
    if found is None:
        return _pooled((np.nan, np.nan, None), _UNKNOWN, np.full(k, np.nan), "GLMM", "t", level)
    typical = heterogeneity.typical_variance(heterogeneity.site_model(np.zeros(k), v, np.ones((k, 1))))
    q = max(0.0, 2 * (binomial_mixture.free(x, n) - binomial_mixture.common(x, n)))
    spread = _around(found.tau2, found.tau2_low, found.tau2_high, (q, k - 1), typical)
    weight = 1 / (v + found.tau2)
    return _pooled((found.mean, found.se, k - 1), spread, weight / weight.sum(), "GLMM", "t", level)


def _checked_counts(events: npt.ArrayLike, totals: npt.ArrayLike, level: float) -> tuple[Floats, Floats]:
    x, n = np.asarray(events, dtype=np.float64), np.asarray(totals, dtype=np.float64)
    if x.ndim != 1 or x.shape != n.shape or x.size == 0:
        raise ValueError(f"expected events and a total per site, got shapes {x.shape} and {n.shape}")
    if not (np.isfinite(x) & np.isfinite(n) & (n > 0) & (x >= 0) & (x <= n)).all():
        raise ValueError("every total must be finite and above 0, with between 0 and that many events")
    heterogeneity.check_level(level)
    return x, n
