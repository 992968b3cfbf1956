"""All metrics that the risk task registers, and how laws name and compare their estimates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workup.estimate import Draws, Estimate
from workup.metric import Metric
from workup.scores import Scores
from workup.tasks.risk.metrics import ON_REQUEST, Smoother, risk_metrics

DRAWS = Draws(seed=17, replicates=120)
THRESHOLDS = [0.2, 0.5]
DRAWN = {"ici", "e50", "e90", "emax"}  # drawn by loess, whose neighbourhoods count points


def every_metric(scores: Scores, kind: str | None = None) -> list[Metric]:
    """Every metric, with the study's own smoother or with the curve that is asked for."""
    smoother = Smoother.of(scores)
    smoother = replace(smoother, kind=kind) if kind else smoother
    return risk_metrics(thresholds=THRESHOLDS, smoother=smoother, also=ON_REQUEST)


def label(metric: Metric) -> str:
    """Name and threshold of a metric."""
    return " ".join([metric.name, *map(str, metric.at.values())])


def key(found: Estimate) -> str:
    """Name, slice and level of an estimate."""
    return " ".join([found.metric, *map(str, found.slice.values()), str(found.level)])


def numbers(found: Estimate) -> list[float]:
    """All numbers of an estimate, NaN for null."""
    parts = (found.value, found.low, found.high, found.se, found.numerator, found.denominator)
    return [np.nan if part is None else float(part) for part in parts]
