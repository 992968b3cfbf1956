"""All metrics that the risk task registers, and how laws name and compare their estimates."""

from __future__ import annotations

import numpy as np

from workup.estimate import Draws, Estimate
from workup.metric import Metric
from workup.scores import Scores
from workup.tasks.risk.metrics import ON_REQUEST, Smoother, risk_metrics

DRAWS = Draws(seed=17, replicates=120)
THRESHOLDS = [0.2, 0.5]
CURVE = {"ici", "e50", "e90", "emax"}  # distances of the fitted curve


def every_metric(scores: Scores) -> list[Metric]:
    """Every metric, with the knots of these scores."""
    return risk_metrics(thresholds=THRESHOLDS, smoother=Smoother.of(scores), also=ON_REQUEST)


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
