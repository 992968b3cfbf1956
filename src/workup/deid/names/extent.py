"""Where a name may begin, and how far it may reach: which words and marks may be inside one. Weighs nothing.

Most words of a note are turned away at `may_open`."""

from __future__ import annotations

from workup.deid import gazetteer
from workup.deid.known_words import is_clinical_part
from workup.deid.names.cues import BED, LABEL, ROLE, SPOKEN, WORD_BEFORE, ZIP, Expected
from workup.deid.names.right_context import HEADER_AFTER, NO_HEADER
from workup.deid.names.weights import name_weight
from workup.deid.names.word_weights import PARTICLES, SUFFIXES, Weight
from workup.deid.names.words import ABBREVIATIONS, FORM_WORDS, KIN
from workup.deid.text_view import Page
from workup.text.calendar import MONTH_WORDS
from workup.text.states import POSTAL_CODES
from workup.text.wordlists import function_words

_MOST = 6
_JOINS = frozenset((" ", "-", ". ", ".", '" ', ' "', "- ", " -"))
_TURNS = frozenset((", ", ",", "^", "., "))
_ALONE_NOTHING = frozenset(("word", "clinical", "initial"))
_PARTICLE = name_weight("start.particle")
_PARTICLE_DUE = name_weight("start.particle_due")
_LOWER = name_weight("start.lower")
_LOWER_DUE = name_weight("start.lower_due")
_LOWER_PAIRED = name_weight("start.lower_paired")
_LOWER_PAIR = name_weight("start.lower_pair")
_LOWER_PAIR_FIRST = name_weight("start.lower_pair_first")
_STOPPED = name_weight("start.stopped")
_STOPPED_GIVEN = name_weight("start.stopped_given")
_GOING_ON = name_weight("extent.going_on")
_AFTER_PARTICLE = name_weight("extent.after_particle")
_AFTER_PARTICLE_LOWER = name_weight("extent.after_particle_lower")
_LOWER_NEXT = name_weight("extent.lower_next")
_LOWER_NEXT_DUE = name_weight("extent.lower_next_due")
_LOWER_DUE_CUE = name_weight("extent.lower_due_cue")
_NEXT = name_weight("extent.next")
_SURE_GIVEN = name_weight("extent.sure_given")
_ANNOUNCING_CUE = name_weight("extent.announcing_cue")
_GIVEN_FIRST = name_weight("extent.given_first")
_TURNED_CUE = name_weight("extent.turned_cue")
_TURNED_STOPPED = name_weight("extent.turned_stopped")
_TURNED_SURNAME_HEADER = name_weight("extent.turned_surname_header")
_TURNED_SURNAME = name_weight("extent.turned_surname")
_TURNED_LOWER = name_weight("extent.turned_lower")
_TURNED_GIVEN = name_weight("extent.turned_given")
_TURNED_GIVEN_DUE = name_weight("extent.turned_given_due")
_SECOND_GIVEN = name_weight("extent.second_given")


class Runs:
    """The words of a page with their weights, and what bounds a name among them."""

    def __init__(self, page: Page, weights: list[Weight], credentials: set[int], stop: frozenset[str]) -> None:
        self.page, self.weights, self.credentials, self.stop = page, weights, credentials, stop

    def hopeless(self, at: int) -> bool:
        """Whether a word without a cue, a credential and a word that joins it need not be weighed.

        All that may be around a word that nobody bears is too little to make a name of it; so is a sentence that
        goes on after an unlikely one."""
        page, weight, gap = self.page, self.weights[at], self.page.gaps[at]
        if weight.why not in _ALONE_NOTHING:
            goes_on = gap == " " and page.cases[at + 1 : at + 2] == "l" and page.words[at + 1][0] in NO_HEADER
            if weight.odds >= _GOING_ON or not goes_on:
                return False
        if at in self.credentials or gap in _TURNS:
            return False
        return at + 1 >= page.size or not self._joined(at, at, None)

    def ends(self, first: int, cue: Expected | None) -> list[int]:
        """Last words at which a name that begins here may end, the longest last."""
        page, found, at = self.page, [first], first
        while at + 1 < page.size and len(found) < _MOST and self._joined(first, at, cue):
            at += 1
            found.append(at)
        while len(found) > 1 and page.words[found[-1]] in PARTICLES and page.cases[found[-1]] in "l":
            found.pop()
        return found

    def _joined(self, first: int, at: int, cue: Expected | None) -> bool:
        """Whether the word after this one may belong to the same name."""
        page, gap = self.page, self.page.gaps[at]
        word, case, weight = page.words[at + 1], page.cases[at + 1], self.weights[at + 1]
        if gap not in _JOINS or (gap[0] == "." and page.cases[at] != "i" and page.words[at] not in ("st", "jr", "sr")):
            return False
        if word in SUFFIXES:
            return True
        if case == "i":
            return gap in (" ", ".", '" ', ". ")
        if word in PARTICLES and case in "lut" and at + 2 < page.size:
            after = self.weights[at + 2]
            if page.words[at + 2] in PARTICLES or (page.cases[at + 2] in "tu" and after.odds > _AFTER_PARTICLE):
                return True
            if page.cases[first] == "l" and after.odds > _AFTER_PARTICLE_LOWER:
                return True
        if case == "d":
            return weight.why == "typo"
        if case == "l":
            due = (
                cue is not None
                and cue.points >= _LOWER_DUE_CUE
                and weight.family
                and weight.why not in ("word", "clinical")
            )
            least = _LOWER_NEXT_DUE if due and page.cases[first] == "l" and at == first else _LOWER_NEXT
            if weight.why == "typo" and cue is not None and cue.points >= LABEL and page.cases[first] in "tu":
                return True  # the first letter was lost
            return (page.cases[first] == "l" or gap == "-") and weight.odds > least and word not in self.stop
        if word in self.stop or weight.odds <= _NEXT:
            return self._may_be_a_name(first, at + 1, cue)
        return True

    def _may_be_a_name(self, first: int, at: int, cue: Expected | None) -> bool:
        """A word that mostly is none, inside a name that cues announce: 'Dr. May Head', 'Cynthia M. Blood'."""
        weight, page = self.weights[at], self.page
        called = cue is not None and cue.why == "title" and page.cases[at - 1] == "i" and page.cases[at] == "t"
        if page.words[at] in function_words() and at not in self.credentials:
            given = self.weights[first]
            sure = given.given and given.odds > _SURE_GIVEN and not given.everyday
            inside = page.gaps[at - 1] == " " and page.cases[at] == "t" and page.cases[at + 1 : at + 2] != "t"
            if at == first + 1 and sure and inside and weight.family:
                return True  # "Hao Her", "Sunita To": a capital where a sentence has none
            return called and page.words[at] in ("may", "will", "few", "own", "down", "more", "just", "much")
        if not (weight.known and (weight.given or weight.family)):
            signed = not self.credentials.isdisjoint((at, at + 1))
            return signed and weight.why != "clinical" and page.words[at] not in self.stop
        announced = cue is not None and cue.points >= _ANNOUNCING_CUE
        initial = page.cases[at - 1] == "i" and at - 1 > first
        suffix = at + 1 < page.size and page.words[at + 1] in SUFFIXES and page.gaps[at] in (" ", ", ")
        fits = page.words[at] not in self.stop or (weight.surname and page.cases[at] == page.cases[first])
        opened = fits and self.weights[first].given and self.weights[first].odds > _GIVEN_FIRST
        return announced or initial or suffix or opened or not self.credentials.isdisjoint((at, at + 1))

    def tails(self, last: int, cue: Expected | None) -> list[int]:
        """The end as it is, and with a given name and more after a comma ('Last, First M.')."""
        page, gap, at = self.page, self.page.gaps[last], last + 1
        if gap not in _TURNS or at >= page.size or page.cases[at] not in "tulmi":
            return [last]
        if gap != "^" and not self._given_after(last, at, cue):
            return [last]
        for _ in range(3):
            if not self._more_given(at, hl7=gap == "^"):
                break
            at += 1
        return [last, at]

    def _given_after(self, last: int, at: int, cue: Expected | None) -> bool:
        page, weight = self.page, self.weights[at]
        announced = cue is not None and cue.points >= _TURNED_CUE
        end = (
            page.ends[at + 1] + 1
            if at + 1 < page.size and page.cases[at + 1] == "i" and page.gaps[at] == " "
            else page.ends[at]
        )
        header = HEADER_AFTER.match(page.plain, end, end + 50) is not None
        if page.cases[at] == "i":
            return True
        if page.cases[at] == "u" and len(page.words[at]) == 2 and ZIP.match(page.plain, page.ends[at]):
            return False  # a state
        if page.cases[at] == "u" and not announced and not header and _is_state(page, last, at):
            return False
        if not announced and not header and self._abbreviation(last):
            return False  # "CHF, Grace": a list of findings
        if page.words[at] == "nan" and page.cases[at] != "t":
            return False  # nothing, as tables write it
        gap = page.gaps[at]
        ends = gap[:1] in ("\n", "") or gap[:2] in (", ", " (", "  ", " -", " |", " /", '" ')
        whole = gap[:1] in ("\n", "") or gap[:2] in ("  ", " |", " /")
        if announced and (whole or header) and page.cases[at] in "tu" and weight.why not in ("clinical", "short"):
            return True
        fits = weight.why not in ("word", "clinical", "short") and page.words[at] not in function_words()
        if (announced or header) and ends and fits and page.cases[at] in "tu" and (weight.given or not weight.everyday):
            return True
        if page.words[at] in self.stop:  # "Prakash, An" is a name where nothing of a sentence follows
            gap = page.gaps[at]
            alone = gap[:1] in (",", "(", "\n", "") or gap[:2] in ("  ", " (", " -", " |")
            fits = weight.given and page.cases[at] in "tu" and (weight.odds > _TURNED_STOPPED or header)
            return fits and (
                (announced and alone)
                or (header and self.weights[last].odds > _TURNED_SURNAME_HEADER)
                or (alone and self.weights[last].odds > _TURNED_SURNAME)
            )
        if page.cases[at] == "l" and weight.odds < _TURNED_LOWER:
            return False
        return (
            weight.given
            and (weight.known or ends)
            and weight.odds > (_TURNED_GIVEN_DUE if announced or header else _TURNED_GIVEN)
        )

    def _abbreviation(self, last: int) -> bool:
        """Whether the word before a comma is a short form in capitals, clinical or known as nobody's surname."""
        page, word = self.page, self.page.words[last]
        if page.cases[last] != "u" or page.capitals[last] or len(word) > 6:
            return False
        return is_clinical_part(word) or not self.weights[last].known or len(word) == 2

    def _more_given(self, at: int, *, hl7: bool) -> bool:
        page = self.page
        if at + 1 >= page.size or page.gaps[at] not in (" ", "^", ".", "-", ", ", ". "):
            return False
        if page.cases[at + 1] == "i":
            return page.gaps[at] in (" ", "^", ".")
        if page.words[at + 1] in SUFFIXES or (hl7 and page.gaps[at] == "^"):
            return True
        given = self.weights[at + 1].given and self.weights[at + 1].odds > _SECOND_GIVEN
        return page.gaps[at] in (" ", "-") and page.cases[at + 1] in "tu" and given


def _is_state(page: Page, last: int, at: int) -> bool:
    """Whether a town of the gazetteer and the code of a state stand there: 'Springfield, IL'."""
    if page.words[at].upper() not in POSTAL_CODES:
        return False
    place = gazetteer.places().get(page.words[last])
    return place is not None and "u" in place.kinds


def may_open(runs: Runs, at: int, cue: Expected | None) -> bool:
    """Whether a name may begin with this word, by its case and by what is expected here."""
    page, word = runs.page, runs.page.words[at]
    case, points = page.cases[at], cue.points if cue is not None else 0.0
    if case == "i":
        return _initial_opens(page, at, points)
    if case == "d":
        return runs.weights[at].why == "typo"
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
    return runs.weights[after].odds > (_PARTICLE_DUE if due else _PARTICLE)


def _small_opens(runs: Runs, at: int, points: float) -> bool:
    """A word in small letters: who speaks in a transcript, or a known name where one is due."""
    page, weight, word = runs.page, runs.weights[at], runs.page.words[at]
    speaks = page.gaps[at][:1] == ":" and page.opens_line(at)
    if speaks and weight.given and page.speakers[word] > 1:
        return word not in runs.stop
    if _small_pair(runs, at, points):
        return True
    if not weight.known or weight.everyday or word in runs.stop:
        return False  # a typo in small letters is a word far more often than a name
    if is_clinical_part(word) and not (points >= BED and weight.common):
        return False
    paired = weight.given and at + 1 < page.size and page.gaps[at] == " " and runs.weights[at + 1].odds > _LOWER_PAIRED
    return weight.odds >= (_LOWER_DUE if paired or points >= ROLE else _LOWER) and len(word) > (2 if paired else 3)


def _small_pair(runs: Runs, at: int, points: float) -> bool:
    """A given name and a surname in small letters, where a name is due or a text begins with them."""
    page, weights = runs.page, runs.weights
    if (at and points < WORD_BEFORE) or at + 1 >= page.size or page.gaps[at] != " " or page.cases[at + 1] != "l":
        return False
    given, family = weights[at], weights[at + 1]
    known = given.known and given.given and family.known and family.family and family.why not in ("word", "clinical")
    return (
        known
        and given.odds + family.odds > (_LOWER_PAIR if at else _LOWER_PAIR_FIRST)
        and page.words[at] not in function_words()
    )


def _stopped_opens(runs: Runs, at: int, points: float) -> bool:
    """An everyday word of notes with a capital, which is a name too: only where something makes it one."""
    page, weight = runs.page, runs.weights[at]
    if not (weight.known and (weight.given or weight.family)):
        return False
    if _heads(runs, at) or weight.odds > _STOPPED or points >= ROLE or page.gaps[at] == ". ":
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
    after, word = runs.weights[at + 1], page.words[at]
    if page.gaps[at] == " ":
        return word in MONTH_WORDS and after.family and page.words[at + 1] not in runs.stop
    if page.gaps[at] != ", " or word in FORM_WORDS:
        return False
    opens = page.opens_line(at) or page.leads[at][-2:] in ("- ", ": ", "/ ", "| ")
    return opens and after.given and after.known and after.odds > _STOPPED_GIVEN
