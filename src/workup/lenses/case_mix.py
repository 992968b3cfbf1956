"""How alike two sets of patients are in what the system was shown and in the risks it gave: standardised differences.

A difference in case mix explains part of a difference in performance; it is described and never judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.lenses.input_rows import one_row_positions
from workup.metric import FEWEST_PATIENTS
from workup.scores import MISSING, RISK, Levels, Scores
from workup.stats.arrays import Bools, Floats
from workup.stats.random import generator
from workup.stats.standardised import Standardised, moments, of_categories, of_numbers

LEVEL = 0.95
Ints = npt.NDArray[np.intp]


def one_row_a_patient(scores: Scores, *, seed: int) -> Ints:
    """Positions of one row of each patient: the earliest, or one drawn at random where no time is known.

    Rows come ordered by risk, so the first of a patient's rows would be the one of least risk.
    """
    if scores.time is not None or scores.n_patients == len(scores):
        return one_row_positions(scores)
    order = generator(seed, "one row of each patient").permutation(len(scores))
    _, first = np.unique(scores.patient[order], return_index=True)
    return np.sort(order[first])


def differences(
    scores: Scores, rows: Bools, other: Bools, *, keys: Mapping[str, Any], against: str
) -> Iterator[dict[str, Any]]:
    """Every input, and the risk where there is one, on `rows` against `other`; each patient has one row."""
    first, second = scores.take(np.flatnonzero(rows)), scores.take(np.flatnonzero(other))
    yield from between(first, second, keys=keys, against=against)


def between(first: Scores, second: Scores, *, keys: Mapping[str, Any], against: str) -> Iterator[dict[str, Any]]:
    """The same of two sets of rows; an input that the second does not have is left out."""
    for name, column in _columns(first).items():
        pair = _columns(second).get(name)
        if pair is None or isinstance(pair, Levels) != isinstance(column, Levels):
            continue
        sizes = _known(column), _known(pair)
        found = _compared(column, first.weight, pair, second.weight)
        reason = _reason(found, sizes)
        sound = np.isfinite(found.value)
        yield {
            "input": name,
            "kind": "category" if isinstance(column, Levels) else "number",
            "slice": dict(keys),
            "against": against,
            "value": float(found.value) if sound else None,
            "low": None if reason else float(found.low),
            "high": None if reason else float(found.high),
            "level": LEVEL,
            "n_patients": sizes[0],
            "n_against": sizes[1],
            "status": "ok" if not reason else reason.partition(": ")[0],
            "reason": reason,
        }


def _columns(scores: Scores) -> dict[str, Floats | Levels]:
    risk = {RISK: scores[RISK]} if RISK in scores.values else {}
    return {**scores.inputs, **risk}


def _known(column: Floats | Levels) -> int:
    """Patients with a value."""
    if isinstance(column, Levels):
        return (
            int(np.count_nonzero(np.array(column.names, dtype=object)[column.codes] != MISSING)) if len(column) else 0
        )
    return int(np.count_nonzero(np.isfinite(column)))


def _compared(
    first: Floats | Levels, weight: Floats | None, second: Floats | Levels, other: Floats | None
) -> Standardised:
    if isinstance(first, Levels) and isinstance(second, Levels):
        sides = _counts(first, weight), _counts(second, other)
        names = sorted((sides[0].keys() | sides[1].keys()) - {MISSING})
        if not all(sum(side.get(name, 0.0) for name in names) > 0 for side in sides):
            return Standardised(np.nan, np.nan, np.nan)
        return of_categories(*([side.get(name, 0.0) for name in names] for side in sides), level=LEVEL)
    assert not isinstance(first, Levels)
    assert not isinstance(second, Levels)
    return of_numbers(moments(first, weight), moments(second, other), level=LEVEL)


def _counts(column: Levels, weight: Floats | None) -> dict[str, float]:
    """Patients at each level; where they carry weights, scaled to the number that those are worth (Kish)."""
    w = np.ones(len(column)) if weight is None else weight
    total = float(w.sum())
    scale = 1.0 if weight is None or not total > 0 else total / float(np.sum(w**2))
    counts = np.bincount(column.codes, weights=w * scale, minlength=len(column.names)).tolist()
    return {name: n for name, n in zip(column.names, counts, strict=True) if n}


def _reason(found: Standardised, sizes: tuple[int, int]) -> str | None:
    if min(sizes) == 0:
        return "undefined: no value on one side"
    if not np.isfinite(found.value):
        return "undefined: no spread on either side, or no level in common, so there is nothing to measure it by"
    if min(sizes) < FEWEST_PATIENTS:
        return f"insufficient: {min(sizes)} patients with a value on one side; at least {FEWEST_PATIENTS} are needed"
    if not np.isfinite(found.low):
        return "insufficient: one value for everyone, which shows no uncertainty"
    return None
