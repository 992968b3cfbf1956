"""A plan for a gap in AUC between groups, or between two models of the same patients: Hanley and McNeil's variance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from workup.errors import InputError
from workup.lenses.power.plans.directions import ByDirection, Sized, by_direction, curve
from workup.lenses.power.plans.groups import (
    Adjust,
    Family,
    Group,
    Testing,
    family_of,
    requirement,
    resolved,
    stood_in,
)
from workup.lenses.power.plans.refusals import check_at_hand, one_of, refusing
from workup.lenses.power.plans.wording import alternative, at_hand, recorded, sentences
from workup.report import LensResult
from workup.stats.sizes import auc
from workup.stats.sizes.auc_variance import Shape
from workup.stats.sizes.proportions import detectable


def plan_auc(
    auc1: float,
    *,
    auc2: float | None = None,
    difference: float | None = None,
    prevalence: float | None = None,
    groups: int | Sequence[Group] = 2,
    correlation: float | None = None,
    scores: Shape = "exponential",
    alpha: float = 0.05,
    power: float = 0.8,
    allocation: float = 1.0,
    testing: Testing = "all-pairs",
    adjust: Adjust = "bonferroni",
    n: int | None = None,
    assurance: float | None = None,
) -> LensResult:
    """Patients that tell the AUCs of two groups apart; with `correlation`, of two models on the same patients.

    Groups of different patients have uncorrelated AUCs. `correlation` is that of the two estimated AUCs, for models.
    `scores` are taken as exponential (Hanley and McNeil's variance) or normal in either class.

    >>> plan_auc(0.80, auc2=0.85, prevalence=0.1).tables["requirement"][0]["patients"]
    4224
    """
    kind = "auc"
    _check(testing, paired=correlation is not None, grouped=groups != 2 or allocation != 1)
    found = resolved(groups, prevalence=prevalence, kind=kind)
    if any(group.prevalence is None for group in found):
        raise InputError("an AUC needs the prevalence of every group", where="plan auc", remedy="give --prevalence")
    family = family_of(
        len(found), testing=testing, adjust=adjust, alpha=alpha, power=power, allocation=allocation, kind=kind
    )
    one_of("scores", scores, Shape, kind=kind)
    study = _Aucs(auc1, found, family, power, allocation, correlation, scores)
    plans = by_direction(auc1, auc2, difference, study.size, names=("auc1", "auc2", "difference"), kind=kind)
    with refusing(kind):
        tables = {
            "requirement": study.requirement(plans, assurance),
            "comparisons": family.rows(found) if correlation is None else [],
            "alternatives": [row for name, one in plans.each.items() for row in study.alternatives(name, one, plans)],
            "curve": [row for name, one in plans.each.items() for row in study.curve(name, one, plans)],
            **({} if n is None else study.at_hand(plans, n)),
        }
    settings = {
        "kind": kind,
        "auc1": auc1,
        "auc2": auc2,
        "difference": difference,
        "correlation": correlation,
        "scores": scores,
        "of": "patients",
        "method": study.method,
        **recorded(
            found if correlation is None else (), family, alpha, power, allocation, testing, adjust, n, assurance
        ),
        "prevalence": stood_in(groups, prevalence),
    }
    notes = tuple(sentences(plans, settings, tables, words="patients", what="an AUC of"))
    return LensResult(lens="power", settings=settings, tables=tables, notes=notes)


def _check(testing: Testing, *, paired: bool, grouped: bool) -> None:
    if testing == "gatekeeper":
        raise InputError(
            "a gatekeeper is simulated for proportions, and for any metric from a pilot by the power lens",
            where="plan auc",
            got="testing gatekeeper",
            remedy="plan with all-pairs or versus-reference; at their alpha Holm has at least the planned power",
        )
    if paired and grouped:
        raise InputError(
            "a correlation is that of two models on the same patients, who are in no groups",
            where="plan auc",
            remedy="leave out the correlation (groups of different patients have none), or groups and allocation",
        )


class _Aucs:
    """The formulas of one plan for AUCs; groups may differ in prevalence, and then each pair has its own answer."""

    def __init__(
        self,
        auc1: float,
        groups: Sequence[Group],
        family: Family,
        power: float,
        allocation: float,
        correlation: float | None,
        scores: Shape,
    ) -> None:
        self.auc1, self.groups, self.family, self.power = auc1, groups, family, power
        self.allocation, self.correlation = allocation, correlation
        self.scores = scores
        self.method = _method(scores, correlation)

    def size(self, other: float) -> Sized:
        """Patients of the first group and of any other, for the pair that needs the most."""
        sizes = self._sizes(other, self.scores)
        return Sized(other, sizes[0], max(sizes[1:]))

    def requirement(self, plans: ByDirection, assurance: float | None) -> list[dict[str, Any]]:
        """Patients per group; two models share their patients."""
        sizes = self._sizes(plans.needed.other, self.scores)
        if self.correlation is None:
            return requirement(self.groups, sizes, "patients", assurance=assurance)
        both = Group("both models", None, self.groups[0].prevalence)
        return requirement([both], sizes[:1], "patients", assurance=assurance)

    def alternatives(self, direction: str, one: Sized, plans: ByDirection) -> list[dict[str, Any]]:
        """The direction under either shape of the risks, the one that was taken marked."""
        rows = []
        for shape in get_args(Shape):
            sizes = self._sizes(one.other, shape)
            sized = Sized(one.other, sizes[0], max(sizes[1:]))
            taken = shape == self.scores and one == plans.needed
            rows.append(alternative(direction, self.auc1, sized, _method(shape, self.correlation), taken))
        return rows

    def reached(self, other: float, n: float) -> float:
        """Power of the weakest comparison with n patients in the first group."""
        if self.correlation is not None:
            p = self._prevalence(0)
            return float(
                auc.auc_models_power(
                    self.auc1,
                    other,
                    correlation=self.correlation,
                    positives=n * p,
                    negatives=n * (1 - p),
                    alpha=self.family.alpha_each,
                    scores=self.scores,
                )
            )
        return min(self._pair_power(i, j, a, b, n) for i, j in self.family.pairs for a, b in self._sides(other))

    def curve(self, direction: str, one: Sized, plans: ByDirection) -> list[dict[str, Any]]:
        """Power of the weakest comparison over patients of the first group."""
        about = {"direction": direction, "first": self.auc1, "other": one.other}
        needed, most = (max(sized.first, sized.second / self.allocation) for sized in (one, plans.needed))
        return curve(lambda n: self.reached(one.other, n), needed=needed, about=about, reach=2 * most / needed)

    def at_hand(self, plans: ByDirection, n: int) -> dict[str, Any]:
        """Power and smallest gap of the patients at hand."""
        check_at_hand(n, least=2, words=" in each group")
        smallest = detectable(self.auc1, lambda other: self.reached(other, n), power=self.power)
        return at_hand(plans, n, self.allocation, self.auc1, self.reached, smallest)

    def _sizes(self, other: float, scores: Shape) -> list[float]:
        """Patients of every group: the most that any of its comparisons asks for."""
        alpha, sizes = self.family.alpha_each, [0.0] * len(self.groups)
        if self.correlation is not None:
            found = auc.auc_models(
                self.auc1,
                other,
                correlation=self.correlation,
                prevalence=self._prevalence(0),
                alpha=alpha,
                power=self.power,
                scores=scores,
            )
            return [found.n1] * len(sizes)
        for i, j in self.family.pairs:
            for a, b in self._sides(other):
                found = auc.auc_groups(
                    a,
                    b,
                    prevalence=self._prevalence(i),
                    prevalence2=self._prevalence(j),
                    share=1 / (1 + self.allocation),
                    alpha=alpha,
                    power=self.power,
                    scores=scores,
                )
                sizes[i], sizes[j] = max(sizes[i], found.n1), max(sizes[j], found.n2)
        return sizes

    def _sides(self, other: float) -> list[tuple[float, float]]:
        """Which group has which AUC: the reference has the first, and among equals either may."""
        either = len(self.family.pairs) >= len(self.groups) > 2
        return [(self.auc1, other), (other, self.auc1)] if either else [(self.auc1, other)]

    def _pair_power(self, i: int, j: int, a: float, b: float, n: float) -> float:
        p, q, m = self._prevalence(i), self._prevalence(j), n * self.allocation
        found = auc.auc_groups_power(
            a,
            b,
            positives=n * p,
            negatives=n * (1 - p),
            positives2=m * q,
            negatives2=m * (1 - q),
            alpha=self.family.alpha_each,
            scores=self.scores,
        )
        return float(found)

    def _prevalence(self, group: int) -> float:
        found = self.groups[group].prevalence
        assert found is not None
        return found


def _method(scores: Shape, correlation: float | None) -> str:
    name = "normal risks" if scores == "normal" else "Hanley and McNeil"
    return name if correlation is None else f"{name}, paired"
