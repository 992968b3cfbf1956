"""Words that get a capital because they name a hospital, an employer or another body: before a word that says what it
is, and after words that announce one."""

from __future__ import annotations

from collections.abc import Sequence

from workup.deid import gazetteer
from workup.deid.cues import Cue, CueBook
from workup.deid.known_words import is_clinical_part
from workup.deid.letter_case.draft import UPPER, Draft
from workup.deid.names.word_weights import weigh
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
_HEADS = tuple(sorted(words("organisations.lowercase_heads") | {"pharmacy"}))
_WORKS = frozenset(("works", "worked", "working", "job", "employed", "employee", "employer"))
_COMPANIES = frozenset(("inc", "llc", "llp", "ltd", "corp", "incorporated"))
_JOINS = frozenset((" ", "-", ". ", "' ", " & "))
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
        heads = [head for head in self._book.find(draft.page) if draft.silent[head.first]]
        for head in heads:
            _headed(draft, head)
        ends = {head.first: head.last for head in heads}
        for cue in cues:
            if ("facility" in cue.kinds or "employer" in cue.kinds) and cue.last + 1 < draft.page.size:
                _cued(draft, cue, ends)
        _short_forms(draft)


def _headed(draft: Draft, head: Cue) -> None:
    """The name that ends in a word such as hospital, from its first word on."""
    page, first = draft.page, head.first
    while first and head.first - first < _MOST + 1:
        word = page.words[first - 1]
        if word == "s" and page.leads[first - 1] == "'":
            first -= 2
            continue
        if page.gaps[first - 1] not in _JOINS:
            break
        if page.gaps[first - 1] == ". " and word not in _SAINTS:
            break
        if not draft.silent[first - 1] or word in function_words() or word in VERBS or word in KIN:
            break
        first -= 1
    while first < head.first and (page.words[first] in _GENERIC or draft.plain(first)):
        first += 1
    own = [
        word
        for word in range(first, head.first)
        if page.words[word] not in _PARTS and page.words[word] not in _SPECIALTIES and not draft.plain(word)
    ]
    own = [word for word in own if len(page.words[word]) > 1]
    following = page.words[head.last + 1] if head.last + 1 < page.size and page.gaps[head.last] == " " else ""
    if not own or following in _HEADINGS:
        return
    proper = any(draft.proper(word) or page.words[word] in _SAINTS for word in own) or _is_town(draft, own)
    strange = any(
        draft.strange(word) and len(page.words[word]) > 6 and not is_clinical_part(page.words[word]) for word in own
    )
    lead = page.leads[first]
    due = page.opens_line(first) or lead[-1:] in ("(", ":") or lead[-2:] in (": ", "- ")
    due = due or page.words[first - 1] in _BEFORE
    due = due or (lead == ", " and page.words[first - 1] in _SPECIALTIES)
    end = page.words[head.last]
    if "facility_words" not in head.kinds:
        due = due or (page.words[first - 1] == "for" and not _WORKS.isdisjoint(page.words[max(0, first - 8) : first]))
        proper = proper or (due and not _WORKS.isdisjoint(page.words[max(0, first - 8) : first]))
        proper = proper or (strange and "public_bodies" in head.kinds and due)
        named = (proper and (due or end not in _WEAK_ENDS)) or (strange and end in _COMPANIES)
    else:
        strong = " ".join(page.words[head.first : head.last + 1]).endswith(_HEADS)
        named = proper or (due and strange) or (due and strong and page.words[first - 1] not in ("by", "in", "of"))
    if named:
        draft.mark(first, head.last)


def _is_town(draft: Draft, own: list[int]) -> bool:
    name = " ".join(draft.page.words[word] for word in own)
    place = gazetteer.places().get(name)
    return place is not None and (len(own) > 1 or place.people >= 4) and name not in gazetteer.everyday()


def _cued(draft: Draft, cue: Cue, ends: dict[int, int]) -> None:
    """What a label or a verb announces: 'employer: acme mill', 'seen at bmc', 'records from oak hollow general'.

    `ends` has the words that say what a hospital is, by their first word."""
    page, gap, at = draft.page, draft.page.gaps[cue.last], cue.last + 1
    label = ":" in gap and len(gap) < 40 and "\n" not in gap
    alone = cue.last == cue.first and gap == " " and page.words[cue.last] in ("pharmacy", "client")
    if not label and not alone and not (cue.last > cue.first and gap == " "):
        return
    if page.words[at] == "the" and at + 1 < page.size:
        at += 1
    if not draft.silent[at]:
        return
    if _is_short_form(draft, at):
        draft.mark(at, at, UPPER)
        return
    if (last := _headed_after(draft, at, ends)) is not None:
        draft.mark(at, last)
    if last is not None or alone:
        return
    last, employer = at, label and "employer" in cue.kinds
    while last < page.size and last - at < _MOST and _fits(draft, last, label=employer):
        last += 1
        if page.gaps[last - 1] not in _JOINS or page.gaps[last - 1] == ". ":
            break
    if last > at and any(draft.proper(one) or draft.strange(one) or employer for one in range(at, last)):
        draft.mark(at, last - 1)


def _headed_after(draft: Draft, at: int, ends: dict[int, int]) -> int | None:
    """The end of a name that begins here and whose last word says what it is."""
    page, word = draft.page, at
    while word < page.size and word - at < _MOST and word not in ends:
        text = page.words[word]
        if text in function_words() or text in VERBS or page.gaps[word] not in _JOINS or page.cases[word] == "d":
            return None
        if draft.plain(word) and text not in _PARTS and text not in _SPECIALTIES:
            return None
        word += 1
    texts = [page.words[one] for one in range(at, word)]
    own = any(text not in _PARTS and text not in _SPECIALTIES and not _clinical(text) for text in texts)
    return ends[word] if word in ends and own and page.words[at] not in _GENERIC else None


def _clinical(text: str) -> bool:
    return is_clinical_part(text) and not weigh(text).surname


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
