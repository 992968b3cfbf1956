"""Small studies of detectors and of chat models, scored once, that the laws of their metrics run over."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.support.notes import detect, notes
from workup.documents.detections import GivenSpans
from workup.metric import Metric
from workup.study import Study
from workup.task import Budget
from workup.tasks.conversation.scripted import Behaviour, transcripts
from workup.tasks.conversation.scripted.cases import small_cases
from workup.tasks.conversation.scripted.scored import Scored
from workup.tasks.spans.task import SpansTask

MODES = ("strict", "exact", "iou:0.5", "partial", "cover:1", "full_mask", "token", "char")
CORPORA = {
    "a note a patient": (1, 120, None, 0.2),
    "several notes a patient": (2, 150, 40, 0.2),
    "nothing missed": (3, 80, 30, 0.0),
    "everything missed": (4, 80, 30, 1.0),
    "one patient": (5, 12, 1, 0.3),
    "one note": (6, 1, None, 0.0),
}
MIXED = Behaviour(
    *("mixed", 0.9, -0.04),
    reversal=0.1,
    wrong_value=0.2,
    stale=0.3,
    conflicts=1,
    agreements=2,
    never_events=1,
    failures=0.03,
    noise=True,
    spread=0.1,
)
# Cases, turns, replicates, what the model does.
STUDIES: dict[str, tuple[int, int, int, Behaviour]] = {
    "a mixed model": (14, 10, 1, MIXED),
    "several replicates": (8, 10, 2, MIXED),
    "everything kept": (8, 10, 1, Behaviour()),
    "everything lost": (8, 10, 1, Behaviour("lost", recall=0.0)),
    "half of the calls failed": (8, 10, 1, Behaviour("failing", failures=0.5)),
    "nothing scorable": (4, 10, 1, Behaviour("failing", failures=1.0)),
    "one case": (1, 10, 1, MIXED),
    "one turn": (6, 1, 1, MIXED),
    "two turns": (6, 2, 1, MIXED),
    "more turns than ten": (4, 13, 1, MIXED),
}


@cache
def scored_notes(seed: int, count: int, patients: int | None, miss: float) -> tuple[Any, tuple[Metric, ...]]:
    """Scores and metrics of a detector that misses so many of the identifiers."""
    corpus = notes(count, seed=seed, patients=patients)
    study = Study.of({"name": "laws", "task": "spans", "modes": list(MODES), "utility": "lexicon"})
    task = SpansTask()
    read = task.read(study, corpus)
    given = GivenSpans(detect(corpus, seed=seed, miss=miss))
    outputs = task.run(lambda: given, read, None, None, lambda *_: None, budget=Budget())  # type: ignore[arg-type]
    scores = task.scores(read, outputs)
    return scores, tuple(task.metrics(scores, study))


@cache
def scored_conversations(name: str) -> tuple[Any, tuple[Metric, ...]]:
    """Scores and metrics of one of the studies, whose cases name what was still available."""
    count, turns, replicates, planted = STUDIES[name]
    cases = small_cases(count, turns=turns)
    lines = transcripts(planted, cases, ("live", "oracle"), 1, replicates=replicates)
    available = [{**line, "available": ["warfarin", "asthma"]} for line in lines]
    scored = Scored(cases, available, settings={"published": True})
    return scored.scores, tuple(scored.metrics.values())
