"""Errors of a detector, gathered as shapes and categories while the documents pass: no surface is kept."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from workup.tasks.spans.batches import Batch
from workup.tasks.spans.detections import Found
from workup.tasks.spans.matching.matchup import PHI, Matchup, Setting
from workup.tasks.spans.matching.modes import parse_mode
from workup.tasks.spans.matching.outcomes import Outcomes, outcomes
from workup.tasks.spans.yardstick import Golds, Yardstick

MISSED, FALSE_ALARM = "(missed)", "(no identifier)"


class Categories:
    """Why single spans went wrong."""

    def __init__(self, batch: Batch, golds: Golds, matchup: Matchup, fate: Outcomes) -> None:
        pass

    def of_gold(self, gold: int) -> str:
        return "other"

    def of_prediction(self, prediction: int) -> str:
        return "other"


class Errors:
    """What went wrong, in counts."""

    def __init__(self, stick: Yardstick) -> None:
        self._stick = stick
        self.confusions: Counter[tuple[str, str]] = Counter()

    def add(self, batch: Batch, golds: Golds, matchup: Matchup, fate: Outcomes, found: Found) -> None:
        """One more batch, with the fates of its spans in the primary setting."""
        self._add_confusions(matchup)

    def _add_confusions(self, matchup: Matchup) -> None:
        """Which label met which: pairs that overlap at all, assigned whatever their types."""
        fate = outcomes(matchup, Setting(parse_mode("overlap"), PHI, self._stick.primary_policy))
        golds, found = matchup.golds, matchup.predictions
        must = fate.must[fate.gold]
        gold, prediction = fate.gold[must], fate.prediction[must]
        self._count(golds.label[gold], found.label[prediction], golds.labels, found.labels)
        missed = golds.label[fate.must & ~fate.hit]
        self._count(missed, np.zeros(len(missed), np.int64), golds.labels, (MISSED,))
        alarms = found.label[fate.outcome == 0]
        self._count(np.zeros(len(alarms), np.int64), alarms, (FALSE_ALARM,), found.labels)

    def _count(self, rows: Any, across: Any, row_names: tuple[str, ...], column_names: tuple[str, ...]) -> None:
        joint, times = np.unique(rows.astype(np.int64) * max(1, len(column_names)) + across, return_counts=True)
        for one, count in zip(joint.tolist(), times.tolist(), strict=True):
            self.confusions[row_names[one // len(column_names)], column_names[one % len(column_names)]] += count

    def tables(self, scores: Any, *, show_text: bool = False) -> dict[str, Any]:
        """Tables for the report."""
        rows = [{"gold": g, "prediction": p, "count": n} for (g, p), n in sorted(self.confusions.items())]
        return {"confusion": rows}
