"""The sentences that a reader of a risk report should leave with, each with its interval and its n."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workup.errors import ReportError
from workup.report import Estimate, Report
from workup.reports.wording import number, off_primary, percent, plural, primary_threshold

_UNSURE_SLOPES = 0.5, 2.0  # an interval of the slope that reaches beyond these says neither yes nor no


def headline(report: Report) -> Iterator[str]:
    """What the internal lens says of the model."""
    about = report.results["internal"].tables.get("summary")
    if about:
        yield (
            f"{plural(about['patients'], 'patient')} with {plural(about['rows'], 'prediction')} and "
            f"{plural(about['events'], 'event')}: {percent(about['observed'])} had the event, "
            f"the model predicted {percent(about['predicted'])} on average."
        )
    yield from about_model(report)


def about_model(report: Report) -> Iterator[str]:
    """How well it ranks, whether its risks mean what they say, and what it does at the primary threshold."""
    auroc = found(report, "auroc")
    if backwards(report):
        yield from _backwards_headline(auroc)
        return
    if auroc:
        yield (
            f"Shown one patient with the event and one without, the model gives the higher risk to the right one in "
            f"{share(auroc)} of pairs{between(auroc)}{_chance(auroc)}."
        )
    ratio = found(report, "oe_ratio")
    if ratio and ratio.value is not None:
        yield per_hundred(report, ratio)
    slope = found(report, "calibration_slope")
    if slope and slope.value is not None:
        without = report.results["internal"].tables.get("slope_without_ends")
        yield f"The calibration slope is {slope.value:.2f}{_raw(slope)}{_slope_words(slope, without)}."
    primary = primary_threshold(report)
    for e in report.results["internal"].estimates:
        at_primary = set(e.slice) == {"threshold"} and not off_primary(e.slice, primary)
        if e.metric == "sensitivity" and at_primary and e.level == 0.95 and e.value is not None:
            yield f"At a threshold of {e.slice['threshold']:g} it flags {share(e)} of the events{between(e)}."
        if e.metric == "net_benefit" and at_primary and e.level == 0.95 and e.high is not None and e.high < 0:
            yield (
                f"At a threshold of {e.slice['threshold']:g} acting on it does more harm than good: its net benefit of "
                f"{number(e.value)} ({e.level:.0%} interval {number(e.low)} to {number(e.high)}) is below that of "
                "treating no one, which is 0."
            )


def per_hundred(report: Report, ratio: Estimate) -> str:
    """O/E as events that happened for every 100 expected, and which way the risks lean."""
    happened = f"{100 * (ratio.value or 0):.0f} happened{_hundred(ratio)}"
    lean = _lean(ratio, found(report, "calibration_in_the_large"))
    return f"For every 100 events the model expected, {happened}: {lean}."


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


def found(report: Report, metric: str) -> Estimate | None:
    """The estimate of everyone, where it has a value."""
    try:
        e = report.estimate(metric)
    except ReportError:
        return None
    return e if e.value is not None else None


def share(e: Estimate) -> str:
    """A share as a percentage."""
    return "–" if e.value is None else percent(e.value)


def between(e: Estimate) -> str:
    """The interval of a share with its patients, in brackets; or why there is none."""
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
