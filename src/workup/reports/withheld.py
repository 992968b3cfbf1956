"""What a report does not tell of its groups, in words and as a table, and the warning of one that tells all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workup.report import Report
from workup.reports.layout import Section, Table

TELLS_ALL = (
    "THIS REPORT MAY IDENTIFY PEOPLE: the study tells groups of any size (smallest_cell: 1), so a figure may be that "
    "of one patient."
)


def warning(report: Report) -> tuple[str, ...]:
    """What must be read first where nothing is withheld."""
    return (TELLS_ALL,) if report.study.get("smallest_cell") == 1 else ()


def rows(report: Report) -> list[Mapping[str, Any]]:
    """Every column of which something is not told."""
    return [row for result in report.results.values() for row in result.tables.get("withheld_groups", ())]


def section(report: Report) -> Iterator[Section]:
    """Which levels are not told, and where their patients are counted."""
    held = rows(report)
    if not held:
        return
    k = report.study.get("smallest_cell")
    body = tuple(
        (
            str(row["column"]),
            "all of it" if row["whole"] else ", ".join(map(str, row["levels"])),
            f"as '{row['together']}'" if row["together"] else "in the whole only",
        )
        for row in held
    )
    said = (
        f"A group of fewer than {k} patients is not told, since its figures would be those of persons; nor are other "
        "groups or sites from which it could be worked out. A gate on one of them is not assessed.",
    )
    table = Table(("column", "withheld", "counted"), body, "Groups that are withheld")
    yield Section("Withheld groups", said, (table,), key="withheld")
