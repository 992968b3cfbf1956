"""Which charts stand beside which section of a report, by the section's key."""

from __future__ import annotations

from workup.report import Report
from workup.reports.charts.forest import forests
from workup.reports.charts.panels import Figure
from workup.reports.conversation import report as conversation
from workup.reports.conversation.setting import is_conversation
from workup.reports.conversation.setting import narrowed as at_primary
from workup.reports.drift import report as drift
from workup.reports.power import report as power
from workup.reports.risk import sweeps
from workup.reports.sites import report as sites
from workup.reports.spans import figures as spans_figures
from workup.reports.spans.setting import narrowed


def figures(report: Report) -> dict[str, list[Figure]]:
    """Charts by the key of the section they belong to."""
    # Of a detector, the rule set of the headline; of a chat model, its set and arm; of others, all.
    seen = at_primary(narrowed(report))
    by_group = {f"by:{name}": charts for name, charts in forests(seen).items()}
    of_lenses = {
        **by_group,
        **sites.figures(seen),
        **power.figures(seen),
        **drift.figures(seen),
        **sweeps.figures(seen),
    }
    if is_conversation(report):
        return {**conversation.figures(report), **conversation.shared_figures(report, of_lenses)}
    return {**spans_figures.figures(report), **of_lenses}
