"""`workup drift`: which inputs of a system are no longer what they were, in tables of any width and without a study."""

from __future__ import annotations

import json as jsons
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workup.cli.common import Progress, command, emit, emit_json
from workup.errors import InputError, near, visible

if TYPE_CHECKING:
    from workup.lenses.drift.wide_inputs import Positions, Sides
    from workup.scores import Levels
    from workup.stats.arrays import Floats, Ints

_SHOWN = 20  # flagged inputs that the text lists
_MOST_LEVELS = 2_000  # different texts of an input; one with more is an id or a note


def add_to(app: typer.Typer) -> None:
    """Hang the command on the tree."""
    command(
        app, name="drift", example="workup drift baseline.parquet last_month.parquet --patient id --json drift.json"
    )(drift)


def drift(
    baseline: Annotated[Path, typer.Argument(help="Table of the time that is compared with: Parquet, CSV …")],
    window: Annotated[Path, typer.Argument(help="Table of the time that is looked at, with the same columns")],
    patient: Annotated[str | None, typer.Option(help="Column of the patient id; each row is one when absent")] = None,
    time: Annotated[
        str | None, typer.Option(help="Column of the time: of each patient the earliest row counts")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="Input to compare; repeat. All columns when absent")] = None,
    leave_out: Annotated[list[str] | None, typer.Option(help="Column that is no input; repeat")] = None,
    chance: Annotated[float, typer.Option(help="False discoveries among all inputs", min=1e-9, max=0.5)] = 0.05,
    wasserstein: Annotated[float, typer.Option(help="Move of a number that matters, in standard deviations")] = 0.10,
    jensen_shannon: Annotated[float, typer.Option(help="Distance of a category that matters, 0 to 1")] = 0.10,
    missing: Annotated[float, typer.Option(help="Change that matters in the share that is missing")] = 0.05,
    smallest_cell: Annotated[int, typer.Option(help="Fewer patients than this who lack an input are not told")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of simulated limits")] = 0,
    workers: Annotated[int, typer.Option(help="Threads; 0 for one per core. Numbers stay the same")] = 0,
    json: Annotated[str | None, typer.Option(help="Write every comparison here; - for standard output")] = None,
) -> None:
    """Compare every input of one table with another's, column by column: tables may be wider than memory.

    Tests and limits are those of the drift lens of a study; only the test of all inputs together, which needs the whole
    table, is left out.
    """
    from workup.corpora.formats.tables.one_column import columns_in_turn
    from workup.lenses.drift.inputs import InputLimits
    from workup.lenses.drift.wide_inputs import compare_inputs, without_few_lacking
    from workup.report import canonical, digest

    given = {"wasserstein": wasserstein, "jensen_shannon": jensen_shannon, "missing": missing}
    limits = InputLimits.checked(given, where="limits")
    sides = [_Side(columns_in_turn(path), path.name, patient, time) for path in (baseline, window)]
    names = _inputs(sides, only or [], {*(leave_out or []), *filter(None, (patient, time))})
    for side in sides:
        side.choose_rows(names)
    with Progress() as progress:
        rows = compare_inputs(
            names,
            lambda name: _both(name, sides),
            limits=limits,
            seed=seed,
            chance=chance,
            workers=workers or os.cpu_count() or 1,
            watch=lambda done: progress("comparing inputs", done, len(names)),
        )
    told, gone = without_few_lacking(rows, (len(sides[0]), len(sides[1])), smallest_cell)
    notes = ["Inputs were read one after another; they are not tested together."]
    if gone:
        notes.append(f"{gone:,} shares of missing values are not told, since few patients lack the input, or have it.")
    record = {
        "format": "workup-input-drift-1",
        "baseline": {"rows": sides[0].table.rows, "patients": len(sides[0])},
        "window": {"rows": sides[1].table.rows, "patients": len(sides[1])},
        "settings": {**limits.model_dump(exclude={"together"}), "chance": chance, "seed": seed},
        "inputs": told,
        "notes": notes,
    }
    if json != "-":
        emit(_text(told, names, notes), None)
    if json is not None:
        whole = jsons.loads(canonical({**record, "sha256": digest(record)}))
        emit_json(jsons.dumps(whole, indent=1, ensure_ascii=False) + "\n", json)


class _Side:
    """A table and the rows of it that count."""

    def __init__(self, table: Any, where: str, patient: str | None, time: str | None) -> None:
        self.table, self.where = table, where
        self._patient, self._time = patient, time
        self._rows: Positions | None = None
        for name in filter(None, (patient, time)):
            if name not in table.names:
                raise InputError(f"there is no column '{name}'", where=where, remedy=near(name, table.names))

    def __len__(self) -> int:
        return self.table.rows if self._rows is None else len(self._rows)

    def choose_rows(self, names: list[str]) -> None:
        """One row of each patient, since rows of one patient are not independent."""
        from workup.lenses.drift.wide_inputs import earliest_rows

        if self._patient is None:
            return
        ids = _codes(self.table.column(self._patient), where=f"{self.where}, column '{self._patient}'")
        values = (self._column(name) for name in reversed(names))
        self._rows = earliest_rows(ids, self._moments(), (one for one in values if not isinstance(one, str)))

    def _moments(self) -> Any:
        from workup.corpora.formats.tables.one_column import Coded

        if self._time is None:
            return None
        found = self.table.column(self._time)
        if isinstance(found, Coded) or found.dtype.kind not in "Mf":
            raise InputError(
                "times were expected",
                where=f"{self.where}, column '{self._time}'",
                got="texts",
                remedy="store it as a time or as a number, such as the day of the study",
            )
        return found

    def column(self, name: str) -> Floats | Levels | str:
        """An input at the rows that count; a text says why it cannot be compared."""
        found = self._column(name)
        if self._rows is None or isinstance(found, str):
            return found
        from workup.scores import Levels

        return found.take(self._rows) if isinstance(found, Levels) else found[self._rows]

    def _column(self, name: str) -> Floats | Levels | str:
        from workup.corpora.formats.tables.one_column import Coded
        from workup.scores import Levels

        found = self.table.column(name)
        if isinstance(found, Coded):
            if found.different.dtype.kind == "f":  # no cell holds anything
                return found.different[found.codes]
            if len(found.different) > _MOST_LEVELS + 1:
                return f"it holds more than {_MOST_LEVELS:,} different texts"
            levels = Levels.of(found.different)
            present, codes = _present(levels.codes[found.codes], levels.names)
            return Levels(codes, present)
        return found if found.dtype.kind == "f" else "it holds times"


def _present(codes: Ints, names: tuple[str, ...]) -> tuple[tuple[str, ...], Ints]:
    """Codes of the names that occur."""
    import numpy as np

    occurs = np.bincount(codes, minlength=len(names)) > 0
    return tuple(name for name, one in zip(names, occurs, strict=True) if one), (np.cumsum(occurs) - 1)[codes]


def _codes(column: Any, *, where: str) -> Ints:
    """A number for each patient."""
    import numpy as np

    from workup.corpora.formats.tables.one_column import Coded

    if isinstance(column, Coded):
        from workup.scores import Levels

        if column.different.dtype.kind == "O":
            levels = Levels.of(column.different)
            lacking = np.array([text is None for text in column.different])[column.codes]
            if not lacking.any():
                return levels.codes[column.codes]
    elif not np.isnan(column.astype(np.float64)).any():
        return np.unique(column, return_inverse=True)[1].astype(np.int64)
    raise InputError("every row needs the id of its patient", where=where, got="rows without one")


def _inputs(sides: list[_Side], only: list[str], left_out: set[str]) -> list[str]:
    """The names of the inputs, in the order of the baseline."""
    here, there = sides[0].table.names, sides[1].table.names
    for name in (*only, *left_out):
        if name not in here:
            raise InputError(f"there is no column '{name}'", where=sides[0].where, remedy=near(name, here))
    names = [name for name in here if name not in left_out and (not only or name in only)]
    lacking = [name for name in names if name not in set(there)]
    if lacking:
        raise InputError(
            "every input of the baseline was expected in the window",
            where=sides[1].where,
            got=f"no column '{visible(lacking[0])}'" + (f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""),
            remedy="give the column, empty where it was not measured, or leave it out with --leave-out",
        )
    if not names:
        raise InputError("at least one input was expected", where=sides[0].where, got="none")
    return names


def _both(name: str, sides: list[_Side]) -> Sides:
    from workup.lenses.drift.wide_inputs import Sides

    baseline, window = (side.column(name) for side in sides)
    if isinstance(baseline, str) or isinstance(window, str):
        return Sides(name, None, None, baseline if isinstance(baseline, str) else str(window))
    return Sides(name, baseline, window)


def _text(rows: Sequence[Mapping[str, Any]], names: list[str], notes: list[str]) -> str:
    flagged = sorted((row for row in rows if row["flagged"]), key=lambda row: -row["effect"] / row["limit"])
    unknown = sum(row["flagged"] is None for row in rows)
    lines = [f"{len(names):,} inputs, {len(rows):,} comparisons: {len(flagged):,} flagged, {unknown:,} not compared"]
    for row in flagged[:_SHOWN]:
        lines.append(
            f"  {visible(row['input'])}: {row['effect_is']} {row['effect']:.3g} (limit {row['limit']:g}), "
            f"adjusted p {row['p_adjusted']:.2g}"
        )
    if len(flagged) > _SHOWN:
        lines.append(f"  and {len(flagged) - _SHOWN:,} more; --json writes all")
    return "\n".join([*lines, *notes]) + "\n"
