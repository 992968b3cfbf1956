"""Cox's model: against R, a likelihood by hand, numerical derivatives, and fits that do not exist."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.oracles import Case, cases
from workup.stats.cox import cox


@cases("time_to_event", prefix="tte_shared_cox")
def test_the_hazard_ratio_of_censoring_meets_r(case: Case) -> None:
    t, status = case.array("time"), np.array(case.input["status"])
    found = cox(t, status == 0, case.array("x")[:, None], goes_first=status != 0)
    assert found.coefficients[0] == case.near("censoring_log_hazard_ratio")
    assert np.sqrt(found.covariance[0, 0]) == case.near("censoring_log_hazard_ratio_se")


def _likelihood(beta: np.ndarray, t: np.ndarray, d: np.ndarray, x: np.ndarray, w: np.ndarray) -> float:
    total = 0.0
    for i in np.flatnonzero(d):
        at_risk = t >= t[i]
        total += w[i] * (x[i] @ beta - np.log(np.sum(w[at_risk] * np.exp(x[at_risk] @ beta))))
    return float(total)


def test_it_is_the_maximum_of_the_partial_likelihood_with_ties_and_weights() -> None:
    rng = np.random.default_rng(2)
    t, d, x, w = rng.integers(1, 9, 80).astype(float), rng.random(80) < 0.6, rng.normal(size=(80, 2)), rng.random(80)
    found = cox(t, d, x, weight=w)
    best = _likelihood(found.coefficients, t, d, x, w)
    for step in (np.array([1e-3, 0]), np.array([0, -1e-3]), np.array([-1e-3, 1e-3])):
        assert _likelihood(found.coefficients + step, t, d, x, w) < best


def test_robust_errors_of_repeated_rows_are_those_of_patients() -> None:
    rng = np.random.default_rng(4)
    t, d, x = rng.exponential(size=60), rng.random(60) < 0.7, rng.normal(size=(60, 1))
    once = cox(t, d, x)
    thrice = cox(np.repeat(t, 3), np.repeat(d, 3), np.repeat(x, 3, axis=0), cluster=np.repeat(np.arange(60), 3))
    assert thrice.coefficients == pytest.approx(once.coefficients, rel=1e-9)
    assert thrice.robust == pytest.approx(once.robust, rel=1e-6)
    assert thrice.covariance == pytest.approx(once.covariance / 3, rel=1e-6)


def test_what_each_row_does_by_way_of_the_fit_is_a_derivative() -> None:
    rng = np.random.default_rng(1)
    n = 50
    t, status, x = rng.integers(1, 8, n).astype(float), rng.integers(0, 3, n), rng.normal(size=(n, 2))
    w, mass, until = rng.uniform(0.5, 2, n), rng.normal(size=n), rng.uniform(1, 8, n)

    def total(weight: np.ndarray) -> float:
        fit = cox(t, status == 0, x, weight=weight, goes_first=status != 0)
        return float(mass @ np.log(fit.before(until)))

    found = cox(t, status == 0, x, weight=w, goes_first=status != 0).through(until, mass)
    for i in range(0, n, 7):
        step = 1e-5 * np.eye(n)[i]
        assert -found[i] == pytest.approx((total(w + step) - total(w - step)) / 2e-5, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize(
    ("happened", "column"),
    [
        (np.zeros(6, dtype=bool), np.arange(6.0)),
        (np.ones(6, dtype=bool), np.ones(6)),
        (np.array([1, 1, 1, 0, 0, 0], dtype=bool), -np.arange(6.0)),
    ],
)
def test_where_there_is_no_maximum_there_is_no_number(happened: np.ndarray, column: np.ndarray) -> None:
    found = cox(np.arange(1.0, 7), happened, column[:, None])
    assert not found.fitted and np.isnan(found.coefficients).all()
