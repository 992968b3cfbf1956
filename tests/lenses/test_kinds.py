"""Kinds of drift told apart on planted data, and what is expected of rows whose answer is not known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import special

from tests.support.planted_months import DRAWS, STABLE, Month, looked, metrics_of, months, planted
from workup.lenses.drift.kinds import (
    WEIGHTED,
    Evidence,
    concept_drift,
    evidence,
    named,
    prior_drift,
    recalibration,
    without_labels,
)
from workup.scores import RISK, Scores
from workup.stats import calibration

LEVEL = 0.05 / 12
BASE = planted(months((8, STABLE)), seed=3, groups=False)


def window(plan: Month, *, seed: int = 21) -> Scores:
    return planted([("2024-06", plan)], seed=seed, groups=False)


def of_prevalence(share: float, *, n: int = 2000, seed: int = 5) -> Scores:
    """Events made commoner and nothing else: those with and those without the event are the same people as before."""
    rng = np.random.default_rng(seed)
    pool = planted([("2024-06", Month(rows=40_000))], seed=9, groups=False)
    events = int(share * n)
    chosen = [rng.choice(np.flatnonzero(pool["outcome"] == y), size) for y, size in ((1, events), (0, n - events))]
    return Scores.of({name: column[np.concatenate(chosen)] for name, column in pool.values.items()})


def name_of(rows: Scores, **more: Any) -> str:
    return str(named(evidence(BASE, rows, "outcome"), level=LEVEL, **more)["drift"])


# ---- told apart ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_nothing_planted_nothing_named(seed: int) -> None:
    assert name_of(window(Month(rows=1500), seed=seed)) == "none"


@pytest.mark.parametrize("seed", range(4))
def test_other_patients_with_the_same_meaning_are_covariate_drift(seed: int) -> None:
    found = named(evidence(BASE, window(Month(rows=2000, mean=-0.3), seed=seed), "outcome"), level=LEVEL)
    assert found["drift"] == "covariate"
    assert found["p_risks"] < LEVEL < found["p_meaning"]
    assert "none while performance holds" in found["options"]


@pytest.mark.parametrize("seed", range(4))
def test_more_events_among_the_same_people_are_prior_drift(seed: int) -> None:
    found = named(evidence(BASE, of_prevalence(0.50, seed=seed), "outcome"), level=LEVEL)
    assert found["drift"] == "prior"
    assert found["p_within"] > LEVEL > found["p_meaning"]
    assert found["options"] == "recalibration of the intercept"


@pytest.mark.parametrize("plan", [Month(rows=2000, slope=0.4, shift=-0.5), Month(rows=4000, shift=0.9)])
@pytest.mark.parametrize("seed", range(3))
def test_the_same_risks_with_another_meaning_are_concept_drift(plan: Month, seed: int) -> None:
    found = named(evidence(BASE, window(plan, seed=seed), "outcome"), level=LEVEL)
    assert found["drift"] == "concept"
    assert found["p_meaning"] < LEVEL < found["p_risks"]
    assert "retraining" in found["options"] and "recalibration" in found["options"]


def test_both_at_once_are_named_both() -> None:
    assert name_of(window(Month(rows=3000, mean=0.0, slope=0.4))) == "concept and covariate"


def test_inputs_that_moved_count_even_where_the_risks_did_not() -> None:
    calm = window(Month(rows=1500), seed=2)
    assert name_of(calm) == "none"
    assert name_of(calm, inputs_moved=True) == "covariate"


def test_what_too_few_rows_cannot_tell_is_not_told() -> None:
    doubtful = Evidence(risks=0.2, meaning=1e-5, slope=0.4, within=0.3, moved=0.1, changed=0.6)
    assert named(doubtful, level=LEVEL)["drift"] == "prior or concept"


def test_a_change_that_is_sure_but_small_is_none() -> None:
    assert named(Evidence(1e-12, 1e-12, 0.5, 1e-12, 0.02, 0.05), level=LEVEL)["drift"] == "none"


def test_the_tests_of_meaning_are_the_likelihood_ratios_of_outcome_on_risk_by_period() -> None:
    now = window(Month(rows=1500, slope=0.7, shift=0.3))
    found = evidence(BASE, now, "outcome")
    y, risk = (np.concatenate([BASE[name], now[name]]) for name in ("outcome", "risk"))
    period = np.repeat([0, 1], [len(BASE), len(now)])
    lp = calibration.logit(risk)
    intercepts, slopes = (test(y, lp, period) for test in (calibration.intercepts_differ, calibration.slopes_differ))
    assert found.slope == pytest.approx(slopes.p, rel=1e-6)
    assert -2 * np.log(found.meaning) == pytest.approx(intercepts.statistic + slopes.statistic, rel=1e-6)  # 2 df


def test_rows_that_repeat_within_patients_count_once() -> None:
    now = window(Month(rows=400, slope=0.5))
    twice = Scores.of(
        {name: np.tile(column, 3) for name, column in now.values.items()}, patient=np.tile(np.arange(400), 3)
    )
    assert evidence(BASE, twice, "outcome") == pytest.approx(evidence(BASE, now, "outcome"))
    slope = [metric for metric in metrics_of(BASE) if metric.name == "calibration_slope"]
    [once], [thrice] = (concept_drift(BASE, rows, slope) for rows in (now, twice))
    assert thrice["p"] == pytest.approx(once["p"])


def test_weighted_rows_and_systems_without_risks_have_no_such_test_and_say_why() -> None:
    now = window(Month(rows=400))
    weighted = replace(now, weight=np.full(400, 2.0))
    assert evidence(BASE, weighted, "outcome") == WEIGHTED
    slope = [metric for metric in metrics_of(BASE) if metric.name == "calibration_slope"]
    assert concept_drift(BASE, weighted, slope) == [
        {"kind": "concept", "metric": "calibration_slope", "p": None, "reason": WEIGHTED}
    ]
    bare = Scores.of({"outcome": BASE["outcome"]})
    found = named(evidence(bare, bare, "outcome"), level=LEVEL)
    assert found["drift"] is None and "no risks" in found["reason"]
    assert named(evidence(bare, bare, "outcome"), level=LEVEL, inputs_moved=True)["drift"] == "covariate"


def test_risks_that_separate_the_outcomes_have_no_finite_fit_and_say_so() -> None:
    perfect = Scores.of({"outcome": BASE["outcome"], "risk": np.where(BASE["outcome"] > 0, 0.9, 0.1)})
    assert "no finite fit" in str(evidence(BASE, perfect, "outcome"))


# ---- how often it happens --------------------------------------------------------------------------------------------


def test_the_change_in_prevalence_has_newcombes_interval() -> None:
    base, now = (Scores.of({"outcome": np.arange(n) < x}) for n, x in ((80, 48), (70, 56)))
    row = prior_drift(base, now, "outcome")
    assert (row["baseline"], row["now"]) == (0.6, 0.8)
    assert (row["low"], row["high"]) == pytest.approx((0.0524, 0.3339), abs=5e-5)  # Newcombe 1998, method 10
    assert row["p"] == pytest.approx(0.0079, abs=2e-4)


def test_repeated_rows_do_not_make_a_change_in_prevalence_surer() -> None:
    base = Scores.of({"outcome": np.arange(400) < 100})
    once = Scores.of({"outcome": np.arange(60) < 24})
    five = Scores.of({"outcome": np.repeat(once["outcome"], 5)}, patient=np.repeat(np.arange(60), 5))
    naive = Scores.of({"outcome": five["outcome"]})
    p = [prior_drift(base, rows, "outcome")["p"] for rows in (once, five, naive)]
    assert p[0] <= p[1] < 2 * p[0]  # effective rows are counted, and their own error
    assert p[2] < p[0] / 20


# ---- without labels --------------------------------------------------------------------------------------------------


def estimated(rows: Scores, metric: str = "auroc") -> dict[str, Any]:
    line = recalibration(BASE, "outcome")
    assert line is not None
    asked = [one for one in metrics_of(BASE) if one.name == metric]
    [row] = without_labels(rows, asked, "outcome", line, DRAWS)
    return row


def truth(rows: Scores, metric: str = "auroc") -> float:
    return next(one for one in metrics_of(BASE) if one.name == metric).value(rows)


@pytest.mark.parametrize("metric", ["auroc", "sensitivity", "ppv"])
def test_the_estimate_without_labels_follows_a_change_in_who_comes(metric: str) -> None:
    moved = planted([("2024-06", Month(rows=20_000, mean=0.2))], seed=4, groups=False)
    before, now = truth(BASE, metric), truth(moved, metric)
    row = estimated(moved, metric)
    assert abs(now - before) > 0.02 or metric == "auroc"
    assert row["value"] == pytest.approx(now, abs=0.012)
    assert row["low"] < row["value"] < row["high"]


def test_the_estimate_without_labels_is_blind_to_a_change_of_meaning() -> None:
    changed = planted([("2024-06", Month(rows=20_000, slope=0.3, shift=-0.7))], seed=4, groups=False)
    row = estimated(changed)
    assert truth(changed) < truth(BASE) - 0.10
    assert row["value"] == pytest.approx(truth(BASE), abs=0.02)


def test_no_label_is_looked_at() -> None:
    rows = window(Month(rows=800))
    blank = replace(rows, values={**rows.values, "outcome": np.full(len(rows), np.nan)})
    assert estimated(blank) == estimated(rows)


def test_risks_are_recalibrated_on_the_baseline_first() -> None:
    line = recalibration(BASE, "outcome")
    assert line == pytest.approx((0.0, 1.0), abs=0.1)
    halved = replace(BASE, values={**BASE.values, RISK: special.expit(0.5 * special.logit(BASE[RISK]) + 1)})
    assert recalibration(halved, "outcome") == pytest.approx((line[0] - 2 * line[1], 2 * line[1]), abs=1e-6)
    assert recalibration(Scores.of({"outcome": BASE["outcome"]}), "outcome") is None


# ---- in the record ---------------------------------------------------------------------------------------------------


def test_the_lens_names_the_kind_in_every_window_that_holds_enough_and_says_that_estimates_may_be_blind() -> None:
    listed = months((8, Month(rows=1500)), (1, Month(rows=1500)), (1, Month(rows=60)), (1, Month(rows=1500, slope=0.3)))
    result = looked(planted(listed, seed=2), baseline=8)
    told = {row["window"]: row["drift"] for row in result.tables["drift_kind"]}
    assert told == {"2023-09": "none", "2023-11": "concept"}
    assert any("blind to a change in what a risk means (concept drift)" in note for note in result.notes)
    free = [row for row in result.tables["without_labels"] if row["window"] == "2023-11"]
    [chart] = [row for row in result.charts_state if row["window"] == "2023-11"]
    assert free[0]["value"] > chart["value"] + 0.05
