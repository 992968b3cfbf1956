"""Pairs without a rival, nearly all of a corpus: their verdict follows from a few facts, so facts are counted.

Every pair becomes the number of its combination of facts; each setting judges the few combinations that occur, not the
pairs. Knows no assignment: without a rival there is none to make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workup.documents.policies import MAY, MUST
from workup.stats.arrays import Bools, Whole
from workup.tasks.spans.counting.blocks import Block, Sheet
from workup.tasks.spans.counting.matchup import IGNORED, Setting
from workup.tasks.spans.counting.modes import Mode
from workup.tasks.spans.counting.pair_rules import Borders, Types, borders_fit
from workup.tasks.spans.counting.verdicts import CREDITED, NEUTRAL, REMOVED, Verdicts

_FEW = 16  # combinations that are all judged, whether they occur or not
_TABLE = 1 << 18  # combinations that are looked up in a table; more are sorted


class Pair(NamedTuple):
    """What the facts of pairs are read from."""

    borders: Borders
    gold_label: Whole
    label: Whole
    decision: npt.NDArray[np.integer] | None  # None where all golds are decided alike
    block: Block


class _Fact(NamedTuple):
    """A fact as a small number; the i-th name is true where the number is above i."""

    names: tuple[str, ...]
    radix: int
    read: Callable[[Pair], npt.NDArray[np.integer] | Bools]


class Singles:
    """The facts that some settings need of pairs, and the verdicts that follow from them."""

    def __init__(self, sheet: Sheet, settings: Sequence[Setting], types: Types) -> None:
        self._sheet = sheet
        self._settings = settings
        self._types = types
        self._facts = [*self._facts_of_borders(), *self._facts_of_labels()]

    def pair(self, block: Block) -> tuple[Whole, Whole, Pair]:
        """The golds and the predictions of a block's pairs without a rival, and where to read their facts."""
        gold, prediction = block.pairs.lone_gold, block.pairs.lone_prediction
        golds, predictions = block.golds, block.predictions
        borders = Borders(
            golds.start.take(gold),
            golds.end.take(gold),
            predictions.start.take(prediction),
            predictions.end.take(prediction),
        )
        labels = golds.label.take(gold), predictions.label.take(prediction)
        return (
            gold,
            prediction,
            Pair(borders, *labels, block.decision.take(gold) if len(self._sheet.table) > 1 else None, block),
        )

    def judge(self, pair: Pair) -> tuple[Whole, Verdicts]:
        """The combination of each pair, and the verdicts on every combination that occurs."""
        first, *others = self._facts
        code = first.read(pair).astype(np.int64)
        size = first.radix
        for fact in others:
            code *= fact.radix
            code += fact.read(pair)
            size *= fact.radix
        if size <= _FEW:
            found = np.arange(size)
        elif size <= _TABLE:
            found = np.flatnonzero(np.bincount(code))
            number = np.zeros(size, dtype=np.int64)
            number[found] = np.arange(len(found))
            code = number.take(code)
        else:
            found, code = np.unique(code, return_inverse=True)
        return code, self._verdicts(found)

    # ---- which facts, and how they are read --------------------------------------------------------------------------

    def _facts_of_borders(self) -> list[_Fact]:
        modes = {setting.mode.name: setting.mode for setting in self._settings}.values()
        facts = [_Fact(("same",), 2, lambda pair: pair.borders.same())]
        if any(mode.two_sided for mode in modes) or (self._sheet.table == MAY).any():
            facts.append(_Fact(("half",), 2, lambda pair: pair.borders.half()))
        if self._sheet.ignored.any():
            facts.append(_Fact(("mostly",), 2, lambda pair: pair.borders.mostly()))
        for kind in ("iou", "cover"):
            family = sorted((mode for mode in modes if mode.kind == kind), key=lambda mode: mode.share or Fraction(0))
            if family:
                facts.append(_Fact(tuple(mode.name for mode in family), len(family) + 1, _how_many(family)))
        single = [mode for mode in modes if mode.kind in ("i2b2", "gold50", "full_mask")]
        return facts + [_Fact((mode.name,), 2, _how_many([mode])) for mode in single]

    def _facts_of_labels(self) -> list[_Fact]:
        sheet, types = self._sheet, self._types
        facts = []
        for level in dict.fromkeys(setting.level for setting in self._settings if types.levels[setting.level].typed):
            facts.append(_Fact((f"type at {level}",), 2, _compared(types.equal, level)))
            if any(setting.level == level and setting.mode.published for setting in self._settings):
                facts.append(_Fact((f"parent at {level}",), 2, _compared(types.equal_or_parent, level)))
        if sheet.ignored.any():
            facts.append(_Fact(("label ignored",), 2, lambda pair: sheet.ignored.take(pair.label)))
        if len(sheet.table) > 1:
            facts.append(_Fact(("decision",), len(sheet.table), _decided))
        return facts

    # ---- verdicts ----------------------------------------------------------------------------------------------------

    def _verdicts(self, found: Whole) -> Verdicts:
        facts: dict[str, Bools] = {}
        decision = np.zeros(len(found), dtype=np.int64)
        rest = found
        for fact in reversed(self._facts):
            rest, value = np.divmod(rest, fact.radix)
            if fact.names == ("decision",):
                decision = value
            else:
                facts |= {name: value > i for i, name in enumerate(fact.names)}
        verdicts = Verdicts.empty(len(self._settings), len(found), len(found))
        for i, setting in enumerate(self._settings):
            policy = self._sheet.policies.index(setting.policy)
            self._judge(setting, facts, self._sheet.table[decision, policy], verdicts, i)
        return verdicts

    def _judge(self, setting: Setting, facts: dict[str, Bools], decision: Whole, verdicts: Verdicts, i: int) -> None:
        mode, typed = setting.mode, self._types.levels[setting.level].typed
        always = np.ones(len(decision), dtype=np.bool_)
        must, may = decision == MUST, decision == MAY
        half = facts.get("half", ~always)
        same_type = facts[f"type at {setting.level}"] if typed else always
        if mode.published and typed:
            same_type = facts[f"parent at {setting.level}"]
        if mode.kind in ("strict", "exact"):
            fits = facts["same"]
        else:
            fits = facts.get(mode.name, always)
        matched = fits & same_type
        verdicts.hit[i] = must & matched
        verdicts.exact[i] = verdicts.hit[i] & facts["same"]
        verdicts.rests[i] = (must | may) & (same_type if mode.two_sided else matched)
        if mode.two_sided:
            credited, neutral = must & same_type & half, may & half
        else:
            credited, neutral = verdicts.hit[i], may & (matched | half)
        removed = (decision == IGNORED) & facts.get("mostly", ~always)
        if typed:
            removed |= facts.get("label ignored", ~always) & ~must & ~may
        outcome = verdicts.outcome[i]
        outcome[removed], outcome[neutral], outcome[credited] = REMOVED, NEUTRAL, CREDITED


def _how_many(family: Sequence[Mode]) -> Callable[[Pair], Whole]:
    """How many of these modes the borders satisfy: who reaches a share reaches the lower ones, so it says which."""

    def read(pair: Pair) -> Whole:
        count = np.zeros(len(pair.label), dtype=np.int64)
        for mode in family:
            count += borders_fit(mode, pair.borders, pair.block.text)
        return count

    return read


def _compared(compare: Callable[[str, Whole, Whole], Bools], level: str) -> Callable[[Pair], Bools]:
    return lambda pair: compare(level, pair.gold_label, pair.label)


def _decided(pair: Pair) -> npt.NDArray[np.integer]:
    assert pair.decision is not None
    return pair.decision
