"""What becomes of facts: recall and its three ways to fail, what is stale, what cannot be scored, what is made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workup.metric import Column, Concern, Interval, Linear, Metric, linear, ratio
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.metrics.design import TENTH, Design, summed
from workup.tasks.conversation.metrics.intervals import rate, share_over_cases, t_over_cases

_RECALL = Concern(0.05, 0.10, 0.10)  # falls of recall over time that matter, by custom
_WITHOUT = "no fact was active and scorable"


def fact_metrics(
    arm: str, kind: str, turns: Sequence[int], *, at: dict[str, Any], weighted: bool = False
) -> list[Metric]:
    """Recall, omission, reversal, wrong values, stale facts, coverage, precision and hallucination over some turns."""

    def of(field: str) -> Column:
        return summed(arm, kind, turns, field)

    def unscorable(scores: Scores) -> Floats:
        return np.asarray(of("facts")(scores) - of("scorable")(scores))

    shares: list[tuple[str, Column, Column, str, str, str]] = [
        (
            "recall",
            of("correct"),
            of("scorable"),
            "share of facts that are kept, right in status and value",
            "",
            "higher",
        ),
        ("omission_rate", of("omitted"), of("scorable"), "share of facts that go unmentioned", "", "lower"),
        ("reversal_rate", of("reversed"), of("scorable"), "share of facts said to be otherwise", "", "lower"),
        ("wrong_value_rate", of("wrong_value"), of("scorable"), "share of facts with a wrong value", "", "lower"),
        ("stale_rate", of("stale"), of("retired"), "share of retired facts still said", "no fact was retired", "lower"),
        ("unscorable_rate", unscorable, of("facts"), "share of facts of which no reply can be read", "", "lower"),
        ("coverage", of("scorable"), of("facts"), "share of facts of which a reply can be read", "", "higher"),
        (
            *(
                "precision",
                of(columns.SUPPORTED),
                of(columns.NAMED),
                "share of entities named that are facts of the set",
            ),
            *("no entity was named", "higher"),
        ),
        (
            *(
                "hallucination_rate",
                of(columns.UNGROUNDED),
                of(columns.NAMED),
                "share of entities that nobody mentioned",
            ),
            *("no entity was named", "lower"),
        ),
    ]
    found = [
        rate(
            name,
            top,
            bottom,
            describe=describe,
            undefined=undefined or _WITHOUT,
            better=better,
            at=at,
            parity=name == "recall",
            concern=_RECALL if name == "recall" else None,
        )
        for name, top, bottom, describe, undefined, better in shares
    ]
    found.append(_f1(of, at))
    if weighted:
        found.append(_weighted(of, at))
    return found


def _weighted(of: Callable[[str], Column], at: dict[str, Any]) -> Metric:
    top, bottom, facts = of("weight_correct"), of("weight_scorable"), of("scorable")

    def interval(scores: Scores, level: float) -> Interval:
        # Facts are counted as facts: twice the weight on each of them tells no more than before.
        unit = float(facts(scores).sum() / bottom(scores).sum())
        return share_over_cases(unit * top(scores), unit * bottom(scores), scores, level)

    described = "share of facts kept, each by its weight"
    return ratio("recall_weighted", top, bottom, interval=interval, describe=described, undefined=_WITHOUT, at=at)


def _f1(of: Callable[[str], Column], at: dict[str, Any]) -> Metric:
    def sums(scores: Scores) -> Floats:
        fields = ("correct", "scorable", columns.SUPPORTED, columns.NAMED)
        return np.column_stack([of(field)(scores) for field in fields])

    def finish(totals: Floats) -> Floats:
        kept, facts, supported, named = (totals[..., i] for i in range(4))
        with np.errstate(invalid="ignore", divide="ignore"):
            recall, precision = kept / facts, supported / named
            value = np.where((kept <= 0) | (supported <= 0), 0.0, 2 * precision * recall / (precision + recall))
        return np.asarray(np.where((facts > 0) & (named > 0), value, np.nan))

    form = Linear(sums, finish)

    def interval(scores: Scores, level: float) -> Interval:
        # There is one for each turn, arm and set: t at any number of clusters, since resampling would add little.
        return t_over_cases(form, scores, level, possible=(0.0, 1.0))

    undefined = "no fact was scorable or no entity was named"
    described = "harmonic mean of precision and recall"
    return linear("f1", sums, finish, interval=interval, describe=described, undefined=undefined, at=at)


def recall_at(arm: str, kind: str, design: Design, *, at: dict[str, Any]) -> list[Metric]:
    """Recall at the tenth turn, and at the study's own horizon; only conversations that reach it count."""
    found = []
    for turn in design.horizons:
        name = "recall_at_10" if turn == TENTH else "recall_at_horizon"
        found.append(
            rate(
                name,
                summed(arm, kind, (turn,), "correct"),
                summed(arm, kind, (turn,), "scorable"),
                describe=f"share of facts kept at turn {turn}",
                undefined=f"no conversation has a scorable fact at turn {turn}",
                at=at,
            )
        )
    return found
