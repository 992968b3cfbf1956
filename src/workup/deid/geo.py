# ruff: noqa: E501 - a pattern is read more easily on one line
"""Towns, counties, states, countries and postal codes, by gazetteer and by what stands beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workup.deid import gazetteer
from workup.deid.cues import Cue
from workup.deid.finding import Finding
from workup.deid.linear import Finder
from workup.deid.name_words import KIN
from workup.deid.nameness import weigh
from workup.deid.page import Page, words_of
from workup.deid.settings import Settings
from workup.deid.vocabulary import clinical_words


def _finder(pattern: str) -> Finder:
    return Finder(re.compile(pattern))


STATE_CODES = words_of(
    "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX "
    "UT VT VA WA WV WI WY PR GU VI AS MP AE AP AA"
)
_OLD = (
    r"Ala|Ariz|Ark|Calif|Colo|Conn|Del|Fla|Ga|Ill|Ind|Kans|Ky|La|Md|Mass|Mich|Minn|Miss|Mo|Mont|Nebr?|Nev|N\. ?H|N\. ?J|N\. ?M(?:ex)?|"
    r"N\. ?Y|N\. ?C|N\. ?D(?:ak)?|Okla|Ore|Penna?|R\. ?I|S\. ?C|S\. ?D(?:ak)?|Tenn|Tex|Vt|Va|Wash|W\. ?Va|Wis|Wyo|D\. ?C"
)
_CODE_BEHIND = re.compile(
    rf"(?:, ?| (?=[A-Z]{{2}} \d{{5}})|\n(?=[A-Z]{{2}} \d{{5}}))(?:(?P<code>[A-Z]{{2}})(?![A-Za-z.])|(?P<old>{_OLD})\.)"
)
_DEGREES = frozenset(("MD", "PA", "DO", "ID", "MA", "OR", "IN", "ME", "OK", "HI", "AA", "AS", "VI", "PR"))
_ZIP_BEHIND = re.compile(r"\.?,?[ \t]{1,3}(?:ZIP|Zip|zip)?[: ]{0,2}(?P<v>\d{5}(?:[- ]?\d{4})?|\d{3})(?![\w/%]|[.-]\d)")
_STRONG = frozenset(("lives", "living", "resides", "residing", "resident", "native", "born", "grew", "raised", "city", "town", "birthplace", "hometown",
                     "originally", "relocated", "relocating", "stationed", "based", "municipality", "village", "moved", "moving", "trip", "travel",
                     "traveled", "travelled", "drove", "drives", "place", "home", "location", "visiting", "works", "working"))  # fmt: skip
_JOINS = frozenset((" ", "-", ". ", "\n"))
_COUNTRY_WORDS = {"usa", "us", "u.s", "uk"}
_COUNTRY = _finder(
    r"(?<![\w])(?:U\.S\.A\.|U\.S\.|USA|U\.K\.|UK|D\.R\.|United States(?: of America)?|UNITED STATES|Republic of [A-Z][a-z]{2,15}|Great Britain|England|Scotland|Wales|South Korea|North Korea|Ivory Coast|Puerto Rico)(?!\w)"
)


def places(page: Page, cues: Sequence[Cue], settings: Settings) -> Iterator[Finding]:
    """Places of a page."""
    before = _cued(page, cues)
    openings, known = gazetteer.place_openings(), gazetteer.places()
    free = 0
    for at, word in enumerate(page.words):
        longest = openings.get(word)
        if longest is None or at < free or page.cases[at] == "d":
            continue
        cue = before.get(at, "")
        if page.cases[at] == "l" and cue not in ("label", "strong"):
            continue
        last, place = _longest(page, at, longest, known)
        if place is None:
            continue
        found = _judged(page, at, last, place, cue)
        if found is not None and settings.on(found.rule):
            yield found
            free = last + 1
            yield from _state_and_zip(page, page.ends[last])
        elif cue and _state_behind(page, page.ends[last]) and page.cases[at] in "tu":
            yield Finding(page.starts[at], page.ends[last], "city", 0.8, "city.state", ("state_behind",))
            yield from _state_and_zip(page, page.ends[last])
    yield from _labelled_towns(page, before)
    yield from _states_before_zip(page)
    yield from towns_before_states(page, settings.not_names)
    for match in _COUNTRY.find(page):
        yield Finding(*match.span(), "country", 0.75, "country", ("list",))


def _cued(page: Page, cues: Sequence[Cue]) -> dict[int, str]:
    """Words before which a place was announced: with a colon, by a verb of living, or by a preposition."""
    found: dict[int, str] = {}
    for cue in cues:
        if "place" in cue.kinds or page.words[cue.last] in ("in", "from", "near"):
            gap = page.gap(cue.last)
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
    while len(words) < longest and ends[-1] + 1 < len(page) and page.gap(ends[-1]) in _JOINS:
        ends.append(ends[-1] + 1)
        words.append(page.words[ends[-1]])
    for length in range(len(words), 0, -1):
        place = known.get(" ".join(words[:length]).replace("'", ""))
        if place is not None and (length == 1 or page.cases[ends[length - 1]] != "l" or page.cases[at] == "l"):
            return ends[length - 1], place
    return at, None


def _judged(page: Page, at: int, last: int, place: gazetteer.Place, cue: str) -> Finding | None:
    start, end = page.starts[at], page.ends[last]
    code = _state_behind(page, end) is not None
    if not code and page.gap(last) in (", ", ","):
        following = gazetteer.places().get(" ".join(page.words[last + 1 : last + 3])) or gazetteer.places().get(
            page.words[last + 1] if last + 1 < len(page) else ""
        )
        code = following is not None and bool(set("sn") & set(following.kinds)) and page.cases[last + 1] in "tu"
    kinds = place.kinds
    met = at > 0 and (page.words[at - 1] in ("with", "by") or page.words[at - 1] in KIN) and weigh(page.words[at]).given
    if met and not code:
        return None  # somebody of that name
    if "s" in kinds and not code and "u" not in kinds.replace("u", "", 0 if page.words[at] != "washington" else 1):
        return Finding(start, end, "state", 0.8, "state", ("list",))
    if "n" in kinds and not code and weigh(page.words[at]).odds < 0.4:
        return Finding(start, end, "country", 0.75, "country", ("list",))
    if not set("uw") & set(kinds):
        if "s" in kinds:
            return Finding(start, end, "state", 0.8, "state", ("list",))
        return None
    several = last > at
    weight = weigh(page.words[at])
    if code:
        return Finding(start, end, "city", 0.93, "city.state", ("gazetteer", "state_behind"))
    if cue in ("label", "strong") and (
        page.cases[at] != "l" or page.words[at - 1] in ("city", "town", "birthplace", "in", "to", "from")
    ):
        return Finding(start, end, "city", 0.9, f"city.{cue}", ("gazetteer", cue))
    ordinary = weight.why == "word" or page.words[at] in clinical_words()
    if (
        cue == "weak"
        and page.cases[at] in "tu"
        and (several or (place.people >= 4 and not ordinary) or place.people >= 5)
    ):
        return Finding(
            start,
            end,
            "city",
            0.7 if several or place.people >= 4.5 else 0.55,
            "city.weak",
            ("gazetteer", "preposition"),
        )
    if page.cases[at] in "t" and "s" in kinds:
        return Finding(start, end, "state", 0.8, "state", ("list",))
    if (
        page.cases[at] == "t"
        and page.gap(last)[:1] != "-"
        and not (page.gap(last) == " " and page.cases[last + 1 : last + 2] == "t")  # a part of a longer name
        and place.people >= 5.5
        and not weight.given
        and not ordinary
    ):
        return Finding(start, end, "city", 0.6, "city.large", ("gazetteer", "large"))
    return None


def _labelled_towns(page: Page, before: dict[int, str]) -> Iterator[Finding]:
    """Behind 'City:' and before a state and a ZIP code any words with capitals are a town."""
    for at, cue in before.items():
        if (
            cue == "label"
            and at < len(page)
            and page.words[at - 1] in ("city", "town", "birthplace", "birth", "hometown", "municipality")
            and page.cases[at] in "tulm"
        ):
            last = at
            while (
                last + 1 < len(page)
                and page.gap(last) in (" ", "-", ". ")
                and page.cases[last + 1] in "tu"
                and last - at < 4
            ):
                last += 1
            yield Finding(page.starts[at], page.ends[last], "city", 0.85, "city.label", ("label",))


_ZIPS = re.compile(r"\d{5}(?:[- ]?\d{4})?(?![\w/%]|[.-]\d)|\d{3}(?![\w/%]|[.-]\d)")
_GAP_ZIP = re.compile(r"\.?,?[ ]{1,3}")
_STATES_OF_WORDS = 3


def _states_before_zip(page: Page) -> Iterator[Finding]:
    """A state, by its name or a short form, before a ZIP code; then the town before the state."""
    for at, case in enumerate(page.cases):
        if case != "d" or not at or len(page.words[at]) not in (3, 5, 9):
            continue
        code = _ZIPS.match(page.plain, page.starts[at])
        if code is None or not _GAP_ZIP.fullmatch(page.before(at)):
            continue
        first = _state_words(page, at - 1)
        if first is None:
            continue
        towns = list(_town_before(page, page.starts[first]))
        short = len(code[0]) == 3
        if short and not towns and not re.match(r"[ ]{0,2}(?:\n|$)", page.plain[code.end() : code.end() + 3]):
            continue  # "Florida 203 patients"
        yield Finding(page.starts[first], page.ends[at - 1], "state", 0.9, "state.code", ("zip_behind",))
        yield Finding(*code.span(), "zip", 0.95, "zip.state", ("state",))
        yield from towns


def _state_words(page: Page, last: int) -> int | None:
    """The first word of a state that ends at a word; None where it is none."""
    word, known = page.words[last], gazetteer.places()
    if page.cases[last] == "u" and word.upper() in STATE_CODES:
        return last
    if page.plain[page.ends[last] : page.ends[last] + 1] == ".":
        initial = last - 1 if page.cases[last] == "i" and last and page.cases[last - 1] == "i" else last
        if _OLD_FORMS.fullmatch(page.plain, page.starts[initial], page.ends[last]):
            return initial
    for first in range(last, max(-1, last - _STATES_OF_WORDS), -1):
        name = " ".join(page.words[first : last + 1])
        place = known.get(name)
        if name == "district of columbia" or (place is not None and "s" in place.kinds):
            return first
        if page.before(first) != " ":
            break
    return None


_OLD_FORMS = re.compile(_OLD)


def _town_before(page: Page, state: int) -> Iterator[Finding]:
    """The town right before a state with a ZIP code, in any case, where the gazetteer has it."""
    last = page.word_at(state) - 1
    if last < 0 or page.before(last + 1) not in (", ", ",", " "):
        return
    for first in range(max(0, last - 3), last + 1):
        if all(page.gap(word) in _JOINS for word in range(first, last)):
            place = gazetteer.places().get(" ".join(page.words[first : last + 1]).replace("'", ""))
            if place is not None and "u" in place.kinds:
                yield Finding(page.starts[first], page.ends[last], "city", 0.9, "city.zip", ("gazetteer", "zip_behind"))
                return
    if page.before(last + 1)[:1] == "," and page.cases[last] in "tum":  # words with capitals that no list has
        first = last
        while first and last - first < 3 and page.gap(first - 1) in _JOINS and page.cases[first - 1] in "tum":
            first -= 1
        yield Finding(page.starts[first], page.ends[last], "city", 0.85, "city.zip", ("state_behind", "zip_behind"))


_BEHIND_STREET = re.compile(
    r"(?:,[ ]?|\n)(?P<v>(?:St\. )?[A-Z](?:[A-Za-z'-]{2,24}|[a-z](?= [A-Z]))(?:[ -][A-Za-z][A-Za-z'.-]{1,24}){0,3}?)(?=,|\)|\.(?:\s|$)|;|\n|[ ]{2}|$| or | and | \()"
)


_BEFORE_STATE = _finder(
    r"(?<![\w'])(?P<v>[A-Z][a-z'.-]{1,20}(?: [A-Z][a-z'-]{1,20}){0,3}), (?P<s>[A-Z][a-z]{3,12}(?: [A-Z][a-z]{3,10})?)(?!\w)"
)


def towns_before_states(page: Page, stop: frozenset[str]) -> Iterator[Finding]:
    """Words with capitals before ', Indiana'; behind a preposition where the state is a given name too."""
    known = gazetteer.places()
    for match in _BEFORE_STATE.find(page):
        place = known.get(match["s"].lower()) or known.get(match["s"].lower().split()[0])
        if place is None or "s" not in place.kinds or match["v"].split()[0].lower() in stop:
            continue
        before = page.low[max(0, match.start() - 6) : match.start()].split()
        if weigh(match["s"].lower().split()[0]).given and not (
            before and before[-1] in ("in", "from", "near", "to", "of", "at")
        ):
            continue
        yield Finding(*match.span("v"), "city", 0.8, "city.before_state", ("state_behind",))


def towns_behind(
    page: Page, streets: Sequence[Finding], stop: frozenset[str], *, known: bool = False
) -> Iterator[Finding]:
    """What follows a street behind a comma, in capitals, is a town; with `known`, only one that the gazetteer has."""
    for street in streets:
        match = _BEHIND_STREET.match(page.plain, street.end)
        if (
            known
            and match is not None
            and page.low[match.start("v") : match.end("v")].replace("-", " ") not in gazetteer.places()
        ):
            continue
        if (
            match is not None
            and not _stopped(page.low[match.start("v") : match.end("v")], stop)
            and ("\n" not in match[0] or _state_behind(page, match.end("v")))
        ):
            yield Finding(*match.span("v"), "city", 0.8, "city.street", ("street_before",))


def _stopped(phrase: str, stop: frozenset[str]) -> bool:
    """Whether a phrase opens with a word that opens no town, unless it is one by the gazetteer."""
    return phrase.split()[0] in stop and phrase.replace("-", " ") not in gazetteer.places() and phrase[:4] != "the "


def _state_behind(page: Page, end: int) -> re.Match[str] | None:
    """A state behind a town; two letters that are a degree or a word besides need a ZIP code, or the end of a phrase."""
    behind = _CODE_BEHIND.match(page.plain, end)
    if behind is None or not (behind["old"] or behind["code"] in STATE_CODES):
        return None
    if behind["old"] is None and behind["code"] in _DEGREES and not _ZIP_BEHIND.match(page.plain, behind.end("code")):
        return None
    return behind


def _state_and_zip(page: Page, end: int) -> Iterator[Finding]:
    behind = _state_behind(page, end)
    if behind is None:
        zip_code = _ZIP_BEHIND.match(page.plain, end)
        if zip_code is not None and len(zip_code["v"]) >= 5:
            yield Finding(*zip_code.span("v"), "zip", 0.85, "zip.place", ("place",))
        return
    group = "old" if behind["old"] else "code"
    stop = behind.end() if behind["old"] else behind.end(group)
    yield Finding(behind.start(group), stop, "state", 0.9, "state.code", ("place",))
    zip_code = _ZIP_BEHIND.match(page.plain, stop)
    if zip_code is not None:
        yield Finding(*zip_code.span("v"), "zip", 0.95, "zip.state", ("state",))
