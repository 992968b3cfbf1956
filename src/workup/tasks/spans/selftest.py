"""Does the span scorer know a bad detector when it sees one? Detectors with known answers, put through the metrics.

A scorer that likes a detector which masks nothing, or one that masks everything, is broken; so is one that does not
like the gold itself. The documents are made here, from a fixed seed, and hold nobody's text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from workup.documents.batch import Batch
from workup.documents.detections import Found
from workup.documents.document import Document, Span
from workup.documents.labels import branch_of
from workup.metric import Metric
from workup.scores import Scores
from workup.stats.random import generator
from workup.tasks.selftests import Check, outcome, run_parts
from workup.tasks.spans.counting.accumulator import Ledger
from workup.tasks.spans.counting.counting_rules import Yardstick
from workup.tasks.spans.metrics import span_metrics

# What decides the answers, below the package: files of code and data by which a pass is remembered.
SCORER = (
    "documents",
    "errors.py",
    "estimate.py",
    "lexicon",
    "metric.py",
    "scores.py",
    "stats",
    "task.py",
    "tasks/selftests.py",
    "tasks/spans",
    "text",
)
_DOCUMENTS = 60
_EMPTY = 10  # documents without any identifier
_WORDS = ("the", "patient", "was", "seen", "in", "clinic", "today", "with", "pain", "and", "fever", "after", "surgery")
_VALUES = {
    "name_patient": ("Amara Lind", "Jonas Weiss", "Mei Tanaka"),
    "date": ("12 March 2031", "04/05/2031", "2031-07-19"),
    "phone": ("555-0142", "555-0199 ext 4"),
    "mrn": ("A7734120", "MR-558-219"),
    "city": ("Northfield", "Old Harbour"),
}
_MODES = ("strict", "exact", "iou:0.5", "cover:1", "full_mask", "char")
_OTHER = {label: next(o for o in _VALUES if branch_of(o) != branch_of(label)) for label in _VALUES}
_EXACT = 1e-12
Detector = Callable[[Sequence[Document]], list[list[Span] | None]]


def run(*, seed: int = 0) -> list[Check]:
    """Every check, in a fixed order. A scorer that raises fails the check and stops none of the others."""
    documents = _documents(seed)
    return run_parts(
        {name: partial(_asked, documents, *planted) for name, planted in _detectors(documents, seed).items()}, seed=seed
    )


def _asked(
    documents: Sequence[Document], detector: Detector, expect: Callable[[_Seen], Iterator[Check]], seed: int
) -> Iterator[Check]:
    return expect(_Seen(documents, detector(documents)))


@cache
def line() -> dict[str, int | str]:
    """The self-test as every report shows it; run once for each version of the scorer."""
    found = outcome(run, scorer=SCORER)
    verdict = "passed" if found.passed == found.of else "FAILED: do not trust the numbers below"
    told = f"Scorer self-test {verdict}: {found.passed} of {found.of} right on {found.systems} planted detectors."
    return {"passed": found.passed, "of": found.of, "line": told}


# ---- documents -------------------------------------------------------------------------------------------------------


def _documents(seed: int) -> list[Document]:
    """Notes of common words with an identifier here and there; less than half of each note is identifiers."""
    draws = generator(seed, "selftest", "spans")
    made = []
    for i in range(_DOCUMENTS):
        text, spans = "", []
        for _ in range(0 if i < _EMPTY else int(draws.integers(2, 6))):
            label = str(draws.choice(list(_VALUES)))
            value = str(draws.choice(_VALUES[label]))
            text += " ".join(draws.choice(_WORDS, size=8)) + " "
            spans.append(Span(len(text), len(text) + len(value), label))
            text += value + " "
        text += " ".join(draws.choice(_WORDS, size=8)) + "."
        made.append(Document(f"selftest-{i}", text, tuple(spans), patient=f"patient-{i // 2}"))
    return made


class _Seen:
    """What the scorer says of one detector."""

    def __init__(self, documents: Sequence[Document], found: Sequence[Sequence[Span] | None]) -> None:
        stick = Yardstick.of(modes=_MODES)
        answers = Found.of(found)
        ledger = Ledger(stick, by_label=False)
        ledger.add(Batch.of(documents), answers)
        columns = {name: ledger.rows.column(name) for name in ledger.rows.names}
        self._scores = Scores.of(columns, patient=[document.patient for document in documents])
        metrics = span_metrics(stick, patients_named=True, cautions=lambda setting: "")
        self._metrics: dict[tuple[str, frozenset[tuple[str, str]]], Metric] = {
            (metric.name, frozenset(metric.at.items())): metric for metric in metrics
        }

    def value(self, metric: str, mode: str = "", level: str = "phi") -> float:
        at = {"mode": mode, "level": level} if mode else {}
        return self._metrics[metric, frozenset(at.items())].value(self._scores)

    def check(self, metric: str, expected: float | None, mode: str = "", level: str = "phi") -> Check:
        seen = self.value(metric, mode, level)
        right = np.isnan(seen) if expected is None else abs(seen - expected) <= _EXACT
        where = f"{metric} ({mode}, {level})" if mode else metric
        return Check(where, _said(expected), _said(None if np.isnan(seen) else seen), bool(right))

    def high(self, metric: str) -> float:
        found = self._metrics[metric, frozenset()].interval
        assert found is not None
        end = found(self._scores, 0.95).high
        return np.nan if end is None else end


def _said(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6g}"


# ---- detectors and what they deserve ---------------------------------------------------------------------------------


def _detectors(
    documents: Sequence[Document], seed: int
) -> dict[str, tuple[Detector, Callable[[_Seen], Iterator[Check]]]]:
    golds = [span for document in documents for span in document.spans]
    characters = sum(len(document.text) for document in documents)
    identifying = sum(span.end - span.start for span in golds)
    density = identifying / characters

    def null(seen: _Seen) -> Iterator[Check]:
        for mode in _MODES:
            yield seen.check("recall", 0.0, mode)
            yield seen.check("precision", None, mode)
        yield seen.check("leak_rate_char", 1.0)
        yield seen.check("leak_rate_document", 1.0)
        yield seen.check("leak_rate_patient", 1.0)
        yield seen.check("over_redaction", 0.0)
        yield seen.check("specificity_negative_document", 1.0)

    def decorated(seen: _Seen) -> Iterator[Check]:
        for mode in _MODES:
            yield seen.check("recall", 0.0, mode)
            yield seen.check("precision", 0.0, mode)
        yield seen.check("leak_rate_char", 1.0)
        yield seen.check("specificity_negative_document", 0.0)

    def whole(seen: _Seen) -> Iterator[Check]:
        yield seen.check("recall", 1.0, "char")
        yield seen.check("precision", density, "char")
        yield seen.check("recall", 1.0, "full_mask")
        for mode in ("strict", "iou:0.5"):
            yield seen.check("recall", 0.0, mode)
        for mode in ("cover:1", "full_mask", "strict"):
            yield seen.check("precision", 0.0, mode)
        yield seen.check("over_redaction", 1.0)
        yield seen.check("specificity_negative_document", 0.0)

    def echo(seen: _Seen) -> Iterator[Check]:
        for mode in _MODES:
            for metric in ("recall", "precision", "f1", "f2"):
                yield seen.check(metric, 1.0, mode)
        yield seen.check("leak_rate_document", 0.0)
        yield seen.check("over_redaction", 0.0)
        patients = len({document.patient for document in documents if document.spans})
        expected = 1 - 0.05 ** (1 / patients)
        high = seen.high("leak_rate_patient")
        yield Check("leak_rate_patient, upper bound", _said(expected), _said(high), abs(high - expected) <= _EXACT)

    def one_off(seen: _Seen) -> Iterator[Check]:
        for mode in ("strict", "exact", "cover:1", "full_mask"):
            yield seen.check("recall", 0.0, mode)
        yield seen.check("recall", 1.0, "iou:0.5")
        yield seen.check("recall", 1 - len(golds) / identifying, "char")
        yield seen.check("precision", 1.0, "char")
        yield seen.check("leak_rate_document", 1.0)

    def shuffled(seen: _Seen) -> Iterator[Check]:
        for level in ("leaf", "branch"):
            for mode in ("strict", "iou:0.5", "cover:1"):
                yield seen.check("recall", 0.0, mode, level)
                yield seen.check("precision", 0.0, mode, level)
        for mode in ("exact", "full_mask", "char", "iou:0.5"):
            yield seen.check("recall", 1.0, mode)

    def twice(seen: _Seen) -> Iterator[Check]:
        yield seen.check("recall", 1.0, "strict", "leaf")
        yield seen.check("precision", 0.5, "strict", "leaf")
        yield seen.check("recall", 1.0, "char")
        yield seen.check("precision", 1.0, "char")

    def silent(seen: _Seen) -> Iterator[Check]:
        spoken = sum(len(document.spans) for document in documents[::2])
        yield seen.check("recall", spoken / len(golds), "full_mask")
        intact = sum(1 for document in documents[:_EMPTY:2])
        yield seen.check("specificity_negative_document", intact / _EMPTY)

    def random(seen: _Seen) -> Iterator[Check]:
        recall, masked = seen.value("recall", "char"), seen.value("over_redaction")
        near = abs(recall - masked) < 0.1  # a mask thrown blindly hides as much of the one as of the other
        yield Check("char recall less over-redaction", "within 0.1 of 0", _said(recall - masked), bool(near))
        strict = seen.value("recall", "strict", "leaf")
        yield Check("recall (strict, leaf)", "below 0.05", _said(strict), bool(strict < 0.05))

    return {
        "null": (lambda docs: [[] for _ in docs], null),
        "decorated null": (lambda docs: [[Span(0, 1, "date")] for _ in docs], decorated),
        "whole document": (lambda docs: [[Span(0, len(d.text), "name_patient")] for d in docs], whole),
        "gold echo": (lambda docs: [list(d.spans) for d in docs], echo),
        "one-off borders": (lambda docs: [[replace(s, end=s.end - 1) for s in d.spans] for d in docs], one_off),
        "shuffled labels": (
            lambda docs: [[replace(s, label=_OTHER[s.label]) for s in d.spans] for d in docs],
            shuffled,
        ),
        "everything twice": (lambda docs: [[*d.spans, *d.spans] for d in docs], twice),
        "silent on every second": (
            lambda docs: [None if i % 2 else list(d.spans) for i, d in enumerate(docs)],
            silent,
        ),
        "random": (lambda docs: _thrown(docs, seed), random),
    }


def _thrown(documents: Sequence[Document], seed: int) -> list[list[Span] | None]:
    """Three masks of random place and label in every document."""
    draws = generator(seed, "selftest", "random detector")
    found: list[list[Span] | None] = []
    for document in documents:
        starts = draws.integers(0, len(document.text) - 12, size=3)
        labels = draws.choice(list(_VALUES), size=3)
        found.append([Span(int(s), int(s) + 11, str(label)) for s, label in zip(starts, labels, strict=True)])
    return found
