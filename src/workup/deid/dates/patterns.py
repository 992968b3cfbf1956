# ruff: noqa: E501 - a pattern is read more easily on one line
"""The many ways in which texts write days, years and clock times, one pattern each. Patterns only; finder.py reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from workup.deid.dates.readings import (
    compact,
    day_month,
    near_month,
    nearly_a_day,
    nearly_year_first,
    short_day,
    within_year,
    year_first,
)
from workup.deid.patterns.finder import Finder
from workup.deid.text_view import Page
from workup.text.calendar import MONTH, MONTHS, PLAIN_MONTHS, SHORT_MONTHS, WEEKDAY, WEEKDAY_NAME
from workup.text.numbers import ONES, TEENS, TENS, ordinal_words

_MONTH, _WEEKDAY = MONTH.lower(), WEEKDAY.lower()
_LONG_MONTHS = "|".join(MONTHS).lower()
_PLAIN_MONTHS = "|".join(month.lower() for month in MONTHS if month.lower() in PLAIN_MONTHS)
_SHORT_MONTHS = "|".join(SHORT_MONTHS).replace("Sep", "Sep|Sept")
_ORDINAL = r"(?:st|nd|rd|th)"
_YEAR = r"(?:1[89]\d\d|20\d\d)"
_UNITS = "|".join(map(ordinal_words, range(1, 10)))
_SPOKEN_DAY = rf"(?:{_UNITS}|{'|'.join(map(ordinal_words, (*range(10, 21), 30)))}|(?:twenty|thirty)[- ](?:{_UNITS}))"
_ONES, _TEENS, _TENS = "|".join(ONES), "|".join(TEENS), "|".join(TENS)
_UNDER_100 = rf"(?:(?:{_TENS})(?:[- ](?:{_ONES}))?|{_TEENS}|(?:oh|hundred)[- ](?:{_ONES})|{_ONES}|hundred)"
_SPOKEN_YEAR = rf"(?:(?:nineteen|twenty)[- ]{_UNDER_100}|two thousand(?: (?:and )?{_UNDER_100})?)"
_OPEN = r"(?<![\w/.-])"
_CLOSE = r"(?![\w/]|[.-]\d)"
_YY = rf"(?:,? ?{_YEAR}|,? ?'\d\d)"
_ROMAN = r"(?:i{1,3}|iv|vi{0,3}|ix|xi{0,2})"
_DAYS = r"(?:0?[1-9]|[12]\d|3[01])"

_COUNT = rf"(?:an?|{_ONES}|{_TEENS}|{_TENS}|\d{{1,3}})"
_LASTING = (
    rf"{_COUNT}(?: and a half)?[- ](?:day|week|month|year)s?(?:'s?)?(?: and {_COUNT} (?:day|week|month)s?(?:'s)?)?"
)


class DateRule(NamedTuple):
    """A pattern, the leaf and score of what it finds, and a second look at it."""

    id: str
    leaf: str
    finds: Finder
    score: float
    holds: Callable[[re.Match[str], Page], str | None] | None = None


def _i(pattern: str) -> Finder:
    return Finder(pattern, re.IGNORECASE)


RULES: tuple[DateRule, ...] = (
    DateRule("date.range_words", "date", _i(rf"{_OPEN}(?<!from ){_MONTH}\.? {_DAYS}{_ORDINAL}?,? ?(?:-|to|through|thru|until) ?(?:{_MONTH}\.? )?{_DAYS}{_ORDINAL}?(?:,? ?{_YEAR})?{_CLOSE}"), 0.96),
    DateRule("date.range_figures", "date", _i(rf"{_OPEN}(?<!from )\d{{1,2}}/\d{{1,2}}(?:/(?:\d{{4}}|\d\d))?(?:-| to | through )\d{{1,2}}/\d{{1,2}}/(?:\d{{4}}|\d\d){_CLOSE}"), 0.96),
    DateRule("date.words", "date", _i(rf"{_OPEN}(?:{_WEEKDAY}[.,]{{0,2}} ?(?:the )?)?{_MONTH}\.?[ -]{{0,2}}{_DAYS}{_ORDINAL}?(?!\d)(?:,? ?{_YEAR}(?!\d)|,? '\d\d(?!\d)|-\d\d(?!\d))?(?![/]|[.-]\d)"), 0.97),
    DateRule("date.day_first", "date", _i(rf"{_OPEN}(?:{_WEEKDAY}[.,]{{0,2}} ?)?(?:the )?{_DAYS}{_ORDINAL}?(?: of )?[ ./-]{{0,2}}{_MONTH}\.?(?![a-z])(?:[ ,/-]{{0,2}}{_YEAR}(?!\d)|[ ,/-]{{0,2}}'?\d\d(?!\d|:))?(?!\d)"), 0.96),
    DateRule("date.spoken", "date", _i(rf"(?<![\w]){_MONTH}\.? (?:the )?{_SPOKEN_DAY}(?!\w)(?:,? (?:of )?{_SPOKEN_YEAR}(?!\w)|,? {_YEAR})?"), 0.96),
    DateRule("date.spoken_first", "date", _i(rf"(?<![\w])(?:the )?{_SPOKEN_DAY} (?:day )?of {_MONTH}(?!\w)(?:,? (?:of )?{_SPOKEN_YEAR}(?!\w)|,? {_YEAR})?"), 0.96),
    DateRule("date.month_year", "date", _i(rf"(?<![\w])(?:(?:early|mid|late)[- ])?{_MONTH}\.?,?(?: of)?[ /-]?(?:{_YEAR}|'\d\d)(?![\w/]|-\d)"), 0.95),
    DateRule("date.month_two", "date", Finder(rf"(?<![\w])(?:{_SHORT_MONTHS})[- /]\d\d(?![\w/]|-\d)"), 0.9),
    DateRule("date.typo", "date", _i(r"(?<![\w/.-])(?P<m>[a-z0-9]{3,10})[., ]{1,2}\d{1,2}(?:st|nd|rd|th)?[,.]? {1,2}\d{4,5}(?!\w)"), 0.8, near_month),
    DateRule("date.typo_first", "date", _i(r"(?<![\w/.-])\d{1,2}[ -](?P<m>[a-z0-9]{3,10})[ ,-]{1,2}\d{4,5}(?!\w)"), 0.8, near_month),
    DateRule("date.season", "date", _i(rf"(?<![\w])(?:(?:early|mid|late)[- ])?(?:spring|summer|fall|autumn|winter)(?: of)?,? {_YEAR}(?!\w)"), 0.9),
    DateRule("date.quarter", "date", _i(rf"(?<![\w])Q[1-4][ /-]?{_YEAR}(?!\w)"), 0.9),
    DateRule("date.part_of_year", "date", _i(rf"(?<![\w])(?:the )?(?:first|second|third|fourth) quarter of {_YEAR}(?!\w)"), 0.85),
    DateRule("date.iso", "date", _i(rf"(?<![\w/.-])(?P<y>{_YEAR})(?P<s>[-/.])(?P<m>\d{{1,2}})(?P=s)(?P<d>\d{{1,2}})(?![\d/-])"), 0.97, year_first),
    DateRule("date.figures", "date", _i(rf"(?<![\w/.-])(?:{_WEEKDAY}[.,]{{0,2}} ?)?(?<!\d)(?P<a>\d{{1,2}})(?P<s1> ?[-/.] ?)(?P<b>\d{{1,2}})(?P<s2> ?[-/.] ?)(?P<q>'?)(?P<y>\d{{4}}|\d\d)(?![\w/]|[.-]\d)"), 0.95, day_month),
    DateRule("date.figures_typo", "date", _i(r"(?<![\w/.-])(?P<a>\d{1,3})(?P<s>[-/.])(?P<b>\d{0,3})(?P=s)(?P<q>'?)(?P<y>\d{1,5})(?![\w/-]|\.\d)"), 0.75, nearly_a_day),
    DateRule("date.headless", "date", _i(r"(?<![\w/.-])/\d{1,2}/(?:19|20)\d\d(?![\w/-]|\.\d)"), 0.75),
    DateRule("date.iso_typo", "date", _i(r"(?<![\w/.-])(?P<y>\d{3,5})(?P<s>[-/])\d{1,3}(?P=s)\d{1,3}(?![\w/-]|\.\d)"), 0.75, nearly_year_first),
    DateRule("date.month_typo", "date", _i(rf"(?<![\w])(?:(?<=in )(?:{_LONG_MONTHS}) \d{{4,5}}|{_MONTH} (?:19|20)\d{{3}})(?!\w)"), 0.8),
    DateRule("date.day_typo", "date", _i(rf"(?<![\w])(?:{_PLAIN_MONTHS}) \d{{1,2}}(?:[a-z]{{2,3}})?(?![\w.])(?:,? \d{{3,5}}(?!\w))?"), 0.75),
    DateRule("date.words_typo", "date", _i(rf"{_OPEN}(?:{_WEEKDAY}[.,]{{0,2}} ?)?{_MONTH}\.? \d{{1,3}}{_ORDINAL}?, ?\d{{3,5}}(?!\w)"), 0.85),
    DateRule("date.joined_typo", "date", _i(rf"(?<![\w/.-])\d{{1,3}}[ -]?{_MONTH}[ -]?\d{{3,5}}(?![\w/-])"), 0.85),
    DateRule("date.three_figures", "date", _i(rf"{_OPEN}{_MONTH}\.? \d{{3}}(?![\w/-]|\.\d)"), 0.0),
    DateRule("date.weekday_figures", "date", _i(rf"(?<![\w]){_WEEKDAY}[.,]{{0,2}} ?\d{{1,2}}/\d{{1,2}}(?![\w/]|[.-]\d)"), 0.95),
    DateRule("date.roman", "date", _i(rf"(?<![\w/.-]){_DAYS}(?P<s>[-./]){_ROMAN}(?P=s)(?:\d{{4}}|\d\d)(?![\w/-])"), 0.93),
    DateRule("date.month_figures", "date", _i(rf"(?<![\w/.-])(?:0?[1-9]|1[0-2])[/]{_YEAR}(?![\w/-]|\.\d)"), 0.93),
    DateRule("date.iso_month", "date", _i(rf"(?<![\w/.-]){_YEAR}-(?:0[1-9]|1[0-2])(?![\w/-]|\.\d)"), 0.85),
    DateRule("date.day_of_year", "date", _i(r"(?<![\w/.-])(?:19|20)\d\d-(?P<d>\d{3})(?![\w/-]|\.\d)"), 0.85, within_year),
    DateRule("date.compact", "date", _i(r"(?<![\w/.#-])\d{8}(?![\w/-]|\.\d)"), 0.8, compact),
    DateRule("date.ordinal", "date", _i(rf"(?<![\w])(?:(?:(?<=on )|(?<=: ))the {_DAYS}{_ORDINAL}(?! (?:day|week|month|year|percentile|floor|digit|rib|toe|finger|ray|metatarsal|visit|time|hospital|and)|\w)|(?<![\w]){_WEEKDAY}[,.]? the {_DAYS}{_ORDINAL}(?!\w)|(?<=until )the {_DAYS}{_ORDINAL}(?!\w)|(?<=since )the {_DAYS}{_ORDINAL}(?!\w)|(?<=by )the {_DAYS}{_ORDINAL}(?!\w))"), 0.8),
    DateRule("date.short", "date", _i(r"(?<![\w/.,-])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?![\w/%]|[.-]\d)"), 0.0, short_day),
    DateRule("year.range", "year_only", _i(rf"(?<![\w/.-]){_YEAR}[-/](?:{_YEAR}|\d\d)(?![\w/-])"), 0.6),
    DateRule("year.plain", "year_only", _i(r"(?<![\w])(?:(?<=in )|(?<=since )|(?<=from )|(?<=until )|(?<=around )|(?<=circa )|(?<=before )|(?<=after )|(?<=early )|(?<=late )|(?<=of )|(?<=to )|(?<=by )|(?<=[Dd]uring )|(?<=between )|(?<=\())(?:1[89]\d\d|20[0-4]\d)s?(?![\w/-]|[.,]\d| ?(?:m[lLgG]|cc|mcg|units?|k?cal|calories|feet|grams?|steps|hours|hrs|mL)\b)"), 0.7),
    DateRule("year.again", "year_only", _i(r"(?<![\w])(?:(?<=\d\d\d\d and )|(?<=\d\d\d\d or )|(?<=\d\d\d\d, ))(?:19|20)\d\d(?![\w/-]|[.,]\d)"), 0.65),
    DateRule("year.list", "year_only", _i(r"(?<![\w])(?<=in )(?:19|20)\d\d(?:, (?:19|20)\d\d){0,4} and (?:19|20)\d\d(?![\w/-]|[.,]\d)"), 0.75),
    DateRule("year.act", "year_only", _i(r"(?<![\w])(?:(?<=Act )(?:1[89]|20)\d\d(?!\w)|(?:1[89]|20)\d\d(?= (?:Act|Code|Law|Constitution|Convention|Ordinance|Order|Regulations?|Rules|Directive|Treaty)))"), 0.65),
    DateRule("year.decade", "year_only", _i(r"(?<![\w])(?<=the )(?:(?:early|mid|late)[- ])?(?:1[89]|20)\d0s(?!\w)"), 0.65),
    DateRule("year.between", "date_relative", _i(r"(?<![\w])between (?:1[89]|20)\d\d and (?:1[89]|20)\d\d(?!\w)"), 0.65),
    DateRule("date.between", "date", _i(rf"(?<![\w])between {_DAYS} {_MONTH} (?:19|20)\d\d and {_DAYS} {_MONTH} (?:19|20)\d\d(?!\w)"), 0.97),
    DateRule("date.pair", "date", _i(rf"(?<![\w]){_DAYS} {_MONTH} and {_DAYS} {_MONTH} (?:19|20)\d\d(?!\w)"), 0.97),
    DateRule("relative.sentence", "date_relative", _i(rf"(?<![\w])sentence[d]?(?: (?!to|of)[\w']{{1,15}}){{0,4}} (?:to|of) (?P<v>{_LASTING}|(?:mandatory )?life imprisonment)(?!\w)"), 0.65),
    DateRule("relative.imprisonment", "date_relative", _i(rf"(?<![\w])(?P<v>{_LASTING})(?='? (?:imprisonment|detention|in prison|probation))"), 0.65),
    DateRule("relative.period", "date_relative", _i(rf"(?<![\w])(?:period of|within|suspended for|service for|banned for|further) (?P<v>{_LASTING})(?!\w)"), 0.6),
    DateRule("year.apostrophe", "year_only", _i(r"(?<![\w])(?:(?<=in )|(?<=since )|(?<=from ))'\d\d(?!\w)"), 0.7),
    DateRule("year.spoken", "year_only", _i(rf"(?<![\w])(?:in|since|from|until) (?P<v>(?:nineteen|twenty)[- ](?:{_TENS}|ten|eleven|twelve|fifteen|sixteen|seventeen|eighteen|nineteen)(?:[- ](?:{_ONES}))?)(?!\w)"), 0.7),
    DateRule("relative.weekday", "date_relative", _i(rf"(?<![\w])(?:(?:last|next|this(?: past| coming)?|every) )?{WEEKDAY_NAME.lower()}s?(?!\w)"), 0.6),
    DateRule("relative.holiday", "date_relative", _i(r"(?<![\w])(?:christmas(?: eve| day)?|thanksgiving(?: day)?|new year'?s(?: eve| day)?|easter(?: sunday)?|memorial day|labor day|independence day|halloween|(?:the )?fourth of july|valentine'?s day|mother'?s day|father'?s day|veterans day|columbus day|presidents'? day|passover|hanukkah|ramadan|eid(?: al-fitr| al-adha)?|diwali|lunar new year|juneteenth|st\.? patrick'?s day|mlk day)(?!\w)"), 0.7),
    DateRule("relative.counted", "date_relative", _i(r"(?<![\w])(?:post-?op(?:erative)?|post-?partum|hospital|pod|hd) ?(?:day)? ?(?:no\.? |number |#)?\d{1,3}(?!\w|[/.]\d)"), 0.6),
    DateRule("time.clock", "time", _i(r"(?<![\w:.,-])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?!,\d)(?: ?(?:[ap]\.m\.|[ap]\.?m(?!\w)))?(?: (?:hrs|hours|h))?(?: (?:EST|EDT|CST|CDT|MST|MDT|PST|PDT|UTC|GMT)(?!\w))?(?![\w:])"), 0.8),
    DateRule("time.hour", "time", _i(r"(?<![\w:.,/-])(?:1[0-2]|0?[1-9])(?:[.:][0-5]\d)? ?(?:[ap]\.m\.|[ap]m(?!\w))"), 0.8),
    DateRule("time.military", "time", _i(r"(?<![\w:.,/-])(?:(?:[01]\d|2[0-3])[0-5]\d ?(?:hrs|hours|h)(?!\w)|(?<=at )(?:[01]\d|2[0-3])[0-5]\d(?!\w|[.,/-]\d)|(?:[01]\d|2[0-3])h[0-5]\d(?!\w))"), 0.7),
    DateRule("time.o_clock", "time", _i(rf"(?<![\w])(?:{_ONES}|ten|eleven|twelve) o'clock(?!\w)"), 0.8),
)  # fmt: skip
