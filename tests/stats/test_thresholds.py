"""Thresholds against R (qbeta), the worked numbers, ties, budgets of days, and the search for net benefit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from tests.support.oracles import Case, cases
from workup.stats import thresholds
from workup.stats.arrays import Floats, Ints
from workup.stats.intervals import wilson
from workup.stats.thresholds import Threshold, for_alert_rate, for_sensitivity

CASES = [one for one in cases("updating").args[1] if "budget_share" in one.input]
of_thresholds = pytest.mark.parametrize("case", CASES, ids=[one.id for one in CASES])
FEW = 50  # where intervals by resampling are not what is looked at


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
    found = for_sensitivity(y, risk, 0.90, replicates=FEW)
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
    found = for_sensitivity(y, risk, 0.90, replicates=FEW).assured
    assert found is not None
    assert (found.place, found.apparent) == (place, apparent)


def test_a_budget_taken_at_its_word_is_kept_half_the_time() -> None:
    y, risk = _cohort(100, 300)
    found = for_alert_rate(y, risk, 0.15, replicates=FEW)
    assert found.naive is not None
    assert found.assured is not None
    assert (found.naive.place, round(found.naive.chance, 3)) == (60, 0.521)
    assert found.assured.place == 48


def test_too_few_events_or_rows_give_no_assured_threshold_and_the_number_needed() -> None:
    y, risk = _cohort(28, 60)
    found = for_sensitivity(y, risk, 0.90, replicates=FEW)
    assert (found.assured, found.needed) == (None, 29)
    y, risk = _cohort(29, 60)
    found = for_sensitivity(y, risk, 0.90, replicates=FEW)
    assert found.assured is not None
    assert found.assured.place == 1
    few = for_alert_rate(np.array([1.0, 0.0, 0.0]), np.array([0.3, 0.2, 0.1]), 0.15, replicates=FEW)
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
    found = for_sensitivity(y, risk, 0.8, assurance=0.8, replicates=FEW)
    for one in (found.naive, found.assured):
        if one is not None:
            _agrees(one, y, risk, "sensitivity")
            assert one.apparent >= 0.8 - 1e-12
    budget = for_alert_rate(y, risk, 0.3, assurance=0.8, replicates=FEW)
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


# ---- repeated patients and weights -----------------------------------------------------------------------------------


def _logistic_cohort(n: int, seed: int = 11) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    lp = rng.normal(-1.2, 1.2, n)
    return (rng.random(n) < special.expit(lp)).astype(float), special.expit(lp)


def test_rows_copied_within_patients_are_not_more_events() -> None:
    """Three equal rows a patient are the patient once: the law on rows would take a threshold that is too high."""
    y, risk = _logistic_cohort(500)
    once = for_sensitivity(y, risk, 0.90, replicates=FEW).assured
    patient = np.repeat(np.arange(500), 3)
    thrice = for_sensitivity(np.repeat(y, 3), np.repeat(risk, 3), 0.90, patient=patient, replicates=FEW)
    as_rows = for_sensitivity(np.repeat(y, 3), np.repeat(risk, 3), 0.90, replicates=FEW).assured
    assert once is not None
    assert thrice.assured is not None
    assert as_rows is not None
    assert thrice.assured.value <= once.value < as_rows.value
    assert "effective events" in thrice.method
    assert thrice.needed > 29
    budget = for_alert_rate(np.repeat(y, 3), np.repeat(risk, 3), 0.2, patient=patient, replicates=FEW)
    alone = for_alert_rate(y, risk, 0.2, replicates=FEW).assured
    assert budget.assured is not None
    assert alone is not None
    assert budget.assured.value >= alone.value
    wide, narrow = (one.figure("ppv") for one in (thrice.assured, as_rows))
    assert (wide.high or 0) - (wide.low or 0) > (narrow.high or 0) - (narrow.low or 0)


def test_one_event_a_patient_keeps_the_exact_law_though_other_rows_repeat() -> None:
    y, risk = _logistic_cohort(600)
    patient = np.where(y == 1, np.arange(600), 1000 + np.arange(600) // 3)
    plain, clustered = (for_sensitivity(y, risk, 0.9, patient=one, replicates=FEW) for one in (None, patient))
    assert "exact" in clustered.method
    assert plain.assured is not None
    assert clustered.assured is not None
    assert plain.assured.value == clustered.assured.value
    assert plain.assured.figure("specificity").method == "Wilson"
    assert "resampled" in clustered.assured.figure("specificity").method


def test_equal_weights_change_nothing_and_rows_without_weight_are_not_there() -> None:
    y, risk = _logistic_cohort(400)
    plain = for_sensitivity(y, risk, 0.9, replicates=FEW)
    assert for_sensitivity(y, risk, 0.9, weight=np.full(400, 2.5), replicates=FEW) == plain
    more_y, more_risk = np.append(y, [1.0, 0.0]), np.append(risk, [0.001, 0.99])
    weight = np.append(np.ones(400), [0.0, 0.0])
    assert for_sensitivity(more_y, more_risk, 0.9, weight=weight, replicates=FEW) == plain
    uneven = for_sensitivity(y, risk, 0.9, weight=np.where(np.arange(400) % 2, 0.5, 2.0), replicates=FEW)
    assert "effective" in uneven.method
    assert uneven.assured is not None
    assert uneven.assured.apparent >= 0.9


def test_cross_fitted_risks_are_said_to_make_the_law_approximate() -> None:
    y, risk = _logistic_cohort(300)
    assert "approximate" in for_sensitivity(y, risk, 0.9, held_out=False, replicates=FEW).method
    assert "exact" in for_sensitivity(y, risk, 0.9, replicates=FEW).method


def test_shuffled_rows_give_the_same_thresholds() -> None:
    y, risk = _logistic_cohort(300)
    order = np.random.default_rng(1).permutation(300)
    patient = np.arange(300) // 2
    for sort in (for_sensitivity, for_alert_rate):
        one = sort(y, risk, 0.6, patient=patient, seed=4, replicates=FEW)
        two = sort(y[order], risk[order], 0.6, patient=patient[order], seed=4, replicates=FEW)
        assert one == two


# ---- a threshold that data did not choose ----------------------------------------------------------------------------


def test_figures_of_a_given_threshold() -> None:
    y, risk = _logistic_cohort(500)
    found = {one.name: one for one in thresholds.figures_at(y, risk, 0.1, replicates=400)}
    flagged = risk >= 0.1
    assert found["sensitivity"].value == pytest.approx(flagged[y == 1].mean())
    assert (found["ppv"].low, found["ppv"].high) == pytest.approx(wilson(float(y[flagged].mean()), int(flagged.sum())))
    benefit = found["net_benefit"]
    assert benefit.value == pytest.approx((flagged @ y - (flagged @ (1 - y)) / 9) / 500)
    assert (benefit.low or 0) < (benefit.value or 0) < (benefit.high or 0)
    clustered = thresholds.figures_at(y, risk, 0.1, patient=np.arange(500) // 5, replicates=400)
    assert all("resampled" in one.method for one in clustered)
    nobody = {one.name: one for one in thresholds.figures_at(y, risk, 0.999, replicates=20)}
    assert nobody["ppv"].value is None


# ---- net benefit -----------------------------------------------------------------------------------------------------


def test_the_best_cut_of_a_worthless_risk_is_luck() -> None:
    """Risks that say nothing gain next to nothing at any cut; the search always finds one that seems to."""
    apparent, corrected, covered = [], [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y, risk = (rng.random(150) < 0.3).astype(float), rng.random(150)
        found = thresholds.search_net_benefit(y, risk, 7 / 3, replicates=200, seed=seed)
        # Where a missed event counts 7 / 3 needless alerts, flagging at random gains 0.3 − 0.7 · 3 / 7 = 0.
        apparent.append(found.apparent)
        corrected.append(found.net_benefit.value or 0.0)
        covered.append((found.net_benefit.low or 0) <= 0 <= (found.net_benefit.high or 0))
        assert found.apparent >= found.at_costs - 1e-3
        assert found.from_costs == pytest.approx(0.3)
    assert np.mean(apparent) > 0.01
    assert abs(np.mean(corrected)) < np.mean(apparent) / 2
    assert np.mean(covered) > 0.85


# ---- alerts a day ----------------------------------------------------------------------------------------------------


def _fired(seed: int = 0, patients: int = 300, days: int = 60) -> tuple[Any, list[float]]:
    """One score a day of each patient's three-day stay; each at or above the threshold fires. Sundays are off."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(patients), 3)
    day = (rng.integers(0, days - 3, patients)[:, None] + np.arange(3)).ravel()
    day = np.where(day % 7 == 6, day - 1, day)
    risk = rng.beta(1, 4, 3 * patients)

    def alerts(threshold: float) -> tuple[Ints, Ints]:
        fires = risk >= threshold
        return patient[fires], day[fires]

    return alerts, np.unique(risk).tolist()


def test_a_daily_budget_counts_days_without_an_alert() -> None:
    alerts, candidates = _fired()
    found = thresholds.for_alerts_per_day(candidates, alerts, 5.0, days=60, patients=300, replicates=500)
    assert found.naive is not None
    assert found.assured is not None
    _, day = alerts(found.naive.value)
    assert found.naive.per_day.value == pytest.approx(day.size / 60)
    assert day.size / 60 <= 5.0
    busy = np.bincount(day, minlength=60)
    assert (busy == 0).any()
    # The next lower candidate breaks the budget; over days with alerts alone this one would, too.
    lower = [one for one in candidates if one < found.naive.value]
    assert alerts(thresholds.rounded_down(lower[-1]))[1].size / 60 >= 5.0
    assert busy[busy > 0].mean() > 5.0
    assert found.naive.busiest == np.quantile(busy, 0.95)
    assert found.naive.above_budget == np.mean(busy > 5.0) > 0.2
    assert found.assured.value > found.naive.value
    assert (found.assured.per_day.high or 9) < 5.0 < (found.naive.per_day.high or 0)
    assert found.assured.chance >= 0.95 > found.naive.chance


def test_a_daily_budget_that_cannot_be_kept_says_so() -> None:
    alerts, candidates = _fired()
    found = thresholds.for_alerts_per_day(candidates[:50], alerts, 0.5, days=60, patients=300, replicates=50)
    assert (found.naive, found.assured) == (None, None)
    assert found.reason is not None


def test_under_suppression_the_budget_holds_from_the_threshold_on() -> None:
    """Fewer alerts at 0.2 than at 0.3 (a crossing is noticed later): 0.2 is no answer to a budget that 0.3 breaks."""
    counts = {0.1: 40, 0.2: 8, 0.3: 20, 0.4: 9, 0.5: 2}

    def alerts(threshold: float) -> tuple[Ints, Ints]:
        size = counts[threshold]
        return np.arange(size) % 30, np.arange(size) % 10

    found = thresholds.for_alerts_per_day(list(counts), alerts, 1.0, days=10, patients=30, replicates=200)
    assert found.naive is not None
    assert found.naive.value == 0.4
