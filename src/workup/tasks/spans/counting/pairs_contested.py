"""Golds and predictions that overlap in knots: the general case, where rivals must be assigned and unions measured.

Few in practice, all of them where a detector marks whole documents. Knots of several blocks are judged together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workup.documents.policies import MAY, MUST
from workup.stats.arrays import Bools, Whole
from workup.tasks.spans.counting.assignment import Edges, Stars, assign, groups, scores
from workup.tasks.spans.counting.blocks import Sheet
from workup.tasks.spans.counting.contested_blocks import Knots
from workup.tasks.spans.counting.coverage import covered, fresh_starts
from workup.tasks.spans.counting.matchup import IGNORED, Setting
from workup.tasks.spans.counting.modes import Mode
from workup.tasks.spans.counting.pair_rules import Borders, Types, borders_fit, reaches
from workup.tasks.spans.counting.verdicts import CREDITED, NEUTRAL, REMOVED, Verdicts


@dataclass(frozen=True, eq=False)
class _Standing:
    """What a policy makes of the golds, and of predictions before any mode: those on ignored golds are set aside."""

    policy: str
    must: Bools  # golds
    may: Bools
    any_may: bool
    set_aside: Bools  # predictions that lie mostly on ignored golds and on nothing that counts
    untouching: Bools  # predictions with an ignored label that touch no counted gold

    @property
    def all_must(self) -> bool:
        """Every gold must be masked."""
        return bool(self.must.all())


class Tangle:
    """Knots made ready. `golds` and `predictions` are places in the sorted columns; verdicts stand in their order."""

    def __init__(self, knots: Knots, sheet: Sheet, types: Types) -> None:
        self._knots, self._sheet, self._types = knots, sheet, types
        first, count = groups(knots.gold)
        self._first = first  # a pair of each gold
        self._gold = np.repeat(np.arange(len(first)), count)
        self._by_prediction = np.argsort(knots.prediction, kind="stable")
        first, count = groups(knots.prediction.take(self._by_prediction))
        self._prediction = np.empty(len(knots.gold), dtype=np.int64)
        self._prediction[self._by_prediction] = np.repeat(np.arange(len(first)), count)
        pair = self._by_prediction.take(first)  # one of each prediction; those without a pair stand behind
        self.golds: Whole = knots.gold.take(self._first)
        self.predictions: Whole = np.concatenate([knots.prediction.take(pair), knots.unpaired.place])
        self.gold_document, self.gold_label = knots.document.take(self._first), knots.gold_label.take(self._first)
        self.document = np.concatenate([knots.document.take(pair), knots.unpaired.document])
        self.label = np.concatenate([knots.label.take(pair), knots.unpaired.label])
        self._length = np.concatenate([(knots.end - knots.start).take(pair), knots.unpaired.length])
        self._decision = knots.decision.take(self._first)
        self._labels = knots.gold_label, knots.label
        self._borders = Borders(knots.gold_start, knots.gold_end, knots.start, knots.end)

    def __len__(self) -> int:
        return len(self.golds) + len(self.predictions)

    def judge(self, settings: Sequence[Setting], partners: list[tuple[Whole, Whole]] | None = None) -> Verdicts:
        """The verdict of every setting; `partners`, if given, receives the pairs that each rests on."""
        verdicts = Verdicts.empty(len(settings), len(self.golds), len(self.predictions))
        standings = {policy: self._standing(policy) for policy in dict.fromkeys(one.policy for one in settings)}
        shares: dict[tuple[str, str], tuple[Bools, Bools]] = {}
        for i, setting in enumerate(settings):
            standing, key = standings[setting.policy], (setting.policy, setting.level)
            if key not in shares and (setting.mode.two_sided or standing.any_may):
                shares[key] = self._shares(standing, setting.level)
            if setting.mode.two_sided:
                rests: Whole = np.flatnonzero(self._equal(setting.level))
                self._judge_two_sided(setting, standing, rests, shares[key], verdicts, i)
            else:
                rests = self._assigned(setting, standing)
                self._judge_assigned(standing, rests, shares.get(key), verdicts, i)
            verdicts.outcome[i][standing.set_aside] = REMOVED
            if self._types.levels[setting.level].typed:
                verdicts.outcome[i][standing.untouching] = REMOVED
            if partners is not None:
                chosen = rests[(standing.must | standing.may).take(self._gold.take(rests))]
                partners.append((self._gold.take(chosen), self._prediction.take(chosen)))
        return verdicts

    # ---- who counts --------------------------------------------------------------------------------------------------

    def _standing(self, policy: str) -> _Standing:
        decision = self._sheet.table[:, self._sheet.policies.index(policy)].take(self._decision)
        must, may = decision == MUST, decision == MAY
        if not self._sheet.ignored.any():
            none = np.zeros(len(self.predictions), dtype=np.bool_)
            return _Standing(policy, must, may, bool(may.any()), none, none)
        counts = (must | may).take(self._gold)
        on_any = self._own_places(counts | (decision == IGNORED).take(self._gold))
        only_ignored = on_any - self._own_places(counts)
        touching = np.zeros(len(self.predictions), dtype=np.bool_)
        touching[self._prediction[counts]] = True
        untouching = self._sheet.ignored.take(self.label) & ~touching
        return _Standing(policy, must, may, bool(may.any()), 2 * only_ignored > self._length, untouching)

    def _shares(self, standing: _Standing, level: str) -> tuple[Bools, Bools]:
        """Predictions with at least half of their places on must-mask golds of their type; on those or may-mask golds.

        What may be masked may be masked under any label, so types decide credit alone.
        """
        must = standing.must.take(self._gold) & self._equal(level)
        on_must = 2 * self._own_places(must) >= self._length
        if not standing.any_may:
            return on_must, on_must
        return on_must, 2 * self._own_places(must | standing.may.take(self._gold)) >= self._length

    def _own_places(self, pairs: Bools) -> Whole:
        """How many of its own places each prediction has on the golds of these pairs."""
        order = self._by_prediction[pairs.take(self._by_prediction)]
        owner = self._prediction.take(order)
        origin = self._borders.start.take(order)
        return covered(owner, origin, self._left.take(order), self._right.take(order), len(self.predictions))

    # ---- one-to-one --------------------------------------------------------------------------------------------------

    def _judge_assigned(
        self, standing: _Standing, rests: Whole, shares: tuple[Bools, Bools] | None, verdicts: Verdicts, i: int
    ) -> None:
        gold, prediction = self._gold.take(rests), self._prediction.take(rests)
        must = standing.must.take(gold)
        verdicts.hit[i][gold[must]] = True
        verdicts.exact[i][gold[must & self._same.take(rests)]] = True
        if shares is not None:  # unassigned on what may be masked; on what must be, it is one detection too many
            on_must, on_counted = shares
            verdicts.outcome[i][on_counted & ~on_must] = NEUTRAL
        verdicts.outcome[i][prediction] = np.where(must, np.int8(CREDITED), np.int8(NEUTRAL))

    def _assigned(self, setting: Setting, standing: _Standing) -> Whole:
        mode, level = setting.mode, setting.level
        allowed = self._same.copy() if mode.kind in ("strict", "exact") else borders_fit(mode, self._borders)
        if self._types.levels[level].typed:
            published = mode.published
            allowed &= self._types.equal_or_parent(level, *self._labels) if published else self._equal(level)
        if not standing.all_must:
            allowed &= (standing.must | standing.may).take(self._gold)
        if standing.set_aside.any():
            allowed &= ~standing.set_aside.take(self._prediction)
        if mode.published:
            which = np.flatnonzero(allowed)
            return which[self._greedy(which)]
        score = self.scores(mode, standing)
        won: Whole = np.empty(0, dtype=np.int64)
        if score is not None and len(self._stars.pair):
            won = self._stars.best(allowed, score)
            allowed[self._stars.pair] = False
        which = np.flatnonzero(allowed)
        gold, prediction = self._gold.take(which), self._prediction.take(which)
        rest = which[assign(gold, prediction, _Rivals(self, which, mode, standing))]
        return np.concatenate([won, rest])

    def merits(self, which: Whole | None, mode: Mode, standing: _Standing) -> list[Bools]:
        """What rivals are weighed by before IoU, the first most; of some pairs, or of all."""
        gold = self._gold if which is None else self._gold.take(which)
        found = [standing.must.take(gold)]
        if mode.kind == "partial":  # equal borders come before the type
            found.append(self._same if which is None else self._same.take(which))
        preferred = (self._equal(level) for level in self._types.preferred)
        return found + [one if which is None else one.take(which) for one in preferred]

    def scores(self, mode: Mode, standing: _Standing) -> npt.NDArray[np.float64] | None:
        """Of all pairs; the same for every mode but partial, which looks at borders first."""
        key = standing.policy, mode.kind == "partial"
        if key not in self._scores:
            self._scores[key] = scores(self.merits(None, mode, standing), self._borders.overlap, self._borders.union)
        return self._scores[key]

    def edges(self, which: Whole, mode: Mode, standing: _Standing) -> Edges:
        """Some pairs with all that they are weighed by."""
        borders = self._borders.chosen(which)
        return Edges(
            self._gold.take(which),
            self._prediction.take(which),
            tuple(self.merits(which, mode, standing)),
            borders.overlap.astype(np.int64),
            borders.union.astype(np.int64),
            np.minimum(borders.gold_start, borders.start),
            np.maximum(borders.gold_end, borders.end),
        )

    def _greedy(self, which: Whole) -> Whole:
        """Golds in order, each takes the first prediction that is left: as published, and no better."""
        used_golds: set[int] = set()
        used: set[int] = set()
        taken = []
        ends = zip(self._gold.take(which).tolist(), self._prediction.take(which).tolist(), strict=True)
        for i, (gold, prediction) in enumerate(ends):
            if gold not in used_golds and prediction not in used:
                used_golds.add(gold)
                used.add(prediction)
                taken.append(i)
        return np.array(taken, dtype=np.int64)

    # ---- two-sided ---------------------------------------------------------------------------------------------------

    def _judge_two_sided(
        self,
        setting: Setting,
        standing: _Standing,
        rests: Whole,
        shares: tuple[Bools, Bools],
        verdicts: Verdicts,
        i: int,
    ) -> None:
        """Golds by what the union of predictions of their type covers. A mask is a mask, also of one set aside."""
        owner = self._gold.take(rests)
        left, right = self._left.take(rests), self._right.take(rests)
        left = fresh_starts(owner, self._borders.gold_start.take(rests), left, right)
        start, end = self._borders.gold_start.take(self._first), self._borders.gold_end.take(self._first)
        if setting.mode.kind == "full_mask":
            text = self._knots.text
            assert text is not None
            total = _sums(owner, text.solid(left, right), len(self.golds))
            verdicts.hit[i] = (total == text.solid(start, end)) & standing.must
        else:
            total = _sums(owner, right - left, len(self.golds))
            verdicts.hit[i] = reaches(setting.mode, total, end - start) & standing.must
        verdicts.exact[i][owner[self._same.take(rests)]] = True
        verdicts.exact[i] &= verdicts.hit[i]
        on_must, on_counted = shares
        verdicts.outcome[i][on_counted] = NEUTRAL
        verdicts.outcome[i][on_must] = CREDITED

    # ---- facts of the pairs ------------------------------------------------------------------------------------------

    @cached_property
    def _stars(self) -> Stars:
        """Golds in pieces, the commonest knot: predictions that overlap one gold each, and no other gold."""
        single = np.bincount(self._prediction, minlength=1).take(self._prediction) == 1
        shared = np.zeros(len(self.golds), dtype=np.bool_)
        shared[self._gold[~single]] = True
        pair = np.flatnonzero(~shared.take(self._gold))
        return Stars(pair, *groups(self._gold.take(pair)))

    @cached_property
    def _same(self) -> Bools:
        return self._borders.same()

    @cached_property
    def _left(self) -> Whole:
        return np.maximum(self._borders.gold_start, self._borders.start)

    @cached_property
    def _right(self) -> Whole:
        return np.minimum(self._borders.gold_end, self._borders.end)

    def _equal(self, level: str) -> Bools:
        if level not in self._equals:
            self._equals[level] = self._types.equal(level, *self._labels)
        return self._equals[level]

    @cached_property
    def _equals(self) -> dict[str, Bools]:
        return {}

    @cached_property
    def _scores(self) -> dict[tuple[str, bool], npt.NDArray[np.float64] | None]:
        return {}


class _Rivals(NamedTuple):
    """The pairs that a setting allows, as assignment asks about them."""

    tangle: Tangle
    allowed: Whole
    mode: Mode
    standing: _Standing

    def score(self, which: Whole) -> npt.NDArray[np.float64] | None:
        """One number for each of some pairs."""
        found = self.tangle.scores(self.mode, self.standing)
        return None if found is None else found.take(self.allowed.take(which))

    def edges(self, which: Whole) -> Edges:
        """Some pairs in full."""
        return self.tangle.edges(self.allowed.take(which), self.mode, self.standing)


def _sums(owner: Whole, amounts: Whole, owners: int) -> Whole:
    return np.bincount(owner, weights=amounts, minlength=owners).astype(np.int64)
