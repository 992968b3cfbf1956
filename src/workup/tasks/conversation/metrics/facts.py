"""What becomes of facts: recall and its three ways to fail, what is stale, what cannot be scored, what is made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workup.metric import Column, Interval, Linear, Metric, linear, ratio
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.tasks.conversation.cards import CARDS
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.metrics.design import TENTH, Design, of_row, summed
from workup.tasks.conversation.metrics.intervals import rate, share_over_cases, t_over_cases
from workup.tasks.conversation.metrics.types import ALWAYS_SHOWN, BY_TYPE, DOSE, FEWEST_CLUSTERS_OF_TYPE, SAFETY

LEAST_COVERAGE = 0.95  # share of scorable facts below which the headline is withheld
UNANSWERED = columns.UNREAD[:3]  # counted as lost in `recall{unanswered=lost}`; a failed call is nobody's answer

NOBODY_ASKED = "nobody asked for the facts at this turn"
_WITHOUT = "no fact was active and scorable"
_UNMENTIONED = "no reply speaks of such a fact"
# What a turn shows by itself; everything else at a turn is counted in the table `by_turn`.
OF_TURN = ("recall", "reversal_rate", "coverage")


def fact_metrics(
    arm: str,
    kind: str,
    turns: Sequence[int],
    *,
    at: dict[str, Any],
    weighted: bool = False,
    asked: bool = True,
    only: Sequence[str] = (),
) -> list[Metric]:
    """Recall, omission, reversal, wrong values, stale facts, coverage, precision and hallucination over some turns.

    Where not everybody was `asked`, a figure without a fact to rest on says so; `only` names those that are wanted.
    """

    def of(field: str) -> Column:
        return summed(arm, kind, turns, field)

    def answered(scores: Scores) -> Floats:
        return np.asarray(of("scorable")(scores) + sum(of(name)(scores) for name in UNANSWERED))

    without = _WITHOUT if asked else NOBODY_ASKED
    retired = "no fact was retired" if asked else NOBODY_ASKED
    named = "no entity was named"
    shares = [
        ("recall", of("correct"), of("scorable"), without),
        ("omission_rate", of("omitted"), of("scorable"), without),
        ("reversal_rate", of("reversed"), of("scorable"), without),
        ("wrong_value_rate", of("wrong_value"), of("scorable"), without),
        ("stale_rate", of("stale"), of("retired"), retired),
        ("refusal_rate", of("refused"), of("facts"), without),
        ("truncation_rate", of("truncated"), of("facts"), without),
        ("other_language_rate", of("other_language"), of("facts"), without),
        ("unscorable_rate", of("unscorable"), of("facts"), without),
        ("coverage", of("scorable"), of("facts"), without),
        ("precision", of(columns.SUPPORTED), of(columns.LISTED), named if asked else NOBODY_ASKED),
        ("hallucination_rate", of(columns.UNGROUNDED), of(columns.NAMED), named),
    ]
    found = [
        rate(name, top, bottom, undefined=undefined, at=at, parity=name == "recall")
        for name, top, bottom, undefined in shares
        if not only or name in only
    ]
    if only:
        return found
    lost = {**at, "unanswered": "lost"}
    found.append(rate("recall", of("correct"), answered, undefined=without, at=lost))
    found.append(_f1(of, at))
    if weighted:
        found.append(_weighted(of, at))
    return found


def mentioned_metrics(arm: str, kind: str, turns: Sequence[int], *, at: dict[str, Any]) -> list[Metric]:
    """What replies get wrong of the facts that they speak of although nobody asked: all that can be told there."""

    def of(field: str) -> Column:
        return summed(arm, kind, turns, field)

    basis = {**at, "basis": "mentioned"}
    return [
        rate(name, of(f"mentioned_{top}"), of(bottom), undefined=_UNMENTIONED, at=basis)
        for name, top, bottom in (
            ("reversal_rate", "reversed", "mentioned"),
            ("wrong_value_rate", "wrong_value", "mentioned"),
            ("stale_rate", "stale", "mentioned_retired"),
        )
    ]


def type_metrics(design: Design) -> list[Metric]:
    """The fact rates of every type of fact that the cases hold, over all turns; and recall at the horizons."""
    kind, arm = design.primary
    found = []
    for type in BY_TYPE:
        if type not in design.types and type not in ALWAYS_SHOWN:
            continue
        at = {"set": kind, "arm": arm, "type": type}
        absent = f"no {_NAMES.get(type, type)} in these cases" if type not in design.types else ""
        without = absent or (_WITHOUT if design.asked else NOBODY_ASKED)
        rates = [
            ("recall", "correct", "scorable", None),
            ("omission_rate", "omitted", "scorable", None),
            ("reversal_rate", "reversed", "scorable", None),
            ("wrong_value_rate", "wrong_value", "scorable", None),
            ("stale_rate", "stale", "retired", None),
            ("coverage", "scorable", "facts", None),
            *(("recall_at_10" if turn == TENTH else "recall_at_horizon", *_KEPT, turn) for turn in design.horizons),
        ]
        for name, top, bottom, turn in rates:
            if type == DOSE and name not in _OF_DOSE:
                continue
            columns_of = [_typed(columns.of_type(arm, kind, type, field, turn)) for field in (top, bottom)]
            undefined = without if name != "stale_rate" else absent or "no fact of this type was retired"
            made = _in_enough_clusters(rate(name, *columns_of, undefined=undefined, at=at))
            if name not in ("coverage", "stale_rate"):
                fields = [_typed(columns.of_type(arm, kind, type, one, turn)) for one in ("scorable", "facts")]
                made = _if_answered(made, *fields)
            found.append(made)
    return found


_KEPT = ("correct", "scorable")
_OF_DOSE = ("recall", "wrong_value_rate", "recall_at_10", "recall_at_horizon")
_NAMES = {SAFETY: "fact of the safety group", DOSE: "drug with a dose"}


def _typed(name: str) -> Column:
    return lambda scores: of_row(scores, name)


def _if_answered(metric: Metric, scorable: Column, facts: Column) -> Metric:
    """Withheld where too few of the very facts that it rests on could be scored: a model that declines to speak of
    allergies alone, or falls silent at the last turn, hides little of all facts and everything of these."""
    own = metric.interval
    assert own is not None

    def interval(scores: Scores, level: float) -> Interval:
        read, asked = (float(scores.base_weight @ one(scores)) for one in (scorable, facts))
        if asked and read / asked < LEAST_COVERAGE:
            why = f"only {read / asked:.1%} of these facts could be scored; {LEAST_COVERAGE:.0%} are needed"
            return Interval.refused(why, status="withheld")
        return own(scores, level)

    return replace(metric, interval=interval)


def _in_enough_clusters(metric: Metric) -> Metric:
    """Without an interval, and so without a verdict, where too few clusters have a fact of the type."""
    own, counts = metric.interval, metric.linear
    assert own is not None and counts is not None

    def interval(scores: Scores, level: float) -> Interval:
        clusters = np.unique(scores.patient[counts.columns(scores)[:, 1] > 0]).size
        if clusters < FEWEST_CLUSTERS_OF_TYPE:
            few = "1 patient has" if clusters == 1 else f"{clusters} patients have"
            why = f"{few} such a fact; a verdict needs at least {FEWEST_CLUSTERS_OF_TYPE}"
            return replace(Interval.refused(why), clusters=clusters)
        return own(scores, level)

    return replace(metric, interval=interval)


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
        fields = ("correct", "scorable", columns.SUPPORTED, columns.LISTED)
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
        made = rate(
            name,
            summed(arm, kind, (turn,), "correct"),
            summed(arm, kind, (turn,), "scorable"),
            undefined=f"no conversation has a scorable fact at turn {turn}" if design.asked else NOBODY_ASKED,
            at=at,
        )
        found.append(_if_answered(made, *(summed(arm, kind, (turn,), field) for field in ("scorable", "facts"))))
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
