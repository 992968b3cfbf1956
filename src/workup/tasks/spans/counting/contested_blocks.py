"""The pairs of blocks that have rivals, taken out of their blocks so that those need not be kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workup.documents.text_flags import BlockText
from workup.stats.arrays import Whole
from workup.tasks.spans.counting.blocks import Block, Sheet


class Unpaired(NamedTuple):
    """Predictions that overlap no gold and must be judged all the same, since their label is ignored."""

    place: Whole
    document: Whole
    label: Whole
    length: Whole


@dataclass(frozen=True, eq=False)
class Knots:
    """Pairs sorted by gold and then prediction, both as places in the sorted columns; documents by their number.

    Starts and ends lie on one line. `text` is that of the block, and None where several blocks were joined.
    """

    gold: Whole
    prediction: Whole
    document: Whole
    gold_label: Whole
    label: Whole
    decision: npt.NDArray[np.integer]
    gold_start: Whole
    gold_end: Whole
    start: Whole
    end: Whole
    unpaired: Unpaired
    text: BlockText | None

    def __len__(self) -> int:
        return len(self.gold) + len(self.unpaired.place)

    @classmethod
    def of(cls, block: Block, sheet: Sheet) -> Knots:
        """The pairs of a block that are not alone."""
        golds, predictions, pairs = block.golds, block.predictions, block.pairs
        order = np.argsort(pairs.tied_gold * len(predictions) + pairs.tied_prediction, kind="stable")
        gold, prediction = pairs.tied_gold.take(order), pairs.tied_prediction.take(order)
        lone = np.empty(0, dtype=np.int64)
        if sheet.ignored.any():
            met = np.bincount(pairs.prediction, minlength=len(predictions)) > 0
            lone = np.flatnonzero(sheet.ignored.take(predictions.label) & ~met)
        lengths = predictions.end.take(lone) - predictions.start.take(lone)
        documents = block.first + predictions.document.take(lone)
        return cls(
            golds.first + gold,  # golds are all kept
            predictions.places_of(prediction),
            block.first + golds.document.take(gold),
            golds.label.take(gold),
            predictions.label.take(prediction),
            block.decision.take(gold),
            golds.start.take(gold),
            golds.end.take(gold),
            predictions.start.take(prediction),
            predictions.end.take(prediction),
            Unpaired(predictions.places_of(lone), documents, predictions.label.take(lone), lengths),
            block.text,
        )

    @classmethod
    def joined(cls, parts: Sequence[Knots]) -> Knots:
        """Those of several blocks, their lines laid end to end; of one block, as they are."""
        if len(parts) == 1:
            return parts[0]
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _PLAIN}
        reach = [max(int(part.gold_end.max(initial=0)), int(part.end.max(initial=0))) for part in parts]
        base = np.repeat(np.cumsum([0, *reach[:-1]]), [len(part.gold) for part in parts])
        lines = {name: np.concatenate([getattr(part, name) for part in parts]) + base for name in _ON_LINE}
        lone = Unpaired(*(np.concatenate(column) for column in zip(*(part.unpaired for part in parts), strict=True)))
        return cls(**columns, **lines, unpaired=lone, text=None)


_ON_LINE = ("gold_start", "gold_end", "start", "end")
_PLAIN = tuple(field.name for field in fields(Knots) if field.name not in (*_ON_LINE, "unpaired", "text"))
