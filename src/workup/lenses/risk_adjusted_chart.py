"""A risk-adjusted CUSUM over patients as they came: evidence, one outcome after another, that events have become more
or less common than the recalibrated risks say. Signals are told by window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from workup.lenses.alerts import Finding
from workup.lenses.kinds import RISK
from workup.lenses.windows import Window
from workup.scores import Floats, Scores
from workup.stats import calibration
from workup.stats.calibration import oe_interval
from workup.stats.risk_adjusted import risk_adjusted_cusum, risk_adjusted_limit

NAME = "ra_cusum"
_SIMULATED, _RUNS = 2_000, 2_000  # patients until a signal, on average, and how often that is simulated
MATTERS = 0.20  # events a fifth above or below what is expected


def risk_adjusted_chart(
    scores: Scores,
    base: Scores,
    later: Sequence[Window],
    events: str,
    line: tuple[float, float],
    *,
    windows_a_year: int,
    chance: float,
    seed: int,
) -> list[tuple[dict[str, Any], Finding]]:
    """One state and one finding per watched window.

    Risks are recalibrated on the baseline, so that the baseline itself is in control. The limit is that at which both
    sides together signal in at most `chance` of stable years; the error of the recalibration is not counted in it.
    """
    judged = [window for window in later if window.status == "ok"]
    if not judged:
        return []
    chances = special.expit(line[0] + line[1] * calibration.logit(base[RISK]))
    a_year = windows_a_year * float(np.mean([window.rows.size for window in judged]))
    # Run lengths are nearly exponential: a mean of n / −log(1 − chance) lets so many years pass without a signal.
    run_length = 2 * a_year / -np.log1p(-chance)
    upper, lower = (_limit(chances, run_length, odds_ratio, seed) for odds_ratio in (2.0, 0.5))
    rows = np.concatenate([window.rows[_in_time(scores, window.rows)] for window in judged])
    risk = special.expit(line[0] + line[1] * calibration.logit(scores[RISK][rows]))
    chart = risk_adjusted_cusum(scores[events][rows], risk, upper=upper, lower=lower)
    found, done = [], 0
    for window in judged:
        part = slice(done, done + window.rows.size)
        done += window.rows.size
        observed, expected = float(scores[events][rows[part]].sum()), float(risk[part].sum())
        up = bool(chart.signal_up[part].any())
        state = {
            "chart": NAME,
            "type": "performance",
            "metric": "oe_ratio",
            "slice": {},
            "window": window.name,
            "value": observed / expected,
            "se": None,
            "baseline": 1.0,
            "z": None,
            "statistic": chart.statistic[done - 1],
            "lower": -lower,
            "upper": upper,
            "limit": upper if up else lower,
            "signal": bool(chart.signal[part].any()),
            "status": "ok",
            "reason": "observed over expected after recalibration on the baseline",
        }
        found.append((state, _finding(window, observed, expected, signal=state["signal"])))
    return found


def _limit(chances: Floats, run_length: float, odds_ratio: float, seed: int) -> float:
    """The limit of one side. Runs of millions of patients cannot be simulated, and need not be: the sum is one of log
    likelihood ratios, whose run length grows as e to the limit (Siegmund 1985), so a simulated one is carried on."""
    short = min(run_length, _SIMULATED)
    solved = risk_adjusted_limit(chances, run_length=short, odds_ratio=odds_ratio, seed=seed, runs=_RUNS)
    return solved.limit + float(np.log(run_length / solved.run_length))


def _in_time(scores: Scores, rows: Any) -> Any:
    assert scores.time is not None
    return np.argsort(scores.time[rows], kind="stable")


def _finding(window: Window, observed: float, expected: float, *, signal: bool) -> Finding:
    effect = observed / expected - 1
    (low, high), _ = oe_interval(observed, expected, window.rows.size)
    fires = signal and abs(effect) >= MATTERS and (low > 1 or high < 1)
    ratio = f"{observed / expected:.3g} ({low:.3g} to {high:.3g})"
    message = f"{observed:g} events where {expected:.4g} were expected: {ratio}"
    severity: Any = "high" if abs(effect) >= 2 * MATTERS else "medium"
    return Finding("performance", "risk_adjusted_cusum", {}, window.name, fires, effect, severity, message)
