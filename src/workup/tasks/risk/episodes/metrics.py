"""The metrics of episodes: events flagged in time and how long before, how many alerts are true, and how often they
sound. Each is of the rows of one kind; patients with all their rows are the unit of every interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workup.metric import FEWEST_PATIENTS, Column, Interval, Metric, linear, ratio, share_interval
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.stats.intervals import t_critical
from workup.tasks.risk.episodes.cards import CARDS

# The rows that a metric is of. `all` are those of alerts and of events, for the one ratio of these.
CASE, WATCH, EVENT, STAY, ALL = "case", "watch", "event", "stay", "all"
FLAGGED = "flagged"  # of the events, those that are flagged at a threshold
NO_RISK = "a {score} of risks is no risk at one horizon"
_PER = 100.0  # patient-days that alarms are counted by
_OF_RISKS = (
    *("calibration_slope", "calibration_in_the_large", "oe_ratio", "brier", "scaled_brier", "nagelkerke_r2"),
    *("ici", "e50", "e90", "emax", "ece"),
)


def at(name: str, threshold: float | None) -> str:
    """The column of one threshold; that of alerts as they were recorded, where there is none.

    >>> at("alerts", 0.3), at("alerts", None)
    ('alerts@0.3', 'alerts@recorded')
    """
    return f"{name}@{'recorded' if threshold is None else format(threshold, '.12g')}"


def _keys(threshold: float | None, **more: Any) -> dict[str, Any]:
    return {**({} if threshold is None else {"threshold": threshold}), **more}


def _column(name: str) -> Column:
    return lambda scores: scores[name]


def _sum(*names: str) -> Column:
    return lambda scores: np.sum([scores[name] for name in names], axis=0)


def _ratio(name: str, top: Column, bottom: Column, undefined: str, keys: dict[str, Any], **fields: Any) -> Metric:
    return ratio(name, top, bottom, card=CARDS[name], undefined=undefined, at=keys, **fields)


# ---- events ----------------------------------------------------------------------------------------------------------


def event_metrics(threshold: float | None, lead_hours: Sequence[float]) -> list[Metric]:
    """Of events: how many are flagged, and how long before. An event that nobody scored is a miss."""
    event, flagged, scored = _column("event"), _column(at("flagged", threshold)), _column("scored")
    lead, keys, none = at("lead", threshold), _keys(threshold), "no event"

    def share(name: str, top: Column, bottom: Column, undefined: str = none, **more: Any) -> Metric:
        return _ratio(name, top, bottom, undefined, {**keys, **more.pop("keys", {})}, events="event", **more)

    def before(hours: float) -> Column:
        return lambda scores: (np.nan_to_num(scores[lead], nan=-1.0) >= hours).astype(np.float64)

    return [
        share("event_sensitivity", flagged, event, parity=True),
        share("event_sensitivity_scored", flagged, scored, "no event was scored in time"),
        share("event_coverage", scored, event),
        # Alerts that were recorded silence no score.
        *(
            []
            if threshold is None
            else [share("event_sensitivity_by_score", _column(at("by_score", threshold)), event)]
        ),
        *(share("flagged_before", before(hours), event, keys={"hours": _whole(hours)}) for hours in lead_hours),
        share("lead_time_mean", lambda scores: np.nan_to_num(scores[lead]), event, share=False),
    ]


def _whole(hours: float) -> float:
    return int(hours) if float(hours).is_integer() else hours


def lead_time_median(threshold: float | None) -> Metric:
    """Of flagged events, the median of the hours from the first useful alert to the event."""
    lead = at("lead", threshold)

    def compute(scores: Scores, weights: Floats) -> Floats:
        def in_order() -> Any:
            known = np.flatnonzero(np.isfinite(scores[lead]))
            return known[np.argsort(scores[lead][known], kind="stable")]

        order = scores.kept(f"order of {lead}", in_order)
        return weighted_median(scores[lead][order], weights[:, order])

    return Metric(
        name="lead_time_median",
        compute=compute,
        card=CARDS["lead_time_median"],
        at=_keys(threshold),
        undefined="no event was flagged",
    )


def weighted_median(values: Floats, weights: Floats) -> Floats:
    """The smallest of rising values whose running weight reaches half, for each row of weights; the mean of it and the
    next where it reaches half exactly.

    >>> weighted_median(np.array([1.0, 2.0, 4.0, 9.0]), np.array([[1.0, 1, 1, 1], [1, 1, 3, 1], [0, 0, 0, 0]]))
    array([ 3.,  4., nan])
    """
    if not values.size:
        return np.full(len(weights), np.nan)
    running = np.cumsum(weights, axis=1)
    total = running[:, -1:]
    # Fractional weights add up with rounding; a running sum this near to half of the whole is half of it.
    near = np.abs(running - total / 2) <= 1e-12 * total
    reached = near | (running > total / 2)
    beyond = ~near & (running > total / 2)
    found = (values[np.argmax(reached, axis=1)] + values[np.argmax(beyond, axis=1)]) / 2
    return np.asarray(np.where(total[:, 0] > 0, found, np.nan))


# ---- alerts ----------------------------------------------------------------------------------------------------------


def watch_metrics(threshold: float | None) -> list[Metric]:
    """Of alerts and the time watched: how many are true, and how often they sound."""
    true, alerts = _column(at("true", threshold)), _column(at("alerts", threshold))
    judged = _sum(at("true", threshold), at("false", threshold))
    keys = _keys(threshold)
    return [
        _ratio("alert_ppv", true, judged, "no alert was judged", keys, parity=True),
        _reciprocal("nne", true, judged, "no alert was true", keys),
        _rate("alarm_rate", alerts, _column("days"), "no time was watched", keys, per=_PER),
        _ratio("alert_acted_share", _column(at("acted_alerts", threshold)), alerts, "no alert was fired", keys),
    ]


def stay_metrics(threshold: float | None) -> list[Metric]:
    """Of stays with a judged alert: in how many one was true."""
    true, judged = _column(at("true_stay", threshold)), _column(at("judged_stay", threshold))
    keys = _keys(threshold)
    return [
        _ratio("encounter_ppv", true, judged, "no stay has a judged alert", keys),
        _reciprocal("nne_encounter", true, judged, "no stay has a true alert", keys),
    ]


def alerts_per_flagged_event(threshold: float | None) -> Metric:
    """Judged alerts over flagged events, from rows of both kinds."""
    return _rate(
        "alerts_per_flagged_event",
        _sum(at("true", threshold), at("false", threshold)),
        _column(at("flagged", threshold)),
        "no event was flagged",
        _keys(threshold),
    )


def _reciprocal(name: str, top: Column, bottom: Column, undefined: str, keys: dict[str, Any]) -> Metric:
    """One over a share, with the ends of the share turned over."""

    def interval(scores: Scores, level: float) -> Interval:
        found = share_interval(top(scores), bottom(scores), scores, level)
        if found.low is None or found.high is None or not found.low > 0:
            why = found.reason if found.low is None else "the share may be 0, of which one over it has no end"
            return Interval.refused(why, method=f"one over: {found.method}")
        share = float(scores.base_weight @ top(scores)) / float(scores.base_weight @ bottom(scores))
        ends = found.ends
        assert ends is not None

        def turned(at_level: float) -> tuple[float, float]:
            low, high = ends(at_level)
            return 1 / high, 1 / low if low > 0 else float("inf")

        error = None if found.se is None else found.se / share**2
        return replace(
            found,
            low=1 / found.high,
            high=1 / found.low,
            se=error,
            method=f"one over: {found.method}",
            ends=turned,
            clusters=None,
            ceiling=None,
        )

    return _ratio(name, bottom, top, undefined, keys, share=False, interval=interval)


def _rate(name: str, top: Column, bottom: Column, undefined: str, keys: dict[str, Any], *, per: float = 1.0) -> Metric:
    """A ratio of totals with its interval on the log scale, from the totals of patients."""

    def columns(scores: Scores) -> Floats:
        return np.column_stack([top(scores), bottom(scores)])

    def finish(sums: Floats) -> Floats:
        below = sums[..., 1]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.where(below > 0, per * sums[..., 0] / below, np.nan))

    def counts(scores: Scores) -> tuple[float, float]:
        above, below = scores.base_weight @ columns(scores)
        return float(above), float(below)

    return linear(
        name,
        columns,
        finish,
        card=CARDS[name],
        undefined=undefined,
        at=keys,
        counts=counts,
        interval=lambda scores, level: rate_interval(top(scores), bottom(scores), scores, level, per=per),
    )


def rate_interval(top: Floats, bottom: Floats, scores: Scores, level: float, *, per: float = 1.0) -> Interval:
    """Interval of a ratio of totals: the error of its logarithm as it is seen over the totals of patients, Student's t.

    Where nothing is counted at all no spread can be seen; the high end is then that of a Poisson count.
    """
    method = "log scale, totals of patients"
    part = (top > 0) | (bottom > 0)
    _, patient = np.unique(scores.patient[part], return_inverse=True)
    weight = scores.base_weight[part]
    above = np.bincount(patient, weights=weight * top[part])
    below = np.bincount(patient, weights=weight * bottom[part])
    clusters = above.size
    if clusters < FEWEST_PATIENTS:
        return Interval.refused(f"{clusters} patients; at least {FEWEST_PATIENTS} are needed", method=method)
    counted, total = float(above.sum()), float(below.sum())
    if not counted > 0:

        def poisson(at_level: float) -> tuple[float, float]:
            return 0.0, -per * float(np.log((1 - at_level) / 2)) / total

        why = "none was counted, so clustering cannot be seen: the high end takes counts as independent"
        return Interval(*poisson(level), None, "Poisson, none counted", reason=why, ends=poisson)
    rate = counted / total
    error = float(np.sqrt(clusters / (clusters - 1) * np.sum((above - rate * below) ** 2)) / counted)

    def ends(at_level: float) -> tuple[float, float]:
        half = t_critical(at_level, clusters - 1) * error
        return per * rate * float(np.exp(-half)), per * rate * float(np.exp(half))

    return Interval(*ends(level), per * rate * error, method, ends=ends)


# ---- the risks as such -----------------------------------------------------------------------------------------------


def without_calibration(metrics: Sequence[Metric], score: str) -> list[Metric]:
    """The metrics of risks with those left without a value that ask what a risk means: a maximum, a last one or a mean
    of many is none at any one horizon."""
    why = NO_RISK.format(score={"max": "maximum", "last": "last", "mean": "mean"}[score])
    return [_unmeant(metric, why) if metric.name in _OF_RISKS else metric for metric in metrics]


def _unmeant(metric: Metric, why: str) -> Metric:
    def nothing(scores: Scores, weights: Floats) -> Floats:
        return np.full(len(weights), np.nan)

    def refused(scores: Scores, level: float) -> Interval:
        return Interval.refused(why, status="undefined")

    return replace(
        metric, compute=nothing, interval=refused, undefined=why, counts=None, linear=None, family=None, paired=None
    )
