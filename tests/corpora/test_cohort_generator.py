"""The cohort generator: is the planted truth true, exact and the same every time?"""

from __future__ import annotations

import json
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special

from workup import plugins
from workup.corpora.generate.cohort import cells, planted_truth
from workup.corpora.generate.cohort.generator import Change, CohortPlan, generate
from workup.errors import InputError
from workup.stats import calibration, rank

# Groups that differ in every way, drift, sites and repeated rows: a mixture with no closed form.
MIXED = {
    "prevalence": 0.2,
    "auroc": 0.78,
    "slope": 0.9,
    "in_the_large": 0.1,
    "groups": {"sex": {"F": 0.6, "M": 0.4}, "ethnicity": {"A": 0.7, "B": 0.3}},
    "gaps": {
        "sex": {"F": {"auroc": -0.06, "in_the_large": 0.4}},
        "ethnicity": {"B": {"slope": -0.2, "prevalence": 0.05}},
    },
    "months": 4,
    "drift": {"outcome_log_odds": 0.1, "auroc": -0.01},
}


# ---- exactness -------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(
    prevalence=st.floats(0.05, 0.8),
    auroc=st.floats(0.55, 0.93),
    slope=st.floats(0.6, 1.8),
    in_the_large=st.floats(-0.8, 0.8),
)
def test_a_plain_plan_is_met_exactly(prevalence: float, auroc: float, slope: float, in_the_large: float) -> None:
    plan = {"prevalence": prevalence, "auroc": auroc, "slope": slope, "in_the_large": in_the_large, "groups": {}}
    truth = generate(1, seed=0, plan=plan).truth["overall"]
    assert truth["prevalence"] == pytest.approx(prevalence, abs=1e-8)
    assert truth["auroc"] == pytest.approx(auroc, abs=1e-8)
    assert truth["calibration_slope"] == pytest.approx(slope, abs=1e-8)
    assert truth["calibration_in_the_large"] == pytest.approx(in_the_large, abs=1e-8)
    assert truth["oe_ratio"] == pytest.approx(truth["prevalence"] / truth["mean_risk"], abs=1e-9)


def test_calibrated_model_expects_as_many_events_as_there_are() -> None:
    truth = generate(1, seed=0, plan={"prevalence": 0.3, "auroc": 0.7}).truth["overall"]
    assert truth["oe_ratio"] == pytest.approx(1.0, abs=1e-8)
    # Where risks are right, the Brier score is the mean of p(1 - p), and net benefit at t near 0 is the prevalence.
    cell = cells.solve(cells.Target(0.3, 0.7, 1.0, 0.0), where="")
    expected = integrate.quad(lambda x: _normal(x, cell) * special.expit(x) * special.expit(-x), -20, 20, epsabs=1e-12)[
        0
    ]
    assert truth["brier"] == pytest.approx(expected, abs=1e-8)


def _normal(x: float, cell: planted_truth.Cell) -> float:
    return float(np.exp(-(((x - cell.mean) / cell.sd) ** 2) / 2) / (cell.sd * np.sqrt(2 * np.pi)))


def test_truth_of_a_mixture_agrees_with_adaptive_integration() -> None:
    parts = [planted_truth.Cell(-1.8, 1.1, 0.2, 0.8), planted_truth.Cell(-0.6, 0.7, -0.3, 1.3)]
    share = np.array([0.35, 0.65])
    [truth] = planted_truth.mixtures(parts, share[None, :], thresholds=[0.2])

    def events(x: float) -> float:
        return sum(w * _normal(x, c) * special.expit(c.shift + c.slope * x) for w, c in zip(share, parts, strict=True))

    def others(x: float) -> float:
        return sum(w * _normal(x, c) * special.expit(-c.shift - c.slope * x) for w, c in zip(share, parts, strict=True))

    def total(f: object, low: float = -14.0, high: float = 12.0) -> float:
        return float(integrate.quad(f, low, high, epsabs=1e-12, epsrel=1e-12, limit=400)[0])

    prevalence = total(events)
    cut = float(special.logit(0.2))
    assert truth["prevalence"] == pytest.approx(prevalence, abs=1e-9)
    at = truth["thresholds"]["0.2"]
    assert at["sensitivity"] == pytest.approx(total(events, cut) / prevalence, abs=1e-9)
    assert at["specificity"] == pytest.approx(total(others, -14, cut) / (1 - prevalence), abs=1e-9)
    assert at["ppv"] == pytest.approx(total(events, cut) / (total(events, cut) + total(others, cut)), abs=1e-9)
    brier = total(lambda x: events(x) * special.expit(-x) ** 2 + others(x) * special.expit(x) ** 2)
    assert truth["brier"] == pytest.approx(brier, abs=1e-9)
    # AUROC as a double sum over a fine grid, by ranks and with no running integral.
    grid = np.linspace(-10, 8, 3001)
    f1, f0 = np.array([events(x) for x in grid]), np.array([others(x) for x in grid])
    above = np.sum(np.tril(np.outer(f1, f0), -1)) + np.sum(f1 * f0) / 2
    assert truth["auroc"] == pytest.approx(above / (f1.sum() * f0.sum()), abs=1e-6)

    # The slope and the shift as zeros of the expected score.
    def score(intercept: float, slope: float, power: int) -> float:
        return total(lambda x: (events(x) - (events(x) + others(x)) * special.expit(intercept + slope * x)) * x**power)

    assert score(truth["calibration_in_the_large"], 1.0, 0) == pytest.approx(0, abs=1e-9)
    slope = truth["calibration_slope"]
    low, high = -3.0, 3.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if score(middle, slope, 0) > 0 else (low, middle)
    assert score(low, slope, 1) == pytest.approx(0, abs=1e-8)


def test_auprc_agrees_with_a_dense_sample_of_quantiles() -> None:
    cell = cells.solve(cells.Target(0.25, 0.8, 1.0, 0.0), where="")
    [truth] = planted_truth.mixtures([cell], np.ones((1, 1)), thresholds=[0.5])
    x = cell.mean + cell.sd * special.ndtri((np.arange(400_000) + 0.5) / 400_000)
    q = special.expit(cell.shift + cell.slope * x)[::-1]
    precision = np.cumsum(q) / np.arange(1, q.size + 1)
    assert truth["auprc"] == pytest.approx(np.sum(q * precision) / q.sum(), abs=1e-5)


# ---- a large cohort shows the truth ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large():  # type: ignore[no-untyped-def]
    return generate(400_000, seed=11, plan=MIXED)


def _agrees(outcome: np.ndarray, risk: np.ndarray, truth: dict) -> None:
    """Every figure within four Monte-Carlo standard errors of independent rows."""
    n, lp, ones = outcome.size, special.logit(risk), np.ones(outcome.size)
    delong = rank.delong(outcome, risk)
    slope, large = calibration.slope(outcome, lp, ones), calibration.in_the_large(outcome, lp, ones)
    squared = (outcome - risk) ** 2
    found = {
        "prevalence": (outcome.mean(), outcome.std() / np.sqrt(n)),
        "mean_risk": (risk.mean(), risk.std() / np.sqrt(n)),
        "auroc": (delong.auc, np.sqrt(delong.variance)),
        # Where a mixture bends the curve the model-based SE is not exact; it is close enough for four of them.
        "calibration_slope": (slope.value, slope.se),
        "calibration_in_the_large": (large.value, large.se),
        "brier": (squared.mean(), squared.std() / np.sqrt(n)),
    }
    for name, (value, se) in found.items():
        assert abs(value - truth[name]) <= 4 * se, name
    for text, at in truth["thresholds"].items():
        flagged = risk >= float(text)
        for name, hit, among in (
            ("sensitivity", flagged, outcome == 1),
            ("specificity", ~flagged, outcome == 0),
            ("ppv", outcome == 1, flagged),
            ("npv", outcome == 0, ~flagged),
            ("alert_rate", flagged, ones == 1),
        ):
            share = hit[among].mean()
            assert abs(share - at[name]) <= 4 * np.sqrt(share * (1 - share) / among.sum()), (name, text)


def test_a_large_cohort_agrees_overall(large) -> None:  # type: ignore[no-untyped-def]
    _agrees(large.table["outcome"], large.table["risk"], large.truth["overall"])


@pytest.mark.parametrize(("column", "level"), [("sex", "F"), ("sex", "M"), ("ethnicity", "A"), ("ethnicity", "B")])
def test_a_large_cohort_agrees_in_each_level(large, column: str, level: str) -> None:  # type: ignore[no-untyped-def]
    rows = large.table[column] == level
    truth = large.truth["groups"][column][level]
    assert rows.mean() == pytest.approx(truth["share"], abs=4 * np.sqrt(0.25 / rows.size))
    _agrees(large.table["outcome"][rows], large.table["risk"][rows], truth)


def test_a_large_cohort_agrees_in_each_month(large) -> None:  # type: ignore[no-untyped-def]
    months = large.table["time"].astype("datetime64[M]").astype(str)
    assert sorted(set(months)) == list(large.truth["months"]) == ["2024-01", "2024-02", "2024-03", "2024-04"]
    for month, truth in large.truth["months"].items():
        rows = months == month
        _agrees(large.table["outcome"][rows], large.table["risk"][rows], truth)


def test_repeated_rows_keep_the_marginal_truth_and_go_together() -> None:
    cohort = generate(60_000, seed=3, plan={"prevalence": 0.3, "rows_per_patient": 3, "icc": 0.5, "groups": {}})
    outcome, risk = cohort.table["outcome"], cohort.table["risk"]
    truth = cohort.truth["overall"]
    patients, sizes = np.unique(cohort.table["patient"], return_counts=True)
    assert patients.size == 20_000
    assert set(sizes) == {3}
    # Three rows of a patient are worth at least one: a design effect of at most 3 bounds the error.
    assert outcome.mean() == pytest.approx(truth["prevalence"], abs=4 * np.sqrt(3 * 0.21 / 60_000))
    assert rank.delong(outcome, risk).auc == pytest.approx(
        0.8, abs=4 * np.sqrt(3 * rank.delong(outcome, risk).variance)
    )
    lp = special.logit(risk).reshape(-1, 3)
    assert np.corrcoef(lp[:, 0], lp[:, 1])[0, 1] == pytest.approx(0.5, abs=0.03)
    rows = (outcome - special.expit(special.logit(risk))).reshape(-1, 3)
    assert np.corrcoef(rows[:, 0], rows[:, 1])[0, 1] > 0.15


def test_icc_of_zero_leaves_rows_of_a_patient_independent() -> None:
    cohort = generate(60_000, seed=3, plan={"prevalence": 0.3, "rows_per_patient": 3, "icc": 0.0, "groups": {}})
    rows = cohort.table["outcome"].reshape(-1, 3)
    assert abs(np.corrcoef(rows[:, 0], rows[:, 1])[0, 1]) < 4 / np.sqrt(20_000)


# ---- gaps, sites, drift ----------------------------------------------------------------------------------------------


def test_a_gap_is_what_was_asked_for() -> None:
    plan = CohortPlan(
        groups={"sex": {"F": 0.5, "M": 0.5}},
        gaps={("sex", "F"): Change(auroc=-0.07, in_the_large=0.5, slope=-0.1, prevalence=0.03)},
        months=1,
    )
    levels = generate(10, seed=0, plan=plan).truth["groups"]["sex"]
    gap = {name: levels["F"][name] - levels["M"][name] for name in levels["M"] if name not in ("thresholds", "share")}
    assert gap["auroc"] == pytest.approx(-0.07, abs=1e-8)
    assert gap["calibration_in_the_large"] == pytest.approx(0.5, abs=1e-8)
    assert gap["calibration_slope"] == pytest.approx(-0.1, abs=1e-8)
    assert gap["prevalence"] == pytest.approx(0.03, abs=1e-8)
    assert levels["M"]["auroc"] == pytest.approx(plan.auroc, abs=1e-8)


@pytest.mark.parametrize("auroc", [0.0, -0.05])
def test_a_gap_in_sensitivity_is_met_at_the_first_threshold(auroc: float) -> None:
    plan = {
        "groups": {"sex": {"F": 0.5, "M": 0.5}},
        "gaps": {"sex": {"F": {"sensitivity": -0.1, "auroc": auroc}}},
        "thresholds": [0.15, 0.3],
    }
    levels = generate(10, seed=0, plan=plan).truth["groups"]["sex"]
    found = levels["F"]["thresholds"]["0.15"]["sensitivity"] - levels["M"]["thresholds"]["0.15"]["sensitivity"]
    assert found == pytest.approx(-0.1, abs=1e-7)
    assert levels["F"]["auroc"] == pytest.approx(0.8 + auroc, abs=1e-8)
    assert levels["F"]["calibration_in_the_large"] > 0.1


def test_changed_outcomes_leave_risks_and_predictors_alone() -> None:
    plan = {"groups": {"sex": {"F": 0.5, "M": 0.5}}}
    without = generate(2_000, seed=4, plan=plan)
    changed = generate(2_000, seed=4, plan=plan | {"gaps": {"sex": {"F": {"outcome_log_odds": 1.0}}}})
    for column in ("risk", "age", "creatinine", "sodium", "diabetes"):
        assert np.array_equal(without.table[column], changed.table[column])
    women = without.table["sex"] == "F"
    assert np.array_equal(without.table["outcome"][~women], changed.table["outcome"][~women])
    assert changed.table["outcome"][women].sum() > without.table["outcome"][women].sum()
    truth = changed.truth["groups"]["sex"]["F"]
    assert truth["calibration_in_the_large"] == pytest.approx(1.0, abs=1e-8)


def test_drift_starts_where_told_and_a_jump_stays() -> None:
    slow = generate(1, seed=0, plan={"months": 5, "drift": {"in_the_large": 0.1}, "drift_from": 3}).truth["months"]
    assert [round(one["calibration_in_the_large"], 6) for one in slow.values()] == [0, 0, 0.1, 0.2, 0.3]
    jump = generate(1, seed=0, plan={"months": 5, "drift": {"auroc": -0.1}, "drift_from": 4, "drift_steps": 1})
    assert [round(one["auroc"], 6) for one in jump.truth["months"].values()] == [0.8, 0.8, 0.8, 0.7, 0.7]
    rise = generate(1, seed=0, plan={"months": 3, "drift": {"prevalence": 0.05}}).truth["months"]
    assert [round(one["prevalence"], 6) for one in rise.values()] == [0.15, 0.2, 0.25]


def test_sites_vary_as_planned_and_by_seed() -> None:
    plan = {"sites": 60, "site_in_the_large_sd": 0.4, "site_slope_sd": 0.1, "months": 1, "groups": {}}
    truth = generate(10, seed=1, plan=plan).truth
    shifts = np.array([one["calibration_in_the_large"] for one in truth["sites"].values()])
    slopes = np.array([one["calibration_slope"] for one in truth["sites"].values()])
    assert shifts.std(ddof=1) == pytest.approx(0.4, rel=0.3)
    assert slopes.std(ddof=1) == pytest.approx(0.1, rel=0.3)
    assert generate(10, seed=2, plan=plan).truth["sites"] != truth["sites"]
    even = generate(10, seed=1, plan=plan | {"site_in_the_large_sd": 0.0, "site_slope_sd": 0.0}).truth
    assert {one["calibration_slope"] for one in even["sites"].values()} == {1.0}


def test_a_third_level_of_missing_values_has_the_truth_of_all() -> None:
    cohort = generate(20_000, seed=5, plan=MIXED | {"missing_groups": 0.1})
    sex = cohort.table["sex"]
    blank = np.array([value is None for value in sex])
    assert blank.mean() == pytest.approx(0.1, abs=4 * np.sqrt(0.09 / 20_000))
    levels = cohort.truth["groups"]["sex"]
    assert levels["missing"]["auroc"] == cohort.truth["overall"]["auroc"]
    assert sum(level["share"] for level in levels.values()) == pytest.approx(1.0)
    plain = generate(20_000, seed=5, plan=MIXED)
    assert levels["F"]["auroc"] == plain.truth["groups"]["sex"]["F"]["auroc"]


# ---- the table -------------------------------------------------------------------------------------------------------


def test_risk_is_the_model_of_the_predictors() -> None:
    cohort = generate(3_000, seed=6, plan=MIXED)
    model, table = cohort.truth["model"], cohort.table
    lp = model["intercept"] + sum(model[name] * table[name] for name in ("age", "creatinine", "sodium", "diabetes"))
    assert np.abs(special.expit(lp) - table["risk"]).max() <= 0.5e-8 + 1e-12
    assert table["age"].min() >= 18
    assert set(np.unique(table["diabetes"])) == {0.0, 1.0}
    assert 100 < table["sodium"].min() < 138 < table["sodium"].max() < 175


def test_columns_have_the_forms_of_a_table() -> None:
    table = generate(50, seed=1).table
    assert list(table) == [
        "patient", "site", "time", "sex", "ethnicity", "age", "creatinine", "sodium", "diabetes", "risk", "outcome",
    ]  # fmt: skip
    assert table["time"].dtype == np.dtype("datetime64[us]")
    assert all(table[name].dtype == object for name in ("patient", "site", "sex", "ethnicity"))
    assert all(table[name].dtype == np.float64 for name in ("age", "risk", "outcome"))
    assert len(set(table["patient"])) == 50


def test_a_longer_cohort_begins_with_the_shorter_one() -> None:
    short, long = generate(100, seed=9, plan=MIXED), generate(150, seed=9, plan=MIXED)
    for name, column in short.table.items():
        assert column.tolist() == long.table[name][:100].tolist(), name


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    plan = MIXED | {"missing_groups": 0.2, "sites": 3, "rows_per_patient": 2}
    generate(500, seed=2, plan=plan).write(tmp_path / "a.csv")
    generate(500, seed=2, plan=plan).write(tmp_path / "b.csv")
    generate(500, seed=3, plan=plan).write(tmp_path / "c.csv")
    first = (tmp_path / "a.csv").read_bytes()
    assert first == (tmp_path / "b.csv").read_bytes() != (tmp_path / "c.csv").read_bytes()
    assert (tmp_path / "a.truth.json").read_bytes() == (tmp_path / "b.truth.json").read_bytes()
    assert b"\r" not in first
    assert first.count(b"\n") == 501


def test_bytes_are_those_written_down(tmp_path: Path) -> None:
    path, _ = generate(2, seed=0).write(tmp_path / "two.csv")
    assert path.read_text(encoding="utf-8") == WRITTEN


def test_file_gives_back_the_table_and_the_plan(tmp_path: Path) -> None:
    cohort = generate(300, seed=2, plan=MIXED | {"missing_groups": 0.2})
    path, beside = cohort.write(tmp_path / "cohort.csv")
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    rows = [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]
    assert [float(row["risk"]) for row in rows] == cohort.table["risk"].tolist()
    assert [row["sex"] or None for row in rows] == cohort.table["sex"].tolist()
    assert [np.datetime64(row["time"]) for row in rows] == cohort.table["time"].tolist()
    truth = json.loads(beside.read_text(encoding="utf-8"))
    assert truth == cohort.truth
    assert CohortPlan.of(truth["plan"]) == cohort.plan


def test_write_refuses_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder that exists"):
        generate(2, seed=0).write(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(InputError, match=r"\.csv"):
        generate(2, seed=0).write(tmp_path / "a.parquet")


def test_the_generator_is_registered() -> None:
    assert plugins.find("generators", "cohort") is generate


# ---- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"auroc": 0.5}, "auroc must be above 0.5"),
        ({"auroc": 0.999}, "at most 0.99"),
        ({"auroc": 0.5001}, "can reach"),
        ({"prevalence": 1.2}, "prevalence must lie between 0 and 1"),
        ({"slope": -1}, "slope must be above 0"),
        ({"slope": 0.15}, "where scorers clip them"),
        ({"slope": float("nan")}, "slope must be a finite number"),
        ({"prevalence": "a third"}, "prevalence must be a finite number"),
        ({"groups": {"sex": {"F": 0.5, "M": 0.6}}}, r"add up to 1; got 0.5, 0.6 \(together 1.1\)"),
        ({"groups": {"sex": {"F": 1.0, "M": 0.0}}}, "above 0"),
        ({"groups": {"risk": {"a": 1.0}}}, "named like a column"),
        ({"groups": {"sex": {"missing": 1.0}}}, "other than 'missing'"),
        ({"gaps": {"sex": {"Female": {"auroc": -0.1}}}}, "'Female' must be one of the levels of 'sex'"),
        ({"gaps": {"sx": {"F": {"auroc": -0.1}}}}, "did you mean 'sex'"),
        ({"gaps": {"sex": {"F": {"aurc": -0.1}}}}, "did you mean 'auroc'"),
        ({"gaps": {"sex": {"F": {"sensitivity": -0.1, "in_the_large": 0.1}}}}, "no other shift"),
        ({"gaps": {"sex": {"F": {"sensitivity": 0.9}}}}, "shifted risks can reach"),
        ({"drift": {"auroc": -0.1}}, r"2024-04: auroc must be above 0.5.*got 0.5 after"),
        ({"drift": {"sensitivity": -0.1}}, "cannot be given in sensitivity"),
        ({"prevalance": 0.2}, "did you mean 'prevalence'"),
        ({"thresholds": []}, "thresholds"),
        ({"thresholds": [0.2, 1.0]}, "thresholds"),
        ({"months": 0}, "months must be a whole number from 1"),
        ({"rows_per_patient": 1.5}, "rows_per_patient must be a whole number"),
        ({"icc": 1.5}, "icc must lie between 0 and 1"),
        ({"start": "January"}, "start must be a month"),
        ({"sites": 500, "months": 100}, "at most 20,000 combinations"),
    ],
)
def test_an_infeasible_plan_is_refused_with_the_reason(plan: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        generate(10, seed=0, plan=plan)


@pytest.mark.parametrize("count", [0, -5, 2.5, True])
def test_count_must_be_a_number_of_rows(count: object) -> None:
    with pytest.raises(InputError, match="count must be a whole number"):
        generate(count, seed=0)  # type: ignore[arg-type]


WRITTEN = """\
patient,site,time,sex,ethnicity,age,creatinine,sodium,diabetes,risk,outcome
P000001,S01,2024-04-14T23:51:00,M,White,61.2,1.46,138.2002,0,0.11704408,0
P000002,S01,2024-10-26T15:59:00,M,White,55.7,0.79,127.0994,0,0.48434735,0
"""


@pytest.mark.parametrize("value", ["x", "0.5", None, True, [1], {"a": 1}, {"a": {"b": 1}}, math.nan, 1e400, -1, [], {}])
@pytest.mark.parametrize("field", [one.name for one in fields(CohortPlan)])
def test_a_plan_with_a_wrong_value_is_refused_in_one_message(field: str, value: Any) -> None:
    right = {
        "drift": {"{}"},
        "gaps": {"{}"},
        "groups": {"{}", str({"a": {"b": 1}})},
        "in_the_large": {"-1"},
        "drift_steps": {"None"},
    }
    if str(value) in right.get(field, ()):
        CohortPlan.of({field: value})
    else:
        with pytest.raises(InputError) as refused:
            generate(30, seed=1, plan={field: value})
        assert "\n" not in str(refused.value)
