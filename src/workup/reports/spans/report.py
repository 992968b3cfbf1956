"""The report of a span detector as sections, in the order that readers of de-identification reports know.

Puts the parts together; each part reads the record alone and is quiet where the record does not hold it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workup.report import Estimate, LensResult, Report
from workup.reports.groups import by_group, comparisons, smallest_gaps
from workup.reports.layout import Section
from workup.reports.spans import errors, overall, rules, safety, utility
from workup.reports.spans.curve import curve_table
from workup.reports.spans.setting import Primary, found, narrowed
from workup.reports.wording import drawn

_SMALLEST = ("recall", "precision", "leak_rate_document", "leak_rate_patient", "over_redaction")


@drawn
def sections(report: Report) -> list[Section]:
    """All that the internal lens found."""
    internal = report.results.get("internal")
    if internal is None:
        return []
    primary = Primary.of(report)
    found_parts = [
        overall.corpus(internal),
        overall.overall(internal, primary),
        overall.claims(internal, primary),
        rules.by_rule(internal, primary),
        *rules.by_type(internal, primary),
        *_curve(internal),
        *errors.sections(internal, primary),
        utility.utility(internal, primary),
        safety.safe_harbor(internal),
        safety.severity(internal),
        safety.agreement(internal),
    ]
    return [_titled(section) for section in found_parts]


def _titled(section: Section) -> Section:
    """Several tables in one section each need their caption, in every form."""
    if len(section.tables) < 2:
        return section
    return replace(section, tables=tuple(replace(table, titled=True) for table in section.tables))


@drawn
def groups(report: Report) -> Iterator[Section]:
    """Groups of patients at the primary setting; the other rule sets are in the record."""
    result = narrowed(report).results.get("subgroups")
    if result is None:
        return
    primary = Primary.of(report)
    at = f"At {primary.mode}, level {primary.level}, policy {primary.policy}; report.json holds the other rule sets."
    for section in (*by_group(result, overall.HEADS, overall.estimate_rows), *comparisons(result)):
        grouped = section.key.startswith("by:")
        yield replace(section, sentences=(*section.sentences, at)) if grouped else section


def smallest(report: Report) -> Iterator[Estimate]:
    """Headline numbers whose smallest visible difference a reader wants to know."""
    internal = report.results.get("internal")
    if internal is None:
        return
    primary = Primary.of(report)
    for metric in _SMALLEST:
        keys = primary.rule() if metric in ("recall", "precision") else primary.policy_key()
        e = found(internal.estimates, metric, keys)
        if e is not None and e.status == "ok" and e.se is not None:
            yield e


@drawn
def smallest_groups(report: Report) -> Iterator[Section]:
    """The smallest gap between groups, at the primary setting."""
    result = narrowed(report).results.get("subgroups")
    if result is not None and result.tables.get("smallest_difference"):
        yield smallest_gaps(result)


def _curve(internal: LensResult) -> Iterator[Section]:
    rows = internal.tables.get("curve") or ()
    levels = dict.fromkeys(str(row["level"]) for row in rows)
    tables = tuple(
        curve_table([row for row in rows if row["level"] == level], f"Recall and precision over IoU, level {level}")
        for level in levels
    )
    if tables:
        said = "How recall and precision change as more overlap is asked for before a gold counts as found."
        yield Section("Recall and precision over the overlap asked for", (said,), tables, key="curve")
