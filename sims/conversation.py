"""Do nominal 95 % intervals of conversation metrics cover? 30 cases of ten turns, facts alike within a case."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from sims.conversation_studies import TURNS, Studies
from sims.repetitions import Cell, Outcome, Result, Size, outcome, within
from workup.estimate import Draws, estimate
from workup.metric import Metric
from workup.stats import intervals
from workup.tasks.conversation.metrics.design import Design
from workup.tasks.conversation.metrics.metrics import conversation_metrics

NAME = "conversation"
QUESTION = (
    "Do nominal 95 % intervals of the decay slope and the decay gap (overall and at each turn) cover 93-97 % with 30 "
    "cases, and with 60; those of recall, recall at turn 10 and outcome rates from 0.05 to 0.5, which are conservative "
    "by choice, at least 93 %; and what do rarer ones cover, beside the exact bound over cases?"
)
SEED = 20261115
TESTED = [
    "estimate.py",
    "metric.py",
    "scores.py",
    "stats/bootstrap.py",
    "stats/intervals.py",
    "stats/random.py",
    "tasks/conversation/metrics/columns.py",
    "tasks/conversation/metrics/decay.py",
    "tasks/conversation/metrics/design.py",
    "tasks/conversation/metrics/facts.py",
    "tasks/conversation/metrics/intervals.py",
    "tasks/conversation/scores/losses.py",
    "tasks/conversation/metrics/metrics.py",
    "tasks/conversation/scores/rows.py",
]
MADE_BY = ["conversation.py", "conversation_studies.py", "repetitions.py"]

BAND = (0.93, 0.97)
LEAST = (0.93, 1.0)
GAPS = tuple(f"decay_gap at turn {turn}" for turn in range(1, TURNS + 1))
HEADLINE = ("recall", "recall_at_10", "decay_slope", "decay_gap", *GAPS)
RATES = ("reversal_rate", "stale_rate")
MEASURED = ("time_to_loss",)
CASES, MANY = 30, 60  # from 50 on slopes and gaps are resampled
CURVES = ((0.5, 0.0), (0.7, 0.0), (0.85, 0.0), (0.95, 0.0), (0.95, -0.03), (0.8, -0.03), (0.95, -0.06), (0.99, -0.06))
OUTCOMES = (0.02, 0.05, 0.1, 0.3, 0.5)
RARE = 0.05
_MORE = 0.4  # what is left of facts to be kept where half of them are turned round


def cells(size: Size) -> list[Cell]:
    """Curves of recall with few and with many cases; and rates of outcomes. Judged in the summary, by metric."""
    found = [
        _cell(f"{CASES} cases, recall from {start}, slope {slope:g}", Studies(CASES, start, slope), size)
        for start, slope in CURVES
    ]
    found += [_cell(f"{MANY} cases, recall from 0.9, slope -0.03", Studies(MANY, 0.9, -0.03), size)]
    found += [
        _cell(f"{CASES} cases, outcomes at {rate}", Studies(CASES, _MORE, reversal=rate, stale=rate), size)
        for rate in OUTCOMES
    ]
    return found


def _cell(name: str, studies: Studies, size: Size) -> Cell:
    settings = {
        "cases": studies.cases,
        "start": studies.start,
        "slope": studies.slope,
        "oracle": studies.oracle,
        "reversal": studies.reversal,
        "stale": studies.stale,
    }
    return Cell(name=name, settings=settings, size=size, band=None, truth=studies.truth)


@cache
def metrics(*, outcomes: bool, replicates: int) -> tuple[tuple[str, Metric], ...]:
    """The metrics looked at, by the names under which they are kept."""
    design = Design(
        arms=("live", "oracle"), turns=TURNS, horizon=TURNS, clusters=0, draws=Draws(seed=0, replicates=replicates)
    )
    found = []
    for metric in conversation_metrics(design):
        at = dict(metric.at)
        if at.pop("set", "") != "critical" or at.pop("arm", "") != "live":
            continue
        if {"loss", "type", "basis", "unanswered"} & set(at):
            continue
        name = f"{metric.name} at turn {at['turn']}" if "turn" in at else metric.name
        if name in (RATES if outcomes else (*HEADLINE, *MEASURED)):
            found.append((name, metric))
    return tuple(found)


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One study, all metrics of its kind."""
    of = cell.settings
    studies = Studies(of["cases"], of["start"], of["slope"], of["oracle"], of["reversal"], of["stale"])
    scores = studies.draw(rng)
    chosen = metrics(outcomes=studies.reversal > 0, replicates=cell.size.replicates)
    found = estimate(scores, [metric for _, metric in chosen], draws=Draws(seed=0, replicates=cell.size.replicates))
    answers = {name: outcome(one, cell.truth[name]) for (name, _), one in zip(chosen, found, strict=True)}
    return answers


def summarise(results: Sequence[Result]) -> list[Result]:
    """By metric and kind of cell; outcomes rarer than 0.05 are told and not judged."""
    found = []
    for name in HEADLINE:
        shares = name in ("recall", "recall_at_10") or name.startswith("decay_gap")
        band = LEAST if shares else BAND  # over clusters: conservative by choice
        found.append(_judged(name, [one for one in results if one["metric"] == name], band, "curves"))
    for name in RATES:
        of = [one for one in results if one["metric"] == name]
        found.append(_judged(name, [one for one in of if one["reversal"] >= RARE], LEAST, "outcomes from 0.05 to 0.5"))
        rare = _judged(name, [one for one in of if one["reversal"] < RARE], None, "rarer outcomes")
        found.append({**rare, "exact_bound_over_cases": intervals.clopper_pearson(0, CASES).high})
    return found + [
        _judged(name, [one for one in results if one["metric"] == name], None, "curves") for name in MEASURED
    ]


def _judged(metric: str, chosen: Sequence[Result], band: tuple[float, float] | None, which: str) -> Result:
    """Cells outside of their band, or in which an interval was not given; but where the conversations truly keep more
    than the ceiling (a gap above 0), a gap is rightly withheld once that shows, and those that were given count."""

    def refused(one: Result) -> bool:
        return bool(one["insufficient"]) and not (metric.startswith("decay_gap") and one["truth"] > 0)

    rates = [one["rate"] for one in chosen if one["rate"] is not None]
    outside = [
        one["cell"]
        for one in chosen
        if band and (one["rate"] is None or refused(one) or not within(one["rate"], one["se"], band))
    ]
    return {
        "cell": which,
        "metric": metric,
        "cells": len(chosen),
        "lowest": min(rates, default=None),
        "highest": max(rates, default=None),
        "rate": float(np.mean(rates)) if rates else None,
        "band": None if band is None else list(band),
        "outside": outside,
        "ok": None if band is None else bool(rates) and not outside,
    }
