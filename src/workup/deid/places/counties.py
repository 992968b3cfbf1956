"""Counties and parishes with the word that says so."""

from __future__ import annotations

from collections.abc import Iterator

from workup.deid import gazetteer
from workup.deid.finding import Finding
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.deid.word_lists import words
from workup.text.wordlists import words_of

_KINDS = words_of("county parish borough")
_NO_NAME = words("places.no_county")
_JOINS = frozenset((" ", ". ", "-"))


def counties(page: Page, settings: Settings) -> Iterator[Finding]:
    """'Wayne County', 'County of Wayne', and both in small letters where the gazetteer has the name."""
    if not settings.on("county"):
        return
    for at in page.of(_KINDS):
        span = _named_before(page, at, settings.not_names) or _named_after(page, at)
        if span is not None:
            yield Finding(page.starts[span[0]], page.ends[span[1]], "county", 0.93, "county", ("word",))


def _known(page: Page, first: int, last: int) -> bool:
    place = gazetteer.places().get(" ".join(page.words[first : last + 1]).replace("'", ""))
    return place is not None and "c" in place.kinds


def _named_before(page: Page, at: int, stop: frozenset[str]) -> tuple[int, int] | None:
    for length in (3, 2, 1):
        if (
            at >= length
            and all(page.gaps[w] in _JOINS for w in range(at - length, at))
            and _known(page, at - length, at - 1)
        ):
            first = at - length
            while first and page.cases[first - 1] == "t" and page.gaps[first - 1] == " " and page.cases[at] == "t":
                if page.words[first - 1] in stop or page.words[first - 1] in _NO_NAME:
                    break
                first -= 1
            return first, at
    first = at
    for before in range(at - 1, max(-1, at - 4), -1):
        if page.gaps[before] not in _JOINS or page.words[before] in _NO_NAME:
            break
        if _known(page, before, at - 1):
            first = before
        elif page.cases[before] in "tu" and page.cases[at] in "tu" and page.gaps[before] != ". ":
            if page.words[before] not in stop or first < at:
                first = before
        elif page.words[before] not in ("st", "ste", "la", "de", "du"):
            break
    return (first, at) if first < at else None


def _named_after(page: Page, at: int) -> tuple[int, int] | None:
    if at + 2 >= page.size or page.words[at + 1] != "of" or page.gaps[at] != " " or page.gaps[at + 1] != " ":
        return None
    for last in (at + 3, at + 2):
        if last < page.size and _known(page, at + 2, last) and all(page.gaps[w] in _JOINS for w in range(at + 2, last)):
            return at, last
    return (at, at + 2) if page.cases[at + 2] == "t" and page.cases[at] == "t" else None
