"""How far a name may reach from its first word: which words and marks may stand inside one. Weighs nothing."""

from __future__ import annotations

from workup.deid.names.cues import LABEL, ZIP, Expected
from workup.deid.names.right_context import BEHIND, UNTOLD
from workup.deid.names.word_weights import PARTICLES, SUFFIXES, Weight
from workup.deid.text_view import Page
from workup.text.wordlists import function_words

_MOST = 6
_JOINS = frozenset((" ", "-", ". ", ".", '" ', ' "', "- ", " -"))
_TURNS = frozenset((", ", ",", "^", "., "))
_ALONE_NOTHING = frozenset(("word", "clinical", "initial"))


class Runs:
    """The words of a page with their weights, and what bounds a name among them."""

    def __init__(self, page: Page, weights: list[Weight], credentials: set[int], stop: frozenset[str]) -> None:
        self.page, self.weights, self.credentials, self.stop = page, weights, credentials, stop

    def hopeless(self, at: int) -> bool:
        """Whether a word without a cue, a credential and a word that joins it need not be weighed.

        All that may stand around a word that nobody bears is too little to make a name of it; so is a sentence that
        goes on behind an unlikely one."""
        page, weight, gap = self.page, self.weights[at], self.page.gaps[at]
        if weight.why not in _ALONE_NOTHING:
            goes_on = gap == " " and page.cases[at + 1 : at + 2] == "l" and page.words[at + 1][0] in UNTOLD
            if weight.odds >= 0 or not goes_on:
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
        """Whether the word behind this one may belong to the same name."""
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
            if page.words[at + 2] in PARTICLES or (page.cases[at + 2] in "tu" and after.odds > -2):
                return True
            if page.cases[first] == "l" and after.odds > 0.2:
                return True
        if case == "d":
            return weight.why == "slip"
        if case == "l":
            due = cue is not None and cue.points >= 1.5 and weight.family and weight.why not in ("word", "clinical")
            least = -2.0 if due and page.cases[first] == "l" and at == first else 0.2
            if weight.why == "slip" and cue is not None and cue.points >= LABEL and page.cases[first] in "tu":
                return True  # the first letter was lost
            return (page.cases[first] == "l" or gap == "-") and weight.odds > least and word not in self.stop
        if word in self.stop or weight.odds <= -2.4:
            return self._may_be_a_name(first, at + 1, cue)
        return True

    def _may_be_a_name(self, first: int, at: int, cue: Expected | None) -> bool:
        """A word that mostly is none, inside a name that cues announce: 'Dr. May Head', 'Cynthia M. Blood'."""
        weight, page = self.weights[at], self.page
        called = cue is not None and cue.why == "title" and page.cases[at - 1] == "i" and page.cases[at] == "t"
        if page.words[at] in function_words() and at not in self.credentials:
            sure = self.weights[first].given and self.weights[first].odds > 0.8 and not self.weights[first].everyday
            inside = page.gaps[at - 1] == " " and page.cases[at] == "t" and page.cases[at + 1 : at + 2] != "t"
            if at == first + 1 and sure and inside and weight.family:
                return True  # "Hao Her", "Sunita To": a capital where a sentence has none
            return called and page.words[at] in ("may", "will", "few", "own", "down", "more", "just", "much")
        if not (weight.known and (weight.given or weight.family)):
            signed = not self.credentials.isdisjoint((at, at + 1))
            return signed and weight.why != "clinical" and page.words[at] not in self.stop
        announced = cue is not None and cue.points >= 2.0
        initial = page.cases[at - 1] == "i" and at - 1 > first
        suffix = at + 1 < page.size and page.words[at + 1] in SUFFIXES and page.gaps[at] in (" ", ", ")
        opened = self.weights[first].given and self.weights[first].odds > 0.4
        opened = opened and (
            page.words[at] not in self.stop or (weight.surname and page.cases[at] == page.cases[first])
        )
        return announced or initial or suffix or opened or not self.credentials.isdisjoint((at, at + 1))

    def tails(self, last: int, cue: Expected | None) -> list[int]:
        """The end as it is, and with a given name and more behind a comma ('Last, First M.')."""
        page, gap, at = self.page, self.page.gaps[last], last + 1
        if gap not in _TURNS or at >= page.size or page.cases[at] not in "tulmi":
            return [last]
        if gap != "^" and not self._given_behind(last, at, cue):
            return [last]
        for _ in range(3):
            if not self._more_given(at, hl7=gap == "^"):
                break
            at += 1
        return [last, at]

    def _given_behind(self, last: int, at: int, cue: Expected | None) -> bool:
        page, weight = self.page, self.weights[at]
        announced = cue is not None and cue.points >= 3
        end = (
            page.ends[at + 1] + 1
            if at + 1 < page.size and page.cases[at + 1] == "i" and page.gaps[at] == " "
            else page.ends[at]
        )
        header = BEHIND.match(page.plain, end, end + 50) is not None
        if page.cases[at] == "i":
            return True
        if page.cases[at] == "u" and len(page.words[at]) == 2 and ZIP.match(page.plain, page.ends[at]):
            return False  # a state
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
            fits = weight.given and page.cases[at] in "tu" and (weight.odds > -2.9 or header)
            return fits and (
                (announced and alone)
                or (header and self.weights[last].odds > -1)
                or (alone and self.weights[last].odds > 0.4)
            )
        if page.cases[at] == "l" and weight.odds < 0.4:
            return False
        return weight.given and (weight.known or ends) and weight.odds > (-2.2 if announced or header else -0.4)

    def _more_given(self, at: int, *, hl7: bool) -> bool:
        page = self.page
        if at + 1 >= page.size or page.gaps[at] not in (" ", "^", ".", "-", ", ", ". "):
            return False
        if page.cases[at + 1] == "i":
            return page.gaps[at] in (" ", "^", ".")
        if page.words[at + 1] in SUFFIXES or (hl7 and page.gaps[at] == "^"):
            return True
        given = self.weights[at + 1].given and self.weights[at + 1].odds > -0.5
        return page.gaps[at] in (" ", "-") and page.cases[at + 1] in "tu" and given
