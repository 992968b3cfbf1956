"""Thresholds against R (qbeta), the worked numbers, ties, budgets of days, and the search for net benefit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracles import Case, cases
from workup.stats import thresholds
from workup.stats.arrays import Floats
from workup.stats.thresholds import Threshold, for_alert_rate, for_sensitivity

CASES = [one for one in cases("updating").args[1] if "budget_share" in one.input]
of_thresholds = pytest.mark.parametrize("case", CASES, ids=[one.id for one in CASES])
FEW = {"replicates": 50}  # where intervals by resampling are not what is looked at


def _near(value: Any) -> Any:
    return pytest.approx(value, rel=1e-8, abs=1e-10)


# ---- against R -------------------------------------------------------------------------------------------------------


@of_thresholds
def test_thresholds_for_a_sensitivity_are_those_of_r(case: Case) -> None:
    y, risk, asked = case.array("y"), case.array("p"), case.input
    found = for_sensitivity(
        y, risk, asked["target"], assurance=asked["assurance"], next_events=asked["next_events"], replicates=50
    )
    assert found.needed == case.expected["events_needed_for_any"]
    for name, ours in (("naive", found.naive), ("assured", found.assured)):
        theirs = case.expected[name]
        if theirs is None:
            assert ours is None
            assert found.reason is not None
            assert str(found.needed) in found.reason
            continue
        assert ours is not None
        assert (ours.place, ours.next_flagged) == (
            theirs["k"],
            (theirs["next_flagged_low"], theirs["next_flagged_high"]),
        )
        assert ours.risk == _near(theirs["threshold"])
        assert ours.chance == _near(theirs["chance_target_is_met"])
        sensitivity, specificity = ours.figure("sensitivity"), ours.figure("specificity")
        assert sensitivity.value == _near(theirs["expected_sensitivity"])
        assert (sensitivity.low, sensitivity.high) == _near((theirs["sensitivity_low"], theirs["sensitivity_high"]))
        # The value is rounded down, and no row of these tables lies between it and the patient's risk.
        assert ours.value <= ours.risk
        assert ours.apparent == _near(theirs["apparent_sensitivity"])
        assert specificity.value == _near(theirs["specificity"])
        assert [specificity.low, specificity.high] == _near(theirs["specificity_wilson"])
        assert ours.figure("alert_rate").value == _near(theirs["alert_rate"])
        assert ours.figure("ppv").value == _near(theirs["ppv"])


@of_thresholds
def test_thresholds_for_an_alert_rate_are_those_of_r(case: Case) -> None:
    y, risk, asked = case.array("y"), case.array("p"), case.input
    found = for_alert_rate(y, risk, asked["budget_share"], assurance=asked["assurance"], replicates=50)
    for name, ours in (("budget_naive", found.naive), ("budget_assured", found.assured)):
        theirs = case.expected[name]
        assert ours is not None
        assert ours.place == theirs["m"]
        assert ours.risk == _near(theirs["threshold"])
        assert ours.chance == _near(theirs["chance_budget_is_kept"])
        rate = ours.figure("alert_rate")
        assert (rate.low, rate.high) == _near((theirs["alert_rate_low"], theirs["alert_rate_high"]))
        assert ours.value > ours.risk  # rounded up: the patient whose risk it was is no longer flagged
        assert ours.apparent == _near((theirs["m"] - 1) / y.size)
        assert np.mean(risk[y == 1] >= ours.risk) == _near(theirs["sensitivity"])


# ---- worked numbers --------------------------------------------------------------------------------------------------


def _cohort(events: int, others: int, *, seed: int = 3) -> tuple[Floats, Floats]:
    """Distinct risks to 6 digits, with so many events."""
    rng = np.random.default_rng(seed)
    risk = rng.permutation(np.linspace(0.02, 0.98, events + others)).round(6)
    return np.repeat([1.0, 0.0], [events, others]), risk


def test_a_threshold_for_ninety_percent_does_not_give_ninety_percent() -> None:
    """The naive threshold misses its target more often than it meets it."""
    y, risk = _cohort(100, 300)
    found = for_sensitivity(y, risk, 0.90, **FEW)  # type: ignore[arg-type]
    assert found.naive is not None
    assert found.naive.place == 11
    assert found.naive.apparent == 0.90
    assert round(found.naive.chance, 3) == 0.417
    sensitivity = found.naive.figure("sensitivity")
    assert (round(sensitivity.low or 0, 3), round(sensitivity.high or 0, 3)) == (0.824, 0.944)
    assert found.assured is not None
    assert (found.assured.place, found.assured.apparent) == (5, 0.96)
    assert found.assured.chance >= 0.95


@pytest.mark.parametrize(("events", "place", "apparent"), [(50, 2, 0.98), (200, 13, 0.94), (400, 30, 0.9275)])
def test_places_of_assured_thresholds(events: int, place: int, apparent: float) -> None:
    y, risk = _cohort(events, 100)
    found = for_sensitivity(y, risk, 0.90, **FEW).assured  # type: ignore[arg-type]
    assert found is not None
    assert (found.place, found.apparent) == (place, apparent)


def test_a_budget_taken_at_its_word_is_kept_half_the_time() -> None:
    y, risk = _cohort(100, 300)
    found = for_alert_rate(y, risk, 0.15, **FEW)  # type: ignore[arg-type]
    assert found.naive is not None
    assert found.assured is not None
    assert (found.naive.place, round(found.naive.chance, 3)) == (60, 0.521)
    assert found.assured.place == 48


def test_too_few_events_or_rows_give_no_assured_threshold_and_the_number_needed() -> None:
    y, risk = _cohort(28, 60)
    found = for_sensitivity(y, risk, 0.90, **FEW)  # type: ignore[arg-type]
    assert (found.assured, found.needed) == (None, 29)
    y, risk = _cohort(29, 60)
    found = for_sensitivity(y, risk, 0.90, **FEW)  # type: ignore[arg-type]
    assert found.assured is not None
    assert found.assured.place == 1
    few = for_alert_rate(np.array([1.0, 0.0, 0.0]), np.array([0.3, 0.2, 0.1]), 0.15, **FEW)  # type: ignore[arg-type]
    assert (few.assured, few.naive, few.needed) == (None, None, 19)
    none = for_sensitivity(np.zeros(5), np.linspace(0.1, 0.5, 5), 0.9)
    assert (none.assured, none.naive, none.reason) == (None, None, "there are no events")


@pytest.mark.parametrize("bad", [0.0, 1.0, 1.5, -0.1])
def test_targets_outside_zero_and_one_are_refused(bad: float) -> None:
    y, risk = _cohort(30, 30)
    with pytest.raises(ValueError, match="between 0 and 1"):
        for_sensitivity(y, risk, bad)
    with pytest.raises(ValueError, match="between 0 and 1"):
        for_alert_rate(y, risk, bad)
    with pytest.raises(ValueError, match="above 0"):
        thresholds.for_cost_ratio(-1.0)
    with pytest.raises(ValueError, match="no rows"):
        for_alert_rate(np.array([]), np.array([]), 0.1)


# ---- rounding and ties -----------------------------------------------------------------------------------------------


@given(st.floats(1e-6, 0.999))
def test_rounding_stays_on_the_safe_side_and_near(risk: float) -> None:
    down, up = thresholds.rounded_down(risk), thresholds.rounded_above(risk)
    assert down <= risk < up
    assert up - down <= 2.001e-3 * risk
    for one in (down, up):
        assert one == float(f"{one:.4g}")
    assert thresholds.rounded_down(down) == down


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 12)), min_size=60, max_size=150))
def test_with_tied_risks_figures_are_of_the_rows_really_flagged(rows: list[tuple[bool, int]]) -> None:
    y, risk = np.array([float(one) for one, _ in rows]), np.array([level / 16 for _, level in rows])
    found = for_sensitivity(y, risk, 0.8, assurance=0.8, **FEW)  # type: ignore[arg-type]
    for one in (found.naive, found.assured):
        if one is not None:
            _agrees(one, y, risk, "sensitivity")
            assert one.apparent >= 0.8 - 1e-12
    budget = for_alert_rate(y, risk, 0.3, assurance=0.8, **FEW)  # type: ignore[arg-type]
    for one in (budget.naive, budget.assured):
        if one is not None:
            _agrees(one, y, risk, "alert_rate")
            assert one.apparent <= 0.3 + 1e-12


def _agrees(found: Threshold, y: Floats, risk: Floats, law: str) -> None:
    flagged = risk >= found.value
    seen = {"sensitivity": flagged[y == 1], "alert_rate": flagged, "specificity": ~flagged[y == 0], "ppv": y[flagged]}
    assert found.apparent == pytest.approx(float(seen[law].mean()))
    for figure in found.figures:
        if figure.name in seen and figure.name != law:
            assert figure.value == (pytest.approx(float(seen[figure.name].mean())) if seen[figure.name].size else None)
        assert figure.low is None or figure.high is None or figure.low <= figure.high


def _met(levels: int, size: int, repetitions: int) -> dict[str, float]:
    """How often targets are met where risks take few values, and how often intervals hold the truth."""
    chance = np.linspace(0.05, 0.9, levels)
    weights = np.full(levels, 1 / levels)
    of_event = weights * chance / np.sum(weights * chance)
    tally: dict[str, list[bool]] = {"sensitivity": [], "covered": [], "budget": [], "naive budget at the risk": []}
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        level = rng.integers(0, levels, size)
        y = (rng.random(size) < chance[level]).astype(float)
        found = for_sensitivity(y, chance[level], 0.8, assurance=0.9, replicates=1).assured
        assert found is not None
        truth = float(of_event[chance >= found.value].sum())
        figure = found.figure("sensitivity")
        tally["sensitivity"].append(truth >= 0.8)
        tally["covered"].append((figure.low or 0) <= truth + 1e-12 and truth - 1e-12 <= (figure.high or 0))
        budget = for_alert_rate(y, chance[level], 0.3, assurance=0.9, replicates=1).assured
        assert budget is not None
        tally["budget"].append(float(weights[chance >= budget.value].sum()) <= 0.3)
        tally["naive budget at the risk"].append(float(weights[chance >= budget.risk].sum()) <= 0.3)
    return {name: float(np.mean(one)) for name, one in tally.items()}


def test_laws_stay_on_the_safe_side_with_few_distinct_risks() -> None:
    """At the tied risk itself a budget would be broken nearly always."""
    found = _met(levels=6, size=150, repetitions=150)
    error = 2 * np.sqrt(0.9 * 0.1 / 150)
    assert found["sensitivity"] >= 0.9 - error
    assert found["budget"] >= 0.9 - error
    assert found["covered"] >= 0.95 - error
    assert found["naive budget at the risk"] < 0.5
