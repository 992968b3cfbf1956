"""Do nominal 95 % intervals of span metrics cover? Documents of few and many patients, with and without clustering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import special

from sims.repetitions import Cell, Outcome, Result, Size, outcome, within
from workup.estimate import Draws, estimate
from workup.metric import Metric
from workup.scores import Floats, Scores
from workup.tasks.spans import columns
from workup.tasks.spans.counting.matchup import Setting
from workup.tasks.spans.counting.modes import parse_mode
from workup.tasks.spans.metrics import accuracy_metrics, policy_metrics

NAME = "spans_coverage"
QUESTION = (
    "Do nominal 95 % intervals of recall, precision, F1, F2 and leak rates, which are conservative by choice where "
    "units cluster, cover at least 93 %, and those of the leak rate of patients 93-97 %, wherever at least 20 patients "
    "are on the rarer side of what is counted; and what do they cover where fewer are?"
)
SEED = 20261115
TESTED = [
    "estimate.py",
    "metric.py",
    "scores.py",
    "stats/intervals.py",
    "stats/random.py",
    "tasks/spans/columns.py",
    "tasks/spans/metrics.py",
]
MADE_BY = ["repetitions.py", "spans_coverage.py"]

BAND = (0.93, 0.97)
CLUSTERED = (0.93, 1.0)  # where units cluster in patients: no upper limit
ENOUGH = 20  # patients on the rarer side from which on the band is claimed
METRICS = ("recall", "precision", "f1", "f2", "leak_rate_char", "leak_rate_document", "leak_rate_patient")
PATIENTS = (20, 50, 200)
RECALLS = (0.8, 0.95, 0.99)
# How alike the golds of one patient are: not at all, or so that the design effect of recall is about 4.
DESIGNS = {"none": 0.0, "strong": 0.2}
MORE_DOCUMENTS = 2.0  # beyond the first, of each patient, on average
GOLDS = 4.0  # of each document, on average
FALSE_ALARMS = 0.5  # of each document, on average
ALARM_SHAPE = 2.0  # of the gamma distribution of false alarms over patients, where these differ
SHORTEST, LONGEST = 3, 20  # characters of a gold
PARTLY = 0.5  # of the golds that are missed, how many show only a part of their characters
_SETTING = Setting(parse_mode("full_mask"), "phi", "as_annotated")


@dataclass(frozen=True)
class Population:
    """Patients with documents with golds. A patient's golds share a chance to be found, drawn from a beta."""

    patients: int
    recall: float
    icc: float

    def draw(self, rng: np.random.Generator) -> Scores:
        """One sample: a row per document, as the scorer makes them."""
        patient = np.repeat(np.arange(self.patients), 1 + rng.poisson(MORE_DOCUMENTS, self.patients))
        documents = len(patient)
        chance, alarm_rate = np.full(self.patients, self.recall), np.ones(self.patients)
        if self.icc:
            chance = rng.beta(*self._beta, self.patients)
            alarm_rate = rng.gamma(ALARM_SHAPE, 1 / ALARM_SHAPE, self.patients)
        document = np.repeat(np.arange(documents), rng.poisson(GOLDS, documents))
        hit = rng.random(len(document)) < chance[patient[document]]
        length = rng.integers(SHORTEST, LONGEST + 1, len(document))
        shown = np.where(rng.random(len(document)) < PARTLY, rng.integers(1, length + 1), length)
        alarms = rng.poisson(FALSE_ALARMS * alarm_rate[patient])

        def sums(amounts: npt.NDArray[np.generic] | None = None) -> Floats:
            weights = None if amounts is None else amounts.astype(np.float64)
            return np.bincount(document, weights=weights, minlength=documents).astype(np.float64)

        golds, hits = sums(), sums(hit)
        of_setting = {
            "golds": golds,
            "hits": hits,
            "exact_hits": hits,
            "predictions": hits + alarms,
            "credited": hits,
            "neutral": np.zeros(documents),
        }
        of_policy = {
            "must_chars": sums(length),
            "must_chars_unmasked": sums(np.where(hit, 0, shown)),
            "documents_with_must": (golds > 0).astype(np.float64),
            "documents_leaking": (hits < golds).astype(np.float64),
        }
        values = {columns.of_setting(_SETTING, name): column for name, column in of_setting.items()}
        values |= {columns.of_policy(_SETTING.policy, name): column for name, column in of_policy.items()}
        return Scores.of(values, patient=patient)

    @property
    def _beta(self) -> tuple[float, float]:
        spread = 1 / self.icc - 1
        return self.recall * spread, (1 - self.recall) * spread

    def all_found(self, golds: npt.NDArray[np.int64]) -> Floats:
        """The chance that so many golds of one patient are all found."""
        if not self.icc:
            return np.asarray(self.recall**golds)
        a, b = self._beta
        return np.asarray(np.exp(special.betaln(a + golds, b) - special.betaln(a, b)))

    @cached_property
    def truth(self) -> dict[str, float]:
        """What each metric is in the population."""
        recall, hits = self.recall, self.recall * GOLDS
        precision = hits / (hits + FALSE_ALARMS)
        mean = (SHORTEST + LONGEST) / 2
        left = PARTLY * (mean + 1) / 2 + (1 - PARTLY) * mean  # characters that a missed gold shows
        in_document, in_patient = self._golds
        return {
            "recall": recall,
            "precision": precision,
            "f1": 2 * precision * recall / (precision + recall),
            "f2": 5 * precision * recall / (4 * precision + recall),
            "leak_rate_char": (1 - recall) * left / mean,
            "leak_rate_document": self._leaking(in_document),
            "leak_rate_patient": self._leaking(in_patient),
        }

    @property
    def _golds(self) -> tuple[Floats, Floats]:
        """How likely each number of golds is, in a document and in a patient."""
        count = np.arange(400)
        more = np.arange(40)
        of_more = special.pdtr(more, MORE_DOCUMENTS) - np.append(0.0, special.pdtr(more[:-1], MORE_DOCUMENTS))
        means = GOLDS * (1 + more[:, None])
        of_golds = np.exp(count * np.log(means) - means - special.gammaln(count + 1))
        return of_golds[0], of_more @ of_golds

    def _leaking(self, likely: Floats) -> float:
        """Of those with a gold at all, the share with one that is missed."""
        found = self.all_found(np.arange(len(likely)))
        return float(1 - likely[1:] @ found[1:] / likely[1:].sum())

    def rarer_side(self, metric: str) -> float:
        """Patients that are expected to be on the rarer side of what a metric counts."""
        leaking = self.patients * self.truth["leak_rate_patient"]
        if metric == "leak_rate_patient":
            return min(leaking, self.patients - leaking)
        if metric == "precision":  # nearly every patient has a false alarm in one of the documents
            return self.patients * self._alarmed
        if metric in ("f1", "f2"):
            return min(leaking, self.patients * self._alarmed)
        return leaking

    @property
    def _alarmed(self) -> float:
        """The share of patients with a false alarm."""
        documents = 1 + MORE_DOCUMENTS
        quiet = (
            (1 + FALSE_ALARMS * documents / ALARM_SHAPE) ** -ALARM_SHAPE
            if self.icc
            else np.exp(-FALSE_ALARMS * documents)
        )
        return float(1 - quiet)


def cells(size: Size) -> list[Cell]:
    """Every number of patients with every recall, without and with clustering. Judged in the summary, by metric."""
    return [
        Cell(
            name=f"{patients} patients, recall {recall}, clustering {design}",
            settings={
                "patients": patients,
                "recall": recall,
                "icc": icc,
                "expected_patients_with_a_miss": Population(patients, recall, icc).rarer_side("recall"),
            },
            size=size,
            band=None,
            truth=Population(patients, recall, icc).truth,
        )
        for patients in PATIENTS
        for recall in RECALLS
        for design, icc in DESIGNS.items()
    ]


def metrics() -> list[Metric]:
    """The metrics looked at."""
    found = accuracy_metrics(_SETTING, at={}) + policy_metrics(_SETTING.policy, at={}, patients_named=True)
    return [metric for metric in found if metric.name in METRICS]


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One sample, all metrics."""
    of = cell.settings
    scores = Population(of["patients"], of["recall"], of["icc"]).draw(rng)
    found = estimate(scores, metrics(), draws=Draws(seed=0, replicates=cell.size.replicates))
    return {one.metric: outcome(one, cell.truth[one.metric]) for one in found}


def summarise(results: Sequence[Result]) -> list[Result]:
    """Per metric: cells with enough patients on the rarer side, which are judged; then the others, which are not."""
    found = []
    for metric in METRICS:
        of = [one for one in results if one["metric"] == metric and one["rate"] is not None]
        for enough in (True, False):
            chosen = [one for one in of if (_rarer_side(one) >= ENOUGH) == enough]
            if chosen:
                found.append(_judged(metric, chosen, enough=enough))
    return found


def _rarer_side(one: Result) -> float:
    return Population(one["patients"], one["recall"], one["icc"]).rarer_side(one["metric"])


def _judged(metric: str, chosen: Sequence[Result], *, enough: bool) -> Result:
    rates = [one["rate"] for one in chosen]
    band = BAND if metric == "leak_rate_patient" else CLUSTERED
    outside = [one["cell"] for one in chosen if not within(one["rate"], one["se"], band)]
    return {
        "cell": f"{'at least' if enough else 'fewer than'} {ENOUGH} patients expected on the rarer side",
        "metric": metric,
        "cells": len(chosen),
        "lowest": min(rates),
        "highest": max(rates),
        "rate": float(np.mean(rates)),
        "band": list(band),
        "outside": outside,
        "ok": not outside if enough else None,
    }
