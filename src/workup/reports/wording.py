"""Words and numbers as a reader meets them: titles, rounded figures, intervals, and sentences of the summary."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import wraps
from types import GeneratorType
from typing import Any, TypeVar

from workup.gates import same_value
from workup.report import Estimate, LensResult, Report

Drawn = TypeVar("Drawn")
_DRAWN: ContextVar[Report | None] = ContextVar("the record that is being drawn", default=None)


def drawn(draw: Callable[..., Drawn]) -> Callable[..., Drawn]:
    """Around what draws a record, its first argument: metrics are called by the titles that this record gives them.

    Titles stand in some forty tables and charts, far below where the record is at hand.
    """

    @wraps(draw)
    def speaking(report: Report, *arguments: Any, **named: Any) -> Drawn:
        token = _DRAWN.set(report)
        try:
            found = draw(report, *arguments, **named)
            # What is drawn on demand would otherwise be drawn after its record was put away.
            return iter(tuple(found)) if isinstance(found, GeneratorType) else found  # type: ignore[return-value]
        finally:
            _DRAWN.reset(token)

    return speaking


def metric_title(metric: str) -> str:
    """A metric as the record that is being drawn calls it."""
    report = _DRAWN.get()
    return metric.replace("_", " ") if report is None else report.title(metric)


def metrics_in(place: str) -> list[str]:
    """Metrics that the record being drawn shows in a place of a page, in order: see workup.metric.Card."""
    report = _DRAWN.get()
    return [] if report is None else report.shown(place)


def measured() -> list[str]:
    """All metrics of the record that is being drawn, in the order of its task."""
    report = _DRAWN.get()
    return [] if report is None else sorted(report.metrics, key=lambda name: report.metrics[name]["order"])


def metric_words(metric: str) -> str:
    """What a metric says, in the words of the record that is being drawn."""
    report = _DRAWN.get()
    return "" if report is None else str(report.metrics.get(metric, {}).get("describe", ""))


def number(value: float | int | None) -> str:
    """A figure for reading: integers with thousands, others to four significant digits at most.

    >>> number(1683), number(0.862049), number(None), number(0.00001234), number(12345.6)
    ('1,683', '0.862', '–', '1.23e-05', '12,346')
    """
    if value is None:
        return "–"
    if isinstance(value, int) or value == 0:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    if abs(value) >= 0.001:
        return f"{value:.3f}"
    return f"{value:.3g}"


def count(value: float | None) -> str:
    """A count, or a weighted sum of counts.

    >>> count(3.0), count(175.137), count(1683.0)
    ('3', '175.1', '1,683')
    """
    if value is None:
        return "–"
    return f"{int(value):,}" if float(value).is_integer() else number(value)


def percent(value: float) -> str:
    """A share as a percentage.

    >>> percent(0.0826)
    '8.3 %'
    """
    return f"{100 * value:.1f} %"


def interval(e: Estimate) -> str:
    """Both ends, or a dash."""
    return "–" if e.low is None or e.high is None else f"{number(e.low)} to {number(e.high)}"


def not_told(e: Estimate) -> bool:
    """Is this an estimate of a group so small that not even its size is told?"""
    return e.status == "withheld" and not e.n_rows


def patients(e: Estimate) -> str:
    """How many patients an estimate rests on, or a dash where that is not told."""
    return "–" if not_told(e) else number(e.n_patients)


def slice_name(keys: Mapping[str, Any]) -> str:
    """A slice in words: "sex F, site 12"; "all" for the empty one."""
    return ", ".join(f"{key} {value}" for key, value in keys.items()) or "all"


def at_threshold(metric: str, keys: Mapping[str, Any]) -> str:
    """A metric by its title, with the threshold it was taken at.

    >>> at_threshold("alert_rate", {"sex": "F", "threshold": 0.2}), at_threshold("alert_rate", {})
    ('alert rate at 0.2', 'alert rate')
    """
    title = metric_title(metric)
    threshold = keys.get("threshold")
    return title if threshold is None else f"{title} at {threshold:g}"


def primary_threshold(report: Report) -> float | None:
    """The threshold that the study puts first, as the record writes it: the one that every page speaks of."""
    value = report.primary.get("threshold")
    return None if value is None else float(f"{float(value):.12g}")


def off_primary(keys: Mapping[str, Any], threshold: float | None) -> bool:
    """Is this slice taken at a threshold other than the primary one?

    >>> off_primary({"threshold": 0.1}, 0.3), off_primary({"sex": "F", "threshold": 0.3}, 0.3), off_primary({}, 0.3)
    (True, False, False)
    """
    held = keys.get("threshold")
    return isinstance(held, (int, float)) and threshold is not None and not same_value(held, str(threshold))


def group_words(keys: Mapping[str, Any]) -> str:
    """The group of a slice, without the threshold."""
    return slice_name({key: value for key, value in keys.items() if key != "threshold"})


def signed(value: float) -> str:
    """A gap with its sign.

    >>> signed(0.0412), signed(-0.0412), signed(0.0)
    ('+0.041', '-0.041', '0')
    """
    return f"+{number(value)}" if value > 0 else number(value)


def signed_beside(value: float, limit: float | None) -> str:
    """A gap with its sign, with as many digits as show on which side of ±limit it lies.

    >>> signed_beside(0.05003, 0.05), signed_beside(0.0412, 0.05), signed_beside(-0.04996, 0.05)
    ('+0.05003', '+0.041', '-0.04996')
    """
    if limit is None or abs(value) == limit or number(abs(value)) != number(limit):
        return signed(value)
    digits = 3
    while digits < 12 and float(f"{abs(value):.{digits}f}") == limit:
        digits += 1
    return f"{value:+.{digits}f}"


def p_value(p: float | None) -> str:
    """A p value for reading.

    Rounding never carries it to the other side of 0.05.

    >>> p_value(0.00004), p_value(0.0412), p_value(None), p_value(0.99999), p_value(0.04999)
    ('<0.001', '0.041', '–', '1.000', '<0.050')
    """
    if p is None or p < 0.001:
        return "–" if p is None else "<0.001"
    return "<0.050" if p < 0.05 <= round(p, 3) else f"{p:.3f}"


def level_words(level: float) -> str:
    """The level of an interval, with as many digits as tell it from 100 %.

    >>> level_words(0.95), level_words(1 - 0.05 / 24), level_words(1 - 0.05 / 240)
    ('95 %', '99.79 %', '99.979 %')
    """
    missing = max(100 * (1 - level), 1e-9)
    digits = 0 if missing >= 1 and abs(missing - round(missing)) < 1e-9 else max(1, 1 - math.floor(math.log10(missing)))
    return f"{100 - missing:.{digits}f} %"


_RULE = re.compile(
    r"(?P<metric>\w+)(?P<at>\{.*\})?\s*\.\s*(?P<part>value|low|high|n)\s*(?P<op>>=|<=|>|<)\s*(?P<limit>.+)", re.DOTALL
)
_PARTS = {"value": "the value", "low": "the low end of the interval", "high": "the high end of the interval"}
_OPS = {">=": "at least", ">": "above", "<=": "at most", "<": "below"}


def rule_words(rule: str) -> str:
    """What a gate asks, in words; the rule itself where it cannot be read.

    >>> rule_words("alert_rate{sex=*}.low >= 0.70 [sex=F]")
    'alert rate, sex=F: the low end of the interval must be at least 0.70'
    """
    found = _RULE.fullmatch(rule)
    if found is None:
        return rule
    limit, _, level = found["limit"].partition(" [")
    at = level.rstrip("]") or (found["at"] or "").strip("{}")
    part = _PARTS.get(found["part"], "the number of patients")
    metric = metric_title(found["metric"])
    return f"{metric}{', ' if at else ''}{at}: {part} must be {_OPS[found['op']]} {limit.strip()}"


def plural(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def group_headline(result: LensResult) -> Iterator[str]:
    """How the judged gaps fell out, and the widest of those that are disparities."""
    judged = [row for row in result.comparisons if row["margin"] is not None]
    if not judged:
        return
    tally = {name: sum(row["verdict"] == name for row in judged) for name in ("disparity", "within", "inconclusive")}
    yield (
        f"{plural(len(judged), 'comparison')} between groups, judged against the declared margin: "
        f"{tally['disparity']} beyond it, {tally['within']} within it, {tally['inconclusive']} that these data cannot "
        "settle."
    )
    worst = sorted((row for row in judged if row["verdict"] == "disparity"), key=lambda row: -abs(row["value"]))
    for row in worst[:3]:
        side = "lower" if row["value"] < 0 else "higher"
        ends = [signed_beside(row[end], row["margin"]) for end in ("low", "high")]
        others = {"rest": "the rest", "overall": "everyone"}.get(row["against"], row["against"])
        yield (
            f"{_capital(at_threshold(row['metric'], row['slice']))} is {side} for {group_words(row['slice'])} than for "
            f"{others} by {number(abs(row['value']))} ({level_words(row['level'])} interval of the gap "
            f"{ends[0]} to {ends[1]}; margin {number(row['margin'])})."
        )


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
