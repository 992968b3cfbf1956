"""Errors that spread: what is associated with an error at the turn before, and what an error planted there causes.

The first two are descriptive: a hard case errs twice, and would without any error leading to another. No gate takes
them. The other two compare a conversation with itself, held on from a reply into which an error was put.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workup.metric import Interval, Metric, few_clusters, linear
from workup.scores import Scores
from workup.stats import intervals
from workup.stats.arrays import Floats
from workup.tasks.conversation.cards import CARDS
from workup.tasks.conversation.metrics.columns import whole
from workup.tasks.conversation.metrics.design import of_row, quotient
from workup.tasks.conversation.metrics.intervals import rate, t_over_cases

FEWEST = 10  # conversations, or clusters for what a slip causes, below which nothing is told
FOLLOWED, ERRED, NEW, AT_RISK = "followed", "erred", "new", "at_risk"
OTHERS = "others"
_SLIPS = ("dose", "denial")
_DESCRIPTIVE = "descriptive: a hard case errs twice, so this shows no cause; no gate takes it"


def next_turn(turn: int, field: str) -> str:
    """A count of what follows a turn in the conversation as it was held, before it is named as such."""
    return f"next|{turn}|{field}"


def of_slip(arm: str, part: str, field: str) -> str:
    """A count at the horizon: of facts that were slipped, by the kind of the error, or of the others."""
    return f"{arm}|slip|{part}|{field}"


def propagation_metrics(arms: Sequence[str], turns: int) -> list[Metric]:
    """`persistence` and `spread` of errors as they came, and what each arm of slips caused."""
    found = [_persistence(), _spread(turns)]
    for arm in arms:
        found += _slip_metrics(arm)
    return found


# ---- errors as they came -------------------------------------------------------------------------------------------


def _persistence() -> Metric:
    """P(the same fact is wrong at the next turn | it is wrong at this one)."""

    def of(field: str, scores: Scores) -> Floats:
        wrong = of_row(scores, whole("wrong"))
        enough = np.count_nonzero(wrong) >= FEWEST
        return np.asarray(of_row(scores, whole(field)) * enough, dtype=np.float64)

    made = rate(
        *("persistence", lambda scores: of("again", scores), lambda scores: of("wrong", scores)),
        undefined=f"fewer than {FEWEST} conversations have an error with a turn behind it",
    )
    return _descriptive(made)


def _spread(turns: int) -> Metric:
    """New errors on other facts after an error, less those after none, as residuals from the turn's pooled rate."""

    def columns(scores: Scores) -> Floats:
        gaps, both = spread_of(scores, turns)
        enough = float(np.count_nonzero(both) >= FEWEST)
        return np.column_stack([np.where(both, gaps, 0.0) * enough, both * enough])

    made = linear(
        "spread",
        columns,
        quotient,
        card=CARDS["spread"],
        undefined=f"fewer than {FEWEST} conversations have turns behind an error and turns behind none",
    )
    assert made.linear is not None
    form = made.linear
    return _descriptive(replace(made, interval=lambda scores, level: t_over_cases(form, scores, level)))


def spread_of(scores: Scores, turns: int) -> tuple[Floats, Floats]:
    """For each conversation its own gap, and whether it has both kinds of turns.

    After turn t a conversation has y new errors on n facts that were not wrong at t. With r the rate at which such
    facts go wrong at that turn in all conversations, the residual is y − n r; the gap is the mean residual after turns
    with an error less the mean after turns without.
    """
    sums = np.zeros((2, len(scores)))  # [after none, after an error]
    times = np.zeros((2, len(scores)))
    for turn in range(1, turns):
        followed, erred, new, risk = (
            of_row(scores, whole(next_turn(turn, field))) for field in (FOLLOWED, ERRED, NEW, AT_RISK)
        )
        total = float(scores.base_weight @ risk)
        if total <= 0:
            continue
        residual = new - risk * float(scores.base_weight @ new) / total
        for after, seen in enumerate((followed - erred, erred)):
            sums[after] += seen * residual
            times[after] += seen
    both = (times > 0).all(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        gaps = np.where(both, sums[1] / times[1] - sums[0] / times[0], np.nan)
    return np.asarray(gaps, dtype=np.float64), np.asarray(both, dtype=np.float64)


def _descriptive(metric: Metric) -> Metric:
    """Shown with its interval and judged by nobody."""
    own = metric.interval
    assert own is not None

    def interval(scores: Scores, level: float) -> Interval:
        found = own(scores, level)
        if found.status != "ok":
            return found
        return replace(found, status="insufficient", reason="; ".join(filter(None, (_DESCRIPTIVE, found.reason))))

    return replace(metric, interval=interval)


# ---- errors that were planted --------------------------------------------------------------------------------------


def _slip_metrics(arm: str) -> list[Metric]:
    return [
        _caused("slip_persistence", arm, _SLIPS, ("live", "slip"), {"arm": arm}),
        *(_caused("slip_persistence", arm, (kind,), ("live", "slip"), {"arm": arm, "slip": kind}) for kind in _SLIPS),
        _caused("slip_spread", arm, (OTHERS,), ("slip", "live"), {"arm": arm}),
    ]


def _caused(name: str, arm: str, parts: Sequence[str], sides: tuple[str, str], at: dict[str, str]) -> Metric:
    """A share of facts on the second side less that on the first, of the same facts of the same cases."""

    def of(field: str, scores: Scores) -> Floats:
        return np.asarray(np.sum([of_row(scores, of_slip(arm, part, field)) for part in parts], axis=0))

    def columns(scores: Scores) -> Floats:
        found = np.column_stack([of(field, scores) for field in (*sides, "units")])
        return found * float(_clusters(found[:, 2], scores) >= FEWEST)

    def finish(sums: Floats) -> Floats:
        return quotient(np.stack([sums[..., 1] - sums[..., 0], sums[..., 2]], axis=-1))

    def interval(scores: Scores, level: float) -> Interval:
        first, second, units = columns(scores).T
        clusters = _clusters(units, scores)

        def ends(at: float) -> tuple[float, float]:
            gap = intervals.share_difference(
                np.stack([first, units]), np.stack([second, units]), scores.patient, scores.base_weight, level=at
            )
            return gap.low, gap.high

        return Interval(*ends(level), None, "same facts of the same cases", reason=few_clusters(clusters), ends=ends)

    undefined = f"fewer than {FEWEST} patients have such a fact that could be read in both arms"
    return linear(name, columns, finish, interval=interval, card=CARDS[name], undefined=undefined, at=at)


def _clusters(units: Floats, scores: Scores) -> int:
    return int(np.unique(scores.patient[units > 0]).size)
