"""Kinds of systems compared (reasoning models against others, say): paired by case, with systems as a random factor.

Below five systems of a kind a difference says something of these systems and nothing of their kinds: it is shown and
called descriptive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from workup.metric import Metric
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.stats.crossed_effects import crossed_gap
from workup.stats.multiplicity import adjust

FEWEST_OF_A_KIND = 5


@dataclass(frozen=True)
class Tagged:
    """One system: its tags, and what it made of the cases."""

    name: str
    tags: Mapping[str, str]
    scores: Scores


def tag_contrasts(systems: Sequence[Tagged], metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    """Every two values of every tag, on every metric; p values adjusted by Holm over all that are tested."""
    rows = []
    for tag in sorted({tag for one in systems for tag in one.tags}):
        kinds: dict[str, list[Tagged]] = {}
        for one in systems:
            if tag in one.tags:
                kinds.setdefault(one.tags[tag], []).append(one)
        for first, second in combinations(sorted(kinds), 2):
            rows += [_row(tag, first, second, kinds[first], kinds[second], metric) for metric in metrics]
    tested = [row for row in rows if row["p"] is not None]
    for row, p in zip(tested, adjust([row["p"] for row in tested], method="holm"), strict=True):
        row["p_adjusted"] = float(p)
        row["verdict"] = "differ" if p < 0.05 else "no_clear_difference"
        if row["p"] < 0.05 <= p:
            row["reason"] += f"; clear by itself, but not among the {len(tested)} judged together (Holm)"
    return rows


def _row(
    tag: str, first: str, second: str, mine: Sequence[Tagged], theirs: Sequence[Tagged], metric: Metric
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "metric": metric.name,
        "slice": dict(metric.at),
        "tag": tag,
        "first": first,
        "second": second,
    }
    row |= {"systems": [len(mine), len(theirs)], **dict.fromkeys(("value", "low", "high", "p", "p_adjusted"))}
    row |= {"verdict": "not_assessed", "reason": "", "cases": 0}
    sides = [np.array([_by_case(one.scores, metric) for one in kind]) for kind in (mine, theirs)]
    known = np.isfinite(np.vstack(sides)).all(axis=0)
    row["cases"] = int(known.sum())
    if known.sum() < 2:
        return {**row, "reason": f"undefined on all but {int(known.sum())} of the cases: {metric.undefined}"}
    sides = [side[:, known] for side in sides]
    row["value"] = float(sides[1].mean() - sides[0].mean())
    fewest = min(len(mine), len(theirs))
    if fewest < FEWEST_OF_A_KIND:
        few = f"{fewest} of a kind; at least {FEWEST_OF_A_KIND} are needed to speak of kinds"
        return {**row, "verdict": "descriptive", "reason": few}
    found = crossed_gap(*sides)
    if found is None:
        return {**row, "reason": "every system answers every case alike"}
    return {**row, "low": found.low, "high": found.high, "p": found.p, "reason": f"t on {found.df:.1f} df"}


def _by_case(scores: Scores, metric: Metric) -> Floats:
    """The metric on each patient or cluster alone, in the order of their codes."""
    _, codes = np.unique(scores.patient, return_inverse=True)
    weights = (np.arange(codes.max() + 1)[:, None] == codes[None, :]) * scores.base_weight
    return np.asarray(metric.compute(scores, weights))
