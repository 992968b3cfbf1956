"""Do review-corrected intervals cover? Frames of regions with wrong golds and unmarked identifiers, as counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from sims.cohorts import alike
from sims.repetitions import Cell, Outcome, Result, Size, where
from workup.tasks.spans.review import frame as frames
from workup.tasks.spans.review.consensus import agreed
from workup.tasks.spans.review.estimating import corrected_rate
from workup.tasks.spans.review.frame import Frame
from workup.tasks.spans.review.latent_classes import estimate_error
from workup.tasks.spans.review.reviewer_error import Rate, given_error, judge, taken_as_right
from workup.tasks.spans.review.sampling import drawn, planned_sizes

NAME = "review"
QUESTION = (
    "Do nominal 95 % intervals of recall and precision, which are conservative by choice since they rest on shares "
    "over patients, cover at least 93 % after a review of a sample, with golds that are wrong, identifiers without a "
    "gold, regions that resemble each other within patients, and reviewers who err; and where errors are rare or few "
    "regions are reviewed?"
)
SEED = 20261115
TESTED = [
    "metric.py",
    "stats/intervals.py",
    "stats/random.py",
    "tasks/spans/review/consensus.py",
    "tasks/spans/review/estimating.py",
    "tasks/spans/review/frame.py",
    "tasks/spans/review/latent_classes.py",
    "tasks/spans/review/projection.py",
    "tasks/spans/review/reviewer_error.py",
    "tasks/spans/review/sampling.py",
]
MADE_BY = ["cohorts.py", "repetitions.py", "review.py"]

BAND = (0.93, 1.0)
METRICS: tuple[frames.Metric, ...] = ("recall", "precision")
PLACES = 12  # stretches of text a patient that someone might mark
IDENTIFIERS = 0.55
ICC = 0.3
# Chances that a system marks an identifier and something else.
MARKS = ((0.90, 0.05), (0.80, 0.07))
DECEIVES = 0.5  # the chance that what deceived the annotators deceives a system too
WRONG, UNMARKED = 0.03, 0.05  # golds where there is no identifier, identifiers without a gold
RARE = 0.01
EVERYTHING = 10**6  # regions to review; more than any frame holds
SENSITIVITY, SPECIFICITY = 0.95, 0.90
CHECKED = 200  # answers of the reviewers that were checked, where their errors are known from a count


def cells(size: Size) -> list[Cell]:
    """Patients, samples, rare and common errors of the golds, and reviewers of every kind."""
    found = [
        _cell(size, icc=0.0),
        _cell(size),
        _cell(size, icc=0.8),
        _cell(size, patients=400),
        _cell(size, sample=EVERYTHING),
        _cell(size, silent=0.2),
        _cell(size, systems=1),
        _cell(size, wrong=0.15, unmarked=0.15),
        _cell(size, reviewers=2),
        _cell(size, error="known"),
        _cell(size, error="counted"),
        _cell(size, reviewers=2, error="estimated"),
        _cell(size, patients=400, sample=600, reviewers=3, error="estimated", silent=0.3),
    ]
    # So few errors of the golds, or so few reviewed regions, that a stratum often shows none: what it may hide must be
    # allowed for, and the intervals are wide.
    found += [
        _cell(size, patients=400, sample=200, wrong=RARE, unmarked=RARE),
        _cell(size, patients=60, sample=200),
        _cell(size, sample=100),
    ]
    # Few regions of two reviewers: their errors are estimated well, or the record says that they cannot be.
    few = _cell(size, patients=40, sample=EVERYTHING, reviewers=2, error="estimated")
    found.append(replace(few, refusal="answer"))
    # Shown and not judged: what errors do that nobody corrects.
    found.append(replace(_cell(size, error="ignored"), band=None))
    return found


def _cell(size: Size, **given: Any) -> Cell:
    of: dict[str, Any] = {
        "patients": 150,
        "icc": ICC,
        "sample": 400,
        "wrong": WRONG,
        "unmarked": UNMARKED,
        "silent": 0.0,
        "systems": 2,
        "reviewers": 1,
        "error": "right",
        **given,
    }
    about = [f"{of['patients']} patients", f"correlation {of['icc']:g}"]
    about.append("all reviewed" if of["sample"] == EVERYTHING else f"{of['sample']} reviewed")
    about += [f"{of['wrong']:.0%} of golds wrong"] if of["wrong"] != WRONG else []
    about += ["one system"] if of["systems"] == 1 else []
    about += [f"{of['silent']:.0%} unanswered"] if of["silent"] else []
    about.append(f"{of['reviewers']} reviewer{'s' if of['reviewers'] > 1 else ''}, errors {of['error']}")
    return Cell(", ".join(about), of, size, BAND, truth=truth(of))


def truth(of: dict[str, Any]) -> dict[str, float]:
    """Of the first system: over identifiers that a gold or a system marks, and over its predictions."""
    (found, alarm), *others = MARKS[: of["systems"]]
    unseen = of["unmarked"] * (1 - found) * float(np.prod([1 - one for one, _ in others]))
    right = IDENTIFIERS * found
    wrong = (1 - IDENTIFIERS) * (of["wrong"] * DECEIVES + (1 - of["wrong"]) * alarm)
    return {"recall": found / (1 - unseen), "precision": right / (right + wrong)}


def regions(rng: np.random.Generator, of: dict[str, Any]) -> tuple[Frame, np.ndarray[Any, np.dtype[np.bool_]]]:
    """All regions that a gold or a system marks, a row each, and whether each is an identifier."""
    patients, systems, icc = of["patients"], of["systems"], of["icc"]

    def luck() -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.asarray(special.ndtr(alike(rng, patients, PLACES, icc)))

    there = rng.random((patients, PLACES)) < 0.75  # patients differ in length
    identifier = luck() < IDENTIFIERS
    gold = luck() < np.where(identifier, 1 - of["unmarked"], of["wrong"])
    deceived = gold & ~identifier
    chances = [np.where(identifier, yes, np.where(deceived, DECEIVES, no)) for yes, no in MARKS[:systems]]
    marks = np.array([luck() < chance for chance in chances])
    kept = there & (gold | marks.any(axis=0))
    patient = np.repeat(np.arange(patients), PLACES).reshape(patients, PLACES)[kept]
    gold, identifier, marks = gold[kept], identifier[kept], marks[:, kept].T
    every, some = marks.all(axis=1), marks.any(axis=1)
    stratum = np.where(
        gold,
        np.where(every, frames.FOUND_BY_ALL, np.where(some, frames.FOUND_BY_SOME, frames.MISSED_BY_ALL)),
        np.where(every, frames.ALARM_OF_ALL, frames.ALARM_OF_SOME),
    )
    on_gold = (marks & gold[:, None]).astype(np.float64)
    alarms = (marks & ~gold[:, None]).astype(np.float64)
    return Frame(patient, stratum, np.ones(len(patient)), gold.astype(np.float64), on_gold, on_gold, alarms), identifier


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One corpus, one sample, answers with errors; both rates of the first system, raw ones beside."""
    of = dict(cell.settings)
    frame, identifier = regions(rng, of)
    sizes = planned_sizes(frame.sizes(), total=of["sample"])
    chosen = drawn(frame.stratum, sizes, seed=int(rng.integers(2**32)))
    sample, truth_there = frame.take(chosen), identifier[chosen]
    errs = of["error"] != "right"
    yes = np.where(truth_there, SENSITIVITY, 1 - SPECIFICITY) if errs else truth_there
    answers = (rng.random((len(chosen), of["reviewers"])) < np.asarray(yes)[:, None]).astype(np.float64)
    answers[rng.random(answers.shape) < of["silent"]] = np.nan
    if of["error"] == "known":
        error = given_error(Rate(SENSITIVITY), Rate(SPECIFICITY))
    elif of["error"] == "counted":
        right = rng.binomial(CHECKED, [SENSITIVITY, SPECIFICITY]) / CHECKED
        error = given_error(Rate(right[0], CHECKED), Rate(right[1], CHECKED))
    elif of["error"] == "estimated":
        error = estimate_error(answers, sample.stratum)
    else:
        error = taken_as_right("")
    judged = judge(answers, agreed(answers), error)
    folded = frame.folded()
    found: dict[str, Outcome] = {}
    for metric in METRICS:
        one = corrected_rate(folded, sample, judged, system=0, metric=metric)
        # Where errors cannot be estimated the record says so; what is then given rests on reviewers without any.
        refused = of["error"] == "estimated" and error.kind != "estimated"
        ends = (None, None) if refused else (one.interval.low, one.interval.high)
        found[metric] = where(*ends, cell.truth[metric])
    return found


def summarise(results: Sequence[Result]) -> list[Result]:
    """Per rate, the lowest and highest coverage of the cells that are judged."""
    found = []
    for name in METRICS:
        of = [one for one in results if one["metric"] == name and one["band"] is not None]
        rates = [one["rate"] for one in of if one["rate"] is not None]
        found.append(
            {
                "cell": "all that are judged",
                "metric": name,
                "lowest": min(rates, default=None),
                "highest": max(rates, default=None),
                "rate": float(np.mean(rates)) if rates else None,
                "band": [*BAND],
                "ok": all(one["ok"] for one in of),
            }
        )
    return found
