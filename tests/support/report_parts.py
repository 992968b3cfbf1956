"""Parts of a drawn report, their cells and words, and records with other tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workup.report import Report
from workup.reports.layout import Section
from workup.reports.sections import sections


def part(found: Report, key: str) -> Section:
    [section] = [one for one in sections(found) if one.key == key]
    return section


def cells(section: Section, table: int = 0) -> list[dict[str, str]]:
    shown = section.tables[table]
    return [dict(zip(shown.heads, row, strict=True)) for row in shown.rows]


def words(one: Section) -> str:
    cells = [cell for table in one.tables for line in table.rows for cell in line]
    return "\n".join([one.title, *one.sentences, *one.points, *cells])


def with_tables(found: Report, **tables: Any) -> Report:
    """The report with tables of its internal lens replaced; None takes one away."""
    internal = found.results["internal"]
    held = {name: table for name, table in {**internal.tables, **tables}.items() if table is not None}
    return replace(found, results={**found.results, "internal": replace(internal, tables=held)})
