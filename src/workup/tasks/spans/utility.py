"""Clinical utility of redaction: how many clinical terms a detector's masks leave, by category, policy and document.

Gathers counts batch by batch, in step with the rows of the ledger. Knows an extractor by its `extract(text)` alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from workup.documents.batch import Batch
from workup.documents.document import SpanArrays
from workup.documents.policies import MUST_NOT
from workup.metric import Interval, Metric
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.tasks.spans import columns
from workup.tasks.spans.counting.counting_rules import Golds, Yardstick
from workup.tasks.spans.metrics import share
from workup.tasks.spans.terms_kept import CATEGORIES, TOKEN, Fate, Lost, Place, Range, Reading

NAMES = tuple(dict.fromkeys(CATEGORIES.values()))
_OF_TERMS = columns.OF_TERMS


class TermExtractor(Protocol):
    """Finds clinical terms, each with `start`, `end`, `category` and `concept`."""

    name: str
    version: str

    def extract(self, text: str) -> Sequence[Any]:
        """The terms of one text."""
        ...


class Utility:
    """Counts of one system. `read` takes a batch, `counted` gives its columns under one policy after another."""

    def __init__(self, stick: Yardstick, extractor: TermExtractor) -> None:
        self.extractor = extractor
        self._stick = stick
        self._readings: list[Reading] = []
        self._found = 0
        self._totals: dict[str, Counter[str]] = {name: Counter() for name in ("terms", "lost", "gained")}
        self._losses: Counter[tuple[str, str, str, bool]] = Counter()

    @classmethod
    def of(cls, kind: str, stick: Yardstick) -> Utility | None:
        """What a study's field `utility` names, or nothing."""
        if kind == "none":
            return None
        from workup.lexicon import Extractor

        return cls(stick, Extractor.load())

    # ---- adding ------------------------------------------------------------------------------------------------------

    def read(self, batch: Batch, found: SpanArrays, answered: Sequence[bool]) -> None:
        """The terms of a batch, before and after what was found in it is masked."""
        self._readings = self._read(batch, found, answered)
        self._found += sum(len(one.before) for one in self._readings)

    def _read(self, batch: Batch, found: SpanArrays, answered: Sequence[bool]) -> list[Reading]:
        masks: list[list[tuple[int, int, str]]] = [[] for _ in batch.texts]
        for document, start, end, label in _rows(found):
            masks[document].append((start, end, found.labels[label]))
        return [
            Reading(text, here, self._places, answered=spoken)
            for text, here, spoken in zip(batch.texts, masks, answered, strict=True)
        ]

    def _places(self, text: str) -> list[Place]:
        terms = self.extractor.extract(text)
        return [(one.start, one.end, one.category, one.concept) for one in terms if one.category in CATEGORIES]

    def counted(self, policy: str, golds: Golds) -> dict[str, npt.NDArray[Any]]:
        """Columns of the batch that was read last: terms that had to survive and those that did, by category."""
        fates = self._fates(policy, golds, self._readings)
        if policy == self._stick.primary_policy:
            self._add(fates)
        lost = [Counter(one.category for one in fate.lost) for fate in fates]
        found: dict[str, npt.NDArray[Any]] = {}
        for name in NAMES:
            terms = np.array([fate.terms[name] for fate in fates], dtype=np.int64)
            gone = np.array([one[name] for one in lost], dtype=np.int64)
            for field, column in zip(_OF_TERMS, (terms, terms - gone), strict=True):
                found[columns.of_terms(policy, field, name)] = column
        return found

    def _fates(self, policy: str, golds: Golds, readings: Sequence[Reading]) -> list[Fate]:
        spans, decision = golds.spans, golds.decisions[policy]
        ignored = self._stick.ignored
        # What is ignored counts on neither side, so a term on it is no loss either.
        left_out = [name in ignored.canonical or name in ignored.labels for name in spans.labels]
        places: list[list[Range]] = [[] for _ in readings]
        for i, (document, start, end, label) in enumerate(_rows(spans)):
            if decision[i] != MUST_NOT or left_out[label]:
                places[document].append((start, end))
        return [reading.fate(here) for reading, here in zip(readings, places, strict=True)]

    def _add(self, fates: Sequence[Fate]) -> None:
        for fate in fates:
            self._totals["terms"] += fate.terms
            self._totals["gained"] += fate.gained
            for one in fate.lost:
                self._totals["lost"][one.category] += 1
                self._losses[one.category, one.label or "", one.how, one.on_identifier] += 1

    # ---- reading -----------------------------------------------------------------------------------------------------

    def table(self) -> dict[str, Any]:
        """Counts under the primary policy, by category, and what did each harm."""
        rows = []
        for name in NAMES:
            terms, lost, gained = (self._totals[key][name] for key in ("terms", "lost", "gained"))
            rows.append({"category": name, "terms": terms, "kept": terms - lost, "lost": lost, "gained": gained})
        losses = sorted(self._losses.items(), key=lambda item: (-item[1], item[0]))
        return {
            "extractor": f"{self.extractor.name} {self.extractor.version}",
            "token": TOKEN,
            "policy": self._stick.primary_policy,
            "terms_in_text": self._found,
            "categories": rows,
            "losses": [
                {"category": category, "label": label or None, "how": how, "on_identifier": meets, "count": n}
                for (category, label, how, meets), n in losses
            ],
        }

    def lost_in(self, batch: Batch, found: SpanArrays, answered: Sequence[bool]) -> Iterator[tuple[str, Lost]]:
        """Every term lost in a batch under the primary policy, with the id of its document."""
        stick = self._stick
        policies = next(one for one in stick.policy_sets if stick.primary_policy in {policy.name for policy in one})
        readings = self._read(batch, found, answered)
        fates = self._fates(stick.primary_policy, stick.golds(batch, policies), readings)
        for id, fate in zip(batch.ids, fates, strict=True):
            for one in fate.lost:
                yield id, one


def lost_terms(scores: Any) -> Iterator[dict[str, Any]]:
    """Every lost term as a record of details.jsonl: by offset, with the index of the prediction that did it.

    Walks over corpus and predictions once more, as the records of golds and predictions do.
    """
    utility, stick = scores.ledger.utility, scores.ledger.stick
    if utility is None:
        return
    detections = scores.detections()
    for batch in scores.corpus.batches():
        found = detections.of(batch.ids)
        for id, one in utility.lost_in(batch, stick.found(found), found.answered):
            yield {
                "case": id,
                "kind": "term",
                **stick.policy_key(stick.primary_policy),
                "start": one.start,
                "end": one.end,
                "label": one.category,
                "outcome": "lost",
                "matched": [] if one.prediction is None else [one.prediction],
                "category": one.how,
                "by": one.label,
            }


# ---- metrics ---------------------------------------------------------------------------------------------------------


def retention_metrics(policy: str, *, at: dict[str, str], caution: str = "") -> list[Metric]:
    """Retention under one policy: of all terms together, and of each category."""
    found = [_retention(policy, NAMES, at=at), *(_retention(policy, (n,), at={**at, "category": n}) for n in NAMES)]
    if not caution:
        return found
    return [replace(metric, interval=lambda scores, level: Interval.refused(caution)) for metric in found]


def _retention(policy: str, names: Sequence[str], *, at: dict[str, str]) -> Metric:
    def total(scores: Scores, field: str) -> Floats:
        return np.asarray(sum(scores[columns.of_terms(policy, field, name)] for name in names))

    return share(
        "retention",
        lambda scores: total(scores, _OF_TERMS[1]),
        lambda scores: total(scores, _OF_TERMS[0]),
        undefined="no clinical term outside the identifiers was found in these documents",
        at=at,
    )


def _rows(spans: SpanArrays) -> Iterator[tuple[int, int, int, int]]:
    return zip(spans.document.tolist(), spans.start.tolist(), spans.end.tolist(), spans.label.tolist(), strict=True)
