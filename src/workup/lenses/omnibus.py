"""Do the groups differ at all? One test per metric and grouping, before anyone is compared with anyone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workup.metric import Metric
from workup.scores import Levels, Scores
from workup.stats.intervals import Test, chi2_p, chi2_proportions


def omnibus(scores: Scores, metrics: Sequence[Metric], name: str, levels: Levels) -> Iterator[dict[str, Any]]:
    """Chi-square for shares of independent rows, a metric's own test where it has one, else Cochran's Q."""
    parts = [scores.take(np.flatnonzero(rows)) for _, rows in levels.masks() if rows.any()]
    for metric in metrics:
        method, found, used = _tested(metric, scores, levels, parts)
        if used < 2:
            continue
        statistic, p = (found.statistic, found.p) if np.isfinite(found.statistic) else (None, None)
        yield {
            "column": name,
            "metric": metric.name,
            "at": dict(metric.at),
            "test": method,
            "groups": used,
            "statistic": statistic,
            "df": found.df,
            "p": p,
        }


def _tested(metric: Metric, scores: Scores, levels: Levels, parts: Sequence[Scores]) -> tuple[str, Test, int]:
    if metric.omnibus is not None and scores.independent:
        return "likelihood ratio", metric.omnibus(scores, levels), len(parts)
    if metric.counts is not None and metric.scale == "logit" and scores.independent:
        counts = [metric.counts(part) for part in parts]
        used = [(x, n) for x, n in counts if n > 0]
        if len(used) < 2:
            return "chi-square", Test(np.nan, np.nan, np.nan), len(used)
        return "chi-square", chi2_proportions([x for x, _ in used], [n for _, n in used]), len(used)
    return _cochran(metric, parts)


def _cochran(metric: Metric, parts: Sequence[Scores]) -> tuple[str, Test, int]:
    """Q over the groups that have a value and a standard error, on the metric's own scale."""
    values, errors = [], []
    for part in parts:
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
    if len(values) < 2:
        return "Cochran's Q", Test(np.nan, np.nan, np.nan), len(values)
    weight = 1 / np.square(errors)
    mean = np.average(values, weights=weight)
    q = float(np.sum(weight * (np.array(values) - mean) ** 2))
    return "Cochran's Q", Test(q, chi2_p(q, len(values) - 1), len(values) - 1), len(values)
