"""Words and figures of a chat model's report: names of metrics and arms, and numbers as a reader meets them.

What is undefined, withheld or not assessed is said in a word, never left blank and never shown as 0."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from workup.report import Estimate
from workup.reports.layout import Section, Table
from workup.reports.spans.words import how, percent, share
from workup.reports.wording import count, metric_title, patients, signed

HEADS = ("metric", "value", "95% interval", "patients", "counts", "how")
_SIGNED = ("decay_gap", "decay_slope", "decay_slope_logistic", "decay_slope_tokens")
ARM_WORDS = {
    "live": "live: the history as it was sent",
    "oracle": "oracle: only the sentences that introduced the facts",
    "naive": "naive: the facts removed",
}
SET_WORDS = {"critical": "critical facts", "extended": "extended facts"}
_STATUS = {"undefined": "not defined", "withheld": "withheld", "insufficient": "no interval"}


def title(metric: str) -> str:
    """A metric by its name in reports."""
    return metric_title(metric)


def capital(words: str) -> str:
    """With a capital first letter."""
    return words[:1].upper() + words[1:]


def arm_words(arm: str) -> str:
    """An arm with what it is.

    >>> arm_words("filler-5"), arm_words("naive")
    ('filler-5: oracle and 5 neutral turns', 'naive: the facts removed')
    """
    kind, _, turns = arm.partition("-")
    return f"{arm}: oracle and {turns} neutral turns" if kind == "filler" else ARM_WORDS.get(arm, arm)


def tidy(value: float) -> float:
    """Without the dust of subtraction: what differs from 0 by less than a billionth is 0."""
    return 0.0 if abs(value) < 1e-9 else value


def figure(metric: str, value: float | None) -> str:
    """A value as its metric is read: a share, a signed change, a number of turns or a count.

    >>> figure("recall", 0.99996), figure("decay_gap", 0.05), figure("decay_gap", 1e-17), figure("never_events", 3.0)
    ('0.99996', '+0.050', '0', '3')
    """
    if value is None:
        return "–"
    if metric in _SIGNED:
        return signed(tidy(value))
    if metric in ("never_events", "never_events_per_100"):
        return count(value) if float(value).is_integer() else f"{value:.1f}"
    return f"{value:.2f}" if metric in ("time_to_loss", "pdsqi") else share(value)


def value_words(e: Estimate | None) -> str:
    """The value, or the word that stands for it."""
    if e is None:
        return "not in the record"
    return _STATUS.get(e.status, e.status) if e.value is None else figure(e.metric, e.value)


def ends(e: Estimate | None) -> str:
    """Both ends, or a dash."""
    if e is None or e.low is None or e.high is None:
        return "–"
    return f"{figure(e.metric, e.low)} to {figure(e.metric, e.high)}"


def brief(e: Estimate | None) -> str:
    """A value with its interval in one cell."""
    if e is None or e.value is None:
        return value_words(e) if e is not None else "–"
    return f"{value_words(e)} ({ends(e)})" if e.low is not None else f"{value_words(e)} (no interval)"


def why(e: Estimate | None, absent: str) -> str:
    """Why there is no value, as a clause."""
    return absent if e is None else e.reason or e.status


def counted(e: Estimate) -> str:
    """Numerator and denominator."""
    return "–" if e.numerator is None else f"{count(e.numerator)}/{count(e.denominator)}"


def estimate_rows(estimates: Iterable[Estimate]) -> Iterator[tuple[str, ...]]:
    """Cells under HEADS."""
    for e in estimates:
        yield title(e.metric), value_words(e), ends(e), patients(e), counted(e), how(e)


def hundred(value: float) -> str:
    """A share as so many of a hundred.

    >>> hundred(0.5166), hundred(1.0), hundred(-0.4)
    ('51.7', '100', '40.0')
    """
    return percent(abs(value)).removesuffix(" %")


def between(e: Estimate, *, of_hundred: bool = True) -> str:
    """The interval in brackets, or why there is none."""
    if e.low is None or e.high is None:
        return f" (no interval: {e.reason})"
    if not of_hundred:
        return f" ({e.level:.0%} interval {ends(e)})"
    low, high = sorted((abs(e.low), abs(e.high))) if e.high < 0 or e.low > 0 else (e.low, e.high)
    return f" ({e.level:.0%} interval {_of_hundred(low)} to {_of_hundred(high)})"


def _of_hundred(value: float) -> str:
    return ("-" if value < 0 else "") + hundred(value)


# Shared sections count patients; here the unit is a case. Only words of those sections are touched, never names.
_PHRASES = (
    (re.compile(r"(?<=\d) patients\b"), " {}"),
    (re.compile(r"(?<=\d) patient\b"), " {one}"),
    (re.compile(r"\b(all|more|the most|of other|that other|the mix of|and) patients\b"), r"\1 {}"),
    (re.compile(r"^(Completeness and|Other) patients\b"), r"\1 {}"),
    (re.compile(r"^Patients (?=at hand|needed|with which|for each)"), "{capital} "),
)
_IN_HEADS = re.compile(r"\bpatients\b")
_WORDED = ("how", "reason", "status", "remarks", "remark")  # columns whose words are ours


def in_units(section: Section, unit: str) -> Section:
    """A shared section with the unit of this task in place of patients."""
    return replace(
        section,
        title=said_in(section.title, unit) if section.key.startswith(("sites-", "power-")) else section.title,
        sentences=tuple(said_in(sentence, unit) for sentence in section.sentences),
        points=tuple(said_in(point, unit) for point in section.points),
        tables=tuple(table_in(table, unit) for table in section.tables),
    )


def said_in(sentence: str, unit: str) -> str:
    """A sentence of a shared section with the unit of this task.

    >>> said_in("4 sites with 36 patients.", "cases"), said_in("Patients at hand", "cases")
    ('4 sites with 36 cases.', 'Cases at hand')
    """
    one = unit.removesuffix("s")
    for pattern, words in _PHRASES:
        sentence = pattern.sub(words.format(unit, one=one, capital=capital(unit)), sentence)
    return sentence


def table_in(table: Table, unit: str) -> Table:
    """A table that counts the unit of this task; names in its cells stay as they are."""
    worded = [head in _WORDED for head in table.heads]
    listed = table.heads[:1] == ("what",)  # settings by name, all of them our own words
    rows = tuple(
        tuple(
            said_in(cell, unit) if worded[i] or (listed and i == 0) else cell
            for i, cell in enumerate(row[: len(worded)])
        )
        for row in table.rows
    )
    # The first head may be a user's own name of a column.
    heads = (*table.heads[:1], *(_IN_HEADS.sub(unit, head) for head in table.heads[1:]))
    return replace(table, heads=heads, rows=rows)
