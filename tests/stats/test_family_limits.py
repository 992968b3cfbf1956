"""Limits for a family: the chance of any alarm in a stable year, by formula, by simulation and at the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

from workup.stats.charts import family_limits
from workup.stats.charts.baselines import standardise
from workup.stats.charts.control_charts import cusum, ewma
from workup.stats.charts.family_limits import cusum_family_limit, false_alarm_chance, family_limit

SEED = 20261115


def stable_years(years: int, series: int, windows: int, *, ratio: float = np.inf, correlation: float = 0.0) -> Any:
    """z [year, series, window] of stable series, each with a baseline of `ratio` windows' worth."""
    rng = np.random.default_rng(SEED)

    def drawn(*shape: int) -> Any:
        shared = np.sqrt(correlation) * rng.standard_normal((years, 1, *shape))
        return shared + np.sqrt(1 - correlation) * rng.standard_normal((years, series, *shape))

    se = ratio**-0.5
    return standardise(drawn(windows), 1.0, baseline=se * drawn(), baseline_se=se)


def alarms(signal: Any) -> float:
    return float(signal.any(axis=(1, 2)).mean())


def test_the_known_numbers() -> None:
    """25 series × 12 windows: about 3.6 and 3.7; and 60 % of stable years alarm at the limit of a single series."""
    assert family_limit(25, 12) == pytest.approx(3.553, abs=0.001)
    assert family_limit(25, 12, fast_start=True) == pytest.approx(3.713, abs=0.001)
    assert false_alarm_chance(25, 12, limit=2.86, fast_start=True) == pytest.approx(0.6014, abs=0.0005)


@pytest.mark.parametrize("fast_start", [False, True])
def test_single_series_limits_on_a_family_are_the_flaw_and_family_limits_the_cure(fast_start: bool) -> None:
    z = stable_years(8000, 25, 12)
    flawed = alarms(ewma(z, fast_start=fast_start).signal)
    assert flawed == pytest.approx(false_alarm_chance(25, 12, limit=2.86, fast_start=fast_start), abs=0.02)
    assert flawed > 0.4
    cured = ewma(z, limit=family_limit(25, 12, fast_start=fast_start), fast_start=fast_start)
    assert alarms(cured.signal) == pytest.approx(0.05, abs=0.008)


@pytest.mark.parametrize(("ratio", "fast_start"), [(10.0, False), (10.0, True), (3.0, False), (1.0, False)])
def test_the_error_of_the_baseline_is_in_the_chance(ratio: float, fast_start: bool) -> None:
    z = stable_years(8000, 10, 12, ratio=ratio)
    limit = family_limit(10, 12, baseline_windows=ratio, fast_start=fast_start)
    assert alarms(ewma(z, limit=limit, fast_start=fast_start).signal) == pytest.approx(0.05, abs=0.008)
    forgot = family_limit(10, 12, fast_start=fast_start)
    expected = false_alarm_chance(10, 12, limit=forgot, baseline_windows=ratio, fast_start=fast_start)
    assert alarms(ewma(z, limit=forgot, fast_start=fast_start).signal) == pytest.approx(expected, abs=0.02)
    assert expected > 0.12


def test_a_baseline_of_ten_windows_left_out_alarms_in_a_third_of_stable_years() -> None:
    known = family_limit(25, 12)
    assert false_alarm_chance(25, 12, limit=known, baseline_windows=10) == pytest.approx(0.323, abs=0.001)
    assert family_limit(25, 12, baseline_windows=10) == pytest.approx(4.311, abs=0.001)


@pytest.mark.parametrize("ratio", [np.inf, 10.0])
def test_cusum_families_hold_the_chance_too(ratio: float) -> None:
    z = stable_years(8000, 10, 12, ratio=ratio)
    limit = cusum_family_limit(10, 12, baseline_windows=ratio)
    assert alarms(cusum(z, limit=limit).signal) == pytest.approx(0.05, abs=0.008)


@pytest.mark.parametrize("ratio", [np.inf, 10.0])
def test_correlated_series_are_on_the_safe_side_and_may_be_told(ratio: float) -> None:
    z = stable_years(8000, 15, 12, ratio=ratio, correlation=0.7)
    plain = family_limit(15, 12, baseline_windows=ratio)
    told = family_limit(15, 12, baseline_windows=ratio, correlation=0.7, seed=SEED)
    assert told < plain - 0.1
    assert alarms(ewma(z, limit=plain).signal) < 0.045
    assert alarms(ewma(z, limit=told).signal) == pytest.approx(0.047, abs=0.008)


def test_negatively_correlated_series_are_on_the_safe_side_too() -> None:
    rng = np.random.default_rng(SEED)
    z = rng.standard_normal((20_000, 1, 12)) * np.array([[1.0], [-1.0]])
    assert alarms(ewma(z, limit=family_limit(2, 12)).signal) < 0.035
    assert family_limit(2, 12, correlation=-1.0) < family_limit(2, 12)


def test_a_matrix_of_equal_correlations_is_one_correlation() -> None:
    matrix = np.full((6, 6), 0.8)
    np.fill_diagonal(matrix, 1.0)
    assert family_limit(6, 12, correlation=matrix, seed=2) == family_limit(6, 12, correlation=0.8, seed=2)
    one = family_limit(1, 12)
    assert family_limit(6, 12, correlation=1.0, seed=2) == pytest.approx(one, abs=0.06)
    assert family_limit(6, 12, correlation=0.0, seed=2) == family_limit(6, 12)  # never above the independent one


def test_series_may_have_baselines_of_their_own() -> None:
    mixed = family_limit(4, 12, baseline_windows=[10, 10, 40, np.inf])
    assert family_limit(4, 12) < mixed < family_limit(4, 12, baseline_windows=10)
    each = [false_alarm_chance(1, 12, limit=mixed, baseline_windows=ratio) for ratio in (10, 10, 40, np.inf)]
    assert 1 - np.prod([1 - one for one in each]) == pytest.approx(0.05, abs=1e-8)


def test_limits_grow_with_the_family_and_shrink_with_the_baseline() -> None:
    by_series = [family_limit(n, 12) for n in (1, 5, 25, 100)]
    by_windows = [family_limit(25, n) for n in (1, 4, 12, 52)]
    by_baseline = [family_limit(25, 12, baseline_windows=n) for n in (np.inf, 1000, 100, 10, 5, 2, 1)]
    by_chance = [family_limit(25, 12, chance=chance) for chance in (0.2, 0.05, 0.01)]
    for found in (by_series, by_windows, by_baseline, by_chance):
        assert found == sorted(found)
        assert len(set(found)) == len(found)
    assert by_baseline[1] == pytest.approx(by_baseline[0], abs=0.02)
    assert cusum_family_limit(25, 12, baseline_windows=10) > cusum_family_limit(25, 12) > cusum_family_limit(1, 12)


def test_weight_one_is_sidak() -> None:
    sidak = -special.ndtri((1 - 0.95 ** (1 / 300)) / 2)
    assert family_limit(25, 12, weight=1.0) == pytest.approx(sidak, rel=1e-8)
    assert family_limit(25, 12, weight=1.0, fast_start=True) == pytest.approx(sidak, rel=1e-8)


def test_more_points_over_the_baseline_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [family_limit(25, 12, baseline_windows=ratio) for ratio in (10, 2, 1)]
    monkeypatch.setattr(family_limits, "_ERRORS", 160)
    monkeypatch.setattr(family_limits, "_ERRORS_WHEN_VAGUE", 160)
    assert few == pytest.approx([family_limit(25, 12, baseline_windows=ratio) for ratio in (10, 2, 1)], abs=1e-6)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="series and windows must be at least 1"):
        family_limit(0, 12)
    with pytest.raises(ValueError, match="chance must lie between 0 and 1"):
        family_limit(3, 12, chance=0.0)
    with pytest.raises(ValueError, match="one for each of 3 series"):
        family_limit(3, 12, baseline_windows=[10, 20])
    for nothing in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="baseline_windows must be above 0"):
            family_limit(3, 12, baseline_windows=nothing)
    with pytest.raises(ValueError, match="3 × 3 matrix"):
        family_limit(3, 12, correlation=np.eye(2))
    with pytest.raises(ValueError, match="negative eigenvalue"):
        family_limit(3, 12, correlation=-0.9)
    with pytest.raises(ValueError, match="symmetric with ones"):
        family_limit(2, 12, correlation=[[1.0, 0.2], [0.4, 1.0]])
    with pytest.raises(ValueError, match="years must be more"):
        family_limit(2, 12, correlation=0.5, years=20)


def test_a_simulated_limit_is_the_order_statistic_two_errors_on_the_safe_side(monkeypatch: pytest.MonkeyPatch) -> None:
    years, chance = 2000, 0.05
    highest = np.linspace(0.0, 2.0, years)
    monkeypatch.setattr(family_limits, "_highest", lambda *args, **more: highest[::-1])
    found = family_limit(5, 12, correlation=0.5, chance=chance, years=years)
    # 1,900 years are within the chance, two standard errors (9.75 years each) more make it 1,920.
    assert found == highest[1920 - 1]
    assert np.mean(highest > found) == 0.04
