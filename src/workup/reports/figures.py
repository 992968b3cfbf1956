"""Which charts stand beside which section of a report, by the section's key."""

from __future__ import annotations

from workup.report import Report
from workup.reports import drift, power, sites
from workup.reports.charts import Figure
from workup.reports.forests import forests


def figures(report: Report) -> dict[str, list[Figure]]:
    """Charts by the key of the section they belong to."""
    by_group = {f"by:{name}": charts for name, charts in forests(report).items()}
    return {**by_group, **sites.figures(report), **power.figures(report), **drift.figures(report)}
