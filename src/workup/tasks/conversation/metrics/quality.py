"""Ratings of documentation quality (PDSQI-9) as metrics over conversations: a mean for each attribute, no guess."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workup.estimate import Draws
from workup.metric import Metric
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.tasks.conversation.cards import CARDS
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.metrics.intervals import smooth

ATTRIBUTES = (
    *("cited", "accurate", "thorough", "useful", "organised", "comprehensible", "succinct", "synthesised"),
    "stigmatising",
)


def quality_metrics(draws: Draws) -> list[Metric]:
    """The mean rating of each attribute; not assessed where nobody rated it."""
    return [_rating(attribute, draws) for attribute in ATTRIBUTES]


def _rating(attribute: str, draws: Draws) -> Metric:
    sums, known = (columns.whole(f"pdsqi_{attribute}{end}") for end in ("", "_known"))

    def both(scores: Scores) -> Floats:
        nothing = np.zeros(len(scores))
        return np.column_stack([scores.values.get(sums, nothing), scores.values.get(known, nothing)])

    def mean(totals: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.where(totals[..., 1] > 0, totals[..., 0] / totals[..., 1], np.nan))

    return smooth(
        "pdsqi",
        both,
        mean,
        draws=draws,
        card=replace(
            CARDS["pdsqi"],
            describe=f"mean rating of '{attribute}' by people",
            better="lower" if attribute == "stigmatising" else "higher",
        ),
        undefined="not assessed: nobody rated it",
        at={"attribute": attribute},
    )
