"""A cohort's combinations of group levels, sites and months, and the cell each is drawn from. Draws no rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from workup.corpora.generate.cohort import cells, planted_truth
from workup.corpora.generate.cohort.plan import LEVERS, Change, CohortPlan
from workup.stats.arrays import Floats
from workup.stats.random import generator

_WHERE = "cohort plan"
_UNCHANGED = dict.fromkeys(LEVERS, 0.0)


@dataclass(frozen=True)
class Split:
    """One way in which rows differ: a group column, the site or the month."""

    kind: Literal["group", "site", "month"]
    name: str
    levels: tuple[str, ...]
    shares: Floats
    changes: Mapping[str, Floats]  # for each lever, what each level adds


@dataclass(frozen=True)
class Mix:
    """Every combination of levels, pointing to one of the distinct cells."""

    splits: tuple[Split, ...]
    cells: tuple[planted_truth.Cell, ...]
    cell: npt.NDArray[np.intp]  # one dimension for each split
    base: planted_truth.Cell

    @classmethod
    def of(cls, plan: CohortPlan, *, seed: int) -> Mix:
        """Solve each distinct set of figures once."""
        splits = (*_groups(plan), _sites(plan, seed), _months(plan))
        shape = tuple(len(split.levels) for split in splits)
        levers = np.zeros((*shape, len(LEVERS)))
        for k, lever in enumerate(LEVERS):
            for place, split in enumerate(splits):
                levers[..., k] += _along(place, split.changes[lever], len(splits))
        # Rounding makes sums that differ in their last bit the same cell.
        rows = np.round(levers.reshape(-1, len(LEVERS)), 10) + 0.0
        distinct, first, cell = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        solved: dict[int, planted_truth.Cell] = {}
        for one in np.argsort(first).tolist():  # the first combination that cannot be is the one to name
            row, at = distinct[one].tolist(), first[one]
            names = [split.levels[int(i)] for split, i in zip(splits, np.unravel_index(at, shape), strict=True)]
            where = _WHERE if len(distinct) == 1 else f"{_WHERE}, {', '.join(names)}"
            solved[one] = _solved(plan, dict(zip(LEVERS, row, strict=True)), where)
        found = tuple(solved[one] for one in range(len(distinct)))
        return cls(splits, found, cell.reshape(shape), _solved(plan, _UNCHANGED, _WHERE))

    def shares(self, split: int | None = None, *, level: int = 0) -> Floats:
        """How much of each cell there is, overall or within one level of a split."""
        weights = np.ones(self.cell.shape)
        for place, one in enumerate(self.splits):
            kept = np.eye(len(one.levels))[level] if place == split else one.shares
            weights = weights * _along(place, kept, len(self.splits))
        summed = np.bincount(self.cell.ravel(), weights=weights.ravel(), minlength=len(self.cells))
        return summed.astype(np.float64)


def _along(place: int, values: Floats, dimensions: int) -> Floats:
    """Values laid along one dimension of several."""
    return values.reshape([-1 if i == place else 1 for i in range(dimensions)])


def _target(plan: CohortPlan, added: Mapping[str, float]) -> cells.Target:
    return cells.Target(*(round(getattr(plan, name) + added[name], 10) for name in cells.Target._fields))


def _solved(plan: CohortPlan, added: Mapping[str, float], where: str) -> planted_truth.Cell:
    cell = cells.solve(_target(plan, added), where=where)
    return cell._replace(shift=cell.shift + added["outcome_log_odds"])


def _groups(plan: CohortPlan) -> Iterator[Split]:
    for column, levels in plan.groups.items():
        added = [asdict(plan.gaps.get((column, level), Change())) for level in levels]
        for level, change in zip(levels, added, strict=True):
            if change["sensitivity"]:
                change["in_the_large"] = _shift(plan, change, f"{_WHERE}, gaps, {column} {level}")
        changes = {lever: np.array([change[lever] for change in added], dtype=np.float64) for lever in LEVERS}
        yield Split("group", column, tuple(levels), np.array(list(levels.values()), dtype=np.float64), changes)


def _shift(plan: CohortPlan, change: Mapping[str, float], where: str) -> float:
    """The shift in the large that, with the gap's other changes, moves the sensitivity as asked."""
    threshold = plan.thresholds[0]
    wanted = cells.sensitivity(_solved(plan, _UNCHANGED, _WHERE), threshold) + change["sensitivity"]
    return cells.shift_for_sensitivity(_target(plan, change), wanted, threshold=threshold, where=where)


def _sites(plan: CohortPlan, seed: int) -> Split:
    spread = np.round(generator(seed, "cohort", "sites").standard_normal((plan.sites, 2)), 6)
    changes = {lever: np.zeros(plan.sites) for lever in LEVERS}
    changes["in_the_large"] = plan.site_in_the_large_sd * spread[:, 0]
    changes["slope"] = plan.site_slope_sd * spread[:, 1]
    return Split("site", "site", tuple(plan.site_names()), np.full(plan.sites, 1 / plan.sites), changes)


def _months(plan: CohortPlan) -> Split:
    steps = np.maximum(0, np.arange(1, plan.months + 1) - plan.drift_from + 1)
    if plan.drift_steps is not None:
        steps = np.minimum(steps, plan.drift_steps)
    changes = {lever: getattr(plan.drift, lever) * steps.astype(np.float64) for lever in LEVERS}
    return Split("month", "month", tuple(plan.month_names()), np.full(plan.months, 1 / plan.months), changes)
