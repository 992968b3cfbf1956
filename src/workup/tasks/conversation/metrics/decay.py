"""Decay over turns: slopes over turns and tokens, the time until a fact is lost, and what the conversation costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workup.metric import Interval, Metric
from workup.scores import Scores
from workup.stats import intervals, logistic
from workup.stats.arrays import Floats
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.metrics.design import Design, of_row, quotient, summed
from workup.tasks.conversation.metrics.intervals import share_over_cases, smooth


def decay_metrics(arm: str, kind: str, design: Design, *, at: dict[str, Any]) -> list[Metric]:
    """Slopes over turns and tokens, and the time until a fact is lost."""
    turns = range(1, design.turns + 1)

    def over_turns(scores: Scores) -> Floats:
        kept = [summed(arm, kind, (turn,), "correct")(scores) for turn in turns]
        facts = [summed(arm, kind, (turn,), "scorable")(scores) for turn in turns]
        return np.column_stack([*kept, *facts])

    two = "no conversation has two turns with a scorable fact"
    found = [
        _mean_slope("decay_slope", columns.of_arm(arm, kind, "slope"), design, two, at),
        smooth(
            "decay_slope_logistic",
            over_turns,
            _logistic_slope,
            draws=design.draws,
            undefined="no finite slope: fewer than two turns, or recall is all or nothing",
            at=at,
        ),
        *(loss_metric(arm, kind, loss, design, at=at) for loss in columns.LOSSES),
    ]
    if arm == "live":
        found.append(_mean_slope("decay_slope_tokens", columns.of_arm(arm, kind, "token_slope"), design, two, at))
    return found


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
        undefined=f"no fact was followed long enough for a mean restricted to {design.clock} turns",
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
    return found + [_gap(kind, (turn,), design, {**at, "turn": turn}) for turn in design.by_turn]


def _gap(kind: str, turns: Sequence[int], design: Design, at: dict[str, Any]) -> Metric:
    parts = [summed(arm, kind, turns, field) for arm in ("live", "oracle") for field in ("correct", "scorable")]

    def sums(scores: Scores) -> Floats:
        return np.column_stack([part(scores) for part in parts])

    def finish(totals: Floats) -> Floats:
        return np.asarray(quotient(totals[..., :2]) - quotient(totals[..., 2:]))

    made = smooth(
        "decay_gap",
        sums,
        finish,
        draws=design.draws,
        possible=(-1.0, 1.0),
        undefined="the arms live and oracle were not both scored"
        if "oracle" in design.arms
        else "no oracle arm was run",
        at=at,
    )

    def interval(scores: Scores, level: float) -> Interval:
        assert made.interval is not None
        found = made.interval(scores, level)
        return found if found.low is not None else _apart(sums(scores), scores, level)

    return replace(made, interval=interval)


def _apart(sums: Floats, scores: Scores, level: float) -> Interval:
    """Where every case shows the same gap: each arm's own interval, taken together as if they were independent."""
    first, second = (share_over_cases(sums[:, i], sums[:, i + 1], scores, level) for i in (0, 2))
    if first.ends is None or second.ends is None:
        return first if first.ends is None else second
    totals = scores.base_weight @ sums
    values = [float(totals[i] / totals[i + 1]) for i in (0, 2)]
    one, other = first.ends, second.ends

    def ends(at: float) -> tuple[float, float]:
        found = intervals.combine_difference(values[0], intervals.Ends(*one(at)), values[1], intervals.Ends(*other(at)))
        return found.low, found.high

    low, high = ends(0.95)
    # What the interval stands for, so that a site without any gap keeps its weight where sites are pooled.
    se = (high - low) / (2 * intervals.z_critical(0.95))
    return Interval(*ends(level), se, "each arm's own interval, combined", reason=first.reason, ends=ends)
