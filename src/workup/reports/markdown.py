"""Report → Markdown."""

from __future__ import annotations

import re

from workup.errors import visible
from workup.report import Report
from workup.reports.sections import Section, Table, sections
from workup.reports.wording import drawn


@drawn
def render(report: Report) -> str:
    """The whole report as Markdown; names from users' files cannot add markup."""
    first, *rest = sections(report)
    return "\n".join([section_markdown(first, "#"), *(section_markdown(section, "##") for section in rest)])


def section_markdown(section: Section, mark: str) -> str:
    """One section under a heading of this mark."""
    parts = [f"{mark} {_escaped(section.title)}"]
    parts += [_escaped(sentence) for sentence in section.sentences]
    parts += [_table(table) for table in section.tables]
    if section.points:
        parts.append("\n".join(f"- {_escaped(point)}" for point in section.points))
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    lines = [table.heads, tuple("---" for _ in table.heads), *table.rows]
    head = f"**{_escaped(table.caption)}**\n\n" if table.titled else ""
    return head + "\n".join(
        "| " + " | ".join(cell if set(cell) == {"-"} else _escaped(cell) for cell in line) + " |" for line in lines
    )


def _escaped(text: str) -> str:
    """Nothing that Markdown or HTML would read as markup; "<" as an entity, since not every dialect knows "\\<"."""
    entities = visible(text).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]>|#{}])", r"\\\1", entities)
