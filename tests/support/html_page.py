"""A page of HTML taken apart: its elements, attributes and words."""

from __future__ import annotations

from html import unescape
from html.parser import HTMLParser
from typing import Any

from workup.report import Report
from workup.reports import html


class Page(HTMLParser):
    """Elements, attributes and words of a page; scripts and styles apart."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self._inside = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        self.raw.get(self._inside, self.words).append(data)

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.found}

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def words(render: Any, found: Report) -> str:
    """All words of a report, as a page or as plain text or Markdown."""
    drawn = render(found)
    return Page(drawn).text if render is html.render else " ".join(unescape(drawn).replace("\\", "").split())
