"""Counting places of a line, each once: characters, and tokens as places of a line of their own.

What must be masked, what may be and what is ignored are unions; a prediction split or repeated changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workup.documents.policies import MAY, MUST
from workup.stats.arrays import Bools, Whole
from workup.tasks.spans.counting.blocks import Block, Sheet, Side
from workup.tasks.spans.counting.components import Pairs, overlapping_pairs
from workup.tasks.spans.counting.coverage import union_starts
from workup.tasks.spans.counting.matchup import IGNORED
from workup.tasks.spans.counting.pair_rules import Types


class Stretches(NamedTuple):
    """Stretches of a line sorted by start. `row` is the line of the table that each is counted in."""

    document: Whole
    start: Whole
    end: Whole
    row: Whole


@dataclass(frozen=True, eq=False)
class Units:
    """Places by document and by row: golds, hits, predictions, credited, neutral. Rows of golds and of predictions."""

    documents: Whole
    rows: Whole


class Line:
    """Golds and predictions on one line, and their meetings; decides nothing about labels."""

    def __init__(self, golds: Stretches, predictions: Stretches, pairs: Pairs | None = None) -> None:
        self.golds, self.predictions = golds, predictions
        found = pairs or overlapping_pairs(golds.start, golds.end, predictions.start, predictions.end)
        self._pairs, self._gold, self._prediction = found, found.gold, found.prediction
        self._right = np.minimum(golds.end.take(found.gold), predictions.end.take(found.prediction))
        self.masked = union_starts(predictions.start, predictions.end)
        self._masked_by_row = _by_row(predictions, self.masked, None)

    def by_cell(self, rows: int) -> Line:
        """The same line, its rows kept apart by document: a row of it is a document and a row."""
        golds, predictions = (
            side._replace(row=side.document * rows + side.row) for side in (self.golds, self.predictions)
        )
        return Line(golds, predictions, self._pairs)

    def crossing(self, gold_starts: Whole, starts: Whole) -> tuple[Whole, Whole]:
        """Of each pair the stretch that both sides cover when they begin at these places; empty where there is none."""
        left = np.maximum(gold_starts.take(self._gold), starts.take(self._prediction))
        return np.minimum(left, self._right), self._right

    def count(self, decision: Whole, documents: int, rows: int) -> Units:
        """Places counted under one policy's decisions on the golds."""
        golds, predictions = self.golds, self.predictions
        must = decision == MUST
        wanted = union_starts(golds.start, golds.end, must)
        by_row = _by_row(golds, wanted, must)
        document, gold_row = golds.document.take(self._gold), golds.row.take(self._gold)
        row = predictions.row.take(self._prediction)
        found = Units(np.zeros((5, documents), dtype=np.int64), np.zeros((5, rows), dtype=np.int64))
        hits = self._shared(wanted, self.masked)
        found.documents[0] = _sums(golds.document, golds.end - wanted, documents)
        found.documents[1] = found.documents[3] = _sums(document, hits, documents)
        found.documents[2] = _sums(predictions.document, predictions.end - self.masked, documents)
        found.rows[0] = _sums(golds.row, golds.end - by_row, rows)
        found.rows[1] = _sums(gold_row, self._shared(by_row, self.masked), rows)
        found.rows[2] = _sums(predictions.row, predictions.end - self._masked_by_row, rows)
        found.rows[3] = _sums(row, self._shared(wanted, self._masked_by_row), rows)
        reached = wanted
        for kind in (MAY, IGNORED):  # what may be masked is what nothing obliges to mask; what is ignored is the rest
            chosen = (decision == kind) if kind == MAY else (decision == IGNORED) | (decision == MAY)
            if not (decision == kind).any():
                continue
            wider = union_starts(golds.start, golds.end, must | chosen)
            more = _sums(document, self._shared(wider, self.masked) - self._shared(reached, self.masked), documents)
            more_rows = self._shared(wider, self._masked_by_row) - self._shared(reached, self._masked_by_row)
            if kind == MAY:
                found.documents[4] = more
                found.rows[4] = _sums(row, more_rows, rows)
            else:  # counts on neither side
                found.documents[2] -= more
                found.rows[2] -= _sums(row, more_rows, rows)
            reached = wider
        return found

    def _shared(self, gold_starts: Whole, starts: Whole) -> Whole:
        left, right = self.crossing(gold_starts, starts)
        return right - left


def on_characters(block: Block, row: Whole) -> Line:
    """Characters of a block; `row` gives each label's line of the table."""
    golds, predictions = block.golds, block.predictions
    return Line(
        Stretches(golds.document, golds.start, golds.end, row.take(golds.label)),
        Stretches(predictions.document, predictions.start, predictions.end, row.take(predictions.label)),
        block.pairs,
    )


def on_tokens(block: Block, row: Whole) -> tuple[Line, Whole]:
    """Tokens of a block whatever their labels, and which golds stand on the line: some hold no token."""
    golds, kept = _as_tokens(block, block.golds, row)
    predictions, _ = _as_tokens(block, block.predictions, row)
    return Line(golds, predictions), kept


def on_typed_tokens(
    block: Block, sheet: Sheet, types: Types, level: str, decision: Whole, row: Whole
) -> tuple[Line, Whole]:
    """Tokens with types: one stretch of line per type, so that only equal types meet. Also the decisions on its golds.

    What may be masked may be masked under any label, and what is ignored is ignored under any: both stand on every
    stretch that a prediction is on. A label without a type at this level has a stretch where it meets nothing.
    """
    golds, kept = _as_tokens(block, block.golds, row)
    predictions, kept_predictions = _as_tokens(block, block.predictions, row)
    decided = decision.take(kept)
    label, own = block.golds.label.take(kept), block.predictions.label.take(kept_predictions)
    present = ~_untouching(block, sheet, decision).take(kept_predictions)
    codes, labels = types.codes(level), len(sheet.names)
    number = np.where(codes >= 0, codes, labels + np.arange(labels))
    number_own = np.where(codes >= 0, codes, 2 * labels + np.arange(labels))
    room = int(max(golds.end.max(initial=0), predictions.end.max(initial=0))) + 1
    lines = np.unique(number_own.take(own[present]))
    must, anywhere = np.flatnonzero(decided == MUST), np.flatnonzero((decided == MAY) | (decided == IGNORED))
    which = np.concatenate([must, np.tile(anywhere, len(lines))])
    line = np.concatenate([number.take(label.take(must)), np.repeat(lines, len(anywhere))])
    typed_golds, order = _laid_out(_chosen(golds, which), line * room)
    typed, _ = _laid_out(_chosen(predictions, np.flatnonzero(present)), number_own.take(own[present]) * room)
    return Line(typed_golds, typed), decided.take(which).take(order)


def stray_units(block: Block, sheet: Sheet, row: Whole, rows: int, kind: str) -> tuple[Whole, Whole]:
    """Characters of predictions outside their text or of unknown documents, all false alarms: by document and by cell.

    A cell is a document and a row. Characters that a prediction inside the text covers as well are counted there. As
    tokens each such prediction is one, since there is no text to say how many.
    """
    strays = block.strays
    documents, cells = block.documents, block.documents * rows
    if kind == "token":
        of_cells = np.bincount(strays.document * rows + row.take(strays.label), minlength=cells)
        return np.bincount(strays.document, minlength=documents), of_cells.reshape(documents, rows)
    near = np.flatnonzero(np.isin(block.predictions.document, strays.document))
    columns, places = sheet.predictions, block.predictions.places_of(near)
    document = np.concatenate([strays.document, block.predictions.document.take(near)])
    start = np.concatenate([strays.start.astype(np.int64), columns.start.take(places)])
    end = np.concatenate([strays.end.astype(np.int64), columns.end.take(places)])
    label = np.concatenate([strays.label, block.predictions.label.take(near)])
    inside = np.arange(len(start)) >= len(strays)
    found = []
    for owner, owners in ((document, documents), (document * rows + row.take(label), cells)):
        total = _union_sizes(owner, start, np.maximum(end, start), owners)
        found.append(total - _union_sizes(owner[inside], start[inside], end[inside], owners))
    return found[0], found[1].reshape(documents, rows)


def _union_sizes(owner: Whole, start: Whole, end: Whole, owners: int) -> Whole:
    """Places that the stretches of each owner cover."""
    if not len(start):
        return np.zeros(owners, dtype=np.int64)
    low = int(start.min())
    room = int(end.max()) - low + 1
    order = np.lexsort((start, owner))
    base = owner.take(order) * room - low
    begun = union_starts(start.take(order) + base, end.take(order) + base)
    return _sums(owner.take(order), end.take(order) + base - begun, owners)


def _untouching(block: Block, sheet: Sheet, decision: Whole) -> Bools:
    """Predictions with an ignored label that touch no counted gold."""
    ignored = sheet.ignored.take(block.predictions.label)
    if not ignored.any():
        return ignored
    counts = ((decision == MUST) | (decision == MAY)).take(block.pairs.gold)
    touching = np.bincount(block.pairs.prediction, weights=counts, minlength=len(ignored)) > 0
    return np.logical_and(ignored, ~touching)


def _as_tokens(block: Block, side: Side, row: Whole) -> tuple[Stretches, Whole]:
    assert block.text is not None
    first, last = block.text.tokens(side.start, side.end)
    kept = np.flatnonzero(last > first)
    return Stretches(side.document.take(kept), first.take(kept), last.take(kept), row.take(side.label.take(kept))), kept


def _chosen(stretches: Stretches, which: Whole) -> Stretches:
    return Stretches(*(column.take(which) for column in stretches))


def _laid_out(stretches: Stretches, base: Whole) -> tuple[Stretches, Whole]:
    order = np.argsort(stretches.start + base, kind="stable")
    moved = stretches._replace(start=stretches.start + base, end=stretches.end + base)
    return _chosen(moved, order), order


def _by_row(stretches: Stretches, begun: Whole, chosen: Bools | None) -> Whole:
    """Later starts that make the stretches of each row disjoint; `begun` does so for all rows together.

    Only where that moved a start do rows matter: among the stretches moved and the one that each run of them follows.
    """
    start, end, row = stretches.start, stretches.end, stretches.row
    found = start.astype(np.int64) if chosen is None else np.where(chosen, start, end).astype(np.int64)
    which = np.arange(len(start)) if chosen is None else np.flatnonzero(chosen)
    moved = begun.take(which) > start.take(which)
    if not moved.any():
        return begun
    in_run = moved.copy()
    in_run[:-1] |= moved[1:]
    some = which[in_run]
    order = some.take(np.lexsort((start.take(some), row.take(some))))
    base = row.take(order) * (int(end.max()) + 1)
    found[order] = union_starts(start.take(order) + base, end.take(order) + base) - base
    return found


def _sums(owner: Whole, amounts: Whole, owners: int) -> Whole:
    return np.bincount(owner, weights=amounts, minlength=owners).astype(np.int64)
