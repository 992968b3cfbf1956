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


# ---- laws ------------------------------------------------------------------------------------------------------------

RISKS = st.lists(st.integers(20, 9980), min_size=30, max_size=80)


def _drawn(levels: list[int], seed: int, *, shift: float = 0.7, slope: float = 0.6) -> Sample:
    """Risks on a grid of 1 in 10,000 whose outcomes have other odds, with an event and a non-event at least."""
    risk = np.array(levels) / 10_000
    y = (np.random.default_rng(seed).random(risk.size) < special.expit(shift + slope * special.logit(risk))) * 1.0
    y[:2] = [0.0, 1.0]
    return Sample(y, risk)


@given(RISKS, st.integers(0, 10_000), st.sampled_from(["none", "in_the_large", "recalibration", "beta", "isotonic"]))
def test_updated_risks_lie_inside_zero_and_one_and_keep_the_order(levels: list[int], seed: int, method: str) -> None:
    sample = _drawn(levels, seed)
    try:
        found = update(sample, method=method, forbidden={})
    except CannotUpdate:
        return
    at = np.sort(np.concatenate([np.linspace(0, 1, 301), sample.risk]))
    risk = found.apply(at)
    assert np.all((risk > 0) & (risk < 1))
    assert np.all(np.diff(risk) >= -1e-15)


@given(RISKS, st.integers(0, 10_000), st.sampled_from(["in_the_large", "recalibration"]))
def test_neither_in_the_large_nor_a_slope_above_zero_changes_the_auroc(
    levels: list[int], seed: int, method: str
) -> None:
    """A change of AUROC reported after such an update is an error somewhere else."""
    sample = _drawn(levels, seed)
    try:
        found = update(sample, method=method, forbidden={})
    except CannotUpdate:
        return
    if found.parameters.get("slope", 1.0) < 1e-3:
        return  # so flat that neighbours on the grid fall together in the last digit
    before, after = (delong(sample.outcome, risk).auc for risk in (sample.risk, found.apply(sample.risk)))
    assert after == before


@given(st.integers(0, 10_000))
def test_shuffled_rows_and_other_units_of_predictors_change_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 200
    x = rng.normal(size=(2, n))
    lp = -0.5 + 0.8 * x[0]
    y = (rng.random(n) < special.expit(lp + 0.7 * x[1])) * 1.0
    patient = np.repeat(np.arange(n // 2), 2)
    one = Sample(y, special.expit(lp), {"a": x[0], "b": x[1]}, patient)
    order = rng.permutation(n)
    # A year and a count in thousands: far from 0, and of another size.
    other = Sample(y, one.risk, {"a": 2020 + 3 * x[0], "b": 2.5e5 + 4e4 * x[1]}, patient)
    tests = [closed_test(sample) for sample in (one, one.take(order), other)]
    for test in tests[1:]:
        assert test.chosen == tests[0].chosen
        for row, first in zip(test.rows, tests[0].rows, strict=True):
            assert row.p == pytest.approx(first.p, rel=1e-7)
    risks = [
        update(sample, method="refit", forbidden={}).apply(sample.risk, sample.predictors) for sample in (one, other)
    ]
    assert risks[1] == pytest.approx(risks[0], rel=1e-7)


def test_whole_number_weights_are_repeated_rows_of_a_patient() -> None:
    rng = np.random.default_rng(4)
    n = 150
    lp = rng.normal(size=n)
    y, times = (rng.random(n) < special.expit(0.5 + lp)) * 1.0, rng.integers(0, 4, n)
    weighted = closed_test(Sample(y, special.expit(lp), weight=times.astype(float)))
    rows = np.repeat(np.arange(n), times)
    repeated = closed_test(Sample(y[rows], special.expit(lp[rows]), patient=rows))
    assert weighted.kind == repeated.kind == updating.WALD
    for one, two in zip(weighted.rows, repeated.rows, strict=True):
        assert one.p == (None if two.p is None else pytest.approx(two.p, rel=1e-9))


def test_weights_that_are_all_the_same_are_none_and_rows_of_no_weight_decide_nothing() -> None:
    rng = np.random.default_rng(10)
    lp = rng.normal(size=200)
    y = (rng.random(200) < special.expit(0.5 + lp)) * 1.0
    plain = closed_test(Sample(y, special.expit(lp)))
    same = closed_test(Sample(y, special.expit(lp), weight=np.full(200, 2.5)))
    assert same.rows == plain.rows
    unknown = Sample(
        np.append(y, [np.nan] * 50), np.append(special.expit(lp), [0.99] * 50), weight=np.repeat([1.0, 0.0], [200, 50])
    )
    assert closed_test(unknown).rows == plain.rows
    assert updating.not_offered(unknown) == updating.not_offered(Sample(y, special.expit(lp)))
    crossed = updating.cross_fit(unknown, update, np.arange(250) % 5)
    assert np.isfinite(crossed.risk).all()


def test_missing_numbers_are_refused() -> None:
    y, risk = np.array([0.0, 1.0]), np.array([0.2, 0.3])
    with pytest.raises(ValueError, match="0 or 1"):
        Sample(np.array([0.0, 2.0]), risk)
    with pytest.raises(ValueError, match="between 0 and 1"):
        Sample(y, np.array([0.2, np.nan]))
    with pytest.raises(ValueError, match="not so: age"):
        Sample(y, risk, {"age": np.array([1.0, np.nan])})
    assert np.isnan(isotonic.between(np.array([0.1, 0.2]), np.array([0.0, 1.0]), np.array([np.nan]))).all()


# ---- what is not offered ---------------------------------------------------------------------------------------------


def _sized(events: int, others: int, *, seed: int = 0, shift: float = 1.0) -> Sample:
    rng = np.random.default_rng(seed)
    lp = rng.normal(-0.5, 1.0, 40 * (events + others))
    y = rng.random(lp.size) < special.expit(shift + lp)
    rows = np.concatenate([np.flatnonzero(y)[:events], np.flatnonzero(~y)[:others]])
    return Sample(y[rows] * 1.0, special.expit(lp[rows]))


@pytest.mark.parametrize("method", sorted(updating.LEAST_EVENTS))
def test_each_method_is_offered_from_its_least_events_and_non_events_on(method: str) -> None:
    least = updating.LEAST_EVENTS[method]
    assert method not in updating.not_offered(_sized(least, least))
    for events, others in ((least - 1, least + 50), (least + 50, least - 1)):
        short = _sized(events, others)
        assert f"at least {least} events" in updating.not_offered(short)[method]
        with pytest.raises(CannotUpdate, match=f"at least {least} events"):
            update(short, method=method)


def test_recalibration_is_advised_from_a_hundred_events_on() -> None:
    assert update(_sized(60, 200), method="recalibration").note == (
        "recalibration is advised from 100 events and 100 non-events on; there are 60 and 200"
    )
    assert update(_sized(100, 200), method="recalibration").note is None
    assert update(_sized(60, 200), method="in_the_large").note is None


def test_isotonic_on_sixty_events_is_refused() -> None:
    with pytest.raises(CannotUpdate, match="at least 500 events and 500 non-events; there are 60 and 200"):
        update(_sized(60, 200), method="isotonic")


def test_the_closed_test_steps_down_to_what_is_offered_and_says_so() -> None:
    """35 events allow a shift but no slope; 12 allow nothing."""
    rng = np.random.default_rng(1)
    lp = rng.normal(-1.5, 2.0, 400)
    y = (rng.random(400) < special.expit(-1.5 + 0.15 * lp)) * 1.0
    keep = np.sort(np.concatenate([np.flatnonzero(y == 1)[:35], np.flatnonzero(y == 0)[:150]]))
    sample = Sample(y[keep], special.expit(lp[keep]))
    assert closed_test(sample).chosen == "recalibration"
    found = update(sample)
    assert found.method == "in_the_large"
    assert found.reason is not None
    assert "recalibration needs at least 50 events" in found.reason
    fewer = sample.take(np.concatenate([np.flatnonzero(sample.outcome == 1)[:12], np.flatnonzero(sample.outcome == 0)]))
    assert update(fewer).method == "none"


def test_a_refit_needs_as_many_patients_as_a_new_model() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(4, 3000))
    y = (rng.random(3000) < special.expit(-1 + x.sum(axis=0) * 0.5)) * 1.0
    large = Sample(y, special.expit(-1 + 0.5 * x[0]), {f"x{i}": column for i, column in enumerate(x)})
    assert "refit" not in updating.not_offered(large)
    assert update(large).method == "refit"
    few = large.take(slice(0, 150))
    assert "as a new model would" in updating.not_offered(few)["refit"]
    found = update(few)
    assert (closed_test(few).chosen, found.method) == ("refit", "in_the_large")
    # Many rows of few patients are few patients.
    assert "refit" in updating.not_offered(replace(large, patient=np.arange(3000) // 30))
    assert updating.not_offered(replace(large, predictors={}))["refit"] == "a refit needs predictors, and none is named"


def test_risks_that_rank_no_better_than_chance_still_say_what_a_refit_needs() -> None:
    rng = np.random.default_rng(5)
    y = np.repeat([0.0, 1.0], 100)
    sample = Sample(y, np.where(y > 0, 0.2, 0.4) + rng.random(200) / 100, {"x": rng.normal(size=200)})
    assert "as a new model would" in updating.not_offered(sample)["refit"]


def test_a_risk_that_runs_backwards_is_not_recalibrated() -> None:
    rng = np.random.default_rng(3)
    lp = rng.normal(size=400)
    sample = Sample((rng.random(400) < special.expit(-lp)) * 1.0, special.expit(lp))
    found = update(sample)
    assert found.backwards
    assert found.method == "none"
    assert found.reason is not None
    assert "runs backwards" in found.reason
    with pytest.raises(RunsBackwards):
        update(sample, method="recalibration")
    crossed = updating.cross_fit(sample, lambda rows: update(rows, method="recalibration"), np.arange(400) % 4)
    assert crossed.methods == ("none",) * 4
    assert crossed.updates[0].reason is not None


def test_fits_that_separate_are_not_offered() -> None:
    rng = np.random.default_rng(6)
    lp = rng.normal(size=120)
    y = (rng.random(120) < special.expit(1 + lp)) * 1.0
    # A column that only events have: no finite coefficient, though the two classes overlap.
    mark = np.where((y == 1) & (rng.random(120) < 0.3), 1.0, 0.0)
    sample = Sample(y, special.expit(lp), {"mark": mark})
    test = closed_test(sample)
    assert (test.rank, test.kept) == (2, ())
    assert test.reason is not None
    assert "separate" in test.reason
    assert update(sample).method in ("in_the_large", "recalibration")
    with pytest.raises(CannotUpdate, match="separate"):
        update(sample, method="refit", forbidden={})
    apart = Sample(np.repeat([0.0, 1.0], 60), np.concatenate([rng.uniform(0.1, 0.4, 60), rng.uniform(0.5, 0.9, 60)]))
    assert closed_test(apart).rank == 1
    with pytest.raises(CannotUpdate, match="no finite maximum"):
        update(apart, method="recalibration")
    same = Sample(np.zeros(60), np.full(60, 0.2), {"x": np.arange(60.0)})
    assert (closed_test(same).chosen, closed_test(same).reason) == ("none", "all outcomes are the same")
    assert update(same).method == "none"


def test_equal_risks_have_no_slope() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=400)
    y = (rng.random(400) < special.expit(x)) * 1.0
    only = closed_test(Sample(y, np.full(400, 0.2)))
    assert (only.rank, only.chosen) == (1, "in_the_large")
    test = closed_test(Sample(y, np.full(400, 0.2), {"x": x}))
    assert (test.rank, test.chosen) == (2, "refit")
    found = update(Sample(y, np.full(400, 0.2), {"x": x}))
    assert found.method == "refit"
    assert abs(found.apply(np.full(400, 0.2), {"x": x}).mean() - y.mean()) < 1e-9


def test_few_patients_cannot_carry_the_predictors_of_many_rows() -> None:
    rng = np.random.default_rng(8)
    lp = rng.normal(size=200)
    x = {f"x{i}": rng.normal(size=200) for i in range(6)}
    sample = Sample((rng.random(200) < special.expit(lp)) * 1.0, special.expit(lp), x, np.arange(200) % 7)
    test = closed_test(sample)
    assert test.rank == 2
    assert test.reason is not None


def test_beta_below_zero_is_refused_for_recalibration() -> None:
    [case] = [one for one in CASES if one.id.endswith("small_sample_keeps_the_model")]
    with pytest.raises(CannotUpdate, match="Use recalibration"):
        update(_sample(case), method="beta", forbidden={})


def test_an_unknown_method_and_a_missing_predictor_are_refused() -> None:
    with pytest.raises(ValueError, match="closed or one of"):
        update(_sized(30, 30), method="platt")
    refit = Update("refit", {"columns": ["age"], "coefficients": [0.0, 1.0, 0.1]}, (-1.0, 1.0))
    with pytest.raises(CannotUpdate, match="age"):
        refit.apply(np.array([0.2]))
    assert refit.beyond(np.array([0.1, 0.5, 0.9])) == 2


# ---- isotonic steps --------------------------------------------------------------------------------------------------


def test_isotonic_steps_rest_on_eleven_patients_and_end_at_no_patients_risk() -> None:
    rng = np.random.default_rng(9)
    lp = rng.normal(size=2400)
    sample = Sample((rng.random(2400) < special.expit(0.7 * lp)) * 1.0, special.expit(lp))
    plain = isotonic.pooled(sample.outcome, sample.risk)
    inside = np.searchsorted(plain.first, sample.risk, side="right") - 1
    assert np.bincount(inside).min() < updating.FEWEST_PATIENTS  # as it comes, steps of few patients
    found = update(sample, method="isotonic")
    x, y = np.array(found.parameters["x"]), np.array(found.parameters["y"])
    assert np.all(np.diff(x) >= 0)
    assert np.all(np.diff(y) >= 0)
    assert not np.isin(x, sample.risk).any()
    merged = isotonic.merged(plain, sample.risk, sample.clusters, fewest=11)
    inside = np.searchsorted(merged.first, sample.risk, side="right") - 1
    assert np.bincount(inside).min() >= 11
    # Merging keeps the mean: what is joined is averaged by its rows.
    assert float(merged.share @ merged.weight) == pytest.approx(sample.outcome.sum())
    risk = found.apply(sample.risk)
    assert delong(sample.outcome, risk).auc != delong(sample.outcome, sample.risk).auc  # ties: the one that changes it
    # Rows of one patient are one patient.
    few = isotonic.merged(plain, sample.risk, np.zeros(2400, dtype=np.int64), fewest=11)
    assert few.share.size == 1


def test_between_steps_is_linear_and_outside_flat() -> None:
    x, y = np.array([0.2, 0.4, 0.4, 0.6]), np.array([0.1, 0.1, 0.5, 0.9])
    at = isotonic.between(x, y, np.array([0.0, 0.3, 0.4, 0.5, 0.6, 1.0]))
    assert at.tolist() == pytest.approx([0.1, 0.1, 0.5, 0.7, 0.9, 0.9])
    assert isotonic.blurred(np.array([0.0, 0.123456, 1.0])).tolist() == [0.0, 0.1235, 1.0]


# ---- folds -----------------------------------------------------------------------------------------------------------


@given(st.integers(10, 60), st.integers(2, 10), st.integers(0, 100))
def test_folds_hold_whole_patients_and_differ_by_one(patients: int, folds: int, seed: int) -> None:
    patient = np.random.default_rng(seed).integers(0, patients, 4 * patients)
    units = np.unique(patient).size
    if units < folds:
        return
    fold = updating.folds_of_patients(patient, folds=folds, seed=seed)
    sizes = np.bincount([fold[patient == one][0] for one in np.unique(patient)], minlength=folds)
    assert all(np.unique(fold[patient == one]).size == 1 for one in np.unique(patient))
    assert sizes.max() - sizes.min() <= 1
    order = np.random.default_rng(seed).permutation(patient.size)
    assert np.array_equal(updating.folds_of_patients(patient[order], folds=folds, seed=seed), fold[order])
    with pytest.raises(ValueError, match="number of patients"):
        updating.folds_of_patients(patient, folds=units + 1)


def test_a_fold_that_holds_everyone_keeps_its_risks() -> None:
    sample = _sized(30, 30)
    found = updating.cross_fit(sample, update, np.zeros(60, dtype=np.int64))
    assert np.array_equal(found.risk, sample.risk)
    assert found.updates[0].reason == "there are no rows to update on"
    assert found.updates[0].beyond(sample.risk) == 0
