"""details.jsonl of a detector: what became of every gold span and every prediction, by offset and label, without text.

Walks over corpus and predictions once more, so nothing of single spans has to be kept from the first time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workup.documents.batch import Batch
from workup.documents.detections import Found
from workup.documents.document import SpanArrays
from workup.documents.policies import DECISIONS
from workup.tasks.spans.counting.counting_rules import Golds, Yardstick
from workup.tasks.spans.counting.matchup import Matchup, Setting
from workup.tasks.spans.counting.outcomes import Outcomes, outcomes
from workup.tasks.spans.counting.scoring import SpanScores
from workup.tasks.spans.counting.verdicts import OUTCOMES
from workup.tasks.spans.errors.categories import Categories

Records = Iterator[dict[str, Any]]


def details_of(scores: SpanScores, *, every: bool = False) -> Records:
    """One record per span in the primary setting, or in every setting that counts spans."""
    stick = scores.ledger.stick
    settings: Sequence[Setting] = [stick.primary_setting]
    if every:
        settings = [setting for setting in stick.settings if not setting.mode.by_unit]
    found = scores.detections()
    for batch in scores.corpus.batches():
        yield from _of_batch(batch, found.of(batch.ids), stick, settings)
    yield from _of_unknown(found.unknown(), stick, settings)


def _of_batch(batch: Batch, found: Found, stick: Yardstick, settings: Sequence[Setting]) -> Records:
    predictions = stick.found(found)
    for policies in stick.policy_sets:
        wanted = [setting for setting in settings if setting.policy in {policy.name for policy in policies}]
        if wanted:
            golds = stick.golds(batch, policies)
            matchup = stick.matchup(golds, predictions, texts=batch.texts, answered=found.answered)
            for setting in wanted:
                fate = outcomes(matchup, setting)
                categories = Categories(batch, golds, matchup, setting)
                head = stick.key(setting)
                yield from _of_golds(batch, golds, matchup, fate, categories, setting.policy, head)
                yield from _of_predictions(batch, matchup, fate, categories, head)


def _of_golds(
    batch: Batch,
    golds: Golds,
    matchup: Matchup,
    fate: Outcomes,
    categories: Categories,
    policy: str,
    head: dict[str, str],
) -> Records:
    decisions = golds.decisions[policy]
    matched = _partners(fate.gold, fate.prediction, matchup.predictions, len(batch))
    for record, i in _records(batch, golds.spans, "gold", head):
        outcome: str = DECISIONS[int(decisions[i])]
        if record["label"] in matchup.ignored:
            outcome = "ignored"
        elif outcome == "must":
            outcome = "hit" if fate.hit[i] else "miss"
        category = categories.of_gold(i) if outcome == "miss" else None
        yield {**record, "outcome": outcome, "matched": matched.get(i, []), "category": category}


def _of_predictions(
    batch: Batch, matchup: Matchup, fate: Outcomes, categories: Categories, head: dict[str, str]
) -> Records:
    matched = _partners(fate.prediction, fate.gold, matchup.golds, len(batch))
    for record, i in _records(batch, matchup.predictions, "prediction", head):
        outcome = OUTCOMES[fate.outcome[i]]
        category = categories.of_prediction(i) if outcome == "false_alarm" else None
        yield {**record, "outcome": outcome, "matched": matched.get(i, []), "category": category}


def _of_unknown(unknown: Found, stick: Yardstick, settings: Sequence[Setting]) -> Records:
    for setting in settings:
        for start, end, label in zip(unknown.starts, unknown.ends, unknown.labels, strict=True):
            yield {
                "case": None,
                "kind": "prediction",
                **stick.key(setting),
                "start": start,
                "end": end,
                "label": label,
                "outcome": "false_alarm",
                "matched": [],
                "category": "unknown_document",
            }


def _records(batch: Batch, spans: SpanArrays, kind: str, head: dict[str, str]) -> Iterator[tuple[dict[str, Any], int]]:
    """What is known of each span before its fate; `index` is its place among those of its document."""
    first = _firsts(spans, len(batch))
    columns = zip(spans.document.tolist(), spans.start.tolist(), spans.end.tolist(), spans.label.tolist(), strict=True)
    for i, (document, start, end, label) in enumerate(columns):
        place = {"index": i - first[document], "start": start, "end": end, "label": spans.labels[label]}
        yield {"case": batch.ids[document], "kind": kind, **head, **place}, i


def _partners(one: Any, other: Any, others: SpanArrays, documents: int) -> dict[int, list[int]]:
    """For each span the places of those it is matched with, counted within the document."""
    first = _firsts(others, documents)
    owner = others.document.tolist()
    found: dict[int, list[int]] = {}
    for mine, theirs in zip(one.tolist(), other.tolist(), strict=True):
        found.setdefault(mine, []).append(theirs - first[owner[theirs]])
    return found


def _firsts(spans: SpanArrays, documents: int) -> list[int]:
    """Where the spans of each document begin; those of one document are together."""
    return [int(place) for place in np.searchsorted(spans.document, np.arange(documents))]
