"""Names of people: runs of words weighed by the gazetteer and by the words around them. Titles stay outside."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from workup.deid.cues import Cue
from workup.deid.finding import Finding
from workup.deid.name_behind import AGED, BEHIND, COMPLAINS, DAY_BEHIND, IN_UNIT
from workup.deid.name_cues import BED, CREDENTIAL, LABEL, ROLE, WORD_BEFORE, Expectations, Expected
from workup.deid.name_runs import Runs
from workup.deid.name_words import ABBREVIATIONS, FORM_WORDS, KIN, MONTHS, TAKING, VERBS
from workup.deid.nameness import PARTICLES, SUFFIXES, Weight, weigh
from workup.deid.page import Page
from workup.deid.settings import Settings
from workup.deid.vocabulary import is_clinical_part
from workup.tasks.spans.language import function_words

# Decimal log-odds: what a name of one word, and of several, starts from; then what speaks for and against it.
_ALONE, _SEVERAL, _CLIP, _FLOOR, _ANNOUNCED_FLOOR = -2.0, -1.2, 1.3, -2.6, -0.9
_PAIR_FLOOR, _COMPLAINS, _CAPITAL, _MONTH, _GIVEN_INITIAL, _MEDICINE = -0.8, 1.5, 0.5, 2.2, 1.0, -3.0
_AGED, _ENDS_SENTENCE, _OPENS_TEXT, _GIVEN_FLOOR, _DASHED = 3.0, 0.5, 1.3, -1.3, 0.9
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
    expectations.vocatives(weights)
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
        if (at and page.cases[at - 1] == "i" and page.gap(at - 1) == ".") or _abbreviates(page, at):
            return False
        return not (word == "a" and page.gap(at) == " ") or (cue is not None and cue.points >= ROLE)
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
            due = (cue is not None and cue.points >= ROLE) or page.opens_line(at)
            return runs.weights[after].odds > (-1.5 if due else 0.3)
        speaks = page.gap(at)[:1] == ":" and page.opens_line(at)
        if speaks and weight.given and page.speakers[word] > 1:
            return word not in runs.stop
        if _small_pair(runs, at, cue):
            return True
        if not weight.known or weight.everyday or word in runs.stop:
            return False
        if is_clinical_part(word) and not (cue is not None and cue.points >= BED and weight.common):
            return False  # a slip in small letters is a word far more often than a name
        paired = weight.given and at + 1 < len(page) and page.gap(at) == " " and runs.weights[at + 1].odds > 0.5
        announced = cue is not None and cue.points >= ROLE
        return weight.odds >= (0.0 if paired or announced else 0.5) and len(word) > (2 if paired else 3)
    if word in KIN:
        return False
    if word in runs.stop:
        if not (weight.known and (weight.given or weight.family)):
            return False
        if _heads(runs, at):
            return True
        signed = not runs.credentials.isdisjoint((at + 1, at + 2, at + 3))
        if weight.given and at + 2 < len(page) and page.cases[at + 1] == "i" and page.gap(at + 1) == ". ":
            if page.cases[at + 2] in "tu" or (cue is not None and cue.points >= SPOKEN):
                return True
        return (
            weight.odds > -1.2
            or (cue is not None and cue.points >= ROLE)
            or (signed and weight.given)
            or page.gap(at) == ". "
        )
    return True


def _small_pair(runs: Runs, at: int, cue: Expected | None) -> bool:
    """A given name and a surname in small letters, where a name is due or a text begins with them."""
    page, weights = runs.page, runs.weights
    due = at == 0 or (cue is not None and cue.points >= WORD_BEFORE)
    if not due or at + 1 >= len(page) or page.gap(at) != " " or page.cases[at + 1] != "l":
        return False
    given, family = weights[at], weights[at + 1]
    known = given.known and given.given and family.known and family.family and family.why not in ("word", "clinical")
    return known and given.odds + family.odds > (-1.0 if at else 0.0) and page.words[at] not in function_words()


def _abbreviates(page: Page, at: int) -> bool:
    """Whether a chain of initials begins that is a known short form: 'D.O.B. January 2'."""
    last = at
    while last + 1 < len(page) and page.gap(last) == "." and page.cases[last + 1] == "i":
        last += 1
    return last - at >= 2 and "".join(page.words[at : last + 1]) in ABBREVIATIONS


def _heads(runs: Runs, at: int) -> bool:
    """'August Manning', 'Head, Ella E.': an everyday word before a word that makes a name of it."""
    page, weights = runs.page, runs.weights
    if at + 1 >= len(page) or page.cases[at + 1] not in "tu":
        return False
    behind = weights[at + 1]
    if page.gap(at) == " ":
        return page.words[at] in MONTHS and behind.family and page.words[at + 1] not in runs.stop
    opens = page.opens_line(at) or page.before(at)[-2:] in ("- ", ": ", "/ ", "| ")
    return (
        page.gap(at) == ", "
        and opens
        and page.words[at] not in FORM_WORDS
        and behind.given
        and behind.known
        and behind.odds > 0.4
    )


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
    page = runs.page
    words = range(first, tail + 1)
    full = [w for w in words if _is_full(page, w, tail)]
    signed = tail in runs.credentials or last in runs.credentials
    if not _possible(runs, full, first, tail, cue, signed=signed):
        return -9.0, "", []
    header = _header(page, first, tail)
    announced = signed or (cue is not None and (cue.points >= BED or cue.why == "met")) or (header and tail > last)
    aged = AGED.match(page.plain, page.ends[tail], page.ends[tail] + 8) is not None and page.opens_line(first)
    announced = announced or aged or IN_UNIT.match(page.plain, page.ends[tail], page.ends[tail] + 12) is not None
    total = (_ALONE if len(full) < 2 else _SEVERAL) + _words(runs, full, last, tail, announced=announced)
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
    if aged:
        total += _AGED
        why.append("header")
    elif header:
        total += _HEADER + (0.8 if tail > last else 0.0)
        why.append("header")
    if len(full) == 1:
        total += _lone(runs, full[0], first, tail, cue, why)
    if cue is None and not signed:
        total += _against(page, full, first, tail, why)
    return total, leaf, why or ["words"]


def _words(runs: Runs, full: list[int], last: int, tail: int, *, announced: bool) -> float:
    """The weights of the words; an announced name, and a surname behind a sure given name, may be an everyday word."""
    weights, points = runs.weights, 0.0
    if not full:
        return 0.0
    given = full[-1] if tail > last else full[0]
    sure = len(full) > 1 and weights[given].given and weights[given].known and weights[given].odds > 0.0
    for w in full:
        weight = weights[w]
        floor = _FLOOR
        if weight.why not in ("word", "clinical"):
            floor = _ANNOUNCED_FLOOR if announced else _PAIR_FLOOR if sure and w != given and weight.family else _FLOOR
            if len(full) == 2 and w == given and weight.given and weights[full[0] + full[1] - w].odds > 0.9:
                floor = max(floor, _GIVEN_FLOOR)
        points += max(floor, min(_CLIP, weight.odds))
    return points


def _header(page: Page, first: int, tail: int) -> bool:
    """Whether an age, a sex, a bed or a number of a record follows, as in headers; or a day, where a name heads it."""
    end = page.ends[tail]
    if page.plain[end : end + 1] == ".":
        end += 1
    if BEHIND.match(page.plain, end, end + 50) or IN_UNIT.match(page.plain, end, end + 12):
        return True
    opens = page.opens_line(first) or page.before(first)[-1:] in ("(", "|") or page.before(first)[-3:] in (" - ", " / ")
    return opens and DAY_BEHIND.match(page.plain, end, end + 50) is not None


def _is_full(page: Page, word: int, tail: int) -> bool:
    text = page.words[word]
    if word == tail and page.cases[word] == "t" and text in PARTICLES and weigh(text).family:
        return True  # "Ms. Le": a surname that is a particle elsewhere
    return len(text) > 1 and text not in SUFFIXES and not (text in PARTICLES and len(text) < 4)


def _possible(runs: Runs, full: list[int], first: int, tail: int, cue: Expected | None, *, signed: bool) -> bool:
    if not full:  # initials alone need a cue
        letters = "".join(runs.page.words[first : tail + 1])
        return tail > first and letters not in ABBREVIATIONS and (signed or (cue is not None and cue.points >= SPOKEN))
    page = runs.page
    short = all(page.cases[w] == "u" and len(page.words[w]) <= 3 for w in full) and not page.capitals[first]
    if short and not signed and (cue is None or cue.points < ROLE):
        return False  # "GI, GU"
    word = page.words[full[0]]
    if len(full) == 1 and tail == first and word in runs.stop and not signed and not (cue and cue.why == "title"):
        known = runs.weights[full[0]]
        least = (
            -3.1 if cue is not None and cue.why in ("kin_before", "naming", "vocative", "met") and known.given else -2.2
        )
        return cue is not None and cue.points >= ROLE and word not in FORM_WORDS and known.odds > least
    return True


SPOKEN = 2.0


def _inside(runs: Runs, full: list[int], first: int, last: int, tail: int, why: list[str]) -> float:
    """Initials, a given name beside a surname, 'Last, First', and how it is written."""
    page, weights, points = runs.page, runs.weights, 0.0
    initials = _initials(page, weights, full, first, tail)
    if initials >= 2 and not full:
        points += _INITIALS_ALONE
        why.append("initials")
    elif initials and full:
        dotted = len(full) > 1 and any(page.cases[w] == "i" and page.gap(w) == ". " for w in range(first + 1, tail))
        points += _INITIAL * min(initials, 2) if len(full) == 1 else _INITIAL + (_DOTTED if dotted else 0.0)
        if len(full) == 1 and page.cases[first] == "i" and page.gap(first) == " ":
            points -= 0.8  # "A Smith" opens with an article as often
        why.append("initial")
        if len(full) == 1 and tail == full[0] + 1 and weights[full[0]].given and page.gap(tail)[:1] in (".", ",", ")"):
            points += _GIVEN_INITIAL + max(0.0, -0.4 * weights[full[0]].odds)
        surname = weights[full[-1]]
        if (
            len(full) == 1
            and page.cases[first] == "i"
            and page.gap(full[0] - 1) == ". "
            and surname.family
            and surname.known
            and not (surname.everyday and page.opens_line(first) and page.words[first] in "abcdefg")  # parts of a list
        ):
            points += _INITIAL_FIRST + max(0.0, -0.5 * surname.odds)
    if len(full) >= 2:
        given, family = (full[0], full[-1]) if tail == last else (full[-1], full[0])
        least = -2.3 if weights[family].surname and weights[family].odds > 0.9 else -1.0
        if weights[given].given and weights[given].known and weights[given].odds > least and weights[family].family:
            points += _PAIR
            why.append("pair")
        if tail > last:
            points += _COMMA
            why.append("comma")
        elif page.words[first] in MONTHS and weights[full[1]].family and page.cases[full[1]] == "t":
            points += _MONTH  # a month before a word with a capital is somebody's name
    else:
        why.append("single")
    if full and all(page.cases[w] == "l" for w in full):
        points += _LOWER + (_OPENS_TEXT if first == 0 and len(full) > 1 else 0.0)
        why.append("lower")
    elif full and all(page.cases[w] == "u" for w in full):
        points += _CAPITALS - (0.4 if page.capitals[first] else 0.0)
        why.append("capitals")
    return points


def _initials(page: Page, weights: list[Weight], full: list[int], first: int, tail: int) -> int:
    """Initials that speak for a name: not a numeral at the end, nor a letter joined by a dash to what is no name."""
    found = [w for w in range(first, tail + 1) if page.cases[w] == "i"]
    if found and full and found[0] != first and not any(weights[w].known for w in full):
        return 0  # "Meropenem S. Vancomycin R"
    if (
        found
        and found[-1] == tail
        and page.words[tail] in ("i", "v", "x")
        and page.plain[page.ends[tail] : page.ends[tail] + 1] != "."
    ):
        found.pop()
    if found and found[0] == first and page.gap(first) in ("-", "- "):
        found.pop(0)
    return len(found)


def _around(page: Page, first: int, tail: int, why: list[str]) -> float:
    """What stands right behind."""
    points, after, gap = 0.0, tail + 1, page.gap(tail)
    if gap[:2] in ("'s", "'S"):
        points += _POSSESSIVE
    if after < len(page):
        word = page.words[after]
        if word in VERBS and gap in (" ", ", ") and page.cases[after] == "l":
            points += _VERB
            why.append("verb")
        owned = word in ("his", "her", "the") and gap == ", " and after + 1 < len(page) and page.words[after + 1] in KIN
        if owned or (word in KIN and gap in (" (", ", ", " - ", " / ")):
            points += _KIN_BEHIND
            why.append("kin")
        elif COMPLAINS.match(page.plain, page.ends[tail], page.ends[tail] + 8):
            points += _COMPLAINS
            why.append("verb")
    if page.before(first) == " - " and (after >= len(page) or gap[:1] == "\n" or gap == ", "):
        points += _DASHED
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
    if page.cases[word] == "u" and len(text) <= 4 and not page.capitals[first] and (cue is None or cue.points < ROLE):
        points += _ABBREVIATION
    if "verb" in why:
        if weight.given and weight.odds > 0.3:
            points += _VERB
        elif page.opens_sentence(first) and (weight.everyday or not weight.known) and cue is None:
            points -= 2 * _VERB  # "Lump was found", "Helmet was worn"
    if weight.common and weight.odds > 0.8 and page.cases[word] == "t" and not page.opens_sentence(first):
        points += _COMMON
    if page.cases[word] == "m" and not text.startswith(
        ("mc", "mac", "de", "la", "le", "di", "du", "van", "o'", "d'", "fitz")
    ):
        points += _MIXED
    if cue is not None and cue.why == "label" and weight.odds < 0.5 and _prose_follows(page, tail):
        points += _PROSE  # "Patient: Good morning", "Nurse: Please hold": somebody speaks
    inside = first and page.cases[first - 1] == "l" and page.gap(first - 1) in (" ", ", ") and page.cases[word] == "t"
    if inside and weight.known and page.gap(tail)[:1] not in ("-", "/"):
        points += _CAPITAL  # a capital inside a sentence
    if cue is not None and cue.why == "preposition" and weight.why in ("unknown", "slip"):
        points += _UNKNOWN  # "closed with Vicryl" is more common than a stranger
    if page.opens_line(first) and page.gap(tail)[:1] == ":" and weight.given and weight.known and len(text) > 2:
        again = page.speakers.get(text, 0) > 1
        if page.cases[first] in "tl" and (weight.odds > 0.4 or again):
            points += _SPEAKER + (max(0.0, -weight.odds) - _LOWER if again else 0.0)
            why.append("speaker")
    if page.cases[word] == "t" and first and page.gap(first - 1) == ", " and page.cases[first - 1] in "ld":
        if weight.surname and weight.odds > 1.0 and page.gap(tail)[:2] in (". ", ".\n", "? ", "."):
            points += _ENDS_SENTENCE
    if cue is not None and cue.why == "label" and page.gap(tail)[:1] == ":":
        points += _PROSE  # a label before a label: "Patient: Last: Jones"
    if (cue is None or cue.points < LABEL) and _medicine(page, first, tail):
        points += _MEDICINE
    if cue is None and tail not in runs.credentials and "verb" not in why and page.opens_sentence(first):
        points += _OPENS
    return points


def _medicine(page: Page, first: int, tail: int) -> bool:
    """Whether a dose follows, a number joined by a dash ("Ki-67"), or a verb of taking stands before."""
    if _DOSE.match(page.plain, page.ends[tail], page.ends[tail] + 24):
        return True
    if not first or page.gap(first - 1) != " ":
        return False
    before = page.words[first - 1]
    if before in ("on", "of", "with") and first > 1:
        before = page.words[first - 2]
    return before in TAKING


_DOSE = re.compile(
    r"-\d|,? (?:\d{1,4}(?:\.\d{1,2})?)(?:/\d{1,3})? ?(?:mg|mcg|ml|g|units?|tablets?|tabs?|%)\b", re.IGNORECASE
)


def _prose_follows(page: Page, tail: int) -> bool:
    after = tail + 1
    return (
        after < len(page)
        and page.cases[after] == "l"
        and page.gap(tail) in (" ", ", ")
        and page.words[after] not in VERBS
        and not COMPLAINS.match(page.plain, page.ends[tail], page.ends[tail] + 8)
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
