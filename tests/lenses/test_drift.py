"""The drift lens: when an alert opens and when it does not, what is frozen, and which groups are judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.planted_months import (
    BASE,
    DRAWS,
    FOUND,
    STABLE,
    Month,
    alerts,
    looked,
    metrics_of,
    months,
    planted,
    shares,
    watched,
)
from workup.lenses.drift.lens import drift
from workup.report import LensResult
from workup.scores import Scores

# ---- all three must agree before an alert opens ----------------------------------------------------------------------


def test_a_stable_system_raises_none_and_every_window_is_on_the_chart() -> None:
    result = watched(shares(*BASE, *[0.90] * 6))
    assert result.alerts == ()
    assert [row["window"] for row in result.charts_state] == [f"2023-{m}" for m in (11, 12)] + [
        f"2024-0{m}" for m in range(1, 5)
    ]
    assert all(row["status"] == "ok" and not row["signal"] for row in result.charts_state)


def test_a_fall_opens_one_alert_with_its_window_effect_and_words() -> None:
    [alert] = watched(shares(*BASE, 0.90, 0.83, 0.83)).alerts
    assert (alert["type"], alert["metric"], alert["slice"], alert["state"]) == ("performance", "found", {}, "open")
    assert (alert["window"], alert["last_window"]) == ("2023-12", "2024-01")
    assert alert["effect"] == pytest.approx(-0.07)
    assert alert["severity"] == "medium"
    assert "found 0.83 against 0.9 in the baseline: a change of -0.07 (95 % interval -0.0" in alert["message"]


@pytest.mark.parametrize(("share", "severity"), [(0.84, "medium"), (0.801, "medium"), (0.80, "high"), (0.6, "high")])
def test_severity_is_by_the_size_of_the_change(share: float, severity: str) -> None:
    [alert] = watched(shares(*BASE, share)).alerts
    assert alert["severity"] == severity


def test_a_signal_of_a_change_too_small_to_matter_is_no_alert() -> None:
    result = watched(shares(*BASE, *[0.87] * 4, rows=8000))
    assert [row["signal"] for row in result.charts_state][-1] is True
    assert result.alerts == ()


def test_a_large_change_without_a_signal_is_no_alert() -> None:
    result = watched(shares(*BASE, 0.90, 0.80, 0.90, rows=120))
    assert abs(result.charts_state[1]["value"] - 0.90) >= 0.05
    assert not any(row["signal"] for row in result.charts_state)
    assert result.alerts == ()


def test_a_change_whose_interval_holds_none_is_no_alert_even_under_a_standing_signal() -> None:
    scores = shares(*BASE, *[0.70] * 4, rows=300)
    small = shares(*[None] * 14, 0.84, rows=100)
    both = Scores.of({"hit": np.append(scores["hit"], small["hit"])}, time=np.append(scores.time, small.time))
    result = watched(both)
    last = result.charts_state[-1]
    assert last["signal"] is True  # what went before still stands in the statistic
    assert abs(last["value"] - last["baseline"]) >= 0.05
    assert result.alerts[0]["last_window"] == "2024-02" and result.alerts[0]["quiet"] == 1


def test_a_change_for_the_better_is_no_alert() -> None:
    result = watched(shares(*[0.80] * 10, *[0.95] * 4))
    assert result.charts_state[-1]["signal"] is True
    assert result.alerts == ()


def test_one_bad_window_under_a_signal_of_improvement_is_no_alert() -> None:
    result = watched(shares(*[0.80] * 10, *[0.95] * 6, 0.70, rows=1000))
    last = result.charts_state[-1]
    assert last["signal"] is True and last["statistic"] > last["upper"]
    assert last["value"] - last["baseline"] == pytest.approx(-0.10)
    assert result.alerts == ()


def test_point_limits_alone_would_alarm_on_identical_groups() -> None:
    """By points alone most stable years of small groups alarm; the lens does in hardly any."""
    rng = np.random.default_rng(17)
    by_points = by_lens = 0
    for _ in range(25):
        hit = (rng.random(22 * 240) < 0.8).astype(float)
        time = np.repeat((np.datetime64("2023-01", "M") + np.arange(22)).astype("datetime64[us]"), 240)
        scores = Scores.of({"hit": hit}, time=time, groups={"sex": rng.choice(["F", "M"], hit.size)})
        result = watched(scores)
        gaps = [row["value"] for row in result.charts_state if row["type"] == "fairness" and row["status"] == "ok"]
        by_points += any(abs(gap) >= 0.05 for gap in gaps)
        by_lens += bool(result.alerts)
    assert by_points >= 22
    assert by_lens <= 3  # 5 % of 25 and about two standard errors


# ---- life of an alert ------------------------------------------------------------------------------------------------


def test_alerts_close_after_quiet_windows_and_open_again_on_relapse() -> None:
    path = [*BASE, 0.70, 0.90, 0.90, 0.90]
    [alert] = watched(shares(*path), quiet=3).alerts
    assert (alert["state"], alert["resolved_window"]) == ("resolved", "2024-02")
    [alert] = watched(shares(*path), quiet=4).alerts
    assert (alert["state"], alert["quiet"]) == ("open", 3)
    [again] = watched(shares(*path, 0.70), quiet=3).alerts
    assert (again["state"], again["window"], again["relapses"]) == ("open", "2024-03", 1)


def test_windows_that_cannot_tell_do_not_close_an_alert() -> None:
    [alert] = watched(shares(*BASE, 0.70, None, None, None, None, 0.90), quiet=2).alerts
    assert (alert["state"], alert["quiet"]) == ("open", 1)


# ---- limits by custom ------------------------------------------------------------------------------------------------


def of_groups(first: float, second: float) -> LensResult:
    """Three months in which the two groups have these shares."""
    return watched(shares(*BASE, *[0.9] * 3, groups={"F": [*BASE, *[first] * 3], "M": [*BASE, *[second] * 3]}))


def test_a_group_must_change_by_more_than_everyone() -> None:
    result = of_groups(0.83, 0.83)
    assert [row["slice"] for row in alerts(result, type="performance")] == [{}]
    result = of_groups(0.815, 0.90)
    assert {"sex": "F"} in [row["slice"] for row in alerts(result, type="performance")]


def test_a_gap_that_opens_is_its_own_alert() -> None:
    result = of_groups(0.90, 0.84)
    [gap] = alerts(result, type="fairness")
    assert (gap["slice"], gap["severity"]) == ({"sex": "M"}, "medium")
    assert gap["effect"] == pytest.approx(-0.06)
    assert gap["message"].startswith("gap in found -0.06 against 0")
    assert alerts(of_groups(0.95, 0.84), type="fairness")[0]["severity"] == "high"
    assert alerts(of_groups(0.90, 0.86), type="fairness") == []


def test_the_slope_alarms_from_a_fifth_on_and_not_before() -> None:
    listed = months((10, Month(rows=4000)), (2, Month(rows=4000, slope=0.65)))
    [alert] = looked(planted(listed, groups=False), baseline=10, follow=["calibration_slope"]).alerts
    assert -0.5 < alert["effect"] < -0.2
    mild = months((10, Month(rows=4000)), (3, Month(rows=4000, slope=0.88)))
    assert looked(planted(mild, groups=False), baseline=10, follow=["calibration_slope"]).alerts == ()


def test_the_area_alarms_from_five_points_on() -> None:
    listed = months((10, Month(rows=1500)), (2, Month(rows=1500, blur=1.5)))
    result = looked(planted(listed), baseline=10)
    [alert] = result.alerts
    assert alert["metric"] == "auroc" and alert["effect"] < -0.05
    now, base = (next(r for r in result.estimates if r.slice == {"window": w}) for w in ("latest", "baseline"))
    assert now.high < base.low


def test_a_study_may_name_its_own_limits_for_metrics_and_gaps() -> None:
    groups = {"F": [*BASE, *[0.85] * 3], "M": [*BASE, *[0.78] * 3]}
    scores = shares(*BASE, *[0.9] * 3, groups=groups)
    wide = {"medium": 0.2, "high": 0.3}
    assert watched(scores, limits={"found": wide}, gap=wide).alerts == ()
    tight = watched(scores, limits={"found": {"medium": 0.01, "high": 0.05}}, gap={"medium": 0.01, "high": 0.02})
    assert {row["severity"] for row in tight.alerts} == {"high"}
    assert alerts(tight, type="fairness")


def test_a_metric_that_has_no_better_side_alarms_on_both() -> None:
    rate = replace(FOUND, name="rate", better="neither", parity=False)
    for share in (0.2, 0.8):
        [alert] = watched(shares(*[0.5] * 10, share), rate).alerts
        assert alert["effect"] == pytest.approx(share - 0.5)


# ---- frozen ----------------------------------------------------------------------------------------------------------


def test_what_comes_later_changes_neither_limits_nor_what_was_said_before() -> None:
    calm, wild = (watched(shares(*BASE, 0.89, 0.90, last), charts=["ewma", "cusum"]) for last in (0.90, 0.10))
    for early, late in zip(calm.charts_state, wild.charts_state, strict=True):
        assert early["limit"] == late["limit"]
        assert (early["lower"], early["upper"]) == (late["lower"], late["upper"])
        if early["window"] != "2024-01":
            assert early == late


def test_the_limits_of_every_chart_are_used() -> None:
    for chart in ("ewma", "cusum", "xmr", "p", "p_prime"):
        path = [0.90, 0.91, 0.89, 0.90, 0.905, 0.895, 0.90, 0.91, 0.89, 0.90]
        result = watched(shares(*path, 0.90, 0.45), charts=[chart])
        assert [row["signal"] for row in result.charts_state] == [False, True], chart
        assert result.alerts[0]["window"] == "2023-12"


def test_more_series_make_wider_limits() -> None:
    scores = planted(months((8, STABLE), (2, STABLE)))
    alone = looked(scores, baseline=8).charts_state[0]["limit"]
    family = drift(scores, metrics_of(scores), settings={"baseline": 8}, draws=DRAWS)
    assert family.charts_state[0]["limit"] > alone + 0.3
    assert "25 series are followed" in family.notes[0]
    assert "in at most 5% of stable first years" in family.notes[0]


def test_a_small_baseline_is_warned_about() -> None:
    result = looked(planted(months((3, STABLE), (4, STABLE))), baseline=3)
    assert any("fewer than 10 windows" in note for note in result.notes)
    assert not any(
        "fewer than 10 windows" in n for n in looked(planted(months((11, STABLE), (2, STABLE))), baseline=11).notes
    )


# ---- groups ----------------------------------------------------------------------------------------------------------


def test_a_level_that_the_baseline_never_saw_is_not_judged_and_said() -> None:
    scores = shares(*BASE, 0.9, groups={"F": [*BASE, 0.9], "M": [*BASE, 0.9]})
    new = shares(*[None] * 10, 0.1, groups={"U": [0.0] * 10 + [0.1]}, rows=500)
    both = Scores.of(
        {"hit": np.append(scores["hit"], new["hit"])},
        time=np.append(scores.time, new.time),
        groups={"sex": np.append(np.repeat(["F", "M"], 2000).tolist() * 11, np.full(500, "U"))},
    )
    result = watched(both)
    assert "Not in the baseline, so not judged: sex U (500 rows)." in result.notes
    assert {row["slice"].get("sex") for row in result.charts_state} == {None, "F", "M"}


def test_a_group_too_small_in_the_baseline_is_named_with_the_reason_and_shows_no_statistic() -> None:
    big, rare = [*BASE, 0.9], [*BASE, 0.1]
    scores = shares(*big, groups={"F": big, "M": big})
    few = shares(*rare, rows=9)
    both = Scores.of(
        {"hit": np.append(scores["hit"], few["hit"])},
        time=np.append(scores.time, few.time),
        groups={"sex": np.append(np.repeat(["F", "M"], 2000).tolist() * 11, np.full(99, "X"))},
    )
    result = watched(both)
    assert any(
        note.startswith("Not judged, for want of a baseline (90 rows; at least 100 are needed): found [sex=X]")
        for note in result.notes
    )
    row = next(r for r in result.charts_state if r["slice"] == {"sex": "X"} and r["type"] == "performance")
    assert row["status"] == "insufficient" and row["reason"] == "no baseline: 90 rows; at least 100 are needed"
    assert np.isnan(row["statistic"]) and row["signal"] is False
