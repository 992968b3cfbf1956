"""Words and numbers as a reader meets them: titles, rounded figures, intervals, and sentences of the summary."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from workup.errors import ReportError
from workup.gates import same_value
from workup.report import Estimate, LensResult, Report

METRIC_TITLES = {
    "recall_at_10": "recall@10",
    "pdsqi": "PDSQI-9 rating",
    "auroc": "AUROC",
    "auprc": "AUPRC",
    "brier": "Brier score",
    "scaled_brier": "scaled Brier score",
    "nagelkerke_r2": "Nagelkerke's R²",
    "calibration_slope": "calibration slope",
    "calibration_in_the_large": "calibration in the large",
    "oe_ratio": "observed / expected",
    "ici": "ICI",
    "e50": "E50",
    "e90": "E90",
    "emax": "Emax",
    "ece": "ECE",
    "ppv": "PPV",
    "npv": "NPV",
    "f1": "F1",
    "alert_rate": "alert rate",
    "false_positive_rate": "false positive rate",
    "net_benefit": "net benefit",
    "equalised_odds": "equalised odds",
    "f2": "F2",
    "leak_rate_char": "leak rate of characters",
    "leak_rate_alnum": "leak rate of letters and digits",
    "leak_rate_document": "leak rate of documents",
    "leak_rate_patient": "leak rate of patients",
    "over_redaction": "over-redaction",
    "specificity_char": "specificity of characters",
    "specificity_token": "specificity of words",
    "specificity_negative_document": "specificity of documents without identifiers",
    "specificity_protected_term": "specificity of protected terms",
    "severity_recall": "severity-weighted recall",
}


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

    >>> at_threshold("ppv", {"sex": "F", "threshold": 0.2}), at_threshold("auroc", {})
    ('PPV at 0.2', 'AUROC')
    """
    title = METRIC_TITLES.get(metric, metric.replace("_", " "))
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

    >>> rule_words("auroc{sex=*}.low >= 0.70 [sex=F]")
    'AUROC, sex=F: the low end of the interval must be at least 0.70'
    """
    found = _RULE.fullmatch(rule)
    if found is None:
        return rule
    limit, _, level = found["limit"].partition(" [")
    at = level.rstrip("]") or (found["at"] or "").strip("{}")
    part = _PARTS.get(found["part"], "the number of patients")
    metric = METRIC_TITLES.get(found["metric"], found["metric"].replace("_", " "))
    return f"{metric}{', ' if at else ''}{at}: {part} must be {_OPS[found['op']]} {limit.strip()}"


def plural(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


_UNSURE_SLOPES = 0.5, 2.0  # an interval of the slope that reaches beyond these says neither yes nor no


def headline(report: Report) -> Iterator[str]:
    """The sentences a reader should leave with, each with its interval and n."""
    if report.study.get("task") == "risk" and "internal" in report.results:
        yield from _risk_headline(report)
    if "subgroups" in report.results and not backwards(report):
        yield from _group_headline(report.results["subgroups"])


def _risk_headline(report: Report) -> Iterator[str]:
    about = report.results["internal"].tables.get("summary")
    if about:
        yield (
            f"{plural(about['patients'], 'patient')} with {plural(about['rows'], 'prediction')} and "
            f"{plural(about['events'], 'event')}: {percent(about['observed'])} had the event, "
            f"the model predicted {percent(about['predicted'])} on average."
        )
    auroc = _found(report, "auroc")
    if backwards(report):
        yield from _backwards_headline(auroc)
        return
    if auroc:
        yield (
            f"Shown one patient with the event and one without, the model gives the higher risk to the right one in "
            f"{_share(auroc)} of pairs{_between(auroc)}{_chance(auroc)}."
        )
    ratio = _found(report, "oe_ratio")
    if ratio and ratio.value is not None:
        happened = f"{100 * ratio.value:.0f} happened{_hundred(ratio)}"
        lean = _lean(ratio, _found(report, "calibration_in_the_large"))
        yield f"For every 100 events the model expected, {happened}: {lean}."
    slope = _found(report, "calibration_slope")
    if slope and slope.value is not None:
        without = report.results["internal"].tables.get("slope_without_ends")
        yield f"The calibration slope is {slope.value:.2f}{_raw(slope)}{_slope_words(slope, without)}."
    primary = primary_threshold(report)
    for e in report.results["internal"].estimates:
        at_primary = set(e.slice) == {"threshold"} and not off_primary(e.slice, primary)
        if e.metric == "sensitivity" and at_primary and e.level == 0.95 and e.value is not None:
            yield f"At a threshold of {e.slice['threshold']:g} it flags {_share(e)} of the events{_between(e)}."
        if e.metric == "net_benefit" and at_primary and e.level == 0.95 and e.high is not None and e.high < 0:
            yield (
                f"At a threshold of {e.slice['threshold']:g} acting on it does more harm than good: its net benefit of "
                f"{number(e.value)} ({e.level:.0%} interval {number(e.low)} to {number(e.high)}) is below that of "
                "treating no one, which is 0."
            )


def backwards(report: Report) -> bool:
    """Were those with the event given the lower risks, so that sentences about the model would mislead?"""
    held = (alarm for result in report.results.values() for alarm in result.tables.get("alarms", ()))
    return any(alarm["code"] == "runs_backwards" for alarm in held)


def _backwards_headline(auroc: Estimate | None) -> Iterator[str]:
    if auroc is not None and auroc.value is not None:
        ends = "" if auroc.low is None or auroc.high is None else f" ({auroc.level:.0%} interval "
        ends += f"{percent(1 - auroc.high)} to {percent(1 - auroc.low)})" if ends else ""  # type: ignore[operator]
        yield (
            "Shown one patient with the event and one without, the lower risk was given to the one with the event in "
            f"{percent(1 - auroc.value)} of pairs{ends}."
        )
    yield (
        "Calibration, decisions and gaps between groups are shown for the risks as they were given. They would be "
        "others if the risks were turned round, and nothing is said of them here."
    )


def _slope_words(slope: Estimate, without: Mapping[str, Any] | None) -> str:
    """What the slope means; where rows without log odds move it, what it is without them, and whether both agree."""
    if not without:
        return f": {_spread(slope)}"
    rows, other = without["rows_at_an_end"], Estimate(**without["without"])
    if other.value is None:
        return (
            f", which rests on the {plural(rows, 'risk')} of 0 or 1 alone: they have no log odds, and it means little"
        )
    beside = f", or {other.value:.2f}{_raw(other)} without the {plural(rows, 'risk')} of 0 or 1, which have no log odds"
    if _spread(slope) == _spread(other):
        return f"{beside}: {_spread(slope)} either way"
    return f"{beside}: without them {_spread(other)}"


def _group_headline(result: LensResult) -> Iterator[str]:
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


def _found(report: Report, metric: str) -> Estimate | None:
    try:
        e = report.estimate(metric)
    except ReportError:
        return None
    return e if e.value is not None else None


def _share(e: Estimate) -> str:
    return "–" if e.value is None else percent(e.value)


def _between(e: Estimate) -> str:
    if e.low is None or e.high is None:
        return f" (no interval: {e.reason})"
    counted = e.clusters or e.n_patients  # of sensitivity, patients without the event say nothing
    return f" ({e.level:.0%} interval {percent(e.low)} to {percent(e.high)}, {plural(counted, 'patient')})"


def _chance(auroc: Estimate) -> str:
    """Half of the pairs sounds like something, and is nothing."""
    if auroc.low is None or auroc.low > 0.5:
        return ""
    return "; 50 % is what chance gives"


def _hundred(e: Estimate) -> str:
    if e.low is None or e.high is None:
        return f" (no interval: {e.reason})"
    return f" ({e.level:.0%} interval {100 * e.low:.0f} to {100 * e.high:.0f})"


def _raw(e: Estimate) -> str:
    if e.low is None or e.high is None:
        return f" (no interval: {e.reason})"
    return f" ({e.level:.0%} interval {e.low:.2f} to {e.high:.2f})"


def _lean(e: Estimate, in_the_large: Estimate | None) -> str:
    """Which way the risks lean. Calibration in the large asks the same on another scale: where only one of the two
    excludes "none", neither "a lean" nor "no lean" would be true to both."""
    if e.low is None or e.high is None:
        return "whether risks are too high or too low cannot be said"
    leans = "high" if e.high < 1 else "low" if e.low > 1 else ""
    other = in_the_large
    also = leans
    if other is not None and other.low is not None and other.high is not None:
        also = "high" if other.high < 0 else "low" if other.low > 0 else ""
    if leans == also:
        return f"risks are too {leans} on average" if leans else "no clear lean either way"
    return (
        f"risks seem too {leans or also} on average, but only just: of O/E and calibration in the large one interval "
        "excludes no lean and the other does not"
    )


def _spread(e: Estimate) -> str:
    if e.low is None or e.high is None:
        return "whether risks are too extreme cannot be said"
    # The slope speaks of how far risks lie apart, whatever their level: where all are too high, so are the low ones.
    if e.high < 1:
        return "risks are too extreme: they differ between patients more than outcomes do"
    if e.low > 1:
        return "risks are too timid: they differ between patients less than outcomes do"
    if e.low < _UNSURE_SLOPES[0] or e.high > _UNSURE_SLOPES[1]:
        return "these data cannot tell whether risks are too extreme or too timid"
    return "compatible with 1, as it should be"
