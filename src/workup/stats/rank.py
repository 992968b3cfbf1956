"""Area under the ROC curve and average precision: values, weighted replicates, and DeLong's variance in O(n log n)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from workup.stats.arrays import Floats, Ints
from workup.stats.intervals import Ends, homogeneity, t_critical, z_critical


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

    Without ties the k-th positive in order is at place p_k and so has p_k - k negatives below it: no running sum is
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
        return _delong_untied(positive, m, n)
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


def _delong_untied(positive: npt.NDArray[np.bool_], m: int, n: int) -> AucVariance:
    # The rarer class alone is looked at: rows of the commoner one that no rare row parts have one placement.
    rare_is_positive = m <= n
    where = np.flatnonzero(positive if rare_is_positive else ~positive)
    rare, common = where.size, positive.size - where.size
    below = where - np.arange(rare)
    share = float(np.sum(below)) / (rare * common)
    between = np.diff(below, prepend=0, append=common)
    rare_part = _sum_of_squares(below / common - share, np.ones(1))
    common_part = _sum_of_squares((1 - share) - np.arange(rare + 1) / rare, between)
    variance = rare_part / (rare * (rare - 1)) + common_part / (common * (common - 1)) if rare > 1 else np.nan
    return AucVariance(share if rare_is_positive else 1 - share, variance, m, n)


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
    found = homogeneity(values, 1 / v)
    return Homogeneity(found.statistic, found.p, values.size - 1)


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


class Ranking(NamedTuple):
    """The rows of a sample in the order of their scores, made once for any number of weights.

    Scores that at least one positive row holds are places, from the highest down. Running sums over the places, of the
    positives there and of the negatives above and at each, give both areas; no sum over all rows is ever kept.
    """

    positives: Any  # sparse [place, row], like the next two; places lie as `_running` wants them
    above: Any  # negatives under the place before and over this one
    tied: Any  # negatives at the place; None when there are none
    below: npt.NDArray[np.intp]  # rows under the last place, all of them negative
    strips: int

    @classmethod
    def of(cls, outcome: Floats, score: Floats) -> Ranking:
        """Order the rows; those already sorted by score are not sorted again."""
        ascending = np.all(score[1:] >= score[:-1])
        down = np.arange(score.size)[::-1] if ascending else np.argsort(-score, kind="stable")
        positive, ordered = outcome[down] > 0, score[down]
        block = np.concatenate(([0], np.cumsum(ordered[1:] != ordered[:-1])))[: score.size]
        held = np.unique(block[positive])
        place = np.searchsorted(held, block)  # the first place at or under each row
        under = place == held.size
        tied = ~positive & ~under
        tied[tied] = held[place[tied]] == block[tied]
        steps = min(_MOST_STEPS, int(np.sqrt(held.size)) + 1)
        strips = -(-held.size // steps)

        def incidence(rows: npt.NDArray[np.bool_]) -> Any:
            from scipy import sparse

            where = place[rows] % steps * strips + place[rows] // steps
            shape = (steps * strips, score.size)
            return sparse.csr_array((np.ones(where.size), (where, down[rows])), shape=shape)

        return cls(
            incidence(positive),
            incidence(~positive & ~tied & ~under),
            incidence(tied) if tied.any() else None,
            down[under],
            strips,
        )

    def replicates(self, weights: Floats) -> RankReplicates:
        """AUROC and average precision for every weight vector in `weights[B, n]`, NaN where a class has no weight."""
        by_row = np.ascontiguousarray(weights.T)
        if self.strips == 0:
            return RankReplicates(np.full(len(weights), np.nan), np.full(len(weights), np.nan))
        pos, neg = self.positives @ by_row, self.above @ by_row
        beating = 0.0
        if self.tied is not None:
            tied = self.tied @ by_row
            neg += tied
            beating = -np.einsum("pb,pb->b", pos, tied) / 2
        running_pos, running_neg = _running(pos.copy(), self.strips), _running(neg, self.strips)
        pos_total = running_pos[-1].copy()
        neg_total = running_neg[-1] + by_row[self.below].sum(axis=0)
        beating = beating + np.einsum("pb,pb->b", pos, running_neg)
        running_all = np.add(running_neg, running_pos, out=running_neg)
        # Nothing of weight at or above a place would be 0/0, and the positives there count nothing.
        running_all[running_all == 0] = 1.0
        with np.errstate(invalid="ignore", divide="ignore"):
            auroc = 1 - beating / (pos_total * neg_total)
            auprc = np.einsum("pb,pb->b", pos, np.divide(running_pos, running_all, out=running_pos)) / pos_total
        auroc[(pos_total <= 0) | (neg_total <= 0)] = np.nan
        auprc[pos_total <= 0] = np.nan
        return RankReplicates(auroc, auprc)


_MOST_STEPS = 64


def _running(values: Floats, strips: int) -> Floats:
    """Running sums down the first axis, in place, of rows that lie as [step, strip]: place k is step k mod steps of
    strip k // steps. All strips advance together, each step one long addition; numpy's own cumsum goes column by
    column, many times slower for narrow tables."""
    steps, size = len(values) // strips, values.shape[1]
    by_step = values.reshape(steps, strips * size)
    for step in range(1, steps):
        np.add(by_step[step], by_step[step - 1], out=by_step[step])
    before = np.cumsum(by_step[-1].reshape(strips, size), axis=0)[:-1]
    values.reshape(steps, strips, size)[:, 1:] += before
    return values


def rank_replicates(outcome: Floats, score: Floats, weights: Floats) -> RankReplicates:
    """AUROC and average precision for every weight vector in `weights[B, n]`, NaN where a class has no weight."""
    return Ranking.of(outcome, score).replicates(weights)


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
