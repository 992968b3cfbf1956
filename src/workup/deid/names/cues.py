"""What the words beside a place say of a name there: titles, labels, roles, relations, credentials. Weighs no name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from workup.deid.cues import Cue
from workup.deid.names.weights import name_weight
from workup.deid.names.word_weights import Weight
from workup.deid.names.words import DONE, KIN, MEETING
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.deid.word_lists import words

TITLE = name_weight("cue.title")
CREDENTIAL = name_weight("cue.credential")
LABEL = name_weight("cue.label")
_BY = name_weight("cue.by")
ROLE = name_weight("cue.role")
WORD_BEFORE = name_weight("cue.word_before")
_MET = name_weight("cue.met")
_PREPOSITION = name_weight("cue.preposition")
_THING_BEFORE = name_weight("cue.thing_before")
_KIN_BEFORE = name_weight("cue.kin_before")
_NAMING = name_weight("cue.naming")
BED = name_weight("cue.bed")
_VOCATIVE = name_weight("cue.vocative")
_VOCATIVE_LEAST = name_weight("cue.vocative_least")
SPOKEN = name_weight("cue.spoken")
_ROLES = (("patient", "name_patient"), ("relative", "name_relative"), ("provider", "name_provider"))
_OF_PEOPLE = frozenset(("patient", "relative", "provider", "patient_label", "weak", "naming"))
_LABEL_GAP = re.compile(
    r"[ \t]{0,30}(?:[:=#]|-(?=[ \t])|\|)[ \t]{0,40}(?:\n[ \t]{0,10})?[\"'(*]{0,2}$|[ \t]{1,3}/[ \t]{1,3}$"
)
_NEXT_GAP = re.compile(
    r"[ \t]{1,3}$|,[ \t]{1,2}$|[ \t]{0,2}\([ \t]{0,1}$|[ \t]{1,2}\"$|,?\n{1,3}[ \t]{0,8}$|,?[ \t]{1,3}\n[ \t]{0,8}$"
)
_CREDENTIAL_GAP = re.compile(r",?[ \t]{1,3}\(?|,|\.,?[ ]")
ZIP = re.compile(r"\.?,?[ ]{1,3}(?:\d{5}|\d{3})(?!\d)")
_MIXED = words("names.mixed_credentials")
_HOMONYMS = words("names.titles_that_are_words")
_WEAK_TITLES = words("names.weak_titles")
_GREETINGS = words("names.greetings")
_ABBREVIATED = words("names.abbreviated_titles")
_BEDS = words("names.beds")


class Expected(NamedTuple):
    """What the words before a place say of a name there; no leaf where they do not say whose."""

    points: float
    leaf: str
    why: str


class Expectations:
    """All that the cues of a page say: names that may begin at a word, and words right before a credential."""

    def __init__(self, page: Page, cues: Sequence[Cue], settings: Settings) -> None:
        self.starts: dict[int, Expected] = {}
        self.credentials: set[int] = set()
        self._page = page
        clinicians = frozenset(settings.cues["clinician_title"])
        for cue in cues:
            gap = page.gaps[cue.last]
            if "title" in cue.kinds:
                self._title(cue, gap, clinicians)
            if "credential" in cue.kinds:
                self._credential(cue)
            self._roles(cue, gap)
        self._beds()
        titles = frozenset(settings.cues["title"])
        for word, expected in list(self.starts.items()):
            after = self.starts.get(word + 1)
            # "Attending: Dr. X": the role of the first cue where the second names none, the force of the second.
            if after is not None and after.why == "title" and page.words[word] in titles:
                self.starts[word + 1] = Expected(TITLE, after.leaf or expected.leaf, "title")

    def _say(self, word: int, points: float, leaf: str, why: str) -> None:
        if word < self._page.size and (word not in self.starts or self.starts[word].points < points):
            self.starts[word] = Expected(points, leaf, why)

    def _title(self, cue: Cue, gap: str, clinicians: frozenset[str]) -> None:
        word = self._page.words[cue.last]
        if cue.first < cue.last or gap not in (" ", ". ", ".", "  ", ".  "):
            return
        if gap[0] == "." and word not in _ABBREVIATED:
            return  # the end of a sentence: "she works as a nurse. Pain began"
        if word not in _HOMONYMS or self._page.cases[cue.last] in "tu" or gap[0] == ".":
            points = WORD_BEFORE if word in _WEAK_TITLES else TITLE
            self._say(cue.last + 1, points, "name_provider" if word in clinicians else "", "title")

    def _credential(self, cue: Cue) -> None:
        """Only capitals tell a credential from a word (do, pa, ma, rt)."""
        page, first = self._page, cue.first
        if (
            not first
            or page.cases[first] not in "utmi"
            or (page.cases[first] == "t" and page.words[first] not in _MIXED)
        ):
            return
        if page.cases[first] == "u" and ZIP.match(page.plain, page.ends[cue.last]):
            return  # a state: "Radnor, PA 19087"
        if _CREDENTIAL_GAP.fullmatch(page.leads[first]):
            self.credentials.add(first - 1)

    def _roles(self, cue: Cue, gap: str) -> None:
        page, after, word = self._page, cue.last + 1, self._page.words[cue.last]
        if cue.kinds.isdisjoint(_OF_PEOPLE):
            return
        label = _LABEL_GAP.match(gap) is not None
        if label and gap[:1] == ":" and self._speaks(cue):
            label = False  # a transcript: what follows is said, not a name
        if "patient_label" in cue.kinds and label:
            self._say(after, LABEL, "name_patient", "label")
        if "weak" in cue.kinds and gap in (" ", ' "', " ("):
            before = page.words[cue.first - 1] if cue.first else ""
            spoken = (word in ("with", "by", "to") and before in MEETING) or (word == "for" and before in DONE)
            things = word in ("with", "by") and before.endswith("ed") and not spoken
            points = _MET if spoken else _THING_BEFORE if things else _PREPOSITION
            self._say(after, points, "", "met" if spoken else "preposition")
        for kind, leaf in _ROLES:
            if kind not in cue.kinds:
                continue
            if label:
                self._say(after, WORD_BEFORE if word == "cc" else LABEL, leaf, "label")
            elif _NEXT_GAP.match(gap):
                direct = gap in (" ", " (") or "\n" in gap
                by = word in ("by", "with", "to", "signed", "w")
                points = (_BY if by else ROLE) if direct else WORD_BEFORE
                if kind == "relative" and "\n" not in gap and word in KIN and page.cases[cue.last] == "l":
                    apposed = gap == ", " and after < page.size and page.gaps[after][:1] in tuple(",.;)")
                    points = _KIN_BEFORE if direct or apposed else _BY
                self._say(after, points, leaf, "kin_before" if points == _KIN_BEFORE else "cue")
        if "naming" in cue.kinds and gap in (" ", ' "', " '"):
            self._say(after, _NAMING, "name_patient", "naming")

    def _speaks(self, cue: Cue) -> bool:
        page = self._page
        return cue.first == cue.last and page.opens_line(cue.first) and page.speakers[page.words[cue.last]] > 1

    def vocatives(self, weights: Sequence[Weight]) -> None:
        """'Sharon, your result is ready': a given name that opens a text, a comma, and a sentence in small letters."""
        page = self._page
        for at in range(min(1, page.size)):
            weight = weights[at]
            told = at + 1 < page.size and page.gaps[at] == ", " and page.cases[at + 1] in "ld"
            if (
                told
                and page.words[at] not in _GREETINGS
                and weight.given
                and weight.known
                and weight.odds > _VOCATIVE_LEAST
                and page.cases[at] in "tu"
            ):
                self._say(at, _VOCATIVE, "", "vocative")

    def _beds(self) -> None:
        """'Bed 12: Rivera', as lists of patients have it."""
        page = self._page
        for at in page.figures:
            if at and page.words[at - 1] in _BEDS and page.gaps[at][:2] == ": ":
                self._say(at + 1, BED, "name_patient", "bed")
