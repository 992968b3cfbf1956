"""`workup split`: a table into development and validation files, with a record of how and for whom."""

from __future__ import annotations

import json as jsons
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workup.cli.common import command, emit, emit_json, say
from workup.cli.csv_tables import csv_cells, text_lines
from workup.errors import InputError
from workup.files.output_paths import check_folder, check_target
from workup.files.received import content_of, is_file, json_of

if TYPE_CHECKING:
    from workup.splits import Split
    from workup.task import Table

_RECORD = "split.json"
_FILES = ("development.csv", "validation.csv", _RECORD, "split.txt", ".gitignore")


def add_to(app: typer.Typer) -> None:
    """Hang the command on the tree."""
    command(
        app,
        name="split",
        example="workup split cohort.csv --strategy multidimensional --patient id --outcome died --by sex -o split",
    )(split)


def split(
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, Excel or DuckDB table")],
    strategy: Annotated[str, typer.Option(help="random, outcome, demographics, multidimensional, temporal or site")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to write the two sides and split.json to")],
    patient: Annotated[str | None, typer.Option(help="Column of the patient id; each row is one when absent")] = None,
    outcome: Annotated[str | None, typer.Option(help="Column of the outcome, 0 or 1")] = None,
    by: Annotated[list[str] | None, typer.Option(help="Column of groups; repeat, the most important first")] = None,
    site: Annotated[str | None, typer.Option(help="Column of the site")] = None,
    hold_out: Annotated[list[str] | None, typer.Option(help="Site for validation; repeat for several")] = None,
    time: Annotated[str | None, typer.Option(help="Column of the time")] = None,
    time_format: Annotated[str | None, typer.Option(help="Form of the time, such as %d/%m/%Y")] = None,
    share: Annotated[float, typer.Option(help="Share for validation")] = 0.2,
    cut: Annotated[str | None, typer.Option(help="First date of validation, such as 2023-07-01")] = None,
    embargo: Annotated[int, typer.Option(help="Days of the outcome window left out before the cut")] = 0,
    minimum: Annotated[
        int, typer.Option(help="Patients with and without an event that each group needs on each side")
    ] = 10,
    minimum_rows: Annotated[int, typer.Option(help="Rows that each group needs on each side")] = 50,
    quota: Annotated[
        list[str] | None, typer.Option(help="Patients of a level in validation, such as sex=F:200; repeat for several")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed; the same seed gives the same sides")] = 0,
    indices: Annotated[bool, typer.Option("--indices", help="Write row numbers in place of whole rows")] = False,
    json: Annotated[str | None, typer.Option(help="Write the record here too; - for standard output")] = None,
) -> None:
    """Split a table so that no patient is on both sides and every group keeps its share."""
    from workup import plugins, splits
    from workup.reports import split as pages
    from workup.reports import text

    _check_folder(out)
    check_target(json, out=out)
    content = plugins.find("formats", "table")(table)
    found = splits.split(
        _checked(content, outcome=outcome, time=time, time_format=time_format, where=table.name),
        strategy=strategy,
        patient=patient,
        outcome=outcome,
        by=by or (),
        site=site,
        time=time,
        share=share,
        cut=cut,
        embargo=embargo,
        minimum=minimum,
        minimum_rows=minimum_rows,
        quota=_quotas(quota or ()),
        hold_out=hold_out or (),
        seed=seed,
        where=table.name,
    )
    column = _weight_name(content) if found.weight is not None else None
    record = _text({**_told(found, content, patient), "table": table.name, "weight_column": column})
    shown = "\n".join(text.section_text(section) for section in pages.sections(jsons.loads(record)))
    files: dict[str, Iterator[str]] = {
        f"{side}.csv": _lines(content, rows, found.weight, column, indices=indices)
        for side, rows in (("development", found.development), ("validation", found.validation))
    }
    _write(out, {**files, _RECORD: iter([record]), "split.txt": iter([shown]), ".gitignore": iter(["*\n"])})
    if json is not None:
        emit_json(record, json)
    if json != "-":
        emit(shown, None)
    say(f"The sides and {_RECORD} are in {out}")


def _checked(
    content: Table, *, outcome: str | None, time: str | None, time_format: str | None, where: str
) -> dict[str, Any]:
    """The table with outcome and time as the risk task would read them; columns that are absent are left to split."""
    from workup.tasks.risk.checks import check_outcome
    from workup.tasks.times import check_time

    checked = dict(content)
    if outcome in checked:
        checked[outcome] = check_outcome(checked[outcome], where=f"{where}, column '{outcome}'")
    if time in checked:
        checked[time] = check_time(checked[time], time_format=time_format, where=f"{where}, column '{time}'")
    return checked


def _told(found: Split, content: Table, patient: str | None) -> dict[str, Any]:
    """The record, with a warning where a column that looks like a patient's id repeats and none was named."""
    from workup.tasks.risk.cohort import Columns, patient_notes

    record = found.record()
    for note in patient_notes(content, Columns(outcome="", patient=patient)):
        if note.startswith("Warning: "):
            said = f"{note.removeprefix('Warning: ')} Without it the same patient may be on both sides."
            place = {"variable": None, "level": None, "side": None}
            record["warnings"].insert(0, {"kind": "patient_column", **place, "message": said[0].upper() + said[1:]})
    return record


def _quotas(words: Sequence[str]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for word in words:
        column, _, rest = word.partition("=")
        level, _, number = rest.rpartition(":")
        if not (column and level and number.isascii() and number.isdigit()):
            raise InputError(
                "a quota is COLUMN=LEVEL:PATIENTS, such as sex=F:200", got=f"'{word}'", remedy="write it like that"
            )
        if level in found.setdefault(column, {}):
            raise InputError("a level takes one quota", got=f"two for '{column}={level}'", remedy="give one of them")
        found[column][level] = int(number)
    return found


def _text(record: Any) -> str:
    from workup.report import canonical

    return jsons.dumps(jsons.loads(canonical(record)), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _weight_name(content: Table) -> str:
    for name in ("weight", "split_weight"):
        if name not in content:
            return name
    raise InputError(
        "the weights of a quota need a column of their own",
        got="a table with the columns 'weight' and 'split_weight'",
        remedy="rename one of them",
    )


# ---- files -----------------------------------------------------------------------------------------------------------


def _lines(content: Table, rows: Any, weight: Any, column: str | None, *, indices: bool) -> Iterator[str]:
    """A side as lines of CSV: every column as it was read, or the numbers of the rows below the header."""
    names = ["row"] if indices else list(content)
    cells = [(rows + 1).tolist()] if indices else [csv_cells(content[name][rows]) for name in names]
    if column is not None:
        names, cells = [*names, column], [*cells, [repr(value) for value in weight[rows].tolist()]]
    yield from text_lines(names, cells)


def _check_folder(out: Path) -> None:
    """Only a new folder, an empty one, or one that an earlier split wrote is written to."""
    check_folder(out)
    if not out.exists():
        return
    inside = {item.name for item in out.iterdir()}
    if not inside:
        return
    ours = inside <= set(_FILES) and all(is_file(out / name) for name in inside)
    if ours:
        try:
            ours = json_of(content_of(out / _RECORD)).get("kind") == "split"
        except (OSError, ValueError, AttributeError):
            ours = False
    if not ours:
        raise InputError(
            "the output folder must be new, empty, or one that 'workup split' wrote",
            where=str(out),
            got=f"a folder with {len(inside)} other file{'' if len(inside) == 1 else 's'} in it",
            remedy="name another folder",
        )


def _write(out: Path, files: dict[str, Iterator[str]]) -> None:
    """All files or none: they are made in a folder beside, which then takes the place of the old one."""
    from workup.files.disk import replace_whole

    place = out.resolve()
    made: Path | None = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
        new = made / "new"
        new.mkdir(mode=0o700)
        for name, lines in files.items():
            replace_whole(new / name, lines)
        if place.exists():
            os.rename(place, made / "old")
        os.rename(new, place)
    except OSError as error:
        if made is not None and (made / "old").exists() and not place.exists():
            os.rename(made / "old", place)
        raise InputError(
            "the output must be a folder that can be written", where=str(out), got=error.strerror or ""
        ) from None
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
