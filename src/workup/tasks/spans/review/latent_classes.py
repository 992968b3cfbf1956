"""Error rates of reviewers from regions that several answered, by latent classes: nobody knows the truth of any.

Every stratum has a share of identifiers of its own; reviewers err alike in all strata and apart from one another (Hui
and Walter 1980; Dawid and Skene 1979)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Floats, Ints
from workup.tasks.spans.review.reviewer_error import LEAST_YOUDEN, ReviewerError, taken_as_right

FEWEST_DOUBLE = 50  # regions that two reviewers answered, below which errors are not estimated
FEWEST_IN_STRATUM = 10
LEAST_SPREAD = 0.2  # strata whose shares of identifiers differ by less cannot tell errors from truth
LARGEST_SE = 0.15
_PSEUDO = 0.5  # a half of a yes and a half of a no: rates of 1 would have no variance
_ROUNDS = 5_000
_STILL, _SETTLED = 1e-9, 1e-5


def estimate_error(answers: Floats, stratum: Ints) -> ReviewerError:
    """Sensitivity and specificity of each reviewer from answers [region, reviewer], or why they cannot be had.

    >>> truth = np.repeat([1.0, 0.0, 1.0, 0.0], [90, 10, 10, 90])
    >>> answers = np.column_stack([truth, truth])
    >>> answers[[3, 120], 0] = 1 - answers[[3, 120], 0]  # the first errs twice
    >>> found = estimate_error(answers, np.repeat([0, 1], 100))
    >>> found.kind, [round(rate, 3) for rate in (*found.sensitivity, *found.specificity)]
    ('estimated', [0.985, 0.995, 0.985, 0.995])
    >>> estimate_error(answers[:, :1], np.repeat([0, 1], 100)).reason
    'no region was answered by two reviewers'
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
    if not fit.settled or np.linalg.cond(curvature) > 1e10:
        return taken_as_right("errors and truth cannot be told apart")
    if doubt := fit.doubt(double, place):
        return taken_as_right(doubt)
    inverse = np.linalg.inv(curvature)
    rates = np.concatenate([fit.sensitivity, fit.specificity])
    steep = rates * (1 - rates)
    reviewers = 2 * answers.shape[1]
    influence = (scores @ inverse)[:, :reviewers] * steep
    covariance: Floats = np.asarray(inverse[:reviewers, :reviewers] * np.outer(steep, steep), dtype=np.float64)
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


def _refusal(seen: npt.NDArray[np.bool_], double: npt.NDArray[np.bool_], stratum: Ints) -> str:
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
    settled: bool = True

    def posterior(self, answers: Floats, seen: npt.NDArray[np.bool_], place: Ints) -> Floats:
        """The chance that each region is an identifier, given its answers."""
        yes = np.where(answers > 0.5, np.log(self.sensitivity), np.log1p(-self.sensitivity))
        no = np.where(answers > 0.5, np.log1p(-self.specificity), np.log(self.specificity))
        share = self.share[place]
        odds = np.log(share) - np.log1p(-share) + np.where(seen, yes - no, 0.0).sum(axis=1)
        return np.asarray(1 / (1 + np.exp(-np.clip(odds, -500, 500))))

    def scores(self, answers: Floats, seen: npt.NDArray[np.bool_], place: Ints) -> Floats:
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

    def doubt(self, double: npt.NDArray[np.bool_], place: Ints) -> str:
        """Why the answer should not be used, if so."""
        if float((self.sensitivity + self.specificity).min()) - 1 < LEAST_YOUDEN:
            return "a reviewer's answers look little better than chance beside those of the others"
        many = np.bincount(place[double], minlength=len(self.share)) >= FEWEST_IN_STRATUM
        if float(np.ptp(self.share[many])) < LEAST_SPREAD:
            return "the strata that two reviewers answered hold too similar shares of identifiers"
        return ""


def _maximise(answers: Floats, seen: npt.NDArray[np.bool_], place: Ints, strata: int) -> _Fit:
    """Expectation and maximisation over distinct patterns of answers (Dawid and Skene 1979), from the majority."""
    coded = np.column_stack([place, np.where(seen, answers, -1.0)])
    rows, times = np.unique(coded, axis=0, return_counts=True)
    where, given = rows[:, 0].astype(np.int64), np.where(rows[:, 1:] < 0, np.nan, rows[:, 1:])
    known = np.isfinite(given)
    yes = np.where(known, given, 0.0)
    many = times.astype(np.float64)
    member = (where[:, None] == np.arange(strata)).astype(np.float64)
    chance = np.clip(yes.sum(axis=1) / np.maximum(known.sum(axis=1), 1), 0.05, 0.95)
    before = np.zeros(2 * answers.shape[1] + strata)
    for _ in range(_ROUNDS):
        fit = _Fit(
            _rate((many * chance) @ member, many @ member),
            _rate((many * chance) @ yes, (many * chance) @ known),
            _rate((many * (1 - chance)) @ (known - yes), (many * (1 - chance)) @ known),
        )
        now = np.concatenate([fit.share, fit.sensitivity, fit.specificity])
        moved = float(np.abs(now - before).max())
        if moved < _STILL:
            break
        before, chance = now, fit.posterior(given, known, where)
    return replace(fit, settled=moved < _SETTLED)


def _rate(top: Floats, bottom: Floats) -> Floats:
    return np.asarray((top + _PSEUDO) / (bottom + 2 * _PSEUDO))
