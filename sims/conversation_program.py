"""Is what was planted found by the whole program? Noisy scripted models, from the text of replies to the report."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy import special

from sims.repetitions import Cell, Outcome, Result, Size, outcome
from workup import score_conversation
from workup.report import Report
from workup.tasks.conversation.scripted import Behaviour, Plan, transcripts
from workup.tasks.conversation.scripted.cases import TURNS, small_cases

NAME = "conversation_program"
QUESTION = (
    "Are the outcomes of noisy scripted models counted as they were planted, to the last fact, by the whole program "
    "(text of replies, matcher, rows, metrics, report); and do the intervals hold the planted numbers in at least "
    "75 % of 20 studies, which tells a sound program from a broken one and no more?"
)
SEED = 20261115
SIZE = Size(repetitions=20, replicates=200)
TESTED = [
    "estimate.py",
    "tasks/conversation/metrics/decay.py",
    "tasks/conversation/metrics/facts.py",
    "tasks/conversation/metrics/intervals.py",
    "tasks/conversation/read/judging.py",
    "tasks/conversation/scores/losses.py",
    "tasks/conversation/metrics/metrics.py",
    "tasks/conversation/scores/rows.py",
    "tasks/conversation/scores/scoring.py",
]
MADE_BY = ["conversation_program.py", "repetitions.py"]

CASES = 30
LEAST = (0.75, 1.0)
MODEL = Behaviour(
    *("noisy", 0.9, -0.04), oracle=0.9, reversal=0.05, wrong_value=0.1, stale=0.2, noise=True, spread=0.05
)
COUNTED = ("recall", "omission_rate", "reversal_rate", "wrong_value_rate", "stale_rate")
COVERED = ("recall", "recall_at_10", "decay_slope", "decay_gap", "decay_gap at turn 10")


def cells(size: Size) -> list[Cell]:
    """One model, 30 cases of ten turns."""
    settings = {"cases": CASES, "turns": TURNS, "start": MODEL.recall, "slope": MODEL.slope, "spread": MODEL.spread}
    return [Cell("a noisy model", settings, size, LEAST, truth=truth())]


@cache
def truth() -> dict[str, float]:
    """What is planted, on average over cases: chances are cut at 0 and 1, and some values are told wrongly."""
    z, weight = special.roots_hermitenorm(80)
    weight = weight / weight.sum()
    [case] = small_cases(1)
    active = np.array([len(case.active(turn)) for turn in range(1, TURNS + 1)])
    valued = np.array([sum(bool(fact.attributes) for fact in case.active(turn)) for turn in range(1, TURNS + 1)])
    right = 1 - MODEL.wrong_value * valued / active

    def kept(arm: str) -> np.ndarray:
        chances = [
            np.clip(MODEL.kept(arm, turn) + MODEL.spread * z, 0, 1 - MODEL.reversal) for turn in range(1, TURNS + 1)
        ]
        return np.asarray(np.array([weight @ one for one in chances]) * right)

    live, oracle = kept("live"), kept("oracle")
    turns = np.arange(TURNS)
    share = active / active.sum()
    return {
        "recall": float(share @ live),
        "recall_at_10": float(live[-1]),
        "decay_slope": float(np.polyfit(turns, live, 1)[0]),
        "decay_gap": float(share @ live - share @ oracle),
        "decay_gap at turn 10": float(live[-1] - oracle[-1]),
    }


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One study through the whole program."""
    seed = int(rng.integers(2**31))
    cases = small_cases(CASES)
    report = score_conversation(
        cases, transcripts(MODEL, cases, ("live", "oracle"), seed), seed=seed, replicates=cell.size.replicates
    )
    found: dict[str, Outcome] = {}
    for name in COVERED:
        metric, _, turn = name.partition(" at turn ")
        at: dict[str, Any] = {"set": "critical", "arm": "live", **({"turn": int(turn)} if turn else {})}
        found[name] = outcome(report.estimate(metric, **at), cell.truth[name])
    found["counted as planted"] = "covered" if counted(report, Plan(MODEL, cases, seed=seed)) else "below"
    return found


def counted(report: Report, plan: Plan) -> bool:
    """Whether every share is that of the plan, to the last fact."""
    tally = plan.counts()["live"]
    active = sum(tally[one] for one in ("correct", "omitted", "reversed", "wrong_value"))
    planted = {
        "recall": (tally["correct"], active),
        "omission_rate": (tally["omitted"], active),
        "reversal_rate": (tally["reversed"], active),
        "wrong_value_rate": (tally["wrong_value"], active),
        "stale_rate": (tally["stale"], tally["stale"] + tally["retired_ok"]),
    }
    shown = {name: report.estimate(name, set="critical", arm="live") for name in COUNTED}
    return all((one.numerator, one.denominator) == planted[name] for name, one in shown.items())


def summarise(results: Sequence[Result]) -> list[Result]:
    """Every study must be counted as it was planted."""
    [exact] = [one for one in results if one["metric"] == "counted as planted"]
    rates = [one["rate"] for one in results if one is not exact]
    return [
        {
            "cell": "all studies",
            "metric": "counted as planted",
            "rate": exact["rate"],
            "band": [1.0, 1.0],
            "ok": exact["rate"] == 1.0,
        },
        {
            "cell": "all studies",
            "metric": "intervals that hold the planted number",
            "lowest": min(rates),
            "highest": max(rates),
            "rate": float(np.mean(rates)),
            "band": list(LEAST),
            "ok": all(one["ok"] for one in results if one is not exact),
        },
    ]
