"""What reviewers are shown: documents with the regions of a queue marked alike, whatever a gold or a system said.

These hold the text of notes. Who wrote a region and what type it got is left out; where a region begins and ends may
still hint at it, which no form can hide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

from workup.documents.batch import Batch
from workup.documents.document import Document, Span
from workup.documents.policies import Policy
from workup.tasks.spans.review.queue import Item, Queue

OPEN = "REVIEW"  # a region that nobody has answered yet
VERDICTS = {
    "IDENTIFIER": "must be masked, and the region is right",
    "OTHER_BORDERS": "must be masked, but the region is too short or too long",
    "NOT_IDENTIFIER": "need not be masked",
    "UNSURE": "cannot be told from this text",
}


def reviewer_documents(batches: Iterable[Batch], queue: Queue) -> Iterator[Document]:
    """Documents with something to review, their regions in order; patients, sites and groups are left out."""
    wanted: dict[str, list[Item]] = {}
    for item in queue.items:
        wanted.setdefault(item.case, []).append(item)
    for batch in batches:
        for id, text in zip(batch.ids, batch.texts, strict=True):
            if id in wanted:
                regions = sorted(wanted.pop(id), key=lambda item: (item.start, item.end))
                yield Document(id, text, tuple(Span(item.start, item.end, OPEN, entity=item.id) for item in regions))


def label_studio_tasks(documents: Iterable[Document], queue: Queue) -> Iterator[tuple[Document, dict[str, Any]]]:
    """Tasks for Label Studio: each region as a prediction under the id of its item."""
    for document in documents:
        data = {"text": document.text, "id": document.id, "queue": queue.id}
        regions = [_region(span, document.text) for span in document.spans]
        yield document, {"data": data, "predictions": [{"model_version": "review", "result": regions}]}


def _region(span: Span, text: str) -> dict[str, Any]:
    value = {"start": span.start, "end": span.end, "text": text[span.start : span.end], "labels": [OPEN]}
    return {"id": span.entity, "from_name": "label", "to_name": "text", "type": "labels", "value": value}


def labelling_setup() -> str:
    """The labelling interface for Label Studio: a region is answered by giving it one of the labels."""
    labels = "\n".join(f"    <Label value={quoteattr(name)}/>" for name in (OPEN, *VERDICTS))
    return (
        f'<View>\n  <Header value="Give every region one answer"/>\n  <Labels name="label" toName="text">\n{labels}\n'
        '  </Labels>\n  <Text name="text" value="$text"/>\n</View>\n'
    )


def brat_setup() -> str:
    """annotation.conf for BRAT."""
    return "\n".join(["[entities]", OPEN, *VERDICTS, "[relations]", "[events]", "[attributes]", ""])


def instructions(queue: Queue, policy: Policy) -> str:
    """What a reviewer must know, without any text of a note."""
    asked: Mapping[str, str] = {
        "must be masked": ", ".join(sorted(policy.must)),
        "may be masked or not (answer NOT_IDENTIFIER)": ", ".join(sorted(policy.may)) or "nothing",
        "must not be masked": ", ".join(sorted(policy.must_not)) or "nothing",
    }
    lines = [
        f"Review {queue.id}: {len(queue.items):,} regions, policy {policy.name}",
        "",
        "Some regions were marked by annotators, some by machines, some by both; nothing here says which.",
        f"Every region stands under the label {OPEN}. Give it the label of your answer:",
        "",
        *(f"  {name:<16}{meaning}" for name, meaning in VERDICTS.items()),
        "",
        f"A region left under {OPEN}, or removed, counts as not answered. Do not move a region: choose OTHER_BORDERS.",
        "An identifier that nobody marked may be added under IDENTIFIER; it is counted, and changes no rate.",
        "Answer by yourself: how far reviewers agree is measured.",
        "",
        f"What must be masked, by policy {policy.name}: {policy.describe}",
        *(f"  {what}: {names}" for what, names in asked.items()),
        "",
    ]
    return "\n".join(lines)
