"""`workup review`: a queue of what golds and systems disagree on, and the rates that reviewers' answers give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workup.cli.common import command, emit, emit_json, say
from workup.errors import visible_lines

if TYPE_CHECKING:
    from workup.tasks.spans.counting.counting_rules import Yardstick
    from workup.tasks.spans.review.queue import Queue
    from workup.tasks.spans.review.reviewer_error import Rate

_FORMATS = ("label-studio", "brat")
_ITEMS, _HEADER, _REVIEWERS = "queue.jsonl", "queue.json", "for_reviewers"


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    group = typer.Typer(
        help="Have people look at what golds and systems disagree on.", no_args_is_help=True, rich_markup_mode=None
    )
    command(
        group,
        name="queue",
        example="workup review queue --gold corpus.jsonl --pred a.jsonl --pred b.jsonl --seed 1 -o queue --with-text",
    )(queue)
    command(
        group, name="score", example="workup review score queue ann=export_ann.json ben=export_ben.json --json r.json"
    )(score)
    app.add_typer(group, name="review")


def queue(
    gold: Annotated[Path, typer.Option(help="Documents with golds: JSONL, BRAT, i2b2, CoNLL, DocBin, TAB …")],
    pred: Annotated[
        list[str], typer.Option(help="Predictions of a system, one JSON object a line; repeat. NAME=FILE names it")
    ],
    seed: Annotated[int, typer.Option(help="Seed of the draw; the same seed gives the same queue")],
    out: Annotated[Path, typer.Option("-o", "--out", help="New folder for the queue")],
    labels: Annotated[str, typer.Option(help="Mapping of the labels: a name, a file, or several joined by +")] = "",
    policy: Annotated[str, typer.Option(help="What must be masked")] = "as_annotated",
    mode: Annotated[str, typer.Option(help="When a gold is found; types are not asked")] = "full_mask",
    ignore: Annotated[list[str] | None, typer.Option(help="Label that counts on neither side")] = None,
    annotators: Annotated[
        str, typer.Option(help="Golds of several annotators: union, intersection or majority")
    ] = "each",
    trim: Annotated[str, typer.Option(help="titles: cut leading titles from every gold")] = "",
    offsets: Annotated[str, typer.Option(help="How all files count: codepoint, utf16 or byte")] = "codepoint",
    sample: Annotated[
        list[str] | None, typer.Option(help="Regions to review in all, or of a stratum: found_by_all=100; repeat")
    ] = None,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Write the reviewers' files, which hold the text of notes (PHI)")
    ] = False,
    format: Annotated[str, typer.Option(help="Of the reviewers' files: label-studio or brat")] = "label-studio",
) -> None:
    """Draw regions to review: golds that all systems missed, false alarms that all share, and a sample of the rest."""
    from workup.errors import InputError, near
    from workup.tasks.spans.counting.counting_rules import Yardstick
    from workup.tasks.spans.review.queue import in_words, make_queue

    if format not in _FORMATS:
        raise InputError("a format for reviewers must be known", got=f"'{format[:40]}'", remedy=near(format, _FORMATS))
    _check_new(out)
    total, fixed = _sizes(sample or ())
    stick = Yardstick.of(
        labels=labels, policies=[policy], modes=[mode], levels=["phi"], ignore=ignore or (), primary={"mode": mode}
    )
    batches = _batches(gold, stick, offsets=offsets, trim=trim, annotators=annotators)
    found = make_queue(
        batches,
        _systems(pred, batches, offsets),
        stick=stick,
        seed=seed,
        corpus=gold.name,
        fixed=fixed,
        **({} if total is None else {"total": total}),
    )
    _write(out, found)
    for line in in_words(found):
        say(line)
    if with_text:
        _write_for_reviewers(out / _REVIEWERS, found, batches, stick, format)
    else:
        say("No reviewers' files were written: they hold the text of notes. --with-text writes them.")
    say(str(out))


def score(
    folder: Annotated[Path, typer.Argument(metavar="QUEUE", help="Folder of the queue")],
    answers: Annotated[
        list[str],
        typer.Argument(metavar="ANSWERS…", help="Label Studio exports or BRAT folders; NAME=FILE names the reviewer"),
    ],
    consensus: Annotated[str, typer.Option(help="Of several reviewers: majority, any or all")] = "majority",
    sensitivity: Annotated[
        str, typer.Option(help="Share of identifiers that reviewers recognise: 0.95, or counted as 190/200")
    ] = "",
    specificity: Annotated[
        str, typer.Option(help="Share of other regions that reviewers recognise: 0.95, or counted as 190/200")
    ] = "",
    reviewers_right: Annotated[
        bool, typer.Option("--reviewers-right", help="Take reviewers at their word; estimate no errors of theirs")
    ] = False,
    as_json: Annotated[str | None, typer.Option("--json", help="Write the record here; - is standard output")] = None,
) -> None:
    """Correct recall and precision by what reviewers answered, beside the raw rates."""
    import json

    from workup.errors import InputError, near
    from workup.tasks.spans.review.answers import Answers
    from workup.tasks.spans.review.consensus import RULES
    from workup.tasks.spans.review.scoring import score_review
    from workup.tasks.spans.review.wording import as_text

    rule = next((one for one in RULES if one == consensus), None)
    if rule is None:
        raise InputError("a rule of consensus must be known", got=f"'{consensus[:40]}'", remedy=near(consensus, RULES))
    error = _given(sensitivity, specificity)
    read = Answers(_read(folder))
    for one in answers:
        _read_answers(read, one)
    found = score_review(read, rule=rule, error=error, estimate_errors=not reviewers_right)
    if as_json is not None:
        emit_json(json.dumps(found.record, indent=1, ensure_ascii=False, allow_nan=False) + "\n", as_json)
    if as_json != "-":
        emit(as_text(found.record), None)
    if as_json not in (None, "-"):
        say(f"The record is in {as_json}")


# ---- making a queue --------------------------------------------------------------------------------------------------


def _check_new(out: Path) -> None:
    from workup.errors import InputError
    from workup.files.output_paths import check_folder

    check_folder(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(
            "a new or empty folder was expected, since answers belong to one queue",
            where=str(out),
            got="a folder with files in it" if out.is_dir() else "a file",
            remedy="name another folder",
        )


def _sizes(given: Sequence[str]) -> tuple[int | None, dict[str, int]]:
    """`400` is all of the work, `found_by_all=100` that of one stratum."""
    from workup.errors import InputError, visible

    total, fixed = None, {}
    for text in given:
        name, sign, number = text.rpartition("=")
        if not number.strip().isdecimal() or (not sign and total is not None):
            raise InputError(
                "a number of regions was expected, once in all and once for each stratum",
                where="--sample",
                got=f"'{visible(text[:40])}'",
                remedy="write --sample 400 or --sample found_by_all=100",
            )
        if sign:
            fixed[name.strip()] = int(number)
        else:
            total = int(number)
    return total, fixed


def _batches(gold: Path, stick: Yardstick, *, offsets: str, trim: str, annotators: str) -> Callable[[], Any]:
    from workup import plugins

    read = plugins.find("formats", "span-batches")
    return lambda: read(gold, offsets=offsets, trim=trim, annotators=annotators, mapping=stick.gold_labels)


def _systems(given: Sequence[str], batches: Callable[[], Any], offsets: str) -> dict[str, Any]:
    """Predictions by the name of their system; offsets other than code points need the texts."""
    from workup import plugins
    from workup.documents.detections import StreamedDetections
    from workup.errors import InputError, visible

    read = plugins.find("formats", "predictions")
    options: dict[str, Any] = {}
    if offsets != "codepoint":
        texts = {id: text for batch in batches() for id, text in zip(batch.ids, batch.texts, strict=True)}
        options = {"offsets": offsets, "texts": texts}
    found: dict[str, Any] = {}
    for text in given:
        name, path = _named(text)
        if name in found:
            raise InputError(
                "every system needs a name of its own",
                where="--pred",
                got=f"two of '{visible(name[:80])}'",
                remedy="write NAME=FILE",
            )
        found[name] = StreamedDetections(read(path, **options))
    return found


def _named(text: str) -> tuple[str, Path]:
    """NAME=FILE, or a file that gives its own name."""
    name, sign, rest = text.partition("=")
    if sign and name and not Path(text).exists():
        return name, Path(rest)
    return Path(text).stem, Path(text)


def _write(out: Path, found: Queue) -> None:
    """The queue, without text; only its owner can read it."""
    import json

    from workup.files.disk import make_folder, replace_whole, said_in_words

    with said_in_words(out):
        make_folder(out)
        replace_whole(out / ".gitignore", ["*\n"])
        replace_whole(out / _ITEMS, (json.dumps(item.as_dict(), ensure_ascii=False) + "\n" for item in found.items))
        replace_whole(out / _HEADER, [json.dumps(found.header(), indent=1, ensure_ascii=False) + "\n"])


def _write_for_reviewers(out: Path, found: Queue, batches: Callable[[], Any], stick: Yardstick, format: str) -> None:
    """What reviewers get, in a folder of its own: the queue beside it would tell them where a region comes from."""
    from workup import plugins
    from workup.corpora.formats.spans.json_lists import write_list
    from workup.files.disk import make_folder, replace_whole, said_in_words
    from workup.tasks.spans.review import showing

    documents = showing.reviewer_documents(batches(), found)
    policy = stick.policy(stick.primary_policy)
    with said_in_words(out):
        make_folder(out)
        replace_whole(out / "instructions.txt", [showing.instructions(found, policy)])
        if format == "brat":
            plugins.find("formats", "brat").write(documents, out / "brat")
            replace_whole(out / "brat" / "annotation.conf", [showing.brat_setup()])
        else:
            write_list(out / "label_studio.json", showing.label_studio_tasks(documents, found))
            replace_whole(out / "label_studio.xml", [showing.labelling_setup()])
    # Never silenced: whoever makes these files must know what they are.
    warning = "holds the text of notes, with identifiers of patients. Keep it where PHI may be, and give reviewers"
    typer.echo(visible_lines(f"WARNING: {out} {warning} this folder alone."), err=True)


# ---- reading it back -------------------------------------------------------------------------------------------------


def _read(folder: Path) -> Queue:
    from workup.errors import InputError
    from workup.files.jsonlines import lines, open_binary, value_of
    from workup.files.received import is_file
    from workup.tasks.spans.review.queue import Queue

    header = folder / _HEADER
    if not is_file(header) or not is_file(folder / _ITEMS):
        raise InputError(
            "the folder of a review queue was expected", where=str(folder), got="none", remedy="check the path"
        )
    with open_binary(header) as file:
        record = value_of(file.read(), where=header.name)
    items = [value_of(line, where=f"{_ITEMS}, line {number}") for number, line in lines(folder / _ITEMS)]
    return Queue.from_records(record, items, where=str(folder))


def _read_answers(read: Any, text: str) -> None:
    """Answers of one file: JSON is an export of Label Studio, a folder or a zip is BRAT."""
    from workup import plugins
    from workup.corpora.formats.spans.json_lists import records

    name, path = _named(text)
    given = name if path != Path(text) else ""
    if path.suffix.lower() == ".json":
        tasks = ((where, record) for _, where, record in records(path))
        read.add_label_studio(tasks, reviewer=given, file=path.stem)
        return
    read.add_documents(plugins.find("formats", "brat").read(path), reviewer=name)


def _given(sensitivity: str, specificity: str) -> Any:
    """Error rates that were given, both of them or none."""
    from workup.errors import InputError
    from workup.tasks.spans.review.reviewer_error import given_error

    if not sensitivity and not specificity:
        return None
    if not (sensitivity and specificity):
        raise InputError(
            "both error rates of reviewers are needed", where="--sensitivity and --specificity", got="one of them"
        )
    try:
        return given_error(_rate(sensitivity, "--sensitivity"), _rate(specificity, "--specificity"))
    except ValueError as error:
        raise InputError(str(error), where="--sensitivity and --specificity") from None


def _rate(text: str, option: str) -> Rate:
    from workup.errors import InputError, visible
    from workup.tasks.spans.review.reviewer_error import Rate

    top, sign, bottom = text.partition("/")
    try:
        found = Rate(int(top) / int(bottom), int(bottom)) if sign else Rate(float(top))
        if not 0 <= found.value <= 1:
            raise ValueError
    except (ValueError, ZeroDivisionError):
        raise InputError(
            "a share from 0 to 1, or a count such as 190/200, was expected", where=option, got=f"'{visible(text[:40])}'"
        ) from None
    return found
