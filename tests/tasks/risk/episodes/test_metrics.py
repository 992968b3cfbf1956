"""The metrics of episodes: values of the oracle, intervals by hand, and what has none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from tests.support.episode_tables import evaluated
from tests.support.oracles import Case, cases
from workup.estimate import Draws, estimate
from workup.metric import Metric, share_interval
from workup.scores import Scores
from workup.tasks.risk.episodes.metrics import (
    alerts_per_flagged_event,
    at,
    event_metrics,
    lead_time_median,
    rate_interval,
    stay_metrics,
    watch_metrics,
    weighted_median,
    without_calibration,
)
from workup.tasks.risk.metrics import Smoother, risk_metrics

# The oracle's names of ours.
NAMES = {
    "event_sensitivity": ("event", "event_sensitivity"),
    "event_sensitivity_scored": ("event", "event_sensitivity_scored"),
    "alert_ppv": ("watch", "alert_ppv"),
    "alarm_rate": ("watch", "alarm_rate"),
    "nne_alert": ("watch", "nne"),
    "encounter_ppv": ("stay", "encounter_ppv"),
    "nne_encounter": ("stay", "nne_encounter"),
    "alerts_per_flagged_event": ("all", "alerts_per_flagged_event"),
    "lead_time_median": ("event", "lead_time_median"),
}


def measured(scores: Scores, threshold: float, hours: list[float]) -> dict[tuple[str, float | None], float | None]:
    """Every metric at a threshold on the rows that it is of, None where it has no value."""
    rows = {kind: scores.take(scores[kind] == 1) for kind in ("watch", "event", "stay")} | {"all": scores}
    metrics: list[tuple[str, Metric]] = [("event", metric) for metric in event_metrics(threshold, hours)]
    metrics += [("event", lead_time_median(threshold)), ("all", alerts_per_flagged_event(threshold))]
    metrics += [("watch", metric) for metric in watch_metrics(threshold)]
    metrics += [("stay", metric) for metric in stay_metrics(threshold)]
    found = {}
    for kind, metric in metrics:
        value = metric.value(rows[kind])
        found[metric.name, metric.at.get("hours")] = value if np.isfinite(value) else None
    return found


@cases("episodes")
def test_values_are_those_of_the_oracle(case: Case) -> None:
    given_settings = {key: value for key, value in case.input["settings"].items() if key != "thresholds"}
    thresholds = case.input["settings"]["thresholds"]
    scores = evaluated(case.input["predictions"], case.input["events"], given_settings, thresholds).scores
    for row in case.expected["thresholds"]:
        hours = [float(text) for text in row["flagged_at_least"]]
        found = measured(scores, row["threshold"], hours)
        for theirs, (_, ours) in NAMES.items():
            assert found[ours, None] == (None if row[theirs] is None else pytest.approx(row[theirs], rel=1e-12)), theirs
        for text, share in row["flagged_at_least"].items():
            assert found["flagged_before", float(text)] == (None if share is None else pytest.approx(share, rel=1e-12))


def _watched(alerts: list[float], days: list[float], true: list[float]) -> Scores:
    false = np.subtract(alerts, true)
    return Scores.of(
        {
            at("alerts", 0.3): alerts,
            at("true", 0.3): true,
            at("false", 0.3): false,
            at("acted_alerts", 0.3): np.zeros(len(alerts)),
            "days": days,
        },
        patient=np.arange(len(alerts)) // 2,
    )


def test_the_rate_of_alarms_is_judged_by_totals_of_patients() -> None:
    rng = np.random.default_rng(1)
    alerts, days = rng.poisson(2.0, 60).astype(float), rng.uniform(0.5, 1.5, 60)
    scores = _watched(alerts.tolist(), days.tolist(), [0.0] * 60)
    rate = next(metric for metric in watch_metrics(0.3) if metric.name == "alarm_rate")
    [found] = estimate(scores, [rate], draws=Draws())
    x, d = alerts.reshape(30, 2).sum(axis=1), days.reshape(30, 2).sum(axis=1)
    r = x.sum() / d.sum()
    error = np.sqrt(30 / 29 * np.sum((x - r * d) ** 2)) / x.sum()
    half = scipy_stats.t.ppf(0.975, 29) * error
    assert found.value == pytest.approx(100 * r)
    assert [found.low, found.high] == pytest.approx([100 * r * np.exp(-half), 100 * r * np.exp(half)])
    assert [found.numerator, found.denominator] == pytest.approx([alerts.sum(), days.sum()])


def test_no_alarm_at_all_has_a_high_end_and_says_what_it_cannot_see() -> None:
    scores = _watched([0.0] * 60, [1.0] * 60, [0.0] * 60)
    rate = next(metric for metric in watch_metrics(0.3) if metric.name == "alarm_rate")
    [found] = estimate(scores, [rate], draws=Draws())
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(100 * 3.689 / 60, rel=1e-3)
    assert "clustering cannot be seen" in str(found.reason)


def test_few_patients_have_no_interval() -> None:
    few = rate_interval(np.ones(30), np.ones(30), Scores.of({"x": np.ones(30)}, patient=np.arange(30) % 19), 0.95)
    assert few.status == "insufficient" and few.low is None and "19 patients" in few.reason


def test_one_over_a_share_turns_its_ends_over() -> None:
    scores = _watched([3.0] * 60, [1.0] * 60, [1.0, 2.0] * 30)
    metrics = {metric.name: metric for metric in watch_metrics(0.3)}
    ppv, nne = estimate(scores, [metrics["alert_ppv"], metrics["nne"]], draws=Draws())
    assert nne.value == pytest.approx(1 / ppv.value)  # type: ignore[operator]
    assert (nne.low, nne.high) == (pytest.approx(1 / ppv.high), pytest.approx(1 / ppv.low))  # type: ignore[operator]
    nothing = _watched([3.0] * 60, [1.0] * 60, [0.0] * 60)
    ppv, nne = estimate(nothing, [metrics["alert_ppv"], metrics["nne"]], draws=Draws())
    assert ppv.value == 0 and ppv.low == 0 and ppv.high is not None
    assert nne.value is None and nne.reason == "no alert was true"


def test_rows_of_one_patient_are_not_counted_as_independent() -> None:
    """Folded rows hold many alerts: the interval is that of the patients."""
    rng = np.random.default_rng(4)
    liability = rng.beta(0.5, 2, 40).repeat(2)
    alerts = np.full(80, 5.0)
    scores = _watched(alerts.tolist(), [1.0] * 80, rng.binomial(5, liability).astype(float).tolist())
    ppv = next(metric for metric in watch_metrics(0.3) if metric.name == "alert_ppv")
    [found] = estimate(scores, [ppv], draws=Draws())
    single = Scores.of({"x": np.ones(400)})
    assert found.numerator is not None
    hits = (np.arange(400) < found.numerator).astype(float)
    alone = share_interval(hits, np.ones(400), single, 0.95)
    assert found.high - found.low > 1.5 * (alone.high - alone.low)  # type: ignore[operator]


def _events(lead: list[float], patient: Any = None) -> Scores:
    flagged = np.isfinite(lead).astype(float)
    return Scores.of(
        {
            "event": np.ones(len(lead)),
            "scored": np.ones(len(lead)),
            at("flagged", 0.3): flagged,
            at("by_score", 0.3): flagged,
            at("lead", 0.3): lead,
            at("acted", 0.3): np.zeros(len(lead)),
        },
        patient=patient,
    )


def test_a_miss_is_a_lead_of_nothing_in_the_mean_and_not_in_the_median() -> None:
    scores = _events([6.0, np.nan, 2.0, 4.0, np.nan])
    found = {metric.name: metric.value(scores) for metric in event_metrics(0.3, [4.0])}
    assert found["lead_time_mean"] == pytest.approx(12 / 5)
    assert found["flagged_before"] == pytest.approx(2 / 5)
    assert lead_time_median(0.3).value(scores) == 4.0
    assert np.isnan(lead_time_median(0.3).value(_events([np.nan, np.nan])))


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4)), min_size=1, max_size=30).filter(
        lambda rows: any(weight for _, weight in rows)
    )
)
def test_a_weight_is_a_repeated_event(rows: list[tuple[int, int]]) -> None:
    rows = sorted(rows)
    values, weights = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    repeated = np.repeat(values, weights.astype(int))
    assert weighted_median(values, weights[None, :])[0] == pytest.approx(np.median(repeated))


def test_a_maximum_of_risks_has_no_calibration() -> None:
    rng = np.random.default_rng(2)
    risk = rng.uniform(0.05, 0.95, 200)
    scores = Scores.of({"outcome": (rng.random(200) < risk).astype(float), "risk": risk})
    metrics = without_calibration(risk_metrics(thresholds=[0.5], smoother=Smoother.of(scores)), "max")
    found = {e.metric: e for e in estimate(scores, metrics, draws=Draws(replicates=100))}
    for name in ("calibration_slope", "oe_ratio", "brier", "ici"):
        assert found[name].value is None and found[name].reason == "a maximum of risks is no risk at one horizon"
    assert found["auroc"].value is not None and found["sensitivity"].value is not None
