"""Parity ratios: the smallest share over the largest among all groups of a column, with the bias that brings said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workup.metric import FEWEST_PATIENTS, Metric
from workup.scores import Levels
from workup.stats.arrays import Bools, Floats

KIND = "ratio"
AGAINST = "all groups"
BIASED = (
    "the smallest over the largest is biased downwards: it is never above 1 and falls with the number of groups and "
    "with their smallness"
)
Values = Callable[[Bools, int], tuple[float, Floats | None]]


def parity_ratios(metrics: Sequence[Metric], groups: Mapping[str, Levels], values: Values) -> Iterator[dict[str, Any]]:
    """Smallest over largest of every share that parity is asked of, and of both kinds of error together.

    `values(rows, m)` answers the m-th metric on a group and its shared replicates. Ratios of complements (false
    positives beside specificity) are given too, because a ratio, unlike a difference, is another one for them; and the
    worse of the ratios that share a `joint_gap`, as for equalised odds.
    """
    for column, levels in groups.items():
        masks = [(name, rows) for name, rows in levels.masks() if rows.any()]
        joint: dict[tuple[str, str], list[tuple[float, Floats]]] = {}
        for m, metric in enumerate(metrics):
            if metric.counts is None or not (metric.parity or metric.complement or metric.better == "neither"):
                continue
            found = [values(rows, m) for _, rows in masks]
            if any(drawn is None for _, drawn in found):
                continue
            point = np.array([value for value, _ in found])
            drawn = np.array([drawn for _, drawn in found])
            keys = {"column": column, **metric.at}
            names = [name for name, _ in masks]
            few = min(int(rows.sum()) for _, rows in masks) < FEWEST_PATIENTS
            yield _row(metric.name, keys, point, drawn, names, few=few)
            both = (point, drawn)
            if metric.complement:
                both = (1 - point, 1 - drawn)
                yield _row(metric.complement, keys, *both, names, few=few)
            if metric.joint_gap:
                key = (metric.joint_gap, str(sorted(metric.at.items())))
                joint.setdefault(key, []).append((float(_over(both[0][:, None])[0]), _over(both[1])))
                if len(joint[key]) == 2:
                    worse = float(np.min([one for one, _ in joint[key]]))
                    least = np.min([one for _, one in joint[key]], axis=0)
                    yield _as_row(metric.joint_gap, keys, worse, least, few=few)


def _over(values: Floats) -> Floats:
    """Smallest over largest along the groups; NaN where a group has no value, or all are 0."""
    largest = values.max(axis=0)
    return np.asarray(np.divide(values.min(axis=0), largest, out=np.full(largest.shape, np.nan), where=largest > 0))


def _row(
    metric: str, keys: dict[str, Any], point: Floats, drawn: Floats, names: Sequence[str], *, few: bool
) -> dict[str, Any]:
    row = _as_row(metric, keys, float(_over(point[:, None])[0]), _over(drawn), few=few)
    if row["value"] is None:
        return row
    return row | {"lowest": names[int(point.argmin())], "highest": names[int(point.argmax())]}


def _as_row(metric: str, keys: dict[str, Any], value: float, drawn: Floats, *, few: bool) -> dict[str, Any]:
    defined = drawn[np.isfinite(drawn)]
    reason = BIASED
    if not np.isfinite(value) or defined.size < 0.99 * drawn.size:
        reason = "undefined in a group, or 0 in all of them, here or in more than 1 % of the resamples"
    elif few:
        reason = f"insufficient: a group of fewer than {FEWEST_PATIENTS} rows is too small to resample"
    elif defined.min() == defined.max():
        # Groups that are all right would otherwise be shown as equal beyond doubt, however few they are.
        reason = "insufficient: every resample gives the same ratio, so the data cannot show its uncertainty"
    enough = reason == BIASED
    low: float | None = None
    high: float | None = None
    if enough:
        # Resamples repeat the bias of the value, so nearly all of them may lie below it: it stays in its interval.
        ends = np.quantile(defined, [0.025, 0.975])
        low, high = min(float(ends[0]), value), max(float(ends[1]), value)
    return {
        "metric": metric,
        "slice": keys,
        "against": AGAINST,
        "kind": KIND,
        "level": 0.95,
        "value": value if np.isfinite(value) else None,
        "low": low,
        "high": high,
        "se": float(defined.std(ddof=1)) if enough else None,
        "p": None,
        "p_adjusted": None,
        "margin": None,
        "method": "shared replicates, percentile",
        "verdict": "not_assessed",
        "reason": reason,
    }
