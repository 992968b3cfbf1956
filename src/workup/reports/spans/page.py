"""The page of a span detector, at the rule set of its headline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.report import Report
from workup.reports.charts.figure import Figure
from workup.reports.drift import report as drift
from workup.reports.layout import Section
from workup.reports.page import KeyFigure, Page
from workup.reports.power import report as power
from workup.reports.sites import report as sites
from workup.reports.smallest import smallest_section
from workup.reports.spans import cards, figures, flat, overall, safety, viewer
from workup.reports.spans import report as parts
from workup.reports.spans.setting import narrowed
from workup.reports.wording import metric_title, number


class SpansPage(Page):
    """De-identifiers and PII detectors."""

    title = "De-identification validation report"
    counted = "Documents, patients"
    noun = "documents"
    styles = ("spans.css",)
    marks = tuple(viewer.KINDS.values())

    def narrowed(self, report: Report) -> Report:
        """The record at the rule set of the headline."""
        return narrowed(report)

    def header_rows(self, report: Report) -> Sequence[tuple[str, str]]:
        """Policy, rules and labels."""
        return tuple(overall.header_rows(report))

    def warnings(self, report: Report) -> Sequence[str]:
        """A scorer that fails its self-test must not be believed."""
        return tuple(overall.broken_scorer(report))

    def headline(self, report: Report) -> Sequence[str]:
        """Sentences to leave with."""
        return tuple(overall.headline(report))

    def body(self, report: Report) -> Iterator[Section]:
        """What lenses found is shown at the rule set of the headline."""
        seen = narrowed(report)
        yield from parts.sections(report)
        yield from parts.groups(report)
        yield from (*sites.sections(seen), *power.sections(seen), *drift.sections(seen))
        yield smallest_section(report, [("everyone", metric_title(e.metric), e) for e in parts.smallest(report)])
        yield from parts.smallest_groups(report)
        yield from viewer.sections(report)
        yield safety.limits(report)

    def size(self, report: Report) -> str:
        """Patients, documents and identifiers."""
        about = report.results["internal"].tables.get("summary") if "internal" in report.results else None
        golds = f", {number(about.get('identifiers', about['golds']))} identifiers" if about else ""
        return super().size(report) + golds

    def facts(self, report: Report) -> str:
        """Policy and self-test."""
        return cards.facts(report)

    def key_figures(self, report: Report) -> list[KeyFigure]:
        """Sensitivity, leaks, precision, and what was destroyed for nothing."""
        return cards.cards(report) if "internal" in report.results else super().key_figures(report)

    def figures(self, report: Report, of_lenses: Mapping[str, list[Figure]]) -> dict[str, list[Figure]]:
        """Its own charts beside those of the lenses."""
        return {**figures.figures(report), **of_lenses}

    def documents(self, report: Report) -> Sequence[Any]:
        """Documents with the identifiers that were found and missed."""
        return viewer.documents(report)

    def flat(self, report: Report) -> dict[str, Any]:
        """Headline numbers under familiar names."""
        return flat.numbers(report)
