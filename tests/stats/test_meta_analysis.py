"""Pooling over sites against R's metafor, against brute force, and at its edges."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from scipy import special, stats

from tests.support.oracles import Case, cases, near
from workup.stats.meta.pooling import Method, Pooled, TestKind, higgins_i2, leave_one_out, pool, subgroups

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

RANDOM: list[Method] = [method for method in get_args(Method) if method != "FE"]


def stopped(y: Any, v: Any) -> float:
    """Where metafor's scoring of REML stops unless told otherwise: after the first step no longer than 1e-5."""
    tau2, step = max(0.0, np.var(y, ddof=1) - v.mean()), 1.0
    while abs(step) > 1e-5:
        w = 1 / (v + tau2)
        p = np.diag(w) - np.outer(w, w) / w.sum()
        step = (y @ p @ p @ y - np.trace(p)) / np.trace(p @ p)
        while tau2 + step < 0:
            step /= 2
        tau2 += step
    return float(tau2)


def restricted(y: Any, v: Any, tau2: float) -> float:
    """The restricted log-likelihood from its definition: the density of contrasts that do not hold the mean."""
    contrasts = np.linalg.svd(np.ones((1, y.size)))[2][1:]
    return float(stats.multivariate_normal(cov=contrasts @ np.diag(v + tau2) @ contrasts.T).logpdf(contrasts @ y))


def peaks_where_metafor_stops(found: Pooled, y: Any, v: Any, expected: float) -> bool:
    """Ours is as near as metafor's last step to where it stopped, and no less likely."""
    last = stopped(y, v)
    assert last == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert found.tau2 == pytest.approx(last, abs=1e-5)
    return restricted(y, v, found.tau2) >= restricted(y, v, last) - 1e-12


# ---- metafor ---------------------------------------------------------------------------------------------------------


@cases("meta_analysis", prefix="logitAUC")
def test_fixed_effect_is_that_of_metafor(case: Case) -> None:
    expected = case.expected["FE"]
    found = pool(case.array("yi"), case.array("vi"), method="FE", test="z")
    assert found.estimate == near(case, expected["estimate"])
    assert found.se == near(case, expected["se"])
    assert [found.low, found.high] == near(case, expected["ci"])
    assert found.p == near(case, expected["p"])
    assert (found.tau2, found.tau2_low, found.tau2_high) == (0.0, None, None)
    assert (found.q, found.q_df, found.q_p) == near(case, (expected["Q"], expected["df"], expected["Q_p"]))
    assert found.i2 * 100 == near(case, expected["I2_metafor"])
    assert found.h2 == near(case, expected["H2_metafor"])
    assert (found.pi_low, found.pi_high) == (None, None)


@pytest.mark.parametrize("method", RANDOM)
@cases("meta_analysis", prefix="logitAUC")
def test_random_effects_are_those_of_metafor(case: Case, method: Method) -> None:
    expected = case.expected[method]
    found = pool(case.array("yi"), case.array("vi"), method=method, test="z")
    assert found.estimate == near(case, expected["estimate"])
    assert found.se == near(case, expected["se"])
    assert [found.low, found.high] == near(case, expected["ci"])
    assert found.estimate / found.se == near(case, expected["z"])
    assert found.p == near(case, expected["p"])
    assert found.tau2 == near(case, expected["tau2"])
    assert found.i2 * 100 == near(case, expected["I2_metafor"])
    assert found.h2 == near(case, expected["H2_metafor"])
    assert (100 * found.weights).tolist() == near(case, expected["weights_pct"])
    assert [found.pi_low, found.pi_high] == near(case, expected["pi"]["HTS_t_kminus2_wald_se"])
    assert found.df is None


@pytest.mark.parametrize("method", RANDOM)
@cases("meta_analysis", prefix="logitAUC")
def test_hartung_knapp_is_that_of_metafor(case: Case, method: Method) -> None:
    expected = case.expected[method]
    found = pool(case.array("yi"), case.array("vi"), method=method, test="knha")
    assert found.se == near(case, expected["hksj"]["se"])
    assert [found.low, found.high] == near(case, expected["hksj"]["ci"])
    assert found.p == near(case, expected["hksj"]["p"])
    assert found.df == expected["hksj"]["df"]
    assert [found.pi_low, found.pi_high] == near(case, expected["pi"]["HKPR_t_kminus2_hksj_se"])
    wald = pool(case.array("yi"), case.array("vi"), method=method, test="z")
    assert (found.se / wald.se) ** 2 == near(case, expected["hksj"]["q_factor"])


@pytest.mark.parametrize("method", RANDOM)
@cases("meta_analysis", prefix="logitAUC")
def test_the_default_is_hartung_knapp_with_a_factor_of_at_least_one(case: Case, method: Method) -> None:
    expected = case.expected[method]["hksj_adhoc_max1"]
    found = pool(case.array("yi"), case.array("vi"), method=method)
    assert found.se == near(case, expected["se"])
    assert [found.low, found.high] == near(case, expected["ci"])
    half = stats.t.ppf(0.975, found.k - 2) * np.sqrt(case.expected[method]["tau2"] + expected["se"] ** 2)
    assert [found.pi_low, found.pi_high] == near(case, [found.estimate - half, found.estimate + half])


@cases("meta_analysis", prefix="logitAUC")
def test_intervals_of_heterogeneity_are_those_of_metafor(case: Case) -> None:
    found = pool(case.array("yi"), case.array("vi"))
    expected = case.expected["qprofile"]
    assert [found.tau2_low, found.tau2_high] == near(case, expected["tau2_ci95"])
    assert found.i2_low is not None
    assert found.i2_high is not None
    assert [100 * found.i2_low, 100 * found.i2_high] == near(case, expected["I2_pct_ci95"])
    assert [1 / (1 - found.i2_low), 1 / (1 - found.i2_high)] == near(case, expected["H2_ci95"])
    by_q = higgins_i2(found.q, found.k)
    assert by_q.i2 == near(case, case.expected["I2_higgins"]["I2"])
    assert [by_q.low, by_q.high] == near(case, case.expected["I2_higgins"]["ci95_test_based"])


@cases("meta_analysis", prefix="logitAUC")
def test_leaving_one_site_out_is_that_of_metafor(case: Case) -> None:
    found = leave_one_out(case.array("yi"), case.array("vi"))
    expected = case.expected["leave1out_REML"]
    assert [one.estimate for one in found] == near(case, expected["estimate"])
    for i, one in enumerate(found):
        y, v = np.delete(case.array("yi"), i), np.delete(case.array("vi"), i)
        assert peaks_where_metafor_stops(one, y, v, expected["tau2"][i])
    assert [one.q for one in found] == near(case, expected["Q"])
    assert {one.k for one in found} == {len(found) - 1}


@cases("meta_analysis", prefix="auc_sites")
def test_aucs_pool_on_the_logit_scale(case: Case) -> None:
    y, v = np.array(case.expected["logit_yi"]), np.array(case.expected["logit_vi"])
    plain, wald = pool(y, v, test="knha"), pool(y, v, test="z")
    assert special.expit(plain.estimate) == case.near("REML_HKSJ_auc")
    assert special.expit([plain.low, plain.high]).tolist() == case.near("ci95")
    assert peaks_where_metafor_stops(plain, y, v, case.expected["tau2_logit"])
    assert special.expit([wald.pi_low, wald.pi_high]).tolist() == case.near("pi95_HTS_kminus2")
    last, typical = case.expected["tau2_logit"], plain.tau2 / (plain.h2 - 1) if plain.tau2 else 1.0
    assert 100 * last / (last + typical) == case.near("I2_pct")
    assert plain.i2 == pytest.approx(plain.tau2 / (plain.tau2 + typical), rel=1e-12)
    assert (plain.q, plain.q_p) == (case.near("Q"), case.near("Q_p"))


@cases("meta_analysis", prefix="s")
def test_shares_pool_on_the_logit_scale(case: Case) -> None:
    """Freeman and Tukey's arcsine is in the file too and is not offered: see the module."""
    x, n = case.array("x"), case.array("n")
    y, v = special.logit(x / n), 1 / x + 1 / (n - x)
    assert y.tolist() == case.near("yi")
    assert v.tolist() == case.near("vi")
    plain, expected = pool(y, v, test="knha"), case.expected["REML_HKSJ"]
    assert plain.estimate == near(case, expected["estimate"])
    assert [plain.low, plain.high] == near(case, expected["ci"])
    assert peaks_where_metafor_stops(plain, y, v, expected["tau2"])
    wald = pool(y, v, test="z")
    assert special.expit([wald.pi_low, wald.pi_high]).tolist() == near(case, expected["pi_prop_HTS"])
    crude, expected = pool(y, v, method="DL", test="z"), case.expected["DL"]
    assert [crude.estimate, crude.se, crude.tau2, crude.q, 100 * crude.i2] == near(
        case, [expected[name] for name in ("estimate", "se", "tau2", "Q", "I2_pct")]
    )


def between(y: Any, v: Any, groups: list[str], tau2: list[float]) -> tuple[list[float], float]:
    """Standard error of each group's mean, groups in order of their names, and Q between the means."""
    weights = [
        np.array([g == name for g in groups]) / (v + t) for name, t in zip(sorted(set(groups)), tau2, strict=True)
    ]
    precision = np.array([w.sum() for w in weights])
    means = np.array([w @ y for w in weights]) / precision
    q = float(precision @ (means - precision @ means / precision.sum()) ** 2)
    return (1 / np.sqrt(precision)).tolist(), q


@cases("meta_regression", prefix="subgroup")
def test_groups_of_sites_are_those_of_metafor(case: Case) -> None:
    expected = case.expected["subgroup_separate_tau2"]
    y, v, group = case.array("yi"), case.array("vi"), np.array(case.input["type"])
    found = subgroups(y, v, case.input["type"], test="z")
    assert list(found.names) == expected["groups"]
    assert [one.estimate for one in found.pooled] == near(case, expected["estimate"])
    last = [stopped(y[group == name], v[group == name]) for name in found.names]
    tau2 = [one.tau2 for one in found.pooled]
    assert tau2 == pytest.approx(last, abs=1e-5)
    # Where metafor stopped, its own answer; at ours, by the same formula, ours.
    se, q = between(y, v, case.input["type"], last)
    assert [*se, q] == pytest.approx([*expected["se"], expected["Q_between"]], rel=1e-9)
    se, q = between(y, v, case.input["type"], tau2)
    assert [*(one.se for one in found.pooled), found.q_between] == pytest.approx([*se, q], rel=1e-9)
    assert found.df == expected["df"]
    assert found.p == pytest.approx(stats.chi2.sf(q, found.df), rel=1e-9)
    for test in get_args(TestKind):
        assert subgroups(y, v, case.input["type"], test=test).q_between == found.q_between


# ---- brute force -----------------------------------------------------------------------------------------------------

# Sites of very unequal size, where the restricted likelihood has two peaks and scoring from the usual start climbs the
# lower one: estimates, variances, the best tau² and the one that is reached.
TWO_PEAKS = [
    (
        [-0.06, 0.02, 0.25, 0.53, -4.67, -0.01, -0.5],
        [0.0004, 0.0025, 0.1653, 0.1156, 1.1523, 0.0008, 0.1882],
        0.00075,
        1.06,
    ),
    (
        [-0.01, 0.47, -0.13, 0.53, -0.14, 0.04, 0.0],
        [0.0002, 0.0226, 0.0024, 0.1208, 0.0186, 1.621, 0.0002],
        0.0337,
        0.0,
    ),
    ([3.6, 0.0, -0.03], [1.3878, 0.001, 0.0003], 0.0, 2.82),
]


@pytest.mark.parametrize(("y", "v", "best", "reached"), TWO_PEAKS)
def test_reml_takes_the_higher_of_two_peaks(y: list[float], v: list[float], best: float, reached: float) -> None:
    yi, vi = np.array(y), np.array(v)
    found = pool(yi, vi)
    grid = np.concatenate([[0.0], np.geomspace(1e-6, 20, 600)])
    heights = [restricted(yi, vi, tau2) for tau2 in grid]
    assert found.tau2 == pytest.approx(grid[int(np.argmax(heights))], rel=0.03)
    assert found.tau2 == pytest.approx(best, rel=0.01)
    assert stopped(yi, vi) == pytest.approx(reached, rel=0.01)
    assert restricted(yi, vi, found.tau2) > restricted(yi, vi, reached) + 0.5


@pytest.mark.parametrize("seed", range(12))
def test_likelihood_is_highest_at_the_estimate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 9))
    v = 10 ** rng.uniform(-3, 1, k)
    y = rng.normal(0, np.sqrt(v + rng.choice([0.0, 0.3, 3.0])))
    reml, ml = pool(y, v).tau2, pool(y, v, method="ML").tau2

    def full(tau2: float) -> float:
        w = 1 / (v + tau2)
        return float(stats.norm.logpdf(y, w @ y / w.sum(), np.sqrt(v + tau2)).sum())

    for tau2 in np.concatenate([[0.0], np.geomspace(1e-6, 1e3, 400)]):
        assert restricted(y, v, reml) >= restricted(y, v, float(tau2)) - 1e-10
        assert full(ml) >= full(float(tau2)) - 1e-10


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_ends_of_the_q_profile_interval_solve_their_equation(level: float) -> None:
    y, v = np.array([0.1, 1.2, -0.4, 2.0, 0.7]), np.array([0.05, 0.2, 0.1, 0.4, 0.02])

    def q(tau2: float) -> float:
        w = 1 / (v + tau2)
        return float(np.sum(w * (y - w @ y / w.sum()) ** 2))

    found = pool(y, v, level=level)
    assert found.tau2_low is not None
    assert found.tau2_high is not None
    assert q(found.tau2_low) == pytest.approx(stats.chi2.ppf((1 + level) / 2, 4), rel=1e-9)
    assert q(found.tau2_high) == pytest.approx(stats.chi2.ppf((1 - level) / 2, 4), rel=1e-9)
    assert q(pool(y, v, method="PM").tau2) == pytest.approx(4, rel=1e-9)


def test_equal_variances_give_the_textbook_answer() -> None:
    """With one common variance REML is the sample variance less it, and Hartung-Knapp is the one-sample t interval."""
    y, v = np.array([0.2, 1.9, 0.8, 1.4, 3.0]), np.full(5, 0.1)
    found = pool(y, v, test="knha")
    for method in RANDOM:
        if method not in ("ML", "SJ"):
            assert pool(y, v, method=method).tau2 == pytest.approx(np.var(y, ddof=1) - 0.1, rel=1e-10)
    assert pool(y, v, method="ML").tau2 == pytest.approx(np.var(y) - 0.1, rel=1e-10)
    assert [found.low, found.high] == pytest.approx(stats.t.interval(0.95, 4, y.mean(), stats.sem(y)), rel=1e-10)
    assert found.p == pytest.approx(stats.ttest_1samp(y, 0).pvalue, rel=1e-10)


# ---- edges -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", get_args(Method))
def test_one_site_is_itself_and_says_nothing_of_others(method: Method) -> None:
    found = pool([1.5], [0.04], method=method)
    assert (found.k, found.estimate, found.se, found.df, found.test) == (1, 1.5, 0.2, None, "z")
    assert [found.low, found.high] == pytest.approx([1.5 - 1.959964 * 0.2, 1.5 + 1.959964 * 0.2], rel=1e-6)
    unknown = [found.tau2, found.q, found.q_p, found.i2, found.h2]
    assert np.isnan(unknown).all()
    assert (found.tau2_low, found.tau2_high, found.i2_low, found.i2_high) == (None, None, None, None)
    assert (found.pi_low, found.pi_high) == (None, None)
    assert leave_one_out([1.5], [0.04], method=method) == []


def test_two_sites_predict_nothing_and_three_do() -> None:
    two = pool([1.0, 2.0], [0.1, 0.2])
    assert (two.pi_low, two.pi_high, two.df) == (None, None, 1)
    assert two.tau2 == pytest.approx(0.35, rel=1e-9)  # half the squared gap less the mean variance
    three = pool([1.0, 2.0, 1.5], [0.1, 0.2, 0.1])
    assert three.pi_low is not None
    assert three.pi_high is not None
    assert three.pi_low < three.low < three.high < three.pi_high
    assert [one.pi_low for one in leave_one_out([1.0, 2.0, 1.5], [0.1, 0.2, 0.1])] == [None, None, None]


@pytest.mark.parametrize("method", get_args(Method))
def test_sites_that_all_agree(method: Method) -> None:
    """The interval that would be empty is [0, 0]; only plain Hartung-Knapp, as in metafor, claims certainty."""
    y, v = np.full(5, 0.1), np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    found, plain = pool(y, v, method=method), pool(y, v, method=method, test="knha")
    assert (found.estimate, found.tau2, found.q, found.q_p, found.i2) == (0.1, 0.0, 0.0, 1.0, 0.0)
    if method != "FE":
        assert (found.tau2_low, found.tau2_high, found.i2_low, found.i2_high, found.h2) == (0, 0, 0, 0, 1)
    assert found.se == pytest.approx(1 / np.sqrt(np.sum(1 / v)), rel=1e-12)
    assert (plain.se, plain.low, plain.high, plain.p) == (0.0, 0.1, 0.1, 0.0)


def test_sites_more_alike_than_chance_have_an_empty_interval_of_tau2() -> None:
    y, v = np.array([1.0, 1.001, 0.999, 1.0005, 1.002]), np.full(5, 0.1)
    found = pool(y, v)
    assert found.q < stats.chi2.ppf(0.025, 4)
    assert (found.tau2, found.tau2_low, found.tau2_high) == (0, 0, 0)
    assert pool(y, v, method="SJ").tau2 > 0  # this one is never 0 unless all agree


@pytest.mark.parametrize(
    ("y", "v", "options", "words"),
    [
        ([1.0, 2.0], [0.1, 0.0], {}, "above 0.*position 1"),
        ([1.0, 2.0], [-0.1, 0.1], {}, "above 0.*position 0"),
        ([1.0, 2.0], [0.1, np.inf], {}, "finite and above 0.*position 1"),
        ([1.0, 2.0], [0.1, np.nan], {}, "finite and above 0.*position 1"),
        ([1.0, np.nan], [0.1, 0.1], {}, "estimate must be finite.*position 1"),
        ([1.0, 2.0], [0.1], {}, "one variance per site"),
        ([], [], {}, "one variance per site"),
        ([[1.0]], [[0.1]], {}, "one variance per site"),
        ([1.0, 2.0], [0.1, 0.1], {"method": "reml"}, "method must be one of REML.*'reml'"),
        ([1.0, 2.0], [0.1, 0.1], {"test": "t"}, "test must be one of adhoc.*'t'"),
        ([1.0, 2.0], [0.1, 0.1], {"level": 95}, "level must lie between 0 and 1"),
    ],
)
def test_what_cannot_be_pooled_is_refused(y: Any, v: Any, options: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        pool(y, v, **options)
    with pytest.raises(ValueError, match=words):
        leave_one_out(y, v, **options)


def test_no_site_is_left_out_of_its_group() -> None:
    y, v = [1.0, 1.2, 2.0, 2.2], [0.1] * 4
    found = subgroups(y, v, ["b", "a", "b", "only"])
    assert found.names == ("a", "b", "only")
    assert [one.k for one in found.pooled] == [1, 2, 1]
    assert [one.estimate for one in found.pooled] == pytest.approx([1.2, 1.5, 2.2])
    with pytest.raises(ValueError, match="3 groups for 4 sites"):
        subgroups(y, v, ["a", "b", "c"])
    for unnamed in (None, np.nan):
        with pytest.raises(ValueError, match="name of its group"):
            subgroups(y, v, ["a", "b", "c", unnamed])  # type: ignore[list-item]
    alone = subgroups(y, v, ["a"] * 4)
    assert (alone.df, alone.names) == (0, ("a",))
    assert np.isnan([alone.q_between, alone.p]).all()


def test_i2_from_q_alone() -> None:
    assert (higgins_i2(0.0, 5).i2, higgins_i2(0.0, 5).low) == (0.0, 0.0)
    two = higgins_i2(4.0, 2)
    assert (two.i2, two.low, two.high) == (0.75, None, None)
    wide, narrow = higgins_i2(30.0, 8, 0.99), higgins_i2(30.0, 8, 0.8)
    assert (wide.low or 0) < (narrow.low or 0) < narrow.i2 < (narrow.high or 0) < (wide.high or 0)
    with pytest.raises(ValueError, match="two sites"):
        higgins_i2(0.0, 1)
