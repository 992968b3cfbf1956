"""The metrics of risk prediction: hand-worked cases, R's values, and which interval each metric is given."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from cohorts import draw_cohort
from oracles import Case, cases
from workup.estimate import Draws, Estimate, estimate, jackknife, replicate
from workup.metric import Metric
from workup.scores import Scores
from workup.stats import calibration, intervals, rank
from workup.stats.bootstrap import unit_counts
from workup.tasks.risk import metrics as risk
from workup.tasks.risk.panels import decision_curve

DRAWS = Draws(seed=3, replicates=200)


def _named(scores: Scores, *thresholds: float) -> dict[str, Metric]:
    found = risk.risk_metrics(thresholds=thresholds, smoother=risk.Smoother.of(scores), also=risk.ON_REQUEST)
    return {metric.name: metric for metric in found}


def _estimates(scores: Scores, *thresholds: float) -> dict[str, Estimate]:
    found = estimate(scores, list(_named(scores, *thresholds).values()), draws=DRAWS)
    return {one.metric: one for one in found}


# ---- against R -------------------------------------------------------------------------------------------------------


@cases("calibration")
def test_brier_and_its_kin_meet_r(case: Case) -> None:
    scores = Scores.of({"outcome": case.array("y"), "risk": case.array("p")})
    named = _named(scores)
    assert named["brier"].value(scores) == case.near("brier")
    assert named["scaled_brier"].value(scores) == case.near("scaled_brier")
    prevalence = scores["outcome"].mean()
    assert prevalence * (1 - prevalence) == case.near("brier_null")
    assert named["oe_ratio"].value(scores) == case.near("OE")
    assert named["calibration_slope"].value(scores) == case.near("slope")
    assert named["calibration_in_the_large"].value(scores) == case.near("citl_offset")
    # rms counts concordance over risks rounded to 0.002, so its C is near the AUC and not equal to it.
    assert named["auroc"].value(scores) == pytest.approx(case.expected["val_prob"]["C (ROC)"], abs=2e-3)


@cases("calibration")
def test_standard_error_of_brier_meets_r(case: Case) -> None:
    """A jackknife row by row gives R's sd/√n to the last digit; the bootstrap comes within its Monte-Carlo error."""
    scores = Scores.of({"outcome": case.array("y"), "risk": case.array("p")})
    brier, n = _named(scores)["brier"], len(scores)
    values = jackknife(scores, [brier], groups=n)[0]
    assert values.size == n
    assert np.sqrt((n - 1) / n * np.sum((values - values.mean()) ** 2)) == case.near("brier_se")
    [found] = estimate(scores, [brier], draws=Draws(seed=1, replicates=2_000))
    assert found.se == pytest.approx(case.expected["brier_se"], rel=0.06)


@cases("calibration")
def test_the_point_shown_is_loess_as_r_draws_it(case: Case) -> None:
    """The interval of ICI and its kin belongs to the spline, and the estimate says so; the point is R's loess."""
    scores = Scores.of({"outcome": case.array("y"), "risk": case.array("p")})
    found = _estimates(scores)
    for ours, theirs in (("ici", "ICI"), ("e50", "E50"), ("e90", "E90"), ("emax", "Emax")):
        assert found[ours].value == case.near(f"{theirs}_loess")
        spline = _named(scores)[ours].value(scores)
        assert f"the interval belongs to the spline estimate {spline:.6g}" in str(found[ours].reason)
        assert spline != pytest.approx(found[ours].value, rel=1e-3)


@cases("decision_curve")
def test_net_benefit_meets_r(case: Case) -> None:
    scores = Scores.of({"outcome": case.array("y"), "risk": case.array("p")})
    n = len(scores)
    everyone = Scores.of({"outcome": case.array("y"), "risk": np.ones(n)})
    no_one = Scores.of({"outcome": case.array("y"), "risk": np.zeros(n)})
    metrics = [_named(scores, t)["net_benefit"] for t in case.input["thresholds"]]
    assert [m.value(scores) for m in metrics] == case.near("net_benefit")
    assert [m.value(scores) for m in metrics] == case.near("dcurves")
    assert [m.value(everyone) for m in metrics] == case.near("treat_all")
    assert [m.value(no_one) for m in metrics] == case.near("treat_none")
    left_out = jackknife(scores, metrics, groups=n)
    se = np.sqrt((n - 1) / n * np.sum((left_out - left_out.mean(axis=1, keepdims=True)) ** 2, axis=1))
    assert (se * np.sqrt((n - 1) / n)).tolist() == case.near("se_nb")


@cases("decision_curve")
def test_decision_curve_meets_r(case: Case) -> None:
    y, p = case.array("y"), case.array("p")
    rows = {round(row["threshold"], 2): row for row in decision_curve(Scores.of({"outcome": y, "risk": p}))}
    chosen = [rows[t] for t in case.input["thresholds"]]
    assert [row["model"] for row in chosen] == case.near("net_benefit")
    assert [row["treat_all"] for row in chosen] == case.near("treat_all")
    assert [row["treat_none"] for row in chosen] == case.near("treat_none")
    assert [row["standardised"] for row in chosen] == case.near("standardized_nb")
    assert [row["avoided_per_100"] for row in chosen] == case.near("net_interventions_avoided_per100")


# ---- worked by hand --------------------------------------------------------------------------------------------------

# At 0.5: flagged rows are 0, 1, 2 and 3 (a risk at the threshold is flagged); 3 of the 4 events are among them.
HAND = Scores.of(
    {
        "outcome": [1, 1, 0, 1, 0, 1, 0, 0, 0, 0],
        "risk": [0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.2, 0.2, 0.1, 0.0],
    }
)
BY_HAND = {
    "sensitivity": (3 / 4, 3, 4),
    "specificity": (5 / 6, 5, 6),
    "ppv": (3 / 4, 3, 4),
    "npv": (5 / 6, 5, 6),
    "accuracy": (8 / 10, 8, 10),
    "alert_rate": (4 / 10, 4, 10),
    "f1": (6 / 8, 6, 8),
    "net_benefit": (0.3 - 0.1, 2, 10),
    "oe_ratio": (4 / 4.1, 4, 4.1),
    "brier": ((0.01 + 0.04 + 0.49 + 0.25 + 0.16 + 0.49 + 0.04 + 0.04 + 0.01) / 10, 1.53, 10),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_counts_worked_by_hand(name: str) -> None:
    value, numerator, denominator = BY_HAND[name]
    found = _estimates(HAND, 0.5)[name]
    assert found.value == pytest.approx(value, rel=1e-12)
    assert (found.numerator, found.denominator) == (pytest.approx(numerator), pytest.approx(denominator))
    assert (found.n_patients, found.n_rows, found.n_events) == (10, 10, 4)


def test_ranks_worked_by_hand() -> None:
    """Events at 0.9, 0.8, 0.5 and 0.3 beat 6, 6, 5 and 4 of the six others; precision at them is 1, 1, 3/4 and 4/6."""
    found = _estimates(HAND, 0.5)
    assert found["auroc"].value == pytest.approx(21 / 24, rel=1e-12)
    assert found["auprc"].value == pytest.approx((1 + 1 + 3 / 4 + 4 / 6) / 4, rel=1e-12)


def test_expected_calibration_error_worked_by_hand() -> None:
    """One row or two per bin of width 0.1; a risk of 0.2 stands in the third bin, whose two rows have no event."""
    gaps = [0.1, 0.2, -0.7, 0.5, -0.4, 0.7, -0.4, -0.1, 0.0]
    assert _named(HAND)["ece"].value(HAND) == pytest.approx(sum(map(abs, gaps)) / 10, rel=1e-12)


def test_thresholds_are_part_of_the_slice() -> None:
    found = estimate(HAND, risk.at_threshold(0.2) + risk.at_threshold(0.5), draws=DRAWS)
    sensitivity = {one.slice["threshold"]: one.value for one in found if one.metric == "sensitivity"}
    assert sensitivity == {0.2: 1.0, 0.5: 0.75}


def test_a_study_is_named_in_full() -> None:
    """Every metric that can be asked for by name is made, and none without a name."""
    made = [
        metric.name
        for metric in risk.risk_metrics(thresholds=[0.3], smoother=risk.Smoother.of(HAND), also=risk.ON_REQUEST)
    ]
    assert sorted(made) == sorted(risk.METRIC_NAMES)
    assert len(set(made)) == len(made)


def test_accuracy_f1_and_ece_only_on_request() -> None:
    names = [m.name for m in risk.risk_metrics(thresholds=[0.3], smoother=risk.Smoother.of(HAND))]
    assert not {"accuracy", "f1", "ece"} & set(names)
    some = [m.name for m in risk.risk_metrics(thresholds=[0.3], smoother=risk.Smoother.of(HAND), also=["f1"])]
    assert sorted({*some} - {*names}) == ["f1"]
    assert "sensitivity" not in [m.name for m in risk.risk_metrics(thresholds=[], smoother=risk.Smoother.of(HAND))]


@cases("calibration")
def test_nagelkerkes_r2_meets_rms(case: Case) -> None:
    scores = Scores.of({"outcome": case.array("y"), "risk": case.array("p")})
    assert _named(scores)["nagelkerke_r2"].value(scores) == case.near("nagelkerke_r2")


def test_nagelkerkes_r2_of_a_fitted_model_meets_statsmodels() -> None:
    """At the fitted risks the likelihood is the model's own, so R² follows from statsmodels' two likelihoods."""
    scores = draw_cohort(8, 300)
    fit = sm.Logit(scores["outcome"], sm.add_constant(calibration.logit(scores["risk"]))).fit(disp=0)
    fitted = Scores.of({"outcome": scores["outcome"], "risk": fit.predict()})
    top, bottom = 1 - np.exp(2 * (fit.llnull - fit.llf) / 300), 1 - np.exp(2 * fit.llnull / 300)
    assert _named(fitted)["nagelkerke_r2"].value(fitted) == pytest.approx(top / bottom, rel=1e-9)


@pytest.mark.parametrize(("event", "at"), [(1, 0.0), (0, 1.0)])
def test_an_outcome_that_its_risk_called_impossible_leaves_no_r2(event: int, at: float) -> None:
    """No clip: a constant would decide the figure."""
    scores = draw_cohort(9, 200)
    y, p = scores["outcome"].copy(), scores["risk"].copy()
    y[0], p[0] = event, at
    [found] = estimate(Scores.of({"outcome": y, "risk": p}), [_named(scores)["nagelkerke_r2"]], draws=DRAWS)
    assert (found.value, found.status) == (None, "undefined")
    assert "exactly 0" in str(found.reason)
    y[0] = 1 - event  # a certain risk that was right costs nothing
    [found] = estimate(Scores.of({"outcome": y, "risk": p}), [_named(scores)["nagelkerke_r2"]], draws=DRAWS)
    assert found.status == "ok"


# ---- which interval --------------------------------------------------------------------------------------------------


def test_independent_rows_get_the_textbook_intervals() -> None:
    scores = draw_cohort(1, 150)
    y, p, lp = scores["outcome"], scores["risk"], calibration.logit(scores["risk"])
    found = _estimates(scores, 0.3)
    hits = int(np.sum(y * (p >= 0.3)))
    assert [found["sensitivity"].low, found["sensitivity"].high] == pytest.approx(
        list(intervals.wilson(hits / y.sum(), y.sum()))
    )
    assert [found["auroc"].low, found["auroc"].high] == pytest.approx(list(rank.auc_interval(rank.delong(y, p))))
    slope = calibration.slope(y, lp, np.ones(150))
    assert [found["calibration_slope"].low, found["calibration_slope"].high] == pytest.approx(
        list(calibration.slope_profile(y, lp, slope))
    )
    assert found["calibration_slope"].se == pytest.approx(slope.se)
    assert {name: one.method for name, one in found.items() if "bootstrap" not in one.method} == {
        "auroc": "DeLong, logit scale",
        "calibration_slope": "profile likelihood",
        "calibration_in_the_large": "profile likelihood",
        "oe_ratio": "log scale",
        "sensitivity": "Wilson",
        "specificity": "Wilson",
        "ppv": "Wilson",
        "npv": "Wilson",
        "accuracy": "Wilson",
        "alert_rate": "Wilson",
    }


@pytest.mark.parametrize("weighted", [False, True])
def test_repeated_patients_get_the_clustered_intervals(weighted: bool) -> None:
    scores = draw_cohort(2, 300, patients=90, spread=1.0, weighted=weighted)
    y, p, w, patient = scores["outcome"], scores["risk"], scores.base_weight, scores.patient
    lp = calibration.logit(p)
    found = _estimates(scores, 0.3)
    assert all(one.status == "ok" for one in found.values())
    clustered = rank.delong(y, p, cluster=patient, weight=scores.weight)
    expected = {
        "auroc": rank.auc_interval(clustered, clustered=True),
        "calibration_slope": calibration.slope_robust(y, lp, w, patient)[0],
        "calibration_in_the_large": calibration.in_the_large_robust(y, lp, w, patient)[0],
        "oe_ratio": calibration.oe_interval_clustered(y, p, w, patient)[0],
        "sensitivity": intervals.effective_ends(intervals.clustered_share(y * (p >= 0.3), y, patient, w)),
    }
    for name, ends in expected.items():
        assert [found[name].low, found[name].high] == pytest.approx(list(ends), rel=1e-9)
    assert found["sensitivity"].method == "exact on effective rows, monotone"
    share = intervals.clustered_share(y * (p >= 0.3), y, patient, w)
    seen = f"(seen {share.design_effect:.2f} over {share.clusters} clusters, assumed ICC 0.33)"
    assert found["sensitivity"].reason == f"design effect {share.weighed_effect:.2f} {seen}"
    assert found["calibration_slope"].method == "cluster-robust (CR2, Satterthwaite)"


def test_a_handful_of_repeated_patients_gets_shares_with_a_warning_and_no_other_interval() -> None:
    scores = draw_cohort(4, 200, patients=6)
    for one in _estimates(scores, 0.3).values():
        assert one.value is not None
        if one.method == "exact on effective rows, monotone":
            assert one.low is not None and one.high is not None and one.high - one.low > 0.1
            assert "only 6 clusters: read with care" in str(one.reason)
            continue
        assert (one.low, one.high, one.status) == (None, None, "insufficient")
        assert "patients" in str(one.reason)


def test_resamples_are_of_patients() -> None:
    scores = draw_cohort(5, 120, patients=40)
    brier = _named(scores)["brier"]
    found = replicate(scores, [brier], draws=Draws(seed=9, replicates=16))[0, 0]
    counts = np.concatenate(list(unit_counts(scores.n_patients, 16, seed=9)))
    error = (scores["outcome"] - scores["risk"]) ** 2
    for b in range(16):
        drawn = np.repeat(np.unique(scores.patient), counts[b].astype(int))
        again = np.concatenate([np.flatnonzero(scores.patient == patient) for patient in drawn])
        assert found[b] == pytest.approx(error[again].mean(), rel=1e-12)


def test_the_smoother_is_chosen_by_the_whole_study() -> None:
    small, large = draw_cohort(6, 4_999), draw_cohort(6, 5_000)
    assert risk.Smoother.of(small).kind == "loess"
    chosen = risk.Smoother.of(large)
    assert chosen.kind == "spline"
    ici = risk.calibration_distances(chosen)[0]
    [part] = estimate(large.take(np.arange(100)), [ici], draws=DRAWS)
    assert part.reason is None  # the slice follows the study: its point is the spline's own
    assert part.value == pytest.approx(ici.value(large.take(np.arange(100))))


def test_events_alone_do_not_make_an_observed_over_expected_certain() -> None:
    oe = next(metric for metric in risk.calibration_metrics() if metric.name == "oe_ratio")
    assert oe.interval is not None
    alone = Scores.of({"outcome": [1] * 10, "risk": [0.4] * 10})
    found = oe.interval(alone, 0.95)
    assert (found.low, found.high) == pytest.approx((0.7224672 * 2.5, 2.5), abs=1e-6)  # Wilson's 10 of 10
    assert found.se is not None and found.se > 0.1
    repeated = Scores.of({"outcome": [1] * 10, "risk": [0.4] * 10}, patient=[0, 1] * 5)
    assert oe.interval(repeated, 0.95).status == "insufficient"
