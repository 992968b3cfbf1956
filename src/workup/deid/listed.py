"""What is found by lists alone: countries, words for what is of a country, and the phrases that a user denies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workup.deid.cues import CueBook
from workup.deid.finding import Finding
from workup.deid.settings import Settings
from workup.deid.text_view import Page

_NATIONALITY = "nationality_religion_politics"


class Listed:
    """The lists as two books of phrases."""

    def __init__(self, settings: Settings) -> None:
        nations = [("country", phrase) for phrase in settings.lists["countries"]]
        nations += [(_NATIONALITY, word) for word in settings.lists["demonyms"]]
        self._nations = _book(nations)
        self._denied = _book((leaf, phrase.lower()) for leaf, phrases in settings.deny.items() for phrase in phrases)

    def nations(self, page: Page, settings: Settings) -> Iterator[Finding]:
        """Countries and nationalities of a page; capitals only, but for nationalities after 'am' and 'is'."""
        for cue in self._nations.find(page):
            leaf = min(cue.kinds)
            small = page.cases[cue.first] == "l"
            if small and not (leaf != "country" and cue.first and page.words[cue.first - 1] in ("am", "is")):
                continue
            rule = "country.listed" if leaf == "country" else "nationality"
            if settings.on(rule):
                yield Finding(page.starts[cue.first], page.ends[cue.last], leaf, 0.6, rule, ("list",))

    def denied(self, page: Page) -> Iterator[Finding]:
        """Phrases that the user lists under `deny`: found wherever they are, in any case."""
        for cue in self._denied.find(page):
            for leaf in sorted(cue.kinds):
                yield Finding(page.starts[cue.first], page.ends[cue.last], leaf, 1.0, "list", ("list",))


def _book(entries: Iterable[tuple[str, str]]) -> CueBook:
    kinds: dict[str, frozenset[str]] = {}
    for leaf, phrase in entries:
        kinds[phrase] = kinds.get(phrase, frozenset()) | {leaf}
    return CueBook(kinds)
