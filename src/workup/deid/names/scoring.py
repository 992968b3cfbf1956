"""How likely a run of words is a name: decimal log-odds added up, each with the evidence it stands for."""

from __future__ import annotations

from workup.deid.names.cues import BED, CREDENTIAL, ROLE, SPOKEN, Expected
from workup.deid.names.extent import Runs
from workup.deid.names.right_context import AGED, BEHIND, COMPLAINS, DAY_BEHIND, IN_UNIT, UNTOLD
from workup.deid.names.single_word import lone_odds
from workup.deid.names.word_weights import PARTICLES, SUFFIXES, weigh
from workup.deid.names.words import ABBREVIATIONS, FORM_WORDS, KIN, VERBS
from workup.deid.text_view import Page
from workup.text.calendar import MONTH_WORDS

# What a name of one word, and of several, starts from; how little an everyday word can count, and what speaks for it.
_ALONE, _SEVERAL, _CLIP = -2.0, -1.2, 1.3
_FLOOR, _ANNOUNCED_FLOOR, _PAIR_FLOOR, _GIVEN_FLOOR = -2.6, -0.9, -0.8, -1.3
_PAIR, _COMMA, _MONTH, _CAPITALS_INSIDE = 0.8, 0.4, 2.2, 0.9
_INITIAL, _INITIALS_ALONE, _INITIAL_FIRST, _GIVEN_INITIAL, _DOTTED, _ARTICLE = 1.2, 1.2, 1.0, 1.0, 0.8, -0.8
_VERB, _SUBJECT, _COMPLAINS, _KIN_BEHIND, _HEADER, _TURNED_HEADER, _AGED = 0.7, 0.7, 1.5, 2.2, 1.6, 0.8, 3.0
_OWN_LINE, _HEADS_LINE, _DASHED, _POSSESSIVE = 0.3, 0.5, 0.9, 0.3
_SMALL, _OPENS_TEXT, _CAPITALS, _SHOUTED = -1.2, 1.3, -0.5, -0.4
_AFTER_NUMBER, _NAMED_SCORE, _IMPOSSIBLE = -2.0, -2.5, -9.0
_PLAIN = frozenset(("word", "clinical"))
_TOLD_BEHIND = frozenset(", \t-|/(")  # what must stand behind a name for a header to go on there
_COMPLAINTS = frozenset("cspw")
_SURE_OF = frozenset(("kin_before", "naming", "vocative", "met"))


class Candidate:
    """Words `first` to `tail` as a name; `last` ends what stands before a comma.

    `why` and `leaf` are filled in while it is weighed."""

    def __init__(self, runs: Runs, first: int, last: int, tail: int, cue: Expected | None) -> None:
        self.runs, self.page = runs, runs.page
        self.first, self.last, self.tail, self.cue = first, last, tail, cue
        self.turned = tail > last  # "Last, First"
        self.full = [word for word in range(first, tail + 1) if _is_full(self.page, word, tail)]
        self.signed = tail in runs.credentials or last in runs.credentials
        self.points = cue.points if cue is not None else 0.0
        self.leaf = (cue.leaf if cue is not None else "") or "name_patient"
        self.why: list[str] = [] if cue is None else [cue.why]
        self.header = self.aged = self.in_unit = self.announced = False

    def look_around(self) -> None:
        """See what stands behind: a ward, an age at the head of a line, what headers hold; and what follows of it."""
        page, end = self.page, self.page.ends[self.tail]
        self.in_unit = page.plain[end : end + 4] == " in " and IN_UNIT.match(page.plain, end, end + 12) is not None
        opens = page.opens_line(self.first)
        self.aged = opens and AGED.match(page.plain, end, end + 8) is not None
        end += page.plain[end : end + 1] == "."
        behind = page.plain[end : end + 2]
        told = behind[:1] in _TOLD_BEHIND and not (behind[0] == " " and behind[1:] in UNTOLD)
        self.header = self.in_unit or (told and BEHIND.match(page.plain, end, end + 50) is not None)
        if told and not self.header and DAY_BEHIND.match(page.plain, end, end + 50):
            before = page.leads[self.first]
            self.header = opens or before[-1:] in ("(", "|") or before[-3:] in (" - ", " / ")
        met = self.cue is not None and (self.points >= BED or self.cue.why == "met")
        self.announced = self.signed or met or (self.header and self.turned) or self.aged or self.in_unit


def _is_full(page: Page, word: int, tail: int) -> bool:
    text = page.words[word]
    if word == tail and page.cases[word] == "t" and text in PARTICLES and weigh(text).family:
        return True  # "Ms. Le": a surname that is a particle elsewhere
    return len(text) > 1 and text not in SUFFIXES and not (text in PARTICLES and len(text) < 4)


def total_odds(name: Candidate) -> float:
    """The log-odds of a name; what spoke for it is added to its `why`."""
    if not _possible(name):
        return _IMPOSSIBLE
    name.look_around()
    total = (_ALONE if len(name.full) < 2 else _SEVERAL) + _words(name) + name.points
    if name.signed:
        total += CREDENTIAL
        name.leaf = "name_provider"
        name.why.append("credential")
    total += _initials(name) + _parts(name) + _case(name) + _around(name)
    if name.aged or name.header:
        total += _AGED if name.aged else _HEADER + (_TURNED_HEADER if name.turned else 0.0)
        name.why.append("header")
    if len(name.full) == 1:
        total += lone_odds(name)
    if name.cue is None and not name.signed:
        total += _against(name)
    return total


def _possible(name: Candidate) -> bool:
    page, full = name.page, name.full
    if not full:  # initials alone need a cue
        letters = "".join(page.words[name.first : name.tail + 1])
        return name.tail > name.first and letters not in ABBREVIATIONS and (name.signed or name.points >= SPOKEN)
    short = all(page.cases[w] == "u" and len(page.words[w]) <= 3 for w in full) and not page.capitals[name.first]
    if short and not name.signed and name.points < ROLE:
        return False  # "GI, GU"
    word = page.words[full[0]]
    alone = len(full) == 1 and name.tail == name.first and word in name.runs.stop
    if not alone or name.signed or (name.cue is not None and name.cue.why == "title"):
        return True
    weight = name.runs.weights[full[0]]
    least = -3.1 if name.cue is not None and name.cue.why in _SURE_OF and weight.given else -2.2
    return name.points >= ROLE and word not in FORM_WORDS and weight.odds > least


def _words(name: Candidate) -> float:
    """The weights of the words; an announced name, and a surname behind a sure given name, may be an everyday word."""
    weights, full, points = name.runs.weights, name.full, 0.0
    if not full:
        return 0.0
    given = full[-1] if name.turned else full[0]
    sure = len(full) > 1 and weights[given].given and weights[given].known and weights[given].odds > 0.0
    for word in full:
        weight, floor = weights[word], _FLOOR
        if name.announced and weight.why not in _PLAIN:
            floor = _ANNOUNCED_FLOOR
        elif weight.why not in _PLAIN and sure and word != given and weight.family:
            floor = _PAIR_FLOOR
        if len(full) == 2 and word == given and weight.given and weights[full[0] + full[1] - word].odds > 0.9:
            floor = max(floor, _GIVEN_FLOOR)
        points += max(floor, min(_CLIP, weight.odds))
    return points


def _initials(name: Candidate) -> float:
    """Initials before, inside and behind."""
    page, full, first = name.page, name.full, name.first
    count = _telling_initials(name)
    if not full:
        name.why += ["initials"] if count >= 2 else []
        return _INITIALS_ALONE if count >= 2 else 0.0
    if not count:
        return 0.0
    name.why.append("initial")
    if len(full) > 1:
        dotted = any(page.cases[w] == "i" and page.gaps[w] == ". " for w in range(first + 1, name.tail))
        return _INITIAL + (_DOTTED if dotted else 0.0)
    points, weight = _INITIAL * min(count, 2), name.runs.weights[full[0]]
    if page.cases[first] == "i" and page.gaps[first] == " ":
        points += _ARTICLE  # "A Smith" opens with an article as often
    if name.tail == full[0] + 1 and weight.given and page.gaps[name.tail][:1] in (".", ",", ")"):
        points += _GIVEN_INITIAL + max(0.0, -0.4 * weight.odds)
    listed = weight.everyday and page.opens_line(first) and page.words[first] in "abcdefg"  # "A. Prostate, 14 cores"
    if page.cases[first] == "i" and page.gaps[full[0] - 1] == ". " and weight.family and weight.known and not listed:
        points += _INITIAL_FIRST + max(0.0, -0.5 * weight.odds)
    return points


def _telling_initials(name: Candidate) -> int:
    """Initials that speak for a name: not a numeral at the end, nor a letter joined by a dash to what is no name."""
    page, first, tail = name.page, name.first, name.tail
    found = [w for w in range(first, tail + 1) if page.cases[w] == "i"]
    if found and name.full and found[0] != first and not any(name.runs.weights[w].known for w in name.full):
        return 0  # "Meropenem S. Vancomycin R"
    pointed = page.plain[page.ends[tail] : page.ends[tail] + 1] == "."
    if found and found[-1] == tail and page.words[tail] in ("i", "v", "x") and not pointed:
        found.pop()
    if found and found[0] == first and page.gaps[first] in ("-", "- "):
        found.pop(0)
    return len(found)


def _parts(name: Candidate) -> float:
    """A given name beside a surname, 'Last, First', and a month that is somebody's name."""
    weights, full = name.runs.weights, name.full
    if len(full) < 2:
        name.why.append("single")
        return 0.0
    points = 0.0
    given, family = (weights[full[-1]], weights[full[0]]) if name.turned else (weights[full[0]], weights[full[-1]])
    sure = family.odds > 0.9 and (family.surname or (family.known and not family.everyday))
    least = -2.6 if sure else -1.0
    if given.given and given.known and given.odds > least and family.family:
        points += _PAIR
        name.why.append("pair")
    if name.turned:
        points += _COMMA
        name.why.append("comma")
    elif _runs_on(name):
        points += _CAPITALS_INSIDE
    if (
        not name.turned
        and name.page.words[name.first] in MONTH_WORDS
        and weights[full[1]].family
        and name.page.cases[full[1]] == "t"
    ):
        points += _MONTH  # a month before a word with a capital is somebody's name
    return points


def _runs_on(name: Candidate) -> bool:
    """Whether words with capitals stand inside a sentence, where only names have them."""
    page, first = name.page, name.first
    if not first or page.cases[first - 1] != "l" or page.gaps[first - 1] not in (" ", ", "):
        return False
    behind = page.cases[name.tail + 1 : name.tail + 2]
    whole = page.gaps[name.tail][:1] != " " or behind in ("", "l", "d")
    known = all(name.runs.weights[word].known for word in name.full)
    return whole and known and all(page.cases[word] == "t" for word in name.full)


def _case(name: Candidate) -> float:
    """All in small letters, or all in capitals."""
    page, cases = name.page, {name.page.cases[word] for word in name.full}
    if cases == {"l"}:
        name.why.append("lower")
        return _SMALL + (_OPENS_TEXT if name.first == 0 and len(name.full) > 1 else 0.0)
    if cases == {"u"}:
        name.why.append("capitals")
        return _CAPITALS + (_SHOUTED if page.capitals[name.first] else 0.0)
    return 0.0


def _around(name: Candidate) -> float:
    """Verbs and relations right behind, and lines that a name heads or fills."""
    page, after, gap = name.page, name.tail + 1, name.page.gaps[name.tail]
    points = _POSSESSIVE if gap[:2] in ("'s", "'S") else 0.0
    if after < page.size:
        word = page.words[after]
        if word in VERBS and gap in (" ", ", ") and page.cases[after] == "l":
            points += _VERB + (_SUBJECT if "pair" in name.why and page.opens_sentence(name.first) else 0.0)
            name.why.append("verb")
        owned = word in ("his", "her", "the") and gap == ", " and after + 1 < page.size and page.words[after + 1] in KIN
        if owned or (word in KIN and gap in (" (", ", ", " - ", " / ")):
            points += _KIN_BEHIND
            name.why.append("kin")
        elif word in _COMPLAINTS and COMPLAINS.match(page.plain, page.ends[name.tail], page.ends[name.tail] + 8):
            points += _COMPLAINS
            name.why.append("verb")
    ends = after >= page.size or gap[:1] == "\n"
    if page.leads[name.first] == " - " and (ends or gap == ", "):
        points += _DASHED
    if page.opens_line(name.first):
        whole = after >= page.size or "\n" in gap
        points += _OWN_LINE if whole else _HEADS_LINE if gap in (" - ", " | ", " / ", "  ") else 0.0
    return points


def _against(name: Candidate) -> float:
    page, first, points = name.page, name.first, 0.0
    if first and page.words[first - 1].isdigit() and page.gaps[first - 1] == " " and not page.capitals[first]:
        points += _AFTER_NUMBER  # a street, a dose, a count
    behind = page.plain[page.ends[name.tail] : page.ends[name.tail] + 2].strip()
    if len(name.full) == 2 and page.gaps[first] == "-" and behind.isdigit():
        points += _NAMED_SCORE  # "Lund-Mackay 9"
    return points
