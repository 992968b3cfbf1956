"""Recall and precision as they would be if golds were right: reviewed regions projected onto the whole frame.

A model-assisted estimator (Särndal, Swensson and Wretman 1992, ch. 7): shares by stratum and by what a system did there
serve as the model, and what the reviewed regions leave over is added with the inverse of their chance to be drawn. With
every share by itself this is the post-stratified estimator, with none the one of Horvitz and Thompson."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workup.metric import FEWEST_CLUSTERS, Interval
from workup.stats import intervals
from workup.tasks.spans.review.frame import IN_WORDS, STRATA, Floats, Frame, Metric, Terms, Whole, as_golds_say, terms
from workup.tasks.spans.review.reviewer_error import Judged

FEWEST_ANSWERS = 10  # a share of its own needs so many reviewed regions; fewer are taken together with their stratum's


class Corrected(NamedTuple):
    """A rate with its interval, and the two sums that it is the ratio of."""

    value: float | None
    interval: Interval
    top: float | None
    bottom: float | None


def raw_rate(frame: Frame, *, system: int, metric: Metric, level: float = 0.95) -> Corrected:
    """The rate by the golds as they are, with Wilson's interval on the effective number of rows.

    >>> frame = Frame.of([(i, 2 if i % 4 else 0, 1, [i % 4 > 0], [1], [0]) for i in range(40)], systems=1)
    >>> found = raw_rate(frame, system=0, metric="recall")
    >>> found.value, round(found.interval.low, 3), found.bottom
    (0.75, 0.594, 40.0)
    """
    of, truth = terms(frame, system=system, metric=metric), as_golds_say(frame)
    top = frame.count * (of.top * truth + of.fixed_top)
    bottom = frame.count * (of.bottom * truth + of.fixed_bottom)
    if not bottom.sum() > 0:
        return Corrected(None, Interval.refused(_nothing(metric), status="undefined"), None, None)
    share = intervals.clustered_share(top, bottom, frame.patient, np.ones(len(frame)))
    method = "Wilson on effective n"
    if share.clusters < FEWEST_CLUSTERS:
        found = Interval.refused(_few(share.clusters), method=method)
    else:
        found = Interval(*intervals.wilson_clustered(share, level=level), share.se, method)
    return Corrected(share.share, found, float(top.sum()), float(bottom.sum()))


def corrected_rate(
    frame: Frame, sample: Frame, judged: Judged, *, system: int, metric: Metric, level: float = 0.95
) -> Corrected:
    """The rate with golds that are wrong taken out and identifiers without a gold put in.

    `sample` holds the regions that were drawn, a row each, and `judged` what reviewers make of them. The interval adds,
    end by end and by squares (Zou and Donner 2008), what patients, reviewed regions and reviewers' errors each leave
    open; it is widened where reviewed regions of one patient resemble each other.
    """
    answered = np.isfinite(judged.identifier)
    sample, judged = sample.take(answered), judged.take(answered)
    of = terms(frame, system=system, metric=metric)
    silent = _unanswered(frame, sample, of)
    if silent:
        reason = f"no reviewed region among {IN_WORDS[STRATA[silent[0]]]}"
        return Corrected(None, Interval.refused(reason), None, None)
    work = _Work.of(frame, sample, judged, of, terms(sample, system=system, metric=metric), system)
    if not work.bottom > 0:
        return Corrected(None, Interval.refused(_nothing(metric), status="undefined"), None, None)
    value = float(np.clip(work.value, 0.0, 1.0))
    return Corrected(value, work.interval(level), work.top, work.bottom)


def _nothing(metric: Metric) -> str:
    return "nothing must be masked" if metric == "recall" else "the detector predicts nothing that counts"


def _few(patients: int) -> str:
    return f"{patients} patients; at least {FEWEST_CLUSTERS} are needed to see how strongly regions cluster in them"


def _unanswered(frame: Frame, sample: Frame, of: Terms) -> list[int]:
    """Strata that weigh in the rate and of which nobody reviewed a region."""
    weighs = (of.top != 0) | (of.bottom != 0)
    answered = set(sample.stratum.tolist())
    present = np.unique(frame.stratum[weighs & (frame.stratum >= 0)]).tolist()
    return [place for place in present if place not in answered]


# ---- shares ----------------------------------------------------------------------------------------------------------


def _cells(frame: Frame, system: int) -> Whole:
    """Stratum and what the system did there: four cells a stratum; -1 where nothing is reviewed."""
    found = (frame.hits[:, system] > 0).astype(np.int64)
    spoke = (frame.credits[:, system] + frame.alarms[:, system] > 0).astype(np.int64)
    return np.where(frame.stratum < 0, -1, 4 * frame.stratum + 2 * found + spoke)


def _groups(frame_cells: Whole, sample_cells: Whole) -> Whole:
    """For each cell the cell whose share it takes: its own where enough was reviewed, else one with the others."""
    many = np.bincount(sample_cells, minlength=4 * len(STRATA))
    there = np.bincount(frame_cells[frame_cells >= 0], minlength=len(many))
    group = np.arange(len(many))
    for stratum in range(len(STRATA)):
        cells = np.arange(4 * stratum, 4 * stratum + 4)
        cells = cells[(many[cells] > 0) | (there[cells] > 0)]
        small = cells[many[cells] < FEWEST_ANSWERS]
        if not small.size:
            continue
        if many[small].sum() < FEWEST_ANSWERS:  # too few even together: with the largest
            small = np.append(small, cells[np.argmax(many[cells])])
        group[small] = small[np.argmax(many[small])]
    return group


@dataclass(frozen=True, eq=False)
class _Work:
    """One rate on its way: the ratio, how far each reviewed region moves it, and what patients add."""

    value: float
    top: float
    bottom: float
    frame_residual: Floats  # of each row of the frame, under the shares
    frame_patient: Whole
    frame_spread: float  # the same as if rows were independent
    patients: int
    group: Whole  # of each reviewed region
    lever: Floats  # the change of the rate with the region's own truth
    rest: Floats  # truth less share
    judged: Judged
    sample_patient: Whole

    @classmethod
    def of(cls, frame: Frame, sample: Frame, judged: Judged, of: Terms, drawn: Terms, system: int) -> _Work:
        cells, own = _cells(frame, system), _cells(sample, system)
        alike = _groups(cells, own)
        group, reviewed = alike[own], cells >= 0
        size = len(alike)
        many = np.bincount(group, minlength=size)
        there = np.bincount(alike[cells[reviewed]], weights=frame.count[reviewed], minlength=size)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.bincount(group, weights=judged.identifier, minlength=size) / many
            weight = there / many
        expected = np.where(reviewed, share[alike[cells]], 0.0)
        rest = judged.identifier - share[group]
        rows_top = frame.count * (of.top * expected + of.fixed_top)
        rows_bottom = frame.count * (of.bottom * expected + of.fixed_bottom)
        top = float(rows_top.sum() + np.sum(weight[group] * drawn.top * rest))
        bottom = float(rows_bottom.sum() + np.sum(weight[group] * drawn.bottom * rest))
        value = top / bottom if bottom > 0 else np.nan
        pull = drawn.top - value * drawn.bottom
        whole = frame.count * (of.top - value * of.bottom)
        total = np.bincount(alike[cells[reviewed]], weights=whole[reviewed], minlength=size)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean_pull = np.bincount(group, weights=pull, minlength=size) / many
            lever = total[group] / many[group] + weight[group] * (pull - mean_pull[group])
        residual = (rows_top - value * rows_bottom) / bottom
        single = (of.top - value * of.bottom) * expected + of.fixed_top - value * of.fixed_bottom
        return cls(
            value=value,
            top=top,
            bottom=bottom,
            frame_residual=residual,
            frame_patient=frame.patient,
            frame_spread=float(np.sum(frame.count * single**2)) / bottom**2,
            patients=int(np.unique(frame.patient[(rows_bottom > 0) | (rows_top > 0)]).size),
            group=group,
            lever=lever / bottom,
            rest=rest,
            judged=judged,
            sample_patient=sample.patient,
        )

    # ---- the interval ------------------------------------------------------------------------------------------------

    def interval(self, level: float) -> Interval:
        method = "review-corrected, squares of Wilson's distances"
        if self.patients < FEWEST_CLUSTERS:
            return Interval.refused(_few(self.patients), method=method)
        critical = intervals.t_critical(level, self.patients - 1)
        below = above = 0.0
        for low, high in (self._of_patients(critical), *self._of_shares(critical), *self._of_error(level, critical)):
            below, above = below + low**2, above + high**2
        apart = self._frame_variance() + self._share_variance() + self._error_variance(level)
        widen = max(1.0, self._clustered_variance() / apart) if apart > 0 else 1.0
        point = float(np.clip(self.value, 0.0, 1.0))
        low = max(0.0, self.value - np.sqrt(below * widen))
        high = min(1.0, self.value + np.sqrt(above * widen))
        return Interval(
            min(low, point), max(high, point), float(np.sqrt(apart * widen)), method, reason=self._reason(widen)
        )

    def _reason(self, widen: float) -> str:
        return f"widened for regions alike within patients, variance times {widen:.2f}" if widen > 1.005 else ""

    def _frame_variance(self) -> float:
        """Of the ratio over patients, were the shares known; never below that of independent rows."""
        _, code = np.unique(self.frame_patient, return_inverse=True)
        sums = np.bincount(code, weights=self.frame_residual)
        n = len(sums)
        return max(float(n / (n - 1) * np.sum((sums - sums.mean()) ** 2)), self.frame_spread)

    def _of_patients(self, critical: float) -> tuple[float, float]:
        point = float(np.clip(self.value, 0.0, 1.0))
        if point in (0.0, 1.0):
            size = float(self.patients)
        else:
            variance = self._frame_variance()
            if variance <= 0:
                return 0.0, 0.0
            size = point * (1 - point) / variance
        low, high = intervals.wilson(point, size, critical=critical)
        return point - low, high - point

    def _of_shares(self, critical: float) -> list[tuple[float, float]]:
        """How far each share may be from the truth, times how far the rate follows it."""
        found = []
        for code in np.unique(self.group):
            here = self.group == code
            n = int(here.sum())
            answer, scale = self.judged.answer[here], float(self.judged.scale[here].mean())
            share = float(answer.mean())
            spread = float(np.sum((answer - share) ** 2)) / n
            # Several reviewers of a region tell more than one: their mean varies less than a single yes or no.
            size = n if spread <= 0 else n * max(1.0, share * (1 - share) / spread)
            low, high = intervals.wilson(share, size, critical=critical)
            pull = np.sqrt(n * float(np.sum(self.lever[here] ** 2)))
            down, up = scale * pull * (share - low), scale * pull * (high - share)
            signs = np.sign(self.lever[here][np.abs(self.lever[here]) > 1e-15])
            if signs.size and (signs < 0).all():
                down, up = up, down
            elif signs.size and not (signs > 0).all():
                down = up = max(down, up)
            found.append((down, up))
        return found

    def _share_variance(self) -> float:
        total = 0.0
        for code in np.unique(self.group):
            here = self.group == code
            n = int(here.sum())
            spread = float(np.sum(self.rest[here] ** 2)) / max(1, n - 1)
            total += spread * float(np.sum(self.lever[here] ** 2))
        return total

    def _gradient(self) -> Floats:
        """The change of the rate with each error rate of the reviewers."""
        return self.lever @ self.judged.slopes

    def _of_error(self, level: float, critical: float) -> list[tuple[float, float]]:
        return self.judged.error.distances(self._gradient(), level=level, critical=critical)

    def _error_variance(self, level: float) -> float:
        return self.judged.error.variance(self._gradient(), level=level)

    def _clustered_variance(self) -> float:
        """All of it at once, patient by patient: regions of one patient may be wrong together."""
        moved = self.lever * self.rest
        error = self.judged.error
        gradient = self._gradient()
        if error.influence is not None:
            moved = moved + self.judged.influence @ gradient
        patient = np.concatenate([self.frame_patient, self.sample_patient])
        _, code = np.unique(patient, return_inverse=True)
        sums = np.bincount(code, weights=np.concatenate([self.frame_residual, moved]))
        n = len(sums)
        beside = 0.0 if error.influence is not None else error.variance(gradient, level=0.95)
        return float(n / (n - 1) * np.sum((sums - sums.mean()) ** 2)) + beside
