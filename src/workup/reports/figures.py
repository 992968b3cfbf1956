"""Which charts stand beside which section of a report, by the section's key."""

from __future__ import annotations

from workup.report import Report
from workup.reports import drift, power, sites, spans_figures
from workup.reports.charts import Figure
from workup.reports.forests import forests
from workup.reports.spans_setting import narrowed


def figures(report: Report) -> dict[str, list[Figure]]:
    """Charts by the key of the section they belong to."""
    seen = narrowed(report)  # of a detector, the rule set of the headline; of others, all
    by_group = {f"by:{name}": charts for name, charts in forests(seen).items()}
    of_lenses = {**by_group, **sites.figures(seen), **power.figures(seen), **drift.figures(seen)}
    return {**spans_figures.figures(report), **of_lenses}
