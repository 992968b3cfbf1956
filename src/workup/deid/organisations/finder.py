"""Hospitals, employers and other organisations: by a word that says what they are, and by words that announce them.

Words with capitals before such a word ("Mercy Medical Center"), the same in small letters, and what follows "Employer:"
or "transferred to". Short forms are in acronyms.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workup.deid import gazetteer
from workup.deid.cues import Cue, CueBook
from workup.deid.finding import Finding
from workup.deid.known_words import clinical_words, is_known
from workup.deid.names.word_weights import weigh
from workup.deid.organisations.acronyms import ACRONYM, acronyms
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.deid.word_lists import words
from workup.text.calendar import WEEKDAY_WORDS
from workup.text.wordlists import function_words, words_of

_INSIDE = words("organisations.inside")
_CUED_JOINS = frozenset((" ", "-", " & ", "'s ", ". ", "'"))
_NO_EMPLOYER = words("organisations.no_employer")
_BEFORE_LOWERCASE = words("organisations.before_lowercase")
_LOWERCASE_PARTS = words("organisations.lowercase_parts")
_LOWERCASE_HEADS = words("organisations.lowercase_heads")
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
_OPEN_ENDED = words("organisations.open_ended")
_SPECIALTIES = words("organisations.any_hospital")
_HEADINGS = words("organisations.headings")
_SMALL_FIRST = _INSIDE - words_of("san santa st la los del")
_CUT = WEEKDAY_WORDS | words("organisations.cut")


class Organisations:
    """The lists of what organisations are called, as cues."""

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
                    yield from _cued(page, cue, kind, stop, settings.lists["facility_words"])


def _named(page: Page, cue: Cue, stop: frozenset[str]) -> Finding | None:
    """The run of capitals that ends in such a word."""
    if page.cases[cue.first] == "l" and " ".join(page.words[cue.first : cue.last + 1]) in _LOWERCASE_HEADS:
        return _lowercase(page, cue, stop, _NOT_FIRST)
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
    if following in _HEADINGS and page.cases[last + 1] == "t":
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
        small = page.words[before] in _INSIDE and before > 0 and page.cases[before - 1] in "tum"
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


def _cued(page: Page, cue: Cue, kind: str, stop: frozenset[str], any_of_them: frozenset[str]) -> Iterator[Finding]:
    """What a cue of a kind announces; a label (with a colon) is surer than a verb."""
    gap, at = page.gaps[cue.last], cue.last + 1
    label = ":" in gap and len(gap) < 40 and "\n" not in gap
    if not (label or (cue.last > cue.first and gap in (" ", " the "))) or not _may_begin(page, cue, kind, label=label):
        return
    last = _cued_last(page, at, small=label and kind == "employer")
    if label and kind == "employer" and page.cases[at] == "u" and last == at:
        yield Finding(page.starts[at], page.ends[at], kind, 0.75, "employer.cue", ("label", "capitals"))
        return
    if " ".join(page.words[at : last + 1]) in any_of_them:
        return  # "seen at Urgent Care"
    if not _is_organisation(page, at, last, kind, stop, label=label):
        return
    if page.plain[page.ends[last] : page.ends[last] + 4] in (" inc", " Inc", " LLC"):
        last += 1
    score, why = (0.85, "label") if label else (0.7, "cue")
    yield Finding(page.starts[at], page.ends[last], kind, score, f"{kind}.cue", (why,))


def _may_begin(page: Page, cue: Cue, kind: str, *, label: bool) -> bool:
    at = cue.last + 1
    case = page.cases[at : at + 1]
    if not case or case not in ("tuml" if label and kind == "employer" else "tum"):
        return False
    if page.words[cue.last] == "group":
        return label and case in "ut"
    if kind != "facility" or case != "u":
        return True
    shaped = page.words[cue.last] != "to" or ACRONYM.fullmatch(page.plain, page.starts[at], page.ends[at]) is not None
    clinical = weigh(page.words[at]).why == "clinical"
    return shaped and not clinical and not page.capitals[at] and len(page.words[at]) <= 5


def _cued_last(page: Page, at: int, *, small: bool) -> int:
    """On over words with capitals, small words between them, and, after a label, small letters too."""
    last = at
    while last + 1 < page.size and page.gaps[last] in _CUED_JOINS and last - at < 6:
        if page.gaps[last] == ". " and page.words[last] not in ("st", "mt", "ft"):
            break
        case, after = page.cases[last + 1], page.cases[last + 2 : last + 3]
        capital = after != "" and after in "tu"
        if page.words[last + 1] == "s" and page.gaps[last] == "'" and capital:
            last += 2
        elif case in "tum" or (page.words[last + 1] in _INSIDE and capital) or (small and case == "l"):
            last += 1
        else:
            break
    return last


def _is_organisation(page: Page, at: int, last: int, kind: str, stop: frozenset[str], *, label: bool) -> bool:
    words = page.words[at : last + 1]
    alone = last == at and page.gaps[last] == " " and page.cases[last + 1 : last + 2] == "l"
    if kind == "facility" and label and alone:
        return False  # "Location: Mid parietal scalp"
    if kind == "employer" and (words[0] in _NO_EMPLOYER or words[-1] in ("title", "preschool")):
        return False
    return words[0] not in stop and not all(word in stop or word in clinical_words() for word in words)


def _lowercase(page: Page, cue: Cue, stop: frozenset[str], generic: frozenset[str]) -> Finding | None:
    """The name that ends in such a word; None where the words before it are those of any hospital."""
    first = _lowercase_first(page, cue, stop, generic)
    own = [page.words[word] for word in range(first, cue.first) if page.words[word] not in _LOWERCASE_PARTS]
    proper = any(word not in gazetteer.everyday() or word in ("st", "mt") for word in own)
    before = page.leads[first]
    due = (
        page.opens_line(first)
        or before[-1:] in ("(", ",")
        or (first > 0 and page.words[first - 1] in _BEFORE_LOWERCASE)
    )
    if not own or not (proper or due):
        return None
    if page.gaps[cue.last] == " " and page.words[cue.last + 1 : cue.last + 2] and page.words[cue.last + 1] in _HEADINGS:
        return None  # "brief hospital course"
    score = 0.75 if proper else 0.6
    return Finding(page.starts[first], page.ends[cue.last], "facility", score, "facility.lower", ("kind", "lower"))


def _lowercase_first(page: Page, cue: Cue, stop: frozenset[str], generic: frozenset[str]) -> int:
    """Back over small words that may be part of a name."""
    first = cue.first
    while first and cue.first - first < 4 and page.leads[first] in (" ", "'s ", ". ", "-"):
        word = page.words[first - 1]
        if page.cases[first - 1] != "l" or (page.leads[first] == ". " and word not in ("st", "mt")):
            break
        if word in function_words() or word in generic or word in clinical_words():
            break
        if word in stop and word not in _LOWERCASE_PARTS:
            break
        first -= 1
    return first
