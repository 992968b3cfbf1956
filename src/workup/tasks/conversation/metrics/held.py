"""Metrics of the conversation as it was held: availability and use, conflicts, never-events, plans, copying."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.metric import Column, Interval, Metric, few_clusters, ratio
from workup.scores import Scores
from workup.stats import intervals
from workup.stats.arrays import Floats
from workup.tasks.conversation.cards import CARDS
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.metrics.design import Design, of_row, quotient
from workup.tasks.conversation.metrics.intervals import rate, smooth


def live_metrics(design: Design) -> list[Metric]:
    """Availability and use, conflicting advice, never-events, plans and copying."""

    def of(field: str) -> Column:
        return lambda scores: of_row(scores, columns.whole(field))

    sent = "the transcripts do not say what was sent"
    found = [
        rate("availability", of("sent"), of("sendable"), undefined=sent),
        rate(
            *("use", of("sent_correct"), of("sent")),
            undefined=sent,
        ),
        *_conflict_rates(of),
        rate(
            *("conflict_rate_published", of("published_conflicts"), of("published_turns")),
            undefined="no judge of contradictions was given",
        ),
        rate(
            *("plan_coverage", of("plan_covered"), of("plan_items")),
            undefined="no plan was given and none could be made",
        ),
        rate(
            *("plan_contradicted", of("plan_contradicted"), of("plan_items")),
            undefined="no plan was given and none could be made",
        ),
        _mean(
            *("plan_alignment_published", "alignment", design),
            *("no sentence encoder was given", (-1.0, 1.0)),
        ),
        _mean(
            *("copy_rate", "copied", design),
            *("no reply was given", (0.0, 1.0)),
        ),
        *_never_events(),
    ]
    return found


def _conflict_rates(of: Callable[[str], Column]) -> list[Metric]:
    """K by rules, plain and under its own name.

    The plain K shows what the rules found, and no gate rests on it: people may see what they missed, and then there is
    `conflict_rate{reader=ppi}`. A study that trusts the rules says so, `conflict_rate{judge=rules}`.
    """
    fields: dict[str, Any] = {"undefined": "no two pieces of advice can be compared"}
    by_rules = rate("conflict_rate", of("conflicting"), of("comparable"), at={"judge": "rules"}, **fields)
    reason = (
        "found by rules: conflict_rate{judge=rules} has its interval; labels of pairs give conflict_rate{reader=ppi}"
    )
    plain = rate("conflict_rate", of("conflicting"), of("comparable"), **fields)
    return [replace(plain, interval=lambda scores, level: Interval.refused(reason)), by_rules]


def _mean(name: str, field: str, design: Design, undefined: str, possible: tuple[float, float]) -> Metric:
    return smooth(
        name,
        lambda scores: np.column_stack(
            [of_row(scores, columns.whole(field)), of_row(scores, columns.whole(f"{field}_known"))]
        ),
        quotient,
        draws=design.draws,
        possible=possible,
        undefined=undefined,
    )


FEWEST_FOR_A_RATE = 5  # clusters below which bunches of events tell nothing of a rate


def _never_events() -> list[Metric]:
    """Their number, which is what was seen and has no interval; and the two rates that carry the bounds."""
    count, held = columns.whole("never_events"), columns.whole("conversations")
    none_held = "no conversation was held"

    def number(scores: Scores, weights: Floats) -> Floats:
        return np.asarray(np.where(weights @ of_row(scores, held) > 0, weights @ of_row(scores, count), np.nan))

    def by_cluster(scores: Scores) -> tuple[Floats, Floats, npt.NDArray[np.intp]]:
        """Events and conversations of each cluster, and where its first row stands."""

        def made() -> tuple[Floats, Floats, npt.NDArray[np.intp]]:
            _, first, codes = np.unique(scores.patient, return_index=True, return_inverse=True)
            sums = (np.bincount(codes, weights=of_row(scores, name)) for name in (count, held))
            events, conversations = (np.asarray(one, dtype=np.float64) for one in sums)
            return events, conversations, first

        return scores.kept("never-events by cluster", made)

    def touched(scores: Scores) -> tuple[int, int]:
        events, conversations, _ = by_cluster(scores)
        return int(np.count_nonzero(events[conversations > 0])), int(np.count_nonzero(conversations))

    def share(scores: Scores, weights: Floats) -> Floats:
        events, conversations, first = by_cluster(scores)
        chosen = weights[:, first]  # a replicate weighs all conversations of a cluster alike
        with np.errstate(invalid="ignore", divide="ignore"):
            total = chosen @ (conversations > 0)
            return np.asarray(np.where(total > 0, chosen @ ((events > 0) & (conversations > 0)) / total, np.nan))

    def seen(scores: Scores, level: float) -> Interval:
        hit, clusters = touched(scores)
        reason = f"in {hit} of {clusters} cases; a number that was seen has no interval, the bounds are on the rates"
        return Interval(None, None, None, "counted", reason=reason)

    def exact(scores: Scores, level: float) -> Interval:
        hit, clusters = touched(scores)

        def ends(at: float) -> tuple[float, float]:
            return intervals.clopper_pearson(hit, clusters, level=at)

        se = float(np.sqrt(hit / clusters * (1 - hit / clusters) / clusters))
        reason = f"in {hit} of {clusters} cases"
        return Interval(*ends(level), se, "exact over cases (Clopper and Pearson)", reason=reason, ends=ends)

    def bunched(scores: Scores, level: float) -> Interval:
        events, conversations, _ = by_cluster(scores)
        events, conversations = events[conversations > 0], conversations[conversations > 0]
        method = "gamma on effective events"
        if events.size < FEWEST_FOR_A_RATE:
            few = "1 case is" if events.size == 1 else f"{events.size} cases are"
            return Interval.refused(f"{few} too few for a rate", method=method)
        if not events.any():
            return Interval.refused("none was seen; never_event_rate has the bound", method=method)

        def ends(at: float) -> tuple[float, float]:
            low, high = intervals.event_rate_ends(events, conversations, level=at)
            return 100 * low, 100 * high

        return Interval(*ends(level), None, method, reason=few_clusters(events.size, "cases"), ends=ends)

    return [
        Metric(
            name="never_events",
            compute=number,
            card=CARDS["never_events"],
            interval=seen,
            whole_study=True,  # a number grows with the study: sites are pooled on the rate beside it
            undefined=none_held,
        ),
        Metric(
            name="never_event_rate",
            compute=share,
            card=CARDS["never_event_rate"],
            interval=exact,
            counts=lambda scores: tuple(map(float, touched(scores))),  # type: ignore[arg-type, return-value]
            undefined=none_held,
        ),
        ratio(
            *("never_events_per_100", lambda scores: 100 * of_row(scores, count), lambda scores: of_row(scores, held)),
            share=False,
            card=CARDS["never_events_per_100"],
            interval=bunched,
            undefined=none_held,
        ),
    ]
