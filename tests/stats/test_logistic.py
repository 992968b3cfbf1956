"""Refits from one good start must be the fits that a careful search from nothing finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special

from workup.stats import bootstrap, logistic, smooth


def spline_rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    lp = np.sort(rng.normal(-1.0, 1.2, n))
    outcome = (rng.random(n) < special.expit(0.7 * lp + 0.2)).astype(float)
    return lp, smooth.spline_basis(lp, smooth.knots(lp, np.ones(n))), outcome


@pytest.mark.parametrize("n", [60, 400, 5_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_refits_are_the_fits_found_from_nothing(n: int, weighted: bool) -> None:
    _, design, outcome = spline_rows(n, seed=n)
    weights = np.concatenate(list(bootstrap.unit_counts(n, 40, seed=3)))
    if weighted:
        weights = weights * np.random.default_rng(1).uniform(0.2, 5.0, n)
    start = logistic.fit(design, outcome, np.ones((1, n))).coefficients[0]
    found = logistic.refit(design, outcome, weights, start=start)
    expected = logistic.fit(design, outcome, weights).coefficients
    assert np.isfinite(expected).any()
    assert np.array_equal(np.isfinite(found), np.isfinite(expected))
    curves = [special.expit(beta @ design.T) for beta in (found, expected)]
    np.testing.assert_allclose(curves[0], curves[1], rtol=1e-9, atol=1e-12)


def test_refits_maximise_the_likelihood() -> None:
    """Against a general-purpose optimiser that knows nothing of logistic regression."""
    _, design, outcome = spline_rows(300, seed=4)
    weight = next(bootstrap.unit_counts(300, 1, seed=8))[0]
    start = logistic.fit(design, outcome, np.ones((1, 300))).coefficients[0]
    found = logistic.refit(design, outcome, weight[None, :], start=start)[0]

    def loss(beta: np.ndarray) -> float:
        eta = design @ beta
        return float(weight @ (np.logaddexp(0, eta) - outcome * eta))

    best = optimize.minimize(loss, start, method="BFGS", options={"gtol": 1e-8})
    assert loss(found) <= best.fun + 1e-9
    np.testing.assert_allclose(design @ found, design @ best.x, atol=1e-4)


def test_refits_with_an_offset_and_with_outcomes_of_their_own() -> None:
    lp, design, outcome = spline_rows(500, seed=5)
    weights = np.concatenate(list(bootstrap.unit_counts(500, 30, seed=6)))
    constant = np.ones((500, 1))
    start = logistic.fit(constant, outcome, np.ones((1, 500)), offset=lp).coefficients[0]
    found = logistic.refit(constant, outcome, weights, start=start, offset=lp)
    expected = logistic.fit(constant, outcome, weights, offset=lp).coefficients
    np.testing.assert_allclose(found, expected, rtol=1e-9)

    shares = np.random.default_rng(7).beta(2.0, 3.0, (30, 500))
    start = logistic.fit(design, shares.mean(axis=0), np.ones((1, 500))).coefficients[0]
    found = logistic.refit(design, shares, weights, start=start)
    expected = logistic.fit(design, shares, weights).coefficients
    np.testing.assert_allclose(found @ design.T, expected @ design.T, atol=1e-9)


def test_resamples_that_have_no_finite_fit_are_nan() -> None:
    _, design, outcome = spline_rows(200, seed=9)
    start = logistic.fit(design, outcome, np.ones((1, 200))).coefficients[0]
    one_class, nobody, few = outcome, np.zeros(200), np.where(np.arange(200) < 3, 1.0, 0.0)
    weights = np.vstack([one_class, nobody, few, np.ones(200)])
    found = logistic.refit(design, outcome, weights, start=start)
    assert np.isfinite(found).all(axis=1).tolist() == [False, False, False, True]
    np.testing.assert_allclose(found[3], start, rtol=1e-9)


def test_a_resample_far_from_the_start_is_found_all_the_same() -> None:
    _, design, outcome = spline_rows(800, seed=10)
    weights = np.where(outcome == 1, 500.0, 0.01)[None, :] * np.ones((3, 1))
    start = logistic.fit(design, outcome, np.ones((1, 800))).coefficients[0]
    found = logistic.refit(design, outcome, weights, start=start)
    expected = logistic.fit(design, outcome, weights).coefficients
    np.testing.assert_allclose(found @ design.T, expected @ design.T, atol=1e-7)


def test_refits_are_the_same_however_few_fit_into_one_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    _, design, outcome = spline_rows(60, seed=5)
    weights = np.random.default_rng(6).poisson(1.0, (9, 60)) + 0.1
    start = logistic.fit(design, outcome, np.ones((1, len(design)))).coefficients[0]
    whole = logistic.refit(design, outcome, weights, start=start)
    monkeypatch.setattr(logistic, "_TILE", 1)  # a table longer than a tile
    assert logistic.refit(design, outcome, weights, start=start) == pytest.approx(whole, rel=1e-9)
