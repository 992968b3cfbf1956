"""Models that must not pass: sensible gates on a ward where what is wrong with each is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.wards import Model, judged

GATES = [
    "event_sensitivity.low >= 0.5",
    "flagged_before{hours=4}.low >= 0.3",
    "alert_ppv.low >= 0.15",
    "alarm_rate.high <= 60",
]


def good(until: Any, rng: np.random.Generator) -> Any:
    """It rises in the ten hours before the event."""
    near = np.isfinite(until) & (until > 0) & (until < 10)
    return np.clip(np.where(near, 0.8, 0.15) + rng.normal(0, 0.1, len(until)), 0, 0.99)


def after_the_event(until: Any, rng: np.random.Generator) -> Any:
    """It sees what has happened, and no sooner."""
    return np.where(np.isfinite(until) & (until < 0), 0.9, 0.1) + rng.normal(0, 0.01, len(until))


def always(until: Any, rng: np.random.Generator) -> Any:
    """It alerts whatever happens."""
    return np.full(len(until), 0.9)


def noise(until: Any, rng: np.random.Generator) -> Any:
    """It knows nothing."""
    return rng.uniform(0, 1, len(until))


def never_scored(until: Any, rng: np.random.Generator) -> Any:
    """It is perfect where it answers, and silent in the day before an event."""
    rising = np.where(np.isfinite(until) & (until < 0), 0.9, 0.1)
    return np.where(np.isfinite(until) & (until > 0) & (until < 24), np.nan, rising)


def only_the_easy(until: Any, rng: np.random.Generator) -> Any:
    """It flags one event in twelve, and these long before."""
    chosen = rng.random() < 1 / 12
    return np.where(chosen & np.isfinite(until) & (until > 8) & (until < 12), 0.9, 0.1)


def test_a_good_model_passes() -> None:
    report = judged(good, gates=GATES)
    assert [verdict.outcome for verdict in report.verdicts] == ["pass"] * len(GATES)


@pytest.mark.parametrize(
    ("model", "failed"),
    [
        (after_the_event, {"event_sensitivity", "flagged_before"}),
        (always, {"alarm_rate"}),
        (noise, {"alert_ppv", "alarm_rate"}),
        (never_scored, {"event_sensitivity", "flagged_before"}),
        (only_the_easy, {"event_sensitivity", "flagged_before"}),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_model_that_is_wrong_does_not_pass(model: Model, failed: set[str]) -> None:
    report = judged(model, gates=GATES)
    named = {v.rule.partition(".")[0].partition("{")[0] for v in report.verdicts if v.outcome == "fail"}
    assert failed <= named


def test_events_that_nobody_scored_are_misses_and_not_a_gap_in_the_data() -> None:
    report = judged(never_scored, gates=GATES)
    assert report.estimate("event_sensitivity", threshold=0.5).value == 0
    assert report.estimate("event_coverage", threshold=0.5).value == 0
    assert report.estimate("event_sensitivity_scored", threshold=0.5).value is None


def test_a_model_that_alerts_after_the_event_is_heard_all_the_same() -> None:
    """Its alerts are neither true nor false, so it has no PPV to pass by, and they are in the burden."""
    report = judged(after_the_event, gates=["alert_ppv.low >= 0.15"])
    assert report.verdicts[0].outcome == "not_assessed"
    assert report.estimate("alert_ppv", threshold=0.5).value is None
    assert report.estimate("alarm_rate", threshold=0.5).value > 5  # type: ignore[operator]


def test_a_gate_on_the_median_lead_time_alone_gets_a_note() -> None:
    """One event in twelve flagged long before has a better median than all of them flagged in time."""
    easy = judged(only_the_easy, gates=["lead_time_median.value >= 6"])
    fair = judged(good, gates=["lead_time_median.value >= 6", "event_sensitivity.low >= 0.5"])
    lead = [report.estimate("lead_time_median", threshold=0.5).value for report in (easy, fair)]
    assert lead[0] > lead[1]  # type: ignore[operator]
    assert any("names lead_time_median alone" in note for note in easy.results["internal"].notes)
    assert not any("names lead_time_median alone" in note for note in fair.results["internal"].notes)


def test_noise_seems_to_rank_backwards_by_its_maximum_and_not_by_its_first_score() -> None:
    """Who is watched longer scores higher, and an event cuts the scores short."""
    report = judged(noise, gates=[], horizon="stay")
    assert report.estimate("auroc").high < 0.5  # type: ignore[operator]
    first = report.results["internal"].tables["first_score"]
    assert first["low"] < 0.5 < first["high"]
    hours = {row["outcome"]: row["median"] for row in report.results["internal"].tables["hours_watched"]}
    assert hours["event"] < hours["no event"]
