"""`workup threshold`: the risk from which on patients are flagged, with what that will do on new ones; or the score
from which on a detector's predictions are kept, confirmed on patients of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from workup.cli.common import Progress, command, emit, emit_json, verdict_code
from workup.errors import InputError

_CODES = {"confirmed": "pass", "not_confirmed": "fail", "none": "fail", "unsure": "unsure"}


def add_to(app: typer.Typer) -> None:
    """Hang the command on the tree."""
    command(
        app,
        name="threshold",
        example='workup threshold study.yaml --rule "sensitivity >= 0.90 @0.95", or for a detector: '
        "workup threshold --gold corpus.jsonl --pred scored.jsonl --target 0.95 --seed 1",
    )(threshold)


def threshold(
    study: Annotated[
        Path | None, typer.Argument(help="Study of risks; a detector of spans is given by --gold and --pred instead")
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            help='For risks: "sensitivity >= 0.90 @0.95", "alert_rate <= 0.15 @0.95", "alerts_per_day <= 12" or '
            '"cost_ratio 9"; repeat for several'
        ),
    ] = None,
    search: Annotated[
        bool, typer.Option("--search", help="For risks: the cut of the greatest net benefit at the cost ratio")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="For risks: write an update.json that flags and changes no risk")
    ] = None,
    key_file: Annotated[Path | None, typer.Option(help="For risks: key to sign what -o writes with")] = None,
    gold: Annotated[
        Path | None, typer.Option(help="Documents with golds: JSONL, BRAT, i2b2, CoNLL, DocBin, TAB …")
    ] = None,
    pred: Annotated[
        Path | None, typer.Option(help="Predictions with scores, one JSON object a line: id and spans")
    ] = None,
    target: Annotated[float | None, typer.Option(help="What the lower bound of recall must reach")] = None,
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
    """Choose a threshold for risks by rules, and say what it will do on new patients; or for a detector of spans.

    Risks: exit 0 where every rule has a threshold, 1 where the risk runs backwards, 3 where the data carry none.
    Detector: the score with the least over-redaction at a recall, chosen on one part of the patients and confirmed on
    the other; exit 0 where the recall is confirmed, 1 where it is not or none reaches it, 3 where that is undecided.
    """
    if study is not None:
        of_spans = {"--gold": gold, "--pred": pred, "--target": target}
        given = [name for name, value in of_spans.items() if value is not None]
        if given:
            raise InputError(
                "a study of risks takes rules", got=given[0], remedy="leave it out, or leave out the study"
            )
        raise typer.Exit(
            _of_risks(
                study, rule or (), search=search, out=out, key_file=key_file, json=json, allow_unsure=allow_unsure
            )
        )
    if rule or search or out is not None or key_file is not None:
        raise InputError(
            "rules are for the risks of a study",
            got="no study",
            remedy="name one: workup threshold study.yaml --rule …",
        )
    if gold is None or pred is None or target is None:
        raise InputError(
            "either a study of risks with --rule, or --gold, --pred and --target were expected",
            got="neither",
            remedy='give  study.yaml --rule "sensitivity >= 0.90",  or  --gold FILE --pred FILE --target 0.95',
        )
    _of_spans(
        gold,
        pred,
        target,
        mode=mode,
        level=level,
        policy=policy,
        labels=labels,
        ignore=ignore or (),
        annotators=annotators,
        trim=trim,
        offsets=offsets,
        share=share,
        seed=seed,
        json=json,
        allow_unsure=allow_unsure,
    )


def _of_risks(
    study: Path,
    rules: Sequence[str],
    *,
    search: bool,
    out: Path | None,
    key_file: Path | None,
    json: str | None,
    allow_unsure: bool,
) -> int:
    """Thresholds on the risks as they are, or of the alerts of watched stays; an update is not thought of."""
    from workup.cli.run import load
    from workup.cli.updating import CODES, made, tell
    from workup.reports.updating import threshold_sections
    from workup.tasks.risk.episodes.study import EpisodesStudy
    from workup.tasks.risk.updating.rules import parse_rules
    from workup.updating import Asked, choose_budgets

    if not rules:
        raise InputError(
            "a rule is needed to choose a threshold by", got="none", remedy='give  --rule "sensitivity >= 0.90 @0.95"'
        )
    chosen = tuple(parse_rules(rules))
    plan = load(study)
    drawn: dict[str, Any] = {"json": json, "draw": threshold_sections, "kind": "thresholds"}
    if isinstance(plan, EpisodesStudy):
        if out is not None:
            raise InputError(
                "a threshold of watched stays goes into their study, where the policy is",
                where="-o",
                got=str(out),
                remedy="write it under thresholds:",
            )
        with Progress() as progress:
            found = choose_budgets(plan, chosen, watch=progress)
        tell(found.told, **drawn)
    else:
        asked = Asked(method="none", thresholds=chosen, search=search)
        found = made(study, asked, out=out, system=None, key_file=key_file, **drawn)
    if found.verdict == "backwards":
        return CODES[found.verdict]
    return verdict_code(
        ["unsure" if one["value"] is None else "pass" for one in found.told["thresholds"]], allow_unsure=allow_unsure
    )


def _of_spans(
    gold: Path,
    pred: Path,
    target: float,
    *,
    mode: str,
    level: str,
    policy: str,
    labels: str,
    ignore: Sequence[str],
    annotators: str,
    trim: str,
    offsets: str,
    share: float,
    seed: int,
    json: str | None,
    allow_unsure: bool,
) -> None:
    """The score of a detector, by recall."""
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
        "ignore": list(ignore),
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
        emit_json(plain_json(record), json)
    if json != "-":
        emit("\n".join(section_text(section) for section in sections(record)), None)
    raise typer.Exit(verdict_code([_CODES[found.verdict]], allow_unsure=allow_unsure))
