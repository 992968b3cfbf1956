"""Hospitals, employers and other bodies: words with capitals before a word that says what it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workup.deid.cues import Cue, CueBook
from workup.deid.finding import Finding
from workup.deid.known_words import clinical_words, is_known
from workup.deid.names.word_weights import weigh
from workup.deid.organisations.acronyms import acronyms
from workup.deid.organisations.cued import INSIDE, cued
from workup.deid.organisations.lowercase import SMALL_HEADS, in_small
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.deid.word_lists import words
from workup.text.calendar import WEEKDAY_WORDS
from workup.text.wordlists import words_of

_KINDS = {
    "facility_words": "facility",
    "company_ends": "employer",
    "public_bodies": "employer",
    "organisations": "org_other",
}
_JOINS = frozenset((" ", "-", "'s ", " & ", ". ", "'", "' ", "s' "))
_JOINING = words_of("of for at")
_HEADS_OF = words("organisations.heads_of")
_NOT_FIRST = words("organisations.not_first")
_ORDINARY_ENDS = words("organisations.ordinary_ends")


class Organisations:
    """The lists of what bodies are called, as cues."""

    def __init__(self, settings: Settings) -> None:
        kinds: dict[str, set[str]] = {}
        for name, leaf in _KINDS.items():
            for phrase in settings.lists[name]:
                kinds.setdefault(phrase, set()).add(leaf)
        self._book = CueBook({phrase: frozenset(found) for phrase, found in kinds.items()})

    def find(self, page: Page, cues: Sequence[Cue], settings: Settings) -> Iterator[Finding]:
        """Bodies of a page."""
        stop = settings.not_names
        for cue in self._book.find(page):
            found = _named(page, cue, stop)
            if found is not None and settings.on(found.rule):
                yield found
        if settings.on("facility.acronym"):
            yield from acronyms(page, stop)
        for cue in cues:
            for kind in ("employer", "facility"):
                if kind in cue.kinds and settings.on(f"{kind}.cue"):
                    yield from cued(page, cue, kind, stop)


def _named(page: Page, cue: Cue, stop: frozenset[str]) -> Finding | None:
    """The run of capitals that ends in such a word."""
    if page.cases[cue.first] == "l" and " ".join(page.words[cue.first : cue.last + 1]) in SMALL_HEADS:
        return in_small(page, cue, stop, _NOT_FIRST)
    if page.cases[cue.first] not in "tum" or (
        page.cases[cue.first] == "u" and page.capitals[cue.first] and page.opens_line(cue.first)
    ):
        return None
    first, last = _first_of(page, cue), _last_of(page, cue.last, stop)
    own = [w for w in range(first, cue.first) if page.cases[w] in "tum" and len(page.words[w]) > 1]
    own += [first] if page.cases[first] == "l" and first < cue.first else []
    telling = [w for w in own if page.words[w] not in stop and page.words[w] not in clinical_words()]
    telling = [w for w in telling if page.words[w] not in _NOT_FIRST and page.words[w] not in _SPECIALTIES]
    if not telling and last == cue.last:
        return None
    if page.cases[cue.first] == "u" and last + 1 < page.size and page.cases[last + 1] == "u" and page.gaps[last] == " ":
        return None  # a heading in capitals that goes on
    if page.cases[cue.first] == "u" and page.gaps[last][:1] == ":":
        return None  # a heading inside a line
    following = page.words[last + 1] if page.gaps[last] == " " and last + 1 < page.size else ""
    if following in _NO_BODY and page.cases[last + 1] == "t":
        return None
    if (
        page.words[cue.last] == "general"
        and following
        and page.cases[last + 1] == "l"
        and following in clinical_words()
    ):
        return None  # "General surgery"
    leaf = "facility" if "facility" in cue.kinds else min(cue.kinds)
    score = 0.85
    if page.words[cue.last] in _ORDINARY_ENDS:
        score = 0.7
        plain = len(telling) == 1 and weigh(page.words[telling[0]]).why == "word" and page.opens_sentence(first)
        gap = page.gaps[last]
        if plain:
            score = 0.6 if gap[:1] in ("\n", "|", ",", "") or gap[:2] in (" -", " |", "  ") else 0.45
    return Finding(page.starts[first], page.ends[last], leaf, score, f"{leaf}.named", ("capitals", "kind"))


def _first_of(page: Page, cue: Cue) -> int:
    """Back over capitals, small words between them and possessives."""
    first = cue.first
    while first > 0 and cue.last - first < 9 and page.leads[first] in _JOINS:
        before = first - 1
        if page.words[before] == "s" and before and page.leads[before] == "'":
            first = before - 1
            continue
        small = page.words[before] in INSIDE and before > 0 and page.cases[before - 1] in "tum"
        if page.words[before] in _JOINING and (before == 0 or page.words[before - 1] not in _HEADS_OF):
            break
        if page.cases[before] not in "tumi" and not small and not _capital_lost(page, before):
            break
        if page.leads[first] == ". " and page.words[before] not in ("st", "mt", "ft") and page.cases[before] != "i":
            break
        first = before
    while first < cue.first and (
        page.words[first] in _NOT_FIRST or page.words[first] in _SMALL_FIRST or page.words[first] in _CUT
    ):
        first += 1
    return first


def _capital_lost(page: Page, word: int) -> bool:
    """A word in small letters that no list holds, before one with a capital: its first letter was lost."""
    return page.cases[word] == "l" and len(page.words[word]) > 4 and not is_known(page.words[word])


def _last_of(page: Page, last: int, stop: frozenset[str]) -> int:
    """On over 'Hospital of Saint Raphael'."""

    def named(word: int) -> bool:
        return word < page.size and page.cases[word] in "tu" and page.words[word] not in stop

    if page.words[last] not in _OPEN_ENDED or page.gaps[last] != " " or last + 2 >= page.size:
        return last
    if page.words[last + 1] not in ("of", "for", "at") or page.gaps[last + 1] != " " or not named(last + 2):
        return last
    last += 2
    while page.gaps[last] == " " and named(last + 1):
        last += 1
    return last


_OPEN_ENDED = words_of("hospital university college clinic institute")
_SPECIALTIES = words("organisations.any_hospital")
_NO_BODY = words("organisations.headings")
_SMALL_FIRST = INSIDE - words_of("san santa st la los del")
_CUT = WEEKDAY_WORDS | words("organisations.cut")
