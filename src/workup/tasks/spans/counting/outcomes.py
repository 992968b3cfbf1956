"""What became of each gold and each prediction in one setting, and which belong together: for the analysis of errors.

Holds an entry per span, so it is asked for one setting at a time; counts of many are in `counts`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from workup.documents.policies import MUST
from workup.errors import InputError
from workup.stats.arrays import Bools, Whole
from workup.tasks.spans.counting.blocks import Block, Sheet
from workup.tasks.spans.counting.contested_blocks import Knots
from workup.tasks.spans.counting.counts import needs_text
from workup.tasks.spans.counting.matchup import Columns, Matchup, Setting
from workup.tasks.spans.counting.pair_rules import Types
from workup.tasks.spans.counting.pairs_alone import Singles
from workup.tasks.spans.counting.pairs_contested import Tangle


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Entries in the order of the input. `hit` is false for golds that need not be masked; `must` says which must.

    `outcome` holds codes of `verdicts.OUTCOMES`. `gold` and `prediction` are the pairs that the verdicts rest on: the
    assigned ones, or, in two-sided modes, all of equal type that overlap.
    """

    must: Bools
    hit: Bools
    exact: Bools
    outcome: npt.NDArray[np.int8]
    stray: Bools
    gold: Whole
    prediction: Whole


def outcomes(matchup: Matchup, setting: Setting, *, sheet: Sheet | None = None) -> Outcomes:
    """The outcome of every span in one setting; modes that count units of text have none.

    `sheet` is the matchup made ready, where somebody has done so already.

    >>> from workup.documents.document import SpanArrays
    >>> golds, found = SpanArrays.of([(0, 0, 10, "date")]), SpanArrays.of([(0, 0, 9, "date"), (0, 30, 40, "zip")])
    >>> matchup = Matchup(golds, found, 1, {"all": np.array([MUST], dtype=np.int8)})
    >>> seen = outcomes(matchup, matchup.settings(["overlap"], levels=["leaf"])[0])
    >>> seen.hit.tolist(), seen.outcome.tolist(), seen.gold.tolist(), seen.prediction.tolist()
    ([True], [1, 0], [0], [0])
    """
    if setting.mode.by_unit:
        raise InputError(
            "outcomes of spans need a mode that counts spans",
            got=setting.mode.name,
            remedy="ask for full_mask or cover:1, which see the same characters gold by gold",
        )
    with_text = needs_text(matchup, [setting], leaks=False)
    sheet = sheet or Sheet.of(matchup)
    types = Types(sheet.names, matchup.levels)
    singles = Singles(sheet, [setting], types)
    hit, exact = (np.zeros(len(sheet.golds), dtype=np.bool_) for _ in range(2))
    outcome = np.zeros(len(sheet.predictions), dtype=np.int8)
    stray = np.zeros(len(sheet.predictions), dtype=np.bool_)
    golds: list[Whole] = []
    predictions: list[Whole] = []
    for block in sheet.blocks(with_text=with_text):
        stray[block.strays.places_of(np.arange(len(block.strays)))] = True
        for gold, prediction, partners, found in _judged(block, sheet, types, singles, setting):
            hit[gold], exact[gold], outcome[prediction] = found
            golds.append(partners[0])
            predictions.append(partners[1])
    must = sheet.table[sheet.combination, sheet.policies.index(setting.policy)] == MUST
    must, hit, exact = (_in_input(sheet.golds, column) for column in (must, hit, exact))
    gold, prediction = _source(sheet.golds, golds), _source(sheet.predictions, predictions)
    order = np.lexsort((prediction, gold))
    outcome, stray = _in_input(sheet.predictions, outcome), _in_input(sheet.predictions, stray)
    return Outcomes(must, hit, exact, outcome, stray, gold.take(order), prediction.take(order))


_Kind = TypeVar("_Kind", bound=np.generic)
_Judged = tuple[Whole, Whole, tuple[Whole, Whole], tuple[npt.NDArray[np.generic], ...]]


def _judged(block: Block, sheet: Sheet, types: Types, singles: Singles, setting: Setting) -> list[_Judged]:
    """Golds and predictions of a block with their verdicts, and the pairs these rest on."""
    found: list[_Judged] = []
    gold, prediction, pair = singles.pair(block)
    if len(gold):
        code, verdicts = singles.judge(pair)
        rests = verdicts.rests[0].take(code)
        gold, prediction = block.golds.places_of(gold), block.predictions.places_of(prediction)
        columns = tuple(one[0].take(code) for one in (verdicts.hit, verdicts.exact, verdicts.outcome))
        found.append((gold, prediction, (gold[rests], prediction[rests]), columns))
    knots = Knots.of(block, sheet)
    if len(knots):
        tangle = Tangle(knots, sheet, types)
        partners: list[tuple[Whole, Whole]] = []
        verdicts = tangle.judge([setting], partners)
        pairs = tangle.golds.take(partners[0][0]), tangle.predictions.take(partners[0][1])
        found.append(
            (tangle.golds, tangle.predictions, pairs, (verdicts.hit[0], verdicts.exact[0], verdicts.outcome[0]))
        )
    return found


def _in_input(columns: Columns, values: npt.NDArray[_Kind]) -> npt.NDArray[_Kind]:
    if columns.source is None:
        return values
    found = np.empty_like(values)
    found[columns.source] = values
    return found


def _source(columns: Columns, parts: list[Whole]) -> Whole:
    places = np.concatenate([np.empty(0, dtype=np.int64), *parts])
    return places if columns.source is None else columns.source.take(places)
