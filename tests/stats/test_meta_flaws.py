"""Flaws of common ways to pool sites: what the common formula gives, that it is wrong, and that ours is not.

Every test would fail if ours were the common formula.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from tests.support.oracles import Case, cases
from workup.stats.meta.pooling import pool, pool_shares, subgroups


@cases("meta_analysis", prefix="auc_sites")
def test_fixed_effect_pooling_of_raw_aucs_is_another_number(case: Case) -> None:
    auc, v = case.array("auc"), np.array(case.expected["var_auc_hanley"])
    naive = case.expected["naive_fixed_effect_raw"]
    common = pool(auc, v, method="FE", test="z")
    assert [common.estimate, common.se] == pytest.approx([naive["estimate"], naive["se"]], rel=1e-9)
    ours = pool(case.expected["logit_yi"], case.expected["logit_vi"])
    ends = special.expit([ours.low, ours.high])
    assert ends[1] - ends[0] > 2 * 1.96 * naive["se"]
    assert abs(special.expit(ours.estimate) - naive["estimate"]) > 1e-4


def test_fixed_effect_pooling_with_z_covers_half() -> None:
    """Ten sites whose true values spread: the common formula takes the spread for nothing. Asked for is 0.95."""
    rng = np.random.default_rng(12)
    sets, naive, ours = 600, 0, 0
    for _ in range(sets):
        v = rng.uniform(0.02, 0.08, 10)
        y = rng.normal(1.4, np.sqrt(0.5**2 + v))
        common, found = pool(y, v, method="FE", test="z"), pool(y, v)
        naive += common.low <= 1.4 <= common.high
        ours += found.low <= 1.4 <= found.high
    assert naive / sets == pytest.approx(0.55, abs=0.05)
    assert ours / sets > 0.93


@cases("meta_analysis", prefix="auc_sites_raw_PI_exceeds_1")
def test_raw_scale_intervals_of_aucs_leave_the_scale(case: Case) -> None:
    auc, v = case.array("auc"), np.array(case.expected["var_auc_hanley"])
    naive = case.expected["naive_fixed_effect_raw"]
    tau2 = pool(auc, v, method="DL", test="z").tau2
    half = 1.96 * np.sqrt(naive["se"] ** 2 + tau2)
    assert [naive["estimate"] - half, naive["estimate"] + half] == pytest.approx(naive["naive_pi"], rel=1e-5)
    assert naive["naive_pi"][1] > 1.02
    raw = pool(auc, v, method="DL", test="z")
    assert [raw.low, raw.high] == pytest.approx(case.expected["raw_scale_DL"]["ci"], rel=case.rel_tol)
    assert raw.high > 1
    ours = pool(case.expected["logit_yi"], case.expected["logit_vi"])
    shown: Any = special.expit([ours.pi_low, ours.low, ours.estimate, ours.high, ours.pi_high])
    assert (np.diff(shown) > 0).all()
    assert 0 < shown[0] < shown[-1] < 1
    assert shown[0] < naive["naive_pi"][0] - 0.2  # what a new site may fall to


def test_total_patients_in_the_variance_of_a_sensitivity_invent_heterogeneity() -> None:
    """Twenty identical sites of 1,000 patients, 110 of them events: sensitivity rests on the 110."""
    rng = np.random.default_rng(5)
    naive, ours, exact = [], [], []
    for repetition in range(60):
        positives = rng.binomial(1000, 0.11, 20)
        found = rng.binomial(positives, 0.8)
        share = found / positives
        y = special.logit(share)
        naive.append(pool(y, 1 / (1000 * share * (1 - share)), method="DL").i2)
        ours.append(pool(y, 1 / found + 1 / (positives - found)).i2)
        if repetition < 8:
            exact.append(pool_shares(found, positives).i2)
    assert np.mean(naive) == pytest.approx(0.89, abs=0.015)
    assert np.mean(ours) < 0.15
    assert np.mean(exact) < 0.2


def test_an_unweighted_t_test_across_sites_counts_a_tiny_site_like_a_large_one() -> None:
    y, v = np.array([1.40, 1.42, 1.38, 1.41, 0.20]), np.array([0.005, 0.006, 0.005, 0.004, 2.0])
    low, high = stats.t.interval(0.95, 4, y.mean(), stats.sem(y))
    ours = pool(y, v)
    assert y.mean() == pytest.approx(1.162)
    assert ours.estimate == pytest.approx(1.403, abs=0.002)
    assert low < 0.6 < 1.3 < ours.low
    assert ours.high < 1.5 < high
    assert ours.weights[4] < 0.001


def test_an_unweighted_anova_across_sites_misses_what_large_sites_show() -> None:
    """Academic and rural sites differ beyond doubt; one tiny academic site hides it from the common test."""
    y = np.array([1.60, 1.58, 1.62, -1.0, 1.20, 1.22, 1.18, 1.21])
    v = np.array([0.004, 0.005, 0.004, 3.0, 0.005, 0.004, 0.005, 0.004])
    kind = ["academic"] * 4 + ["rural"] * 4
    assert stats.f_oneway(y[:4], y[4:]).pvalue > 0.5
    ours = subgroups(y, v, kind)
    assert ours.p < 1e-6
    assert [one.estimate for one in ours.pooled] == pytest.approx([1.60, 1.20], abs=0.01)


def test_an_unweighted_anova_says_nothing_of_spread_within_sites() -> None:
    """Site values that differ by noise alone: compared with their own precision they are alike."""
    y, v = np.array([1.0, 1.9, 0.6, 1.5, 1.2]), np.full(5, 0.4)
    ours = pool(y, v)
    assert (ours.tau2, ours.q_p > 0.5) == (0.0, True)
    naive = stats.sem(y)
    assert ours.se == pytest.approx(np.sqrt(0.4 / 5))
    assert naive < 0.85 * ours.se  # the t test takes luck for precision; the default interval does not
