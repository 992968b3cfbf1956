"""Countries, and words for what is of a country, by lists. Knows no town."""

from __future__ import annotations

from collections.abc import Iterator

from workup.deid.cues import CueBook
from workup.deid.finding import Finding
from workup.deid.settings import Settings
from workup.deid.text_view import Page


class Nations:
    """Both lists as one book of phrases."""

    def __init__(self, settings: Settings) -> None:
        kinds = {phrase: frozenset(("country",)) for phrase in settings.lists["countries"]}
        kinds |= {word: frozenset(("nationality_religion_politics",)) for word in settings.lists["demonyms"]}
        self._book = CueBook(kinds)

    def find(self, page: Page, settings: Settings) -> Iterator[Finding]:
        """Countries and nationalities of a page; capitals only, but for nationalities behind 'am' and 'is'."""
        for cue in self._book.find(page):
            kind = min(cue.kinds)
            small = page.cases[cue.first] == "l"
            if small and not (kind != "country" and cue.first and page.words[cue.first - 1] in ("am", "is")):
                continue
            rule = "country.listed" if kind == "country" else "nationality"
            if settings.on(rule):
                yield Finding(page.starts[cue.first], page.ends[cue.last], kind, 0.6, rule, ("list",))
