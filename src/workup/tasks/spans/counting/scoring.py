"""From the ledger to Scores: rows in an order that no shuffling of the documents can change, with their design."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.documents.detections import Detections
from workup.scores import Levels, Scores
from workup.tasks.spans import columns
from workup.tasks.spans.corpus import SpansCorpus
from workup.tasks.spans.counting.accumulator import UNKNOWN, Ledger
from workup.tasks.times import check_time

_OF_DOCUMENTS = ("type", "specialty")  # of every document, so they are groups wherever they are known


@dataclass(frozen=True, eq=False)
class SpanScores(Scores):
    """Scores of a detector, with the ledger that they were made from and the way to read everything once more."""

    ledger: Ledger = None  # type: ignore[assignment]
    corpus: SpansCorpus = None  # type: ignore[assignment]
    detections: Callable[[], Detections] = None  # type: ignore[assignment]
    emits: tuple[str, ...] | None = None
    row: npt.NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))  # each row's place in the ledger
    patients_named: bool = False

    @property
    def place_of_row(self) -> npt.NDArray[np.intp]:
        """Where each row of the ledger stands among these."""
        found = np.empty(len(self.row), dtype=np.intp)
        found[self.row] = np.arange(len(self.row))
        return found


def as_scores(
    ledger: Ledger, *, corpus: SpansCorpus, detections: Callable[[], Detections], emits: tuple[str, ...] | None = None
) -> SpanScores:
    """Rows sorted by what they are of; patients are counters, as everywhere."""
    keys: list[Any] = ledger.rows.keys
    order = np.array(sorted(range(len(keys)), key=lambda i: repr(keys[i])), dtype=np.intp)
    ordered = [keys[i] for i in order]
    design = [key if key != UNKNOWN else ((2, ""), None, None, None, None, ()) for key in ordered]
    patient = {one: code for code, one in enumerate(sorted({key[0] for key in design}))}
    known: list[list[Any]] = [[key[i] for key in design] for i in range(1, 5)]
    site, time, *about = known
    groups = {name: column for name, column in zip(_OF_DOCUMENTS, about, strict=True) if _any(column)}
    for name in sorted({name for key in design for name, _ in key[5]}):
        groups[name] = [dict(key[5]).get(name) for key in design]
    values = {name: ledger.rows.column(name)[order].astype(np.float64) for name in ledger.rows.names}
    return SpanScores(
        values=values | _information(ledger, order),
        patient=np.array([patient[key[0]] for key in design], dtype=np.int64),
        site=Levels.of(site) if _any(site) else None,
        time=_times(time) if _any(time) else None,
        groups={name: Levels.of(np.array(column, dtype=object)) for name, column in groups.items()},
        ledger=ledger,
        corpus=corpus,
        detections=detections,
        emits=emits,
        row=order,
        patients_named=any(key[0][0] == 1 for key in design),
    )


def _information(ledger: Ledger, order: npt.NDArray[np.intp]) -> dict[str, npt.NDArray[np.float64]]:
    """The weights of masked words, where the corpus is small enough for them to be known."""
    found = {}
    for policy in ledger.stick.policies:
        for name, column in zip(columns.INFORMATION, ledger.information.columns(policy.name), strict=True):
            known = ledger.information.measured and not ledger.rows.folded
            whole = np.zeros(len(order))
            if known:
                whole[: len(column)] = column  # a row of predictions without a document may follow
            found[columns.of_policy(policy.name, name)] = whole[order]
    return found


def _any(column: list[Any]) -> bool:
    return any(value is not None for value in column)


def _times(column: list[str | None]) -> npt.NDArray[np.datetime64]:
    return check_time(np.array(column, dtype=object), time_format=None, where="the 'time' of documents")
