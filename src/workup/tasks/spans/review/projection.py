"""One rate on its way from reviewed regions to the whole frame: the ratio, how far each region moves it, its interval.

Knows shares, levers and patients; which rate it is, its terms say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workup.metric import FEWEST_CLUSTERS, Interval
from workup.stats import intervals
from workup.stats.arrays import Floats, Ints
from workup.tasks.spans.review.frame import STRATA, Frame, Terms
from workup.tasks.spans.review.reviewer_error import Judged

FEWEST_ANSWERS = 10  # a share of its own needs so many reviewed regions; fewer are taken together with their stratum's


def few_patients(patients: int) -> str:
    """Why there is no interval."""
    return f"{patients} patients; at least {FEWEST_CLUSTERS} are needed to see how strongly regions cluster in them"


# ---- shares ----------------------------------------------------------------------------------------------------------


def _cells(frame: Frame, system: int | None) -> Ints:
    """Stratum and what the system did there: four cells a stratum; -1 where nothing is reviewed."""
    if system is None:
        return np.where(frame.stratum < 0, -1, 4 * frame.stratum)
    found = (frame.hits[:, system] > 0).astype(np.int64)
    spoke = (frame.credits[:, system] + frame.alarms[:, system] > 0).astype(np.int64)
    return np.where(frame.stratum < 0, -1, 4 * frame.stratum + 2 * found + spoke)


def _groups(frame_cells: Ints, sample_cells: Ints) -> Ints:
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
class Projection:
    """One rate on its way: the ratio, how far each reviewed region moves it, and what patients add."""

    value: float
    top: float
    bottom: float
    frame_top: Floats  # of each row of the frame, were the shares known
    frame_bottom: Floats
    frame_residual: Floats  # of each row of the frame, under the shares
    frame_patient: Ints
    frame_spread: float  # the same as if rows were independent
    patients: int
    group: Ints  # of each reviewed region
    lever: Floats  # the change of the rate with the region's own truth
    rest: Floats  # truth less share
    judged: Judged
    sample_patient: Ints

    @classmethod
    def of(cls, frame: Frame, sample: Frame, judged: Judged, of: Terms, drawn: Terms, system: int | None) -> Projection:
        """Of a rate with these terms in the frame and in the sample; NaN where nothing is below the line."""
        cells, own = _cells(frame, system), _cells(sample, system)
        alike = _groups(cells, own)
        reviewed = cells >= 0
        rows, group = alike[cells[reviewed]], alike[own]  # the group of each row, and of each reviewed region

        def sums(values: Floats, at: Ints) -> Floats:
            return np.asarray(np.bincount(at, weights=values, minlength=len(alike)), dtype=np.float64)

        many = np.maximum(sums(np.ones(len(group)), group), 1.0)
        share = sums(judged.identifier, group) / many  # 0 where nothing was reviewed, and then it weighs nothing
        weight = sums(frame.count[reviewed], rows) / many
        expected = np.zeros(len(frame))
        expected[reviewed] = share[rows]
        rest = judged.identifier - share[group]
        tops = frame.count * (of.top * expected + of.fixed_top)
        bottoms = frame.count * (of.bottom * expected + of.fixed_bottom)
        top = float(tops.sum() + np.sum(weight[group] * drawn.top * rest))
        bottom = float(bottoms.sum() + np.sum(weight[group] * drawn.bottom * rest))
        over = bottom if bottom > 0 else np.nan
        value = top / over
        pull = drawn.top - value * drawn.bottom
        total = sums((frame.count * (of.top - value * of.bottom))[reviewed], rows)
        lever = total[group] / many[group] + weight[group] * (pull - (sums(pull, group) / many)[group])
        single = (of.top - value * of.bottom) * expected + of.fixed_top - value * of.fixed_bottom
        return cls(
            value=value,
            top=top,
            bottom=bottom,
            frame_top=tops,
            frame_bottom=bottoms,
            frame_residual=(tops - value * bottoms) / over,
            frame_patient=frame.patient,
            frame_spread=float(np.sum(frame.count * single**2)) / over**2,
            patients=int(np.unique(frame.patient[(bottoms > 0) | (tops > 0)]).size),
            group=group,
            lever=lever / over,
            rest=rest,
            judged=judged,
            sample_patient=sample.patient,
        )

    # ---- the interval ------------------------------------------------------------------------------------------------

    def interval(self, level: float) -> Interval:
        """Distances of all parts, by squares, and what the clustering of the whole adds to them."""
        method = "review-corrected, squares of distances"
        if self.patients < FEWEST_CLUSTERS:
            return Interval.refused(few_patients(self.patients), method=method)
        critical = intervals.t_critical(level, self.patients - 1)
        parts = [self._of_patients(level), *self._of_shares(critical), *self._of_error(level)]
        apart = self._frame_variance() + self._share_variance() + self._error_variance(level)
        beyond = max(0.0, self._clustered_variance(level) - apart)
        below, above = (np.sqrt(sum(part[i] ** 2 for part in parts) + critical**2 * beyond) for i in (0, 1))
        point = float(np.clip(self.value, 0.0, 1.0))
        low, high = max(0.0, self.value - below), min(1.0, self.value + above)
        return Interval(
            float(min(low, point)),
            float(max(high, point)),
            float(np.sqrt(apart + beyond)),
            method,
            reason=self._why_wider(beyond / apart if apart > 0 else 0.0),
        )

    def _why_wider(self, more: float) -> str:
        if more < 0.005:
            return ""
        errors = "estimated errors of reviewers and " if self.judged.error.kind == "estimated" else ""
        return f"variance times {1 + more:.2f} for {errors}regions alike within patients"

    def _frame_variance(self) -> float:
        """Of the ratio over patients, were the shares known; never below that of independent rows."""
        _, code = np.unique(self.frame_patient, return_inverse=True)
        sums = np.bincount(code, weights=self.frame_residual)
        n = len(sums)
        return max(float(n / (n - 1) * np.sum((sums - sums.mean()) ** 2)), self.frame_spread)

    def _of_patients(self, level: float) -> tuple[float, float]:
        """How far other patients may lie from these: the ends of a clustered share."""
        top, bottom = np.minimum(self.frame_top, self.frame_bottom), self.frame_bottom
        share = intervals.clustered_share(top, bottom, self.frame_patient, np.ones(top.size))
        low, high = intervals.effective_ends(share, level=level)
        return share.share - low, high - share.share

    def _of_shares(self, critical: float) -> list[tuple[float, float]]:
        """How far each share may be from the truth, times how far the rate follows it."""
        found = []
        for here in self._group_places():
            share, size, scale = self._seen_share(here)
            low, high = intervals.wilson(share, size, critical=critical)
            pull = scale * np.sqrt(len(here) * float(np.sum(self.lever[here] ** 2)))
            down, up = pull * (share - low), pull * (high - share)
            signs = np.sign(self.lever[here][np.abs(self.lever[here]) > 1e-15])
            if signs.size and (signs < 0).all():
                down, up = up, down
            elif signs.size and not (signs > 0).all():
                down = up = max(down, up)
            found.append((down, up))
        return found

    def _seen_share(self, here: Ints) -> tuple[float, float, float]:
        """The share of a group whose uncertainty is Wilson's: its value, how many it rests on, and the rate's scale.

        With errors given it is the share of yeses. Where errors were estimated from the same answers the two go
        together (a stratum of identifiers alone shows the sensitivity itself), so it is the share of identifiers, as
        if seen; what errors add beyond that is in the variance by patients.
        """
        n = len(here)
        if self.judged.error.kind == "estimated":
            return float(np.clip(self.judged.identifier[here].mean(), 0.0, 1.0)), n, 1.0
        answer = self.judged.answer[here]
        share = float(answer.mean())
        spread = float(np.sum((answer - share) ** 2)) / n
        # Several reviewers of a region tell more than one: their mean varies less than a single yes or no.
        size = n if spread <= 0 else n * max(1.0, share * (1 - share) / spread)
        return share, size, float(self.judged.scale[here].mean())

    def _share_variance(self) -> float:
        total = 0.0
        for here in self._group_places():
            n = len(here)
            if self.judged.error.kind == "estimated":
                share = self._seen_share(here)[0]
                spread = share * (1 - share)
            else:
                spread = float(np.sum(self.rest[here] ** 2)) / n
            total += spread * n / max(1, n - 1) * float(np.sum(self.lever[here] ** 2))
        return total

    def _group_places(self) -> list[Ints]:
        return [np.flatnonzero(self.group == code) for code in np.unique(self.group)]

    def _gradient(self) -> Floats:
        """The change of the rate with each error rate of the reviewers."""
        return self.lever @ self.judged.slopes

    def _of_error(self, level: float) -> list[tuple[float, float]]:
        return self.judged.error.distances(self._gradient(), level=level)

    def _error_variance(self, level: float) -> float:
        return self.judged.error.variance(self._gradient(), level=level)

    def _clustered_variance(self, level: float) -> float:
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
        beside = error.variance(gradient, level=level)
        return float(n / (n - 1) * np.sum((sums - sums.mean()) ** 2)) + beside
