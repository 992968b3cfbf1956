"""Which charts stand beside which section of a report, by the section's key."""

from __future__ import annotations

from workup.report import Report
from workup.reports import conversation, drift, power, sites, spans_figures, sweeps
from workup.reports.charts import Figure
from workup.reports.conversation_setting import is_conversation
from workup.reports.conversation_setting import narrowed as at_primary
from workup.reports.forests import forests
from workup.reports.spans_setting import narrowed


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
