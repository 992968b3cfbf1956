"""Trends and forecasts: a planted line is found, its crossing is covered, and where there is no trend none is told."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.planted_months import STABLE, Month, looked, months, planted
from workup.lenses.drift.trend import FEWEST_WINDOWS, trend
from workup.metric import mean, ratio
from workup.report import LensResult
from workup.scores import Scores
from workup.stats.intervals import t_critical

FOUND = ratio("found", lambda s: s["hit"], lambda s: np.ones(len(s)), describe="share found")


# ---- lines -----------------------------------------------------------------------------------------------------------


def test_a_line_without_noise_is_found_with_the_error_of_its_points() -> None:
    line = trend([0, 1, 2, 3, 4], [1.0, 0.9, 0.8, 0.7, 0.6], [0.1] * 5)
    assert (line.value, line.slope) == pytest.approx((1.0, -0.1))
    assert line.covariance[1, 1] == pytest.approx(0.1**2 / 10)  # the variance of a slope: σ² / Σ(t − mean)²
    assert line.df == 3


def test_points_that_scatter_more_than_their_errors_make_the_slope_less_sure() -> None:
    values = [0.80, 0.70, 0.82, 0.68, 0.81, 0.69]
    tight = trend(range(6), values, [0.001] * 6)
    assert math.sqrt(tight.covariance[1, 1]) > 10 * 0.001 / math.sqrt(17.5)
    assert not tight.clear


def test_precise_points_weigh_more() -> None:
    times, values = [0, 1, 2, 3], [0.0, 1.0, 2.0, 9.0]
    assert trend(times, values, [1, 1, 1, 1000]).slope == pytest.approx(1.0, abs=1e-3)
    assert trend(times, values, [1, 1, 1, 1]).slope > 2


def test_windows_without_a_value_are_not_zero() -> None:
    nan = math.nan
    whole, holes = (
        trend([0, 1, 2, 3, 4], [5, 4, 3, 2, 1], [1] * 5),
        trend([0, 1, 2, 3, 4], [5, nan, 3, 2, 1], [1, nan, 1, 1, 1]),
    )
    assert holes.slope == pytest.approx(whole.slope)
    assert holes.df == whole.df - 1


def test_too_few_windows_have_no_trend() -> None:
    found = trend([0, 1, 2], [1, 2, 3], [1, 1, 1])
    assert found == f"3 windows with a value; a trend needs at least {FEWEST_WINDOWS}"


def test_the_crossing_and_its_interval_satisfy_fieller() -> None:
    rng = np.random.default_rng(3)
    times = np.arange(12.0)
    line = trend(times, 0.85 - 0.01 * times + rng.normal(0, 0.004, 12), np.full(12, 0.004))
    at, low, high = line.crossing(0.70)
    assert low < at < high
    assert at == pytest.approx((0.70 - line.value) / line.slope)
    for end in (low, high):  # where the line's own interval just touches the limit
        gap = line.value + line.slope * end - 0.70
        (a, c), (_, b) = line.covariance
        assert abs(gap) == pytest.approx(t_critical(0.95, line.df) * math.sqrt(a + 2 * end * c + end**2 * b), rel=1e-9)


def test_the_interval_of_a_crossing_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(8)
    times, covered, told = np.arange(10.0), 0, 0
    for _ in range(600):
        line = trend(times, 0.80 - 0.01 * times + rng.normal(0, 0.01, 10), np.full(10, 0.01))
        found = line.crossing(0.65)
        if found is not None:
            told += 1
            covered += found[1] <= 15.0 <= found[2]
    assert told > 550
    assert covered / told > 0.93


def test_a_slope_that_may_be_none_has_no_crossing() -> None:
    line = trend(range(6), [0.80, 0.79, 0.81, 0.80, 0.79, 0.80], [0.01] * 6)
    assert not line.clear
    assert line.crossing(0.70) is None


# ---- through the lens ------------------------------------------------------------------------------------------------


def declining(slope: float, *, months_watched: int = 8) -> LensResult:
    """A share of 0.90 for ten months, then falling by so much a month, in windows of 2,000 rows."""
    shares = np.append(np.full(10, 0.90), 0.90 - slope * np.arange(months_watched))
    starts = np.datetime64("2023-01", "M") + np.arange(len(shares))
    hit = np.concatenate([np.arange(2000) < round(2000 * share) for share in shares])
    scores = Scores.of({"hit": hit.astype(float)}, time=np.repeat(starts.astype("datetime64[us]"), 2000))
    return looked(scores, metrics=[FOUND], baseline=10)


def test_a_planted_decline_is_forecast_to_cross_its_limit_on_its_day() -> None:
    [row] = declining(0.004).tables["forecast"]
    assert row["slope_a_year"] == pytest.approx(-0.004 * 12, rel=0.03)
    assert row["low"] < row["slope_a_year"] < row["high"]
    # The limit is 0.05 below 0.90; at 0.004 a month from November 2023 on that is 12.5 months.
    assert abs(np.datetime64(row["crosses"]) - np.datetime64("2024-12-01")) < np.timedelta64(30, "D")
    assert row["crosses_low"] < row["crosses"] < row["crosses_high"]
    assert row["reason"] == ""


def test_a_limit_that_was_crossed_is_said_to_be_behind() -> None:
    [row] = declining(0.02).tables["forecast"]
    assert row["reason"] == "the line has reached it already"
    assert row["crosses"] < "2024-04-01"


def test_a_move_for_the_better_crosses_nothing() -> None:
    [row] = declining(-0.01).tables["forecast"]
    assert (row["crosses"], row["reason"]) == (None, "it moves for the better")


def test_no_trend_no_forecast() -> None:
    [row] = declining(0.0).tables["forecast"]
    assert (row["crosses"], row["crosses_low"], row["crosses_high"]) == (None, None, None)
    assert row["reason"] == "no clear trend"


def test_a_crossing_decades_ahead_is_not_dated() -> None:
    [row] = declining(0.0002, months_watched=72).tables["forecast"]
    assert (row["crosses"], row["reason"]) == (None, "it would take more than 10 years")
    assert row["slope_a_year"] == pytest.approx(-0.0024, rel=0.1)


def test_too_few_windows_are_told_in_every_row() -> None:
    result = looked(planted(months((8, STABLE), (2, STABLE))), baseline=8)
    assert [row["reason"] for row in result.tables["forecast"]] == ["2 windows with a value; a trend needs at least 4"]


def test_a_group_crosses_its_own_limit_and_a_series_without_a_baseline_none() -> None:
    listed = months((8, Month(rows=900)), (5, Month(rows=900)))
    scores = planted(listed)
    rare = np.where(np.arange(len(scores)) % 40 == 0, "X", scores.groups["sex"].codes.astype(str))
    scores = Scores.of(dict(scores.values), time=scores.time, groups={"sex": rare})
    rows = looked(scores, by=["sex"], baseline=8).tables["forecast"]
    reasons = {row["slice"].get("sex"): row["reason"] for row in rows if row["type"] == "performance"}
    assert reasons["X"].startswith("0 windows") or reasons["X"].startswith("no baseline")
    assert "Trend(" not in str(rows)


def test_an_empty_window_moves_no_trend() -> None:
    wait = mean("wait", lambda s: s["wait"], describe="minutes", better="lower")
    starts = np.datetime64("2023-01", "M") + np.array([0, 1, 2, 3, 4, 5, 6, 7, 9, 10])  # none in September
    rng = np.random.default_rng(5)
    minutes = np.concatenate([rng.normal(20 + (0 if i < 5 else i - 4), 3, 200) for i in range(10)])
    scores = Scores.of({"wait": minutes}, time=np.repeat(starts.astype("datetime64[us]"), 200))
    result = looked(scores, metrics=[wait], baseline=5)
    assert [row["status"] for row in result.tables["windows"]][8] == "insufficient"
    [row] = result.tables["forecast"]
    assert row["slope_a_year"] == pytest.approx(12 * 4 / 5, rel=0.25)
