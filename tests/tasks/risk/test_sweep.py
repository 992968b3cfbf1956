"""What each threshold would mean: by hand, as the same metrics say it at a named threshold, and where undefined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cohorts import draw_cohort
from workup.estimate import Draws, estimate
from workup.scores import Scores
from workup.tasks.risk.metrics import FEWEST_FOR_CURVE, Smoother, at_threshold
from workup.tasks.risk.panels import calibration_by_group, panels
from workup.tasks.risk.sweep import GRID, MOST_LEVELS, _over, sweep

HAND = Scores.of(
    {"outcome": [1, 1, 0, 1, 0, 1, 0, 0, 0, 0], "risk": [0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.2, 0.2, 0.1, 0.0]}
)


def test_ten_rows_by_hand() -> None:
    rows = {row["threshold"]: row for row in sweep(HAND, [0.45])["rows"]}
    assert set(GRID) < set(rows)
    assert 0.45 in rows
    row = rows[0.5]
    shares = {"sensitivity": (3 / 4, 4), "specificity": (5 / 6, 6), "ppv": (3 / 4, 4), "npv": (5 / 6, 6)}
    for name, (value, n) in shares.items():
        assert (row[name]["value"], row[name]["n"]) == (pytest.approx(value), n)
    assert row["alerts_per_100"]["value"] == pytest.approx(40)
    needed = row["needed_to_evaluate"]
    assert needed["value"] == pytest.approx(4 / 3)
    assert (needed["low"], needed["high"]) == (1 / row["ppv"]["high"], 1 / row["ppv"]["low"])
    assert (row["n_patients"], row["n_rows"], row["n_events"]) == (10, 10, 4)


def test_undefined_is_null_with_a_reason() -> None:
    rows = {row["threshold"]: row for row in sweep(HAND, [])["rows"]}
    for name in ("ppv", "needed_to_evaluate"):
        assert (rows[0.95][name]["value"], rows[0.95][name]["reason"]) == (None, "undefined: no row is flagged")
    none = Scores.of({"outcome": [0.0] * 30, "risk": [0.3] * 30})
    row = next(row for row in sweep(none, [])["rows"] if row["threshold"] == 0.2)
    assert row["ppv"]["value"] == 0
    assert row["needed_to_evaluate"]["value"] is None
    assert row["needed_to_evaluate"]["reason"] == "undefined: no flagged row has the event"
    assert row["sensitivity"]["reason"] == "undefined: no rows with the event"


@pytest.mark.parametrize(
    "cohort", [{}, {"patients": 120, "spread": 1.0}, {"weighted": True}], ids=["plain", "repeated", "weighted"]
)
def test_a_row_says_what_the_metrics_say_at_that_threshold(cohort: dict[str, object]) -> None:
    scores = draw_cohort(4, 400, **cohort)  # type: ignore[arg-type]
    row = next(row for row in sweep(scores, [])["rows"] if row["threshold"] == 0.3 and not row["slice"])
    for e in estimate(scores, at_threshold(0.3), draws=Draws(replicates=200)):
        if e.metric in row:
            assert [row[e.metric][key] for key in ("value", "low", "high")] == pytest.approx([e.value, e.low, e.high])
        if e.metric == "alert_rate":
            assert row["alerts_per_100"]["low"] == pytest.approx(100 * (e.low or 0))


@given(seed=st.integers(0, 10_000))
def test_row_order_and_whole_weights_decide_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = draw_cohort(seed, int(rng.integers(15, 50)), digits=1)
    times = rng.integers(1, 4, len(scores))
    many = np.repeat(np.arange(len(scores)), times)
    weighted = Scores.of(dict(scores.values), weight=times)
    repeated = Scores.of({name: column[many] for name, column in scores.values.items()})
    mixed = scores.take(rng.permutation(len(scores)))
    for name in ("sensitivity", "specificity", "ppv", "npv", "alerts_per_100", "needed_to_evaluate"):
        plain, again = ([row[name] for row in sweep(one, [])["rows"]] for one in (scores, mixed))
        assert [one["value"] for one in again] == pytest.approx([one["value"] for one in plain], nan_ok=True)
        assert [(one["low"], one["n"]) for one in again] == [(one["low"], one["n"]) for one in plain]
        values = [[row[name]["value"] for row in sweep(one, [])["rows"]] for one in (weighted, repeated)]
        for one, other in zip(*values, strict=True):
            assert one == (None if other is None else pytest.approx(other))


def test_every_group_is_there_and_the_parts_make_the_whole() -> None:
    scores = draw_cohort(5, 300)
    rows = [row for row in sweep(scores, [])["rows"] if row["threshold"] == 0.3]
    assert [row["slice"] for row in rows] == [{}, {"ward": "A"}, {"ward": "B"}, {"ward": "missing"}]
    flagged = [row["ppv"]["n"] for row in rows]
    assert flagged[0] == sum(flagged[1:])


def test_a_column_of_many_groups_is_left_out_and_named() -> None:
    n = 20 * (MOST_LEVELS + 1)
    many = [f"g{i % (MOST_LEVELS + 1)}" for i in range(n)]
    risk = np.linspace(0.05, 0.95, n)
    scores = Scores.of({"outcome": (np.arange(n) % 3 == 0).astype(float), "risk": risk}, groups={"unit": many})
    for found in (sweep(scores, []), calibration_by_group(scores, Smoother.of(scores))):
        assert [(one["column"], "13 groups" in one["reason"]) for one in found["left_out"]] == [("unit", True)]
    assert all(not row["slice"] for row in sweep(scores, [])["rows"])


# ---- calibration by group --------------------------------------------------------------------------------------------


def test_a_group_of_everyone_has_the_curve_of_everyone() -> None:
    scores = draw_cohort(6, 500)
    whole = Scores.of(dict(scores.values), groups={"all": ["x"] * 500})
    smoother = Smoother.of(whole)
    [curve] = calibration_by_group(whole, smoother)["curves"]
    drawn = panels(whole, smoother)["calibration_curve"]["spline"]
    assert (curve["slice"], curve["n_events"], curve["reason"]) == ({"all": "x"}, int(whole["outcome"].sum()), None)
    ends = [(points[0], points[-1]) for points in (curve["spline"], drawn)]
    for one, other in zip(*ends, strict=True):
        assert list(one.values()) == pytest.approx(list(other.values()))


def test_a_group_with_too_few_events_says_so() -> None:
    scores = draw_cohort(7, 400)
    ward = np.where(np.arange(400) < 385, "large", "small")
    outcome = scores["outcome"].copy()
    outcome[385:] = 0.0
    found = calibration_by_group(
        Scores.of({"outcome": outcome, "risk": scores["risk"]}, groups={"ward": ward}), Smoother.of(scores)
    )["curves"]
    assert [one["slice"]["ward"] for one in found] == ["large", "small"]
    assert found[0]["spline"]
    assert (found[1]["spline"], f"at least {FEWEST_FOR_CURVE} rows" in found[1]["reason"]) == ([], True)


def test_a_group_whose_risks_are_all_alike_has_no_curve() -> None:
    rng = np.random.default_rng(1)
    risk = np.concatenate([rng.uniform(0.05, 0.9, 300), np.full(60, 0.4)])
    outcome = (rng.random(360) < risk).astype(float)
    scores = Scores.of({"outcome": outcome, "risk": risk}, groups={"ward": ["a"] * 300 + ["b"] * 60})
    found = {one["slice"]["ward"]: one for one in calibration_by_group(scores, Smoother.of(scores))["curves"]}
    assert found["a"]["spline"]
    assert found["b"]["spline"] == [] and "no finite fit" in found["b"]["reason"]


def test_a_stretch_of_risks_without_outcomes_of_a_group_is_not_drawn() -> None:
    rng = np.random.default_rng(5)
    everyone = rng.normal(-2, 1.5, 3_000)
    lp = np.concatenate([everyone, rng.normal(-3.5, 1.2, 400)])
    happened = rng.random(lp.size) < 1 / (1 + np.exp(-lp))
    happened[3_000:] &= lp[3_000:] > -2.5  # in the small group the event never happens at low risks
    groups = {"g": np.where(np.arange(lp.size) < 3_000, "large", "small")}
    scores = Scores.of({"outcome": happened.astype(float), "risk": 1 / (1 + np.exp(-lp))}, groups=groups)
    found = {one["slice"]["g"]: one for one in calibration_by_group(scores, Smoother.of(scores))["curves"]}
    assert len(found["large"]["spline"]) == 20
    small = found["small"]
    assert all(point["high"] - point["low"] <= 0.9 for point in small["spline"])
    assert small["reason"] or len(small["spline"]) < 20


def test_no_number_needed_beyond_a_million() -> None:
    assert _over(1e-14) is None and _over(None) is None and _over(0.0) is None
    assert _over(0.25) == 4
