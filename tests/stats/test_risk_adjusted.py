"""Risk-adjusted CUSUM against R, and its simulated limit against a Markov chain made for the test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracles import Case, cases
from workup.stats.charts.risk_adjusted import (
    observed_less_expected,
    risk_adjusted_cusum,
    risk_adjusted_limit,
    risk_adjusted_run_lengths,
    risk_adjusted_weights,
)

RISKS = np.random.default_rng(6).beta(1.0, 6.0, 400)


@cases("spc", prefix="racusum")
def test_weights_and_sums_meet_r(case: Case) -> None:
    y, p, ratio, limit = case.array("y"), case.array("p"), case.input["OR"], case.input["h"]
    assert observed_less_expected(y, p).tolist() == case.near("oe_cumsum")
    assert risk_adjusted_weights(y, p, odds_ratio=ratio).tolist() == case.near("weights")
    found = risk_adjusted_cusum(y, p, upper=limit, lower=limit, worse=ratio)
    assert found.up.tolist() == case.near("ra_cusum")
    first = int(np.argmax(found.signal_up)) + 1 if found.signal_up.any() else None
    assert first == case.expected["first_signal_h"]


def test_the_lower_side_gathers_evidence_of_improvement() -> None:
    quiet = risk_adjusted_cusum(np.zeros(60), np.full(60, 0.3), upper=3.0, lower=3.0)
    assert quiet.up.max() == 0
    step = -np.log(1 - 0.5 * 0.3)
    assert quiet.down[:3].tolist() == pytest.approx([-step, -2 * step, -3 * step])
    assert int(np.argmax(quiet.signal_down)) == int(3.0 / step)
    assert not quiet.signal_up.any()


def test_patients_without_an_outcome_are_held() -> None:
    full = risk_adjusted_cusum([1, 1, 0], [0.1, 0.2, 0.3], upper=1.0, lower=1.0)
    gaps = risk_adjusted_cusum([1, np.nan, 1, 1, 0], [0.1, 0.5, 0.2, np.nan, 0.3], upper=1.0, lower=1.0)
    assert gaps.up[[0, 2, 4]].tolist() == full.up.tolist()
    assert gaps.up[1] == gaps.up[0]
    assert gaps.observed.tolist() == [True, False, True, False, True]
    assert gaps.signal.tolist() == [False, False, True, False, False]  # held above the limit, and silent
    assert observed_less_expected([1, np.nan], [0.25, 0.5]).tolist() == [0.75, 0.75]


def test_series_of_patients_are_charted_side_by_side() -> None:
    y, p = np.array([[1, 0, 1], [0, 0, 1]]), np.array([[0.1, 0.2, 0.3], [0.5, 0.4, 0.3]])
    both = risk_adjusted_cusum(y, p, upper=2.0, lower=2.0)
    for row in range(2):
        alone = risk_adjusted_cusum(y[row], p[row], upper=2.0, lower=2.0)
        assert both.up[row].tolist() == alone.up.tolist()
        assert both.down[row].tolist() == alone.down.tolist()


@given(st.floats(0.0, 1.0), st.floats(1.05, 10))
def test_weights_are_a_likelihood_ratio(risk: float, ratio: float) -> None:
    """Under stable performance the likelihood ratio has mean 1, and certain outcomes carry no evidence."""
    weight = risk_adjusted_weights([1, 0], [risk, risk], odds_ratio=ratio)
    assert risk * np.exp(weight[0]) + (1 - risk) * np.exp(weight[1]) == pytest.approx(1.0)
    assert risk_adjusted_weights([0], [0.0], odds_ratio=ratio)[0] == 0.0


def chain_run_length(risks: Any, odds_ratio: float, limit: float, cells: int = 600) -> float:
    """Brook and Evans's chain for the sum: cell 0 is 0 and below, the rest equal cells up to the limit."""
    width = limit / (cells - 0.5)
    level = width * np.arange(cells)
    onward = np.zeros((cells, cells))
    for outcome, chance in ((1.0, risks), (0.0, 1 - risks)):
        weight = risk_adjusted_weights(np.full(risks.size, outcome), risks, odds_ratio=odds_ratio)
        for start in range(cells):
            cell = np.maximum(0, np.rint((level[start] + weight) / width)).astype(int)
            stays = cell < cells
            onward[start] += np.bincount(cell[stays], weights=chance[stays] / risks.size, minlength=cells)
    return float(np.linalg.solve(np.eye(cells) - onward, np.ones(cells))[0])


@pytest.mark.parametrize("odds_ratio", [2.0, 0.5])
def test_the_simulated_limit_has_the_run_length_asked_for(odds_ratio: float) -> None:
    solved = risk_adjusted_limit(RISKS, run_length=800, odds_ratio=odds_ratio, seed=20261115)
    assert solved.run_length == pytest.approx(800, rel=0.002)
    assert 0.01 < solved.se / solved.run_length < 0.02
    assert chain_run_length(RISKS, odds_ratio, solved.limit) == pytest.approx(800, rel=0.05)
    again = risk_adjusted_run_lengths(RISKS, limit=solved.limit, odds_ratio=odds_ratio, seed=7)
    assert again.mean() == pytest.approx(800, rel=0.06)
    changed = risk_adjusted_run_lengths(RISKS, limit=solved.limit, odds_ratio=odds_ratio, truth=odds_ratio, seed=7)
    assert changed.mean() < 200


def test_run_lengths_are_those_of_the_chart() -> None:
    """Draw runs through the chart itself and compare the share that signalled by a few sizes."""
    rng = np.random.default_rng(3)
    p = rng.choice(RISKS, (4000, 400))
    y = rng.random(p.shape) < p
    signal = risk_adjusted_cusum(y, p, upper=2.5, lower=9.0).signal_up
    lengths = risk_adjusted_run_lengths(RISKS, limit=2.5, runs=4000, seed=11)
    for size in (50, 150, 400):
        assert np.mean(lengths <= size) == pytest.approx(signal[:, :size].any(axis=1).mean(), abs=0.04)


def test_limits_grow_with_the_run_length_and_repeat_by_seed() -> None:
    found = [risk_adjusted_limit(RISKS, run_length=length, runs=1000, seed=1).limit for length in (100, 400, 1600)]
    assert found == sorted(found)
    assert found[0] == risk_adjusted_limit(RISKS, run_length=100, runs=1000, seed=1).limit
    assert found[0] != risk_adjusted_limit(RISKS, run_length=100, runs=1000, seed=2).limit


def test_a_single_risk_is_a_lattice_and_still_solved() -> None:
    solved = risk_adjusted_limit([0.2], run_length=300, runs=2000, seed=1)
    assert solved.run_length >= 300
    assert chain_run_length(np.array([0.2]), 2.0, solved.limit, cells=2000) == pytest.approx(
        solved.run_length, rel=0.15
    )


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="outcome must be 0 or 1"):
        risk_adjusted_cusum([2.0], [0.1], upper=1.0, lower=1.0)
    with pytest.raises(ValueError, match=r"risk must lie in \[0, 1\]"):
        risk_adjusted_cusum([1.0], [1.1], upper=1.0, lower=1.0)
    with pytest.raises(ValueError, match="one shape"):
        risk_adjusted_cusum([1.0], [0.1, 0.2], upper=1.0, lower=1.0)
    with pytest.raises(ValueError, match="worse must be above 1"):
        risk_adjusted_cusum([1.0], [0.1], upper=1.0, lower=1.0, worse=0.5)
    with pytest.raises(ValueError, match="other than 1"):
        risk_adjusted_limit([0.1], run_length=100, odds_ratio=1.0)
    for risks in ([], [0.0, 1.0], [np.nan], [-0.1, 0.5]):
        with pytest.raises(ValueError, match="risks must lie in"):
            risk_adjusted_limit(risks, run_length=100)
    with pytest.raises(ValueError, match="more than 1 patient"):
        risk_adjusted_limit([0.1], run_length=1)


@pytest.mark.parametrize("risk", [0.0005, 1e-6])
def test_risks_too_small_for_the_run_length_are_refused(risk: float) -> None:
    with pytest.raises(ValueError, match=r"takes more than 100 patients|ask for a longer one"):
        risk_adjusted_limit([risk], run_length=100, runs=200)


def test_a_first_rise_that_comes_too_late_has_no_limit() -> None:
    with pytest.raises(ValueError, match="even the first rise of the sum takes more than 5 patients"):
        risk_adjusted_limit([0.05], run_length=5, runs=400, seed=2)


def test_the_error_of_the_run_length_is_that_of_a_mean() -> None:
    """Of two runs: half the distance between them."""
    solved = risk_adjusted_limit([0.2, 0.4], run_length=60, runs=2, seed=4)
    assert solved.se * 2 == pytest.approx(round(solved.se * 2))
    assert 0 <= solved.se <= solved.run_length
