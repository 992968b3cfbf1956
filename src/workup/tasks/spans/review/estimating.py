"""Recall and precision as they would be if golds were right: reviewed regions projected onto the whole frame.

A model-assisted estimator (Särndal, Swensson and Wretman 1992, ch. 7): shares by stratum and by what a system did there
serve as the model, and what the reviewed regions leave over is added with the inverse of their chance to be drawn. With
every share by itself this is the post-stratified estimator, with none the one of Horvitz and Thompson."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workup.metric import Interval, clustered_interval
from workup.stats import intervals
from workup.tasks.spans.review.frame import (
    FOUND_BY_ALL,
    IN_WORDS,
    STRATA,
    Frame,
    Metric,
    Terms,
    as_golds_say,
    terms,
)
from workup.tasks.spans.review.projection import Projection
from workup.tasks.spans.review.reviewer_error import Judged


class Corrected(NamedTuple):
    """A rate with its interval, and the two sums that it is the ratio of."""

    value: float | None
    interval: Interval
    top: float | None
    bottom: float | None


def raw_rate(frame: Frame, *, system: int, metric: Metric, level: float = 0.95) -> Corrected:
    """The rate by the golds as they are, with the interval of a share over patients.

    >>> frame = Frame.of([(i, 2 if i % 4 else 0, 1, [i % 4 > 0], [1], [0]) for i in range(40)], systems=1)
    >>> found = raw_rate(frame, system=0, metric="recall")
    >>> found.value, round(found.interval.low, 3), found.bottom
    (0.75, 0.598, 40.0)
    """
    of, truth = terms(frame, system=system, metric=metric), as_golds_say(frame)
    top = frame.count * (of.top * truth + of.fixed_top)
    bottom = frame.count * (of.bottom * truth + of.fixed_bottom)
    if not bottom.sum() > 0:
        return Corrected(None, Interval.refused(_nothing(metric), status="undefined"), None, None)
    share = intervals.clustered_share(top, bottom, frame.patient, np.ones(len(frame)))
    return Corrected(share.share, clustered_interval(share, level), float(top.sum()), float(bottom.sum()))


def corrected_rate(
    frame: Frame, sample: Frame, judged: Judged, *, system: int, metric: Metric, level: float = 0.95
) -> Corrected:
    """The rate of a system with golds that are wrong taken out and identifiers without a gold put in.

    `sample` holds the regions that were drawn, a row each, and `judged` what reviewers make of them. The interval adds,
    end by end and by squares (Zou and Donner 2008), what patients, reviewed regions and reviewers' errors each leave
    open; it is widened where reviewed regions of one patient resemble each other.

    >>> from workup.tasks.spans.review.reviewer_error import judge, taken_as_right
    >>> frame = Frame.of([(i, 2 if i % 4 else 0, 1, [i % 4 > 0], [1], [0]) for i in range(80)], systems=1)
    >>> sample = frame.take(np.arange(60))
    >>> answers = np.where(np.arange(60) % 8, 1.0, 0.0)  # half of what was missed is no identifier
    >>> found = corrected_rate(
    ...     frame, sample, judge(answers[:, None], answers, taken_as_right("")), system=0, metric="recall"
    ... )
    >>> round(found.value, 3), round(found.top, 1), round(found.bottom, 1)
    (0.865, 60.0, 69.3)
    """
    both = terms(frame, system=system, metric=metric), terms(sample, system=system, metric=metric)
    return _rate(frame, sample, judged, *both, system=system, level=level, nothing=_nothing(metric))


def gold_rate(frame: Frame, sample: Frame, judged: Judged, *, metric: Metric, level: float = 0.95) -> Corrected:
    """The golds themselves, judged by the reviewers: the share of golds that are identifiers, and the share of the
    identifiers that a gold or a system marks which have a gold."""

    def of(rows: Frame) -> Terms:
        zero, golds = np.zeros(len(rows)), np.where(rows.stratum >= 0, rows.golds, 0.0)
        if metric == "precision":
            return Terms(golds, zero, zero, golds)
        alarm = (rows.stratum > FOUND_BY_ALL).astype(np.float64)
        return Terms(golds, golds + alarm, zero, zero)

    nothing = "there are no golds" if metric == "precision" else _nothing("recall")
    return _rate(frame, sample, judged, of(frame), of(sample), system=None, level=level, nothing=nothing)


def stratum_share(frame: Frame, sample: Frame, judged: Judged, *, stratum: int, level: float = 0.95) -> Corrected:
    """The share of identifiers among the regions of a stratum."""

    def of(rows: Frame) -> Terms:
        here = (rows.stratum == stratum).astype(np.float64)
        return Terms(here, np.zeros(len(rows)), np.zeros(len(rows)), here)

    nothing = "there are none"
    return _rate(frame, sample, judged, of(frame), of(sample), system=None, level=level, nothing=nothing)


def _rate(
    frame: Frame,
    sample: Frame,
    judged: Judged,
    of: Terms,
    drawn: Terms,
    *,
    system: int | None,
    level: float,
    nothing: str,
) -> Corrected:
    answered = np.isfinite(judged.identifier)
    silent = _unanswered(frame, sample.take(answered), of)
    if silent:
        return Corrected(None, Interval.refused(f"no answer on {IN_WORDS[STRATA[silent[0]]]}"), None, None)
    work = Projection.of(frame, sample.take(answered), judged.take(answered), of, drawn.take(answered), system)
    if not work.bottom > 0:
        return Corrected(None, Interval.refused(nothing, status="undefined"), None, None)
    value = float(np.clip(work.value, 0.0, 1.0))
    return Corrected(value, work.interval(level), work.top, work.bottom)


def _nothing(metric: Metric) -> str:
    return "nothing must be masked" if metric == "recall" else "the detector predicts nothing that counts"


def _unanswered(frame: Frame, sample: Frame, of: Terms) -> list[int]:
    """Strata that weigh in the rate and of which nobody reviewed a region."""
    weighs = (of.top != 0) | (of.bottom != 0)
    answered = set(sample.stratum.tolist())
    present = np.unique(frame.stratum[weighs & (frame.stratum >= 0)]).tolist()
    return [place for place in present if place not in answered]
