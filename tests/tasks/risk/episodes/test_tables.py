"""The two tables as they come: what is refused with file, row and remedy, what is counted, and times of every kind."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st

from tests.support.episode_tables import ROLES, cells, evaluated, events, hours_of, predictions, settings
from workup.errors import InputError, StudyError, WorkupError
from workup.tasks.risk.episodes.evaluation import Evaluated, evaluate
from workup.tasks.risk.episodes.settings import EpisodeColumnsPart, EpisodesPart, EventsPart
from workup.tasks.risk.episodes.tables import read_events, read_predictions

SCORES: dict[str, Any] = {
    "patient": ["A", "A", "B"],
    "encounter": ["a", "a", "b"],
    "time": [1, 2, 3],
    "risk": [0.2, 0.6, 0.4],
}
HAPPENED: dict[str, Any] = {
    "patient": ["A", "A", "A", "B", "B"],
    "encounter": ["a", "a", "a", "b", "b"],
    "type": ["start", "target", "end", "start", "end"],
    "time": [0, 5, 9, 0, 9],
}


def _with(table: dict[str, Any], **columns: Any) -> dict[str, Any]:
    return {**table, **columns}


def _more(table: dict[str, Any], *rows: tuple[Any, ...]) -> dict[str, Any]:
    return {name: [*column, *(row[place] for row in rows)] for place, (name, column) in enumerate(table.items())}


def _refused(
    scores: dict[str, Any] = SCORES,
    happened: dict[str, Any] = HAPPENED,
    said_of: dict[str, Any] | None = None,
    roles: dict[str, Any] | None = None,
    **columns: Any,
) -> str:
    with pytest.raises(WorkupError) as caught:
        evaluated(scores, happened, {"horizon": 6, **(said_of or {})}, roles=roles, **columns)
    said = str(caught.value)
    assert "To fix:" in said
    return said


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_an_encounter_of_two_patients() -> None:
    """Within one table, and between the two; by rows and never by ids."""
    said = _refused(_with(SCORES, patient=["A", "Smith-0815", "B"]))
    assert "rows 1 and 2" in said
    assert "Smith" not in said
    said = _refused(happened=_with(HAPPENED, patient=["A", "A", "A", "B", "Smith-0815"]))
    assert "rows 4 and 5" in said
    said = _refused(happened=_with(HAPPENED, patient=["A", "A", "A", "C", "C"]))
    assert "another patient in predictions, in row 4" in said


def test_two_risks_at_one_moment() -> None:
    """Different ones are refused; equal ones count once and are counted."""
    said = _refused(_more(SCORES, ("A", "a", 2, 0.7)))
    assert "rows 2 and 4" in said
    found = evaluated(_more(SCORES, ("A", "a", 2, 0.6)), HAPPENED, {"horizon": 6})
    assert found.aside["duplicate_predictions"] == 1
    assert found.counts["0.5"]["alerts"] == 1
    wards = _with(_more(SCORES, ("A", "a", 2, 0.6)), ward=["icu", "icu", "ward", "ward"])
    found = evaluated(wards, HAPPENED, {"horizon": 6})
    assert found.aside["duplicates_in_two_groups"] == 1


def test_a_stay_without_an_end() -> None:
    """Refused unless it is said when the data were cut; then it is open."""
    endless = {name: column[:4] for name, column in HAPPENED.items()}
    said = _refused(happened=endless)
    assert "none for 1 of 2 stays" in said
    assert "as_of" in said
    found = evaluated(SCORES, endless, {"horizon": 6, "as_of": 12})
    assert found.of_stays["open"] == 1
    alone = {name: [column[0], *column[1:3]] for name, column in HAPPENED.items()}
    assert "predictions, row 3" in _refused(happened=alone)


def test_an_event_in_two_encounters() -> None:
    """Without an encounter of its own it must lie in one stay of its patient."""
    twice = _more(HAPPENED, ("A", "a2", "start", 4), ("A", "a2", "end", 8), ("A", None, "target", 6))
    assert "two encounters for the event of row 8" in _refused(happened=twice)
    apart = _more(HAPPENED, ("A", "a2", "start", 20), ("A", "a2", "end", 28), ("A", None, "target", 26))
    assert evaluated(SCORES, apart, {"horizon": 6}).counts["0.5"]["events"] == 2
    undated = _more(HAPPENED, ("A", "a2", "start", 20), ("A", "a2", "end", 28), ("A", None, "target", None))
    assert "neither an encounter nor a time" in _refused(happened=undated)


def test_several_versions() -> None:
    """One must be named; stays that another version scored are left out with their events, not counted as missed."""
    scores = _with(_more(SCORES, ("C", "c", 1, 0.9)), version=["2", "2", "2", "1"])
    happened = _more(HAPPENED, ("C", "c", "start", 0), ("C", "c", "target", 4), ("C", "c", "end", 8))
    assert "2 versions" in _refused(scores, happened, version="version")
    assert "columns.version" in _refused(SCORES, HAPPENED, {"version": "2"})
    found = evaluated(scores, happened, {"horizon": 6, "version": "2"}, version="version")
    assert found.counts["0.5"]["events"] == 1
    assert found.aside["predictions_of_other_versions"] == 1
    assert found.aside["encounters_of_other_versions"] == 1
    assert "no row of that version" in _refused(scores, happened, {"version": "3"}, version="version")


def test_types_of_events() -> None:
    """A target that no row has is never read as no events; what looks misspelt is refused, what is rare is told."""
    said = _refused(roles={**ROLES, "target": ["Target"]})
    assert "did you mean 'target'" in said
    said = _refused(roles={**ROLES, "target": ["infarction"]})
    assert "every prediction a control" in said
    assert "Known: end, start, target" in said
    assert "named as end" in _refused(roles={**ROLES, "end": ["ends"]})
    assert "'stopp', which is named as stop_at" in _refused(
        happened=_with(HAPPENED, type=["start", "target", "end", "stop", "end"]), said_of={"stop_at": ["stopp"]}
    )
    found = evaluated(SCORES, HAPPENED, {"horizon": 6}, roles=ROLES)
    assert any("'death', which is named as death" in note for note in found.notes)


def test_no_events_at_all() -> None:
    """An empty table is refused, and so is one whose types are empty."""
    nothing = {name: [] for name in HAPPENED}
    part = settings({"horizon": 6})
    with pytest.raises(InputError, match="no row"):
        read_events(events(nothing), EventsPart(target=("target",)), part, where="events.csv")
    with pytest.raises(InputError, match="no row"):
        read_events({}, EventsPart(target=("target",)), part, where="events.csv")
    assert "no row of that type" in _refused(happened=_with(HAPPENED, type=[None] * 5))


def test_columns_that_are_not_there() -> None:
    """Named with their part of the study and near names."""
    assert "columns.risk names 'risks'" in _refused(risk="risks")
    assert "did you mean 'risk'" in _refused(risk="risks")
    part = settings({"horizon": 6})
    with pytest.raises(InputError, match=r"events\.columns\.time names 'when'"):
        read_events(
            events(HAPPENED),
            EventsPart.checked({"target": ["target"], "columns": {"time": "when"}}, where="study"),
            part,
        )


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ({"patient": ["A", None, "B"]}, "the id of its patient"),
        ({"encounter": ["a", "", "b"]}, "the id of its stay"),
        ({"time": [1, None, 3]}, "every prediction needs its time"),
        ({"risk": [0.1, 20, 30]}, "a finite number from 0 to 1"),
        ({"risk": [np.nan] * 3}, "no risk in any row"),
        ({"risk": [np.inf, 0.1, 0.2]}, "a finite number"),
    ],
)
def test_predictions_that_lack_what_they_need(column: dict[str, Any], said: str) -> None:
    """With the row that lacks it."""
    assert said in _refused(_with(SCORES, **column))


def test_ids_that_are_not_exact() -> None:
    """Whole numbers too large for a float would make two patients one."""
    table = {**predictions(SCORES), "patient": np.array([2.0**60, 2.0**60 + 1000, 1.0])}
    with pytest.raises(InputError, match="ids must be exact"):
        read_predictions(table, EpisodeColumnsPart(), settings({"horizon": 6}))


def test_policy_recorded_needs_alerts() -> None:
    """Alerts that were fired must be among the events."""
    assert "needs alerts among the events" in _refused(said_of={"policy": "recorded"})


def test_thresholds_are_checked() -> None:
    """Between 0 and 1, each once."""
    for thresholds in ((0.5, 0.5), (0.0,), (1.0,), (float("nan"),)):
        with pytest.raises(StudyError):
            evaluated(SCORES, HAPPENED, {"horizon": 6}, thresholds)


def test_no_prediction_inside_a_stay() -> None:
    """Refused: most likely the two clocks differ."""
    assert "each is before the start or after the end" in _refused(_with(SCORES, time=[100, 200, 300]))


def test_tables_that_share_no_id() -> None:
    """Written in two ways, ids would make every event a missed one; with a cut of the data nothing else would show."""
    said = _refused(_with(SCORES, encounter=["01", "01", "02"]), said_of={"as_of": 20})
    assert "none that the two share" in said
    said = _refused(
        _with(SCORES, patient=["01", "01", "02"]), _with(HAPPENED, encounter=[None] * 5), said_of={"as_of": 20}
    )
    assert "ids of patients" in said


def test_an_encounter_of_nobody() -> None:
    """A stay of the events alone must have its patient."""
    assert "an encounter without one in row 6" in _refused(happened=_more(HAPPENED, (None, "c", "target", 3)))


# ---- what is counted -------------------------------------------------------------------------------------------------


def test_what_is_put_aside_is_counted() -> None:
    """Nothing leaves in silence."""
    scores = _with(_more(SCORES, ("B", "b", 4, np.nan), ("B", "b", 50, 0.4)))
    happened = _more(
        HAPPENED,
        ("B", "b", "start", 0),  # doubled
        ("A", "a", "target", 5.0),  # doubled and merged
        ("A", "a", "target", 7),  # later
        ("A", "a", "target", 90),  # after the end
        ("Z", None, "target", 3),  # of nobody known
        (None, None, "target", 3),  # of nobody
        ("A", "a", "end", -1),  # before the start
        ("A", "a", "intervention", None),
        ("A", "a", "chat", 3),
        ("A", "a", None, 3),
        ("D", "d", "intervention", 3),  # a stay of which no start is known
    )
    found = evaluated(scores, happened, {"horizon": 6})
    assert found.aside == {
        "duplicate_predictions": 0,
        "duplicates_in_two_groups": 0,
        "predictions_without_risk": 1,
        "predictions_of_other_versions": 0,
        "times_shown_twice": 0,
        "events_without_type": 1,
        "events_of_other_types": 1,
        "events_without_time": 1,
        "events_without_encounter": 2,
        "events_after_end": 1,
        "merged_onsets": 1,
        "later_onsets": 1,
        "duplicate_events": 2,
        "ends_before_start": 1,
        "encounters_without_start": 1,
        "events_without_start": 0,
        "encounters_of_other_versions": 0,
        "overlapping_encounters": 0,
    }
    assert found.fates["outside"] == 1
    assert sum(found.fates.values()) == 4


def test_an_undated_event_makes_its_stay_undated() -> None:
    """Also without an encounter, where its patient has one stay: the stay is no control."""
    for encounter in ("b", None):
        found = evaluated(SCORES, _more(HAPPENED, ("B", encounter, "target", None)), {"horizon": 6})
        assert found.fates["undated"] == 1
        assert found.of_stays["undated"] == 1


def test_stays_that_overlap_are_counted() -> None:
    """Each is looked at by itself; a stay that begins when another ends does not overlap it."""
    happened = _more(HAPPENED, ("A", "a2", "start", 4), ("A", "a2", "end", 20), ("A", "a3", "start", 20))
    happened = _more(happened, ("A", "a3", "end", 22))
    assert evaluated(SCORES, happened, {"horizon": 6}).aside["overlapping_encounters"] == 1


def test_stays_of_events_alone_and_what_stays_are() -> None:
    """Stays that no prediction was made in stand in the counts; their events are missed."""
    happened = _more(HAPPENED, ("C", "c", "start", 0), ("C", "c", "target", 4), ("C", "c", "death", 8))
    found = evaluated(SCORES, happened, {"horizon": 6})
    assert found.of_stays == {
        "encounters": 3,
        "patients": 3,
        "death": 1,
        "discharge": 2,
        "lost": 0,
        "open": 0,
        "undated": 0,
        "present": 0,
        "without_prediction": 1,
        "with_event": 2,
        "with_event_without_prediction": 1,
    }
    assert found.counts["0.5"]["events"] == 2
    assert found.counts["0.5"]["scored_events"] == 1


def test_stays_of_which_no_start_is_known() -> None:
    """Without a start and without a prediction nothing can be placed in a stay; its events are counted."""
    found = evaluated(SCORES, _more(HAPPENED, ("C", "c", "target", 4), ("C", "c", "end", 8)), {"horizon": 6})
    assert (found.aside["encounters_without_start"], found.aside["events_without_start"]) == (1, 1)
    assert found.counts["0.5"]["events"] == 1


def test_hours_watched_by_outcome() -> None:
    """The longer a stay is watched, the higher its maximum: the report must show how long each kind was."""
    watched = evaluated(SCORES, HAPPENED, {"horizon": 6}).watched
    assert watched["event"] == (1, 1.0)
    assert watched["no event"] == (1, 0.0)
    assert watched["not known"] == (0, None)


def test_begun_after_the_cut() -> None:
    """A stay that had not begun when the data were cut has nothing inside."""
    happened = _more(HAPPENED, ("C", "c", "start", 40), ("C", "c", "end", 50))
    found = evaluated(_more(SCORES, ("C", "c", 41, 0.9)), happened, {"horizon": 6, "as_of": 8})
    assert found.aside["begun_after_as_of"] == 1
    assert found.fates["outside"] == 1


# ---- times -----------------------------------------------------------------------------------------------------------


def _timed(
    of_predictions: list[Any], of_events: list[Any], given: dict[str, Any] | None = None, **more: Any
) -> Evaluated:
    """Times as text, as they come from a file."""
    part = EpisodesPart.checked({"horizon": "6h", **(given or {})}, where="the test")
    scores = {**predictions(SCORES), "time": cells(of_predictions)}
    happened = {**events(HAPPENED), "time": cells(of_events)}
    return evaluate(
        read_predictions(scores, EpisodeColumnsPart(), part, where="scores.csv", **more),
        read_events(happened, EventsPart.checked(ROLES, where="the test"), part, where="events.csv", **more),
        part,
        (0.5,),
    )


def _day(hours: list[int], zone: str = "", day: str = "2024-01-01") -> list[str]:
    return [f"{day}T{hour:02d}:00:00{zone}" for hour in hours]


def test_text_and_times_give_the_same() -> None:
    """ISO text, with or without a zone, and a column of times."""
    whole = evaluated(SCORES, HAPPENED, {"horizon": 6})
    for zone in ("", "Z", "+00:00", "+0000"):
        found = _timed(_day([1, 2, 3], zone), _day([0, 5, 9, 0, 9], zone))
        assert (found.counts, found.fates) == (whole.counts, whole.fates)
    found = _timed(_day([3, 4, 5], "+02:00"), _day([2, 7, 11, 2, 11], "+02:00"))
    assert found.counts == whole.counts
    assert hours_of(found.stays.start).tolist() == [0, 0]
    found = _timed(
        ["01.01.2024 1", "01.01.2024 2", "01.01.2024 3"],
        [f"01.01.2024 {h}" for h in (0, 5, 9, 0, 9)],
        time_format="%d.%m.%Y %H",
    )
    assert found.counts == whole.counts


def test_zones_are_not_mixed() -> None:
    """Neither within a table nor between two; unless the zone of the others is named."""
    plain, zoned = _day([0, 5, 9, 0, 9]), _day([0, 5, 9, 0, 9], "Z")
    with pytest.raises(InputError, match=r"scores\.csv and events\.csv"):
        _timed(_day([1, 2, 3], "Z"), plain)
    with pytest.raises(InputError, match="no zone in 1 of 3 rows"):
        _timed([*_day([1, 2], "Z"), *_day([3])], zoned)
    found = _timed(_day([1, 2, 3], "Z"), plain, {"time_zone": "UTC"})
    assert found.counts == _timed(_day([1, 2, 3]), plain).counts
    with pytest.raises(StudyError, match="as_of must have a zone"):
        _timed(_day([1, 2, 3], "Z"), zoned, {"as_of": "2024-01-02"})
    assert _timed(_day([1, 2, 3], "Z"), zoned, {"as_of": "2024-01-02T00:00Z"}).counts == found.counts


def test_the_hour_that_a_clock_shows_twice() -> None:
    """Without a zone it can be read two ways; with one, hours are counted as they passed."""
    night = "2024-10-27"
    scores, happened = _day([1, 2, 3], day=night), _day([0, 5, 9, 0, 9], day=night)
    with pytest.raises(InputError, match="shows twice") as caught:
        _timed(scores, happened)
    assert "time_zone" in str(caught.value)
    there = _timed(scores, happened, {"time_zone": "Europe/Berlin"})
    assert there.aside["times_shown_twice"] == 1
    assert there.counts["0.5"]["days"] == pytest.approx((9 + 6) / 24)  # 9:00 is nine hours after 1:00 that night
    clock = _timed(scores, happened, {"time_zone": "UTC"})
    assert clock.counts["0.5"]["days"] == pytest.approx((8 + 6) / 24)
    assert clock.aside["times_shown_twice"] == 0
    columns = _with(SCORES, time=[24 * 300 + 1, 24 * 300 + 2, 24 * 300 + 3])
    shifted = _with(HAPPENED, time=[24 * 300 + hour for hour in HAPPENED["time"]])
    found = evaluated(columns, shifted, {"horizon": 6})
    assert found.aside["times_shown_twice"] == 3
    assert any("name episodes.time_zone" in note for note in found.notes)


def test_the_hour_that_a_clock_skips() -> None:
    """A time that no clock of the zone ever showed is of another zone."""
    spring = "2024-03-31"
    with pytest.raises(InputError, match="skipped") as caught:
        _timed(_day([1, 2, 3], day=spring), _day([0, 5, 9, 0, 9], day=spring), {"time_zone": "Europe/Berlin"})
    assert "1 of 3 rows, the first is row 2" in str(caught.value)


@pytest.mark.parametrize(
    "times",
    [
        ["yesterday", "2024-01-01", "2024-01-01"],
        ["31/12/2023 10:00"] * 3,
        ["9999-12-31", "2024-01-01", "2024-01-01"],
        ["0001-01-01", "2024-01-01", "2024-01-01"],
        ["2024-02-30", "2024-01-01", "2024-01-01"],
        [12, 13, 14],
        [True, False, True],
        [["a"], {"b": 1}, ("c",)],
        ["2024-01-01T25:00", "2024-01-01", "2024-01-01"],
    ],
)
def test_times_that_cannot_be_read(times: list[Any]) -> None:
    """Refused with their row in either table, and nothing falls over."""
    with pytest.raises(InputError, match=r"scores\.csv, column 'time'"):
        _timed(times, _day([0, 5, 9, 0, 9]))
    with pytest.raises(InputError, match=r"events\.csv, column 'time'"):
        _timed(_day([1, 2, 3]), [*_day([0, 9]), *times])


def test_a_time_of_an_event_without_a_role_is_not_looked_at() -> None:
    """Whatever stands there."""
    happened = {**events(_with(HAPPENED, type=["start", "target", "end", "chat", "end"]))}
    happened["time"] = cells([*_day([0, 5, 9]), "soon", *_day([9])])
    part = settings({"horizon": 6})
    assert len(read_events(happened, EventsPart.checked(ROLES, where="the test"), part)) == 4


# ---- hostile and strange ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "columns",
    [
        {"patient": cells([1, "1", 1.0])},
        {"patient": cells(["A\x1b[31m", "A\x1b[31m", "B"])},
        {"encounter": cells([["list"], ["list"], {"a": 1}])},
        {"risk": cells(["0.2", "high", None])},
        {"risk": cells(["12%", "13%", "14%"])},
        {"time": np.array([1.0, 2.0, 3.0])},
        {"time": np.zeros(3, dtype=bool)},
        {"time": np.zeros((3, 2))},
        {"risk": np.array([1 + 2j, 0, 0])},
    ],
)
def test_strange_columns_are_refused_and_never_fall_over(columns: dict[str, Any]) -> None:
    """A table that no one would make, or a teaching error, or figures; never a traceback."""
    part = settings({"horizon": 6})
    happened = read_events(events(HAPPENED), EventsPart.checked(ROLES, where="the test"), part)
    said = ""
    try:
        table = read_predictions({**predictions(SCORES), **columns}, EpisodeColumnsPart(), part)
        evaluate(table, happened, part, (0.5,))
    except WorkupError as error:
        said = str(error)
    assert "\x1b" not in said


def test_everyone_censored() -> None:
    """No outcome is known: rows wait, alerts are counted, and nothing falls over."""
    happened = _with(HAPPENED, type=["start", "target", "lost", "start", "lost"], time=[0, 90, 3, 0, 3.5])
    found = evaluated(SCORES, happened, {"horizon": 24})
    assert found.fates["unknown"] == 3
    assert found.scores["case"].sum() == 0
    assert found.scores.waiting is not None
    assert len(found.scores.waiting) == 2
    assert found.counts["0.5"]["neutral_alerts"] == 1


def test_a_horizon_longer_than_any_stay() -> None:
    """Who went home or died in the stay is known to be free of an event in it; who was lost is not."""
    happened = _with(HAPPENED, type=["start", "target", "end", "start", "lost"])
    found = evaluated(SCORES, happened, {"horizon": "90d", "unit": "prediction"})
    assert (found.fates["case"], found.fates["unknown"]) == (2, 1)
    assert evaluated(SCORES, HAPPENED, {"horizon": "90d", "unit": "prediction"}).fates["control"] == 1


def test_whatever_comes_first() -> None:
    """Events before the admission and predictions after the event have fates of their own, and are no controls."""
    happened = _with(HAPPENED, time=[0, -3, 9, 0, 9])
    assert evaluated(SCORES, happened, {"horizon": 6}).fates["present"] == 2
    happened = _with(HAPPENED, time=[0, 1.5, 9, 0, 9])
    found = evaluated(SCORES, happened, {"horizon": 6})
    assert (found.fates["case"], found.fates["after_event"]) == (1, 1)


_JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=6),
    st.datetimes(),
    st.sampled_from(
        ("2024-01-01", "2024-01-01T03:00Z", "0.4", "a", "A", "start", "target", "end", "9999-12-31", "1e400", "nan")
    ),
    st.lists(st.integers(), max_size=1),
)


@settings_of_hypothesis(max_examples=150, deadline=None)
@given(st.data())
def test_junk_in_any_column_is_refused_or_counted(data: Any) -> None:
    """Whatever stands in a cell, an error teaches or figures come; nothing else is raised."""
    part = settings({"horizon": 6, "as_of": 30})
    scores, happened = dict(predictions(SCORES)), dict(events(HAPPENED))
    for table in (scores, happened):
        name = data.draw(st.sampled_from(sorted(table)))
        column = table[name].astype(object)
        for place in range(len(column)):
            if data.draw(st.booleans()):
                column[place] = data.draw(_JUNK)
        table[name] = column
    with contextlib.suppress(WorkupError):
        evaluate(
            read_predictions(scores, EpisodeColumnsPart(), part),
            read_events(happened, EventsPart.checked(ROLES, where="the test"), part),
            part,
            (0.5,),
        )
