"""The key figures at the head of a detector's page, and the line of facts above them."""

from __future__ import annotations

from workup.report import Estimate, Report
from workup.reports.page import KeyFigure
from workup.reports.spans.setting import LEVEL, Primary, found
from workup.reports.spans.words import counted, percent

_CARDS = (
    ("recall", "Identifiers found"),
    ("leak_rate_document", "Documents that leak"),
    ("leak_rate_patient", "Patients that leak"),
    ("precision", "Masks that were needed"),
    ("over_redaction", "Other text masked"),
)


def cards(report: Report) -> list[KeyFigure]:
    """Sensitivity, leaks by document and patient, precision, and what was destroyed for nothing."""
    internal, primary = report.results["internal"], Primary.of(report)
    made = []
    for metric, title in _CARDS:
        keys = primary.rule() if metric in ("recall", "precision") else primary.policy_key()
        e = found(internal.estimates, metric, keys)
        if e is not None and not (metric == "leak_rate_patient" and e.value is None):
            made.append(KeyFigure(title, percent(e.value), _ends(e)))
    return made


def _ends(e: Estimate) -> str:
    if e.value is None:
        return f"{e.status}: {e.reason}"
    if e.low is None or e.high is None:
        return f"no interval: {e.reason}"
    if e.value == 0 and e.low == 0:
        return f"at most {percent(e.high)} (one-sided {LEVEL:.0%}); {counted(e)}"
    return f"{LEVEL:.0%} interval {percent(e.low)} to {percent(e.high)}; {counted(e)}"


def facts(report: Report) -> str:
    """Policy and self-test, as the page shows them under its title."""
    internal = report.results.get("internal")
    if internal is None:
        return ""
    primary = Primary.of(report)
    test = internal.tables.get("selftest") or {}
    said = [f"Policy {primary.policy}", f"rules {primary.mode} at level {primary.level}"]
    if test:
        said.append(f"scorer self-test: {test['passed']} of {test['of']} right")
    return " · ".join(said)
