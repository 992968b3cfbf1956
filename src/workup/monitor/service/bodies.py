"""Rows as they are sent: JSON, lines of JSON, CSV or Parquet, read as columns within limits."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workup import plugins
from workup.files.received import json_of
from workup.monitor.columns import Columns, columns_of_rows
from workup.monitor.service.context import Refused
from workup.monitor.service.limits import LARGEST_ROWS, MOST_ROWS

JSON, LINES, CSV, PARQUET = (
    "application/json",
    "application/x-ndjson",
    "text/csv",
    "application/vnd.apache.parquet",
)
TYPES = (JSON, LINES, CSV, PARQUET)
_FILES = {CSV: "csv", PARQUET: "parquet"}
_UNPACKED = 8 * LARGEST_ROWS  # bytes of a packed table once it is read


def table_of(content: bytes, type: str, columns: Columns) -> Mapping[str, Any]:
    """The columns of a body; a body that cannot be read is refused without a word of what is in it."""
    kind = type.partition(";")[0].strip().lower()
    if kind not in TYPES:
        raise Refused(415, f"A content type of {', '.join(TYPES)} was expected.")
    table = _read(content, _FILES[kind]) if kind in _FILES else columns_of_rows(_rows(content, kind), columns)
    count = max((len(column) for column in table.values()), default=0)
    if count == 0:
        raise Refused(422, f"Rows with a column '{columns.id}' were expected.")
    if count > MOST_ROWS:
        raise Refused(413, f"At most {MOST_ROWS:,} rows in one request were expected.")
    return table


def _rows(content: bytes, kind: str) -> list[Mapping[str, Any]]:
    try:
        if kind == LINES:
            lines = [line for line in content.split(b"\n") if line.strip()]
            if len(lines) > MOST_ROWS:
                raise Refused(413, f"At most {MOST_ROWS:,} rows in one request were expected.")
            found = [json_of(line) for line in lines]
        else:
            found = json_of(content)
    except ValueError:
        raise Refused(400, "JSON in UTF-8, without NaN and not nested deeply, was expected.") from None
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise Refused(422, "A list of objects was expected, one for each row.")
    return found


def _read(content: bytes, kind: str) -> Mapping[str, Any]:
    # The readers of tables read files. This one is in a folder of its own that nobody else may look into.
    with tempfile.TemporaryDirectory(prefix="workup-") as folder:
        path = Path(folder) / f"body.{kind}"
        path.write_bytes(content)
        found: Mapping[str, Any] = plugins.find("formats", kind)(path, largest_unpacked=_UNPACKED)
        return found
