"""details.jsonl of a detector: what became of every gold and every prediction, by offset and label, without text.

Reads corpus and predictions once more, so nothing of single spans has to be kept from the first time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workup.tasks.spans.batches import Batch
from workup.tasks.spans.detections import Found
from workup.tasks.spans.errors_found import Categories
from workup.tasks.spans.matching.matchup import Setting
from workup.tasks.spans.matching.outcomes import outcomes
from workup.tasks.spans.matching.verdicts import OUTCOMES
from workup.tasks.spans.policies import DECISIONS
from workup.tasks.spans.scoring import SpanScores
from workup.tasks.spans.yardstick import Yardstick


def details_of(scores: SpanScores, *, every: bool = False) -> Iterator[dict[str, Any]]:
    """One record per span in the primary setting, or in every setting that counts spans."""
    stick = scores.ledger.stick
    settings: Sequence[Setting] = [stick.primary_setting]
    if every:
        settings = [setting for setting in stick.settings if not setting.mode.by_unit]
    found = scores.detections()
    for batch in scores.corpus.batches():
        yield from _of_batch(batch, found.of(batch.ids), stick, settings)
    unknown = found.unknown()
    for setting in settings:
        for start, end, label in zip(unknown.starts, unknown.ends, unknown.labels, strict=True):
            yield {
                **_head(stick, setting, None, "prediction"),
                "start": start,
                "end": end,
                "label": label,
                "outcome": "false_alarm",
                "matched": [],
                "category": "unknown_document",
            }


def _of_batch(batch: Batch, found: Found, stick: Yardstick, settings: Sequence[Setting]) -> Iterator[dict[str, Any]]:
    predictions = stick.found(found)
    for policies in stick.policy_sets:
        names = {policy.name for policy in policies}
        wanted = [setting for setting in settings if setting.policy in names]
        if not wanted:
            continue
        golds = stick.golds(batch, policies)
        matchup = stick.matchup(golds, predictions, texts=batch.texts, answered=found.answered)
        for setting in wanted:
            fate = outcomes(matchup, setting)
            matched: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})
            for gold, prediction in zip(fate.gold.tolist(), fate.prediction.tolist(), strict=True):
                matched[0].setdefault(gold, []).append(prediction)
                matched[1].setdefault(prediction, []).append(gold)
            categories = Categories(batch, golds, matchup, fate)
            decision = golds.decisions[setting.policy].tolist()
            ignored = [name in matchup.ignored for name in golds.spans.labels]
            for kind, spans, partners, others in (
                ("gold", golds.spans, matched[0], predictions),
                ("prediction", predictions, matched[1], golds.spans),
            ):
                first_other = _firsts(others.document, len(batch))
                place_of_first = _firsts(spans.document, len(batch))
                for i, (document, start, end, label) in enumerate(
                    zip(
                        spans.document.tolist(),
                        spans.start.tolist(),
                        spans.end.tolist(),
                        spans.label.tolist(),
                        strict=True,
                    )
                ):
                    if kind == "gold":
                        outcome = _gold_outcome(decision[i], ignored[label], bool(fate.hit[i]))
                        category = categories.of_gold(i) if outcome == "miss" else None
                    else:
                        outcome = OUTCOMES[fate.outcome[i]]
                        category = categories.of_prediction(i) if outcome == "false_alarm" else None
                    yield {
                        **_head(stick, setting, batch.ids[document], kind),
                        "index": i - place_of_first[document],
                        "start": start,
                        "end": end,
                        "label": spans.labels[label],
                        "outcome": outcome,
                        "matched": [other - first_other[document] for other in partners.get(i, [])],
                        "category": category,
                    }


def _head(stick: Yardstick, setting: Setting, case: str | None, kind: str) -> dict[str, Any]:
    return {"case": case, "kind": kind, **stick.key(setting)}


def _gold_outcome(decision: int, ignored: bool, hit: bool) -> str:
    if ignored:
        return "ignored"
    name = DECISIONS[decision]
    if name != "must":
        return name
    return "hit" if hit else "miss"


def _firsts(document: Any, documents: int) -> list[int]:
    """Where the spans of each document begin, spans of a document standing together."""
    import numpy as np

    return np.searchsorted(document, np.arange(documents)).tolist()  # type: ignore[no-any-return]
