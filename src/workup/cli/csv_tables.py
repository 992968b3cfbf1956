"""Tables as lines of CSV that read back as the same cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_AT_ONCE = 10_000  # rows per piece of text


def csv_lines(table: Mapping[str, Any]) -> Iterator[str]:
    """A table as text, a piece at a time."""
    yield from text_lines(list(table), [csv_cells(column) for column in table.values()])


def text_lines(names: Sequence[str], columns: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns of text as lines of CSV under their names."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(names)
    for place, row in enumerate(zip(*columns, strict=True)):
        writer.writerow(row)
        if place % _AT_ONCE == _AT_ONCE - 1:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def csv_cells(column: Any) -> list[str]:
    """Numbers that read back as the same numbers, times as ISO, nothing where a value is missing."""
    import numpy as np

    if column.dtype.kind == "M":
        days = column.astype("datetime64[D]")
        whole = bool((np.isnat(column) | (days == column)).all())
        texts = np.datetime_as_string(days if whole else column.astype("datetime64[us]"))
        return ["" if text == "NaT" else str(text) for text in texts.tolist()]
    if column.dtype.kind == "f":
        return [
            "" if v != v else str(int(v)) if v.is_integer() and abs(v) < 2**53 else repr(v) for v in column.tolist()
        ]
    return ["" if value is None else str(value) for value in column.tolist()]
