"""The metrics of risk prediction, each with the interval that suits it. Rows: `outcome` 0/1 and `risk` in [0, 1]."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from workup.metric import Metric
from workup.tasks.risk.calibration_metrics import (
    FEWEST_FOR_CURVE,
    Expected,
    Smoother,
    calibration_distances,
    calibration_metrics,
    expected_calibration_error,
)
from workup.tasks.risk.decisions import at_threshold
from workup.tasks.risk.discrimination import discrimination

__all__ = [
    "FEWEST_FOR_CURVE",
    "ON_REQUEST",
    "Smoother",
    "at_threshold",
    "calibration_distances",
    "calibration_metrics",
    "discrimination",
    "expected_calibration_error",
    "risk_metrics",
]

# Left out unless a study asks: accuracy rewards calling everyone well where events are rare, F1 ignores the true
# negatives and weighs errors by no stated cost, and ECE depends on its bins and grows as samples shrink.
ON_REQUEST = ("accuracy", "f1", "ece")


def risk_metrics(
    *, thresholds: Sequence[float], smoother: Smoother, also: Collection[str] = (), expected: Expected = "sampled"
) -> list[Metric]:
    """Every metric of the risk task, in the order of the report; those of `ON_REQUEST` only where `also` names them."""
    metrics = discrimination() + calibration_metrics(expected=expected) + calibration_distances(smoother)
    if "ece" in also:
        metrics.append(expected_calibration_error())
    for threshold in thresholds:
        metrics += at_threshold(threshold)
    return [metric for metric in metrics if metric.name not in ON_REQUEST or metric.name in also]
