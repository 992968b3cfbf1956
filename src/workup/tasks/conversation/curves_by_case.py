"""Numbers behind the curves of a conversation report: cases by turn, and bands of loss by resampling whole cases."""

from __future__ import annotations

from typing import Any

import numpy as np

from workup.metric import FEWEST_CLUSTERS
from workup.stats.arrays import Floats
from workup.stats.bootstrap import percentile, unit_counts
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.metrics.decay import survival
from workup.tasks.conversation.scores.scoring import ConversationScores

REPLICATES = 1000


def turn_rows(scores: ConversationScores) -> list[dict[str, Any]]:
    """How many clusters and conversations have a fact to score at each turn: the n of every point of a curve."""
    found = []
    for arm in scores.arms:
        for kind in columns.SETS:
            for turn in range(1, scores.turns + 1):
                facts = scores.values.get(columns.at_turn(arm, kind, turn, "scorable"), np.zeros(len(scores)))
                row: dict[str, Any] = {"arm": arm, "set": kind, "turn": turn}
                row["cases"] = int(np.unique(scores.patient[facts > 0]).size)
                row["conversations"] = int((facts > 0).sum())
                found.append(row)
    return found


def by_turn_rows(scores: ConversationScores) -> list[dict[str, Any]]:
    """Every count at every turn, by arm and set; a count that a row leaves out is 0."""
    counts: dict[tuple[str, str, int], dict[str, int]] = {}
    for name, values in scores.values.items():
        parts = name.split("|")
        if len(parts) == 4 and parts[1] in columns.SETS and parts[2].isdecimal():
            total = float(values.sum())
            if total and parts[3] not in _WEIGHTS:
                counts.setdefault((parts[0], parts[1], int(parts[2])), {})[parts[3]] = round(total)
    order = {arm: place for place, arm in enumerate(scores.arms)}
    return [
        {"arm": arm, "set": kind, "turn": turn, **dict(sorted(found.items()))}
        for (arm, kind, turn), found in sorted(counts.items(), key=lambda one: (order[one[0][0]], *one[0][1:]))
    ]


_WEIGHTS = ("weight_scorable", "weight_correct")


def loss_rows(scores: ConversationScores, *, seed: int) -> list[dict[str, Any]]:
    """Kaplan and Meier's curves of first and of sustained loss, by arm and set, with those at risk and 95 % bands.

    Facts cluster in cases, so whole cases are resampled. Where no replicate differs (nothing or everything is lost)
    the data cannot show the error of the curve, and the band is null rather than of width 0.
    """
    return [
        row
        for arm in scores.arms
        for kind in columns.SETS
        for loss in columns.LOSSES
        for row in _curve(scores, arm, kind, loss, seed=seed)
    ]


def _curve(scores: ConversationScores, arm: str, kind: str, loss: str, *, seed: int) -> list[dict[str, Any]]:
    clock = scores.clock
    ticks = range(1, clock + 1)
    names = [columns.of_loss(arm, kind, loss, field, tick) for field in ("lost", "risk") for tick in ticks]
    by_row = np.column_stack([scores.values.get(name, np.zeros(len(scores))) for name in names])
    totals = by_row.sum(axis=0)
    lost, risk = totals[:clock], totals[clock:]
    if not risk[0]:
        return []
    low, high = _bands(by_row, scores, seed=seed)
    where = {"arm": arm, "set": kind, "loss": loss}
    return [
        {**where, "clock": tick, "kept": _plain(kept), "low": _plain(a), "high": _plain(b)}
        | {"at_risk": int(at_risk), "lost": int(gone)}
        for tick, kept, a, b, at_risk, gone in zip(ticks, survival(totals), low, high, risk, lost, strict=True)
    ]


def _bands(by_row: Floats, scores: ConversationScores, *, seed: int) -> tuple[Floats, Floats]:
    nothing = np.full(scores.clock, np.nan)
    _, codes = np.unique(scores.patient, return_inverse=True)
    by_case = np.column_stack([np.bincount(codes, weights=column) for column in by_row.T])
    if len(by_case) < FEWEST_CLUSTERS:
        return nothing, nothing
    drawn = unit_counts(len(by_case), REPLICATES, seed=seed)
    curves = np.concatenate([survival(counts @ by_case) for counts in drawn])
    ends = [
        percentile(column) if np.isfinite(column).all() and np.ptp(column) > 0 else np.array([np.nan, np.nan])
        for column in curves.T
    ]
    return np.array([pair[0] for pair in ends]), np.array([pair[1] for pair in ends])


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
