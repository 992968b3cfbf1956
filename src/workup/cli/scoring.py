"""`workup score …`: score recorded answers, with no model and no run directory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workup.cli.common import Progress, command, emit, say, verdict_code


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    group = typer.Typer(help="Score recorded answers.", no_args_is_help=True, rich_markup_mode=None)
    command(
        group,
        name="risk",
        example="workup score risk predictions.csv --outcome died --risk p --patient id --by sex --threshold 0.2",
    )(risk)
    app.add_typer(group, name="score")


def risk(
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, Excel or DuckDB table of predictions")],
    outcome: Annotated[str, typer.Option(help="Column of the outcome, 0 or 1")],
    risk: Annotated[str, typer.Option(help="Column of the predicted risk, in [0, 1]")],
    patient: Annotated[str | None, typer.Option(help="Column of the patient id")] = None,
    by: Annotated[list[str] | None, typer.Option(help="Column to group by; repeat for several")] = None,
    site: Annotated[str | None, typer.Option(help="Column of the site")] = None,
    time: Annotated[str | None, typer.Option(help="Column of the time")] = None,
    time_format: Annotated[str | None, typer.Option(help="Form of the time, such as %d/%m/%Y")] = None,
    weight: Annotated[str | None, typer.Option(help="Column of a design weight")] = None,
    threshold: Annotated[list[float] | None, typer.Option(help="Decision threshold; repeat for several")] = None,
    gate: Annotated[list[str] | None, typer.Option(help='Rule such as "auroc.low >= 0.75"')] = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling")] = 0,
    replicates: Annotated[int, typer.Option(help="Resamples of whole patients")] = 2000,
    json: Annotated[str | None, typer.Option(help="Write report.json here; - for standard output")] = None,
    allow_unsure: Annotated[bool, typer.Option("--allow-unsure", help="Undecided gates do not fail")] = False,
) -> None:
    """Score a table of predicted risks against what happened."""
    from workup.reports import text
    from workup.validate import score_risk

    with Progress() as progress:
        report = score_risk(
            table,
            outcome=outcome,
            risk=risk,
            patient=patient,
            by=by or (),
            site=site,
            time=time,
            time_format=time_format,
            weight=weight,
            thresholds=threshold or (),
            gates=gate or (),
            seed=seed,
            replicates=replicates,
            name=table.stem,
            watch=progress,
        )
    if json is not None:
        emit(report.to_json(), json)
    if json != "-":
        emit(text.render(report), None)
    if json not in (None, "-"):
        say(f"The record is in {json}")
    raise typer.Exit(verdict_code([v.outcome for v in report.verdicts], allow_unsure=allow_unsure))
