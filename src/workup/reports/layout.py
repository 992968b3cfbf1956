"""Section and Table: what a renderer lays out. They hold words and rounded figures only."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """Rows of text under column heads."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    titled: bool = False  # text and Markdown show the caption too: several tables stand in one section
    links: tuple[str, ...] = ()  # of each row, where a page on a screen leads to; empty for none


@dataclass(frozen=True)
class Section:
    """A titled part of a report; `key` names the part for a renderer that places charts beside it."""

    title: str
    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    points: tuple[str, ...] = field(default=())
    key: str = ""
