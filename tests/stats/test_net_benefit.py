"""Net benefit and its pointwise intervals: against R, by hand, for clusters and weights, and coverage at the edge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracles import Case, cases
from workup.stats.intervals import z_critical
from workup.stats.net_benefit import Benefit, net_benefit_curve


def _numbers(found: list[Benefit]) -> list[float]:
    return [x for one in found for x in (one.value, *one.ends, one.over_all, *one.over_all_ends)]


@cases("decision_curve")
def test_values_meet_r_and_intervals_its_standard_errors(case: Case) -> None:
    y, p = case.array("y"), case.array("p")
    found = net_benefit_curve(y, p, case.input["thresholds"])
    assert [one.value for one in found] == case.near("net_benefit")
    gain = np.subtract(case.expected["net_benefit"], case.expected["treat_all"])
    assert [one.over_all for one in found] == pytest.approx(list(gain), rel=1e-9, abs=1e-12)
    for one, se in zip(found, case.expected["se_nb"], strict=True):
        flagged = p >= one.threshold
        if min((y * flagged).sum(), ((1 - y) * flagged).sum()) >= 20:  # where a normal interval is good too
            assert (one.ends.high - one.ends.low) / 2 == pytest.approx(z_critical(0.95) * se, rel=0.05)
        assert one.ends.low <= one.value <= one.ends.high
        assert one.over_all_ends.low <= one.over_all <= one.over_all_ends.high


def test_by_hand() -> None:
    """At 0.25 two events and one other are flagged of eight: 2/8 − 1/8 · 1/3; one event and four others are left."""
    y = np.array([1.0, 1, 0, 1, 0, 0, 0, 0])
    p = np.array([0.9, 0.25, 0.5, 0.2, 0.1, 0.1, 0.05, 0.0])
    [one] = net_benefit_curve(y, p, [0.25])
    assert one.value == pytest.approx(2 / 8 - 1 / 8 / 3)
    assert one.over_all == pytest.approx(4 / 8 / 3 - 1 / 8)


def test_no_one_flagged_is_not_certainty() -> None:
    """A normal interval of all zeros has no width; nobody flagged of 50 may still be a few in a hundred."""
    y = np.repeat([0.0, 1.0], 25)
    for patient in (None, np.arange(50) // 2):
        [one] = net_benefit_curve(y, np.full(50, 0.3), [0.6], cluster=patient)
        assert one.value == 0
        assert one.ends.low < -0.05 < 0.05 < one.ends.high


def test_clusters_of_one_row_are_independent_rows_but_for_the_quantile() -> None:
    rng = np.random.default_rng(3)
    p = rng.random(4_000)
    y = (rng.random(4_000) < p).astype(float)
    plain = net_benefit_curve(y, p, [0.1, 0.5, 0.9])
    weighted = net_benefit_curve(y, p, [0.1, 0.5, 0.9], weight=np.full(4_000, 2.5))
    assert _numbers(weighted) == pytest.approx(_numbers(plain), abs=2e-4)


def test_repeated_rows_widen_the_interval() -> None:
    rng = np.random.default_rng(4)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(float)
    [once] = net_benefit_curve(y, p, [0.3])
    five = np.repeat(np.arange(300), 5)
    [counted] = net_benefit_curve(y[five], p[five], [0.3], cluster=five)
    [fooled] = net_benefit_curve(y[five], p[five], [0.3])
    assert counted.ends.high - counted.ends.low == pytest.approx(once.ends.high - once.ends.low, rel=0.02)
    assert fooled.ends.high - fooled.ends.low < 0.5 * (once.ends.high - once.ends.low)


@given(seed=st.integers(0, 10_000))
def test_row_order_and_whole_weights(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 60))
    p, patient = rng.random(n).round(1), rng.integers(0, 10, n)
    y, times = (rng.random(n) < p).astype(float), rng.integers(1, 4, n)
    order = rng.permutation(n)
    plain = net_benefit_curve(y, p, [0.1, 0.4, 0.8], cluster=patient)
    mixed = net_benefit_curve(y[order], p[order], [0.8, 0.1, 0.4], cluster=patient[order])
    assert _numbers(mixed) == pytest.approx(_numbers(plain), rel=1e-9, abs=1e-12)
    many = np.repeat(np.arange(n), times)
    weighted = net_benefit_curve(y, p, [0.1, 0.4, 0.8], weight=times.astype(float), cluster=patient)
    repeated = net_benefit_curve(y[many], p[many], [0.1, 0.4, 0.8], cluster=patient[many])
    assert [one.value for one in weighted] == pytest.approx([one.value for one in repeated], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("clustered", [False, True])
def test_intervals_cover_where_few_events_lie_below_the_threshold(clustered: bool) -> None:
    """200 rows, 13 % events, a threshold of 0.03: two events or so are left unflagged. The normal interval of the gain
    over treating everyone covers some 60 % there."""
    rng = np.random.default_rng(20261115)
    low = rng.normal(-2.3, 1, 400_000)
    chance, odds = 1 / (1 + np.exp(-low)), 0.03 / 0.97
    true = float(np.mean(np.where(chance >= 0.03, 0.0, odds * (1 - chance) - chance)))
    times = 1_000
    covered = normal = 0
    for _ in range(times):
        p = 1 / (1 + np.exp(-rng.normal(-2.3, 1, 200)))
        y = (rng.random(200) < p).astype(float)
        if clustered:
            rows = np.repeat(np.arange(200), 2)
            [one] = net_benefit_curve(y[rows], p[rows], [0.03], cluster=rows)
        else:
            [one] = net_benefit_curve(y, p, [0.03])
        covered += one.over_all_ends.low <= true <= one.over_all_ends.high
        gain = np.where(p >= 0.03, 0.0, odds * (1 - y) - y)
        normal += abs(gain.mean() - true) <= z_critical(0.95) * gain.std(ddof=1) / np.sqrt(200)
    assert covered / times > 0.93 - 2 * np.sqrt(0.05 * 0.95 / times)
    assert normal / times < 0.80


def test_a_cluster_for_every_row_is_no_cluster() -> None:
    rng = np.random.default_rng(3)
    p = rng.random(80)
    y = (rng.random(80) < p).astype(float)
    assert net_benefit_curve(y, p, [0.2, 0.5], cluster=np.arange(80)[::-1]) == net_benefit_curve(y, p, [0.2, 0.5])
