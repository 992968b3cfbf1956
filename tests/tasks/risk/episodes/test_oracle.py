"""Every case of the reference values of episodes, exactly: counts, rows, nulls, groups, and where short cuts differ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.support import oracles
from tests.support.episode_tables import BASE, HOUR, evaluated, hours_of
from workup.scores import MISSING, Scores
from workup.tasks.risk.episodes.cases import case_rows
from workup.tasks.risk.episodes.evaluation import Evaluated
from workup.tasks.risk.episodes.fates import FATES
from workup.tasks.risk.episodes.rows import rows_of_events
from workup.tasks.risk.episodes.stays import HOW

_ADDITIVE = {
    "predictions": "predictions",
    "days": "days",
    "alerts": "alerts@",
    "suppressed": "suppressed@",
    "acted_alerts": "acted_alerts@",
    "true_alerts": "true@",
    "false_alerts": "false@",
    "neutral_alerts": "neutral@",
    "events": "event",
    "scored_events": "scored",
    "flagged_events": "flagged@",
    "flagged_by_score": "by_score@",
    "judged_encounters": "judged_stay@",
    "true_encounters": "true_stay@",
}


def _evaluated(case: oracles.Case) -> Evaluated:
    given = {name: value for name, value in case.input["settings"].items() if name != "thresholds"}
    return evaluated(case.input["predictions"], case.input["events"], given, case.input["settings"]["thresholds"])


def _exactly(found: Any, expected: Any) -> None:
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


def _sums(scores: Scores, label: str) -> dict[str, float]:
    named = {name: column + label if column.endswith("@") else column for name, column in _ADDITIVE.items()}
    return {name: float(scores[column].sum()) for name, column in named.items()}


def _ratio(first: float, second: float) -> float | None:
    return first / second if second else None


def _rates(sums: dict[str, float]) -> dict[str, float | None]:
    judged = sums["true_alerts"] + sums["false_alerts"]
    return {
        "event_sensitivity": _ratio(sums["flagged_events"], sums["events"]),
        "event_sensitivity_scored": _ratio(sums["flagged_events"], sums["scored_events"]),
        "alert_ppv": _ratio(sums["true_alerts"], judged),
        "alarm_rate": _ratio(100 * sums["alerts"], sums["days"]),
        "nne_alert": _ratio(judged, sums["true_alerts"]),
        "alerts_per_flagged_event": _ratio(judged, sums["flagged_events"]),
        "encounter_ppv": _ratio(sums["true_encounters"], sums["judged_encounters"]),
        "nne_encounter": _ratio(sums["judged_encounters"], sums["true_encounters"]),
    }


def _groups(found: Evaluated, prediction: int) -> dict[str, str]:
    """The levels of a row, by the prediction that it has them from."""
    return {
        name: MISSING if prediction < 0 or coded.codes[prediction] < 0 else coded.names[coded.codes[prediction]]
        for name, coded in found.design.groups.items()
    }


@oracles.cases("episodes")
def test_fates_and_what_is_put_aside(case: oracles.Case) -> None:
    """Every prediction has one fate, and nothing leaves without being counted."""
    found = _evaluated(case)
    assert found.fates == case.expected["fates"]
    assert {name: found.aside[name] for name in case.expected["aside"]} == case.expected["aside"]


@oracles.cases("episodes")
def test_spans_and_onsets(case: oracles.Case) -> None:
    """Where each stay begins and ends, how, and which onsets count."""
    stays = _evaluated(case).stays
    eligible = stays.onsets.take(stays.eligible)
    assert [
        {
            "encounter": stays.names[number],
            "patient": stays.patient_names[stays.patient[number]],
            "start": hours_of(stays.start[number]),
            "end": hours_of(stays.end[number]),
            "how": HOW[stays.how[number]],
            "onsets": hours_of(eligible.time[eligible.stay == number]).tolist(),
            "present": bool(stays.present[number]),
            "undated": bool(stays.undated[number]),
        }
        for number in range(len(stays))
    ] == case.expected["encounters"]


@oracles.cases("episodes")
def test_counts_and_rates_per_threshold(case: oracles.Case) -> None:
    """Additive counts, from the rows of the scores, and the rates that they make; null where nothing is divided by."""
    found = _evaluated(case)
    assert found.labels == tuple(format(one["threshold"], ".12g") for one in case.expected["thresholds"])
    for label, expected in zip(found.labels, case.expected["thresholds"], strict=True):
        sums = _sums(found.scores, label)
        _exactly(sums, dict(found.counts[label]))
        for name, value in {**sums, **_rates(sums)}.items():
            _exactly(value, expected[name])


@oracles.cases("episodes")
def test_events_and_leads(case: oracles.Case) -> None:
    """Each event: scored, flagged, with how much warning; and the share of all events with that much."""
    found = _evaluated(case)
    rows = rows_of_events(found.judged)
    for label, expected in zip(found.labels, case.expected["thresholds"], strict=True):
        lead = rows.values[f"lead@{label}"]
        events = [
            {
                "encounter": found.stays.names[rows.stay[place]],
                "onset": hours_of(rows.time[place]),
                "scored": bool(rows.values["scored"][place]),
                "flagged": bool(rows.values[f"flagged@{label}"][place]),
                "flagged_by_score": bool(rows.values[f"by_score@{label}"][place]),
                "lead": None if math.isnan(lead[place]) else lead[place],
                "acted": bool(rows.values[f"acted@{label}"][place]),
                **_groups(found, rows.prediction[place]),
            }
            for place in range(len(rows))
        ]
        assert events == expected["event_rows"]
        leads = np.sort(lead[~np.isnan(lead)])
        _exactly(leads.tolist(), expected["lead_times"])
        _exactly(float(np.median(leads)) if leads.size else None, expected["lead_time_median"])
        _exactly(found.lead_to_recognition[label].tolist(), expected["lead_to_recognition"])
        for hours, share in expected["flagged_at_least"].items():
            _exactly(_ratio(float((lead >= float(hours)).sum()), len(lead)), share)


@oracles.cases("episodes")
@pytest.mark.parametrize("score", ["max", "first", "last", "mean"])
@pytest.mark.parametrize("unit", ["encounter", "patient"])
def test_rows_of_stays_and_patients(case: oracles.Case, unit: str, score: str) -> None:
    """One risk and one outcome per stay or patient; an outcome that is not known is null."""
    found = _evaluated(case)
    rows = case_rows(found.judged, unit, score)
    expected = case.expected[f"rows_{unit}_{score}"]
    stays = found.stays
    for place, one in enumerate(expected):
        assert stays.patient_names[stays.patient[rows.stay[place]]] == one["patient"]
        _exactly(rows.risk[place], one["risk"])
        _exactly(rows.outcome[place], math.nan if one["outcome"] is None else one["outcome"])
        if unit == "encounter":
            assert stays.names[rows.stay[place]] == one["encounter"]
            assert hours_of(rows.time[place]) == one["time"]
            _exactly(rows.hours_watched[place], one["hours"])
        else:
            same = stays.patient[case_rows(found.judged, "encounter", score).stay] == stays.patient[rows.stay[place]]
            assert int(same.sum()) == one["encounters"]
    assert len(rows) == len(expected)
    _same_in_scores(found.cases(unit, score), [(one["risk"], one["outcome"]) for one in expected])


@oracles.cases("episodes")
def test_rows_of_predictions_and_landmarks(case: oracles.Case) -> None:
    """Every case and control by itself; and stays at landmarks, judged from the landmark on."""
    found = _evaluated(case)
    rows = case_rows(found.judged, "prediction", "max")
    known = np.flatnonzero(~np.isnan(rows.outcome))
    stays = found.stays
    predictions = [
        {
            "encounter": stays.names[rows.stay[place]],
            "patient": stays.patient_names[stays.patient[rows.stay[place]]],
            "time": hours_of(rows.time[place]),
            "risk": rows.risk[place],
            "outcome": rows.outcome[place],
            **_groups(found, rows.prediction[place]),
        }
        for place in known
    ]
    assert predictions == case.expected["rows_prediction"]
    assert int(np.isnan(rows.outcome).sum()) == case.expected["fates"]["unknown"]
    _same_in_scores(
        found.cases("prediction"),
        [(one["risk"], one["outcome"]) for one in case.expected["rows_prediction"]],
        known_only=True,
    )
    marks = case_rows(found.judged, "landmark", "max")
    order = np.lexsort((marks.stay, np.zeros(0) if marks.landmark is None else marks.landmark))
    landmarks = [
        {
            "landmark": found.part.landmarks[marks.landmark[place]].hours,
            "encounter": stays.names[marks.stay[place]],
            "risk": marks.risk[place],
            "outcome": None if math.isnan(marks.outcome[place]) else marks.outcome[place],
        }
        for place in order
    ]
    assert landmarks == case.expected["rows_landmark"]


def _same_in_scores(scores: Scores, expected: list[tuple[float, float | None]], *, known_only: bool = False) -> None:
    """The scores hold these rows and no others, the unknown ones as waiting."""
    held = [
        (risk, None if math.isnan(outcome) else outcome)
        for part in (scores, scores.waiting)
        if part is not None and not (known_only and part is scores.waiting)
        for risk, outcome in zip(part["risk"].tolist(), part["outcome"].tolist(), strict=True)
    ]

    def in_order(rows: list[tuple[float, float | None]]) -> list[tuple[float, float]]:
        return sorted((risk, -1.0 if outcome is None else outcome) for risk, outcome in rows)

    assert len(held) == len(expected)
    _exactly(np.array(in_order(held)), np.array(in_order(expected)))


@oracles.cases("episodes", prefix="ep_shared_groups_that_change")
def test_groups_at_the_prediction(case: oracles.Case) -> None:
    """Levels of a grouping that changes within stays: their counts add up to all, and filtering first gives others."""
    found = _evaluated(case)
    assert found.changing_groups == ("unit",)
    for label, expected in zip(found.labels, case.expected["thresholds"], strict=True):
        levels = {name: _sums(found.scores.take(mask), label) for name, mask in found.scores.groups["unit"].masks()}
        assert set(levels) == set(expected["by"]["unit"])
        for name, sums in levels.items():
            for key, value in {**sums, **_rates(sums)}.items():
                if key in expected["by"]["unit"][name]:
                    _exactly(value, expected["by"]["unit"][name][key])
        for key, value in _sums(found.scores, label).items():
            _exactly(sum(sums[key] for sums in levels.values()), value)
        for name, naive in case.expected["naive_filter_first"].items():
            assert any(naive[key] != pytest.approx(levels[name][key]) for key in naive)


@oracles.cases("episodes")
def test_not_zero_for_the_rest(case: oracles.Case) -> None:
    """Who calls every other prediction a control has more of them."""
    naive = case.expected["naive_zero_for_the_rest"]
    scores = _evaluated(case).cases("prediction")
    ours = {"positive": int(scores["outcome"].sum()), "negative": int((1 - scores["outcome"]).sum())}
    assert ours["negative"] < naive["negative"]
    assert ours != naive


@oracles.cases("episodes", prefix="ep_shared_groups_that_change")
def test_filtering_the_tables_first_gives_what_the_reference_calls_naive(case: oracles.Case) -> None:
    """The trap is real: our own code, given filtered tables, falls into it."""
    given = {name: value for name, value in case.input["settings"].items() if name != "thresholds"}
    whole = case.input["predictions"]
    for level, naive in case.expected["naive_filter_first"].items():
        rows = [place for place, one in enumerate(whole["unit"]) if one == level]
        filtered = {name: [column[place] for place in rows] for name, column in whole.items() if name != "unit"}
        counts = evaluated(filtered, case.input["events"], given, case.input["settings"]["thresholds"]).counts
        for key in ("days", "alerts", "true_alerts", "false_alerts", "flagged_events"):
            _exactly(counts["0.4"][key], naive[key])


def test_the_case_worked_out_by_hand() -> None:
    """Two patients, three stays: every fate, alert, verdict and row, spelled out."""
    a = [(0, 0.2), (4, 0.6), (8, 0.7), (12, 0.4), (16, 0.8), (19.5, 0.9), (20, 0.9), (24, 0.3)]
    b = [(0, 0.1), (6, 0.5), (12, 0.3)]
    c = [(100, 0.4), (106, 0.2)]
    scores = {
        "patient": ["A"] * 8 + ["B"] * 5,
        "encounter": ["a"] * 8 + ["b"] * 3 + ["c"] * 2,
        "time": [hour for hour, _ in a + b + c],
        "risk": [risk for _, risk in a + b + c],
    }
    happened = {
        "patient": ["A", "A", "A", "B", "B", "B", "B", "B"],
        "encounter": ["a", "a", "a", "b", "b", "c", "c", "c"],
        "type": ["start", "target", "end", "start", "end", "start", "target", "end"],
        "time": [0, 20, 30, 0, 18, 100, 107, 124],
    }
    given = {"horizon": 12, "gap": 1, "refractory": 6, "landmarks": [6, 12]}
    found = evaluated(scores, happened, given)
    fate = ["control", "control", "case", "case", "case", "late", "after_event", "after_event"]
    fate += ["control"] * 3 + ["case"] * 2
    assert [FATES[code] for code in found.judged.inside.fates.fate] == fate
    alarms = found.judged.alarms[0]
    assert hours_of(alarms.time).tolist() == [4, 16, 6]
    assert alarms.true.tolist() == [False, True, False]
    assert alarms.false.tolist() == [True, False, True]
    assert hours_of(found.judged.inside.moments.time[alarms.silenced]).tolist() == [8, 19.5, 20]
    counts = found.counts["0.5"]
    assert counts["days"] == 3
    assert (counts["alerts"], counts["suppressed"], counts["true_alerts"], counts["false_alerts"]) == (3, 3, 1, 2)
    assert (counts["events"], counts["flagged_events"], counts["judged_encounters"]) == (2, 1, 2)
    lead = found.scores["lead@0.5"]
    assert lead[~np.isnan(lead)].tolist() == [4]

    def rows(unit: str, score: str = "max") -> list[tuple[float, float]]:
        table = case_rows(found.judged, unit, score)
        return list(zip(table.risk.tolist(), table.outcome.tolist(), strict=True))

    assert rows("encounter") == [(0.8, 1), (0.5, 0), (0.4, 1)]
    assert rows("encounter", "first") == [(0.2, 0), (0.1, 0), (0.4, 1)]
    assert rows("patient") == [(0.8, 1), (0.5, 1)]
    assert rows("landmark") == [(0.6, 0), (0.4, 1), (0.5, 0), (0.3, 0), (0.2, 1)]
    assert [outcome for _, outcome in rows("prediction")].count(1) == 5
    assert found.scores.time is not None
    assert BASE + np.timedelta64(107 * HOUR, "us") in found.scores.time[found.scores["event"] == 1]
