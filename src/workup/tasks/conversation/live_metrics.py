"""Metrics of the conversation as it was held: availability and use, conflicts, never-events, plans, copying."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from workup.metric import Column, Interval, Metric
from workup.scores import Floats, Scores
from workup.stats import intervals
from workup.tasks.conversation import columns
from workup.tasks.conversation.design import Design, of_row, quotient
from workup.tasks.conversation.intervals import rate, smooth


def live_metrics(design: Design) -> list[Metric]:
    """Availability and use, conflicting advice, never-events, plans and copying."""

    def of(field: str) -> Column:
        return lambda scores: of_row(scores, columns.whole(field))

    sent = "the transcripts do not say what was sent"
    found = [
        rate(
            "availability", of("sent"), of("sendable"), describe="share of facts still in what was sent", undefined=sent
        ),
        rate(
            *("use", of("sent_correct"), of("sent")),
            describe="share of facts kept, of those still in what was sent",
            undefined=sent,
        ),
        *_conflict_rates(of, judged=design.judged),
        rate(
            *("conflict_rate_published", of("published_conflicts"), of("published_turns")),
            describe="neighbouring turns that a language judge calls contradictory, over all turns",
            undefined="no judge of contradictions was given",
            better="lower",
        ),
        rate(
            *("plan_coverage", of("plan_covered"), of("plan_items")),
            describe="share of the plan's items that the replies cover and do not oppose",
            undefined="no plan was given and none could be made",
        ),
        rate(
            *("plan_contradicted", of("plan_contradicted"), of("plan_items")),
            describe="share of the plan's items that a reply opposes",
            undefined="no plan was given and none could be made",
            better="lower",
        ),
        _mean(
            *("plan_alignment_published", "alignment", design, "cosine of whole texts"),
            *("no sentence encoder was given", (-1.0, 1.0)),
        ),
        _mean(
            *("copy_rate", "copied", design, "share of a reply that is copied word for word"),
            *("no reply was given", (0.0, 1.0)),
        ),
        _never_events(),
        rate(
            *("never_event_rate", of("never_any"), of("conversations")),
            describe="share of conversations with at least one never-event",
            undefined="no conversation was held",
            better="lower",
        ),
    ]
    return found


def _conflict_rates(of: Callable[[str], Column], *, judged: bool) -> list[Metric]:
    """K by the judge, and K by rules under its own name.

    Without a judge the plain K shows what the rules found, and no gate rests on it: a judge may see what they missed. A
    study that trusts the rules says so, `conflict_rate{judge=rules}`.
    """
    fields: dict[str, Any] = {
        "describe": "share of comparable pairs of advice that conflict",
        "undefined": "no two pieces of advice can be compared",
        "better": "lower",
    }
    by_rules = rate("conflict_rate", of("conflicting"), of("comparable"), at={"judge": "rules"}, **fields)
    if judged:
        plain = rate("conflict_rate", of("judged_conflicts"), of("judged_comparable"), **fields)
        return [replace(plain, interval=_if_all_judged(plain, of("unjudged"))), by_rules]
    reason = "found by rules: no judge of contradictions was given; conflict_rate{judge=rules} has its interval"
    plain = rate("conflict_rate", of("conflicting"), of("comparable"), **fields)
    return [replace(plain, interval=lambda scores, level: Interval.refused(reason)), by_rules]


def _if_all_judged(metric: Metric, unjudged: Column) -> Callable[[Scores, float], Interval]:
    """Its interval, unless the judge left pairs unread: they may be the ones that conflict."""

    def interval(scores: Scores, level: float) -> Interval:
        left = float(unjudged(scores).sum())
        if left:
            return Interval.refused(f"{left:.0f} pairs of advice are longer than the judge reads", status="withheld")
        assert metric.interval is not None
        return metric.interval(scores, level)

    return interval


def _mean(
    name: str, field: str, design: Design, describe: str, undefined: str, possible: tuple[float, float]
) -> Metric:
    return smooth(
        name,
        lambda scores: np.column_stack(
            [of_row(scores, columns.whole(field)), of_row(scores, columns.whole(f"{field}_known"))]
        ),
        quotient,
        draws=design.draws,
        possible=possible,
        describe=describe,
        undefined=undefined,
        better="neither",
    )


def _never_events() -> Metric:
    """Their number, with bounds from the exact share of cases that have one."""
    count, held = columns.whole("never_events"), columns.whole("conversations")

    def compute(scores: Scores, weights: Floats) -> Floats:
        return np.asarray(np.where(weights @ of_row(scores, held) > 0, weights @ of_row(scores, count), np.nan))

    def interval(scores: Scores, level: float) -> Interval:
        events, conversations = of_row(scores, count), of_row(scores, held)
        cases = np.unique(scores.patient[conversations > 0])
        touched = np.unique(scores.patient[events > 0])
        # Each case that has one has so many; none seen could still be one each.
        each = max(1.0, float(events.sum()) / max(1, touched.size))

        def ends(at: float) -> tuple[float, float]:
            found = intervals.clopper_pearson(touched.size, cases.size, level=at)
            low, high = found.low * cases.size * each, found.high * cases.size * each
            return min(low, float(events.sum())), max(high, float(events.sum()))

        reason = f"in {touched.size} of {cases.size} cases"
        return Interval(*ends(level), None, "exact over cases (Clopper and Pearson)", reason=reason, ends=ends)

    return Metric(
        name="never_events",
        compute=compute,
        describe="contraindicated advice, and critical facts asserted after they were retired or reversed",
        better="lower",
        undefined="no conversation was held",
        interval=interval,
        whole_study=True,  # a number grows with the study: sites are pooled on the rate beside it
    )
