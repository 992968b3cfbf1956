"""Comparisons between groups: against R, against hand-worked cases, and the verdicts they lead to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.support.oracles import Case, cases
from workup.errors import StudyError
from workup.estimate import Draws
from workup.lenses import contrasts
from workup.lenses.contrasts import Side, difference, ratio
from workup.lenses.subgroups.lens import subgroups
from workup.report import LensResult
from workup.scores import Scores
from workup.stats.intervals import newcombe
from workup.tasks.risk.metrics import at_threshold, calibration_metrics, discrimination

DRAWS = Draws(seed=3, replicates=200)


def looked_at(scores: Scores, threshold: float = 0.5, **settings: Any) -> LensResult:
    metrics = discrimination() + calibration_metrics() + at_threshold(threshold)
    return subgroups(scores, metrics, settings=settings, draws=DRAWS)


def rows(found: LensResult, metric: str, kind: str = "difference") -> list[dict[str, Any]]:
    return [dict(row) for row in found.comparisons if row["metric"] == metric and row["kind"] == kind]


@cases("fairness_groups")
def test_groups_are_those_of_r(case: Case) -> None:
    given, expected = case.input, case.expected
    scores = Scores.of({"outcome": given["y"], "risk": given["p"]}, groups={"g": given["g"]})
    found = looked_at(scores, given["threshold"])
    values = {(e.metric, e.slice["g"]): e for e in found.estimates}
    names = {"auc": "auroc", "tpr": "sensitivity", "ppv": "ppv", "npv": "npv", "brier": "brier"}
    names |= {"slope": "calibration_slope", "citl": "calibration_in_the_large", "OE": "oe_ratio"}
    names |= {"selection_rate": "alert_rate"}
    for group, of in expected["groups"].items():
        for theirs, ours in names.items():
            assert values[ours, group].value == pytest.approx(of[theirs], rel=1e-6), (group, theirs)
        assert 1 - values["specificity", group].value == pytest.approx(of["fpr"], rel=1e-6)
        assert values["auroc", group].se ** 2 == pytest.approx(of["auc_var"], rel=1e-6)
        assert (values["auroc", group].n_rows, values["auroc", group].n_events) == (of["n"], of["n_pos"])
    tests = {row["metric"]: row for row in found.tables["omnibus"]}
    for ours, theirs in {
        "sensitivity": "omnibus_tpr",
        "specificity": "omnibus_fpr",
        "alert_rate": "omnibus_selection",
        "calibration_in_the_large": "calibration_LR_group_intercepts",
        "calibration_slope": "calibration_LR_group_slopes",
    }.items():
        assert tests[ours]["statistic"] == pytest.approx(expected[theirs]["chi2"], rel=1e-6), ours
        assert tests[ours]["p"] == pytest.approx(expected[theirs]["p"], rel=1e-6), ours
    gaps = {row["metric"]: row["value"] for row in found.comparisons if row["kind"] == "max_gap"}
    assert gaps["equalised_odds"] == pytest.approx(expected["eod"], rel=1e-6)
    assert gaps["sensitivity"] == pytest.approx(expected["eopp_diff"], rel=1e-6)
    assert gaps["alert_rate"] == pytest.approx(expected["dpd"], rel=1e-6)


def planted(n: int, gap: float, *, groups: tuple[str, ...] = ("A", "B"), repeats: int = 1) -> Scores:
    """Groups of n events and n non-events; the last group's sensitivity at 0.5 is lower by the gap."""
    outcome, risk, group = [], [], []
    for name in groups:
        flagged = round(n * (0.8 - (gap if name == groups[-1] else 0)))
        risk += list(np.linspace(0.6, 0.9, flagged)) + list(np.linspace(0.1, 0.4, n - flagged))
        risk += list(np.linspace(0.05, 0.45, n - n // 5)) + list(np.linspace(0.55, 0.95, n // 5))
        outcome += [1] * n + [0] * n
        group += [name] * (2 * n)
    patient = np.repeat(np.arange(len(outcome)), 1) // repeats if repeats > 1 else None
    return Scores.of({"outcome": outcome, "risk": risk}, groups={"g": group}, patient=patient)


def test_a_difference_of_shares_is_newcombes() -> None:
    scores = planted(50, 0.2)
    [row] = rows(looked_at(scores), "sensitivity")
    assert row["slice"] == {"g": "B", "threshold": 0.5} or row["slice"] == {"g": "A", "threshold": 0.5}
    sign = -1 if row["slice"]["g"] == "B" else 1
    assert row["value"] == pytest.approx(sign * 0.2)
    first, second = (0.6, 0.8) if sign < 0 else (0.8, 0.6)
    assert (row["low"], row["high"]) == pytest.approx(tuple(newcombe(first, 50, second, 50)))


def test_the_test_and_the_interval_agree() -> None:
    """P is the level at which the interval touches 0; so p < 0.05 exactly when the 95 % interval leaves 0 out."""
    sensitivity = next(metric for metric in at_threshold(0.5) if metric.name == "sensitivity")
    for gap in (0.02, 0.1, 0.16, 0.18, 0.3):
        scores = planted(50, gap)
        parts = [Side(scores.take(np.flatnonzero(rows))) for _, rows in scores.groups["g"].masks()]
        found = difference(sensitivity, *parts)
        assert not isinstance(found, str)
        low, high = found.ends(1 - found.p(0.0))
        assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-7)
        assert (found.p(0.0) < 0.05) == (found.ends(0.95).low > 0 or found.ends(0.95).high < 0)
        assert found.p(0.05) >= found.p(0.0)
        assert found.p(0.5) == 1.0


@pytest.mark.parametrize(
    ("n", "gap", "verdict"),
    [(400, 0.3, "disparity"), (20_000, 0.0, "within"), (30, 0.1, "inconclusive"), (400, 0.06, "inconclusive")],
)
def test_verdicts(n: int, gap: float, verdict: str) -> None:
    metrics = [metric for metric in at_threshold(0.5) if metric.name == "sensitivity"]
    found = subgroups(planted(n, gap), metrics, settings={"margin": {"sensitivity": 0.05}}, draws=DRAWS)
    [row] = rows(found, "sensitivity")
    assert row["verdict"] == verdict, row["reason"]
    assert row["margin"] == 0.05
    assert row["reason"]


def test_without_a_margin_no_verdict_is_given() -> None:
    found = looked_at(planted(400, 0.3))
    assert {row["verdict"] for row in found.comparisons} == {"not_assessed"}
    assert any("No margin was declared" in note for note in found.notes)


def test_one_margin_judges_the_parities_together() -> None:
    found = looked_at(planted(400, 0.3), margin=0.05)
    judged = [row for row in found.comparisons if row["margin"] is not None]
    assert {row["metric"] for row in judged} == {"auroc", "sensitivity", "specificity", "ppv"}
    levels = {row["metric"]: (row["verdict"], row["level"], row["rule"]) for row in judged}
    # Sensitivity is decided first, at a quarter of alpha beyond one margin; what is left open shows all four together.
    first = ("disparity", pytest.approx(1 - 2 * 0.05 / 4), "Holm step 1 of 4, one-sided 98.75 %")
    assert levels["sensitivity"] == first
    assert levels["specificity"] == ("inconclusive", 1 - 0.05 / 4, "simultaneous over 4, 98.75 %")
    assert all(0 <= row["p_adjusted"] <= 1 for row in judged)


def test_every_group_is_listed_and_small_ones_are_not_judged() -> None:
    scores = planted(60, 0.1, groups=("A", "B", "C"))
    levels = np.array(["A", "B", "C"], dtype=object)[scores.groups["g"].codes]
    levels[:3] = "tiny"
    levels[3:7] = None
    again = Scores.of(dict(scores.values), groups={"g": levels})
    found = looked_at(again, margin=0.05)
    assert [row["level"] for row in found.tables["groups"]] == ["B", "C", "A", "missing", "tiny"]
    assert sum(row["rows"] for row in found.tables["groups"]) == len(again)
    tiny = [row for row in found.comparisons if row["slice"].get("g") == "tiny" and row["kind"] == "difference"]
    assert {row["metric"] for row in tiny} >= {"auroc", "sensitivity", "brier"}
    for row in tiny:
        if row["metric"] in ("auroc", "specificity", "brier", "calibration_slope"):
            assert row["verdict"] == "not_assessed"
            assert row["reason"]
            assert row["value"] is None


def test_overlapping_slices_are_compared_by_shared_replicates() -> None:
    scores = planted(100, 0.1)
    found = looked_at(scores, comparator="overall")
    row = rows(found, "sensitivity")[0]
    assert row["method"].startswith("shared replicates")
    # Against everyone, half of the rows are the same, so the spread is half of that between the groups.
    [apart] = rows(looked_at(scores), "sensitivity")
    assert row["se"] == pytest.approx(apart["se"] / 2, rel=0.15)


def test_comparators() -> None:
    scores = planted(60, 0.2, groups=("A", "B", "C"))
    assert {row["against"] for row in rows(looked_at(scores), "auroc")} == {"rest"}
    named = rows(looked_at(scores, comparator={"g": "B"}), "auroc")
    assert [(row["slice"]["g"], row["against"]) for row in named] == [("A", "B"), ("C", "B")]
    best = rows(looked_at(scores, comparator="best"), "auroc")
    # A and B do equally well and better than C; of equals the later name is taken.
    assert {row["against"] for row in best} == {"B"}
    assert len(rows(looked_at(scores, comparator="largest"), "auroc")) == 2
    with pytest.raises(StudyError, match="neither rest, largest, best, overall nor a level"):
        looked_at(scores, comparator="D")


def test_intersections_are_groups_too() -> None:
    scores = planted(60, 0.1)
    sex = np.where(np.arange(len(scores)) % 2 == 0, "F", "M")
    both = Scores.of(dict(scores.values), groups={"g": np.array(["A", "B"])[scores.groups["g"].codes], "sex": sex})
    found = looked_at(both, by=["sex"], intersections=[["g", "sex"]])
    levels = {row["level"] for row in found.tables["groups"] if row["column"] == "g × sex"}
    assert levels == {"A × F", "A × M", "B × F", "B × M"}
    with pytest.raises(StudyError, match="sexx"):
        looked_at(both, by=["sexx"])


def test_ratios_are_on_the_log_scale() -> None:
    scores = planted(200, 0.2)
    parts = [Side(scores.take(np.flatnonzero(rows))) for _, rows in scores.groups["g"].masks()]
    sensitivity = next(metric for metric in at_threshold(0.5) if metric.name == "sensitivity")
    found, turned = ratio(sensitivity, *parts), ratio(sensitivity, *parts[::-1])
    assert not isinstance(found, str)
    assert not isinstance(turned, str)
    assert found.value == pytest.approx(0.8 / 0.6)
    assert found.ends(0.95).low == pytest.approx(1 / turned.ends(0.95).high)


def test_the_smallest_difference_shrinks_with_size() -> None:
    small, large = looked_at(planted(50, 0.1)), looked_at(planted(200, 0.1))
    first, second = (
        next(row for row in found.tables["smallest_difference"] if row["metric"] == "sensitivity")[
            "smallest_difference"
        ]
        for found in (small, large)
    )
    assert first == pytest.approx(2 * second, rel=0.02)
    assert first == pytest.approx(2.80159 * np.sqrt(0.8 * 0.2 / 50 + 0.7 * 0.3 / 50), rel=1e-6)


@pytest.mark.parametrize(("patients", "enough"), [(19, False), (20, True)])
def test_twenty_patients_on_either_side_are_the_fewest_for_shared_replicates(patients: int, enough: bool) -> None:
    drawn = np.random.default_rng(1).normal(0.2, 0.1, (2, 400))
    sides = [
        SimpleNamespace(replicates=values, scores=SimpleNamespace(n_patients=n))
        for values, n in zip(drawn, (patients, 50), strict=True)
    ]
    for first, second in (sides, sides[::-1]):
        found = contrasts._resampled(0.0, first, second, np.subtract)  # type: ignore[arg-type]
        assert isinstance(found, contrasts.Contrast) == enough
        assert enough or str(found).startswith(f"insufficient: {patients} patients in one of them")
