"""A task whose table holds rows of two kinds: patients put in order, and calls of patients who came back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.support.fourth_task import TriageTask
from workup.metric import Card, Metric, ratio
from workup.scores import Scores
from workup.task import Corpus, Kind


class TwoKinds(TriageTask):
    """Every case is a row that was put in order; every second one is also a call, of which some were urgent."""

    name = "two kinds"
    cards: Mapping[str, Card] = {
        **TriageTask.cards,
        "urgent_calls": Card(title="urgent calls", describe="share of calls that were urgent", scale="logit"),
    }

    def scores(self, corpus: Corpus, outputs: Any) -> Scores:
        every = super().scores(corpus, outputs)
        calls = np.arange(0, len(every), 2)
        rows = np.concatenate([np.arange(len(every)), calls])
        both = every.take(rows)
        call = np.arange(len(rows)) >= len(every)
        values = {name: np.where(call, np.nan, column) for name, column in both.values.items()}
        urgent = np.where(call, (both["level"] >= 3).astype(float), 0.0)
        own = {"visit": (~call).astype(float), "call": call.astype(float), "urgent": urgent}
        return Scores(values | own, both.patient, both.site, both.time, both.groups)

    def metrics(self, scores: Scores, study: Any) -> list[Metric]:
        calls = ratio(
            "urgent_calls", lambda s: s["urgent"], lambda s: s["call"], card=self.cards["urgent_calls"], parity=True
        )
        return [*super().metrics(scores, study), calls]

    def kinds(self, scores: Scores, metrics: list[Metric]) -> list[Kind]:
        """Rows that were put in order, and calls."""
        own = {"drift": {"minimum": {"rows": 20}}}
        return [
            Kind("visit", scores.take(scores["visit"] == 1), metrics[:2]),
            Kind("call", scores.take(scores["call"] == 1), metrics[2:], own),
        ]


class Visits(TwoKinds):
    """The first kind as a task of its own."""

    name = "visits"

    def scores(self, corpus: Corpus, outputs: Any) -> Scores:
        both = super().scores(corpus, outputs)
        return both.take(both["visit"] == 1)

    def metrics(self, scores: Scores, study: Any) -> list[Metric]:
        return super().metrics(scores, study)[:2]

    kinds = None  # type: ignore[assignment]
