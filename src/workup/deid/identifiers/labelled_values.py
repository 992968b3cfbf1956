"""Values after labels: "MRN: 12-34", "Policy no. X12", "Pager 40123". Knows shapes of values, not their issuers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workup.deid.cues import Cue
from workup.deid.finding import Finding
from workup.deid.settings import LabelRule, Settings
from workup.deid.text_view import Page
from workup.deid.word_lists import words

_BETWEEN = re.compile(
    r"(?:[ \t]{0,40}(?:[:#=.()\[\]-]|"
    r"(?:is|was|are|as|of|ending in|ending|no|num|number|id|code|ID|No|NO|card)(?![A-Za-z])\.?|"
    r"\n(?=[ \t]{0,8}[#A-Za-z]{0,6}-?\d))){0,4}[ \t]{0,40}"
)
_STRONG = re.compile(r"[:#=]|(?:no|num|number|id)\b", re.IGNORECASE)
_CODE = re.compile(r"#?[A-Za-z0-9*]{1,40}(?:[-_.][A-Za-z0-9*]{1,20}){0,6}(?![\w*])")
_MORE = re.compile(r" (?=[A-Za-z]{0,3}\d|[XxA-Z*]{4} )[A-Za-z0-9*]{2,8}(?:-[A-Za-z0-9]{1,8}){0,3}(?![\w/:%*]|\.\d|-\d)")
_PHONE = re.compile(
    r"(?:\+|\()?\d(?:[ ().\-/]{0,3}\d){3,14}(?:,? ?(?:x|ext\.?|extension|Ext\.?|EXT\.?|X) ?\d{1,6})?(?![\w])"
)
_USER = re.compile(r"@?[A-Za-z][A-Za-z0-9]{0,30}(?:[._\\-][A-Za-z0-9]{1,30}){0,4}(?![\w@])")
_DIGITS = re.compile(r"\d{3,10}(?:[- ]\d{4})?(?![\w])")
_PLATE = re.compile(r"[A-Z0-9]{1,8}(?:[- ][A-Z0-9]{1,7}){0,2}(?![\w])")
_DAY = re.compile(
    r"\d{1,2}[-./]\d{1,2}[-./](?:\d{4}|\d{2})(?!\d)|(?:19|20)\d{2}[-./]\d{1,2}[-./]\d{1,2}(?!\d)|"
    r"\d{1,2}[-/]?[A-Z][a-z]{2}[-/]?\d{2,4}"
)
_OF_CLINICIANS = re.compile(
    r"\b(?:MD|DO|NP|PA|RN|PhD|PharmD|DDS|Dr|[Pp]rescriber|[Pp]rovider|[Pp]hysician|[Rr]eviewer|[Mm]edical|NPI|DEA)\b"
)
_DIGIT = re.compile(r"\d")
_EVERYDAY = words("identifiers.everyday_labels")
_PAGERS = words("identifiers.short_number_labels")
_CALLS = words("identifiers.call_labels")
_ENDS = frozenset(("ending", "last"))


def labelled(page: Page, cues: Sequence[Cue], settings: Settings) -> Iterator[Finding]:
    """Values after the labels of a page."""
    for cue in cues:
        for leaf in cue.labels:
            if settings.on(f"label.{leaf}"):
                found = _value(page, cue, leaf, settings)
                if found is not None:
                    yield found


def _value(page: Page, cue: Cue, leaf: str, settings: Settings) -> Finding | None:
    """The value after a label, if it looks like one of the leaf."""
    rule, plain, start = settings.labels[leaf], page.plain, page.ends[cue.last]
    gap = _BETWEEN.match(plain, start)
    at = gap.end() if gap else start
    between = plain[start:at]
    if not between or (between.isspace() and between.count("\n") > 1):
        return None
    strong = _STRONG.search(between) is not None or cue.last > cue.first
    end = _read(rule.value, plain, at, page.words[cue.last])
    if end is None or _code_of_services(plain[at:end]):
        return None
    if rule.value == "user":
        fits = _fits_user(plain[at:end], settings, strong=strong)
    else:
        fits = _fits_number(plain[at:end], page.words[cue.last], leaf, rule, strong=strong)
        fits = fits and plain[end : end + 1] not in ("/", "%")
    if not fits:
        return None
    first = page.starts[cue.first]
    if leaf == "license_person" and _OF_CLINICIANS.search(plain, max(0, first - 60), first):
        leaf = "license_provider"
    label = "fax" if leaf == "phone" and "fax" in page.words[max(0, cue.first - 2) : cue.first] else leaf
    return Finding(at, end, label, 0.96 if strong else 0.88, f"label.{leaf}", ("label", "mark" if strong else "word"))


def _code_of_services(surface: str) -> bool:
    """Codes of services and products, the same for everybody."""
    upper = surface.upper()
    return upper.startswith("HCPCS") or (upper[:3] in ("CPT", "ICD", "HCP", "NDC", "DRG") and not surface[:4].isalpha())


def _figures(surface: str) -> int:
    """Digits, and signs that stand for digits that were left out."""
    upper = surface.upper()
    return len(_DIGIT.findall(surface)) + surface.count("*") + (upper.count("X") if "XX" in upper else 0)


def _fits_user(surface: str, settings: Settings, *, strong: bool) -> bool:
    plain = _figures(surface) == 0 and not any(mark in surface for mark in "._\\@")
    return (strong or not plain) and surface.lower() not in settings.not_names


def _fits_number(surface: str, word: str, leaf: str, rule: LabelRule, *, strong: bool) -> bool:
    figures = _figures(surface)
    least = rule.least if strong or word not in _EVERYDAY else max(rule.least, 5)
    solid = sum(map(str.isalnum, surface)) + surface.count("*")
    if figures < min(3, least) or solid < (least if rule.value != "phone" else 3):
        return False
    if not strong and figures < (4 if leaf != "zip" else 3):
        return False
    if leaf in ("mrn", "ssn") and word == "mr" and figures < 5:
        return False
    return not (_DAY.fullmatch(surface) and _is_day(surface))


def _is_day(surface: str) -> bool:
    parts = [int(part) for part in re.findall(r"\d{1,4}", surface)]
    return (
        len(parts) < 3
        or (min(parts[:2]) > 0 and sum(0 < part <= 12 for part in parts) >= 1 and max(parts[:2]) <= 31)
        or parts[0] > 1800
    )


def _read(value: str, plain: str, at: int, word: str) -> int | None:
    """Where a value that begins at a place ends; None where there is none."""
    if value == "phone":
        match = _PHONE.match(plain, at)
        if match is None:
            return None
        count = len(_DIGIT.findall(match[0]))
        return (
            match.end() if count >= 7 or (word in _PAGERS and count >= 3) or (word in _CALLS and count == 5) else None
        )
    if value == "digits":
        return _end(_DIGITS.match(plain, at))
    if value == "user":
        return _end(_USER.match(plain, at))
    if value == "plate":
        match = _PLATE.match(plain, at)
        return match.end() if match and _DIGIT.search(match[0]) else None
    return _code(plain, at)


def _end(match: re.Match[str] | None) -> int | None:
    return match.end() if match else None


def _code(plain: str, at: int) -> int | None:
    """A code: letters and digits with joints; groups parted by blanks where each is short."""
    match = _CODE.match(plain, at)
    if match is None:
        return None
    end, last = match.end(), match[0]
    for _ in range(8):
        letters = last.isalpha() and last.isupper() and len(last) <= 5
        if len(last) > 8 and not letters:
            break
        more = _MORE.match(plain, end)
        if more is None or (not letters and not _DIGIT.search(last) and "*" not in last and "x" not in last.lower()):
            break
        end, last = more.end(), more[0][1:]
    surface = plain[at:end]
    if not _DIGIT.search(surface) and "**" not in surface and "xx" not in surface.lower():
        return None
    while plain[end - 1] in ".-_":
        end -= 1
    return end
