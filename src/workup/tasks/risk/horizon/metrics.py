"""The metrics of risk prediction at a horizon: the binary ones under censoring weights made from the weights given.

A slice in which no row is lost before the horizon gets the binary metric itself, intervals and all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from workup.estimate import Draws, Estimate, estimate
from workup.metric import Family, Interval, Linear, Metric
from workup.scores import Levels, Scores
from workup.stats import rank
from workup.stats.arrays import Bools, Floats
from workup.stats.horizon_influence import SHARES, AtHorizon, Influence
from workup.stats.uno import UnoC
from workup.tasks.risk.calibration_metrics import Expected, Smoother, calibration_distances, calibration_metrics
from workup.tasks.risk.decisions import at_threshold
from workup.tasks.risk.discrimination import discrimination
from workup.tasks.risk.horizon.cards import C_INDEX, CARDS, OBSERVED_RISK
from workup.tasks.risk.horizon.censoring import Censoring, Horizon
from workup.tasks.risk.horizon.intervals import influence_interval, share_interval
from workup.tasks.risk.horizon.seen import Seen

ON_REQUEST = ("accuracy", "f1", C_INDEX)
_ALERTS = "alert_rate"
_DISTANCES = ("ici", "e50", "e90", "emax")


@dataclass(frozen=True)
class Resampling:
    """How intervals are resampled where a slice needs resamples of its own: as the study resamples its patients."""

    seed: int = 0
    replicates: int = 2000
    strata: str | None = None

    def draws(self, scores: Scores) -> Draws:
        """The resamples of the rows of a slice."""
        strata: Levels | None = None if self.strata is None else scores.groups.get(self.strata)
        return Draws(self.seed, self.replicates, strata)


@dataclass(frozen=True, eq=False)
class Measured:
    """All that metrics at one horizon share."""

    horizon: Horizon
    censoring: Censoring = field(default_factory=Censoring)
    resampling: Resampling = field(default_factory=Resampling)
    expected: Expected = "sampled"

    def seen(self, scores: Scores) -> Seen:
        """The rows of a slice as this horizon sees them."""
        return Seen.of(scores, self.horizon, self.censoring)


def at_horizon(metric: Metric, measured: Measured, *, complete: bool = False) -> Metric:
    """A binary metric at a horizon: what it is under design weights times censoring weights, these made anew from every
    weight vector it is given.

    `complete` says that no row of the whole study is lost before the horizon; then nothing but the columns changes.
    """
    name, horizon = metric.name, measured.horizon
    placed = replace(
        metric,
        at={**metric.at, "horizon": horizon.name},
        events=horizon.outcome,
        family=None,
        linear=None,
    )
    if complete:
        return _complete(metric, placed, measured)
    undefined = f"{metric.undefined}; or no one was followed to the horizon"
    if name == _ALERTS:
        return _of_everyone(metric, replace(placed, undefined=metric.undefined), measured)
    compute = _compute(metric, measured)
    made = replace(placed, compute=compute, omnibus=None, paired=None, undefined=undefined)
    if metric.counts is not None:
        made = replace(made, counts=lambda scores: _counts(metric, measured.seen(scores), scores))
    return replace(made, interval=partial(_interval, metric, made, measured))


def _complete(metric: Metric, placed: Metric, measured: Measured) -> Metric:
    """The binary metric on the columns of a horizon that everyone reached."""
    seen = measured.seen
    interval, counts, omnibus, paired = metric.interval, metric.counts, metric.omnibus, metric.paired
    linear, family = metric.linear, metric.family
    return replace(
        placed,
        compute=lambda scores, weights: metric.compute(seen(scores).everyone, weights),
        interval=None if interval is None else lambda scores, level: interval(seen(scores).everyone, level),
        counts=None if counts is None else lambda scores: counts(seen(scores).everyone),
        omnibus=None if omnibus is None else lambda scores, levels: omnibus(seen(scores).everyone, levels),
        paired=None
        if paired is None
        else lambda first, second, level: paired(seen(first).everyone, seen(second).everyone, level),
        linear=None if linear is None else Linear(lambda scores: linear.columns(seen(scores).everyone), linear.finish),
        family=None if family is None else _family(family, measured),
    )


def _family(family: Family, measured: Measured) -> Family:
    return Family(lambda scores, weights: family.compute(measured.seen(scores).everyone, weights))


def _of_everyone(metric: Metric, placed: Metric, measured: Measured) -> Metric:
    """The share flagged needs no outcome, and so no censoring weight: it is of all rows."""
    interval, counts, linear = metric.interval, metric.counts, metric.linear
    assert interval is not None and counts is not None and linear is not None
    seen = measured.seen
    return replace(
        placed,
        compute=lambda scores, weights: metric.compute(seen(scores).everyone, weights),
        interval=lambda scores, level: interval(seen(scores).everyone, level),
        counts=lambda scores: counts(seen(scores).everyone),
        linear=Linear(lambda scores: linear.columns(seen(scores).everyone), linear.finish),
    )


Compute = Callable[[Scores, Floats], Floats]


def _compute(metric: Metric, measured: Measured) -> Compute:
    """The metric under many weights. Means are over all rows: their denominator is the sum of the design weights, which
    the weights of those still seen add up to where the censoring curve is the slice's own."""
    over_all = _OVER_ALL.get(metric.name)

    def compute(scores: Scores, weights: Floats) -> Floats:
        seen = measured.seen(scores)
        if seen.complete:
            return metric.compute(seen.known, weights)
        a, defined = seen.products(weights)
        if not defined.any():
            return np.full(len(weights), np.nan)
        values = metric.compute(seen.known, a) if over_all is None else over_all(metric, seen, a, weights)
        return np.where(defined, values, np.nan)

    return compute


def _mean(metric: Metric, seen: Seen, a: Floats, weights: Floats) -> Floats:
    assert metric.linear is not None
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a @ metric.linear.columns(seen.known)[:, 0]) / weights.sum(axis=1))


def _oe(metric: Metric, seen: Seen, a: Floats, weights: Floats) -> Floats:
    """Observed over the expected of **all** rows: those lost have a risk too."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (a @ seen.known["outcome"]) / (weights @ seen.everyone["risk"])
        return np.asarray(np.where(np.isfinite(found), found, np.nan))


def _scaled_brier(metric: Metric, seen: Seen, a: Floats, weights: Floats) -> Floats:
    y, p = seen.known["outcome"], seen.known["risk"]
    total = weights.sum(axis=1)
    v = a if seen.marginal is seen else seen.marginal.products(weights)[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        f = (v @ y) / total
        null = (a @ y) * (1 - 2 * f) + a.sum(axis=1) * f**2
        return np.asarray(1 - (a @ (y - p) ** 2) / null)


_OVER_ALL: Mapping[str, Callable[[Metric, Seen, Floats, Floats], Floats]] = {
    "brier": _mean,
    "net_benefit": _mean,
    "oe_ratio": _oe,
    "scaled_brier": _scaled_brier,
}


def _counts(metric: Metric, seen: Seen, scores: Scores) -> tuple[float, float]:
    """Numerator and denominator, each row by its weight."""
    assert metric.counts is not None
    if seen.complete or metric.linear is None:
        return metric.counts(seen.known)
    a, _ = seen.products(scores.base_weight[None, :])
    if metric.name == "oe_ratio":
        return float(a[0] @ seen.known["outcome"]), float(scores.base_weight @ seen.everyone["risk"])
    top, bottom = a[0] @ metric.linear.columns(seen.known)
    return float(top), float(scores.base_weight.sum() if metric.name in _OVER_ALL else bottom)


# ---- intervals -------------------------------------------------------------------------------------------------------


def _interval(metric: Metric, made: Metric, measured: Measured, scores: Scores, level: float) -> Interval:
    """The binary metric's own interval where no row is lost, else that of the influence of patients."""
    seen = measured.seen(scores)
    if seen.complete:
        if metric.interval is not None:
            return metric.interval(seen.known, level)
        return _resampled([metric], seen.known, measured.resampling, level)[metric.name]
    lacking = seen.lacking()
    if lacking:
        return Interval.refused(lacking)
    if metric.name in _DISTANCES:
        assert metric.family is not None
        return _distances(metric.family, measured, scores, level)[metric.name]
    return _of_influence(metric, measured, seen, scores, level)


def _resampled(metrics: Sequence[Metric], scores: Scores, by: Resampling, level: float) -> dict[str, Interval]:
    """Intervals of metrics without an analytic one, by resamples of the rows of a slice alone."""
    found = estimate(scores, metrics, draws=by.draws(scores), levels=(level,))
    return {one.metric: _as_interval(one) for one in found}


def _as_interval(one: Estimate) -> Interval:
    return Interval(one.low, one.high, one.se, one.method, one.status, one.reason or "")


def _distances(family: Family, measured: Measured, scores: Scores, level: float) -> dict[str, Interval]:
    """ICI and its kin, resampled together with the censoring curve re-estimated in every resample."""

    def replicates(rows: Scores, weights: Floats) -> Mapping[str, Floats]:
        seen = measured.seen(rows)
        a, defined = seen.products(weights)
        if not defined.any():
            return {name: np.full(len(weights), np.nan) for name in _DISTANCES}
        return {name: np.where(defined, values, np.nan) for name, values in family.compute(seen.known, a).items()}

    together = Family(replicates)
    bare = [
        Metric(
            name=name,
            compute=lambda s, w, name=name: replicates(s, w)[name],  # type: ignore[misc]
            card=CARDS[name],
            family=together,
            grows_as_n_falls=True,
        )
        for name in _DISTANCES
    ]
    key = f"distances at {measured.horizon.name}, {measured.censoring.name}, {level:.12g}"
    return scores.kept(key, lambda: _resampled(bare, scores, measured.resampling, level))


_METHOD = "influence of patients"


def _of_influence(metric: Metric, measured: Measured, seen: Seen, scores: Scores, level: float) -> Interval:
    at, patient, said = seen.at, scores.patient, measured.censoring.said(scores)
    name, threshold = metric.name, float(metric.at.get("threshold", np.nan))
    df = scores.n_patients - 1
    if name in SHARES and name != "f1":
        found = at.share(name, threshold)
        held = SHARES[name][1](at.flagged(threshold), at.outcome) * at.a
        patients = int(np.unique(patient[held > 0]).size)
        rows = float(held.sum() ** 2 / np.sum(held**2))
        method = f"{_METHOD}, logit scale{said}"
        return share_interval(found, found.se(patient), patients - 1, rows, level, method=method)
    if name == "auroc":
        return _auroc_interval(at, scores, level, said)
    if name == "oe_ratio":
        fixed = measured.expected == "fixed"
        logs = at.log_oe(expected_fixed=fixed)
        value = float(np.exp(logs.value))
        method = f"{_METHOD}, log scale{', expected events taken as fixed' if fixed else ''}{said}"
        return influence_interval(value, value * logs.se(patient), df, level, scale="log", method=method)
    found = _DECISIONS[name](at, threshold) if name in _DECISIONS else _FIGURES[name](at)
    method = f"{_METHOD}{said}"
    interval = influence_interval(found.value, found.se(patient), df, level, scale="identity", method=method)
    bounds = _BOUNDS.get(name)
    return interval if bounds is None else _clipped(interval, *bounds)


_FIGURES: Mapping[str, Callable[[AtHorizon], Influence]] = {
    "brier": AtHorizon.brier,
    "scaled_brier": AtHorizon.scaled_brier,
    "calibration_slope": AtHorizon.slope,
    "calibration_in_the_large": AtHorizon.in_the_large,
}
_DECISIONS: Mapping[str, Callable[[AtHorizon, float], Influence]] = {
    "net_benefit": AtHorizon.net_benefit,
    "f1": lambda at, threshold: at.share("f1", threshold),
}
_BOUNDS = {"brier": (0.0, 1.0), "f1": (0.0, 1.0)}  # beyond which a figure cannot lie


def _clipped(found: Interval, lowest: float, highest: float) -> Interval:
    if found.low is None or found.high is None or found.ends is None:
        return found
    inner = found.ends

    def ends(level: float) -> tuple[float, float]:
        low, high = inner(level)
        return max(low, lowest), min(high, highest)

    return replace(found, low=max(found.low, lowest), high=min(found.high, highest), ends=ends)


def _auroc_interval(at: AtHorizon, scores: Scores, level: float, said: str) -> Interval:
    found = at.auroc()
    classes = [(at.a > 0) & (at.outcome == y) for y in (1, 0)]
    rarer = min(_patients(scores, rows) for rows in classes)
    se = found.se(scores.patient)
    if 0 < found.value < 1 and se > 0:
        method = f"{_METHOD}, logit scale{said}"
        return influence_interval(found.value, se, rarer - 1, level, scale="logit", method=method)
    effective = [max(2, int(at.a[rows].sum() ** 2 / np.sum(at.a[rows] ** 2))) for rows in classes]

    def ends(asked: float) -> tuple[float, float]:
        low, high = rank.newcombe_auc(found.value, *effective, level=asked)
        return float(low), float(high)

    return Interval(*ends(level), se, f"Newcombe method 5 on effective rows{said}", ends=ends)


def _patients(scores: Scores, rows: Bools) -> int:
    return int(np.unique(scores.patient[rows]).size)


# ---- metrics of their own --------------------------------------------------------------------------------------------


def observed_risk(measured: Measured) -> Metric:
    """The share with the event by the horizon."""
    horizon = measured.horizon

    def compute(scores: Scores, weights: Floats) -> Floats:
        seen = measured.seen(scores)
        a, defined = seen.products(weights)
        y = seen.known["outcome"]
        events, free = a @ y, a @ (1 - y)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = events / weights.sum(axis=1)
        return np.where(defined & (events > 0) & (free > 0), share, np.nan)

    def interval(scores: Scores, level: float) -> Interval:
        seen = measured.seen(scores)
        lacking = "" if seen.complete else seen.lacking()
        if lacking:
            return Interval.refused(lacking)
        found = seen.at.observed_risk()
        method = f"{_METHOD}, complementary log-log scale{measured.censoring.said(scores)}"
        se, df = found.se(scores.patient), scores.n_patients - 1
        return influence_interval(found.value, se, df, level, scale="cloglog", method=method)

    return Metric(
        name=OBSERVED_RISK,
        compute=compute,
        card=CARDS[OBSERVED_RISK],
        at={"horizon": horizon.name},
        undefined=_UNDEFINED,
        interval=interval,
        events=horizon.outcome,
    )


def c_index(measured: Measured) -> Metric:
    """Uno's C up to the horizon."""
    horizon = measured.horizon

    def ready(scores: Scores) -> UnoC:
        seen = measured.seen(scores)
        return scores.kept(
            f"concordance to {horizon.name}, {measured.censoring.name}",
            lambda: UnoC.of(seen.weights, scores[horizon.risk]),
        )

    def interval(scores: Scores, level: float) -> Interval:
        seen = measured.seen(scores)
        lacking = "" if seen.complete else seen.lacking()
        if lacking:
            return Interval.refused(lacking)
        found = ready(scores).influence(scores.base_weight, scores[horizon.risk])
        if not 0 < found.value < 1:
            return Interval.refused("every pair is ordered alike, so the data cannot show its uncertainty")
        cases = _patients(scores, seen.weights.outcome == 1)
        method = f"{_METHOD}, logit scale{measured.censoring.said(scores)}"
        return influence_interval(found.value, found.se(scores.patient), cases - 1, level, scale="logit", method=method)

    return Metric(
        name=C_INDEX,
        compute=lambda scores, weights: ready(scores).under(weights),
        card=CARDS[C_INDEX],
        at={"horizon": horizon.name},
        undefined="no event by the horizon with anyone to compare it with, or no one was followed to it",
        interval=interval,
        events=horizon.outcome,
    )


_UNDEFINED = "no one had the event by the horizon, no one was free of it, or no one was followed to it"


def horizon_metrics(
    scores: Scores,
    horizons: Sequence[Horizon],
    *,
    thresholds: Sequence[float] = (),
    also: Collection[str] = (),
    expected: Expected = "sampled",
    censoring: Censoring | None = None,
    resampling: Resampling | None = None,
) -> list[Metric]:
    """Every metric at every horizon, in the order of the report; those of `ON_REQUEST` only where `also` names them."""
    found: list[Metric] = []
    for horizon in horizons:
        measured = Measured(horizon, censoring or Censoring(), resampling or Resampling(), expected)
        found += _at_one(scores, measured, thresholds)
    if C_INDEX in also and horizons:
        last = max(horizons, key=lambda one: one.days)
        found.append(c_index(Measured(last, censoring or Censoring(), resampling or Resampling(), expected)))
    return [one for one in found if one.name not in ON_REQUEST or one.name in also]


def _at_one(scores: Scores, measured: Measured, thresholds: Sequence[float]) -> Iterator[Metric]:
    seen = measured.seen(scores) if len(scores) else None
    smoother = Smoother(np.zeros(0)) if seen is None else Smoother.of(seen.everyone)
    binary = [*discrimination(), *calibration_metrics(expected=measured.expected), *calibration_distances(smoother)]
    for threshold in thresholds:
        binary += at_threshold(threshold)
    complete = seen is not None and seen.complete
    nobody = "" if seen is None or seen.weights.followed(scores.base_weight) > 0 else seen.undefined()
    families: dict[int, Family] = {}
    for metric in binary:
        if metric.name not in CARDS:
            continue
        made = at_horizon(metric, measured, complete=complete)
        if complete and metric.family is not None:  # metrics of one family are made in one pass
            made = replace(made, family=families.setdefault(id(metric.family), _family(metric.family, measured)))
        yield replace(made, undefined=nobody) if nobody and metric.name != _ALERTS else made
        if metric.name == "oe_ratio":
            own = observed_risk(measured)
            yield replace(own, undefined=nobody) if nobody else own
