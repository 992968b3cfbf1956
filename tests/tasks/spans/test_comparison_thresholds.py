"""The threshold of a detector: chosen on some patients, confirmed or not on the others; and what its scores mean."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.support.notes import notes
from workup.documents.detections import HeldDetections
from workup.documents.document import Span
from workup.errors import InputError
from workup.stats.random import generator
from workup.study import Study
from workup.tasks.spans.comparing.reliability import Reliability
from workup.tasks.spans.comparing.thresholds import Choice, choose_threshold
from workup.tasks.spans.counting.counting_rules import Yardstick
from workup.tasks.spans.counting.verdicts import CREDITED, FALSE_ALARM, NEUTRAL, REMOVED
from workup.tasks.spans.task import SpansTask


def scored_spans(corpus: list[dict[str, Any]], *, low: float, seed: int = 1, miss: float = 0.0) -> dict[str, Any]:
    """Golds with scores of `low` or more, and two false alarms a note with scores spread over 0 to 1."""
    rng = np.random.default_rng(seed)
    found = {}
    for note in corpus:
        spans = [
            Span(one["start"], one["end"], one["label"], score=float(rng.uniform(low, 1)))
            for one in note["spans"]
            if rng.random() >= miss
        ]
        spans += [Span(place, place + 3, "date", score=float(rng.uniform(0, 1))) for place in (0, 4)]
        found[note["id"]] = spans
    return found


def choose(corpus: list[dict[str, Any]], found: dict[str, Any], *, target: float = 0.95, **options: Any) -> Choice:
    read = SpansTask().read(Study.of({"name": "t", "task": "spans"}), corpus)
    return choose_threshold(read.batches, partial(HeldDetections, found), Yardstick.of(), target=target, **options)


@pytest.fixture(scope="module")
def corpus() -> list[dict[str, Any]]:
    return notes(240, patients=120)


def test_the_threshold_stops_short_of_the_golds(corpus: list[dict[str, Any]]) -> None:
    found = choose(corpus, scored_spans(corpus, low=0.6))
    assert found.verdict == "confirmed"
    assert found.threshold is not None and 0.5 < found.threshold < 0.66
    chosen = [row for row in found.choosing if row["threshold"] == found.threshold]
    reaching = [row for row in found.choosing if row["recall"]["low"] >= 0.95]
    assert chosen[0]["over_redaction"]["value"] == min(row["over_redaction"]["value"] for row in reaching)
    assert found.confirming is not None and found.confirming["recall"]["low"] >= 0.95
    # All are kept at the lowest threshold, so nothing there is missed.
    assert found.choosing[0]["recall"]["value"] == 1.0
    assert found.facts["patients"] == {"choosing": 60, "confirming": 60}


def test_recall_and_over_redaction_never_rise_with_the_threshold(corpus: list[dict[str, Any]]) -> None:
    rows = choose(corpus, scored_spans(corpus, low=0.2, miss=0.1), target=0.5).choosing
    for name in ("recall", "over_redaction"):
        values = [row[name]["value"] for row in rows]
        assert values == sorted(values, reverse=True)
        assert values[0] > values[-1]
    assert [row["threshold"] for row in rows] == sorted(row["threshold"] for row in rows)


def test_a_target_out_of_reach_is_said(corpus: list[dict[str, Any]]) -> None:
    found = choose(corpus, scored_spans(corpus, low=0.5, miss=0.3))
    assert (found.threshold, found.verdict, found.confirming) == (None, "none", None)
    assert "with every prediction kept" in found.reason
    near = choose(corpus, scored_spans(corpus, low=0.5, miss=0.05))
    assert (near.threshold, near.verdict) == (None, "unsure")


def test_what_held_on_the_first_patients_may_fail_on_the_others(corpus: list[dict[str, Any]]) -> None:
    """Scores that fit one half by design: its golds at 0.9, those of the other half at 0.1."""
    first = choose(corpus, scored_spans(corpus, low=0.6), seed=5)
    order = generator(5, "threshold", "split").permutation(120)  # patients are drawn in the order of their names
    easy = {f"p{place:03d}" for place in order[:60].tolist()}
    planted = {
        note["id"]: [
            Span(one["start"], one["end"], one["label"], score=0.9 if note["patient"] in easy else 0.1)
            for one in note["spans"]
        ]
        + [Span(0, 3, "date", score=0.5)]
        for note in corpus
    }
    found = choose(corpus, planted, seed=5, target=0.9)
    assert first.verdict == "confirmed"
    assert (found.threshold, found.verdict) == (0.9, "not_confirmed")
    assert found.confirming is not None and found.confirming["recall"]["value"] == 0


def test_the_split_is_of_patients_by_seed_and_not_by_order(corpus: list[dict[str, Any]]) -> None:
    found = scored_spans(corpus, low=0.4)
    straight = choose(corpus, found, seed=3)
    mixed = [corpus[i] for i in np.random.default_rng(2).permutation(len(corpus))]
    turned = choose(mixed, dict(reversed(found.items())), seed=3)
    assert (turned.threshold, turned.verdict) == (straight.threshold, straight.verdict)
    assert turned.confirming["recall"] == straight.confirming["recall"]  # type: ignore[index]
    assert choose(corpus, found, seed=4).choosing != straight.choosing


def test_predictions_without_a_score_are_kept_and_counted(corpus: list[dict[str, Any]]) -> None:
    found = scored_spans(corpus, low=0.6)
    found = {id: [Span(s.start, s.end, s.label) if s.start > 4 else s for s in spans] for id, spans in found.items()}
    choice = choose(corpus, {**found, "ghost": [Span(0, 3, "date", score=0.5)]})
    golds = sum(len(note["spans"]) for note in corpus)
    assert choice.facts["without_score"] == golds
    assert choice.facts["of_unknown_documents"] == 1
    assert choice.choosing[-1]["recall"]["value"] == 1.0


def test_few_scores_are_all_tried_and_many_are_thinned(corpus: list[dict[str, Any]]) -> None:
    found = scored_spans(corpus, low=0.3)
    assert len(choose(corpus, found).choosing) == 40
    coarse = {
        id: [Span(s.start, s.end, s.label, score=round(s.score, 1)) for s in spans] for id, spans in found.items()
    }
    assert [row["threshold"] for row in choose(corpus, coarse).choosing] == pytest.approx([i / 10 for i in range(11)])


def test_what_cannot_be_chosen_from_is_refused(corpus: list[dict[str, Any]]) -> None:
    found = scored_spans(corpus, low=0.3)
    bare = {id: [Span(s.start, s.end, s.label) for s in spans] for id, spans in found.items()}
    with pytest.raises(InputError, match="predictions with scores"):
        choose(corpus, bare)
    with pytest.raises(InputError, match="at least 10 patients each; got 5 and 5"):
        choose(notes(30, patients=10), found)
    with pytest.raises(InputError, match="target of recall"):
        choose(corpus, found, target=1.0)
    with pytest.raises(InputError, match="share of patients"):
        choose(corpus, found, share=0.0)


# What scores mean


def test_reliability_by_hand() -> None:
    held = Reliability()
    outcome = np.array([CREDITED, FALSE_ALARM, NEUTRAL, CREDITED, REMOVED, CREDITED], dtype=np.int8)
    held.add(np.array([0.9, 0.9, 0.9, 0.4, 0.4, np.inf]), outcome, np.arange(6))
    table = held.table()
    assert [(row["from"], row["predictions"], row["credited"]) for row in table["bins"]] == [(0.4, 1, 1), (0.9, 2, 1)]
    assert table["predictions"] == 3
    assert table["gap"]["value"] == pytest.approx(2 / 3 - 2.2 / 3)
    assert table["gap"]["low"] is None and "insufficient" in table["gap"]["reason"]


def test_scores_that_are_chances_are_found_reliable_and_others_are_not() -> None:
    rng = np.random.default_rng(8)
    patient = np.repeat(np.arange(150), 20)
    scores = rng.uniform(0, 1, patient.size)
    for power, sure in ((1.0, False), (2.0, True)):
        held = Reliability()
        credited = rng.random(patient.size) < scores**power
        held.add(scores, np.where(credited, CREDITED, FALSE_ALARM).astype(np.int8), patient)
        table = held.table()
        assert len(table["bins"]) == 10
        assert sum(row["predictions"] for row in table["bins"]) == patient.size
        assert (table["gap"]["high"] < 0) == sure
        inside = [row["low"] <= row["mean_score"] <= row["high"] for row in table["bins"]]
        assert sum(inside) >= 8 if not sure else sum(inside) <= 5


def test_equal_scores_are_never_parted_and_logits_are_no_chances() -> None:
    held = Reliability()
    scores = np.array([-2.0] * 30 + [5.0] * 3 + list(np.linspace(6, 7, 20)))
    held.add(scores, np.full(scores.size, CREDITED, dtype=np.int8), np.arange(scores.size))
    table = held.table()
    assert table["bins"][0]["predictions"] == 30
    assert table["gap"] is None and "no chances" in table["reason"]
