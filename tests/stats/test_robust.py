"""The CR2 sandwich and Satterthwaite's degrees of freedom, against the matrices that define them, built in full."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import linalg, special, stats

from tests.support.cohorts import draw_cohort
from workup.scores import Scores
from workup.stats import calibration, logistic


def _dense(
    design: np.ndarray, y: np.ndarray, mu: np.ndarray, weight: np.ndarray, cluster: np.ndarray, contrast: np.ndarray
) -> tuple[float, float]:
    """Bell and McCaffrey 2002 with n × n matrices: every cluster's residuals times (I - H_ii)^(-1/2)."""
    working = weight * mu * (1 - mu)
    z = np.sqrt(working)[:, None] * design
    residual = weight * (y - mu) / np.sqrt(working)
    bread = linalg.inv(z.T @ z)
    annihilator = np.eye(y.size) - z @ bread @ z.T
    units = np.unique(cluster)
    variance, directions = 0.0, []
    for unit in units:
        rows = cluster == unit
        values, vectors = linalg.eigh(annihilator[np.ix_(rows, rows)])
        root = vectors @ np.diag(values**-0.5) @ vectors.T
        pull = root @ z[rows] @ bread @ contrast
        variance += float(pull @ residual[rows]) ** 2
        directions.append(annihilator[:, rows] @ pull)
    g = np.column_stack(directions)
    eigen = linalg.eigvalsh(g.T @ g)  # the working model makes the residuals' covariance the identity
    return float(np.sqrt(variance)), float(eigen.sum() ** 2 / np.sum(eigen**2))


def _parts(scores: Scores, *, with_slope: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    lp = calibration.logit(scores["risk"])
    design = np.column_stack([np.ones(lp.size), lp]) if with_slope else np.ones((lp.size, 1))
    offset = np.zeros(lp.size) if with_slope else lp
    fits = logistic.fit(design, scores["outcome"], scores.base_weight[None, :], offset=offset)
    mu = special.expit(design @ fits.coefficients[0] + offset)
    contrast = np.array([0.0, 1.0]) if with_slope else np.array([1.0])
    return design, mu, contrast, fits.coefficients[0], fits.inverse_information[0]


@pytest.mark.parametrize("with_slope", [True, False], ids=["slope", "in the large"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("patients", [4, 12, 60])
def test_cr2_is_the_dense_sandwich(patients: int, weighted: bool, with_slope: bool) -> None:
    scores = draw_cohort(patients, 110, patients=patients, spread=0.8, weighted=weighted)
    design, mu, contrast, beta, bread = _parts(scores, with_slope=with_slope)
    y, w = scores["outcome"], scores.base_weight
    expected_se, expected_df = _dense(design, y, mu, w, scores.patient, contrast)
    se, df = calibration.cr2(design, y - mu, w * mu * (1 - mu), w, scores.patient, bread, contrast)
    assert se == pytest.approx(expected_se, rel=1e-7)
    assert df == pytest.approx(expected_df, rel=1e-7)
    robust = calibration.slope_robust if with_slope else calibration.in_the_large_robust
    ends, interval_se = robust(y, calibration.logit(scores["risk"]), w, scores.patient)
    half = stats.t.ppf(0.975, expected_df) * expected_se
    value = float(beta @ contrast)
    assert interval_se == pytest.approx(expected_se, rel=1e-7)
    assert list(ends) == pytest.approx([value - half, value + half], abs=1e-7 * expected_se)


def test_clusters_of_one_row_are_hc2() -> None:
    """On the working least-squares problem, statsmodels' HC2 is CR2 with a cluster per row."""
    scores = draw_cohort(6, 130)
    design, mu, contrast, beta, bread = _parts(scores, with_slope=True)
    root = np.sqrt(mu * (1 - mu))
    response = root * (design @ beta) + (scores["outcome"] - mu) / root
    hc2 = sm.OLS(response, root[:, None] * design).fit().HC2_se
    se, _ = calibration.cr2(
        design, scores["outcome"] - mu, mu * (1 - mu), np.ones(130), scores.patient, bread, contrast
    )
    assert se == pytest.approx(hc2[1], rel=1e-7)


def test_rows_in_any_order_and_clusters_under_any_name() -> None:
    scores = draw_cohort(7, 90, patients=20, weighted=True)
    lp = calibration.logit(scores["risk"])
    order = np.random.default_rng(0).permutation(90)
    renamed = (1_000 - 7 * scores.patient)[order]
    plain = calibration.slope_robust(scores["outcome"], lp, scores.base_weight, scores.patient)
    mixed = calibration.slope_robust(scores["outcome"][order], lp[order], scores.base_weight[order], renamed)
    assert [*plain[0], plain[1]] == pytest.approx([*mixed[0], mixed[1]], rel=1e-10)


def test_scaling_the_weights_changes_nothing() -> None:
    scores = draw_cohort(8, 90, patients=20, weighted=True)
    y, lp, w = scores["outcome"], calibration.logit(scores["risk"]), scores.base_weight
    plain, scaled = (calibration.slope_robust(y, lp, factor * w, scores.patient) for factor in (1, 250))
    assert [*plain[0], plain[1]] == pytest.approx([*scaled[0], scaled[1]], rel=1e-8)


@pytest.mark.parametrize("cluster", [np.zeros(40, dtype=int), np.repeat([0, 1], [39, 1])], ids=["one", "one and a row"])
def test_too_few_clusters_have_no_interval(cluster: np.ndarray) -> None:
    """One cluster says nothing about variance; a cluster that holds a class by itself leaves none to compare with."""
    scores = draw_cohort(9, 40)
    ends, se = calibration.slope_robust(scores["outcome"], calibration.logit(scores["risk"]), np.ones(40), cluster)
    assert np.isnan([*ends, se]).all()


def test_a_fit_that_does_not_exist_has_no_interval() -> None:
    y, lp = np.repeat([0.0, 1.0], 5), np.arange(10.0) - 4.5
    ends, se = calibration.slope_robust(y, lp, np.ones(10), np.arange(10) % 4)
    assert np.isnan([*ends, se]).all()
