"""Report → plain text for a terminal or a mail."""

from __future__ import annotations

import textwrap

from workup.errors import visible
from workup.report import Report
from workup.reports.sections import Section, Table, sections
from workup.reports.wording import drawn

WIDTH = 100


@drawn
def render(report: Report) -> str:
    """The whole report as text; control characters in names are shown, not obeyed."""
    return "\n".join(section_text(section) for section in sections(report)).rstrip() + "\n"


def section_text(section: Section) -> str:
    """One section as plain text, wrapped."""
    title = visible(section.title)
    lines = [title, "=" * len(title)]
    lines += [line for sentence in section.sentences for line in _wrapped(sentence)]
    for table in section.tables:
        if table.titled:
            lines += ["", visible(table.caption), *_table(table)]
        else:
            lines += ["", *_table(table)] if section.sentences else _table(table)
    lines += [line for point in section.points for line in _wrapped(point, "- ")]
    return "\n".join(lines) + "\n"


def _wrapped(text: str, bullet: str = "") -> list[str]:
    return textwrap.wrap(visible(text), WIDTH, initial_indent=bullet, subsequent_indent=" " * len(bullet))


def _table(table: Table) -> list[str]:
    table, legend = _with_legend(table)
    rows = [tuple(visible(cell) for cell in row) for row in (table.heads, *table.rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    if any(table.heads):
        lines.insert(1, "  ".join("-" * width for width in widths))
        return lines + legend
    return lines[1:]


def _with_legend(table: Table) -> tuple[Table, list[str]]:
    """Long words on how a figure was made become numbers, explained once below the table."""
    if not table.heads or table.heads[-1] != "how":
        return table, []
    words = list(dict.fromkeys(row[-1] for row in table.rows))
    rows = tuple((*row[:-1], f"({words.index(row[-1]) + 1})") for row in table.rows)
    legend = [line for i, word in enumerate(words) for line in _wrapped(word, f"({i + 1}) ")]
    return Table(table.heads, rows), legend
