"""Intervals and tests for proportions, on independent rows and on rows that cluster in patients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Floats


class Ends(NamedTuple):
    """Two ends of an interval."""

    low: float
    high: float


class Test(NamedTuple):
    """A test statistic with its two-sided p value."""

    statistic: float
    p: float
    df: float = np.nan


def z_critical(level: float) -> float:
    """Two-sided normal quantile: 1.96 for 0.95."""
    return float(special.ndtri((1 + level) / 2))


def t_critical(level: float, df: float) -> float:
    """Two-sided t quantile."""
    return float(special.stdtrit(df, (1 + level) / 2))


def chi2_p(statistic: float, df: float) -> float:
    """Upper tail of chi-square."""
    return float(special.chdtrc(df, statistic))


def normal_p(z: float) -> float:
    """Two-sided p of a normal statistic."""
    return float(2 * special.ndtr(-abs(z)))


def wilson(
    share: float, n: float, *, level: float = 0.95, critical: float | None = None, correct: bool = False
) -> Ends:
    """Wilson's score interval. `n` may be an effective size; `critical` replaces the normal quantile (a t quantile
    when the size was estimated); `correct` adds the continuity correction of R's prop.test.

    >>> [round(end, 4) for end in wilson(0.8, 70)]
    [0.6918, 0.877]
    """
    z = z_critical(level) if critical is None else critical
    x = share * n
    yates = min(0.5, abs(x - n / 2)) if correct else 0.0
    centre = z * z / 2
    down, up = x - yates, x + yates
    low = (down + centre - z * np.sqrt(z * z / 4 + down * (1 - down / n))) / (n + z * z)
    high = (up + centre + z * np.sqrt(z * z / 4 + up * (1 - up / n))) / (n + z * z)
    return Ends(0.0 if share <= 0 else max(0.0, float(low)), 1.0 if share >= 1 else min(1.0, float(high)))


def clopper_pearson(x: float, n: float, *, level: float = 0.95) -> Ends:
    """The exact binomial interval.

    >>> [round(end, 4) for end in clopper_pearson(0, 10)]
    [0.0, 0.3085]
    """
    tail = (1 - level) / 2
    low = 0.0 if x <= 0 else float(special.betaincinv(x, n - x + 1, tail))
    high = 1.0 if x >= n else float(special.betaincinv(x + 1, n - x, 1 - tail))
    return Ends(low, high)


def jeffreys(x: float, n: float, *, level: float = 0.95) -> Ends:
    """Equal-tailed interval under Jeffreys' prior, with the end closed at none and at all."""
    tail = (1 - level) / 2
    low = 0.0 if x <= 0 else float(special.betaincinv(x + 0.5, n - x + 0.5, tail))
    high = 1.0 if x >= n else float(special.betaincinv(x + 0.5, n - x + 0.5, 1 - tail))
    return Ends(low, high)


def agresti_coull(x: float, n: float, *, level: float = 0.95) -> Ends:
    """Agresti and Coull's interval; its ends may leave [0, 1]."""
    z = z_critical(level)
    size = n + z * z
    centre = (x + z * z / 2) / size
    half = z * np.sqrt(centre * (1 - centre) / size)
    return Ends(float(centre - half), float(centre + half))


ASSUMED_ICC = 1 / 3  # how alike rows of one cluster are taken to be where the data cannot show it
_COUNTS_FOR = 3.0  # clusters' worth of evidence that the assumed design effect counts for; a fifth of them at most
_LENT_DF = 6.0  # degrees of freedom that it lends
_STEPS_A_ROW = 4  # of the search, where weights or part credits make totals that are no whole numbers
_REMEMBERED = 1 << 16  # steps up to which the search remembers, from one level to the next, what it has worked out


class Weighed(NamedTuple):
    """A design effect as seen and as drawn towards the assumed one, with the degrees of freedom left for its error."""

    seen: Floats
    effect: Floats
    df: Floats


def weigh_design_effect(
    seen: Floats, rarer: Floats, *, assumed: float, clusters: int, belief: float | None = None
) -> Weighed:
    """The design effect seen, drawn towards an assumed one where few clusters or few failures can show it.

    `rarer` is how often the rarer answer was given. What it tells of the clustering counts for as many clusters as it
    could fill, e (m − 1) / (e + m − 1) with e the effective number of rarer answers. `belief` is for how many clusters
    the assumption counts.
    """
    e = rarer / seen
    informative = e * (clusters - 1) / np.maximum(e + clusters - 1, 1e-300)
    belief = min(_COUNTS_FOR, clusters / 5) if belief is None else belief
    effect = np.maximum(seen, (informative * seen + belief * assumed) / (informative + belief))
    return Weighed(seen, effect, np.minimum(clusters - 1, informative + _LENT_DF))


def korn_graubard(df: Floats, *, level: float) -> Floats:
    """By how much an effective size shrinks because it was estimated: the squared normal over the t quantile."""
    level = max(level, 1e-6)  # below, both quantiles are rounding errors, and their ratio has settled
    return np.asarray((z_critical(level) / special.stdtrit(df, (1 + level) / 2)) ** 2)


@dataclass(frozen=True, eq=False)
class ClusteredShare:
    """A share over rows that cluster in patients (or cases), with what its interval needs.

    `rows` and `clusters` are N and m. `sizes` and `hits` are the rows of each cluster and those of them that count;
    where rows carry weights, both are scaled so that sizes add up to N. `assumed_effect` is the design effect that the
    assumed intraclass correlation `icc` would give. `se` is the linearised standard error, 0 where all or none count.
    """

    share: float
    rows: float
    clusters: int
    sizes: Floats
    hits: Floats
    assumed_effect: float
    icc: float
    se: float
    whole: bool  # rows are counted one by one: no weights, no parts of rows

    @property
    def independent(self) -> bool:
        """Is every cluster a single row, and all of one weight?"""
        return self.whole and self.rows == self.clusters

    @cached_property
    def worse(self) -> Worse:
        """Results that are worse than this one, for the low end."""
        return Worse.than(self.sizes, self.hits, self)

    @cached_property
    def mirrored(self) -> Worse:
        """The same with rows that count and those that do not exchanged, for the high end."""
        return Worse.than(self.sizes, self.sizes - self.hits, self)

    @cached_property
    def _weighed(self) -> Weighed:
        q = np.array([self.share])
        return self.worse.weighed(self.worse.spread(q, np.array([np.inf])), q * (1 - q), np.minimum(q, 1 - q))

    @property
    def design_effect(self) -> float:
        """The one seen: the variance over the binomial one, never below 1 (and 1 where all or none count)."""
        return float(self._weighed.seen[0])

    @property
    def weighed_effect(self) -> float:
        """The one that the interval rests on: what was seen and what was assumed, by what the data tell."""
        return float(self._weighed.effect[0])

    @property
    def informative(self) -> float:
        """As how many clusters the data speak of their own likeness."""
        e = self.rows * min(self.share, 1 - self.share) / self.design_effect
        return e * (self.clusters - 1) / (e + self.clusters - 1) if self.clusters > 1 else 0.0

    def effective_n(self, level: float = 0.95) -> float:
        """How many independent rows the share is worth, after Korn and Graubard's adjustment for its error."""
        return float((self.rows / self._weighed.effect * korn_graubard(self._weighed.df, level=level))[0])

    def ceiling(self, level: float = 0.95) -> float:
        """The most that the low end can be with these clusters: that of a perfect result."""
        return float(((1 - level) / 2) ** (self.assumed_effect / self.rows))


def clustered_share(
    numerator: Floats,
    denominator: Floats,
    cluster: npt.NDArray[np.int64],
    weight: Floats,
    *,
    icc: float = ASSUMED_ICC,
) -> ClusteredShare:
    """Share of weighted rows, with the totals of its clusters from which `effective_ends` makes the interval."""
    use = (denominator > 0) & (weight > 0)
    w, d, x = weight[use], denominator[use], numerator[use]
    same = bool(np.all(w == w[0]))
    w = np.ones(w.size) if same else w
    _, codes = np.unique(cluster[use], return_inverse=True)
    sizes: Floats = np.asarray(np.bincount(codes, weights=w * d), dtype=np.float64)
    hits: Floats = np.asarray(np.bincount(codes, weights=w * x), dtype=np.float64)
    rows, total = float(d.sum()), float(sizes.sum())
    share = float(hits.sum()) / total
    squares = (1 - icc) * float(np.sum(d * w**2)) + icc * float(np.sum(sizes**2))
    return ClusteredShare(
        share,
        rows,
        sizes.size,
        sizes * (rows / total),
        hits * (rows / total),
        assumed_effect=max(1.0, rows * squares / total**2),
        icc=icc,
        se=_linearised_se(sizes, hits, share, rows),
        whole=same and bool(np.all(sizes == np.rint(sizes))),
    )


def _linearised_se(sizes: Floats, hits: Floats, share: float, rows: float) -> float:
    """Standard error of a ratio of cluster totals, never below the binomial one."""
    if share in (0.0, 1.0) or sizes.size < 2:
        return 0.0
    variance = sizes.size / (sizes.size - 1) * float(np.sum((hits - share * sizes) ** 2)) / float(sizes.sum()) ** 2
    return float(np.sqrt(max(variance, share * (1 - share) / rows)))


def effective_ends(share: ClusteredShare, *, level: float = 0.95) -> Ends:
    """Exact on effective rows, monotone: Clopper and Pearson's ends on the rows that clustering leaves, where the low
    end is the highest that this or any worse result would have, up to the most that so many clusters can show.

    A failure turned into a success therefore never lowers an end. Rows that are all right say nothing of how alike
    those of one cluster are, so an intraclass correlation is assumed, and given up as the data speak. A nominal 95 %
    covers more than that on average (evidence/clustered_edges.json): conservative by choice.

    >>> sizes = np.array([12.0] * 5 + [11.0] * 2)
    >>> perfect = clustered_share(sizes, sizes, np.arange(7), np.ones(7))
    >>> [round(end, 4) for end in effective_ends(perfect, level=0.90)]
    [0.846, 1.0]
    """
    ceiling = share.ceiling(level)
    low = min(ceiling, share.worse.best_end(level), share.share)
    high = 1 - min(ceiling, share.mirrored.best_end(level), 1 - share.share)
    return Ends(low, high)


@dataclass(frozen=True, eq=False)
class Worse:
    """Every result on the same clusters that is nowhere better than the one seen, by its total.

    Of all results with one total the most favourable is the one whose clusters differ least, so only that is looked
    at: shares q = j / `steps`, with j from 0 to `most`. The steps depend on the design alone, so what is open to a
    result stays open to every better one. Clusters alike in size and hits are held once, with their number.
    """

    sizes: Floats
    hits: Floats
    alike: Floats
    spare: Floats  # 1 − size / rows: what its leverage leaves to a cluster
    rows: float
    clusters: int
    assumed_effect: float
    steps: int
    most: int
    known: Floats | None  # least spread of each step, NaN where not yet worked out

    @classmethod
    def than(cls, sizes: Floats, hits: Floats, share: ClusteredShare) -> Worse:
        """The results in which no cluster has more hits than these."""
        # Rounded first: sums of weights in another order must not have another number of steps.
        steps = round(share.rows) if share.whole else _STEPS_A_ROW * math.ceil(round(share.rows, 6))
        order = np.lexsort((hits, sizes))  # also makes the order of patients change no digit
        sizes, hits = sizes[order], hits[order]
        new = np.flatnonzero(np.concatenate(([True], (np.diff(sizes) != 0) | (np.diff(hits) != 0))))
        alike = np.diff(np.append(new, sizes.size)).astype(np.float64)
        sizes, hits = sizes[new], hits[new]
        most = min(steps, math.floor(float(alike @ hits) / share.rows * steps + 1e-6))
        return cls(
            sizes,
            hits,
            alike,
            1 - sizes / share.rows,
            share.rows,
            share.clusters,
            share.assumed_effect,
            steps,
            most,
            np.full(most + 1, np.nan) if most < _REMEMBERED else None,
        )

    # ---- how clusters differ ------------------------------------------------------------------------------------

    def spread(self, q: Floats, level: Floats) -> Floats:
        """Squares of the clusters' departures from the share q, each over what its leverage leaves (as in CR2), with
        no departure above `level` times that."""
        if self.clusters < 2:
            return np.zeros(q.size)
        relative = (self.hits[:, None] - q * self.sizes[:, None]) / self.spare[:, None]
        return np.asarray((self.alike * self.spare) @ np.minimum(relative, level) ** 2)

    def least_spread(self, q: Floats) -> Floats:
        """The least spread of a worse result with the share q: hits are given up in the clusters with the best shares.

        Departures become min(x − q n, λ (1 − n / N)), which is water filled to a level λ at which they add up to 0.
        Newton's steps rise to it, because their sum is concave in λ.
        """
        if self.clusters < 2:
            return np.zeros(q.size)
        apart = self.hits[:, None] - q * self.sizes[:, None]
        relative = apart / self.spare[:, None]
        room = self.alike * self.spare
        level, kept = np.zeros(q.size), relative < 0
        while True:
            short, left = -(self.alike @ np.where(kept, apart, 0.0)), room @ ~kept
            level = np.where(left > 1e-12, short / np.maximum(left, 1e-12), np.inf)
            below = kept | (relative < level)
            if np.array_equal(below, kept):
                return np.asarray(room @ np.minimum(relative, level) ** 2)
            kept = below

    def weighed(self, spread: Floats, variance: Floats, rarer: Floats) -> Weighed:
        """The design effect behind a spread, where a row has this variance and the rarer answer this share."""
        with np.errstate(divide="ignore", invalid="ignore"):
            seen = np.where(variance > 0, np.maximum(1.0, spread / (self.rows * variance)), 1.0)
        return weigh_design_effect(seen, self.rows * rarer, assumed=self.assumed_effect, clusters=self.clusters)

    # ---- the best low end ---------------------------------------------------------------------------------------

    def best_end(self, level: float) -> float:
        """The highest low end of any of them.

        Steps are taken in blocks. A block whose best share, least spread and most common rarer answer together would
        not beat the best end found so far is left; the others are cut into smaller ones, down to single steps.
        """
        if self.most == self.steps:
            return 1.0
        tail, z = (1 - level) / 2, z_critical(level)
        if self.most == 0 or self.clusters < 2 or z <= 0:
            return 0.0
        best = 0.0
        width = max(1, -(-self.most // 16))
        last = np.arange(self.most, 0, -width)
        while last.size:
            q = last / self.steps
            a, b = self._beta(q, self._known(last), q, q, level)
            better = special.betainc(a, b, best) < tail  # the cheap question first
            if better.any():
                best = max(best, float(special.betaincinv(a[better], b[better], tail).max()))
            if width == 1:
                break
            first = np.maximum(last - width + 1, 1)
            a, b = self._beta(q, self._known(first), first / self.steps, q, level)
            last, first = (side[special.betainc(a, b, best) < tail] for side in (last, first))
            width = -(-width // 8)
            inner = last[:, None] - width * np.arange(8)
            last = inner[inner >= first[:, None]]
        return best

    def _known(self, step: npt.NDArray[np.int64]) -> Floats:
        if self.known is None:
            return self.least_spread(step / self.steps)
        asked = step[np.isnan(self.known[step])]
        if asked.size:
            self.known[asked] = self.least_spread(asked / self.steps)
        return np.asarray(self.known[step])

    def _beta(self, share: Floats, spread: Floats, low: Floats, high: Floats, level: float) -> tuple[Floats, Floats]:
        """Parameters of the beta distribution whose quantile is the low end, where the true share of the result lies
        between two and the figure is to be no lower than for any of them."""
        nearest = np.clip(0.5, low, high)  # where a row varies most
        found = self.weighed(spread, nearest * (1 - nearest), np.minimum(nearest, 1 - nearest))
        n = self.rows / found.effect * korn_graubard(found.df, level=level)
        return share * n, (1 - share) * n + 1


# ---- counts and paired differences over clusters ---------------------------------------------------------------------

ASSUMED_BUNCHING = 5.0  # variance over mean of a cluster's events, where the data cannot show it
PAIRED_ICC = 0.25  # how alike differences of two systems are taken to be within a cluster


def event_rate_ends(events: Floats, exposure: Floats, *, level: float = 0.95) -> Ends:
    """Interval of a rate of events that come in bunches: events and exposure of each cluster, at least one event.

    Exact for a Poisson number on effective events: the overdispersion seen is drawn towards an assumed one as the
    design effect of a share is.

    >>> low, high = event_rate_ends(np.array([7.0, 0, 0, 1, 0, 2]), np.full(6, 2.0), level=0.90)
    >>> round(low, 2), round(high, 2)
    (0.08, 3.23)
    """
    total, clusters = float(events.sum()), events.size
    rate = total / float(exposure.sum())
    spread = float(np.sum((events - rate * exposure) ** 2 / (1 - exposure / exposure.sum()))) / total
    seen, count = np.array([max(1.0, spread)]), np.array([total])
    found = weigh_design_effect(seen, count, assumed=ASSUMED_BUNCHING, clusters=clusters, belief=_COUNTS_FOR)
    effective = float((count / found.effect * korn_graubard(found.df, level=level))[0])
    tail = (1 - level) / 2
    low = rate * float(special.gammaincinv(effective, tail)) / effective
    high = rate * float(special.gammaincinv(effective + 1, 1 - tail)) / effective
    return Ends(low, high)


class PairedShares(NamedTuple):
    """The difference of two shares on the same rows, with what its interval rests on."""

    difference: float
    rows: float
    discordant: float
    effect: float
    df: float

    def ends(self, level: float = 0.95) -> Ends:
        """Both ends. No difference seen is an interval too: two effective rows are added to those that differ."""
        each = self.effect / self.rows
        spread = each * (self.discordant + 2 * each - self.difference**2)
        half = t_critical(level, self.df) * float(np.sqrt(spread))
        return Ends(max(-1.0, self.difference - half), min(1.0, self.difference + half))

    def p(self) -> float:
        """Two-sided p that there is no difference, by the same error."""
        each = self.effect / self.rows
        spread = each * (self.discordant + 2 * each - self.difference**2)
        return float(2 * special.stdtr(self.df, -abs(self.difference) / np.sqrt(spread)))


def paired_shares(
    first: Floats,
    second: Floats,
    cluster: npt.NDArray[np.int64],
    *,
    units: Floats | None = None,
    icc: float = PAIRED_ICC,
) -> PairedShares:
    """second − first where each row is right or wrong (1 or 0) in either, and rows cluster.

    A row may stand for several `units` of which so many are right; what is right in one alone then cancels within it.

    >>> same = np.tile([1.0, 1.0, 1.0, 0.0], 30)
    >>> found = paired_shares(same, same, np.repeat(np.arange(12), 10))
    >>> found.difference, [round(end, 3) for end in found.ends()]
    (0.0, [-0.094, 0.094])
    """
    _, codes = np.unique(cluster, return_inverse=True)
    gap = second - first
    sizes: Floats = np.asarray(np.bincount(codes, weights=units), dtype=np.float64)
    rows, clusters = float(sizes.sum()), sizes.size
    difference, discordant = float(gap.sum()) / rows, float(np.abs(gap).sum()) / rows
    apart = np.bincount(codes, weights=gap) - difference * sizes
    alone = rows * (discordant - difference**2)
    spread = float(np.sum(apart**2 / (1 - sizes / rows))) if clusters > 1 else 0.0
    seen = np.array([max(1.0, spread / alone) if alone > 0 else 1.0])
    assumed = 1 + (float(np.sum(sizes**2)) / rows - 1) * icc
    found = weigh_design_effect(seen, np.array([rows * discordant]), assumed=assumed, clusters=clusters)
    return PairedShares(difference, rows, discordant, float(found.effect[0]), float(found.df[0]))


def correlated_difference(first: ClusteredShare, second: ClusteredShare, *, level: float = 0.95) -> Ends:
    """Ends of second − first where both shares rest on the same clusters but not on the same rows.

    The ends of both are squared and added, less what they have in common: the correlation of the clusters' departures,
    believed as far as these tell (never below 0). Both must name their clusters in one order.
    """
    apart = [one.hits - one.share * one.sizes for one in (first, second)]
    norms = [float(one @ one) for one in apart]
    common = float(apart[0] @ apart[1]) / float(np.sqrt(norms[0] * norms[1])) if min(norms) > 0 else 0.0
    informative = min(one.informative for one in (first, second))
    common = max(0.0, common) * informative / (informative + min(_COUNTS_FOR, first.clusters / 5))
    (l1, h1), (l2, h2) = (effective_ends(one, level=level) for one in (first, second))

    def joined(a: float, b: float) -> float:
        return float(np.sqrt(max(0.0, a * a + b * b - 2 * common * a * b)))

    gap = second.share - first.share
    below = joined(second.share - l2, h1 - first.share)
    above = joined(h2 - second.share, first.share - l1)
    return Ends(max(-1.0, gap - below), min(1.0, gap + above))


class ShareGap(NamedTuple):
    """Interval, p and method of the difference of two shares on the same clusters."""

    low: float
    high: float
    p: float | None
    method: str


def share_difference(
    first: Floats, second: Floats, cluster: npt.NDArray[np.int64], weight: Floats, *, level: float = 0.95
) -> ShareGap:
    """second − first, each given as the units that count and all units of its rows [2, rows].

    Where both count the same units they are compared on them, else by the ends of either. Rows that stand for several
    units are first summed by cluster, since which units differ cannot be seen.
    """
    use = (weight > 0) & ((first[1] > 0) | (second[1] > 0))
    (top, bottom), (their_top, their_bottom) = first[:, use], second[:, use]
    cluster, weight = cluster[use], weight[use]
    if np.all(weight == weight[0]) and np.array_equal(bottom, their_bottom):
        if np.any(bottom > 1):
            _, codes = np.unique(cluster, return_inverse=True)
            sums = (np.asarray(np.bincount(codes, weights=one), dtype=np.float64) for one in (top, their_top, bottom))
            top, their_top, bottom = sums
            cluster = np.arange(bottom.size)
        found = paired_shares(top, their_top, cluster, units=bottom)
        return ShareGap(*found.ends(level), found.p(), f"same rows, t on {found.df:.0f} df")
    one = clustered_share(top, bottom, cluster, weight)
    other = clustered_share(their_top, their_bottom, cluster, weight)
    if one.clusters == other.clusters == np.unique(cluster).size:
        low, high = correlated_difference(one, other, level=level)
    else:
        ends = (effective_ends(side, level=level) for side in (other, one))
        low, high = combine_difference(other.share, next(ends), one.share, next(ends))
    gap = other.share - one.share
    near = gap - low if gap > 0 else high - gap
    # Read off the near end, so that it cannot contradict the interval beside it.
    p = 1.0 if gap == 0 else normal_p(gap / near * z_critical(level)) if near > 0 else None
    return ShareGap(max(-1.0, low), min(1.0, high), p, "square and add, correlated")


def newcombe(p1: float, n1: float, p2: float, n2: float, *, level: float = 0.95) -> Ends:
    """Newcombe's hybrid score interval (method 10) for a difference of independent proportions.

    >>> [round(end, 4) for end in newcombe(56 / 70, 70, 48 / 80, 80)]
    [0.0524, 0.3339]
    """
    first, second = wilson(p1, n1, level=level), wilson(p2, n2, level=level)
    return combine_difference(p1, first, p2, second)


def combine_difference(v1: float, first: Ends, v2: float, second: Ends) -> Ends:
    """Ends of a difference from the ends of its two independent parts (the square-and-add rule, MOVER)."""
    difference = v1 - v2
    low = difference - np.hypot(v1 - first.low, second.high - v2)
    high = difference + np.hypot(first.high - v1, v2 - second.low)
    return Ends(float(low), float(high))


def p_of_ends(value: float, ends: Ends, *, level: float = 0.95) -> float | None:
    """Two-sided p against 0 read off the end on the side of 0, so that it cannot contradict the interval beside it.

    None where that end does not move away from the value.

    >>> p_of_ends(1.0, Ends(0.0, 3.0))
    0.05
    """
    if value == 0:
        return 1.0
    near = value - ends.low if value > 0 else ends.high - value
    return float(normal_p(value / near * z_critical(level))) if near > 0 else None


def agresti_caffo(x1: float, n1: float, x2: float, n2: float, *, level: float = 0.95) -> Ends:
    """Agresti and Caffo's interval for a difference: one success and one failure added to each side."""
    p1, p2 = (x1 + 1) / (n1 + 2), (x2 + 1) / (n2 + 2)
    half = z_critical(level) * np.sqrt(p1 * (1 - p1) / (n1 + 2) + p2 * (1 - p2) / (n2 + 2))
    return Ends(float(p1 - p2 - half), float(p1 - p2 + half))


def katz_ratio(x1: float, n1: float, x2: float, n2: float, *, level: float = 0.95) -> Ends:
    """Interval of a ratio of proportions on the log scale; NaN ends when either numerator is 0."""
    if x1 <= 0 or x2 <= 0:
        return Ends(np.nan, np.nan)
    centre = np.log((x1 / n1) / (x2 / n2))
    half = z_critical(level) * np.sqrt(1 / x1 - 1 / n1 + 1 / x2 - 1 / n2)
    return Ends(float(np.exp(centre - half)), float(np.exp(centre + half)))


def homogeneity(values: npt.ArrayLike, weights: npt.ArrayLike) -> Test:
    """Cochran's Q that independent values are equal, each weighted by the inverse of its variance."""
    y, w = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    q = float(np.sum(w * (y - np.sum(w * y) / w.sum()) ** 2))
    return Test(q, chi2_p(q, y.size - 1), y.size - 1)


def chi2_proportions(x: npt.ArrayLike, n: npt.ArrayLike, *, correct: bool = False) -> Test:
    """Pearson's chi-square that k proportions are equal; `correct` is Yates's form for two."""
    hits, sizes = np.asarray(x, dtype=np.float64), np.asarray(n, dtype=np.float64)
    pooled = hits.sum() / sizes.sum()
    if pooled in (0.0, 1.0):
        return Test(np.nan, np.nan, hits.size - 1)
    gap = np.abs(hits - sizes * pooled)
    if correct and hits.size == 2:
        gap = gap - min(0.5, float(gap.min()))
    statistic = float(np.sum(gap**2 / (sizes * pooled * (1 - pooled))))
    return Test(statistic, chi2_p(statistic, hits.size - 1), hits.size - 1)


def fisher_exact(x1: int, n1: int, x2: int, n2: int) -> float:
    """Two-sided Fisher test: the probability of all tables no likelier than the one seen, margins fixed."""
    hits, total = x1 + x2, n1 + n2
    k = np.arange(max(0, hits - n2), min(hits, n1) + 1)
    log_p = _log_choose(n1, k) + _log_choose(n2, hits - k) - _log_choose(total, hits)
    seen = log_p[x1 - k[0]]
    return float(min(1.0, np.exp(log_p[log_p <= seen + 1e-7]).sum()))


def _log_choose(n: float, k: npt.ArrayLike) -> Floats:
    k = np.asarray(k, dtype=np.float64)
    return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))


class McNemar(NamedTuple):
    """Tests of two paired yes/no answers from the discordant counts, with the difference of shares."""

    chi2: float
    p: float
    chi2_corrected: float
    p_corrected: float
    p_exact: float
    p_mid: float
    difference: float
    low: float
    high: float


def mcnemar(both: int, only_first: int, only_second: int, neither: int, *, level: float = 0.95) -> McNemar:
    """McNemar's test, plain, corrected, exact and mid-p, and Wald's interval of the paired difference."""
    b, c = only_first, only_second
    n = b + c
    total = both + n + neither
    if n == 0:
        return McNemar(np.nan, 1.0, np.nan, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    chi2 = (b - c) ** 2 / n
    corrected = max(0, abs(b - c) - 1) ** 2 / n
    tail = float(special.bdtr(min(b, c), n, 0.5))
    point = float(np.exp(_log_choose(n, min(b, c)) - n * np.log(2)))
    half = z_critical(level) * np.sqrt(n - (b - c) ** 2 / total) / total
    return McNemar(
        chi2=chi2,
        p=chi2_p(chi2, 1),
        chi2_corrected=corrected,
        p_corrected=chi2_p(corrected, 1),
        p_exact=1.0 if b == c else min(1.0, 2 * tail),
        p_mid=min(1.0, 2 * tail - point),
        difference=(b - c) / total,
        low=float((b - c) / total - half),
        high=float((b - c) / total + half),
    )
