"""The documents a reader may look at: at most fifty, those with misses first, as shapes unless text was asked for."""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np

from workup.documents.batch import Batch
from workup.documents.document import Span
from workup.documents.policies import DECISIONS
from workup.tasks.spans.corpus import hash_of
from workup.tasks.spans.counting.counting_rules import Golds
from workup.tasks.spans.counting.matchup import Matchup
from workup.tasks.spans.counting.outcomes import Outcomes
from workup.tasks.spans.counting.verdicts import FALSE_ALARM, OUTCOMES
from workup.tasks.spans.errors.shapes import document_shape

MOST = 50
LONGEST = 20_000  # characters of a document that are shown


class _Shown(NamedTuple):
    id: str
    text: str
    characters: int
    type: str | None
    golds: list[tuple[Span, str]]
    predictions: list[tuple[Span, str]]


class Viewer:
    """Chooses documents as they pass; which ones does not depend on their order."""

    def __init__(self) -> None:
        self._held: list[tuple[int, int, int, _Shown]] = []  # a heap whose first is the next to go
        self._tie = 0

    def add(self, batch: Batch, golds: Golds, matchup: Matchup, fate: Outcomes, *, policy: str) -> None:
        """Look at one batch."""
        n = len(batch)
        missed = np.bincount(golds.spans.document[fate.must & ~fate.hit], minlength=n)
        alarms = np.bincount(matchup.predictions.document[fate.outcome == FALSE_ALARM], minlength=n)
        order = np.where(missed > 0, 2, np.where(alarms > 0, 1, 0))
        gold_edges, found_edges = (
            np.searchsorted(spans.document, np.arange(n + 1)).tolist() for spans in (golds.spans, matchup.predictions)
        )
        for i, rank in enumerate(order.tolist()):
            key = (rank, -hash_of(batch.ids[i]))
            if len(self._held) == MOST and key <= self._held[0][:2]:
                continue
            shown = _Shown(
                batch.ids[i],
                batch.texts[i][:LONGEST],
                len(batch.texts[i]),
                batch.column("type")[i],
                _golds(golds, fate, range(gold_edges[i], gold_edges[i + 1]), policy),
                _found(matchup, fate, range(found_edges[i], found_edges[i + 1])),
            )
            self._tie += 1
            push = heapq.heappush if len(self._held) < MOST else heapq.heapreplace
            push(self._held, (*key, self._tie, shown))

    def table(self, *, show_text: bool) -> list[dict[str, Any]]:
        """As the report holds them; the id and the text of a document only where text was asked for."""
        found = []
        for number, (_, _, _, shown) in enumerate(sorted(self._held, key=lambda one: one[:2], reverse=True), start=1):
            view = document_shape(
                shown.text, [span for span, _ in shown.golds], [span for span, _ in shown.predictions]
            )
            row: dict[str, Any] = {
                "number": number,
                "type": shown.type,
                "characters": shown.characters,
                **{name: sum(outcome == name for _, outcome in shown.golds) for name in ("hit", "miss")},
                "false_alarm": sum(outcome == "false_alarm" for _, outcome in shown.predictions),
                "shape": view.shape,
                "runs": [
                    {
                        "start": run.start,
                        "end": run.end,
                        "golds": [_mark(shown.golds[i]) for i in run.golds],
                        "predictions": [_mark(shown.predictions[i]) for i in run.predictions],
                    }
                    for run in view.runs
                ],
            }
            found.append(row | ({"id": shown.id, "text": shown.text} if show_text else {}))
        return found


def _mark(marked: tuple[Span, str]) -> dict[str, str]:
    span, outcome = marked
    return {"label": span.label, "outcome": outcome}


def _golds(golds: Golds, fate: Outcomes, which: range, policy: str) -> list[tuple[Span, str]]:
    spans = golds.spans
    decisions = golds.decisions[policy]
    return [
        (
            Span(int(spans.start[i]), int(spans.end[i]), spans.labels[spans.label[i]]),
            ("hit" if fate.hit[i] else "miss") if fate.must[i] else DECISIONS[min(int(decisions[i]), 1)],
        )
        for i in which
    ]


def _found(matchup: Matchup, fate: Outcomes, which: range) -> list[tuple[Span, str]]:
    spans = matchup.predictions
    return [
        (
            Span(int(spans.start[i]), int(spans.end[i]), spans.labels[spans.label[i]]),
            OUTCOMES[fate.outcome[i]],
        )
        for i in which
    ]
