"""Hospitals written in small letters: 'at mercy medical center', 'stonegate university hospital'. Knows no capitals."""

from __future__ import annotations

from workup.deid import gazetteer
from workup.deid.cues import Cue
from workup.deid.finding import Finding
from workup.deid.known_words import clinical_words
from workup.deid.text_view import Page
from workup.deid.word_lists import words
from workup.text.wordlists import function_words

_AT = words("organisations.before_lowercase")
_PARTS = words("organisations.lowercase_parts")
SMALL_HEADS = frozenset(
    (
        *("hospital", "medical center", "health system", "cancer institute", "cancer center", "eye institute"),
        *(
            "hospice house",
            "nursing home",
            "university hospital",
            "heart institute",
            "surgery center",
            "imaging center",
        ),
        *("children s hospital", "rehabilitation hospital", "veterans hospital", "public library", "school district"),
        *("trucking", "inc"),
    )
)


def in_small(page: Page, cue: Cue, stop: frozenset[str], generic: frozenset[str]) -> Finding | None:
    """The name that ends in such a word; None where the words before it are those of any hospital."""
    first = _first_of(page, cue, stop, generic)
    own = [page.words[word] for word in range(first, cue.first) if page.words[word] not in _PARTS]
    proper = any(word not in gazetteer.everyday() or word in ("st", "mt") for word in own)
    before = page.leads[first]
    due = page.opens_line(first) or before[-1:] in ("(", ",") or (first > 0 and page.words[first - 1] in _AT)
    if not own or not (proper or due):
        return None
    score = 0.75 if proper else 0.6
    return Finding(page.starts[first], page.ends[cue.last], "facility", score, "facility.lower", ("kind", "lower"))


def _first_of(page: Page, cue: Cue, stop: frozenset[str], generic: frozenset[str]) -> int:
    """Back over small words that may be part of a name."""
    first = cue.first
    while first and cue.first - first < 4 and page.leads[first] in (" ", "'s ", ". ", "-"):
        word = page.words[first - 1]
        if page.cases[first - 1] != "l" or (page.leads[first] == ". " and word not in ("st", "mt")):
            break
        if word in function_words() or word in generic or word in clinical_words():
            break
        if word in stop and word not in _PARTS:
            break
        first -= 1
    return first
