"""What must never change, or always hold, when sites are pooled."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from workup.stats.meta import heterogeneity
from workup.stats.meta.pooling import Method, Pooled, TestKind, pool

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

finite = st.floats(-5, 5, allow_nan=False).map(lambda value: round(value, 3))
sets = st.lists(st.tuples(finite, st.floats(0.001, 10).map(lambda value: round(value, 4))), min_size=2, max_size=8)
methods = st.sampled_from(get_args(Method))


def numbers(found: Pooled) -> list[float]:
    ends = [found.low, found.high, found.pi_low, found.pi_high]
    return [found.estimate, *(np.nan if end is None else end for end in ends)]


@settings(max_examples=150, deadline=None)
@given(sets, methods, st.sampled_from(get_args(TestKind)), st.floats(-20, 20), st.floats(0.01, 100))
def test_shift_and_scale_go_through(sites: Any, method: Method, test: TestKind, shift: float, scale: float) -> None:
    y, v = np.array(sites).T
    found = pool(y, v, method=method, test=test)
    moved = pool(scale * (y + shift), scale**2 * v, method=method, test=test)
    tolerance = {"rel": 1e-7, "abs": 1e-8 * scale, "nan_ok": True}
    assert numbers(moved) == pytest.approx([scale * (one + shift) for one in numbers(found)], **tolerance)
    assert moved.tau2 == pytest.approx(scale**2 * found.tau2, rel=1e-7, abs=1e-9 * scale**2)
    assert (moved.i2, moved.q) == pytest.approx((found.i2, found.q), rel=1e-6, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(sets, methods, st.randoms())
def test_order_of_sites_changes_nothing(sites: Any, method: Method, chance: Any) -> None:
    order = list(range(len(sites)))
    chance.shuffle(order)
    y, v = np.array(sites).T
    found, mixed = pool(y, v, method=method), pool(y[order], v[order], method=method)
    assert numbers(mixed) == pytest.approx(numbers(found), rel=1e-8, abs=1e-9, nan_ok=True)
    assert mixed.tau2 == pytest.approx(found.tau2, rel=1e-8, abs=1e-9)
    assert mixed.weights == pytest.approx(found.weights[order], rel=1e-8)


@settings(max_examples=150, deadline=None)
@given(sets, methods)
def test_the_default_interval_is_the_widest(sites: Any, method: Method) -> None:
    y, v = np.array(sites).T
    cautious, plain, wald = (pool(y, v, method=method, test=test) for test in get_args(TestKind))
    t = stats.t.ppf(0.975, y.size - 1)
    assert cautious.high - cautious.low >= (plain.high - plain.low) * (1 - 1e-12)
    assert cautious.high - cautious.low >= 2 * t * wald.se * (1 - 1e-12)
    assert cautious.se == pytest.approx(max(plain.se, wald.se), rel=1e-12)
    assert cautious.tau2 == plain.tau2 == wald.tau2 >= 0
    assert cautious.weights.sum() == pytest.approx(1)
    assert y.min() - 1e-9 <= cautious.estimate <= y.max() + 1e-9
    assert 0 <= cautious.i2 < 1
    if cautious.tau2_low is not None:
        assert cautious.tau2_low <= (cautious.tau2_high or 0)
    if cautious.pi_low is not None:
        assert cautious.pi_low <= cautious.low


@settings(max_examples=60, deadline=None)
@given(sets)
def test_a_site_in_two_halves_weighs_as_before_without_heterogeneity(sites: Any) -> None:
    y, v = np.array(sites).T
    whole = pool(y, v, method="FE", test="z")
    halves = pool(np.append(y, y[0]), np.append(np.append(2 * v[0], v[1:]), 2 * v[0]), method="FE", test="z")
    assert (halves.estimate, halves.se, halves.q) == pytest.approx((whole.estimate, whole.se, whole.q), abs=1e-9)
    assert halves.weights[[0, -1]].sum() == pytest.approx(whole.weights[0])


def test_a_large_common_value_costs_no_digits() -> None:
    y, v = np.array([0.5, 1.5, 0.25, 2.0]), np.array([0.1, 0.2, 0.1, 0.3])
    assert pool(y + 2.0**20, v).tau2 == pytest.approx(pool(y, v).tau2, rel=1e-9)


def test_the_typical_variance_of_equal_sites_is_theirs() -> None:
    model = heterogeneity.site_model(np.arange(4.0), np.full(4, 0.3), np.ones((4, 1)))
    assert heterogeneity.typical_variance(model) == pytest.approx(0.3)
