"""Kappa of answers without an order: worked by hand, against a jackknife written out, and at no disagreement."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from workup.stats.nominal_kappa import nominal_kappa


def _kappa(pairs: list[tuple[int, int]]) -> float:
    n = len(pairs)
    same = sum(a == b for a, b in pairs) / n
    answers = {one for pair in pairs for one in pair}
    chance = sum(sum(a == k for a, _ in pairs) * sum(b == k for _, b in pairs) for k in answers) / n**2
    return (same - chance) / (1 - chance)


def test_worked_by_hand() -> None:
    # Cohen (1960): 25 both yes, 10 and 15 apart, 50 both no: A = 0.75, chance = 0.35·0.40 + 0.65·0.60 = 0.53.
    table = [[1, 1]] * 25 + [[1, 0]] * 10 + [[0, 1]] * 15 + [[0, 0]] * 50
    found = nominal_kappa(table, pairs=[(0, 1)], clusters=[place % 20 for place in range(100)])
    assert found.value == pytest.approx((0.75 - 0.53) / 0.47)
    assert (found.agreement, found.clusters, found.units) == (0.75, 20, 100)


def test_answers_have_no_order() -> None:
    table = np.array([[0, 1], [2, 2], [3, 0], [1, 1], [0, 0], [3, 3], [2, 1], [3, 3]])
    renamed = np.array([2, 0, 3, 1])[table]
    one, other = (nominal_kappa(t, pairs=[(0, 1)], clusters=range(8)) for t in (table, renamed))
    assert one == pytest.approx(other)
    assert one.value == pytest.approx(_kappa([tuple(row) for row in table.tolist()]))


@pytest.mark.parametrize("seed", range(10))
def test_the_interval_is_the_jackknife_over_clusters(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 40, 600)
    first = rng.integers(0, 4, 600)
    second = np.where(rng.random(600) < 0.75, first, rng.integers(0, 4, 600))
    found = nominal_kappa(np.column_stack([first, second]), pairs=[(0, 1)], clusters=cluster, level=0.90)
    value = _kappa(list(zip(first.tolist(), second.tolist(), strict=True)))
    without = [
        _kappa(list(zip(first[cluster != c].tolist(), second[cluster != c].tolist(), strict=True)))
        for c in sorted(set(cluster.tolist()))
    ]
    m = len(without)
    se = math.sqrt((m - 1) / m * sum((one - sum(without) / m) ** 2 for one in without))
    half = float(stats.t.ppf(0.95, m - 1)) * se
    assert (found.value, found.low, found.high) == pytest.approx((value, value - half, value + half))


def test_no_disagreement_is_bounded_by_its_clusters() -> None:
    # 10 clusters of 12, half of each answer: d0 = 1 + 11/3, C = 0.05^(d0/120); chance 0.5: low = 1 − 2 (1 − C).
    answers = np.tile([0, 1], 60)
    found = nominal_kappa(
        np.column_stack([answers, answers]), pairs=[(0, 1)], clusters=np.repeat(np.arange(10), 12), level=0.90
    )
    ceiling = 0.05 ** ((1 + 11 / 3) / 120)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(1 - (1 - ceiling) / 0.5)


def test_a_disagreement_more_never_raises_the_low_end_above_that_of_none() -> None:
    answers = np.tile([0, 1], 60)
    cluster = np.repeat(np.arange(10), 12)
    none = nominal_kappa(np.column_stack([answers, answers]), pairs=[(0, 1)], clusters=cluster, level=0.90)
    other = answers.copy()
    other[0], other[1] = 1, 0
    some = nominal_kappa(np.column_stack([answers, other]), pairs=[(0, 1)], clusters=cluster, level=0.90)
    assert some.low <= none.low + 1e-12


def test_one_answer_alone_leaves_chance_no_room() -> None:
    found = nominal_kappa([[1, 1]] * 30, pairs=[(0, 1)], clusters=np.arange(30) % 10)
    assert math.isnan(found.value) and math.isnan(found.low)


def test_a_cluster_that_holds_all_disagreement_of_its_kind_leaves_no_interval() -> None:
    table = [[0, 0]] * 20 + [[1, 1], [1, 0]]
    found = nominal_kappa(table, pairs=[(0, 1)], clusters=[*(place % 5 for place in range(20)), 9, 9])
    assert math.isfinite(found.value) and math.isnan(found.low)


def test_two_people_are_held_against_a_reader_one_by_one() -> None:
    nan = math.nan
    table = [[0, 0, nan], [1, 1, 1], [1, 0, 1], [0, 0, 0], [1, nan, 1], [0, nan, 1], [1, 1, nan], [0, 0, 0]]
    found = nominal_kappa(table, pairs=[(0, 1), (0, 2)], clusters=range(8))
    pairs = [[(int(row[0]), int(row[side])) for row in table if not math.isnan(row[side])] for side in (1, 2)]
    assert found.value == pytest.approx(sum(map(_kappa, pairs)) / 2)
    assert found.units == 8


def test_out_of_form() -> None:
    for bad in ([[0.5, 1]], [[-1, 0]]):
        with pytest.raises(ValueError, match="whole numbers"):
            nominal_kappa(bad, pairs=[(0, 1)], clusters=[0])
    with pytest.raises(ValueError, match="one cluster"):
        nominal_kappa([[0, 1]], pairs=[(0, 1)], clusters=[0, 1])
    assert math.isnan(nominal_kappa([[math.nan, 1]], pairs=[(0, 1)], clusters=[0]).value)
