"""Standardised differences of inputs and risks between groups, between sites, and from window to baseline."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workup.estimate import Draws
from workup.lenses.drift.lens import drift
from workup.lenses.sites.lens import sites
from workup.lenses.subgroups.lens import subgroups
from workup.scores import Scores
from workup.stats.standardised import moments, of_categories, of_numbers
from workup.tasks.risk.metrics import Smoother, risk_metrics

DRAWS = Draws(seed=3, replicates=200)
DAYS = np.datetime64("2024-01-01", "us")


def cohort(n: int = 1200, *, repeats: int = 1, later: float = 0.0, timed: bool = True) -> Scores:
    """Women are younger by half a standard deviation; a lab is missing now and then; `later` shifts age over time."""
    rng = np.random.default_rng(7)
    who = np.repeat(np.arange(n // repeats), repeats)
    sex = rng.choice(["F", "M"], n // repeats)[who]
    late = np.arange(n) >= n // 2
    age = rng.normal(60, 10, n // repeats)[who] - 5 * (sex == "F") + later * late
    stage = np.where(rng.random(n // repeats)[who] < np.where(sex == "F", 0.3, 0.5), "high", "low")
    lab = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    risk = 1 / (1 + np.exp(-(age - 65) / 10))
    return Scores.of(
        {"outcome": (rng.random(n) < risk).astype(float), "risk": risk},
        patient=None if repeats == 1 else who,
        site=np.array(["north", "south", "east"])[np.arange(n) % 3],
        time=DAYS + np.arange(n) * np.timedelta64(8, "h") if timed else None,
        groups={"sex": sex},
        inputs={"age": age, "lab": lab, "stage": stage.astype(object)},
    )


def table(result: Any) -> dict[tuple[str, str], dict[str, Any]]:
    rows = result.tables["standardised_differences"]
    return {(str(next(iter(row["slice"].values()))), str(row["input"])): row for row in rows}


def metrics(scores: Scores) -> Any:
    return [m for m in risk_metrics(thresholds=[0.4], smoother=Smoother.of(scores)) if m.name in ("auroc", "ppv")]


def test_groups_differ_as_planted_and_risk_is_among_the_columns() -> None:
    scores = cohort()
    found = table(subgroups(scores, metrics(scores), settings={"comparator": {"sex": "M"}}, draws=DRAWS))
    assert {name for _, name in found} == {"age", "lab", "stage", "risk"}
    age = found["F", "age"]
    assert (age["against"], age["status"], age["kind"]) == ("M", "ok", "number")
    assert age["low"] < -0.5 < age["high"] < 0
    woman = scores.groups["sex"].codes == 0
    column = np.asarray(scores.inputs["age"])
    assert age["value"] == pytest.approx(of_numbers(moments(column[woman]), moments(column[~woman])).value)
    assert (age["n_patients"], age["n_against"]) == (int(woman.sum()), int((~woman).sum()))
    assert found["F", "lab"]["n_patients"] < age["n_patients"], "missing values are no patients with a value"
    assert found["F", "stage"]["kind"] == "category"


def test_everyone_holds_the_group_itself_so_the_rest_is_compared() -> None:
    scores = cohort()
    found = table(subgroups(scores, metrics(scores), settings={"comparator": "overall"}, draws=DRAWS))
    assert {row["against"] for row in found.values()} == {"rest"}


@pytest.mark.parametrize("timed", [True, False])
def test_a_patient_counts_once(timed: bool) -> None:
    scores = cohort(repeats=4, timed=timed)
    found = table(subgroups(scores, metrics(scores), settings={}, draws=DRAWS))
    sizes = {row["n_patients"] + row["n_against"] for (_, name), row in found.items() if name in ("age", "risk")}
    assert sizes == {300}


def test_without_times_the_row_taken_is_not_the_one_of_least_risk() -> None:
    rng = np.random.default_rng(1)
    risk = np.sort(rng.random(1_000))
    patient = rng.integers(0, 100, 1_000)
    scores = Scores.of(
        {"outcome": (rng.random(1_000) < risk).astype(float), "risk": risk},
        patient=patient,
        groups={"ward": np.where(patient < 50, "a", "b")},
    )
    from workup.lenses.case_mix import one_row_a_patient

    kept = one_row_a_patient(scores, seed=1)
    assert np.unique(patient[kept]).size == kept.size == np.unique(patient).size
    assert risk[kept].mean() > 0.4, "about the mean of all rows; the least of ten each would be 0.1"
    assert np.array_equal(kept, one_row_a_patient(scores, seed=1))


def test_sites_are_held_against_the_others_together() -> None:
    scores = cohort()
    found = table(sites(scores, metrics(scores), settings={}, draws=DRAWS))
    assert {place for place, _ in found} == {"north", "south", "east"}
    assert {row["against"] for row in found.values()} == {"other sites"}
    counts = [
        [int(np.sum(inside & (scores.inputs["stage"].codes == k))) for k in (0, 1)]  # type: ignore[union-attr]
        for inside in (scores.site.codes == 0, scores.site.codes != 0)
    ]  # type: ignore[union-attr]
    name = scores.site.names[0]  # type: ignore[union-attr]
    assert found[name, "stage"]["value"] == pytest.approx(of_categories(*counts).value)


def test_a_window_is_held_against_the_baseline() -> None:
    settings = {"window": "quarter", "baseline": 2}
    still, moved = (
        table(drift(scores, metrics(scores), settings=settings, draws=DRAWS))
        for scores in (cohort(), cohort(later=8.0))
    )
    last = max(window for window, _ in moved)
    assert still[last, "age"]["low"] < 0 < still[last, "age"]["high"]
    assert moved[last, "age"]["low"] > 0.4
    assert moved[last, "risk"]["low"] > 0.2
    assert moved[last, "age"]["against"] == "baseline"


def test_few_patients_have_a_value_and_no_interval_and_none_a_reason() -> None:
    rng = np.random.default_rng(2)
    group = np.array(["few"] * 12 + ["none"] * 12 + ["many"] * 200)
    lab = np.where(group == "none", np.nan, rng.normal(size=224))
    risk = rng.random(224)
    scores = Scores.of(
        {"outcome": (rng.random(224) < risk).astype(float), "risk": risk}, groups={"g": group}, inputs={"lab": lab}
    )
    found = table(subgroups(scores, metrics(scores), settings={}, draws=DRAWS))
    few, none = found["few", "lab"], found["none", "lab"]
    assert (few["status"], few["value"] is not None, few["low"]) == ("insufficient", True, None)
    assert (none["status"], none["value"], none["reason"]) == ("undefined", None, "undefined: no value on one side")


def test_a_study_without_inputs_or_risks_has_no_table() -> None:
    from workup.metric import mean

    scores = Scores.of({"error": np.arange(60) / 60}, groups={"g": ["a", "b"] * 30})
    error = mean("error", lambda s: s["error"], describe="mean error")
    assert "standardised_differences" not in subgroups(scores, [error], settings={}, draws=DRAWS).tables
