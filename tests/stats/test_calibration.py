"""Calibration slope, calibration-in-the-large and O/E: against R, statsmodels and row-by-row fits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import optimize, special

from tests.support.cohorts import draw_cohort
from tests.support.oracles import Case, cases
from workup.stats import bootstrap, calibration, intervals, logistic, refits, smooth

# ---- against R -------------------------------------------------------------------------------------------------------


@cases("calibration")
def test_slope_and_intercepts_meet_r(case: Case) -> None:
    y, lp = case.array("y"), calibration.logit(case.array("p"))
    w = np.ones(y.size)
    slope, joint = calibration.slope(y, lp, w), calibration.joint_intercept(y, lp, w)
    large = calibration.in_the_large(y, lp, w)
    assert (slope.value, slope.se) == (case.near("slope"), case.near("slope_se"))
    assert (joint.value, joint.se) == (case.near("intercept_joint"), case.near("intercept_joint_se"))
    assert (large.value, large.se) == (case.near("citl_offset"), case.near("citl_se"))
    assert large.value != pytest.approx(case.expected["intercept_joint"], abs=0.05)
    z = intervals.z_critical(0.95)
    assert [slope.value - z * slope.se, slope.value + z * slope.se] == case.near("slope_ci95_wald")
    assert [large.value - z * large.se, large.value + z * large.se] == case.near("citl_ci95_wald")


@cases("calibration")
def test_observed_over_expected_meets_r(case: Case) -> None:
    y, p = case.array("y"), case.array("p")
    """The customary interval, which takes the expected events as fixed."""
    ends, _ = calibration.oe_interval_expected_fixed(y.sum(), p.sum(), y.size)
    assert y.sum() / p.sum() == case.near("OE")
    assert list(ends) == case.near("OE_ci95_log")


@cases("calibration")
def test_spiegelhalters_z_meets_r(case: Case) -> None:
    y, p = case.array("y"), case.array("p")
    found = calibration.spiegelhalter(y, p)
    assert (found.statistic, found.p) == (case.near("spiegelhalter_z"), case.near("spiegelhalter_p"))
    assert found.statistic == pytest.approx(case.expected["val_prob"]["S:z"], rel=case.rel_tol)


def test_spiegelhalters_z_of_clusters_holds_its_level_where_the_plain_one_does_not() -> None:
    """Every row three times over: the plain test counts each error three times, the clustered one once."""
    rng = np.random.default_rng(5)
    plain, clustered = [], []
    for _ in range(800):
        p = special.expit(rng.normal(-1, 1, 150))
        y = (rng.random(150) < p).astype(float)
        many = np.repeat(np.arange(150), 3)
        plain.append(calibration.spiegelhalter(y[many], p[many]).p < 0.05)
        clustered.append(calibration.spiegelhalter(y[many], p[many], cluster=many).p < 0.05)
    assert np.mean(plain) > 0.15
    assert abs(np.mean(clustered) - 0.05) < 3 * np.sqrt(0.05 * 0.95 / 800)


def test_spiegelhalters_z_of_clusters_counts_weights_as_repeated_rows() -> None:
    rng = np.random.default_rng(6)
    p = rng.random(60)
    y, times, patient = (rng.random(60) < p).astype(float), rng.integers(1, 4, 60), rng.integers(0, 25, 60)
    many = np.repeat(np.arange(60), times)
    weighted = calibration.spiegelhalter(y, p, times.astype(float), patient)
    repeated = calibration.spiegelhalter(y[many], p[many], cluster=patient[many])
    assert weighted.statistic == pytest.approx(repeated.statistic, rel=1e-12)


@pytest.mark.parametrize("risk", [[0.0, 0.3], [0.5, 0.5], [0.0, 1.0]])
def test_spiegelhalters_z_is_not_a_number_where_nothing_can_be_tested(risk: list[float]) -> None:
    assert np.isnan(calibration.spiegelhalter(np.array([1.0, 0.0]), np.array(risk)).statistic)


@cases("calibration")
def test_likelihood_ratio_tests_meet_r(case: Case) -> None:
    """The deviance behind the profile intervals is R's: both recalibration tests follow from it."""
    y, p = case.array("y"), case.array("p")
    lp, w = calibration.logit(p), np.ones(y.size)
    both, constant = np.column_stack([w, lp]), w[:, None]
    free = logistic.deviance(logistic.fit(both, y, w[None, :]).coefficients[0], both, y, w)
    shifted = logistic.fit(constant, y, w[None, :], offset=lp).coefficients[0]
    offset = logistic.deviance(shifted, constant, y, w, offset=lp)
    as_given = logistic.deviance(np.zeros(1), constant, y, w, offset=lp)
    assert as_given - free == case.near("LR_recalibration_2df")
    assert intervals.chi2_p(as_given - free, 2) == case.near("LR_recalibration_p")
    assert as_given - offset == case.near("LR_intercept_1df")
    assert offset - free == case.near("LR_slope_given_intercept_1df")
    assert as_given / (2 * y.size) == case.near("logloss")


# ---- against statsmodels ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_fits_meet_statsmodels(seed: int, weighted: bool) -> None:
    scores = draw_cohort(seed, 180, weighted=weighted, slope=0.7, shift=0.4)
    y, lp, w = scores["outcome"], calibration.logit(scores["risk"]), scores.base_weight
    family = sm.families.Binomial()
    # frequency weights: statsmodels then treats them as ours are, as multiples of a row in the likelihood
    full = sm.GLM(y, sm.add_constant(lp), family=family, freq_weights=w).fit(tol=1e-14, maxiter=200)
    shift = sm.GLM(y, np.ones((180, 1)), family=family, offset=lp, freq_weights=w).fit(tol=1e-14, maxiter=200)
    slope, joint = calibration.slope(y, lp, w), calibration.joint_intercept(y, lp, w)
    large = calibration.in_the_large(y, lp, w)
    assert [joint.value, slope.value] == pytest.approx(full.params.tolist(), rel=1e-8)
    assert [joint.se, slope.se] == pytest.approx(full.bse.tolist(), rel=1e-7)
    assert [large.value, large.se] == pytest.approx([shift.params[0], shift.bse[0]], rel=1e-7)


def test_many_fits_at_once_meet_statsmodels() -> None:
    """A three-column design, a batch of weights and an offset, each fitted alone by statsmodels."""
    rng = np.random.default_rng(8)
    design = np.column_stack([np.ones(90), rng.normal(size=(90, 2)) * [1, 30]])
    offset, y = rng.normal(size=90), (rng.random(90) < 0.4).astype(float)
    weights = rng.integers(0, 4, (6, 90)).astype(float)
    found = logistic.fit(design, y, weights, offset=offset)
    for b, w in enumerate(weights):
        again = np.repeat(np.arange(90), w.astype(int))
        model = sm.GLM(y[again], design[again], family=sm.families.Binomial(), offset=offset[again])
        fitted = model.fit(tol=1e-14, maxiter=200)
        assert found.coefficients[b] == pytest.approx(fitted.params, rel=1e-7)
        assert found.inverse_information[b] == pytest.approx(fitted.cov_params(), rel=1e-6, abs=1e-12)
        assert logistic.deviance(found.coefficients[b], design, y, w, offset=offset) == pytest.approx(fitted.deviance)


def test_cells_of_events_equal_their_rows() -> None:
    """`outcome` may be a share of events per replicate: cells then give what their rows give."""
    rng = np.random.default_rng(12)
    x = np.repeat(np.linspace(-2, 2, 12), 20)
    y = (rng.random(240) < special.expit(x)).astype(float)
    weights = rng.integers(0, 3, (5, 240)).astype(float)
    mass = weights.reshape(5, 12, 20).sum(axis=2)
    share = (weights * y).reshape(5, 12, 20).sum(axis=2) / mass
    cells = logistic.fit(np.column_stack([np.ones(12), np.linspace(-2, 2, 12)]), share, mass)
    rows = logistic.fit(np.column_stack([np.ones(240), x]), y, weights)
    assert cells.coefficients == pytest.approx(rows.coefficients, rel=1e-9)
    assert cells.inverse_information == pytest.approx(rows.inverse_information, rel=1e-9)


# ---- no finite maximum -----------------------------------------------------------------------------------------------

UNDEFINED = {
    "separated": ([0, 0, 0, 1, 1, 1], [-3, -2, -1, 1, 2, 3], None),
    "separated, the wrong way round": ([1, 1, 1, 0, 0, 0], [-3, -2, -1, 1, 2, 3], None),
    "separated but for one tie": ([0, 0, 0, 1, 1, 1], [-2, -1, 0, 0, 1, 2], None),
    "only events": ([1, 1, 1], [-1, 0, 1], None),
    "no events": ([0, 0, 0], [-1, 0, 1], None),
    "one risk for all": ([0, 1, 0, 1], [0.4, 0.4, 0.4, 0.4], None),
    "one row": ([1], [0.3], None),
    "no weight": ([0, 1, 0, 1], [-1, 0, 1, 2], [0, 0, 0, 0]),
    "one class has no weight": ([0, 1, 0, 1], [-1, 0, 1, 2], [0, 1, 0, 1]),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_a_slope_that_does_not_exist_is_nan(name: str) -> None:
    y, lp, weight = UNDEFINED[name]
    outcome, odds = np.array(y, dtype=float), np.array(lp, dtype=float)
    w = np.ones(odds.size) if weight is None else np.array(weight, dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = calibration.slope(outcome, odds, w)
        replicates = refits.slope_replicates(outcome, odds, np.vstack([w, w]))
    assert np.isnan([found.value, found.se]).all()
    assert np.isnan(replicates).all()


@pytest.mark.parametrize("name", ["only events", "no events", "one row", "no weight", "one class has no weight"])
def test_a_calibration_in_the_large_that_does_not_exist_is_nan(name: str) -> None:
    y, lp, weight = UNDEFINED[name]
    outcome, odds = np.array(y, dtype=float), np.array(lp, dtype=float)
    w = np.ones(odds.size) if weight is None else np.array(weight, dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = calibration.in_the_large(outcome, odds, w)
        replicates = refits.in_the_large_replicates(outcome, odds, np.vstack([w, w]))
    assert np.isnan([found.value, found.se]).all()
    assert np.isnan(replicates).all()


@pytest.mark.parametrize(("false_alarms", "misses"), [(0.1, 0.2), (0.5, 0.05), (0.02, 0.6), (0.4, 0.01)])
def test_risks_of_exactly_0_and_1_have_a_calibration_in_the_large(false_alarms: float, misses: float) -> None:
    """A model that answers yes or no: its log odds are clipped, and the score equation still has one root."""
    rng = np.random.default_rng(1)
    y = (rng.random(400) < 0.3).astype(float)
    risk = np.where(y == 1, rng.random(400) > misses, rng.random(400) < false_alarms).astype(float)
    lp, w = calibration.logit(risk), np.ones(400)
    assert calibration.n_clipped(risk) == 400
    root = optimize.brentq(lambda a: float(np.sum(y - special.expit(lp + a))), -60, 60, xtol=1e-13)
    assert calibration.in_the_large(y, lp, w).value == pytest.approx(root, rel=1e-8)
    assert np.isfinite(calibration.slope(y, lp, w).value)


# ---- replicates ------------------------------------------------------------------------------------------------------


def _alone(y: np.ndarray, lp: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """Slope and calibration-in-the-large of the rows a replicate holds, repeated."""
    again = np.repeat(np.arange(y.size), counts.astype(int))
    one = np.ones(again.size)
    return calibration.slope(y[again], lp[again], one).value, calibration.in_the_large(y[again], lp[again], one).value


@pytest.mark.parametrize("expand", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_replicates_equal_fits_of_the_repeated_rows(seed: int, expand: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refits, "_EXPAND_ABOVE", 0 if expand else 10**12)
    scores = draw_cohort(seed, 150, digits=2)
    y, lp = scores["outcome"], calibration.logit(scores["risk"])
    weights = np.concatenate(list(bootstrap.unit_counts(150, 40, seed=seed)))
    slopes = refits.slope_replicates(y, lp, weights)
    larges = refits.in_the_large_replicates(y, lp, weights)
    expected = np.array([_alone(y, lp, counts) for counts in weights])
    one = np.ones(150)
    # 1e-5 of a standard error is far below what any interval shows; row by row the two are the same fit.
    share = 1e-5 if expand else 1e-9
    assert slopes == pytest.approx(expected[:, 0], abs=share * calibration.slope(y, lp, one).se)
    assert larges == pytest.approx(expected[:, 1], abs=share * calibration.in_the_large(y, lp, one).se)


@pytest.mark.parametrize(("n", "weighted"), [(60, False), (400, True), (3_000, False)])
def test_the_expansion_is_the_row_by_row_fit(n: int, weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = draw_cohort(n, n, weighted=weighted, patients=n // 3, spread=1.0, slope=1.6, shift=-0.5)
    y, lp = scores["outcome"], calibration.logit(scores["risk"])
    units, patient = np.unique(scores.patient, return_inverse=True)
    counts = np.concatenate(list(bootstrap.unit_counts(units.size, 60, seed=n)))
    weights = counts[:, patient] * scores.base_weight
    found = {}
    for limit in (0, 10**12):
        monkeypatch.setattr(refits, "_EXPAND_ABOVE", limit)
        found[limit] = refits.slope_replicates(y, lp, weights), refits.in_the_large_replicates(y, lp, weights)
    for expanded, exact in zip(found[0], found[10**12], strict=True):
        assert np.array_equal(np.isnan(expanded), np.isnan(exact))
        assert np.nanmax(np.abs(expanded - exact)) < 1e-5 * np.nanstd(exact)


def test_the_expansion_says_nan_where_a_resample_has_no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """No weight at all, only events, only the others, or rows that separate: NaN, as row by row, and no warning."""
    scores = draw_cohort(3, 80)
    y, lp = scores["outcome"], calibration.logit(scores["risk"])
    apart = (y == (lp > np.median(lp))).astype(float)
    weights = np.vstack([np.zeros(80), y, 1 - y, apart, np.ones(80)])
    monkeypatch.setattr(refits, "_EXPAND_ABOVE", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slopes = refits.slope_replicates(y, lp, weights)
        larges = refits.in_the_large_replicates(y, lp, weights)
    assert np.isnan(slopes).tolist() == [True, True, True, True, False]
    assert np.isnan(larges).tolist() == [True, True, True, False, False]


# ---- observed over expected, clustered -------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_clustered_oe_is_that_of_the_patients_totals(weighted: bool) -> None:
    scores = draw_cohort(5, 240, patients=50, spread=1.2, weighted=weighted)
    y, p, w, patient = scores["outcome"], scores["risk"], scores.base_weight, scores.patient
    ratio, share = np.sum(w * y) / np.sum(w * p), np.sum(w * y) / np.sum(w)
    totals = [np.sum((w * (y - share))[patient == unit]) for unit in np.unique(patient)]
    k = len(totals)
    se = np.sqrt(k / (k - 1) * np.sum(np.square(totals))) / np.sum(w * y)
    ends, log_se = calibration.oe_interval_expected_fixed_clustered(y, p, w, patient)
    assert log_se == pytest.approx(se, rel=1e-12)
    half = intervals.t_critical(0.95, k - 1) * se
    assert list(ends) == pytest.approx([ratio * np.exp(-half), ratio * np.exp(half)], rel=1e-12)


def test_clusters_of_one_row_give_the_plain_oe_interval() -> None:
    scores = draw_cohort(6, 200)
    y, p = scores["outcome"], scores["risk"]
    _, plain = calibration.oe_interval_expected_fixed(y.sum(), p.sum(), 200)
    _, clustered = calibration.oe_interval_expected_fixed_clustered(y, p, np.ones(200), np.arange(200))
    assert clustered == pytest.approx(plain * np.sqrt(200 / 199), rel=1e-12)


# ---- observed over expected, of the pair -----------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("patients", [None, 50])
def test_the_error_of_log_oe_is_the_jackknife_of_patients(patients: int | None, weighted: bool) -> None:
    """Leaving out one patient at a time moves O and E together; the delta method is the same to first order."""
    scores = draw_cohort(5, 400, patients=patients, spread=1.0, weighted=weighted)
    y, p, w, patient = scores["outcome"], scores["risk"], scores.base_weight, scores.patient
    ends, se = calibration.oe_interval(y, p, w, patient)
    left_out = []
    for unit in np.unique(patient):
        rest = patient != unit
        left_out.append(np.log(np.sum((w * y)[rest]) / np.sum((w * p)[rest])))
    k = len(left_out)
    assert se == pytest.approx(np.sqrt((k - 1) / k * np.sum((left_out - np.mean(left_out)) ** 2)), rel=0.03)
    ratio, half = np.sum(w * y) / np.sum(w * p), intervals.t_critical(0.95, k - 1) * se
    assert list(ends) == pytest.approx([ratio * np.exp(-half), ratio * np.exp(half)], rel=1e-12)


def test_the_error_of_log_oe_by_hand() -> None:
    """O = 2, E = 1.6 of four rows: y/O - p/E is 3/16, 5/16, -1/4, -1/4; their squares sum to 33/128."""
    y, p = np.array([1.0, 1.0, 0.0, 0.0]), np.array([0.5, 0.3, 0.4, 0.4])
    _, se = calibration.oe_interval(y, p, np.ones(4), np.arange(4))
    assert se == pytest.approx(np.sqrt(4 / 3 * 33 / 128), rel=1e-12)


def test_a_model_that_tells_patients_apart_has_a_surer_oe_than_the_customary_formula_says() -> None:
    scores = draw_cohort(9, 2_000)
    y, p = scores["outcome"], scores["risk"]
    _, pair = calibration.oe_interval(y, p, np.ones(2_000), scores.patient)
    _, customary = calibration.oe_interval_expected_fixed(y.sum(), p.sum(), 2_000)
    assert pair < 0.95 * customary
    # A risk that is the same for all varies with nobody: the two agree.
    _, flat = calibration.oe_interval(y, np.full(2_000, 0.3), np.ones(2_000), scores.patient)
    assert flat == pytest.approx(customary * np.sqrt(2_000 / 1_999), rel=1e-9)


def test_one_patient_has_no_interval_of_oe() -> None:
    ends, se = calibration.oe_interval(np.array([1.0, 0.0]), np.array([0.4, 0.4]), np.ones(2), np.zeros(2, dtype=int))
    assert np.isnan([*ends, se]).all()


@pytest.mark.parametrize("seed", range(4))
def test_where_a_fit_starts_decides_nothing(seed: int) -> None:
    """Small resamples under a spline of four bends, some of them all but separated: one maximum, or none."""
    scores = draw_cohort(seed, 60, digits=2)
    lp, y = calibration.logit(scores["risk"]), scores["outcome"]
    design = smooth.spline_basis(lp, smooth.knots(lp, np.ones(60)))
    weights = np.concatenate(list(bootstrap.unit_counts(60, 200, seed=seed)))
    near = logistic.fit(design, y, np.ones((1, 60))).coefficients[0]
    assert np.isfinite(near).all()
    zero, started = logistic.fit(design, y, weights), logistic.fit(design, y, weights, start=near)
    found = [special.expit(fits.coefficients @ design.T) for fits in (zero, started)]
    assert np.array_equal(np.isnan(found[0]), np.isnan(found[1]))
    assert found[0] == pytest.approx(found[1], abs=1e-7, nan_ok=True)
