"""Postal addresses of any country: what is around a unit, a house number after a street, and the lines below.

Knows forms, not streets: a number, words, a number of a flat, then towns, codes and countries on lines of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from workup.deid import gazetteer
from workup.deid.finding import Finding
from workup.deid.known_words import is_clinical_part
from workup.deid.names.word_weights import PARTICLES
from workup.deid.places.states_and_zips import NO_VALUES
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.deid.word_lists import words
from workup.text.calendar import MONTH_WORDS
from workup.text.wordlists import function_words

_UNITS = words("places.units")
_NO_STREET = words("places.no_address")
_BEFORE = words("places.before_address")
_STREETS = words("places.foreign_streets")
_INNER = frozenset((" ", ". ", "-", ".", "'", "-"))
_MEASURES = re.compile(
    r"[ ]?(?:mg|ml|mcg|g|kg|cm|mm|cc|%|units?|tabs?|tablets?|caps?|times|x|days?|weeks?|hours?|years?)\b", re.IGNORECASE
)
_SEGMENT = re.compile(r"(?:[ ]?,[ ]?)?(?:\n[ \t>?*|]{0,8})(?:,[ ])?[ ]?|[ ]?,[ ]|[ ]")
_CODE = re.compile(
    r"(?:[A-Z]{1,2}-)?\d{4,6}(?:-\d{3,4})?(?![\w/%]|[.,-]\d)|[A-Z]{1,2}\d[A-Z0-9]? \d[A-Z]{2}(?!\w)|"
    r"[A-Z]\d[A-Z] ?\d[A-Z]\d(?!\w)|\d{3} \d{2}(?![\w/])"
)
_UNIT = re.compile(r"(?:Apt|Suite|Ste|Unit|Flat|apt|suite)\.? #?[A-Za-z]?\d{1,5}[A-Za-z]?(?!\w)")
_STATE = re.compile(r"(?:[A-Z]{2,3}|DPO|APO|FPO)(?![\w.])(?: A[AEP](?!\w))?")
_TOWN = re.compile(
    r"[^\W\d_a-z][^\W\d_]{1,24}(?:[ -](?:[^\W\d_a-z][^\W\d_]{0,24}|"
    r"nad|am|an|der|de|la|do|da|di|du|le|les|sur|in|u|pod|upon|on)\.?(?![^\W_])){0,4}"
)


def addresses(page: Page, settings: Settings) -> Iterator[Finding]:
    """Streets with a unit, and streets with a house number after their name."""
    if not page.figures or not settings.on("street.block"):
        return
    free = 0
    for at in sorted({*page.figures, *page.of(_UNITS)}):
        if at < free:
            continue
        if (
            page.words[at] in _UNITS
            and at + 1 < page.size
            and _is_number(page, at + 1)
            and page.gaps[at] in (" ", ". ", " #", ". #")
        ):
            first = _back(page, at)
            if first is not None:
                yield Finding(page.starts[first], page.ends[at + 1], "street_address", 0.85, "street.unit", ("unit",))
                free = at + 2
        elif page.cases[at] == "d" and (last := _numbered(page, at)) is not None:
            yield Finding(page.starts[at], page.ends[last], "street_address", 0.7, "street.numbered", ("number_after",))
            free = last + 1


def _is_number(page: Page, at: int) -> bool:
    word = page.words[at]
    return len(word) <= 6 and any(map(str.isdigit, word)) and sum(map(str.isalpha, word)) <= 1


def _street_word(page: Page, at: int) -> bool:
    word = page.words[at]
    return page.cases[at] in "tum" and word not in _NO_STREET and word not in _UNITS and not is_clinical_part(word)


def _back(page: Page, unit: int) -> int | None:
    """The first word of the street before a unit; None where there is none."""
    at, named, number = unit, False, None
    while at > 0 and unit - at < 8:
        gap = page.leads[at]
        fresh = at == unit and re.fullmatch(r",?[ ]?\n[ \t>?*]{0,8}|, ?", gap)
        if gap not in _INNER and not fresh:
            break
        before = at - 1
        word = page.words[before]
        if (word in function_words() and word not in ("de", "la")) or word in _BEFORE or word in _UNITS:
            break
        if _is_number(page, before):
            number = before
        elif _street_word(page, before):
            named = True
        elif not page.words[before].isalpha() or page.cases[before] not in "li":
            break
        at = before
    if not named or number is None:
        return None
    while at < unit and page.cases[at] == "l":
        at += 1
    return at


def _numbered(page: Page, at: int) -> int | None:
    """The house number of '4596 Tylova 285' or '12 Rue de Virton 38', where an address is due."""
    if not _is_number(page, at) or not page.words[at].isdigit() or len(page.words[at]) < 2:
        return None
    if not _due(page, at):
        return None
    last, named = at, False
    while last + 1 < page.size and last - at < 6 and page.gaps[last] in _INNER:
        last += 1
        if _is_number(page, last) and page.words[last].isdigit() and len(page.words[last]) <= 5:
            after = page.plain[page.ends[last] : page.ends[last] + 12]
            ends = re.match(r"\.?(?:[ ]?(?:$|\n)|,|\.| St\b| and | Apt| Suite)", after)
            return last if named and ends and not _MEASURES.match(after) else None
        if page.gaps[last][:1] == "." and len(page.words[last]) > 3 and last + 1 < page.size:
            return None  # a sentence ends
        if page.cases[last] == "t" and page.words[last] not in MONTH_WORDS and _street_word(page, last):
            named = named or page.words[last] not in gazetteer.everyday()
        elif page.cases[last] != "i" and not (page.words[last] in PARTICLES or page.words[last] in _STREETS):
            return None
    return None


def widened(page: Page, streets: Iterable[Finding]) -> Iterator[Finding]:
    """Streets with a number right before theirs, where an address is due."""
    for one in streets:
        at = page.word_at(one.start) - 1
        if (
            at >= 0
            and page.words[at].isdigit()
            and 2 <= len(page.words[at]) <= 6
            and page.gaps[at] == " "
            and _due(page, at)
        ):
            yield one._replace(start=page.starts[at])
        else:
            yield one


def _due(page: Page, at: int) -> bool:
    """Whether an address may begin here: a line, a sentence, or words that announce one."""
    if page.opens_sentence(at) or page.leads[at][-2:] == ": ":
        return True
    return page.leads[at] == " " and page.words[at - 1] in _BEFORE


def below(page: Page, streets: Sequence[Finding], settings: Settings) -> Iterator[Finding]:
    """Towns, codes, states and countries that follow a street, on its line or the next ones."""
    if not settings.on("street.below"):
        return
    for street in streets:
        found = _segments(page, street.end, settings)
        if any(one.label in ("zip", "country", "state") for one in found):
            yield from found


def _segments(page: Page, at: int, settings: Settings) -> list[Finding]:
    found: list[Finding] = []
    for _ in range(6):
        gap = _SEGMENT.match(page.plain, at)
        if gap is None:
            break
        lines = "\n" in gap[0] or "," in gap[0]
        coded, towned = (any(one.label == leaf for one in found) for leaf in ("zip", "city"))
        one = _segment(page, gap.end(), settings, town=not coded and not towned, lines=lines)
        if one is None or (coded and one.label != "country"):
            break
        found.append(one)
        at = one.end
    return found


def _segment(page: Page, start: int, settings: Settings, *, town: bool, lines: bool) -> Finding | None:
    plain = page.plain
    for pattern, leaf, rule in ((_UNIT, "street_address", "street.below"), (_CODE, "zip", "zip.below")):
        if (match := pattern.match(plain, start)) is not None:
            return Finding(*match.span(), leaf, 0.8, rule, ("street_before",))
    at = page.word_at(start)
    if at >= page.size or page.starts[at] != start:
        return None
    if (nation := _nation(page, at, settings)) is not None:
        return nation
    if page.words[at] in NO_VALUES:
        return None
    if (match := _STATE.match(plain, start)) is not None and (lines or len(match[0]) == 2):
        return Finding(*match.span(), "state", 0.7, "state.below", ("street_before",))
    match = _TOWN.match(plain, start) if town else None
    if match is None or page.words[at] in settings.not_names or plain[match.end() : match.end() + 1] == ":":
        return None
    if not lines and not _ENDS_ADDRESS.match(plain, match.end()):
        return None
    return Finding(*match.span(), "city", 0.75, "city.below", ("street_before",))


_ENDS_ADDRESS = re.compile(r",? (?:[A-Z]{2,3}|[A-Z][a-z]+|\d{4,6})(?![\w])")


def _nation(page: Page, at: int, settings: Settings) -> Finding | None:
    if page.cases[at] not in "tu":
        return None
    for last in range(min(at + 3, page.size - 1), at - 1, -1):
        name = " ".join(page.words[at : last + 1])
        place = gazetteer.places().get(name)
        listed = name in settings.lists["countries"] or (last == at and name in settings.lists["demonyms"])
        if listed or (place is not None and set("ns") & set(place.kinds)):
            leaf = "country" if listed or (place is not None and "n" in place.kinds) else "state"
            return Finding(page.starts[at], page.ends[last], leaf, 0.8, f"{leaf}.below", ("street_before",))
    return None
