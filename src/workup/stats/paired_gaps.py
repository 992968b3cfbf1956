"""Two answers on the same patients compared: the sign-flip test, and intervals from what each patient adds to a gap.

Knows patients as numbers only. Rows that cluster in a patient are added up before they come here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Floats
from workup.stats.intervals import Ends, t_critical
from workup.stats.random import generator

DRAWS = 20_000
MOST_STEPS = 100_000_000  # additions that an exact distribution may take: under a second


class SignFlip(NamedTuple):
    """A two-sided sign-flip test: the sum of the differences, how many units differ, and how p was found."""

    total: int
    differing: int
    p: float
    method: str


def sign_flip(differences: npt.ArrayLike, *, seed: int = 0, steps: int = MOST_STEPS, draws: int = DRAWS) -> SignFlip:
    """Whether two systems differ, given the difference of their counts in each patient.

    If neither is better, each patient's difference might as well have had the other sign (Fisher 1935). The share of
    all sign patterns with a sum at least as far from 0 is exact: differences are whole, so the distribution is built up
    by adding patients of one size at a time. Where that takes too long, patterns are drawn, the seen one among them.

    >>> sign_flip([1, 1, 1, 1, 0, 0]).p, sign_flip([3, -1]).p
    (0.125, 1.0)
    """
    given = np.asarray(differences, dtype=np.float64)
    if given.ndim != 1 or not np.all(given == np.rint(given)):
        raise ValueError("differences must be one whole number per patient")
    whole = np.rint(given).astype(np.int64)
    sizes, counts = np.unique(np.abs(whole[whole != 0]), return_counts=True)
    total, differing = int(whole.sum()), int(counts.sum())
    if not differing:
        return SignFlip(0, 0, 1.0, "no patient differs")
    if float(differing) * float(np.sum(sizes * counts)) <= steps:
        return SignFlip(total, differing, _exact(sizes, counts, abs(total)), "exact")
    rng = generator(seed, "sign flips", differing, total)
    sums = np.zeros(draws, dtype=np.int64)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        sums += size * (2 * rng.binomial(count, 0.5, size=draws) - count)
    reached = int(np.count_nonzero(np.abs(sums) >= abs(total)))
    return SignFlip(total, differing, (reached + 1) / (draws + 1), f"{draws:,} draws")


def _exact(sizes: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], reach: int) -> float:
    """Share of sign patterns whose sum lies at least `reach` from 0, all patterns being equally likely."""
    chance = np.ones(1)  # of the sum of those with a plus sign
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        grown = np.zeros(len(chance) + size * count)
        for plus, one in enumerate(_fair_binomial(count)):
            grown[size * plus : size * plus + len(chance)] += one * chance
        chance = grown
    whole = len(chance) - 1
    far = np.abs(2 * np.arange(len(chance)) - whole) >= reach
    return float(min(1.0, chance[far].sum()))


def _fair_binomial(n: int) -> Floats:
    k = np.arange(n + 1)
    logs = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1) - n * np.log(2)
    return np.asarray(np.exp(logs))


class PatientGap(NamedTuple):
    """A difference of two statistics on the same patients, with its linearised error and degrees of freedom."""

    value: float
    se: float
    df: float

    def ends(self, level: float = 0.95) -> Ends:
        """Both ends, by t on as many degrees of freedom as patients who differ."""
        half = t_critical(level, self.df) * self.se
        return Ends(self.value - half, self.value + half)

    def p(self) -> float:
        """Two-sided p that the difference is 0, in step with the interval; NaN where there is no error to go by."""
        if self.se == 0:
            return 1.0 if self.value == 0 else float("nan")
        return float(2 * special.stdtr(self.df, -abs(self.value) / self.se))


def patient_gap(value: float, influence: npt.ArrayLike, *, strata: npt.ArrayLike | None = None) -> PatientGap:
    """The interval of a difference from what each patient adds to it (influences, which sum to about 0).

    Most patients add nothing where two systems mostly agree, and a normal interval on the few that are left is too
    narrow: four who differ, all one way, would be called significant, with one chance in eight of being so by luck. So
    t is used, on (Σe²)² / Σe⁴ degrees of freedom: the number of patients who differ where all do so by as much, fewer
    where a few weigh most.

    >>> gap = patient_gap(0.04, [0.01] * 4 + [0.0] * 96)
    >>> round(gap.se, 4), round(gap.df, 1), [round(end, 3) for end in gap.ends()]
    (0.0197, 4.3, [-0.013, 0.093])
    """
    given = np.asarray(influence, dtype=np.float64)
    if given.ndim != 1 or given.size < 2 or not np.isfinite(given).all():
        raise ValueError("a gap needs one finite number for each of two patients or more")
    code = np.zeros(given.size, dtype=np.int64) if strata is None else np.asarray(strata, dtype=np.int64)
    _, place, sizes = np.unique(code, return_inverse=True, return_counts=True)
    centred = given - (np.bincount(place, weights=given) / sizes)[place]
    scale = np.sqrt(np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 0.0))[place]
    scaled = centred * scale
    square = scaled**2
    total = float(square.sum())
    if total <= 0:
        return PatientGap(value, 0.0, float(given.size - 1))
    df = float(min(total**2 / float(np.sum(square**2)), given.size - 1))
    return PatientGap(value, float(np.sqrt(total)), max(1.0, df))
