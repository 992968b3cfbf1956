"""Towns, counties, states, countries and postal codes, by gazetteer and by what is beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workup.deid import gazetteer
from workup.deid.cues import Cue
from workup.deid.finding import Finding
from workup.deid.known_words import clinical_words, is_known
from workup.deid.names.word_weights import weigh
from workup.deid.names.words import KIN
from workup.deid.patterns.finder import Finder
from workup.deid.places.states_and_zips import JOINS, state_after, state_and_zip, states_before_zip
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.deid.word_lists import words


def _finder(pattern: str) -> Finder:
    return Finder(pattern)


_STRONG = words("places.living")
_TOWN_OF = words("places.town_of")
_COUNTRY = _finder(
    r"(?<![\w])(?:U\.S\.A\.|U\.S\.|USA|U\.K\.|UK|D\.R\.|United States(?: of America)?|UNITED STATES|"
    r"Republic of [A-Z][a-z]{2,15}|Great Britain|England|Scotland|Wales|South Korea|North Korea|Ivory Coast|"
    r"Puerto Rico)(?!\w)"
)


def places(page: Page, cues: Sequence[Cue], settings: Settings) -> Iterator[Finding]:
    """Places of a page."""
    before = _cued(page, cues)
    openings, known = gazetteer.place_openings(), gazetteer.places()
    free = 0
    for at in page.of(openings):
        cue = before.get(at, "")
        case = page.cases[at]
        if at < free or case == "d" or (case == "l" and cue not in ("label", "strong")):
            continue
        last, place = _longest(page, at, openings[page.words[at]], known)
        if place is None:
            continue
        announced = bool(cue) and case == "t" and "u" in place.kinds
        found = _judged(page, at, last, place, cue)
        if found is not None and settings.on(found.rule):
            yield found
            free = last + 1
            yield from state_and_zip(page, page.ends[last], announced=announced)
        elif cue and state_after(page, page.ends[last]) and page.cases[at] in "tu":
            yield Finding(page.starts[at], page.ends[last], "city", 0.8, "city.state", ("state_after",))
            yield from state_and_zip(page, page.ends[last])
    yield from _labelled_towns(page, before)
    yield from states_before_zip(page)
    yield from towns_before_states(page, settings.not_names)
    for match in _COUNTRY.find(page):
        yield Finding(*match.span(), "country", 0.75, "country", ("list",))


def _cued(page: Page, cues: Sequence[Cue]) -> dict[int, str]:
    """Words before which a place was announced: with a colon, by a verb of living, or by a preposition."""
    found: dict[int, str] = {}
    for cue in cues:
        if "place" in cue.kinds or page.words[cue.last] in ("in", "from", "near"):
            gap = page.gaps[cue.last]
            if ":" in gap and len(gap) < 40:
                found[cue.last + 1] = "label"
            elif gap in (" ", " the ", "  "):
                strong = page.words[cue.first] in _STRONG and cue.last > cue.first
                found[cue.last + 1] = "strong" if strong else "weak"
    return found


def _longest(
    page: Page, at: int, longest: int, known: dict[str, gazetteer.Place]
) -> tuple[int, gazetteer.Place | None]:
    words = [page.words[at]]
    ends = [at]
    while len(words) < longest and ends[-1] + 1 < page.size and page.gaps[ends[-1]] in JOINS:
        ends.append(ends[-1] + 1)
        words.append(page.words[ends[-1]])
    for length in range(len(words), 0, -1):
        place = known.get(" ".join(words[:length]).replace("'", ""))
        if place is not None and (length == 1 or page.cases[ends[length - 1]] != "l" or page.cases[at] == "l"):
            return ends[length - 1], place
    return at, None


def _judged(page: Page, at: int, last: int, place: gazetteer.Place, cue: str) -> Finding | None:
    """What a place of the gazetteer is here: a state, a country, a town, or somebody's name."""
    start, end, kinds = page.starts[at], page.ends[last], place.kinds
    announced = bool(cue) and page.cases[at] == "t" and "u" in kinds
    code = state_after(page, end, announced=announced) is not None or _region_after(page, last)
    before = page.words[at - 1] if at else ""
    if not code and (before in ("with", "by") or before in KIN) and weigh(page.words[at]).given:
        return None  # somebody of that name
    only = "u" not in kinds or (page.words[at] == "washington" and not _town_due(page, last, cue))
    if "s" in kinds and not code and only:
        return Finding(start, end, "state", 0.8, "state", ("list",))
    if "n" in kinds and not code and weigh(page.words[at]).odds < 0.4:
        return Finding(start, end, "country", 0.75, "country", ("list",))
    if not set("uw") & set(kinds):
        return Finding(start, end, "state", 0.8, "state", ("list",)) if "s" in kinds else None
    if code:
        return Finding(start, end, "city", 0.93, "city.state", ("gazetteer", "state_after"))
    small = page.cases[at] == "l" and before not in ("city", "town", "birthplace", "in", "to", "from")
    if cue in ("label", "strong") and not small:
        return Finding(start, end, "city", 0.9, f"city.{cue}", ("gazetteer", cue))
    return _by_size(page, at, last, place, cue)


def _town_due(page: Page, last: int, cue: str) -> bool:
    """Whether a name that a state and a city share may be the city's: a place is due, and no word says state."""
    return bool(cue) and page.words[last + 1 : last + 2] != ["state"]


def _region_after(page: Page, last: int) -> bool:
    """Whether a state or a country follows after a comma, spelt out."""
    if page.gaps[last] not in (", ", ",") or last + 1 >= page.size or page.cases[last + 1] not in "tu":
        return False
    known = gazetteer.places()
    following = known.get(" ".join(page.words[last + 1 : last + 3])) or known.get(page.words[last + 1])
    return following is not None and bool(set("sn") & set(following.kinds))


def _by_size(page: Page, at: int, last: int, place: gazetteer.Place, cue: str) -> Finding | None:
    """A town that little speaks for: the larger it is, the less it needs."""
    start, end, several = page.starts[at], page.ends[last], last > at
    weight, case = weigh(page.words[at]), page.cases[at]
    ordinary = weight.why == "word" or page.words[at] in clinical_words()
    large = several or (place.people >= 4 and not ordinary) or place.people >= 5
    if cue == "weak" and case in "tu" and large:
        score = 0.7 if several or place.people >= 4.5 else 0.55
        return Finding(start, end, "city", score, "city.weak", ("gazetteer", "preposition"))
    if case == "t" and "s" in place.kinds:
        return Finding(start, end, "state", 0.8, "state", ("list",))
    small_word = page.words[at] in gazetteer.everyday()
    of_it = page.gaps[last] == " " and page.words[last + 1 : last + 2] and page.words[last + 1] in _TOWN_OF
    if (
        case == "t"
        and of_it
        and page.cases[last + 1] == "l"
        and place.people >= 4
        and not weight.given
        and not small_word
    ):
        return Finding(start, end, "city", 0.6, "city.beside", ("gazetteer", "kind"))
    longer = page.gaps[last][:1] == "-" or (page.gaps[last] == " " and page.cases[last + 1 : last + 2] == "t")
    if case == "t" and not longer and place.people >= 5.5 and not weight.given and not ordinary:
        return Finding(start, end, "city", 0.6, "city.large", ("gazetteer", "large"))
    return None


def _labelled_towns(page: Page, before: dict[int, str]) -> Iterator[Finding]:
    """After 'City:' and before a state and a ZIP code any words with capitals are a town."""
    for at, cue in before.items():
        if (
            cue == "label"
            and at < page.size
            and page.words[at - 1] in ("city", "town", "birthplace", "birth", "hometown", "municipality")
            and page.cases[at] in "tulm"
        ):
            last = at
            while (
                last + 1 < page.size
                and page.gaps[last] in (" ", "-", ". ")
                and page.cases[last + 1] in "tu"
                and last - at < 4
            ):
                last += 1
            yield Finding(page.starts[at], page.ends[last], "city", 0.85, "city.label", ("label",))


_AFTER_STREET = re.compile(
    r"(?:,[ ]?|\n)(?P<v>(?:St\. )?[A-Z](?:[A-Za-z'-]{2,24}|[a-z](?= [A-Z]))(?:[ -][A-Za-z][A-Za-z'.-]{1,24}){0,3}?)"
    r"(?=,|\)|\.(?:\s|$)|;|\n|[ ]{2}|$| or | and | \()"
)


_AFTER_BODY = re.compile(_AFTER_STREET.pattern.replace(r"(?:,[ ]?|\n)", r"(?:,[ ]?|\n|[ ]\()", 1))


_BEFORE_STATE = _finder(
    r"(?<![\w'])(?P<v>[A-Z][a-z0-9'.-]{1,20}(?: [A-Z][a-z0-9'-]{1,20}){0,3}), "
    r"(?P<s>[A-Z][a-z]{3,12}(?: [A-Z][a-z]{3,10})?|[A-Z]{4,12})(?!\w)"
)


def towns_before_states(page: Page, stop: frozenset[str]) -> Iterator[Finding]:
    """Words with capitals before ', Indiana'; after a preposition where the state is a given name too."""
    known = gazetteer.places()
    if gazetteer.state_openings().isdisjoint(page.vocabulary):
        return
    for match in _BEFORE_STATE.find(page):
        place = known.get(match["s"].lower()) or known.get(match["s"].lower().split()[0])
        if place is None or "s" not in place.kinds or match["v"].split()[0].lower() in stop:
            continue
        before = page.low[max(0, match.start() - 6) : match.start()].split()
        if (
            weigh(match["s"].lower().split()[0]).given
            and page.plain[match.start() - 1 : match.start()] != "("
            and not (before and before[-1] in ("in", "from", "near", "to", "of", "at"))
        ):
            continue
        yield Finding(*match.span("v"), "city", 0.8, "city.before_state", ("state_after",))


def towns_after(
    page: Page, streets: Sequence[Finding], stop: frozenset[str], *, known: bool = False
) -> Iterator[Finding]:
    """What follows a street after a comma, in capitals, is a town; with `known`, only one that the gazetteer has."""
    for street in streets:
        match = (_AFTER_BODY if known else _AFTER_STREET).match(page.plain, street.end)
        if (
            known
            and match is not None
            and page.low[match.start("v") : match.end("v")].replace("-", " ") not in gazetteer.places()
            and not _unheard_of(page, *match.span("v"))
        ):
            continue
        if (
            match is not None
            and not _stopped(page.low[match.start("v") : match.end("v")], stop)
            and ("\n" not in match[0] or state_after(page, match.end("v")))
        ):
            yield Finding(*match.span("v"), "city", 0.8, "city.street", ("street_before",))


def _unheard_of(page: Page, start: int, end: int) -> bool:
    """One long word that no list holds: a town but for a typo."""
    return end - start > 5 and page.low[start:end].isalpha() and not is_known(page.low[start:end])


def _stopped(phrase: str, stop: frozenset[str]) -> bool:
    """Whether a phrase opens with a word that opens no town, unless it is one by the gazetteer."""
    return phrase.split()[0] in stop and phrase.replace("-", " ") not in gazetteer.places() and phrase[:4] != "the "
