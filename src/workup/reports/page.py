"""What a report shows in the way of its task. A task that brings no page of its own gets the plain one, which is drawn
from the cards of its metrics alone. Names no task."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import workup.reports
from workup.errors import ReportError
from workup.report import Estimate, LensResult, Report
from workup.reports import case_mix, split
from workup.reports.charts.figure import Figure, find
from workup.reports.drift import report as drift
from workup.reports.estimates import HEADS, rows
from workup.reports.groups import by_group, comparisons, parity, smallest_gaps
from workup.reports.layout import Section, Table
from workup.reports.power import report as power
from workup.reports.sites import report as sites
from workup.reports.smallest import smallest_section
from workup.reports.wording import at_threshold, drawn, group_headline, interval, metric_words, number

LEVEL = 0.95  # of the intervals that are shown


@dataclass(frozen=True)
class KeyFigure:
    """A figure at the head of a page, with its interval."""

    title: str
    value: str
    ends: str


class Page:
    """The plain page. A task's own page answers some of these differently."""

    title = "Validation report"
    counted = "Cases, patients"  # what the corpus holds
    noun = "cases"
    styles: tuple[str, ...] = ()  # style sheets beside the common one
    views = "Four views of the model"  # title of the charts that a page leads with
    judged = True  # whether there are data that gates can judge
    on_gates: tuple[str, ...] = ()  # what must be known of its gates
    marks: tuple[Any, ...] = ()  # kinds of pieces in documents that can be read

    def narrowed(self, report: Report) -> Report:
        """The record as lenses are shown: at the primary slice, where the task measures in many settings."""
        return report

    def header_rows(self, report: Report) -> Sequence[tuple[str, str]]:
        """What else identifies the record."""
        return ()

    def warnings(self, report: Report) -> Sequence[str]:
        """What must be read before anything else."""
        return ()

    def headline(self, report: Report) -> Sequence[str]:
        """Sentences to leave with: every figure that stands at the head of the page, in words."""
        return [f"{figure.title}: {figure.value} ({figure.ends})." for figure in self.key_figures(report)]

    def of_groups(self, report: Report) -> Iterator[str]:
        """How the judged gaps between groups fell out, in sentences to leave with."""
        groups = self.narrowed(report).results.get("subgroups")
        return iter(()) if groups is None else group_headline(groups)

    def said(self, sentence: str, report: Report) -> str:
        """A sentence of a lens in the unit of the task."""
        return sentence

    def body(self, report: Report) -> Iterator[Section]:
        """All that follows the summary and the gates."""
        internal = report.results.get("internal")
        if internal is not None:
            yield from split.sections(internal.tables["split"]) if internal.tables.get("split") else []
            yield from self.overall(report, internal)
        yield from self.lenses(report)

    def overall(self, report: Report, internal: LensResult) -> Iterator[Section]:
        """What was measured on everyone, each number with what it says."""
        order = {name: card["order"] for name, card in report.metrics.items()}
        found = [e for e in internal.estimates if e.level == LEVEL and set(e.slice) <= set(report.primary)]
        chosen = sorted(
            (e for e in found if all(e.slice[key] == report.primary[key] for key in e.slice)),
            key=lambda e: order.get(e.metric, len(order)),
        )
        body = tuple((row[0], metric_words(e.metric), *row[1:]) for e, row in zip(chosen, rows(chosen), strict=True))
        table = Table((HEADS[0], "what it says", *HEADS[1:]), body, f"Everyone together, {LEVEL:.0%} intervals")
        if body:
            yield Section("Overall", tables=(table,), key="overall")

    def lenses(self, report: Report) -> Iterator[Section]:
        """What the other lenses found, what these data could not have seen, and what no figure can say."""
        groups = report.results.get("subgroups")
        if groups is not None:
            yield from (*by_group(groups, HEADS, rows), *comparisons(groups), *parity(groups))
            yield from case_mix.section(groups, title="How the groups differ in inputs and risks", key="case-mix")
        yield from (*sites.sections(report), *power.sections(report), *drift.sections(report))
        yield smallest_section(report)
        if groups is not None and groups.tables.get("smallest_difference"):
            yield smallest_gaps(groups)
        yield self.limits(report)

    def limits(self, report: Report) -> Section:
        """What no figure here can prove."""
        return Section(
            "Limits",
            points=(
                "An interval allows for the play of chance among patients like these, not for patients of another "
                "kind, place or time.",
            ),
            key="limits",
        )

    def size(self, report: Report) -> str:
        """How much was tested."""
        return f"{number(report.corpus['n_patients'])} patients, {number(report.corpus['n_cases'])} {self.noun}"

    def facts(self, report: Report) -> str:
        """What stands under the title of the page."""
        return ""

    def key_figures(self, report: Report) -> list[KeyFigure]:
        """The figures at the head of the page: those whose cards say so, and the latest of a watched system."""
        internal = report.results.get("internal")
        if internal is None:
            watched = report.results.get("drift")
            latest = report.shown("latest") if watched is not None else ()
            found = [find(watched, metric, {"window": "latest"}) for metric in latest if watched is not None]
        else:
            found = [self._at_primary(report, internal, metric) for metric in self.first(report)]
        return [key_figure(e) for e in found if e is not None]

    def first(self, report: Report) -> Sequence[str]:
        """Metrics at the head of the page."""
        return report.shown("cards") or list(report.metrics)[:4]

    def _at_primary(self, report: Report, internal: LensResult, metric: str) -> Estimate | None:
        keys = next((e.slice for e in internal.estimates if e.metric == metric), {})
        return find(internal, metric, {key: value for key, value in report.primary.items() if key in keys})

    def panels(self, report: Report) -> list[Figure]:
        """Charts that a page leads with."""
        return []

    def figures(self, report: Report, of_lenses: Mapping[str, list[Figure]]) -> dict[str, list[Figure]]:
        """Charts by the key of the section that they stand beside."""
        return dict(of_lenses)

    def documents(self, report: Report) -> Sequence[Any]:
        """Documents that can be read on the page."""
        return ()

    def flat(self, report: Report) -> dict[str, Any]:
        """Headline numbers under the names that other people's notebooks use."""
        raise ReportError(f"the flat form is not known for the task '{report.study.get('task')}'. To fix: use -f json.")


def key_figure(e: Estimate) -> KeyFigure:
    """An estimate as a figure at the head of a page."""
    ends = f"{e.level:.0%} interval {interval(e)}" if e.low is not None else f"{e.status}: {e.reason or ''}"
    title = at_threshold(e.metric, e.slice)
    return KeyFigure(title[:1].upper() + title[1:], number(e.value), ends)


@drawn
def key_figures(report: Report) -> list[KeyFigure]:
    """The figures at the head of a report's page."""
    return page_of(report).key_figures(report)


def page_of(report: Report) -> Page:
    """The page of a report's task: that of the room of this package which bears its name, or the plain one."""
    task = report.study.get("task")
    rooms = {module.name for module in pkgutil.iter_modules(workup.reports.__path__) if module.ispkg}
    if not isinstance(task, str) or task not in rooms:
        return Page()
    found = getattr(import_module(f"{workup.reports.__name__}.{task}"), "PAGE", None)
    return Page() if found is None else _loaded(f"{workup.reports.__name__}.{task}", found)


def _loaded(room: str, path: str) -> Page:
    module, _, name = path.partition(":")
    page: Page = getattr(import_module(f"{room}.{module}"), name)()
    return page
