"""Two detectors read side by side over one corpus: of every gold whether both, one or neither found it, of every false
alarm whether the other raised it too. Counts by patient, document and type; no text stays."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from workup.documents.batch import Batch
from workup.documents.detections import Found
from workup.documents.document import SpanArrays
from workup.documents.labels import branch_of, is_canonical
from workup.stats.arrays import Ints
from workup.tasks.spans.counting.accumulator import UNKNOWN
from workup.tasks.spans.counting.counting_rules import Yardstick
from workup.tasks.spans.counting.matchup import Matchup, Setting
from workup.tasks.spans.counting.outcomes import Outcomes, outcomes
from workup.tasks.spans.counting.scoring import SpanScores
from workup.tasks.spans.counting.verdicts import CREDITED, FALSE_ALARM, NEUTRAL, REMOVED

# Golds that must be masked, and how both fared; then of each system: points (found golds, in halves where a mode gives
# halves), predictions that count, those credited, false alarms, and false alarms that the other raised there too.
FIELDS = (
    "golds",
    "both",
    "only_first",
    "only_second",
    *(
        f"{name}_{side}"
        for side in ("first", "second")
        for name in ("points", "judged", "credited", "alarms", "agreed")
    ),
)
EVERY_DOCUMENT = 20_000  # documents that are all kept one by one; of a larger corpus, those in which systems differ


class Cells(NamedTuple):
    """Counts by owner (a patient or a document) and label, where there are any; `counts[field, cell]`."""

    owner: Ints
    label: Ints
    counts: Ints

    def of(self, field: str) -> Ints:
        """One field."""
        found: Ints = self.counts[FIELDS.index(field)]
        return found


@dataclass(eq=False)
class Joint:
    """Both systems on all documents in one setting. `labels` are the types; owners are places in the two lists."""

    setting: Setting
    labels: list[str]
    patients: int
    documents: list[str | None]  # None for predictions of documents that the corpus does not hold
    by_patient: Cells
    by_document: Cells
    halves: bool = False  # points are in halves: a mode that gives half of one
    left_out: int = 0  # documents of a large corpus that are not kept, since the systems do not differ there

    def of_patients(self, labels: Sequence[str] | None = None) -> Mapping[str, Ints]:
        """Each field with an entry per patient: of all types together, or of those named."""
        cells = self.by_patient
        wanted = np.array([labels is None or name in labels for name in self.labels] + [False])
        here = wanted[cells.label] if len(cells.label) else np.empty(0, np.bool_)
        return {
            name: np.bincount(cells.owner[here], weights=row[here], minlength=self.patients).astype(np.int64)
            for name, row in zip(FIELDS, cells.counts, strict=True)
        }


def joint(first: SpanScores, second: SpanScores) -> Joint:
    """Read the corpus once more with the predictions of both, at the primary setting of the first."""
    sticks = first.ledger.stick, second.ledger.stick
    setting = sticks[0].primary_setting
    policies = next(one for one in sticks[0].policy_sets if setting.policy in {policy.name for policy in one})
    found = first.detections(), second.detections()
    gathered = _Gathered(setting)
    for batch in first.corpus.batches():
        golds = sticks[0].golds(batch, policies)
        sides = [
            _Side.of(stick, golds, one.of(batch.ids), batch, setting) for stick, one in zip(sticks, found, strict=True)
        ]
        gathered.add(batch, golds.spans, sides)
    gathered.close([(stick, one.unknown()) for stick, one in zip(sticks, found, strict=True)])
    return gathered.done()


class _Side(NamedTuple):
    """One system on a batch."""

    matchup: Matchup
    fate: Outcomes

    @classmethod
    def of(cls, stick: Yardstick, golds: Any, found: Found, batch: Batch, setting: Setting) -> _Side:
        matchup = stick.matchup(golds, stick.found(found), texts=batch.texts, answered=found.answered)
        return cls(matchup, outcomes(matchup, setting))

    @property
    def alarms(self) -> npt.NDArray[np.bool_]:
        found: npt.NDArray[np.bool_] = self.fate.outcome == FALSE_ALARM
        return found


@dataclass(eq=False)
class _Gathered:
    """Grows batch by batch."""

    setting: Setting
    labels: dict[str, int] = field(default_factory=dict)
    patients: dict[Hashable, int] = field(default_factory=dict)
    documents: list[str | None] = field(default_factory=list)
    parts: dict[str, list[Cells]] = field(default_factory=lambda: {"patient": [], "document": []})
    left_out: int = 0

    def add(self, batch: Batch, golds: SpanArrays, sides: Sequence[_Side]) -> None:
        """One more batch under both systems."""
        patients = batch.column("patient")
        keys: list[Hashable] = [(1, p) if p is not None else (0, id) for id, p in zip(batch.ids, patients, strict=True)]
        patient = np.array([self.patients.setdefault(key, len(self.patients)) for key in keys], dtype=np.int64)
        document = self._numbered(batch)
        label, counts, owner = self._counted(golds, sides)
        self.parts["patient"].append(_added(patient[owner], label, counts))
        self.parts["document"].append(_added(document[owner], label, counts))

    def close(self, unknown: Sequence[tuple[Yardstick, Found]]) -> None:
        """Predictions of documents that the corpus does not hold: false alarms, on a patient and a document apart."""
        if not any(len(found.spans) for _, found in unknown):
            return
        patient, document = self.patients.setdefault(UNKNOWN, len(self.patients)), len(self.documents)
        self.documents.append(None)
        for side, (stick, found) in zip(("first", "second"), unknown, strict=True):
            spans = stick.found(found.as_one())
            label = self._codes(spans)
            counts = np.zeros((len(FIELDS), len(label)), dtype=np.int64)
            counts[[FIELDS.index(f"{name}_{side}") for name in ("judged", "alarms")]] = 1
            for whose, owner in (("patient", patient), ("document", document)):
                self.parts[whose].append(_added(np.full(len(label), owner), label, counts))

    def done(self) -> Joint:
        """All of it, types in the order of their names."""
        names = sorted(self.labels)
        order = np.array([names.index(name) for name in self.labels], dtype=np.int64)
        # Patients in the order of their names, so that no sum depends on that of the documents.
        ranked = {key: place for place, key in enumerate(sorted(self.patients, key=repr))}
        patient = np.array([ranked[key] for key in self.patients], dtype=np.int64)
        by_patient = _joined(self.parts["patient"], order, owners=patient)
        by_document = _joined(self.parts["document"], order)
        seen = len(self.documents)
        if seen > EVERY_DOCUMENT:
            kept = np.isin(by_document.owner, np.unique(by_document.owner[_differs(by_document)]))
            self.left_out = seen - int(np.unique(by_document.owner[kept]).size)
            by_document = Cells(by_document.owner[kept], by_document.label[kept], by_document.counts[:, kept])
        halves = self.setting.mode.kind == "partial"
        return Joint(
            setting=self.setting,
            labels=names,
            patients=len(self.patients),
            documents=self.documents,
            by_patient=by_patient,
            by_document=by_document,
            halves=halves,
            left_out=self.left_out,
        )

    def _numbered(self, batch: Batch) -> Ints:
        """The place of each entry's document; readings of one document share it."""
        first = batch.first or [True] * len(batch)
        places = np.cumsum(first) - 1 + len(self.documents)
        self.documents += [id for id, one in zip(batch.ids, first, strict=True) if one]
        return places.astype(np.int64)

    def _counted(self, golds: SpanArrays, sides: Sequence[_Side]) -> tuple[Ints, Ints, Ints]:
        """Label, counts and entry of the batch of every gold and every prediction of both, one after another."""
        ignored = np.array([name in sides[0].matchup.ignored for name in golds.labels] + [False])
        must = sides[0].fate.must & ~ignored[golds.label] if len(golds) else sides[0].fate.must
        hits = [side.fate.hit & must for side in sides]
        rows: dict[str, npt.NDArray[Any]] = {
            "golds": must,
            "both": hits[0] & hits[1],
            "only_first": hits[0] & ~hits[1],
            "only_second": hits[1] & ~hits[0],
        }
        blocks = [(golds, rows)]
        for side, own, other, name in zip(sides, hits, reversed(sides), ("first", "second"), strict=True):
            if self.setting.mode.kind == "partial":  # a border that is not the gold's earns half a point
                rows[f"points_{name}"] = own.astype(np.int64) + (side.fate.exact & must)
            else:
                rows[f"points_{name}"] = own
            outcome = side.fate.outcome
            of_predictions: dict[str, npt.NDArray[Any]] = {
                f"judged_{name}": (outcome != REMOVED) & (outcome != NEUTRAL),
                f"credited_{name}": outcome == CREDITED,
                f"alarms_{name}": side.alarms,
                f"agreed_{name}": _met(side, other),
            }
            blocks.append((side.matchup.predictions, of_predictions))
        labels = [self._codes(spans) for spans, _ in blocks]
        counts = []
        for spans, given in blocks:
            block = np.zeros((len(FIELDS), len(spans)), dtype=np.int64)
            for name, flags in given.items():
                block[FIELDS.index(name)] = flags
            counts.append(block)
        owner = [spans.document.astype(np.int64) for spans, _ in blocks]
        return np.concatenate(labels), np.concatenate(counts, axis=1), np.concatenate(owner)

    def _codes(self, spans: SpanArrays) -> Ints:
        branches = self.setting.level.startswith("branch")
        names = [branch_of(name) if branches and is_canonical(name) else name for name in spans.labels]
        codes = np.array([self.labels.setdefault(name, len(self.labels)) for name in names], dtype=np.int64)
        return codes[spans.label] if len(spans) else np.empty(0, np.int64)


def _met(side: _Side, other: _Side) -> npt.NDArray[np.bool_]:
    """False alarms that overlap a false alarm of the other system, whatever the labels."""
    mine, theirs = side.matchup.predictions, other.matchup.predictions
    room = 1 + max((int(spans.end.max()) for spans in (mine, theirs) if len(spans)), default=0)
    shift = mine.document.astype(np.int64) * room
    chosen = np.flatnonzero(other.alarms)
    line = theirs.document[chosen].astype(np.int64) * room
    start, end = line + np.maximum(theirs.start[chosen], 0), line + np.maximum(theirs.end[chosen], 0)
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    before = np.searchsorted(start, shift + np.maximum(mine.end, 0), side="left") - 1
    # Of those that start before the end of mine, one that reaches past its start overlaps it.
    far = reach[np.maximum(before, 0)] if len(reach) else np.zeros(len(mine), np.int64)
    found: npt.NDArray[np.bool_] = side.alarms & (before >= 0) & (far > shift + np.maximum(mine.start, 0))
    return found


def _differs(cells: Cells) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (cells.of("only_first") + cells.of("only_second") > 0) | (
        cells.of("alarms_first") != cells.of("alarms_second")
    )
    return found


def _added(owner: Ints, label: Ints, counts: Ints) -> Cells:
    """Counts of equal owner and label added up."""
    width = int(label.max(initial=0)) + 1
    joint_, place = np.unique(owner * width + label, return_inverse=True)
    sums = np.stack([np.bincount(place, weights=row, minlength=len(joint_)) for row in counts]).astype(np.int64)
    return Cells(joint_ // width, joint_ % width, sums)


def _joined(parts: Sequence[Cells], order: Ints, *, owners: Ints | None = None) -> Cells:
    """Cells of all batches, labels (and owners) renumbered."""
    empty = np.empty(0, np.int64)
    owner = np.concatenate([empty, *(part.owner for part in parts)])
    label = np.concatenate([empty, *(part.label for part in parts)])
    counts = np.concatenate([np.empty((len(FIELDS), 0), np.int64), *(part.counts for part in parts)], axis=1)
    if not len(label):
        return Cells(owner, label, counts)
    return _added(owner if owners is None else owners[owner], order[label], counts)


def document_rows(found: Joint) -> Iterator[dict[str, Any]]:
    """One record per document and type. Documents are numbered in the order of their ids, so that a record can speak of
    one without its id, which may be a patient's; predictions of unknown documents come last, as one without a case."""
    cells = found.by_document
    ordered = sorted(range(len(found.documents)), key=lambda i: (found.documents[i] is None, found.documents[i] or ""))
    number = np.empty(len(ordered), dtype=np.int64)
    number[ordered] = np.arange(1, len(ordered) + 1)
    owner = number[cells.owner] if len(cells.owner) else cells.owner
    for place in np.lexsort((cells.label, owner)).tolist():
        n: Mapping[str, int] = dict(zip(FIELDS, cells.counts[:, place].tolist(), strict=True))
        if any(n.values()):
            yield {
                "document": int(owner[place]),
                "case": found.documents[int(cells.owner[place])],
                "label": found.labels[int(cells.label[place])],
                **{name: n[name] for name in ("golds", "both", "only_first", "only_second")},
                "neither": n["golds"] - n["both"] - n["only_first"] - n["only_second"],
                "false_alarms_first": n["alarms_first"],
                "false_alarms_second": n["alarms_second"],
                "false_alarms_agreed": n["agreed_first"],
            }
