"""Standardised differences: against R, by hand, by definition, and whether their intervals cover."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracles import Case, cases
from workup.stats.intervals import t_critical
from workup.stats.standardised import Standardised, moments, of_categories, of_numbers


@cases("drift_continuous")
def test_numbers_meet_r(case: Case) -> None:
    assert of_numbers(moments(case.array("y")), moments(case.array("x"))).value == case.near("smd")


def test_normal_values_of_equal_spread_have_hedges_and_olkins_error() -> None:
    """On the moments of normal values themselves: √((n + m)/(nm) + d²/(2(n + m)))."""
    n, d = 80, 0.6
    normal = moments(np.zeros(2))._replace(n=n, variance=1.0, third=0.0, fourth=3.0)
    found = of_numbers(normal._replace(mean=d), normal._replace(mean=0.0))
    error = np.sqrt(2 / n + d**2 / (4 * n))
    assert (found.high - found.value) / t_critical(0.95, 2 * n - 2) == pytest.approx(error, rel=1e-12)


def test_two_levels_are_the_shares_over_their_root_mean_variance() -> None:
    gap, spread = 0.5 - 0.3, np.sqrt((0.25 + 0.21) / 2)
    assert of_categories([50, 50], [30, 70]).value == pytest.approx(gap / spread)
    ones = [moments(np.repeat([1.0, 0.0], counts)) for counts in ([50, 50], [30, 70])]
    assert of_numbers(*ones).value == pytest.approx(gap / spread, rel=0.01), "a 0/1 number is nearly the same"


def test_three_levels_by_hand() -> None:
    """Shares .5 .3 .2 and .2 .3 .5. With the first level left out the gap is (0, −.3) under the covariance
    ((.21, −.105), (−.105, .205)), whose determinant is .032025."""
    expected = np.sqrt(0.09 * 0.21 / 0.032025)
    assert of_categories([50, 30, 20], [20, 30, 50]).value == pytest.approx(expected)


@given(seed=st.integers(0, 10_000))
def test_units_levels_and_order_decide_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(1, 2, 40), rng.gamma(2, 1, 55)
    plain = of_numbers(moments(x), moments(y))
    moved = of_numbers(moments(rng.permutation(1e3 * x - 7e3)), moments(1e3 * y - 7e3))
    assert list(moved) == pytest.approx(list(plain), rel=1e-6)
    back = of_numbers(moments(y), moments(x))
    assert [back.value, back.low, back.high] == pytest.approx([-plain.value, -plain.high, -plain.low])
    a, b = rng.integers(3, 40, 4), rng.integers(3, 40, 4)
    order = rng.permutation(4)
    assert list(of_categories(a[order], b[order])) == pytest.approx(list(of_categories(a, b)))
    assert list(of_categories(b, a)) == pytest.approx(list(of_categories(a, b)))
    assert list(of_categories([*a, 0], [*b, 0])) == pytest.approx(list(of_categories(a, b)))


def test_weights_have_no_unit() -> None:
    x = np.random.default_rng(1).normal(size=50)
    w = np.random.default_rng(2).uniform(0.5, 3, 50)
    assert list(moments(x, w)) == pytest.approx(list(moments(x, 10 * w)))
    assert list(moments(x, np.full(50, 3.0))) == pytest.approx(list(moments(x)))
    assert moments(x).variance == pytest.approx(np.var(x, ddof=1))


def test_missing_values_are_left_out() -> None:
    x = np.array([1.0, np.nan, 2.0, 4.0])
    assert moments(x) == moments(x[np.isfinite(x)])


@pytest.mark.parametrize(
    "found",
    [
        of_numbers(moments(np.array([])), moments(np.array([1.0, 2.0]))),
        of_numbers(moments(np.full(5, 1.0)), moments(np.full(5, 2.0))),
        of_categories([10, 0], [0, 10]),
        of_categories([0, 0], [3, 4]),
    ],
    ids=["no value", "no spread", "no level in common", "no rows"],
)
def test_what_cannot_be_measured_is_not_a_number(found: Standardised) -> None:
    assert np.isnan(found.value)


def test_a_constant_has_no_difference_and_no_interval() -> None:
    found = of_numbers(moments(np.full(30, 0.1)), moments(np.full(40, 0.1)))
    assert found.value == 0
    assert np.isnan(found.low)


def test_a_value_lies_in_its_interval_and_chance_alone_reaches_0() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        found = of_categories(*rng.multinomial(60, [0.5, 0.3, 0.15, 0.05], size=2))
        assert found.low <= found.value <= found.high
    assert of_categories([50, 30, 20], [50, 30, 20])[:2] == (0.0, 0.0)


TIMES = 1_000
SLACK = 2 * np.sqrt(0.05 * 0.95 / TIMES)


@pytest.mark.parametrize(("n", "m"), [(30, 30), (40, 400)])
def test_intervals_of_numbers_cover(n: int, m: int) -> None:
    rng = np.random.default_rng(20261115)
    true, covered = 0.5 / np.sqrt((4 + 1) / 2), 0
    for _ in range(TIMES):
        found = of_numbers(moments(rng.normal(0.5, 2, n)), moments(rng.normal(0, 1, m)))
        covered += found.low <= true <= found.high
    assert 0.93 - SLACK <= covered / TIMES <= 0.97 + SLACK


@pytest.mark.parametrize(("n", "m"), [(60, 60), (60, 600)])
@pytest.mark.parametrize("shares", [((0.5, 0.3, 0.2), (0.4, 0.3, 0.3)), ((0.6, 0.2, 0.1, 0.1), (0.3, 0.3, 0.2, 0.2))])
def test_intervals_of_categories_cover(n: int, m: int, shares: tuple[tuple[float, ...], tuple[float, ...]]) -> None:
    rng = np.random.default_rng(20261115)
    true, covered = of_categories(*(1e9 * np.array(side) for side in shares)).value, 0
    for _ in range(TIMES):
        found = of_categories(rng.multinomial(n, shares[0]), rng.multinomial(m, shares[1]))
        covered += found.low <= true <= found.high
    assert 0.93 - SLACK <= covered / TIMES <= 0.97 + SLACK


def test_moments_of_nothing_and_of_one_value() -> None:
    empty, same = moments(np.array([np.nan])), moments(np.array([0.1, 0.1, 0.1]))
    assert empty.n == 0 and np.isnan(empty[1:]).all()
    assert same.n == pytest.approx(3) and same[1:] == (0.1, 0.0, 0.0, 0.0)
