"""Updating against R (glm, rms, sandwich), its laws, and what is not offered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from tests.support.oracles import Case, cases
from workup.stats import isotonic, updating
from workup.stats.rank import delong
from workup.stats.updating import CannotUpdate, RunsBackwards, Sample, Update, closed_test, update

CASES = [one for one in cases("updating").args[1] if "fold" in one.input]  # the others are of thresholds
of_updates = pytest.mark.parametrize("case", CASES, ids=[one.id for one in CASES])


def _sample(case: Case) -> Sample:
    y, risk, given = case.array("y"), case.array("p"), case.input
    x = {} if given["X"] is None else {f"v{i + 1}": x for i, x in enumerate(case.array("X").reshape(-1, y.size))}
    return Sample(y, risk, x, None if given["patient"] is None else np.array(given["patient"]))


def _anything(sample: Sample) -> Update:
    """The procedure of the reference values, which offers every method."""
    return update(sample, forbidden={})


def _near(case: Case, value: Any) -> Any:
    return None if value is None else pytest.approx(value, rel=case.rel_tol, abs=1e-9)


# ---- against R -------------------------------------------------------------------------------------------------------


@of_updates
def test_the_closed_test_is_that_of_r(case: Case) -> None:
    found, expected = closed_test(_sample(case), alpha=case.input["alpha"]), case.expected
    assert found.chosen == expected["chosen"]
    assert (found.kind, found.rank) == (expected["kind"], expected["rank"])
    assert found.kept == tuple(f"v{i}" for i in expected["kept_columns"])
    for row in found.rows:
        assert row.df == expected["df"][row.candidate]
        assert row.statistic == _near(case, expected["statistic"][row.candidate])
        assert row.p == _near(case, expected["p"][row.candidate])
    assert found.in_the_large == case.near("in_the_large")
    assert list(found.recalibration) == case.near("recalibration")
    assert found.largest.tolist() == case.near("largest")
    for name, value in expected["loglik"].items():
        assert found.log_likelihood[name] == _near(case, value)
    if "lrm_largest" in expected:
        assert found.largest.tolist() == case.near("lrm_largest")


@of_updates
def test_updated_and_cross_fitted_risks_are_those_of_r(case: Case) -> None:
    sample, expected = _sample(case), case.expected
    risk = _anything(sample).apply(sample.risk, sample.predictors)
    assert risk.tolist() == case.near("updated_risk")
    found = updating.cross_fit(sample, _anything, np.array(case.input["fold"]))
    crossed = expected["crossfit"]
    assert list(found.methods) == crossed["chosen"]
    assert found.risk.tolist() == _near(case, crossed["risk"])
    y = sample.outcome
    assert float(np.mean((y - found.risk) ** 2)) == _near(case, crossed["brier"])
    assert float(np.mean((y - risk) ** 2)) == _near(case, crossed["apparent_brier"])
    assert float(np.mean((y - sample.risk) ** 2)) == _near(case, crossed["original_brier"])


@of_updates
def test_beta_and_isotonic_fits_are_those_of_r(case: Case) -> None:
    sample, expected = _sample(case), case.expected
    beta = updating.beta_fit(sample)
    assert [beta.a, beta.b, beta.c, beta.log_likelihood] == _near(
        case, [expected["beta"][name] for name in ("a", "b", "c", "loglik")]
    )
    assert beta.admissible == expected["beta"]["admissible"]
    steps = isotonic.pooled(sample.outcome, sample.risk)
    assert steps.share.size == expected["isotonic"]["levels"]
    assert steps.at(sample.risk).tolist() == _near(case, expected["isotonic"]["fitted"])


@of_updates
def test_the_mean_risk_after_in_the_large_is_the_share_of_events(case: Case) -> None:
    """The difference of two logits, which is a common short cut, leaves it where it should not be."""
    sample = _sample(case)
    found = update(sample, method="in_the_large", forbidden={})
    assert abs(found.apply(sample.risk).mean() - sample.outcome.mean()) < 1e-12
    assert case.expected["mean_risk_in_the_large"] == pytest.approx(case.expected["mean_outcome"], abs=1e-12)
    naive = special.logit(sample.outcome.mean()) - special.logit(sample.risk.mean())
    assert naive == case.near("naive_in_the_large_ratio_of_odds")
    short_cut = special.expit(special.logit(np.clip(sample.risk, 1e-6, 1 - 1e-6)) + naive).mean()
    assert short_cut == case.near("naive_mean_risk_after")
    assert abs(short_cut - sample.outcome.mean()) > 1e-4
    assert found.parameters["intercept"] != pytest.approx(naive, abs=1e-4)
