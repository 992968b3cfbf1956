"""What usual dates, times and simple addresses look like, and what a measurement does. Knows English forms only.

Whatever these grammars do not read is called unusual or complex; that is a help for readers, not a verdict."""

from __future__ import annotations

import re

from workup.text.calendar import MONTH_NAMES, WEEKDAY

_WEEKDAY = rf"{WEEKDAY}\.?,? "
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_ORDINAL = rf"{_DAY}(?:st|nd|rd|th)?"
_USUAL_DATE = re.compile(
    rf"(?:{_WEEKDAY})?(?:"
    rf"{_DAY}([/.-]){_DAY}\1(?:\d{{4}}|\d\d)"  # 3/14/2020, 14.03.20
    rf"|(?:1[89]|20)\d\d([/.-]){_DAY}\2{_DAY}(?:[T ][0-2]?\d:[0-5]\d(?::[0-5]\d)?Z?)?"  # 2020-03-14
    rf"|(?:{MONTH_NAMES})\.?[ -]{_ORDINAL}(?:(?:,? |-)(?:\d{{4}}|\d\d))?"  # March 14th, 2020
    rf"|(?:the )?{_ORDINAL}(?: of)?[ -](?:{MONTH_NAMES})\.?(?:(?:,? |-)(?:\d{{4}}|\d\d))?"  # 14-Mar-2020
    rf"|(?:{MONTH_NAMES})\.?(?:,? |-)(?:1[89]|20)\d\d"  # March 2020
    r")",
    re.IGNORECASE,
)
_USUAL_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_USUAL_TIME = re.compile(r"[0-2]?\d:[0-5]\d(?::[0-5]\d)?(?: ?[ap]\.?m\.?)?|1?\d ?[ap]\.?m\.?", re.IGNORECASE)

_STREET = (
    "street|st|avenue|ave|av|road|rd|boulevard|blvd|drive|dr|lane|ln|court|ct|place|pl|square|sq|circle|cir|way|terrace|"
    "ter|parkway|pkwy|trail|trl|highway|hwy|alley|aly|plaza|loop|row|crescent|cres|path|walk|run|pike|turnpike|tpke|"
    "crossing|xing|point|pt|ridge|rdg|grove|grv|hill|heights|hts"
)
STREET_WORDS = frozenset(_STREET.split("|"))
_COMPASS = r"(?:north|south|east|west|[ns]\.?[ew]|[nsew])\.?"
_SIMPLE_ADDRESS = re.compile(
    rf"\d{{1,6}}[A-Z]? (?:{_COMPASS} )?(?:[^\W_][\w'’.-]* ){{1,4}}?(?:{_STREET})\.?"
    rf"(?: {_COMPASS})?",
    re.IGNORECASE,
)
_LONGEST_SIMPLE = 100


def usual_date(surface: str, *, leaf: str) -> bool:
    """Whether a date, a year or a time is written in a usual form; what is relative ("next Tuesday") never is.

    Parts of dates (3/14), dates run together (20200314) and years with an apostrophe ('98) are unusual too: they are
    as often something else.

    >>> [usual_date(one, leaf="date") for one in ("3/14/2020", "Sat, March 14th", "14-MAR-20", "3/14", "20200314")]
    [True, True, True, False, False]
    """
    if leaf == "date_relative":
        return False
    if leaf == "time":
        return _USUAL_TIME.fullmatch(surface) is not None
    if leaf == "year_only":
        return _USUAL_YEAR.fullmatch(surface) is not None
    if _USUAL_DATE.fullmatch(surface):
        return True
    coarse = leaf == "DATE"
    return coarse and bool(_USUAL_YEAR.fullmatch(surface) or _USUAL_TIME.fullmatch(surface))


def simple_address(surface: str) -> bool:
    """Whether a street address is one line of number, name and street word; units, boxes and line breaks are not.

    >>> [simple_address(one) for one in ("12 Oak St.", "7 N. 5th Avenue", "12 Oak St Apt 4", "PO Box 9", "Oak Hill")]
    [True, True, False, False, False]
    """
    return len(surface) <= _LONGEST_SIMPLE and _SIMPLE_ADDRESS.fullmatch(surface) is not None


_UNITS = (
    r"mg|mcg|µg|μg|ug|kg|gm|grams?|g|ml|cc|dl|liters?|l|units?|iu|meq|mmol|mm ?hg|mm|cm|inch(?:es)?|in|ft|feet|foot|"
    r"lbs?|pounds?|oz|ounces?|percent(?:ile)?|degrees?|bpm|beats|breaths|joules?|gauge|french|fr|hz|"
    r"tab(?:let)?s?|cap(?:sule)?s?|drops?|puffs?|doses?|pills?|sprays?|patch(?:es)?|times|"
    r"hours?|hrs?|min(?:ute)?s?|sec(?:ond)?s?|days?|weeks?|wks?|months?|years?|yrs?|strength|pain|ppd|packs?|pack-years?|"
    r"x|q\d|po|bid|tid|qid|prn|daily|fold|points?|stars?"
)
_WITHIN = re.compile(rf"\d[ -]?(?:(?:{_UNITS})(?![^\W_])|%|°)", re.IGNORECASE)
_AFTER = re.compile(rf"[ -]?(?:(?:{_UNITS})(?![^\W_])|%|°|/\d)", re.IGNORECASE)
_BEFORE = re.compile(
    r"(?:^|[^\w])(?:bp|hr|rr|temp(?:erature)?|t|pulse|spo2|sats?|o2|weight|wt|height|ht|bmi|a1c|hba1c|hgb|hct|wbc|plt|"
    r"platelets|na|k|cl|co2|bun|cr|creatinine|glucose|inr|ptt|ef|gcs|apgars?|ph|ldl|hdl|tsh|psa|score|grade|stage|"
    r"blood pressure|heart rate|potassium|sodium|hemoglobin|pain|dose|level|rate)[ \t:=~<>]*"
    r"(?:(?:of|is|was|at)[ \t]+)?[<>~]?$",
    re.IGNORECASE,
)
_PRESSURE = re.compile(r"[5-9]\d/[2-9]\d|[12]\d\d/\d{2,3}")
_REACH = 24


def is_measurement(text: str, start: int, end: int) -> bool:
    """Whether a stretch with a number is a dose, a vital sign, a score or a duration, by its unit or what precedes it.

    >>> note = "BP 120/80, took 1-2 tablets for 5/10 pain"
    >>> is_measurement(note, 3, 9), is_measurement(note, 16, 19), is_measurement("Room 12 in May", 5, 7)
    (True, True, False)
    """
    if end - start > _LONGEST_SIMPLE:
        return False
    surface = text[start:end].rstrip()
    if _WITHIN.search(surface) or _PRESSURE.fullmatch(surface):
        return True
    if surface[-1:].isdigit():
        follows = _AFTER.match(text, end, end + _REACH)
        # "in" is a preposition more often than an inch.
        if follows and follows[0].strip(" -").lower() != "in":
            return True
    return _BEFORE.search(text[max(0, start - _REACH) : start]) is not None
