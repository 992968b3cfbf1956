"""Risks that were computed elsewhere and stand in the table. Runs no model."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from workup.errors import InputError, near
from workup.task import Table


class Recorded:
    """Answers a column of the table; an empty cell is a row the model refused.

    >>> Recorded(name="triage", column="risk").predict({"risk": np.array([0.25, np.nan])})
    [0.25, None]
    """

    recorded: ClassVar[bool] = True  # the answers are in the corpus already: nothing to log

    def __init__(self, *, name: str, column: str) -> None:
        self.name = name
        self.version = "recorded"
        self.column = column
        self.notes: tuple[str, ...] = ()

    def predict(self, table: Table) -> list[float | None]:
        """The recorded risk of each row."""
        where = f"system '{self.name}', column '{self.column}'"
        if self.column not in table:
            raise InputError(
                "the table must have this column of risks",
                where=where,
                got="no such column",
                remedy=near(self.column, table),
            )
        risks = np.asarray(table[self.column])
        if risks.dtype.kind not in "fiub":
            raise InputError(
                "recorded risks must be numbers from 0 to 1",
                where=where,
                got="cells that are not numbers",
                remedy="look for text, percent signs or decimal commas in the column",
            )
        risks = risks.astype(np.float64)
        wrong = np.flatnonzero(~np.isnan(risks) & ~((risks >= 0.0) & (risks <= 1.0)))
        if wrong.size:
            raise InputError(
                "recorded risks must lie from 0 to 1",
                where=f"{where}, row {wrong[0] + 1}",
                got=f"{wrong.size} of {risks.size} values outside",
                remedy="divide percentages by 100; turn scores on another scale into probabilities",
            )
        return [None if np.isnan(risk) else float(risk) for risk in risks]
