"""Rows of a table as JSON out, and risks as JSON back, for systems in another process. Knows no transport."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np

from workup.errors import InputError, near
from workup.files.jsonlines import kind
from workup.task import Table


def rows_out(table: Table, *, send: list[str] | None, system: str) -> Iterator[dict[str, Any]]:
    """Each row as `{"id": "1", …}`, numbered from 1: missing values null, times ISO, only the columns to send."""
    names = list(table) if send is None else send
    where = f"system '{system}'"
    for name in names:
        if name not in table:
            raise InputError(
                f"'send' names the column '{name}', which the table must have",
                where=where,
                remedy=near(name, table),
            )
    if "id" in names:
        raise InputError(
            "a column that is sent cannot be called 'id', which is the number of the row in this protocol",
            where=where,
            remedy="leave it out with 'send', or rename the column",
        )
    columns = [_column(table[name], name=name, where=where) for name in names]
    for number, cells in enumerate(zip(*columns, strict=True), start=1):
        yield {"id": str(number), **dict(zip(names, cells, strict=True))}


def risk_in(answer: Any, *, due: int, rows: int) -> tuple[float | None, str]:
    """The risk in the answer to row `due` of `rows`, and what is wrong with that answer; never what it holds."""
    problem = wrong_place(answer, due=due, sent=rows, noun="row")
    if problem:
        return None, problem
    if "risk" not in answer:
        return None, "has no 'risk'; give a number from 0 to 1, or null to refuse the row"
    risk = answer["risk"]
    if risk is None:
        return None, ""
    if isinstance(risk, bool) or not isinstance(risk, (int, float)):
        return None, f"'risk' must be a number from 0 to 1, or null to refuse the row; got {kind(risk)}"
    if not 0 <= risk <= 1:
        return None, "'risk' must lie from 0 to 1; turn percentages and scores into probabilities"
    return float(risk), ""


def wrong_place(answer: Any, *, due: int, sent: int, noun: str) -> str:
    """What is wrong with the id of the answer to the row (or text, by `noun`) `due` of `sent`; empty where it fits."""
    if not isinstance(answer, dict):
        return f"must be a JSON object; got {kind(answer)}"
    if "id" not in answer:
        return f"has no 'id'; repeat the id of the {noun} it answers"
    found = answer["id"]
    if not isinstance(found, str):
        return f"'id' must be the text that was sent; got {kind(found)}"
    # The length comes first: a number of many digits is no id, and slow to read.
    place = int(found) if len(found) <= len(str(sent)) and found.isascii() and found.isdigit() else 0
    if not 1 <= place <= sent or str(place) != found:
        return "has an 'id' that was not sent"
    if place < due:
        return f"answers {noun} {place} a second time"
    return "" if place == due else f"answers {noun} {place} where {noun} {due} was due; keep the order sent"


def _column(values: Any, *, name: str, where: str) -> list[Any]:
    """One column as JSON values: missing is null, a time is ISO."""
    cells = np.asarray(values)
    if cells.dtype.kind == "f" and np.isinf(cells).any():
        raise InputError(
            f"numbers in the column '{name}' must be finite to be sent as JSON",
            where=f"{where}, row {int(np.flatnonzero(np.isinf(cells))[0]) + 1} of its batch",
            got="an infinite value",
            remedy="leave the cell empty, or drop the column with 'send'",
        )
    if cells.dtype.kind == "M":
        cells = cells.astype("datetime64[us]")
    return [_cell(value) for value in cells.tolist()]


def _cell(value: Any) -> Any:
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, date):
        return None if value != value else value.isoformat()  # pandas' NaT is a date that does not equal itself
    return str(value)
