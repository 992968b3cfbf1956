"""Words that get a capital because they are somebody's name: after titles, labels and roles, before credentials, as a
given name beside a surname, or by themselves where they are nothing but a name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workup.deid.cues import Cue
from workup.deid.known_words import is_clinical_part
from workup.deid.letter_case.draft import UPPER, Draft
from workup.deid.names.capital_words import DONE_TO, SAID, SHORT_FORMS
from workup.deid.names.weights import name_weight
from workup.deid.names.word_weights import PARTICLES, SUFFIXES
from workup.deid.names.words import ABBREVIATIONS, KIN, MEETING, VERBS
from workup.deid.word_lists import words
from workup.text.calendar import MONTH_WORDS
from workup.text.wordlists import function_words

_TITLES_THAT_ARE_WORDS = words("names.titles_that_are_words") | words("names.weak_titles")
_SURE_CREDENTIALS = words("letter_case.sure_credentials")
_UNITS = words("letter_case.units")
_AFTER_SHORT = words("letter_case.after_short_form")
_BEFORE_MONTH = frozenset(("in", "on", "of", "since", "by", "until", "last", "this", "next", "mid", "early", "late"))
_ASKED = frozenset(("asked", "told", "called", "phoned", "met", "contacted", "reminded", "reassured", "per"))
_AND = frozenset(("and", "but", "that", "today", "when", "because", "while", "pt"))
_OF_PEOPLE = frozenset(("patient", "relative", "provider", "patient_label", "naming"))
_JOINS = frozenset((" ", "-", ". ", "  ", "."))
_MOST = 5
_TITLED = name_weight("restored.titled")
_TITLED_NEXT = name_weight("restored.titled_next")
_LABELLED = name_weight("restored.labelled")
_DUE = name_weight("restored.due")
_OWNED = name_weight("restored.owned")
_PAIR_GIVEN = name_weight("restored.pair_given")
_PAIR_FAMILY = name_weight("restored.pair_family")
_PAIR_SURE = name_weight("restored.pair_sure")
_PAIR = name_weight("restored.pair")
_PAIR_DUE = name_weight("restored.pair_due")
_TURNED = name_weight("restored.turned")
_ALONE = name_weight("restored.alone")
# What follows 'last, first' in headers: an age, a sex, a number of a record, the end of a line.
_HEADER = re.compile(
    r"\.?(?:\s*\n|\s*$|\"|,? ?\(|[ \t]{2}|,? \d{1,3} ?(?:y|m\b|f\b|-y)|,? (?:m|f|male|female)\b|,? ?[-|/] |"
    r",? (?:mrn|mr ?#|dob|medical record|id|acct|account|record|case|born|room|rm|bed)\b|:)",
    re.IGNORECASE,
)


def name_people(draft: Draft, cues: Sequence[Cue]) -> None:
    """Mark the names of people."""
    for cue in cues:
        if cue.last + 1 < draft.page.size and draft.silent[cue.last + 1]:
            _announced(draft, cue)
    _free(draft)
    _signed(draft, cues)
    _initials(draft)
    _headers(draft)


def _announced(draft: Draft, cue: Cue) -> None:
    page, kinds, at = draft.page, cue.kinds, cue.last + 1
    gap, word = page.gaps[cue.last], page.words[cue.last]
    if "title" in kinds and cue.first == cue.last and gap in (" ", ". ", "  ", "."):
        homonym = word in _TITLES_THAT_ARE_WORDS and not (word in ("ms", "sr") and gap[0] == ".")
        if draft.proper(at) or (not homonym and _follows_title(draft, at)):
            draft.mark(cue.last, cue.last)
            _name(draft, at, _TITLED, _TITLED_NEXT)
        if word not in KIN:
            return
    if kinds.isdisjoint(_OF_PEOPLE):
        return
    if gap.strip(' \t"') in (":", "=", "#", "|") and len(gap) < 40 and "\n" not in gap:
        _name(draft, at, _LABELLED, _LABELLED)
    elif gap in (" ", " (", ", ", ' "', ": ", " - ") or gap.strip(" \t") == "\n":
        owned = word in KIN or "naming" in kinds or word in ("by", "with")
        called = "naming" in kinds and draft.strange(at)
        if called or (owned and page.words[at] in SHORT_FORMS and _stands_alone(draft, at)):
            draft.mark(at, at)
        pair = _pairs(draft, at, _PAIR_DUE)
        likely = draft.weight(at).known and draft.weight(at).odds > _DUE and not draft.plain(at) and gap[:1] != "\n"
        short = len(page.words[at]) < 3 or (is_clinical_part(page.words[at]) and not draft.weight(at).common)
        if pair or ((draft.proper(at) or likely) and not short) or (owned and _stands_alone(draft, at)):
            _name(draft, at, _OWNED if owned or pair else _DUE, _DUE)
        elif _is_initial(draft, at) and _surname_after_initials(draft, at) is not None:
            _name(draft, at, _OWNED, _OWNED)


def _follows_title(draft: Draft, at: int) -> bool:
    """Whether a word after a title is a name rather than the sentence going on ("dr on call")."""
    if _is_initial(draft, at):
        return _surname_after_initials(draft, at) is not None
    word, after = draft.page.words[at], at + 1
    if word in MONTH_WORDS:
        return draft.weight(at).given and after < draft.page.size and draft.proper(after)
    return draft.bearable(at, _TITLED) or (word in PARTICLES and after < draft.page.size and _particle(draft, at) > at)


def _stands_alone(draft: Draft, at: int) -> bool:
    """'her son mark will': a given name that is a word too, where no noun follows that it would belong to."""
    page, weight = draft.page, draft.weight(at)
    if page.words[at] in SHORT_FORMS:
        after = page.words[at + 1] if at + 1 < page.size else ""
        ends = page.gaps[at] != " " or after in SAID or after in _AFTER_SHORT
        return ends and page.gaps[at][:1] not in ("-", "/")
    if draft.plain(at) or not (weight.known and weight.given) or weight.odds <= _OWNED or len(page.words[at]) < 3:
        return False
    if is_clinical_part(page.words[at]) and not weight.common:
        return False
    if at + 1 >= page.size or page.gaps[at] != " ":
        return True
    after = page.words[at + 1]
    return after in VERBS or (after in function_words() and after not in ("of", "a", "the"))


def _is_initial(draft: Draft, at: int) -> bool:
    word = draft.page.words[at]
    if len(word) > 1 or not word.isalpha():
        return False
    return word not in ("a", "i", "s") or draft.page.gaps[at][:1] == "."


def _surname_after_initials(draft: Draft, at: int) -> int | None:
    """The surname after 'j. s.', 'j.s.' or 'j'; None where there is none."""
    page, pointed = draft.page, False
    for _ in range(3):
        if at >= page.size or len(page.words[at]) > 1 or not page.words[at].isalpha():
            break
        if page.gaps[at] not in (". ", ".", " "):
            return None
        pointed = pointed or page.gaps[at][0] == "."
        at += 1
    if at >= page.size:
        return None
    if page.words[at] in PARTICLES and (last := _particle(draft, at)) > at:
        return last
    return at if draft.bearable(at, _TITLED if pointed else _DUE) else None


def _particle(draft: Draft, at: int) -> int:
    """The surname after particles that begin here; the same word where none follows."""
    page, last = draft.page, at
    while last + 1 < page.size and page.gaps[last] in (" ", "'") and last - at < 4:
        last += 1
        if page.words[last] not in PARTICLES:
            return last if draft.bearable(last, _OWNED) else at
        if page.words[last] == "o" and page.words[last - 1] == "la":
            return last  # a surname, De La O
    return at


def _name(draft: Draft, at: int, first: float, further: float) -> None:
    """Mark a name that begins here: further words, initials, and a given name after a comma."""
    page, taken, least, begun = draft.page, 0, first, at
    turned = False
    while at < page.size and taken < _MOST and draft.silent[at]:
        word = page.words[at]
        if len(word) == 1 and word.isalpha():
            if taken == 0 and _surname_after_initials(draft, at) is None:
                return
            draft.mark(at, at, UPPER)
            least = min(least, _OWNED)
        elif word in PARTICLES and (last := _particle(draft, at)) > at and not draft.wanted[at]:
            draft.mark(at, last)
            at, taken = last, taken + 1
        elif word in SUFFIXES and taken:
            draft.mark(at, at)
        elif draft.bearable(at, least) or (taken == 0 and _opens_as_word(draft, at, first)):
            draft.mark(at, at)
            weight = draft.weight(at)
            sure = weight.given and not weight.everyday and weight.odds > _DUE
            taken, least = taken + 1, _PAIR_SURE if sure and taken == 0 else further
        else:
            break
        gap = page.gaps[at]
        if gap in (", ", ",") and taken and not turned and begun <= at:
            after = at + 1
            if first <= _LABELLED and _turned(draft, at, labelled=True) is not None:
                draft.mark(after, after)
            if after >= page.size or not (draft.weight(after).given and draft.bearable(after, _TURNED)):
                break
            if draft.weight(after).everyday and not _HEADER.match(page.plain, page.ends[after]):
                break
            turned, least = True, _TURNED
        elif gap not in _JOINS or (gap[0] == "." and len(word) > 1):
            break
        at += 1


def _opens_as_word(draft: Draft, at: int, first: float) -> bool:
    """Whether a name that is announced may begin with a word that mostly is none: a month, 'will', 'star'."""
    if draft.page.words[at] in MONTH_WORDS and first <= _TITLED:
        return True
    return _word_as_given(draft, at) or (first <= _LABELLED and _turned(draft, at, labelled=True) is not None)


def _word_as_given(draft: Draft, at: int) -> bool:
    """'hope griggs', 'may patel': a word that is a given name too, before a surname that is nothing else."""
    page, after = draft.page, at + 1
    if page.words[at] not in SHORT_FORMS and page.words[at] not in MONTH_WORDS:
        return False
    if not draft.weight(at).given or after >= page.size or page.gaps[at] != " ":
        return False
    if at and page.words[at - 1] in _BEFORE_MONTH:
        return False
    if len(page.words[after]) == 1 and page.gaps[after] in (". ", " ") and after + 1 < page.size:
        after += 1
    return draft.proper(after) and draft.weight(after).surname and not is_clinical_part(page.words[after])


def _pairs(draft: Draft, at: int, least: float) -> bool:
    """Whether a given name and a surname begin here, a middle name or initial between them or not."""
    page, given = draft.page, draft.weight(at)
    word = page.words[at]
    if _word_as_given(draft, at):
        return True
    if draft.plain(at) or not given.given or given.odds <= _PAIR_GIVEN or len(word) < 3:
        return False
    if is_clinical_part(word) and not given.common:
        return False  # "vena cava"
    if at + 1 >= page.size or page.gaps[at] not in (" ", "-"):
        return False
    after = at + 1
    if len(page.words[after]) == 1 and page.words[after].isalpha() and page.gaps[after] in (" ", ". "):
        after += 1
    if after < page.size and page.words[after] in PARTICLES:
        return given.odds > 0 and _particle(draft, after) > after
    sure = given.common and not given.everyday
    if after >= page.size or not draft.bearable(after, _PAIR_SURE if sure else _PAIR_FAMILY):
        return False
    family = draft.weight(after)
    if not family.known:
        return sure and not is_clinical_part(page.words[after])
    if sure and family.surname:
        return True
    both_words = given.everyday and family.everyday and after == at + 1
    return family.family and given.odds + family.odds > least + (both_words and not given.common) and given.known


def _free(draft: Draft) -> None:
    """Names that nothing announces: pairs, 'last, first', and words that are nothing but names."""
    page = draft.page
    for at, silent in enumerate(draft.silent):
        if not silent or draft.wanted[at] or page.cases[at] == "d":
            continue
        weight = draft.weight(at)
        if not (weight.given or weight.family):
            continue
        word = page.words[at]
        if word in SHORT_FORMS and _says(draft, at):
            draft.mark(at, at)
        elif (given := _turned(draft, at)) is not None:
            draft.mark(at, given)
            _name(draft, given, _TITLED, _PAIR_FAMILY)
        elif (weight.odds > _PAIR_GIVEN or word in SHORT_FORMS or word in MONTH_WORDS) and _pairs(draft, at, _PAIR):
            draft.mark(at, at)
            _name(draft, at, _PAIR_GIVEN, _PAIR_FAMILY)
        borne = weight.common or weight.surname
        if weight.odds > _ALONE and borne and draft.proper(at) and len(word) > 3 and not is_clinical_part(word):
            draft.mark(at, at)
            after = page.words[at + 1] if at + 1 < page.size and page.gaps[at] == " " else ""
            if weight.given and len(after) == 1 and after.isalpha() and page.gaps[at + 1][:1] == ".":
                draft.mark(at + 1, at + 1, UPPER)  # "rashmi w."


def _says(draft: Draft, at: int) -> bool:
    """'bill denies fever': a verb that only people do, after a short form that opens a sentence or a clause."""
    page = draft.page
    if _spoken_to(draft, at):
        return True
    done = page.words[at + 1 : at + 2] == ["was"] and at + 2 < page.size and page.words[at + 2] in DONE_TO
    if at + 2 >= page.size or page.gaps[at] != " " or not (done or page.words[at + 1] in SAID):
        return False
    return page.opens_sentence(at) or page.leads[at][-2:] in (", ", "; ", ": ") or page.words[at - 1] in _AND


def _spoken_to(draft: Draft, at: int) -> bool:
    """'asked drew to return', 'spoke to bill', 'the patient, mark, is': a short form where people are spoken to."""
    page = draft.page
    if not at:
        return False
    before, lead = page.words[at - 1], page.leads[at]
    if lead == ", " and page.gaps[at] == ", ":
        return before == "patient" or before in KIN
    met = before in _ASKED or (
        before in ("with", "to") and at > 1 and not MEETING.isdisjoint(page.words[max(0, at - 4) : at - 1])
    )
    return lead == " " and met and _stands_alone(draft, at)


def _turned(draft: Draft, at: int, *, labelled: bool = False) -> int | None:
    """The given name of 'last, first' at the head of a line or after a mark, with a header after it; or of two words
    that are only names."""
    page, weight, after = draft.page, draft.weight(at), at + 1
    if page.gaps[at] != ", " or after >= page.size or not weight.family or not weight.known:
        return None
    if page.words[at] in function_words() or page.words[at] in draft.settings.not_names:
        return None
    given = draft.weight(after)
    if labelled and given.given and page.words[after] not in function_words():
        return after if _HEADER.match(page.plain, page.ends[after]) is not None else None
    if not given.given or not given.known or not draft.bearable(after, _TURNED):
        return None
    if draft.proper(at) and draft.proper(after) and given.odds > _ALONE and not is_clinical_part(page.words[at]):
        return after
    heads = page.opens_line(at) or page.leads[at][-2:] in ("- ", ": ", "| ", "/ ") or page.leads[at][-1:] in ('"', "(")
    end = page.ends[after]
    if after + 1 < page.size and len(page.words[after + 1]) == 1 and page.gaps[after] == " ":
        end = page.ends[after + 1]
    least = _TITLED if given.common and given.odds > _DUE else _OWNED
    return after if heads and weight.odds > least and _HEADER.match(page.plain, end) is not None else None


def _signed(draft: Draft, cues: Sequence[Cue]) -> None:
    """Credentials in capitals, and the name right before them."""
    page = draft.page
    for cue in cues:
        first = cue.first
        if "credential" not in cue.kinds or not first or not draft.silent[first]:
            continue
        if page.gaps[first - 1] not in (", ", " ", ". ", "., "):
            continue
        before, sure = first - 1, page.words[first] in _SURE_CREDENTIALS
        comma = "," in page.gaps[before]
        named = draft.wanted[before] and not draft.plain(before)
        if sure and (named or (comma and draft.bearable(before, _TITLED))):
            start = before
            while start and before - start < 3 and _before_surname(draft, start):
                start -= 1
            for word in range(start, before + 1):
                draft.mark(word, word, UPPER if len(page.words[word]) == 1 else 1)
            named = True
        if named and (sure or (comma and page.gaps[cue.last][:1] in ("", "\n", ",", ".", ";", ")"))):
            draft.mark(first, cue.last, UPPER)


def _before_surname(draft: Draft, start: int) -> bool:
    page = draft.page
    if page.gaps[start - 1] not in (" ", ". ", "."):
        return False
    if len(page.words[start - 1]) == 1:
        return page.words[start - 1].isalpha()
    month = page.words[start - 1] in MONTH_WORDS and draft.weight(start - 1).given
    return page.gaps[start - 1] == " " and (month or draft.bearable(start - 1, _PAIR_GIVEN))


def _initials(draft: Draft) -> None:
    """Letters with points before a surname ('j. smith'), and three of them at the head of a line ('c.b.j./')."""
    page = draft.page
    for at in range(page.size - 1):
        if not draft.silent[at] or draft.wanted[at] or not _is_initial(draft, at):
            continue
        surname = _surname_after_initials(draft, at) if page.gaps[at][:1] == "." else None
        if surname is not None and (draft.wanted[surname] or draft.weight(surname).surname > draft.plain(surname)):
            draft.mark(surname, surname)
            draft.mark(at, surname - 1, UPPER)
        chain, points = page.words[at : at + 3], [gap[:1] for gap in page.gaps[at : at + 3]]
        short = points == ["."] * 3 and [len(word) for word in chain] == [1, 1, 1]
        if short and page.opens_line(at) and "".join(chain) not in ABBREVIATIONS:
            draft.mark(at, at + 2, UPPER)


def _headers(draft: Draft) -> None:
    """The sex and the bed in a header, in capitals as headers have them: 'smith, ada  f 45y  rm 12'."""
    page = draft.page
    for at in range(1, page.size):
        if not draft.silent[at]:
            continue
        word = page.words[at]
        if word in ("m", "f") and draft.wanted[at - 1] and page.gaps[at - 1] in ("  ", ", ", " ", "   ", " ("):
            draft.mark(at, at, UPPER)
        elif word in _UNITS and page.cases[at + 1 : at + 2] == "d" and draft.wanted[at - 1]:
            draft.mark(at, at)
