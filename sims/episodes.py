"""Do nominal 95 % intervals of alarm metrics cover? Wards of few patients, whose one to four stays each are alike."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from sims.repetitions import Cell, Outcome, Result, Size, outcome, where
from workup.corpora.generate.episodes import tables as generated
from workup.corpora.generate.episodes.generator import generate
from workup.corpora.generate.episodes.plan import DEATH, END, INTERVENTION, LOST, START, TARGET, EpisodesPlan
from workup.corpora.generate.episodes.planted_truth import Line
from workup.corpora.generate.episodes.stays import Scored, Stays
from workup.estimate import Draws, estimate
from workup.scores import Scores
from workup.stats import intervals
from workup.tasks.risk.episodes import metrics, tables
from workup.tasks.risk.episodes.evaluation import evaluate
from workup.tasks.risk.episodes.settings import EpisodeColumnsPart, EpisodesPart, EventsPart

NAME = "episodes"
QUESTION = (
    "Do nominal 95 % intervals of alarm rates and lead times cover 93-97 %, and those of event sensitivity and alert "
    "PPV, which are conservative by choice where stays repeat, at least 93 %, in wards of 60 and 200 patients; and do "
    "intervals that take alerts as independent fall short?"
)
SEED = 20261115
TESTED = [
    "estimate.py",
    "metric.py",
    "scores.py",
    "stats/bootstrap.py",
    "stats/intervals.py",
    "stats/random.py",
    "corpora/generate/episodes/plan.py",
    "corpora/generate/episodes/planted_truth.py",
    "corpora/generate/episodes/scorer.py",
    "corpora/generate/episodes/stays.py",
    "corpora/generate/episodes/tables.py",
    "tasks/risk/episodes/alarms.py",
    "tasks/risk/episodes/evaluation.py",
    "tasks/risk/episodes/fates.py",
    "tasks/risk/episodes/metrics.py",
    "tasks/risk/episodes/moments.py",
    "tasks/risk/episodes/rows.py",
    "tasks/risk/episodes/stays.py",
]
MADE_BY = ["episodes.py", "repetitions.py"]

BAND = (0.93, 0.97)
CLUSTERED = (0.93, 1.0)  # of shares over repeated rows, as everywhere
SHARES = ("event_sensitivity", "alert_ppv")
METRICS = (*SHARES, "alarm_rate", "lead_time_median")
# Alerts as independent of each other, whoever's they are; shown to fail, and failing is what is asked.
NAIVE = ("alert_ppv, alerts as units", "alarm_rate, alerts as units")
FALLS_SHORT = (0.0, 0.90)
PATIENTS = (60, 200)
THRESHOLD = 0.3
# Some four stays in ten have the event, so that 20 patients and more are flagged in all but a few wards of 60.
PLAN = EpisodesPlan.of(
    {
        "event_chance": 0.04,
        "frailty": 0.8,
        "knows_frailty": 0.8,
        "groups": {},
        "sites": 1,
        "thresholds": [THRESHOLD],
        "horizon_hours": 24,
        "refractory_hours": 8,
    }
)
_PART = EpisodesPart.checked({"horizon": "24h", "refractory": "8h"}, where="simulation")
_EVENTS = EventsPart.checked(
    {
        "target": [TARGET],
        "start": [START],
        "end": [END],
        "death": [DEATH],
        "lost": [LOST],
        "intervention": [INTERVENTION],
    },
    where="simulation",
)
_COLUMNS = EpisodeColumnsPart()


@cache
def _line() -> Line:
    return Line.of(PLAN)


@cache
def truth() -> dict[str, float]:
    """What each metric is in the population."""
    found = generate(1, seed=0, plan=PLAN).truth["overall"]["thresholds"][f"{THRESHOLD:g}"]
    known = {name: found[name] for name in METRICS}
    return known | {name: found[name.partition(",")[0]] for name in NAIVE}


def cells(size: Size) -> list[Cell]:
    """Both sizes of wards."""
    return [
        Cell(
            name=f"{patients} patients",
            settings={"patients": patients, "threshold": THRESHOLD},
            size=size,
            band=BAND,
            truth=truth(),
            bands=dict.fromkeys(SHARES, CLUSTERED) | dict.fromkeys(NAIVE, FALLS_SHORT),
        )
        for patients in PATIENTS
    ]


def ward(patients: int, seed: int) -> Scores:
    """The rows that the scorer makes of one ward's tables."""
    stays = Stays.draw(patients, PLAN, seed=seed)
    scored = Scored.draw(stays, PLAN, _line(), seed=seed)
    predictions = tables.read_predictions(generated.predictions(stays, scored, PLAN, seed), _COLUMNS, _PART)
    events = tables.read_events(generated.events(stays, PLAN, seed), _EVENTS, _PART)
    return evaluate(predictions, events, _PART, [THRESHOLD]).scores


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One ward, all metrics."""
    scores = ward(cell.settings["patients"], int(rng.integers(2**32)))
    draws = Draws(seed=int(rng.integers(2**32)), replicates=cell.size.replicates)
    of_events, of_watching = (scores.take(scores[kind] == 1) for kind in ("event", "watch"))
    asked = [*metrics.event_metrics(THRESHOLD, []), metrics.lead_time_median(THRESHOLD)]
    found = estimate(of_events, [one for one in asked if one.name in METRICS], draws=draws)
    asked = metrics.watch_metrics(THRESHOLD)
    found += estimate(of_watching, [one for one in asked if one.name in METRICS], draws=draws)
    return {one.metric: outcome(one, cell.truth[one.metric]) for one in found} | _naive(cell, of_watching)


def _naive(cell: Cell, watching: Scores) -> dict[str, Outcome]:
    """Wilson on alerts, and a Poisson count of them."""
    alerts, true, false = (float(watching[metrics.at(name, THRESHOLD)].sum()) for name in ("alerts", "true", "false"))
    share = intervals.wilson(true / (true + false), true + false)
    rate, error = 100 * alerts / float(watching["days"].sum()), 1 / np.sqrt(alerts)
    half = float(np.exp(intervals.z_critical(0.95) * error))
    ends = (share, (rate / half, rate * half))
    return {name: where(*two, cell.truth[name]) for name, two in zip(NAIVE, ends, strict=True)}


def summarise(results: Sequence[Result]) -> list[Result]:
    """Per metric, the lowest and highest rate."""
    found = []
    for name in (*METRICS, *NAIVE):
        of = [one for one in results if one["metric"] == name]
        rates = [one["rate"] for one in of if one["rate"] is not None]
        found.append(
            {
                "cell": "all",
                "metric": name,
                "lowest": min(rates, default=None),
                "highest": max(rates, default=None),
                "rate": float(np.mean(rates)) if rates else None,
                "band": of[0]["band"] if of else None,
                "ok": all(one["ok"] for one in of),
            }
        )
    return found
