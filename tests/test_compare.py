"""Two systems compared: pairing by rows, direction of every metric, joined intervals by hand, margins and Holm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from tests.support.cohorts import draw_cohort
from tests.support.oracles import Case, cases
from workup.compare import compare, compare_reports, compare_scores, gain
from workup.errors import InputError
from workup.estimate import Draws, Estimate
from workup.metric import Card
from workup.report import LensResult, Report
from workup.scores import Scores
from workup.tasks.risk.cards import CARDS
from workup.tasks.risk.metrics import ON_REQUEST, Smoother, at_threshold, discrimination, risk_metrics

DRAWS = Draws(seed=3, replicates=200)


def numbered(scores: Scores, **values: Any) -> Scores:
    """The scores with row numbers, and other values where given."""
    return replace(scores, values={**scores.values, "row": np.arange(len(scores)) + 1.0, **values})


def by_name(rows: list[dict[str, Any]], metric: str, **keys: Any) -> dict[str, Any]:
    [found] = [row for row in rows if row["metric"] == metric and row["slice"] == keys]
    return found


# Paired, from rows


@cases("auc_tests", prefix="paired")
def test_auroc_is_compared_by_the_paired_delong_test(case: Case) -> None:
    first, second = (Scores.of({"outcome": case.array("y"), "risk": case.array(name)}) for name in ("s2", "s1"))
    [auroc, _] = compare_scores(first, second, discrimination(), DRAWS)
    assert auroc["value"] == case.near("diff")
    assert auroc["p"] == case.near("p")
    assert [auroc["low"], auroc["high"]] == case.near("ci95_diff")
    assert (auroc["first"]["value"], auroc["second"]["value"]) == (case.near("auc2"), case.near("auc1"))
    assert auroc["method"] == "DeLong, paired"


def test_identical_systems_differ_by_nothing_anywhere() -> None:
    scores = numbered(draw_cohort(1, 400))
    metrics = risk_metrics(thresholds=[0.3], smoother=Smoother.of(scores))
    rows = compare_scores(scores, scores, metrics, DRAWS, groups=["ward"])
    assert {row["slice"].get("ward") for row in rows} == {None, "A", "B", "missing"}
    for row in rows:
        assert (row["value"], row["low"], row["high"], row["p"]) == (0, 0, 0, 1), row["metric"]
    judged = compare(record(), record(), paired=rows, margin=0.01)
    assert {row["direction"] for row in judged.rows if row["metric"] != "alert_rate"} == {"no_clear_difference"}
    assert {row["verdict"] for row in judged.rows if row["margin"]} == {"within"}


def test_the_order_of_the_rows_decides_nothing() -> None:
    first = numbered(draw_cohort(2, 150))
    second = replace(first, values={**first.values, "risk": first["risk"] ** 1.3})
    # A system that numbers its patients by its own order of risks, as tables without patient ids are.
    order = np.random.default_rng(0).permutation(len(second))
    shuffled = replace(second.take(order), patient=np.arange(len(second)))
    metrics = [*discrimination(), *at_threshold(0.3)]
    assert compare_scores(first, second, metrics, DRAWS) == compare_scores(first, shuffled, metrics, DRAWS)


def test_only_rows_that_both_answered_count() -> None:
    first = numbered(draw_cohort(3, 200))
    second = numbered(first, risk=np.round(first["risk"], 1)).take(np.arange(20, 200))
    [sensitivity, *_] = compare_scores(first, second, at_threshold(0.3), DRAWS)
    [expected, *_] = compare_scores(first.take(np.arange(20, 200)), second, at_threshold(0.3), DRAWS)
    assert sensitivity == expected
    assert sensitivity["n_patients"] == 180


def test_a_share_worked_by_hand() -> None:
    outcome = np.repeat([1.0, 0.0], 100)
    old = np.concatenate([np.repeat([0.9, 0.1], [60, 40]), np.repeat([0.9, 0.1], [10, 90])])
    new = np.concatenate([np.repeat([0.9, 0.1], [80, 20]), np.repeat([0.9, 0.1], [10, 90])])
    first, second = (Scores.of({"outcome": outcome, "risk": risk}) for risk in (old, new))
    rows = compare_scores(first, second, at_threshold(0.5), Draws(seed=1, replicates=2000))
    sensitivity = by_name(rows, "sensitivity", threshold=0.5)
    assert sensitivity["value"] == pytest.approx(0.2)
    # 20 of 100 events moved: the spread of the difference is sqrt(0.2 * 0.8 / 100) = 0.04.
    assert [sensitivity["low"], sensitivity["high"]] == pytest.approx([0.2 - 0.0784, 0.2 + 0.0784], abs=0.012)
    specificity = by_name(rows, "specificity", threshold=0.5)
    assert (specificity["value"], specificity["p"]) == (0, 1)
    # None of 100 moved: no difference seen is an interval.
    assert specificity["low"] == -specificity["high"] == pytest.approx(-0.0346, abs=2e-3)


def test_repeated_rows_are_resampled_by_patient_and_not_sent_to_delong() -> None:
    first = numbered(draw_cohort(4, 240, patients=80, spread=1.0))
    second = numbered(first, risk=np.clip(first["risk"] * 0.5 + 0.1, 0, 1) * (1 + 1e-3 * np.sin(np.arange(240))))
    [auroc, _] = compare_scores(first, second, discrimination(), DRAWS)
    assert auroc["method"].startswith("shared replicates")
    assert auroc["n_patients"] == first.n_patients < 240


def test_few_patients_or_few_events_get_no_interval() -> None:
    few = numbered(draw_cohort(5, 15))
    other = numbered(few, risk=few["risk"][::-1].copy())
    for row in compare_scores(few, other, [*discrimination(), *at_threshold(0.3)], DRAWS):
        assert row["low"] is None
        assert "insufficient" in row["reason"] or "undefined" in row["reason"]


def test_rows_that_do_not_belong_together_are_refused() -> None:
    first = numbered(draw_cohort(6, 60, patients=30))
    with pytest.raises(InputError, match="the same patients behind the same rows"):
        compare_scores(first, numbered(draw_cohort(7, 60, patients=30)), discrimination(), DRAWS)
    with pytest.raises(InputError, match="the same outcomes"):
        compare_scores(first, numbered(first, outcome=1 - first["outcome"]), discrimination(), DRAWS)
    with pytest.raises(InputError, match="rows in common"):
        compare_scores(first, numbered(first, row=np.arange(60) + 1000.0), discrimination(), DRAWS)
    with pytest.raises(InputError, match="column 'row' or one length"):
        compare_scores(draw_cohort(1, 50), draw_cohort(1, 60), discrimination(), DRAWS)


def test_nearer_the_target_is_better_from_either_side() -> None:
    first = numbered(draw_cohort(8, 800, shift=1.5))
    second = numbered(draw_cohort(8, 800, shift=1.5), risk=draw_cohort(8, 800)["risk"] * 0.4 + 0.5)
    smoother = Smoother.of(first)
    metrics = [m for m in risk_metrics(thresholds=[], smoother=smoother) if m.name == "calibration_in_the_large"]
    [row] = compare_scores(first, second, metrics, DRAWS)
    assert row["first"]["value"] > 1
    assert row["distance"]["value"] == pytest.approx(abs(row["second"]["value"]) - abs(row["first"]["value"]))
    assert gain(row)[0] == -row["distance"]["value"] > 0


def test_the_direction_of_every_risk_metric_is_the_one_it_declares() -> None:
    metrics = risk_metrics(thresholds=[0.2], smoother=Smoother.of(draw_cohort(1)), also=ON_REQUEST)
    assert {metric.name for metric in metrics} == set(CARDS)
    for metric in metrics:
        card = CARDS[metric.name]
        assert (card.better, card.target) == (metric.better, metric.target), metric.name
    assert CARDS["ici"].better == CARDS["ece"].better == "lower"
    assert {"auroc", "brier", "sensitivity"} < {name for name, card in CARDS.items() if "headline" in card.shown}


# From records


def row(metric: str = "auroc", value: float = 0.80, ends: Any = (0.75, 0.85), **fields: Any) -> Estimate:
    low, high = ends or (None, None)
    own = {"slice": fields.pop("at", {}), "level": 0.95, "method": "by hand", "se": None, "n_patients": 400}
    return Estimate(metric=metric, value=value, low=low, high=high, n_rows=500, **{**own, **fields})


def record(*estimates: Estimate, corpus: str = "c", task: str = "risk", name: str = "old") -> Report:
    study = {"name": "s", "task": task, "thresholds": [0.2], "primary": {}, "gates": []}
    lens = LensResult("internal", estimates=estimates or (row(),))
    return Report(study, {"name": "cohort", "sha256": corpus}, {"name": name, "version": "1"}, 0, {"internal": lens})


def only(first: Estimate, second: Estimate, **settings: Any) -> dict[str, Any]:
    [found] = compare(record(first), record(second), **settings).rows
    return found


def test_two_intervals_joined_by_hand() -> None:
    [found] = compare_reports(record(row(value=0.80, ends=(0.76, 0.83))), record(row(value=0.70, ends=(0.67, 0.74))))
    # Low end: -0.10 - sqrt(0.03² + 0.03²); high end: -0.10 + sqrt(0.04² + 0.04²).
    assert found["value"] == pytest.approx(-0.10)
    assert found["low"] == pytest.approx(-0.10 - 0.03 * np.sqrt(2))
    assert found["high"] == pytest.approx(-0.10 + 0.04 * np.sqrt(2))
    # Its high end lies 1.768 half-widths from 0, which is z = 3.465.
    assert found["p"] == pytest.approx(0.000530, abs=2e-6)


@pytest.mark.parametrize(
    ("metric", "old", "new", "expected"),
    [
        ("auroc", 0.70, 0.85, "better"),
        ("auroc", 0.85, 0.70, "worse"),
        ("auroc", 0.80, 0.82, "no_clear_difference"),
        ("brier", 0.30, 0.15, "better"),
        ("brier", 0.15, 0.30, "worse"),
        ("calibration_slope", 0.60, 1.02, "better"),
        ("calibration_slope", 1.40, 1.02, "better"),
        ("calibration_slope", 1.00, 0.70, "worse"),
        ("calibration_slope", 0.90, 1.10, "no_clear_difference"),  # as far from 1 on the other side
        ("alert_rate", 0.10, 0.40, "not_assessed"),
    ],
)
def test_directions_by_hand(metric: str, old: float, new: float, expected: str) -> None:
    first, second = (row(metric, value, (value - 0.04, value + 0.04)) for value in (old, new))
    assert only(first, second)["direction"] == expected


@pytest.mark.parametrize(
    ("metric", "old", "new", "margin", "expected"),
    [
        ("auroc", 0.80, 0.80, 0.10, "within"),
        ("auroc", 0.80, 0.80, 0.05, "unsure"),
        ("auroc", 0.80, 0.60, 0.10, "worse"),
        ("auroc", 0.80, 0.72, 0.10, "unsure"),
        ("brier", 0.20, 0.20, 0.10, "within"),
        ("brier", 0.20, 0.40, 0.10, "worse"),
    ],
)
def test_no_worse_than_a_margin_by_hand(metric: str, old: float, new: float, margin: float, expected: str) -> None:
    # Both ends 0.04 away: the difference has 0.0566 to each side.
    first, second = (row(metric, value, (value - 0.04, value + 0.04)) for value in (old, new))
    found = only(first, second, margin=margin)
    assert (found["verdict"], found["margin"]) == (expected, margin)


def test_a_margin_is_put_to_shares_unless_a_metric_is_named() -> None:
    slope = row("calibration_slope", 1.0, (0.9, 1.1))
    assert only(slope, slope, margin=0.5)["margin"] is None
    found = only(slope, slope, margin=0.5, metrics=["calibration_slope"])
    assert (found["margin"], found["verdict"]) == (0.5, "within")


def test_what_is_not_sound_is_not_assessed() -> None:
    for held in (
        row(ends=None, status="insufficient", reason="4 patients"),
        replace(row(), value=None, low=None, high=None, status="undefined", reason="no events"),
        row(value=0.95, ends=(0.7, 0.8)),
    ):
        found = only(row(), held, margin=0.1)
        assert (found["direction"], found["verdict"], found["low"]) == ("not_assessed", "not_assessed", None)
        assert found["reason"]


def test_holm_is_taken_over_the_headline_only() -> None:
    def both(shift: float) -> Report:
        ends = [(m, v + shift) for m, v in (("auroc", 0.7), ("auprc", 0.4))]
        near = [row(m, v, (v - 0.04, v + 0.04), at={}) for m, v in ends]
        return record(
            *near, row("sensitivity", 0.5, (0.4, 0.6), at={"threshold": 0.2}), replace(near[0], slice={"a": 1})
        )

    found = compare(both(0.0), both(0.06)).rows
    head = [r for r in found if r["headline"]]
    assert [(r["metric"], r["slice"]) for r in head] == [
        ("auroc", {}),
        ("auprc", {}),
        ("sensitivity", {"threshold": 0.2}),
    ]
    single = head[0]["p"]
    assert single == pytest.approx(0.0377, abs=1e-4)
    assert [r["p_adjusted"] for r in head] == pytest.approx([3 * single, 3 * single, 1.0])
    assert head[0]["direction"] == "no_clear_difference"
    # Outside the headline the same difference is shown for what it is, unadjusted.
    assert (found[-1]["p_adjusted"], found[-1]["direction"]) == (None, "better")


def test_what_neither_could_measure_is_no_part_of_a_headline_that_nobody_chose() -> None:
    nothing = replace(row("brier"), value=None, low=None, high=None, status="undefined", reason="no rows")
    both = record(row(), nothing), record(row(), nothing)
    assert [r["metric"] for r in compare(*both, margin=0.2).rows if r["headline"]] == ["auroc"]
    [chosen] = [r for r in compare(*both, margin=0.2, metrics=["brier"]).rows if r["headline"]]
    assert (chosen["metric"], chosen["verdict"]) == ("brier", "not_assessed")
    half = compare(record(row("brier")), record(nothing), margin=0.2).rows
    assert [(r["headline"], r["verdict"]) for r in half] == [(True, "not_assessed")]


def test_the_pairing_is_said() -> None:
    assert compare(record(), record()).pairing == "unpaired_same_corpus"
    assert "unpaired, conservative" in compare(record(), record()).notes[0]
    assert compare(record(), record(corpus="d")).pairing == "independent"


def test_a_task_without_names_for_its_headline_judges_all_that_has_a_better_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Bare:
        cards: ClassVar[Any] = {
            "auroc": Card(title="AUROC", describe=""),
            "brier": Card(title="Brier score", describe="", better="lower"),
            "alert_rate": Card(title="alert rate", describe="", better="neither"),
        }

    monkeypatch.setattr("workup.compare.plugins.find", lambda kind, name: Bare)
    found = compare(record(row(), row("alert_rate")), record(row(), row("alert_rate")))
    assert [(r["metric"], r["headline"]) for r in found.rows] == [("auroc", True), ("alert_rate", False)]


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InputError, match="one task"):
        compare(record(), record(task="spans"))
    with pytest.raises(InputError, match="at least one metric"):
        compare(record(row("auroc")), record(row("brier")))
    with pytest.raises(InputError, match="both reports must hold 'brier'"):
        compare(record(), record(), metrics=["brier"])
    for margin in (0.0, -0.1, float("nan")):
        with pytest.raises(InputError, match="positive number"):
            compare(record(), record(), margin=margin)
