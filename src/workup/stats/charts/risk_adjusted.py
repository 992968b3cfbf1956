"""Risk-adjusted CUSUM of single patients (Steiner, Cook, Farewell and Treasure 2000), its limit solved by simulation.
It takes the risks as true under stable performance: a miscalibrated model must be recalibrated on the baseline first.

Patients are the last axis, in order of time. NaN (no mature outcome, or no risk) holds the sum and never signals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Bools, Floats
from workup.stats.charts.baselines import positive
from workup.stats.charts.control_charts import Cusum, cusum_of
from workup.stats.random import generator

WORSE, BETTER = 2.0, 0.5
_RISE = 0.25  # how far the simulation climbs at a time; run lengths grow about e-fold per unit of limit
_AT_ONCE = 500_000  # simulated patients held at a time
_TOO_LONG = 100  # times the run length asked for: no limit is worth so long a simulation


def risk_adjusted_weights(outcome: npt.ArrayLike, risk: npt.ArrayLike, *, odds_ratio: float) -> Floats:
    """Log-likelihood ratio of each outcome under odds multiplied by `odds_ratio`, against the odds of the risk itself.

    >>> risk_adjusted_weights([1, 0], [0.2, 0.2], odds_ratio=2).round(4).tolist()
    [0.5108, -0.1823]
    """
    y, p, _ = _patients(outcome, risk)
    ratio = _odds_ratio(odds_ratio)
    return np.asarray(y * np.log(ratio) - np.log1p((ratio - 1) * p))


def observed_less_expected(outcome: npt.ArrayLike, risk: npt.ArrayLike) -> Floats:
    """Running sum of outcome less risk: events beyond those expected, for the eye (a VLAD). It has no limits."""
    y, p, seen = _patients(outcome, risk)
    return np.asarray(np.cumsum(np.where(seen, y - p, 0.0), axis=-1))


def risk_adjusted_cusum(
    outcome: npt.ArrayLike,
    risk: npt.ArrayLike,
    *,
    upper: float,
    lower: float,
    worse: float = WORSE,
    better: float = BETTER,
) -> Cusum:
    """Two sums over patients: `up` gathers evidence that the odds of the event were multiplied by `worse`, `down` that
    they were multiplied by `better`. Limits are positive numbers, each from `risk_adjusted_limit`.

    >>> chart = risk_adjusted_cusum([1, 1, 0, 1], [0.1, 0.1, 0.1, 0.1], upper=1.5, lower=1.5)
    >>> chart.up.round(3).tolist(), chart.signal_up.tolist()
    ([0.598, 1.196, 1.1, 1.698], [False, False, False, True])
    """
    if not 0 < better < 1 < worse:
        raise ValueError(f"worse must be above 1 and better between 0 and 1, got {worse} and {better}")
    _, _, seen = _patients(outcome, risk)
    return cusum_of(
        risk_adjusted_weights(outcome, risk, odds_ratio=worse),
        risk_adjusted_weights(outcome, risk, odds_ratio=better),
        seen,
        upper=positive(upper, "upper"),
        lower=positive(lower, "lower"),
    )


class SolvedLimit(NamedTuple):
    """A limit, the mean run length it gave in the simulation (in patients), and the standard error of that mean."""

    limit: float
    run_length: float
    se: float


def risk_adjusted_limit(
    risks: npt.ArrayLike, *, run_length: float, odds_ratio: float = WORSE, runs: int = 5_000, seed: int = 0
) -> SolvedLimit:
    """The limit of one side at which stable patients run so long on average, given the baseline's risks.

    Risks are drawn from those of the baseline and outcomes from the risks. Every run keeps the times at which its sum
    reached a new height, so one simulation answers for all limits. Two sides of equal run length L signal together
    about every L/2 patients.

    >>> solved = risk_adjusted_limit([0.05, 0.1, 0.3], run_length=500, runs=2000, seed=1)
    >>> abs(solved.limit - 2.7) < 0.1
    True
    """
    if not run_length > 1:
        raise ValueError(f"run_length must be more than 1 patient, got {run_length}")
    climb = _Climb(risks, odds_ratio, truth=1.0, runs=runs, rng=generator(seed, "risk-adjusted limit"))
    bound = 0.0
    while climb.mean_length(bound) < run_length:
        bound += _RISE
        climb.to(bound + 1e-6, longest=_TOO_LONG * run_length)
    # Just above a height that runs reach, so that with a handful of distinct risks no rounding decides who passes it.
    heights = climb.heights(bound) + 1e-9
    low, high = 0, heights.size - 1
    while low < high:  # the lowest height whose run length is long enough; run lengths grow with the height
        middle = (low + high) // 2
        low, high = (low, middle) if climb.mean_length(heights[middle]) >= run_length else (middle + 1, high)
    limit = float(heights[low])
    if low == 0:
        raise ValueError(f"with these risks even the first rise of the sum takes more than {run_length} patients")
    lengths = climb.lengths(limit)
    return SolvedLimit(limit, float(lengths.mean()), float(lengths.std(ddof=1) / np.sqrt(runs)))


def risk_adjusted_run_lengths(
    risks: npt.ArrayLike,
    *,
    limit: float,
    odds_ratio: float = WORSE,
    truth: float = 1.0,
    runs: int = 5_000,
    seed: int = 0,
    longest: float = 1e6,
) -> Floats:
    """Patients until one side signals, in so many runs, when the odds of the event are `truth` times those of the
    risks: 1 is stable performance, `odds_ratio` the change it is made to find."""
    climb = _Climb(risks, odds_ratio, truth=truth, runs=runs, rng=generator(seed, "risk-adjusted run lengths"))
    climb.to(positive(limit, "limit"), longest=longest)
    return climb.lengths(limit)


class _Climb:
    """Runs of the sum, and the record of every new height: (run, time, height before, height after)."""

    def __init__(
        self, risks: npt.ArrayLike, odds_ratio: float, *, truth: float, runs: int, rng: np.random.Generator
    ) -> None:
        p = np.asarray(risks, dtype=np.float64).ravel()
        p = p[~np.isnan(p)]
        if p.size == 0 or np.any((p < 0) | (p > 1)) or not np.any((p > 0) & (p < 1)):
            raise ValueError(
                "risks must lie in [0, 1], and some strictly between: outcomes known beforehand say nothing"
            )
        if runs < 2:
            raise ValueError(f"runs must be at least 2, got {runs}")
        self._chance = p * positive(truth, "truth") / (1 + (truth - 1) * p)
        self._weight = np.stack([risk_adjusted_weights(np.full(p.size, y), p, odds_ratio=odds_ratio) for y in (0, 1)])
        self._rng = rng
        self._sum, self._peak, self._clock = np.zeros(runs), np.zeros(runs), np.zeros(runs, dtype=np.int64)
        self._records: list[tuple[npt.NDArray[np.int64], Floats, Floats, Floats]] = []

    def to(self, bound: float, *, longest: float) -> None:
        """Go on until every run has been above the bound."""
        while (left := np.flatnonzero(self._peak <= bound)).size:
            if self._clock[left].max() > longest:
                raise ValueError(
                    f"a run of {longest:.0f} patients did not pass a limit of {bound}: the risks carry too little "
                    "information for this run length; ask for a longer one"
                )
            self._advance(left, steps=max(32, min(1024, _AT_ONCE // left.size)))

    def _advance(self, left: npt.NDArray[np.intp], *, steps: int) -> None:
        drawn = self._rng.integers(0, self._chance.size, (left.size, steps))
        event = self._rng.random(drawn.shape) < self._chance[drawn]
        total = self._sum[left, None] + np.cumsum(self._weight[event.astype(np.intp), drawn], axis=1)
        sums = total - np.minimum(0.0, np.minimum.accumulate(total, axis=1))
        peaks = np.maximum.accumulate(np.column_stack([self._peak[left], sums]), axis=1)
        run, step = np.nonzero(peaks[:, 1:] > peaks[:, :-1])
        time = (self._clock[left[run]] + step + 1).astype(np.float64)
        self._records.append((left[run], time, peaks[run, step], peaks[run, step + 1]))
        self._sum[left], self._peak[left] = sums[:, -1], peaks[:, -1]
        self._clock[left] += steps

    def heights(self, bound: float) -> Floats:
        """Heights up to the bound at which some run's length changes, in order, and the bound itself."""
        reached = np.concatenate([before for _, _, before, _ in self._records])
        return np.unique(np.append(reached[reached <= bound], bound).round(8))

    def lengths(self, limit: float) -> Floats:
        """Every run's first time above a limit that all of them have passed."""
        found = np.full(self._peak.size, np.nan)
        for run, time, before, after in self._records:
            crossed = (before <= limit) & (limit < after)
            found[run[crossed]] = time[crossed]
        return found

    def mean_length(self, limit: float) -> float:
        """Mean run length; 0 before the first step."""
        return float(self.lengths(limit).mean()) if self._records else 0.0


def _patients(outcome: npt.ArrayLike, risk: npt.ArrayLike) -> tuple[Floats, Floats, Bools]:
    y, p = np.asarray(outcome, dtype=np.float64), np.asarray(risk, dtype=np.float64)
    if y.shape != p.shape or y.ndim == 0:
        raise ValueError(f"outcome and risk must have one shape with an axis of patients, got {y.shape} and {p.shape}")
    seen = ~(np.isnan(y) | np.isnan(p))
    if not np.isin(y[seen], (0.0, 1.0)).all():
        raise ValueError("outcome must be 0 or 1, or NaN where it is not known yet")
    if np.any((p[seen] < 0) | (p[seen] > 1)):
        raise ValueError("risk must lie in [0, 1], or be NaN where there is none")
    return y, p, seen


def _odds_ratio(given: float) -> float:
    if not (given > 0 and np.isfinite(given)) or given == 1:
        raise ValueError(f"odds_ratio must be a positive number other than 1, got {given}")
    return float(given)
