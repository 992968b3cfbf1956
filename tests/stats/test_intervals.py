"""Intervals and tests of proportions, against R and against their definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from tests.support.oracles import Case, cases
from workup.stats import intervals, multiplicity


@cases("proportion_ci")
def test_single_proportion_meets_r(case: Case) -> None:
    x, n = case.input["x"], case.input["n"]
    assert x / n == case.near("p")
    assert list(intervals.wilson(x / n, n)) == case.near("wilson")
    assert list(intervals.wilson(x / n, n, correct=True)) == case.near("wilson_cc")
    assert list(intervals.clopper_pearson(x, n)) == case.near("clopper_pearson")
    assert list(intervals.agresti_coull(x, n)) == case.near("agresti_coull")
    assert list(intervals.jeffreys(x, n)) == case.near("jeffreys")


@cases("proportion_ci")
def test_single_proportion_is_not_walds(case: Case) -> None:
    x, n = case.input["x"], case.input["n"]
    assert list(intervals.wilson(x / n, n)) != pytest.approx(case.expected["wald"], abs=1e-4)


@cases("proportion_diff", prefix="diff_")
def test_difference_of_proportions_meets_r(case: Case) -> None:
    x1, n1, x2, n2 = (case.input[name] for name in ("x1", "n1", "x2", "n2"))
    newcombe = list(intervals.newcombe(x1 / n1, n1, x2 / n2, n2))
    assert x1 / n1 - x2 / n2 == case.near("diff")
    assert newcombe == case.near("newcombe")
    assert newcombe == case.near("newcombe_Epi")
    assert newcombe != pytest.approx(case.expected["wald"], abs=1e-4)
    assert list(intervals.agresti_caffo(x1, n1, x2, n2)) == case.near("agresti_caffo_Epi")


@cases("proportion_diff", prefix="diff_")
def test_tests_of_two_proportions_meet_r(case: Case) -> None:
    x1, n1, x2, n2 = (case.input[name] for name in ("x1", "n1", "x2", "n2"))
    plain = intervals.chi2_proportions([x1, x2], [n1, n2])
    yates = intervals.chi2_proportions([x1, x2], [n1, n2], correct=True)
    assert (plain.statistic, plain.p) == (case.near("chi2"), case.near("p_chi2"))
    assert (yates.statistic, yates.p) == (case.near("chi2_yates"), case.near("p_yates"))
    assert intervals.fisher_exact(x1, n1, x2, n2) == case.near("p_fisher")


@cases("proportion_diff", prefix="diff_")
def test_ratio_of_proportions_meets_r(case: Case) -> None:
    x1, n1, x2, n2 = (case.input[name] for name in ("x1", "n1", "x2", "n2"))
    ends = intervals.katz_ratio(x1, n1, x2, n2)
    if case.expected["ratio"] is None:
        assert np.isnan(ends).all()
    else:
        assert list(ends) == case.near("ratio_ci_katz")
        assert np.sqrt(ends.low * ends.high) == case.near("ratio")


@cases("proportion_diff", prefix="kprop_")
def test_many_proportions_meet_r(case: Case) -> None:
    x, n = case.input["x"], case.input["n"]
    found = intervals.chi2_proportions(x, n)
    assert (found.statistic, found.p, found.df) == (case.near("chi2"), case.near("p"), case.near("df"))
    # R lists the lower triangle of pairs column by column, which is the order of combinations.
    pairs = [intervals.chi2_proportions([x[i], x[j]], [n[i], n[j]]).p for i, j in combinations(range(len(x)), 2)]
    assert multiplicity.adjust(pairs, method="holm").tolist() == case.near("pairwise_p_holm")


@cases("mcnemar")
def test_mcnemar_meets_r(case: Case) -> None:
    found = intervals.mcnemar(*(case.input[name] for name in "abcd"))
    assert found.chi2 == case.near("chi2")
    assert found.p == case.near("p")
    assert found.chi2_corrected == case.near("chi2_cc")
    assert found.p_corrected == case.near("p_cc")
    assert found.p_exact == case.near("p_exact")
    assert found.p_mid == case.near("p_midp")
    assert found.difference == case.near("diff")
    assert [found.low, found.high] == case.near("wald_ci95_paired")


def test_mcnemar_without_disagreement_has_nothing_to_test() -> None:
    found = intervals.mcnemar(12, 0, 0, 8)
    assert np.isnan(found.chi2)
    assert (found.p, found.p_exact, found.difference) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize(("x1", "n1", "x2", "n2"), [(3, 9, 7, 11), (0, 5, 4, 6), (12, 40, 30, 41), (5, 5, 5, 5)])
def test_fisher_meets_scipy(x1: int, n1: int, x2: int, n2: int) -> None:
    expected = stats.fisher_exact([[x1, n1 - x1], [x2, n2 - x2]]).pvalue
    assert intervals.fisher_exact(x1, n1, x2, n2) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize(("x", "n"), [(0, 7), (1, 7), (30, 63), (63, 63)])
def test_wilson_ends_are_the_roots_of_the_score_test(x: int, n: int, level: float) -> None:
    z = stats.norm.ppf((1 + level) / 2)
    for end in intervals.wilson(x / n, n, level=level):
        if 0 < end < 1:
            assert abs(x / n - end) / np.sqrt(end * (1 - end) / n) == pytest.approx(z, rel=1e-9)
        else:
            assert end == x / n  # an end on the edge is there because none or all of the rows count


def test_chi2_of_shares_that_cannot_differ_is_undefined() -> None:
    assert np.isnan(intervals.chi2_proportions([0, 0], [5, 9]).p)
    assert np.isnan(intervals.chi2_proportions([5, 9], [5, 9]).statistic)


# ---- rows that cluster in patients -----------------------------------------------------------------------------------


def _linearised(x: np.ndarray, d: np.ndarray, cluster: np.ndarray, w: np.ndarray) -> float:
    """Variance of a ratio of cluster totals, patient by patient."""
    total = sum(w[i] * d[i] for i in range(len(x)))
    share = sum(w[i] * x[i] for i in range(len(x))) / total
    units = sorted({cluster[i] for i in range(len(x)) if d[i] > 0 and w[i] > 0})
    squares = 0.0
    for unit in units:
        rows = [i for i in range(len(x)) if cluster[i] == unit and d[i] > 0]
        squares += sum(w[i] * (x[i] - share * d[i]) for i in rows) ** 2
    return len(units) / (len(units) - 1) * squares / total**2


@pytest.mark.parametrize("seed", range(4))
def test_clustered_share_is_the_ratio_estimators_variance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(25), rng.integers(1, 9, 25))
    own = rng.beta(0.6, 0.6, 25)[cluster]
    d = (rng.random(cluster.size) < 0.7).astype(float)
    x = d * (rng.random(cluster.size) < own)
    w = rng.uniform(0.5, 2, cluster.size) if seed % 2 else np.ones(cluster.size)
    found = intervals.clustered_share(x, d, cluster, w)
    assert found.share == pytest.approx(np.sum(w * x) / np.sum(w * d), rel=1e-12)
    assert found.design_effect > 1.3  # patients differ strongly here
    assert found.se**2 == pytest.approx(_linearised(x, d, cluster, w), rel=1e-10)
    assert found.rows == d.sum()
    # Seen and assumed are weighed; the t quantile costs a little more.
    assert found.rows / found.effective_n() >= found.weighed_effect >= min(found.design_effect, found.assumed_effect)


def test_design_effect_of_identical_rows_is_their_number() -> None:
    """Every patient gives the same answer six times: 40 patients are worth 39 rows (k − 1), not 240."""
    answer = np.tile([1.0, 0.0, 0.0, 1.0], 10)
    cluster, x = np.repeat(np.arange(40), 6), np.repeat(answer, 6)
    found = intervals.clustered_share(x, np.ones(240), cluster, np.ones(240))
    assert found.rows / found.weighed_effect == pytest.approx(39.0, rel=1e-12)  # seen above what was assumed
    ends = intervals.effective_ends(found)
    assert ends.high - ends.low > 2.2 * np.diff(intervals.wilson(0.5, 240))[0]


def test_design_effect_is_never_below_one() -> None:
    """Half hits in every patient: the naive ratio variance is 0, and an interval of width 0 would be absurd."""
    cluster, x = np.repeat(np.arange(30), 2), np.tile([0.0, 1.0], 30)
    found = intervals.clustered_share(x, np.ones(60), cluster, np.ones(60))
    assert found.design_effect == 1.0
    assert found.se == pytest.approx(np.sqrt(0.25 / 60))
    assert 1.0 < found.weighed_effect < found.assumed_effect == pytest.approx(1 + 1 / 3)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_or_none_counts_hardly_more_than_patients(value: float) -> None:
    """600 rows of 12 patients: three for each patient, as if rows of one were alike by a third, and not fifty."""
    cluster = np.repeat(np.arange(12), 50)
    found = intervals.clustered_share(np.full(600, value), np.ones(600), cluster, np.ones(600))
    assert (found.share, found.se, found.clusters) == (value, 0.0, 12)
    assert found.rows / found.weighed_effect == pytest.approx(600 / (1 + 49 / 3))
    ends = intervals.effective_ends(found)
    assert ends.high - ends.low == pytest.approx(1 - 0.025 ** ((1 + 49 / 3) / 600))
    assert ends.high - ends.low > 0.1
    assert value in ends


def test_patients_outside_the_denominator_are_not_counted() -> None:
    cluster = np.repeat(np.arange(10), 3)
    d = (cluster < 4).astype(float)
    x = d * (np.arange(30) % 2)
    found = intervals.clustered_share(x, d, cluster, np.ones(30))
    assert (found.clusters, found.share) == (4, pytest.approx(0.5))
