"""AUROC, average precision and their variances, against pROC, scikit-learn and the sums that define them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

from tests.support.oracles import Case, cases
from workup.stats import rank
from workup.stats.intervals import z_critical

# ---- against R -------------------------------------------------------------------------------------------------------


@cases("auc_delong")
def test_auc_and_its_variance_meet_proc(case: Case) -> None:
    found = rank.delong(case.array("y"), case.array("s"))
    assert found.auc == case.near("auc")
    assert found.variance == case.near("var_delong")
    assert np.sqrt(found.variance) == case.near("se_delong")
    assert (found.positive_units, found.negative_units) == (case.expected["n_pos"], case.expected["n_neg"])
    assert rank.hanley_mcneil(found.auc, found.positive_units, found.negative_units) == case.near("var_hanley_mcneil")
    newcombe = rank.newcombe_auc(found.auc, found.positive_units, found.negative_units)
    assert list(newcombe) == case.near("ci95_newcombe_method5")


@cases("auc_delong")
def test_auc_interval_is_on_the_logit_scale(case: Case) -> None:
    found = rank.delong(case.array("y"), case.array("s"))
    ends = list(rank.auc_interval(found))
    if case.expected["var_delong"] == 0:
        # R's interval has no width here; six tied rows do not make an AUC certain, so Newcombe's stands in.
        assert case.expected["ci95_logit_delong"] == [0.5, 0.5]
        assert ends == case.near("ci95_newcombe_method5")
        return
    assert ends == case.near("ci95_logit_delong")
    assert np.log(found.auc / (1 - found.auc)) == case.near("logit_auc")
    assert np.sqrt(found.variance) / (found.auc * (1 - found.auc)) == case.near("se_logit_auc")
    assert ends != pytest.approx(case.expected["ci95_wald_clipped"], abs=1e-4)
    wald90 = found.auc + np.array([-1, 1]) * z_critical(0.9) * np.sqrt(found.variance)
    assert wald90.tolist() == case.near("ci90_wald_clipped")  # the level reaches the quantile
    assert list(rank.auc_interval(found, level=0.9)) != pytest.approx(wald90.tolist(), abs=1e-4)


@cases("auc_delong")
def test_pepes_interval_is_ours_where_nothing_ties(case: Case) -> None:
    y, s = case.array("y"), case.array("s")
    if np.unique(s).size == s.size:
        assert list(rank.auc_interval(rank.delong(y, s))) == case.near("ci95_pepe_CalibrationCurves")


@cases("auc_tests", prefix="paired")
def test_two_models_on_the_same_rows_meet_proc(case: Case) -> None:
    y = case.array("y")
    first, second = rank.delong(y, case.array("s1")), rank.delong(y, case.array("s2"))
    assert (first.auc, second.auc) == (case.near("auc1"), case.near("auc2"))
    assert (first.variance, second.variance) == (case.near("var1"), case.near("var2"))
    found = rank.delong_paired(y, case.array("s1"), case.array("s2"))
    assert found.difference == case.near("diff")
    assert found.se == case.near("se_diff")
    assert found.covariance == case.near("cov")
    assert (found.z, found.p) == (case.near("z"), case.near("p"))
    half = z_critical(0.95) * found.se
    assert [found.difference - half, found.difference + half] == case.near("ci95_diff")


@cases("auc_tests", prefix="unpaired")
def test_two_independent_groups_meet_proc(case: Case) -> None:
    groups = [rank.delong(case.array(f"y{i}"), case.array(f"s{i}")) for i in (1, 2)]
    assert [g.auc for g in groups] == [case.near("auc1"), case.near("auc2")]
    assert [g.variance for g in groups] == [case.near("var1"), case.near("var2")]
    found = rank.delong_unpaired(*groups)
    assert (found.difference, found.se) == (case.near("diff"), case.near("se_diff"))
    assert found.z == case.near("z")
    assert found.z == case.near("D_pROC")
    assert found.p == case.near("p_z")
    assert found.df == case.near("df_pROC")
    assert 2 * stats.t.sf(abs(found.z), found.df) == case.near("p_pROC_t")
    half = z_critical(0.95) * found.se
    assert [found.difference - half, found.difference + half] == case.near("ci95_diff_z")


@cases("auc_tests", prefix="kgroup")
def test_homogeneity_of_groups_meets_r(case: Case) -> None:
    y, s, g = case.array("y"), case.array("s"), np.array(case.input["g"])
    groups = [rank.delong(y[g == name], s[g == name]) for name in case.expected["groups"]]
    aucs, variances = [one.auc for one in groups], [one.variance for one in groups]
    assert aucs == case.near("auc")
    assert variances == case.near("var")
    for scale in ("raw", "logit"):
        found = rank.auc_homogeneity(aucs, variances, scale=scale)
        assert (found.q, found.p) == (case.near(f"Q_{scale}"), case.near(f"p_{scale}"))
        assert found.df == case.expected["df"]


# ---- against the definitions, pair by pair ---------------------------------------------------------------------------


def _kernel(y: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Who beats whom, [positives, negatives]: 1, a half or 0."""
    difference = s[y == 1][:, None] - s[y == 0][None, :]
    return np.where(difference > 0, 1.0, np.where(difference == 0, 0.5, 0.0))


def _ranked(seed: int, n: int, *, digits: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.35).astype(float)
    y[:2] = 0, 1
    s = rng.normal(0, 1, n) + y
    return y, s if digits is None else np.round(s, digits)


@pytest.mark.parametrize("digits", [None, 1, 0])
@pytest.mark.parametrize("n", [5, 31, 150])
def test_delong_is_the_variance_of_its_pairs(n: int, digits: int | None) -> None:
    y, s = _ranked(n, n, digits=digits)
    y[:4] = 0, 1, 0, 1
    kernel = _kernel(y, s)
    m, k = kernel.shape
    variance = np.var(kernel.mean(axis=1), ddof=1) / m + np.var(kernel.mean(axis=0), ddof=1) / k
    found = rank.delong(y, s)
    assert found.auc == pytest.approx(kernel.mean(), rel=1e-12)
    assert found.variance == pytest.approx(variance, rel=1e-10)
    assert found.auc == pytest.approx(roc_auc_score(y, s), rel=1e-12)


def _obuchowski_1997(y: np.ndarray, s: np.ndarray, cluster: np.ndarray) -> float:
    """The paper's estimator, sum by sum: S10, S01 over the clusters that hold the class, S11 over all of them."""
    kernel = _kernel(y, s)
    total_pos, total_neg = kernel.shape
    auc = kernel.mean()
    v10, v01 = kernel.mean(axis=1), kernel.mean(axis=0)
    pos_cluster, neg_cluster = cluster[y == 1], cluster[y == 0]
    clusters = sorted(set(cluster.tolist()))
    i10 = len(set(pos_cluster.tolist()))
    i01 = len(set(neg_cluster.tolist()))
    i = len(clusters)
    s10 = s01 = s11 = 0.0
    for unit in clusters:
        m_i, n_i = np.sum(pos_cluster == unit), np.sum(neg_cluster == unit)
        x_i = v10[pos_cluster == unit].sum() - m_i * auc
        y_i = v01[neg_cluster == unit].sum() - n_i * auc
        s10 += i10 / ((i10 - 1) * total_pos) * x_i**2
        s01 += i01 / ((i01 - 1) * total_neg) * y_i**2
        s11 += i / (i - 1) * x_i * y_i
    return s10 / total_pos + s01 / total_neg + 2 * s11 / (total_pos * total_neg)


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("seed", range(3))
def test_clustered_variance_is_obuchowskis(seed: int, digits: int | None) -> None:
    y, s = _ranked(seed, 120, digits=digits)
    cluster = np.random.default_rng(seed).integers(0, 23, 120)
    found = rank.delong(y, s, cluster=cluster)
    assert found.variance == pytest.approx(_obuchowski_1997(y, s, cluster), rel=1e-10)
    assert found.auc == pytest.approx(roc_auc_score(y, s), rel=1e-12)
    assert found.positive_units == np.unique(cluster[y == 1]).size
    assert found.negative_units == np.unique(cluster[y == 0]).size


@pytest.mark.parametrize("digits", [None, 1])
def test_clusters_of_one_row_are_delong(digits: int | None) -> None:
    y, s = _ranked(9, 80, digits=digits)
    rows, plain = rank.delong(y, s, cluster=np.arange(80)), rank.delong(y, s)
    assert rows.auc == pytest.approx(plain.auc, rel=1e-12)
    assert rows.variance == pytest.approx(plain.variance, rel=1e-10)


def test_integer_weights_repeat_rows_within_their_patient() -> None:
    y, s = _ranked(4, 90, digits=1)
    rng = np.random.default_rng(4)
    cluster, weight = rng.integers(0, 30, 90), rng.integers(1, 4, 90)
    again = np.repeat(np.arange(90), weight)
    weighted = rank.delong(y, s, cluster=cluster, weight=weight.astype(float))
    repeated = rank.delong(y[again], s[again], cluster=cluster[again])
    assert weighted.auc == pytest.approx(repeated.auc, rel=1e-12)
    assert weighted.variance == pytest.approx(repeated.variance, rel=1e-10)
    assert (weighted.positive_units, weighted.negative_units) == (repeated.positive_units, repeated.negative_units)


def test_paired_covariance_is_that_of_the_placements() -> None:
    y, first = _ranked(11, 70, digits=1)
    second = np.round(0.5 * first + np.random.default_rng(1).normal(size=70), 1)
    a, b = _kernel(y, first), _kernel(y, second)
    covariance = np.cov(a.mean(axis=1), b.mean(axis=1))[0, 1] / a.shape[0]
    covariance += np.cov(a.mean(axis=0), b.mean(axis=0))[0, 1] / a.shape[1]
    found = rank.delong_paired(y, first, second)
    assert found.covariance == pytest.approx(covariance, rel=1e-10)
    same = rank.delong_paired(y, first, first)
    assert (same.difference, same.z, same.p) == (0.0, 0.0, 1.0)


# ---- intervals at the edge -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "n"), [(2, 2), (3, 40), (25, 25), (200, 4)])
def test_newcombe_ends_have_the_variance_they_claim(m: int, n: int) -> None:
    """Each end is the AUC whose own variance puts the AUC seen at 1.96 standard errors."""
    for auc in (0.0, 0.31, 0.5, 0.92, 1.0):
        low, high = rank.newcombe_auc(auc, m, n)
        assert 0 <= low <= auc <= high <= 1
        for end in {low, high} - {auc}:
            size = (m + n) / 2 - 1
            variance = end * (1 - end) * (1 + size * ((1 - end) / (2 - end) + end / (1 + end))) / (m * n)
            assert abs(auc - end) / np.sqrt(variance) == pytest.approx(z_critical(0.95), rel=1e-5)


@pytest.mark.parametrize("flip", [False, True])
def test_a_perfect_auc_keeps_an_interval(flip: bool) -> None:
    y = np.repeat([0.0, 1.0], [12, 9])
    found = rank.delong(1 - y if flip else y, np.arange(21.0))
    low, high = rank.auc_interval(found)
    assert found.variance == 0
    assert (high - low) > 0.1
    assert found.auc in (low, high)


def test_clusters_widen_the_interval_by_a_t_quantile() -> None:
    estimate = rank.AucVariance(0.8, 0.003, 8, 30)
    plain, clustered = rank.auc_interval(estimate), rank.auc_interval(estimate, clustered=True)
    reach = [np.log(e.high / (1 - e.high)) - np.log(4) for e in (plain, clustered)]
    assert reach[1] / reach[0] == pytest.approx(stats.t.ppf(0.975, 7) / stats.norm.ppf(0.975), rel=1e-9)


# ---- replicates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("digits", [None, 2, 1, 0])
@pytest.mark.parametrize("n", [6, 57, 300])
def test_weighted_replicates_meet_scikit_learn(n: int, digits: int | None) -> None:
    y, s = _ranked(n + 1, n, digits=digits)
    rng = np.random.default_rng(n)
    weights = np.vstack([rng.integers(0, 4, (10, n)), rng.uniform(0, 2, (10, n)), np.ones((1, n))])
    weights[:, :2] += 0.5  # both classes keep some weight
    found = rank.rank_replicates(y, s, weights)
    auroc = [roc_auc_score(y, s, sample_weight=w) for w in weights]
    auprc = [average_precision_score(y, s, sample_weight=w) for w in weights]
    assert found.auroc == pytest.approx(auroc, rel=1e-9)
    assert found.auprc == pytest.approx(auprc, rel=1e-9)


@pytest.mark.parametrize("digits", [None, 1])
def test_integer_weights_equal_repeated_rows(digits: int | None) -> None:
    y, s = _ranked(8, 60, digits=digits)
    weights = np.random.default_rng(2).multinomial(60, np.full(60, 1 / 60), size=25)
    found = rank.rank_replicates(y, s, weights.astype(float))
    for b, counts in enumerate(weights):
        again = np.repeat(np.arange(60), counts)
        assert found.auroc[b] == pytest.approx(roc_auc_score(y[again], s[again]), rel=1e-11)
        assert found.auprc[b] == pytest.approx(average_precision_score(y[again], s[again]), rel=1e-11)


def test_sorted_rows_give_the_same_replicates() -> None:
    y, s = _ranked(3, 100, digits=1)
    weights = np.random.default_rng(3).uniform(0, 1, (5, 100))
    order = np.argsort(s, kind="stable")
    plain, presorted = rank.rank_replicates(y, s, weights), rank.rank_replicates(y[order], s[order], weights[:, order])
    assert plain.auroc == pytest.approx(presorted.auroc, rel=1e-13)
    assert plain.auprc == pytest.approx(presorted.auprc, rel=1e-13)


def test_a_class_without_weight_is_undefined_and_silent() -> None:
    y, s = np.array([1.0, 0, 1, 0, 1]), np.array([0.9, 0.9, 0.4, 0.2, 0.1])
    weights = np.array([[1.0, 0, 1, 0, 1], [0, 1, 0, 1, 0], [0, 0, 0, 0, 0], [0, 1, 1, 1, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = rank.rank_replicates(y, s, weights)
        one_class = rank.rank_replicates(np.ones(5), s, weights)
    assert np.isnan(found.auroc).tolist() == [True, True, True, False]
    assert np.isnan(found.auprc).tolist() == [False, True, True, False]
    assert found.auprc[0] == 1.0  # only events: every flagged row is one
    assert np.isnan(one_class.auroc).all()
    assert np.isnan(rank.delong(np.ones(5), s).auc)


def test_roc_points_lie_on_the_curve() -> None:
    y, s = _ranked(21, 400, digits=2)
    points = np.array(rank.roc_points(y, s, np.ones(400), most=50))
    assert len(points) <= 50
    assert points[0].tolist() == [0.0, 0.0]
    assert points[-1].tolist() == [1.0, 1.0]
    pairs = {(float(np.mean(s[y == 0] >= t)), float(np.mean(s[y == 1] >= t))) for t in [np.inf, *np.unique(s)]}
    for x, t in points:
        assert min(abs(x - a) + abs(t - b) for a, b in pairs) < 1e-12
    every = np.array(rank.roc_points(y, s, np.ones(400), most=10_000))
    assert np.trapezoid(every[:, 1], every[:, 0]) == pytest.approx(roc_auc_score(y, s), rel=1e-12)
