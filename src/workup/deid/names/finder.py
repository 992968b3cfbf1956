"""Names of people: runs of words weighed by the gazetteer and by the words around them. Titles stay outside.

Initials with points between them (A.B.C.), as people sign and are written of, are names too."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial

from workup.deid.cues import Cue
from workup.deid.finding import Finding
from workup.deid.names.capital_words import weigh_capitals
from workup.deid.names.cues import ROLE, Expectations, Expected
from workup.deid.names.extent import Runs, may_open
from workup.deid.names.scoring import Candidate, total_odds
from workup.deid.names.weights import name_weight
from workup.deid.names.word_weights import CODE, INITIAL, MOST, SUFFIXES, Weight, weigh
from workup.deid.names.words import ABBREVIATIONS
from workup.deid.patterns.finder import Finder
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.text.memo import Memo

_LONGER_SUFFIX = name_weight("longer.suffix")
_LONGER_NO_SURNAME = name_weight("longer.no_surname")
_LONGER_SURNAME = name_weight("longer.surname")
_LONGER_SURNAME_DUE = name_weight("longer.surname_due")
_SLOPE = name_weight("score.slope")
_SHIFT = name_weight("score.shift")
_MOST_SCORE = name_weight("score.most")
_DOTTED = Finder(r"(?<![\w.&])[A-Z]\.[A-Z]\.[A-Z]\.(?![\w])")
_NEVER_SMALL = frozenset(("clinical", "initial"))
_NO_SURNAME = frozenset(("word", "clinical", "short"))


def names(page: Page, cues: Sequence[Cue], settings: Settings) -> Iterator[Finding]:
    """Names of a page, from the left, none overlapping."""
    expectations = Expectations(page, cues, settings)
    weights = list(map(_weights(settings.names).__getitem__, page.words))
    weigh_capitals(page, weights)
    expectations.vocatives(weights)
    runs = Runs(page, weights, expectations.credentials, settings.not_names)
    starts, gaps, free = expectations.starts, page.gaps, 0
    for at, (case, weight) in enumerate(zip(page.cases, weights, strict=True)):
        if case == "l":
            unlikely = weight.everyday or weight.why in _NEVER_SMALL
            if unlikely and at and at not in starts and gaps[at][:1] != ":":
                continue  # most words of a text
        elif case == "d" and weight.why != "typo":
            continue
        if at < free:
            continue
        cue = starts.get(at)
        opens = (cue is not None or not runs.hopeless(at)) and may_open(runs, at, cue)
        found = _best(runs, at, cue) if opens else None
        if found is not None:
            yield found[0]
            free = found[1] + 1


@lru_cache(maxsize=8)
def _weights(own: frozenset[str]) -> Memo[Weight]:
    return Memo(partial(_weight, own=own))


def _weight(word: str, *, own: frozenset[str]) -> Weight:
    if word.isdigit():
        return CODE
    if word in own:
        return Weight(MOST, True, True, True, "list")
    return weigh(word) if 1 < len(word) <= 40 else INITIAL


def _best(runs: Runs, first: int, cue: Expected | None) -> tuple[Finding, int] | None:
    """The name that begins here, and its last word; a longer one is preferred unless it is much less likely."""
    best: tuple[float, Finding, int] | None = None
    for last in runs.ends(first, cue):
        for tail in runs.tails(last, cue):
            name = Candidate(runs, first, last, tail, cue)
            total = total_odds(name)
            if total < 0 or (best is not None and total <= best[0] - _slack(name)):
                continue
            score = round(min(_MOST_SCORE, 1 / (1 + math.exp(-_SLOPE * total - _SHIFT))), 4)
            why = name.why or ["words"]
            finding = Finding(runs.page.starts[first], _end(name), name.leaf, score, f"name.{why[0]}", tuple(why))
            best = (max(total, best[0] if best else total), finding, tail)
    return None if best is None else (best[1], best[2])


def _slack(name: Candidate) -> float:
    """How much less likely a longer name may be than a shorter one."""
    weight = name.runs.weights[name.tail]
    if name.page.words[name.tail] in SUFFIXES:
        return _LONGER_SUFFIX
    if not (weight.family or (name.turned and weight.given)) or weight.why in _NO_SURNAME:
        return _LONGER_NO_SURNAME
    return _LONGER_SURNAME_DUE if name.points >= ROLE else _LONGER_SURNAME


def _end(name: Candidate) -> int:
    """Where the name ends: with the point of Jr. and of an initial."""
    page, tail = name.page, name.tail
    end = page.ends[tail]
    pointed = page.words[tail] in ("jr", "sr") or (page.cases[tail] == "i" and tail > name.first)
    return end + 1 if pointed and page.plain[end : end + 1] == "." else end


def initials(page: Page, settings: Settings) -> Iterator[Finding]:
    """Three capitals with points that abbreviate nothing known."""
    if not settings.on("name.dotted"):
        return
    for match in _DOTTED.find(page):
        if match[0].replace(".", "").lower() not in ABBREVIATIONS:
            yield Finding(*match.span(), "name_patient", 0.7, "name.dotted", ("initials",))
