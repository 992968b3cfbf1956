"""What a configuration comes to on a corpus, by the product's own scorer, with intervals over patients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from training.evaluate.corpora import Corpus, is_registered
from workup.documents.batch import Batch
from workup.documents.detections import Found
from workup.documents.document import Span
from workup.documents.labels import branch_of
from workup.documents.mappings import LabelMapping
from workup.documents.policies import Policy
from workup.documents.titles import title_length
from workup.metric import share_interval
from workup.scores import Scores
from workup.stats.random import generator
from workup.tasks.spans import columns
from workup.tasks.spans.counting.accumulator import Ledger
from workup.tasks.spans.counting.counting_rules import FULL_MASK, Yardstick
from workup.tasks.spans.counting.matchup import PHI, Setting
from workup.tasks.spans.metrics import span_metrics

Answers = Sequence[Sequence[Span] | None]
LEVEL = 0.95
REPLICATES = 2_000
SHOWN = {
    "leak": ("leak_rate_char", "", ""),
    "full mask": ("recall", "full_mask", "phi"),
    "documents that leak": ("leak_rate_document", "", ""),
    "over-redaction": ("over_redaction", "", ""),
    "specificity": ("specificity_char", "", ""),
    "F1": ("f1", "iou:0.5", "phi"),
    "intact": ("specificity_negative_document", "", ""),
}


SUMS = ("must_chars_unmasked", "must_chars", "non_phi_chars_masked", "non_phi_chars", "hits", "golds")
OVER_REDACTION, FULL_MASKED = (2, 3), (4, 5)


@dataclass(frozen=True)
class Figure:
    """A share with the ends of its interval; ends are None where there is none to give."""

    value: float
    low: float | None
    high: float | None
    of: float | None = None

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "–"
        ends = "" if self.low is None or self.high is None else f" ({self.low:.2%} to {self.high:.2%})".replace("%", "")
        return f"{100 * self.value:.2f}{ends}"

    def record(self) -> dict[str, float | None]:
        """As plain data."""
        return {"value": None if np.isnan(self.value) else self.value, "low": self.low, "high": self.high, "n": self.of}


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everything that is told of one configuration on one corpus."""

    corpus: Corpus
    configuration: str
    figures: dict[str, Figure]
    misses: Counter[str]
    golds: Counter[str]
    false_alarms: Counter[str]
    registered: Figure  # mentions of what a register knows that are masked whole
    sums: np.ndarray  # for each patient, in the order of `SUMS`


def outcome(corpus: Corpus, configuration: str, answers: Answers, mapping: str) -> Outcome:
    """The figures of some answers, and which labels are missed and masked in vain."""
    stick = Yardstick.of(
        labels=corpus.labels, system_labels=mapping, policies=[corpus.policy], modes=["full_mask", "iou:0.5", "char"]
    )
    ledger = Ledger(stick, by_label=False)
    ledger.add(Batch.of(corpus.documents), Found.of(answers))
    counted = {name: ledger.rows.column(name) for name in ledger.rows.names}
    patients = [one.patient or one.id for one in corpus.documents]
    scores = Scores.of(counted, patient=patients)
    found = {
        (metric.name, metric.at.get("mode", ""), metric.at.get("level", "")): metric
        for metric in span_metrics(stick, patients_named=True, cautions=lambda setting: "")
        if not set(metric.at) - {"mode", "level"}
    }
    figures = {}
    for name, key in SHOWN.items():
        metric = found[key]
        value = metric.value(scores)
        interval = metric.interval(scores, LEVEL) if metric.interval is not None and not np.isnan(value) else None
        of = metric.counts(scores)[1] if metric.counts is not None else None
        figures[name] = Figure(value, interval.low if interval else None, interval.high if interval else None, of)
    misses, golds, alarms = _by_label(corpus, answers, stick.policies[0])
    registered = _registered(corpus, answers, scores)
    policy = stick.policies[0].name
    whole = Setting(FULL_MASK, PHI, policy)
    fields = [columns.of_policy(policy, name) for name in SUMS[:4]] + [
        columns.of_setting(whole, name) for name in SUMS[4:]
    ]
    rows = np.column_stack([counted[name] for name in fields])
    _, codes = np.unique(patients, return_inverse=True)
    sums = np.column_stack([np.bincount(codes, weights=column) for column in rows.T.astype(float)])
    return Outcome(corpus, configuration, figures, misses, golds, alarms, registered, sums)


def _by_label(corpus: Corpus, answers: Answers, policy: Policy) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Golds that are not masked whole, all golds that must be, and answers on text that no gold covers, by label."""
    mapping = LabelMapping.load(corpus.labels)
    misses, golds, alarms = Counter[str](), Counter[str](), Counter[str]()
    for document, answer in zip(corpus.documents, answers, strict=True):
        inside = _masked(document.text, answer)
        covered = np.zeros(len(document.text), dtype=bool)
        for gold in document.spans:
            label = mapping.of(gold.label)
            start = gold.start
            if policy.titles == "without_name" and label is not None and branch_of(label.name) == "NAME":
                start += title_length(document.text[gold.start : gold.end])
            decision = policy.of(label, gold.identifier)
            covered[start : gold.end] |= decision != "must_not"
            if decision == "must":
                golds[gold.label] += 1
                misses[gold.label] += not _whole(document.text, start, gold.end, inside)
        for one in answer or ():
            if not covered[one.start : one.end].any():
                alarms[one.label] += 1
    return misses, golds, alarms


def _registered(corpus: Corpus, answers: Answers, scores: Scores) -> Figure:
    """Mentions of what a register knows of the patient that are masked whole, with the interval of a share."""
    hits, all_of = np.zeros(len(corpus.documents)), np.zeros(len(corpus.documents))
    for at, (document, answer) in enumerate(zip(corpus.documents, answers, strict=True)):
        inside = _masked(document.text, answer)
        for gold in filter(is_registered, document.spans):
            all_of[at] += 1
            hits[at] += _whole(document.text, gold.start, gold.end, inside)
    if not all_of.sum():
        return Figure(np.nan, None, None)
    found = share_interval(hits, all_of, scores, LEVEL)
    return Figure(float(hits.sum() / all_of.sum()), found.low, found.high, float(all_of.sum()))


def _masked(text: str, answer: Sequence[Span] | None) -> np.ndarray:
    inside = np.zeros(len(text), dtype=bool)
    for one in answer or ():
        inside[one.start : one.end] = True
    return inside


def _whole(text: str, start: int, end: int, inside: np.ndarray) -> bool:
    """Whether every letter and digit of a stretch is masked."""
    return all(inside[at] for at in range(start, end) if text[at].isalnum())


def ratio_of_leaks(one: Outcome, other: Outcome) -> Figure:
    """What `one` leaves visible as a share of what `other` does, patients drawn again in pairs."""
    first, second = one.sums[:, 0], other.sums[:, 0]
    if not second.sum():
        return Figure(np.nan, None, None)
    draws = generator(9590, one.corpus.name, one.configuration, other.configuration)
    weights = draws.multinomial(len(first), np.full(len(first), 1 / len(first)), size=REPLICATES)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = (weights @ first) / (weights @ second)
    low, high = np.nanquantile(ratios, [0.025, 0.975], method="nearest")  # a share of nothing is without end
    return Figure(float(first.sum() / second.sum()), float(low), float(high))


def difference(one: Outcome, other: Outcome, columns_of: tuple[int, int]) -> Figure:
    """A share of `one` less that of `other`, patients drawn again in pairs."""
    top, bottom = columns_of
    draws = generator(9591, one.corpus.name, one.configuration, other.configuration)
    size = len(one.sums)
    weights = draws.multinomial(size, np.full(size, 1 / size), size=REPLICATES)

    def share(rows: np.ndarray, at: Any) -> np.ndarray:
        return np.asarray((at @ rows[:, top]) / np.maximum(at @ rows[:, bottom], 1))

    gaps = share(one.sums, weights) - share(other.sums, weights)
    low, high = np.quantile(gaps, [0.025, 0.975])
    once = np.ones((1, size))
    return Figure(float((share(one.sums, once) - share(other.sums, once))[0]), float(low), float(high))
