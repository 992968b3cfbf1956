"""Metrics at a horizon: against R, the binary ones where no one is lost, and each way of going wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.followed_tables import followed_table
from tests.support.oracles import Case, cases
from workup.estimate import Draws, Estimate, estimate, replicate, slices_by
from workup.scores import Scores
from workup.stats.horizon_weights import HorizonWeights
from workup.stats.intervals import t_critical
from workup.stats.survival import NOBODY_FOLLOWED
from workup.tasks.risk.horizon.cards import CARDS
from workup.tasks.risk.horizon.censoring import COVARIATE, STRATUM, Censoring, Followed, Horizon
from workup.tasks.risk.horizon.metrics import Resampling, horizon_metrics
from workup.tasks.risk.metrics import Smoother, risk_metrics

YEAR = Horizon("365d", 365.0)
DRAWS = Draws(seed=3, replicates=200)


def followed(
    t: Any, status: Any, risks: dict[Horizon, Any], *, more: dict[str, Any] | None = None, **design: Any
) -> Followed:
    t, status = np.asarray(t, dtype=float), np.asarray(status, dtype=float)
    values = {"followup": t, "status": status, "row": np.arange(1.0, t.size + 1), **(more or {})}
    for horizon, risk in risks.items():
        values |= {horizon.risk: risk, horizon.outcome: HorizonWeights.of(t, status, horizon.days).outcome}
    found = Followed.of(values, **design)
    assert isinstance(found, Followed)
    return found


def of_case(case: Case) -> tuple[Followed, list[Horizon], list[dict[str, Any]]]:
    expected = case.expected if isinstance(case.expected, list) else [case.expected]
    horizons = [Horizon(f"{one['horizon']:g}d", float(one["horizon"])) for one in expected]
    risks = case.array("p").reshape(len(expected), -1)
    more = {}
    if "stratum" in case.input:
        more[STRATUM] = case.array("stratum")
    if "x" in case.input:
        more[f"{COVARIATE}000"] = case.array("x")
    scores = followed(
        case.input["time"],
        case.input["status"],
        dict(zip(horizons, risks, strict=True)),
        more=more,
        patient=case.input["patient"],
        weight=case.input["weight"],
    )
    return scores, horizons, expected


def by_name(scores: Scores, horizons: list[Horizon], **settings: Any) -> dict[tuple[Any, ...], Estimate]:
    metrics = horizon_metrics(scores, horizons, **settings)
    return {(e.metric, e.slice["horizon"], e.slice.get("threshold")): e for e in estimate(scores, metrics, draws=DRAWS)}


NAMES = {
    "auc": "auroc",
    "brier": "brier",
    "ipa": "scaled_brier",
    "oe": "oe_ratio",
    "observed_risk": "observed_risk",
    "calibration_slope": "calibration_slope",
    "calibration_in_the_large": "calibration_in_the_large",
    "uno_c": "c_index",
}


@cases("time_to_event")
def test_estimates_meet_r_in_value_and_error(case: Case) -> None:
    scores, horizons, expected = of_case(case)
    kind: Any = "strata" if "stratum" in case.input else "cox" if "x" in case.input else "marginal"
    censoring = Censoring(kind, kind, study=scores)
    thresholds = case.input["thresholds"]
    found = by_name(scores, horizons, thresholds=thresholds, also=("c_index",), censoring=censoring)
    for horizon, one in zip(horizons, expected, strict=True):
        lost = bool(np.isnan(scores[horizon.outcome]).any())
        for field, name in NAMES.items():
            if field not in one or (name, horizon.name, None) not in found:
                continue
            e = found[name, horizon.name, None]
            if one[field] is None:
                assert e.value is None and e.status == "undefined" and e.reason == NOBODY_FOLLOWED
                continue
            assert e.value == pytest.approx(one[field], rel=1e-6)
            error = one.get("log_oe_se_ij") if field == "oe" else one.get(f"{field}_se_ij")
            if error and e.se and lost and e.status == "ok":
                assert e.se == pytest.approx(error * (one["oe"] if field == "oe" else 1), rel=1e-5)
            loose = one.get(f"{field}_se_riskRegression")
            if loose and e.status == "ok" and lost:
                assert e.se == pytest.approx(loose, rel=2e-2)
        for row in one.get("decisions", ()):
            for name in ("sensitivity", "specificity", "ppv", "npv", "alert_rate", "net_benefit"):
                e = found[name, horizon.name, row["threshold"]]
                assert e.value == (None if row[name] is None else pytest.approx(row[name], rel=1e-6, abs=1e-12))


@cases("time_to_event")
def test_many_weights_at_once_are_the_values_of_reweighted_rows(case: Case) -> None:
    scores, horizons, _ = of_case(case)
    if "x" in case.input:
        pytest.skip("weights of a model are taken as known")
    kind: Any = "strata" if "stratum" in case.input else "marginal"
    metrics = horizon_metrics(
        scores, horizons, thresholds=[0.3], also=("c_index", "f1"), censoring=Censoring(kind, kind)
    )
    counts = np.random.default_rng(1).integers(0, 3, (3, len(scores))).astype(float)
    weights = counts * scores.base_weight
    for metric in metrics:
        if metric.whole_study:
            continue
        together = metric.compute(scores, weights)
        for b in range(len(weights)):
            rows = np.repeat(np.arange(len(scores)), counts[b].astype(int))
            again = scores.take(rows)
            value = metric.value(again)
            assert together[b] == pytest.approx(value, rel=1e-8, abs=1e-10, nan_ok=True), metric.name


def no_one_lost(n: int = 240, *, patients: int | None = None) -> tuple[Followed, Scores]:
    rng = np.random.default_rng(2)
    t, p = np.ceil(rng.exponential(700, n)), np.round(rng.random(n), 2)
    status = rng.integers(0, 3, n)
    t = np.where((status == 0) & (t < 365), 365, t)
    ids = None if patients is None else rng.integers(0, patients, n)
    groups = {"sex": rng.choice(["F", "M"], n)}
    scores = followed(t, status, {YEAR: p}, patient=ids, groups=groups)
    binary = Scores.of({"outcome": scores[YEAR.outcome], "risk": p}, patient=ids, groups=groups)
    return scores, binary


@pytest.mark.parametrize("patients", [None, 60])
def test_where_no_one_is_lost_it_is_the_binary_metric_to_the_byte(patients: int | None) -> None:
    scores, binary = no_one_lost(patients=patients)
    assert scores.independent == binary.independent
    slices = slices_by(scores.groups)
    ours = estimate(
        scores, horizon_metrics(scores, [YEAR], thresholds=[0.3], also=("f1", "accuracy")), slices, draws=DRAWS
    )
    metrics = risk_metrics(thresholds=[0.3], smoother=Smoother.of(binary), also=("f1", "accuracy"))
    theirs = {(e.metric, str(sorted(e.slice.items()))): e for e in estimate(binary, metrics, slices, draws=DRAWS)}
    compared = 0
    for e in ours:
        key = (e.metric, str(sorted((k, v) for k, v in e.slice.items() if k != "horizon")))
        if key in theirs:
            other = theirs[key].as_dict() | {"slice": e.slice}
            assert e.as_dict() == other
            compared += 1
    assert compared == 2 * (len(metrics) - 2)  # all but AUPRC and Nagelkerke's R²


def test_a_slice_in_which_no_one_is_lost_is_the_binary_one_though_others_lose_some() -> None:
    scores, _ = no_one_lost()
    lost = followed([100.0] * 40 + [500.0] * 40, [0, 1] * 40, {YEAR: np.linspace(0.1, 0.9, 80)})
    both = followed(
        np.concatenate([scores["followup"], lost["followup"]]),
        np.concatenate([scores["status"], lost["status"]]),
        {YEAR: np.concatenate([scores[YEAR.risk], lost[YEAR.risk]])},
        groups={"half": np.array(["whole"] * len(scores) + ["lossy"] * len(lost))},
    )
    resampling = Resampling(DRAWS.seed, DRAWS.replicates)
    metrics = horizon_metrics(both, [YEAR], thresholds=[0.3], resampling=resampling)
    whole = next(one for one in slices_by(both.groups) if one.key["half"] == "whole")
    found = {e.metric: e for e in estimate(both, metrics, [whole], draws=DRAWS)}
    alone = Scores.of({"outcome": scores[YEAR.outcome], "risk": scores[YEAR.risk]})
    binary = risk_metrics(thresholds=[0.3], smoother=Smoother.of(alone))
    for e in estimate(alone, binary, draws=DRAWS):
        if e.metric in found and e.metric not in ("ici", "e50", "e90", "emax"):  # whose knots are the whole study's
            assert (found[e.metric].low, found[e.metric].high, found[e.metric].method) == (e.low, e.high, e.method)


def rows(table: dict[str, Any], **design: Any) -> Followed:
    return followed(table["days"], table["ended"], {YEAR: table["p1"]}, **design)


def test_the_interval_of_auroc_rests_on_the_patients_of_the_rarer_class() -> None:
    scores = rows(followed_table(300))
    e = by_name(scores, [YEAR])["auroc", "365d", None]
    outcome = scores[YEAR.outcome]
    df = min((outcome == 1).sum(), (outcome == 0).sum()) - 1
    assert e.value and e.se and e.low and e.high
    half = t_critical(0.95, df) * e.se / (e.value * (1 - e.value))
    logit = np.log(e.value / (1 - e.value))
    assert [e.low, e.high] == pytest.approx([1 / (1 + np.exp(half - logit)), 1 / (1 + np.exp(-half - logit))])


def test_the_ends_at_another_level_are_those_of_an_interval_asked_for_at_it() -> None:
    scores = rows(followed_table(300))
    for metric in horizon_metrics(scores, [YEAR], thresholds=[0.2], also=("f1", "c_index")):
        if metric.whole_study or metric.interval is None:
            continue
        at_95, at_99 = metric.interval(scores, 0.95), metric.interval(scores, 0.99)
        assert at_95.ends is not None and at_95.ends(0.99) == pytest.approx((at_99.low, at_99.high))


def test_expected_events_are_sampled_unless_taken_as_fixed() -> None:
    scores = rows(followed_table(300))
    free = by_name(scores, [YEAR])["oe_ratio", "365d", None]
    fixed = by_name(scores, [YEAR], expected="fixed")["oe_ratio", "365d", None]
    assert fixed.value == free.value
    assert fixed.se and free.se and fixed.se > free.se and "fixed" in fixed.method


@pytest.mark.parametrize(
    ("t", "status", "why"),
    [
        ([*range(1, 10), *[400] * 60, *[100] * 5], [*[1] * 9, *[0] * 65], "9 patients with the event"),
        ([*range(1, 61), *[400] * 9], [*[1, 0] * 30, *[0] * 9], "9 patients were followed"),
        ([*[10] * 20, *range(11, 171), *[400] * 12], [*[1] * 20, *[0] * 172], "chance of being followed"),
    ],
)
def test_too_little_for_an_interval_has_a_value_and_says_why(t: list[int], status: list[int], why: str) -> None:
    risk = np.random.default_rng(4).uniform(0.1, 0.9, len(t))
    scores = followed(t, status, {YEAR: risk})
    found = by_name(scores, [YEAR], thresholds=[0.3], also=("c_index",))
    for (name, _, _), e in found.items():
        if name == "alert_rate":
            assert e.status == "ok" and e.low is not None
            continue
        if e.value is None:
            assert name in ("ici", "e50", "e90", "emax")  # a curve needs ten of each
            continue
        assert e.status == "insufficient" and e.low is None and why in str(e.reason), name


@pytest.mark.parametrize(
    ("t", "status"),
    [
        (np.full(60, 100.0), np.zeros(60)),  # all censored at once
        (np.arange(1.0, 61), np.tile([0, 1], 30)[::-1]),  # the last is censored before the horizon
    ],
)
def test_no_one_followed_to_the_horizon_is_nothing(t: Any, status: Any) -> None:
    scores = followed(t, status, {YEAR: np.linspace(0.1, 0.9, 60)})
    for (name, _, _), e in by_name(scores, [YEAR], thresholds=[0.3], also=("c_index",)).items():
        if name != "alert_rate":
            assert e.value is None and e.status == "undefined" and e.reason, name
            assert NOBODY_FOLLOWED in str(e.reason) or name == "c_index"


@pytest.mark.parametrize("status", [0, 1])
def test_no_event_and_no_one_free_are_undefined(status: int) -> None:
    t = np.r_[np.full(30, 100.0), np.full(30, 500.0 if status == 0 else 200.0), 50.0]
    ended = np.r_[np.full(30, 2 if status == 0 else 1), np.full(30, status), 0]
    scores = followed(t, ended, {YEAR: np.linspace(0.1, 0.9, 61)})
    for (name, _, _), e in by_name(scores, [YEAR], thresholds=[0.3]).items():
        assert (e.status == "undefined") == (name != "alert_rate"), name


def test_expected_is_of_all_rows_and_not_of_complete_cases() -> None:
    scores = rows(followed_table(400, lost=500))
    e = by_name(scores, [YEAR])["oe_ratio", "365d", None]
    f = by_name(scores, [YEAR])["observed_risk", "365d", None]
    assert e.value == pytest.approx(f.value / scores[YEAR.risk].mean())
    known = np.isfinite(scores[YEAR.outcome])
    assert abs(e.value - f.value / scores[YEAR.risk][known].mean()) > 1e-3


def test_lost_rows_neither_dropped_nor_counted_as_free() -> None:
    table = followed_table(2000, lost=500, competing=1e9, seed=8)
    scores = rows(table)
    found = by_name(scores, [YEAR])["oe_ratio", "365d", None]
    outcome, risk = scores[YEAR.outcome], scores[YEAR.risk]
    dropped = np.nanmean(outcome) / risk[np.isfinite(outcome)].mean()
    as_free = np.nansum(outcome) / risk.sum()
    # Events are known early, those free only at the end: short follow-up that keeps all events is biased upwards too.
    kept = np.isfinite(outcome)
    assert found.value == pytest.approx(1 / 0.95, rel=0.08)
    assert dropped > 1.15 * found.value and as_free < 0.85 * found.value
    assert outcome[kept].sum() == np.nansum(outcome)


def test_those_with_a_competing_event_stay_among_the_controls() -> None:
    scores = rows(followed_table(600, competing=500))
    seen = HorizonWeights.of(scores["followup"], scores["status"], 365)
    competing = (scores["status"] == 2) & (scores["followup"] <= 365)
    assert competing.sum() > 50 and (seen.outcome[competing] == 0).all()
    ours = by_name(scores, [YEAR])["auroc", "365d", None].value
    without = rows({k: v[~competing] for k, v in followed_table(600, competing=500).items()})
    assert by_name(without, [YEAR])["auroc", "365d", None].value != pytest.approx(ours, abs=1e-3)


def test_competing_events_merged_into_the_censored_raise_the_observed_risk() -> None:
    table = followed_table(600, competing=500)
    right = by_name(rows(table), [YEAR])["observed_risk", "365d", None].value
    merged = {**table, "ended": np.where(table["ended"] == 2, 0, table["ended"])}
    assert by_name(rows(merged), [YEAR])["observed_risk", "365d", None].value > right + 0.01


def test_keeping_all_events_and_dropping_the_short_followed_is_biased_upwards() -> None:
    """ "Require time at risk, keep all outcomes": only those without an event are dropped."""
    scores = rows(followed_table(2000, lost=700, competing=1e9, seed=8))
    outcome, risk = scores[YEAR.outcome], scores[YEAR.risk]
    kept = (outcome == 1) | (scores["followup"] >= 365)
    naive = outcome[kept].mean() / risk[kept].mean()
    assert naive > 1.1 * by_name(scores, [YEAR])["oe_ratio", "365d", None].value


def harrell(t: Any, status: Any, p: Any) -> float:
    """Pairs whose earlier one had the event, each counting the same."""
    later = (t[:, None] < t[None, :]) & (status[:, None] == 1)
    beats = (p[:, None] > p[None, :]) + 0.5 * (p[:, None] == p[None, :])
    return float((later * beats).sum() / later.sum())


def test_unos_c_is_the_same_whoever_is_censored_and_harrells_is_not() -> None:
    rng = np.random.default_rng(12)
    n = 2000
    x = rng.normal(size=n)
    early = rng.exponential(1500 * np.exp(-1.5 * x))  # an effect that fades after two years
    event = np.where(early < 730, early, 730 + rng.exponential(1500, n))
    last = Horizon("1460d", 1460.0)
    found: dict[str, list[float]] = {"uno": [], "harrell": []}
    for mean in (20_000, 1_500):
        lost = rng.exponential(mean, n)
        t, status = np.minimum(event, lost), (event <= lost).astype(int)
        scores = followed(t, status, {last: 1 / (1 + np.exp(-x))})
        found["uno"].append(by_name(scores, [last], also=("c_index",))["c_index", last.name, None].value or 0)
        found["harrell"].append(harrell(t, status, x))
    assert abs(np.diff(found["uno"])[0]) < 0.02 < 0.05 < abs(np.diff(found["harrell"])[0])


def test_concordance_is_asked_for_and_never_the_headline() -> None:
    scores = rows(followed_table(100))
    plain = {metric.name for metric in horizon_metrics(scores, [YEAR])}
    assert "c_index" not in plain and "auroc" in plain
    assert not CARDS["c_index"].shown
    # Neither Harrell's C, nor the p of a log-rank test or of a Cox model, is a figure of this task.
    assert not {name for name in CARDS if "harrell" in name or "logrank" in name or "cox" in name}


def test_a_slice_is_a_function_of_its_own_rows() -> None:
    table = followed_table(500)
    scores = rows(table, groups={"sex": table["sex"]})
    metrics = horizon_metrics(scores, [YEAR], thresholds=[0.2])
    sliced = estimate(scores, metrics, slices_by(scores.groups), draws=DRAWS)
    for level in ("F", "M"):
        here = table["sex"] == level
        alone = rows({k: v[here] for k, v in table.items()})
        for e in sliced:
            if e.slice["sex"] == level and e.metric not in ("ici", "e50", "e90", "emax"):
                other = by_name(alone, [YEAR], thresholds=[0.2])[e.metric, "365d", e.slice.get("threshold")]
                assert (e.value, e.low, e.high) == pytest.approx((other.value, other.low, other.high), rel=1e-12)


def test_with_the_scope_of_the_study_slices_share_its_curve() -> None:
    table = followed_table(500, by_risk=0.5)
    scores = rows(table, groups={"sex": table["sex"]})
    whole = Censoring("shared", "marginal", "study", study=scores)
    metrics = horizon_metrics(scores, [YEAR], censoring=whole)
    [brier] = [one for one in metrics if one.name == "brier"]
    women = next(one for one in slices_by(scores.groups) if one.key["sex"] == "F")
    [e] = estimate(scores, [brier], [women], draws=DRAWS)
    v = HorizonWeights.of(scores["followup"], scores["status"], 365).under(np.ones((1, 500))).v[0]
    error = np.nan_to_num((scores[YEAR.outcome] - scores[YEAR.risk]) ** 2)
    assert women.rows is not None
    assert e.value == pytest.approx((v * error)[women.rows].sum() / women.rows.sum())
    assert "whole study, taken as known" in e.method
    [everyone] = estimate(scores, [brier], draws=DRAWS)
    assert "taken as known" not in everyone.method


def test_resamples_re_estimate_the_censoring_curve() -> None:
    table = followed_table(400, lost=500)
    scores = rows(table)
    [brier] = [one for one in horizon_metrics(scores, [YEAR]) if one.name == "brier"]
    drawn = replicate(scores, [brier], draws=Draws(seed=1, replicates=1500))[0, 0]
    [e] = estimate(scores, [brier], draws=DRAWS)
    assert e.se and drawn.std(ddof=1) == pytest.approx(e.se, rel=0.08)


def test_many_resamples_of_many_rows_take_seconds() -> None:
    import time

    scores = rows(followed_table(5000))
    chosen = [one for one in horizon_metrics(scores, [YEAR]) if one.name in ("auroc", "brier", "oe_ratio")]
    began = time.process_time()
    replicate(scores, chosen, draws=Draws(seed=1, replicates=2000))
    assert time.process_time() - began < 8
