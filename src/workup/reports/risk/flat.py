"""The headline numbers of a risk model under the names that other people's notebooks use."""

from __future__ import annotations

from typing import Any

from workup.gates import same_slice
from workup.report import Estimate, Report
from workup.reports.wording import primary_threshold

# Familiar name → metric of the record; those of the second kind are taken at the primary threshold.
_OVERALL = {
    "auc_roc": "auroc",
    "auc_pr": "auprc",
    "brier_score": "brier",
    "nagelkerke_r2": "nagelkerke_r2",
    "calibration_slope": "calibration_slope",
    "calibration_intercept": "calibration_in_the_large",
    "calibration_intercept_joint": "calibration_intercept_joint",
}
_AT_THRESHOLD = {
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "precision": "ppv",
    "npv": "npv",
    "f1": "f1",
    "accuracy": "accuracy",
}
_LEVEL = 0.95
_JOINT = (
    "calibration_intercept is calibration-in-the-large (log odds as offset); the record holds no intercept that was "
    "fitted jointly with the slope"
)


_ON_REQUEST = "the study did not ask for {name}; add 'also: [{name}]' to it"


def numbers(report: Report) -> dict[str, Any]:
    """One level of keys; ends in `_lower` and `_upper`."""
    overall = [e for e in report.estimates(lens="internal") if e.level == _LEVEL]
    threshold = primary_threshold(report)
    found: dict[str, Any] = {"interval_level": _LEVEL, "threshold": threshold, **_sizes(overall)}
    for name, metric in _OVERALL.items():
        found |= _ends(name, _one(overall, metric, {}))
    for name, metric in _AT_THRESHOLD.items():
        found |= _ends(name, None if threshold is None else _one(overall, metric, {"threshold": threshold}))
    found |= _alerts(report, threshold) | _test(report) | _parity(report, threshold)
    left_out = [name for name in ("accuracy", "f1") if threshold is not None and not _held(overall, name)]
    found |= {f"{name}_note": _ON_REQUEST.format(name=name) for name in left_out}
    if found["calibration_intercept_joint"] is None:
        found["calibration_intercept_joint_note"] = _JOINT
    return found


def _one(rows: list[Estimate], metric: str, keys: dict[str, float]) -> Estimate | None:
    return next((e for e in rows if e.metric == metric and same_slice(e.slice, keys)), None)


def _held(rows: list[Estimate], metric: str) -> bool:
    return any(e.metric == metric for e in rows)


def _test(report: Report) -> dict[str, float | None]:
    """Spiegelhalter's test, where the record holds it."""
    internal = report.results.get("internal")
    rows = internal.tables.get("calibration_tests", ()) if internal else ()
    return {f"spiegelhalter_{key}": row[key] for row in rows for key in ("z", "p")}


def _alerts(report: Report, threshold: float | None) -> dict[str, float | None]:
    """Alerts per 100 predictions and number needed to evaluate at the primary threshold."""
    held = report.results["internal"].tables.get("threshold_sweep", {}) if "internal" in report.results else {}
    at = {"threshold": threshold}
    row = next(
        (r for r in held.get("rows", ()) if not r["slice"] and same_slice({"threshold": r["threshold"]}, at)), None
    )
    found: dict[str, float | None] = {}
    for name, key in (("alerts_per_100", "alerts_per_100"), ("number_needed_to_evaluate", "needed_to_evaluate")):
        if row is not None:
            found |= {name: row[key]["value"], f"{name}_lower": row[key]["low"], f"{name}_upper": row[key]["high"]}
    return found


def _parity(report: Report, threshold: float | None) -> dict[str, float | None]:
    """Parity ratios of each grouping at the primary threshold."""
    names = {"alert_rate": "demographic_parity_ratio", "equalised_odds": "equalized_odds_ratio"}
    rows = report.results["subgroups"].comparisons if "subgroups" in report.results else ()
    found: dict[str, float | None] = {}
    for row in rows:
        over_all = row["kind"] == "ratio" and row["against"] == "all groups"
        primary = same_slice({"threshold": row["slice"].get("threshold")}, {"threshold": threshold})
        if over_all and row["metric"] in names and primary:
            name = f"{names[row['metric']]}_{row['slice']['column']}"
            found |= {name: row["value"], f"{name}_lower": row["low"], f"{name}_upper": row["high"]}
    return found


def _sizes(rows: list[Estimate]) -> dict[str, int | None]:
    first = next((e for e in rows if not e.slice), None)
    return {
        "n_patients": None if first is None else first.n_patients,
        "n_rows": None if first is None else first.n_rows,
        "n_events": None if first is None else first.n_events,
    }


def _ends(name: str, e: Estimate | None) -> dict[str, float | None]:
    """A value with its ends; what is undefined or withheld is null, what lacks an honest interval keeps its value."""
    if e is None or e.status in ("undefined", "withheld"):
        return dict.fromkeys((name, f"{name}_lower", f"{name}_upper"))
    return {name: e.value, f"{name}_lower": e.low, f"{name}_upper": e.high}
