"""Are two detectors with equal error rates told apart only as often as chance allows, and does a real gap get covered?

Golds cluster in documents and documents in patients, with a liking of each system for each patient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from sims.repetitions import Cell, Outcome, Result, Size, where
from workup.estimate import Draws
from workup.lenses.paired import compare_scores
from workup.metric import Metric, linear, ratio
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.stats.intervals import mcnemar
from workup.stats.paired_gaps import sign_flip

NAME = "span_comparisons"
QUESTION = (
    "Do the sign-flip test over patients and the paired intervals tell equal detectors apart in at most 5 % of studies "
    "plus 3 Monte-Carlo standard errors, and does the interval cover a planted difference of recall in 93 % or more?"
)
SEED = 20261115
TESTED = [
    "estimate.py",
    "lenses/contrasts.py",
    "lenses/paired.py",
    "metric.py",
    "scores.py",
    "stats/bootstrap.py",
    "stats/intervals.py",
    "stats/paired_gaps.py",
    "stats/random.py",
]
MADE_BY = ["repetitions.py", "span_comparisons.py"]

# One Monte-Carlo standard error of 2,000 repetitions below 0.95; with the two that every band is widened by, three.
NULL = (0.945, 1.0)
PLANTED = (0.93, 1.0)
SPREAD = 4.0  # a + b of the Beta distribution of a patient's miss rate: strong clustering
SHARED_BY_PATIENT, SHARED_BY_GOLD = 0.5, 0.6  # what is hard for one system is mostly hard for the other
ALARMS = 0.5  # false alarms per document


class Drawn(NamedTuple):
    """Two systems on the same golds: their patients and documents, hits, and false alarms by document."""

    patient_of_document: npt.NDArray[np.int64]
    document: npt.NDArray[np.int64]  # of each gold
    hits: tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]
    alarms: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


def draw(patients: int, misses: Sequence[float], rng: np.random.Generator, *, heavy: bool = False) -> Drawn:
    """Miss rates of a patient are Beta with the given means; a heavy patient has a third of all documents."""
    documents = rng.integers(1, 5, patients)
    if heavy:
        documents[0] = documents[1:].sum() // 2
    owner = np.repeat(np.arange(patients), documents)
    document = np.repeat(np.arange(owner.size), rng.poisson(4, owner.size))
    of_gold = owner[document]
    shared, by_gold = rng.normal(size=patients), rng.normal(size=document.size)
    hits, alarms = [], []
    for miss in misses:
        own = SHARED_BY_PATIENT * shared + np.sqrt(1 - SHARED_BY_PATIENT**2) * rng.normal(size=patients)
        rate = special.betaincinv(SPREAD * miss, SPREAD * (1 - miss), special.ndtr(own))
        latent = SHARED_BY_GOLD * by_gold + np.sqrt(1 - SHARED_BY_GOLD**2) * rng.normal(size=document.size)
        hits.append(special.ndtr(latent) >= rate[of_gold])
        alarms.append(rng.poisson(ALARMS * rng.gamma(2, 0.5, patients)[owner]))
    return Drawn(owner, document, (hits[0], hits[1]), (alarms[0], alarms[1]))


def scores_of(drawn: Drawn, system: int) -> Scores:
    """The counts of one system by document."""
    n = drawn.patient_of_document.size
    golds = np.bincount(drawn.document, minlength=n)
    hits = np.bincount(drawn.document, weights=drawn.hits[system], minlength=n)
    values = {
        "golds": golds,
        "hits": hits,
        "predictions": hits + drawn.alarms[system],
        "holding": golds > 0,
        "leaking": hits < golds,
    }
    return Scores.of(values, patient=drawn.patient_of_document)


def metrics() -> list[Metric]:
    """Ratios of sums, a function of sums that is none, and one that is no function of sums over documents at all."""

    def share(name: str, top: str, bottom: str) -> Metric:
        return ratio(name, lambda scores: scores[top], lambda scores: scores[bottom], describe=name)

    def f1(sums: Floats) -> Floats:
        golds, hits, predictions = (sums[..., i] for i in range(3))
        return np.asarray(2 * hits / np.maximum(golds + predictions, 1e-9))

    def leaking_patients(scores: Scores, weights: Floats) -> Floats:
        units, first, code = np.unique(scores.patient, return_index=True, return_inverse=True)
        any_leak, any_gold = (
            np.bincount(code, weights=scores[name], minlength=units.size) > 0 for name in ("leaking", "holding")
        )
        chosen = weights[:, first]
        return np.asarray(chosen @ any_leak / np.maximum(chosen @ any_gold.astype(np.float64), 1e-9))

    return [
        share("recall", "hits", "golds"),
        share("precision", "hits", "predictions"),
        linear(
            "f1",
            lambda scores: np.column_stack([scores[n] for n in ("golds", "hits", "predictions")]),
            f1,
            describe="F1",
        ),
        share("leak_rate_document", "leaking", "holding"),
        Metric(name="leak_rate_patient", compute=leaking_patients, describe="patients with a leak", scale="logit"),
    ]


def cells(size: Size) -> list[Cell]:
    """Equal systems, few and many patients, rare and frequent misses; a heavy patient; planted gaps; what others do."""
    found = []
    for patients in (30, 100, 300):
        for miss in (0.03, 0.15):
            settings = {"patients": patients, "miss": [miss, miss], "kind": "null", "heavy": False}
            found.append(Cell(f"equal, {patients} patients, {miss:.0%} missed", settings, size, NULL, "answer"))
    settings = {"patients": 100, "miss": [0.1, 0.1], "kind": "null", "heavy": True}
    found.append(Cell("equal, 100 patients, one with a third of the documents", settings, size, NULL, "answer"))
    for patients, misses in ((100, [0.15, 0.10]), (300, [0.06, 0.03])):
        settings = {"patients": patients, "miss": misses, "kind": "planted", "heavy": False}
        name = f"planted, {patients} patients, {misses[0]:.0%} and {misses[1]:.0%} missed"
        found.append(Cell(name, settings, size, PLANTED, truth={"recall": misses[0] - misses[1]}))
    for patients, miss in ((30, 0.03), (100, 0.03), (100, 0.15)):
        settings = {"patients": patients, "miss": [miss, miss], "kind": "others", "heavy": False}
        name = f"equal, by other means, {patients} patients, {miss:.0%} missed"
        found.append(Cell(name, settings, size, None, "answer"))
    return found


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One study: "covered" where equals are not told apart, or where the interval holds the planted difference."""
    of = cell.settings
    drawn = draw(of["patients"], of["miss"], rng, heavy=of["heavy"])
    sides = [scores_of(drawn, system) for system in (0, 1)]
    others = of["kind"] == "others"
    draws = Draws(seed=int(rng.integers(2**32)), replicates=min(cell.size.replicates, 1000))
    rows = compare_scores(sides[0], sides[1], metrics(), draws, intervals="resampled" if others else "linearised")
    truth = cell.truth.get("recall", 0.0)
    found = {row["metric"]: where(row["low"], row["high"], truth) for row in rows}
    if of["kind"] == "planted":
        return {"recall": found["recall"]}
    first, second = drawn.hits
    if others:
        tested = mcnemar(int((first & second).sum()), int((first & ~second).sum()), int((second & ~first).sum()), 0)
        return {**found, "McNemar on golds": "above" if tested.p_exact < 0.05 else "covered"}
    gap = second.astype(np.int64) - first
    by_patient = np.bincount(drawn.patient_of_document[drawn.document], weights=gap, minlength=of["patients"])
    p = sign_flip(by_patient, seed=draws.seed).p
    return {**found, "sign flip": "above" if p < 0.05 else "covered"}


def summarise(results: Sequence[Result]) -> list[Result]:
    """The highest rate of false claims by each means, and the lowest coverage of a planted gap."""
    found: list[Result] = []
    for kind, words in (("null", "equal systems"), ("others", "equal systems, by other means")):
        of = [one for one in results if one["kind"] == kind and one["rate"] is not None]
        for name in sorted({one["metric"] for one in of}):
            highest = max(1 - one["rate"] for one in of if one["metric"] == name)
            found.append({"cell": words, "metric": name, "highest": highest, "ok": None})
    planted = [one["rate"] for one in results if one["kind"] == "planted" and one["rate"] is not None]
    return [*found, {"cell": "planted gaps", "metric": "recall", "lowest": min(planted, default=None), "ok": None}]
