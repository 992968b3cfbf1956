"""Capitals given back to a text that has none, or nothing else, so that rules that look at case can read it.

No offset moves. A capital that was given back says less than one that somebody wrote: `Page.restored` tells where."""

from __future__ import annotations

from collections.abc import Sequence

from workup.deid.cues import Cue, CueBook
from workup.deid.known_words import is_known
from workup.deid.letter_case.draft import TITLE, UPPER, Draft
from workup.deid.letter_case.organisations import Bodies
from workup.deid.letter_case.people import name_people
from workup.deid.letter_case.places import Places
from workup.deid.letter_case.unmarked import CAPITALS, silent
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.text.wordlists import function_words

_GLUE = frozenset("@_\\/.-#&")
_AFTER_DAY = function_words() | {"visit", "at"}
_NO_CODE = ("x", "pt", "usr", "user")  # an extension, names of accounts
_LONG = 4  # figures of a number of a record
_SHORT = 4  # letters of a word that no list holds, up to which it is taken for a short form in capitals


class CaseReader:
    """Makes pages of texts, with the case of their words restored where it says nothing."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._cues = settings, CueBook.of(settings)
        self._places, self._bodies = Places(settings), Bodies(settings)

    def page(self, text: str) -> Page:
        """The page of a text.

        >>> from workup.deid.settings import load
        >>> CaseReader(load()).page("pt john smith seen by dr patel in springfield, il").text
        'pt John Smith seen by Dr Patel in Springfield, IL'
        """
        page = Page(text)
        quiet = silent(page)
        if quiet is None:
            return page
        draft = Draft(page, quiet, self._settings)
        cues = self._cues.find(page)
        self._bodies.name(draft, cues)
        self._places.name(draft, cues)
        name_people(draft, cues)
        _codes(draft, cues)
        _months(draft)
        restored = Page(_written(draft))
        restored.restored = quiet
        return restored


def _codes(draft: Draft, cues: Sequence[Cue]) -> None:
    """Numbers of records and plates have their letters in capitals: 'ab123456', 'ord-84133468', 'plate: zbf-1612'."""
    page = draft.page
    for at in page.figures:
        word = page.words[at]
        figures = sum(map(str.isdigit, word))
        if figures >= _LONG and len(word) - figures <= _SHORT and "_" not in page.leads[at] + page.gaps[at]:
            if (
                word.isalnum()
                and not word.startswith(_NO_CODE)
                and page.leads[at][-1:] != "@"
                and page.gaps[at][:1] != "@"
            ):
                draft.mark(at, at, UPPER)
            if at and page.leads[at] == "-" and len(page.words[at - 1]) <= _SHORT:
                draft.mark(at - 1, at - 1, UPPER)
    for cue in cues:
        if "plate" in cue.labels and page.gaps[cue.last].strip(" :#") == "":
            at = cue.last + 1
            while at < min(page.size, cue.last + 4) and len(page.words[at]) < 8:
                if page.cases[at] == "d" or page.cases[at + 1 : at + 2] == "d" or page.cases[at - 1] == "d":
                    draft.mark(at, at, UPPER)
                if page.gaps[at] != "-":
                    break
                at += 1


def _months(draft: Draft) -> None:
    """'may 27' is a day, 'may 5 mg' is none."""
    page = draft.page
    for at in page.of(("may", "march", "mar")):
        day = page.words[at + 1].rstrip("stndrh") if at + 1 < page.size and page.gaps[at] == " " else ""
        if len(day) > 2 or not day.isdecimal() or not 0 < int(day) < 32:
            continue
        if page.gaps[at + 1] != " " or at + 2 >= page.size or page.words[at + 2] in _AFTER_DAY:
            draft.mark(at, at)


def _written(draft: Draft) -> str:
    """The text with the capitals that its words are to have."""
    page, pieces, at = draft.page, [], 0
    for word in range(page.size):
        wanted = draft.wanted[word]
        if not draft.silent[word] or (not wanted and (page.cases[word] == "d" or _glued(page, word))):
            continue
        start, end = page.starts[word], page.ends[word]
        surface = page.text[start:end]
        new = _cased(
            surface, wanted, shouted=draft.silent[word] == CAPITALS and page.cases[word] in "ui", word=page.words[word]
        )
        if new != surface and len(new) == len(surface):
            pieces += [page.text[at:start], new]
            at = end
    return "".join([*pieces, page.text[at:]])


def _cased(surface: str, wanted: int, *, shouted: bool, word: str) -> str:
    if wanted == UPPER:
        return surface.upper()
    if shouted and word == "s":
        return "s"
    if wanted == TITLE:
        if surface[:1].isdigit():
            return surface.lower()  # "83rd"
        return surface.title() if surface.islower() or surface.isupper() else surface
    if shouted and len(surface) > 1 and (len(word) > _SHORT or is_known(word)):
        return surface.lower()
    return surface


def _glued(page: Page, word: int) -> bool:
    """Whether a word is part of an address of the net, a number of a record or the like."""
    before, after = page.leads[word], page.gaps[word]
    if before[-1:] in ("@", "_", "\\") or after[:1] in ("@", "_", "\\"):
        return True
    joined_before = before in _GLUE and word > 0 and page.cases[word - 1] == "d"
    joined_after = after in _GLUE and word + 1 < page.size and page.cases[word + 1] == "d"
    return joined_before or joined_after or (after == "." and before[-1:] not in ("", " ", "\n"))
