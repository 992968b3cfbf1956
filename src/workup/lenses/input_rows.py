"""Rows made ready for comparing what a system was shown: those that wait for their answer too, one of each patient."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.scores import Levels, Scores
from workup.stats.arrays import Floats


def everyone(scores: Scores) -> Scores:
    """The rows and those that wait for their answer under one another, with the values that both have."""
    later = scores.waiting
    if later is None or len(later) == 0:
        return replace(scores, waiting=None)
    patient = later.patient
    if scores.n_patients == len(scores) and later.n_patients == len(later):
        # Without ids both are numbered from 0: the same number is not the same patient.
        patient = patient + 1 + int(scores.patient.max(initial=-1))
    weight = None
    if scores.weight is not None or later.weight is not None:
        weight = np.concatenate([scores.base_weight, later.base_weight])
    return Scores(
        {name: np.concatenate([column, later[name]]) for name, column in scores.values.items() if name in later.values},
        np.concatenate([scores.patient, patient]),
        time=None if scores.time is None or later.time is None else np.concatenate([scores.time, later.time]),
        weight=weight,
        inputs={name: _stacked(column, later.inputs[name]) for name, column in scores.inputs.items()},
    )


def level_counts(column: Levels) -> dict[str, int]:
    """Rows at each level that occurs."""
    counts = np.bincount(column.codes, minlength=len(column.names)).tolist()
    return {name: n for name, n in zip(column.names, counts, strict=True) if n}


def _stacked(first: Floats | Levels, second: Floats | Levels) -> Floats | Levels:
    if isinstance(first, Levels) and isinstance(second, Levels):
        names = [np.array(levels.names, dtype=object)[levels.codes] for levels in (first, second)]
        return Levels.of(np.concatenate(names))
    return np.concatenate([np.asarray(first), np.asarray(second)])


def one_row_each(scores: Scores) -> Scores:
    """The earliest row of every patient. Rows are ordered by risk as they come, so the first of them is no fair one;
    of rows at one moment the values decide, and not their place in the file."""
    if scores.n_patients == len(scores):
        return scores
    return scores.take(one_row_positions(scores))


def one_row_positions(scores: Scores) -> npt.NDArray[np.intp]:
    """Where these rows stand, in ascending order."""
    if scores.n_patients == len(scores):
        return np.arange(len(scores))
    keys: list[npt.NDArray[Any]] = [
        column.codes if isinstance(column, Levels) else column for column in scores.inputs.values()
    ]
    if scores.time is not None:
        keys.append(scores.time)
    order = np.lexsort(keys) if keys else np.arange(len(scores))
    _, first = np.unique(scores.patient[order], return_index=True)
    return np.sort(order[first])
