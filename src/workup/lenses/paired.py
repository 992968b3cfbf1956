"""Two systems on the same rows: what separates them once all that they share has cancelled out.

Also the shape of a comparison, which the one made from two records has too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from workup.errors import InputError
from workup.estimate import EVERYTHING, Draws, jackknife, replicate, slices_by
from workup.lenses.contrasts import Contrast, Side, paired_difference
from workup.metric import FEWEST_CLUSTERS, FEWEST_FOR_SHARES, FEWEST_PATIENTS, Linear, Metric, few_clusters
from workup.scores import OUTCOME, Levels, Scores
from workup.stats.arrays import Bools, Floats
from workup.stats.intervals import share_difference
from workup.stats.paired_gaps import patient_gap
from workup.stats.scales import or_none

LEVEL = 0.95
MOST_LEFT_OUT = 50_000_000  # rows weighed in all, where patients are left out one at a time
_MOST_ALONE = 5_000_000  # rows weighed at once, where each patient is looked at alone
Row = dict[str, Any]
Intervals = Literal["resampled", "linearised"]


@dataclass(frozen=True)
class Gap:
    """A difference with its interval; all of it None where it could not be had, and then `reason` says why."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    method: str = "none"
    reason: str = ""

    @classmethod
    def of(cls, found: Contrast | str) -> Gap:
        """From a contrast of two slices, or the sentence that stands in its place."""
        if isinstance(found, str):
            return cls(reason=found)
        return cls(found.value, *found.ends(LEVEL), p=found.p_alone(), method=found.method)


def comparison_row(
    metric: str,
    keys: Mapping[str, Any],
    sides: Sequence[Mapping[str, Any]],
    gap: Gap,
    distance: Gap | None,
    *,
    n_patients: int,
    better: str,
) -> Row:
    """A comparison before any verdict; `distance` is from the target, and then decides."""
    return {
        "metric": metric,
        "slice": dict(keys),
        "kind": "difference",
        "better": better,
        "first": dict(sides[0]),
        "second": dict(sides[1]),
        **asdict(gap),
        "p": (distance or gap).p,
        "level": LEVEL,
        "distance": None if distance is None else {k: asdict(distance)[k] for k in ("value", "low", "high")},
        "n_patients": n_patients,
        **dict.fromkeys(("p_adjusted", "margin")),
        "headline": False,
        "rule": "",
        "direction": "not_assessed",
        "verdict": "not_assessed",
    }


def compare_scores(
    first: Scores,
    second: Scores,
    metrics: Sequence[Metric],
    draws: Draws,
    *,
    of_second: Sequence[Metric] = (),
    groups: Iterable[str] = (),
    intervals: Intervals = "resampled",
) -> list[Row]:
    """Both systems on the rows both answered: by a metric's own paired test, else by shared resamples of patients.

    Rows are matched by the column "row", or by place without one. `groups` adds a slice per level of each. Strata of
    `draws` are those of the rows of `first`. `of_second` are the metrics as the second system has them, one for each of
    `metrics`, where they rest on the system (the knots of its calibration curve, labels it cannot emit): exchanging the
    systems changes signs and nothing else. `linearised` intervals come from what each patient adds to the difference,
    by t on as many degrees of freedom as patients differ; they hold where few do, which resamples do not.

    >>> from workup.metric import mean
    >>> error = mean("brier", lambda s: s["error"], describe="mean error", better="lower")
    >>> old, new = (Scores.of({"error": np.linspace(0, top, 50)}) for top in (1.0, 0.5))
    >>> [row] = compare_scores(old, new, [error], Draws(seed=1, replicates=200))
    >>> round(row["value"], 6), row["high"] < 0
    (-0.25, True)
    """
    first, second, kept = _matched(first, second)
    if draws.strata is not None:
        draws = replace(draws, strata=draws.strata.take(kept))
    slices = [EVERYTHING, *slices_by({name: first.groups[name] for name in groups if name in first.groups})]
    shared = [name for name in first.values if name in second.values]
    alike = all(np.array_equal(first[name], second[name]) for name in shared)
    pairs = list(zip(metrics, of_second or metrics, strict=True))
    linear = [intervals == "linearised" and _linearisable(metric, first) for metric in metrics]
    place = dict(zip([m for m, one in enumerate(linear) if not one], range(len(pairs)), strict=False))
    drawn = None
    if place and not alike:
        drawn = [
            replicate(one, [pairs[m][i] for m in place], slices, draws=draws) for i, one in enumerate((first, second))
        ]
    rows = []
    for s, one in enumerate(slices):
        parts = [scores if one.rows is None else scores.take(one.rows) for scores in (first, second)]
        strata = draws.strata if draws.strata is None or one.rows is None else draws.strata.take(one.rows)
        for m, (pair, by_patient) in enumerate(zip(pairs, linear, strict=True)):
            metric = pair[0]
            if alike or by_patient:
                sides = [Side(part) for part in parts]
            else:
                assert drawn is not None
                sides = [Side(part, drawn[i][s, place[m]]) for i, part in enumerate(parts)]
            if by_patient and not alike:
                gap, distance = _linearised(pair, parts[0], parts[1], strata), None
            else:
                gap = _paired(pair, sides[0], sides[1])
                distance = _paired_distance(pair, sides[0], sides[1])
            rows.append(
                comparison_row(
                    metric.name,
                    {**one.key, **metric.at},
                    [
                        {"value": or_none(own.value(part)), "low": None, "high": None}
                        for own, part in zip(pair, parts, strict=True)
                    ],
                    gap,
                    distance,
                    n_patients=parts[0].n_patients,
                    better=metric.better,
                )
            )
    return rows


def _matched(first: Scores, second: Scores) -> tuple[Scores, Scores, npt.NDArray[np.intp]]:
    """Both on the rows they share, in one order with one numbering of patients; and where those stood in `first`."""
    if "row" in first.values and "row" in second.values:
        _, here, there = np.intersect1d(first["row"], second["row"], return_indices=True)
    elif len(first) == len(second):
        here = there = np.arange(len(first))
    else:
        raise InputError(
            "two systems are paired by their rows, which need the column 'row' or one length",
            got=f"{len(first)} and {len(second)} rows",
        )
    if here.size == 0:
        raise InputError("the two systems must have rows in common", got="none")
    one, other = first.take(here), second.take(there)
    # Patients are counters that each system numbered for itself: what must agree is who belongs together.
    pairs = np.unique(np.column_stack([one.patient, other.patient]), axis=0)
    if not len(pairs) == one.n_patients == other.n_patients:
        raise InputError("the two systems must have the same patients behind the same rows", got="others")
    if OUTCOME in one.values and not np.array_equal(one[OUTCOME], other[OUTCOME]):
        raise InputError("the two systems must have the same outcomes behind the same rows", got="others")
    patient = _numbered(one, other)
    return replace(one, patient=patient), replace(other, patient=patient), here.astype(np.intp)


def _numbered(one: Scores, other: Scores) -> npt.NDArray[np.int64]:
    """Numbers of patients that do not depend on which system comes first: resamples draw by them.

    Without ids each system numbered its rows by its own answers. Here what both answered decides, the smaller and the
    larger, then all else that is known of a row.
    """
    mine, theirs = (np.unique(scores.patient, return_inverse=True)[1] for scores in (one, other))
    shared = sorted(name for name in one.values if name in other.values and name != "row")
    keys = [end(one[name], other[name]) for name in shared for end in (np.minimum, np.maximum)]
    keys += [levels.codes for _, levels in sorted(one.groups.items())]
    keys += [] if one.site is None else [one.site.codes]
    keys += [] if one.time is None else [one.time.astype(np.int64)]
    keys += [one.base_weight, *([mine] if np.array_equal(mine, theirs) else []), np.arange(len(one))]
    order = np.lexsort(keys[::-1])
    _, first = np.unique(mine[order], return_index=True)  # where each patient comes first in that order
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    return np.asarray(rank[mine])


Pair = tuple[Metric, Metric]  # one metric, as the first and as the second system have it


def _values(pair: Pair, first: Scores, second: Scores) -> tuple[float, float]:
    return pair[0].value(first), pair[1].value(second)


def _paired(pair: Pair, first: Side, second: Side) -> Gap:
    """second − first on the same rows."""
    metric, values = pair[0], _values(pair, first.scores, second.scores)
    if not np.isfinite(values).all():
        return Gap(reason=f"undefined in one of them: {metric.undefined}")
    gap = values[1] - values[0]
    if first.replicates is None or second.replicates is None:
        if not np.isclose(gap, 0, atol=1e-12):
            return Gap(gap, reason="identical answers on every row of both: other rows decide where each curve bends")
        return Gap(0.0, 0.0, 0.0, 1.0, "identical answers on every row")
    if metric.paired is not None and first.scores.independent:
        return Gap(*metric.paired(first.scores, second.scores, LEVEL))
    if first.scores.n_patients < FEWEST_PATIENTS:
        few = f"{first.scores.n_patients} patients; a resampling interval needs at least {FEWEST_PATIENTS}"
        return Gap(gap, reason=f"insufficient: {few}")
    moved = second.replicates - first.replicates
    if gap == 0 and not np.any(moved[np.isfinite(moved)]):
        if _are_shares(pair):
            return _shares(pair, first.scores, second.scores, gap)
        return Gap(
            0.0, p=1.0, method="shared replicates", reason="alike in every resample, so no interval can be given"
        )
    found = Gap.of(paired_difference(gap, second, first))
    return found if found.value is not None else replace(found, value=gap)


# ---- what each patient adds ----------------------------------------------------------------------------------------


def _linearisable(metric: Metric, scores: Scores) -> bool:
    """A function of sums, or one for which every patient can be left out in turn; distances from a target are not."""
    if metric.better == "target":
        return False
    return metric.linear is not None or scores.n_patients * len(scores) <= MOST_LEFT_OUT


def _linearised(pair: Pair, first: Scores, second: Scores, strata: Levels | None) -> Gap:
    """second − first on the same rows, from patients' influences on either value."""
    metric, values = pair[0], _values(pair, first, second)
    if not np.isfinite(values).all():
        return Gap(reason=f"undefined in one of them: {metric.undefined}")
    gap = values[1] - values[0]
    for own, scores in zip(pair, (first, second), strict=True):
        found = None if own.interval is None else own.interval(scores, LEVEL)
        if (
            found is not None and found.status != "ok"
        ):  # a figure that nothing may rest on is no better for being compared
            return Gap(gap, reason=f"{found.status} in one of them: {found.reason or 'no interval'}")
    if strata is None and _are_shares(pair):
        return _shares(pair, first, second, gap)
    (mine, counted), (theirs, also) = (
        _influence(own, scores) for own, scores in zip(pair, (first, second), strict=True)
    )
    between, of = (theirs - mine)[counted | also], counted | also
    if not np.isfinite(between).all():
        return Gap(gap, reason="insufficient: undefined where a single patient is left out")
    alike = gap == 0 and not np.any(np.abs(between) > 1e-12)
    if strata is None and (alike or between.size < FEWEST_CLUSTERS):
        touched = _touched(pair, first, second)
        if touched is not None:
            return _shares_of_patients(*touched, gap)
    if between.size < FEWEST_FOR_SHARES:
        return Gap(gap, reason=f"insufficient: {between.size} patients; at least {FEWEST_FOR_SHARES} are needed")
    if alike:
        return Gap(0.0, p=1.0, method="linearised", reason="alike in every patient, so no interval can be given")
    codes = None
    if strata is not None:
        _, place = np.unique(first.patient, return_index=True)
        codes = strata.codes[place][of]
    spread = patient_gap(gap, between, strata=codes)
    if spread.se == 0:
        return Gap(gap, reason="insufficient: every patient adds the same, so the data cannot show its uncertainty")
    low, high = spread.ends(LEVEL)
    if metric.scale == "logit":  # a share, and so is the distance of two from each other
        low, high = max(low, -1.0), min(high, 1.0)
    how = f"linearised over patients, t on {spread.df:.0f} df"
    return Gap(gap, low, high, spread.p(), how, few_clusters(between.size, "patients"))


def _are_shares(pair: Pair) -> bool:
    """Shares of units that are counted, and not of weights."""
    return all(one.linear is not None and one.counts is not None and one.scale == "logit" for one in pair)


def _shares(pair: Pair, first: Scores, second: Scores, gap: float) -> Gap:
    """second − first of a share: on the same units where both count the same, else from the ends of either.

    Where no unit differs the interval is not a point: how often two systems differ was seen in so many units only.
    """
    sides = [one.linear.columns(rows).T for one, rows in zip(pair, (first, second), strict=True) if one.linear]
    counted = (sides[0][1] > 0) | (sides[1][1] > 0)
    clusters = np.unique(first.patient[counted]).size
    if clusters < FEWEST_FOR_SHARES:
        return Gap(gap, reason=f"insufficient: {clusters} patients; at least {FEWEST_FOR_SHARES} are needed")
    found = share_difference(sides[0], sides[1], first.patient, first.base_weight, level=LEVEL)
    return Gap(gap, found.low, found.high, found.p, found.method, few_clusters(clusters))


def _touched(pair: Pair, first: Scores, second: Scores) -> tuple[Floats, Floats] | None:
    """Of a share of patients, whom it counts in either; None for a metric that is no such share.

    It is one where the metric counts, is no function of sums over rows, and is all or nothing on each patient alone.
    """
    if any(one.linear is not None or one.counts is None or one.scale != "logit" for one in pair):
        return None
    if first.n_patients * len(first) > _MOST_ALONE:
        return None
    sides = []
    for own, scores in zip(pair, (first, second), strict=True):
        _, codes = np.unique(scores.patient, return_inverse=True)
        alone = (np.arange(codes.max() + 1)[:, None] == codes[None, :]).astype(np.float64)
        values = np.asarray(own.compute(scores, alone), dtype=np.float64)
        if not np.isin(values[np.isfinite(values)], (0.0, 1.0)).all():
            return None
        sides.append(values)
    if not all((scores.base_weight == scores.base_weight[0]).all() for scores in (first, second)):
        return None
    return sides[0], sides[1]


def _shares_of_patients(mine: Floats, theirs: Floats, gap: float) -> Gap:
    sides = [np.stack([np.nan_to_num(values), np.isfinite(values).astype(np.float64)]) for values in (mine, theirs)]
    patients = int(np.count_nonzero((sides[0][1] > 0) | (sides[1][1] > 0)))
    if patients < FEWEST_FOR_SHARES:
        return Gap(gap, reason=f"insufficient: {patients} patients; at least {FEWEST_FOR_SHARES} are needed")
    codes = np.arange(mine.size, dtype=np.int64)
    found = share_difference(sides[0], sides[1], codes, np.ones(mine.size), level=LEVEL)
    return Gap(gap, found.low, found.high, found.p, found.method, few_clusters(patients))


def _influence(metric: Metric, scores: Scores) -> tuple[Floats, Bools]:
    """What each patient adds to the value, in the order of their codes; and who has anything that counts at all."""
    if metric.linear is None:
        left_out = jackknife(scores, [metric], groups=scores.n_patients)[0]
        n = left_out.size
        return np.asarray((left_out.mean() - left_out) * (n - 1) / n), np.ones(n, dtype=np.bool_)
    _, codes = np.unique(scores.patient, return_inverse=True)
    weighted = metric.linear.columns(scores) * scores.base_weight[:, None]
    by_patient = np.column_stack([np.bincount(codes, weights=column) for column in weighted.T])
    return by_patient @ _slope(metric.linear, by_patient.sum(axis=0)), (by_patient != 0).any(axis=1)


def _slope(form: Linear, totals: Floats) -> Floats:
    """Derivative of a function of totals by each of them; from above where a total is 0 and cannot fall."""
    step = 1e-6 * np.maximum(np.abs(totals), 1.0)
    slopes = []
    for place, by in enumerate(step):
        ends = []
        for end in (totals[place] + by, totals[place] - by if totals[place] >= by else totals[place]):
            moved = totals.copy()
            moved[place] = end
            ends.append((end, float(form.finish(moved))))
        (above, high), (below, low) = ends
        slopes.append((high - low) / (above - below))
    return np.array(slopes)


# ---- distances from a target ---------------------------------------------------------------------------------------


def _paired_distance(pair: Pair, first: Side, second: Side) -> Gap | None:
    """How much further from its target the second is, for a metric that has one."""
    target = pair[0].target
    if pair[0].better != "target" or target is None:
        return None

    def away(side: Side) -> Side:
        return Side(side.scores, None if side.replicates is None else np.abs(side.replicates - target))

    return _paired((_distance(pair[0], target), _distance(pair[1], target)), away(first), away(second))


def _distance(metric: Metric, target: float) -> Metric:
    """How far a metric is from its target, as a metric."""

    def compute(scores: Scores, weights: Floats) -> Floats:
        return np.abs(metric.compute(scores, weights) - target)

    return replace(metric, compute=compute, interval=None, linear=None, family=None, paired=None)
