"""Meta-regression against R's metafor, against generalised least squares by hand, and at its edges."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from scipy import stats

from tests.support.oracles import Case, cases, near
from workup.stats.meta.heterogeneity import Method, TestKind
from workup.stats.meta.pooling import pool, regress

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def by_type(case: Case) -> Any:
    """R's factor(type): ones, and a column for every type but the first."""
    kinds = np.array(case.input["type"])
    return np.column_stack([np.ones(kinds.size), *(kinds == kind for kind in sorted(set(kinds))[1:])])


@cases("meta_regression", prefix="subgroup")
def test_types_of_sites_are_those_of_metafor(case: Case) -> None:
    y, v, x, expected = case.array("yi"), case.array("vi"), by_type(case), case.expected
    found = regress(y, v, x, test="z")
    assert found.coef.tolist() == near(case, expected["coef"])
    assert found.se.tolist() == near(case, expected["se"])
    assert found.tau2 == near(case, expected["tau2"])
    assert [found.qm, found.qm_df, found.qm_p] == near(case, [expected[name] for name in ("QM", "QM_df", "QM_p")])
    assert [found.qe, found.qe_p] == near(case, [expected["QE"], expected["QE_p"]])
    assert found.qe_df == y.size - 3
    assert (found.df, found.qm_df2) == (None, None)
    plain = regress(y, v, x, test="knha")
    assert plain.se.tolist() == near(case, expected["knha"]["se"])
    assert [plain.qm, plain.qm_p] == near(case, [expected["knha"]["F"], expected["knha"]["p"]])
    assert [plain.qm_df, plain.qm_df2] == expected["knha"]["df"]
    crude = regress(y, v, x, method="DL", test="z")
    assert crude.coef.tolist() == near(case, expected["DL"]["coef"])
    assert [crude.tau2, crude.qm, crude.qm_p] == near(case, [expected["DL"][name] for name in ("tau2", "QM", "QM_p")])
    # R² rests on a model with no columns whose scoring metafor stops after a step of 1e-5.
    total = pool(y, v).tau2
    assert 100 * found.r2 == pytest.approx(expected["R2_pct"], abs=100 * 1e-5 / total)
    assert found.r2 == pytest.approx(1 - found.tau2 / total, rel=1e-12)


@cases("meta_regression", prefix="metareg_cont")
def test_a_characteristic_of_sites_is_that_of_metafor(case: Case) -> None:
    y, v, expected = case.array("yi"), case.array("vi"), case.expected
    x = np.column_stack([np.ones(y.size), case.array("x")])
    found, plain = regress(y, v, x, test="z"), regress(y, v, x, test="knha")
    assert found.coef.tolist() == near(case, expected["coef"])
    assert found.se.tolist() == near(case, expected["se"])
    assert [found.tau2, found.qm, found.qm_p, found.qe] == near(
        case, [expected[name] for name in ("tau2", "QM", "QM_p", "QE")]
    )
    assert plain.se.tolist() == near(case, expected["knha"]["se"])
    assert (plain.coef / plain.se).tolist() == near(case, expected["knha"]["t"])
    assert plain.p.tolist() == near(case, expected["knha"]["p"])
    assert [plain.qm, plain.qm_p] == near(case, [expected["knha"]["F"], expected["knha"]["Fp"]])
    assert plain.df == plain.qm_df2 == expected["knha"]["ddf"]
    half = stats.t.ppf(0.975, plain.df) * plain.se
    assert plain.high - plain.low == pytest.approx(2 * half, rel=1e-9)


@pytest.mark.parametrize("method", get_args(Method))
@pytest.mark.parametrize("test", get_args(TestKind))
def test_ones_alone_are_the_pooled_mean(method: Method, test: TestKind) -> None:
    y, v = np.array([0.3, 1.4, 0.9, 2.2, 0.1]), np.array([0.1, 0.3, 0.05, 0.2, 0.4])
    found, mean = regress(y, v, np.ones((5, 1)), method=method, test=test), pool(y, v, method=method, test=test)
    assert [found.coef[0], found.se[0], found.low[0], found.high[0], found.p[0], found.tau2, found.qe] == pytest.approx(
        [mean.estimate, mean.se, mean.low, mean.high, mean.p, mean.tau2, mean.q], rel=1e-10
    )
    assert (found.qm_df, np.isnan(found.qm), np.isnan(found.qm_p)) == (0, True, True)


@pytest.mark.parametrize("seed", range(6))
def test_restricted_likelihood_is_highest_at_the_estimate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(5, 12))
    x = np.column_stack([np.ones(k), rng.normal(size=(k, 2)) * [1, 1e5]])
    v = 10 ** rng.uniform(-2, 0.5, k)
    y = rng.normal(x @ [1, 0.5, 1e-5], np.sqrt(v + rng.choice([0.0, 0.5])))
    contrasts = np.linalg.svd(x.T)[2][3:]

    def restricted(tau2: float) -> float:
        return float(stats.multivariate_normal(cov=contrasts * (v + tau2) @ contrasts.T).logpdf(contrasts @ y))

    found = regress(y, v, x, test="z")
    best = max(restricted(tau2) for tau2 in np.concatenate([[0.0], np.geomspace(1e-5, 100, 400)]))
    assert restricted(found.tau2) >= best - 1e-10
    w = np.diag(1 / (v + found.tau2))
    covariance = np.linalg.inv(x.T @ w @ x)
    assert found.coef == pytest.approx(covariance @ x.T @ w @ y, rel=1e-6)
    assert found.se == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-6)


def test_the_unit_of_a_characteristic_changes_its_coefficient_alone() -> None:
    y, v = np.array([0.3, 1.4, 0.9, 2.2, 0.1]), np.array([0.1, 0.3, 0.05, 0.2, 0.4])
    volume = np.array([1200.0, 300, 800, 150, 2500])
    single, thousand = (regress(y, v, np.column_stack([np.ones(5), volume / unit])) for unit in (1, 1000))
    assert thousand.coef == pytest.approx(single.coef * [1, 1000], rel=1e-9)
    assert (thousand.tau2, thousand.qm, thousand.r2) == pytest.approx((single.tau2, single.qm, single.r2), rel=1e-9)


def test_no_heterogeneity_leaves_nothing_to_explain() -> None:
    found = regress([1.0, 1.01, 0.99, 1.0], [0.1] * 4, np.column_stack([np.ones(4), [0, 1, 2, 3]]))
    assert found.tau2 == 0
    assert np.isnan(found.r2)


def test_a_perfect_fit_is_not_certain_by_default() -> None:
    x = np.column_stack([np.ones(4), [0.0, 1, 2, 4]])
    y = x @ [0.5, 0.25]
    cautious, plain = regress(y, [0.1] * 4, x), regress(y, [0.1] * 4, x, test="knha")
    assert cautious.se[1] == pytest.approx(np.sqrt(0.1 / np.sum((x[:, 1] - x[:, 1].mean()) ** 2)))
    assert plain.se[1] < 1e-12


@pytest.mark.parametrize(
    ("design", "words"),
    [
        (np.ones(4), "one row per site"),
        (np.ones((3, 1)), "one row per site"),
        (np.array([[0.0], [1], [2], [3]]), "column of ones"),
        (np.column_stack([np.ones(4), [0, 1, np.nan, 3]]), "finite"),
        (np.column_stack([np.ones(4), np.eye(4)[:, :3]]), "4 coefficients need at least 5 sites"),
        (np.column_stack([np.ones(4), [1, 1, 0, 0], [0, 0, 1, 1]]), "not independent"),
        (np.column_stack([np.ones(4), np.zeros(4)]), "not independent"),
    ],
)
def test_a_design_that_decides_nothing_is_refused(design: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        regress([1.0, 1.2, 0.8, 1.5], [0.1] * 4, design)
