"""Second looks at what has the shape of a day: is it one? Each answers what speaks for it, or None."""

from __future__ import annotations

import re

from workup.deid.text_view import Page
from workup.text.calendar import MONTH_NUMBER, are_day_and_month
from workup.text.typos import apart


def day_month(match: re.Match[str], _: Page) -> str | None:
    """Two figures and a year: neither may be beyond a month of 31 days, one must be a month."""
    first, second, year = int(match["a"]), int(match["b"]), match["y"]
    if match["s1"].strip() != match["s2"].strip() or not are_day_and_month(first, second):
        return None
    if match["s1"].strip() == "." and (" " in match["s1"] + match["s2"] or (len(year) == 2 and len(match[0]) < 6)):
        return None  # 1.2.10 is a heading as often
    if len(year) == 4 and not 1850 <= int(year) <= 2100:
        return None
    return "order"


def nearly_a_day(match: re.Match[str], _: Page) -> str | None:
    """Three figures that would be a day but for one digit; dashes and points need a year to be told from others."""
    first, second, year, mark = match["a"], match["b"], match["y"], match["s"]
    if not second:  # "8//2015"
        return "typo" if mark == "/" and len(year) == 4 and year[:2] in ("19", "20") else None
    if mark == "-" and len(first) == 3:
        return None  # a social security number, a telephone number
    if len(year) >= 4:
        return "typo" if year[0] in "12" or mark == "/" or (len(year) == 4 and _nearly_a_year(year)) else None
    within = int(first) <= 31 and int(second) <= 31
    if mark == ".":
        return "typo" if within and len(year) == 3 and year[:2] in ("19", "20") else None
    if match["q"]:
        return "typo"  # "11/89/'18"
    if len(year) == 1 and not (mark == "/" and within and len(first) + len(second) > 2):
        return None
    if len(year) == 3 and mark == "-" and not (within and year[0] in "012"):
        return None
    if len(year) < 3 and len(first) + len(second) < 3:
        return None
    return "typo" if int(first) <= 31 or int(second) <= 31 else None


def _nearly_a_year(year: str) -> bool:
    """Whether figures are a year of the last century or this one but for a digit: changed, lost or too many."""
    if len(year) == 4:
        return year[0] in "12" or year[1] in "09"
    if len(year) == 5:
        return any((year[:i] + year[i + 1 :])[:2] in ("19", "20") for i in range(3))
    return year[0] in "0129"


def nearly_year_first(match: re.Match[str], _: Page) -> str | None:
    """A year, a month and a day with one digit too few or too many, or one that is none of theirs."""
    year, month, day = re.findall(r"\d{1,5}", match[0])
    figures = len(year) + len(month) + len(day)
    if not 6 <= figures <= 9 or not _nearly_a_year(year) or (len(year) == 3 and (len(month), len(day)) != (2, 2)):
        return None
    return "typo" if len(year) > 3 or match["s"] == "/" else None


def year_first(match: re.Match[str], _: Page) -> str | None:
    """A year, a month and a day in this order."""
    return "order" if 1 <= int(match["m"]) <= 12 and 1 <= int(match["d"]) <= 31 else None


def compact(match: re.Match[str], _: Page) -> str | None:
    """Eight digits: a year first, or a month first."""
    text = match[0]
    if text[:2] in ("19", "20"):
        year, month, day = text[:4], text[4:6], text[6:]
        if 1 <= int(month) <= 12 and 1 <= int(day) <= 31:
            return "order"
    month, day, year = text[:2], text[2:4], text[4:]
    return "order" if 1 <= int(month) <= 12 and 1 <= int(day) <= 31 and 1900 <= int(year) <= 2079 else None


def within_year(match: re.Match[str], _: Page) -> str | None:
    """A day of the year."""
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
_UNITS_AFTER = re.compile(
    r"[ -]{0,2}(?:on exposure|to light|pain|headache|discomfort|severity|intensity|strength|tab|tablet|tablets|cap|mg|"
    r"ml|cc|cup|inch|inches|pack|systolic|murmur|positive|negative|"
    r"nodes|power|scale|score|motor|of\b|hours|days|weeks|months|teaspoon|tsp|oz|ns\b|normal|saline|dose|strengths|"
    r"bilaterally|throughout|in (?:all|both|the|upper|lower|right|left)|on (?:the )?(?:right|left)|blood|sib|cores|"
    r"lobes|"
    r"reps|yes|correct|words|objects|recall|wpw|chance|full|max|at worst|at rest|with (?:activity|movement|rest|cough|"
    r"walking|stairs|medication|periods|meds)|%|L\b|D5|tsp)",
    re.IGNORECASE,
)


def short_day(match: re.Match[str], page: Page) -> str | None:
    """Month and day alone: 7/10 is a pain score, 1/2 a half, 5/5 full strength, unless words speak for a day."""
    first, second = int(match["a"]), int(match["b"])
    if match[0] == "24/7" or not are_day_and_month(first, second):
        return None
    start, end = match.span()
    if second in (4, 5, 6, 10) and _RATED.search(page.low, max(0, start - 40), start):
        return None
    if _SCORES.search(page.plain, max(0, start - 40), start) or _UNITS_AFTER.match(page.plain, end, end + 20):
        return None
    return "words"


def near_month(match: re.Match[str], _: Page) -> str | None:
    """A word that is a month but for a typo or two."""
    word = match["m"].lower()
    if sum(map(str.isalpha, word)) < 2 or word in MONTH_NUMBER:
        return "typo" if word in MONTH_NUMBER else None
    most = 1 if len(word) < 6 else 2
    near = any(apart(word, month, most) <= most for month in MONTH_NUMBER if abs(len(month) - len(word)) <= most)
    return "typo" if near else None
