"""Intervals of a conversation study. The cluster (a case, or its persona) is the unit: all turns and replicates inside.

Few clusters give a wide interval and a warning, never a narrow one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from workup.estimate import MOST_UNDEFINED, Draws
from workup.metric import (
    CLUSTERED,
    Column,
    Interval,
    Linear,
    Metric,
    clustered_interval,
    clustered_rows,
    few_clusters,
    linear,
    ratio,
)
from workup.scores import Scores
from workup.stats import bootstrap, intervals
from workup.stats.arrays import Floats
from workup.tasks.conversation.cards import CARDS

RESAMPLED_FROM = 50  # clusters from which means and slopes are resampled, not taken for normal
_NUDGE = 1e-4  # by how much a cluster's weight is moved to see what it adds
_MOST_KEPT = 10_000_000  # numbers of resamples that are kept
_ROUNDING = 1e-10  # spread of a cluster's influence below which it is the rounding of sums
RARE = 0.05  # rates below which the exact bound over cases stands beside the interval


def rate(name: str, top: Column, bottom: Column, **fields: Any) -> Metric:
    """A share of facts, entities or pairs, over clusters; a rare one has the exact bound over cases too."""

    def interval(scores: Scores, level: float) -> Interval:
        return share_over_cases(top(scores), bottom(scores), scores, level)

    return ratio(name, top, bottom, interval=interval, card=CARDS[name], **fields)


def share_over_cases(top: Floats, bottom: Floats, scores: Scores, level: float) -> Interval:
    """The interval of a clustered share, also where no cluster counts twice, with what belongs to it."""
    share = clustered_rows(top, bottom, scores)
    if share.clusters < 2:
        return Interval.refused("one case; an interval needs at least two", method=CLUSTERED)
    found = clustered_interval(share, level)
    rare = _exact(top, bottom, scores, level) if share.share < RARE else ""
    said = [found.reason, rare or _part(share.clusters, scores)]
    return replace(found, reason="; ".join(filter(None, said)))


def _exact(top: Floats, bottom: Floats, scores: Scores, level: float) -> str:
    """How many cases show it at all, with the exact bound: a rate near 0 rests on cases, not on turns."""
    counted = np.unique(scores.patient[bottom > 0])
    touched = np.unique(scores.patient[top > 0])
    high = intervals.clopper_pearson(touched.size, counted.size, level=level).high
    return f"in {touched.size} of {counted.size} patients, exact upper bound {high:.3g}"


def _part(clusters: int, scores: Scores) -> str:
    """How many cases a rate rests on, where some have nothing to count, such as conversations that end before."""
    return f"over {clusters} of {scores.n_patients} patients" if clusters < scores.n_patients else ""


def smooth(
    name: str,
    columns: Callable[[Scores], Floats],
    finish: Callable[[Floats], Floats],
    *,
    draws: Draws,
    possible: tuple[float, float] = (-np.inf, np.inf),
    **fields: Any,
) -> Metric:
    """A smooth function of sums (a mean, a slope, a difference): t over clusters below 50 of them, resampled above.

    How many clusters there are is asked of the slice at hand: a site of 12 cases in a study of 60 has its t interval.
    `possible` are the values that the metric can take at all; no end lies beyond them.
    """
    form = Linear(columns, finish)

    def interval(scores: Scores, level: float) -> Interval:
        if _by_case(form, scores).shape[0] < RESAMPLED_FROM:
            return t_over_cases(form, scores, level, possible=possible)
        return resampled_cases(form, scores, level, draws=draws, possible=possible)

    if name in CARDS:
        fields.setdefault("card", CARDS[name])
    return linear(name, columns, finish, interval=interval, **fields)


def t_over_cases(
    form: Linear, scores: Scores, level: float, *, possible: tuple[float, float] = (-np.inf, np.inf)
) -> Interval:
    """Student's t on the linearised variance over clusters."""
    method = "t over cases"
    by_case = _by_case(form, scores)
    value, influence, refused = _influences(form, by_case, method)
    if refused is not None:
        return refused
    clusters = len(by_case)
    se = float(np.sqrt(clusters / (clusters - 1) * (influence @ influence)))

    def ends(at: float) -> tuple[float, float]:
        half = intervals.t_critical(at, clusters - 1) * se
        return max(value - half, possible[0]), min(value + half, possible[1])

    return Interval(*ends(level), se, method, reason=few_clusters(clusters, "cases"), ends=ends)


def resampled_cases(
    form: Linear,
    scores: Scores,
    level: float,
    *,
    draws: Draws,
    possible: tuple[float, float] = (-np.inf, np.inf),
) -> Interval:
    """Whole clusters drawn with replacement, read by BCa; each cluster's totals are summed once."""
    by_case = _by_case(form, scores)
    value, influence, refused = _influences(form, by_case, "BCa bootstrap")
    if refused is not None:
        return refused
    found = np.concatenate([form.finish(counts @ by_case) for counts in _resamples(scores, len(by_case), draws)])
    defined = found[np.isfinite(found)]
    lost = found.size - defined.size
    if lost > MOST_UNDEFINED * found.size:
        return Interval.refused(
            f"undefined in {lost} of {found.size} resamples; the limit is {MOST_UNDEFINED:.0%}", method="BCa bootstrap"
        )
    method = f"{bootstrap.bca(value, defined, influence, level=level).method}, {found.size} replicates"

    def ends(at: float) -> tuple[float, float]:
        low, high, _ = bootstrap.bca(value, defined, influence, level=at)
        return max(low, possible[0]), min(high, possible[1])

    reason = f"undefined in {lost} of {found.size} resamples, which were left out" if lost else ""
    return Interval(*ends(level), float(defined.std(ddof=1)), method, reason=reason, ends=ends)


def _resamples(scores: Scores, clusters: int, draws: Draws) -> Iterable[Floats]:
    """How often each cluster is drawn, in blocks; kept for the next metric where they are not many."""

    def made() -> Iterator[Floats]:
        return bootstrap.unit_counts(clusters, draws.replicates, seed=draws.seed)

    if clusters * draws.replicates > _MOST_KEPT:
        return made()
    name = f"resampled cases {clusters} {draws.seed} {draws.replicates}"
    return scores.kept(name, lambda: [np.ascontiguousarray(block) for block in made()])


def _by_case(form: Linear, scores: Scores) -> Floats:
    """The weighted sums of every cluster that has any, [cluster, column]."""
    weighted = form.columns(scores) * scores.base_weight[:, None]
    _, codes = np.unique(scores.patient, return_inverse=True)
    by_case = np.column_stack([np.bincount(codes, weights=column) for column in weighted.T])
    return np.asarray(by_case[(by_case != 0).any(axis=1)])


def _influences(form: Linear, by_case: Floats, method: str) -> tuple[float, Floats, Interval | None]:
    """The value, what each cluster adds to it, and a refusal where that cannot show an error.

    A cluster is given a little more and a little less weight (the infinitesimal jackknife). Sums moved one by one could
    leave what is possible, such as more facts lost than were at risk, where a curve of survival has no value.
    """
    if len(by_case) < 2:
        refusal = Interval.refused("one case; an interval needs at least two", method=method)
        return np.nan, np.zeros(len(by_case)), refusal
    totals = by_case.sum(axis=0)
    value = float(form.finish(totals))
    influence = (form.finish(totals + _NUDGE * by_case) - form.finish(totals - _NUDGE * by_case)) / (2 * _NUDGE)
    influence = influence - influence.mean()
    spread = float(np.sqrt(influence @ influence))
    refused = None
    if not np.isfinite(spread):
        refused = Interval.refused("its error cannot be told from these cases", method=method)
    elif spread <= _ROUNDING * max(1.0, abs(value)) * np.sqrt(len(by_case)):
        refused = Interval.refused("every case gives the same value, so the data cannot show its error", method=method)
    return value, influence, refused
