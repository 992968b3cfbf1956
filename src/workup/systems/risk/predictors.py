"""What every model that is read from a file shares: columns in, gaps refused, risks checked. Knows no library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import InputError, SystemFailure, near
from workup.stats.arrays import Bools, Floats
from workup.systems.settings import Positive
from workup.task import Table

Column = npt.NDArray[Any]

_ENOUGH_TO_TELL = 20  # rows; fewer answers of exactly 0 or 1 may be the risks of a sure model


def check_settings(*, missing: str, batch: int, where: str) -> None:
    """The two settings that every such model takes."""
    if missing not in ("refuse", "pass"):
        raise InputError("'missing' must be refuse or pass", where=where, got=repr(missing)[:20])
    if batch < 1:
        raise InputError("'batch' must be at least 1 row", where=where, got=str(batch))


def answer_rows(
    table: Table, *, features: Sequence[str], missing: str, system: str, risks: Callable[[list[Column]], Floats]
) -> list[float | None]:
    """One risk per row; `risks` is asked for the rows that are complete, or for all where `missing` is pass."""
    columns = [_predictor(table, name, system=system) for name in features]
    rows = len(columns[0])
    asked = np.ones(rows, dtype=np.bool_)
    if missing == "refuse":
        for column in columns:
            asked &= ~is_missing(column)
    answers: list[float | None] = [None] * rows
    places = np.flatnonzero(asked)
    if places.size:
        for place, risk in zip(places, risks([column[asked] for column in columns]), strict=True):
            answers[place] = float(risk)
    return answers


def _predictor(table: Table, name: str, *, system: str) -> Column:
    if name not in table:
        raise InputError(
            f"the model needs the column '{name}'",
            where=f"system '{system}'",
            got="a table without it",
            remedy=near(name, table),
        )
    return np.asarray(table[name])


def is_missing(column: Column) -> Bools:
    """Where a column has no value."""
    if column.dtype.kind in "fM":
        gaps: Bools = np.isnan(column) if column.dtype.kind == "f" else np.isnat(column)
        return gaps
    if column.dtype.kind == "O":
        # NaN and NaT, bare or inside objects, are what does not equal itself.
        return np.fromiter((cell is None or bool(cell != cell) for cell in column), dtype=np.bool_, count=len(column))
    return np.zeros(len(column), dtype=np.bool_)


def check_features(given: Sequence[str], own: Sequence[str], *, where: str) -> None:
    """Columns that the study lists must be those the model knows by name; their order is the model's."""
    if odd := sorted(set(given) ^ set(own)):
        raise InputError(
            "'features' must name the columns that the model was fitted on",
            where=where,
            got=f"a difference in {', '.join(odd[:5])}",
            remedy="leave 'features' out, or rename the columns of the table",
        )


def listed_features(given: Sequence[str] | None, *, width: int | None, where: str) -> list[str]:
    """The columns for a model that knows only how many it needs."""
    if given is None:
        raise InputError(
            "the columns to use must be known",
            where=where,
            got="a model that was fitted without column names",
            remedy="list them under 'features', in the order in which the model was fitted",
        )
    names = list(given)
    needed = len(names) if width is None else width
    if len(names) != needed or not names or len(set(names)) != len(names):
        raise InputError(
            f"'features' must name each of the {needed} columns of the model once",
            where=where,
            got=f"{len(names)} names, {len(set(names))} of them distinct",
        )
    return names


def place_of_class(classes: Sequence[Any], positive: Positive, *, where: str) -> int:
    """Where the positive class is among the classes of a model."""
    names = list(classes)
    if positive not in names:
        listed = ", ".join(repr(entry)[:30] for entry in names[:5]) + (", …" if len(names) > 5 else "")
        raise InputError(
            "'positive' must be one of the classes of the model",
            where=where,
            got=f"{positive!r:.30} while the classes are {listed}",
            remedy="set positive to the class that means the event; a quoted 'positive' is a text, not a number",
        )
    return names.index(positive)


def several_classes(count: int) -> tuple[str, ...]:
    """The note that a model of more than two classes needs."""
    note = f"the model tells {count} classes apart; the risk is that of one against the rest"
    return (note,) if count > 2 else ()


def place_without_classes(columns: int, positive: Positive, *, system: str, remedy: str) -> int:
    """The column of the event in a model that does not name its classes: the only one, or the second of two."""
    if columns == 1 and positive not in (0, "0"):
        return 0
    if columns == 2 and positive in (1, "1"):  # an order of texts cannot be guessed
        return 1
    raise SystemFailure(
        f"system '{system}': the model answers {columns} column(s) and does not say which class each stands for, so "
        f"that of 'positive' cannot be found. To fix: {remedy}."
    )


SECOND_OF_TWO = (
    "the model does not name its classes, so the second of its two columns is taken as the risk of the event"
)


def check_risks(answers: Column, *, system: str, rounding: float, remedy: str) -> Floats:
    """Risks from 0 to 1; what passes an end by no more than rounding is put on it."""
    risks = answers.astype(np.float64)
    wrong = np.flatnonzero(~((risks >= -rounding) & (risks <= 1.0 + rounding)))
    if wrong.size:
        raise SystemFailure(
            f"system '{system}': risks must be finite and lie from 0 to 1; got {wrong.size} of {risks.size} in a "
            f"batch that do not. To fix: {remedy}."
        )
    return np.clip(risks, 0.0, 1.0)


def refuse_labels(answers: Column, *, columns: int, system: str, remedy: str) -> None:
    """Classes in the place of probabilities: whole numbers or texts, or 20 and more numbers that are all 0 or 1.

    In an answer of several columns both 0 and 1 must occur, for a model may be sure of a whole batch.
    """
    labels = answers.dtype.kind not in "f"
    if not labels and answers.size >= _ENOUGH_TO_TELL:
        zeros, ones = int(np.count_nonzero(answers == 0)), int(np.count_nonzero(answers == 1))
        labels = zeros + ones == answers.size and (columns == 1 or min(zeros, ones) > 0)
    if labels:
        raise SystemFailure(
            f"system '{system}': the model must answer probabilities; got labels (each answer is a class, or exactly "
            f"0 or 1). To fix: {remedy}."
        )
