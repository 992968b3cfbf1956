"""Words that get a capital because they are a place: towns beside states and codes or after words that announce one,
states, and streets with their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workup.deid import gazetteer
from workup.deid.cues import Cue
from workup.deid.known_words import clinical_words, is_clinical_part
from workup.deid.letter_case.draft import UPPER, Draft
from workup.deid.settings import Settings
from workup.deid.word_lists import words
from workup.text.states import POSTAL_CODES
from workup.text.wordlists import function_words

_CODES = frozenset(code.lower() for code in POSTAL_CODES)
_AMBIGUOUS = words("places.ambiguous_codes")
_LIVING = words("places.living")
_SENTENCE = words("places.no_street")
_CLEAR = words("places.street_kinds_in_small_letters")
_WEAK = frozenset(("in", "from", "near", "outside", "visiting"))
_ENDS = frozenset(("", ".", ",", ";", ")", "\n", "(", "?", "!", "/", "|", "-"))
_TOWN = 4.0
_CITY = 4.5
_LARGE = 5.5
_STREET = re.compile(
    r"(?<![\w.,:/-])\d{1,6}(?:-\d{1,4})?[a-z]? (?P<v>(?:[a-z0-9'.]{1,20}[ -]){1,5}?)(?P<k>[a-z]{2,12})(?![\w'])", re.I
)


class Places:
    """The kinds of streets, as the settings list them."""

    def __init__(self, settings: Settings) -> None:
        self._kinds = settings.lists["street_types"]

    def name(self, draft: Draft, cues: Sequence[Cue]) -> None:
        """Mark towns, states and streets."""
        ends = self._streets(draft)
        announced = _announced(draft, cues)
        _towns(draft, announced, ends)
        _codes_before_zip(draft)

    def _streets(self, draft: Draft) -> set[int]:
        """Mark streets; the words after them are answered, where a town is due."""
        page, after = draft.page, set()
        for match in _STREET.finditer(page.plain):
            first, last = page.word_at(match.start("v")), page.word_at(match.end()) - 1
            if first >= last or not draft.silent[last]:
                continue
            inner = page.words[first:last]
            if any(word in _SENTENCE or word in function_words() or word in clinical_words() for word in inner):
                continue
            kind = page.words[last]
            if kind not in self._kinds or (kind not in _CLEAR and page.gaps[last][:1] not in (",", "\n", "")):
                continue
            for word in range(first, last + 1):
                short = len(page.words[word]) < 3 and page.words[word] in ("n", "s", "e", "w", "ne", "nw", "se", "sw")
                draft.mark(word, word, UPPER if short else 1)
            after.add(last + 1)
        return after


def _announced(draft: Draft, cues: Sequence[Cue]) -> dict[int, str]:
    page, found = draft.page, {}
    for cue in cues:
        if "place" not in cue.kinds and "facility" not in cue.kinds and page.words[cue.last] not in _WEAK:
            continue
        gap, at = page.gaps[cue.last], cue.last + 1
        if ":" in gap and len(gap) < 40 and "place" in cue.kinds:
            found[at] = "label"
        elif gap == " ":
            strong = page.words[cue.first] in _LIVING and cue.last > cue.first and "place" in cue.kinds
            if strong:
                found[at] = "strong"
            elif page.words[cue.last] in _WEAK:
                found[at] = "weak"
    return found


def _towns(draft: Draft, announced: dict[int, str], ends: set[int]) -> None:
    page, known, openings = draft.page, gazetteer.places(), gazetteer.place_openings()
    free = 0
    for at in page.of(openings):
        if at < free or not draft.silent[at] or page.cases[at] == "d":
            continue
        last = _longest(draft, at, openings[page.words[at]])
        while last >= at:
            place = known.get(" ".join(page.words[at : last + 1]))
            if place is not None and _is_place(draft, at, last, place, announced.get(at, ""), at in ends):
                draft.mark(at, last)
                free = last + 1
                break
            last -= 1


def _longest(draft: Draft, at: int, longest: int) -> int:
    page, last = draft.page, at
    while last + 1 < page.size and last - at + 1 < longest:
        if page.gaps[last] not in (" ", "-") and not (page.gaps[last] == ". " and page.words[last] in ("st", "mt", "ft")):
            break
        last += 1
    return last


def _is_place(draft: Draft, at: int, last: int, place: gazetteer.Place, cue: str, in_address: bool) -> bool:
    page, kinds = draft.page, place.kinds
    own = page.words[at : last + 1]
    weight = draft.weight(at)
    ordinary = last == at and (weight.everyday or draft.plain(at) or is_clinical_part(own[0]))
    ordinary = ordinary or all(word in gazetteer.everyday() or word in function_words() for word in own)
    if {"u", "w", "c", "s", "n"}.isdisjoint(kinds) or (last == at and own[0] in function_words()):
        return False
    if _state_follows(draft, last, sure=bool(cue) or in_address or not ordinary):
        return True
    ending = page.gaps[last][:1] in _ENDS or page.words[last + 1 : last + 2] == ["with"] or last + 1 >= page.size
    follows = page.words[last + 1] if last + 1 < page.size else ""
    ending = ending or follows in function_words()
    if in_address or cue == "label":
        return ending or not ordinary
    if cue == "strong":
        return not draft.plain(at) and (not ordinary or (ending and place.people >= _TOWN))
    if ordinary:
        return False
    if "s" in kinds or "n" in kinds:
        return not weight.given or bool(cue)
    if cue == "weak":
        return place.people >= _TOWN or (last > at)
    return (last > at and place.people >= _CITY) or (place.people >= _LARGE and not weight.given)


def _state_follows(draft: Draft, last: int, *, sure: bool) -> bool:
    """Whether a state follows a town, by its name or its code; if so it is marked."""
    page, after = draft.page, last + 1
    if after >= page.size or not draft.silent[after]:
        return False
    comma = page.gaps[last] in (", ", ",")
    if not comma and page.gaps[last] != " ":
        return False
    code = page.words[after]
    zipped = after + 1 < page.size and page.words[after + 1].isdigit() and len(page.words[after + 1]) in (5, 9)
    if code in _CODES:
        clear = code not in _AMBIGUOUS
        ends = page.gaps[after][:1] in _ENDS
        if zipped or (clear and (comma or sure)) or (comma and sure and ends):
            draft.mark(after, after, UPPER)
            return sure or comma or zipped
        return False
    known = gazetteer.places()
    for length in (2, 1):
        place = known.get(" ".join(page.words[after : after + length]))
        if comma and place is not None and "s" in place.kinds and sure:
            draft.mark(after, after + length - 1)
            return True
    return False


def _codes_before_zip(draft: Draft) -> None:
    page = draft.page
    for at in page.figures:
        if at and len(page.words[at]) in (5, 9) and page.words[at].isdigit() and page.gaps[at - 1] in (" ", "  ", ", "):
            code = page.words[at - 1]
            if code in _CODES and at > 1 and (page.gaps[at - 2] in (", ", ",") or draft.wanted[at - 2]):
                draft.mark(at - 1, at - 1, UPPER)
