"""The score above which predictions are kept: the least over-redaction whose recall still has its lower bound at the
target, chosen on one part of the patients and confirmed on the other. Knows no file."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from workup.documents.batch import Batch
from workup.documents.detections import Detections, Found
from workup.documents.document import SpanArrays
from workup.errors import InputError
from workup.estimate import Draws, Estimate, estimate
from workup.metric import FEWEST_CLUSTERS, Metric
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.stats.random import generator
from workup.task import Watch
from workup.tasks.spans import columns
from workup.tasks.spans.comparing.reliability import Reliability
from workup.tasks.spans.counting.counting_rules import Yardstick
from workup.tasks.spans.counting.counts import count
from workup.tasks.spans.counting.matchup import Setting
from workup.tasks.spans.counting.outcomes import outcomes
from workup.tasks.spans.metrics import accuracy_metrics, policy_metrics

GRID = 40  # thresholds that are tried, where scores take more values
Verdict = Literal["confirmed", "not_confirmed", "unsure", "none"]
_SHOWN = ("recall", "precision", "over_redaction", "leak_rate_document")
_OF_POLICY = ("non_phi_chars", "non_phi_chars_masked", "documents_with_must", "documents_leaking")
Read = Callable[[], Iterable[Batch]]


@dataclass(frozen=True)
class Choice:
    """A threshold with what it was chosen by and how it held; `threshold` is None where none reaches the target."""

    target: float
    threshold: float | None
    verdict: Verdict
    reason: str
    choosing: tuple[dict[str, Any], ...]  # a row per threshold tried, on the patients that it was chosen on
    confirming: dict[str, Any] | None  # at the chosen threshold, on the others
    reliability: dict[str, Any]
    facts: dict[str, Any] = field(default_factory=dict)


def choose_threshold(
    read: Read,
    detections: Callable[[], Detections],
    stick: Yardstick,
    *,
    target: float,
    share: float = 0.5,
    seed: int = 0,
    grid: int = GRID,
    watch: Watch = lambda what, done, total: None,
) -> Choice:
    """Choose on `share` of the patients, confirm on the rest, at the primary setting of the yardstick.

    A prediction is kept where its score is at least the threshold; one without a score is always kept. Scores of
    different systems, or of different labels of one, need not mean the same; here one threshold serves all labels.
    """
    if not 0 < target < 1:
        raise InputError("a target of recall must lie between 0 and 1", got=f"{target:g}")
    if not 0 < share < 1:
        raise InputError("the share of patients to choose on must lie between 0 and 1", got=f"{share:g}")
    tried, facts = _candidates(read, detections, grid)
    sums = _Sums(stick, tried)
    found = detections()
    done = 0
    for batch in read():
        sums.add(batch, found.of(batch.ids))
        done += sum(batch.first or [True] * len(batch))
        watch("counting at every threshold", done, facts["documents"])
    choosing, confirming = sums.split(share, seed)
    rows = [sums.row(place, choosing) for place in range(len(tried))]
    facts |= {
        "share": share,
        "seed": seed,
        "setting": stick.key(sums.setting) | {"policy": sums.setting.policy},
        "patients": {"choosing": int(choosing.sum()), "confirming": int(confirming.sum())},
    }
    reliability = sums.reliability.table()
    best = _best(rows, target)
    if best is None:
        verdict, reason = _none(rows, target)
        return Choice(target, None, verdict, reason, tuple(rows), None, reliability, facts)
    held = sums.row(best, confirming)
    verdict, reason = _confirmed(held["recall"], target)
    return Choice(target, rows[best]["threshold"], verdict, reason, tuple(rows), held, reliability, facts)


def _candidates(read: Read, detections: Callable[[], Detections], grid: int) -> tuple[Floats, dict[str, Any]]:
    """Thresholds to try, the one that keeps all first; and how many predictions have no score to be judged by."""
    found = detections()
    values: list[float | None] = []
    documents = 0
    for batch in read():
        first = batch.first or [True] * len(batch)
        documents += sum(first)
        here = found.of(batch.ids)
        values += here.documents([place for place, one in enumerate(first) if one]).scores
    unknown = found.unknown()
    given = np.array([score for score in values if score is not None], dtype=np.float64)
    if not given.size:
        raise InputError(
            "a threshold needs predictions with scores",
            got=f"{len(values):,} predictions without one",
            remedy='write the detector\'s score into each span: {"start", "end", "label", "score"}',
        )
    distinct = np.unique(given)
    if distinct.size > grid:
        ordered = np.sort(given)
        ranks = np.linspace(0, ordered.size - 1, grid).round().astype(np.int64)
        distinct = np.unique(ordered[ranks])
    facts = {
        "documents": documents,
        "predictions": len(values),
        "without_score": len(values) - given.size,
        "of_unknown_documents": len(unknown.spans),
        "distinct_scores": int(np.unique(given).size),
        "tried": int(distinct.size),
    }
    return distinct, facts


class _Sums:
    """Counts by patient at every threshold."""

    def __init__(self, stick: Yardstick, tried: Floats) -> None:
        self.stick, self.tried, self.setting = stick, tried, stick.primary_setting
        self.reliability = Reliability()
        self._policies = next(one for one in stick.policy_sets if self.setting.policy in {p.name for p in one})
        self._patients: dict[Hashable, int] = {}
        self._parts: list[npt.NDArray[np.int64]] = []  # thresholds × fields × entries
        self._owner: list[npt.NDArray[np.int64]] = []

    @property
    def _fields(self) -> list[str]:
        own = [columns.of_setting(self.setting, name) for name in columns.OF_SETTING]
        return [*own, *(columns.of_policy(self.setting.policy, name) for name in _OF_POLICY)]

    def add(self, batch: Batch, found: Found) -> None:
        """One more batch, counted once per threshold."""
        golds = self.stick.golds(batch, self._policies)
        predictions = self.stick.found(found)
        scores = np.array([np.inf if score is None else score for score in found.scores], dtype=np.float64)
        patients = batch.column("patient")
        keys: list[Hashable] = [(1, p) if p is not None else (0, id) for id, p in zip(batch.ids, patients, strict=True)]
        owner = np.array([self._patients.setdefault(key, len(self._patients)) for key in keys], dtype=np.int64)
        numbers = np.zeros((len(self.tried), len(self._fields), len(batch)), dtype=np.int64)
        for place, threshold in enumerate(self.tried.tolist()):
            kept = _chosen(predictions, np.flatnonzero(scores >= threshold))
            matchup = self.stick.matchup(golds, kept, texts=batch.texts, answered=found.answered)
            counts = count(matchup, [self.setting], leaks=True)
            leaks = counts.leaks[self.setting.policy].documents
            numbers[place] = [*counts.documents[0], *(leaks[name] for name in _OF_POLICY)]
            if place == 0:  # all are kept, so every prediction has an outcome
                fate = outcomes(matchup, self.setting)
                self.reliability.add(scores, fate.outcome, owner[kept.document])
        self._parts.append(numbers)
        self._owner.append(owner)

    def split(self, share: float, seed: int) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Patients to choose on and to confirm on, by their names and the seed, whatever the order of documents."""
        names = sorted(self._patients, key=repr)
        order = generator(seed, "threshold", "split").permutation(len(names))
        chosen = np.zeros(len(names), dtype=np.bool_)
        first = round(share * len(names))
        chosen[[self._patients[names[place]] for place in order[:first].tolist()]] = True
        if min(first, len(names) - first) < FEWEST_CLUSTERS:
            raise InputError(
                f"choosing and confirming need at least {FEWEST_CLUSTERS} patients each",
                got=f"{first} and {len(names) - first}",
                remedy="give more patients, or another share",
            )
        return chosen, ~chosen

    def row(self, place: int, patients: npt.NDArray[np.bool_]) -> dict[str, Any]:
        """Figures with their intervals at one threshold, on some patients."""
        owner = np.concatenate(self._owner)
        here = patients[owner]
        numbers = np.concatenate([part[place] for part in self._parts], axis=1)[:, here]
        values = {name: numbers[i].astype(np.float64) for i, name in enumerate(self._fields)}
        scores = Scores.of(values, patient=owner[here])
        found = estimate(scores, _metrics(self.setting), draws=Draws())
        kept = int(values[columns.of_setting(self.setting, "predictions")].sum())
        return {"threshold": float(self.tried[place]), "predictions": kept, **{e.metric: _figure(e) for e in found}}


def _metrics(setting: Setting) -> list[Metric]:
    both = [*accuracy_metrics(setting, at={}), *policy_metrics(setting.policy, at={}, patients_named=False)]
    return [metric for metric in both if metric.name in _SHOWN]


def _figure(e: Estimate) -> dict[str, Any]:
    held = ("value", "low", "high", "numerator", "denominator", "n_patients", "status", "reason")
    return {key: getattr(e, key) for key in held}


def _chosen(spans: SpanArrays, places: npt.NDArray[np.intp]) -> SpanArrays:
    return SpanArrays(spans.document[places], spans.start[places], spans.end[places], spans.label[places], spans.labels)


def _best(rows: Sequence[dict[str, Any]], target: float) -> int | None:
    """The least over-redaction among those whose lower bound of recall reaches the target; of equals the lowest score,
    which finds most."""
    reaching = [place for place, row in enumerate(rows) if _reaches(row["recall"], target)]
    return min(reaching, key=lambda place: (rows[place]["over_redaction"]["value"] or 0.0, place), default=None)


def _reaches(recall: dict[str, Any], target: float) -> bool:
    return recall["status"] == "ok" and recall["low"] is not None and recall["low"] >= target


def _none(rows: Sequence[dict[str, Any]], target: float) -> tuple[Verdict, str]:
    recall = rows[0]["recall"]
    if recall["low"] is None or recall["high"] is None:
        return "unsure", f"recall has no interval: {recall['reason']}"
    ends = f"with every prediction kept, recall is {recall['value']:.4g} ({recall['low']:.4g} to {recall['high']:.4g})"
    if recall["high"] < target:
        return "none", f"no threshold reaches the target: {ends}"
    return "unsure", f"no threshold has its lower bound at the target: {ends}; more patients may show one"


def _confirmed(recall: dict[str, Any], target: float) -> tuple[Verdict, str]:
    if recall["low"] is None or recall["high"] is None:
        return "unsure", f"recall has no interval on the other patients: {recall['reason']}"
    ends = f"recall on the other patients is {recall['value']:.4g} ({recall['low']:.4g} to {recall['high']:.4g})"
    if recall["low"] >= target:
        return "confirmed", ends
    return ("not_confirmed" if recall["high"] < target else "unsure"), ends
