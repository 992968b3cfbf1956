"""Control charts against R (qcc), and what they do with windows that hold too little."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.support.oracles import Case, cases
from workup.stats.charts.baselines import laney_sigma_z, share_baseline, xmr_baseline
from workup.stats.charts.control_charts import (
    cusum,
    ewma,
    ewma_spread,
    long_runs,
    p_chart,
    p_prime_chart,
    xmr_chart,
)

z_table = arrays(np.float64, (3, 8), elements=st.one_of(st.floats(-6, 6), st.just(np.nan)))


def places(found: Any) -> list[int]:
    """Where something is true, counted from 1 as R does."""
    return (np.flatnonzero(found) + 1).tolist()


def listed(expected: Any) -> list[int]:
    """R writes one place as a number and several as a list."""
    return np.atleast_1d(np.asarray(expected, dtype=int)).tolist()


@cases("spc", prefix="pchart")
def test_shares_and_limits_meet_qcc(case: Case) -> None:
    x, n = case.array("x"), case.array("n")
    share = share_baseline(x, n)
    assert float(share) == case.near("center")
    found = p_chart(x, n, baseline=share)
    assert found.lower.tolist() == case.near("lcl")
    assert found.upper.tolist() == case.near("ucl")
    assert places(found.signal) == listed(case.expected["beyond"])
    assert places(long_runs(x / n, centre=share)) == listed(case.expected["runs"])


@cases("spc", prefix="pchart")
def test_laney_limits_meet_r(case: Case) -> None:
    x, n = case.array("x"), case.array("n")
    share = share_baseline(x, n)
    sigma = laney_sigma_z(x, n, baseline=share)
    assert float(sigma) == case.near("laney_sigma_z")
    found = p_prime_chart(x, n, baseline=share, sigma_z=sigma)
    assert found.lower.tolist() == case.near("laney_lcl")
    assert found.upper.tolist() == case.near("laney_ucl")


@cases("spc", prefix="xmr")
def test_individuals_and_ranges_meet_qcc(case: Case) -> None:
    x = case.array("x")
    frozen = xmr_baseline(x)
    assert float(frozen.centre) == case.near("center")
    assert float(frozen.sd) == case.near("sd_mr")
    assert float(frozen.mean_range) == case.near("mr_bar")
    found = xmr_chart(x, centre=frozen.centre, mean_range=frozen.mean_range)
    assert found.individuals.lower[0] == case.near("lcl")
    assert found.individuals.upper[-1] == case.near("ucl")
    assert found.ranges.upper[0] == case.near("mr_ucl")
    assert places(found.individuals.signal) == listed(case.expected["beyond"])
    assert places(long_runs(x, centre=frozen.centre)) == listed(case.expected["runs"])


@cases("spc", prefix="xmr_4")
def test_limits_from_the_judged_data_miss_what_moving_ranges_see(case: Case) -> None:
    """The known flaw: mean ± 3 SD of all windows is inflated by the very shift that it should find."""
    x = case.array("x")
    low, high = x.mean() - 3 * x.std(ddof=1), x.mean() + 3 * x.std(ddof=1)
    assert (low, high) == (case.near("naive_lcl"), case.near("naive_ucl"))
    assert not np.any((x < low) | (x > high))
    frozen = xmr_baseline(x[:8])
    assert xmr_chart(x, centre=frozen.centre, mean_range=frozen.mean_range).individuals.signal[-4:].all()


@cases("spc", prefix="ewma")
def test_ewma_with_exact_limits_meets_qcc(case: Case) -> None:
    of = case.input
    found = ewma(case.array("x"), centre=of["mu0"], sd=of["sd0"], weight=of["lambda"], limit=of["L"], fast_start=True)
    assert found.statistic.tolist() == case.near("z")
    assert found.lower.tolist() == case.near("lcl")
    assert found.upper.tolist() == case.near("ucl")
    assert places(found.signal) == listed(case.expected["beyond"])


@cases("spc", prefix="cusum")
def test_cusum_meets_qcc(case: Case) -> None:
    of = case.input
    reference = of["shift"] / 2
    assert reference == case.near("k")
    found = cusum(case.array("x"), centre=of["mu0"], sd=of["sd0"], reference=reference, limit=of["h"])
    assert found.up.tolist() == case.near("pos")
    assert found.down.tolist() == case.near("neg")
    assert places(found.signal_up) == listed(case.expected["upper_viol"])
    assert places(found.signal_down) == listed(case.expected["lower_viol"])


def test_steady_limits_are_the_end_of_the_exact_ones() -> None:
    z = np.zeros(60)
    steady, exact = ewma(z), ewma(z, fast_start=True)
    assert np.ptp(steady.upper) == 0
    assert steady.upper[0] == pytest.approx(2.86 / 3)  # √(0.2 / 1.8) is a third
    assert exact.upper[0] == pytest.approx(2.86 * 0.2)
    assert exact.upper[-1] == pytest.approx(steady.upper[-1], rel=1e-10)
    assert np.all(np.diff(exact.upper[:40]) > 0)


def test_a_window_without_data_holds_the_statistic_and_never_signals() -> None:
    found = ewma([5.0, np.nan, np.nan, 0.0], limit=2.5)
    assert found.statistic.tolist() == [1.0, 1.0, 1.0, 0.8]
    assert found.signal.tolist() == [True, False, False, False]
    assert found.observed.tolist() == [True, False, False, True]
    sums = cusum([5.0, np.nan, 0.0], limit=4)
    assert sums.up.tolist() == [4.5, 4.5, 4.0]
    assert sums.signal.tolist() == [True, False, False]
    shares = p_chart([40, np.nan, 0, 10], [100, 100, 0, 100], baseline=0.1)
    assert shares.statistic.tolist() == [0.4, 0.4, 0.4, 0.1]
    assert shares.signal.tolist() == [True, False, False, False]
    assert np.isnan(shares.upper[[1, 2]]).all()


def test_before_the_first_observed_window() -> None:
    """A running statistic stands at its start; a chart of single windows has nothing to hold."""
    assert ewma([np.nan, 2.0], centre=1.0).statistic.tolist() == pytest.approx([1.0, 1.2])
    assert cusum([np.nan, 2.0]).up.tolist() == [0.0, 1.5]
    assert np.isnan(p_chart([np.nan, 5], [10, 10], baseline=0.5).statistic[0])
    chart = xmr_chart([np.nan, 1.0, np.nan, 9.0, 1.0], centre=1.0, mean_range=1.0)
    assert chart.individuals.signal.tolist() == [False, False, False, True, False]
    assert chart.ranges.observed.tolist() == [False, False, False, False, True]  # two neighbours make a range
    assert chart.ranges.signal.tolist() == [False, False, False, False, True]


def test_exact_limits_count_observed_windows() -> None:
    gaps, none = ewma([0.0, np.nan, 0.0, np.nan, 0.0], fast_start=True), ewma([0.0, 0.0, 0.0], fast_start=True)
    assert gaps.upper[[0, 2, 4]].tolist() == none.upper.tolist()


@given(z_table)
def test_series_are_charted_as_if_alone_and_gaps_change_nothing(z: Any) -> None:
    for fast in (False, True):
        together = ewma(z, fast_start=fast)
        for row, values in enumerate(z):
            alone = ewma(values, fast_start=fast)
            assert together.statistic[row].tolist() == alone.statistic.tolist()
            assert together.signal[row].tolist() == alone.signal.tolist()
            seen = ~np.isnan(values)
            kept = ewma(values[seen], fast_start=fast)
            assert alone.statistic[seen].tolist() == kept.statistic.tolist()
            assert alone.signal[seen].tolist() == kept.signal.tolist()


@given(z_table)
def test_charts_are_alike_on_both_sides(z: Any) -> None:
    assert ewma(-z).signal.tolist() == ewma(z).signal.tolist()
    up, down = cusum(z), cusum(-z)
    assert up.up.tolist() == (-down.down).tolist()
    assert up.signal.tolist() == down.signal.tolist()


@given(z_table)
def test_cusum_is_its_recursion(z: Any) -> None:
    found = cusum(z, reference=0.3)
    up = np.zeros(len(z))
    for t in range(z.shape[1]):
        up = np.where(np.isnan(z[:, t]), up, np.maximum(0, up + z[:, t] - 0.3))
        assert found.up[:, t] == pytest.approx(up, abs=1e-12)


def test_centre_and_sd_may_be_one_per_series() -> None:
    raw = np.array([[0.80, 0.70, 0.60], [0.30, 0.30, 0.30]])
    found = ewma(raw, centre=[0.80, 0.25], sd=[0.02, 0.05])
    by_z = ewma((raw - [[0.80], [0.25]]) / [[0.02], [0.05]])
    assert found.signal.tolist() == by_z.signal.tolist() == [[False, True, True], [False, False, False]]
    with pytest.raises(ValueError, match="one per series"):
        ewma(raw, centre=[0.1, 0.2, 0.3])


def test_the_side_nearer_its_limit_is_the_statistic() -> None:
    found = cusum([3.0, -3.0, -3.0])
    assert found.statistic.tolist() == [2.5, -2.5, -5.0]


def test_a_run_is_ended_by_the_centre_and_not_by_a_gap() -> None:
    above = [1.0] * 6
    assert places(long_runs([*above, 1.0, 1.0], centre=0)) == [7, 8]
    assert places(long_runs([*above, np.nan, 1.0], centre=0)) == [8]
    assert places(long_runs([*above, 0.0, 1.0], centre=0)) == []
    assert places(long_runs([*above, -1.0, 1.0], centre=0)) == []


def test_weight_one_is_shewharts_chart() -> None:
    assert ewma([2.9, 3.1], weight=1.0, limit=3.0).signal.tolist() == [False, True]
    assert float(ewma_spread(1.0)) == 1.0


@pytest.mark.parametrize("weight", [0.0, -0.1, 1.1, np.nan])
def test_weights_outside_their_range_are_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="weight must be above 0 and at most 1"):
        ewma([0.0], weight=weight)


def test_bad_input_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"infinite one stands at \[0, 1\]"):
        ewma([[0.0, np.inf]])
    with pytest.raises(ValueError, match="axis of windows"):
        cusum(1.0)
    with pytest.raises(ValueError, match="sd must be above 0"):
        cusum([1.0], sd=0.0)
    with pytest.raises(ValueError, match="limit must be above 0"):
        ewma([1.0], limit=0.0)
    with pytest.raises(ValueError, match="centre must be finite: it is frozen"):
        ewma([1.0], centre=np.nan)
    with pytest.raises(ValueError, match="between 0 and the size"):
        p_chart([11], [10], baseline=0.5)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        p_chart([1], [10], baseline=0.0)
    with pytest.raises(ValueError, match="no spread to judge by"):
        xmr_chart([1.0], centre=1.0, mean_range=0.0)


def test_no_windows_at_all() -> None:
    assert ewma(np.empty((3, 0))).signal.shape == (3, 0)
    assert cusum(np.empty((3, 0))).signal.shape == (3, 0)
