"""Why single spans of a batch went wrong: the category of a missed gold or a false alarm, from what lies around it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from workup.documents.batch import Batch
from workup.documents.document import SpanArrays
from workup.documents.labels import NAMES
from workup.documents.policies import MUST_NOT
from workup.documents.visible import Range
from workup.tasks.spans.counting.counting_rules import Golds
from workup.tasks.spans.counting.matchup import Matchup, Setting
from workup.tasks.spans.errors.categories import category_of_false_alarm, category_of_miss


class Categories:
    """Looks at the texts of one batch; keeps none of it beyond the batch."""

    def __init__(self, batch: Batch, golds: Golds, matchup: Matchup, setting: Setting) -> None:
        self._texts = batch.texts
        self._golds, self._found, self._canonical = golds.spans, matchup.predictions, golds.canonical
        self._counted = golds.decisions[setting.policy] != MUST_NOT
        level = matchup.level(setting.level)
        self._types = None if level.types is None else level.types

    def of_gold(self, gold: int) -> str:
        """The category of a missed gold."""
        document = int(self._golds.document[gold])
        same, other = self._around(
            self._found_edges, self._found, document, self._golds.labels[self._golds.label[gold]]
        )
        code = int(self._canonical[gold])
        return category_of_miss(
            self._texts[document],
            int(self._golds.start[gold]),
            int(self._golds.end[gold]),
            label=NAMES[code] if code >= 0 else None,
            same=same,
            other=other,
        )

    def of_prediction(self, prediction: int) -> str:
        """The category of a false alarm."""
        found = self._found
        document = int(found.document[prediction])
        text = self._texts[document]
        start, end = int(found.start[prediction]), int(found.end[prediction])
        if not 0 <= start < end <= len(text):
            return "outside_text"
        label = found.labels[found.label[prediction]]
        same, other = self._around(self._gold_edges, self._golds, document, label, only=self._counted)
        return category_of_false_alarm(text, start, end, same=same, other=other)

    def visible_under(self, document: int) -> list[Range]:
        """The places of all predictions of a document."""
        first, last = self._found_edges[document], self._found_edges[document + 1]
        return [(int(self._found.start[i]), int(self._found.end[i])) for i in range(first, last)]

    def _around(
        self, edges: list[int], spans: SpanArrays, document: int, label: str, *, only: np.ndarray | None = None
    ) -> tuple[list[Range], list[Range]]:
        """Spans of the other side in a document: of a type equal to this label's, and of others."""
        same: list[Range] = []
        other: list[Range] = []
        for i in range(edges[document], edges[document + 1]):
            if only is None or only[i]:
                equal = self._equal(label, spans.labels[spans.label[i]])
                (same if equal else other).append((int(spans.start[i]), int(spans.end[i])))
        return same, other

    def _equal(self, one: str, other: str) -> bool:
        if self._types is None:
            return True
        kind = self._types.get(one)
        return kind is not None and kind == self._types.get(other)

    @cached_property
    def _found_edges(self) -> list[int]:
        return _edges(self._found, len(self._texts))

    @cached_property
    def _gold_edges(self) -> list[int]:
        return _edges(self._golds, len(self._texts))


def _edges(spans: SpanArrays, documents: int) -> list[int]:
    """Where the spans of each document begin; spans of one document stand together, in the order of the documents."""
    return [int(place) for place in np.searchsorted(spans.document, np.arange(documents + 1))]
