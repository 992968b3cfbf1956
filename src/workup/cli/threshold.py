"""`workup threshold`: the score from which on a detector's predictions are kept, confirmed on patients of their own."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from workup.cli.common import Progress, command, emit, verdict_code

_CODES = {"confirmed": "pass", "not_confirmed": "fail", "none": "fail", "unsure": "unsure"}


def add_to(app: typer.Typer) -> None:
    """Hang the command on the tree."""
    command(
        app,
        name="threshold",
        example="workup threshold --gold corpus.jsonl --pred scored.jsonl --target 0.95 --seed 1",
    )(threshold)


def threshold(
    gold: Annotated[Path, typer.Option(help="Documents with golds: JSONL, BRAT, i2b2, CoNLL, DocBin, TAB …")],
    pred: Annotated[Path, typer.Option(help="Predictions with scores, one JSON object a line: id and spans")],
    target: Annotated[float, typer.Option(help="What the lower bound of recall must reach")],
    mode: Annotated[str, typer.Option(help="Matching mode that recall is counted by")] = "full_mask",
    level: Annotated[str, typer.Option(help="leaf, branch or phi")] = "phi",
    policy: Annotated[str, typer.Option(help="What must be masked")] = "as_annotated",
    labels: Annotated[str, typer.Option(help="Mapping of the labels: a name, a file, or several joined by +")] = "",
    ignore: Annotated[list[str] | None, typer.Option(help="Label that counts on neither side")] = None,
    annotators: Annotated[
        str, typer.Option(help="Golds of several annotators: each, union, intersection or majority")
    ] = "each",
    trim: Annotated[str, typer.Option(help="titles: cut leading titles from every gold")] = "",
    offsets: Annotated[str, typer.Option(help="How both files count: codepoint, utf16 or byte")] = "codepoint",
    share: Annotated[float, typer.Option(help="Share of the patients that the threshold is chosen on")] = 0.5,
    seed: Annotated[int, typer.Option(help="Seed of the split of patients")] = 0,
    json: Annotated[str | None, typer.Option(help="Write the choice here; - for standard output")] = None,
    allow_unsure: Annotated[bool, typer.Option("--allow-unsure", help="An undecided choice does not fail")] = False,
) -> None:
    """Choose the score with the least over-redaction at a recall, on one part of the patients; confirm it on the other.

    Exit 0 where the recall is confirmed, 1 where it is not or no threshold reaches it, 3 where that is undecided.
    """
    from workup import plugins
    from workup.cli.compare import plain_json
    from workup.replay import Unasked
    from workup.reports.spans.threshold import sections
    from workup.reports.text import section_text
    from workup.runs import Unrecorded
    from workup.task import Budget
    from workup.tasks.spans.comparing.thresholds import choose_threshold
    from workup.tasks.spans.settings import SpansStudy
    from workup.tasks.spans.task import yardstick

    content = {
        "name": gold.stem,
        "task": "spans",
        "seed": seed,
        "corpus": {"path": gold.name, "annotators": annotators, "trim": trim, "offsets": offsets},
        "systems": [{"name": "recorded", "use": "recorded", "with": {"path": pred.name}}],
        "modes": [mode],
        "levels": [level],
        "policies": [policy],
        "labels": labels,
        "ignore": list(ignore or ()),
        "primary": {"mode": mode, "level": level},
    }
    study = SpansStudy.of(content, base=gold.parent, where="threshold")
    task = plugins.find("tasks", "spans")()
    system = plugins.find("systems", "recorded")(
        name="recorded", base=pred.resolve().parent, path=pred.name, offsets=offsets
    )
    with Progress() as progress:
        corpus = task.read(study)
        outputs = task.run(lambda: system, corpus, Unasked(), Unrecorded(), progress, budget=Budget())
        found = choose_threshold(
            corpus.batches,
            outputs.detections,
            yardstick(study, outputs.labels),
            target=target,
            share=share,
            seed=seed,
            watch=progress,
        )
    record = {"schema_version": 1, "kind": "threshold", **asdict(found)}
    if json is not None:
        emit(plain_json(record), json)
    if json != "-":
        emit("\n".join(section_text(section) for section in sections(record)), None)
    raise typer.Exit(verdict_code([_CODES[found.verdict]], allow_unsure=allow_unsure))
