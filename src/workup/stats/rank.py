"""Area under the ROC curve and average precision: values, weighted replicates, and DeLong's variance in O(n log n)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from workup.stats.intervals import Ends, t_critical, z_critical

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Placements(NamedTuple):
    """Every row's share of the other class that it beats (ties half), in the order of the scores."""

    auc: float
    order: npt.NDArray[np.intp]
    positive: npt.NDArray[np.bool_]
    share: Floats
    weight: Floats | None


def placements(outcome: npt.ArrayLike, score: npt.ArrayLike, weight: Floats | None = None) -> Placements:
    """Placement values by one argsort and running sums (Sun and Xu 2014, with weights).

    A positive row's placement is the weighted share of negatives below it, a negative row's the share of positives
    above it. Their variances are DeLong's components.
    """
    y = np.asarray(outcome).astype(bool)
    s = np.asarray(score, dtype=np.float64)
    order = np.argsort(s)
    positive = y[order]
    ordered = s[order]
    w = None if weight is None else weight[order]
    mass = np.ones(y.size) if w is None else w
    heavy = np.where(positive, mass, 0.0)
    cumulative_pos = np.cumsum(heavy)
    cumulative_neg = np.cumsum(mass - heavy)
    pos_total, neg_total = cumulative_pos[-1], cumulative_neg[-1]
    starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    if starts.size == y.size - 1:
        share = np.where(positive, cumulative_neg / neg_total, 1 - cumulative_pos / pos_total)
    else:
        ends = np.append(starts, y.size) - 1
        sizes = np.diff(np.append(0, ends + 1))
        share = np.where(
            positive,
            np.repeat(_midpoint(cumulative_neg[ends]), sizes) / neg_total,
            1 - np.repeat(_midpoint(cumulative_pos[ends]), sizes) / pos_total,
        )
    auc = float(np.dot(heavy, share) / pos_total)
    return Placements(auc, order, positive, share, w)


def _midpoint(at_end: Floats) -> Floats:
    """Half of what a block of ties holds counts as below it."""
    before = np.concatenate(([0.0], at_end[:-1]))
    return (before + at_end) / 2


class AucVariance(NamedTuple):
    """An AUC with its variance and the number of independent units of each class behind it."""

    auc: float
    variance: float
    positive_units: int
    negative_units: int


def delong(
    outcome: npt.ArrayLike, score: npt.ArrayLike, *, cluster: Ints | None = None, weight: Floats | None = None
) -> AucVariance:
    """AUC with DeLong's variance; with `cluster` Obuchowski's (1997), which is DeLong's when clusters are rows.

    >>> delong([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).auc
    0.75
    """
    if cluster is None and weight is None:
        return _delong_rows(np.asarray(outcome).astype(bool), np.asarray(score, dtype=np.float64))
    placed = placements(outcome, score, weight)
    codes = np.arange(placed.positive.size) if cluster is None else np.asarray(cluster)[placed.order]
    pos_part, neg_part = _cluster_parts(placed, codes)
    return _obuchowski(placed.auc, pos_part, neg_part)


def _delong_rows(positive: npt.NDArray[np.bool_], score: Floats) -> AucVariance:
    """DeLong for independent rows at hardly more than the cost of the sort.

    Without ties the k-th positive in order stands at place p_k and so has p_k - k negatives below it: no running sum is
    needed. With ties, rows are first counted into blocks of equal score.
    """
    order = np.argsort(score)
    ordered, positive = score[order], positive[order]
    distinct = ordered[1:] != ordered[:-1]
    m = int(np.count_nonzero(positive))
    n = positive.size - m
    if min(m, n) == 0:
        return AucVariance(np.nan, np.nan, m, n)
    if distinct.all():
        beaten: npt.NDArray[Any] = np.flatnonzero(positive) - np.arange(m)
        beating: npt.NDArray[Any] = np.flatnonzero(~positive) - np.arange(n)
        pos_count = neg_count = np.ones(1)
    else:
        starts = np.append(0, np.flatnonzero(distinct) + 1)
        pos_count = np.add.reduceat(positive, starts, dtype=np.int64)
        neg_count = np.diff(np.append(starts, positive.size)) - pos_count
        beaten = _midpoint(np.cumsum(neg_count).astype(np.float64))
        beating = _midpoint(np.cumsum(pos_count).astype(np.float64))
    auc = float(np.sum(pos_count * beaten) / (m * n))
    pos = _sum_of_squares(beaten / n - auc, pos_count)
    neg = _sum_of_squares((1 - auc) - beating / m, neg_count)
    variance = pos / (m * (m - 1)) + neg / (n * (n - 1)) if min(m, n) > 1 else np.nan
    return AucVariance(auc, variance, m, n)


def _sum_of_squares(centred: Floats, count: npt.NDArray[Any]) -> float:
    # einsum stays on this thread; a threaded dot product costs more in waking threads than it saves.
    return float(np.einsum("i,i->", centred, centred * count))


class _Part(NamedTuple):
    """Summed centred placements of one class per cluster, over the class's total weight; which clusters hold it."""

    sums: Floats
    present: npt.NDArray[np.bool_]


def _cluster_parts(placed: Placements, codes: Ints) -> tuple[_Part, _Part]:
    _, unit = np.unique(codes, return_inverse=True)
    size = int(unit.max()) + 1
    weight = np.ones(unit.size) if placed.weight is None else placed.weight
    parts = []
    for rows in (placed.positive, ~placed.positive):
        mass = np.where(rows, weight, 0.0)
        sums = np.bincount(unit, weights=mass * (placed.share - placed.auc), minlength=size) / mass.sum()
        parts.append(_Part(sums, np.bincount(unit, weights=mass, minlength=size) > 0))
    return parts[0], parts[1]


def _obuchowski(auc: float, pos: _Part, neg: _Part) -> AucVariance:
    m, n, units = int(pos.present.sum()), int(neg.present.sum()), int((pos.present | neg.present).sum())
    if min(m, n) < 2:
        return AucVariance(auc, np.nan, m, n)
    variance = (
        m / (m - 1) * np.sum(pos.sums**2)
        + n / (n - 1) * np.sum(neg.sums**2)
        + 2 * units / (units - 1) * np.sum(pos.sums * neg.sums)
    )
    return AucVariance(auc, float(variance), m, n)


class AucDifference(NamedTuple):
    """Two AUCs compared."""

    difference: float
    se: float
    z: float
    p: float
    covariance: float
    df: float


def delong_paired(outcome: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike) -> AucDifference:
    """Two scores of the same rows: DeLong's test with the covariance of the placements."""
    y = np.asarray(outcome).astype(bool)
    shares = np.empty((2, y.size))
    aucs = []
    for i, score in enumerate((first, second)):
        placed = placements(y, score)
        shares[i, placed.order] = placed.share
        aucs.append(placed.auc)
    covariance = np.cov(shares[:, y]) / y.sum() + np.cov(shares[:, ~y]) / (~y).sum()
    difference = aucs[0] - aucs[1]
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    return _compared(difference, float(variance), float(covariance[0, 1]), np.inf)


def delong_unpaired(first: AucVariance, second: AucVariance) -> AucDifference:
    """Two independent groups. `df` is Welch's, with which pROC reads the statistic as t; `p` is the normal one."""
    parts = [first.variance, second.variance]
    sizes = [g.positive_units + g.negative_units for g in (first, second)]
    variance = sum(parts)
    df = variance**2 / sum(v**2 / (n - 1) for v, n in zip(parts, sizes, strict=True)) if variance > 0 else np.nan
    return _compared(first.auc - second.auc, variance, 0.0, df)


def _compared(difference: float, variance: float, covariance: float, df: float) -> AucDifference:
    se = float(np.sqrt(max(variance, 0.0)))
    z = difference / se if se > 0 else (0.0 if difference == 0 else np.copysign(np.inf, difference))
    return AucDifference(difference, se, float(z), float(2 * special.ndtr(-abs(z))), covariance, df)


class Homogeneity(NamedTuple):
    """Cochran's Q that several independent AUCs are equal."""

    q: float
    p: float
    df: int


def auc_homogeneity(aucs: npt.ArrayLike, variances: npt.ArrayLike, *, scale: str = "logit") -> Homogeneity:
    """Are k independent AUCs equal? On the logit scale (default) or "raw"."""
    values, v = np.asarray(aucs, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if scale == "logit":
        values, v = special.logit(values), v / (values * (1 - values)) ** 2
    weight = 1 / v
    mean = np.sum(weight * values) / weight.sum()
    q = float(np.sum(weight * (values - mean) ** 2))
    return Homogeneity(q, float(special.chdtrc(values.size - 1, q)), values.size - 1)


def hanley_mcneil(auc: float, positives: float, negatives: float) -> float:
    """Hanley and McNeil's variance (1982), from the AUC and the class sizes alone."""
    q1, q2 = auc / (2 - auc), 2 * auc * auc / (1 + auc)
    spread = auc * (1 - auc) + (positives - 1) * (q1 - auc * auc) + (negatives - 1) * (q2 - auc * auc)
    return float(spread / (positives * negatives))


def auc_interval(estimate: AucVariance, *, level: float = 0.95, clustered: bool = False) -> Ends:
    """Interval on the logit scale; Newcombe's method 5 when the AUC is 0 or 1 and the logit has no variance.

    With clusters a t quantile is used (units of the rarer class less one): their variance is itself an estimate.
    """
    if estimate.auc in (0.0, 1.0) or not estimate.variance > 0:
        return newcombe_auc(estimate.auc, estimate.positive_units, estimate.negative_units, level=level)
    units = min(estimate.positive_units, estimate.negative_units)
    critical = t_critical(level, units - 1) if clustered else z_critical(level)
    half = critical * np.sqrt(estimate.variance) / (estimate.auc * (1 - estimate.auc))
    centre = special.logit(estimate.auc)
    return Ends(float(special.expit(centre - half)), float(special.expit(centre + half)))


def newcombe_auc(auc: float, positives: int, negatives: int, *, level: float = 0.95) -> Ends:
    """Newcombe's method 5 (2006): the AUCs whose own Hanley–McNeil variance just reaches the one seen."""
    z, mean_size = z_critical(level), (positives + negatives) / 2

    def variance(truth: float) -> float:
        spread = 1 + (mean_size - 1) * ((1 - truth) / (2 - truth) + truth / (1 + truth))
        return z * z * truth * (1 - truth) * spread / (positives * negatives)

    def end(edge: float) -> float:
        # At an AUC of 0 or 1 the equation also holds at the AUC itself: look for the other root, just inside it.
        nearest = min(1e-9, z * z * mean_size / (positives * negatives) / 4)
        inside = auc if 0 < auc < 1 else auc + np.copysign(nearest, edge - auc)
        if edge == auc or (auc - inside) ** 2 >= variance(inside):
            return auc
        low, high = sorted((edge, inside))
        return float(optimize.brentq(lambda truth: (auc - truth) ** 2 - variance(truth), low, high, xtol=1e-14))

    return Ends(end(0.0), end(1.0))


class RankReplicates(NamedTuple):
    """AUROC and average precision under each row of a weight matrix."""

    auroc: Floats
    auprc: Floats


def rank_replicates(outcome: Floats, score: Floats, weights: Floats) -> RankReplicates:
    """AUROC and average precision for every weight vector in `weights[B, n]`, NaN where a class has no weight.

    One running sum of the weights in the order of the scores serves both; everything else happens at the positive
    rows only. Rows that come sorted by score are not copied.
    """
    if np.any(score[1:] < score[:-1]):
        order = np.argsort(score, kind="stable")
        outcome, score, weights = outcome[order], score[order], np.take(weights, order, axis=1)
    where = np.flatnonzero(outcome)
    total = weights.sum(axis=1)
    pos = np.take(weights, where, axis=1)
    if where.size in (0, outcome.size):
        # Without negatives every precision is 1; an AUROC has no pairs to rank.
        precision = np.where((total > 0) & (where.size > 0), 1.0, np.nan)
        return RankReplicates(np.full(len(weights), np.nan), precision)
    # Positions of the first row of each positive's block of ties, and of the first row after it.
    first = np.searchsorted(score, score[where], side="left")
    after = np.searchsorted(score, score[where], side="right")
    running = np.cumsum(weights, axis=1)
    running_pos = np.cumsum(pos, axis=1)
    pos_total = running_pos[:, -1]
    all_below = np.take(running, first - 1, axis=1)
    all_below[:, first == 0] = 0.0
    start = np.searchsorted(where, first, side="left")
    pos_below = running_pos - pos if np.array_equal(start, np.arange(where.size)) else _before(running_pos, start)
    neg_below = all_below - pos_below
    if np.array_equal(after - first, np.ones(where.size, dtype=np.intp)):
        beaten = neg_below
    else:
        stop = np.searchsorted(where, after, side="left")
        beaten = (neg_below + np.take(running, after - 1, axis=1) - _before(running_pos, stop)) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        auroc = np.einsum("bi,bi->b", pos, beaten) / (pos_total * (total - pos_total))
        precision = (pos_total[:, None] - pos_below) / (total[:, None] - all_below)
        # A positive of weight 0 at the very top has nothing at or above it: 0/0, and weight 0 makes it count nothing.
        auprc = np.einsum("bi,bi->b", pos, np.where(pos > 0, precision, 0.0)) / pos_total
    auroc[(pos_total <= 0) | (total - pos_total <= 0)] = np.nan
    auprc[pos_total <= 0] = np.nan
    return RankReplicates(auroc, auprc)


def _before(running: Floats, index: npt.NDArray[np.intp]) -> Floats:
    """Running sums just before each index, 0 before the first."""
    values = np.take(running, index - 1, axis=1)
    values[:, index == 0] = 0.0
    return values


def roc_points(outcome: Floats, score: Floats, weight: Floats, *, most: int = 200) -> list[tuple[float, float]]:
    """At most `most` points (false-positive rate, sensitivity) of the ROC curve, ends included."""
    order = np.argsort(-score, kind="stable")
    y, w, s = outcome[order], weight[order], score[order]
    last = np.append(np.flatnonzero(s[1:] != s[:-1]), s.size - 1)
    tpr = np.cumsum(w * y)[last] / np.sum(w * y)
    fpr = np.cumsum(w * (1 - y))[last] / np.sum(w * (1 - y))
    points = np.vstack([[0.0, 0.0], np.column_stack([fpr, tpr])])
    if len(points) > most:
        points = points[np.unique(np.linspace(0, len(points) - 1, most).round().astype(int))]
    return [(float(x), float(t)) for x, t in points]
