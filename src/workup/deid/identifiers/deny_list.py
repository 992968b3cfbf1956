"""Phrases that the user lists under `deny`: found wherever they stand, in any case."""

from __future__ import annotations

from collections.abc import Iterator

from workup.deid.cues import CueBook
from workup.deid.finding import Finding
from workup.deid.settings import Settings
from workup.deid.text_view import Page


class Listed:
    """The lists as one book of phrases."""

    def __init__(self, settings: Settings) -> None:
        kinds: dict[str, set[str]] = {}
        for leaf, phrases in settings.deny.items():
            for phrase in phrases:
                kinds.setdefault(phrase.lower(), set()).add(leaf)
        self._book = CueBook({phrase: frozenset(found) for phrase, found in kinds.items()}) if kinds else None

    def find(self, page: Page) -> Iterator[Finding]:
        """Listed phrases of a page."""
        for cue in self._book.find(page) if self._book else ():
            for leaf in sorted(cue.kinds):
                yield Finding(page.starts[cue.first], page.ends[cue.last], leaf, 1.0, "list", ("list",))
