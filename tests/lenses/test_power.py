"""The power lens: figures of a pilot scaled by hand, groups that are no ground for a plan, and laws of any plan."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cohorts import draw_cohort
from workup.errors import StudyError
from workup.estimate import Draws
from workup.lenses.power.lens import power
from workup.metric import Metric, mean, ratio
from workup.report import LensResult
from workup.scores import Scores
from workup.stats.multiplicity import adjust
from workup.stats.sizes.pilot import scaled_power
from workup.stats.sizes.proportions import two_proportions
from workup.stats.sizes.simulated_power import holm
from workup.tasks.risk.metrics import Smoother, risk_metrics

DRAWS = Draws(seed=5, replicates=200)
TABLES = ("needed", "reached", "smallest_difference")
Z = 1.959963984540054


def recall() -> Metric:
    return ratio("recall", lambda s: s["hit"], lambda s: np.ones(len(s)), describe="share found")


def error() -> Metric:
    return mean("error", lambda s: s["error"], describe="mean error")


def hits(**groups: tuple[int, int]) -> Scores:
    """Rows of 0 and 1 by group: so many found out of so many."""
    hit = [float(i < found) for found, n in groups.values() for i in range(n)]
    names = [name for name, (_, n) in groups.items() for _ in range(n)]
    return Scores.of({"hit": hit}, groups={"ward": names})


def look(scores: Scores, metrics: list[Metric] | None = None, /, **settings: Any) -> LensResult:
    return power(scores, metrics or [recall()], settings=settings, draws=DRAWS)


def pair(found: LensResult, table: str, level: str, against: str, metric: str = "recall") -> dict[str, Any]:
    rows = [
        dict(row)
        for row in found.tables[table]
        if row["metric"] == metric and row["slice"].get("ward") == level and row["against"] == against
    ]
    [row] = [row for row in rows if row.get("kind", "difference") == "difference"]
    return row


# By hand


def test_the_variance_of_a_share_per_patient_is_pq() -> None:
    found = look(hits(A=(400, 500), B=(350, 500)))
    spread = {row["slice"].get("ward"): row["variance_per_patient"] for row in found.tables["spread"]}
    assert spread == pytest.approx({None: 0.75 * 0.25, "A": 0.16, "B": 0.21})


def test_patients_needed_are_those_of_the_unpooled_formula() -> None:
    found = pair(look(hits(A=(400, 500), B=(350, 500)), difference=0.1), "needed", "B", "A")
    formula = two_proportions(0.8, 0.7, method="unpooled")
    assert found["patients_each"] == formula.first == 291
    assert (found["patients"], found["against_patients"], found["cohort"]) == (291, 291, 581)


def test_a_group_half_as_large_lets_the_whole_cohort_grow() -> None:
    found = pair(look(hits(A=(800, 1000), B=(350, 500)), difference=0.1), "needed", "B", "A")
    times = (2.8015852 * math.sqrt(0.16 / 1000 + 0.21 / 500) / 0.1) ** 2
    assert found["times"] == pytest.approx(times, rel=1e-4)
    assert found["patients"] == math.ceil(500 * times)
    assert found["against_patients"] == math.ceil(1000 * times)
    assert found["cohort"] == math.ceil(1500 * times)
    assert found["patients_each"] == 291


def test_power_reached_is_that_of_a_z_test() -> None:
    found = pair(look(hits(A=(400, 500), B=(350, 500)), difference=0.05), "reached", "B", "A")
    se = math.sqrt(0.16 / 500 + 0.21 / 500)
    expected = 0.5 * math.erfc((Z - 0.05 / se) / math.sqrt(2)) + 0.5 * math.erfc((Z + 0.05 / se) / math.sqrt(2))
    assert found["power"] == pytest.approx(expected, rel=1e-9)
    assert (found["patients_here"], found["against_here"]) == (500, 500)


def test_everyone_is_held_against_a_fixed_value_at_the_whole_alpha() -> None:
    found = look(hits(A=(400, 500), B=(350, 500), C=(380, 500)), difference=0.05)
    [row] = [row for row in found.tables["needed"] if not row["slice"]]
    share = 1130 / 1500
    assert row["against"] == "a fixed value"
    assert row["alpha"] == 0.05
    assert row["patients"] == math.ceil(2.8015852**2 * share * (1 - share) / 0.05**2)


def test_a_half_width_asks_for_its_own_patients() -> None:
    found = look(hits(A=(400, 500), B=(350, 500)), half_width=0.03)
    rows = {row["slice"].get("ward"): row for row in found.tables["needed"] if row["kind"] == "half_width"}
    assert rows["A"]["patients"] == math.ceil(Z**2 * 0.16 / 0.03**2)
    assert rows["B"]["patients"] == math.ceil(Z**2 * 0.21 / 0.03**2)
    assert rows["B"]["cohort"] == math.ceil(2 * Z**2 * 0.21 / 0.03**2)
    assert rows["A"]["power"] is None


def test_bonferroni_counts_the_comparisons_of_all_columns() -> None:
    scores = hits(A=(400, 500), B=(350, 500), C=(380, 500))
    sex = Scores.of({"hit": scores["hit"]}, groups={"ward": _names(scores), "sex": ["F", "M"] * 750})
    found = look(sex, difference=0.1)
    assert found.settings["comparisons"] == 4
    assert pair(found, "needed", "B", "A")["alpha"] == pytest.approx(0.0125)
    expected = two_proportions(0.8, 0.7, alpha=0.0125, method="unpooled").first
    assert pair(found, "needed", "B", "A")["patients_each"] == expected
    assert look(sex, adjust="none").settings["alpha_each"] == 0.05


def _names(scores: Scores) -> list[str]:
    ward = scores.groups["ward"]
    return [ward.names[code] for code in ward.codes]


def test_a_reference_is_compared_with_each_other_group() -> None:
    scores = hits(A=(400, 500), B=(350, 600), C=(380, 500))
    found = look(scores, testing="versus-reference", reference="C")
    against = [(row["slice"]["ward"], row["against"]) for row in found.tables["reached"] if row["slice"]]
    assert against == [("B", "C"), ("A", "C")]
    largest = look(scores, testing="versus-reference")
    assert {row["against"] for row in largest.tables["reached"] if row["slice"]} == {"B"}


# More patients


def test_doubling_the_cohort_halves_the_variance_and_asks_for_as_many() -> None:
    once, twice = hits(A=(160, 200), B=(140, 200)), hits(A=(320, 400), B=(280, 400))
    first, second = look(once, difference=0.1), look(twice, difference=0.1)
    for one, two in zip(first.tables["spread"], second.tables["spread"], strict=True):
        assert two["se"] ** 2 == pytest.approx(one["se"] ** 2 / 2)
        assert two["variance_per_patient"] == pytest.approx(one["variance_per_patient"])
    small, large = pair(first, "needed", "B", "A"), pair(second, "needed", "B", "A")
    assert large["patients_each"] == small["patients_each"]
    assert large["times"] == pytest.approx(small["times"] / 2)
    assert pair(second, "reached", "B", "A")["power"] > pair(first, "reached", "B", "A")["power"]
    ratio_ = [pair(found, "smallest_difference", "B", "A")["smallest_difference"] for found in (first, second)]
    assert ratio_[1] == pytest.approx(ratio_[0] / math.sqrt(2))


def test_doubling_a_drawn_cohort_about_halves_every_variance() -> None:
    small, large = draw_cohort(11, 1500), draw_cohort(11, 3000)

    def every(scores: Scores) -> dict[str, float]:
        metrics = risk_metrics(thresholds=(0.3,), smoother=Smoother.of(scores))
        found = look(scores, metrics, metrics=("auroc", "brier", "sensitivity", "calibration_slope"))
        return {row["metric"]: row["se"] ** 2 for row in found.tables["spread"] if "ward" not in row["slice"]}

    first, second = every(small), every(large)
    assert set(first) == {"auroc", "brier", "sensitivity", "calibration_slope"}
    for name in first:
        assert second[name] == pytest.approx(first[name] / 2, rel=0.25), name


def test_rows_that_repeat_within_patients_ask_for_more_patients_than_rows() -> None:
    rng = np.random.default_rng(3)
    level = rng.normal(size=300)
    patient = np.repeat(np.arange(300), 4)
    hit = (rng.normal(size=1200) + 2 * level[patient] > -1).astype(float)
    ward = np.where(patient % 2 == 0, "A", "B")
    clustered = look(Scores.of({"hit": hit}, patient=patient, groups={"ward": ward}), difference=0.1)
    single = look(Scores.of({"hit": hit}, groups={"ward": ward}), difference=0.1)
    rows = pair(single, "needed", "B", "A")["patients_each"]
    assert rows / 4 < pair(clustered, "needed", "B", "A")["patients_each"] < rows
    assert pair(clustered, "reached", "B", "A")["power"] < pair(single, "reached", "B", "A")["power"]


def test_groups_that_share_patients_are_compared_by_their_replicates() -> None:
    rng = np.random.default_rng(4)
    level = 2 * rng.normal(size=200)
    patient = np.concatenate([np.arange(200), np.arange(200)])
    hit = (rng.normal(size=400) + level[patient] > 0).astype(float)
    scores = Scores.of({"hit": hit}, patient=patient, groups={"ward": ["day"] * 200 + ["night"] * 200})
    found = look(scores, difference=0.1)
    shared = pair(found, "reached", "night", "day")
    alone = {row["slice"].get("ward"): row["se"] for row in found.tables["spread"]}
    independent = float(scaled_power(0.1, se=math.hypot(alone["day"], alone["night"]), n=1))
    assert shared["power"] > independent + 0.1, "a patient seen twice is his own control"
    assert pair(found, "needed", "night", "day")["patients_each"] is None


# No ground for a plan


def test_a_small_group_is_shown_as_insufficient_in_every_table_and_never_dropped() -> None:
    found = look(hits(A=(400, 500), B=(350, 500), few=(6, 8)))
    for table in TABLES:
        pairs = [(row["slice"]["ward"], row["against"]) for row in found.tables[table] if row["slice"]]
        assert sorted(pairs) == [("B", "A"), ("few", "A"), ("few", "B")]
        row = pair(found, table, "few", "A")
        assert row["status"] == "insufficient"
        assert "8 patients" in row["reason"]
    assert pair(found, "needed", "few", "A")["patients"] is None
    assert pair(found, "reached", "few", "A")["power"] is None
    assert pair(found, "smallest_difference", "few", "A")["smallest_difference"] is None
    assert pair(found, "needed", "B", "A")["alpha"] == pytest.approx(0.05 / 3), "it was planned for all the same"


@pytest.mark.parametrize("found", [0, 200])
def test_none_or_all_found_is_no_spread_of_zero(found: int) -> None:
    result = look(hits(A=(400, 500), B=(found, 200)))
    row = pair(result, "needed", "B", "A")
    assert (row["status"], row["patients"], row["times"]) == ("insufficient", None, None)
    assert "cannot be seen" in row["reason"]


def test_a_share_of_few_rows_is_no_ground_however_many_patients_there_are() -> None:
    scores = Scores.of(
        {"hit": [1.0, 0.0, 1.0] + [0.0] * 197, "event": [1.0] * 3 + [0.0] * 197}, groups={"ward": ["A", "B"] * 100}
    )
    metric = ratio("found", lambda s: s["hit"] * s["event"], lambda s: s["event"], describe="events found")
    [row] = [row for row in look(scores, [metric]).tables["spread"] if not row["slice"]]
    assert row["status"] == "insufficient"
    assert "rests on 3 rows" in row["reason"]
    assert row["variance_per_patient"] is None


def test_a_vast_difference_asks_for_no_fewer_patients_than_an_interval_does() -> None:
    row = pair(look(hits(A=(400, 500), B=(350, 500)), difference=0.6), "needed", "B", "A")
    assert (row["patients_each"], row["patients"]) == (20, 20)
    assert "fewer than 20" in row["reason"]


def test_a_smallest_difference_that_cannot_exist_is_said_to_be_none() -> None:
    found = look(hits(A=(10, 20), B=(11, 22), C=(12, 24), D=(13, 26)))
    row = pair(found, "smallest_difference", "B", "C")
    assert row["smallest_difference"] > 0.5
    assert "could have shown none" in row["reason"]


def test_one_number_is_meant_for_shares_and_each_metric_can_have_its_own() -> None:
    scores = Scores.of(
        {"hit": [1.0, 0.0] * 200, "error": np.linspace(0, 9, 400)}, groups={"ward": ["A", "B", "B", "A"] * 100}
    )
    both = [recall(), error()]
    row = pair(look(scores, both), "needed", "B", "A", metric="error")
    assert (row["status"], row["patients"]) == ("not_assessed", None)
    assert "no difference was declared" in row["reason"]
    row = pair(look(scores, both), "smallest_difference", "B", "A", metric="error")
    assert row["status"] == "ok"
    named = look(scores, both, difference={"error": 1.0})
    assert pair(named, "needed", "B", "A", metric="error")["patients"] > 20
    assert pair(named, "needed", "B", "A")["status"] == "not_assessed"
    assert not any(note.startswith("No difference") for note in named.notes)
    assert any(note.startswith("No difference was declared, so 0.05") for note in look(scores, both).notes)


def test_a_resampled_metric_has_the_spread_of_its_replicates() -> None:
    values = np.random.default_rng(8).normal(2, 3, 400)
    scores = Scores.of({"error": values})
    found = power(scores, [error()], settings={"difference": {"error": 0.5}}, draws=Draws(seed=1, replicates=2000))
    [row] = found.tables["spread"]
    assert row["variance_per_patient"] == pytest.approx(values.var(), rel=0.1)
    [needed] = found.tables["needed"]
    assert needed["patients"] == pytest.approx(2.8015852**2 * values.var() / 0.25, rel=0.1)


# Laws


@given(found=st.integers(30, 170), other=st.integers(30, 170), low=st.floats(0.5, 0.94), more=st.floats(0.01, 0.05))
def test_more_power_asks_for_more_patients(found: int, other: int, low: float, more: float) -> None:
    scores = hits(A=(found, 200), B=(other, 200))
    sizes = [
        pair(look(scores, difference=0.03, power=level), "needed", "B", "A")["times"] for level in (low, low + more)
    ]
    assert sizes[0] < sizes[1]


@given(gap=st.floats(0.01, 0.15), alpha=st.floats(0.002, 0.04))
def test_a_smaller_gap_and_a_smaller_alpha_ask_for_more(gap: float, alpha: float) -> None:
    scores = hits(A=(150, 200), B=(140, 200))

    def times(difference: float, level: float) -> float:
        row = pair(look(scores, difference=difference, alpha=level), "needed", "B", "A")
        return float(row["cohort"])

    assert times(gap / 2, alpha) > times(gap, alpha)
    assert times(gap, alpha / 2) >= times(gap, alpha)


@given(power_=st.floats(0.3, 0.95), testing=st.sampled_from(["all-pairs", "versus-reference"]))
def test_the_smallest_difference_is_found_with_the_power_wanted(power_: float, testing: str) -> None:
    scores = hits(A=(150, 200), B=(140, 220), C=(100, 210))
    for row in look(scores, power=power_, testing=testing).tables["smallest_difference"]:
        again = look(scores, power=power_, testing=testing, difference=row["smallest_difference"])
        [same] = [r for r in again.tables["reached"] if (r["slice"], r["against"]) == (row["slice"], row["against"])]
        assert same["power"] == pytest.approx(power_, abs=1e-9)


def test_the_curve_rises_and_passes_the_power_wanted_at_the_cohort_needed() -> None:
    found = look(hits(A=(800, 1000), B=(350, 500), C=(140, 200)), difference=0.1)
    rows = [row for row in found.tables["curve"] if row["slice"]]
    assert {(row["slice"]["ward"], row["against"]) for row in rows} == {("C", "B")}, "the hardest comparison"
    powers = [row["power"] for row in rows]
    assert powers == sorted(powers)
    needed = pair(found, "needed", "C", "B")["cohort"]
    assert [row["power"] for row in rows if row["patients"] == needed] == pytest.approx([0.8], abs=0.001)


def test_the_same_data_give_the_same_rows() -> None:
    scores = draw_cohort(3, 300)
    metrics = risk_metrics(thresholds=(0.3,), smoother=Smoother.of(scores))[:6]
    first, second = (look(scores, metrics, testing="gatekeeper") for _ in range(2))
    assert first.as_dict() == second.as_dict()


# Gatekeeper


def test_behind_a_gatekeeper_two_groups_are_one_test() -> None:
    scores = hits(A=(800, 1000), B=(700, 1000))
    plain, gate = (
        pair(look(scores, difference=0.05, testing=t), "reached", "B", "A") for t in ("all-pairs", "gatekeeper")
    )
    assert gate["power"] == pytest.approx(plain["power"], abs=0.04)


def test_holm_behind_a_gatekeeper_needs_no_more_than_bonferroni_and_more_than_a_single_test() -> None:
    scores = hits(A=(800, 1000), B=(750, 1000), C=(780, 1000), D=(790, 1000))
    single, holm, bonferroni = (
        pair(look(scores, difference=0.08, **how), "needed", "B", "A")["patients_each"]
        for how in ({"adjust": "none"}, {"testing": "gatekeeper"}, {})
    )
    assert single * 1.1 < holm < bonferroni * 1.03


def test_a_gatekeeper_leaves_out_no_group_that_is_no_ground() -> None:
    found = look(hits(A=(400, 500), B=(350, 500), few=(6, 8)), testing="gatekeeper")
    assert pair(found, "needed", "few", "A")["status"] == "insufficient"
    assert pair(found, "needed", "B", "A")["status"] == "ok"
    assert any("simulated" in note for note in found.notes)


def test_holm_over_rows_is_holm() -> None:
    p = np.random.default_rng(1).uniform(0, 0.05, (200, 6))
    expected = np.array([adjust(row, method="holm") <= 0.05 for row in p])
    assert (holm(p, 0.05) == expected).all()


# Settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": ["wrad"]}, r"by: 'wrad' is not one of columns.groups; did you mean 'ward'"),
        ({"metrics": ["recal"]}, r"metrics: 'recal' is not a metric of this study; did you mean 'recall'"),
        ({"difference": {"auc": 0.1}}, r"difference: 'auc' is not a metric"),
        ({"difference": 0}, r"positive number"),
        ({"half_width": {"recall": -0.1}}, r"positive number"),
        ({"power": 0.04}, r"power must exceed alpha"),
        ({"power": 1.0}, r"below 1"),
        ({"testing": "pairs"}, r"all-pairs"),
        ({"testing": "versus-reference", "reference": "Z"}, r"'Z' is neither largest nor a level of 'ward'"),
        ({"margin": 0.1}, r"'margin' is not a known field"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_with_what_can(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        look(hits(A=(400, 500), B=(350, 500)), **settings)


def test_without_groups_everyone_is_still_planned_for() -> None:
    found = power(Scores.of({"hit": [1.0, 0.0, 1.0] * 100}), [recall()], settings={}, draws=DRAWS)
    assert [row["against"] for row in found.tables["needed"]] == ["a fixed value"]
    assert found.settings["comparisons"] == 0
