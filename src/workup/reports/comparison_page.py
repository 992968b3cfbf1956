"""Sections of a comparison → one HTML file: no script, no outside request, and nothing in a record can act."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from workup.errors import visible
from workup.reports.layout import Section, Table

LONGEST = 300  # letters of one name that a page shows
_FIGURE = re.compile(r"^[<+-]?[\d.,]+(e-?\d+)?$|^–$|^$")


@dataclass(frozen=True)
class _Grid:
    label: str
    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: tuple[bool, ...]


@dataclass(frozen=True)
class _Part:
    id: str
    title: str
    sentences: tuple[str, ...]
    tables: tuple[_Grid, ...]
    points: tuple[str, ...]


def render(found: Sequence[Section]) -> str:
    """The page; every word of the record is escaped, and characters that steer a reader's eye are shown."""
    style = (resources.files("workup.reports") / "static/report.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    environment = Environment(
        loader=PackageLoader("workup.reports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("comparison.html").render(
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        style=Markup(style),
        title=_shown(found[0].title) if found else "Comparison",
        parts=[_part(place, section) for place, section in enumerate(found)],
    )


def _part(place: int, section: Section) -> _Part:
    return _Part(
        f"part-{place}",
        _shown(section.title),
        tuple(map(_shown, section.sentences)),
        tuple(_grid(f"{place}.{i}", table) for i, table in enumerate(section.tables)),
        tuple(map(_shown, section.points)),
    )


def _grid(place: str, table: Table) -> _Grid:
    rows = tuple(tuple(map(_shown, row)) for row in table.rows)
    figures = tuple(bool(rows) and all(_FIGURE.match(row[i]) for row in rows) for i in range(len(table.heads)))
    return _Grid(f"Table {place}: {_shown(table.caption)}", _shown(table.caption), table.heads, rows, figures)


def _shown(words: str) -> str:
    shown = visible(words)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}… ({len(shown):,} letters)"
