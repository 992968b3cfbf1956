"""A plan for a gap between groups in a proportion, such as a sensitivity; the formulas are those of `workup.stats`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from workup.lenses.power.plans.directions import FEW_POINTS, POINTS, ByDirection, Sized, by_direction, curve
from workup.lenses.power.plans.groups import (
    WORDS,
    Adjust,
    Group,
    Of,
    Testing,
    family_of,
    requirement,
    resolved,
    stood_in,
)
from workup.lenses.power.plans.refusals import check_at_hand, one_of, refusing
from workup.lenses.power.plans.wording import alternative, at_hand, recorded, sentences
from workup.report import LensResult
from workup.stats.sizes.groups import pairs
from workup.stats.sizes.proportions import (
    Detectable,
    Method,
    detectable,
    detectable_gap,
    two_proportions,
    two_proportions_power,
    whole,
)
from workup.stats.sizes.simulated_power import family_power, family_size


def plan_proportions(
    p1: float,
    *,
    p2: float | None = None,
    difference: float | None = None,
    groups: int | Sequence[Group] = 2,
    prevalence: float | None = None,
    of: Of | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    allocation: float = 1.0,
    testing: Testing = "all-pairs",
    adjust: Adjust = "bonferroni",
    method: Method = "pooled",
    n: int | None = None,
    assurance: float | None = None,
    seed: int = 0,
) -> LensResult:
    """Rows and patients that tell two proportions apart, such as the sensitivity in two groups.

    `of` says which rows the proportion rests on: a sensitivity on positives (taken where a prevalence is known), a
    specificity on negatives, an accuracy on patients. With `n` rows per group at hand, also what they can show.

    >>> plan = plan_proportions(0.80, difference=0.05, prevalence=0.1)
    >>> plan.tables["requirement"][0]["needed"], plan.tables["requirement"][-1]["patients"]
    (1094, 21880)
    """
    kind = "proportions"
    found = resolved(groups, prevalence=prevalence, kind=kind)
    rests: Of = of or ("positives" if all(group.prevalence is not None for group in found) else "patients")
    one_of("of", rests, Of, kind=kind)
    one_of("method", method, Method, kind=kind)
    family = family_of(
        len(found), testing=testing, adjust=adjust, alpha=alpha, power=power, allocation=allocation, kind=kind
    )
    study = _Proportions(p1, len(found), family.alpha_each, power, allocation, method, testing == "gatekeeper", seed)
    plans = by_direction(p1, p2, difference, study.size, names=("p1", "p2", "difference"), kind=kind)
    sizes = [plans.needed.first, *(plans.needed.second for _ in found[1:])]
    with refusing(kind):
        tables = {
            "requirement": requirement(found, sizes, rests, assurance=assurance),
            "comparisons": family.rows(found),
            "alternatives": study.alternatives(plans),
            "curve": [row for name, one in plans.each.items() for row in study.curve(name, one, plans)],
            **({} if n is None else study.at_hand(plans, n)),
        }
    settings = {
        "kind": kind,
        "p1": p1,
        "p2": p2,
        "difference": difference,
        "of": rests,
        "method": "simulated" if testing == "gatekeeper" else method,
        **recorded(found, family, alpha, power, allocation, testing, adjust, n, assurance),
        "prevalence": stood_in(groups, prevalence),
    }
    what = {"positives": "a sensitivity of", "negatives": "a specificity of", "patients": "a proportion of"}[rests]
    notes = tuple(sentences(plans, settings, tables, words=WORDS[rests], what=what))
    return LensResult(lens="power", settings=settings, tables=tables, notes=notes)


class _Proportions:
    """The formulas of one plan for proportions, by closed form or, after a gatekeeper, by simulation."""

    def __init__(
        self,
        p1: float,
        groups: int,
        alpha: float,
        power: float,
        allocation: float,
        method: Method,
        gate: bool,
        seed: int,
    ) -> None:
        self.p1, self.groups, self.alpha, self.power = p1, groups, alpha, power
        self.allocation, self.method, self.gate, self.seed = allocation, method, gate, seed

    def size(self, other: float) -> Sized:
        """Rows for the first group at p1 and another at `other`."""
        if not self.gate:
            return self._closed(other, self.method)
        found = family_size(
            self._rates(other), shares=self._shares(), alpha=self.alpha, power=self.power, seed=self.seed
        )
        return Sized(other, found.sizes[0], found.sizes[-1])

    def reached(self, other: float, n: float) -> float:
        """Power with n rows in the first group and as many times `allocation` in every other."""
        if not self.gate:
            found = two_proportions_power(self.p1, other, n, n * self.allocation, alpha=self.alpha, method=self.method)
            return float(found)
        sizes = [whole(n * share) for share in self._shares()]
        return family_power(self._rates(other), sizes, alpha=self.alpha, seed=self.seed).weakest

    def smallest(self, n: float) -> Detectable:
        """The smallest gap that so many rows show."""
        if self.gate:
            return detectable(self.p1, lambda other: self.reached(other, n), power=self.power)
        return detectable_gap(self.p1, n, n * self.allocation, alpha=self.alpha, power=self.power, method=self.method)

    def alternatives(self, plans: ByDirection) -> list[dict[str, Any]]:
        """Every direction by every method, the one that was taken marked."""
        rows = []
        for direction, one in plans.each.items():
            for method in get_args(Method):
                sized = self._closed(one.other, method)
                taken = not self.gate and method == self.method and one == plans.needed
                rows.append(alternative(direction, self.p1, sized, method, taken))
            if self.gate:
                rows.append(alternative(direction, self.p1, one, "simulated", one == plans.needed))
        return rows

    def curve(self, direction: str, one: Sized, plans: ByDirection) -> list[dict[str, Any]]:
        """Power over rows of the first group, as far as for the direction that needs the most."""
        about = {"direction": direction, "first": self.p1, "other": one.other}
        reach = 2 * plans.needed.first / one.first
        points = FEW_POINTS if self.gate else POINTS  # each point after a gatekeeper is a simulation
        return curve(lambda n: self.reached(one.other, n), needed=one.first, about=about, reach=reach, points=points)

    def at_hand(self, plans: ByDirection, n: int) -> dict[str, Any]:
        """Power and smallest gap of the rows at hand."""
        check_at_hand(n, least=2, words=" in each group")
        return at_hand(plans, n, self.allocation, self.p1, self.reached, self.smallest(n))

    def _closed(self, other: float, method: Method) -> Sized:
        # Beside a simulated answer closed forms are given at Bonferroni's alpha, the nearest that they have to it.
        alpha = self.alpha / len(pairs(self.groups)) if self.gate else self.alpha
        found = two_proportions(
            self.p1, other, alpha=alpha, power=self.power, share=1 / (1 + self.allocation), method=method
        )
        return Sized(other, found.n1, found.n2)

    def _rates(self, other: float) -> tuple[float, ...]:
        return (self.p1,) * (self.groups - 1) + (other,)

    def _shares(self) -> tuple[float, ...]:
        return (1.0,) + (self.allocation,) * (self.groups - 1)
