"""The generator of censored cohorts: is the planted truth true, and the same every time?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup import plugins
from workup.corpora.generate.cohort import cells, planted_truth
from workup.corpora.generate.survival.generator import generate
from workup.corpora.generate.survival.plan import SurvivalPlan
from workup.corpora.generate.survival.world import World
from workup.errors import InputError, StudyError
from workup.stats.survival import at_horizon

PLAIN = {"groups": {}, "sites": 1}
# Groups, sites, landmarks and losses that differ: a mixture with no closed form.
MIXED = {
    "horizons": [200, 500],
    "risks": [0.15, 0.3],
    "auroc": 0.75,
    "competing": 0.15,
    "censoring": 0.4,
    "slope": 0.8,
    "in_the_large": 0.2,
    "landmarks": [0, 100, 250],
    "groups": {"sex": {"F": 0.6, "M": 0.4}},
    "gaps": {"sex": {"F": {"log_odds": -0.5, "outcome_log_odds": 0.4, "log_censoring": 0.5}}},
    "sites": 2,
    "site_log_odds_sd": 0.3,
}


def seen(table: Any, horizon: int, rows: Any = None) -> dict[str, float]:
    """The figures of a table at a horizon, by weights for those lost, with no help of the scorer under test."""
    rows = np.arange(table["followup"].size) if rows is None else rows
    known = at_horizon(table["followup"][rows], table["status"][rows], horizon)
    y, a, p = np.nan_to_num(known.outcome), known.weight, table[f"risk_{horizon}d"][rows]
    return {
        "observed_risk": float(np.mean(a * y)),
        "mean_risk": float(p.mean()),
        "auroc": _auroc(y, p, a),
        "brier": float(np.mean(a * (y - p) ** 2)),
        "alert_rate": float(np.mean(p >= 0.2)),
        "sensitivity": float(a @ (y * (p >= 0.2)) / (a @ y)),
    }


def _auroc(y: Any, p: Any, a: Any) -> float:
    order = np.argsort(p, kind="stable")
    events, others = (a * y)[order], (a * (1 - y))[order]
    return float(events @ (np.cumsum(others) - others / 2) / (events.sum() * others.sum()))


# ---- exactness -------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=15)
@given(
    risk=st.floats(0.05, 0.6),
    auroc=st.floats(0.6, 0.9),
    slope=st.floats(0.6, 1.6),
    in_the_large=st.floats(-0.6, 0.6),
)
def test_a_plain_plan_is_met_exactly(risk: float, auroc: float, slope: float, in_the_large: float) -> None:
    plan = {"horizons": [30], "risks": [risk], "auroc": auroc, "slope": slope, "in_the_large": in_the_large}
    truth = generate(1, seed=0, plan=PLAIN | plan).truth["overall"]["30d"]
    assert truth["observed_risk"] == pytest.approx(risk, abs=1e-6)
    assert truth["auroc"] == pytest.approx(auroc, abs=1e-6)
    assert truth["calibration_slope"] == pytest.approx(slope, abs=1e-6)
    assert truth["calibration_in_the_large"] == pytest.approx(in_the_large, abs=1e-6)
    assert truth["competing_risk"] == pytest.approx(0.08, abs=1e-6)


def test_at_one_horizon_it_is_the_truth_of_the_cohort_without_times() -> None:
    plan = {"horizons": [90], "risks": [0.25], "auroc": 0.8, "slope": 0.7, "in_the_large": 0.3}
    ours = generate(1, seed=0, plan=PLAIN | plan).truth["overall"]["90d"]
    cell = cells.solve(cells.Target(0.25, 0.8, 0.7, 0.3), where="")
    [theirs] = planted_truth.mixtures([cell], np.ones((1, 1)), thresholds=[0.1, 0.2, 0.3])
    for name in ("auroc", "brier", "scaled_brier", "oe_ratio", "calibration_slope", "calibration_in_the_large"):
        assert ours[name] == pytest.approx(theirs[name], abs=2e-6), name
    for threshold, found in ours["thresholds"].items():
        for name, value in found.items():
            assert value == pytest.approx(theirs["thresholds"][threshold][name], abs=5e-6), (threshold, name)


def test_truth_of_landmarks_groups_and_sites_is_what_a_large_draw_shows() -> None:
    made = generate(60_000, seed=5, plan=MIXED | {"censoring": 0.0})
    lost = generate(60_000, seed=5, plan=MIXED)
    table = made.table
    for horizon in (200, 500):
        for name, rows in {
            "overall": np.arange(table["followup"].size),
            "F": np.flatnonzero(table["sex"] == "F"),
            "S02": np.flatnonzero(table["site"] == "S02"),
            "250d": np.flatnonzero(table["landmark"] == 250),
        }.items():
            part = {"F": made.truth["groups"]["sex"], "S02": made.truth["sites"], "250d": made.truth["landmarks"]}.get(
                name, made.truth
            )[name][f"{horizon}d"]
            found = seen(table, horizon, rows)
            for metric, value in found.items():
                planted = part.get(metric, part["thresholds"]["0.2"].get(metric))
                assert value == pytest.approx(planted, abs=0.012), (name, horizon, metric)
    # Where nobody's loss depends on risk, weighting finds the same landmark's figures again.
    rows = np.flatnonzero((lost.table["landmark"] == 100) & (lost.table["sex"] == "F"))
    everyone = np.flatnonzero((table["landmark"] == 100) & (table["sex"] == "F"))
    one, other = seen(lost.table, 500, rows), seen(table, 500, everyone)
    assert one["auroc"] == pytest.approx(other["auroc"], abs=0.015)
    assert one["observed_risk"] == pytest.approx(other["observed_risk"], abs=0.012)


def test_weighting_finds_the_plan_and_dropping_the_lost_does_not() -> None:
    made = generate(40_000, seed=2, plan=PLAIN | {"censoring": 0.6})
    truth = made.truth["overall"]["1095d"]
    found = seen(made.table, 1095)
    for name in ("observed_risk", "auroc", "brier"):
        assert found[name] == pytest.approx(truth[name], abs=0.01)
    known = at_horizon(made.table["followup"], made.table["status"], 1095).outcome
    assert np.nanmean(known) > truth["observed_risk"] + 0.1


def test_competing_events_taken_for_losses_make_the_risk_too_high() -> None:
    made = generate(40_000, seed=2, plan=PLAIN | {"competing": 0.25})
    merged = at_horizon(made.table["followup"], np.where(made.table["status"] == 1, 1, 0), 1095)
    assert (
        np.mean(np.nan_to_num(merged.outcome) * merged.weight) > made.truth["overall"]["1095d"]["observed_risk"] + 0.02
    )


def test_losses_are_as_many_as_planned_and_depend_on_what_the_plan_says() -> None:
    plan = PLAIN | {"censoring": 0.45, "competing": 0.0, "risks": [0.001, 0.002, 0.003], "auroc": 0.6}
    table = generate(40_000, seed=3, plan=plan).table
    lost = (table["status"] == 0) & (table["followup"] < 1095)
    assert lost.mean() == pytest.approx(0.45, abs=0.01)
    by_risk = generate(40_000, seed=3, plan=plan | {"censoring_by_risk": 0.7}).table
    lost = (by_risk["status"] == 0) & (by_risk["followup"] < 1095)
    assert by_risk["score"][lost].mean() > by_risk["score"][~lost].mean() + 0.3
    by_site = generate(40_000, seed=3, plan=plan | {"sites": 2, "censoring_by_site": 1.0}).table
    lost = (by_site["status"] == 0) & (by_site["followup"] < 1095)
    assert lost[by_site["site"] == "S02"].mean() > lost[by_site["site"] == "S01"].mean() + 0.15


def test_whole_days_tie_times_and_change_no_one_s_state_at_a_horizon() -> None:
    plan = PLAIN | {"censoring": 0.0}
    exact, days = (generate(3_000, seed=4, plan=plan | {"whole_days": whole}).table for whole in (False, True))
    assert (days["followup"] % 1 == 0).all() and np.unique(days["followup"]).size < np.unique(exact["followup"]).size
    for horizon in (365, 730, 1095):
        first, second = (np.where(one["followup"] <= horizon, one["status"], 0) for one in (exact, days))
        assert np.array_equal(first, second)


def test_follow_up_ends_on_the_day_the_data_were_taken() -> None:
    plan = PLAIN | {"whole_days": True, "months": 12, "start": "2022-01-01", "as_of": "2023-06-01"}
    table = generate(2_000, seed=6, plan=plan).table
    last = table["time"] + (table["followup"] * 86_400e6).astype(np.int64).astype("timedelta64[us]")
    assert last.max() == np.datetime64("2023-06-01") and (table["followup"] > 0).all()


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32), landmark=st.integers(1, 400))
def test_rows_are_those_still_followed_and_risks_never_fall(seed: int, landmark: int) -> None:
    table = generate(300, seed=seed, plan={"landmarks": [0, landmark], "slope": 0.8}).table
    assert (table["followup"] > 0).all()
    first = table["landmark"] == 0
    stayed = first & np.isin(table["patient"], table["patient"][~first])
    assert np.allclose(table["followup"][stayed] - landmark, table["followup"][~first], atol=1e-3)
    assert np.array_equal(table["status"][stayed], table["status"][~first])
    risks = np.stack([table[f"risk_{day}d"] for day in (365, 730, 1095)])
    assert (np.diff(risks, axis=0) >= 0).all() and ((risks > 0) & (risks < 1)).all()


# ---- form ------------------------------------------------------------------------------------------------------------


def test_equal_arguments_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        generate(200, seed=9, plan=MIXED).write(tmp_path / f"{name}.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (tmp_path / "a.truth.json").read_bytes() == (tmp_path / "b.truth.json").read_bytes()
    truth = json.loads((tmp_path / "a.truth.json").read_text())
    assert SurvivalPlan.checked(truth["plan"], where="") == SurvivalPlan.checked(MIXED, where="")
    head = (tmp_path / "a.csv").read_text().splitlines()[0]
    assert head == "patient,site,time,sex,score,landmark,followup,status,risk_200d,risk_500d"


def test_it_is_registered() -> None:
    assert plugins.find("generators", "survival") is generate


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ({"horizons": [365]}, "one risk for each of 1 horizons; got 3"),
        ({"risks": [0.3, 0.2, 0.25]}, "'risks': expected numbers that rise"),
        ({"censoring": 1.0}, "'censoring': expected a number"),
        ({"whole_days": True, "landmarks": [0.5]}, "whole days too"),
        ({"gaps": {"sex": {"X": {"log_odds": 1}}}}, "'sex' with the level 'X' is not among the groups"),
        ({"groups": {"sex": {"F": 0.4, "M": 0.4}}}, "must add up to 1"),
        ({"groups": {"followup": {"F": 0.5, "M": 0.5}}}, "a column that every such cohort has"),
        ({"as_of": "2020-06-01"}, "must not lie before the last day of entry"),
        ({"as_of": "2030-06-01", "landmarks": [0, 30]}, "as_of needs landmarks: [0]"),
        ({"horizon": [365]}, "'horizon' is not a known field"),
        ({"groups": {str(i): {"a": 0.5, "b": 0.5} for i in range(9)}}, "at most 500 combinations"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(plan: dict[str, Any], expected: str) -> None:
    with pytest.raises(StudyError) as refused:
        generate(10, seed=0, plan=plan)
    assert expected in str(refused.value)


def test_a_world_that_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="competing must leave room"):
        World.of(SurvivalPlan(competing=0.7))
    for count in (0, True, 1.5):
        with pytest.raises(InputError, match="count must be a whole number"):
            generate(count, seed=0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="seed must be"):
        generate(5, seed=-1)
