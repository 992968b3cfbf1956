"""Words that get a capital because they name a hospital, an employer or another body: before a word that says what it
is, and after words that announce one."""

from __future__ import annotations

from collections.abc import Sequence

from workup.deid import gazetteer
from workup.deid.cues import Cue, CueBook
from workup.deid.known_words import clinical_words
from workup.deid.letter_case.draft import UPPER, Draft
from workup.deid.settings import Settings
from workup.deid.word_lists import words
from workup.text.wordlists import function_words

_LISTS = ("facility_words", "company_ends", "public_bodies", "organisations")
_PARTS = words("organisations.lowercase_parts")
_HEADS = words("organisations.lowercase_heads")
_BEFORE = words("organisations.before_lowercase")
_GENERIC = words("organisations.not_first") | words("organisations.any_hospital")
_WEAK_ENDS = words("organisations.ordinary_ends")
_SHORT_ENDS = ("mc", "h", "hs", "hc")
_MOST = 4


class Bodies:
    """What bodies are called, as cues."""

    def __init__(self, settings: Settings) -> None:
        kinds: dict[str, frozenset[str]] = {}
        for name in _LISTS:
            for phrase in settings.lists[name]:
                kinds[phrase] = kinds.get(phrase, frozenset()) | {name}
        self._book = CueBook(kinds)

    def name(self, draft: Draft, cues: Sequence[Cue]) -> None:
        """Mark bodies."""
        for head in self._book.find(draft.page):
            if draft.silent[head.first]:
                _headed(draft, head)
        for cue in cues:
            if ("facility" in cue.kinds or "employer" in cue.kinds) and cue.last + 1 < draft.page.size:
                _cued(draft, cue)


def _headed(draft: Draft, head: Cue) -> None:
    """The name that ends in a word such as hospital, from its first word on."""
    page, first = draft.page, head.first
    while first and head.first - first < _MOST and page.gaps[first - 1] in (" ", "'s ", "-", ". ", "' "):
        word = page.words[first - 1]
        if page.gaps[first - 1] == ". " and word not in ("st", "mt"):
            break
        if not draft.silent[first - 1] or word in function_words() or word in _GENERIC or word in clinical_words():
            break
        if word in draft.settings.not_names and word not in _PARTS:
            break
        first -= 1
    own = [word for word in range(first, head.first) if page.words[word] not in _PARTS]
    if not own:
        return
    proper = any(draft.proper(word) or page.words[word] in ("st", "mt", "saint", "mount") for word in own)
    phrase = " ".join(page.words[head.first : head.last + 1])
    facility = "facility_words" in head.kinds
    due = page.opens_line(first) or page.leads[first][-2:] in (": ", "(") or page.words[first - 1] in _BEFORE
    town = _is_town(draft, own)
    weak = page.words[head.last] in _WEAK_ENDS and phrase not in _HEADS
    if not (proper or town) and not (due and phrase in _HEADS):
        return
    if weak and not facility and not (proper and due):
        return
    draft.mark(first, head.last)


def _is_town(draft: Draft, own: list[int]) -> bool:
    name = " ".join(draft.page.words[word] for word in own)
    place = gazetteer.places().get(name)
    return place is not None and (len(own) > 1 or place.people >= 4) and name not in gazetteer.everyday()


def _cued(draft: Draft, cue: Cue) -> None:
    """What a label or a verb announces: 'employer: acme mill', 'transferred from bmc'."""
    page, gap, at = draft.page, draft.page.gaps[cue.last], cue.last + 1
    if not draft.silent[at]:
        return
    label = ":" in gap and len(gap) < 40 and "\n" not in gap
    if not label and not (cue.last > cue.first and gap == " "):
        return
    if page.words[at] == "the" and at + 1 < page.size:
        at += 1
    word = page.words[at]
    if 2 < len(word) < 6 and word.endswith(_SHORT_ENDS) and draft.weight(at).why in ("unknown", "typo"):
        if word not in words("organisations.no_short_forms"):
            draft.mark(at, at, UPPER)
        return
    last = at
    while last < page.size and last - at < _MOST and _fits(draft, last, label=label and "employer" in cue.kinds):
        if page.gaps[last] not in (" ", "-", " & ", "'s "):
            last += 1
            break
        last += 1
    if last > at and any(draft.proper(one) or draft.strange(one) or label for one in range(at, last)):
        draft.mark(at, last - 1)


def _fits(draft: Draft, at: int, *, label: bool) -> bool:
    if not draft.silent[at] or not draft.page.words[at].replace("'", "").isalpha():
        return False
    if draft.page.words[at] in _PARTS:
        return True
    if label:
        return draft.page.words[at] not in function_words() and not draft.plain(at)
    return draft.proper(at) or (draft.strange(at) and len(draft.page.words[at]) > 4)
