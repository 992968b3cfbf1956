"""How likely a run of words is a name: decimal log-odds added up, each with its evidence."""

from __future__ import annotations

import re

from workup.deid.names.capital_words import CASED
from workup.deid.names.cues import BED, CREDENTIAL, LABEL, ROLE, SPOKEN, Expected
from workup.deid.names.extent import Runs
from workup.deid.names.right_context import AGED, COMPLAINS, DAY_AFTER, HEADER_AFTER, IN_UNIT, NO_HEADER
from workup.deid.names.weights import name_weight
from workup.deid.names.word_weights import PARTICLES, SUFFIXES, weigh
from workup.deid.names.words import ABBREVIATIONS, FORM_WORDS, KIN, MEDICINES, TAKING, VERBS
from workup.deid.text_view import Page
from workup.deid.word_lists import words
from workup.text.calendar import MONTH_WORDS

_ALONE = name_weight("whole.one_word")
_SEVERAL = name_weight("whole.several_words")
_IMPOSSIBLE = name_weight("whole.impossible")
_MOST = name_weight("whole.most")
_FLOOR = name_weight("whole.floor")
_ANNOUNCED_FLOOR = name_weight("whole.announced_floor")
_PAIR_FLOOR = name_weight("whole.pair_floor")
_GIVEN_FLOOR = name_weight("whole.given_floor")
_GIVEN_FLOOR_SURNAME = name_weight("whole.given_floor_surname")
_SURE_GIVEN = name_weight("whole.sure_given")
_PAIR = name_weight("whole.pair")
_PAIR_GIVEN = name_weight("whole.pair_given")
_PAIR_GIVEN_SURE = name_weight("whole.pair_given_sure")
_PAIR_SURNAME_SURE = name_weight("whole.pair_surname_sure")
_COMMA = name_weight("whole.comma")
_CAPITALS_INSIDE = name_weight("whole.capitals_inside")
_MONTH = name_weight("whole.month")
_INITIAL = name_weight("whole.initial")
_INITIALS_ALONE = name_weight("whole.initials_alone")
_INITIAL_DOTTED = name_weight("whole.initial_dotted")
_ARTICLE = name_weight("whole.article")
_INITIAL_AFTER = name_weight("whole.initial_after")
_INITIAL_AFTER_SHARE = name_weight("whole.initial_after_share")
_INITIAL_FIRST = name_weight("whole.initial_first")
_INITIAL_FIRST_SHARE = name_weight("whole.initial_first_share")
_VERB = name_weight("whole.verb")
_SUBJECT = name_weight("whole.subject")
_COMPLAINS = name_weight("whole.complains")
_KIN_AFTER = name_weight("whole.kin_after")
_HEADER = name_weight("whole.header")
_TURNED_HEADER = name_weight("whole.turned_header")
_AGED = name_weight("whole.aged")
_OWN_LINE = name_weight("whole.own_line")
_HEADS_LINE = name_weight("whole.heads_line")
_DASHED = name_weight("whole.dashed")
_POSSESSIVE = name_weight("whole.possessive")
_RESTORED = name_weight("restored.whole")
_RESTORED_SINGLE = name_weight("restored.single")
_LOWER = name_weight("whole.lower")
_OPENS_TEXT = name_weight("whole.opens_text")
_CAPITALS = name_weight("whole.capitals")
_CAPITAL_LINE = name_weight("whole.capital_line")
_AFTER_NUMBER = name_weight("whole.after_number")
_NAMED_SCORE = name_weight("whole.named_score")
_STOPPED = name_weight("whole.stopped")
_STOPPED_SURE = name_weight("whole.stopped_sure")
_SINGLE_ABBREVIATION = name_weight("single.abbreviation")
_SINGLE_MIXED = name_weight("single.mixed")
_SINGLE_UNKNOWN = name_weight("single.unknown")
_SINGLE_PROSE = name_weight("single.prose")
_SINGLE_PROSE_MOST = name_weight("single.prose_most")
_SINGLE_MEDICINE = name_weight("single.medicine")
_SINGLE_OPENS = name_weight("single.opens")
_SINGLE_VERB = name_weight("single.verb")
_SINGLE_VERB_GIVEN = name_weight("single.verb_given")
_SINGLE_THING = name_weight("single.thing")
_SINGLE_COMMON = name_weight("single.common")
_SINGLE_COMMON_LEAST = name_weight("single.common_least")
_SINGLE_CAPITAL = name_weight("single.capital")
_SINGLE_ENDS_SENTENCE = name_weight("single.ends_sentence")
_SINGLE_ENDS_SENTENCE_LEAST = name_weight("single.ends_sentence_least")
_SINGLE_SPEAKER = name_weight("single.speaker")
_SINGLE_SPEAKER_LEAST = name_weight("single.speaker_least")
_SPEAKS_AGAIN = name_weight("single.speaks_again")
_PLAIN = frozenset(("word", "clinical"))
_BEFORE_HEADER = frozenset(", \t-|/(")  # what must follow a name for a header to go on there
_COMPLAINTS = frozenset("cspw")
_NO_PERSON = frozenset(("single", "capitals", "lower", "preposition"))
_MIXED_NAMES = tuple(sorted(words("names.capital_inside")))
_DOSE = re.compile(
    r"-\d|,? (?:\d{1,4}(?:\.\d{1,2})?)(?:/\d{1,3})? ?(?:mg|mcg|ml|g|units?|tablets?|tabs?|%)\b", re.IGNORECASE
)
_SURE_OF = frozenset(("kin_before", "naming", "vocative", "met"))


class Candidate:
    """Words `first` to `tail` as a name; `last` ends what is before a comma.

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
        """See what follows: a ward, an age at the head of a line, what headers hold; and what follows of it."""
        page, end = self.page, self.page.ends[self.tail]
        self.in_unit = page.plain[end : end + 4] == " in " and IN_UNIT.match(page.plain, end, end + 12) is not None
        opens = page.opens_line(self.first)
        self.aged = opens and AGED.match(page.plain, end, end + 8) is not None
        end += page.plain[end : end + 1] == "."
        after = page.plain[end : end + 2]
        header_due = after[:1] in _BEFORE_HEADER and not (after[0] == " " and after[1:] in NO_HEADER)
        self.header = self.in_unit or (header_due and HEADER_AFTER.match(page.plain, end, end + 50) is not None)
        if header_due and not self.header and DAY_AFTER.match(page.plain, end, end + 50):
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
        total += _single(name)
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
    if weight.why == CASED:
        return True
    least = _STOPPED_SURE if name.cue is not None and name.cue.why in _SURE_OF and weight.given else _STOPPED
    return name.points >= ROLE and word not in FORM_WORDS and weight.odds > least


def _words(name: Candidate) -> float:
    """The weights of the words; an announced name, and a surname after a sure given name, may be an everyday word."""
    weights, full, points = name.runs.weights, name.full, 0.0
    if not full:
        return 0.0
    given = full[-1] if name.turned else full[0]
    sure = len(full) > 1 and weights[given].given and weights[given].known and weights[given].odds > _SURE_GIVEN
    for word in full:
        weight, floor = weights[word], _FLOOR
        if name.announced and weight.why not in _PLAIN:
            floor = _ANNOUNCED_FLOOR
        elif weight.why not in _PLAIN and sure and word != given and weight.family:
            floor = _PAIR_FLOOR
        if (
            len(full) == 2
            and word == given
            and weight.given
            and weights[full[0] + full[1] - word].odds > _GIVEN_FLOOR_SURNAME
        ):
            floor = max(floor, _GIVEN_FLOOR)
        points += max(floor, min(_MOST, weight.odds))
    return points


def _initials(name: Candidate) -> float:
    """Initials before, inside and after."""
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
        return _INITIAL + (_INITIAL_DOTTED if dotted else 0.0)
    points, weight = _INITIAL * min(count, 2), name.runs.weights[full[0]]
    if page.cases[first] == "i" and page.gaps[first] == " ":
        points += _ARTICLE  # "A Smith" opens with an article as often
    if name.tail == full[0] + 1 and weight.given and page.gaps[name.tail][:1] in (".", ",", ")"):
        points += _INITIAL_AFTER + max(0.0, -_INITIAL_AFTER_SHARE * weight.odds)
    listed = weight.everyday and page.opens_line(first) and page.words[first] in "abcdefg"  # "A. Prostate, 14 cores"
    if page.cases[first] == "i" and page.gaps[full[0] - 1] == ". " and weight.family and weight.known and not listed:
        points += _INITIAL_FIRST + max(0.0, -_INITIAL_FIRST_SHARE * weight.odds)
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
    sure = family.odds > _PAIR_SURNAME_SURE and (family.surname or (family.known and not family.everyday))
    least = _PAIR_GIVEN_SURE if sure else _PAIR_GIVEN
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
    """Whether words with capitals are inside a sentence, where only names have them."""
    page, first = name.page, name.first
    if not first or page.cases[first - 1] != "l" or page.gaps[first - 1] not in (" ", ", "):
        return False
    if page.restored is not None and page.restored[first]:
        return False
    after = page.cases[name.tail + 1 : name.tail + 2]
    whole = page.gaps[name.tail][:1] != " " or after in ("", "l", "d")
    known = all(name.runs.weights[word].known for word in name.full)
    return whole and known and all(page.cases[word] == "t" for word in name.full)


def _case(name: Candidate) -> float:
    """All in small letters, or all in capitals."""
    page, cases = name.page, {name.page.cases[word] for word in name.full}
    if page.restored is not None and page.restored[name.first] and cases != {"l"}:
        if not any(name.runs.weights[word].everyday for word in name.full):
            return 0.0  # a word that is nothing but a name needs no capital
        return _RESTORED + (_RESTORED_SINGLE if len(name.full) == 1 else 0.0)
    if cases == {"l"}:
        name.why.append("lower")
        return _LOWER + (_OPENS_TEXT if name.first == 0 and len(name.full) > 1 else 0.0)
    if cases == {"u"}:
        name.why.append("capitals")
        return _CAPITALS + (_CAPITAL_LINE if page.capitals[name.first] else 0.0)
    return 0.0


def _around(name: Candidate) -> float:
    """Verbs and relations right after, and lines that a name heads or fills."""
    page, after, gap = name.page, name.tail + 1, name.page.gaps[name.tail]
    points = _POSSESSIVE if gap[:2] in ("'s", "'S") else 0.0
    if after < page.size:
        word = page.words[after]
        if word in VERBS and gap in (" ", ", ") and page.cases[after] == "l":
            points += _VERB + (_SUBJECT if "pair" in name.why and page.opens_sentence(name.first) else 0.0)
            name.why.append("verb")
        owned = word in ("his", "her", "the") and gap == ", " and after + 1 < page.size and page.words[after + 1] in KIN
        if owned or (word in KIN and gap in (" (", ", ", " - ", " / ")):
            points += _KIN_AFTER
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
    after = page.plain[page.ends[name.tail] : page.ends[name.tail] + 2].strip()
    if len(name.full) == 2 and page.gaps[first] == "-" and after.isdigit():
        points += _NAMED_SCORE  # "Lund-Mackay 9"
    return points


def _single(name: Candidate) -> float:
    """The log-odds that one word alone adds or takes."""
    return _single_written(name) + _single_verb(name) + _after_label(name) + _speaker(name) + _medicine(name)


def _single_written(name: Candidate) -> float:
    """Short forms in capitals, words with capitals inside, and a capital where a sentence runs on."""
    page, word, first = name.page, name.full[0], name.first
    case, weight, points = page.cases[word], name.runs.weights[word], 0.0
    if case == "u" and len(page.words[word]) <= 4 and not page.capitals[first] and name.points < ROLE:
        points += _SINGLE_ABBREVIATION
    if case == "m" and not page.words[word].startswith(_MIXED_NAMES):
        points += _SINGLE_MIXED
    if case != "t" or not first or (weight.everyday and page.restored is not None and page.restored[first]):
        return points
    if weight.common and weight.odds > _SINGLE_COMMON_LEAST and not page.opens_sentence(first):
        points += _SINGLE_COMMON
    gap, before = page.gaps[first - 1], page.cases[first - 1]
    if before == "l" and gap in (" ", ", ") and weight.known and page.gaps[name.tail][:1] not in ("-", "/"):
        points += _SINGLE_CAPITAL
    ends = page.gaps[name.tail][:2] in (". ", ".\n", "? ", ".")
    if gap == ", " and before in "ld" and ends and weight.surname and weight.odds > _SINGLE_ENDS_SENTENCE_LEAST:
        points += _SINGLE_ENDS_SENTENCE
    return points


def _single_verb(name: Candidate) -> float:
    """A verb of people after: more for a given name, less for a thing ("Helmet was worn")."""
    weight = name.runs.weights[name.full[0]]
    if "verb" not in name.why:
        alone = name.cue is None and name.tail not in name.runs.credentials and "initial" not in name.why
        return _SINGLE_OPENS if alone and name.page.opens_sentence(name.first) else 0.0
    if weight.given and weight.odds > _SINGLE_VERB_GIVEN:
        return _SINGLE_VERB
    thing = weight.everyday or not weight.known
    return _SINGLE_THING if thing and name.cue is None and name.page.opens_sentence(name.first) else 0.0


def _after_label(name: Candidate) -> float:
    """After a label: speech ("Patient: Good morning"), or another label ("Patient: Last: Jones")."""
    if name.cue is None or name.cue.why not in ("label", "preposition"):
        return 0.0
    weight = name.runs.weights[name.full[0]]
    if name.cue.why == "preposition":  # "closed with Vicryl" is more common than a stranger
        return _SINGLE_UNKNOWN if weight.why in ("unknown", "typo") else 0.0
    points = _SINGLE_PROSE if weight.odds < _SINGLE_PROSE_MOST and _prose_follows(name.page, name.tail) else 0.0
    return points + (_SINGLE_PROSE if name.page.gaps[name.tail][:1] == ":" else 0.0)


def _prose_follows(page: Page, tail: int) -> bool:
    after = tail + 1
    if after >= page.size or page.cases[after] != "l" or page.gaps[tail] not in (" ", ", "):
        return False
    return page.words[after] not in VERBS and not COMPLAINS.match(page.plain, page.ends[tail], page.ends[tail] + 8)


def _speaker(name: Candidate) -> float:
    """Who speaks in a transcript: a given name that opens a line, with a colon after it."""
    page, weight = name.page, name.runs.weights[name.full[0]]
    text = page.words[name.full[0]]
    if not (page.opens_line(name.first) and page.gaps[name.tail][:1] == ":" and weight.given and weight.known):
        return 0.0
    again = page.speakers.get(text, 0) > 1
    if len(text) < 3 or page.cases[name.first] not in "tl" or not (weight.odds > _SINGLE_SPEAKER_LEAST or again):
        return 0.0
    name.why.append("speaker")
    return _SINGLE_SPEAKER + (max(0.0, -weight.odds) + _SPEAKS_AGAIN if again else 0.0)


def _medicine(name: Candidate) -> float:
    """A medicine rather than a person: a dose follows, a verb of taking comes before, or nothing tells of a person."""
    page, first = name.page, name.first
    if name.points >= LABEL:
        return 0.0
    if page.cases[name.tail + 1 : name.tail + 2] == "d" and _DOSE.match(
        page.plain, page.ends[name.tail], page.ends[name.tail] + 24
    ):
        return _SINGLE_MEDICINE
    if page.words[name.full[0]] in MEDICINES and _NO_PERSON.issuperset(name.why) and not page.opens_line(first):
        return _SINGLE_MEDICINE
    if not first or page.gaps[first - 1] != " ":
        return 0.0
    before = page.words[first - 1]
    if before in ("on", "of", "with") and first > 1:
        before = page.words[first - 2]
    return _SINGLE_MEDICINE if before in TAKING else 0.0
