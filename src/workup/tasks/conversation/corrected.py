"""Recall corrected for the errors of the matcher on this very model's replies, where a user labelled enough of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workup.stats.misclassification import corrected_share
from workup.tasks.conversation.labels import read_labels
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.metrics.design import summed
from workup.tasks.conversation.metrics.intervals import share_over_cases
from workup.tasks.conversation.read.facts.probes import MeasuredError, Probe, measured_error
from workup.tasks.conversation.scores.scoring import ConversationScores

LEAST_LABELLED = 100  # replies of the model under test below which nothing is corrected


def read_labelled(path: Path) -> list[Probe]:
    """Labelled replies in the first version's form: the fact (as in a case), the reply, and a person's outcome."""
    return list(read_labels(path).replies)


def corrected_recall(scores: ConversationScores, path: Path | None) -> dict[str, Any]:
    """Raw and corrected recall by arm and set (Rogan and Gladen), or why there is none."""
    labelled = [] if path is None else read_labelled(path)
    if not labelled:  # a file of labels may hold none of this form
        return {"rows": [], "reason": "no labelled replies of this model were given"}
    if len(labelled) < LEAST_LABELLED:
        return {
            "rows": [],
            "reason": f"{len(labelled)} labelled replies were given; correcting needs at least {LEAST_LABELLED}",
        }
    error = measured_error(labelled)
    found = [_row(scores, arm, kind, error) for arm in scores.arms for kind in columns.SETS]
    return {"labelled": len(labelled), "rows": [row for row in found if row], "reason": None}


def _row(scores: ConversationScores, arm: str, kind: str, error: MeasuredError) -> dict[str, Any] | None:
    turns = range(1, scores.turns + 1)
    kept, facts = (summed(arm, kind, turns, field)(scores) for field in ("correct", "scorable"))
    if not facts.sum():
        return None
    raw = float(kept.sum() / facts.sum())
    interval = share_over_cases(kept, facts, scores, 0.95)
    right, kept_out = error.sensitivity, error.specificity
    found = corrected_share(
        raw, interval.se or 0.0, sensitivity=(right.right, right.n), specificity=(kept_out.right, kept_out.n)
    )
    row = {"metric": "recall", "arm": arm, "set": kind, "raw": raw, "sensitivity": right._asdict()}
    row |= {"specificity": kept_out._asdict()}
    if found is None:
        return {**row, "value": None, "low": None, "high": None, "reason": "the matcher is no better than chance here"}
    return {**row, "value": found.value, "low": found.low, "high": found.high, "reason": None}
