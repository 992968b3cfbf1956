"""Words that get a capital because they are a place: towns beside states and codes or after words that announce one,
states, counties, and streets with their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workup.deid import gazetteer
from workup.deid.cues import Cue, CueBook
from workup.deid.known_words import clinical_words, is_clinical_part
from workup.deid.letter_case.draft import TITLE, UPPER, Draft
from workup.deid.settings import Settings
from workup.deid.word_lists import words
from workup.text.states import POSTAL_CODES
from workup.text.wordlists import function_words

_CODES = frozenset(code.lower() for code in POSTAL_CODES)
_OLD_STATES = words("places.old_states")
_AMBIGUOUS = words("places.ambiguous_codes")
_LIVING = words("places.living")
_SENTENCE = words("places.no_street")
_NO_COUNTY = words("places.no_county")
_CLEAR = words("places.street_kinds_in_small_letters")
_SPANISH = frozenset(("calle", "avenida", "paseo", "camino", "carrera"))
_DIRECTIONS = frozenset(("n", "s", "e", "w", "ne", "nw", "se", "sw"))
_WEAK = frozenset(("in", "from", "near", "outside", "visiting"))
_ENDS = frozenset(("", ".", ",", ";", ")", "\n", "(", "?", "!", "/", "|", "-"))
_TOWN = 4.0
_CITY = 4.5
_LARGE = 5.5
_ROAD = re.compile(
    r"(?<![\w.,:/-])\d{1,6} (?:[nsew]\.? )?(?:(?:county|state|us|co|farm to market|ranch) )?"
    r"(?:road|rd|route|rte|highway|hwy|cr|sr|fm) \d{1,4}[a-z]?(?: (?:north|south|east|west|[nsew]))?(?!\w)",
    re.IGNORECASE,
)
_CALLE = re.compile(
    r"(?<!\w)(?:calle|avenida|paseo|camino|carrera) (?:[a-z']{1,20} ){1,4}#?\d{1,6}(?!\w)", re.IGNORECASE
)
_BOX = re.compile(r"(?<!\w)p\.?[ ]?o\.?[ ]?box[ ]?#?\d{1,7}(?!\w)", re.IGNORECASE)
# From a street to the town after it: a unit or none, and a comma or a new line.
_TO_TOWN = re.compile(
    r"\.?(?: (?:north|south|east|west|[ns][ew]?|[ew]))?\.?"
    r"(?:,? ?(?:apt|apartment|unit|suite|ste|bldg|floor|lot|rm|room|#)\.? ?#?[a-z0-9-]{1,6})?(?:, ?|\n)(?=[a-z])",
    re.IGNORECASE,
)


class Places:
    """The kinds of streets, as the settings list them."""

    def __init__(self, settings: Settings) -> None:
        self._kinds = settings.lists["street_types"]
        self._countries = CueBook(dict.fromkeys(settings.lists["countries"], frozenset(("country",))))

    def name(self, draft: Draft, cues: Sequence[Cue]) -> None:
        """Mark towns, states and streets."""
        due = self._streets(draft)
        _towns(draft, _announced(draft, cues), due)
        _after_streets(draft, due)
        _counties(draft)
        _states_before_zip(draft)
        for country in self._countries.find(draft.page):
            draft.mark(country.first, country.last)

    def _streets(self, draft: Draft) -> set[int]:
        """Mark streets; the words at which a town is due after them are answered."""
        page, due = draft.page, set()
        spans = [match.span() for road in (_ROAD, _CALLE, _BOX) for match in road.finditer(page.plain)]
        spans += [span for at in page.figures if (span := self._named(draft, at)) is not None]
        for start, end in spans:
            first, last = page.word_at(start), page.word_at(end) - 1
            if not draft.silent[last]:
                continue
            for word in range(first, last + 1):
                if page.words[word] not in ("block", "of"):
                    draft.mark(word, word, UPPER if page.words[word] in _DIRECTIONS else TITLE)
            if (follows := _TO_TOWN.match(page.plain, end)) is not None:
                due.add(page.word_at(follows.end()))
        return due

    def _named(self, draft: Draft, at: int) -> tuple[int, int] | None:
        """The street of a house number: up to five words of no sentence, the last of them a kind of street."""
        page, word, end = draft.page, at, None
        if not page.words[at][0].isdigit() or len(page.words[at]) > 6:
            return None
        if page.words[at + 1 : at + 3] == ["block", "of"]:
            word += 2
        begun = word
        while word + 1 < page.size and word - begun < 6 and page.gaps[word] in (" ", "-", ". "):
            word += 1
            text = page.words[word]
            if text in self._kinds and word > begun + 1:
                clear = text in _CLEAR or _TO_TOWN.match(page.plain, page.ends[word]) is not None
                end = word if clear else end
            if text in _SENTENCE or text in function_words() or text in clinical_words():
                break
        return (page.starts[at], page.ends[end]) if end is not None else None


def _announced(draft: Draft, cues: Sequence[Cue]) -> dict[int, str]:
    page = draft.page
    found: dict[int, str] = {}
    for cue in cues:
        gap, at = page.gaps[cue.last], cue.last + 1
        if "place" in cue.kinds and ":" in gap and len(gap) < 40:
            found[at] = "label"
        elif gap == " ":
            if "place" in cue.kinds and cue.last > cue.first and page.words[cue.first] in _LIVING:
                found[at] = "strong"
            elif page.words[cue.last] in _WEAK or (cue.last > cue.first and "place" in cue.kinds):
                found[at] = "weak"
    return found


def _towns(draft: Draft, announced: dict[int, str], due: set[int]) -> None:
    page, known, openings = draft.page, gazetteer.places(), gazetteer.place_openings()
    free = 0
    for at in page.of(openings):
        if at < free or not draft.silent[at] or page.cases[at] == "d":
            continue
        last = _longest(draft, at, openings[page.words[at]])
        while last >= at:
            place = known.get(" ".join(page.words[at : last + 1]))
            if place is not None and _is_place(draft, at, last, place, announced.get(at, ""), at in due):
                draft.mark(at, last)
                free = last + 1
                break
            last -= 1


def _longest(draft: Draft, at: int, longest: int) -> int:
    page, last = draft.page, at
    while last + 1 < page.size and last - at + 1 < longest:
        saint = page.gaps[last] == ". " and page.words[last] in ("st", "mt", "ft")
        if page.gaps[last] not in (" ", "-") and not saint:
            break
        last += 1
    return last


def _is_place(draft: Draft, at: int, last: int, place: gazetteer.Place, cue: str, due: bool) -> bool:
    page, weight = draft.page, draft.weight(at)
    own = page.words[at : last + 1]
    if last == at and (own[0] in function_words() or len(own[0]) < 3):
        return False
    ordinary = last == at and (draft.plain(at) or is_clinical_part(own[0]))
    ordinary = ordinary or all(word in gazetteer.everyday() or word in function_words() for word in own)
    if _state_follows(draft, last, sure=bool(cue) or due or not ordinary):
        return True
    ends = last + 1 >= page.size or page.gaps[last][:1] in _ENDS or page.words[last + 1] in function_words()
    if due or cue == "label":
        return ends or not ordinary
    if cue == "strong":
        return not draft.plain(at) and (not ordinary or (ends and place.people >= _TOWN))
    if ordinary:
        return False
    if "s" in place.kinds or "n" in place.kinds:
        return not weight.common or bool(cue)
    if cue == "weak":
        return place.people >= _TOWN or last > at
    return (last > at and place.people >= _CITY) or (place.people >= _LARGE and not weight.given)


def _state_follows(draft: Draft, last: int, *, sure: bool) -> bool:
    """Whether a state follows a town, by its name or a short form; if so it is marked."""
    page, after = draft.page, last + 1
    if after >= page.size or not draft.silent[after]:
        return False
    comma = page.gaps[last] in (", ", ",")
    if not comma and page.gaps[last] != " ":
        return False
    code = page.words[after]
    zipped = after + 1 < page.size and page.words[after + 1].isdigit() and len(page.words[after + 1]) in (5, 9)
    if code in _CODES:
        ends = page.gaps[after][:1] in _ENDS
        if zipped or (code not in _AMBIGUOUS and (comma or sure)) or (comma and sure and ends):
            draft.mark(after, after, UPPER)
            return True
    if comma and sure and code in _OLD_STATES and page.gaps[after][:1] == ".":
        draft.mark(after, after)
        return True
    known = gazetteer.places()
    for length in (2, 1):
        place = known.get(" ".join(page.words[after : after + length])) if after + length <= page.size else None
        if comma and place is not None and not {"s", "n"}.isdisjoint(place.kinds) and sure:
            draft.mark(after, after + length - 1)
            return True
    return False


def _after_streets(draft: Draft, due: set[int]) -> None:
    """Up to three words between the comma after a street and the next mark, whether a list has them or not."""
    page = draft.page
    for at in due:
        last = at
        while last < page.size and last - at < 3 and page.cases[last] != "d" and page.gaps[last] in (" ", "-"):
            last += 1
        if last >= page.size or page.cases[last] == "d" or draft.plain(at) or draft.wanted[at]:
            continue
        if page.gaps[last][:1] in _ENDS and page.words[at] not in _SENTENCE:
            draft.mark(at, last)
            _state_follows(draft, last, sure=True)


def _counties(draft: Draft) -> None:
    page = draft.page
    for at in page.of(("county", "parish", "borough")):
        if not at or page.gaps[at - 1] != " " or page.words[at - 1] in _NO_COUNTY:
            continue
        if draft.proper(at - 1) or (draft.strange(at - 1) and len(page.words[at - 1]) > 4):
            draft.mark(at - 1, at)


def _states_before_zip(draft: Draft) -> None:
    page = draft.page
    for at in page.figures:
        whole = len(page.words[at]) in (5, 9) or (len(page.words[at]) == 3 and page.gaps[at][:1] in ("\n", ""))
        if not at or not whole or not page.words[at].isdigit():
            continue
        state, gap = page.words[at - 1], page.gaps[at - 1]
        if state in _CODES and gap in (" ", "  ", ", "):
            labelled = ":" in page.leads[at - 1]
            if labelled or page.leads[at - 1] in (", ", ",") or (at > 1 and draft.wanted[at - 2]):
                draft.mark(at - 1, at - 1, UPPER)
        elif state in _OLD_STATES and gap == ". ":
            draft.mark(at - 1, at - 1)
