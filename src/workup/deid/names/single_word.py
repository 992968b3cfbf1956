"""What counts for a name of one full word only: its case, its place in the sentence, and what it could be instead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workup.deid.names.cues import LABEL, ROLE
from workup.deid.names.right_context import COMPLAINS
from workup.deid.names.words import MEDICINES, TAKING, VERBS
from workup.deid.text_view import Page
from workup.deid.word_lists import words

if TYPE_CHECKING:
    from workup.deid.names.scoring import Candidate

_ABBREVIATION, _MIXED, _UNKNOWN, _PROSE, _MEDICINE, _OPENS = -2.0, -1.5, -1.5, -3.0, -3.0, -0.5
_VERB, _THING, _COMMON, _CAPITAL, _SPEAKER, _SMALL, _ENDS_SENTENCE = 0.7, -1.4, 0.75, 0.5, 3.2, 1.2, 0.5
_UNTOLD = frozenset(("single", "capitals", "lower", "preposition"))
_MIXED_NAMES = tuple(sorted(words("names.capital_inside")))
_DOSE = re.compile(
    r"-\d|,? (?:\d{1,4}(?:\.\d{1,2})?)(?:/\d{1,3})? ?(?:mg|mcg|ml|g|units?|tablets?|tabs?|%)\b", re.IGNORECASE
)


def lone_odds(name: Candidate) -> float:
    """The log-odds that one word alone adds or takes."""
    return _written(name) + _verbs(name) + _said(name) + _spoken(name) + _elsewhere(name)


def _written(name: Candidate) -> float:
    """Short forms in capitals, words with capitals inside, and a capital where a sentence runs on."""
    page, word, first = name.page, name.full[0], name.first
    case, weight, points = page.cases[word], name.runs.weights[word], 0.0
    if case == "u" and len(page.words[word]) <= 4 and not page.capitals[first] and name.points < ROLE:
        points += _ABBREVIATION
    if case == "m" and not page.words[word].startswith(_MIXED_NAMES):
        points += _MIXED
    if case != "t" or not first:
        return points
    if weight.common and weight.odds > 0.8 and not page.opens_sentence(first):
        points += _COMMON
    gap, before = page.gaps[first - 1], page.cases[first - 1]
    if before == "l" and gap in (" ", ", ") and weight.known and page.gaps[name.tail][:1] not in ("-", "/"):
        points += _CAPITAL
    ends = page.gaps[name.tail][:2] in (". ", ".\n", "? ", ".")
    if gap == ", " and before in "ld" and ends and weight.surname and weight.odds > 1.0:
        points += _ENDS_SENTENCE
    return points


def _verbs(name: Candidate) -> float:
    """A verb of people behind: more for a given name, less for a thing ("Helmet was worn")."""
    weight = name.runs.weights[name.full[0]]
    if "verb" not in name.why:
        alone = name.cue is None and name.tail not in name.runs.credentials and "initial" not in name.why
        return _OPENS if alone and name.page.opens_sentence(name.first) else 0.0
    if weight.given and weight.odds > 0.3:
        return _VERB
    thing = weight.everyday or not weight.known
    return _THING if thing and name.cue is None and name.page.opens_sentence(name.first) else 0.0


def _said(name: Candidate) -> float:
    """Behind a label: speech ("Patient: Good morning"), or another label ("Patient: Last: Jones")."""
    if name.cue is None or name.cue.why not in ("label", "preposition"):
        return 0.0
    weight = name.runs.weights[name.full[0]]
    if name.cue.why == "preposition":  # "closed with Vicryl" is more common than a stranger
        return _UNKNOWN if weight.why in ("unknown", "slip") else 0.0
    points = _PROSE if weight.odds < 0.5 and _prose_follows(name.page, name.tail) else 0.0
    return points + (_PROSE if name.page.gaps[name.tail][:1] == ":" else 0.0)


def _prose_follows(page: Page, tail: int) -> bool:
    after = tail + 1
    if after >= page.size or page.cases[after] != "l" or page.gaps[tail] not in (" ", ", "):
        return False
    return page.words[after] not in VERBS and not COMPLAINS.match(page.plain, page.ends[tail], page.ends[tail] + 8)


def _spoken(name: Candidate) -> float:
    """Who speaks in a transcript: a given name that opens a line, with a colon behind it."""
    page, weight = name.page, name.runs.weights[name.full[0]]
    text = page.words[name.full[0]]
    if not (page.opens_line(name.first) and page.gaps[name.tail][:1] == ":" and weight.given and weight.known):
        return 0.0
    again = page.speakers.get(text, 0) > 1
    if len(text) < 3 or page.cases[name.first] not in "tl" or not (weight.odds > 0.4 or again):
        return 0.0
    name.why.append("speaker")
    return _SPEAKER + (max(0.0, -weight.odds) + _SMALL if again else 0.0)


def _elsewhere(name: Candidate) -> float:
    """A medicine rather than a person: a dose follows, a verb of taking stands before, or nothing tells of a person."""
    page, first = name.page, name.first
    if name.points >= LABEL:
        return 0.0
    if page.cases[name.tail + 1 : name.tail + 2] == "d" and _DOSE.match(
        page.plain, page.ends[name.tail], page.ends[name.tail] + 24
    ):
        return _MEDICINE
    if page.words[name.full[0]] in MEDICINES and _UNTOLD.issuperset(name.why) and not page.opens_line(first):
        return _MEDICINE
    if not first or page.gaps[first - 1] != " ":
        return 0.0
    before = page.words[first - 1]
    if before in ("on", "of", "with") and first > 1:
        before = page.words[first - 2]
    return _MEDICINE if before in TAKING else 0.0
