"""Words that get a capital because they name a hospital, an employer or another body: before a word that says what it
is, and after words that announce one."""

from __future__ import annotations

from collections.abc import Sequence

from workup.deid import gazetteer
from workup.deid.cues import Cue, CueBook
from workup.deid.letter_case.draft import UPPER, Draft
from workup.deid.names.words import KIN, VERBS
from workup.deid.settings import Settings
from workup.deid.word_lists import words
from workup.text.wordlists import function_words

_LISTS = ("facility_words", "company_ends", "public_bodies", "organisations")
_PARTS = words("organisations.lowercase_parts")
_BEFORE = words("organisations.before_lowercase")
_GENERIC = words("organisations.not_first") | words("organisations.any_hospital") | words("organisations.cut")
_HEADINGS = words("organisations.headings")
_WEAK_ENDS = words("organisations.ordinary_ends") - words("organisations.open_ended") - {"pharmacy", "hospice"}
_SPECIALTIES = words("organisations.departments")
_NO_SHORT = words("organisations.no_short_forms")
_SHORT_ENDS = ("mc", "h", "hs", "hc")
_JOINS = frozenset((" ", "'s ", "-", ". ", "' ", " & "))
_SAINTS = frozenset(("st", "mt", "saint", "mount", "ft", "fort"))
_MOST = 5


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
        _short_forms(draft)


def _headed(draft: Draft, head: Cue) -> None:
    """The name that ends in a word such as hospital, from its first word on."""
    page, first = draft.page, head.first
    while first and head.first - first < _MOST and page.gaps[first - 1].lower() in _JOINS:
        word = page.words[first - 1]
        if page.gaps[first - 1] == ". " and word not in _SAINTS:
            break
        if not draft.silent[first - 1] or word in function_words() or word in VERBS or word in KIN:
            break
        first -= 1
    while first < head.first and (page.words[first] in _GENERIC or draft.plain(first)):
        first += 1
    own = [word for word in range(first, head.first) if page.words[word] not in _PARTS and not draft.plain(word)]
    following = page.words[head.last + 1] if head.last + 1 < page.size and page.gaps[head.last] == " " else ""
    if not own or following in _HEADINGS:
        return
    proper = any(draft.proper(word) or page.words[word] in _SAINTS for word in own) or _is_town(draft, own)
    strange = any(draft.strange(word) and len(page.words[word]) > 5 for word in own)
    lead = page.leads[first]
    due = page.opens_line(first) or lead[-1:] in ("(", ":") or lead[-2:] in (": ", "- ") or page.words[first - 1] in _BEFORE
    due = due or (lead == ", " and page.words[first - 1] in _SPECIALTIES)
    if "facility_words" not in head.kinds:
        weak = page.words[head.last] in _WEAK_ENDS
        named = (proper or strange) and (due or not weak)
    else:
        named = proper or (due and (strange or page.words[head.last] not in _WEAK_ENDS))
    if named:
        draft.mark(first, head.last)


def _is_town(draft: Draft, own: list[int]) -> bool:
    name = " ".join(draft.page.words[word] for word in own)
    place = gazetteer.places().get(name)
    return place is not None and (len(own) > 1 or place.people >= 4) and name not in gazetteer.everyday()


def _cued(draft: Draft, cue: Cue) -> None:
    """What a label or a verb announces: 'employer: acme mill', 'transferred from bmc'."""
    page, gap, at = draft.page, draft.page.gaps[cue.last], cue.last + 1
    label = ":" in gap and len(gap) < 40 and "\n" not in gap
    if not label and not (cue.last > cue.first and gap == " "):
        return
    if page.words[at] == "the" and at + 1 < page.size:
        at += 1
    if not draft.silent[at]:
        return
    if _is_short_form(draft, at):
        draft.mark(at, at, UPPER)
        return
    last, employer = at, label and "employer" in cue.kinds
    while last < page.size and last - at < _MOST and _fits(draft, last, label=employer):
        last += 1
        if page.gaps[last - 1].lower() not in _JOINS or page.gaps[last - 1] == ". ":
            break
    if last > at and any(draft.proper(one) or draft.strange(one) or employer for one in range(at, last)):
        draft.mark(at, last - 1)


def _fits(draft: Draft, at: int, *, label: bool) -> bool:
    word = draft.page.words[at]
    if not draft.silent[at] or not word.replace("'", "").isalpha():
        return False
    if word in _PARTS:
        return True
    if label:
        return word not in function_words() and not draft.plain(at)
    return draft.proper(at) or (draft.strange(at) and len(word) > 4)


def _is_short_form(draft: Draft, at: int) -> bool:
    word = draft.page.words[at]
    shaped = 2 < len(word) < 6 and word.endswith(_SHORT_ENDS) and word.isalpha() and word not in _NO_SHORT
    return shaped and not draft.plain(at) and draft.weight(at).why in ("unknown", "typo")


def _short_forms(draft: Draft) -> None:
    """Short forms of hospitals that head a text, or follow a specialty or a preposition of place."""
    page = draft.page
    for at in range(page.size):
        if not draft.silent[at] or not _is_short_form(draft, at):
            continue
        heads = page.opens_line(at) and page.gaps[at][:1] in ("\n", "") and at < 12
        before = page.words[at - 1] if at else ""
        after = page.leads[at] == ", " and before in _SPECIALTIES
        if heads or after or (page.leads[at] == " " and before in ("at", "from")):
            draft.mark(at, at, UPPER)
