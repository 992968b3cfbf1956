"""Standardised differences of the record as tables: who differs from whom in inputs and risks, the widest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.report import LensResult
from workup.reports.layout import Section, Table
from workup.reports.wording import number, signed, slice_name

Row = Mapping[str, Any]
MOST_ROWS = 40  # a reader can take in; the record holds all
MEANING = (
    "Standardised differences: of numbers, the difference of the means over the root mean variance of both sides; of "
    "categories, the distance of all shares together (Yang and Dalton), which has no sign and is raised by chance.",
    "They measure how different the patients are, not how surely, and do not grow with n. Above 0.1 or so is commonly "
    "called imbalance. One row of each patient is counted.",
)


def section(result: LensResult, *, title: str, key: str, latest: str = "") -> Iterator[Section]:
    """All differences of a lens, or those of the last value of the slice key `latest`, the widest first."""
    rows = result.tables.get("standardised_differences", ())
    if rows and latest:
        last = rows[-1]["slice"][latest]
        rows = [row for row in rows if row["slice"][latest] == last]
    if rows:
        yield Section(title, (*MEANING, *more(rows)), (table(rows, title),), key=key)


def more(rows: Sequence[Row]) -> Iterator[str]:
    """That not all are shown."""
    if len(rows) > MOST_ROWS:
        yield f"The {MOST_ROWS} widest of {len(rows)} are shown; report.json holds all."


def table(rows: Sequence[Row], caption: str) -> Table:
    """The widest differences; what has no value comes last, with its reason."""
    widest = sorted(rows, key=lambda row: -1.0 if row["value"] is None else abs(row["value"]), reverse=True)
    body = tuple(
        (
            slice_name(row["slice"]),
            str(row["against"]),
            str(row["input"]),
            "–"
            if row["value"] is None
            else number(row["value"])
            if row["kind"] == "category"
            else signed(row["value"]),
            "–" if row["low"] is None or row["high"] is None else f"{number(row['low'])} to {number(row['high'])}",
            number(row["n_patients"]),
            number(row["n_against"]),
            str(row["reason"] or ""),
        )
        for row in widest[:MOST_ROWS]
    )
    heads = ("who", "against", "input", "difference", "95% interval", "patients", "patients against", "reason")
    return Table(heads, body, caption)
