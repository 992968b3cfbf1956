"""Words and figures of a detector's report: names of metrics, rules and categories, and shares as a reader meets them.

A share that is not quite all or none is never rounded to it."""

from __future__ import annotations

from math import floor, log10

from workup.report import Estimate
from workup.reports.wording import count, number

_RULES = {
    "strict": "same start, end and type",
    "exact": "same start and end, any type",
    "overlap": "any overlap, same type",
    "partial": "any overlap, any type; half a point where the ends differ",
    "full_mask": "all of it masked but blanks and punctuation, whatever the type",
    "token": "word by word",
    "char": "character by character, any type",
    "i2b2": "same start and type, end within 2 characters",
    "published:gold50": "one prediction over half of it, as published; for comparison only",
}
LEVELS = {"leaf": "exact type", "branch": "branch of types", "phi": "any type"}
_WEIGHTED = ("severity_recall", "information_precision")
UNITS = {"char": "characters", "token": "words"}
MISS_CATEGORIES = {
    "ambiguous_name": "ambiguous names",
    "unusual_date": "unusual dates",
    "complex_address": "complex addresses",
    "all_caps": "all capitals",
    "noise": "noisy text",
    "partial": "partly masked",
    "wrong_type": "wrong type",
    "other": "other",
}
ALARM_CATEGORIES = {
    "partial": "beside an identifier, or one too many",
    "wrong_type": "on an identifier of another type",
    "eponym": "eponyms",
    "drug": "medicines",
    "clinical_term": "clinical terms",
    "measurement": "measurements",
    "number": "other numbers",
    "heading": "headings",
    "ambiguous_name": "words that are also names",
    "all_caps": "all capitals",
    "noise": "noisy text",
    "outside_text": "outside the text",
    "unknown_document": "of unknown documents",
    "other": "other",
}


def share(value: float | None) -> str:
    """A share for reading. What is not quite all or none never looks like it: digits are added until it does not.

    >>> share(0.91234), share(1.0), share(0), share(0.99996), share(0.00004), share(None)
    ('0.912', '1', '0', '0.99996', '4e-05', '–')
    """
    if value is None:
        return "–"
    if value in (0, 1):
        return str(int(value))
    if 0.9995 <= value < 1:
        return f"{value:.{_digits(1 - value)}f}"
    return number(float(value))


def percent(value: float | None) -> str:
    """The same as a percentage.

    >>> percent(0.0826), percent(0.99996), percent(1.0), percent(0.0), percent(0.00004)
    ('8.3 %', '99.996 %', '100 %', '0 %', '0.004 %')
    """
    if value is None:
        return "–"
    if value in (0, 1):
        return f"{100 * value:.0f} %"
    near = min(value, 1 - value) if 0 < value < 1 else 1.0
    digits = max(1, _digits(near) - 2) if near < 0.0005 else 1
    return f"{100 * value:.{digits}f} %"


def _digits(gap: float) -> int:
    """Decimals at which a gap shows its first digit, and no more than twelve."""
    return min(12, -floor(log10(gap) + 1e-9))


def ends(e: Estimate) -> str:
    """The interval; a dash where there is none."""
    return "–" if e.low is None or e.high is None else f"{share(e.low)} to {share(e.high)}"


def figure(e: Estimate | None) -> str:
    """A value with its interval in one cell."""
    if e is None or e.value is None:
        return "–"
    return f"{share(e.value)} (no interval)" if e.low is None or e.high is None else f"{share(e.value)} ({ends(e)})"


def counted(e: Estimate) -> str:
    """Numerator and denominator; sums of weights are no counts."""
    if e.numerator is None or e.metric in _WEIGHTED:
        return "–"
    return f"{count(e.numerator)}/{count(e.denominator)}"


def how(e: Estimate) -> str:
    """How an interval was made, or why there is none."""
    if e.status != "ok":
        return f"{e.status}: {e.reason}"
    return f"{e.method}; {e.reason}" if e.reason else e.method


def rule(mode: str) -> str:
    """What a mode asks, in words.

    >>> rule("iou:0.5"), rule("full_mask"), rule("mine")
    ('overlap of at least 0.5 (IoU), same type', 'all of it masked but blanks and punctuation, whatever the type',
     'mine')
    """
    kind, _, limit = mode.partition(":")
    if kind == "iou":
        return f"overlap of at least {limit} (IoU), same type"
    if kind == "cover":
        part = "all of it" if limit == "1" else f"at least {limit} of it"
        return f"masks of the same type together cover {part}"
    return _RULES.get(mode, mode)


def category(name: str, titles: dict[str, str]) -> str:
    """A category of errors in words."""
    return titles.get(name, name.replace("_", " "))
