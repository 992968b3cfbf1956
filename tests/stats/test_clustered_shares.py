"""Intervals of shares over clusters: worked numbers, the definition by brute force, and the laws they must obey."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

from workup.stats.intervals import (
    ClusteredShare,
    Worse,
    clustered_share,
    correlated_difference,
    effective_ends,
    event_rate_ends,
    paired_shares,
)

SEVEN = [12] * 5 + [11] * 2


def share(hits: list[float], sizes: list[float], **more: float) -> ClusteredShare:
    """Of whole clusters, a row for each with its size as denominator."""
    x, n = np.array(hits, dtype=float), np.array(sizes, dtype=float)
    return clustered_share(x, n, np.arange(n.size), np.ones(n.size), **more)


def ends(hits: list[float], sizes: list[float], level: float, **more: float) -> tuple[float, float]:
    return effective_ends(share(hits, sizes, **more), level=level)


def without(sizes: list[int], failures: list[int]) -> list[float]:
    return [float(n - f) for n, f in zip(sizes, failures, strict=True)]


WORKED = [
    ("82 of 82 in 7", SEVEN, [0] * 7, (0.846, 1), (0.814, 1)),
    ("81 of 82", SEVEN, [1] + [0] * 6, (0.831, 1), (0.785, 1)),
    ("70 of 82, two or one in each", SEVEN, [2] * 5 + [1] * 2, (0.706, 0.945), (0.666, 0.959)),
    ("70 of 82, all in two clusters", SEVEN, [6, 6] + [0] * 5, (0.572, 0.983), (0.511, 0.992)),
    ("360 of 360 in 15", [24] * 15, [0] * 15, (0.930, 1), (0.915, 1)),
    ("345 of 360, one in each", [24] * 15, [1] * 15, (0.907, 0.986), (0.895, 0.989)),
    ("345 of 360, five in three", [24] * 15, [5] * 3 + [0] * 12, (0.868, 0.994), (0.848, 0.996)),
    ("720 of 720 in 60", [12] * 60, [0] * 60, (0.981, 1), (0.976, 1)),
    ("700 of 720, one in twenty", [12] * 60, [1] * 20 + [0] * 40, (0.955, 0.984), (0.951, 0.986)),
]


@pytest.mark.parametrize(("name", "sizes", "failures", "at_90", "at_95"), WORKED, ids=[one[0] for one in WORKED])
def test_worked_numbers(
    name: str, sizes: list[int], failures: list[int], at_90: tuple[float, float], at_95: tuple[float, float]
) -> None:
    hits = without(sizes, failures)
    assert ends(hits, sizes, 0.90) == pytest.approx(at_90, abs=1e-3)
    assert ends(hits, sizes, 0.95) == pytest.approx(at_95, abs=1e-3)


def test_a_perfect_result_has_the_ceiling_of_its_design() -> None:
    # Σn²/N = 962/82, d0 = 1 + (962/82 − 1)/3, C = 0.05^(d0/82)
    assert ends(SEVEN, SEVEN, 0.90) == pytest.approx((0.05 ** ((1 + (962 / 82 - 1) / 3) / 82), 1), abs=1e-12)
    assert ends(SEVEN, SEVEN, 0.90)[0] == pytest.approx(0.8460, abs=1e-4)
    assert share(SEVEN, SEVEN).ceiling(0.90) == ends(SEVEN, SEVEN, 0.90)[0]
    # n a cluster, one-sided 95 %: nobody can show more than exp(−(1 + 2/n)/m).
    for m, n in ((11, 18), (22, 18), (55, 18)):
        assert share([n] * m, [n] * m).ceiling(0.90) == pytest.approx(np.exp(-(1 + 2 / n) / m), abs=2e-4)


# ---- the definition, written out -------------------------------------------------------------------------------------


def _low_of(y: np.ndarray, n: np.ndarray, spread: float, tail: float) -> float:
    """B(y) from its formula, for a result with this total and this sum of squared departures."""
    N, m, q = n.sum(), n.size, y.sum() / n.sum()
    d0 = 1 + (np.sum(n**2) / N - 1) / 3
    if q <= 0:
        return 0.0
    if q >= 1:
        return float(tail ** (d0 / N))
    d = max(1.0, spread / (N * q * (1 - q)))
    e = N * min(q, 1 - q) / d
    nu = e * (m - 1) / (e + m - 1)
    k = min(3, m / 5)
    effect = max(d, (nu * d + k * d0) / (nu + k))
    df = min(m - 1, nu + 6)
    size = N / effect * (stats.norm.isf(tail) / stats.t.isf(tail, df)) ** 2
    return float(stats.beta.ppf(tail, q * size, (1 - q) * size + 1))


def _spread(y: np.ndarray, n: np.ndarray) -> float:
    return float(np.sum((y - y.sum() / n.sum() * n) ** 2 / (1 - n / n.sum())))


def _by_enumeration(x: np.ndarray, n: np.ndarray, tail: float) -> float:
    """The best low end over every whole-numbered result that is nowhere better."""
    every = (np.array(y, dtype=float) for y in product(*(range(int(top) + 1) for top in x)))
    return max(_low_of(y, n, _spread(y, n), tail) for y in every)


def _by_programming(x: np.ndarray, n: np.ndarray, tail: float) -> float:
    """The same with the least spread of each total found by a general minimiser over results in between."""
    best = 0.0
    for total in range(1, int(x.sum()) + 1):
        if total == x.sum():
            best = max(best, _low_of(x, n, _spread(x, n), tail))
            continue
        found = optimize.minimize(
            lambda y: _spread(y, n),
            x * total / x.sum(),
            bounds=[(0, top) for top in x],
            constraints={"type": "eq", "fun": lambda y, total=total: y.sum() - total},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        best = max(best, _low_of(found.x * total / found.x.sum(), n, found.fun, tail))
    return best


TINY = [
    ([3, 1], [4, 3]),
    ([2, 0, 3], [3, 2, 4]),
    ([3, 3, 3], [3, 3, 4]),
    ([1, 4, 0, 2], [2, 4, 3, 2]),
    ([5, 0], [5, 5]),
]


@pytest.mark.parametrize(("hits", "sizes"), TINY)
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_ends_are_the_best_over_all_worse_results(hits: list[int], sizes: list[int], level: float) -> None:
    x, n, tail = np.array(hits, dtype=float), np.array(sizes, dtype=float), (1 - level) / 2
    ceiling = tail ** ((1 + (np.sum(n**2) / n.sum() - 1) / 3) / n.sum())
    low, high = ends(hits, sizes, level)
    assert low == pytest.approx(min(ceiling, _by_programming(x, n, tail)), abs=1e-6)
    assert high == pytest.approx(1 - min(ceiling, _by_programming(n - x, n, tail)), abs=1e-6)
    assert low >= min(ceiling, _by_enumeration(x, n, tail)) - 1e-12
    assert high <= 1 - min(ceiling, _by_enumeration(n - x, n, tail)) + 1e-12


def test_with_clusters_of_one_size_that_part_evenly_enumeration_finds_the_same() -> None:
    x, n = np.array([4.0, 4.0, 2.0]), np.full(3, 4.0)
    assert ends([4, 4, 2], [4, 4, 4], 0.95)[0] >= _by_enumeration(x, n, 0.025) - 1e-12
    assert ends([2, 2, 2], [4, 4, 4], 0.95)[0] == pytest.approx(_by_enumeration(np.full(3, 2.0), n, 0.025), abs=1e-9)


def _by_scan(found: Worse, n: np.ndarray, level: float) -> float:
    """The best low end over every step, none left out."""
    q = np.arange(1, found.most + 1) / found.steps
    spread = found.least_spread(q)
    ends = (_low_of(one * n, n, s, (1 - level) / 2) for one, s in zip(q, spread, strict=True) if one < 1)
    return max(ends, default=0.0)


def test_water_filling_meets_a_scan_of_every_step() -> None:
    """The search leaves out blocks that cannot win; looking at every step finds the same."""
    rng = np.random.default_rng(5)
    for _ in range(25):
        m = int(rng.integers(2, 30))
        n = rng.integers(1, 60, m).astype(float)
        x = rng.binomial(n.astype(int), rng.beta(3, 1, m)).astype(float)
        found = clustered_share(x, n, np.arange(m), np.ones(m)).worse
        for level in (0.5, 0.9, 0.95, 0.999):
            if found.most < found.steps:
                assert found.best_end(level) == pytest.approx(_by_scan(found, n, level), rel=1e-9)


@pytest.mark.parametrize(
    ("hits", "sizes"),
    [
        ([1, 28, 3, 12, 1, 5, 3, 24, 7, 19, 39], [20, 28, 37, 12, 10, 17, 38, 24, 7, 19, 39]),
        ([6, 0, 7, 35, 23, 14, 28, 15, 3, 5, 4], [6, 16, 30, 35, 23, 14, 28, 15, 21, 38, 36]),
        ([32, 31, 8, 12, 34, 1, 24, 1], [32, 31, 8, 12, 34, 27, 24, 11]),
        ([2, 8, 28, 25, 7, 21, 22], [19, 8, 28, 25, 7, 21, 22]),
        ([0, 31, 9, 33, 0, 18, 34], [17, 31, 9, 33, 5, 18, 34]),
    ],
)
def test_the_search_misses_no_step_where_clusters_are_all_or_nothing(hits: list[int], sizes: list[int]) -> None:
    """There a much worse result has the best end, somewhere inside a block."""
    n = np.array(sizes, dtype=float)
    found = clustered_share(np.array(hits, dtype=float), n, np.arange(n.size), np.ones(n.size)).worse
    for level in (0.8, 0.9, 0.95):
        assert found.best_end(level) == pytest.approx(_by_scan(found, n, level), rel=1e-9)


# ---- laws ------------------------------------------------------------------------------------------------------------


@st.composite
def designs(draw: st.DrawFn, *, weighted: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows one by one: hit or not, cluster, weight."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=2, max_size=12))
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    hit = np.array(draw(st.lists(st.booleans(), min_size=cluster.size, max_size=cluster.size)), dtype=float)
    weight = np.ones(cluster.size)
    if weighted:
        weight = np.array(draw(st.lists(st.floats(0.05, 20), min_size=cluster.size, max_size=cluster.size)))
    return hit, np.ones(cluster.size), cluster, weight


levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])


@settings(max_examples=150, deadline=None)
@given(st.one_of(designs(), designs(weighted=True)), levels, st.data())
def test_a_failure_turned_into_a_success_never_lowers_an_end(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], level: float, data: st.DataObject
) -> None:
    hit, ones, cluster, weight = rows
    before = effective_ends(clustered_share(hit, ones, cluster, weight), level=level)
    if hit.all():
        return
    better = hit.copy()
    better[data.draw(st.sampled_from(np.flatnonzero(hit == 0).tolist()))] = 1.0
    after = effective_ends(clustered_share(better, ones, cluster, weight), level=level)
    assert after.low >= before.low - 1e-9
    assert after.high >= before.high - 1e-9


def test_no_fall_anywhere_on_the_way_from_none_to_all() -> None:
    rng = np.random.default_rng(2)
    for sizes in ([12] * 5 + [11] * 2, [1, 40, 3, 8, 8, 20, 2, 5, 9, 30], [4] * 15):
        n = np.array(sizes, dtype=float)
        cluster = np.repeat(np.arange(n.size), sizes)
        hits, last = np.zeros(n.size), 0.0
        for row in rng.permutation(cluster):
            hits[row] += 1
            low = effective_ends(clustered_share(hits, n, np.arange(n.size), np.ones(n.size)), level=0.9).low
            assert low >= last - 1e-12
            last = low
        assert last == pytest.approx(share(sizes, sizes).ceiling(0.9))


@settings(max_examples=100, deadline=None)
@given(st.one_of(designs(), designs(weighted=True)), levels)
def test_ends_hold_the_share_lie_inside_wider_ones_and_are_mirrored(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], level: float
) -> None:
    hit, ones, cluster, weight = rows
    found = clustered_share(hit, ones, cluster, weight)
    low, high = effective_ends(found, level=level)
    wider = effective_ends(found, level=level + 0.5 * (1 - level))
    assert 0 <= wider.low <= low + 1e-12 <= found.share + 2e-12
    assert found.share - 2e-12 <= high - 1e-12 <= wider.high <= 1
    mirrored = effective_ends(clustered_share(1 - hit, ones, cluster, weight), level=level)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((low, high), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.one_of(designs(), designs(weighted=True)), st.randoms(use_true_random=False), st.floats(0.01, 50))
def test_neither_order_nor_the_unit_of_weights_matters(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], random: object, unit: float
) -> None:
    hit, ones, cluster, weight = rows
    expected = effective_ends(clustered_share(hit, ones, cluster, weight))
    order = np.array(sorted(range(hit.size), key=lambda _: random.random()))  # type: ignore[attr-defined]
    renamed = (cluster.max() - cluster)[order]
    mixed = effective_ends(clustered_share(hit[order], ones, renamed, weight[order] * unit))
    assert tuple(mixed) == pytest.approx(tuple(expected), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(designs())
def test_rows_of_a_cluster_may_be_counted_together(rows: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]) -> None:
    """A row with a denominator of n is n rows: whole weights inside a denominator are repeated rows."""
    hit, ones, cluster, weight = rows
    sizes, hits = np.bincount(cluster), np.bincount(cluster, weights=hit)
    together = clustered_share(hits, sizes.astype(float), np.arange(sizes.size), np.ones(sizes.size))
    assert tuple(effective_ends(together)) == tuple(effective_ends(clustered_share(hit, ones, cluster, weight)))


def test_unequal_weights_cost_rows() -> None:
    """Kish: of rows with unequal weights each is worth less, and a design weight is no repeated row."""
    hit, cluster = np.tile([1.0, 1.0, 1.0, 0.0], 10), np.arange(40)
    even = effective_ends(clustered_share(hit, np.ones(40), cluster, np.ones(40)))
    uneven = effective_ends(clustered_share(hit, np.ones(40), cluster, np.tile([1.0, 5.0, 1.0, 3.0], 10)))
    assert uneven.high - uneven.low > 1.1 * (even.high - even.low)
    found = clustered_share(np.ones(40), np.ones(40), cluster, np.tile([1.0, 5.0], 20))
    assert found.ceiling(0.9) == pytest.approx(0.05 ** (np.sum([1, 25]) * 20 / (6 * 20) ** 2))


def test_a_study_that_knows_its_clusters_to_differ_less_may_say_so() -> None:
    assert share(SEVEN, SEVEN, icc=0.1).ceiling(0.90) > share(SEVEN, SEVEN).ceiling(0.90)
    assert ends(SEVEN, SEVEN, 0.90, icc=0.0)[0] == pytest.approx(special.betaincinv(82, 1, 0.05))


def test_two_clusters_give_a_wide_interval_and_one_gives_none_but_its_ceiling() -> None:
    low, high = ends([9, 7], [10, 10], 0.95)
    assert low < 0.2 and high > 0.98
    assert ends([9], [10], 0.95) == (0.0, 1.0)
    assert 0.2 < ends([10], [10], 0.95)[0] < 0.4


# ---- differences and counts ------------------------------------------------------------------------------------------


def test_two_systems_on_the_same_rows_by_hand() -> None:
    """8 clusters of 5: right in A only 3 times in one cluster, in B only once in another."""
    first, second = np.ones(40), np.ones(40)
    second[:3], first[20] = 0.0, 0.0
    found = paired_shares(first, second, np.repeat(np.arange(8), 5))
    delta, discordant = -2 / 40, 4 / 40
    gaps = np.array([-3, 0, 0, 0, 1, 0, 0, 0.0])
    d = max(1.0, np.sum((gaps - delta * 5) ** 2) / (1 - 5 / 40) / (40 * (discordant - delta**2)))
    e = 40 * discordant / d
    nu, k, d0 = e * 7 / (e + 7), 8 / 5, 1 + 4 * 0.25
    effect = max(d, (nu * d + k * d0) / (nu + k))
    half = stats.t.ppf(0.975, min(7, nu + 6)) * np.sqrt(effect / 40 * (discordant + 2 * effect / 40 - delta**2))
    assert found.difference == pytest.approx(delta)
    assert tuple(found.ends()) == pytest.approx((delta - half, delta + half))
    assert stats.t.sf(abs(delta) / (half / stats.t.ppf(0.975, found.df)), found.df) * 2 == pytest.approx(found.p())


@given(designs(), st.data())
def test_a_difference_of_two_systems_is_antisymmetric_and_never_a_point(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], data: st.DataObject
) -> None:
    hit, _, cluster, _ = rows
    other = np.array(data.draw(st.lists(st.booleans(), min_size=hit.size, max_size=hit.size)), dtype=float)
    one, back = paired_shares(hit, other, cluster), paired_shares(other, hit, cluster)
    assert (one.ends().low, one.ends().high) == pytest.approx((-back.ends().high, -back.ends().low))
    assert one.p() == pytest.approx(back.p())
    same = paired_shares(hit, hit, cluster)
    assert same.ends().low == -same.ends().high < 0 and same.p() == 1
    both = [clustered_share(x, np.ones(hit.size), cluster, np.ones(hit.size)) for x in (hit, other)]
    (low, high), mirrored = correlated_difference(*both), correlated_difference(both[1], both[0])
    assert (low, high) == pytest.approx((-mirrored.high, -mirrored.low))
    assert low - 1e-12 <= both[1].share - both[0].share <= high + 1e-12


def test_counts_of_a_row_are_its_rows_where_none_cancel() -> None:
    first, second = np.tile([1.0, 1.0, 0.0], 20), np.tile([1.0, 0.0, 0.0], 20)
    cluster = np.repeat(np.arange(10), 6)
    apart = paired_shares(first, second, cluster)
    folded = [np.bincount(cluster, weights=x) for x in (first, second)]
    assert paired_shares(*folded, np.arange(10), units=np.full(10, 6.0)) == pytest.approx(apart)


def test_a_rate_of_bunched_events_by_hand() -> None:
    events, held = np.array([7.0, 0, 0, 1, 0, 2]), np.full(6, 2.0)
    rate = 10 / 12
    phi = max(1.0, np.sum((events - rate * held) ** 2 / (1 - 2 / 12)) / 10)
    e = 10 / phi
    nu = e * 5 / (e + 5)
    weighed = max(phi, (nu * phi + 3 * 5) / (nu + 3))
    size = 10 / weighed * (stats.norm.ppf(0.95) / stats.t.ppf(0.95, min(5, nu + 6))) ** 2
    expected = (rate * stats.gamma.ppf(0.05, size) / size, rate * stats.gamma.ppf(0.95, size + 1) / size)
    assert tuple(event_rate_ends(events, held, level=0.90)) == pytest.approx(expected)
