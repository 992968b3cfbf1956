"""Calibration curves and their distances from the diagonal: against R, scikit-misc's loess and the definitions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import special
from skmisc.loess import loess as cleveland

from tests.support.cohorts import draw_cohort
from tests.support.oracles import Case, cases
from workup.stats import bootstrap, calibration, logistic, smooth

TYPE_2 = "averaged_inverted_cdf"  # the quantile that neither repeating rows nor scaling weights can change


# ---- loess -----------------------------------------------------------------------------------------------------------


@cases("calibration")
def test_loess_distances_meet_r(case: Case) -> None:
    y, p = case.array("y"), case.array("p")
    curve = smooth.loess(p, y, p)
    found = smooth.distances(curve[None, :], p)
    assert found.ici[0] == case.near("ICI_loess")
    assert found.e50[0] == case.near("E50_loess")
    assert found.e90[0] == case.near("E90_loess")
    assert found.emax[0] == case.near("Emax_loess")
    assert 100 * np.mean((curve - p) ** 2) == case.near("ECI_loess")


@pytest.mark.parametrize("digits", [None, 2, 1], ids=["no ties", "two digits", "one digit"])
@pytest.mark.parametrize("n", [20, 21, 57, 130, 400, 1_500, 4_999])
def test_loess_meets_cleveland(n: int, digits: int | None) -> None:
    scores = draw_cohort(n, n, digits=digits, slope=0.5)
    x, y = scores["risk"], scores["outcome"]
    model = cleveland(x, y)  # R's defaults too: span 0.75, degree 2, interpolation between the vertices of a k-d tree
    model.fit()
    at = np.linspace(x.min(), x.max(), 41)
    assert smooth.loess(x, y, x) == pytest.approx(model.outputs.fitted_values, abs=1e-7)
    assert smooth.loess(x, y, at) == pytest.approx(model.predict(at).values, abs=1e-7)


@pytest.mark.parametrize("n", [8, 9, 12])
def test_loess_of_very_few_rows_meets_cleveland(n: int) -> None:
    scores = draw_cohort(n, n)
    model = cleveland(scores["risk"], scores["outcome"])
    model.fit()
    found = smooth.loess(scores["risk"], scores["outcome"], scores["risk"])
    assert found == pytest.approx(model.outputs.fitted_values, abs=1e-7)


@pytest.mark.parametrize("n", [40, 300])
def test_weighted_loess_meets_cleveland(n: int) -> None:
    scores = draw_cohort(n, n, weighted=True)
    x, y, w = scores["risk"], scores["outcome"], scores.base_weight
    model = cleveland(x, y, weights=w)
    model.fit()
    assert smooth.loess(x, y, x, weight=w) == pytest.approx(model.outputs.fitted_values, abs=1e-7)


def test_loess_reproduces_a_quadratic() -> None:
    x = np.linspace(0, 1, 60) ** 1.5
    y = 0.2 - 0.7 * x + 1.1 * x**2
    at = np.linspace(0.02, 0.98, 23)
    # Exact at the vertices; between them a cubic Hermite piece holds a quadratic too.
    assert smooth.loess(x, y, at) == pytest.approx(0.2 - 0.7 * at + 1.1 * at**2, abs=1e-9)


@pytest.mark.parametrize("values", [[0.3] * 12, [0.2] * 6 + [0.7] * 6], ids=["one value", "two values"])
def test_loess_of_too_few_values_is_nan(values: list[float]) -> None:
    x = np.array(values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = smooth.loess(x, np.tile([0.0, 1.0], 6), x)
    assert np.isnan(found).all()


# ---- splines ---------------------------------------------------------------------------------------------------------


def _truncated_powers(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Harrell's formula for the restricted cubic basis, entry by entry."""

    def cube(u: float) -> float:
        return max(u, 0.0) ** 3

    k, tau = len(t), (t[-1] - t[0]) ** 2
    rows = []
    for value in x:
        row = [1.0, value]
        for j in range(k - 2):
            term = cube(value - t[j]) - cube(value - t[-2]) * (t[-1] - t[j]) / (t[-1] - t[-2])
            row.append((term + cube(value - t[-1]) * (t[-2] - t[j]) / (t[-1] - t[-2])) / tau)
        rows.append(row)
    return np.array(rows)


def test_spline_basis_is_harrells_and_straight_beyond_the_knots() -> None:
    at = np.array([-2.1, -0.9, 0.1, 0.8, 2.5])
    x = np.linspace(-4, 6, 81)
    basis = smooth.spline_basis(x, at)
    assert basis == pytest.approx(_truncated_powers(x, at), abs=1e-10)
    for outside in (np.linspace(-9, -2.2, 9), np.linspace(2.6, 30, 9)):
        bend = np.diff(smooth.spline_basis(outside, at), n=2, axis=0)
        assert np.abs(bend).max() < 1e-9


def test_knots_stand_at_harrells_quantiles() -> None:
    lp = np.random.default_rng(1).normal(size=211)  # no share stops exactly between two rows
    assert smooth.KNOT_SHARES == (0.05, 0.275, 0.5, 0.725, 0.95)
    expected = np.quantile(lp, smooth.KNOT_SHARES, method=TYPE_2)
    assert smooth.knots(lp, np.ones(211)) == pytest.approx(expected, rel=1e-12)
    assert smooth.knots(lp, np.full(211, 1 / 900)) == pytest.approx(expected, rel=1e-12)
    assert smooth.knots(np.repeat([0.0, 1.0], [199, 1]), np.ones(200)).tolist() == [0.0]


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.9, 1.0])
def test_weighted_quantile_repeats_rows(share: float) -> None:
    rng = np.random.default_rng(3)
    values, weight = rng.normal(size=31).round(1), rng.integers(0, 5, 31)
    expected = np.quantile(np.repeat(values, weight), share, method=TYPE_2)
    for scale in (1, 0.001, 1e5):
        assert smooth.weighted_quantile(values, scale * weight, share) == pytest.approx(expected, rel=1e-12)


def test_spline_curve_band_is_the_cluster_sandwich() -> None:
    scores = draw_cohort(4, 160, patients=45, spread=1.0, weighted=True)
    lp, y, w = calibration.logit(scores["risk"]), scores["outcome"], scores.base_weight
    at, grid = smooth.knots(lp, w), np.linspace(-2, 1, 7)
    found = smooth.spline_curve(lp, y, w, scores.patient, at=at, grid=grid)
    design, points = _truncated_powers(lp, at), _truncated_powers(grid, at)
    fits = logistic.fit(design, y, w[None, :])
    beta, bread = fits.coefficients[0], fits.inverse_information[0]
    score = design * (w * (y - special.expit(design @ beta)))[:, None]
    totals = np.array([score[scores.patient == unit].sum(axis=0) for unit in np.unique(scores.patient)])
    k = len(totals)
    se = np.sqrt(np.diag(points @ bread @ totals.T @ totals @ bread @ points.T) * k / (k - 1))
    assert found.risk == pytest.approx(special.expit(grid))
    assert found.observed == pytest.approx(special.expit(points @ beta), rel=1e-8)
    assert found.low == pytest.approx(special.expit(points @ beta - 1.959963984540054 * se), rel=1e-7)
    assert found.high == pytest.approx(special.expit(points @ beta + 1.959963984540054 * se), rel=1e-7)


# ---- distances -------------------------------------------------------------------------------------------------------


def test_distances_under_weights_are_those_of_repeated_rows() -> None:
    rng = np.random.default_rng(5)
    risk, curve = rng.random(40), rng.random((6, 40))
    weights = rng.integers(0, 4, (6, 40)).astype(float)
    found = smooth.distances(curve, risk, weights)
    for b in range(6):
        gap = np.repeat(np.abs(curve[b] - risk), weights[b].astype(int))
        expected = [gap.mean(), np.median(gap), np.quantile(gap, 0.9, method=TYPE_2), gap.max()]
        assert [values[b] for values in found] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("digits", [None, 1])
def test_spline_replicates_refit_every_resample(digits: int | None) -> None:
    scores = draw_cohort(6, 120, digits=digits, slope=0.6)
    y, p, lp = (
        scores["outcome"],
        np.clip(scores["risk"], 0.01, 0.99),
        calibration.logit(np.clip(scores["risk"], 0.01, 0.99)),
    )
    at = smooth.knots(lp, np.ones(120))
    weights = np.concatenate(list(bootstrap.unit_counts(120, 30, seed=2)))
    found = smooth.spline_distance_replicates(lp, y, p, weights, at=at)
    for b, counts in enumerate(weights):
        again = np.repeat(np.arange(120), counts.astype(int))
        design = smooth.spline_basis(lp[again], at)
        beta = logistic.fit(design, y[again], np.ones((1, again.size))).coefficients[0]
        gap = np.abs(special.expit(design @ beta) - p[again])
        expected = [gap.mean(), np.median(gap), np.quantile(gap, 0.9, method=TYPE_2), gap.max()]
        if np.isfinite(beta).all():
            assert [values[b] for values in found] == pytest.approx(expected, rel=1e-7)
        else:
            assert np.isnan([values[b] for values in found]).all()


@pytest.mark.parametrize("digits", [None, 3])
def test_cells_move_a_distance_by_a_fiftieth_of_its_error(digits: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = draw_cohort(10, 21_000, digits=digits, slope=0.8, shift=0.2)
    risk = np.clip(scores["risk"], 0.001, 0.999)
    lp, y = calibration.logit(risk), scores["outcome"]
    at = smooth.knots(lp, np.ones(lp.size))
    weights = np.concatenate(list(bootstrap.unit_counts(lp.size, 24, seed=1)))
    gathered = smooth.spline_distance_replicates(lp, y, risk, weights, at=at)
    monkeypatch.setattr(smooth, "CELLS_ABOVE", 10**9)
    exact = smooth.spline_distance_replicates(lp, y, risk, weights, at=at)
    pairs = zip(exact._fields, gathered, exact, strict=True)
    moved = {name: float(np.sqrt(np.mean((cell - row) ** 2)) / row.std(ddof=1)) for name, cell, row in pairs}
    assert max(moved.values()) < 0.02, moved


@pytest.mark.parametrize("cells_above", [10**9, 10], ids=["rows", "cells"])
def test_resamples_without_a_curve_are_nan_and_silent(cells_above: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smooth, "CELLS_ABOVE", cells_above)
    scores = draw_cohort(11, 300)
    lp, y = calibration.logit(scores["risk"]), scores["outcome"]
    weights = np.vstack([np.zeros(300), y, 1 - y, np.ones(300)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = smooth.spline_distance_replicates(lp, y, scores["risk"], weights, at=smooth.knots(lp, np.ones(300)))
    for values in found:
        assert np.isnan(values).tolist() == [True, True, True, False]
        assert values[3] > 0


def test_three_knots_give_one_restricted_cubic_term() -> None:
    """Harrell's formula by hand, in units of the squared distance of the outer knots; a straight line beyond them."""
    at = np.array([-1.0, 0.0, 2.0])
    lp = np.array([-3.0, -1.0, 0.5, 2.0, 3.0, 4.0])
    basis = smooth.spline_basis(lp, at)
    assert basis.shape == (6, 3)
    first, second, third = (np.maximum(lp - knot, 0.0) ** 3 for knot in at)
    by_hand = (first - second * 3 / 2 + third * 1 / 2) / 9
    assert basis[:, 2] == pytest.approx(by_hand)
    assert basis[:2, 2] == pytest.approx([0, 0]) and np.diff(basis[3:, 2], 2) == pytest.approx([0], abs=1e-12)
    assert smooth.spline_basis(lp, at[:2]).shape == (6, 2)


def test_rows_at_the_ends_alone_are_held_against_their_own_shares() -> None:
    outcome = np.repeat([1.0, 0.0, 1.0, 0.0], [20, 5, 3, 12])
    ends = np.repeat([2, 1], [25, 15])
    risk = np.repeat([1.0, 0.0], [25, 15])
    found = smooth.spline_distance_replicates(
        np.zeros(40), outcome, risk, np.ones((2, 40)), at=np.array([-1.0, 0.0, 1.0]), apart=ends
    )
    assert found.ici == pytest.approx([0.2, 0.2])
    assert found.emax == pytest.approx([0.2, 0.2])
