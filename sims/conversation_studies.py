"""Conversation studies with known truth: facts kept or lost turn by turn, alike within a case. Rows, no text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy import special

from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.settings import CLOCK

TURNS = 10
FEWEST, MOST = 3, 8  # facts of a case
# Shares of the variance behind a fact's answer: of the case, of how the case changes over its turns, of the fact.
CASE, TREND, FACT = 0.15, 0.10, 0.15


@dataclass(frozen=True)
class Studies:
    """Cases of ten turns with three to eight facts. A fact is kept at a turn with chance `start + slope · (turn − 1)`
    in the conversation and `oracle` with the facts alone; with chance `reversal` it is turned round, in either.

    Behind each answer is a standard normal that is shared in part by the case, by the case's own trend over its turns
    and by the fact (a Gaussian copula), so that cases differ and every chance is met exactly on average. Each case has
    one more fact, which is retired at turn 6 and said all the same with chance `stale`.
    """

    cases: int
    start: float
    slope: float = 0.0
    oracle: float = 0.9
    reversal: float = 0.0
    stale: float = 0.1

    @cached_property
    def curve(self) -> Floats:
        """The chance to be kept, by turn."""
        return np.asarray(self.start + self.slope * np.arange(TURNS), dtype=np.float64)

    def draw(self, rng: np.random.Generator) -> Scores:
        """One study as the scorer would count it."""
        facts = rng.integers(FEWEST, MOST + 1, self.cases)
        case = np.repeat(np.arange(self.cases), facts)
        shared = rng.standard_normal(self.cases)
        values: dict[str, Floats] = {}
        for arm, curve in (("live", self.curve), ("oracle", np.full(TURNS, self.oracle))):
            luck = special.ndtr(self._behind(rng, case, shared))
            kept, turned = luck < curve, luck >= 1 - self.reversal
            values |= _counted(arm, case, self.cases, kept & ~turned, turned)
        retired = np.zeros(TURNS)
        retired[5:] = 1
        behind = self._behind(rng, np.arange(self.cases), shared)
        said = (special.ndtr(behind) < self.stale) * retired
        for turn in range(1, TURNS + 1):
            values[columns.at_turn("live", "critical", turn, "retired")] = np.full(self.cases, retired[turn - 1])
            values[columns.at_turn("live", "critical", turn, "stale")] = said[:, turn - 1]
        return Scores.of(values)

    def _behind(self, rng: np.random.Generator, case: np.ndarray, shared: Floats) -> Floats:
        """Standard normals [fact, turn]."""
        trend = np.sqrt(TREND) * np.linspace(-1, 1, TURNS)
        rest = np.sqrt(1 - CASE - FACT - trend**2)
        of_case = np.sqrt(CASE) * shared[case]
        of_trend = rng.standard_normal(len(shared))[case]
        of_fact = np.sqrt(FACT) * rng.standard_normal(len(case))
        noise = rng.standard_normal((len(case), TURNS))
        return np.asarray((of_case + of_fact)[:, None] + of_trend[:, None] * trend + rest * noise)

    @cached_property
    def truth(self) -> dict[str, float]:
        """What each metric is over all cases there could be."""
        live = np.minimum(self.curve, 1 - self.reversal)
        oracle = min(self.oracle, 1 - self.reversal)
        found = {
            "recall": float(live.mean()),
            "recall_at_10": float(live[-1]),
            "decay_slope": self.slope,
            "decay_gap": float(live.mean()) - oracle,
            "reversal_rate": self.reversal,
            "omission_rate": float(1 - self.reversal - live.mean()),
            "stale_rate": self.stale,
            "time_to_loss": _until_lost(self),
        }
        return found | {f"decay_gap at turn {turn}": float(live[turn - 1]) - oracle for turn in range(1, TURNS + 1)}


def _counted(arm: str, case: np.ndarray, cases: int, kept: np.ndarray, turned: np.ndarray) -> dict[str, Floats]:
    """The columns of one arm."""

    def sums(amounts: np.ndarray) -> Floats:
        return np.bincount(case, weights=amounts.astype(np.float64), minlength=cases).astype(np.float64)

    number = sums(np.ones(len(case)))
    values: dict[str, Floats] = {}
    by_turn = np.empty((cases, TURNS))
    for turn in range(1, TURNS + 1):
        one, other = kept[:, turn - 1], turned[:, turn - 1]
        by_turn[:, turn - 1] = sums(one) / number
        of_turn = {"facts": number, "scorable": number, "correct": sums(one), "reversed": sums(other)}
        of_turn["omitted"] = number - of_turn["correct"] - of_turn["reversed"]
        values |= {columns.at_turn(arm, "critical", turn, field): amount for field, amount in of_turn.items()}
    away = np.arange(TURNS) - (TURNS - 1) / 2
    slope = columns.of_arm(arm, "critical", "slope")
    values |= {slope: by_turn @ away / (away @ away), f"{slope}_known": np.ones(cases)}
    lost = np.where(kept.all(axis=1), TURNS + 1, (~kept).argmax(axis=1) + 1)
    for tick in range(1, CLOCK + 1):
        values[columns.of_loss(arm, "critical", "first", "risk", tick)] = sums(lost >= tick)
        values[columns.of_loss(arm, "critical", "first", "lost", tick)] = sums(lost == tick)
    return values


@cache
def _until_lost(studies: Studies) -> float:
    """The mean time to first loss, up to ten turns: from 200,000 facts, to about 0.01."""
    rng = np.random.default_rng(1)
    total = 0.0
    for _ in range(4):
        cases = np.arange(50_000)
        luck = special.ndtr(studies._behind(rng, cases, rng.standard_normal(cases.size)))
        kept = (luck < studies.curve) & (luck < 1 - studies.reversal)
        total += float(np.where(kept.all(axis=1), TURNS, (~kept).argmax(axis=1) + 1).mean())
    return total / 4
