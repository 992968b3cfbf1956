"""Which canonical leaf a span of the tagger is: its kinds are coarse, the words of the span and before it say more.

Where they say nothing, the leaf is one that privacy rules ask to be masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from workup.deid import gazetteer
from workup.deid.names.words import KIN
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.deid.word_lists import words
from workup.text.calendar import MONTH_WORDS

_REACH = 3  # words before a span that are looked at
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_CLOCK = re.compile(r"(?i)\d{1,2}(?::\d\d){1,2}(?: ?[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?|\d{4} ?h(?:ou)?rs?")
_RECORD = words("fusion.record")
_FAX = words("fusion.fax")
_BIRTH = words("fusion.birth")
_COUNTY = words("fusion.county")


class Leaves:
    """Chooses leaves by the lists and cues that are in force."""

    def __init__(self, settings: Settings) -> None:
        self._lists = settings.lists
        self._provider, self._relative, self._employer = (
            _single(settings.cues[kind]) for kind in ("provider", "relative", "employer")
        )
        self._provider |= _single(settings.cues["clinician_title"])
        self._credentials = _single(settings.cues["credential"])
        self._of: dict[str, Callable[[Page, int, int], str]] = {
            "NAME": self._name,
            "DATE": _date,
            "STREET": lambda *_: "street_address",
            "GEO": _place,
            "ORG": self._organisation,
            "ID": lambda page, first, last: "mrn" if _before(page, first, _RECORD) else "id_other",
            "PHONE": lambda page, first, last: "fax" if _before(page, first, _FAX) else "phone",
            "EMAIL": lambda *_: "email",
            "URL": lambda *_: "url",
            "AGE": _age,
            "QUASI": self._quasi,
        }

    def of(self, label: str, page: Page, start: int, end: int) -> str:
        """The leaf of a span of the tagger."""
        return self._of[label](page, page.word_at(start), page.word_at(end))

    def _name(self, page: Page, first: int, last: int) -> str:
        if _before(page, first, self._provider) or (page.words[last : last + 1] or [""])[0] in self._credentials:
            return "name_provider"
        return "name_relative" if _before(page, first, self._relative | (KIN - {"patient", "self"})) else "name_patient"

    def _organisation(self, page: Page, first: int, last: int) -> str:
        own = page.words[first:last]
        if _holds(own, self._lists["facility_words"]):
            return "facility"
        if _before(page, first, self._employer) or _holds(own[-1:], self._lists["company_ends"]):
            return "employer"
        return "org_other" if _holds(own, self._lists["organisations"]) else "facility"

    def _quasi(self, page: Page, first: int, last: int) -> str:
        own = page.words[first:last]
        if _holds(own, self._lists["demonyms"]):
            return "nationality_religion_politics"
        return "quantity" if "d" in page.cases[first:last] else "profession"


def _single(cues: Collection[str]) -> frozenset[str]:
    return frozenset(cue for cue in cues if " " not in cue)


def _before(page: Page, first: int, known: Collection[str]) -> bool:
    """Whether one of these words stands a little before a span, in the same line."""
    for word in range(first - 1, max(-1, first - 1 - _REACH), -1):
        if "\n" in page.gaps[word]:
            return False
        if page.words[word] in known:
            return True
    return False


def _holds(own: list[str], known: Collection[str]) -> bool:
    return any(word in known or pair in known for word, pair in zip(own, _pairs(own), strict=True))


def _pairs(own: list[str]) -> list[str]:
    return [" ".join(own[at : at + 2]) for at in range(len(own))]


def _date(page: Page, first: int, last: int) -> str:
    own = page.plain[page.starts[first] : page.ends[last - 1]] if last > first else ""
    if _YEAR.fullmatch(own):
        return "year_only"
    if _CLOCK.fullmatch(own):
        return "time"
    if _before(page, first, _BIRTH):
        return "date_birth"
    figures = "d" in page.cases[first:last] or any(word in MONTH_WORDS for word in page.words[first:last])
    return "date" if figures else "date_relative"


def _place(page: Page, first: int, last: int) -> str:
    own = page.words[first:last]
    name = " ".join(own)
    if name.replace(" ", "").isdigit():
        return "zip"
    if own and own[-1] in _COUNTY and len(own) > 1:
        return "county"
    known = gazetteer.places().get(name)
    if known is None or set(known.kinds) & set("uw"):
        return "city"
    return "state" if "s" in known.kinds else "country" if "n" in known.kinds else "city"


def _age(page: Page, first: int, last: int) -> str:
    figures = [word for word in page.words[first:last] if word.isdecimal() and len(word) < 4]
    return "age_over_89" if any(int(word) > 89 for word in figures) else "age_under_90"
