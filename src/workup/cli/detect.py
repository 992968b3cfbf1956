"""`workup detect`: run a detector over documents and write what it found; a stopped run goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workup.cli.columns import ID_COLUMN, KEEP_COLUMN, PATIENT_COLUMN, TEXT_COLUMN, tell_plans
from workup.cli.common import Progress, command, say
from workup.errors import InputError
from workup.files.output_paths import check_folder, check_target, said

if TYPE_CHECKING:
    from workup.documents.document import Document, Span
    from workup.redaction.columns import Chosen

KNOWN = "Table of what is known of each patient (CSV, Parquet, JSONL), or a folder with a file for each"
KNOWN_KEY = "Its column with the patient's key, which documents name as their patient; found when absent"


def add_to(app: typer.Typer) -> None:
    """Hang the command on the tree."""
    command(app, name="detect", example="workup detect notes.jsonl --system presidio -o found.jsonl")(detect)


def detect(
    source: Annotated[list[Path], typer.Argument(metavar="IN", help="Corpus of documents, or text files")],
    out: Annotated[Path, typer.Option("-o", "--out", help="File of predictions to write, one JSON object a line")],
    system: Annotated[str, typer.Option(help="Detector: a registered name, or package.module:Object")] = "native",
    setting: Annotated[
        list[str] | None, typer.Option("--with", help="Setting of the detector as name=value; repeat for several")
    ] = None,
    known: Annotated[Path | None, typer.Option(help=KNOWN)] = None,
    known_key: Annotated[str | None, typer.Option(help=KNOWN_KEY)] = None,
    patient: Annotated[str | None, typer.Option(help="All texts are of this patient")] = None,
    text_column: Annotated[list[str] | None, typer.Option(help=TEXT_COLUMN)] = None,
    id_column: Annotated[list[str] | None, typer.Option(help=ID_COLUMN)] = None,
    keep_column: Annotated[list[str] | None, typer.Option(help=KEEP_COLUMN)] = None,
    patient_column: Annotated[str | None, typer.Option(help=PATIENT_COLUMN)] = None,
    sample: Annotated[int | None, typer.Option(help="So many documents only: seeded, stratified by type")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample")] = 0,
    max_calls: Annotated[int | None, typer.Option(help="Most calls of a paid detector; a later run goes on")] = None,
    max_cost: Annotated[float | None, typer.Option(help="Most that a paid detector may cost")] = None,
) -> None:
    """Run a detector over documents; offsets and labels are written, never text."""
    from workup import plugins
    from workup.corpora.formats.spans.predictions import write_predictions
    from workup.documents.document import Span
    from workup.redaction.columns import Chosen
    from workup.runs import RunDirectory, content_key, forget
    from workup.study import Study
    from workup.task import Budget
    from workup.tasks.sampling import sampled_ids
    from workup.validate import Opener

    check_target(str(out))
    settings = detector_settings(setting or [], known, known_key)
    columns = Chosen.of(text_column or [], id_column or [], keep_column or [], patient_column or "")
    whole: dict[str, Span] = {}
    documents = [
        document if patient is None else replace(document, patient=patient)
        for document in _documents(source, columns, whole)
    ]
    if sample is not None:
        chosen = sampled_ids(((d.id, d.type or "") for d in documents), sample, seed=seed)
        documents = [document for document in documents if document.id in chosen]
        say(f"A sample of {len(documents):,} documents")
    study = Study.of(
        {"name": "detect", "task": "spans", "systems": [{"use": system, "with": settings}]},
        where="detect",
    )
    opener, task = Opener(study, None), plugins.find("tasks", "spans")()
    corpus = task.read(study, documents)
    for note in opener.notes():
        say(note)
    engine = plugins.make("engines", "serial", {}, where="engine", context={"workers": 1})
    place = out.with_name(out.name + ".unfinished")
    check_folder(place)
    with RunDirectory.open(place) as directory, Progress() as progress:
        log = directory.outputs(content_key(opener.key(), corpus.shown_sha256 or corpus.sha256, "spans"), "detect")
        outputs = task.run(opener, corpus, engine, log, progress, budget=Budget(max_calls, max_cost, say))
        failed = len(log.failed())
        found = outputs.detections().of([document.id for document in documents])
        spans = iter(
            [
                Span(start, end, label, score=score)
                for start, end, label, score in zip(found.starts, found.ends, found.labels, found.scores, strict=True)
            ]
        )
        by_document = [tuple(islice(spans, count)) for count in found.counts]
        answers = [
            (document.id, own)
            for document, own, answered in zip(documents, by_document, found.answered, strict=True)
            if answered
        ]
        answers += [(id, (span,)) for id, span in whole.items()]
        with said(out):
            write_predictions(answers, out)
    forget(place)
    refused = len(documents) + len(whole) - len(answers) - failed
    count = sum(len(own) for _, own in answers)
    for note in opener.notes():
        say(note)
    beside = (f"; {number:,} {what}" for number, what in ((refused, "refused"), (failed, "failed")) if number)
    say(f"{out}: {count:,} spans in {len(answers):,} documents{''.join(beside)}")


def _documents(source: list[Path], columns: Chosen, whole: dict[str, Span]) -> Iterator[Document]:
    """Documents of corpora, or one of each text file, called by its name.

    Cells of a table and elements of FHIR that identify as a whole are not looked at; they are put down in `whole`.
    """
    from workup.corpora.formats.spans import native_jsonl
    from workup.corpora.formats.spans.any_format import read_documents
    from workup.corpora.formats.spans.file_sets import LARGEST_MEMBER
    from workup.documents.document import Document, Span
    from workup.files.received import text_of
    from workup.redaction.files import contained

    for path in source:
        if path.is_file() and path.suffix.lower() == ".txt":
            try:
                text = text_of(path, most=LARGEST_MEMBER)
            except (OSError, UnicodeDecodeError) as error:
                raise InputError(
                    "a text file must be readable as UTF-8",
                    where=path.name,
                    got=getattr(error, "strerror", None) or type(error).__name__,
                ) from None
            yield Document(path.stem, text)
        elif path.is_file() and (held := contained(path, columns)) is not None:
            tell_plans([held])
            for document, leaf in zip(held.documents, held.whole, strict=True):
                if leaf:
                    whole[document.id] = Span(0, len(document.text), leaf, score=1.0)
                else:
                    yield document
        elif path.name.lower().endswith(native_jsonl.endings):
            yield from native_jsonl.read(path, annotated=False)
        else:
            yield from read_documents(path)


def detector_settings(pairs: list[str], known: Path | None, known_key: str | None) -> dict[str, Any]:
    """Settings as they were typed, with the table of what is known of each patient."""
    if known is None and known_key is not None:
        raise InputError("a key is a column of the table of known values", where="--known-key", got="no --known")
    given = {"known": None if known is None else str(known), "known_key": known_key}
    return settings_of(pairs) | {name: value for name, value in given.items() if value is not None}


def settings_of(pairs: list[str], *, where: str = "--with") -> dict[str, Any]:
    """Settings as `name=value`; a value that is JSON (true, 0.4, ["a"]) is read as such, any other is a text."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise InputError("a setting must be name=value", where=where, got=repr(pair[:60]))
        try:
            found[name.strip()] = json.loads(value)
        except (ValueError, RecursionError):
            found[name.strip()] = value
    return found
