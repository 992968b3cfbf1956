"""What happens when everyone at or above a threshold is treated: sensitivity, PPV, net benefit and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from workup.metric import Metric, ratio
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.tasks.risk.cards import CARDS

ODDS = "equalised_odds"


def _outcome(scores: Scores) -> Floats:
    return scores["outcome"]


def _ones(scores: Scores) -> Floats:
    return np.ones(len(scores))


def at_threshold(threshold: float) -> list[Metric]:
    """What happens when everyone with a risk at or above the threshold is treated."""
    odds = threshold / (1 - threshold)

    def flagged(s: Scores) -> Floats:
        return (s["risk"] >= threshold).astype(np.float64)

    def true_positive(s: Scores) -> Floats:
        return flagged(s) * s["outcome"]

    def true_negative(s: Scores) -> Floats:
        return (1 - flagged(s)) * (1 - s["outcome"])

    def share(name: str, top: Any, bottom: Any, undefined: str, **fields: Any) -> Metric:
        return ratio(
            name,
            top,
            bottom,
            card=CARDS[name],
            undefined=undefined,
            at={"threshold": threshold},
            events="outcome",
            **fields,
        )

    no_events, no_others = "no rows with the event", "no rows without the event"
    return [
        share(
            "sensitivity",
            true_positive,
            _outcome,
            no_events,
            parity=True,
            joint_gap=ODDS,
        ),
        share(
            "specificity",
            true_negative,
            lambda s: 1 - s["outcome"],
            no_others,
            parity=True,
            joint_gap=ODDS,
            complement="false_positive_rate",
        ),
        share("ppv", true_positive, flagged, "no row is flagged", parity=True),
        share("npv", true_negative, lambda s: 1 - flagged(s), "every row is flagged"),
        share("accuracy", lambda s: true_positive(s) + true_negative(s), _ones, "no rows"),
        share("alert_rate", flagged, _ones, "no rows"),
        share(
            "f1",
            lambda s: 2 * true_positive(s),
            lambda s: flagged(s) + s["outcome"],
            "no events and no row flagged",
            share=False,
        ),
        share(
            "net_benefit",
            lambda s: true_positive(s) - flagged(s) * (1 - s["outcome"]) * odds,
            _ones,
            "no rows",
            share=False,
        ),
    ]
