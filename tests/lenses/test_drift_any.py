"""The drift lens for any task, in any order of rows, and with settings that cannot be meant."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from typing import Any

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
    with_values,
)
from tests.support.shell import leaves
from workup.errors import StudyError
from workup.estimate import Draws
from workup.lenses.drift.lens import Settings, drift
from workup.lenses.drift.windows import Window
from workup.metric import Concern, mean
from workup.report import LensResult, Report
from workup.scores import Scores

# ---- any task --------------------------------------------------------------------------------------------------------


WAIT = mean("wait", lambda s: s["wait"], describe="minutes waited", better="lower", concern=Concern(3.0, 6.0, 4.0))
LENGTH = mean("length", lambda s: s["wait"] * 2, describe="some length")


def waits(*means: float, seed: int = 1) -> Scores:
    rng = np.random.default_rng(seed)
    time = np.repeat((np.datetime64("2023-01", "M") + np.arange(len(means))).astype("datetime64[us]"), 300)
    return Scores.of(
        {"wait": np.concatenate([rng.gamma(4, m / 4, 300) for m in means])},
        patient=rng.integers(0, 900, 300 * len(means)),
        time=time,
        groups={"ward": rng.choice(["A", "B", "C"], time.size)},
    )


def test_a_metric_of_another_task_is_served_without_risks_or_events() -> None:
    result = drift(waits(*[20] * 8, 20, 30, 30), [WAIT], settings={"baseline": 8}, draws=DRAWS)
    everyone = alerts(result, slice={})
    assert [(row["metric"], row["severity"]) for row in everyone] == [("wait", "high")]
    assert everyone[0]["effect"] == pytest.approx(10, abs=2)
    assert result.tables["kinds"] == [] and result.tables["without_labels"] == [] and result.tables["drift_kind"] == []
    assert all(row["events"] is None for row in result.tables["windows"])


def test_a_task_that_says_of_no_metric_what_matters_is_followed_all_the_same() -> None:
    result = drift(waits(*[20] * 10), [LENGTH], settings={"baseline": 8}, draws=DRAWS)
    assert {row["metric"] for row in result.charts_state} == {"length"}


def test_a_metric_without_an_interval_that_has_a_concern_is_followed_beside_one_with() -> None:
    scores = with_values(waits(*[20] * 10), hit=np.ones(3000))
    result = drift(scores, [WAIT, FOUND], settings={"baseline": 8}, draws=DRAWS)
    assert {row["metric"] for row in result.charts_state} == {"wait", "found"}


def test_rows_that_repeat_within_patients_and_carry_weights_are_served() -> None:
    rng = np.random.default_rng(3)
    scores = planted(months((8, STABLE), (3, STABLE)))
    scores = replace(scores, patient=rng.integers(0, 1500, len(scores)), weight=rng.uniform(0.5, 2, len(scores)))
    result = drift(scores, metrics_of(scores), settings={"baseline": 8, "by": []}, draws=DRAWS)
    assert all(row["status"] == "ok" for row in result.charts_state)
    assert result.alerts == ()


# ---- order -----------------------------------------------------------------------------------------------------------


def report(result: LensResult) -> str:
    return Report(study={}, corpus={}, system={}, seed=1, results={"drift": result}).to_json()


@pytest.mark.parametrize("charts", [["ewma"], ["ewma", "ra_cusum"]])
def test_the_order_of_the_rows_changes_nothing(charts: list[str]) -> None:
    """Up to the last digits of sums; a task puts its rows in one order, so that its bytes are the same."""
    scores = planted(months((8, STABLE), (2, Month(blur=1.0))), inputs=True)
    scores = with_values(scores, risk=np.round(scores["risk"], 2))
    other = scores.take(np.random.default_rng(5).permutation(len(scores)))
    first, second = (
        looked(part, baseline=8, charts=charts, by=["sex"], inputs={"together": "none"}) for part in (scores, other)
    )
    resampled = {"without_labels"}  # drawn by the numbers of patients, which a table without ids gives by place
    one, two = (dict(leaves(json.loads(report(result))["results"])) for result in (first, second))
    assert one.keys() == two.keys()
    for path, value in one.items():
        if not any(name in path for name in resampled):
            assert two[path] == (pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value), path


# ---- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window": "fortnight"}, r"lenses\.drift\.window must be day, week, month"),
        ({"window": True}, "not true or false"),
        ({"charts": ["ewna"]}, r"did you mean 'ewma'"),
        ({"charts": []}, "charts"),
        ({"metrics": ["fuond"]}, r"'fuond' is not a metric of this study; did you mean 'found'"),
        ({"limits": {"recal": {"medium": 0.1, "high": 0.2}}}, "'recal' is not a metric of this study"),
        ({"limits": {"found": {"medium": 0.3, "high": 0.2}}}, "'high' must not be below 'medium'"),
        ({"limits": {"found": {"medium": float("nan"), "high": 0.2}}}, "finite"),
        ({"by": ["sexx"]}, r"lenses\.drift\.by: 'sexx' is not one of columns\.groups; did you mean 'sex'"),
        ({"baseline": 0}, "at least 1 window"),
        ({"baseline": -2}, "at least 1 window"),
        ({"baseline": 99}, r"windows before and after the end of the baseline; got 11 and 0"),
        ({"baseline": "2030-01-01"}, r"got 11 and 0, from 2023-01-01 to 2023-12-01"),
        ({"baseline": "2020-01-01"}, "got 0 and 11"),
        ({"baseline": "01/02/2023"}, r"lenses\.drift\.baseline must be an ISO date"),
        ({"baseline": "today"}, r"lenses\.drift\.baseline must be an ISO date"),
        ({"as_of": "now"}, r"lenses\.drift\.as_of must be an ISO date"),
        ({"label_delay": float("inf")}, "label_delay"),
        ({"label_delay": -1}, "label_delay"),
        ({"chance": 0}, "chance"),
        ({"quiet": 0}, "quiet"),
        ({"small": "drop"}, "small"),
        ({"basline": 3}, r"'basline' is not a known field; did you mean 'baseline'"),
        ({"minimum": {"rows": 0}}, "rows"),
        ({"baseline": 1, "minimum": {"rows": 9000}}, r"the baseline holds too little to judge by: 4000 rows"),
        ({"charts": ["p"], "metrics": ["found"], "baseline": 3}, None),
        ({"charts": ["xmr"], "baseline": 3}, "'xmr' suits none of the series"),
    ],
)
def test_settings_that_cannot_be_meant_are_errors_that_teach(settings: dict[str, Any], message: str | None) -> None:
    scores = shares(*BASE, 0.9, groups={"F": [*BASE, 0.9], "M": [*BASE, 0.9]})
    if message is None:
        assert watched(scores, **settings).charts_state
        return
    with pytest.raises(StudyError, match=message):
        watched(scores, **settings)


def test_a_limit_for_a_metric_that_is_not_followed_is_not_idle_in_silence() -> None:
    scores = with_values(waits(*[20] * 10), hit=np.ones(3000))
    limits = {"wait": {"medium": 1.0, "high": 2.0}}
    with pytest.raises(StudyError, match=r"'wait' is not followed.*add it to lenses\.drift\.metrics"):
        drift(scores, [WAIT, FOUND], settings={"baseline": 8, "metrics": ["found"], "limits": limits}, draws=DRAWS)


def test_dates_may_come_as_yaml_reads_them_and_names_named_twice_count_once() -> None:
    chosen = Settings.checked(
        {"baseline": datetime.date(2024, 5, 1), "as_of": datetime.date(2025, 1, 1), "charts": ["ewma", "ewma"]},
        where="x",
    )
    assert (chosen.baseline, chosen.as_of, chosen.charts) == ("2024-05-01", "2025-01-01", ("ewma",))


def test_a_chart_that_leaves_series_out_says_so() -> None:
    scores = planted(months((8, STABLE), (2, STABLE)), groups=False)
    result = looked(scores, baseline=8, charts=["p"], follow=["auroc", "sensitivity"])
    assert "The chart 'p' does not suit 1 of the 2 series, which it leaves out." in result.notes
    assert {row["metric"] for row in result.charts_state} == {"sensitivity"}


def test_progress_is_told_window_by_window() -> None:
    seen: list[tuple[int, int]] = []
    scores = shares(*BASE, 0.9, 0.9)
    drift(
        scores,
        [FOUND],
        settings={"baseline": 10},
        draws=Draws(seed=1, replicates=200),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(1, 2), (2, 2)]


def test_windows_in_the_result_are_plain_rows() -> None:
    result = watched(shares(*BASE, 0.9))
    assert not any(isinstance(value, Window) for row in result.tables["windows"] for value in row.values())
    assert report(result)  # everything in it can be written
