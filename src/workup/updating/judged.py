"""What an update is worth on the rows that judge it: figures, paired differences by patients, groups, a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from workup.estimate import EVERYTHING, Draws, Estimate, estimate, slices_by
from workup.lenses.paired import compare_scores
from workup.lenses.withholding import withhold
from workup.metric import Metric
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.stats.intervals import Ends
from workup.stats.updating import moved
from workup.tasks.risk.settings import RiskStudy
from workup.tasks.risk.updating.procedure import Mending
from workup.updating.honest import FOLDS, Honest

LEVEL = 0.95
MARGIN = 0.2  # of O/E from 1 that a group may have, where the study's subgroups lens names none
SHOWN = ("brier", "oe_ratio", "calibration_in_the_large", "calibration_slope")
Verdict = Literal["better", "worse", "no gain shown", "none needed"]
_DISTANCE = "oe_distance"


def metrics_of(task: Any, study: RiskStudy, scores: Scores, names: Sequence[str]) -> list[Metric]:
    found = {metric.name: metric for metric in task.metrics(scores, study) if not metric.at}
    return [found[name] for name in names]


def figures_of(
    task: Any, study: RiskStudy, honest: Honest, apparent: Scores, mending: Mending, draws: Draws
) -> dict[str, list[Estimate]]:
    """The same figures of the original, of the update on others, and of the update on those who made it."""
    # What keeps the order of risks cannot change the AUROC: a change would be noise that looks like news.
    names = SHOWN if mending.keeps_order else (*SHOWN, "auroc")

    def of(scores: Scores, drawn: Draws) -> list[Estimate]:
        return estimate(scores, metrics_of(task, study, scores, names), (EVERYTHING,), draws=drawn, levels=(LEVEL,))

    seen = of(apparent, draws)
    updated = of(honest.updated, honest.draws)
    if honest.apparent is not None:
        scale = {metric.name: metric.scale for metric in metrics_of(task, study, apparent, names)}
        updated = [_moved(own, beside, scale[own.metric]) for own, beside in zip(updated, seen, strict=True)]
    return {"original": of(honest.original, honest.draws), "honest": updated, "apparent": seen}


def _moved(honest: Estimate, apparent: Estimate, scale: str) -> Estimate:
    """A cross-fitted value with the apparent interval moved to it: the folds' own would not count that they share
    their rows."""
    if honest.value is None or apparent.value is None or apparent.low is None or apparent.high is None:
        return replace(
            honest, low=None, high=None, se=None, status=apparent.status, reason=apparent.reason or honest.reason
        )
    ends = moved(Ends(apparent.low, apparent.high), apparent.value, honest.value, scale=scale)
    return replace(
        honest,
        low=ends.low,
        high=ends.high,
        se=apparent.se,
        status=apparent.status,
        method=f"{apparent.method}, moved to the value of {FOLDS}-fold cross-fitting",
    )


def _distance(oe: Metric) -> Metric:
    """|ln O/E|: how far from as many events as expected, the same for twice as many and for half."""

    def compute(scores: Scores, weights: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.abs(np.log(oe.compute(scores, weights)))
        return np.where(np.isfinite(away), away, np.nan)

    return Metric(
        name=_DISTANCE,
        compute=compute,
        describe="absolute logarithm of observed over expected events",
        better="lower",
        undefined="there are no events",
    )


def compared_of(task: Any, study: RiskStudy, honest: Honest) -> dict[str, list[dict[str, Any]]]:
    """Updated less original on the rows that judge, by patients; and by group."""
    kept = withhold(honest.original, study)
    first = kept.scores
    second = replace(honest.updated, groups=first.groups)
    drawn = honest.draws
    brier, oe = metrics_of(task, study, first, ("brier", "oe_ratio"))
    rows = compare_scores(first, second, [brier, _distance(oe)], drawn, groups=list(first.groups))
    everyone = [_pair(row) for row in rows if not row["slice"]]
    by_group: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        for name, level in row["slice"].items():
            by_group.setdefault((name, level), {})[row["metric"]] = _pair(row)
    slices = slices_by(first.groups)
    margin = _margin(study)
    values = [estimate(one, [oe], slices, draws=drawn, levels=(LEVEL,)) for one in (first, second)] if slices else []
    groups = []
    for place, one in enumerate(slices):
        [(name, level)] = one.key.items()
        before, after = (side[place] for side in values)
        groups.append(
            {
                "group": name,
                "level": level,
                "n_patients": before.n_patients,
                "original": _ends(before),
                "updated": _ends(after),
                "differences": by_group.get((name, level), {}),
                "margin": margin,
                "verdict": _of_group(before, after, margin),
            }
        )
    return {"all": everyone, "groups": groups}


def _pair(row: Mapping[str, Any]) -> dict[str, Any]:
    held = ("metric", "value", "low", "high", "p", "method", "reason", "n_patients")
    return {name: row[name] for name in held} | {side: row[side]["value"] for side in ("first", "second")}


def _ends(e: Estimate) -> dict[str, Any]:
    return {"value": e.value, "low": e.low, "high": e.high, "reason": e.reason}


def _margin(study: RiskStudy) -> float:
    named = study.lenses.get("subgroups", {}).get("margin")
    given = named.get("oe_ratio") if isinstance(named, Mapping) else None  # a bare number is meant for shares
    return float(given) if isinstance(given, (int, float)) and not isinstance(given, bool) else MARGIN


def _of_group(before: Estimate, after: Estimate, margin: float) -> str:
    """Whether a group's O/E is outside its margin after the update, and was not before."""
    if after.value is None:
        return "not assessed"
    low, high = 1 - margin, 1 + margin
    if after.low is not None and after.high is not None and (after.low > high or after.high < low):
        return "outside its margin"
    if before.value is not None and low <= before.value <= high and not low <= after.value <= high:
        return "leaves its margin"
    return ""


def verdict_of(compared: Mapping[str, list[dict[str, Any]]], *, needed: bool) -> Verdict:
    """Better or worse where the paired interval of Brier or of |ln O/E| says so; worse if either does.

    `needed` False says that the test found nothing to mend.
    """
    if not needed:
        return "none needed"
    rows = [row for row in compared["all"] if row["low"] is not None and row["high"] is not None]
    if any(row["low"] > 0 for row in rows):
        return "worse"
    return "better" if any(row["high"] < 0 for row in rows) else "no gain shown"
