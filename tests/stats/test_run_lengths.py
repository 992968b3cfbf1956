"""Run lengths against R (spc), against simulation, and against Brook and Evans's chain of equal cells."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from tests.support.oracles import Case, cases
from workup.stats.charts import run_lengths as rl
from workup.stats.charts.control_charts import cusum, ewma

SEED = 20261115


@cases("spc", prefix="arl")
def test_run_lengths_meet_spc(case: Case) -> None:
    of = case.input
    weight, limit, reference, decision = of["lambda"], of["L"], of["k"], of["h"]
    assert rl.ewma_run_length(weight=weight, limit=limit) == case.near("ewma_arl0")
    assert rl.ewma_run_length(weight=weight, limit=limit, shift=1.0) == case.near("ewma_arl1")
    assert rl.cusum_run_length(reference=reference, limit=decision) == case.near("cusum_arl0_two")
    assert rl.cusum_run_length(reference=reference, limit=decision, shift=1.0) == case.near("cusum_arl1_two")
    assert rl.cusum_run_length(reference=reference, limit=decision, sides=1) == case.near("cusum_arl0_one")
    assert rl.ewma_limit(of["arl0"], weight=weight) == case.near("L_for_arl0")
    assert rl.cusum_limit(of["arl0"], reference=reference) == case.near("h_for_arl0")
    assert rl.ewma_run_length(weight=1.0, limit=3.0) == case.near("shewhart3_arl0")


def test_an_uncounted_error_of_the_baseline_cuts_the_run_length() -> None:
    assert rl.ewma_run_length() == pytest.approx(371.1, abs=0.05)
    assert rl.ewma_run_length(shift=0.29) == pytest.approx(96.84, abs=0.01)
    assert rl.ewma_run_length(shift=-0.29) == pytest.approx(rl.ewma_run_length(shift=0.29), rel=1e-10)


@pytest.mark.parametrize("fast_start", [False, True])
def test_ewma_runs_as_long_as_designed(fast_start: bool) -> None:
    """10,000 runs: the standard error is 1 % of the mean, the promise 5 %."""
    lengths = rl.simulated_ewma_run_lengths(fast_start=fast_start, runs=10_000, seed=SEED)
    assert lengths.mean() == pytest.approx(rl.ewma_run_length(fast_start=fast_start), rel=0.03)
    assert abs(lengths.mean() / 371 - 1) < 0.05


def test_cusum_runs_as_long_as_designed() -> None:
    lengths = rl.simulated_cusum_run_lengths(runs=10_000, seed=SEED)
    assert lengths.mean() == pytest.approx(rl.cusum_run_length(), rel=0.03)
    assert abs(lengths.mean() / 370 - 1) < 0.05


def test_shifts_are_found_as_soon_as_designed() -> None:
    for shift in (0.5, -1.0):
        for fast in (False, True):
            found = rl.simulated_ewma_run_lengths(shift=shift, fast_start=fast, runs=10_000, seed=SEED).mean()
            assert found == pytest.approx(rl.ewma_run_length(shift=shift, fast_start=fast), rel=0.04)
        found = rl.simulated_cusum_run_lengths(shift=shift, runs=10_000, seed=SEED).mean()
        assert found == pytest.approx(rl.cusum_run_length(shift=shift), rel=0.04)


def test_simulated_runs_are_those_of_the_charts() -> None:
    """The simulation's shortcut and the chart itself signal in the same share of short runs."""
    z = np.random.default_rng(4).standard_normal((20_000, 24)) + 0.5
    for fast in (False, True):
        by_chart = ewma(z, fast_start=fast).signal.any(axis=1).mean()
        runs = rl.simulated_ewma_run_lengths(shift=0.5, fast_start=fast, runs=20_000, seed=1, longest=24)
        assert np.isinf(runs).any()
        assert np.isfinite(runs).mean() == pytest.approx(by_chart, abs=0.02)
        assert 1 - rl.ewma_survival(24, shift=0.5, fast_start=fast)[-1] == pytest.approx(by_chart, abs=0.015)
    chart = cusum(z)
    upper = rl.cusum_survival(24, shift=0.5)
    assert 1 - upper[-1] == pytest.approx(chart.signal_up.any(axis=1).mean(), abs=0.015)
    assert 1 - rl.cusum_survival(24, shift=-0.5)[-1] == pytest.approx(chart.signal_down.any(axis=1).mean(), abs=0.005)


def brook_evans(weight: float, limit: float, cells: int) -> float:
    """The classical chain: the level is rounded to the middle of equal cells between the limits."""
    edge = limit * np.sqrt(weight / (2 - weight))
    width = 2 * edge / cells
    middle = -edge + width * (np.arange(cells) + 0.5)
    ahead = middle[None, :] - (1 - weight) * middle[:, None]
    onward = special.ndtr((ahead + width / 2) / weight) - special.ndtr((ahead - width / 2) / weight)
    left = np.linalg.solve(np.eye(cells) - onward, np.ones(cells))
    return float(left[cells // 2])


@pytest.mark.parametrize(("weight", "limit"), [(0.2, 2.86), (0.05, 2.6), (0.2, 3.6), (0.5, 3.0)])
def test_equal_cells_come_to_the_same(weight: float, limit: float) -> None:
    assert rl.ewma_run_length(weight=weight, limit=limit) == pytest.approx(brook_evans(weight, limit, 301), rel=2e-3)


@pytest.mark.parametrize("fast_start", [False, True])
@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_run_length_is_the_sum_of_survival(fast_start: bool, shift: float) -> None:
    quiet = rl.ewma_survival(6000, limit=2.5, shift=shift, fast_start=fast_start)
    whole = rl.ewma_run_length(limit=2.5, shift=shift, fast_start=fast_start)
    assert 1 + quiet.sum() == pytest.approx(whole, rel=1e-8)
    assert np.all(np.diff(quiet) <= 1e-15)


def test_cusum_run_length_is_the_sum_of_survival() -> None:
    quiet = rl.cusum_survival(6000, limit=3.0)
    assert 1 + quiet.sum() == pytest.approx(rl.cusum_run_length(limit=3.0, sides=1), rel=1e-8)


def test_the_first_window_is_a_normal_tail() -> None:
    assert 1 - rl.ewma_survival(1, limit=3.0, fast_start=True)[0] == pytest.approx(2 * special.ndtr(-3.0), rel=1e-9)
    steady = 3.0 / 3 / 0.2
    assert 1 - rl.ewma_survival(1, limit=3.0)[0] == pytest.approx(2 * special.ndtr(-steady), rel=1e-6)
    narrower = rl.ewma_survival(1, limit=3.0, spread=0.5, fast_start=True)[0]
    assert 1 - narrower == pytest.approx(2 * special.ndtr(-6.0), rel=1e-5)


def test_several_shifts_at_once() -> None:
    several = rl.ewma_survival(5, shift=[0.0, 0.7, -0.7])
    assert several.shape == (3, 5)
    assert several[1] == pytest.approx(rl.ewma_survival(5, shift=0.7))
    assert several[1] == pytest.approx(several[2])
    assert rl.cusum_survival(5, shift=[0.0, 0.7]).shape == (2, 5)


def test_small_weights_have_points_enough() -> None:
    """Half as many points again change nothing: 0.01 is a narrow step in a wide range."""
    wide = rl.ewma_run_length(weight=0.01, limit=2.2)
    cells = brook_evans(0.01, 2.2, 1201)
    assert wide == pytest.approx(cells, rel=2e-3)
    assert rl.ewma_run_length(weight=0.01, limit=2.2, fast_start=True) < wide


def test_limits_are_solved_both_ways() -> None:
    for wanted in (20.0, 370.0, 5000.0):
        for fast in (False, True):
            limit = rl.ewma_limit(wanted, fast_start=fast)
            assert rl.ewma_run_length(limit=limit, fast_start=fast) == pytest.approx(wanted, rel=1e-7)
        assert rl.cusum_run_length(limit=rl.cusum_limit(wanted)) == pytest.approx(wanted, rel=1e-7)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="at any limit above 0"):
        rl.ewma_limit(0.5)
    with pytest.raises(ValueError, match="sides must be 1"):
        rl.cusum_run_length(sides=3)
    with pytest.raises(ValueError, match="windows must be at least 1"):
        rl.ewma_survival(0)
    with pytest.raises(ValueError, match="limit must be above 0"):
        rl.cusum_survival(3, limit=-1.0)


def test_the_same_seed_gives_the_same_runs() -> None:
    first = rl.simulated_ewma_run_lengths(runs=50, seed=3)
    assert first.tolist() == rl.simulated_ewma_run_lengths(runs=50, seed=3).tolist()
    assert first.tolist() != rl.simulated_ewma_run_lengths(runs=50, seed=4).tolist()
