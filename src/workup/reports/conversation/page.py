"""The page of a chat model over many turns, at the set and arm of the headline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.report import Report
from workup.reports.charts.figure import Figure
from workup.reports.conversation import cards, flat
from workup.reports.conversation import report as parts
from workup.reports.conversation.setting import narrowed, noun, size_words
from workup.reports.conversation.words import in_units, said_in
from workup.reports.drift import report as drift
from workup.reports.layout import Section
from workup.reports.page import KeyFigure, Page
from workup.reports.power import report as power
from workup.reports.sites import report as sites
from workup.reports.smallest import smallest_section


class ConversationPage(Page):
    """Chat models over many turns."""

    title = parts.TITLE
    counted = "Cases, patients that intervals count"
    styles = ("conversation.css",)
    on_gates = (parts.GATES,)

    def narrowed(self, report: Report) -> Report:
        """The record at the set and arm of the headline."""
        return narrowed(report)

    def header_rows(self, report: Report) -> Sequence[tuple[str, str]]:
        """How the conversations were held and read."""
        return tuple(parts.header_rows(report))

    def headline(self, report: Report) -> Sequence[str]:
        """Sentences to leave with."""
        return tuple(parts.headline(report))

    def said(self, sentence: str, report: Report) -> str:
        """In cases, or in clusters of them."""
        return said_in(sentence, noun(report))

    def body(self, report: Report) -> Iterator[Section]:
        """What lenses found is shown at the set and arm of the headline."""
        seen, unit = narrowed(report), noun(report)
        own = smallest_section(report, [("all cases", name, e) for name, e in parts.smallest(report)])
        yield from parts.sections(report)
        yield from parts.groups(report)
        for section in (*sites.sections(seen), *power.sections(seen), *drift.sections(seen), own):
            yield in_units(section, unit)
        yield from parts.smallest_groups(report)
        yield parts.limits(report)
        yield parts.words()

    def size(self, report: Report) -> str:
        """Cases and the patients that they are of."""
        return size_words(report)

    def facts(self, report: Report) -> str:
        """Set, arm, memory and judge."""
        return cards.facts(report)

    def key_figures(self, report: Report) -> list[KeyFigure]:
        """Every headline number; one that cannot be told says why."""
        return cards.cards(report) if "internal" in report.results else super().key_figures(report)

    def figures(self, report: Report, of_lenses: Mapping[str, list[Figure]]) -> dict[str, list[Figure]]:
        """Its own charts, and those of the lenses in the unit of the task."""
        return {**parts.figures(report), **parts.shared_figures(report, dict(of_lenses))}

    def flat(self, report: Report) -> dict[str, Any]:
        """Headline numbers under familiar names."""
        return flat.numbers(report)
