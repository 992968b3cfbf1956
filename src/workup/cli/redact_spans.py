"""What is found in the texts that are redacted: by a detector, by spans recorded before, or by a corpus's own golds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workup.cli.common import Progress
from workup.errors import InputError, SystemFailure, named, visible, within
from workup.redaction.files import Source

if TYPE_CHECKING:
    from workup.documents.document import Document, Span


def found_in(
    sources: Sequence[Source],
    system: str,
    settings: list[str],
    predictions: Path | None,
    golds: bool,
    labels: str,
    progress: Progress,
) -> tuple[list[tuple[Document, Sequence[Span]]], dict[str, int]]:
    """Every document with its spans under canonical labels, and how often each label without one was met."""
    from workup.documents.mappings import LabelMapping

    documents = [document for source in sources for document in source.documents]
    mapping = labels or "workup"
    if golds and predictions is not None:
        raise InputError("either --golds or --predictions was expected", got="both", remedy="leave one out")
    if golds:
        spans = [_own(document) for document in documents]
    elif predictions is not None:
        spans = _recorded(predictions, documents)
    else:
        detector = _detector(system, settings)
        mapping = labels or str(getattr(detector, "mapping", "") or "workup")
        spans = _detected(detector, documents, progress)
    table, unmapped = LabelMapping.load(mapping), Counter[str]()
    return [(document, _canonical(own, table, unmapped)) for document, own in zip(documents, spans, strict=True)], dict(
        sorted(unmapped.items())
    )


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


def _detector(system: str, pairs: list[str]) -> Any:
    from workup import plugins
    from workup.cli.detect import settings_of

    detector = plugins.make(
        "systems", system, settings_of(pairs), where="--system", context={"name": system, "base": Path()}
    )
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
    for at in range(0, len(documents), size):
        batch = documents[at : at + size]
        answers = _asked(detector, [document.text for document in batch])
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


def _asked(detector: Any, texts: list[str]) -> list[list[Span] | None]:
    from workup.tasks.guarding import guarded

    who = f"system '{visible(str(detector.name)[:60])}'"
    answers = guarded(who, lambda given: list(detector.detect(given)), texts, what=f"{len(texts)} texts")
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
