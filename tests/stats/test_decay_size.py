"""Cases for a decay: the noncentral t, and drawn conversations whose slopes have the spread that was planned with."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from workup.stats.sizes.decay import (
    cases_for_mean,
    decay_gap_sd,
    decay_gap_size,
    decay_slope_sd,
    decay_slope_size,
    mean_detectable,
    mean_power,
)


def by_scipy(effect: float, sd: float, n: int, alpha: float = 0.05) -> float:
    limit = stats.t.ppf(1 - alpha / 2, n - 1)
    shift = abs(effect) * math.sqrt(n) / sd
    return float(stats.nct.sf(limit, n - 1, shift) + stats.nct.cdf(-limit, n - 1, shift))


def test_power_is_that_of_the_noncentral_t() -> None:
    n = np.array([2, 5, 10, 34, 200])
    assert mean_power(0.5, sd=1.0, cases=n) == pytest.approx([by_scipy(0.5, 1.0, int(k)) for k in n], abs=1e-8)
    assert mean_power(0.5, sd=1.0, cases=[0, 1]).tolist() == [0.0, 0.0]
    assert float(mean_power(3.0, sd=1.0, cases=100_000)) == 1.0
    assert float(mean_power(0.0, sd=1.0, cases=30)) == pytest.approx(0.05)


def test_the_textbook_size_of_a_paired_t_test() -> None:
    """d = 0.5 at 80 % needs 34 pairs (G*Power), 32 by the normal formula."""
    assert cases_for_mean(0.5, sd=1.0).cases == 34
    assert cases_for_mean(-0.2, sd=1.0, power=0.9).cases == 265


@given(st.floats(0.03, 3.0), st.floats(0.1, 0.98), st.floats(0.001, 0.09))
def test_the_fewest_cases_are_the_fewest(effect: float, power: float, alpha: float) -> None:
    found = cases_for_mean(effect, sd=1.0, alpha=alpha, power=power)
    assert found.power >= power
    assert found.cases == 2 or float(mean_power(effect, sd=1.0, cases=found.cases - 1, alpha=alpha)) < power


def test_the_detectable_mean_is_detected() -> None:
    gap = mean_detectable(sd=0.3, cases=25)
    assert float(mean_power(gap, sd=0.3, cases=25)) == pytest.approx(0.8, abs=1e-9)
    with pytest.raises(ValueError, match="at least 2 cases"):
        mean_detectable(sd=0.3, cases=1)


def test_with_one_variance_the_slope_is_that_of_the_textbook() -> None:
    """σ²(1 − ρ)/Σ(t − t̄)²: a slope of 0 keeps the variance of every turn the same."""
    turns, facts, recall, rho = 10, 8, 0.8, 0.3
    squares = turns * (turns**2 - 1) / 12
    variance = recall * (1 - recall) / facts * (1 - rho) / squares
    found = decay_slope_sd(0.0, start=recall, turns=turns, facts=facts, correlation=rho)
    assert found == pytest.approx(math.sqrt(variance))
    assert decay_slope_sd(0.0, start=recall, turns=turns, facts=facts, slope_sd=0.02, correlation=rho) == pytest.approx(
        math.hypot(0.02, found)
    )


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_drawn_conversations_have_the_planned_spread_and_power(correlation: float) -> None:
    slope, start, turns, facts, slope_sd = -0.02, 0.95, 10, 8, 0.03
    model = {"start": start, "turns": turns, "facts": facts, "correlation": correlation, "slope_sd": slope_sd}
    plan = decay_slope_size(slope, **model)
    rng = np.random.default_rng(4)
    t = np.arange(1, turns + 1)
    mean = start + slope * (t - 1)
    sd = np.sqrt(mean * (1 - mean) / facts)
    studies = 4000
    shape = (studies, plan.cases)
    noise = math.sqrt(1 - correlation) * rng.normal(size=(*shape, turns))
    noise += math.sqrt(correlation) * rng.normal(size=(*shape, 1))
    own = slope_sd * rng.normal(size=(*shape, 1)) * (t - t.mean())
    recall = mean + own + noise * sd + 0.1 * rng.normal(size=(*shape, 1))  # the last is the level of a case
    slopes = recall @ ((t - t.mean()) / np.sum((t - t.mean()) ** 2))
    assert slopes.std() == pytest.approx(plan.sd, rel=0.02)
    p = stats.ttest_1samp(slopes, 0.0, axis=1).pvalue
    assert np.mean(p <= 0.05) == pytest.approx(plan.power, abs=3.5 * math.sqrt(0.16 / studies))


def test_binomial_facts_have_the_planned_spread() -> None:
    rng = np.random.default_rng(8)
    t = np.arange(1, 11)
    mean = 0.95 - 0.02 * (t - 1)
    recall = rng.binomial(8, mean, size=(40_000, 10)) / 8
    slopes = recall @ ((t - t.mean()) / np.sum((t - t.mean()) ** 2))
    assert slopes.std() == pytest.approx(decay_slope_sd(-0.02, start=0.95, turns=10, facts=8), rel=0.02)


def test_a_gap_is_paired_by_case() -> None:
    assert decay_gap_sd(0.8, 0.95, facts=8, icc=0.0) == pytest.approx(math.sqrt(0.16 / 8 + 0.0475 / 8))
    assert decay_gap_sd(0.8, 0.95, facts=8, icc=1.0) == pytest.approx(math.sqrt(0.16 + 0.0475))
    alone = decay_gap_size(0.80, 0.95, facts=8, icc=0.2)
    together = decay_gap_size(0.80, 0.95, facts=8, icc=0.2, correlation=0.5)
    assert alone.effect == pytest.approx(-0.15)
    assert together.cases < alone.cases
    assert alone.power >= 0.8


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: decay_slope_sd(-0.02, start=0.95, turns=1, facts=8), "at least 2 turns"),
        (lambda: decay_slope_sd(-0.2, start=0.95, turns=10, facts=8), "leave 0 to 1"),
        (lambda: decay_slope_sd(-0.02, start=0.95, turns=10, facts=0), "facts must be positive"),
        (lambda: decay_slope_sd(-0.02, start=0.95, turns=10, facts=8, correlation=1.0), "correlation"),
        (lambda: cases_for_mean(0.0, sd=1.0), "effect must not be 0"),
        (lambda: cases_for_mean(0.1, sd=0.0), "sd must be positive"),
        (lambda: cases_for_mean(1e-9, sd=1.0), "not feasible"),
        (lambda: decay_gap_size(0.8, 0.8, facts=8, icc=0.1), "effect must not be 0"),
        (lambda: decay_gap_sd(0.8, 1.2, facts=8, icc=0.1), "oracle must lie"),
    ],
)
def test_inputs_without_sense_are_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
