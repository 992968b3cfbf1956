"""Do the groups differ at all? One test per metric and grouping, before anyone is compared with anyone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workup.metric import Metric
from workup.scores import Levels, Scores
from workup.stats.intervals import Test, chi2_proportions, homogeneity


def omnibus(scores: Scores, metrics: Sequence[Metric], name: str, levels: Levels) -> Iterator[dict[str, Any]]:
    """Chi-square for shares of independent rows, a metric's own test where it has one, else Cochran's Q."""
    held = {level: scores.take(np.flatnonzero(rows)) for level, rows in levels.masks() if rows.any()}
    for metric in metrics:
        method, found, used = _tested(metric, scores, levels, list(held.values()))
        if sum(used) < 2:
            continue
        statistic, p = (found.statistic, found.p) if np.isfinite(found.statistic) else (None, None)
        yield {
            "column": name,
            "metric": metric.name,
            "at": dict(metric.at),
            "test": method,
            "groups": sum(used),
            "without": [level for level, one in zip(held, used, strict=True) if not one],
            "statistic": statistic,
            "df": found.df,
            "p": p,
        }


def _tested(metric: Metric, scores: Scores, levels: Levels, parts: Sequence[Scores]) -> tuple[str, Test, list[bool]]:
    """The name of the test, the test, and which of the groups took part in it."""
    if metric.omnibus is not None and scores.independent:
        return "likelihood ratio", metric.omnibus(scores, levels), [True] * len(parts)
    if metric.counts is not None and metric.scale == "logit" and scores.independent:
        counts = [metric.counts(part) for part in parts]
        used = [(x, n) for x, n in counts if n > 0]
        took_part = [n > 0 for _, n in counts]
        if len(used) < 2:
            return "chi-square", Test(np.nan, np.nan, np.nan), took_part
        return "chi-square", chi2_proportions([x for x, _ in used], [n for _, n in used]), took_part
    return _cochran(metric, parts)


def _cochran(metric: Metric, parts: Sequence[Scores]) -> tuple[str, Test, list[bool]]:
    """Q over the groups that have a value and a standard error, on the metric's own scale.

    A group at exactly 0 or 1 has no logit and takes no part, so the test says nothing about it.
    """
    values, errors, took_part = [], [], [False] * len(parts)
    for place, part in enumerate(parts):
        value = metric.value(part)
        found = metric.interval(part, 0.95) if metric.interval is not None and np.isfinite(value) else None
        if found is None or found.status != "ok" or not found.se:
            continue
        if metric.scale == "logit":
            if not 0 < value < 1:
                continue
            values.append(float(np.log(value / (1 - value))))
            errors.append(found.se / (value * (1 - value)))
        elif metric.scale == "log":
            values.append(float(np.log(value)))
            errors.append(found.se / value)
        else:
            values.append(value)
            errors.append(found.se)
        took_part[place] = True
    if len(values) < 2:
        return "Cochran's Q", Test(np.nan, np.nan, np.nan), took_part
    return "Cochran's Q", homogeneity(values, 1 / np.square(errors)), took_part
