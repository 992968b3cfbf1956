"""Whether a name may begin with a word at all: most words of a note are turned away here. Weighs nothing."""

from __future__ import annotations

from workup.deid.known_words import is_clinical_part
from workup.deid.names.cues import BED, ROLE, SPOKEN, WORD_BEFORE, Expected
from workup.deid.names.extent import Runs
from workup.deid.names.word_weights import PARTICLES
from workup.deid.names.words import ABBREVIATIONS, FORM_WORDS, KIN, MONTHS
from workup.deid.text_view import Page
from workup.text.wordlists import function_words


def may_open(runs: Runs, at: int, cue: Expected | None) -> bool:
    """Whether a name may begin with this word, by its case and by what is expected here."""
    page, word = runs.page, runs.page.words[at]
    case, points = page.cases[at], cue.points if cue is not None else 0.0
    if case == "i":
        return _initial_opens(page, at, points)
    if case == "d":
        return runs.weights[at].why == "slip"
    if case == "l":
        return _particle_opens(runs, at, points) if word in PARTICLES else _small_opens(runs, at, points)
    if case == "m" and len(word) < 3:
        return False
    if word in KIN and (case != "t" or page.opens_sentence(at) or not runs.weights[at].given):
        return False
    return word not in runs.stop or _stopped_opens(runs, at, points)


def _initial_opens(page: Page, at: int, points: float) -> bool:
    inner = at > 0 and page.cases[at - 1] == "i" and page.gaps[at - 1] == "."
    if inner or _abbreviates(page, at):
        return False
    return points >= ROLE or page.words[at] != "a" or page.gaps[at] != " "  # an article


def _abbreviates(page: Page, at: int) -> bool:
    """Whether a chain of initials begins that is a known short form: 'D.O.B. January 2'."""
    last = at
    while last + 1 < page.size and page.gaps[last] == "." and page.cases[last + 1] == "i":
        last += 1
    return last - at >= 2 and "".join(page.words[at : last + 1]) in ABBREVIATIONS


def _particle_opens(runs: Runs, at: int, points: float) -> bool:
    """'de la Cruz': what follows the particles must be a name."""
    page, after = runs.page, at + 1
    while after < page.size and after - at < 4 and page.words[after] in PARTICLES and page.cases[after] == "l":
        after += 1
    if after >= page.size or page.gaps[after - 1] != " " or page.cases[after] not in "tu":
        return False
    due = points >= ROLE or page.opens_line(at)
    return runs.weights[after].odds > (-1.5 if due else 0.3)


def _small_opens(runs: Runs, at: int, points: float) -> bool:
    """A word in small letters: who speaks in a transcript, or a known name where one is due."""
    page, weight, word = runs.page, runs.weights[at], runs.page.words[at]
    speaks = page.gaps[at][:1] == ":" and page.opens_line(at)
    if speaks and weight.given and page.speakers[word] > 1:
        return word not in runs.stop
    if _small_pair(runs, at, points):
        return True
    if not weight.known or weight.everyday or word in runs.stop:
        return False  # a slip in small letters is a word far more often than a name
    if is_clinical_part(word) and not (points >= BED and weight.common):
        return False
    paired = weight.given and at + 1 < page.size and page.gaps[at] == " " and runs.weights[at + 1].odds > 0.5
    return weight.odds >= (0.0 if paired or points >= ROLE else 0.5) and len(word) > (2 if paired else 3)


def _small_pair(runs: Runs, at: int, points: float) -> bool:
    """A given name and a surname in small letters, where a name is due or a text begins with them."""
    page, weights = runs.page, runs.weights
    if (at and points < WORD_BEFORE) or at + 1 >= page.size or page.gaps[at] != " " or page.cases[at + 1] != "l":
        return False
    given, family = weights[at], weights[at + 1]
    known = given.known and given.given and family.known and family.family and family.why not in ("word", "clinical")
    return known and given.odds + family.odds > (-1.0 if at else 0.0) and page.words[at] not in function_words()


def _stopped_opens(runs: Runs, at: int, points: float) -> bool:
    """An everyday word of notes with a capital, which is a name too: only where something makes it one."""
    page, weight = runs.page, runs.weights[at]
    if not (weight.known and (weight.given or weight.family)):
        return False
    if _heads(runs, at) or weight.odds > -1.2 or points >= ROLE or page.gaps[at] == ". ":
        return True
    if weight.given and not runs.credentials.isdisjoint((at + 1, at + 2, at + 3)):
        return True
    initial = at + 2 < page.size and page.cases[at + 1] == "i" and page.gaps[at + 1] == ". "
    return weight.given and initial and (page.cases[at + 2] in "tu" or points >= SPOKEN)


def _heads(runs: Runs, at: int) -> bool:
    """'August Manning', 'Head, Ella E.': an everyday word before a word that makes a name of it."""
    page = runs.page
    if at + 1 >= page.size or page.cases[at + 1] not in "tu":
        return False
    behind, word = runs.weights[at + 1], page.words[at]
    if page.gaps[at] == " ":
        return word in MONTHS and behind.family and page.words[at + 1] not in runs.stop
    if page.gaps[at] != ", " or word in FORM_WORDS:
        return False
    opens = page.opens_line(at) or page.leads[at][-2:] in ("- ", ": ", "/ ", "| ")
    return opens and behind.given and behind.known and behind.odds > 0.4
