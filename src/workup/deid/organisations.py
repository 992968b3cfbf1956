# ruff: noqa: E501 - patterns and lists of words are read more easily in long lines
"""Hospitals, employers and other bodies: words with capitals before a word that says what it is, or behind a cue."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from workup.deid import gazetteer
from workup.deid.cues import Cue, CueBook
from workup.deid.finding import Finding
from workup.deid.nameness import weigh
from workup.deid.page import Page, words_of
from workup.deid.settings import Settings
from workup.deid.vocabulary import clinical_words, is_clinical_part
from workup.tasks.spans.language import function_words

_KINDS = {
    "facility_words": "facility",
    "company_ends": "employer",
    "public_bodies": "employer",
    "organisations": "org_other",
}
_INSIDE = words_of("of and the for at de la del los & san santa st le")
_JOINS = frozenset((" ", "-", "'s ", " & ", ". ", "'", "' ", "s' "))
_JOINING = words_of("of for at")
_HEADS_OF = words_of(
    "bank university college church city town department school hospital institute house board office ministry council "
    "court center centre clinic society academy bureau division district authority foundation association church temple "
    "ministries sisters daughters friends saint county state museum federation union league order company"
)
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


def _in_small(page: Page, cue: Cue, stop: frozenset[str]) -> Finding | None:
    """A hospital in small letters: 'at mercy medical center', 'stonegate university hospital'."""
    first = cue.first
    while first and cue.first - first < 4 and page.before(first) in (" ", "'s ", ". ", "-"):
        word = page.words[first - 1]
        if page.before(first) == ". " and word not in ("st", "mt"):
            break
        if page.cases[first - 1] != "l" or word in function_words() or word in _NOT_FIRST or word in clinical_words():
            break
        if word in stop and word not in _PARTS_OF_HOSPITALS:
            break
        first -= 1
    own = [w for w in range(first, cue.first) if page.words[w] not in _PARTS_OF_HOSPITALS]
    proper = [w for w in own if page.words[w] not in gazetteer.everyday() or page.words[w] in ("st", "mt")]
    due = page.opens_line(first) or page.before(first)[-1:] in ("(", ",") or (first and page.words[first - 1] in _AT)
    if not own or not (proper or due) or (page.before(first) == " " and not due and not proper):
        return None
    score = 0.75 if proper else 0.6
    return Finding(page.starts[first], page.ends[cue.last], "facility", score, "facility.lower", ("kind", "lower"))


_AT = words_of("at from to of in near by via")
_PARTS_OF_HOSPITALS = words_of(
    "community regional memorial university county city general women's children's womens childrens veterans medical "
    "surgical eye heart cancer health hospice nursing rehabilitation state national"
)
_SMALL_HEADS = frozenset(
    ("hospital", "medical center", "health system", "cancer institute", "cancer center", "eye institute", "hospice house",
     "nursing home", "university hospital", "heart institute", "surgery center", "imaging center", "children s hospital",
     "rehabilitation hospital", "veterans hospital", "public library", "school district", "trucking", "inc")
)  # fmt: skip


def _named(page: Page, cue: Cue, stop: frozenset[str]) -> Finding | None:
    """The run of capitals that ends in such a word."""
    if page.cases[cue.first] == "l" and " ".join(page.words[cue.first : cue.last + 1]) in _SMALL_HEADS:
        return _in_small(page, cue, stop)
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
    if page.cases[cue.first] == "u" and page.gap(last)[:1] == ":":
        return None  # a heading inside a line
    following = page.words[last + 1] if page.gap(last) == " " and last + 1 < len(page) else ""
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
        if page.words[before] in _JOINING and (before == 0 or page.words[before - 1] not in _HEADS_OF):
            break
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
_BEFORE_ACRONYM = words_of("at from to per of md do rn in via client near by site lab hospital")
_BEHIND_ACRONYM = words_of("records record fax emergency from on in was where since until with")


def _acronyms(page: Page, stop: frozenset[str]) -> Iterator[Finding]:
    """Short forms of hospitals (SMC, LCH): heading a text, on a line of their own, in brackets, or where one is due."""
    for at, word in enumerate(page.words):
        if page.cases[at] != "u" or not 3 <= len(word) <= 5 or word in stop:
            continue
        headed = at < 12 and page.opens_line(at) and page.gap(at)[:1] == "\n"
        placed = at > 0 and page.words[at - 1] == "at" and page.before(at) == " "
        placed = placed or (at > 0 and page.before(at) == ", " and page.words[at - 1] in stop_specialties())
        if (is_clinical_part(word) or word in _COMMON_SHORT) and not headed and not placed:
            continue
        if not _ACRONYM.fullmatch(page.plain, page.starts[at], page.ends[at]):
            continue
        if _alone(page, at) or (not page.capitals[at] and _due(page, at)):
            yield Finding(page.starts[at], page.ends[at], "facility", 0.6, "facility.acronym", ("capitals", "place"))


def _alone(page: Page, at: int) -> bool:
    gap = page.gap(at)
    if page.opens_line(at) and gap[:2] == " (" and page.cases[at + 1 : at + 2] == "t" and len(page.words[at]) > 3:
        return True
    if at == 0 and (gap[:2] in (": ", " |", " -") or gap[:1] == "\n"):
        return True
    return page.opens_line(at) and gap[:1] in ("\n", "")


def _due(page: Page, at: int) -> bool:
    before, gap = page.before(at), page.gap(at)
    ends = gap[:1] in (".", ",", ";", ")", "\n", "") or gap[:2] == " ("
    if not at:
        return False
    word = page.words[at - 1]
    if before == " (" and gap[:1] in (")", ","):
        return page.cases[at - 1] == "d" or word in _BEFORE_ACRONYM or word in _OPEN_ENDED
    if before == ", " and gap[:1] == ")":
        return True
    if before == ", " and gap[:1] in ("\n", ".", ""):
        return word in stop_specialties() or page.cases[at - 1] == "d" or word in _BEFORE_ACRONYM
    follows = at + 1 < len(page) and gap == " " and page.words[at + 1] in _BEHIND_ACRONYM
    return before in (" ", ": ") and word in _BEFORE_ACRONYM and (ends or follows)


@cache
def stop_specialties() -> frozenset[str]:
    """Words that end the name of a specialty, behind which the hospital of a signature stands."""
    return words_of(
        "medicine surgery cardiology neurology oncology urology ophthalmology psychiatry pediatrics dermatology radiology "
        "pathology nephrology endocrinology gastroenterology hematology rheumatology pulmonology gynecology obstetrics "
        "orthopedics otolaryngology anesthesiology geriatrics neurosurgery podiatry immunology allergy genetics nursing "
        "rehabilitation care therapy"
    )


# Capitals that end like a hospital's and are none; clinical terms are known from the vocabulary.
_COMMON_SHORT = words_of(
    "pmh psh fmh nkh pth fsh tsh adh ldh acth crh gh lh mch ich sah sdh edh bph dvh abc wbc rbc cbc cc ac pc hc ci "
    "eth nach nah bach math with both each such much high inch mmc pcc ncc scc hcc rcc icc tcc"
)


_OPEN_ENDED = words_of("hospital university college clinic institute")
_SPECIALTIES = words_of(
    "past sports child adolescent family internal emergency geriatrics occupational medicine addiction physical oral "
    "maxillofacial plastic vascular thoracic trauma bacteriology pathology radiology operative diagnostic healthcare system"
)
_NO_BODY = words_of(
    "note notes visit summary report course evaluation consultation form record records history necessity decision assistant director"
)
_SMALL_FIRST = _INSIDE - words_of("san santa st la los del")
_CUT = words_of("dr mr mrs ms admitted seen discharged transferred patient attending monday tuesday wednesday thursday friday saturday sunday date location "
                 "facility name employer hospital clinic pharmacy phone fax address re cc")  # fmt: skip


_NO_EMPLOYER = words_of(
    "job company attends retired unemployed self none student works occupation not disabled homemaker stays employer "
    "full part n na unknown currently never in on"
)


def _cued(page: Page, cue: Cue, kind: str, stop: frozenset[str]) -> Iterator[Finding]:
    gap = page.gap(cue.last)
    label = ":" in gap and len(gap) < 40 and "\n" not in gap
    strong = label or (cue.last > cue.first and gap in (" ", " the "))
    at = cue.last + 1
    if page.words[cue.last] == "group" and (not label or page.cases[at : at + 1] not in ("u", "t")):
        return
    if not strong or at >= len(page) or page.cases[at] not in ("tuml" if label and kind == "employer" else "tum"):
        return
    if (
        kind == "facility"
        and page.cases[at] == "u"
        and (
            len(page.words[at]) > 5
            or (page.words[cue.last] == "to" and not _ACRONYM.fullmatch(page.plain, page.starts[at], page.ends[at]))
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
    if kind == "facility" and last == at and page.gap(last) == " " and page.cases[last + 1 : last + 2] == "l" and label:
        return  # "Location: Mid parietal scalp"
    if kind == "employer" and (words[0] in _NO_EMPLOYER or words[-1] in ("title", "preschool")):
        return
    if label and kind == "employer" and page.cases[at] == "u" and last == at:
        yield Finding(page.starts[at], page.ends[at], kind, 0.75, "employer.cue", ("label", "capitals"))
        return
    if words[0] in stop or all(word in stop or word in clinical_words() for word in words):
        return
    if page.plain[page.ends[last] : page.ends[last] + 4] in (" inc", " Inc", " LLC"):
        last += 1
    yield Finding(
        page.starts[at], page.ends[last], kind, 0.85 if label else 0.7, f"{kind}.cue", ("label" if label else "cue",)
    )
