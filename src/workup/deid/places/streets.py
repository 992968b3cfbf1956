# ruff: noqa: E501 - a pattern is read more easily on one line
"""Street addresses: number, street, kind of street and unit as one span."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workup.deid.cues import Cue
from workup.deid.finding import Finding
from workup.deid.known_words import clinical_words
from workup.deid.patterns.finder import Finder
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.deid.word_lists import words
from workup.text.numbers import ONES, TEENS, TENS

_DIRECTION = r"(?:[NSEWnsew]|NE|NW|SE|SW|ne|nw|se|sw|[Nn]orth(?:east|west)?|[Ss]outh(?:east|west)?|[Ee]ast|[Ww]est|NORTH|SOUTH|EAST|WEST)\.?"
_NUMBER = r"(?:\d{1,6}(?:-\d{1,4})?[A-Za-z]?(?: \d/\d)?|[NSEW]\d{2,5},? [A-Z]{0,2}\d{2,5})"
_WORDS_NUMBER = (
    rf"(?:{'|'.join(word.capitalize() for word in (*ONES, *TEENS))}|(?:{'|'.join(word.capitalize() for word in TENS)})"
    rf"(?:{'|'.join(f'[- ][{word[0].upper()}{word[0]}]{word[1:]}' for word in ONES)})?)"
)
_NAME = r"(?:St\.|[A-Z][A-Za-z']{0,24}|\d{1,3}(?:[a-z]{2,3}|ST|ND|RD|TH))"
_LOW_NAME = r"(?:[A-Za-z][A-Za-z']{0,24}|\d{1,3}(?:st|nd|rd|th))"
_UNIT = r"(?:,? ?(?:(?:[Aa]pt|APT|[Aa]partment|APARTMENT|[Uu]nit|UNIT|[Ss]uite|SUITE|[Ss]te|STE|[Bb]ldg|BLDG|[Bb]uilding|BUILDING|[Ff]loor|[Tt]railer|[Ll]ot|[Rr]m|[Rr]oom)\.? ?#?|# ?)[A-Za-z0-9]{1,5}(?:-[A-Za-z0-9]{1,4})?(?!\w))?"
_UNIT_FIRST = r"(?:(?:[Aa]pt|APT|[Uu]nit|[Ss]uite|[Ff]lat)\.? ?#?[A-Za-z0-9]{1,5}, )?"
_CLEAR = sorted(words("places.street_kinds_in_small_letters"))


def _either(words: Sequence[str]) -> str:
    forms = sorted({form for word in words for form in (word.capitalize(), word.upper())}, key=lambda w: (-len(w), w))
    return "(?:" + "|".join(map(re.escape, forms)) + ")"


class Streets:
    """Patterns made from the list of kinds of streets."""

    def __init__(self, settings: Settings) -> None:
        kinds = sorted(settings.lists["street_types"])
        capital = _either(kinds)
        end = rf"(?![\w'])\.?(?: {_DIRECTION}(?!\w))?{_UNIT}"
        clear = "(?:" + "|".join(sorted([*_CLEAR, *map(str.capitalize, _CLEAR)], key=lambda w: (-len(w), w))) + ")"
        self._rules = tuple(
            (name, score, Finder(pattern))
            for name, score, pattern in (
                ("street.plain", 0.95, rf"(?<![\w.,:/-]){_UNIT_FIRST}{_NUMBER} (?:{_DIRECTION} )?(?:{_NAME}[ -]){{1,4}}{capital}{end}"),
                ("street.lower", 0.85, rf"(?<![\w.,/-]){_NUMBER} (?:{_DIRECTION} )?(?:{_LOW_NAME} ){{1,2}}(?:{clear}){end}"),
                ("street.words", 0.85, rf"(?<![\w]){_WORDS_NUMBER} (?:{_DIRECTION} )?(?:{_NAME} ){{1,3}}{capital}{end}"),
                ("street.box", 0.97, r"(?i)(?<![\w])[pf][.,]? ?[oq0][.,]? ?[b8hf][o0][xks] ?#? ?\d{1,7}(?!\w)"),
                ("street.box_typo", 0.9, r"(?<![\w])(?:[A-Z]\.? ?O\.?|P\.? ?[A-Z]\.?|P\.?O\.O\.|PO\.O\.|PP\.O\.|P\.OO\.) (?:Box|Bos|Bx|Bix|Bpx) \d{1,7}(?!\w)"),
                ("street.route", 0.95, r"(?i)(?<![\w])(?:rr|rural route|hc|psc|unit|cmr) ?#?\d{1,5},? [b8h][o0]x \d{1,6}(?!\w)"),
                ("street.road_number", 0.93, rf"(?i)(?<![\w./-]){_NUMBER} (?:{_DIRECTION} )?(?:county road|county rd|co rd|cr|state route|state road|state highway|sr|us highway|us hwy|us route|highway|hwy|route|rte|interstate|farm to market road|fm|ranch road) \d{{1,4}}[a-z]?(?: {_DIRECTION}(?!\w))?{_UNIT}"),
                ("street.block", 0.85, rf"(?<![\w])\d{{1,5}} (?i:block of) (?:{_NAME} ){{1,3}}{capital}(?!\w)"),
                ("street.corner", 0.7, rf"(?<![\w])(?:\d{{1,3}}(?:st|nd|rd|th)|{_NAME}) (?:{capital}\.? )?(?:and|&) (?:\d{{1,3}}(?:st|nd|rd|th)|{_NAME}) {capital}(?!\w)"),
                ("street.corner_bare", 0.7, r"(?<![\w])\d{1,3}(?:st|nd|rd|th) (?:and|&) [A-Z][a-z]{2,20}(?: [A-Z][a-z]{2,20}){0,2}(?=, [A-Z]| in [A-Z]|[.;]|\n)"),
                ("street.listed", 0.65, rf"(?<![\w./-])(?<!in )(?!19\d\d |20\d\d )(?:(?<=, )|(?<=\()|(?<=at )|(?<=of )|(?<=from )|(?<=to )|(?<=near ))\d{{2,6}} {_NAME}(?: {_NAME}){{0,2}}(?=, (?:St\. )?[A-Z][a-z]{{2,20}}(?: [A-Z][a-z]{{2,20}}){{0,2}}(?:,|\)|\.\s))"),
                ("street.the", 0.8, r"(?<![\w./-])\d{1,5} The [A-Z][a-z]{3,20}(?=,|\n)"),
                ("street.from", 0.6, rf"(?<![\w./-])(?:(?<=from )|(?<=to )|(?<=at )|(?<=near ))(?!19\d\d |20\d\d )\d{{2,5}} [A-Z][a-z']{{2,20}}(?: {_NAME})?(?=[.;]\s| in [A-Z]| \(|, [A-Z])"),
                ("street.line", 0.8, rf"(?<![\w./-])\d{{1,6}} {_NAME}(?: {_NAME}){{0,2}}(?=\n[A-Z][A-Za-z .'-]{{2,40}}, (?:[A-Z]{{2}}|[A-Z][a-z]{{3,12}}(?: [A-Z][a-z]{{3,12}})?),? \d{{3}})"),
                ("street.bare", 0.8, rf"(?<![\w./-])\d{{2,6}} {_NAME}(?: {_NAME}){{0,2}}(?=, (?:St\. )?[A-Z][a-z]{{2,20}}(?: [A-Z][a-z]{{2,20}}){{0,2}}, (?:[A-Z]{{2}}|[A-Z][a-z]{{3,12}})(?!\w))"),
                ("street.spanish", 0.9, r"(?<![\w])(?:Calle|Avenida|Paseo|Camino|Carrera|Calz\.?|Av\.|Via|Rue|Rua|Strada) (?:[A-Z][A-Za-z'.]{0,24} ){1,4}(?:#|No\.? ?)?\d{1,6}(?!\w)"),
            )
        )  # fmt: skip
        self._bare = re.compile(rf"{_NUMBER} (?:{_DIRECTION} )?{_NAME}(?: {_NAME}){{0,3}}{_UNIT}")
        self._corner = re.compile(
            rf"(?:\d{{1,3}}(?:st|nd|rd|th)|{_NAME}) (?:and|&) (?:\d{{1,3}}(?:st|nd|rd|th)|{_NAME}(?: {_NAME})?)"
        )
        self._stop = settings.not_names

    def find(self, page: Page, cues: Sequence[Cue], settings: Settings) -> Iterator[Finding]:
        """Addresses of a page."""
        if "d" in page.cases or "Box" in page.text:
            for rule, score, finds in self._rules:
                if settings.on(rule):
                    for match in finds.find(page):
                        if self._sound(rule, match, page):
                            yield Finding(
                                *_trimmed(page.plain, *match.span()), "street_address", score, rule, ("shape",)
                            )
        for cue in cues:
            if "address" in cue.kinds and settings.on("street.label"):
                yield from self._labelled(page, cue)

    def _sound(self, rule: str, match: re.Match[str], page: Page) -> bool:
        if rule == "street.lower":  # "2 weeks in court" is no address: the words between must be no words of a sentence
            middle = page.words[page.word_at(match.start()) + 1 : page.word_at(match.end())]
            clear = not any(word in _SENTENCE or word in self._stop for word in middle[:-1])
            return clear and len(middle) >= 2 and page.low[match.end() - 3 : match.end()] != "dr."
        if rule in ("street.listed", "street.bare", "street.from"):
            word = page.words[page.word_at(match.start()) + 1]
            return word not in self._stop and word not in clinical_words() and word not in _SENTENCE
        return True

    def _labelled(self, page: Page, cue: Cue) -> Iterator[Finding]:
        """After 'Address:' and 'lives at' the kind of street may be missing."""
        gap = page.gaps[cue.last]
        strong = ":" in gap or cue.last > cue.first
        at = cue.last + 1
        if at + 1 >= page.size or (
            not strong and (gap != " " or len(page.words[at]) < 3 or not page.words[at].isdigit())
        ):
            return
        start = page.starts[at]
        if not strong:
            match = self._bare.match(page.plain, start)
            if (
                match is None
                or page.words[at + 1] in self._stop
                or page.plain[match.end() : match.end() + 1] not in (",", ".", ";", "\n")
            ):
                return
        for finds in (self._bare, self._corner):
            match = finds.match(page.plain, start)
            if match is not None:
                yield Finding(start, match.end(), "street_address", 0.88, "street.label", ("label", "shape"))
                return


_SENTENCE = words("places.no_street")


def _trimmed(plain: str, start: int, end: int) -> tuple[int, int]:
    while end > start and plain[end - 1] in " ,;":
        end -= 1
    return start, end
