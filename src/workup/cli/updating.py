"""`workup update` and `workup apply`: mend a risk model by as little as the data support, and carry that elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workup.cli.common import Progress, command, emit, emit_json, say
from workup.errors import InputError, visible
from workup.files.output_paths import check_target
from workup.reports.updating import sections

if TYPE_CHECKING:
    from workup.reports.layout import Section
    from workup.updating import Made

Drawing = Callable[[Mapping[str, Any]], "list[Section]"]
CODES = {"better": 0, "none needed": 0, "worse": 1, "backwards": 1, "no gain shown": 3}


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    command(
        app,
        name="update",
        example='workup update study.yaml --threshold "sensitivity >= 0.90 @0.95" -o update.json',
    )(update)
    command(app, name="apply", example="workup apply update.json new_patients.csv -o updated.csv")(apply)


def update(
    study: Annotated[Path, typer.Argument(help="Study of risks: recorded ones, or a system that is run")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Update to write, such as update.json")],
    method: Annotated[
        str,
        typer.Option(
            help="closed (the test chooses), or by name: none, in_the_large, recalibration, beta, isotonic, refit"
        ),
    ] = "closed",
    predictors: Annotated[
        list[str] | None, typer.Option(help="Column that a refit may use beside the risk; repeat for several")
    ] = None,
    validate: Annotated[
        Path | None, typer.Option(help="Later table, or one from elsewhere, that judges the update")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Error of the closed test")] = 0.05,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            help='Rule such as "sensitivity >= 0.90 @0.95", "alert_rate <= 0.15 @0.95", "alerts_per_day <= 12" or '
            '"cost_ratio 9"; repeat for several'
        ),
    ] = None,
    optimism: Annotated[
        int, typer.Option(help="Refits on resampled patients, to show the optimism too; 0 for none")
    ] = 0,
    by: Annotated[
        str | None, typer.Option(help="Group whose levels get an update each; none does unless it is named here")
    ] = None,
    search: Annotated[
        bool, typer.Option("--search", help="Search the cut of the greatest net benefit at the cost ratio")
    ] = False,
    system: Annotated[str | None, typer.Option(help="System of the study, where it names several")] = None,
    key_file: Annotated[Path | None, typer.Option(help="Key to sign the update with, of 16 bytes or more")] = None,
    json: Annotated[str | None, typer.Option(help="Write what is told here too; - for standard output")] = None,
) -> None:
    """Mend the risks of a study by the least change that its data support, judged on patients who did not make it.

    Exit 0 where the update is better or none is needed, 1 where it is worse or the risk runs backwards, 3 where no
    gain is shown. No update is written where the risk runs backwards.
    """
    from workup.tasks.risk.updating.rules import parse_rules
    from workup.updating import Asked

    asked = Asked(
        method=method,
        alpha=alpha,
        predictors=tuple(predictors or ()),
        by=by,
        validate=validate,
        thresholds=tuple(parse_rules(threshold or ())),
        search=search,
        optimism=optimism,
    )
    raise typer.Exit(CODES[made(study, asked, out=out, system=system, key_file=key_file, json=json).verdict])


def made(
    study: Path,
    asked: Any,
    *,
    out: Path | None,
    system: str | None,
    key_file: Path | None,
    json: str | None,
    draw: Drawing = sections,
    kind: str = "update report",
) -> Made:
    """Make an update, write it where it goes, and tell about it as `draw` does."""
    from workup.cli.run import load
    from workup.updating import make_update

    for target in (out, json):
        check_target(None if target is None else str(target))
    key = None if key_file is None else _key(key_file)
    plan = load(study)
    with Progress() as progress:
        found = make_update(plan, asked, system=system, key=key, watch=progress)
    tell(found.told, json=json, draw=draw, kind=kind)
    if out is not None and found.content is not None:
        emit(found.content, str(out))
        signed = "signed" if key is not None else "not signed: whoever receives it cannot tell who made it"
        say(f"The update is in {out} ({signed})")
    return found


def tell(told: Mapping[str, Any], *, json: str | None, draw: Drawing, kind: str) -> None:
    """What is told, as text and, where it is asked for, as JSON."""
    from workup.cli.compare import plain_json
    from workup.reports.text import section_text

    if json is not None:
        emit_json(plain_json({"schema_version": 1, "kind": kind, **told}), json)
    if json != "-":
        emit("\n".join(section_text(section) for section in draw(told)), None)


def apply(
    update: Annotated[Path, typer.Argument(metavar="UPDATE", help="update.json of 'workup update'")],
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="CSV, TSV, Parquet, Excel or DuckDB table of risks")],
    out: Annotated[Path, typer.Option("-o", "--out", help="CSV to write, with the updated risk beside all else")],
    key_file: Annotated[Path | None, typer.Option(help="Key that the update must be signed with")] = None,
    as_system: Annotated[
        str,
        typer.Option(help="Name of the system that these risks are of, where the update was not made from a column"),
    ] = "",
    risk: Annotated[
        str | None, typer.Option(help="Column of the risk; the one that the update was made from when absent")
    ] = None,
) -> None:
    """Apply an update to the risks of a table: adds risk_updated, and a column of flags for each threshold."""
    from workup import plugins
    from workup.cli.csv_tables import csv_lines
    from workup.files.disk import replace_whole
    from workup.systems.risk.updated import applied
    from workup.tasks.risk.updating.file import read_update

    check_target(str(out))
    if out.suffix.lower() not in (".csv", ""):
        raise InputError("the table is written as CSV", where=visible(str(out)), remedy="give a name that ends in .csv")
    if out.resolve() in (table.resolve(), update.resolve()):
        raise InputError("the output goes to a file of its own", where=visible(str(out)), got="one that is read here")
    key = None if key_file is None else _key(key_file)
    file = read_update(update, key=key)
    content = plugins.find("formats", "table")(table)
    found = applied(file, content, risk=risk, as_system=as_system, where=table.name)
    for note in found.notes:
        say(note)
    try:
        replace_whole(out, csv_lines({**content, **found.columns}))
    except OSError as error:
        raise InputError(
            "the output must be a place that can be written", where=visible(str(out)), got=error.strerror or "an error"
        ) from None
    say(f"The table with {', '.join(found.columns)} is in {out}")


def _key(path: Path) -> bytes:
    """A key from its file, with a word where others can read one that is secret."""
    from workup.cli.redact_keys import read_key_file
    from workup.signing import is_public, read_key

    key = read_key(path)
    return key if is_public(key) else read_key_file(path)
