# ruff: noqa: E501 - patterns and lists of words are read more easily in long lines
"""Hospitals, employers and other bodies: words with capitals before a word that says what it is, or behind a cue."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workup.deid.cues import Cue, CueBook
from workup.deid.finding import Finding
from workup.deid.nameness import clinical_words, weigh
from workup.deid.page import Page, words_of
from workup.deid.settings import Settings

_KINDS = {
    "facility_words": "facility",
    "company_ends": "employer",
    "public_bodies": "employer",
    "organisations": "org_other",
}
_INSIDE = words_of("of and the for at de la del los & san santa st le")
_JOINS = frozenset((" ", "-", "'s ", " & ", ". ", "'", "' ", "s' "))
_NOT_FIRST = words_of(
    "the a an this that our my your his her their its at in from to of for by with on and or as is was no any each per all other another "
    "local outside general community outpatient inpatient emergency dear former new same"
)
_ORDINARY_ENDS = words_of(
    "general drug drugs labs laboratory laboratories memorial manor villa residence lodge institute rehabilitation pediatrics "
    "orthopedics group services works company association union club court party fund trust post press union security systems "
    "solutions partners associates lines gas oil energy steel media auto supply market stores hardware cleaning transport bank "
    "insurance school college library parish temple church society council committee league alliance shelter legion foundation "
    "community regional medical health hospital clinic pharmacy hospice primary care family medicine internal sons sa ag co"
)


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
            yield from _acronyms(page, stop)
        for cue in cues:
            for kind in ("employer", "facility"):
                if kind in cue.kinds and settings.on(f"{kind}.cue"):
                    yield from _cued(page, cue, kind, stop)


def _named(page: Page, cue: Cue, stop: frozenset[str]) -> Finding | None:
    """The run of capitals that ends in such a word."""
    if page.cases[cue.first] not in "tum" or (
        page.cases[cue.first] == "u" and page.capitals[cue.first] and page.opens_line(cue.first)
    ):
        return None
    first, last = _first_of(page, cue), _last_of(page, cue.last, stop)
    own = [w for w in range(first, cue.first) if page.cases[w] in "tum" and len(page.words[w]) > 1]
    telling = [w for w in own if page.words[w] not in stop and page.words[w] not in clinical_words()]
    telling = [w for w in telling if page.words[w] not in _NOT_FIRST and page.words[w] not in _SPECIALTIES]
    if not telling and last == cue.last:
        return None
    if page.cases[cue.first] == "u" and last + 1 < len(page) and page.cases[last + 1] == "u" and page.gap(last) == " ":
        return None  # a heading in capitals that goes on
    following = page.words[last + 1] if page.gap(last) == " " and last + 1 < len(page) else ""
    if following in _NO_BODY and page.cases[last + 1] == "t":
        return None
    leaf = "facility" if "facility" in cue.kinds else min(cue.kinds)
    score = 0.85
    if page.words[cue.last] in _ORDINARY_ENDS:
        score = 0.7
        plain = len(telling) == 1 and weigh(page.words[telling[0]]).why == "word" and page.opens_sentence(first)
        gap = page.gap(last)
        if plain:
            score = 0.6 if gap[:1] in ("\n", "|", ",", "") or gap[:2] in (" -", " |", "  ") else 0.45
    return Finding(page.starts[first], page.ends[last], leaf, score, f"{leaf}.named", ("capitals", "kind"))


def _first_of(page: Page, cue: Cue) -> int:
    """Back over capitals, small words between them and possessives."""
    first = cue.first
    while first > 0 and cue.last - first < 9 and page.before(first) in _JOINS:
        before = first - 1
        if page.words[before] == "s" and before and page.before(before) == "'":
            first = before - 1
            continue
        small = page.words[before] in _INSIDE and before > 0 and page.cases[before - 1] in "tum"
        if page.cases[before] not in "tumi" and not small:
            break
        if page.before(first) == ". " and page.words[before] not in ("st", "mt", "ft") and page.cases[before] != "i":
            break
        first = before
    while first < cue.first and (
        page.words[first] in _NOT_FIRST or page.words[first] in _SMALL_FIRST or page.words[first] in _CUT
    ):
        first += 1
    return first


def _last_of(page: Page, last: int, stop: frozenset[str]) -> int:
    """On over 'Hospital of Saint Raphael'."""

    def named(word: int) -> bool:
        return word < len(page) and page.cases[word] in "tu" and page.words[word] not in stop

    if page.words[last] not in _OPEN_ENDED or page.gap(last) != " " or last + 2 >= len(page):
        return last
    if page.words[last + 1] not in ("of", "for", "at") or page.gap(last + 1) != " " or not named(last + 2):
        return last
    last += 2
    while page.gap(last) == " " and named(last + 1):
        last += 1
    return last


_ACRONYM = re.compile(r"[A-Z]{1,4}(?:MC|H|HS|HC|CI|CC)")
_BEFORE_ACRONYM = words_of("at from to per of md do rn")
_BEHIND_ACRONYM = words_of("records record fax emergency")


def _acronyms(page: Page, stop: frozenset[str]) -> Iterator[Finding]:
    """Short forms of hospitals (SMC, LCH): heading the text, or where a place is due and the phrase ends."""
    for at, word in enumerate(page.words):
        if page.cases[at] != "u" or not 3 <= len(word) <= 5 or word in stop or word in clinical_words():
            continue
        if page.capitals[at] or not _ACRONYM.fullmatch(page.plain, page.starts[at], page.ends[at]):
            continue
        gap = page.gap(at)
        heads = at == 0 and (gap[:1] == "\n" or gap in (" | ", " - "))
        due = at and page.words[at - 1] in _BEFORE_ACRONYM and page.before(at) in (" ", ", ")
        ends = gap[:1] in (".", ",", ";", ")", "\n", "") or (
            at + 1 < len(page) and page.words[at + 1] in _BEHIND_ACRONYM
        )
        if heads or (due and ends):
            yield Finding(page.starts[at], page.ends[at], "facility", 0.6, "facility.acronym", ("capitals", "place"))


_OPEN_ENDED = words_of("hospital university college clinic institute")
_SPECIALTIES = words_of("past sports child adolescent family internal emergency")
_NO_BODY = words_of("record records history necessity decision assistant director")
_SMALL_FIRST = _INSIDE - words_of("san santa st la los del")
_CUT = words_of("dr mr mrs ms admitted seen discharged transferred patient attending monday tuesday wednesday thursday friday saturday sunday date location "
                 "facility name employer hospital clinic pharmacy phone fax address re cc")  # fmt: skip


def _cued(page: Page, cue: Cue, kind: str, stop: frozenset[str]) -> Iterator[Finding]:
    gap = page.gap(cue.last)
    label = ":" in gap and len(gap) < 40 and "\n" not in gap
    strong = label or (cue.last > cue.first and gap in (" ", " the "))
    at = cue.last + 1
    if not strong or at >= len(page) or page.cases[at] not in ("tuml" if label and kind == "employer" else "tum"):
        return
    if (
        kind == "facility"
        and page.cases[at] == "u"
        and (
            len(page.words[at]) > 5
            or page.words[cue.last] == "to"
            or weigh(page.words[at]).why == "clinical"
            or page.capitals[at]
        )
    ):
        return
    last = at
    while last + 1 < len(page) and page.gap(last) in (" ", "-", " & ", "'s ", ". ", "'") and last - at < 6:
        if page.gap(last) == ". " and page.words[last] not in ("st", "mt", "ft"):
            break
        if (
            page.words[last + 1] == "s"
            and page.gap(last) == "'"
            and last + 2 < len(page)
            and page.cases[last + 2] in "tu"
        ):
            last += 2
        elif (
            page.cases[last + 1] in "tum"
            or (page.words[last + 1] in _INSIDE and last + 2 < len(page) and page.cases[last + 2] in "tu")
            or (label and kind == "employer" and page.cases[last + 1] == "l" and "\n" not in gap)
        ):
            last += 1
        else:
            break
    words = [page.words[w] for w in range(at, last + 1)]
    if words[0] in stop or all(word in stop or word in clinical_words() for word in words):
        return
    if page.plain[page.ends[last] : page.ends[last] + 4] in (" inc", " Inc", " LLC"):
        last += 1
    yield Finding(
        page.starts[at], page.ends[last], kind, 0.85 if label else 0.7, f"{kind}.cue", ("label" if label else "cue",)
    )
