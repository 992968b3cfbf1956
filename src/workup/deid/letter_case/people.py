"""Words that get a capital because they are somebody's name: after titles, labels and roles, before credentials, as a
given name beside a surname, or by themselves where they are nothing but a name."""

from __future__ import annotations

from collections.abc import Sequence

from workup.deid.cues import Cue
from workup.deid.known_words import is_clinical_part
from workup.deid.letter_case.draft import UPPER, Draft
from workup.deid.names.weights import name_weight
from workup.deid.names.word_weights import PARTICLES, SUFFIXES
from workup.deid.names.words import KIN, VERBS
from workup.deid.word_lists import words
from workup.text.wordlists import function_words

_TITLES_THAT_ARE_WORDS = words("names.titles_that_are_words") | words("names.weak_titles")
_SURE_CREDENTIALS = words("letter_case.sure_credentials")
_JOINS = frozenset((" ", "-", ". ", "  "))
_MOST = 4
_TITLED = name_weight("restored.titled")
_TITLED_NEXT = name_weight("restored.titled_next")
_LABELLED = name_weight("restored.labelled")
_DUE = name_weight("restored.due")
_OWNED = name_weight("restored.owned")
_PAIR_GIVEN = name_weight("restored.pair_given")
_PAIR_FAMILY = name_weight("restored.pair_family")
_PAIR = name_weight("restored.pair")
_PAIR_DUE = name_weight("restored.pair_due")
_ALONE = name_weight("restored.alone")


def name_people(draft: Draft, cues: Sequence[Cue]) -> None:
    """Mark the names of people."""
    for cue in cues:
        if cue.last + 1 < draft.page.size and draft.silent[cue.last + 1]:
            _announced(draft, cue)
    _free(draft)
    _signed(draft, cues)
    _initials(draft)


def _announced(draft: Draft, cue: Cue) -> None:
    page, kinds, at = draft.page, cue.kinds, cue.last + 1
    gap, word = page.gaps[cue.last], page.words[cue.last]
    if "title" in kinds and cue.first == cue.last and gap in (" ", ". ", "  ", "."):
        homonym = word in _TITLES_THAT_ARE_WORDS
        if draft.proper(at) or (not homonym and _reads_as_name(draft, at, _TITLED)):
            draft.mark(cue.last, cue.last)
            _name(draft, at, _TITLED, _TITLED_NEXT)
        return
    if kinds.isdisjoint(("patient", "relative", "provider", "patient_label", "naming")):
        return
    if gap.strip(" \t") in (":", "=", "#", "|") and len(gap) < 40:
        _name(draft, at, _LABELLED, _LABELLED)
    elif gap in (" ", " (", ", ", ' "', ": ") or (gap.strip(" \t") == "\n"):
        owned = word in KIN or "naming" in kinds or word in ("by", "with")
        pair = _pairs(draft, at, _PAIR_DUE)
        if draft.proper(at) or pair or draft.weight(at).odds > _DUE or (owned and _stands_alone(draft, at)):
            _name(draft, at, _OWNED if owned or pair else _DUE, _DUE)


def _reads_as_name(draft: Draft, at: int, least: float) -> bool:
    """Whether a word after a title is a name rather than the sentence going on ("dr on call")."""
    return draft.bearable(at, least)


def _stands_alone(draft: Draft, at: int) -> bool:
    """'her son mark will': a given name that is a word too, where no noun follows that it would belong to."""
    page, weight = draft.page, draft.weight(at)
    if draft.plain(at) or not (weight.known and weight.given) or weight.odds <= _OWNED:
        return False
    if at + 1 >= page.size or page.gaps[at] != " ":
        return True
    after = page.words[at + 1]
    return after in VERBS or (after in function_words() and after not in ("of", "a", "the"))


def _name(draft: Draft, at: int, first: float, further: float) -> None:
    """Mark a name that begins here: further words, initials, and a given name after a comma."""
    page, taken, least, turned = draft.page, 0, first, False
    begun = at
    while at < page.size and taken < _MOST and draft.silent[at]:
        word = page.words[at]
        if len(word) == 1 and word.isalpha():
            if taken == 0 and not (at + 1 < page.size and draft.bearable(at + 1, further)):
                return
            draft.mark(at, at, UPPER)
        elif word in PARTICLES and at + 1 < page.size and page.gaps[at] in (" ", "'") and draft.bearable(at + 1, -2.0):
            pass  # small inside a name in any case
        elif word in SUFFIXES and taken:
            draft.mark(at, at)
        elif draft.bearable(at, least) or (turned and draft.weight(at).given and draft.weight(at).odds > _DUE):
            draft.mark(at, at)
            taken, least = taken + 1, further
        else:
            break
        gap = page.gaps[at]
        if gap in (", ", ",") and taken and not turned and begun == at - taken + 1:
            after = at + 1
            if after >= page.size or not (draft.weight(after).given and draft.bearable(after, _DUE)):
                break
            turned = True
        elif gap not in _JOINS or (gap == ". " and len(word) > 1):
            break
        at += 1


def _pairs(draft: Draft, at: int, least: float) -> bool:
    """Whether a given name and a surname begin here, a middle name or initial between them or not."""
    page, given = draft.page, draft.weight(at)
    if draft.plain(at) or not given.given or given.odds <= _PAIR_GIVEN or len(page.words[at]) < 2:
        return False
    if is_clinical_part(page.words[at]) and not given.common:
        return False  # "vena cava"
    if at + 1 >= page.size or page.gaps[at] not in (" ", "-"):
        return False
    after = at + 1
    if len(page.words[after]) == 1 and page.words[after].isalpha() and page.gaps[after] in (" ", ". "):
        after += 1
    if after >= page.size or not draft.bearable(after, _PAIR_FAMILY):
        return False
    family = draft.weight(after)
    if not family.known:
        return given.common and not given.everyday and not is_clinical_part(page.words[after])
    both_words = given.everyday and family.everyday and after == at + 1
    return family.family and given.odds + family.odds > least + (both_words and not given.common) and given.known


def _free(draft: Draft) -> None:
    """Names that nothing announces: pairs, 'last, first', and words that are nothing but names."""
    page = draft.page
    for at, silent in enumerate(draft.silent):
        if not silent or draft.wanted[at]:
            continue
        weight = draft.weight(at)
        if not (weight.given or weight.family) or weight.odds <= _PAIR_GIVEN or page.cases[at] == "d":
            continue
        word = page.words[at]
        if _pairs(draft, at, _PAIR):
            _name(draft, at, _PAIR_GIVEN, _PAIR_FAMILY)
        elif page.gaps[at] == ", " and draft.proper(at) and weight.family and at + 1 < page.size:
            given = draft.weight(at + 1)
            if draft.proper(at + 1) and given.given and given.odds > _ALONE:
                draft.mark(at, at + 1)
        if weight.odds > _ALONE and draft.proper(at) and len(word) > 3 and not is_clinical_part(word):
            draft.mark(at, at)


def _signed(draft: Draft, cues: Sequence[Cue]) -> None:
    """Credentials in capitals, and the name right before them."""
    page = draft.page
    for cue in cues:
        first = cue.first
        if "credential" not in cue.kinds or not first or not draft.silent[first] or page.gaps[first - 1] not in (", ", " "):
            continue
        before, sure = first - 1, page.words[first] in _SURE_CREDENTIALS
        comma = page.gaps[before] == ", "
        named = draft.wanted[before] and not draft.plain(before)
        if sure and not named and comma and draft.bearable(before, _TITLED):
            start = before
            if start and page.gaps[start - 1] == " " and draft.bearable(start - 1, _PAIR_GIVEN):
                start -= 1
            draft.mark(start, before)
            named = True
        if named and (sure or (comma and page.gaps[cue.last][:1] in ("", "\n", ",", ".", ";", ")"))):
            draft.mark(first, cue.last, UPPER)


def _initials(draft: Draft) -> None:
    """One letter and a point before a surname: 'j. smith'."""
    page = draft.page
    for at in range(page.size - 1):
        if draft.silent[at] and len(page.words[at]) == 1 and page.words[at].isalpha() and page.gaps[at] == ". ":
            if draft.wanted[at + 1]:
                draft.mark(at, at, UPPER)
