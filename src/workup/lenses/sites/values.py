"""One site's estimate on the scale it is pooled on, with its variance, and one pooled answer from several of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workup.estimate import Estimate
from workup.metric import CLUSTERED
from workup.stats.intervals import t_critical, z_critical
from workup.stats.meta import pooling
from workup.stats.meta.pooling import Method, Pooled, TestKind
from workup.stats.scales import back, or_none, steepness, there

SPARSE = 5  # counted rows, or rows not counted, below which a logit and its variance mislead
NOISE = 1e-9  # a standard error below this share of the value is rounding: the site would get all the weight
HALF = 0.5  # added to both cells of a share of none or all, only where a logit of it has to be drawn or regressed
NO_PEAK = "each site has all or none, so the mixed model has no peak"
GLMM = f"binomial GLMM (a site has fewer than {SPARSE} of one kind)"


@dataclass(frozen=True)
class OnScale:
    """A site's value and variance on the pooling scale; a share also keeps its counts, on the effective size."""

    site: str
    y: float
    v: float
    estimate: Estimate
    counted: float | None = None
    total: float | None = None

    @property
    def empty(self) -> bool:
        """Is this a share of none or of all, whose logit needed a half in each cell?"""
        return self.counted is not None and self.counted in (0.0, self.total)

    @property
    def sparse(self) -> bool:
        """Is this a share that rests on too few rows of one kind for a normal logit?"""
        if self.counted is None or self.total is None:
            return False
        return min(self.counted, self.total - self.counted) < SPARSE


def on_scale(site: str, e: Estimate, scale: str) -> OnScale | str:
    """A site's estimate ready to be pooled, or the reason why it cannot be.

    >>> auroc = Estimate("auroc", {}, 0.8, 0.7, 0.87, 0.95, "DeLong", 0.04, 200, 200)
    >>> found = on_scale("A", auroc, "logit")
    >>> round(found.y, 4), round(found.v, 4)
    (1.3863, 0.0625)
    """
    if e.status == "withheld":
        return f"insufficient at site {site}: {e.reason or 'withheld'}"
    if e.status != "ok" or e.value is None:
        return f"{e.status}: {e.reason or 'no value'}"
    if scale == "logit" and e.numerator is not None and e.denominator and "validation" not in e.slice:
        return _share(site, e)
    if e.se is None or not e.se > NOISE * max(1.0, abs(e.value)):
        return f"a value of {e.value:.6g} has no standard error to weigh it by"
    if scale == "logit" and not 0 < e.value < 1:
        return f"a value of {e.value:g} has no variance on the logit scale"
    if scale == "log" and e.value <= 0:
        return f"a value of {e.value:g} has no logarithm"
    return OnScale(site, there(e.value, scale), (e.se / steepness(e.value, scale)) ** 2, e)


def _share(site: str, e: Estimate) -> OnScale | str:
    """A share on the size of its own class (never of everyone), which is the effective one when patients repeat."""
    assert e.numerator is not None and e.denominator is not None
    share = e.numerator / e.denominator
    size = _effective(e, share)
    if isinstance(size, str):
        return size
    counted = share * size
    x, rest = counted, size - counted
    if min(x, rest) <= 0:
        x, rest = x + HALF, rest + HALF
    return OnScale(site, float(np.log(x / rest)), 1 / x + 1 / rest, e, counted, size)


def _effective(e: Estimate, share: float) -> float | str:
    assert e.denominator is not None
    if e.method == "Wilson":
        return e.denominator
    if 0 < share < 1:
        if e.se is None or not e.se > 0:
            return "its rows repeat within patients and it carries no standard error"
        return share * (1 - share) / e.se**2
    # All or none: the standard error is 0 and says nothing, but the end does.
    end = e.high if share == 0 else None if e.low is None else 1 - e.low
    if end is None or not 0 < end < 1 or not e.method.startswith(("Wilson", CLUSTERED)):
        return f"a share of {share:g} whose size is not known"
    if e.method.startswith(CLUSTERED):  # Clopper and Pearson's: the chance that as many rows are all alike
        return float(np.log((1 - e.level) / 2) / np.log1p(-end))
    # Wilson's was made with a t quantile; with the normal one it amounts to a smaller size, which errs on the side of
    # less weight.
    return z_critical(e.level) ** 2 * (1 - end) / end


@dataclass(frozen=True)
class Fit:
    """A pooled answer on the pooling scale; with one site it is that site's own, and nothing is known of the spread."""

    used: tuple[OnScale, ...]
    scale: str
    method: str
    level: float
    pooled: Pooled | None
    lost: int = 0  # sites that have such patients but no usable figure

    @property
    def y(self) -> float | None:
        """Pooled mean on the pooling scale."""
        return or_none(self.pooled.estimate) if self.pooled else self.used[0].y if self.used else None

    @property
    def se(self) -> float | None:
        """Its standard error on the pooling scale, that of Hartung and Knapp where it is in use."""
        return or_none(self.pooled.se) if self.pooled else float(np.sqrt(self.used[0].v)) if self.used else None

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The interval of the mean on the natural scale."""
        if self.pooled:
            return back(self.pooled.low, self.scale), back(self.pooled.high, self.scale)
        if not self.used:
            return None, None
        only = self.used[0]
        if only.estimate.level == self.level:
            return only.estimate.low, only.estimate.high
        half = z_critical(self.level) * np.sqrt(only.v)
        return back(only.y - half, self.scale), back(only.y + half, self.scale)

    @property
    def value(self) -> float | None:
        """The mean on the natural scale."""
        return back(self.y, self.scale) if len(self.used) != 1 else self.used[0].estimate.value

    def at(self, level: float) -> Fit:
        """The same answer with its intervals at another level; the model is not fitted again."""
        p = self.pooled
        if p is None or level == self.level:
            return replace(self, level=level)
        half = (z_critical(level) if p.df is None else t_critical(level, p.df)) * p.se
        moved = replace(p, level=level, low=p.estimate - half, high=p.estimate + half)
        if p.pi_low is not None:
            wide = t_critical(level, p.k - 2) * float(np.sqrt(p.tau2 + p.se**2))
            moved = replace(moved, pi_low=p.estimate - wide, pi_high=p.estimate + wide)
        return replace(self, level=level, pooled=moved)

    @property
    def reason(self) -> str | None:
        """Why there is no mean, or none to rely on; None where there is one."""
        if not self.used:
            return "no site could be pooled"
        if self.value is None:
            return NO_PEAK
        return minority(len(self.used), self.lost)

    def weights(self) -> list[float]:
        """Share of each site in the mean, for drawing; none where there is no mean."""
        found = np.ones(len(self.used)) if self.pooled is None else self.pooled.weights
        return found.tolist() if np.isfinite(found).all() else []

    def facts(self) -> dict[str, Any]:
        """The fields that every pooled row has."""
        p = self.pooled
        low, high = self.ends
        found: dict[str, Any] = {"k": len(self.used), "value": self.value, "low": low, "high": high}
        between = ("tau", "tau_low", "tau_high", "i2", "i2_low", "i2_high", "q", "q_df", "q_p")
        if p is None:
            return found | dict.fromkeys(("pi_low", "pi_high", *between))
        found |= {"pi_low": back(p.pi_low, self.scale), "pi_high": back(p.pi_high, self.scale)}
        roots = [None if tau2 is None else np.sqrt(tau2) for tau2 in (p.tau2, p.tau2_low, p.tau2_high)]
        shown = [*roots, p.i2, p.i2_low, p.i2_high, p.q, p.q_df, p.q_p]
        return found | dict(zip(between, map(or_none, shown), strict=True))


def fit(
    used: Sequence[OnScale], scale: str, *, method: Method, test: TestKind, level: float, mixed: bool | None = None
) -> Fit:
    """Pool what the sites gave; `mixed` keeps a part of the sites on the model that served them all."""
    sites = tuple(used)
    if len(sites) < 2:
        return Fit(sites, scale, sites[0].estimate.method if sites else "none", level, None)
    if needs_mixed(sites) if mixed is None else mixed:
        counts, totals = [one.counted or 0.0 for one in sites], [one.total or 0.0 for one in sites]
        return Fit(sites, scale, GLMM, level, pooling.pool_shares(counts, totals, level=level))
    ys, vs = [one.y for one in sites], [one.v for one in sites]
    return Fit(sites, scale, method, level, pooling.pool(ys, vs, method=method, test=test, level=level))


def needs_mixed(sites: Sequence[OnScale]) -> bool:
    """Are these shares of which one is sparse? A logit with a half added would pull the mean towards one half."""
    return all(one.counted is not None for one in sites) and any(one.sparse for one in sites)


def minority(pooled: int, lost: int) -> str | None:
    """Why a mean over few of the sites is not to be relied on: those without a usable figure are not like the others.

    Hospitals without events have no logarithm of O/E; pooled without them, O/E is too high.

    >>> minority(5, 2), minority(3, 5)
    (None, 'only 3 of 8 sites could be pooled, and those left out are not like them')
    """
    if pooled >= lost:
        return None
    return f"only {pooled} of {pooled + lost} sites could be pooled, and those left out are not like them"


def as_estimates(metric: str, keys: Mapping[str, Any], found: Fit) -> Iterator[Estimate]:
    """A pooled mean, and what a new site may expect, in the form that gates judge."""
    used = [each.estimate for each in found.used]
    events = [e.n_events for e in used if e.n_events is not None]
    facts = found.facts()
    value, k = facts["value"], facts["k"]
    how = f"{found.method}, {k} sites" if k != 1 else f"one site alone ({found.method})"
    mean = Estimate(
        metric=metric,
        slice={"pooled": "sites", **keys},
        value=value,
        low=facts["low"],
        high=facts["high"],
        level=found.level,
        method=how,
        se=None if value is None or found.se is None else found.se * steepness(value, found.scale),
        n_patients=sum(e.n_patients for e in used),
        n_rows=sum(e.n_rows for e in used),
        n_events=sum(events) if used and len(events) == len(used) else None,
        status="ok" if found.reason is None else "undefined" if k == 0 else "insufficient",
        reason=found.reason,
    )
    yield mean
    sound = facts["pi_low"] is not None and found.reason is None
    yield replace(
        mean,
        slice={"pooled": "new site", **keys},
        low=facts["pi_low"],
        high=facts["pi_high"],
        method=f"{how}, prediction interval (approximate)",
        se=None,
        status="ok" if sound else mean.status if mean.status != "ok" else "insufficient",
        reason=None if sound else found.reason or f"a prediction interval needs at least three sites; got {k}",
    )
