"""Titles before names (Mr., Dr., Prof.), all treated alike: apart from the name or inside it, as one switch says."""

from __future__ import annotations

from collections.abc import Sequence

from workup.deid.finding import Finding
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.deid.word_lists import words

_GAPS = frozenset((" ", ". ", ".", "  ", ".  "))
_RELATIONS = words("names.weak_titles") | words("names.titles_that_are_words")


def with_titles(page: Page, found: Sequence[Finding], settings: Settings) -> list[Finding]:
    """Findings by start with the titles before names: findings of their own (`titles: apart`), or part of the name."""
    if not settings.on("title.word"):
        return list(found)
    titles, end = frozenset(settings.cues["title"]), 0
    answer: list[Finding] = []
    for one in found:
        place = _title_before(page, one, titles) if one.label.startswith("name_") else None
        taken, end = place is not None and place[0] < end, one.end
        if place is None or taken:
            answer.append(one)
        elif settings.titles == "inside":
            answer.append(one._replace(start=place[0]))
        else:
            answer += [Finding(*place, "misc", 0.55, "title.word", ("title",)), one]
    return answer


def _title_before(page: Page, name: Finding, titles: frozenset[str]) -> tuple[int, int] | None:
    """Where the title right before a name is, with its point; None where there is none."""
    at = page.word_at(name.start) - 1
    if at < 0 or page.words[at] not in titles or page.gaps[at] not in _GAPS:
        return None
    if page.words[at] in _RELATIONS and page.cases[at] != "t":
        return None  # "her sister Ada"
    return page.starts[at], page.ends[at] + (page.gaps[at][0] == ".")
