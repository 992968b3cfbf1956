"""The four kinds of rows: their columns, groups, weights and times; recorded alerts; what was acted on; follow-up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.episode_tables import BASE, HOUR, ROLES, evaluated, hours_of, of_stays, stay
from workup.scores import Scores
from workup.tasks.risk.episodes.cases import case_rows
from workup.tasks.risk.episodes.evaluation import Evaluated

TWO = (
    stay("e", [(1, 0.2), (5, 0.7), (30, 0.6)], [("start", 0), ("target", 36), ("end", 60)], "p"),
    stay("f", [(2, 0.6), (3, 0.1)], [("start", 0), ("end", 10)], "q"),
)
RECORDED = {**ROLES, "alert": ["alert"]}


def _kind(found: Evaluated, kind: str) -> Scores:
    return found.scores.take(found.scores[kind] == 1)


def _level(scores: Scores, group: str) -> list[str]:
    levels = scores.groups[group]
    return [levels.names[code] for code in levels.codes]


def test_the_names_of_the_columns() -> None:
    """By kind; outside their kind columns are 0, or NaN where 0 would be a value."""
    found = evaluated(*of_stays(*TWO), {"horizon": 12}, [0.3])
    case = ["case", "outcome", "risk", "row", "hours_watched", "acted"]
    watch = ["watch", "predictions", "days", "alerts@0.3", "suppressed@0.3", "true@0.3", "false@0.3", "neutral@0.3"]
    watch += ["acted_alerts@0.3"]
    event = ["event", "scored", "flagged@0.3", "by_score@0.3", "lead@0.3", "acted@0.3"]
    of_stay = ["stay", "judged_stay@0.3", "true_stay@0.3"]
    kinds = {"case": case, "watch": watch, "event": event, "stay": of_stay}
    assert set(found.scores.values) == {name for names in kinds.values() for name in names}
    for kind, own in kinds.items():
        outside = found.scores.take(found.scores[kind] == 0)
        for name in own:
            empty = np.isnan(outside[name]) if name in ("outcome", "risk", "lead@0.3") else outside[name] == 0
            assert empty.all(), name
    order = [place for kind in kinds for place in np.flatnonzero(found.scores[kind] == 1)]
    assert order == list(range(len(found.scores)))


def test_without_thresholds_there_are_no_alerts() -> None:
    """But cases, exposure and events."""
    found = evaluated(*of_stays(*TWO), {"horizon": 12}, [])
    assert found.labels == ()
    assert {name for name in found.scores.values if "@" in name} == set()
    assert _kind(found, "case")["acted"].sum() == 0
    assert _kind(found, "event")["scored"].tolist() == [1]


def test_watch_rows_are_folded_by_day_and_time_since_the_start() -> None:
    """Each at its first prediction; exposure belongs to the prediction that opens it, also over midnight."""
    rows = _kind(evaluated(*of_stays(*TWO), {"horizon": 12}), "watch")
    order = np.lexsort((rows.time, rows.patient))
    assert rows["predictions"][order].tolist() == [2, 1, 2]
    assert (rows["days"][order] * 24).round(9).tolist() == [29, 30, 8]
    assert rows.time is not None
    assert hours_of(rows.time[order].astype(np.int64)).tolist() == [1, 30, 2]
    assert [_level(rows, "since_start")[place] for place in order] == ["0–6 h", "24–72 h", "0–6 h"]


def test_groups_of_each_kind() -> None:
    """At the prediction; an event has those in force at its onset, a stay and its score those of the first."""
    scores, happened = of_stays(
        stay("e", [(1, 0.2), (5, 0.7), (30, 0.9)], [("start", 0), ("target", 20), ("end", 40)], "p"),
        stay("f", [(9, 0.2)], [("start", 0), ("target", 5), ("end", 40)], "q"),
    )
    scores["ward"] = ["ed", "icu", "ward", "ward"]
    scores["site"] = ["A", "A", "A", "B"]
    found = evaluated(scores, happened, {"horizon": 24}, site="site")
    events = _kind(found, "event")
    assert sorted(zip(hours_of(events.time.astype(np.int64)), _level(events, "ward"), strict=True)) == [  # type: ignore[union-attr]
        (5, "missing"),
        (20, "icu"),
    ]
    assert found.scores.site is not None
    assert "missing" in found.scores.site.names
    assert _level(_kind(found, "case"), "ward") == ["ed"]
    assert sorted(_level(_kind(found, "stay"), "ward")) == ["ed", "ward"]
    assert found.changing_groups == ("ward",)
    watch = _kind(found, "watch")
    days = {name: float(watch["days"][mask].sum()) for name, mask in watch.groups["ward"].masks()}
    assert days["icu"] == pytest.approx(25 / 24)
    assert evaluated(*of_stays(*TWO), {"horizon": 12}).changing_groups == ()


def test_landmarks_are_a_group_in_their_order() -> None:
    """Named as they were written, from the earliest; and only where they are the unit."""
    given = {"horizon": 12, "landmarks": ["12h", "120min"], "unit": "landmark"}
    rows = _kind(evaluated(*of_stays(*TWO), given), "case")
    assert rows.groups["landmark"].names == ("120min", "12h", "missing")
    assert sorted(zip(_level(rows, "landmark"), rows["risk"].tolist(), strict=True)) == [
        ("120min", 0.2),
        ("120min", 0.6),
        ("12h", 0.7),
    ]
    assert rows.time is not None
    assert hours_of(rows.time.astype(np.int64)).tolist() == [2, 2, 12]
    assert "landmark" not in evaluated(*of_stays(*TWO), {**given, "unit": "encounter"}).scores.groups


def test_rows_are_named_by_counters_that_no_order_changes() -> None:
    """Of predictions, stays, patients or landmarks; each once."""
    for unit, rows in (("prediction", [1, 2, 3, 4, 5]), ("encounter", [1, 2]), ("patient", [1, 2])):
        found = evaluated(*of_stays(*TWO), {"horizon": 12, "unit": unit})
        assert sorted(_kind(found, "case")["row"].tolist()) == rows
    found = evaluated(*of_stays(*TWO), {"horizon": 12, "unit": "landmark", "landmarks": [2, 4]})
    assert sorted(_kind(found, "case")["row"].tolist()) == [1, 2, 3, 4]


@pytest.mark.parametrize("unit", ["prediction", "encounter", "patient", "landmark"])
def test_two_models_number_their_rows_alike(unit: str) -> None:
    """Though one of them gave no risk now and then: a row of the one is the row of that number of the other."""
    scores, happened = of_stays(*TWO, stay("g", [(1, 0.3), (4, 0.4)], [("start", 0), ("end", 30)], "r"))
    given = {"horizon": 12, "unit": unit, "landmarks": [3, 6]}
    whole = _kind(evaluated(scores, happened, given), "case")
    for without in range(len(scores["risk"])):
        risks = [np.nan if place == without else risk for place, risk in enumerate(scores["risk"])]
        part = _kind(evaluated({**scores, "risk": risks}, happened, given), "case")
        assert _named(part, unit).items() <= _named(whole, unit).items()
    assert len(_named(whole, unit)) == len(whole)


def _named(rows: Scores, unit: str) -> dict[float, Any]:
    """Whose each row is, and of which moment, where a row stands for one."""
    assert rows.time is not None
    moments = rows.time.tolist() if unit in ("prediction", "landmark") else [None] * len(rows)
    return dict(zip(rows["row"].tolist(), zip(rows.patient.tolist(), moments, strict=True), strict=True))


def test_weights() -> None:
    """Design weights go with the prediction; with weight: stay the rows of a stay count as one in all."""
    scores, happened = of_stays(*TWO)
    plain = evaluated(scores, happened, {"horizon": 12, "unit": "prediction"})
    assert plain.scores.weight is None
    by_stay = _kind(evaluated(scores, happened, {"horizon": 12, "unit": "prediction", "weight": "stay"}), "case")
    assert by_stay.weight is not None
    for patient in (0, 1):
        assert by_stay.weight[by_stay.patient == patient].sum() == pytest.approx(1)
    scores["weight"] = [2.0, 2.0, 2.0, 3.0, 3.0]
    weighted = evaluated(scores, happened, {"horizon": 12}, weight="weight")
    for kind in ("case", "watch", "event", "stay"):
        rows = _kind(weighted, kind)
        assert rows.weight is not None
        assert rows.weight.tolist() == [2.0 if patient == 0 else 3.0 for patient in rows.patient]


def test_what_was_acted_on() -> None:
    """An intervention after a fired alert, within the time allowed and inside the stay; never at the same moment."""

    def run(*interventions: float, unit: str = "prediction") -> Evaluated:
        happened: list[tuple[str, float | None]] = [("start", 0), ("target", 12), ("end", 20)]
        happened += [("intervention", hour) for hour in interventions]
        return evaluated(
            *of_stays(stay("e", [(1, 0.2), (4, 0.7), (6, 0.3), (18, 0.8)], happened)),
            {"horizon": 24, "act_within": 3, "unit": unit},
        )

    for hour, acted in ((4, 0), (4.5, 1), (7, 1), (7.5, 0), (2, 0)):
        assert run(hour).counts["0.5"]["acted_alerts"] == acted
    assert run(20.5).counts["0.5"]["acted_alerts"] == 0  # after the patient had left
    assert run(19).counts["0.5"]["acted_alerts"] == 1
    rows = case_rows(run(5).judged, "prediction", "max")
    assert rows.acted.tolist() == [False, True, True]
    assert case_rows(run(5).judged, "encounter", "max").acted.tolist() == [True]
    assert case_rows(run(19).judged, "encounter", "max").acted.tolist() == [False]  # the alert came after the event
    assert case_rows(run(5).judged, "patient", "max").acted.tolist() == [True]
    assert _kind(run(5), "event")["acted@0.5"].tolist() == [1]
    assert _kind(run(19), "event")["acted@0.5"].tolist() == [0]
    assert run(5, 3).lead_to_recognition["0.5"].tolist() == [-1]
    assert run(7).lead_to_recognition["0.5"].tolist() == [3]


def test_predictions_after_clinicians_knew_are_worth_nothing() -> None:
    """With stop_at an event first flagged after recognition is missed, and alerts from then on are neutral."""
    tables = of_stays(stay("e", [(1, 0.2), (4, 0.7)], [("start", 0), ("intervention", 3), ("target", 12), ("end", 20)]))
    free, stopped = (
        evaluated(*tables, {"horizon": 24}),
        evaluated(*tables, {"horizon": 24, "stop_at": ["intervention"]}),
    )
    assert free.counts["0.5"]["flagged_events"] == 1
    assert free.lead_to_recognition["0.5"].tolist() == [-1]
    assert stopped.counts["0.5"]["flagged_events"] == 0
    assert stopped.counts["0.5"]["neutral_alerts"] == 1
    assert stopped.counts["0.5"]["scored_events"] == 1


def test_recorded_alerts() -> None:
    """Each is judged at its own moment and counted where it was heard; no threshold applies."""
    scores, happened = of_stays(
        stay(
            "e",
            [(2, 0.1), (6, 0.2)],
            [
                *(("start", 0), ("target", 12), ("end", 20)),
                *(("alert", 1), ("alert", 4), ("alert", 4), ("alert", 11.5), ("alert", 13), ("alert", 25)),
            ],
        ),
        stay("f", [], [("start", 0), ("target", 9), ("end", 20), ("alert", 5)], "q"),
        stay("g", [(1, 0.9)], [("start", 0), ("end", 20), ("alert", 3)], "r"),
    )
    scores["ward"] = ["icu", "ward", "ed"]
    given = {"horizon": 8, "gap": 1, "policy": "recorded"}
    found = evaluated(scores, happened, given, [0.5], roles=RECORDED)
    assert found.labels == ("recorded",)
    counts = found.counts["recorded"]
    assert (counts["alerts"], counts["suppressed"]) == (6, 0)
    assert (counts["true_alerts"], counts["false_alerts"], counts["neutral_alerts"]) == (2, 2, 2)
    assert (counts["events"], counts["scored_events"], counts["flagged_events"]) == (2, 2, 2)
    lead = found.scores["lead@recorded"]
    assert sorted(lead[~np.isnan(lead)].tolist()) == [4, 8]
    assert not any(name.startswith("by_score") for name in found.scores.values)
    watch = _kind(found, "watch")
    by_ward = {name: watch["alerts@recorded"][mask].sum() for name, mask in watch.groups["ward"].masks()}
    assert by_ward == {"ed": 1, "icu": 1, "ward": 2, "missing": 2}
    assert watch["predictions"].sum() == 3


def test_recorded_alerts_against_fired_ones() -> None:
    """Alerts recorded at the moments when a threshold would have fired are judged just like them."""
    fired = evaluated(*of_stays(*TWO), {"horizon": 12, "gap": 1})
    scores, happened = of_stays(*TWO)
    alarms = fired.judged.alarms[0]
    for number, time in zip(alarms.stay, alarms.time, strict=True):
        name = fired.stays.names[number]
        happened["patient"].append("p" if name == "e" else "q")
        happened["encounter"].append(name)
        happened["type"].append("alert")
        happened["time"].append(float(hours_of(time)))
    again = evaluated(scores, happened, {"horizon": 12, "gap": 1, "policy": "recorded"}, roles=RECORDED)
    for name, value in again.counts["recorded"].items():
        if name != "flagged_by_score":
            assert value == fired.counts["0.5"][name]


def test_follow_up_where_discharge_censors() -> None:
    """Every moment that can be judged, known or not: how long it was followed, in days, and what ended that."""
    tables = of_stays(
        stay("e", [(1, 0.2), (30, 0.9)], [("start", 0), ("target", 36), ("end", 60)], "p"),
        stay("f", [(2, 0.6)], [("start", 0), ("end", 10)], "q"),
        stay("g", [(2, 0.4)], [("start", 0), ("death", 14)], "r"),
        stay("h", [(2, 0.3)], [("start", 0)], "s"),
    )
    given = {"horizon": 24, "discharge": "censored", "unit": "prediction", "as_of": 90}
    found = evaluated(*tables, given)
    assert sorted(_kind(found, "case")["risk"].tolist()) == [0.2, 0.3, 0.4, 0.9]
    assert found.scores.waiting is not None
    assert found.scores.waiting["risk"].tolist() == [0.6]
    assert found.scores.waiting["status"].tolist() == [0]
    rows = found.followed()
    assert rows is not None
    by_risk = {
        risk: (round(days * 24, 9), status)
        for risk, days, status in zip(rows["risk"], rows["followup"], rows["status"], strict=True)
    }
    assert by_risk == {0.2: (35, 1), 0.9: (6, 1), 0.6: (8, 0), 0.4: (12, 2), 0.3: (88, 0)}
    assert np.isnan(_kind(found, "watch")["followup"]).all()
    assert evaluated(*tables, {**given, "discharge": "free"}).followed() is None
    assert evaluated(*tables, {**given, "unit": "encounter"}).followed() is None
    first = evaluated(*tables, {**given, "unit": "encounter", "score": "first"}).followed()
    assert first is not None
    assert len(first) == 4


def test_other_units_beside_that_of_the_study() -> None:
    """The first score is shown beside a maximum; rows are made when asked for, and once."""
    found = evaluated(*of_stays(*TWO), {"horizon": 12})
    assert found.cases("encounter", "first") is found.cases("encounter", "first")
    assert found.cases("encounter", "first")["risk"].tolist() == [0.2, 0.6]
    assert found.cases("prediction")["outcome"].sum() == 1
    assert len(found.cases("landmark")) == 0


def test_ends_at_one_moment() -> None:
    """Death before discharge before loss; and an event at the end of the stay counts in it."""
    for ends, how in ((("end", "death"), "death"), (("lost", "end"), "discharge"), (("lost", "death"), "death")):
        happened: list[tuple[str, float | None]] = [("start", 0), ("target", 9), *((kind, 9) for kind in ends)]
        found = evaluated(*of_stays(stay("e", [(1, 0.2)], happened)), {"horizon": 12})
        assert found.of_stays[how] == 1
        assert found.counts["0.5"]["events"] == 1
    roles: dict[str, Any] = {"target": ["death"], "start": ["start"], "death": ["death"]}
    tables = of_stays(stay("e", [(1, 0.9)], [("start", 0), ("death", 9)]))
    assert evaluated(*tables, {"horizon": 12}, roles=roles).counts["0.5"]["flagged_events"] == 1


def test_the_first_prediction_is_the_start_where_none_is_known() -> None:
    """An onset at that moment was there already."""
    found = evaluated(*of_stays(stay("e", [(3, 0.2), (5, 0.2)], [("target", 3), ("end", 9)])), {"horizon": 12})
    assert hours_of(found.stays.start).tolist() == [3]
    assert found.of_stays["present"] == 1


def test_times_of_rows() -> None:
    """An event stands at its onset and a stay at its start, so that windows hold what happened in them."""
    found = evaluated(*of_stays(*TWO), {"horizon": 12})
    assert _kind(found, "event").time.tolist() == [(BASE + np.timedelta64(36 * HOUR, "us")).item()]  # type: ignore[union-attr]
    assert _kind(found, "stay").time.tolist() == [BASE.item()] * 2  # type: ignore[union-attr]
