"""Distances of two samples against R, scipy, counting by hand, and what must never change them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb, exp, fsum, log, pi, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.support.oracles import Case, cases
from workup.stats import distances
from workup.stats.distances import kolmogorov_smirnov, missingness, wasserstein
from workup.stats.random import generator

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

# A few values that repeat and many that do not: ties within and between the samples, in either or in neither.
tied = st.integers(-4, 4).map(float)
spaced = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 4))
columns = st.lists(tied | spaced, min_size=1, max_size=40)


# ---- against R -------------------------------------------------------------------------------------------------------


@cases("drift_continuous")
def test_statistics_meet_r(case: Case) -> None:
    x, y = case.array("x"), case.array("y")
    assert kolmogorov_smirnov(x, y).statistic == case.near("ks_D")
    found = wasserstein(x, y)
    assert found.distance == case.near("wasserstein1")
    assert found.scaled == case.near("wasserstein1_over_ref_sd")


def limit_as_r_sums_it(x: float) -> float:
    """R's ks.test sums Kolmogorov's series to 1e-6 only and subtracts from one, which leaves noise in small p."""
    if x < 1:
        terms = [exp(-(k**2) * pi**2 / (8 * x**2) - log(x)) for k in range(1, int(sqrt(2 - log(1e-6))), 2)]
        return 1 - fsum(terms) * sqrt(2 * pi)
    old, new, sign, k = 0.0, 1.0, -1, 1
    while abs(old - new) > 1e-6:
        old, new = new, new + 2 * sign * exp(-2 * x**2 * k**2)
        sign, k = -sign, k + 1
    return 1 - new


@cases("drift_continuous")
def test_limiting_p_is_the_whole_series_of_which_r_sums_a_part(case: Case) -> None:
    x, y = case.array("x"), case.array("y")
    found = kolmogorov_smirnov(x, y, method="asymptotic")
    assert found.method == "asymptotic"
    at = found.statistic * sqrt(x.size * y.size / (x.size + y.size))
    assert limit_as_r_sums_it(at) == case.near("ks_p_asymptotic")
    whole = 2 * fsum((-1) ** (k - 1) * exp(-2 * k**2 * at**2) for k in range(1, 60))
    assert found.p == pytest.approx(whole, rel=1e-10)
    assert found.p == pytest.approx(case.expected["ks_p_asymptotic"], rel=1e-8, abs=1e-5)  # R's own tolerance


def exact_by_counting(statistic_times_nm: int, n: int, m: int) -> Fraction:
    """The p of untied samples with whole numbers only: one minus the share of paths that stay near the diagonal."""
    near = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(m + 1):
            if abs(i * m - j * n) < statistic_times_nm:
                before = (near[i - 1][j] if i else 0) + (near[i][j - 1] if j else 0)
                near[i][j] = before if i + j else 1
    return 1 - Fraction(near[n][m], comb(n + m, n))


@cases("drift_continuous")
def test_exact_p_meets_r_and_whole_numbers(case: Case) -> None:
    x, y = case.array("x"), case.array("y")
    found = kolmogorov_smirnov(x, y)
    assert found.method == "exact"
    if case.expected["ks_p_exact"] is None:  # R's call left tied samples out
        assert np.unique(np.concatenate([x, y])).size < x.size + y.size
        return
    # Where R's value is itself a difference of numbers near one, it has no digits below 1e-13.
    assert found.p == pytest.approx(case.expected["ks_p_exact"], rel=case.rel_tol, abs=1e-13)
    counted = exact_by_counting(round(found.statistic * x.size * y.size), x.size, y.size)
    assert found.p == pytest.approx(float(counted), rel=1e-12)


# ---- against scipy and by hand ---------------------------------------------------------------------------------------


def gap_by_definition(x: Any, y: Any) -> float:
    """The widest gap between the two distribution functions, at every value there is."""
    at = np.concatenate([x, y])[:, None]
    return float(np.abs(np.mean(x <= at, axis=1) - np.mean(y <= at, axis=1)).max())


@settings(max_examples=150)
@given(columns, columns)
def test_statistics_meet_their_definitions_with_ties(x: list[float], y: list[float]) -> None:
    found = kolmogorov_smirnov(x, y)
    assert found.statistic == pytest.approx(gap_by_definition(x, y), abs=1e-12)
    distance = stats.wasserstein_distance(x, y)
    assert wasserstein(x, y).distance == pytest.approx(distance, rel=1e-9, abs=1e-9)


@settings(max_examples=60)
@given(st.lists(tied, min_size=1, max_size=5), st.lists(tied, min_size=1, max_size=5))
def test_exact_p_is_the_share_of_all_deals_ties_included(x: list[float], y: list[float]) -> None:
    pooled = np.array(x + y)
    seen = gap_by_definition(x, y)
    deals = list(combinations(range(pooled.size), len(x)))
    as_far = sum(gap_by_definition(pooled[list(deal)], np.delete(pooled, deal)) >= seen - 1e-12 for deal in deals)
    assert kolmogorov_smirnov(x, y).p == pytest.approx(as_far / len(deals), rel=1e-12)


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.5, 40.0])
@pytest.mark.parametrize("shape", ["continuous", "whole", "atom"])
@pytest.mark.parametrize(("n", "m"), [(5000, 3001), (700, 9000), (2, 5000), (5000, 2), (2, 3)])
def test_no_widest_gap_is_skipped(shape: str, n: int, m: int, shift: float) -> None:
    rng = generator(3, shape, n, m)
    x, y = rng.normal(0, 3, n), rng.normal(shift, 3, m)
    if shape == "whole":
        x, y = np.rint(x), np.rint(y)
    if shape == "atom":
        x, y = np.where(rng.random(n) < 0.3, 0, x), np.where(rng.random(m) < 0.3, 0, y)
    found = kolmogorov_smirnov(x, y, method="asymptotic")
    assert found.statistic == pytest.approx(stats.ks_2samp(x, y, method="asymp").statistic, abs=1e-12)
    assert wasserstein(x, y).distance == pytest.approx(stats.wasserstein_distance(x, y), rel=1e-10)


def test_exact_p_has_its_digits_where_one_minus_has_none() -> None:
    x, y = np.arange(60.0), np.arange(100.0, 150.0)  # apart altogether: 2 deals of C(110, 50)
    assert kolmogorov_smirnov(x, y).p == pytest.approx(2 / comb(110, 50), rel=1e-12)


def test_exact_up_to_the_limits_said_and_asymptotic_beyond() -> None:
    rng = generator(4, "limits")
    x = rng.normal(size=1000)
    assert kolmogorov_smirnov(x, rng.normal(size=1000)).method == "exact"
    assert kolmogorov_smirnov(x, rng.normal(size=1001)).method == "asymptotic"
    assert kolmogorov_smirnov(x[:5], rng.normal(size=4996)).method == "asymptotic"
    assert kolmogorov_smirnov(x[:5], rng.normal(size=4996), method="exact").method == "exact"


# ---- laws ------------------------------------------------------------------------------------------------------------


@given(columns, columns)
def test_both_are_symmetric_and_nothing_is_away_from_itself(x: list[float], y: list[float]) -> None:
    assert kolmogorov_smirnov(x, y) == kolmogorov_smirnov(y, x)
    assert wasserstein(x, y).distance == pytest.approx(wasserstein(y, x).distance, rel=1e-12, abs=1e-12)
    assert kolmogorov_smirnov(x, x)[:2] == (0.0, 1.0)
    assert wasserstein(x, x).distance == 0


@given(columns, columns, st.integers(2, 4), st.randoms(use_true_random=False))
def test_row_order_and_repetition_change_no_statistic(x: list[float], y: list[float], times: int, random: Any) -> None:
    ks, w = kolmogorov_smirnov(x, y), wasserstein(x, y)
    shuffled = random.sample(x, len(x)), random.sample(y, len(y))
    assert kolmogorov_smirnov(*shuffled) == ks
    assert wasserstein(*shuffled).distance == w.distance
    assert kolmogorov_smirnov(x * times, y * times).statistic == pytest.approx(ks.statistic, abs=1e-12)
    assert wasserstein(x * times, y * times).distance == pytest.approx(w.distance, rel=1e-9, abs=1e-9)


@given(st.lists(tied, min_size=1, max_size=30), st.lists(tied, min_size=1, max_size=30))
def test_ks_sees_order_only_and_wasserstein_moves_with_the_unit(x: list[float], y: list[float]) -> None:
    for bend in (lambda value: value**3, np.exp, lambda value: -7 * value):
        bent = kolmogorov_smirnov(bend(np.array(x)), bend(np.array(y)))
        assert bent[:2] == pytest.approx(kolmogorov_smirnov(x, y)[:2], rel=1e-12)
    w = wasserstein(x, y)
    turned = wasserstein(-7 * np.array(x) + 1, -7 * np.array(y) + 1)
    assert turned.distance == pytest.approx(7 * w.distance, rel=1e-9, abs=1e-12)
    assert turned.scaled == pytest.approx(w.scaled, rel=1e-9, abs=1e-12, nan_ok=True)


def test_asymptotic_p_keeps_its_promise_without_drift() -> None:
    rng = generator(5, "ks null")
    p = [kolmogorov_smirnov(rng.normal(size=800), rng.normal(size=600), method="asymptotic").p for _ in range(600)]
    assert 0.02 < np.mean(np.array(p) <= 0.05) < 0.08


# ---- what a column may hold ------------------------------------------------------------------------------------------


def test_missing_values_are_left_out_and_counted() -> None:
    holed = [3.0, np.nan, 1.0, np.nan, 2.0]
    assert distances.sample(holed, name="window").missing == 2
    assert kolmogorov_smirnov(holed, [1.5, np.nan]) == kolmogorov_smirnov([1.0, 2.0, 3.0], [1.5])
    assert wasserstein(holed, [1.5, np.nan]) == wasserstein([1.0, 2.0, 3.0], [1.5])


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_values_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="window holds infinite values"):
        kolmogorov_smirnov([1.0, 2.0], [0.0, bad, np.nan])
    with pytest.raises(ValueError, match="reference holds infinite values"):
        wasserstein([bad], [0.0])


@pytest.mark.parametrize("empty", [[], [np.nan, np.nan]])
def test_a_side_without_values_is_refused(empty: list[float]) -> None:
    with pytest.raises(ValueError, match="the window holds no value"):
        kolmogorov_smirnov([1.0], empty)
    with pytest.raises(ValueError, match="the reference holds no value"):
        wasserstein(empty, [1.0])


@pytest.mark.parametrize("bad", [["a", "b"], [[1.0, 2.0]], [1 + 2j], np.array([1.0], dtype=np.float16)])
def test_only_one_column_of_numbers_is_taken(bad: Any) -> None:
    with pytest.raises(ValueError, match="the window must"):
        kolmogorov_smirnov([1.0], bad)


def test_whole_numbers_and_answers_are_numbers() -> None:
    assert kolmogorov_smirnov(np.array([1, 2, 3], dtype=np.uint8), [True, False]).statistic == pytest.approx(2 / 3)
    assert wasserstein(np.array([250], dtype=np.uint8), np.array([5], dtype=np.uint8)).distance == 245


def test_a_reference_without_spread_has_no_scaled_distance() -> None:
    third = [0.1 + 0.2] * 7  # a mean of equal numbers may miss them by one bit
    assert wasserstein(third, [1.3]).distance == pytest.approx(1.0)
    assert np.isnan(wasserstein(third, [1.3]).scaled)
    assert np.isnan(wasserstein([1.0], [2.0, 3.0]).scaled)
    assert kolmogorov_smirnov(third, third)[:2] == (0.0, 1.0)


def test_the_same_numbers_in_two_precisions_are_the_same() -> None:
    tenths = np.round(generator(6, "tenths").random(500), 1)
    single = tenths.astype(np.float32)
    for pair in ((tenths, single), (single, tenths), (single, single)):
        assert kolmogorov_smirnov(*pair).statistic == 0
        assert wasserstein(*pair).distance == 0


# ---- missing values --------------------------------------------------------------------------------------------------


def test_missingness_meets_scipy() -> None:
    found = missingness(40, 900, 70, 800)
    table = [[40, 860], [70, 730]]
    assert found.p == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue, rel=1e-10)
    assert found.difference == pytest.approx(70 / 800 - 40 / 900)
    assert found.low < found.difference < found.high and found.low > 0 and found.method == "chi-square"
    few = missingness(1, 90, 6, 80)
    assert few.p == pytest.approx(stats.fisher_exact([[1, 89], [6, 74]]).pvalue, rel=1e-9) and few.method == "fisher"


def test_missingness_at_its_ends() -> None:
    none = missingness(0, 50, 0, 60)
    assert (none.difference, none.p) == (0.0, 1.0) and none.low < 0 < none.high
    whole = missingness(0, 1_000_000, 1_000_000, 1_000_000)
    assert (whole.difference, whole.p) == (1.0, 0.0)
    assert missingness(50, 50, 60, 60).p == 1
    for bad in ((0, 0, 0, 5), (3, 2, 0, 5), (0, 5, -1, 5)):
        with pytest.raises(ValueError, match=r"rows|between 0"):
            missingness(*bad)
