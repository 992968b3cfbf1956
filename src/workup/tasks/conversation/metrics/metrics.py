"""The metrics of chat models over Scores whose rows are conversations: recall by turn, decay, loss, conflict, harm.

Columns hold counts by arm, set and turn, so nearly every metric is a function of weighted sums."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workup.metric import Interval, Metric, Status
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.metrics.decay import decay_metrics, gap_metrics
from workup.tasks.conversation.metrics.design import Design, of_row
from workup.tasks.conversation.metrics.facts import (
    LEAST_COVERAGE,
    NOBODY_ASKED,
    OF_TURN,
    UNANSWERED,
    fact_metrics,
    mentioned_metrics,
    recall_at,
    session_metrics,
    type_metrics,
)
from workup.tasks.conversation.metrics.held import live_metrics
from workup.tasks.conversation.metrics.propagation import propagation_metrics
from workup.tasks.conversation.metrics.quality import quality_metrics

__all__ = [
    "LEAST_COVERAGE",
    "NOBODY_ASKED",
    "Design",
    "conversation_metrics",
    "coverage_of",
    "guarded",
    "unchecked",
    "uncovered",
]

# How much was missing is told whatever it is, and people's ratings rest on what they read.
_TOLD_ANYWAY = frozenset(
    {"coverage", "refusal_rate", "truncation_rate", "other_language_rate", "unscorable_rate", "pdsqi"}
)
# What is read in the replies to the patient, which no probe is needed for.
_OF_REPLIES = frozenset(
    {
        *("never_events", "never_event_rate", "never_events_per_100", "conflict_rate", "conflicted_rate"),
        *("plan_coverage", "plan_contradicted"),
    }
)
_TURN_ARMS = ("live", "oracle")
# Of arms that serve as ceiling and floor: what became of the facts, and how much could be read.
BESIDE_LIVE = (
    *("recall", "omission_rate", "reversal_rate", "wrong_value_rate", "coverage"),
    *("precision", "hallucination_rate"),
)


def conversation_metrics(design: Design) -> list[Metric]:
    """Every metric in every arm, set and turn that there is."""
    found: list[Metric] = []
    for arm in design.arms:
        for kind in columns.SETS:
            at = {"set": kind, "arm": arm}
            every = range(1, design.turns + 1)
            only = () if arm == "live" else BESIDE_LIVE
            found += fact_metrics(arm, kind, every, at=at, weighted=design.weighted, asked=design.asked, only=only)
            if arm == "live" and design.unasked:
                found += mentioned_metrics(arm, kind, every, at=at)
            for turn in design.by_turn if kind == "critical" and arm in _TURN_ARMS else ():
                found += fact_metrics(arm, kind, (turn,), at={**at, "turn": turn}, asked=design.asked, only=OF_TURN)
            found += recall_at(arm, kind, design, at=at)
            found += session_metrics(arm, kind, design, at=at)
            found += decay_metrics(arm, kind, design, at=at)
    found += type_metrics(design)
    for kind in columns.SETS:
        found += gap_metrics(kind, design)
    found += live_metrics(design)
    found += quality_metrics(design.draws)
    found += design.more
    found += propagation_metrics(design.slips, design.turns)
    return [guarded(metric, reason=design.withheld) for metric in found]


def guarded(metric: Metric, *, reason: str = "") -> Metric:
    """A number that rests on too few of the facts: withheld where it is a headline, without an interval elsewhere.

    No gate can then rest on it. Each slice is asked for its own coverage: one site's failed calls must not hide among
    those of the others. `reason` is why nothing of the live conversations of the whole study may be shown.
    """
    if metric.name in _TOLD_ANYWAY:
        return metric
    status: Status = "withheld" if _is_headline(metric) else "insufficient"
    kind, arm = metric.at.get("set", "critical"), metric.at.get("arm", "live")
    arms = (arm, "oracle") if metric.name == "decay_gap" else (arm,)
    lost = "unanswered" in metric.at  # where what was declined or cut off counts as lost, it hides nothing
    everywhere = reason if arm == "live" and not lost else ""
    read = metric.name in _OF_REPLIES
    own = metric.interval
    assert own is not None

    def interval(scores: Scores, level: float) -> Interval:
        why = everywhere or next(filter(None, (uncovered(scores, one, kind, lost=lost) for one in arms)), "")
        why = why or (unread(scores) if read else "")
        return Interval.refused(why, status=status) if why else own(scores, level)

    return replace(metric, interval=interval)


def unread(scores: Scores) -> str:
    """Why what replies say may not be relied on: too many are in a language that is not read here."""
    replies, foreign = (
        float(scores.base_weight @ of_row(scores, columns.whole(name))) for name in ("replies", "foreign_replies")
    )
    if not replies or 1 - foreign / replies >= LEAST_COVERAGE:
        return ""
    return f"{foreign / replies:.1%} of the replies are in another language, in which nothing can be read"


def unchecked(metric: Metric, number: int) -> Metric:
    """A figure of cases that are drafts: shown without an interval, and a count of harm not at all, for a gate would
    take it as it stands. No gate can rest on either."""
    reason = f"{number:,} of the cases are drafts that nobody has checked"
    made = replace(metric, interval=lambda scores, level: Interval.refused(reason, status="insufficient"))
    if metric.card is None or not metric.card.harm:
        return made

    def nothing(scores: Scores, weights: Floats) -> Floats:
        return np.full(len(np.atleast_2d(weights)), np.nan)

    return replace(made, compute=nothing, linear=None, undefined=f"{reason}; the table lists what was found")


def uncovered(scores: Scores, arm: str = "live", kind: str = "critical", *, lost: bool = False) -> str:
    """Why the numbers of an arm and set may not be relied on; empty where enough of its facts could be scored.

    With `lost`, replies that are no answer count as facts lost, so they leave nothing open.
    """
    scorable, facts = coverage_of(scores, arm, kind, lost=lost)
    if not facts or scorable / facts >= LEAST_COVERAGE:
        return ""
    which = "" if arm == "live" else f" in the arm {arm}"
    return (
        f"only {scorable / facts:.1%} of the facts could be scored{which}; below {LEAST_COVERAGE:.0%} what was "
        "declined, cut off, failed or is missing could hide any answer"
    )


def coverage_of(
    scores: Scores, arm: str = "live", kind: str = "critical", *, lost: bool = False
) -> tuple[float, float]:
    """Scorable facts of an arm and set and all that were asked for, over all turns."""
    scored = ("|scorable", *(f"|{one}" for one in UNANSWERED)) if lost else ("|scorable",)

    def both() -> tuple[float, float]:
        weight, head = scores.base_weight, f"{arm}|{kind}|"
        named = [name for name in scores.values if name.startswith(head)]
        scorable = sum(float(weight @ scores.values[name]) for name in named if name.endswith(scored))
        facts = sum(float(weight @ scores.values[name]) for name in named if name.endswith("|facts"))
        return scorable, facts

    return scores.kept(f"coverage {arm} {kind} {lost}", both)


def _is_headline(metric: Metric) -> bool:
    named = metric.name.startswith("recall_at_") or metric.name in ("decay_slope", "time_to_loss")
    whole = metric.name == "recall" and not {"turn", "unanswered"} & set(metric.at)
    return metric.at.get("arm", "live") == "live" and (named or whole or metric.name == "decay_gap")
