"""From rows of a class to patients of a population, and from one comparison to several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from scipy import special

from workup.stats.sizes.proportions import inside, whole

Testing = Literal["all-pairs", "versus-reference"]
Correction = Literal["bonferroni", "holm", "none"]


class Need(NamedTuple):
    """What one group must hold, how common the outcome is in it, and its share of the patients to be enrolled."""

    group: str
    positives: float
    negatives: float
    prevalence: float
    share: float = 1.0


class GroupPatients(NamedTuple):
    """Patients of one group: needed by itself (`patients`), enrolled when all groups are served (`enrolled`)."""

    group: str
    patients: int
    limited_by: Literal["positives", "negatives"]
    enrolled: int
    positives_expected: float
    negatives_expected: float
    total_needed: int


class Population(NamedTuple):
    """Patients in total so that every group reaches its need, the group that decides it, and each group's part."""

    total: int
    decided_by: str
    groups: tuple[GroupPatients, ...]


def patients_for(
    positives: float, negatives: float, *, prevalence: float, assurance: float | None = None
) -> tuple[int, Literal["positives", "negatives"]]:
    """Patients that hold so many of both classes, and the class that decides it.

    Without `assurance` they do so on average; with it, with that probability for each class (binomial).

    >>> patients_for(906, 0, prevalence=0.1)
    (9060, 'positives')
    """
    inside("prevalence", prevalence)
    if min(positives, negatives) < 0:
        raise ValueError(f"positives and negatives needed cannot be negative; got {positives:g} and {negatives:g}")
    by_positives = trials_for(positives, prevalence, assurance=assurance)
    by_negatives = trials_for(negatives, 1 - prevalence, assurance=assurance)
    return (by_positives, "positives") if by_positives >= by_negatives else (by_negatives, "negatives")


def trials_for(successes: float, chance: float, *, assurance: float | None = None) -> int:
    """Trials with so many successes on average, or (`assurance`) with at least that probability.

    >>> trials_for(10, 0.5), trials_for(10, 0.5, assurance=0.9)
    (20, 26)
    """
    inside("chance", chance, high=1.0 + 1e-12)
    if successes <= 0:
        return 0
    needed = whole(successes)
    if assurance is None:
        return whole(successes / chance)
    inside("assurance", assurance)

    def enough(trials: int) -> bool:
        return trials >= needed and float(special.bdtr(needed - 1, trials, chance)) <= 1 - assurance

    low, high = needed - 1, max(needed, whole(successes / chance))
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def population(needs: Sequence[Need], *, assurance: float | None = None) -> Population:
    """Patients to enrol so that EVERY group reaches its need; groups may differ in prevalence and in share.

    Shares are parts of the patients enrolled and need not add to 1 (others may be enrolled too), but not to more.

    >>> plan = population([Need("A", 100, 0, 0.1, 0.9), Need("B", 100, 0, 0.1, 0.1)])
    >>> plan.total, plan.decided_by, [one.enrolled for one in plan.groups]
    (10000, 'B', [9000, 1000])
    """
    if not needs:
        raise ValueError("no group was given")
    names = [need.group for need in needs]
    if len(set(names)) < len(names):
        raise ValueError("every group must be named once")
    for need in needs:
        inside(f"share of group {need.group}", need.share, high=1.0 + 1e-12)
    if sum(need.share for need in needs) > 1 + 1e-9:
        raise ValueError(f"shares of the groups add to {sum(need.share for need in needs):g}, more than 1")
    totals = [_total(need, assurance) for need in needs]
    total = max(totals)
    groups = []
    for need, alone in zip(needs, totals, strict=True):
        patients, limited_by = patients_for(
            need.positives, need.negatives, prevalence=need.prevalence, assurance=assurance
        )
        expected = total * need.share
        groups.append(
            GroupPatients(
                need.group,
                patients,
                limited_by,
                math.floor(expected + 1e-9),
                expected * need.prevalence,
                expected * (1 - need.prevalence),
                alone,
            )
        )
    return Population(total, names[totals.index(total)], tuple(groups))


def _total(need: Need, assurance: float | None) -> int:
    by_positives = trials_for(need.positives, need.share * need.prevalence, assurance=assurance)
    return max(by_positives, trials_for(need.negatives, need.share * (1 - need.prevalence), assurance=assurance))


class Family(NamedTuple):
    """The comparisons planned and the alpha each is planned at.

    `alpha_each` is that of Bonferroni. Holm tests the smallest p at the same alpha/m and later ones at alpha/(m − 1) …
    alpha, so a comparison planned at alpha/m has at least its planned power under Holm whatever the others do; Holm
    therefore plans at `alpha_each` too, and what it gains is in `alpha_last` (all others already declared). The power
    to declare at least one or all true gaps is that of `simulated_power`. `alpha_sidak` is shown, not used: with
    dependent comparisons it is not proven.
    """

    testing: Testing
    correction: Correction
    groups: int
    comparisons: int
    alpha: float
    alpha_each: float
    alpha_last: float
    alpha_sidak: float


def family(
    groups: int, *, testing: Testing = "all-pairs", alpha: float = 0.05, correction: Correction = "bonferroni"
) -> Family:
    """How many comparisons g groups make, all pairs or each with a reference, and the alpha of each.

    >>> plan = family(5)
    >>> plan.comparisons, plan.alpha_each, round(plan.alpha_sidak, 6)
    (10, 0.005, 0.005116)
    """
    inside("alpha", alpha)
    if groups < 2:
        raise ValueError(f"a comparison needs at least 2 groups; got {groups}")
    if correction not in ("bonferroni", "holm", "none"):
        raise ValueError(f"correction must be bonferroni, holm or none; got {correction!r}")
    m = len(pairs(groups, testing=testing))
    each = alpha if correction == "none" else alpha / m
    last = alpha if correction == "holm" else each
    return Family(testing, correction, groups, m, alpha, each, last, -math.expm1(math.log1p(-alpha) / m))


def pairs(groups: int, *, testing: Testing = "all-pairs") -> list[tuple[int, int]]:
    """The planned comparisons as places of groups; the reference is the first.

    >>> pairs(3), pairs(3, testing="versus-reference")
    ([(0, 1), (0, 2), (1, 2)], [(0, 1), (0, 2)])
    """
    if testing == "all-pairs":
        return [(i, j) for i in range(groups) for j in range(i + 1, groups)]
    if testing == "versus-reference":
        return [(0, j) for j in range(1, groups)]
    raise ValueError(f"testing must be all-pairs or versus-reference; got {testing!r}")
