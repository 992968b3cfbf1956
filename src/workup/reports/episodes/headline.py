"""The sentences that a reader of a report on alarms should leave with, each with its interval and its n."""

from __future__ import annotations

from collections.abc import Iterator

from workup.report import Estimate, LensResult, Report
from workup.reports.charts.figure import find
from workup.reports.wording import count, number, percent, plural


def headline(report: Report) -> Iterator[str]:
    """What the internal lens says of alarms and events at the primary threshold."""
    internal = report.results["internal"]
    keys = {key: value for key, value in report.primary.items() if key == "threshold"}
    about = internal.tables.get("watched") or {}
    if about:
        yield (
            f"{plural(about['patients'], 'patient')} in {plural(about['stays'], 'stay')} were watched for "
            f"{number(about['days'])} patient-days by {plural(about['predictions'], 'prediction')}; "
            f"{plural(about['events'], 'event')} could have been foreseen."
        )
    where = f"At a threshold of {keys['threshold']:g}" if keys else "With the alerts as they were fired"
    sensitivity = find(internal, "event_sensitivity", keys)
    if sensitivity is not None:
        yield from _flagged(internal, sensitivity, where)
    ppv, burden = find(internal, "alert_ppv", keys), find(internal, "nne", keys)
    if ppv is not None:
        if ppv.value is None:
            yield f"{where}, {ppv.reason}, so nothing can be said of how many alerts are true."
        else:
            each = "" if burden is None or burden.value is None else f": about {burden.value:.1f} for each true one"
            yield f"{_share(ppv)} of the judged alerts were true{_between(ppv, 'alerts')}{each}."
    rate = find(internal, "alarm_rate", keys)
    if rate is not None and rate.value is not None:
        ends = _no_interval(rate) if rate.low is None else f"95% interval {number(rate.low)} to {number(rate.high)}"
        ends += f", {plural(rate.n_patients, 'patient')}"
        yield f"Alarms sound {number(rate.value)} times in 100 patient-days ({ends})."


def _flagged(internal: LensResult, e: Estimate, where: str) -> Iterator[str]:
    """Events flagged, and only beside it the median lead time of those that were."""
    if e.value is None:
        yield f"{where}, nothing can be said of how many events are flagged: {e.reason}."
        return
    keys = {key: value for key, value in e.slice.items() if key == "threshold"}
    lead = find(internal, "lead_time_median", keys)
    said = f"{where}, {_share(e)} of the events were flagged in time{_between(e, 'events')}"
    if lead is not None and lead.value is not None:
        ends = _no_interval(lead) if lead.low is None else f"95% interval {lead.low:.1f} to {lead.high:.1f}"
        said += f"; half of these at least {lead.value:.1f} hours before ({ends})"
    yield f"{said}."
    coverage = find(internal, "event_coverage", keys)
    if coverage is not None and coverage.value is not None and coverage.value < 1:
        yield f"{percent(1 - coverage.value)} of the events had no prediction in time, and count as missed."


def _share(e: Estimate) -> str:
    return "–" if e.value is None else percent(e.value)


def _between(e: Estimate, noun: str) -> str:
    if e.low is None or e.high is None:
        return f" ({_no_interval(e)})"
    counted = "" if e.denominator is None else f", {count(e.numerator)} of {count(e.denominator)} {noun}"
    return f" ({e.level:.0%} interval {percent(e.low)} to {percent(e.high)}{counted})"


def _no_interval(e: Estimate) -> str:
    return f"no interval: {e.reason}"
