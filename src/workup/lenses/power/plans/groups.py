"""The groups a plan is made for: rows each needs, patients that hold them, and who is compared with whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from workup.errors import InputError
from workup.lenses.power.plans.refusals import attainable, one_of, refusing
from workup.stats.sizes import groups as group_size
from workup.stats.sizes.proportions import check_error_rates, inside, whole

Of = Literal["positives", "negatives", "patients"]
Testing = Literal["all-pairs", "versus-reference", "gatekeeper"]
Adjust = Literal["bonferroni", "holm", "none"]
TOTAL, EVERYONE = "total", "everyone"  # names that rows of a plan have for more than a group
EVERYTHING = "all"  # the one row of a plan that is not for patients
MOST_GROUPS = 100
LEAST_ALPHA = 1e-10  # of one comparison; below it a normal quantile has few digits left
MOST_UNEQUAL = 1000.0  # patients of one group for each of another
WORDS = {"positives": "patients with the outcome", "negatives": "patients without the outcome", "patients": "patients"}
NO_PREVALENCE = "no prevalence was given, so patients cannot be counted from these rows"


@dataclass(frozen=True)
class Group:
    """A group of patients: its share of those enrolled, and how common the outcome is in it, where that is known."""

    name: str
    share: float | None = None
    prevalence: float | None = None


def resolved(groups: int | Sequence[Group], *, prevalence: float | None, kind: str) -> tuple[Group, ...]:
    """Groups with names and prevalences of their own; a number stands for so many alike.

    >>> [group.name for group in resolved(3, prevalence=None, kind="auc")]
    ['group 1', 'group 2', 'group 3']
    """
    count = groups if isinstance(groups, int) else len(groups)
    if count > MOST_GROUPS:
        raise InputError(f"at most {MOST_GROUPS} groups can be planned for", where=f"plan {kind}", got=str(count))
    if isinstance(groups, int):
        groups = tuple(Group(f"group {i + 1}") for i in range(groups))
    if len(groups) < 2:
        raise InputError("a comparison needs at least two groups", where=f"plan {kind}", got=str(len(groups)))
    if len({group.name for group in groups}) < len(groups) or {TOTAL, EVERYONE} & {group.name for group in groups}:
        raise InputError(
            f"every group needs a name of its own, other than '{TOTAL}' and '{EVERYONE}'", where=f"plan {kind}"
        )
    with_share = [group for group in groups if group.share is not None]
    if with_share and len(with_share) < len(groups):
        raise InputError(
            "either every group has a share or none", where=f"plan {kind}", remedy="write name:share for each"
        )
    with refusing(kind):
        for group in groups:
            if group.share is not None:
                inside(f"the share of '{group.name}'", group.share)
        for value in (prevalence, *(group.prevalence for group in groups)):
            if value is not None:
                inside("prevalence", value)
        if sum(group.share or 0.0 for group in groups) > 1 + 1e-9:
            raise ValueError(f"the shares of the groups add to {sum(g.share or 0.0 for g in groups):g}, more than 1")
    return tuple(
        Group(group.name, group.share, prevalence if group.prevalence is None else group.prevalence) for group in groups
    )


def stood_in(groups: int | Sequence[Group], prevalence: float | None) -> float | None:
    """The prevalence that stands in for groups that name none; None where every group names its own."""
    own = not isinstance(groups, int) and all(group.prevalence is not None for group in groups)
    return None if own else prevalence


class Family(NamedTuple):
    """The planned comparisons as pairs of places, and the alpha of each."""

    pairs: tuple[tuple[int, int], ...]
    alpha_each: float
    stepwise: bool = False

    def rows(self, groups: Sequence[Group]) -> list[dict[str, Any]]:
        """As the record holds them."""
        alpha = None if self.stepwise else self.alpha_each
        return [{"group": groups[j].name, "against": groups[i].name, "alpha": alpha} for i, j in self.pairs]


def family_of(
    count: int, *, testing: Testing, adjust: Adjust, alpha: float, power: float, allocation: float, kind: str
) -> Family:
    """Who is compared with whom at which alpha; after a gatekeeper Holm shares alpha out as it goes."""
    one_of("testing", testing, Testing, kind=kind)
    one_of("adjust", adjust, Adjust, kind=kind)
    if not 1 / MOST_UNEQUAL <= allocation <= MOST_UNEQUAL:
        raise InputError(
            f"allocation must be a positive number from {1 / MOST_UNEQUAL:g} to {MOST_UNEQUAL:g}",
            where=f"plan {kind}",
            got=f"{allocation:g}",
        )
    if allocation != 1 and count > 2 and testing != "versus-reference":
        raise InputError(
            "an allocation other than 1 sets the other groups against the first",
            where=f"plan {kind}",
            got=f"{count} groups compared {testing}",
            remedy="use versus-reference, or allocation 1",
        )
    layout: group_size.Testing = "versus-reference" if testing == "versus-reference" else "all-pairs"
    with refusing(kind):
        check_error_rates(alpha, power)
        found = group_size.family(count, testing=layout, alpha=alpha, correction=adjust)
        if found.alpha_each < LEAST_ALPHA:
            raise ValueError(f"alpha of a comparison must be at least {LEAST_ALPHA:g}; got {found.alpha_each:g}")
        pairs = tuple(group_size.pairs(count, testing=layout))
    stepwise = testing == "gatekeeper"
    return Family(pairs, alpha if stepwise else found.alpha_each, stepwise)


def requirement(
    groups: Sequence[Group], sizes: Sequence[float], of: Of, *, assurance: float | None
) -> list[dict[str, Any]]:
    """Rows and patients per group and in total; enrolled as they come where shares are known, the rarest decides."""
    if assurance is not None and of == "patients" and all(group.share is None for group in groups):
        raise ValueError("an assurance has nothing to act on: patients are counted one by one, and no shares are given")
    needed = [attainable(whole(size), WORDS[of]) for size in sizes]
    patients = [_patients(group, n, of, assurance) for group, n in zip(groups, needed, strict=True)]
    total = _enrolled(groups, needed, of, assurance)
    attainable(max(total or 0, *(n or 0 for n in patients), 0), WORDS["patients"])
    rows = []
    for group, n, own in zip(groups, needed, patients, strict=True):
        share = group.share
        come = None if total is None or share is None else round(total * share)
        shown = come if come is not None else own
        rows.append(
            {
                "group": group.name,
                "share": share,
                "prevalence": group.prevalence,
                "needed": n,
                "patients": own,
                "enrolled": come,
                **_classes(group, shown),
                "status": "ok" if own is not None else "undefined",
                "reason": None if own is not None else NO_PREVALENCE,
            }
        )
    return [*rows, _sum(rows, total)]


def _patients(group: Group, n: int, of: Of, assurance: float | None) -> int | None:
    if of == "patients":
        return n
    if group.prevalence is None:
        return None
    positives, negatives = (n, 0) if of == "positives" else (0, n)
    return group_size.patients_for(positives, negatives, prevalence=group.prevalence, assurance=assurance)[0]


def _enrolled(groups: Sequence[Group], needed: Sequence[int], of: Of, assurance: float | None) -> int | None:
    """Patients enrolled as they come until every group has its number."""
    totals = []
    for group, n in zip(groups, needed, strict=True):
        if group.share is None or (of != "patients" and group.prevalence is None):
            return None
        chance = {"patients": 1.0, "positives": group.prevalence, "negatives": 1 - (group.prevalence or 0.0)}[of]
        totals.append(group_size.trials_for(n, group.share * (chance or 0.0), assurance=assurance))
    return max(totals)


def _classes(group: Group, patients: int | None) -> dict[str, float | None]:
    if patients is None or group.prevalence is None:
        return {"positives": None, "negatives": None}
    return {"positives": patients * group.prevalence, "negatives": patients * (1 - group.prevalence)}


def _sum(rows: Sequence[Mapping[str, Any]], enrolled: int | None) -> dict[str, Any]:
    def added(field: str) -> Any:
        values = [row[field] for row in rows]
        return None if any(value is None for value in values) else sum(values)

    sums = {field: added(field) for field in ("needed", "patients", "positives", "negatives")}
    known = sums["patients"] is not None
    return {
        "group": TOTAL,
        "share": None,
        "prevalence": None,
        **sums,
        "enrolled": enrolled,
        "status": "ok" if known else "undefined",
        "reason": None if known else NO_PREVALENCE,
    }
