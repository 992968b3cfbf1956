"""The metrics of risk prediction: hand-worked cases, R's values, and which interval each metric is given."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import special

from tests.support.cohorts import draw_cohort
from tests.support.oracles import Case, cases
from workup.estimate import Draws, Estimate, estimate, jackknife, replicate
from workup.metric import Metric
from workup.scores import Scores
from workup.stats import calibration, intervals, logistic, rank, smooth
from workup.stats.bootstrap import unit_counts
from workup.tasks.risk import metrics as risk
from workup.tasks.risk.cards import CARDS
from workup.tasks.risk.panels import decision_curve, panels

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
def test_value_and_interval_of_the_distances_come_from_one_curve(case: Case) -> None:
    """The point is the spline's, as every replicate's is: loess gives no figure, and no reason excuses one."""
    scores = Scores.of({"outcome": case.array("y"), "risk": case.array("p")})
    found = _estimates(scores)
    y, p, w = scores["outcome"], scores["risk"], np.ones(len(scores))
    lp = calibration.logit(p)
    design = smooth.spline_basis(lp, smooth.knots(lp, w))
    fitted = special.expit(design @ logistic.fit(design, y, w[None, :]).coefficients[0])
    gap = np.sort(np.abs(fitted - p))
    by_hand = {"ici": gap.mean(), "emax": gap[-1]}
    for name in ("ici", "e50", "e90", "emax"):
        one = found[name]
        assert one.value == pytest.approx(by_hand.get(name, one.value), rel=1e-9)
        assert one.low is not None and one.high is not None
        assert one.low <= one.value <= one.high
        assert one.value != case.near(f"{ {'ici': 'ICI'}.get(name, name.capitalize()) }_loess")


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
    assert sorted(made) == sorted(CARDS)
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
        "oe_ratio": calibration.oe_interval(y, p, w, patient)[0],
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


@pytest.mark.parametrize("n", [300, 5_001])
def test_a_slice_bends_where_the_whole_study_does(n: int) -> None:
    whole = draw_cohort(6, n)
    ici = risk.calibration_distances(risk.Smoother.of(whole))[0]
    part = whole.take(np.arange(200))
    [found] = estimate(part, [ici], draws=DRAWS)
    assert found.value == pytest.approx(ici.value(part))
    own = risk.calibration_distances(risk.Smoother.of(part))[0]
    assert found.value != pytest.approx(own.value(part), rel=1e-6)


# ---- observed over expected ------------------------------------------------------------------------------------------


def test_the_customary_interval_of_oe_is_an_option_and_says_so() -> None:
    scores = draw_cohort(1, 150)
    y, p = scores["outcome"], scores["risk"]
    [fixed] = [metric for metric in risk.calibration_metrics(expected="fixed") if metric.name == "oe_ratio"]
    [found] = estimate(scores, [fixed], draws=DRAWS)
    assert [found.low, found.high] == pytest.approx(
        list(calibration.oe_interval_expected_fixed(y.sum(), p.sum(), 150)[0])
    )
    assert found.method == "log scale, expected events taken as fixed"
    [pair] = estimate(scores, [_named(scores)["oe_ratio"]], draws=DRAWS)
    assert pair.method == "log scale"
    assert pair.high - pair.low < found.high - found.low


def test_events_alone_do_not_make_an_observed_over_expected_certain() -> None:
    oe = next(metric for metric in risk.calibration_metrics() if metric.name == "oe_ratio")
    assert oe.interval is not None
    alone = Scores.of({"outcome": [1] * 10, "risk": [0.4] * 10})
    found = oe.interval(alone, 0.95)
    assert (found.low, found.high) == pytest.approx((0.7224672 * 2.5, 2.5), abs=1e-6)  # Wilson's 10 of 10
    assert found.se is not None and found.se > 0.1
    repeated = Scores.of({"outcome": [1] * 10, "risk": [0.4] * 10}, patient=[0, 1] * 5)
    assert oe.interval(repeated, 0.95).status == "insufficient"


# ---- risks of 0 and 1 ------------------------------------------------------------------------------------------------


def _guesses(seed: int = 1, n: int = 1_000, sure: float = 0.07) -> Scores:
    """Guesses of the kind people make: tenths, and now and then a certainty that is sometimes wrong."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-0.3, 1.2, n)
    outcome = rng.random(n) < special.expit(log_odds)
    guess = np.clip(special.expit(1.2 * log_odds + rng.normal(0, 0.7, n)).round(1), 0.1, 0.9)
    certain = rng.random(n) < sure
    return Scores.of({"outcome": outcome, "risk": np.where(certain, guess > 0.5, guess)})


def test_a_slope_that_risks_of_0_and_1_decide_is_shown_without_them_too() -> None:
    scores = _guesses()
    found = _estimates(scores)["calibration_slope"]
    inside = scores.take((scores["risk"] > 0) & (scores["risk"] < 1))
    without = _estimates(inside)["calibration_slope"]
    assert abs(without.value - found.value) > 0.5 * found.se
    assert f"without these rows it is {without.value:.3g} ({without.low:.3g} to {without.high:.3g})" in found.reason
    assert without.reason is None
    table = panels(scores, risk.Smoother.of(scores))["slope_without_ends"]
    assert table["rows_at_an_end"] == len(scores) - len(inside)
    assert table["moved_in_se"] == pytest.approx(abs(without.value - found.value) / found.se)
    assert [table["all_rows"]["value"], table["without"]["value"]] == pytest.approx([found.value, without.value])
    assert table["without"]["low"] == pytest.approx(without.low)


def test_a_slope_that_they_do_not_move_is_left_alone() -> None:
    """A single certain risk among many, and right: nothing to warn of."""
    scores = draw_cohort(3, 3_000)
    risks, outcome = scores["risk"].copy(), scores["outcome"].copy()
    sure = np.argmin(risks)
    risks[sure], outcome[sure] = 0.0, 0.0
    scores = Scores.of({"outcome": outcome, "risk": risks})
    assert _estimates(scores)["calibration_slope"].reason is None
    assert "slope_without_ends" not in panels(scores, risk.Smoother.of(scores))


def test_calibration_in_the_large_hardly_asks_how_near_to_the_end_but_says_so_where_it_does() -> None:
    scores = _guesses()
    y, p, w = scores["outcome"], scores["risk"], scores.base_weight
    near, nearer = (calibration.in_the_large(y, calibration.logit(p, clip=c), w) for c in (1e-6, 1e-9))
    assert abs(near.value - nearer.value) < 0.01 * near.se
    assert _estimates(scores)["calibration_in_the_large"].reason is None
    labels = Scores.of({"outcome": y, "risk": p > 0.5})
    assert "decides this figure" in str(_estimates(labels)["calibration_in_the_large"].reason)


@pytest.mark.parametrize("clip", [1e-3, 1e-9])
def test_no_constant_decides_the_curve_or_its_distances(clip: float, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = _guesses()
    before = {name: one.value for name, one in _estimates(scores).items() if name in smooth.Distances._fields}
    curve = panels(scores, risk.Smoother.of(scores))["calibration_curve"]
    fresh = Scores.of(dict(scores.values))
    monkeypatch.setattr(calibration, "CLIP", clip)
    after = {name: one.value for name, one in _estimates(fresh).items() if name in smooth.Distances._fields}
    assert after == pytest.approx(before, rel=1e-12)
    again = panels(fresh, risk.Smoother.of(fresh))["calibration_curve"]
    for one, other in zip(curve["spline"], again["spline"], strict=True):
        assert other == pytest.approx(one, rel=1e-12)


def test_certain_rows_are_held_against_their_own_share() -> None:
    """Twelve events among rows of "risk 0" are 12 % each such row is wrong by, and they do not bend the curve."""
    plain = draw_cohort(4, 400)
    inside = risk.calibration_distances(risk.Smoother.of(plain))
    sure = np.repeat([0.0, 1.0], [100, 50])
    happened = np.concatenate([np.arange(100) < 12, np.arange(50) < 45]).astype(float)
    scores = Scores.of(
        {
            "outcome": np.concatenate([plain["outcome"], happened]),
            "risk": np.concatenate([plain["risk"], sure]),
        }
    )
    found = _estimates(scores)
    gaps = 400 * inside[0].value(plain) + 100 * 0.12 + 50 * 0.10
    assert found["ici"].value == pytest.approx(gaps / 550, rel=1e-9)
    curve = panels(scores, risk.Smoother.of(scores))["calibration_curve"]
    ends = [(row["risk"], row["observed"], row["n"], row["events"]) for row in curve["ends"]]
    assert ends == [(0.0, 0.12, 100, 12), (1.0, 0.90, 50, 45)]
    assert [curve["ends"][0]["low"], curve["ends"][0]["high"]] == pytest.approx(list(intervals.wilson(0.12, 100)))
    alone = panels(plain, risk.Smoother.of(plain))["calibration_curve"]["spline"]
    assert [row["observed"] for row in curve["spline"]] == pytest.approx([row["observed"] for row in alone], rel=1e-9)


def test_tenths_keep_equal_risks_together() -> None:
    """Sorted by outcome within a risk, a tenth of "risk 0" rows would hold no event and the next one all of them."""
    scores = Scores.of({"outcome": np.arange(200) % 5 == 0, "risk": np.repeat([0.0, 0.3], 100)})
    ordered = scores.take(np.lexsort((scores["outcome"], scores["risk"])))
    rug = panels(ordered, risk.Smoother.of(ordered))["calibration_curve"]["rug"]
    assert [(row["risk"], row["observed"], row["n"]) for row in rug] == [
        (0.0, 0.2, 100),
        (pytest.approx(0.3), pytest.approx(0.2), 100),
    ]


# ---- by chance -------------------------------------------------------------------------------------------------------


def test_the_distances_expected_by_chance_are_those_of_a_perfect_model() -> None:
    """By brute force: outcomes drawn from the risks and scored as any cohort is."""
    rng = np.random.default_rng(8)
    risks = draw_cohort(8, 500)["risk"]
    scores = Scores.of({"outcome": rng.random(500) < risks, "risk": risks})
    smoother = risk.Smoother.of(scores)
    chance = panels(scores, smoother, seed=4)["calibration_curve"]["by_chance"]
    distances = risk.calibration_distances(smoother)
    seen = []
    for _ in range(400):
        again = Scores.of({"outcome": rng.random(500) < risks, "risk": risks})
        seen.append([metric.value(again) for metric in distances])
    for metric, values in zip(distances, np.array(seen).T, strict=True):
        error = values.std() / np.sqrt(400) + values.std() / np.sqrt(chance["draws"])
        assert chance[metric.name]["mean"] == pytest.approx(values.mean(), abs=4 * error), metric.name
        assert chance[metric.name]["p95"] == pytest.approx(np.quantile(values, 0.95), rel=0.15), metric.name
    assert chance["fitted"] == chance["draws"]
    assert chance == panels(scores, smoother, seed=4)["calibration_curve"]["by_chance"]
    assert chance != panels(scores, smoother, seed=5)["calibration_curve"]["by_chance"]


def test_patients_who_repeat_give_chance_more_room() -> None:
    """Rows of one patient that share their fate are fewer than they look; drawn apart, chance would seem too small."""
    alike, apart = (draw_cohort(5, 1_000, patients=100, spread=spread) for spread in (2.5, 0.0))
    found = [panels(one, risk.Smoother.of(one))["calibration_curve"]["by_chance"] for one in (alike, apart)]
    assert found[0]["within_patient_correlation"] > 0.1 > found[1]["within_patient_correlation"]
    assert found[0]["ici"]["mean"] > 1.2 * found[1]["ici"]["mean"]
    single = draw_cohort(5, 300)
    assert (
        panels(single, risk.Smoother.of(single))["calibration_curve"]["by_chance"]["within_patient_correlation"] is None
    )


def test_without_a_curve_there_is_no_chance_of_one() -> None:
    few = draw_cohort(3, 25, shift=-2.0)
    assert "by_chance" not in panels(few, risk.Smoother.of(few)).get("calibration_curve", {})


def test_loess_is_drawn_on_request_and_changes_no_figure() -> None:
    scores = draw_cohort(2, 300)
    plain, both = (panels(scores, risk.Smoother.of(scores), loess=loess) for loess in (False, True))
    assert "loess" not in plain["calibration_curve"]
    thin = both["calibration_curve"].pop("loess")
    assert len(thin) == len(both["calibration_curve"]["spline"])
    assert plain == both


def test_the_high_end_of_a_distance_is_no_lower_than_that_of_its_resamples() -> None:
    """BCa corrects for the upward bias at both ends, and a limit on the ICI would be met too easily."""
    scores = draw_cohort(12, 400)
    ici = _named(scores)["ici"]
    [found] = estimate(scores, [ici], draws=DRAWS)
    resamples = replicate(scores, [ici], draws=DRAWS)[0, 0]
    assert found.high >= np.quantile(resamples, 0.97)
    assert "high end no lower than the percentile's" in found.method
    [brier] = estimate(scores, [_named(scores)["brier"]], draws=DRAWS)
    assert "percentile" not in brier.method
