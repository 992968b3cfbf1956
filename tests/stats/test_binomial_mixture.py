"""The binomial-normal mixture against R's glmer (through metafor), against plain integration, and at its edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from tests.support.oracles import Case, cases
from workup.stats.meta import binomial_mixture
from workup.stats.meta.pooling import pool_shares

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def plain(mean: float, tau: float, x: Any, n: Any) -> float:
    """The log-likelihood with one adaptive integral per site; binomial constants left out."""
    if tau == 0:
        return float(np.sum(x * special.log_expit(mean) + (n - x) * special.log_expit(-mean)))
    total = 0.0
    for hits, size in zip(x, n, strict=True):

        def log_f(b: float, hits: float = hits, size: float = size) -> float:
            return float(hits * special.log_expit(b) + (size - hits) * special.log_expit(-b)) + float(
                -((b - mean) ** 2) / (2 * tau**2) - np.log(tau * np.sqrt(2 * np.pi))
            )

        reach = 40 * tau + 8
        top = optimize.minimize_scalar(lambda b: -log_f(b), bounds=(mean - reach, mean + reach), method="bounded")
        ends = [top.x + side * tau * part for side in (-1, 1) for part in (0.01, 0.1, 1, 4)]
        area, _ = integrate.quad(
            lambda b, top=top: np.exp(log_f(b) + top.fun),
            top.x - 10 * tau,
            top.x + 10 * tau,
            points=sorted([top.x, *ends]),
            epsabs=0,
            epsrel=1e-11,
            limit=400,
        )
        total += float(np.log(area)) - top.fun
    return total


@cases("meta_analysis", prefix="s")
def test_the_mixture_is_that_of_metafor(case: Case) -> None:
    expected = case.expected["GLMM_binomial_normal"]
    x, n = case.array("x"), case.array("n")
    found = pool_shares(x, n)
    assert found.estimate == pytest.approx(expected["estimate_logit"], rel=case.rel_tol)
    assert found.se == pytest.approx(expected["se"], rel=case.rel_tol)
    # glmer's search ends a few 1e-10 below the peak, which is so flat that its tau² is then off by some 1e-5: ours must
    # be higher, by no more than that.
    gain = plain(found.estimate, np.sqrt(found.tau2), x, n) - plain(
        expected["estimate_logit"], np.sqrt(expected["tau2"]), x, n
    )
    assert -1e-11 <= gain < 1e-9
    assert found.tau2 == pytest.approx(expected["tau2"], rel=1e-4, abs=1e-12)


SPARSE = [
    ([0.0, 1, 0, 3, 0, 2], [40.0, 55, 12, 90, 33, 20]),
    ([0.0, 9, 10, 2], [10.0, 10, 10, 10]),
    ([120.0, 88, 300.5, 12.25], [130.0, 91.5, 340, 14]),
    ([9_000.0, 4_000, 12_000], [10_000.0, 5_000, 15_000]),
]


@pytest.mark.parametrize(("x", "n"), SPARSE)
@pytest.mark.parametrize(("mean", "tau"), [(-2.0, 0.05), (0.5, 0.7), (2.0, 3.0), (-1.0, 10.0)])
def test_likelihood_is_the_integral(x: list[float], n: list[float], mean: float, tau: float) -> None:
    events, totals = np.array(x), np.array(n)
    found = binomial_mixture.moments(mean, tau, events, totals)
    assert found.value == pytest.approx(plain(mean, tau, events, totals), rel=1e-9)
    step = 1e-4

    def at(a: float, b: float) -> binomial_mixture.Moments:
        return binomial_mixture.moments(mean + a * step, tau + b * step, events, totals)

    size = np.abs(found.hessian).max()
    assert found.by_mean == pytest.approx((at(1, 0).value - at(-1, 0).value) / (2 * step), rel=1e-5, abs=1e-5 * size)
    assert found.by_tau == pytest.approx((at(0, 1).value - at(0, -1).value) / (2 * step), rel=1e-5, abs=1e-5 * size)
    slopes = [[(at(*one)[i] - at(-one[0], -one[1])[i]) / (2 * step) for one in ((1, 0), (0, 1))] for i in (1, 2)]
    assert found.hessian == pytest.approx(np.array(slopes), rel=1e-4, abs=1e-5 * size)


@pytest.mark.parametrize(("x", "n"), SPARSE)
def test_the_estimate_is_the_highest_point(x: list[float], n: list[float]) -> None:
    events, totals = np.array(x), np.array(n)
    found = pool_shares(events, totals)
    tau = np.sqrt(found.tau2)
    best = plain(found.estimate, tau, events, totals)
    for mean in found.estimate + np.array([-0.5, -0.1, -0.01, 0, 0.01, 0.1, 0.5]):
        for other in np.unique(np.maximum(0, tau + np.array([-1, -0.1, -0.01, 0, 0.01, 0.1, 1]))):
            assert plain(float(mean), float(other), events, totals) <= best + 1e-9


def test_the_interval_of_tau2_is_that_of_the_profile_likelihood() -> None:
    x, n = np.array([10.0, 40, 22, 5, 60]), np.array([80.0, 90, 60, 70, 90])
    found = pool_shares(x, n, level=0.9)

    def profiled(tau: float) -> float:
        best = optimize.minimize_scalar(lambda m: -plain(m, tau, x, n), bounds=(-4, 4), method="bounded")
        return float(-best.fun)

    top = profiled(np.sqrt(found.tau2))
    assert found.tau2_low is not None
    assert found.tau2_high is not None
    for end in (found.tau2_low, found.tau2_high):
        assert 2 * (top - profiled(np.sqrt(end))) == pytest.approx(stats.chi2.ppf(0.9, 1), rel=1e-4)
    assert 0 < found.tau2_low < found.tau2 < found.tau2_high


def test_what_goes_with_a_pooled_share() -> None:
    x, n = np.array([10.0, 40, 22, 5, 0]), np.array([80.0, 90, 60, 70, 30])
    found = pool_shares(x, n)
    assert (found.k, found.method, found.test, found.df, found.q_df) == (5, "GLMM", "t", 4, 4)
    half = stats.t.ppf(0.975, 4) * found.se
    assert [found.low, found.high] == pytest.approx([found.estimate - half, found.estimate + half])
    ahead = stats.t.ppf(0.975, 3) * np.sqrt(found.tau2 + found.se**2)
    assert [found.pi_low, found.pi_high] == pytest.approx([found.estimate - ahead, found.estimate + ahead])
    with np.errstate(divide="ignore", invalid="ignore"):
        g = stats.power_divergence(
            np.column_stack([x, n - x]).ravel(),
            np.outer(n, [x.sum() / n.sum(), 1 - x.sum() / n.sum()]).ravel(),
            lambda_="log-likelihood",
        )
    assert found.q == pytest.approx(g.statistic, rel=1e-9)
    assert found.q_p == pytest.approx(stats.chi2.sf(found.q, 4))
    assert found.weights.sum() == pytest.approx(1)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.estimate / found.se), 4))


def test_equal_shares_pool_as_one_sample() -> None:
    found = pool_shares([20, 40, 10], [100, 200, 50])
    assert found.tau2 == found.tau2_low == 0
    assert found.estimate == pytest.approx(special.logit(0.2), rel=1e-12)
    assert found.se == pytest.approx(np.sqrt(1 / 70 + 1 / 280), rel=1e-9)
    assert found.q == pytest.approx(0, abs=1e-9)


def test_events_and_their_absence_are_two_sides_of_one_share() -> None:
    x, n = np.array([3.0, 0, 7, 12]), np.array([20.0, 15, 30, 31])
    one, other = pool_shares(x, n), pool_shares(n - x, n)
    assert [one.estimate, one.se, one.tau2, one.q] == pytest.approx([-other.estimate, other.se, other.tau2, other.q])
    shuffled = pool_shares(x[::-1], n[::-1])
    assert [one.estimate, one.se, one.tau2] == pytest.approx([shuffled.estimate, shuffled.se, shuffled.tau2], rel=1e-8)


@pytest.mark.parametrize(
    ("x", "n"),
    [([0, 0, 0], [10, 20, 30]), ([10, 20, 30], [10, 20, 30]), ([0, 20, 0], [10, 20, 30]), ([0], [5]), ([5], [5])],
)
def test_a_likelihood_with_no_peak_gives_no_number(x: list[float], n: list[float]) -> None:
    found = pool_shares(x, n)
    assert found.k == len(x)
    assert np.isnan([found.estimate, found.se, found.low, found.high, found.tau2, found.q, found.p]).all()
    assert (found.pi_low, found.pi_high, found.tau2_high) == (None, None, None)


def test_one_site_is_itself() -> None:
    found = pool_shares([12], [40])
    half = stats.norm.ppf(0.975) * np.sqrt(1 / 12 + 1 / 28)
    assert [found.estimate, found.low] == pytest.approx([np.log(12 / 28), np.log(12 / 28) - half])
    assert (found.k, found.pi_low, found.df) == (1, None, None)
    assert np.isnan(found.tau2)


def test_two_sites_predict_nothing() -> None:
    found = pool_shares([12, 30], [40, 45])
    assert (found.pi_low, found.pi_high) == (None, None)
    assert found.tau2 > 0


@pytest.mark.parametrize(
    ("x", "n"), [([1, 2], [3]), ([], []), ([1, -1], [3, 3]), ([1, 4], [3, 3]), ([0, 1], [0, 3]), ([1, np.nan], [3, 3])]
)
def test_counts_that_cannot_be_are_refused(x: list[float], n: list[float]) -> None:
    with pytest.raises(ValueError, match=r"per site|above 0"):
        pool_shares(x, n)
    with pytest.raises(ValueError, match="level"):
        pool_shares([1, 2], [3, 4], level=1.0)


def test_the_slope_at_no_spread_is_the_limit_of_the_slopes_near_it() -> None:
    for events in ([3.0, 9.0, 5.0], [5.0, 5.0, 6.0]):  # with and without more spread than chance gives
        ridge = binomial_mixture._Ridge(np.array(events), np.array([20.0, 25.0, 22.0]))
        rise = (ridge.height(0.02) - ridge.height(0.0)) / (0.02**2 / 2)
        assert ridge.slope(0.0) == pytest.approx(ridge.slope(1e-3), rel=1e-3)
        assert ridge.slope(0.0) == pytest.approx(rise, rel=1e-2)
