"""Decay over turns: slopes over turns and tokens, the time until a fact is lost, and what the conversation costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workup.metric import Interval, Metric, few_clusters, linear
from workup.scores import Scores
from workup.stats import intervals, logistic
from workup.stats.arrays import Floats
from workup.tasks.conversation.cards import CARDS
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.metrics.design import Design, of_row, quotient, summed
from workup.tasks.conversation.metrics.facts import NOBODY_ASKED
from workup.tasks.conversation.metrics.intervals import share_over_cases, smooth


def decay_metrics(arm: str, kind: str, design: Design, *, at: dict[str, Any]) -> list[Metric]:
    """Slopes over turns and tokens, and the time until a fact is lost."""
    two = "no conversation has two turns with a scorable fact" if design.asked else NOBODY_ASKED
    found = [
        _mean_slope("decay_slope", columns.of_arm(arm, kind, "slope"), design, two, at),
        *([_logistic(arm, kind, design, at)] if design.published else []),
        *(loss_metric(arm, kind, loss, design, at=at) for loss in columns.LOSSES),
    ]
    if arm == "live":
        found.append(_mean_slope("decay_slope_tokens", columns.of_arm(arm, kind, "token_slope"), design, two, at))
    return found


def _logistic(arm: str, kind: str, design: Design, at: dict[str, Any]) -> Metric:
    turns = range(1, design.turns + 1)

    def over_turns(scores: Scores) -> Floats:
        kept = [summed(arm, kind, (turn,), "correct")(scores) for turn in turns]
        facts = [summed(arm, kind, (turn,), "scorable")(scores) for turn in turns]
        return np.column_stack([*kept, *facts])

    return smooth(
        "decay_slope_logistic",
        over_turns,
        _logistic_slope,
        draws=design.draws,
        undefined="no finite slope: fewer than two turns, or recall is all or nothing",
        at=at,
    )


def _mean_slope(name: str, column: str, design: Design, undefined: str, at: dict[str, Any]) -> Metric:
    return smooth(
        name,
        lambda scores: np.column_stack([of_row(scores, column), of_row(scores, f"{column}_known")]),
        quotient,
        draws=design.draws,
        undefined=undefined,
        at=at,
    )


def _logistic_slope(sums: Floats) -> Floats:
    """The slope of a logistic line through kept / facts by turn, for each row of sums."""
    flat = sums.reshape(-1, sums.shape[-1])
    turns = sums.shape[-1] // 2
    kept, facts = flat[:, :turns], np.maximum(flat[:, turns:], 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(facts > 0, np.clip(kept / facts, 0.0, 1.0), 0.0)
    design = np.column_stack([np.ones(turns), np.arange(1.0, turns + 1)])
    found = np.full(len(flat), np.nan)
    enough = (facts > 0).sum(axis=1) >= 2
    some = enough & (kept.sum(axis=1) > 0) & (kept.sum(axis=1) < facts.sum(axis=1))
    if some.any():
        found[some] = logistic.fit(design, share[some], facts[some]).coefficients[:, 1]
    return found.reshape(sums.shape[:-1])


def loss_metric(arm: str, kind: str, loss: str, design: Design, *, at: dict[str, Any]) -> Metric:
    """The mean time until a fact is lost, restricted to the clock, from Kaplan and Meier's curve."""
    ticks = range(1, design.clock + 1)

    def sums(scores: Scores) -> Floats:
        lost = [of_row(scores, columns.of_loss(arm, kind, loss, "lost", tick)) for tick in ticks]
        risk = [of_row(scores, columns.of_loss(arm, kind, loss, "risk", tick)) for tick in ticks]
        return np.column_stack([*lost, *risk])

    return smooth(
        "time_to_loss",
        sums,
        restricted_mean,
        draws=design.draws,
        possible=(1.0, float(design.clock)),
        undefined=f"no fact was followed long enough for a mean restricted to {design.clock} turns"
        if design.asked
        else NOBODY_ASKED,
        at={**at, "loss": loss} if loss != "first" else at,
    )


def survival(sums: Floats) -> Floats:
    """Kaplan and Meier's curve at each tick from sums of lost and at risk; NaN once nobody is followed."""
    ticks = sums.shape[-1] // 2
    lost, risk = sums[..., :ticks], sums[..., ticks:]
    with np.errstate(invalid="ignore", divide="ignore"):
        kept = np.where(risk > 0, 1 - lost / risk, np.nan)
    curve = np.cumprod(kept, axis=-1)
    gone = np.cumsum(np.nan_to_num(kept, nan=1.0) <= 0, axis=-1) > 0
    return np.asarray(np.where(gone, 0.0, curve))


def restricted_mean(sums: Floats) -> Floats:
    """The area under the curve to its last tick."""
    curve = survival(sums)
    return np.asarray(1.0 + curve[..., :-1].sum(axis=-1))


# ---- live against oracle ---------------------------------------------------------------------------------------------


def gap_metrics(kind: str, design: Design) -> list[Metric]:
    """Recall as it was held less recall with the facts alone before the model: what the conversation itself costs."""
    every = tuple(range(1, design.turns + 1))
    at = {"set": kind, "arm": "live"}
    found = [_gap(kind, every, design, at)]
    turns = design.by_turn if kind == "critical" else design.horizons
    return found + [_gap(kind, (turn,), design, {**at, "turn": turn}) for turn in turns]


BROKEN = "the ceiling is broken: live {:.2f}, oracle {:.2f}; the oracle's prompt or the reader is at fault"


def _gap(kind: str, turns: Sequence[int], design: Design, at: dict[str, Any]) -> Metric:
    parts = [summed(arm, kind, turns, field) for arm in ("live", "oracle") for field in ("correct", "scorable")]

    def sums(scores: Scores) -> Floats:
        return np.column_stack([part(scores) for part in parts])

    def finish(totals: Floats) -> Floats:
        return np.asarray(quotient(totals[..., :2]) - quotient(totals[..., 2:]))

    def interval(scores: Scores, level: float) -> Interval:
        columns_of = sums(scores)
        live, oracle = columns_of[:, :2].T, columns_of[:, 2:].T
        clusters = np.unique(scores.patient[(live[1] > 0) | (oracle[1] > 0)]).size
        if clusters < 2:
            return Interval.refused("one patient; an interval needs at least two", method=_GAP)
        if broken := _broken(live, oracle, scores):
            return Interval.refused(broken, status="withheld")

        def ends(at: float) -> tuple[float, float]:
            found = intervals.share_difference(oracle, live, scores.patient, scores.base_weight, level=at)
            return found.low, found.high

        low, high = ends(level)
        # What the interval stands for, so that a site without any gap keeps its weight where sites are pooled.
        wide = ends(0.95)
        se = (wide[1] - wide[0]) / (2 * intervals.z_critical(0.95))
        reason = few_clusters(clusters, "patients")
        ceiling = _no_gap(live[1], scores, level)
        return Interval(low, high, se, _GAP, reason=reason, ends=ends, clusters=clusters, ceiling=ceiling)

    undefined = (
        "no oracle arm was run" if "oracle" not in design.arms else "the arms live and oracle were not both scored"
    )
    return linear(
        "decay_gap",
        sums,
        finish,
        interval=interval,
        card=CARDS["decay_gap"],
        undefined=undefined if design.asked else NOBODY_ASKED,
        at=at,
    )


_GAP = "paired shares over patients"


def _no_gap(facts: Floats, scores: Scores, level: float) -> float:
    """The low end where both arms keep every fact: the most that so many patients can show."""
    kept = np.vstack([facts, facts])
    return intervals.share_difference(kept, kept, scores.patient, scores.base_weight, level=level).low


def _broken(live: Floats, oracle: Floats, scores: Scores) -> str:
    """Why no gap can be told: a model that keeps more in the conversation than with the facts alone before it shows
    that something is wrong with how the ceiling was found."""
    kept = [share_over_cases(top, bottom, scores, 0.95) for top, bottom in (live, oracle)]
    if kept[0].low is None or kept[1].high is None or kept[0].low <= kept[1].high:
        return ""
    values = [float(scores.base_weight @ top / (scores.base_weight @ bottom)) for top, bottom in (live, oracle)]
    return BROKEN.format(*values)
