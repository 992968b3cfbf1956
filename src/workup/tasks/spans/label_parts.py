"""Recall, precision and F by label: the same metrics over finer rows, one for each document and label in it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from workup.documents.labels import branch_of, is_canonical
from workup.estimate import Slice
from workup.scores import Levels, Scores
from workup.stats.arrays import Floats
from workup.task import Part
from workup.tasks.spans import columns
from workup.tasks.spans.counting.scoring import SpanScores
from workup.tasks.spans.metrics import accuracy_metrics
from workup.tasks.spans.notes import cautions


def label_parts(scores: SpanScores) -> Iterator[Part]:
    """One part per setting that counts spans; labels are leaves, or branches where the setting compares these."""
    ledger = scores.ledger
    cells, stick = ledger.cells, ledger.stick
    if not len(cells.row):
        return
    patient = scores.patient[scores.place_of_row[cells.row]]
    caution = cautions(ledger)
    for setting in dict.fromkeys((*stick.settings, *stick.full_mask)):
        if setting.mode.by_unit:
            continue
        names = [_row_name(name, setting.level) for name in cells.labels]
        levels = _levels(names, cells.label)
        values = {field: cells.column(columns.of_setting(setting, field)) for field in columns.OF_SETTING}
        finer = Scores({name: column.astype(np.float64) for name, column in values.items()}, patient)
        metrics = accuracy_metrics(setting, at=stick.key(setting), name_of=partial(str), caution=caution(setting))
        yield Part(finer, metrics, _by_size(levels, finer["golds"]))


def _by_size(levels: Levels, golds: Floats) -> list[Slice]:
    """One slice per label, the one with most golds first, none left out."""
    masks = sorted(levels.masks(), key=lambda item: (-float(golds[item[1]].sum()), item[0]))
    return [Slice({"label": label}, rows) for label, rows in masks]


def _row_name(name: str, level: str) -> str:
    return branch_of(name) if level.startswith("branch") and is_canonical(name) else name


def _levels(names: list[str], label: np.ndarray) -> Levels:
    distinct = sorted(set(names))
    code = np.array([distinct.index(name) for name in names], dtype=np.int64)
    return Levels(code[label], tuple(distinct))
