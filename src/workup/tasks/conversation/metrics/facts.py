"""What becomes of facts: recall and its three ways to fail, what is stale, what cannot be scored, what is made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workup.metric import Column, Interval, Linear, Metric, linear, ratio
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.tasks.conversation.cards import CARDS
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.metrics.design import TENTH, Design, of_row, summed
from workup.tasks.conversation.metrics.intervals import rate, share_over_cases, t_over_cases

_WITHOUT = "no fact was active and scorable"


def fact_metrics(
    arm: str, kind: str, turns: Sequence[int], *, at: dict[str, Any], weighted: bool = False
) -> list[Metric]:
    """Recall, omission, reversal, wrong values, stale facts, coverage, precision and hallucination over some turns."""

    def of(field: str) -> Column:
        return summed(arm, kind, turns, field)

    def unscorable(scores: Scores) -> Floats:
        return np.asarray(of("facts")(scores) - of("scorable")(scores))

    retired, named = "no fact was retired", "no entity was named"
    shares = [
        ("recall", of("correct"), of("scorable"), _WITHOUT),
        ("omission_rate", of("omitted"), of("scorable"), _WITHOUT),
        ("reversal_rate", of("reversed"), of("scorable"), _WITHOUT),
        ("wrong_value_rate", of("wrong_value"), of("scorable"), _WITHOUT),
        ("stale_rate", of("stale"), of("retired"), retired),
        ("unscorable_rate", unscorable, of("facts"), _WITHOUT),
        ("coverage", of("scorable"), of("facts"), _WITHOUT),
        ("precision", of(columns.SUPPORTED), of(columns.NAMED), named),
        ("hallucination_rate", of(columns.UNGROUNDED), of(columns.NAMED), named),
    ]
    found = [
        rate(name, top, bottom, undefined=undefined, at=at, parity=name == "recall")
        for name, top, bottom, undefined in shares
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

    card = CARDS["recall_weighted"]
    return ratio("recall_weighted", top, bottom, interval=interval, card=card, undefined=_WITHOUT, at=at)


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
    return linear("f1", sums, finish, interval=interval, card=CARDS["f1"], undefined=undefined, at=at)


def recall_at(arm: str, kind: str, design: Design, *, at: dict[str, Any]) -> list[Metric]:
    """Recall at the tenth turn, and at the study's own horizons; only conversations that reach one count there."""
    found = []
    for turn in design.horizons:
        name = "recall_at_horizon" if turn == design.horizon != TENTH else f"recall_at_{turn}"
        found.append(
            rate(
                name,
                summed(arm, kind, (turn,), "correct"),
                summed(arm, kind, (turn,), "scorable"),
                undefined=f"no conversation has a scorable fact at turn {turn}",
                at=at,
            )
        )
    return found


def session_metrics(arm: str, kind: str, design: Design, *, at: dict[str, Any]) -> list[Metric]:
    """Recall and its failures in each session of cases that have several, and recall when the patient is back."""
    if not design.sessions:
        return []

    def of(session: int | str, field: str) -> Column:
        return lambda scores: of_row(scores, columns.of_session(arm, kind, session, field))

    shares = (
        *(("recall", "correct", "scorable"), ("omission_rate", "omitted", "scorable")),
        *(("reversal_rate", "reversed", "scorable"), ("wrong_value_rate", "wrong_value", "scorable")),
        ("coverage", "scorable", "facts"),
    )
    found = [
        rate(name, of(session, top), of(session, bottom), undefined=_WITHOUT, at={**at, "session": session})
        for session in design.sessions
        for name, top, bottom in shares
    ]
    undefined = "no conversation has a scorable fact at the first turn of a later session"
    back = (of(columns.RETURN, "correct"), of(columns.RETURN, "scorable"))
    return [*found, rate("recall_at_return", *back, undefined=undefined, at=at)]
