"""Gold spans and documents for a bound on a rate of misses, or for a gap in recall, when they cluster in documents."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Floats
from workup.stats.intervals import ASSUMED_ICC, z_critical
from workup.stats.sizes.proportions import Method, PairSize, inside, two_proportions, whole

Bound = Literal["wilson", "clopper-pearson"]
Sides = Literal["one", "two"]
MOST_MISSES = 20_000  # allowed misses; what needs more is called infeasible


def design_effect(*, icc: float, size: float, size_cv: float = 0.0) -> float:
    """Variance over that of independent golds: 1 + ((1 + cv²) m − 1) icc for clusters of m golds on average.

    With `size_cv`, the coefficient of variation of the cluster sizes, as Eldridge and others (2006) have it; never
    below 1.

    >>> round(design_effect(icc=0.1, size=8), 3)
    1.7
    """
    if not -1 < icc <= 1 or size < 1 or size_cv < 0:
        raise ValueError(
            f"icc must lie in (-1, 1], size be at least 1 and size_cv not negative; got {icc}, {size}, {size_cv}"
        )
    return max(1.0, 1 + ((1 + size_cv**2) * size - 1) * icc)


class Clustered(NamedTuple):
    """A number of independent golds, and when golds cluster: golds in all and the documents that hold them."""

    independent: int
    golds: int
    documents: int


def clustered(independent: float, *, design_effect: float = 1.0, golds_per_document: float = 1.0) -> Clustered:
    """Scale a number of independent golds to clustered ones.

    >>> clustered(300, design_effect=1.7, golds_per_document=8)
    Clustered(independent=300, golds=510, documents=64)
    """
    if design_effect < 1 or golds_per_document <= 0:
        raise ValueError(
            f"design_effect must be at least 1 and golds_per_document positive; got {design_effect:g} and "
            f"{golds_per_document:g}"
        )
    golds = whole(independent * design_effect)
    return Clustered(whole(independent), golds, whole(golds / golds_per_document))


# ---- a bound on the leak rate ----------------------------------------------------------------------------------------


def golds_for_bound(
    misses: int, bound: float, *, level: float = 0.95, sides: Sides = "two", method: Bound = "wilson"
) -> int:
    """The fewest independent golds among which so many misses leave the upper end of the interval at or under a bound.

    `sides` "two" is the upper end of a two-sided interval of that level, as reports show it; "one" the one-sided bound.

    >>> golds_for_bound(0, 0.01, sides="one", method="clopper-pearson")
    299
    """
    inside("bound", bound), inside("level", level)
    if misses < 0:
        raise ValueError(f"misses cannot be negative; got {misses}")
    return int(_sizes(np.array([float(misses)]), bound, level, sides, method)[0])


class LeakSize(NamedTuple):
    """Golds and documents with which a leak rate is shown to lie under a bound.

    `golds` independent golds are the fewest with which at most `allowed_misses` keep the upper end at or under the
    bound, and so few happen with probability `assurance` (at least the one wanted). Power saws: a few golds more can
    have less of it until one more miss is allowed, so from `steady_golds` on it never falls below. `clustered` scales
    `golds` by the design effect. `documents` are those needed: as many as hold these golds, and no fewer than
    `clusters_for_none`, below which even a perfect result could not show the bound.
    """

    bound: float
    leak_rate: float
    allowed_misses: int
    golds: int
    steady_golds: int
    assurance: float
    clustered: Clustered
    documents: int


def leak_size(
    bound: float,
    *,
    leak_rate: float = 0.0,
    assurance: float = 0.8,
    level: float = 0.95,
    sides: Sides = "two",
    method: Bound = "wilson",
    design_effect: float = 1.0,
    golds_per_document: float = 1.0,
    assumed_icc: float = ASSUMED_ICC,
) -> LeakSize:
    """Golds and documents so that, at the true `leak_rate`, the upper end falls to the bound with this probability.

    >>> plan = leak_size(0.01, sides="one", method="clopper-pearson")
    >>> plan.golds, plan.allowed_misses
    (299, 0)
    >>> leak_size(0.01, leak_rate=0.002).allowed_misses
    2
    """
    inside("bound", bound), inside("assurance", assurance), inside("level", level)
    if not 0 <= leak_rate < bound:
        raise ValueError(
            f"not feasible: a leak rate of {leak_rate:g} cannot be shown to lie under {bound:g}; "
            "the rate expected must be at least 0 and under the bound"
        )
    allowed, golds, steady = _first_assured(bound, leak_rate, assurance, level, sides, method)
    scaled = clustered(golds, design_effect=design_effect, golds_per_document=golds_per_document)
    documents = scaled.documents
    if golds_per_document > 1:
        least = clusters_for_none(bound, size=golds_per_document, level=level, sides=sides, icc=assumed_icc)
        documents = max(documents, least)
    reached = float(_at_most(np.array([float(allowed)]), np.array([float(golds)]), leak_rate)[0])
    return LeakSize(bound, leak_rate, allowed, golds, steady, reached, scaled, documents)


def clusters_for_none(
    bound: float, *, size: float, level: float = 0.95, sides: Sides = "two", icc: float = ASSUMED_ICC
) -> int:
    """The fewest clusters of so many rows among which no failure at all leaves the upper end at or under a bound.

    From rows that are all right the analysis cannot see how alike those of one cluster are, and assumes `icc`.
    One-sided 95 % with the customary third: (1 + 2 / size) / −ln(1 − bound).

    >>> [clusters_for_none(bound, size=18, sides="one") for bound in (0.10, 0.05, 0.02)]
    [11, 22, 55]
    """
    tail = (1 - level) / 2 if sides == "two" else 1 - level
    rows = math.log(tail) / math.log1p(-bound) * max(1.0, 1 + (size - 1) * icc)
    return math.ceil(rows / size - 1e-9)


def leak_power(
    golds: npt.ArrayLike,
    bound: float,
    *,
    leak_rate: float = 0.0,
    level: float = 0.95,
    sides: Sides = "two",
    method: Bound = "wilson",
) -> Floats:
    """The probability that the upper end falls to the bound, for each number of independent golds.

    >>> leak_power([298, 299], 0.01, sides="one", method="clopper-pearson").tolist()
    [0.0, 1.0]
    """
    inside("bound", bound), inside("level", level)
    n = np.floor(np.asarray(golds, dtype=np.float64))
    top = int(np.ceil(np.max(n) * bound)) + 1
    sizes = _sizes(np.arange(top + 1, dtype=np.float64), bound, level, sides, method)
    allowed = np.searchsorted(sizes, n, side="right") - 1.0
    return np.where(allowed >= 0, _at_most(np.maximum(allowed, 0.0), n, leak_rate), 0.0)


def _first_assured(
    bound: float, leak_rate: float, assurance: float, level: float, sides: Sides, method: Bound
) -> tuple[int, int, int]:
    """Allowed misses and golds of the first size with enough assurance, and the size from which it stays enough."""
    # About so many misses, by the normal approximation: where to look, and whether looking is of any use.
    z = z_critical(level if sides == "two" else 2 * level - 1)
    spread = z * math.sqrt(bound * (1 - bound)) + abs(float(special.ndtri(assurance))) * math.sqrt(leak_rate)
    about = bound * (spread / (bound - leak_rate)) ** 2
    if about > MOST_MISSES:
        raise ValueError(
            f"not feasible: a leak rate of {leak_rate:g} lies so near the bound of {bound:g} that over {MOST_MISSES} "
            "misses would have to be seen; plan for a higher bound"
        )
    low, high = (0, 64) if about < 256 else (int(0.7 * about), int(1.3 * about))
    while True:
        misses = np.arange(low, high + 1, dtype=np.float64)
        sizes = _sizes(misses, bound, level, sides, method)
        # With c misses allowed assurance falls from its peak at the first such size to its trough before c + 1.
        peaks = _at_most(misses[:-1], sizes[:-1], leak_rate)
        troughs = _at_most(misses[:-1], sizes[1:] - 1, leak_rate)
        enough, failing = np.flatnonzero(peaks >= assurance), np.flatnonzero(troughs < assurance)
        steady_at = int(failing[-1]) + 1 if failing.size else 0
        first = int(enough[0]) if enough.size else misses.size
        if low > 0 and first < 16:
            low = 0
        elif max(first, steady_at) > 0.8 * (high - low):
            high = 2 * high
        else:
            return low + first, int(sizes[first]), int(sizes[steady_at])


def _sizes(misses: Floats, bound: float, level: float, sides: Sides, method: Bound) -> Floats:
    """For each number of misses the fewest golds that keep the upper end at or under the bound."""
    if sides not in ("one", "two"):
        raise ValueError(f"sides must be one or two; got {sides!r}")
    tail = (1 - level) / 2 if sides == "two" else 1 - level
    if method == "wilson":
        # n b − x ≥ z √(n b (1 − b)), a quadratic in √n.
        z = z_critical(1 - 2 * tail)
        spread = z * math.sqrt(bound * (1 - bound))
        root = (spread + np.sqrt(spread**2 + 4 * bound * misses)) / (2 * bound)
        return np.maximum(np.ceil(root**2 - 1e-9 * root**2), misses + 1)
    if method != "clopper-pearson":
        raise ValueError(f"method must be wilson or clopper-pearson; got {method!r}")
    low, high = misses.copy(), misses + 1.0
    while (short := _at_most(misses, high, bound) > tail).any():
        low, high = np.where(short, high, low), np.where(short, 2 * high, high)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        enough = _at_most(misses, np.maximum(middle, misses + 1), bound) <= tail
        enough &= middle > misses
        low, high = np.where(enough | (high - low <= 1), low, middle), np.where(enough, middle, high)
    return high


def _at_most(misses: Floats, n: Floats, rate: float) -> Floats:
    """P(X ≤ misses) of a binomial count; all is certain when there are no more golds than misses."""
    if rate == 0:
        return np.ones(np.broadcast(misses, n).shape)
    rest = np.maximum(n - misses, 1e-300)
    return np.where(n > misses, special.betaincc(misses + 1, rest, rate), 1.0)


# ---- a gap in recall between two groups ------------------------------------------------------------------------------


class RecallGapSize(NamedTuple):
    """Golds and documents of either group with which a gap in recall is found."""

    pair: PairSize
    first: Clustered
    second: Clustered


def recall_gap_size(
    recall1: float,
    recall2: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    share: float = 0.5,
    method: Method = "pooled",
    design_effect: float = 1.0,
    golds_per_document: float = 1.0,
) -> RecallGapSize:
    """Golds and documents per group that tell two recalls (or leak rates) apart: `two_proportions`, times a deff.

    >>> plan = recall_gap_size(0.95, 0.90, design_effect=1.7, golds_per_document=8)
    >>> plan.first
    Clustered(independent=435, golds=739, documents=93)
    """
    pair = two_proportions(recall1, recall2, alpha=alpha, power=power, share=share, method=method)
    scale = {"design_effect": design_effect, "golds_per_document": golds_per_document}
    return RecallGapSize(pair, clustered(pair.n1, **scale), clustered(pair.n2, **scale))
