"""Power of comparing several groups' proportions by a whole procedure, simulated because no closed form has it.

Knows counts and tests only. Procedures: "gatekeeper" (a chi-square test of all groups must reject first, then Holm over
the planned pairs), "holm" and "bonferroni" alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Bools, Floats
from workup.stats.random import generator
from workup.stats.sizes.groups import Testing, pairs
from workup.stats.sizes.proportions import check_error_rates, inside, two_proportions, whole

Procedure = Literal["gatekeeper", "holm", "bonferroni"]
Goal = Literal["weakest", "any", "all"]

PROCEDURES = ("gatekeeper", "holm", "bonferroni")
GOALS = ("weakest", "any", "all")
MOST = 10**8  # rows of the smallest group; what needs more is called infeasible


class FamilyPower(NamedTuple):
    """What a procedure finds, as shares of simulated studies.

    A true gap is a planned pair whose rates differ. `weakest`: the true gap found least often; `any`: at least one true
    gap found; `all`: every one found. NaN when no pair differs. `any_false`: some pair of equal rates declared
    different. `se` is the Monte-Carlo standard error of the share nearest to a half.
    """

    weakest: float
    any: float
    all: float
    any_false: float
    omnibus: float
    each: tuple[float, ...]
    pairs: tuple[tuple[int, int], ...]
    true_gaps: int
    se: float
    repetitions: int


class FamilySize(NamedTuple):
    """Rows per group with which a procedure reaches its goal, and what it reaches there."""

    sizes: tuple[int, ...]
    goal: Goal
    reached: FamilyPower

    @property
    def total(self) -> int:
        """Rows of all groups."""
        return sum(self.sizes)


def one_apart(p: float, gap: float, groups: int) -> tuple[float, ...]:
    """Rates of groups of which the last alone differs, by `gap` (signed): the usual worst case of a plan.

    >>> one_apart(0.80, -0.10, 3)
    (0.8, 0.8, 0.7)
    """
    inside("p", p)
    if groups < 2:
        raise ValueError(f"a comparison needs at least 2 groups; got {groups}")
    other = inside("p + gap", round(p + gap, 12))
    return (p,) * (groups - 1) + (other,)


def family_power(
    rates: Sequence[float],
    sizes: Sequence[int],
    *,
    testing: Testing = "all-pairs",
    procedure: Procedure = "gatekeeper",
    alpha: float = 0.05,
    seed: int,
    repetitions: int = 40_000,
) -> FamilyPower:
    """Simulated power with these rates and rows per group; pairs are tested by the pooled two-sided z test.

    The same seed draws the same patients for every procedure and, up to their number, for every size.

    >>> found = family_power((0.8, 0.8, 0.7), (400, 400, 400), seed=1, repetitions=2000)
    >>> found.true_gaps, found.all < found.weakest < found.any
    (2, True)
    """
    uniform = _uniform(rates, sizes, seed, repetitions)
    return _found(rates, sizes, uniform, testing=testing, procedure=procedure, alpha=alpha)


def family_size(
    rates: Sequence[float],
    *,
    testing: Testing = "all-pairs",
    procedure: Procedure = "gatekeeper",
    goal: Goal = "weakest",
    shares: Sequence[float] | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    seed: int,
    repetitions: int = 40_000,
) -> FamilySize:
    """The rows per group with which the simulated power reaches the goal; `shares` are the groups' parts (else equal).

    Every size is judged on the same random numbers, so power hardly wavers from size to size and a search by halves
    finds the step; the answer still carries the Monte-Carlo error that `reached.se` states.

    >>> family_size((0.8, 0.8, 0.7), seed=1, repetitions=1000).sizes[0] in range(340, 420)
    True
    """
    check_error_rates(alpha, power)
    if goal not in GOALS:
        raise ValueError(f"goal must be one of {', '.join(GOALS)}; got {goal!r}")
    parts = np.ones(len(rates)) if shares is None else np.asarray(shares, dtype=np.float64)
    if parts.size != len(rates) or not (parts > 0).all():
        raise ValueError(f"shares must be {len(rates)} positive numbers, one per group")
    parts = parts / parts.min()
    planned = pairs(len(rates), testing=testing)
    true = [(rates[i], rates[j]) for i, j in planned if rates[i] != rates[j]]
    if not true:
        raise ValueError("all compared groups have the same rate: there is no gap to find")
    uniform = _uniform(rates, [1] * len(rates), seed, repetitions)
    tried: dict[int, FamilyPower] = {}

    def reached(n: int) -> float:
        sizes = [whole(n * part) for part in parts]
        tried[n] = _found(rates, sizes, uniform, testing=testing, procedure=procedure, alpha=alpha)
        return float(getattr(tried[n], goal))

    low, high = 1, max(2, max(two_proportions(*pair, alpha=alpha, power=power).first for pair in true))
    while reached(high) < power:
        if high > MOST:
            raise ValueError(f"not feasible: power {power:g} is not reached with {MOST} rows in the smallest group")
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) >= power else (middle, high)
    return FamilySize(tuple(whole(high * part) for part in parts), goal, tried[high])


def declared(
    counts: npt.NDArray[np.integer],
    sizes: Sequence[int],
    *,
    testing: Testing = "all-pairs",
    procedure: Procedure = "gatekeeper",
    alpha: float = 0.05,
) -> Bools:
    """Which planned pairs a procedure declares different, for every study in counts[study, group]."""
    if procedure not in PROCEDURES:
        raise ValueError(f"procedure must be one of {', '.join(PROCEDURES)}; got {procedure!r}")
    p = _pair_p(counts, sizes, pairs(len(sizes), testing=testing))
    if procedure == "bonferroni":
        return np.asarray(p * p.shape[1] <= alpha)
    found = holm(p, alpha)
    return found & _omnibus(counts, sizes, alpha)[:, None] if procedure == "gatekeeper" else found


def _found(
    rates: Sequence[float],
    sizes: Sequence[int],
    uniform: Floats,
    *,
    testing: Testing,
    procedure: Procedure,
    alpha: float,
) -> FamilyPower:
    inside("alpha", alpha)
    counts = np.column_stack(
        [_binomial(uniform[:, k], n, rate) for k, (n, rate) in enumerate(zip(sizes, rates, strict=True))]
    )
    planned = pairs(len(rates), testing=testing)
    true = np.array([rates[i] != rates[j] for i, j in planned])
    flags = declared(counts, sizes, testing=testing, procedure=procedure, alpha=alpha)
    each = flags.mean(axis=0)
    hits, false = flags[:, true], flags[:, ~true]
    some, every, least = (
        (float(hits.any(axis=1).mean()), float(hits.all(axis=1).mean()), float(each[true].min()))
        if true.any()
        else (math.nan, math.nan, math.nan)
    )
    worst = min(
        (share for share in (some, every, least) if math.isfinite(share)), key=lambda s: abs(s - 0.5), default=0.5
    )
    return FamilyPower(
        weakest=least,
        any=some,
        all=every,
        any_false=float(false.any(axis=1).mean()) if false.shape[1] else 0.0,
        omnibus=float(_omnibus(counts, sizes, alpha).mean()),
        each=tuple(each.tolist()),
        pairs=tuple(planned),
        true_gaps=int(true.sum()),
        se=math.sqrt(worst * (1 - worst) / len(counts)),
        repetitions=len(counts),
    )


def _uniform(rates: Sequence[float], sizes: Sequence[int], seed: int, repetitions: int) -> Floats:
    if len(rates) < 2 or len(rates) != len(sizes):
        raise ValueError(
            f"every group needs a rate and a size, of at least 2 groups; got {len(rates)} and {len(sizes)}"
        )
    for rate in rates:
        inside("rate", rate)
    if min(sizes) < 1 or repetitions < 1:
        raise ValueError("sizes and repetitions must be at least 1")
    return generator(seed, "power of a family", len(rates)).random((repetitions, len(rates)))


def _binomial(uniform: Floats, n: int, p: float) -> npt.NDArray[np.int64]:
    """Binomial counts as quantiles of uniform numbers: those of neighbouring sizes go together."""
    spread = 12 * math.sqrt(n * p * (1 - p)) + 12
    first, last = max(0, math.floor(n * p - spread)), min(n, math.ceil(n * p + spread))
    k = np.arange(first, last, dtype=np.float64)
    below = special.betaincc(k + 1, n - k, p)  # P(X ≤ k) for k < n
    return first + np.searchsorted(below, uniform, side="left")


def _omnibus(counts: npt.NDArray[np.integer], sizes: Sequence[int], alpha: float) -> Bools:
    n = np.asarray(sizes, dtype=np.float64)
    pooled = counts.sum(axis=1) / n.sum()
    spread = pooled * (1 - pooled)
    gap = np.sum((counts / n - pooled[:, None]) ** 2 * n, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = special.chdtrc(len(sizes) - 1, gap / spread)
    return np.asarray((spread > 0) & (p <= alpha))


def _pair_p(counts: npt.NDArray[np.integer], sizes: Sequence[int], planned: Sequence[tuple[int, int]]) -> Floats:
    """P values of pooled z tests; 1 where both groups have all or none, which shows nothing."""
    i, j = (np.array(side) for side in zip(*planned, strict=True))
    n = np.asarray(sizes, dtype=np.float64)
    pooled = (counts[:, i] + counts[:, j]) / (n[i] + n[j])
    se = np.sqrt(pooled * (1 - pooled) * (1 / n[i] + 1 / n[j]))
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.abs(counts[:, i] / n[i] - counts[:, j] / n[j]) / se
    return np.where(se > 0, 2 * special.ndtr(-z), 1.0)


def holm(p: Floats, alpha: float) -> Bools:
    """Holm's steps for every row at once: a step counts only when all before it rejected."""
    order = np.argsort(p, axis=1, kind="stable")
    steps = np.take_along_axis(p, order, axis=1) * np.arange(p.shape[1], 0, -1)
    ordered = np.logical_and.accumulate(steps <= alpha, axis=1)
    flags = np.empty_like(ordered)
    np.put_along_axis(flags, order, ordered, axis=1)
    return flags
