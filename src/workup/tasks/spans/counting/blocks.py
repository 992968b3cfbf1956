"""Documents in blocks, so that memory does not grow with the corpus: a block's spans on one line, and their overlaps.

Knows which predictions lie outside any text; counts nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from workup.documents.text_flags import BlockText
from workup.errors import InputError
from workup.stats.arrays import Bools, Whole
from workup.tasks.spans.counting.components import Pairs, overlapping_pairs
from workup.tasks.spans.counting.matchup import IGNORED, Columns, Matchup, in_order

_SPANS = 1 << 17  # of golds, and of predictions, that a block holds before it ends at the next document
_SHORT = 1 << 30  # a line up to here is kept in 32 bits, with room for sums of two places
_TEXTS = 1 << 10  # documents in a block whose texts are read


@dataclass(frozen=True, eq=False)
class Side:
    """Golds or predictions of a block, on its line. `document` counts from the block's first.

    They are those of the sorted columns from `first` on, or the `kept` of these.
    """

    document: Whole
    start: Whole
    end: Whole
    label: Whole
    first: int
    kept: Whole | None = None

    def __len__(self) -> int:
        return len(self.start)

    def places_of(self, which: Whole) -> Whole:
        """Where some of them stand in the sorted columns."""
        return self.first + (which if self.kept is None else self.kept.take(which))


@dataclass(frozen=True, eq=False)
class Block:
    """Some documents: their golds, the predictions inside their texts, those that are not, and what overlaps."""

    first: int
    documents: int
    golds: Side
    predictions: Side
    strays: Side
    text: BlockText | None
    pairs: Pairs
    decision: npt.NDArray[np.integer]  # of each gold, as a row of the sheet's table of decisions


@dataclass(frozen=True, eq=False)
class Sheet:
    """A matchup made ready: columns in canonical order, labels in one list of names, decisions in one table.

    `table[combination, policy]` is the decision of a policy; each gold has the number of its combination.
    """

    matchup: Matchup
    names: tuple[str, ...]
    golds: Columns
    predictions: Columns
    table: npt.NDArray[np.int8]
    combination: npt.NDArray[np.integer]
    ignored: Bools  # by label
    policies: tuple[str, ...]
    rows: int = field(default=0)  # documents, with unknown ones that predictions name

    @classmethod
    def of(cls, matchup: Matchup) -> Sheet:
        """Sorted where that is needed, once for all settings."""
        names = tuple(sorted({*matchup.golds.labels, *matchup.predictions.labels}))
        golds, predictions = in_order(matchup.golds, names), in_order(matchup.predictions, names)
        ignored = np.array([name in matchup.ignored for name in names], dtype=np.bool_)
        table, combination = _combined(matchup, golds, ignored)
        rows = matchup.documents
        for side, known in ((golds, True), (predictions, False)):
            if len(side):
                if side.document[0] < 0 or (known and side.document[-1] >= matchup.documents):
                    raise InputError(
                        "a span's document must be one of the list",
                        got=f"{side.document[0]} to {side.document[-1]} of {matchup.documents} documents",
                        remedy="number the documents from 0; predictions of unknown ones go on from there",
                    )
                rows = max(rows, int(side.document[-1]) + 1)
        return cls(matchup, names, golds, predictions, table, combination, ignored, tuple(matchup.decisions), rows)

    def blocks(self, *, with_text: bool) -> Iterable[Block]:
        """Every document in turn, unknown ones last. Without texts they are few and small, and are kept."""
        return self._made(with_text=True) if with_text else self._without_text

    @cached_property
    def _without_text(self) -> list[Block]:
        return list(self._made(with_text=False))

    def _made(self, *, with_text: bool) -> Iterator[Block]:
        longer = max(self.golds, self.predictions, key=len)
        edges = {0, self.matchup.documents, self.rows, *longer.document[_SPANS::_SPANS].tolist()}
        if with_text:
            edges.update(range(0, self.matchup.documents, _TEXTS))
        ordered = sorted(edges)
        golds, predictions = (
            np.searchsorted(side.document, np.array(ordered, dtype=side.document.dtype))
            for side in (self.golds, self.predictions)
        )
        for i in range(len(ordered) - 1):
            of_golds, of_predictions = slice(golds[i], golds[i + 1]), slice(predictions[i], predictions[i + 1])
            yield self._block(ordered[i], ordered[i + 1], of_golds, of_predictions, with_text=with_text)

    def _block(self, first: int, last: int, golds: slice, predictions: slice, *, with_text: bool) -> Block:
        matchup = self.matchup
        known = last <= matchup.documents
        lengths = matchup.lengths[first:last].astype(np.int64) if known and matchup.lengths is not None else None
        gold, prediction = _raw(self.golds, golds, first), _raw(self.predictions, predictions, first)
        outside = _outside(gold, lengths)
        if len(outside):
            self._refuse(gold, int(outside[0]), first, "a gold must lie inside its text, start before end")
        outside = _outside(prediction, lengths) if known else np.arange(len(prediction))
        strays = _some(prediction, outside)
        if len(outside):
            prediction = _some(prediction, np.setdiff1d(np.arange(len(prediction)), outside, assume_unique=True))
        text = None
        if with_text and known and matchup.texts is not None:
            text = BlockText(matchup.texts[first:last])
        line = _line(lengths, gold, prediction, last - first)
        gold, prediction = _shifted(gold, line), _shifted(prediction, line)
        if text is not None:
            empty = np.flatnonzero(text.solid(gold.start, gold.end) == 0)
            if len(empty):
                expected = "a gold must hold something other than white space and punctuation"
                self._refuse(_raw(self.golds, golds, first), int(empty[0]), first, expected)
        pairs = overlapping_pairs(gold.start, gold.end, prediction.start, prediction.end)
        return Block(first, last - first, gold, prediction, strays, text, pairs, self.combination[golds])

    def _refuse(self, golds: Side, which: int, first: int, expected: str) -> None:
        place = golds.first + which
        source = self.golds.source
        raise InputError(
            expected,
            where=f"document {first + int(golds.document[which])}, gold {place if source is None else source[place]}",
            got=f"{golds.start[which]} to {golds.end[which]}",
            remedy="mend the gold, or check which unit its offsets count",
        )


def _combined(matchup: Matchup, golds: Columns, ignored: Bools) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.integer]]:
    """Distinct combinations of decisions over the policies, and the number of each gold's."""
    base, policies = IGNORED + 1, len(matchup.decisions)
    if policies > 30:
        raise InputError("at most 30 policies are counted in one pass", got=str(policies))
    out = ignored.take(golds.label) if ignored.any() else None
    joint = np.zeros(len(golds), dtype=np.min_scalar_type(base**policies - 1))
    for codes in matchup.decisions.values():
        column = codes if golds.source is None else codes.take(golds.source)
        joint *= base
        joint += (column if out is None else np.where(out, np.int8(IGNORED), column)).astype(joint.dtype)
    combination: Whole
    if not len(joint) or joint.min() == joint.max():  # all golds alike: nothing to tell apart
        found, combination = joint[:1].astype(np.int64), np.zeros(len(joint), dtype=np.int8)
    else:
        found, combination = np.unique(joint.astype(np.int64), return_inverse=True)
    powers = base ** np.arange(policies, dtype=np.int64)[::-1]
    return (found[:, None] // powers % base).astype(np.int8), combination


def _raw(columns: Columns, which: slice, first: int) -> Side:
    """Some spans with their own offsets."""
    document = columns.document[which].astype(np.int64)
    document -= first
    return Side(document, columns.start[which], columns.end[which], columns.label[which], int(which.start))


def _some(side: Side, which: Whole) -> Side:
    columns = (side.document, side.start, side.end, side.label)
    document, start, end, label = (column.take(which) for column in columns)
    return Side(document, start, end, label, side.first, which)


def _outside(side: Side, lengths: Whole | None) -> Whole:
    """Spans that are empty, reversed or not inside their text; reductions first, since there is hardly ever one."""
    good = not len(side) or (side.start.min() >= 0 and bool((side.end > side.start).all()))
    room = None if lengths is None else lengths.take(side.document)
    if good and (room is None or bool((side.end <= room).all())):
        return np.empty(0, dtype=np.int64)
    wrong = (side.start < 0) | (side.end <= side.start)
    if room is not None:
        wrong |= side.end > room
    return np.flatnonzero(wrong)


def _line(lengths: Whole | None, golds: Side, predictions: Side, documents: int) -> Whole:
    """Where each document begins on the line; without lengths all are given the room of the longest reach."""
    if lengths is None:
        longest = max(int(golds.end.max(initial=0)), int(predictions.end.max(initial=0)))
        lengths = np.full(documents, longest, dtype=np.int64)
    ends = np.cumsum(lengths + 1)
    line = ends - lengths - 1
    return line.astype(np.int32) if len(ends) and ends[-1] < _SHORT else line


def _shifted(side: Side, line: Whole) -> Side:
    base = line.take(side.document)
    return Side(side.document, side.start + base, side.end + base, side.label, side.first, side.kept)
