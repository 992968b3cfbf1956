"""What makes a gold and a prediction a pair: rules on borders and rules on types, over any array of pairs.

Knows modes and levels; assigns nothing. Shares are compared as whole numbers, so no rounding decides a hit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workup.documents.text_flags import BlockText
from workup.stats.arrays import Bools, Whole
from workup.tasks.spans.counting.matchup import Level
from workup.tasks.spans.counting.modes import Mode

_I2B2_SLACK = 2  # characters by which the end may differ


@dataclass(frozen=True, eq=False)
class Borders:
    """Starts and ends of the two sides of each pair, on one line."""

    gold_start: Whole
    gold_end: Whole
    start: Whole
    end: Whole

    @cached_property
    def overlap(self) -> Whole:
        """Places that both sides cover."""
        return np.minimum(self.gold_end, self.end) - np.maximum(self.gold_start, self.start)

    @property
    def union(self) -> Whole:
        """Places that either side covers."""
        return (self.gold_end - self.gold_start) + (self.end - self.start) - self.overlap

    def chosen(self, which: Whole) -> Borders:
        """Those of some pairs."""
        return Borders(*(column.take(which) for column in (self.gold_start, self.gold_end, self.start, self.end)))

    def same(self) -> Bools:
        """Start and end are equal."""
        found: Bools = (self.gold_start == self.start) & (self.gold_end == self.end)
        return found

    def half(self) -> Bools:
        """At least half of the prediction lies on the gold: ρ of the two-sided count."""
        return 2 * self.overlap >= self.end - self.start

    def mostly(self) -> Bools:
        """More than half of the prediction lies on the gold."""
        return 2 * self.overlap > self.end - self.start


def borders_fit(mode: Mode, pairs: Borders, text: BlockText | None = None) -> Bools:
    """Where the borders of a pair satisfy a mode; for two-sided modes, where this prediction alone covers the gold."""
    if mode.kind in ("strict", "exact"):
        return pairs.same()
    if mode.kind == "i2b2":
        near: Bools = (pairs.gold_start == pairs.start) & (np.abs(pairs.gold_end - pairs.end) <= _I2B2_SLACK)
        return near
    if mode.kind == "iou":
        return reaches(mode, pairs.overlap, pairs.union)
    if mode.kind in ("cover", "gold50"):
        return reaches(mode, pairs.overlap, pairs.gold_end - pairs.gold_start)
    if mode.kind == "full_mask":
        assert text is not None
        left, right = np.maximum(pairs.gold_start, pairs.start), np.minimum(pairs.gold_end, pairs.end)
        full: Bools = text.solid(left, right) == text.solid(pairs.gold_start, pairs.gold_end)
        return full
    return np.ones(len(pairs.start), dtype=np.bool_)


def reaches(mode: Mode, part: Whole, whole: Whole) -> Bools:
    """Part / whole is at least the mode's share, with no rounding."""
    assert mode.share is not None
    return mode.share.denominator * part.astype(np.int64) >= mode.share.numerator * whole.astype(np.int64)


class Types:
    """Tables that compare labels, by their places in one list of names."""

    def __init__(self, names: tuple[str, ...], levels: tuple[Level, ...]) -> None:
        self.levels = {level.name: level for level in levels}
        self.preferred = tuple(level.name for level in levels if level.typed and level.prefers)
        self._codes = {level.name: level.codes(names) for level in levels}
        # Where every label is a type of its own, labels can be compared as they are.
        self._distinct = {name for name, codes in self._codes.items() if sorted(codes) == list(range(len(names)))}
        place = {name: i for i, name in enumerate(names)}
        # Where a label's type at a coarser level is itself a label, a prediction may bear it: the gold's parent.
        self._parents = [
            np.array([place.get((level.types or {}).get(name) or "", -1) for name in names], dtype=np.int64)
            for level in levels
            if level.typed and level.prefers
        ]

    def codes(self, level: str) -> Whole:
        """The type of each label at a level."""
        return self._codes[level]

    def equal(self, level: str, gold: Whole, prediction: Whole) -> Bools:
        """Where the labels of pairs are of one type."""
        if not self.levels[level].typed:
            return np.ones(len(gold), dtype=np.bool_)
        if level in self._distinct:
            distinct: Bools = gold == prediction
            return distinct
        codes = self._codes[level]
        own = codes.take(gold)
        found: Bools = (own == codes.take(prediction)) & (own >= 0)
        return found

    def equal_or_parent(self, level: str, gold: Whole, prediction: Whole) -> Bools:
        """The published rule: the prediction's label is the gold's type or that type's parent, never the reverse."""
        found = self.equal(level, gold, prediction)
        for parents in self._parents:
            found |= parents.take(gold) == prediction
        return found
