"""A report as titled sections of sentences and tables. Renderers only lay them out; no data are read here."""

from __future__ import annotations

from collections.abc import Iterable

from workup.report import Report
from workup.reports import withheld
from workup.reports.charts.figure import Figure
from workup.reports.charts.forest import forests
from workup.reports.drift import report as drift
from workup.reports.layout import Section, Table
from workup.reports.page import Page, page_of
from workup.reports.power import report as power
from workup.reports.sites import report as sites
from workup.reports.wording import drawn, number

__all__ = ["Section", "Table", "figures", "kind", "sections"]

HOLDS_TEXT = "THIS REPORT HOLDS PATIENT TEXT."
# A report that answers one question alone is called by it.
_OF_ONE_LENS = {"sites": "External validation report", "drift": "Monitoring report", "power": "Sample-size report"}


@drawn
def sections(report: Report) -> list[Section]:
    """The report, in the order people know: what was tested, in plain words, gates, and then the page of its task."""
    page = page_of(report)
    found = [_header(report, page), _summary(report, page)]
    found += [_verdicts(report, page), *withheld.section(report)] if page.judged else []
    return _kept([*found, *page.body(report)])


@drawn
def figures(report: Report) -> dict[str, list[Figure]]:
    """Charts by the key of the section that they stand beside."""
    page = page_of(report)
    seen = page.narrowed(report)
    of_lenses = {f"by:{name}": charts for name, charts in forests(seen).items()}
    of_lenses |= {**sites.figures(seen), **power.figures(seen), **drift.figures(seen)}
    return page.figures(report, of_lenses)


def _kept(found: Iterable[Section]) -> list[Section]:
    return [section for section in found if section.sentences or section.tables or section.points]


def kind(report: Report) -> str:
    """What kind of report this is, by the questions it answers."""
    page, asked = page_of(report), list(report.results)
    return _OF_ONE_LENS.get(asked[0], Page.title) if len(asked) == 1 and asked != ["internal"] else page.title


def _header(report: Report, page: Page) -> Section:
    corpus, system = report.corpus, report.system
    cases = f"{number(corpus['n_cases'])}, {number(corpus['n_patients'])}" if corpus["n_cases"] else ""
    rows = [
        ("Study", str(report.study.get("name", ""))),
        ("System", " ".join(filter(None, dict.fromkeys((str(system["name"]), str(system["version"])))))),
        ("Corpus", " ".join(filter(None, (str(corpus["name"]), str(corpus["version"]))))),
        (page.counted, cases),
        ("Corpus sha256", str(corpus["sha256"])),
        ("Seed", str(report.seed)),
        ("As of", report.as_of or "not given"),
        *page.header_rows(report),
        (
            "Made with",
            f"Workup {report.workup}, " + ", ".join(f"{k} {v}" for k, v in sorted(report.environment.items())),
        ),
        ("Record sha256", report.sha256),
    ]
    marked = (
        *((HOLDS_TEXT,) if report.contains_phi else ()),
        *withheld.warning(report),
        *page.warnings(report),
        *report.alarms(),
    )
    rows = [(name, value) for name, value in rows if value]
    return Section(kind(report), marked, (Table(("", ""), tuple(rows)),), key="record")


def _summary(report: Report, page: Page) -> Section:
    notes = [note for result in report.results.values() for note in result.notes]
    # How rows map to patients decides every interval, so it is said before anything else.
    first = [note for note in notes if note.startswith(("No patient column", "No document names a patient"))]
    rest = [page.said(note, report) for note in notes if note not in first]
    seen = page.narrowed(report)
    # While no figure means what it says, nothing is said of groups either.
    of_groups = () if report.alarms() else page.of_groups(report)
    said = (*first, *page.headline(report), *of_groups, *drift.headline(seen))
    return Section("In plain words", said, points=tuple(rest), key="summary")


def _verdicts(report: Report, page: Page) -> Section:
    if not report.verdicts:
        return Section("Gates", ("No gate was set, so this report decides nothing by itself.",), key="gates")
    rows = tuple((v.outcome.replace("_", " "), v.rule, v.reason) for v in report.verdicts)
    table = Table(("outcome", "rule", "reason"), rows, "Gates and their verdicts")
    return Section("Gates", page.on_gates, (table,), key="gates")
