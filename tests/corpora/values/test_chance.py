"""Seeded draws: the same for the same names, right in their range, right in their chances."""

from __future__ import annotations

import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.values.draws import Chance
from workup.stats.random import generator


def test_the_stream_is_that_of_the_named_generator() -> None:
    chance = Chance.of(5, "note", 2)
    expected = generator(5, "note", 2).random(200)
    assert [chance.uniform() for _ in range(200)] == expected.tolist()


def test_another_name_or_seed_gives_another_stream() -> None:
    first = [Chance.of(5, "note", 2).digits(15), Chance.of(5, "note", 3).digits(15), Chance.of(6, "note", 2).digits(15)]
    assert len(set(first)) == 3


@given(st.integers(0, 2**40), st.integers(-50, 50), st.integers(0, 60))
def test_integers_stay_within_their_ends(seed: int, low: int, width: int) -> None:
    chance = Chance.of(seed, "integer")
    drawn = {chance.integer(low, low + width) for _ in range(40)}
    assert all(low <= number <= low + width for number in drawn)
    assert all(isinstance(number, int) for number in drawn)


def test_both_ends_of_a_range_come() -> None:
    chance = Chance.of(1, "ends")
    assert {chance.integer(3, 5) for _ in range(200)} == {3, 4, 5}


@given(st.integers(0, 2**40), st.lists(st.integers(), max_size=20))
def test_shuffling_loses_nothing_and_leaves_the_list_alone(seed: int, items: list[int]) -> None:
    before = list(items)
    assert sorted(Chance.of(seed, "shuffle").shuffled(items)) == sorted(before)
    assert items == before


def test_every_order_is_as_likely() -> None:
    chance = Chance.of(3, "orders")
    counts: dict[str, int] = {}
    for _ in range(6000):
        order = "".join(chance.shuffled("abc"))
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert sum((n - 1000) ** 2 / 1000 for n in counts.values()) < 20.5  # chi-square with 5 df, p = 0.001


def test_weights_are_kept() -> None:
    chance = Chance.of(4, "weights")
    drawn = [chance.weighted("abcd", (1, 1, 4, 10)) for _ in range(10000)]
    assert drawn.count("b") == 0
    assert drawn.count("a") / 10000 == pytest.approx(0.1, abs=0.012)
    assert drawn.count("c") / 10000 == pytest.approx(0.3, abs=0.018)
    assert drawn.count("d") / 10000 == pytest.approx(0.6, abs=0.02)


def test_what_is_certain_happens_and_what_is_impossible_does_not() -> None:
    chance = Chance.of(5, "certain")
    assert all(chance.happens(1.0) for _ in range(500))
    assert not any(chance.happens(0.0) for _ in range(500))


@given(st.integers(0, 2**40), st.integers(0, 70))
def test_digits_are_as_many_as_asked_for(seed: int, n: int) -> None:
    text = Chance.of(seed, "digits").digits(n)
    assert len(text) == n
    assert set(text) <= set(string.digits)


def test_digits_are_evenly_spread_at_every_place() -> None:
    chance = Chance.of(8, "spread")
    table = np.array([[int(digit) for digit in chance.digits(31)] for _ in range(2000)])
    counts = np.stack([np.bincount(column, minlength=10) for column in table.T])
    assert ((counts - 200) ** 2 / 200).sum(axis=1).max() < 33  # 9 df, p = 0.0001, over 31 places
