"""What is found in the texts that are redacted: by a detector, by spans recorded before, or by a corpus's own golds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workup.cli.common import Progress, say
from workup.errors import InputError, SystemFailure, named, visible, within
from workup.redaction.files import Source

if TYPE_CHECKING:
    from workup.documents.document import Document, Span


def found_in(
    sources: Sequence[Source],
    system: str,
    settings: Mapping[str, Any],
    predictions: Path | None,
    golds: bool,
    labels: str,
    progress: Progress,
) -> tuple[list[tuple[Document, Sequence[Span]]], dict[str, int], dict[str, Any]]:
    """Every document with its spans under canonical labels, how often each label without one was met, and by what.

    What the detector itself has to say, such as that a part of it could not be run, is said at once."""
    from workup.documents.document import Span
    from workup.documents.mappings import LabelMapping

    documents = [document for source in sources for document in source.documents]
    whole = [leaf for source in sources for leaf in source.whole]
    looked_at = [document for document, leaf in zip(documents, whole, strict=True) if not leaf]
    mapping = labels or "workup"
    if "known" in settings and (golds or predictions is not None):
        raise InputError("known values are for a detector", where="--known", got="spans that were found before")
    by: dict[str, Any] = {"system": "golds" if golds else "predictions", "version": "", "notes": []}
    if golds and predictions is not None:
        raise InputError("either --golds or --predictions was expected", got="both", remedy="leave one out")
    if golds:
        if any(source.container is not None for source in sources):
            raise InputError("a corpus with golds was expected", where="--golds", got="a table or FHIR")
        spans = [_own(document) for document in looked_at]
    elif predictions is not None:
        spans = _recorded(predictions, looked_at)
    elif looked_at:
        detector = _detector(system, settings)
        mapping = labels or str(getattr(detector, "mapping", "") or "workup")
        spans = _detected(detector, looked_at, progress)
        by = {
            "system": visible(system),
            "version": visible(str(getattr(detector, "version", ""))),
            "notes": [visible(str(note)) for note in getattr(detector, "notes", ())],
        }
        for note in by["notes"]:
            say(note)
    else:
        spans = []
    table, unmapped = LabelMapping.load(mapping), Counter[str]()
    found = iter([_canonical(own, table, unmapped) for own in spans])
    every: list[tuple[Document, Sequence[Span]]] = [
        (document, [Span(0, len(document.text), leaf)] if leaf else next(found))
        for document, leaf in zip(documents, whole, strict=True)
    ]
    return every, dict(sorted(unmapped.items())), by


def _own(document: Document) -> Sequence[Span]:
    """The golds of a document; where several annotators worked, all of theirs."""
    return [*document.spans, *(span for spans in document.layers.values() for span in spans)]


def _canonical(spans: Iterable[Span], table: Any, unmapped: Counter[str]) -> list[Span]:
    from dataclasses import replace

    found = []
    for span in spans:
        known = table.of(span.label, subtype=span.subtype, identifier=span.identifier)
        if known is None:
            unmapped[span.label] += 1  # replaced all the same: what it is called does not make it less of a find
        found.append(
            replace(span, label="PHI" if known is None else known.name, identifier=known.identifier if known else None)
        )
    return found


def _recorded(path: Path, documents: Sequence[Document]) -> list[Sequence[Span]]:
    from workup.corpora.formats.spans.predictions import read_predictions

    known = dict(read_predictions(path))
    missing = [(number, one.id) for number, one in enumerate(documents, start=1) if one.id not in known]
    if missing:
        raise InputError(
            "predictions for every document were expected, since one without would stay as it is",
            where=within(path.name, named("document", missing[0][1], number=missing[0][0])),
            got=f"none for {len(missing):,} of {len(documents):,} documents",
            remedy="give an empty list where nothing was found",
        )
    return [known[document.id] for document in documents]


def _detector(system: str, settings: Mapping[str, Any]) -> Any:
    from workup import plugins

    detector = plugins.make("systems", system, settings, where="--system", context={"name": system, "base": Path()})
    plugins.looked_at(system, detector)
    if getattr(detector, "recorded", False) or not callable(getattr(detector, "detect", None)):
        raise InputError(
            "a detector that finds spans in texts was expected",
            where="--system",
            got=f"'{visible(system[:60])}'",
            remedy="name one such as native or presidio, or give recorded spans with --predictions",
        )
    return detector


def _detected(detector: Any, documents: Sequence[Document], progress: Progress) -> list[Sequence[Span]]:
    from workup.documents.document import Span

    size, found = int(getattr(detector, "batch", 0) or 16), list[Sequence[Span]]()
    if (told := getattr(detector, "told_patients", None)) is not None:
        told([document.patient for document in documents])
    for at in range(0, len(documents), size):
        batch = documents[at : at + size]
        answers = _asked(detector, [document.text for document in batch], [document.patient for document in batch])
        for number, (document, answer) in enumerate(zip(batch, answers, strict=True), start=at + 1):
            if answer is None:
                raise SystemFailure(
                    f"system '{visible(str(detector.name)[:60])}' refused "
                    f"{named('document', document.id, number=number)}, and a text in which nothing was looked for must "
                    "not pass as redacted. To fix: leave it out."
                )
            found.append(answer)
        progress("asking the detector", len(found), len(documents))
    return found


def _asked(detector: Any, texts: list[str], patients: list[str | None]) -> list[list[Span] | None]:
    from workup.tasks.guarding import guarded
    from workup.tasks.spans.task import asked

    who = f"system '{visible(str(detector.name)[:60])}'"
    answers = guarded(who, lambda given: list(asked(detector, given, patients)), texts, what=f"{len(texts)} texts")
    if len(answers) != len(texts):
        raise SystemFailure(f"{who} must answer every text; it was given {len(texts)} and answered {len(answers)}.")
    return guarded(who, _spans, answers, what=f"{len(texts)} texts")


def _spans(answers: list[Any]) -> list[list[Span] | None]:
    from workup.documents.document import Span

    return [
        None if answer is None else [Span(int(one.start), int(one.end), str(one.label)) for one in answer]
        for answer in answers
    ]


def for_policy(system: str, pairs: list[str], policy: str | None) -> list[str]:
    """The settings of a detector; the native one answers every leaf where a policy is to choose among them."""
    if system != "native" or policy is None or any(pair.partition("=")[0].strip() == "policy" for pair in pairs):
        return pairs
    return [*pairs, "policy=all"]


def kept_by(policy: str) -> list[str]:
    """Labels that a policy does not ask to be masked."""
    from workup.documents.labels import NAMES
    from workup.documents.policies import Policy

    chosen = Policy.load(policy)
    return [name for name in NAMES if chosen.of(name) != "must"]
