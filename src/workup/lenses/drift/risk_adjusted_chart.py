"""A risk-adjusted CUSUM over patients as they came: evidence, one outcome after another, that events have become more
or less common than the recalibrated risks say. Signals are reported by window."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.errors import StudyError
from workup.lenses.drift.alerts import Finding
from workup.lenses.drift.kinds import recalibration
from workup.lenses.drift.monitor.state import ACTED, not_acted_on, reaches
from workup.scores import RISK, Scores
from workup.stats import calibration
from workup.stats.arrays import Floats
from workup.stats.charts.control_charts import cusum_of
from workup.stats.charts.risk_adjusted import BETTER, WORSE, risk_adjusted_limit, risk_adjusted_weights
from workup.stats.random import generator

NAME = "ra_cusum"
ALERT = "risk_adjusted_cusum"
_SIMULATED, _RUNS = 2_000, 2_000  # patients until a signal, on average, and how often that is simulated
MATTERS = 0.20  # events a fifth above or below what is expected


@dataclass(frozen=True)
class RiskAdjusted:
    """The two sums and their limits. `after` answers the chart once one more window has been seen; no row is kept.

    Risks are recalibrated on the baseline by `line`, so that the baseline itself is in control.
    """

    events: str
    line: tuple[float, float]
    upper: float
    lower: float
    seed: int
    up: float = 0.0
    down: float = 0.0

    @classmethod
    def start(
        cls, baseline: Scores, events: str | None, *, rows_a_year: float, chance: float, seed: int
    ) -> RiskAdjusted:
        """Limits at which both sides together signal in at most `chance` of stable years of so many rows.

        They are simulated from the baseline's risks; the error of the recalibration is not counted in them.
        """
        line = None if events is None else recalibration(baseline, events)
        if events is None or line is None:
            raise StudyError(f"lenses.drift.charts: '{NAME}' needs a risk and an outcome in every row.")
        if baseline.weight is not None:
            raise StudyError(f"lenses.drift.charts: '{NAME}' counts patients one by one; rows with weights it cannot.")
        chances = np.sort(_chances(baseline, line))  # draws are by place, which the order of a file must not decide
        # Run lengths are nearly exponential: a mean of n / −log(1 − chance) lets so many years pass without a signal.
        run_length = 2 * rows_a_year / -np.log1p(-chance)
        try:
            upper, lower = (_limit(chances, run_length, odds_ratio, seed) for odds_ratio in (WORSE, BETTER))
        except ValueError as error:
            raise StudyError(f"lenses.drift.charts: '{NAME}' has no limit here: {error}.") from None
        return cls(events, line, upper, lower, seed)

    def after(self, window: str, scores: Scores) -> tuple[RiskAdjusted, dict[str, Any], Finding]:
        """The chart after a window, what it shows there, and what that says."""
        order = self._as_they_came(window, scores)
        happened, chance = scores[self.events][order], _chances(scores, self.line)[order]
        rise, fall = (risk_adjusted_weights(happened, chance, odds_ratio=ratio) for ratio in (WORSE, BETTER))
        # A first step as high as the sums already are carries them over from the window before.
        steps = np.concatenate([[self.up], rise]), np.concatenate([[self.down], fall])
        seen = np.append(False, np.isfinite(rise))
        seen[0] = True
        chart = cusum_of(*steps, seen, upper=self.upper, lower=self.lower)
        above, below = bool(chart.signal_up[1:].any()), bool(chart.signal_down[1:].any())
        observed, expected = float(happened.sum()), float(chance.sum())
        state = {
            "chart": NAME,
            "type": "performance",
            "metric": "oe_ratio",
            "slice": {},
            "window": window,
            "value": observed / expected,
            "se": None,
            "baseline": 1.0,
            "z": None,
            "statistic": float(chart.statistic[-1]),
            "lower": -self.lower,
            "upper": self.upper,
            "limit": self.lower if below and not above else self.upper,
            "signal": above or below,
            "status": "ok",
            "reason": "observed over expected after recalibration on the baseline",
        }
        signals = above if observed > expected else below
        finding = self._finding(window, scores, signals=signals)
        return replace(self, up=float(chart.up[-1]), down=-float(chart.down[-1])), state, finding

    def _as_they_came(self, window: str, scores: Scores) -> npt.NDArray[np.intp]:
        """Rows in the order of time. Rows of one moment come in a drawn order that knows no outcome: by risk and
        outcome, as tables are sorted, events would come last in every day and the sum would climb for nothing."""
        assert scores.time is not None
        place = np.lexsort((scores[self.events], scores[RISK], scores.time))
        drawn = generator(self.seed, "order within a moment", window).random(len(scores))
        return np.asarray(place[np.lexsort((drawn, scores.time[place]))])

    def _finding(self, window: str, scores: Scores, *, signals: bool) -> Finding:
        effect, low, high, message = self._observed_over_expected(scores)
        fires: bool | None = signals and _matters(effect, low, high)
        if fires and ACTED in scores.values:
            spared = self._observed_over_expected(not_acted_on(scores))
            if not (_matters(*spared[:3]) and np.sign(spared[0]) == np.sign(effect)):
                fires, message = None, f"{message}; but where no one acted, {spared[3]}"
        severity: Any = "high" if reaches(effect, 2 * MATTERS) else "medium"
        return Finding("performance", ALERT, {}, window, fires, effect, severity, message)

    def _observed_over_expected(self, scores: Scores) -> tuple[float, float, float, str]:
        """O/E less 1 with the ends of O/E, and the sentence that reports them."""
        happened, chance = scores[self.events], _chances(scores, self.line)
        observed, expected = float(happened.sum()), float(chance.sum())
        counts = f"{observed:g} events where {expected:.4g} were expected"
        if not (0 < observed < len(scores) and scores.n_patients > 1):
            return np.nan, np.nan, np.nan, counts
        (low, high), _ = calibration.oe_interval(happened, chance, np.ones(len(scores)), scores.patient)
        ratio = observed / expected
        return ratio - 1, low, high, f"{counts}: {ratio:.3g} ({low:.3g} to {high:.3g})"


def _matters(effect: float, low: float, high: float) -> bool:
    return reaches(effect, MATTERS) and (low > 1 or high < 1)


def _chances(scores: Scores, line: tuple[float, float]) -> Floats:
    return np.asarray(special.expit(line[0] + line[1] * calibration.logit(scores[RISK])))


def _limit(chances: Floats, run_length: float, odds_ratio: float, seed: int) -> float:
    """The limit of one side. Runs of millions of patients cannot be simulated, and need not be: the sum is one of log
    likelihood ratios, whose run length grows as e to the limit (Siegmund 1985), so a simulated one is carried on."""
    short = min(run_length, _SIMULATED)
    solved = risk_adjusted_limit(chances, run_length=short, odds_ratio=odds_ratio, seed=seed, runs=_RUNS)
    return solved.limit + float(np.log(run_length / solved.run_length))
