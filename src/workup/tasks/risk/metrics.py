"""The metrics of risk prediction, each with the interval that suits it. Rows: `outcome` 0/1 and `risk` in [0, 1]."""

from __future__ import annotations

from collections.abc import Sequence

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
    "METRIC_NAMES",
    "Smoother",
    "at_threshold",
    "calibration_distances",
    "calibration_metrics",
    "discrimination",
    "expected_calibration_error",
    "risk_metrics",
]

METRIC_NAMES = (
    "auroc",
    "auprc",
    "brier",
    "scaled_brier",
    "calibration_slope",
    "calibration_in_the_large",
    "oe_ratio",
    "ici",
    "e50",
    "e90",
    "emax",
    "ece",
    "sensitivity",
    "specificity",
    "ppv",
    "npv",
    "f1",
    "accuracy",
    "alert_rate",
    "net_benefit",
)


def risk_metrics(
    *, thresholds: Sequence[float], smoother: Smoother, ece: bool = False, expected: Expected = "sampled"
) -> list[Metric]:
    """Every metric of the risk task, in the order of the report."""
    metrics = discrimination() + calibration_metrics(expected=expected) + calibration_distances(smoother)
    if ece:
        metrics.append(expected_calibration_error())
    for threshold in thresholds:
        metrics += at_threshold(threshold)
    return metrics
