"""Profile-likelihood intervals: the exact roots, and R's interpolated ones reproduced from the same deviance.

R's confint() (MASS 7.3-58) profiles a glm at steps of a fifth of the cutoff, threads a spline through the signed roots
of the rise in deviance and reads it linearly: up to 4e-4 from the true root. Ours solves for the root, so the reference
values are met by putting our deviance through R's grid.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from tests.support.cohorts import draw_cohort
from tests.support.oracles import Case, cases
from workup.stats import calibration, logistic

Profiled = Callable[[float], float]


def _profiles(y: np.ndarray, lp: np.ndarray) -> dict[str, tuple[Profiled, calibration.Fitted, list[float]]]:
    """The deviance along each parameter, its maximum-likelihood fit and our interval."""
    w, constant = np.ones(y.size), np.ones((y.size, 1))

    def along_slope(value: float) -> float:
        offset = value * lp
        best = logistic.fit(constant, y, w[None, :], offset=offset).coefficients[0]
        return logistic.deviance(best, constant, y, w, offset=offset)

    def along_large(value: float) -> float:
        return logistic.deviance(np.array([value]), constant, y, w, offset=lp)

    slope, large = calibration.slope(y, lp, w), calibration.in_the_large(y, lp, w)
    return {
        "slope_ci95_profile": (along_slope, slope, list(calibration.slope_profile(y, lp, slope))),
        "citl_ci95_profile": (along_large, large, list(calibration.in_the_large_profile(y, lp, large))),
    }


def _forsythe_malcolm_moler(x: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """R's default spline(): each end piece has the third derivative of the cubic through the four points there."""
    n, h = x.size, np.diff(x)
    rise = np.diff(y) / h
    system, right = np.zeros((n, n)), np.zeros(n)
    for i in range(1, n - 1):
        system[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        right[i] = rise[i] - rise[i - 1]
    system[0, :2] = system[-1, -2:] = -1, 1
    right[0] = h[0] * np.polyfit(x[:4] - x[0], y[:4], 3)[0]
    right[-1] = h[-1] * np.polyfit(x[-4:] - x[-4], y[-4:], 3)[0]
    bend = np.linalg.solve(system, right)

    def spline(at: np.ndarray) -> np.ndarray:
        i = np.clip(np.searchsorted(x, at, side="right") - 1, 0, n - 2)
        d = at - x[i]
        first = rise[i] - h[i] * (bend[i + 1] + 2 * bend[i])
        return np.asarray(y[i] + d * (first + d * (3 * bend[i] + d * (bend[i + 1] - bend[i]) / h[i])))

    return spline


def _as_r_interpolates(profiled: Profiled, fitted: calibration.Fitted, level: float = 0.95) -> list[float]:
    """MASS's profile.glm and confint.profile.glm around a deviance of ours."""
    cutoff = np.sqrt(stats.chi2.ppf(1 - (1 - level) / 4, 1))
    best = profiled(fitted.value)
    points = [(fitted.value, 0.0)]
    for sign in (-1, 1):
        for step in range(1, 10):
            value = fitted.value + sign * step * cutoff / 5 * fitted.se
            z = np.sqrt(max(profiled(value) - best, 0.0))
            points.append((value, sign * z))
            if z >= cutoff:
                break
    x, z = np.array(sorted(points)).T
    grid = np.linspace(x[0], x[-1], 3 * x.size)
    tails = stats.norm.ppf([(1 - level) / 2, (1 + level) / 2])
    return [float(end) for end in np.interp(tails, _forsythe_malcolm_moler(x, z)(grid), grid)]


@cases("calibration")
@pytest.mark.parametrize("field", ["slope_ci95_profile", "citl_ci95_profile"])
def test_rs_grid_over_our_deviance_gives_rs_interval(case: Case, field: str) -> None:
    profiled, fitted, _ = _profiles(case.array("y"), calibration.logit(case.array("p")))[field]
    assert _as_r_interpolates(profiled, fitted) == case.near(field)


@cases("calibration")
@pytest.mark.parametrize("field", ["slope_ci95_profile", "citl_ci95_profile"])
def test_our_ends_are_the_exact_roots_near_rs(case: Case, field: str) -> None:
    profiled, fitted, ends = _profiles(case.array("y"), calibration.logit(case.array("p")))[field]
    for end in ends:
        assert profiled(end) - profiled(fitted.value) == pytest.approx(stats.chi2.ppf(0.95, 1), abs=1e-8)
    assert ends == pytest.approx(case.expected[field], rel=1e-3)
    wald = case.expected[field.replace("profile", "wald")]
    assert ends != pytest.approx(wald, rel=1e-3)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_level_sets_the_rise_in_deviance(level: float) -> None:
    scores = draw_cohort(2, 70)
    y, lp = scores["outcome"], calibration.logit(scores["risk"])
    for field, fit in (
        ("slope_ci95_profile", calibration.slope_profile),
        ("citl_ci95_profile", calibration.in_the_large_profile),
    ):
        profiled, fitted, _ = _profiles(y, lp)[field]
        ends = fit(y, lp, fitted, level=level)
        assert ends.low < fitted.value < ends.high
        for end in ends:
            assert profiled(end) - profiled(fitted.value) == pytest.approx(stats.chi2.ppf(level, 1), abs=1e-7)
