"""The page of a plan: what was asked, and how many patients that takes. There are no data to judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workup.report import Report
from workup.reports.layout import Section
from workup.reports.page import KeyFigure, Page
from workup.reports.power import report as power


class PlanPage(Page):
    """A plan is the power lens with no data at hand."""

    judged = False

    def headline(self, report: Report) -> Sequence[str]:
        """Nothing beyond what the plan itself says."""
        return ()

    def body(self, report: Report) -> Iterator[Section]:
        """The plan alone."""
        yield from power.sections(report)

    def size(self, report: Report) -> str:
        """Nothing was tested."""
        return ""

    def key_figures(self, report: Report) -> list[KeyFigure]:
        """None."""
        return []
