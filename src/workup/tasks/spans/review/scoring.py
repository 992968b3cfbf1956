"""The review scored: what reviewers found of the golds, how far they agree, and rates corrected beside the raw ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from workup.errors import InputError
from workup.estimate import Estimate
from workup.report import canonical
from workup.stats.arrays import Floats
from workup.tasks.spans.review.answers import Answers
from workup.tasks.spans.review.consensus import Agreement, Rule, agreed, agreement, pairwise
from workup.tasks.spans.review.estimating import Corrected, corrected_rate, gold_rate, raw_rate, stratum_share
from workup.tasks.spans.review.frame import IN_WORDS, NOT_REVIEWED, OF_GOLDS, STRATA, Frame, Metric, as_golds_say
from workup.tasks.spans.review.latent_classes import estimate_error
from workup.tasks.spans.review.queue import cautions
from workup.tasks.spans.review.reviewer_error import (
    Judged,
    ReviewerError,
    judge,
    taken_as_right,
)
from workup.tasks.spans.review.showing import OPEN

METRICS: tuple[Metric, ...] = ("recall", "precision")
MANY_UNANSWERED = 0.1
RAW, REVIEWED, AS_RIGHT = "as_annotated", "reviewed", "reviewed, reviewers taken as right"
_UNSEEN = (
    "Corrected recall counts the identifiers that a gold or a system marks. One that nobody marked is in no queue and "
    "in no rate."
)
_EXTENT = (
    "A reviewer says whether a region is an identifier, not where it ends: false alarms that touch a gold stay false "
    "alarms, and an identifier without a gold counts as found by every system with a false alarm there."
)


@dataclass(frozen=True, eq=False)
class ReviewScore:
    """What a review found, as plain data in `record`."""

    record: dict[str, Any]
    estimates: tuple[Estimate, ...]


def score_review(
    answers: Answers,
    *,
    rule: Rule = "majority",
    error: ReviewerError | None = None,
    estimate_errors: bool = True,
    level: float = 0.95,
) -> ReviewScore:
    """Rates of every system by the golds as they are and as reviewers correct them.

    `error` gives the reviewers' error rates; without it they are estimated where several answered the same regions,
    unless `estimate_errors` is off. Where there are none, reviewers are taken at their word and the record says so.
    """
    queue = answers.queue
    matrix, sample, frame = answers.matrix(), queue.sample, queue.frame
    if not np.isfinite(matrix).any():
        raise InputError(
            "at least one answer was expected",
            got=f"none: every region is unsure or still {OPEN}",
            remedy="give the files as they came back from the reviewers",
        )
    consensus = agreed(matrix, rule=rule)
    if error is None:
        error = taken_as_right("not asked for") if not estimate_errors else estimate_error(matrix, sample.stratum)
    judged = judge(matrix, consensus, error)
    plain = judge(matrix, consensus, taken_as_right(""))
    estimates = _estimates(queue.systems, frame, sample, judged, plain, level)
    record = {
        "schema_version": 1,
        "kind": "review",
        "queue": {"id": queue.id, **queue.about},
        "consensus": rule,
        "answers": _counts(answers, matrix),
        "reviewer_error": _error_record(error, answers.reviewers),
        "agreement": [asdict(one) for one in _agreements(answers, matrix, consensus, level)],
        "strata": [_stratum(answers, frame, sample, judged, consensus, place, level) for place in range(len(STRATA))],
        "estimates": [one.as_dict() for one in estimates],
        "if_unanswered": _bounds(queue.systems, frame, sample, judged),
        "notes": _notes(answers, matrix, error),
    }
    return ReviewScore(json.loads(canonical(record)), tuple(estimates))


# ---- rates -----------------------------------------------------------------------------------------------------------


def _estimates(
    systems: Sequence[str], frame: Frame, sample: Frame, judged: Judged, plain: Judged, level: float
) -> list[Estimate]:
    found = []
    for place, name in enumerate(systems):
        for metric in METRICS:
            raw = raw_rate(frame, system=place, metric=metric, level=level)
            found.append(_estimate(metric, {"system": name, "golds": RAW}, raw, frame, level))
            for which, answers in _variants(judged, plain):
                one = corrected_rate(frame, sample, answers, system=place, metric=metric, level=level)
                found.append(_estimate(metric, {"system": name, "golds": which}, one, frame, level))
    for metric in METRICS:
        one = gold_rate(frame, sample, judged, metric=metric, level=level)
        found.append(_estimate(f"gold_{metric}", {"golds": REVIEWED}, one, frame, level))
    return found


def _variants(judged: Judged, plain: Judged) -> list[tuple[str, Judged]]:
    if judged.error.kind == "right":
        return [(REVIEWED, judged)]
    return [(REVIEWED, judged), (AS_RIGHT, plain)]


def _estimate(metric: str, key: dict[str, str], one: Corrected, frame: Frame, level: float) -> Estimate:
    reviewed = frame.stratum != NOT_REVIEWED
    return Estimate(
        metric=metric,
        slice=key,
        value=one.value,
        low=one.interval.low,
        high=one.interval.high,
        level=level,
        method=one.interval.method,
        se=one.interval.se,
        n_patients=int(np.unique(frame.patient[reviewed]).size),
        n_rows=int(frame.count[reviewed].sum()),
        numerator=one.top,
        denominator=one.bottom,
        status=one.interval.status,
        reason=one.interval.reason or None,
    )


def _bounds(systems: Sequence[str], frame: Frame, sample: Frame, judged: Judged) -> list[dict[str, Any]]:
    """Rates if the golds were right, and if they were wrong, in every region that nobody answered."""
    silent = ~np.isfinite(judged.identifier)
    if not silent.any():
        return []
    golds = as_golds_say(sample)
    found: list[dict[str, Any]] = []
    for place, name in enumerate(systems):
        for metric in METRICS:
            row: dict[str, Any] = {"metric": metric, "system": name}
            for what, truth in (("golds_right", golds), ("golds_wrong", 1 - golds)):
                filled = np.where(silent, truth, judged.identifier)
                full = Judged(filled, filled, judged.scale, judged.slopes, judged.influence, judged.error)
                row[what] = corrected_rate(frame, sample, full, system=place, metric=metric).value
            found.append(row)
    return found


# ---- strata, agreement, counts ---------------------------------------------------------------------------------------


def _stratum(
    answers: Answers, frame: Frame, sample: Frame, judged: Judged, consensus: Floats, place: int, level: float
) -> dict[str, Any]:
    """What reviewers found in a stratum; `wrong` are golds that are no identifiers, or identifiers without a gold."""
    name = STRATA[place]
    here = sample.stratum == place
    items = [item for item in answers.queue.items if item.stratum == name]
    said = consensus[here][np.isfinite(consensus[here])]
    share = stratum_share(frame, sample, judged, stratum=place, level=level)
    of_gold = name in OF_GOLDS
    ends = [share.value, share.interval.low, share.interval.high]
    value, low, high = [None if end is None else 1 - end if of_gold else end for end in ends]
    low, high = (high, low) if of_gold else (low, high)
    regions = frame.sizes()[place]
    return {
        "stratum": name,
        "in_words": IN_WORDS[name],
        "regions": regions,
        "drawn": len(items),
        "probability": len(items) / regions if regions else None,
        "answered": len(said),
        "identifiers": float(said.sum()),
        "undecided": int(np.count_nonzero(said == 0.5)),
        "other_borders": sum("OTHER_BORDERS" in answers.of_item(item.id) for item in items),
        "wrong_is": "golds that are no identifiers" if of_gold else "identifiers without a gold",
        "wrong_share": value,
        "wrong_low": low,
        "wrong_high": high,
        "wrong_regions": None if value is None else value * regions,
        "status": share.interval.status,
        "reason": share.interval.reason or None,
    }


def _agreements(answers: Answers, matrix: Floats, consensus: Floats, level: float) -> list[Agreement]:
    """Reviewers with each other; golds and systems with the consensus, over the frame that the items stand for."""
    queue, sample = answers.queue, answers.queue.sample
    found = pairwise(matrix, sample.patient, answers.reviewers, level=level)
    weight = queue.weights
    marks = [("golds", as_golds_say(sample))]
    for place, name in enumerate(queue.systems):
        found_by = (sample.hits[:, place] > 0) | (sample.alarms[:, place] > 0)
        marks.append((f"system {name}", found_by.astype(np.float64)))
    for who, marked in marks:
        names = who, "reviewers"
        found.append(agreement(marked, consensus, sample.patient, names=names, weight=weight, level=level))
    return found


def _counts(answers: Answers, matrix: Floats) -> dict[str, Any]:
    answered = np.isfinite(matrix)
    verdicts = [verdict for verdict in answers.verdicts.values() if verdict != OPEN]
    said = {id for (id, _), verdict in answers.verdicts.items() if verdict != OPEN}
    unsure = sum(item.id in said and not row.any() for item, row in zip(answers.queue.items, answered, strict=True))
    return {
        "reviewers": answers.reviewers,
        "regions": len(answers.queue.items),
        "answered": int(answered.any(axis=1).sum()),
        "answered_by_several": int((answered.sum(axis=1) > 1).sum()),
        "unsure": unsure,
        "not_answered": len(answers.queue.items) - len(said),
        "verdicts": {name: verdicts.count(name) for name in sorted(set(verdicts))},
        "beside": {what: times for what, times in sorted(answers.counted.items()) if times},
    }


def _error_record(error: ReviewerError, reviewers: Sequence[str]) -> dict[str, Any]:
    rows = []
    for place, name in enumerate(reviewers):
        if error.kind == "right":
            break
        sensitivity, specificity = error.of_reviewer(place)
        spread: list[float | None] = [None, None]
        if error.covariance is not None:
            half = len(error.sensitivity)
            spread = [float(np.sqrt(error.covariance[i, i])) for i in (place, half + place)]
        rows.append(
            {
                "reviewer": name,
                "sensitivity": sensitivity,
                "sensitivity_se": spread[0],
                "specificity": specificity,
                "specificity_se": spread[1],
            }
        )
    return {
        "kind": error.kind,
        "reason": error.reason or None,
        "checked": list(error.checked),
        "answered_by_several": error.double or None,
        "reviewers": rows,
    }


def _notes(answers: Answers, matrix: Floats, error: ReviewerError) -> list[str]:
    found = []
    silent = [item.stratum for item, row in zip(answers.queue.items, matrix, strict=True) if not np.isfinite(row).any()]
    if silent:
        by = ", ".join(f"{silent.count(name)} of {IN_WORDS[name]}" for name in STRATA if name in silent)
        found.append(
            f"{len(silent):,} of {len(matrix):,} regions have no answer ({by}). Those answered stand for them, which "
            "is right where no answer has nothing to do with the truth."
        )
    if len(silent) > MANY_UNANSWERED * len(matrix):
        found.append("More than one region in ten has no answer: see what the rates would be either way.")
    if error.kind == "right":
        found.append(f"Reviewers are taken at their word; their errors cannot be corrected: {error.reason}.")
    elif error.kind == "estimated":
        found.append(
            "Error rates of reviewers are estimated from regions that several answered, as if they erred apart from "
            "one another and alike in all strata; mistakes that they share cannot be seen."
        )
    elif error.kind == "known":
        found.append("The reviewers' error rates are taken as known exactly.")
    found += [f"{line}." for line in cautions(answers.queue)]
    added = answers.counted.get("identifiers added by reviewers", 0)
    if added:
        found.append(f"Reviewers added {added:,} identifiers that neither a gold nor a drawn region marks.")
    return [*found, _UNSEEN, _EXTENT]
