"""What the service answers with: rows of the store as JSON, and what is wrong with a request."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, Field

_TIMES = {
    *("created", "start", "end", "checked", "closed", "restated", "shown", "opened", "acknowledged", "resolved"),
    *("muted_until", "at", "delivered", "next_attempt"),
}
_MOST_FAULTS = 1_000  # rows that one answer names


class FaultyRow(BaseModel):
    """A row that was not stored, counted from 1."""

    row: int
    column: str
    expected: str


class Problem(BaseModel):
    """Why a request was refused."""

    error: str
    rows: list[FaultyRow] = Field(default=[], description="Rows that are at fault, the first thousand of them")


class Stored(BaseModel):
    """What became of the rows of a request."""

    batch: int = Field(description="Number of the batch; 0 where nothing was new")
    new: int
    known: int = Field(description="Rows that were here before with the same content")
    conflicts: int = Field(description="Rows whose id is known with other content; not stored")
    refused: int = Field(description="Rows that cannot be used; not stored")
    rows: list[FaultyRow] = Field(default=[], description="Rows that were not stored, the first thousand of them")


def faulty(faults: Sequence[Any]) -> list[FaultyRow]:
    """Faults by their row and column, never by their value."""
    return [FaultyRow(row=one.row, column=one.column, expected=one.expected) for one in faults[:_MOST_FAULTS]]


def plain(text: str) -> str:
    """A message as UTF-8 can carry it: names in it may be a caller's own."""
    return text.encode("utf-8", "replace").decode()


def said(row: Mapping[str, Any], *, without: Sequence[str] = ()) -> dict[str, Any]:
    """A row of the store: times in words, and no number that JSON has no word for."""
    return {name: _said(name, value) for name, value in row.items() if name not in without}


def _said(name: str, value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if name in _TIMES and isinstance(value, int):
        return f"{np.datetime64(value, 'us')}Z"
    return value
