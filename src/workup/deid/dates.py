# ruff: noqa: E501 - a pattern is read more easily on one line
"""Days, years and clock times in the many ways in which notes write them; each find is read, and refused where it is no
day. Knows no calendar of the patient."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from workup.deid.cues import Cue
from workup.deid.finding import Finding
from workup.deid.linear import Finder
from workup.deid.page import Page, words_of
from workup.deid.settings import Settings
from workup.deid.slips import apart

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_ORDINAL = r"(?:st|nd|rd|th)"
_YEAR = r"(?:1[89]\d\d|20\d\d)"
_UNITS = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth"
_SPOKEN_DAY = (
    rf"(?:{_UNITS}|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|"
    rf"twentieth|thirtieth|(?:twenty|thirty)[- ](?:{_UNITS}))"
)
_ONES = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
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

_Reading = Callable[["re.Match[str]", Page], str | None]


class _Rule(NamedTuple):
    id: str
    leaf: str
    finds: Finder
    score: float
    holds: _Reading | None = None
    needs: str = ""


def _i(pattern: str) -> Finder:
    return Finder(re.compile(pattern, re.IGNORECASE))


def _day_month(match: re.Match[str], _: Page) -> str | None:
    first, second, year = int(match["a"]), int(match["b"]), match["y"]
    if match["s1"].strip() != match["s2"].strip() or not (1 <= first <= 31 and 1 <= second <= 31):
        return None
    if first > 12 and second > 12:
        return None
    if match["s1"].strip() == "." and (" " in match["s1"] + match["s2"] or (len(year) == 2 and len(match[0]) < 6)):
        return None  # 1.2.10 is a heading as often
    if len(year) == 4 and not 1850 <= int(year) <= 2100:
        return None
    return "order"


def _nearly_a_day(match: re.Match[str], _: Page) -> str | None:
    """Three figures that would be a day but for one digit; dashes and points need a year to be told from others."""
    year, mark = match["y"], match["s"]
    if mark == "-" and len(match["a"]) == 3:
        return None  # a social security number, a telephone number
    if len(year) >= 4:
        return "slip" if year[0] in "12" or mark == "/" else None
    if mark != "/" or (len(year) < 3 and len(match["a"]) + len(match["b"]) < 3):
        return None
    return "slip" if int(match["a"]) <= 31 or int(match["b"]) <= 31 else None


def _year_first(match: re.Match[str], _: Page) -> str | None:
    return "order" if 1 <= int(match["m"]) <= 12 and 1 <= int(match["d"]) <= 31 else None


def _compact(match: re.Match[str], _: Page) -> str | None:
    text = match[0]
    if text[:2] in ("19", "20"):
        year, month, day = text[:4], text[4:6], text[6:]
        if 1 <= int(month) <= 12 and 1 <= int(day) <= 31:
            return "order"
    month, day, year = text[:2], text[2:4], text[4:]
    return "order" if 1 <= int(month) <= 12 and 1 <= int(day) <= 31 and 1900 <= int(year) <= 2079 else None


def _within_year(match: re.Match[str], _: Page) -> str | None:
    return "order" if 1 <= int(match["d"]) <= 366 else None


_SCORES = re.compile(
    r"(?<![a-z])(?:pain|scale|score|strength|scored|rated|rates|rating|power|grade|motor|murmur|apgars?|phq-?9?|gcs|a1c|bp|"
    r"pressure|vision|va|od|os|ou|reflexes|dtrs?|severity|intensity|level|worst|discomfort|o2|sat|rass|nihss|"
    r"edema|pulses?|mood|energy|sleep|now|stage|schedule|odds|ratio|fraction|about|only|up to|than|count|"
    r"nodes?|cores?|quadrants?|samples?|specimens?|slides?|cycles?|sets?|takes|taking|give|gave|dose|doses)"
    r"[ :=~,]{0,3}(?:was|is|of|at|a|an|to|in|from|now|about|positive|improved|currently)?[ ]{0,2}$",
    re.IGNORECASE,
)
_RATED = re.compile(r"pain|score|scale|severity|rated|strength|discomfort|murmur|power|headache")
_UNITS_BEHIND = re.compile(
    r"[ -]{0,2}(?:on exposure|to light|pain|headache|discomfort|severity|intensity|strength|tab|tablet|tablets|cap|mg|ml|cc|cup|inch|inches|pack|systolic|murmur|positive|negative|"
    r"nodes|power|scale|score|motor|of\b|hours|days|weeks|months|teaspoon|tsp|oz|ns\b|normal|saline|dose|strengths|"
    r"bilaterally|throughout|in (?:all|both|the|upper|lower|right|left)|on (?:the )?(?:right|left)|blood|sib|cores|lobes|"
    r"reps|yes|correct|words|objects|recall|wpw|chance|full|max|at worst|at rest|with (?:activity|movement|rest|cough|"
    r"walking|stairs|medication|periods|meds)|%|L\b|D5|tsp)",
    re.IGNORECASE,
)


def _short_day(match: re.Match[str], page: Page) -> str | None:
    """Month and day alone: 7/10 is a pain score, 1/2 a half, 5/5 full strength, unless words speak for a day."""
    first, second = int(match["a"]), int(match["b"])
    if match[0] == "24/7" or (
        not (1 <= first <= 12 and 1 <= second <= 31) and not (1 <= second <= 12 and 1 <= first <= 31)
    ):
        return None
    start, end = match.span()
    if second in (4, 5, 6, 10) and _RATED.search(page.low, max(0, start - 40), start):
        return None
    if _SCORES.search(page.plain, max(0, start - 40), start) or _UNITS_BEHIND.match(page.plain, end, end + 20):
        return None
    return "words"


_MONTHS = words_of(
    "january february march april june july august september october november december jan feb mar apr may jun jul aug sep sept oct nov dec"
)
_WEEKDAYS = words_of("monday tuesday wednesday thursday friday saturday sunday")


def _near_month(match: re.Match[str], _: Page) -> str | None:
    word = match["m"].lower()
    if sum(map(str.isalpha, word)) < 2 or word in _MONTHS or word == "may":
        return "slip" if word in _MONTHS else None
    most = 1 if len(word) < 6 else 2
    return (
        "slip"
        if any(apart(word, month, most) <= most for month in _MONTHS if abs(len(month) - len(word)) <= most)
        else None
    )


_RULES: tuple[_Rule, ...] = (
    _Rule("date.range_words", "date", _i(rf"{_OPEN}(?<!from ){_MONTH}\.? {_DAYS}{_ORDINAL}?,? ?(?:-|to|through|thru|until) ?(?:{_MONTH}\.? )?{_DAYS}{_ORDINAL}?(?:,? ?{_YEAR})?{_CLOSE}"), 0.96),
    _Rule("date.range_figures", "date", _i(rf"{_OPEN}(?<!from )\d{{1,2}}/\d{{1,2}}(?:/(?:\d{{4}}|\d\d))?(?:-| to | through )\d{{1,2}}/\d{{1,2}}/(?:\d{{4}}|\d\d){_CLOSE}"), 0.96),
    _Rule("date.words", "date", _i(rf"{_OPEN}(?:{_WEEKDAY}[.,]{{0,2}} ?(?:the )?)?{_MONTH}\.?[ -]{{0,2}}{_DAYS}{_ORDINAL}?(?!\d)(?:,? ?{_YEAR}(?!\d)|,? '\d\d(?!\d)|-\d\d(?!\d))?(?![/]|[.-]\d)"), 0.97),
    _Rule("date.day_first", "date", _i(rf"{_OPEN}(?:{_WEEKDAY}[.,]{{0,2}} ?)?(?:the )?{_DAYS}{_ORDINAL}?(?: of )?[ ./-]{{0,2}}{_MONTH}\.?(?![a-z])(?:[ ,/-]{{0,2}}{_YEAR}(?!\d)|[ ,/-]{{0,2}}'?\d\d(?!\d|:))?(?!\d)"), 0.96),
    _Rule("date.spoken", "date", _i(rf"(?<![\w]){_MONTH}\.? (?:the )?{_SPOKEN_DAY}(?!\w)(?:,? (?:of )?{_SPOKEN_YEAR}(?!\w)|,? {_YEAR})?"), 0.96),
    _Rule("date.spoken_first", "date", _i(rf"(?<![\w])(?:the )?{_SPOKEN_DAY} (?:day )?of {_MONTH}(?!\w)(?:,? (?:of )?{_SPOKEN_YEAR}(?!\w)|,? {_YEAR})?"), 0.96),
    _Rule("date.month_year", "date", _i(rf"(?<![\w])(?:(?:early|mid|late)[- ])?{_MONTH}\.?,?(?: of)?[ /-]?(?:{_YEAR}|'\d\d)(?![\w/]|-\d)"), 0.95),
    _Rule("date.month_two", "date", Finder(re.compile(r"(?<![\w])(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)[- /]\d\d(?![\w/]|-\d)")), 0.9),
    _Rule("date.slip", "date", _i(r"(?<![\w/.-])(?P<m>[a-z0-9]{3,10})[., ]{1,2}\d{1,2}(?:st|nd|rd|th)?[,.]? {1,2}\d{4,5}(?!\w)"), 0.8, _near_month),
    _Rule("date.slip_first", "date", _i(r"(?<![\w/.-])\d{1,2}[ -](?P<m>[a-z0-9]{3,10})[ ,-]{1,2}\d{4,5}(?!\w)"), 0.8, _near_month),
    _Rule("date.season", "date", _i(rf"(?<![\w])(?:(?:early|mid|late)[- ])?(?:spring|summer|fall|autumn|winter)(?: of)?,? {_YEAR}(?!\w)"), 0.9),
    _Rule("date.quarter", "date", _i(rf"(?<![\w])Q[1-4][ /-]?{_YEAR}(?!\w)"), 0.9),
    _Rule("date.part_of_year", "date", _i(rf"(?<![\w])(?:the )?(?:first|second|third|fourth) quarter of {_YEAR}(?!\w)"), 0.85),
    _Rule("date.iso", "date", _i(rf"(?<![\w/.-])(?P<y>{_YEAR})(?P<s>[-/.])(?P<m>\d{{1,2}})(?P=s)(?P<d>\d{{1,2}})(?![\d/-])"), 0.97, _year_first),
    _Rule("date.figures", "date", _i(rf"(?<![\w/.-])(?:{_WEEKDAY}[.,]{{0,2}} ?)?(?<!\d)(?P<a>\d{{1,2}})(?P<s1> ?[-/.] ?)(?P<b>\d{{1,2}})(?P<s2> ?[-/.] ?)(?P<q>'?)(?P<y>\d{{4}}|\d\d)(?![\w/]|[.-]\d)"), 0.95, _day_month),
    _Rule("date.figures_slip", "date", _i(r"(?<![\w/.-])(?P<a>\d{1,3})(?P<s>[-/.])(?P<b>\d{1,3})(?P=s)(?P<y>\d{2,5})(?![\w/-]|\.\d)"), 0.75, _nearly_a_day),
    _Rule("date.iso_slip", "date", _i(r"(?<![\w/.-])(?:19|20)\d{3}(?P<s>[-/])\d{1,2}(?P=s)\d{1,2}(?![\w/-]|\.\d)"), 0.75),
    _Rule("date.month_slip", "date", _i(r"(?<![\w])(?<=in )(?:january|february|march|april|may|june|july|august|september|october|november|december) \d{4,5}(?!\w)"), 0.8),
    _Rule("date.day_slip", "date", _i(r"(?<![\w])(?:january|february|april|june|july|august|september|october|november|december) \d{1,2}(?:[a-z]{2})?(?![\w.])(?:,? \d{3,5}(?!\w))?"), 0.75),
    _Rule("date.words_slip", "date", _i(rf"{_OPEN}(?:{_WEEKDAY}[.,]{{0,2}} ?)?{_MONTH}\.? \d{{1,3}}{_ORDINAL}?, ?\d{{3,5}}(?!\w)"), 0.85),
    _Rule("date.joined_slip", "date", _i(rf"(?<![\w/.-])\d{{1,3}}[ -]?{_MONTH}[ -]?\d{{3,5}}(?![\w/-])"), 0.85),
    _Rule("date.three_figures", "date", _i(rf"{_OPEN}{_MONTH}\.? \d{{3}}(?![\w/-]|\.\d)"), 0.0),
    _Rule("date.weekday_figures", "date", _i(rf"(?<![\w]){_WEEKDAY}[.,]{{0,2}} ?\d{{1,2}}/\d{{1,2}}(?![\w/]|[.-]\d)"), 0.95),
    _Rule("date.roman", "date", _i(rf"(?<![\w/.-]){_DAYS}(?P<s>[-./]){_ROMAN}(?P=s)(?:\d{{4}}|\d\d)(?![\w/-])"), 0.93),
    _Rule("date.month_figures", "date", _i(rf"(?<![\w/.-])(?:0?[1-9]|1[0-2])[/]{_YEAR}(?![\w/-]|\.\d)"), 0.93),
    _Rule("date.iso_month", "date", _i(rf"(?<![\w/.-]){_YEAR}-(?:0[1-9]|1[0-2])(?![\w/-]|\.\d)"), 0.85),
    _Rule("date.day_of_year", "date", _i(r"(?<![\w/.-])(?:19|20)\d\d-(?P<d>\d{3})(?![\w/-]|\.\d)"), 0.85, _within_year),
    _Rule("date.compact", "date", _i(r"(?<![\w/.#-])\d{8}(?![\w/-]|\.\d)"), 0.8, _compact),
    _Rule("date.ordinal", "date", _i(rf"(?<![\w])(?:(?:(?<=on )|(?<=: ))the {_DAYS}{_ORDINAL}(?! (?:day|week|month|year|percentile|floor|digit|rib|toe|finger|ray|metatarsal|visit|time|hospital|and)|\w)|(?<![\w]){_WEEKDAY}[,.]? the {_DAYS}{_ORDINAL}(?!\w)|(?<=until )the {_DAYS}{_ORDINAL}(?!\w)|(?<=since )the {_DAYS}{_ORDINAL}(?!\w)|(?<=by )the {_DAYS}{_ORDINAL}(?!\w))"), 0.8),
    _Rule("date.short", "date", _i(r"(?<![\w/.,-])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?![\w/%]|[.-]\d)"), 0.0, _short_day),
    _Rule("year.range", "year_only", _i(rf"(?<![\w/.-]){_YEAR}[-/](?:{_YEAR}|\d\d)(?![\w/-])"), 0.6),
    _Rule("year.plain", "year_only", _i(r"(?<![\w])(?:(?<=in )|(?<=since )|(?<=from )|(?<=until )|(?<=around )|(?<=circa )|(?<=before )|(?<=after )|(?<=early )|(?<=late )|(?<=of )|(?<=to )|(?<=by )|(?<=[Dd]uring )|(?<=between )|(?<=\())(?:1[89]\d\d|20[0-4]\d)s?(?![\w/-]|[.,]\d| ?(?:m[lLgG]|cc|mcg|units?|k?cal|calories|feet|grams?|steps|hours|hrs|mL)\b)"), 0.7),
    _Rule("year.again", "year_only", _i(r"(?<![\w])(?:(?<=\d\d\d\d and )|(?<=\d\d\d\d or )|(?<=\d\d\d\d, ))(?:19|20)\d\d(?![\w/-]|[.,]\d)"), 0.65),
    _Rule("year.list", "year_only", _i(r"(?<![\w])(?<=in )(?:19|20)\d\d(?:, (?:19|20)\d\d){0,4} and (?:19|20)\d\d(?![\w/-]|[.,]\d)"), 0.75),
    _Rule("year.act", "year_only", _i(r"(?<![\w])(?:(?<=Act )(?:1[89]|20)\d\d(?!\w)|(?:1[89]|20)\d\d(?= (?:Act|Code|Law|Constitution|Convention|Ordinance|Order|Regulations?|Rules|Directive|Treaty)))"), 0.65),
    _Rule("year.decade", "year_only", _i(r"(?<![\w])(?<=the )(?:(?:early|mid|late)[- ])?(?:1[89]|20)\d0s(?!\w)"), 0.65),
    _Rule("year.between", "date_relative", _i(r"(?<![\w])between (?:1[89]|20)\d\d and (?:1[89]|20)\d\d(?!\w)"), 0.65),
    _Rule("date.between", "date", _i(rf"(?<![\w])between {_DAYS} {_MONTH} (?:19|20)\d\d and {_DAYS} {_MONTH} (?:19|20)\d\d(?!\w)"), 0.97),
    _Rule("date.pair", "date", _i(rf"(?<![\w]){_DAYS} {_MONTH} and {_DAYS} {_MONTH} (?:19|20)\d\d(?!\w)"), 0.97),
    _Rule("relative.sentence", "date_relative", _i(rf"(?<![\w])sentence[d]?(?: (?!to|of)[\w']{{1,15}}){{0,4}} (?:to|of) (?P<v>{_LASTING}|(?:mandatory )?life imprisonment)(?!\w)"), 0.65),
    _Rule("relative.imprisonment", "date_relative", _i(rf"(?<![\w])(?P<v>{_LASTING})(?='? (?:imprisonment|detention|in prison|probation))"), 0.65),
    _Rule("relative.period", "date_relative", _i(rf"(?<![\w])(?:period of|within|suspended for|service for|banned for|further) (?P<v>{_LASTING})(?!\w)"), 0.6),
    _Rule("year.apostrophe", "year_only", _i(r"(?<![\w])(?:(?<=in )|(?<=since )|(?<=from ))'\d\d(?!\w)"), 0.7),
    _Rule("year.spoken", "year_only", _i(rf"(?<![\w])(?:in|since|from|until) (?P<v>(?:nineteen|twenty)[- ](?:{_TENS}|ten|eleven|twelve|fifteen|sixteen|seventeen|eighteen|nineteen)(?:[- ](?:{_ONES}))?)(?!\w)"), 0.7),
    _Rule("relative.weekday", "date_relative", _i(r"(?<![\w])(?:(?:last|next|this(?: past| coming)?|every) )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?(?!\w)"), 0.6),
    _Rule("relative.holiday", "date_relative", _i(r"(?<![\w])(?:christmas(?: eve| day)?|thanksgiving(?: day)?|new year'?s(?: eve| day)?|easter(?: sunday)?|memorial day|labor day|independence day|halloween|(?:the )?fourth of july|valentine'?s day|mother'?s day|father'?s day|veterans day|columbus day|presidents'? day|passover|hanukkah|ramadan|eid(?: al-fitr| al-adha)?|diwali|lunar new year|juneteenth|st\.? patrick'?s day|mlk day)(?!\w)"), 0.7),
    _Rule("relative.counted", "date_relative", _i(r"(?<![\w])(?:post-?op(?:erative)?|post-?partum|hospital|pod|hd) ?(?:day)? ?(?:no\.? |number |#)?\d{1,3}(?!\w|[/.]\d)"), 0.6),
    _Rule("time.clock", "time", _i(r"(?<![\w:.,-])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?!,\d)(?: ?(?:[ap]\.m\.|[ap]\.?m(?!\w)))?(?: (?:hrs|hours|h))?(?: (?:EST|EDT|CST|CDT|MST|MDT|PST|PDT|UTC|GMT)(?!\w))?(?![\w:])"), 0.8),
    _Rule("time.hour", "time", _i(r"(?<![\w:.,/-])(?:1[0-2]|0?[1-9])(?:[.:][0-5]\d)? ?(?:[ap]\.m\.|[ap]m(?!\w))"), 0.8),
    _Rule("time.military", "time", _i(r"(?<![\w:.,/-])(?:(?:[01]\d|2[0-3])[0-5]\d ?(?:hrs|hours|h)(?!\w)|(?<=at )(?:[01]\d|2[0-3])[0-5]\d(?!\w|[.,/-]\d)|(?:[01]\d|2[0-3])h[0-5]\d(?!\w))"), 0.7),
    _Rule("time.o_clock", "time", _i(rf"(?<![\w])(?:{_ONES}|ten|eleven|twelve) o'clock(?!\w)"), 0.8),
)  # fmt: skip
_FIGURE = re.compile(r"\d")
_TRAIL = " ,.;:-/("


def dates(page: Page, cues: list[Cue], settings: Settings) -> Iterator[Finding]:
    """Days, years and times of a page; where rules meet, the first that found wins among those of equal length."""
    taken: list[Finding] = []
    births, deaths, days = _behind(page, cues)
    for rule in _RULES:
        if not settings.on(rule.id):
            continue
        for match in rule.finds.find(page):
            found = _read(rule, match, page, days)
            if found is not None:
                taken.append(_named(found, page, births, deaths))
    yield from taken


def _read(rule: _Rule, match: re.Match[str], page: Page, days: set[int]) -> Finding | None:
    said = rule.holds(match, page) if rule.holds else "words"
    if said is None:
        return None
    start, end = match.span("v") if "v" in rule.finds.pattern.groupindex else match.span()
    score, evidence = rule.score, [said]
    if rule.id == "date.three_figures":
        score = 0.75 if start in days else 0.0
    if rule.id == "date.short":
        score, cue = _short_score(page, start, end, days)
        evidence += cue
        if score < 0.3:
            return None
    if rule.id == "date.words" and _is_word(page, match, start):
        return None
    while end > start and page.plain[end - 1] in _TRAIL:
        end -= 1
    return Finding(start, end, rule.leaf, score, rule.id, tuple(evidence))


def _is_word(page: Page, match: re.Match[str], start: int) -> bool:
    """'may 5' and 'mar 3' in lower case may be a verb or a slip; 'may' before a number is a day only in capitals."""
    head = match[0][:4]
    return head[:3] == "may" and page.low[max(0, start - 3) : start].strip() not in ("on", "of")


_SCALES = frozenset((15, 20, 21, 24, 27, 28, 30))  # scores are written over these
_TIMES_BEHIND = re.compile(
    r"[,;]?[ \t]{1,2}(?:at[ ])?(?:[01]?\d|2[0-3]):?[0-5]\d(?!\d)|[ ]{0,2}[):,;]|[ ]{0,2}(?:\n|$)|\.(?:\s|$)"
)


def _short_score(page: Page, start: int, end: int, days: set[int]) -> tuple[float, list[str]]:
    plain = page.plain
    line = plain.rfind("\n", max(0, start - 60), start) + 1
    before = plain[max(line, start - 60) : start]
    opens = not before.strip(" -*>•[(")
    behind = _TIMES_BEHIND.match(plain, end)
    a, b = plain[start:end].split("/")
    padded = len(a) == 2 and len(b) == 2
    if start in days:
        return 0.85, ["cue"]
    score, why = (
        (0.55, ["order", "no_scale"]) if int(a) <= 12 and int(b) > 12 and int(b) not in _SCALES else (0.2, ["order"])
    )
    if (
        score < 0.5
        and int(b) in (7, 8, 9, 11, 12)
        and before[-1:] in ("(", " ")
        and before[-2:-1] in (",", " ", "(", "")
        and behind
    ):
        score, why = 0.5, ["order", "mark_before"]
    if opens:
        score, why = 0.75, ["opens_line"]
    if behind and behind[0].strip(" ,;").startswith(tuple("0123456789a")) and len(behind[0]) > 3:
        score, why = max(score, 0.8), [*why, "time_behind"]
    if plain[end : end + 2] in (": ", ":\n") or (plain[start - 2 : start] == "  " and plain[end : end + 2] == "  "):
        score, why = max(score, 0.6), [*why, "column"]
    if before[-2:] in (": ", "/ ", "- ", "| ") or (
        behind and behind[0].strip() == "" and "\n" in behind[0] and before[-1:] == " " and before[-2:-1] in "-/|:"
    ):
        score, why = max(score, 0.55), [*why, "mark_before"]
    if padded:
        score += 0.15
        why.append("padded")
    if behind is None and not opens and "no_scale" not in why:
        score -= 0.05
    return score, why


_GAP = re.compile(r"[ \t]{0,40}[:#(=\-\[.,]{0,3}[ \t]{0,30}(?:(?:on|of|is|was|as|the|for)[ ]{1,2}){0,2}")


def _behind(page: Page, cues: list[Cue]) -> tuple[set[int], set[int], set[int]]:
    """Places right behind words that announce a day of birth, of death, or any day."""
    births: set[int] = set()
    deaths: set[int] = set()
    days: set[int] = set()
    for cue in cues:
        for kind, places in (("birth", births), ("death", deaths), ("day", days)):
            if kind in cue.kinds:
                gap = _GAP.match(page.plain, page.ends[cue.last])
                if gap is not None and (gap[0] or kind != "day"):
                    places.add(gap.end())
    return births, deaths, days


def _with_weekday(found: Finding, page: Page) -> Finding:
    """A misspelt weekday before a date belongs to it."""
    at = page.word_at(found.start) - 1
    if at < 0 or found.label != "date" or page.before(at + 1) not in (", ", " ", ". ") or page.cases[at] == "l":
        return found
    word = page.words[at]
    short = (
        len(word) == 3
        and page.cases[at] == "t"
        and word not in _WEEKDAYS
        and any(apart(word, day[:3], 1) <= 1 for day in _WEEKDAYS)
    )
    if short or (len(word) > 4 and word not in _WEEKDAYS and any(apart(word, day, 2) <= 2 for day in _WEEKDAYS)):
        return found._replace(start=page.starts[at])
    return found


def _named(found: Finding, page: Page, births: set[int], deaths: set[int]) -> Finding:
    if found.label not in ("date", "year_only"):
        return found
    found = _with_weekday(found, page)
    for places, leaf in ((births, "date_birth"), (deaths, "date_death")):
        if found.start in places and (found.label == "date" or leaf == "date_birth"):
            return found._replace(label=leaf, score=max(found.score, 0.9), evidence=(*found.evidence, leaf))
    return found
