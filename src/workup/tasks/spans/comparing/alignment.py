"""Two systems' rows side by side: the same documents in one order, also where one system spoke of unknown ones.

Knows what rows are of; knows no metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workup.errors import InputError
from workup.scores import Levels, Scores
from workup.tasks.spans.counting.accumulator import UNKNOWN
from workup.tasks.spans.counting.scoring import SpanScores


def aligned(first: SpanScores, second: SpanScores) -> tuple[Scores, Scores]:
    """Both with the same rows. Predictions of documents that the corpus does not hold make a row of their own; where
    only one system has it, the other gets one in which nothing was counted."""
    check_yardsticks(first, second)
    keys = [_keys(scores) for scores in (first, second)]
    if [key for key in keys[0] if key != UNKNOWN] != [key for key in keys[1] if key != UNKNOWN]:
        raise InputError("two detectors are paired by their documents, which must be the same", got="others")
    stray = [UNKNOWN in held for held in keys]
    sides = []
    for scores, own, has in zip((first, second), keys, stray, strict=True):
        rows = np.array([place for place, key in enumerate(own) if key != UNKNOWN], dtype=np.intp)
        plain = _plain(scores, rows)
        if any(stray):
            last = {name: column[own.index(UNKNOWN)] for name, column in scores.values.items()} if has else {}
            plain = _with_row(plain, last)
        sides.append(plain)
    return sides[0], replace(sides[1], patient=sides[0].patient)


def check_yardsticks(first: SpanScores, second: SpanScores) -> None:
    """Both must have counted the same golds under the same policies; predictions may be mapped in ways of their own."""
    for name, held, other in (
        ("policies", first.ledger.stick.policies, second.ledger.stick.policies),
        ("ignored labels", first.ledger.stick.ignored, second.ledger.stick.ignored),
        ("types of golds", first.ledger.gold_labels, second.ledger.gold_labels),
    ):
        if held != other:
            raise InputError(
                f"two detectors are compared by one yardstick; their {name} must be the same", got="others"
            )


def _keys(scores: SpanScores) -> list[Any]:
    return [scores.ledger.rows.keys[place] for place in scores.row.tolist()]


def _plain(scores: SpanScores, rows: Sequence[int] | np.ndarray) -> Scores:
    """Rows as plain Scores, with patients numbered by their order, which is that of their names in both systems."""
    chosen = np.asarray(rows, dtype=np.intp)
    _, patient = np.unique(scores.patient[chosen], return_inverse=True)
    return Scores(
        values={name: column[chosen] for name, column in scores.values.items()},
        patient=patient.astype(np.int64),
        site=None if scores.site is None else scores.site.take(chosen),
        groups={name: levels.take(chosen) for name, levels in scores.groups.items()},
    )


def _with_row(scores: Scores, row: dict[str, Any]) -> Scores:
    """One more row, of no patient that is known."""

    def grown(levels: Levels) -> Levels:
        names = np.array(levels.names, dtype=object)
        return Levels.of([*names[levels.codes].tolist(), None])

    return Scores(
        values={name: np.append(column, float(row.get(name, 0.0))) for name, column in scores.values.items()},
        patient=np.append(scores.patient, scores.n_patients),
        site=None if scores.site is None else grown(scores.site),
        groups={name: grown(levels) for name, levels in scores.groups.items()},
    )
