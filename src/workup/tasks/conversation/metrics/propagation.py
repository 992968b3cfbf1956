"""Errors that spread: what is associated with an error at the turn before, and what an error planted there causes.

The first two are descriptive: a hard case errs twice, and would without any error leading to another. No gate takes
them. The other two compare a conversation with itself, held on from a reply into which an error was put.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workup.metric import Interval, Linear, Metric, few_clusters, linear
from workup.scores import Scores
from workup.stats import intervals
from workup.stats.arrays import Floats
from workup.tasks.conversation.cards import CARDS
from workup.tasks.conversation.metrics.columns import whole
from workup.tasks.conversation.metrics.design import of_row, quotient
from workup.tasks.conversation.metrics.intervals import share_over_cases, t_over_cases

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

    def sums(scores: Scores) -> Floats:
        wrong = of_row(scores, whole("wrong"))
        return np.column_stack([of_row(scores, whole("again")), wrong, (wrong > 0).astype(np.float64)])

    def interval(scores: Scores, level: float) -> Interval:
        again, wrong, _ = sums(scores).T
        return _weighed(share_over_cases(again, wrong, scores, level))

    return linear(
        "persistence",
        sums,
        lambda totals: _if_enough(quotient(totals[..., :2]), totals[..., 2]),
        interval=interval,
        card=CARDS["persistence"],
        undefined=f"fewer than {FEWEST} conversations have an error with a turn behind it",
    )


def _spread(turns: int) -> Metric:
    """New errors on other facts after an error, less those after none, as residuals from the turn's pooled rate.

    After turn t a conversation has y new errors on n facts that were not wrong at t. With r the rate at which such
    facts go wrong at that turn in all conversations, the residual is y − n r; the gap of a conversation is its mean
    residual after turns with an error less that after turns without. It is linear in the rates, so the mean over
    conversations is a function of sums.
    """
    places = range(1, turns)

    def sums(scores: Scores) -> Floats:
        columns = {
            field: [of_row(scores, whole(next_turn(turn, field))) for turn in places]
            for field in (FOLLOWED, ERRED, NEW, AT_RISK)
        }
        followed, erred, new, risk = (np.array(columns[field]).reshape(len(places), len(scores)) for field in columns)
        after, before = erred.sum(axis=0), (followed - erred).sum(axis=0)
        both = (after > 0) & (before > 0)
        share = both * (erred / np.maximum(after, 1.0) - (followed - erred) / np.maximum(before, 1.0))
        return np.column_stack([(share * new).sum(axis=0), both, *(share * risk), *new, *risk])

    def finish(totals: Floats) -> Floats:
        gap, both, rest = totals[..., 0], totals[..., 1], totals[..., 2:]
        expected, new, risk = (rest[..., part * len(places) : (part + 1) * len(places)] for part in range(3))
        rates = np.where(risk > 0, new / np.where(risk > 0, risk, 1.0), 0.0)
        mean = (gap - (rates * expected).sum(axis=-1)) / np.where(both > 0, both, 1.0)
        return _if_enough(mean, both)

    form = Linear(sums, finish)

    def interval(scores: Scores, level: float) -> Interval:
        return _weighed(t_over_cases(form, scores, level))

    return linear(
        "spread",
        sums,
        finish,
        interval=interval,
        card=CARDS["spread"],
        undefined=f"fewer than {FEWEST} conversations have turns behind an error and turns behind none",
    )


def _if_enough(value: Floats, conversations: Floats) -> Floats:
    return np.asarray(np.where(conversations > FEWEST - 0.5, value, np.nan), dtype=np.float64)


def _weighed(found: Interval) -> Interval:
    return replace(found, reason="; ".join(filter(None, (_DESCRIPTIVE, found.reason))))


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
        return np.asarray(found * float(_clusters(found[:, 2], scores) >= FEWEST))

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
