"""Prediction-powered shares against the definition written out in plain Python, and cases worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from workup.stats.prediction_powered import powered_share

# ---- the definition, written out -------------------------------------------------------------------------------------


def _least_spread(x: list[float], n: list[float], q: float) -> float:
    """Least Σ (y − q n)² / (1 − n/N) over y ≤ x with the share q: the level that fills the clusters, by halving."""
    N = sum(n)
    spare = [1 - size / N for size in n]
    apart = [hit - q * size for hit, size in zip(x, n, strict=True)]
    low, high = -N, 10 * N
    for _ in range(200):
        level = (low + high) / 2
        total = sum(min(a, level * s) for a, s in zip(apart, spare, strict=True))
        low, high = (level, high) if total < 0 else (low, level)
    return sum(min(a, high * s) ** 2 / s for a, s in zip(apart, spare, strict=True))


def _low(x: list[float], n: list[float], tail: float) -> float:
    N, m = sum(n), len(n)
    d0 = max(1.0, 1 + (sum(size**2 for size in n) / N - 1) / 3)
    ceiling = tail ** (d0 / N)
    if sum(x) == N:
        return ceiling
    best = 0.0
    for total in range(1, round(sum(x)) + 1) if m > 1 else ():
        q = total / N
        if q == 1:
            continue
        d = max(1.0, _least_spread(x, n, q) / (N * q * (1 - q)))
        e = N * min(q, 1 - q) / d
        nu, k = e * (m - 1) / (e + m - 1), min(3, m / 5)
        effect, df = max(d, (nu * d + k * d0) / (nu + k)), min(m - 1, nu + 6)
        size = N / effect * (stats.norm.isf(tail) / stats.t.isf(tail, df)) ** 2
        best = max(best, float(stats.beta.ppf(tail, q * size, (1 - q) * size + 1)))
    return min(best, ceiling)


def _part(rows: list[tuple[int, float]], level: float) -> tuple[float, float, float]:
    """Share and ends of rows given as (cluster, 0 or 1)."""
    names = sorted({cluster for cluster, _ in rows})
    n = [float(sum(cluster == name for cluster, _ in rows)) for name in names]
    x = [sum(hit for cluster, hit in rows if cluster == name) for name in names]
    tail = (1 - level) / 2
    missed = [size - hit for size, hit in zip(n, x, strict=True)]
    return sum(x) / sum(n), _low(x, n, tail), 1 - _low(missed, n, tail)


def by_definition(f: list[int], y: list[float | None], cluster: list[int], level: float) -> tuple[float, float, float]:
    share, f_low, f_high = _part([(c, float(one)) for c, one in zip(cluster, f, strict=True)], level)
    of = {}
    for verdict in (1, 0):
        rows = [(c, label) for c, one, label in zip(cluster, f, y, strict=True) if one == verdict and label is not None]
        of[verdict] = _part(rows, level) if rows else (float(verdict), 0.0, 1.0)
    (a, a_low, a_high), (b, b_low, b_high) = of[1], of[0]
    if a < b:
        f_low, f_high = f_high, f_low
    value = share * a + (1 - share) * b
    below = math.sqrt((share * (a - a_low)) ** 2 + ((1 - share) * (b - b_low)) ** 2 + ((a - b) * (share - f_low)) ** 2)
    above = math.sqrt(
        (share * (a_high - a)) ** 2 + ((1 - share) * (b_high - b)) ** 2 + ((a - b) * (f_high - share)) ** 2
    )
    return value, max(0.0, value - below), min(1.0, value + above)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("level", [0.90, 0.95])
def test_value_and_ends_are_those_of_the_definition(seed: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    clusters, size = int(rng.integers(3, 9)), int(rng.integers(2, 9))
    cluster = np.repeat(np.arange(clusters), size)
    y = (rng.random(cluster.size) < rng.choice([0.5, 0.8, 0.97])).astype(float)
    wrong = rng.random(cluster.size) < rng.choice([0.0, 0.1, 0.7])
    f = np.where(wrong, 1 - y, y)
    truth = np.where(rng.random(cluster.size) < 0.5, y, np.nan)
    found = powered_share(f, truth, cluster)
    labels = [None if math.isnan(one) else float(one) for one in truth]
    wanted = by_definition([int(one) for one in f], labels, cluster.tolist(), level)
    assert (found.value, *found.ends(level)) == pytest.approx(wanted, abs=1e-7)


# ---- worked by hand --------------------------------------------------------------------------------------------------


def test_worked_by_hand() -> None:
    # 10 clusters of 10 rows, 9 of each called 1: f = 0.9. Of 20 labelled among the 1s 18 are right: a = 0.9. Of 10
    # labelled among the 0s 2 are right after all: b = 0.2. θ = 0.9 · 0.9 + 0.1 · 0.2 = 0.83.
    verdict = np.tile([1.0] * 9 + [0.0], 10)
    truth = np.full(100, np.nan)
    for cluster in range(10):
        truth[10 * cluster : 10 * cluster + 2] = 1.0
        truth[10 * cluster + 9] = 1.0 if cluster < 2 else 0.0
    truth[0] = truth[10] = 0.0
    found = powered_share(verdict, truth, np.repeat(np.arange(10), 10))
    assert found.parts == pytest.approx((0.9, 0.9, 0.2))
    assert found.value == pytest.approx(0.83)
    # Plain prediction-powered inference with λ = a − b = 0.7 and labels weighted to the verdicts: 0.83 likewise.
    labelled_share, read_labelled = 0.9 * 0.9 + 0.1 * 0.2, 0.9
    assert labelled_share + 0.7 * (0.9 - read_labelled) == pytest.approx(0.83)


def test_labels_drawn_at_other_rates_within_a_verdict_are_weighted_by_their_chance() -> None:
    # Called 0: eight rows drawn at 1/4 of which two are labelled (one is right), two rows drawn surely (none right).
    # b = (1 · 4) / (2 · 4 + 2 · 1) = 0.4, where counting labels alone would give 0.25.
    verdict = np.array([1.0] * 4 + [0.0] * 10)
    truth = np.array([1.0] * 4 + [1.0, 0.0] + [np.nan] * 6 + [0.0, 0.0])
    chance = np.array([1.0] * 4 + [0.25] * 8 + [1.0] * 2)
    found = powered_share(verdict, truth, np.arange(14) % 5, chance=chance)
    assert found.parts == pytest.approx((4 / 14, 1.0, 0.4))


def test_rows_that_stand_for_several_count_so_often() -> None:
    found = powered_share(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([0, 1]), weight=np.array([1.0, 3.0]))
    assert found.value == pytest.approx(0.25)


def test_a_reader_that_is_always_wrong_is_turned_round_and_not_believed() -> None:
    cluster = np.repeat(np.arange(20), 10)
    y = np.tile([1.0] * 9 + [0.0], 20)
    truth = np.where(np.arange(200) % 2, y, np.nan)
    found = powered_share(1 - y, truth, cluster)
    low, high = found.ends()
    assert low < 0.9 < high and found.value == pytest.approx(0.9, abs=0.02)


def test_a_verdict_without_a_label_leaves_its_part_open() -> None:
    cluster = np.repeat(np.arange(20), 10)
    verdict = np.tile([1.0] * 9 + [0.0], 20)
    truth = np.where((verdict == 1) & (np.arange(200) % 3 == 0), 1.0, np.nan)
    found = powered_share(verdict, truth, cluster)
    assert found.value == pytest.approx(0.9)
    assert found.ends().high >= 1 - 1e-9  # all that it called 0 may be right


def test_fewer_labels_widen_and_wider_levels_hold_narrower_ones() -> None:
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(30), 20)
    y = (rng.random(600) < 0.95).astype(float)
    f = np.where(rng.random(600) < 0.1, 1 - y, y)
    widths = []
    for share in (0.1, 0.3, 1.0):
        truth = np.where(rng.random(600) < share, y, np.nan)
        found = powered_share(f, truth, cluster)
        (low90, high90), (low95, high95) = found.ends(0.90), found.ends(0.95)
        assert low95 <= low90 <= found.value <= high90 <= high95
        widths.append(high95 - low95)
    assert widths == sorted(widths, reverse=True)
