# ruff: noqa: E501 - a pattern is read more easily on one line
"""Ages: the number only. Knows people in years; months and weeks of infants are left."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workup.deid.finding import Finding
from workup.deid.patterns.finder import Finder
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.text.numbers import ONES, TEENS, TENS

_ONES = "|".join(ONES)
_WORDS = rf"(?:(?:{'|'.join(TENS)})(?:[- ](?:{_ONES}))?|one hundred(?: (?:and )?(?:{_ONES}))?|{'|'.join(TEENS)})"
_NUMBER = rf"(?P<v>1[0-4]\d|0?\d{{1,2}}|{_WORDS})"
_SEX = r"(?:m|f|male|female|man|woman|boy|girl|gentleman|lady)"
_FINDS = tuple(
    (name, score, Finder(pattern, re.IGNORECASE))
    for name, score, pattern in (
        ("age.years_old", 0.95, rf"(?<![\w.]){_NUMBER}(?=[- ]{{0,2}}(?:years?|yrs?\.?|y)[- ]{{0,2}}(?:old[a-z]{{0,12}}\b|o\b|/o|of age))"),
        ("age.short", 0.95, rf"(?<![\w.]){_NUMBER}(?= ?(?:y/?o|y\.o\.?|yo[mf]?|yrs? ?old|y/o/[mf])\b)"),
        ("age.labelled", 0.93, rf"(?<![\w])(?:age|aged|age of|sex/age|age/sex)[ ]{{0,20}}[:=/(-]{{0,2}}[ ]{{0,20}}(?:(?:[mf]|male|female)[ ,/]{{1,4}})?(?:is |was |at |of )?{_NUMBER}(?![\w/%]|[.-]\d)"),
        ("age.sex_after", 0.85, rf"(?<![\w])(?:(?<=, )|(?<=\n)|(?<=  )|(?<=\()|(?<=is a )|(?<=is an )|(?<=this )){_NUMBER}(?=[ -]?{_SEX}(?![\w/]))"),
        ("age.letter_y", 0.85, rf"(?<![\w.]){_NUMBER}(?=y(?:[ ,./);\n]|$))"),
        ("age.sex_before", 0.85, rf"(?<![\w])(?:(?<=[ ,/(;\n])|^)[MF] ?[/,;]? ?{_NUMBER}(?=y\b| ?(?:[,;)\n]|$))"),
        ("age.turned", 0.85, rf"(?<![\w])(?:turned|turns|turn|turning|reached|nearly|almost|lived to|died at|age at death|dies at|lived to be) {_NUMBER}(?![\w/%]|[.-]\d)(?! ?(?:million|thousand|hundred|billion|mg|ml|lbs?|kg|pounds|feet|degrees|minutes|hours|days|weeks|months|percent|units|steps|meters|cm|mm|beats|bpm))"),
        ("age.is", 0.6, rf"(?<![\w])(?:who|he|she|husband|wife|mother|father|brother|sister|son|daughter|aunt|uncle)(?: [A-Z][a-z]{{1,20}})?,? (?:is|was|now) {_NUMBER}(?=[ ]?(?:and|,|\.|;))(?![.]\d)"),
        ("age.died", 0.85, rf"(?<![\w])(?:was|at) {_NUMBER} [a-z]{{3,5}} [a-z]{{1,5}} (?:died|passed)"),
        ("age.apposition", 0.7, r"(?<![\w])(?<=[a-z], )(?P<v>1[01]\d|[1-9]\d), (?=[a-z(])"),
        ("age.typo", 0.8, r"(?<![\w.])(?P<v>9\d\d|1[01]\d\d)(?=[- ]{0,2}(?:years?|yrs?|y/?o)[a-z]{0,12}\b)"),
        ("age.decade", 0.7, r"(?<![\w])(?:in (?:his|her|their) )(?:(?:early|mid|late)[- ])?(?P<v>90|9\ds|nineties)(?!\w)"),
    )
)  # fmt: skip
_TENS = {"ninety": 90, "hundred": 100, "nineties": 90}


def ages(page: Page, settings: Settings) -> Iterator[Finding]:
    """Ages of a page, by whether Safe Harbor lets them stand."""
    for rule, score, finds in _FINDS:
        if settings.on(rule):
            for match in finds.find(page):
                if rule == "age.apposition" and page.cases[page.word_at(match.start("v")) - 1] != "t":
                    continue
                years = _years(match["v"].lower())
                leaf = "age_over_89" if years >= 90 else "age_under_90"
                if rule != "age.is" or years >= 18:
                    yield Finding(*match.span("v"), leaf, score, rule, ("words",))


def _years(text: str) -> int:
    if text[0].isdigit():
        return int(text.rstrip("s"))
    return max((value for word, value in _TENS.items() if word in text), default=1)
