"""Short forms of hospitals (SMC, LCH), found by their ends and by where they stand. Knows clinical short forms."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workup.deid.finding import Finding
from workup.deid.known_words import is_clinical_part
from workup.deid.text_view import Page
from workup.deid.word_lists import words

_HOSPITALS = words("organisations.open_ended")
_SPECIALTIES = words("organisations.departments")
_COMMON_SHORT = words("organisations.no_short_forms")
ACRONYM = re.compile(r"[A-Z]{1,4}(?:MC|H|HS|HC|CI|CC)")
_BEFORE_ACRONYM = words("organisations.before_short_form")
_AFTER_ACRONYM = words("organisations.after_short_form")


def acronyms(page: Page, stop: frozenset[str]) -> Iterator[Finding]:
    """Short forms of hospitals (SMC, LCH): heading a text, on a line of their own, in brackets, or where one is due."""
    for at, word in enumerate(page.words):
        if page.cases[at] != "u" or not 3 <= len(word) <= 5 or word in stop:
            continue
        headed = at < 12 and page.opens_line(at) and page.gaps[at][:1] == "\n"
        placed = at > 0 and page.words[at - 1] == "at" and page.leads[at] == " "
        placed = placed or (at > 0 and page.leads[at] == ", " and page.words[at - 1] in _SPECIALTIES)
        if (is_clinical_part(word) or word in _COMMON_SHORT) and not headed and not placed:
            continue
        if not ACRONYM.fullmatch(page.plain, page.starts[at], page.ends[at]):
            continue
        if _alone(page, at) or (not page.capitals[at] and _due(page, at)):
            yield Finding(page.starts[at], page.ends[at], "facility", 0.6, "facility.acronym", ("capitals", "place"))


def _alone(page: Page, at: int) -> bool:
    gap = page.gaps[at]
    if page.opens_line(at) and gap[:2] == " (" and page.cases[at + 1 : at + 2] == "t" and len(page.words[at]) > 3:
        return True
    if at == 0 and (gap[:2] in (": ", " |", " -") or gap[:1] == "\n"):
        return True
    return page.opens_line(at) and gap[:1] in ("\n", "")


def _due(page: Page, at: int) -> bool:
    before, gap = page.leads[at], page.gaps[at]
    ends = gap[:1] in (".", ",", ";", ")", "\n", "") or gap[:2] == " ("
    if not at:
        return False
    word = page.words[at - 1]
    if before == " (" and gap[:1] in (")", ","):
        return page.cases[at - 1] == "d" or word in _BEFORE_ACRONYM or word in _HOSPITALS
    if before == ", " and gap[:1] == ")":
        return True
    if before == ", " and gap[:1] in ("\n", ".", ""):
        return word in _SPECIALTIES or page.cases[at - 1] == "d" or word in _BEFORE_ACRONYM
    follows = at + 1 < page.size and gap == " " and page.words[at + 1] in _AFTER_ACRONYM
    return before in (" ", ": ") and word in _BEFORE_ACRONYM and (ends or follows)
