"""`workup score …`: score recorded answers, with no model and no run directory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from workup.cli.common import Progress, command
from workup.cli.score_episodes import episodes
from workup.cli.shown import show


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    group = typer.Typer(help="Score recorded answers.", no_args_is_help=True, rich_markup_mode=None)
    command(
        group,
        name="risk",
        example="workup score risk predictions.csv --outcome died --risk p --patient id --by sex --threshold 0.2",
    )(risk)
    command(
        group,
        name="episodes",
        example="workup score episodes scores.csv events.csv --target sepsis --horizon 24h --end discharge "
        "--threshold 0.3",
    )(episodes)
    command(
        group,
        name="horizon",
        example="workup score horizon cohort.csv --followup days --status ended --risk 365d=p1 --risk 730d=p2",
    )(horizon)
    command(
        group,
        name="spans",
        example="workup score spans --gold corpus.jsonl --pred found.jsonl --mode full_mask --policy hipaa_safe_harbor",
    )(spans)
    command(
        group,
        name="conversation",
        example="workup score conversation cases.jsonl --transcripts replies.jsonl --gate 'recall_at_10.low >= 0.7'",
    )(conversation)
    app.add_typer(group, name="score")


def risk(
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, Excel or DuckDB table of predictions")],
    outcome: Annotated[str, typer.Option(help="Column of the outcome, 0 or 1, or such as 'status == \"dead\"'")],
    risk: Annotated[str, typer.Option(help="Column of the predicted risk, in [0, 1], or such as '1 - survival'")],
    patient: Annotated[str | None, typer.Option(help="Column of the patient id")] = None,
    by: Annotated[
        list[str] | None, typer.Option(help="Column to group by, or age:45,65,75 for bands; repeat for several")
    ] = None,
    site: Annotated[str | None, typer.Option(help="Column of the site")] = None,
    time: Annotated[str | None, typer.Option(help="Column of the time")] = None,
    time_format: Annotated[str | None, typer.Option(help="Form of the time, such as %d/%m/%Y")] = None,
    weight: Annotated[str | None, typer.Option(help="Column of a design weight")] = None,
    threshold: Annotated[list[float] | None, typer.Option(help="Decision threshold; repeat for several")] = None,
    also: Annotated[
        list[str] | None, typer.Option(help="Metric left out by default: accuracy, f1 or ece; repeat for several")
    ] = None,
    gate: Annotated[list[str] | None, typer.Option(help='Rule such as "auroc.low >= 0.75"')] = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling")] = 0,
    replicates: Annotated[int, typer.Option(help="Resamples of whole patients")] = 2000,
    smallest_cell: Annotated[
        int, typer.Option(help="Groups of fewer patients are withheld; 1 tells all, and may identify people")
    ] = 5,
    largest_unpacked: Annotated[
        int, typer.Option(min=0, help="Most bytes that a packed table may become; 0 is 2 GiB")
    ] = 0,
    json: Annotated[str | None, typer.Option(help="Write report.json here; - for standard output")] = None,
    allow_unsure: Annotated[bool, typer.Option("--allow-unsure", help="Undecided gates do not fail")] = False,
) -> None:
    """Score a table of predicted risks against what happened."""
    from workup.score import score_risk

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
            also=also or (),
            gates=gate or (),
            seed=seed,
            replicates=replicates,
            smallest_cell=smallest_cell,
            name=table.stem,
            largest_unpacked=largest_unpacked,
            watch=progress,
        )
    show(report, json=json, allow_unsure=allow_unsure)


def horizon(
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, Excel or DuckDB table with follow-up and risks")],
    status: Annotated[str, typer.Option(help="Column of how follow-up ended: 0 censored, 1 event, 2 competing event")],
    risk: Annotated[list[str], typer.Option(help="Column of the risk by a horizon, 365d=COLUMN; repeat for several")],
    followup: Annotated[str | None, typer.Option(help="Column of follow-up from the prediction on")] = None,
    unit: Annotated[str, typer.Option(help="Unit of follow-up: min, h, d, week, month or year; days if absent")] = "",
    event_time: Annotated[
        str | None, typer.Option(help="Instead of --followup: column of the date it ended; needs --time")
    ] = None,
    code: Annotated[
        list[str] | None,
        typer.Option(help="Meaning of a status, such as dead=competing (censored, event or competing); repeat"),
    ] = None,
    patient: Annotated[str | None, typer.Option(help="Column of the patient id")] = None,
    by: Annotated[
        list[str] | None, typer.Option(help="Column to group by, or age:45,65,75 for bands; repeat for several")
    ] = None,
    site: Annotated[str | None, typer.Option(help="Column of the site")] = None,
    time: Annotated[str | None, typer.Option(help="Column of the time of the prediction")] = None,
    time_format: Annotated[str | None, typer.Option(help="Form of the time, such as %d/%m/%Y")] = None,
    weight: Annotated[str | None, typer.Option(help="Column of a design weight")] = None,
    landmark: Annotated[
        str | None, typer.Option(help="Column of the landmark, where patients have several rows")
    ] = None,
    stratum: Annotated[
        list[str] | None, typer.Option(help="Column within whose levels censoring is estimated; repeat for several")
    ] = None,
    cox: Annotated[
        list[str] | None, typer.Option(help="Column of a Cox model of censoring; repeat for several")
    ] = None,
    threshold: Annotated[list[float] | None, typer.Option(help="Decision threshold; repeat for several")] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(help="Left out by default: c_index, accuracy, f1 or cloglog_slope; repeat for several"),
    ] = None,
    gate: Annotated[list[str] | None, typer.Option(help='Rule such as "auroc{horizon=365d}.low >= 0.75"')] = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling")] = 0,
    replicates: Annotated[int, typer.Option(help="Resamples of whole patients")] = 2000,
    smallest_cell: Annotated[
        int, typer.Option(help="Groups of fewer patients are withheld; 1 tells all, and may identify people")
    ] = 5,
    json: Annotated[str | None, typer.Option(help="Write report.json here; - for standard output")] = None,
    allow_unsure: Annotated[bool, typer.Option("--allow-unsure", help="Undecided gates do not fail")] = False,
) -> None:
    """Score risks by one or several horizons against follow-up, some of it cut short."""
    from workup.score import score_horizon

    with Progress() as progress:
        report = score_horizon(
            table,
            followup=followup,
            unit=unit,
            event_time=event_time,
            status=status,
            codes=_pairs(code or (), "--code", "dead=competing"),
            risk=_pairs(risk, "--risk", "365d=risk_1y"),
            patient=patient,
            by=by or (),
            site=site,
            time=time,
            time_format=time_format,
            weight=weight,
            landmark=landmark,
            strata=stratum or (),
            cox=cox or (),
            thresholds=threshold or (),
            also=also or (),
            gates=gate or (),
            seed=seed,
            replicates=replicates,
            smallest_cell=smallest_cell,
            name=table.stem,
            watch=progress,
        )
    show(report, json=json, allow_unsure=allow_unsure)


def _pairs(given: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Options of the form NAME=VALUE."""
    from workup.errors import InputError

    found: dict[str, str] = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not (name.strip() and sign and value.strip()):
            raise InputError(f"{option} must be NAME=VALUE", got=f"'{one[:40]}'", remedy=f"write {option} {example}")
        if name.strip() in found:
            raise InputError(f"{option} names '{name.strip()[:40]}' twice", got="two values", remedy="leave one out")
        found[name.strip()] = value.strip()
    return found


def spans(
    gold: Annotated[Path, typer.Option(help="Documents with golds: JSONL, BRAT, i2b2, CoNLL, DocBin, TAB …")],
    pred: Annotated[Path, typer.Option(help="Predictions, one JSON object a line: id and spans")],
    format: Annotated[str, typer.Option(help="Format of the golds, such as conll; by their ending when absent")] = "",
    mode: Annotated[list[str] | None, typer.Option(help="Matching mode such as iou:0.5; repeat for several")] = None,
    policy: Annotated[list[str] | None, typer.Option(help="What must be masked; repeat for several")] = None,
    labels: Annotated[str, typer.Option(help="Mapping of the labels: a name, a file, or several joined by +")] = "",
    level: Annotated[list[str] | None, typer.Option(help="leaf, branch or phi; repeat for several")] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Label that counts on neither side")] = None,
    equivalent: Annotated[list[str] | None, typer.Option(help="Types taken as equal beside, such as ORG=LOC")] = None,
    annotators: Annotated[
        str, typer.Option(help="Golds of several annotators: each, union, intersection or majority")
    ] = "each",
    trim: Annotated[str, typer.Option(help="titles: cut leading titles from every gold")] = "",
    offsets: Annotated[str, typer.Option(help="How both files count: codepoint, utf16 or byte")] = "codepoint",
    by: Annotated[list[str] | None, typer.Option(help="Group of documents to compare; repeat for several")] = None,
    gate: Annotated[list[str] | None, typer.Option(help='Rule such as "leak_rate_document.high <= 0.01"')] = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling")] = 0,
    replicates: Annotated[int, typer.Option(help="Resamples of whole patients")] = 2000,
    most_overlaps: Annotated[int, typer.Option(min=0, help="Most rivalling overlaps in a document; 0 is 2,500")] = 0,
    most_depth: Annotated[
        int, typer.Option(min=0, help="Most golds, or predictions, over a character on average; 0 is 50")
    ] = 0,
    show_text: Annotated[
        bool, typer.Option("--show-text", help="Write the text of documents into the record, which then holds PHI")
    ] = False,
    smallest_cell: Annotated[
        int, typer.Option(help="Groups of fewer patients are withheld; 1 tells all, and may identify people")
    ] = 5,
    json: Annotated[str | None, typer.Option(help="Write report.json here; - for standard output")] = None,
    allow_unsure: Annotated[bool, typer.Option("--allow-unsure", help="Undecided gates do not fail")] = False,
) -> None:
    """Score recorded predictions of a de-identifier or PII detector against golds."""
    from workup.score import score_spans

    with Progress() as progress:
        report = score_spans(
            gold,
            pred,
            format=format,
            modes=mode or (),
            policies=policy or (),
            labels=labels,
            levels=level or (),
            ignore=ignore or (),
            equivalent=equivalent or (),
            annotators=annotators,
            trim=trim,
            offsets=offsets,
            by=by or (),
            gates=gate or (),
            seed=seed,
            replicates=replicates,
            smallest_cell=smallest_cell,
            show_text=show_text,
            most_overlaps=most_overlaps,
            most_depth=most_depth,
            name=gold.stem,
            watch=progress,
        )
    show(report, json=json, allow_unsure=allow_unsure)


def conversation(
    cases: Annotated[Path, typer.Argument(help="Cases with their ledgers: a JSON list, or one case a line")],
    transcripts: Annotated[Path | None, typer.Option(help="What the model said, one turn a line")] = None,
    format: Annotated[str, typer.Option(help="Recorded dialogues with notes instead: aci_bench or mts_dialog")] = "",
    matcher: Annotated[str, typer.Option(help="What reads a reply: context, or published for comparison")] = "context",
    target_plans: Annotated[str | None, typer.Option(help="JSON file of plans by case, beside the cases")] = None,
    ratings: Annotated[str | None, typer.Option(help="CSV of PDSQI-9 ratings, beside the cases")] = None,
    judge: Annotated[
        str | None, typer.Option(help="Judge of contradictions, package.module:Object; rules without one")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="Sentence encoder for plans, package.module:Object; words without one")
    ] = None,
    labelled: Annotated[
        str | None, typer.Option(help="Labelled replies of this model, beside the cases, for corrected rates")
    ] = None,
    by: Annotated[list[str] | None, typer.Option(help="Group of cases to compare; repeat for several")] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(help='Rule such as "recall_at_10.low >= 0.7"; the default gates of chat models when absent'),
    ] = None,
    also: Annotated[
        list[str] | None, typer.Option("--with", help="published: also measure what published work did, to compare")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling")] = 0,
    replicates: Annotated[int, typer.Option(help="Resamples of whole cases")] = 2000,
    smallest_cell: Annotated[
        int, typer.Option(help="Groups of fewer patients are withheld; 1 tells all, and may identify people")
    ] = 5,
    json: Annotated[str | None, typer.Option(help="Write report.json here; - for standard output")] = None,
    allow_unsure: Annotated[bool, typer.Option("--allow-unsure", help="Undecided gates do not fail")] = False,
) -> None:
    """Score recorded transcripts of a chat model against the facts that it had to keep."""
    from workup.errors import InputError
    from workup.score import score_conversation

    if (transcripts is None) == (not format):
        raise InputError(
            "either --transcripts, or --format of recorded dialogues was expected",
            got="neither" if transcripts is None else "both",
            remedy="give --transcripts replies.jsonl",
        )
    for one in also or ():
        if one != "published":
            raise InputError("--with must be published", got=f"'{one[:40]}'", remedy="leave it out")
    with Progress() as progress:
        report = score_conversation(
            cases,
            transcripts,
            format=format,
            matcher=matcher,
            target_plans=target_plans,
            ratings=ratings,
            judge=judge,
            encoder=encoder,
            labelled=labelled,
            published=bool(also),
            by=by or (),
            gates=gate or None,
            seed=seed,
            replicates=replicates,
            smallest_cell=smallest_cell,
            name=cases.stem,
            watch=progress,
        )
    show(report, json=json, allow_unsure=allow_unsure)
