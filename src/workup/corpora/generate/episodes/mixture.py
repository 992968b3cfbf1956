"""The truth of a mixture of stays: overall, by site, by group, and by period where a fault begins within the study."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.corpora.generate.episodes import planted_truth
from workup.corpora.generate.episodes.plan import EpisodesPlan
from workup.corpora.generate.episodes.planted_truth import Line
from workup.corpora.generate.episodes.scorer import Scorer
from workup.corpora.generate.episodes.stays import Stays, beginnings, standing
from workup.stats.arrays import Floats

_Means = Mapping[str, Floats]


def truth_of(count: int, seed: int, plan: EpisodesPlan, line: Line, stays: Stays) -> dict[str, Any]:
    """Overall, for every level of site and group, and for every period that a fault divides, as plain data.

    Shares of levels are the plan's. How many stays begin in a period is not planned, so those shares are as drawn.
    """
    splits = plan.splits()
    begun = beginnings(plan)
    periods = np.bincount(stays.periods(plan), minlength=len(begun) + 1) / len(stays)
    cells = list(itertools.product(range(len(periods)), *(range(len(levels)) for levels in splits.values())))
    shares = np.array([_share_of(cell, periods, splits) for cell in cells])
    counts = _Counts(plan, line)
    kinds = [counts.of(_kind(cell, plan, splits, begun)) for cell in cells]

    def part(chosen: npt.NDArray[np.bool_]) -> dict[str, Any]:
        weights = np.where(chosen, shares, 0.0)
        share = float(weights.sum())
        return {"share": round(share, 10), **counts.mixed(kinds, weights / share if share else weights)}

    places = np.array(cells)
    every = np.ones(len(cells), dtype=bool)
    levels = {
        name: {level: part(places[:, axis] == number) for number, level in enumerate(of)}
        for axis, (name, of) in enumerate(splits.items(), start=1)
    }
    found = {
        "generator": "episodes",
        "count": count,
        "seed": seed,
        "plan": plan.as_dict(),
        "model": {"intercept": line.intercept, "slope": line.slope},
        "overall": part(every),
        "sites": levels.pop("site"),
        "groups": levels,
    }
    if begun:
        names = [f"from month {month}" for month in (1, *begun)]
        found["periods"] = {name: part(places[:, 0] == number) for number, name in enumerate(names)}
    return found


def _share_of(cell: tuple[int, ...], periods: Floats, splits: Mapping[str, Mapping[str, float]]) -> float:
    shares = [list(levels.values())[level] for levels, level in zip(splits.values(), cell[1:], strict=True)]
    return float(periods[cell[0]] * np.prod(shares))


def _kind(
    cell: tuple[int, ...], plan: EpisodesPlan, splits: Mapping[str, Mapping[str, float]], begun: list[int]
) -> int:
    """Which faults stand in a cell, as bits."""
    month = (1, *begun)[cell[0]]
    here = {name: list(levels)[level] for (name, levels), level in zip(splits.items(), cell[1:], strict=True)}
    return sum(
        1 << place
        for place, fault in enumerate(plan.faults)
        if month >= fault.from_month and all(here[name] == level for name, level in fault.where.items())
    )


class _Counts:
    """Mean counts of a stay by the faults that stand in it, each worked out once."""

    def __init__(self, plan: EpisodesPlan, line: Line) -> None:
        self.plan, self.line = plan, line
        self._known: dict[int, tuple[_Means, ...]] = {}

    def of(self, kind: int) -> tuple[_Means, ...]:
        """Those that need no threshold, then those at each."""
        if kind not in self._known:
            scorer = Scorer.of(self.plan, standing(self.plan, kind))
            alarmed = (planted_truth.alarmed(self.plan, scorer, self.line, one) for one in self.plan.thresholds)
            self._known[kind] = (planted_truth.watched(self.plan, scorer), *alarmed)
        return self._known[kind]

    def mixed(self, kinds: Sequence[tuple[_Means, ...]], weights: Floats) -> dict[str, Any]:
        """The figures of a mixture of stays."""
        stay, *alarmed = (_weighted(means, weights) for means in zip(*kinds, strict=True))
        return planted_truth.figures(self.plan, stay, dict(zip(self.plan.thresholds, alarmed, strict=True)))


def _weighted(means: Sequence[_Means], weights: Floats) -> _Means:
    return {name: np.asarray(np.tensordot(weights, np.stack([one[name] for one in means]), 1)) for name in means[0]}
