"""`trim: titles`: cut leading titles (Mr., Dr., Prof.) from golds, alike for every system that is scored on them.

Knows the words in data/titles.yaml only; predictions are never touched."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cache

from workup.documents.document import Document, Span
from workup.documents.labels import read_shipped


@cache
def _leading_titles() -> re.Pattern[str]:
    words = read_shipped("titles.yaml")
    # Longest first, so that "Mrs" is not read as "Mr". A title ends with a full stop, or with white space.
    title = "|".join(re.escape(word) for word in sorted(words["titles"], key=len, reverse=True))
    joining = "|".join(re.escape(word) for word in words["joining"])
    one = rf"(?:{title})(?:\.\s*|\s+)"
    return re.compile(rf"{one}(?:(?:(?:{joining})\s+)?{one})*", re.IGNORECASE)


def title_length(surface: str) -> int:
    """How many characters at the start of a surface are titles; 0 where no letter follows them.

    >>> title_length("Prof. Dr. Ada Berg"), title_length("Mr and Mrs Berg"), title_length("Drew"), title_length("Dr.")
    (10, 11, 0, 0)
    """
    found = _leading_titles().match(surface)
    # "MR 12345" and "MS 39201" are a record number and a postal code: before a digit the letters are part of them.
    if found is None or not surface[found.end() : found.end() + 1].isalpha():
        return 0
    return found.end()


def cut_titles(document: Document, *, labels: Collection[str] | None = None) -> tuple[Document, int]:
    """The document with titles cut from its golds (those of every annotator too), and how many golds were cut.

    `labels` limits the cut to golds that carry one of these labels; without it every gold is looked at.

    >>> seen, count = cut_titles(Document("1", "Seen by Dr. Berg", (Span(8, 16, "DOCTOR"),)))
    >>> seen.spans[0].start, count
    (12, 1)
    """
    count = 0

    def cut(spans: Iterable[Span]) -> tuple[Span, ...]:
        nonlocal count
        kept = []
        for span in spans:
            looked_at = labels is None or span.label in labels
            length = title_length(document.text[span.start : span.end]) if looked_at else 0
            count += length > 0
            kept.append(replace(span, start=span.start + length) if length else span)
        return tuple(kept)

    trimmed = replace(
        document, spans=cut(document.spans), layers={name: cut(spans) for name, spans in document.layers.items()}
    )
    return trimmed, count
