"""Errors of reviewers: given, or estimated where several saw the same regions; and answers freed from them.

Rogan and Gladen (1978): an answer less the rate of false yeses, over what separates yes from no, is right on average.
Two reviewers who err apart show their error rates where strata differ in truth (Hui and Walter 1980); reviewers who make
the same mistakes do not, and nothing here can tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from workup.stats import intervals
from workup.tasks.spans.review.frame import Floats, Whole

FEWEST_DOUBLE = 50  # regions that two reviewers answered, below which errors are not estimated
FEWEST_IN_STRATUM = 10
LEAST_SPREAD = 0.2  # strata whose shares of identifiers differ by less cannot tell errors from truth
LEAST_YOUDEN = 0.2  # sensitivity + specificity - 1 of a reviewer who is worth correcting
LARGEST_SE = 0.15
_PSEUDO = 0.5  # a half of a yes and a half of a no: rates of 1 would have no variance
_ROUNDS = 5_000
_STILL = 1e-9

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

    def distances(self, gradient: Floats, *, level: float, critical: float) -> list[tuple[float, float]]:
        """How far down and up a rate may be, for what is not known of the error rates."""
        if self.kind == "estimated":
            half = critical * float(np.sqrt(self.variance(gradient, level=level)))
            return [(half, half)]
        found = []
        for slope, (value, low, high) in zip(gradient, self._ends(level), strict=True):
            down, up = abs(slope) * (value - low), abs(slope) * (high - value)
            found.append((down, up) if slope > 0 else (up, down))
        return found

    def variance(self, gradient: Floats, *, level: float) -> float:
        """The variance that the error rates add to a rate."""
        if self.kind == "estimated":
            assert self.covariance is not None
            return float(gradient @ self.covariance @ gradient)
        z = intervals.z_critical(level)
        return sum(
            float(slope * (high - low) / (2 * z)) ** 2
            for slope, (_, low, high) in zip(gradient, self._ends(level), strict=True)
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
            *(getattr(self, name)[places] for name in ("identifier", "answer", "scale", "slopes", "influence")),
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


# ---- errors estimated ------------------------------------------------------------------------------------------------


def estimate_error(answers: Floats, stratum: Whole, *, names: Sequence[str] = ()) -> ReviewerError:
    """Sensitivity and specificity of each reviewer by latent classes, or why they cannot be had.

    Every stratum has a share of identifiers of its own; reviewers err alike in all strata and apart from one another.
    """
    seen = np.isfinite(answers)
    double = seen.sum(axis=1) >= 2
    refused = _refusal(seen, double, stratum)
    if refused:
        return taken_as_right(refused)
    codes, place = np.unique(stratum, return_inverse=True)
    fit = _maximise(answers, seen, place, len(codes))
    scores = fit.scores(answers, seen, place)
    curvature = scores.T @ scores + np.diag(fit.prior())
    reason = fit.doubt(double, place) or ("" if np.linalg.cond(curvature) < 1e10 else "errors and truth cannot be told apart")
    if reason:
        return taken_as_right(reason)
    inverse = np.linalg.inv(curvature)
    rates = np.concatenate([fit.sensitivity, fit.specificity])
    steep = rates * (1 - rates)
    reviewers = 2 * answers.shape[1]
    influence = (scores @ inverse)[:, :reviewers] * steep
    covariance = inverse[:reviewers, :reviewers] * np.outer(steep, steep)
    if float(np.sqrt(np.diag(covariance).max())) > LARGEST_SE:
        return taken_as_right(f"their error rates would have a standard error above {LARGEST_SE:g}")
    return ReviewerError(
        "estimated",
        tuple(fit.sensitivity.tolist()),
        tuple(fit.specificity.tolist()),
        covariance=covariance,
        influence=influence,
        shares={int(code): float(share) for code, share in zip(codes, fit.share, strict=True)},
        double=int(double.sum()),
    )


def _refusal(seen: npt.NDArray[np.bool_], double: npt.NDArray[np.bool_], stratum: Whole) -> str:
    if seen.shape[1] < 2 or not double.any():
        return "no region was answered by two reviewers"
    if double.sum() < FEWEST_DOUBLE:
        return f"{int(double.sum())} regions were answered by two reviewers; at least {FEWEST_DOUBLE} are needed"
    if not (seen & double[:, None]).any(axis=0).all():
        return "a reviewer answered no region that another answered too"
    if np.count_nonzero(np.bincount(stratum[double]) >= FEWEST_IN_STRATUM) < 2:
        return f"fewer than two strata have {FEWEST_IN_STRATUM} regions that two reviewers answered"
    return ""


@dataclass(frozen=True, eq=False)
class _Fit:
    """Latent classes: shares of identifiers by stratum, error rates by reviewer."""

    share: Floats
    sensitivity: Floats
    specificity: Floats

    def posterior(self, answers: Floats, seen: npt.NDArray[np.bool_], place: Whole) -> Floats:
        """The chance that each region is an identifier, given its answers."""
        yes = np.where(answers > 0.5, np.log(self.sensitivity), np.log1p(-self.sensitivity))
        no = np.where(answers > 0.5, np.log1p(-self.specificity), np.log(self.specificity))
        share = self.share[place]
        odds = np.log(share) - np.log1p(-share) + np.where(seen, yes - no, 0.0).sum(axis=1)
        return np.asarray(1 / (1 + np.exp(-np.clip(odds, -500, 500))))

    def scores(self, answers: Floats, seen: npt.NDArray[np.bool_], place: Whole) -> Floats:
        """Slopes of each region's log likelihood in the logits of sensitivities, specificities and shares."""
        chance = self.posterior(answers, seen, place)[:, None]
        yes = np.where(seen, answers, 0.0)
        first = np.where(seen, chance * (yes - self.sensitivity), 0.0)
        second = np.where(seen, (1 - chance) * (1 - yes - self.specificity), 0.0)
        strata = (place[:, None] == np.arange(len(self.share))) * (chance - self.share)
        return np.column_stack([first, second, strata])

    def prior(self) -> Floats:
        """What the half answers add to the curvature."""
        rates = np.concatenate([self.sensitivity, self.specificity, self.share])
        return np.asarray(2 * _PSEUDO * rates * (1 - rates))

    def doubt(self, double: npt.NDArray[np.bool_], place: Whole) -> str:
        """Why the answer should not be used, if so."""
        if float((self.sensitivity + self.specificity).min()) - 1 < LEAST_YOUDEN:
            return "a reviewer's answers look little better than chance beside those of the others"
        many = np.bincount(place[double], minlength=len(self.share)) >= FEWEST_IN_STRATUM
        if float(np.ptp(self.share[many])) < LEAST_SPREAD:
            return "the strata that two reviewers answered hold too similar shares of identifiers"
        return ""


def _maximise(answers: Floats, seen: npt.NDArray[np.bool_], place: Whole, strata: int) -> _Fit:
    """Expectation and maximisation over distinct patterns of answers (Dawid and Skene 1979), from the majority."""
    coded = np.column_stack([place, np.where(seen, answers, -1.0)])
    rows, times = np.unique(coded, axis=0, return_counts=True)
    where, given = rows[:, 0].astype(np.int64), np.where(rows[:, 1:] < 0, np.nan, rows[:, 1:])
    known = np.isfinite(given)
    yes = np.where(known, given, 0.0)
    many = times.astype(np.float64)
    chance = np.clip(yes.sum(axis=1) / np.maximum(known.sum(axis=1), 1), 0.05, 0.95)
    before = np.zeros(2 * answers.shape[1] + strata)
    for _ in range(_ROUNDS):
        fit = _Fit(
            _rate(np.bincount(where, many * chance, strata), np.bincount(where, many, strata)),
            _rate((many * chance) @ yes, (many * chance) @ known),
            _rate((many * (1 - chance)) @ (known - yes), (many * (1 - chance)) @ known),
        )
        now = np.concatenate([fit.share, fit.sensitivity, fit.specificity])
        if float(np.abs(now - before).max()) < _STILL:
            break
        before, chance = now, fit.posterior(given, known, where)
    return fit


def _rate(top: Floats, bottom: Floats) -> Floats:
    return np.asarray((top + _PSEUDO) / (bottom + 2 * _PSEUDO))
