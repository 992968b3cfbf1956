# ruff: noqa: E501 - a pattern is read more easily on one line
"""Words that tie a note to the calendar without being a date: weekdays, holidays, seasons, quarters, weeks of a year.

Beside a date that was moved they give the move away: a Monday leaves one shift in seven, Christmas leaves one. Found in
any text, whatever a detector found in it. Words that are mostly something else in a note (the sun, an O2 sat, a fall,
the verb may) are taken only where their neighbours make them a day. Every pattern looks at each character a fixed
number of times."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from workup.corpora.generate.values.dates import MONTHS, SHORT_MONTHS


class Anchor(NamedTuple):
    """A stretch of a text and the kind of fact of the calendar that it tells."""

    start: int
    end: int
    kind: str


_LONG = r"(?:mon|tues|wednes|wendes|wens|thurs|thrus|fri|satur|sater|sun)days?"
_SURE = rf"(?:{_LONG}|tues|thurs|thur|weds)"  # nothing else in English
_SHORT = r"(?:mon|tue|wed|thu|fri|sat|sun)"
_ANY = rf"(?:{_LONG}|tues|thurs|thur|weds|{_SHORT}s?)"
_MONTH = rf"(?:{'|'.join((*MONTHS, 'Sept', *SHORT_MONTHS))})"
_NTH = r"\d{1,2}(?:st|nd|rd|th)"
_YEAR = r"(?:19|20)\d\d"
_DAY_FOLLOWS = (
    rf"(?=(?:the\s)?{_NTH}\b|(?:0?[1-9]|1[0-2])[/-](?:0?[1-9]|[12]\d|3[01])(?![\d%])|{_YEAR}-\d\d"
    rf"|(?:[12]?\d|3[01])[/-](?:0?[1-9]|1[0-2])[/-]\d\d|{_MONTH}\b\.?\s\d|\d{{1,2}}[ -]{_MONTH}\b)"
)
# An oxygen sat, the sun, a monocyte count: what follows them where they are no days.
_NO_DAY = (
    r"(?![-'’]?\w|\s*[%:=<>]|\s*\d{2,3}\b(?!\s*[/-]\d)|\s+(?:of|is|was|were|at\s\d{2}|in\sthe\s[89]\d|exposure|burn"
    r"|damage|screen|light|probe|monitor\w*|level\w*|read\w*|up|down|down|still|upright|there|on|and\sor)\b)"
)
_TIE = r"(?:last|next|this|every|each|coming|following|past|previous|until|till|since|through|thru)"
_VISIT = (
    r"(?:[Ss]een|[Aa]dmitted|[Dd]ischarged|[Pp]resented|[Cc]ame|[Aa]rrived|[Aa]ppt|[Aa]ppointment|[Vv]isit|[Ff]/[Uu]"
    r"|[Ff]ollow[- ]?up|RTC|[Rr]eturns?|[Dd]ue|[Ss]cheduled|[Ss]urgery|[Dd]ialy[sz]ed|[Cc]linic|[Oo]ffice|E[DR])"
)
_PART_OF_DAY = r"(?:am|pm|a\.m|p\.m|morning|afternoon|evening|night|noon)"
_BESIDE = r"(?:on|at|since|before|after|around|near|over|during|until|till|by|for|last|this|next|past|every|each|the)"
_SEASON = r"(?:winter|spring|summer|autumn)"
_ZONE = r"(?:[ECMP][SD]T|BST|CES?T)"
_DOSES = r"(?!\s*(?:h|hrs?|hours?|d|days?|wks?|weeks?|months?|mins?|minutes?|shifts?|prn)\b)"

_HOLIDAYS = (  # nothing else in a note
    r"christmas(?:\s(?:eve|day|time))?(?!\s(?:tree|disease|factor))|x-?mas|thanksgiving(?:\sday)?|halloween|juneteenth"
    r"|new\syear['’]?s?(?:\s?['’])?(?:\s(?:eve|day))?|hanukkah|chanukah|kwanzaa|diwali|ramadan|passover|yom\skippur"
    r"|rosh\shashanah?|purim|sukkot|cinco\sde\smayo|mardi\sgras|lunar\snew\syear|chinese\snew\syear|good\sfriday"
    r"|palm\ssunday|ash\swednesday|black\sfriday|easter\s(?:sunday|monday|day|eve|weekend|holiday|break)"
    r"|super\sbowl(?:\ssunday)?|boxing\sday|(?:winter|summer|vernal|autumnal|spring|fall)\s(?:solstice|equinox)"
    r"|(?:valentine|st\.?\spatrick|saint\spatrick|president|veteran)s?['’]?s?\sday|(?:mlk|martin\sluther\sking)"
    r"(?:,?\sjr\.?)?(?:['’]s)?\sday|(?:independence|columbus|groundhog|election|indigenous\speoples?['’]?)\sday"
    rf"|(?:the\s)?(?:fourth|4th)\sof\sjuly|july\s(?:the\s)?(?:fourth|4th)(?!,?\s{_YEAR})|leap\sday"
    r"|daylight[-\s]savings?(?:\stime)?"
)
_HOLIDAYS_BESIDE = (  # also a name, an acronym or two words of a sentence
    r"easter(?!\sseals?)|labor\sday|memorial\sday(?!\s(?:surg|care|hosp|clin|unit|proc))|(?:mother|father)s?['’]?s?\sday"
    r"(?![-\s]?(?:to|care|time))|lent|spring\sbreak|eid(?:\sal-(?:fitr|adha))?"
)


def _i(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# The stretch is the group v, or the whole match where there is none.
_FINDERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("holiday", _i(rf"(?<![\w-])(?:{_HOLIDAYS})(?![\w-])")),
    ("holiday", _i(rf"(?<![\w-]){_BESIDE}\s(?P<v>{_HOLIDAYS_BESIDE})(?![\w-])")),
    ("holiday", re.compile(r"(?<![\w-])(?:Labor Day|Memorial Day(?! (?:Surg|Care|Hosp|Clin|Unit))|Mother's Day|Father's Day)(?![\w-])")),
    ("weekday", _i(rf"(?<![\w-]){_SURE}(?:['’]s)?(?:\s?(?:[-–—/,&+]|to|through|thru|and|or)\s?{_ANY})*(?!\w)(?:,?\sthe\s{_NTH}\b)?")),
    ("weekday", _i(rf"(?<![\w-]){_SHORT}\.?(?:\s?(?:[-–—/&+]|to|through|thru)\s?{_ANY})+(?!\w)")),
    ("weekday", _i(rf"(?<![\w-])(?P<v>{_SHORT})\.?,?\s{_DAY_FOLLOWS}(?P<nth>(?:the\s)?{_NTH}\b)?")),
    ("weekday", _i(rf"\d[/-]\d{{1,2}}(?:[/-]\d{{2,4}})?\s?[,(]\s?(?P<v>{_SHORT})(?=[\s.,;)]|$){_NO_DAY}")),
    ("weekday", _i(rf"(?<![\w-]){_TIE}\s(?P<v>{_SHORT}){_NO_DAY}")),
    ("weekday", _i(rf"(?<![\w-])on\s(?P<v>mon|tue|wed|thu|fri){_NO_DAY}")),
    ("weekday", re.compile(rf"(?<![\w-])[Oo]n\s(?P<v>Sat|Sun|SAT|SUN){_NO_DAY}")),
    ("weekday", _i(rf"(?<![\w-])(?P<v>{_SHORT})\.?\s(?={_PART_OF_DAY}\b)")),
    ("weekday", re.compile(r"(?<![\w-])(?P<v>Mon|Tue|Wed|Thu|Fri|Sat|Sun)\.?\sat\s(?:0?[1-9]|1[0-2])(?![\d.]|\s?%)")),
    ("weekday", re.compile(rf"(?<![\w-]){_VISIT}\s(?:on\s)?(?P<v>(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)){_NO_DAY}")),
    ("weekday", re.compile(r"(?<![\w-])(?:M[-/, ]{0,2}W[-/, ]{0,2}F|Tu?e?[-/, ]{0,2}Thu?r?[-/, ]{0,2}Sa?t?)(?![\w-])")),
    ("weekday", re.compile(r"(?:HD|[Dd]ialysis|[Ss]chedule)(?: on)? (?P<v>TTS)(?![\w-])")),
    ("weekend", _i(rf"(?<!\w)weekend(?!\w)(?:\sof\s(?:the\s)?{_NTH}\b)?")),
    ("day_of_month", _i(rf"(?<!\w)week\sof\s(?P<v>the\s{_NTH})\b")),
    ("day_of_month", _i(rf"(?<!\w)(?:on|by|until|till|since|before|after|from|through|thru)\s(?P<v>the\s{_NTH})(?=\s?[.,;)](?!\w)|\s?$|\sof\s(?:the|this|last|next|that)\smonth|\sat\s\d)")),
    ("season", _i(rf"(?<!\w)(?:last|next|this(?:\spast|\scoming)?|past|previous|early|late|mid|the|in|since|during|every|each|until|by|over\sthe)[-\s](?P<v>{_SEASON})(?:time)?(?![\w-])(?!\s(?:break|solstice|equinox|ligament|loaded|type|coil|water|mattress))(?:\sof\s{_YEAR})?")),
    ("season", _i(rf"(?<!\w)(?:last|next|this\spast|this\scoming|early|late|mid)[-\s](?P<v>fall)(?![\w-])(?!\s(?:risk|was|occurred|happened|episode|in\sthe|at|on|from|down|resulted|with))(?:\sof\s{_YEAR})?")),
    ("season", _i(rf"(?<!\w)(?:{_SEASON}|fall)(?:\s(?:semester|holidays?|vacation)|,?\s(?:of\s)?{_YEAR})(?!\w)")),
    ("season", _i(rf"(?<!\w)(?:{_SEASON})\smonths?(?!\w)")),
    ("month", re.compile(rf"(?<!\w)(?:[Ii]n|[Ss]ince|[Ll]ast|[Nn]ext|[Ee]arly|[Ll]ate|[Mm]id|[Uu]ntil|[Dd]uring|[Tt]hrough|[Aa]round|[Bb]y|[Oo]f|[Ff]rom|[Ee]nd of|[Bb]eginning of)[-\s](?P<v>{_MONTH})\.?(?![\w'’/-]|\s?\d)(?!\.\s?[A-Z])")),
    ("month", _i(rf"(?<!\w)(?:in|since|last|next|early|late|until|during)\s(?P<v>{'|'.join(one for one in MONTHS if one not in ('March', 'May', 'August'))})(?!\w|\s?\d)")),
    ("quarter", re.compile(rf"(?<![\w-])Q[1-4](?:\s?(?:of\s|[/-]|['’]|FY)?\s?(?:{_YEAR}|['’]\d\d)|(?<=\b(?:in|of|by) Q[1-4]){_DOSES})(?!\w)")),
    ("quarter", _i(rf"(?<!\w)(?:first|second|third|fourth|1st|2nd|3rd|4th)\s(?:fiscal\s)?quarter\sof\s(?:the\syear|this\syear|last\syear|{_YEAR})(?!\w)")),
    ("week", _i(rf"(?<![\w-])(?:(?:iso|calendar)[-\s]?(?:week|wk)\s?(?:no\.?\s?|number\s|#)?\d{{1,2}}|(?:week|wk)\s\d{{1,2}}\sof\s{_YEAR}|{_YEAR}-?W\d\d(?:-?[1-7])?)(?!\w)")),
    ("week", re.compile(r"(?<![\w-])(?:CW|KW)\s?\d{1,2}(?![\w.])")),
    ("day_of_year", _i(rf"(?<![\w-])(?:day\s(?:no\.?\s|number\s|#)?\d{{1,3}}\sof\s(?:the\syear|{_YEAR})|(?:day[-\s]of[-\s](?:the[-\s])?year|doy|julian\s(?:day|date))[\s:#]{{1,2}}\d{{1,3}}|\d{{1,3}}(?:st|nd|rd|th)\sday\sof\s(?:the\syear|{_YEAR}))(?!\w)")),
    ("birth_year", _i(rf"(?<!\w)(?:born|birth|dob|d\.o\.b\.)[\s:]{{1,2}}(?:in\s|year[\s:]{{1,2}})?(?P<v>{_YEAR})(?![\w/.-]\d|\w)")),
    ("zone", _i(rf"\d(?::\d\d|\s?[ap]\.?m\b\.?|\s?h(?:ou)?rs)\s?(?:[ap]\.?m\b\.?)?\s?(?P<v>{_ZONE})(?!\w)")),
)  # fmt: skip
_HINT = _i(
    r"day|mon\b|tue|wed|thu|fri\b|sat\b|sun\b|mas\b|weekend|winter|spring|summer|autumn|fall\b|\bQ[1-4]|week|year|born|dob"
    r"|birth|d\.o\.b|st\b|nd\b|rd\b|th\b|M.{0,2}W.{0,2}F|TTS|T.{0,4}Th|W\d\d|CW|KW|doy|julian|[ecmp][sd]t\b|bst\b|ces?t\b"
    rf"|easter|lent\b|eid\b|hallo|teenth|kah\b|kwanz|diwali|ramadan|passover|kippur|purim|sukkot|mayo|gras|bowl|july"
    rf"|solstice|equinox|savings?|{_MONTH}"
)


def anchors(text: str) -> list[Anchor]:
    """Every word that fixes a day, a weekday or a part of the year, in order; none overlaps another.

    >>> [(one.kind, "seen on Monday, next on Sat. or at Easter"[one.start : one.end])
    ...  for one in anchors("seen on Monday, next on Sat. or at Easter")]
    [('weekday', 'Monday'), ('weekday', 'Sat'), ('holiday', 'Easter')]
    >>> anchors("sat 98 % on room air, sun exposure, fall risk, may spring back; Christmas tree rash; Mrs. Easter")
    []
    """
    if not _HINT.search(text):
        return []
    found = sorted(_all(text), key=lambda one: (one.start, -one.end))
    kept: list[Anchor] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _all(text: str) -> Iterator[Anchor]:
    for kind, pattern in _FINDERS:
        named = "v" in pattern.groupindex
        for match in pattern.finditer(text):
            start, end = match.span("v") if named else match.span()
            if "nth" in pattern.groupindex and match["nth"]:
                end = match.end("nth")
            yield Anchor(start, end, kind)


def kinds_in(surface: str) -> frozenset[str]:
    """The kinds of anchors in what a detector called a date, which needs no neighbours to be one.

    >>> sorted(kinds_in("last Tuesday")), sorted(kinds_in("Sat")), sorted(kinds_in("two days ago"))
    (['weekday'], ['weekday'], [])
    """
    found = {one.kind for one in anchors(surface)} | {one.kind for one in anchors(f"on {surface}")}
    if _ALONE.fullmatch(surface.strip()):
        found.add("weekday")
    if _PART_OF_YEAR.search(surface):
        found.add("season")
    return frozenset(found)


_ALONE = _i(rf"{_ANY}\.?")
_PART_OF_YEAR = _i(rf"\b(?:{_SEASON}|fall)\b")
_OFFSET = re.compile(r"(?<=\d)\s?[+-]\d{2}:?\d{2}$")
_AMERICAN, _EUROPEAN = re.compile(r"\b([ECMP])[SD]T\b"), re.compile(r"\b(?:BST|CES?T)\b")
_IS_ZONE = _i(_ZONE)


def without_zone(said: str) -> str:
    """A time without what tells summer time: EDT becomes ET, and an offset from UTC is left out; Z stays.

    >>> without_zone("2021-03-04T14:30:00-05:00"), without_zone("14:30 EDT"), without_zone("2021-03-04T14:30:00Z")
    ('2021-03-04T14:30:00', '14:30 ET', '2021-03-04T14:30:00Z')
    """
    if ":" not in said and not _IS_ZONE.search(said):
        return said
    clock = _OFFSET.sub("", said) if ":" in said else said
    return _EUROPEAN.sub("local", _AMERICAN.sub(r"\1T", clock))


def is_zone(said: str) -> bool:
    """Whether a time zone is all that is told."""
    return _IS_ZONE.fullmatch(said) is not None
