"""What each rule of matching does by itself: one system's predictions counted by every rule set, with the golds that a
rule gains and loses against strict, golds that only several predictions cover together, and the labels confused.

Golds and predictions are the same in every row of a level; a rule that changed them would be no rule but a filter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workup.documents.document import SpanArrays
from workup.documents.policies import Policy
from workup.documents.text_flags import ignorable
from workup.stats.arrays import Bools, Whole
from workup.tasks.spans.counting.blocks import Sheet
from workup.tasks.spans.counting.counting_rules import Golds, Yardstick
from workup.tasks.spans.counting.matchup import Matchup, Setting
from workup.tasks.spans.counting.modes import parse_mode
from workup.tasks.spans.counting.outcomes import Outcomes, outcomes
from workup.tasks.spans.counting.pair_rules import reaches
from workup.tasks.spans.counting.verdicts import CREDITED, NEUTRAL, REMOVED

STRICT = parse_mode("strict")
CONFUSIONS = 100  # pairs of labels that a row lists


@dataclass(eq=False)
class _Sums:
    """Running counts of one rule set."""

    counts: Counter[str] = field(default_factory=Counter)
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)


class RuleSets:
    """Adds batches up, rule by rule; `add` may be given fates that are known already.

    A row per rule set that counts spans, at every level and under every policy that the study asked for. `against` is
    the rule that gains and losses are counted from: strict at the same level or, for a row with equivalent labels, the
    same rule without them; so each row shows one rule alone.
    """

    def __init__(self, stick: Yardstick) -> None:
        self.stick = stick
        asked = dict.fromkeys(setting for setting in stick.settings if not setting.mode.by_unit)
        self.against = {setting: _against(setting) for setting in asked}
        self._sums = {setting: _Sums() for setting in self.against}

    def add(self, sheet: Sheet, policies: Sequence[Policy], known: dict[Setting, Outcomes] | None = None) -> None:
        """One more batch."""
        names = {policy.name for policy in policies}
        wanted = [setting for setting in self.against if setting.policy in names]
        fates = dict(known or {})
        for setting in dict.fromkeys((*wanted, *(self.against[one] for one in wanted))):
            if setting not in fates:
                fates[setting] = outcomes(sheet.matchup, setting, sheet=sheet)
        for setting in wanted:
            self._count(sheet.matchup, setting, fates[setting], fates[self.against[setting]])

    def add_unknown(self, predictions: SpanArrays) -> None:
        """Predictions of documents that the corpus does not hold."""
        for policies in self.stick.policy_sets:
            none = {policy.name: np.empty(0, dtype=np.int8) for policy in policies}
            golds = Golds(SpanArrays.of([]), np.empty(0, np.int32), np.empty(0, np.int32), none)
            self.add(Sheet.of(self.stick.matchup(golds, predictions, texts=[], answered=[])), policies)

    def _count(self, matchup: Matchup, setting: Setting, fate: Outcomes, other: Outcomes) -> None:
        golds, sums = matchup.golds, self._sums[setting]
        ignored = np.array([name in matchup.ignored for name in golds.labels] + [False])
        must = fate.must & ~ignored[golds.label] if len(golds) else fate.must
        credited, was_credited = fate.outcome == CREDITED, other.outcome == CREDITED
        flags = {
            "golds": must,
            "hits": fate.hit,
            "exact_hits": fate.exact,
            "gained": fate.hit & ~other.hit,
            "lost": other.hit & ~fate.hit,
            "predictions": fate.outcome != REMOVED,
            "credited": credited,
            "neutral": fate.outcome == NEUTRAL,
            "credited_gained": credited & ~was_credited,
            "credited_lost": was_credited & ~credited,
        }
        if setting.mode.two_sided:
            flags["compound"] = _compound(matchup, setting, fate)
        for name, column in flags.items():
            sums.counts[name] += int(np.count_nonzero(column))
        sums.confusions.update(_confused(matchup, fate))

    def table(self) -> list[dict[str, Any]]:
        """Rows as the report holds them."""
        return [self._row(setting) for setting in self.against]

    def _row(self, setting: Setting) -> dict[str, Any]:
        sums, against = self._sums[setting], self.against[setting]
        n = sums.counts
        points = (n["hits"] + n["exact_hits"]) / 2 if setting.mode.kind == "partial" else n["hits"]
        credited = points if setting.mode.kind == "partial" else n["credited"]
        judged = n["predictions"] - n["neutral"]
        recall = points / n["golds"] if n["golds"] else None
        precision = credited / judged if judged else None
        pairs = sorted(sums.confusions.items(), key=lambda item: (-item[1], item[0]))
        return {
            "policy": setting.policy,
            **self.stick.key(setting),
            "golds": n["golds"],
            "predictions": n["predictions"],
            "tp": n["hits"],
            "fn": n["golds"] - n["hits"],
            "fp": judged - n["credited"],
            "credited": n["credited"],
            "neutral": n["neutral"],
            "precision": precision,
            "recall": recall,
            "f1": _harmonic(precision, recall),
            "against": self.stick.key(against),
            **{name: n[name] for name in ("gained", "lost", "credited_gained", "credited_lost")},
            "compound": n["compound"] if setting.mode.two_sided else None,
            "other_label": sum(sums.confusions.values()),
            "confusions": [
                {"gold": gold, "prediction": prediction, "count": times}
                for (gold, prediction), times in pairs[:CONFUSIONS]
            ],
        }


def _against(setting: Setting) -> Setting:
    level, bracket, _ = setting.level.partition("[")
    return Setting(setting.mode if bracket else STRICT, level, setting.policy)


def _harmonic(precision: float | None, recall: float | None) -> float | None:
    """F1; 0 where there is something to be found and nothing is, as everywhere."""
    if recall is None:
        return None
    if not precision or not recall:
        return 0.0
    return 2 * precision * recall / (precision + recall)


def _compound(matchup: Matchup, setting: Setting, fate: Outcomes) -> Bools:
    """Found golds that no single prediction covers far enough: several do it together."""
    golds, found = matchup.golds, matchup.predictions
    on = fate.hit[fate.gold]
    gold, prediction = fate.gold[on], fate.prediction[on]
    several = np.bincount(gold, minlength=len(golds)) > 1
    chosen = several[gold]
    gold, prediction = gold[chosen], prediction[chosen]
    start = np.maximum(golds.start[gold], found.start[prediction]).astype(np.int64)
    end = np.minimum(golds.end[gold], found.end[prediction]).astype(np.int64)
    if setting.mode.kind == "cover":
        alone = reaches(setting.mode, end - start, (golds.end - golds.start)[gold].astype(np.int64))
    else:
        assert matchup.texts is not None
        places = zip(golds.document[gold].tolist(), gold.tolist(), start.tolist(), end.tolist(), strict=True)
        alone = np.array(
            [
                _only_ignorable(matchup.texts[document], int(golds.start[one]), left)
                and _only_ignorable(matchup.texts[document], right, int(golds.end[one]))
                for document, one, left, right in places
            ],
            dtype=np.bool_,
        )
    together: Bools = several & (np.bincount(gold, weights=alone, minlength=len(golds)) == 0)
    return together


def _only_ignorable(text: str, start: int, end: int) -> bool:
    return all(ignorable(character) for character in text[start:end])


def _confused(matchup: Matchup, fate: Outcomes) -> Counter[tuple[str, str]]:
    """Labels of found golds and of what each rests on most, where the two are not the same."""
    golds, found = matchup.golds, matchup.predictions
    on = fate.hit[fate.gold] if len(fate.gold) else np.empty(0, np.bool_)
    gold, prediction = fate.gold[on], fate.prediction[on]
    several = np.bincount(gold, minlength=len(golds))[gold] > 1  # most rest on one, and need no order
    most = _most(golds, found, gold[several], prediction[several])
    gold, prediction = (
        np.concatenate([one[~several], chosen]) for one, chosen in zip((gold, prediction), most, strict=True)
    )
    width = max(1, len(found.labels))
    joint, times = np.unique(golds.label[gold].astype(np.int64) * width + found.label[prediction], return_counts=True)
    counted: Counter[tuple[str, str]] = Counter()
    for one, n in zip(joint.tolist(), times.tolist(), strict=True):
        names = golds.labels[one // width], found.labels[one % width]
        if names[0] != names[1]:
            counted[names] += n
    return counted


def _most(golds: SpanArrays, found: SpanArrays, gold: Whole, prediction: Whole) -> tuple[Whole, Whole]:
    """Of the pairs of each gold, the one that shares most with it; the first prediction where two share as much."""
    overlap = np.minimum(golds.end[gold], found.end[prediction]) - np.maximum(
        golds.start[gold], found.start[prediction]
    )
    order = np.lexsort((prediction, -overlap, gold))
    gold, prediction = gold[order], prediction[order]
    first = np.concatenate([[True], gold[1:] != gold[:-1]]) if len(gold) else np.empty(0, np.bool_)
    return gold[first], prediction[first]
