"""Employers and hospitals behind words that announce them: 'Employer: ...', 'works for ...', 'transferred to ...'."""

from __future__ import annotations

from collections.abc import Iterator

from workup.deid.cues import Cue
from workup.deid.finding import Finding
from workup.deid.known_words import clinical_words
from workup.deid.names.word_weights import weigh
from workup.deid.organisations.acronyms import ACRONYM
from workup.deid.text_view import Page
from workup.deid.word_lists import words

INSIDE = words("organisations.inside")
_JOINS = frozenset((" ", "-", " & ", "'s ", ". ", "'"))
_NO_EMPLOYER = words("organisations.no_employer")


def cued(page: Page, cue: Cue, kind: str, stop: frozenset[str]) -> Iterator[Finding]:
    """What a cue of a kind announces; a label (with a colon) is surer than a verb."""
    gap, at = page.gaps[cue.last], cue.last + 1
    label = ":" in gap and len(gap) < 40 and "\n" not in gap
    if not (label or (cue.last > cue.first and gap in (" ", " the "))) or not _may_begin(page, cue, kind, label=label):
        return
    last = _last_of(page, at, small=label and kind == "employer")
    if label and kind == "employer" and page.cases[at] == "u" and last == at:
        yield Finding(page.starts[at], page.ends[at], kind, 0.75, "employer.cue", ("label", "capitals"))
        return
    if not _is_body(page, at, last, kind, stop, label=label):
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


def _last_of(page: Page, at: int, *, small: bool) -> int:
    """On over words with capitals, small words between them, and, behind a label, small letters too."""
    last = at
    while last + 1 < page.size and page.gaps[last] in _JOINS and last - at < 6:
        if page.gaps[last] == ". " and page.words[last] not in ("st", "mt", "ft"):
            break
        case, behind = page.cases[last + 1], page.cases[last + 2 : last + 3]
        capital = behind != "" and behind in "tu"
        if page.words[last + 1] == "s" and page.gaps[last] == "'" and capital:
            last += 2
        elif case in "tum" or (page.words[last + 1] in INSIDE and capital) or (small and case == "l"):
            last += 1
        else:
            break
    return last


def _is_body(page: Page, at: int, last: int, kind: str, stop: frozenset[str], *, label: bool) -> bool:
    words = page.words[at : last + 1]
    alone = last == at and page.gaps[last] == " " and page.cases[last + 1 : last + 2] == "l"
    if kind == "facility" and label and alone:
        return False  # "Location: Mid parietal scalp"
    if kind == "employer" and (words[0] in _NO_EMPLOYER or words[-1] in ("title", "preschool")):
        return False
    return words[0] not in stop and not all(word in stop or word in clinical_words() for word in words)
