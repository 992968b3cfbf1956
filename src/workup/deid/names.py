"""Names of people: runs of words weighed by the gazetteer and by the words around them. Titles stay outside."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from workup.deid.cues import Cue
from workup.deid.finding import Finding
from workup.deid.name_cues import CREDENTIAL, LABEL, ROLE, Expectations, Expected
from workup.deid.name_runs import BEHIND, Runs
from workup.deid.name_words import FORM_WORDS, KIN, VERBS
from workup.deid.nameness import PARTICLES, SUFFIXES, Weight, weigh
from workup.deid.page import Page
from workup.deid.settings import Settings

# Decimal log-odds: what a name of one word, and of several, starts from; then what speaks for and against it.
_ALONE, _SEVERAL, _CLIP, _FLOOR, _ANNOUNCED_FLOOR = -2.0, -1.2, 1.3, -2.6, -0.9
_PAIR, _COMMA, _INITIAL, _INITIALS_ALONE, _VERB, _KIN_BEHIND, _HEADER, _OWN_LINE, _POSSESSIVE = (
    0.8,
    0.4,
    1.2,
    1.2,
    0.7,
    2.2,
    1.6,
    0.3,
    0.3,
)
_SPEAKER, _LOWER, _CAPITALS, _ABBREVIATION, _AFTER_NUMBER, _NAMED_SCORE, _OPENS = (
    3.2,
    -1.2,
    -0.5,
    -2.0,
    -2.0,
    -2.5,
    -0.5,
)

_MIXED, _UNKNOWN, _COMMON, _PROSE, _INITIAL_FIRST, _DOTTED, _HEADS_LINE = -1.5, -1.5, 0.75, -3.0, 0.8, 0.8, 0.5


def names(page: Page, cues: Sequence[Cue], settings: Settings) -> Iterator[Finding]:
    """Names of a page, from the left, none overlapping."""
    expectations = Expectations(page, cues, settings)
    weights = [_weight(word, settings.names) for word in page.words]
    runs = Runs(page, weights, expectations.credentials, settings.not_names)
    at = 0
    while at < len(page):
        cue = expectations.starts.get(at)
        found = _best(runs, at, cue) if _may_open(runs, at, cue) else None
        if found is None:
            at += 1
        else:
            yield found[0]
            at = found[1] + 1


def _weight(word: str, own: frozenset[str]) -> Weight:
    if word in own:
        return Weight(1.4, True, True, True, "list")
    return weigh(word) if 1 < len(word) <= 40 else Weight(0.0, True, False, False, "initial")


def _may_open(runs: Runs, at: int, cue: Expected | None) -> bool:
    """Whether a name may begin with this word: most words of a note are turned away here."""
    page, weight = runs.page, runs.weights[at]
    case, word = page.cases[at], page.words[at]
    if case == "i":
        return True
    if case == "d":
        return weight.why == "slip"
    if case == "m" and len(word) < 3:
        return False
    if case == "l":
        if word in PARTICLES:
            after = at + 1
            while after < len(page) and after - at < 4 and page.words[after] in PARTICLES and page.cases[after] == "l":
                after += 1
            if after >= len(page) or page.gap(after - 1) != " " or page.cases[after] not in "tu":
                return False
            return runs.weights[after].odds > (-1.5 if cue is not None and cue.points >= ROLE else 0.3)
        speaks = page.gap(at)[:1] == ":" and page.opens_line(at)
        if speaks and weight.given and page.speakers[word] > 1:
            return word not in runs.stop
        paired = weight.given and at + 1 < len(page) and page.gap(at) == " " and runs.weights[at + 1].odds > 0.5
        announced = cue is not None and cue.points >= ROLE
        least = 0.0 if paired or announced else 0.5
        return weight.odds >= least and len(word) > (2 if paired else 3) and word not in runs.stop
    if word in runs.stop:
        if not (weight.known and (weight.given or weight.family)):
            return False
        signed = not runs.credentials.isdisjoint((at + 1, at + 2, at + 3))
        if weight.given and at + 2 < len(page) and page.cases[at + 1] == "i" and page.gap(at + 1) == ". ":
            return page.cases[at + 2] in "tu"
        return (
            weight.odds > -1.2
            or (cue is not None and cue.points >= ROLE)
            or (signed and weight.given)
            or page.gap(at) == ". "
        )
    return True


def _best(runs: Runs, first: int, cue: Expected | None) -> tuple[Finding, int] | None:
    """The name that begins here, and its last word; a longer one is preferred unless it is much less likely."""
    page, weights = runs.page, runs.weights
    best: tuple[float, Finding, int] | None = None
    for last in runs.ends(first, cue):
        for tail in runs.tails(last, cue):
            total, leaf, why = _total(runs, first, last, tail, cue)
            if total < 0:
                continue
            weight = weights[tail]
            longer = (weight.family or (tail > last and weight.given)) and weight.why not in (
                "word",
                "clinical",
                "short",
            )
            slack = (3.5 if cue is not None and cue.points >= ROLE else 2.5) if longer else 0.4
            if page.words[tail] in SUFFIXES:
                slack = 9.0
            if best is None or total > best[0] - slack:
                end = page.ends[tail]
                if page.plain[end : end + 1] == "." and (
                    page.words[tail] in ("jr", "sr") or (page.cases[tail] == "i" and tail > first)
                ):
                    end += 1
                score = round(min(0.999, 1 / (1 + math.exp(-1.3 * total - 0.1))), 4)
                finding = Finding(page.starts[first], end, leaf, score, f"name.{why[0]}", tuple(why))
                best = (max(total, best[0] if best else total), finding, tail)
    return None if best is None else (best[1], best[2])


def _total(runs: Runs, first: int, last: int, tail: int, cue: Expected | None) -> tuple[float, str, list[str]]:
    """Log-odds of a name, the leaf it would be, and the evidence."""
    page, weights = runs.page, runs.weights
    words = range(first, tail + 1)
    full = [w for w in words if _is_full(page, w)]
    signed = tail in runs.credentials or last in runs.credentials
    if not _possible(runs, full, first, tail, cue, signed=signed):
        return -9.0, "", []
    floor = _ANNOUNCED_FLOOR if signed or (cue is not None and cue.points >= LABEL) else _FLOOR
    total = _ALONE if len(full) < 2 else _SEVERAL
    for w in full:
        total += max(_FLOOR if weights[w].why in ("word", "clinical") else floor, min(_CLIP, weights[w].odds))
    leaf, why = "name_patient", []
    if cue is not None:
        total += cue.points
        leaf = cue.leaf or leaf
        why.append(cue.why)
    if signed:
        total += CREDENTIAL
        leaf = "name_provider"
        why.append("credential")
    total += _inside(runs, full, first, last, tail, why)
    total += _around(page, first, tail, why)
    if len(full) == 1:
        total += _lone(runs, full[0], first, tail, cue, why)
    if cue is None and not signed:
        total += _against(page, full, first, tail, why)
    return total, leaf, why or ["words"]


def _is_full(page: Page, word: int) -> bool:
    text = page.words[word]
    return len(text) > 1 and text not in SUFFIXES and not (text in PARTICLES and len(text) < 4)


def _possible(runs: Runs, full: list[int], first: int, tail: int, cue: Expected | None, *, signed: bool) -> bool:
    if not full:  # initials alone need a cue
        return tail > first and (signed or (cue is not None and cue.points >= SPOKEN))
    word = runs.page.words[full[0]]
    if len(full) == 1 and tail == first and word in runs.stop and not signed and not (cue and cue.why == "title"):
        return cue is not None and cue.points >= ROLE and word not in FORM_WORDS and runs.weights[full[0]].odds > -2.2
    return True


SPOKEN = 2.0


def _inside(runs: Runs, full: list[int], first: int, last: int, tail: int, why: list[str]) -> float:
    """Initials, a given name beside a surname, 'Last, First', and how it is written."""
    page, weights, points = runs.page, runs.weights, 0.0
    initials = sum(page.cases[w] == "i" for w in range(first, tail + 1))
    if initials >= 2 and not full:
        points += _INITIALS_ALONE
        why.append("initials")
    elif initials and full:
        dotted = len(full) > 1 and any(page.cases[w] == "i" and page.gap(w) == ". " for w in range(first + 1, tail))
        points += _INITIAL * min(initials, 2) if len(full) == 1 else _INITIAL + (_DOTTED if dotted else 0.0)
        if len(full) == 1 and page.cases[first] == "i" and page.gap(first) == " ":
            points -= 0.8  # "A Smith" opens with an article as often
        why.append("initial")
        surname = weights[full[-1]]
        if (
            len(full) == 1
            and page.cases[first] == "i"
            and page.gap(full[0] - 1) == ". "
            and surname.family
            and surname.known
        ):
            points += _INITIAL_FIRST
    if len(full) >= 2:
        given, family = (full[0], full[-1]) if tail == last else (full[-1], full[0])
        if weights[given].given and weights[given].known and weights[given].odds > -1 and weights[family].family:
            points += _PAIR
            why.append("pair")
        if tail > last:
            points += _COMMA
            why.append("comma")
    else:
        why.append("single")
    if full and all(page.cases[w] == "l" for w in full):
        points += _LOWER
        why.append("lower")
    elif full and all(page.cases[w] == "u" for w in full):
        points += _CAPITALS - (0.4 if page.capitals[first] else 0.0)
        why.append("capitals")
    return points


def _around(page: Page, first: int, tail: int, why: list[str]) -> float:
    """What stands right behind."""
    points, after, gap = 0.0, tail + 1, page.gap(tail)
    if gap[:2] in ("'s", "'S"):
        points += _POSSESSIVE
    if after < len(page):
        word = page.words[after]
        if word in VERBS and gap in (" ", ", "):
            points += _VERB
            why.append("verb")
        owned = word in ("his", "her", "the") and gap == ", " and after + 1 < len(page) and page.words[after + 1] in KIN
        if owned or (word in KIN and gap in (" (", ", ", " - ", " / ")):
            points += _KIN_BEHIND
            why.append("kin")
    if BEHIND.match(page.plain, page.ends[tail], page.ends[tail] + 30):
        points += _HEADER
        why.append("header")
    if page.opens_line(first):
        if after >= len(page) or "\n" in gap:
            points += _OWN_LINE
        elif gap in (" - ", " | ", " / ", "  "):
            points += _HEADS_LINE
    return points


def _lone(runs: Runs, word: int, first: int, tail: int, cue: Expected | None, why: list[str]) -> float:
    """What counts for a name of one full word only."""
    page, weight, points = runs.page, runs.weights[word], 0.0
    text = page.words[word]
    if page.cases[word] == "u" and len(text) <= 4 and not weight.common and not page.capitals[first]:
        points += _ABBREVIATION
    if "verb" in why and weight.given and weight.odds > 0.3:
        points += _VERB
    if weight.common and weight.odds > 0.8 and page.cases[word] == "t" and not page.opens_sentence(first):
        points += _COMMON
    if page.cases[word] == "m" and not text.startswith(
        ("mc", "mac", "de", "la", "le", "di", "du", "van", "o'", "d'", "fitz")
    ):
        points += _MIXED
    if cue is not None and cue.why == "label" and weight.odds < 0.5 and _prose_follows(page, tail):
        points += _PROSE  # "Patient: Good morning", "Nurse: Please hold": somebody speaks
    if cue is not None and cue.why == "preposition" and weight.why in ("unknown", "slip"):
        points += _UNKNOWN  # "closed with Vicryl" is more common than a stranger
    if page.opens_line(first) and page.gap(tail)[:1] == ":" and weight.given and weight.known and len(text) > 2:
        again = page.speakers.get(text, 0) > 1
        if page.cases[first] in "tl" and (weight.odds > 0.4 or again):
            points += _SPEAKER + (max(0.0, -weight.odds) - _LOWER if again else 0.0)
            why.append("speaker")
    if cue is None and tail not in runs.credentials and "verb" not in why and page.opens_sentence(first):
        points += _OPENS
    return points


def _prose_follows(page: Page, tail: int) -> bool:
    after = tail + 1
    return (
        after < len(page)
        and page.cases[after] == "l"
        and page.gap(tail) in (" ", ", ")
        and page.words[after] not in VERBS
    )


def _against(page: Page, full: list[int], first: int, tail: int, why: list[str]) -> float:
    points = 0.0
    if first and page.words[first - 1].isdigit() and page.gap(first - 1) == " " and not page.capitals[first]:
        points += _AFTER_NUMBER  # a street, a dose, a count
    if (
        len(full) == 2
        and page.gap(first) == "-"
        and page.plain[page.ends[tail] : page.ends[tail] + 2].strip().isdigit()
    ):
        points += _NAMED_SCORE  # "Lund-Mackay 9"
    return points
