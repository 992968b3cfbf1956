"""Errors of a detector gathered while the documents pass: categories, labels, positions and shapes, never a surface.

Keeps the texts of the few documents that the viewer may show; they leave it as shapes unless text was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.documents.batch import Batch
from workup.documents.detections import Found
from workup.documents.document import SpanArrays
from workup.documents.labels import is_canonical
from workup.documents.residue import Masked, residue
from workup.documents.visible import Range
from workup.tasks.spans.counting.blocks import Sheet
from workup.tasks.spans.counting.counting_rules import Golds, Yardstick
from workup.tasks.spans.counting.matchup import PHI, Setting
from workup.tasks.spans.counting.modes import parse_mode
from workup.tasks.spans.counting.outcomes import Outcomes, outcomes
from workup.tasks.spans.counting.verdicts import FALSE_ALARM
from workup.tasks.spans.errors.categories import Categories, fifth
from workup.tasks.spans.errors.partial_leaks import partial_leak
from workup.tasks.spans.errors.shapes import coarse_shape
from workup.tasks.spans.errors.viewer import Viewer

MISSED, NO_IDENTIFIER = "(missed)", "(no identifier)"
ANALYSED = 50_000  # misses, and false alarms, that are looked at one by one; more are counted without a category
SEARCHED = 20_000  # documents whose visible text is searched for values that are masked elsewhere in it
_SHAPES = 40  # shapes of each kind that a report lists


class Errors:
    """What went wrong in the primary setting, in counts."""

    def __init__(self, stick: Yardstick) -> None:
        self._stick = stick
        self._confusions: Counter[tuple[str, str]] = Counter()
        self._rows: dict[str, Counter[tuple[str, str, str, int]]] = {"misses": Counter(), "false_alarms": Counter()}
        self._shapes: Counter[tuple[str, str, str]] = Counter()
        self._totals: Counter[str] = Counter()
        self._partial: Counter[tuple[str, str, str]] = Counter()
        self._residue: Counter[str] = Counter()
        self._viewer = Viewer()

    def add(self, batch: Batch, golds: Golds, sheet: Sheet, fate: Outcomes, found: Found) -> None:
        """One more batch, with the fates of its spans in the primary setting."""
        matchup = sheet.matchup
        self._add_confusions(sheet)
        categories = Categories(batch, golds, matchup, self._stick.primary_setting)
        missed = np.flatnonzero(fate.must & ~fate.hit)
        alarms = np.flatnonzero(fate.outcome == FALSE_ALARM)
        self._add_errors("misses", batch, golds.spans, missed, categories.of_gold)
        self._add_errors("false_alarms", batch, matchup.predictions, alarms, categories.of_prediction)
        self._add_leaks(batch, golds, fate, matchup.predictions)
        self._viewer.add(batch, golds, matchup, fate, policy=self._stick.primary_policy)

    # ---- confusions --------------------------------------------------------------------------------------------------

    def _add_confusions(self, sheet: Sheet) -> None:
        """Which label met which: pairs that overlap at all, assigned whatever their types."""
        matchup = sheet.matchup
        fate = outcomes(matchup, Setting(parse_mode("overlap"), PHI, self._stick.primary_policy), sheet=sheet)
        golds, found = matchup.golds, matchup.predictions
        must = fate.must[fate.gold]
        self._count(golds.label[fate.gold[must]], found.label[fate.prediction[must]], golds.labels, found.labels)
        missed = golds.label[fate.must & ~fate.hit]
        self._count(missed, np.zeros(len(missed), np.int64), golds.labels, (MISSED,))
        alarms = found.label[fate.outcome == FALSE_ALARM]
        self._count(np.zeros(len(alarms), np.int64), alarms, (NO_IDENTIFIER,), found.labels)

    def _count(
        self,
        rows: npt.NDArray[np.integer],
        across: npt.NDArray[np.integer],
        row_names: tuple[str, ...],
        column_names: tuple[str, ...],
    ) -> None:
        width = max(1, len(column_names))
        joint, times = np.unique(rows.astype(np.int64) * width + across, return_counts=True)
        for one, count in zip(joint.tolist(), times.tolist(), strict=True):
            self._confusions[row_names[one // width], column_names[one % width]] += count

    # ---- single errors -----------------------------------------------------------------------------------------------

    def _add_errors(self, kind: str, batch: Batch, spans: SpanArrays, which: Any, category_of: Any) -> None:
        self._totals[kind] += len(which)
        types = batch.column("type")
        some = which[: max(0, ANALYSED - self._totals[f"{kind} analysed"])]
        self._totals[f"{kind} analysed"] += len(some)
        for place, (document, start, end, code) in zip(some.tolist(), _rows(spans, some), strict=True):
            text, label = batch.texts[document], spans.labels[code]
            row = (category_of(place), label, types[document] or "", fifth(start, len(text)))
            self._rows[kind][row] += 1
            self._shapes[kind, label, coarse_shape(text[start:end])] += 1

    def _add_leaks(self, batch: Batch, golds: Golds, fate: Outcomes, found: SpanArrays) -> None:
        """What stayed visible of gold spans that were touched, and masked values that are unmasked elsewhere."""
        masks = _Masks(found, len(batch))
        self._add_partial(batch, golds, np.flatnonzero(fate.must & ~fate.hit), masks)
        if self._residue["documents"] < SEARCHED:
            self._add_residue(batch, golds, np.flatnonzero(fate.must), masks)

    def _add_partial(self, batch: Batch, golds: Golds, missed: npt.NDArray[np.intp], masks: _Masks) -> None:
        spans, names = golds.spans, _canonical(golds.spans.labels)
        for document, start, end, label in _rows(spans, missed):
            if self._totals["partial"] >= ANALYSED:
                return
            hidden = [mask for mask in masks.of(document) if mask[0] < end and mask[1] > start]
            if not hidden:
                continue
            leak = partial_leak(batch.texts[document], start, end, label=names[label], masks=hidden)
            if leak is not None:
                self._totals["partial"] += 1
                self._partial.update((spans.labels[label], part, leak.severity) for part in leak.parts)

    def _add_residue(self, batch: Batch, golds: Golds, must: npt.NDArray[np.intp], masks: _Masks) -> None:
        wanted: list[list[Masked]] = [[] for _ in batch.texts]
        names = _canonical(golds.spans.labels)
        for document, start, end, label in _rows(golds.spans, must):
            wanted[document].append(Masked(start, end, names[label]))
        for document, (text, here) in enumerate(zip(batch.texts, wanted, strict=True)):
            if not here or not (hidden := masks.of(document)):
                continue
            if self._residue["documents"] >= SEARCHED:
                return
            again = residue(text, here, hidden)
            self._residue["documents"] += 1
            self._residue["documents_with_residue"] += bool(again.places)
            self._residue["values"] += again.searched
            self._residue["values_found_again"] += again.found_whole + again.found_in_part
            self._residue["places_not_in_gold"] += sum(not place.known for place in again.places)

    # ---- tables ------------------------------------------------------------------------------------------------------

    def tables(
        self, *, show_text: bool = False, told: Callable[[str | None], str | None] = lambda held: held
    ) -> dict[str, Any]:
        """Everything as the report holds it; text of documents only where it was asked for, and their types as they
        may be told."""
        return {
            "confusion": [
                {"gold": gold, "prediction": prediction, "count": n}
                for (gold, prediction), n in sorted(self._confusions.items())
            ],
            "errors": {
                "total_misses": self._totals["misses"],
                "total_false_alarms": self._totals["false_alarms"],
                "analysed": self._totals["misses analysed"] + self._totals["false_alarms analysed"],
                **{kind: self._error_rows(kind, told) for kind in self._rows},
            },
            "shapes": self._shape_rows(),
            "partial_leaks": [
                {"label": label, "stayed_visible": what, "severity": severity, "count": n}
                for (label, what, severity), n in sorted(self._partial.items())
            ],
            "residue": dict(self._residue),
            "documents": [{**row, "type": told(row["type"])} for row in self._viewer.table(show_text=show_text)],
        }

    def _error_rows(self, kind: str, told: Callable[[str | None], str | None]) -> list[dict[str, Any]]:
        joined: Counter[tuple[str, str, str, int]] = Counter()
        for (category, label, held, position), n in self._rows[kind].items():
            joined[category, label, told(held or None) or "", position] += n
        return [
            {"category": category, "label": label, "type": type_ or None, "position": position, "count": n}
            for (category, label, type_, position), n in sorted(joined.items())
        ]

    def _shape_rows(self) -> list[dict[str, Any]]:
        found = []
        for kind in self._rows:
            rows = [(n, label, shape) for (of, label, shape), n in self._shapes.items() if of == kind]
            for n, label, shape in sorted(rows, key=lambda row: (-row[0], row[1], row[2]))[:_SHAPES]:
                found.append({"kind": kind, "label": label, "shape": shape, "count": n})
        return found


class _Masks:
    """The predictions of each document, which come document after document."""

    def __init__(self, found: SpanArrays, documents: int) -> None:
        self._ranges: list[Range] = list(zip(found.start.tolist(), found.end.tolist(), strict=True))
        self._edges: list[int] = np.searchsorted(found.document, np.arange(documents + 1)).tolist()

    def of(self, document: int) -> list[Range]:
        """Those of one document."""
        return self._ranges[self._edges[document] : self._edges[document + 1]]


def _canonical(labels: Sequence[str]) -> list[str | None]:
    return [label if is_canonical(label) else None for label in labels]


def _rows(spans: SpanArrays, which: npt.NDArray[np.intp]) -> Iterator[tuple[int, int, int, int]]:
    """Document, start, end and code of the label of some spans."""
    columns = (spans.document, spans.start, spans.end, spans.label)
    return zip(*(column[which].tolist() for column in columns), strict=True)
