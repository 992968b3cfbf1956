"""The headline numbers of a detector under the names that other people's notebooks use; each unit stands in a key."""

from __future__ import annotations

from typing import Any

from workup.report import Estimate, LensResult, Report
from workup.reports.spans.setting import LEVEL, Primary, found

# Familiar name → metric of the record; the first kind is taken at the primary mode and level, the second by policy.
_AT_RULE = {"sensitivity": "recall", "recall": "recall", "precision": "precision", "f1": "f1", "f2": "f2"}
_BY_POLICY = (
    "leak_rate_char",
    "leak_rate_alnum",
    "leak_rate_document",
    "leak_rate_patient",
    "entity_recall",
    "over_redaction",
    "specificity_char",
    "specificity_token",
    "specificity_negative_document",
    "specificity_protected_term",
    "severity_recall",
    "information_precision",
    "retention",
)
SPECIFICITY = "specificity_char"  # what a bare `specificity` means here; its unit stands beside it


def numbers(report: Report) -> dict[str, Any]:
    """One level of keys; ends in `_lower` and `_upper`, counts in `_numerator` and `_denominator`."""
    internal = report.results.get("internal", LensResult("internal"))
    primary = Primary.of(report)
    made: dict[str, Any] = {"mode": primary.mode, "level": primary.level, "policy": primary.policy, **_sizes(internal)}
    for name, metric in _AT_RULE.items():
        made |= _ends(name, found(internal.estimates, metric, primary.rule()))
    made |= _ends("specificity", found(internal.estimates, SPECIFICITY, primary.policy_key()))
    made["specificity_unit"] = "characters"
    for metric in _BY_POLICY:
        e = found(internal.estimates, metric, primary.policy_key())
        if e is not None:
            made |= _ends(metric, e)
    counts = _counts(internal, primary)
    for name, key in (("true_positives", "hits"), ("false_negatives", "misses"), ("false_positives", "false_alarms")):
        made[name] = counts.get(key)
    return made


def _sizes(internal: LensResult) -> dict[str, Any]:
    about = internal.tables.get("summary") or {}
    return {
        "interval_level": LEVEL,
        "n_documents": about.get("documents"),
        "n_golds": about.get("golds"),
        "n_predictions": about.get("predictions"),
        "n_phi_types": about.get("labels"),
        "n_negative_documents": about.get("negative_documents"),
    }


def _counts(internal: LensResult, primary: Primary) -> dict[str, Any]:
    for row in internal.tables.get("counts", ()):
        own = (row["mode"], row["level"], row["policy"], row["label"], row.get("equivalent"))
        if own == (primary.mode, primary.level, primary.policy, None, None):
            return dict(row)
    return {}


def _ends(name: str, e: Estimate | None) -> dict[str, Any]:
    """What is undefined or withheld is null; what lacks an honest interval keeps its value."""
    keys = (name, *(f"{name}_{part}" for part in ("lower", "upper", "numerator", "denominator")))
    if e is None or e.status in ("undefined", "withheld"):
        return dict.fromkeys(keys)
    return dict(zip(keys, (e.value, e.low, e.high, e.numerator, e.denominator), strict=True))
