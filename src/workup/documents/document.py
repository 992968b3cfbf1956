"""Documents with spans, one by one and as flat arrays. Offsets are Unicode code points, half-open.

Knows no label scheme, no policy and no file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import InputError, named, within

Ints = npt.NDArray[np.int32]
# How TAB's annotators call what identifies, what helps to and what does not; and what nobody has judged.
IDENTIFIERS = ("direct", "quasi", "no_mask", "unknown")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text with a label. `entity` ties mentions of one thing together; `score` is a detector's own."""

    start: int
    end: int
    label: str
    subtype: str | None = None
    entity: str | None = None
    identifier: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One text with its golds; where several annotators worked, `layers` holds the spans of each and `spans` none."""

    id: str
    text: str
    spans: tuple[Span, ...] = ()
    layers: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    patient: str | None = None
    site: str | None = None
    time: str | None = None
    groups: Mapping[str, Any] = field(default_factory=dict)
    type: str | None = None
    specialty: str | None = None


@dataclass(frozen=True, eq=False)
class SpanArrays:
    """Spans of many documents as columns, sorted by document, start, end and label code.

    `document` is the place in the list of documents, `label` a code into `labels`. `order` gives each row's place in
    the list it came from, so that what was known of a span there (its identifier, its score) can be put beside it.
    """

    document: Ints
    start: Ints
    end: Ints
    label: Ints
    labels: tuple[str, ...]
    order: Ints | None = None

    def __len__(self) -> int:
        return len(self.start)

    @classmethod
    def of(cls, spans: Iterable[tuple[int, int, int, str]]) -> SpanArrays:
        """From (document, start, end, label).

        >>> found = SpanArrays.of([(1, 0, 4, "date"), (0, 3, 9, "name")])
        >>> found.document.tolist(), found.labels, found.label.tolist()
        ([0, 1], ('date', 'name'), [1, 0])
        """
        rows = list(spans)
        labels = tuple(sorted({row[3] for row in rows}))
        code = {label: i for i, label in enumerate(labels)}
        table = np.array([(d, s, e, code[label]) for d, s, e, label in rows], dtype=np.int32).reshape(-1, 4)
        order = np.lexsort(table.T[::-1])
        document, start, end, label = (table[order, i] for i in range(4))
        return cls(document, start, end, label, labels, order.astype(np.int32))


def check_spans(
    text: str,
    spans: Sequence[Span],
    *,
    document: str,
    surfaces: Sequence[str | None] = (),
    number: int | None = None,
) -> None:
    """Every span lies inside its text and, where its surface was written down, says what the text says there.

    Lengths and places are named in the error, the text never is; the document by its number, where one is given.
    """
    for i, span in enumerate(spans):
        where = within(named("document", document, number=number), f"span {i}")
        if not (0 <= span.start < span.end <= len(text)):
            raise InputError(
                "a span must lie inside its text with its end after its start",
                where=where,
                got=f"{span.start} to {span.end} in a text of {len(text)} characters",
                remedy="check whether offsets count code points, UTF-16 units or bytes, and whether ends are inclusive",
            )
        surface = surfaces[i] if i < len(surfaces) else None
        if surface is not None and text[span.start : span.end] != surface:
            raise InputError(
                "the text under a span must be its surface",
                where=where,
                got=f"a surface of {len(surface)} characters that is not the {span.end - span.start} at its place",
                remedy="name the unit that the offsets count (codepoint, utf16 or byte)",
            )
