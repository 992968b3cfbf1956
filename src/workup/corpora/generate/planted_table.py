"""A generated table and its planted truth on disk: the same bytes every time. Knows no plan and draws nothing."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import InputError
from workup.files.disk import refuse_special, replace_whole

Columns = Mapping[str, npt.NDArray[Any]]


def write_planted(
    path: Path, table: Columns, truth: Mapping[str, Any], *, decimals: Mapping[str, int]
) -> tuple[Path, Path]:
    """Write the table as CSV and the truth as `<stem>.truth.json` beside it; `decimals` are those of number columns."""
    path = Path(path)
    if path.suffix.lower() != ".csv" or not path.parent.is_dir():
        raise InputError(
            "a cohort is written to a .csv file in a folder that exists",
            where=str(path),
            remedy="make the folder, and end the name in .csv",
        )
    beside = path.with_name(f"{path.stem}.truth.json")
    refuse_special(path)
    text = json.dumps(truth, indent=2, ensure_ascii=False, allow_nan=False)
    replace_whole(beside, [f"{text}\n"], mode=0o666)
    replace_whole(path, _lines(table, decimals), mode=0o666)
    return path, beside


def _lines(table: Columns, decimals: Mapping[str, int]) -> Iterator[str]:
    """The table as the file holds it, some rows at a time."""
    held = io.StringIO(newline="")
    rows = csv.writer(held, lineterminator="\n")
    rows.writerow(table)
    columns = zip(*(_texts(column, decimals.get(name)) for name, column in table.items()), strict=True)
    while some := list(itertools.islice(columns, 10_000)):
        rows.writerows(some)
        yield held.getvalue()
        held.seek(0)
        held.truncate()
    yield held.getvalue()


def _texts(column: npt.NDArray[Any], decimals: int | None) -> Iterator[str]:
    """A column as the file holds it: times to the second, numbers with fixed decimals, blanks for what is missing."""
    if column.dtype.kind == "M":
        yield from np.datetime_as_string(column, unit="s").tolist()
    elif decimals is not None:
        yield from (f"{value:.{decimals}f}" for value in column.tolist())
    else:
        yield from ("" if value is None else str(value) for value in column.tolist())
