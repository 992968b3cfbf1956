"""Errors of reviewers, given or estimated, and answers freed from them.

Rogan and Gladen (1978): an answer less the rate of false yeses, over what separates yes from no, is right on average.
Whose errors are not known is taken at their word; how errors are estimated, `latent_classes` knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from workup.stats import intervals
from workup.stats.arrays import Floats

LEAST_YOUDEN = 0.2  # sensitivity + specificity - 1 of a reviewer who is worth correcting

Kind = Literal["right", "known", "counted", "estimated"]


class Rate(NamedTuple):
    """A share of right answers; `of` is how many were checked, None where the share is taken as known."""

    value: float
    of: int | None = None


@dataclass(frozen=True, eq=False)
class ReviewerError:
    """Sensitivity and specificity by reviewer. `right` takes reviewers at their word, and `reason` says why.

    The parameters are the sensitivities, then the specificities: one of each where they hold for all reviewers.
    """

    kind: Kind
    sensitivity: tuple[float, ...] = ()
    specificity: tuple[float, ...] = ()
    checked: tuple[int | None, int | None] = (None, None)
    covariance: Floats | None = None
    influence: Floats | None = None  # of each region on each parameter
    shares: Mapping[int, float] = field(default_factory=dict)
    double: int = 0
    reason: str = ""

    def of_reviewer(self, place: int) -> tuple[float, float]:
        """Sensitivity and specificity of one reviewer."""
        if self.kind == "right":
            return 1.0, 1.0
        at = 0 if len(self.sensitivity) == 1 else place
        return self.sensitivity[at], self.specificity[at]

    @property
    def parameters(self) -> int:
        """How many error rates have an uncertainty of their own."""
        return len(self.sensitivity) + len(self.specificity) if self.kind in ("counted", "estimated") else 0

    def distances(self, gradient: Floats, *, level: float) -> list[tuple[float, float]]:
        """How far down and up a rate may be, for what is not known of error rates that were counted elsewhere."""
        found = []
        for slope, (value, low, high) in zip(gradient, self._ends(level), strict=False):
            down, up = abs(slope) * (value - low), abs(slope) * (high - value)
            found.append((down, up) if slope > 0 else (up, down))
        return found

    def variance(self, gradient: Floats, *, level: float) -> float:
        """The variance that error rates counted elsewhere add to a rate."""
        z = intervals.z_critical(level)
        return sum(
            float(slope * (high - low) / (2 * z)) ** 2
            for slope, (_, low, high) in zip(gradient, self._ends(level), strict=False)
        )

    def _ends(self, level: float) -> list[tuple[float, float, float]]:
        if self.kind != "counted":
            return []
        found = []
        for value, of in zip((self.sensitivity[0], self.specificity[0]), self.checked, strict=True):
            low, high = (value, value) if of is None else intervals.wilson(value, of, level=level)
            found.append((value, low, high))
        return found


def given_error(sensitivity: Rate, specificity: Rate) -> ReviewerError:
    """Error rates from elsewhere, the same for every reviewer.

    >>> given_error(Rate(0.95), Rate(0.98, of=200)).kind
    'counted'
    """
    if not sensitivity.value + specificity.value - 1 >= LEAST_YOUDEN:
        raise ValueError(
            f"reviewers must be better than chance: sensitivity + specificity must be at least {1 + LEAST_YOUDEN:g}, "
            f"got {sensitivity.value + specificity.value:g}"
        )
    known = sensitivity.of is None and specificity.of is None
    return ReviewerError(
        "known" if known else "counted",
        (sensitivity.value,),
        (specificity.value,),
        (sensitivity.of, specificity.of),
    )


def taken_as_right(reason: str) -> ReviewerError:
    """Reviewers taken at their word."""
    return ReviewerError("right", reason=reason)


# ---- answers freed from error ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Judged:
    """What reviewers make of each region: `identifier` is right on average and may lie outside 0 to 1; NaN is none.

    `answer` is the share of yeses, `scale` how far the truth follows it, `slopes` how `identifier` changes with each
    error rate, and `influence` how the region moved their estimates.
    """

    identifier: Floats
    answer: Floats
    scale: Floats
    slopes: Floats
    influence: Floats
    error: ReviewerError

    def take(self, places: npt.NDArray[Any]) -> Judged:
        """Some of the regions."""
        return Judged(
            self.identifier[places],
            self.answer[places],
            self.scale[places],
            self.slopes[places],
            self.influence[places],
            self.error,
        )


def judge(answers: Floats, consensus: Floats, error: ReviewerError) -> Judged:
    """Regions [n] from answers [n, reviewer] of 0, 1 and NaN.

    Where errors are known or estimated every answer is freed from its reviewer's, and the mean taken: a vote would have
    error rates of its own. Elsewhere the consensus stands.

    >>> found = judge(np.array([[1.0], [0.0]]), np.array([1.0, 0.0]), given_error(Rate(0.9), Rate(0.8)))
    >>> found.identifier.round(3).tolist()
    [1.143, -0.286]
    """
    n, reviewers = answers.shape
    if error.kind == "right":
        none = np.zeros((n, 0))
        return Judged(consensus, consensus, np.ones(n), none, none, error)
    seen = np.isfinite(answers)
    many = np.maximum(seen.sum(axis=1), 1)
    filled = np.where(seen, answers, 0.0)
    freed, scale = np.zeros(n), np.zeros(n)
    slopes = np.zeros((n, error.parameters))
    for place in range(reviewers):
        sensitivity, specificity = error.of_reviewer(place)
        apart = sensitivity + specificity - 1
        mine = seen[:, place] / many
        freed += mine * (filled[:, place] + specificity - 1) / apart
        scale += mine / apart
        if error.parameters:
            at = place if len(error.sensitivity) > 1 else 0
            slopes[:, at] -= mine * (filled[:, place] + specificity - 1) / apart**2
            slopes[:, len(error.sensitivity) + at] += mine * (sensitivity - filled[:, place]) / apart**2
    nobody = ~seen.any(axis=1)
    freed[nobody] = np.nan
    answer = np.where(nobody, np.nan, filled.sum(axis=1) / many)
    influence = np.zeros((n, error.parameters)) if error.influence is None else error.influence
    return Judged(freed, answer, scale, slopes, influence, error)
