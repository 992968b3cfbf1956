"""Controlled rounding: margins next to their sums, fractions kept on average, and honest failure where none exists."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.splits.rounding import Limits, Margin, landing, rounded


def _margins(shape: tuple[int, ...]) -> list[Margin]:
    """Every level of every dimension of a full table, and the total."""
    places = np.arange(int(np.prod(shape))).reshape(shape)
    found = [
        Margin(np.take(places, level, axis=axis).ravel()) for axis, size in enumerate(shape) for level in range(size)
    ]
    return [*found, Margin(places.ravel())]


def _sums(values: Any, margins: list[Margin]) -> list[Any]:
    return [sum(values[cell] for cell in margin.cells.tolist()) for margin in margins]


@given(st.data())
def test_two_ways_are_always_met_exactly(data: st.DataObject) -> None:
    shape = (data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6)))
    share = Fraction(data.draw(st.integers(1, 19)), 20)
    sizes = np.array(
        data.draw(st.lists(st.integers(0, 12), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    )
    expected = [share * int(size) for size in sizes]
    found = rounded(expected, sizes, _margins(shape), rng=np.random.default_rng(data.draw(st.integers(0, 99))))
    assert all(abs(int(count) - value) < 1 for count, value in zip(found, expected, strict=True))
    for count, value in zip(_sums(found.tolist(), _margins(shape)), _sums(expected, _margins(shape)), strict=True):
        assert abs(count - value) < 1


@given(st.data())
def test_four_ways_hold_their_margins_within_one(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=3, max_size=4)))
    n = int(np.prod(shape))
    sizes = np.array(data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)))
    expected = [Fraction(1, 5) * int(size) for size in sizes]
    found = rounded(expected, sizes, _margins(shape), rng=np.random.default_rng(3))
    assert (found >= 0).all() and (found <= sizes).all()
    for count, value in zip(_sums(found.tolist(), _margins(shape)), _sums(expected, _margins(shape)), strict=True):
        assert abs(count - value) <= 1


def test_a_fraction_is_rounded_up_as_often_as_it_says() -> None:
    sizes = np.array([1, 2, 4, 3, 7, 1])
    expected = [Fraction(1, 5) * int(size) for size in sizes]
    draws = np.array([rounded(expected, sizes, _margins((2, 3)), rng=np.random.default_rng(s)) for s in range(3000)])
    wanted = np.array([float(value) for value in expected])
    part = wanted % 1
    standard_error = np.sqrt(part * (1 - part) / 3000)
    assert (np.abs(draws.mean(axis=0) - wanted) < 4.5 * standard_error).all()


def test_whole_expectations_are_left_alone() -> None:
    expected = [Fraction(2), Fraction(3), Fraction(1), Fraction(4)]
    found = rounded(expected, np.array([10, 15, 5, 20]), _margins((2, 2)), rng=np.random.default_rng(0))
    assert found.tolist() == [2, 3, 1, 4]


def test_soft_margins_give_way_to_hard_ones() -> None:
    pair, others = np.array([0, 1]), [Margin(np.array([0])), Margin(np.array([1]))]
    expected = [Fraction(1), Fraction(1)]
    found = rounded(expected, np.array([5, 5]), [*others, Margin(pair, hard=False)], rng=np.random.default_rng(0))
    assert found.tolist() == [1, 1]


@pytest.mark.parametrize("aim", [0.2, 0.8])
def test_where_no_whole_numbers_do_the_miss_is_as_small_as_can_be(aim: float) -> None:
    """One cell in two margins that ask for 0 and for 2 of it: nothing meets both, and 0 to 2 miss by 2 together."""
    limits = Limits(np.array([0, 2]), np.array([0, 2]), np.array([False, False]), np.array([True, True]))
    groups = [np.array([0]), np.array([0])]
    rng = np.random.default_rng(0)
    found = landing(np.array([0]), np.array([aim]), np.array([aim]), np.array([2]), groups, limits, rng=rng)
    assert abs(found[0] - 0) + abs(found[0] - 2) == 2
