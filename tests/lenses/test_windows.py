"""Windows: no row in two, none lost but the undated, names that say when, and what is too young or too small."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.errors import StudyError
from workup.lenses.drift.windows import MOST_WINDOWS, Minimum, cut, judged, moment, rows_of, windows
from workup.scores import Scores

SIZES = ("day", "week", "month", "quarter", "year")


def at(*times: str, waiting: tuple[str, ...] = (), **values: Any) -> Scores:
    def made(some: tuple[str, ...]) -> Scores:
        time = np.array(some, dtype="datetime64[us]")
        return Scores.of({"hit": np.ones(len(some)), **(values if some is times else {})}, time=time)

    scores = made(times)
    if not waiting:
        return scores
    return Scores(**{**vars(scores), "waiting": made(waiting)})


def names(scores: Scores, size: str | int) -> list[str]:
    return [window.name for window in windows(scores, size=size)]


# ---- calendar --------------------------------------------------------------------------------------------------------


def test_days_weeks_months_quarters_and_years_are_named_by_when_they_begin() -> None:
    scores = at("2023-12-31T23:59:59.999999", "2024-01-01")  # a Sunday's last moment, a Monday
    assert names(scores, "day") == ["2023-12-31", "2024-01-01"]
    assert names(scores, "week") == ["week of 2023-12-25", "week of 2024-01-01"]
    assert names(scores, "month") == ["2023-12", "2024-01"]
    assert names(scores, "quarter") == ["2023-Q4", "2024-Q1"]
    assert names(scores, "year") == ["2023", "2024"]


@pytest.mark.parametrize("size", SIZES)
def test_the_last_moment_of_a_window_is_in_it_and_the_first_of_the_next_is_not(size: str) -> None:
    found = windows(at("2023-12-31T23:59:59.999999", "2024-01-01"), size=size)
    assert [window.rows.tolist() for window in found] == [[0], [1]]
    assert found[0].end == found[1].start == np.datetime64("2024-01-01")


def test_months_have_their_own_lengths_and_leap_days() -> None:
    found = windows(at("2024-02-01", "2024-02-29T12:00", "2024-03-01"), size="month")
    assert [window.rows.tolist() for window in found] == [[0, 1], [2]]
    assert (found[0].end - found[0].start) / np.timedelta64(1, "D") == 29


def test_times_before_1970_are_times_like_any_other() -> None:
    assert names(at("1969-12-29", "1969-12-28"), "week") == ["week of 1969-12-22", "week of 1969-12-29"]
    assert names(at("1968-11-30"), "quarter") == ["1968-Q4"]


def test_windows_without_rows_stand_between_the_others() -> None:
    found = windows(at("2024-01-10", "2024-04-10"), size="month")
    assert [(window.name, window.rows.size) for window in found] == [
        ("2024-01", 1),
        ("2024-02", 0),
        ("2024-03", 0),
        ("2024-04", 1),
    ]


stamps = st.lists(
    st.one_of(
        st.just("NaT"),
        st.integers(0, 6 * 365 * 86_400).map(lambda second: str(np.datetime64("2019-01-01", "s") + second)),
    ),
    min_size=1,
    max_size=60,
)


@given(times=stamps, size=st.one_of(st.sampled_from(SIZES), st.integers(1, 20)))
def test_every_dated_row_is_in_exactly_one_window_whatever_the_order(times: list[str], size: str | int) -> None:
    if set(times) == {"NaT"}:
        return
    scores = at(*times)
    found = windows(scores, size=size)
    held = np.concatenate([window.rows for window in found])
    dated = np.flatnonzero(~np.isnat(scores.time))
    assert sorted(held) == dated.tolist()
    for before, after in pairwise(found):
        assert before.end == after.start
    for window in found:
        assert ((scores.time[window.rows] >= window.start) & (scores.time[window.rows] < window.end)).all()
    backwards = windows(scores.take(np.arange(len(scores))[::-1]), size=size)
    assert [window.name for window in backwards] == [window.name for window in found]
    assert [sorted(len(times) - 1 - w.rows) for w in backwards] == [w.rows.tolist() for w in found]


# ---- counts ----------------------------------------------------------------------------------------------------------


def test_windows_of_a_number_of_rows_keep_rows_of_one_moment_together() -> None:
    found = windows(at("2024-01-01", "2024-01-02", "2024-01-02", "2024-01-03", "2024-01-04"), size=2)
    assert [window.rows.tolist() for window in found] == [[0, 1, 2], [3, 4]]
    assert [window.name for window in found] == ["1 (from 2024-01-01)", "2 (from 2024-01-03)"]


def test_rows_that_wait_are_in_a_window_even_after_the_last_answer() -> None:
    scores = at("2024-01-01", "2024-01-02", waiting=("2023-12-31", "2024-01-02", "2024-03-05"))
    for size in (2, "month"):
        found = windows(scores, size=size)
        assert sorted(np.concatenate([window.waiting for window in found])) == [0, 1, 2]
        assert sorted(np.concatenate([window.rows for window in found])) == [0, 1]


@pytest.mark.parametrize("size", [0, -3])
def test_a_window_of_no_rows_is_refused(size: int) -> None:
    with pytest.raises(StudyError, match="at least 1 row"):
        windows(at("2024-01-01"), size=size)


def test_an_unknown_window_answers_with_the_near_names() -> None:
    with pytest.raises(StudyError, match="did you mean 'month'"):
        windows(at("2024-01-01"), size="months")


def test_dates_that_cannot_be_right_are_told_instead_of_making_a_window_a_day_for_centuries() -> None:
    with pytest.raises(StudyError, match=f"more than {MOST_WINDOWS:,} windows. To fix: mend dates"):
        windows(at("1924-01-01", "2024-01-01"), size="day")
    with pytest.raises(StudyError, match="larger number of rows"):
        windows(at(*["2024-01-01"] * (MOST_WINDOWS + 1)), size=1)


def test_no_time_at_all_says_which_column_to_name() -> None:
    with pytest.raises(StudyError, match=r"columns\.time"):
        windows(Scores.of({"hit": [1.0]}), size="month")
    with pytest.raises(StudyError, match=r"columns\.time"):
        windows(at("NaT"), size="month")


# ---- maturity --------------------------------------------------------------------------------------------------------


def test_a_window_is_mature_once_the_delay_has_passed_since_its_end() -> None:
    scores = at("2024-01-15", "2024-02-15", "2024-03-31")
    found = windows(scores, size="month", label_delay=31)  # known from 3 March, 1 April and 2 May on
    assert [window.status for window in found] == ["ok", "immature", "immature"]
    assert found[1].reason == "its outcomes are known from 2024-04-01 on; the data end on 2024-03-31"
    assert [w.status for w in windows(scores, size="month", label_delay=30)] == ["ok", "ok", "immature"]
    assert [w.status for w in windows(scores, size="month")] == ["ok"] * 3


def test_the_day_the_data_speak_of_may_be_later_than_the_last_row() -> None:
    scores = at("2024-01-15", "2024-02-15")
    statuses = [w.status for w in windows(scores, size="month", label_delay=30, as_of="2024-03-31")]
    assert statuses == ["ok", "ok"]
    assert [w.status for w in windows(scores, size="month", label_delay=30)] == ["immature", "immature"]


def test_rows_that_wait_tell_how_far_the_data_reach() -> None:
    scores = at("2024-01-15", waiting=("2024-03-20",))
    assert [w.status for w in windows(scores, size="month", label_delay=30)] == ["ok", "immature", "immature"]


def test_rows_after_the_day_the_data_speak_of_are_refused() -> None:
    with pytest.raises(StudyError, match=r"must not lie before the last row.*2024-02-15"):
        windows(at("2024-01-15", "2024-02-15T10:00"), size="month", as_of="2024-02-14")
    assert windows(at("2024-02-15T10:00"), size="month", as_of="2024-02-15")


@pytest.mark.parametrize("text", ["today", "now", "", "NaT", "15/02/2024", "2024-13-01", "99999999999"])
def test_only_iso_dates_are_moments_and_no_word_reads_the_clock(text: str) -> None:
    with pytest.raises(StudyError, match=r"lenses\.drift\.as_of must be an ISO date"):
        windows(at("2024-01-15"), size="month", as_of=text)


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2024-03-31", "2024-03-31T00:00"),
        ("2024-03", "2024-03-01T00:00"),
        ("2024-03-31T02:30+02:00", "2024-03-31T00:30"),  # the night in which clocks go forward in Europe
        ("2024-11-03T01:30-04:00", "2024-11-03T05:30"),  # the hour that comes twice in New York: the first
        ("2024-11-03T01:30-05:00", "2024-11-03T06:30"),  # and the second
        ("2024-01-01T00:00Z", "2024-01-01T00:00"),
    ],
)
def test_moments_are_utc(text: str, utc: str) -> None:
    assert moment(text, field="baseline") == np.datetime64(utc)


# ---- the end of the baseline -----------------------------------------------------------------------------------------


def test_a_date_inside_a_window_cuts_it_in_two_with_their_own_names_rows_and_waiting_rows() -> None:
    scores = at("2024-01-05", "2024-02-10", "2024-02-20", "2024-03-05", waiting=("2024-02-09", "2024-02-21"))
    before, later = cut(windows(scores, size="month"), scores, np.datetime64("2024-02-15", "us"))
    assert [(w.name, w.rows.tolist(), w.waiting.tolist()) for w in before] == [
        ("2024-01", [0], []),
        ("2024-02 (before 2024-02-15)", [1], [0]),
    ]
    assert [(w.name, w.rows.tolist(), w.waiting.tolist()) for w in later] == [
        ("2024-02 (from 2024-02-15)", [2], [1]),
        ("2024-03", [3], []),
    ]
    assert before[-1].end == later[0].start == np.datetime64("2024-02-15")


def test_a_date_between_windows_cuts_none() -> None:
    scores = at("2024-01-05", "2024-02-10")
    before, later = cut(windows(scores, size="month"), scores, np.datetime64("2024-02-01", "us"))
    assert [w.name for w in before] == ["2024-01"] and [w.name for w in later] == ["2024-02"]


def test_rows_of_windows_come_with_those_that_wait() -> None:
    scores = at("2024-01-05", "2024-02-10", waiting=("2024-02-09", "2024-01-21"))
    found = rows_of(scores, windows(scores, size="month")[1:])
    assert found.time.astype("datetime64[D]").astype(str).tolist() == ["2024-02-10"]
    assert found.waiting is not None
    assert found.waiting.time.astype("datetime64[D]").astype(str).tolist() == ["2024-02-09"]


# ---- the least a window must hold ------------------------------------------------------------------------------------


def test_what_is_lacking_is_said_in_numbers() -> None:
    rows = Scores.of({"event": np.arange(100) < 9})
    assert Minimum(rows=101).lacking(rows, None) == "100 rows; at least 101 are needed"
    assert Minimum(rows=100).lacking(rows, None) == ""
    assert Minimum().lacking(rows, "event") == "9 events; at least 10 are needed"
    assert Minimum(events=9).lacking(rows, "event") == ""
    assert Minimum(events=9, others=92).lacking(rows, "event") == "91 rows without the event; at least 92 are needed"


@pytest.mark.parametrize("others", [9, 10])
def test_ten_rows_without_the_event_are_enough(others: int) -> None:
    rows = Scores.of({"event": np.arange(100) >= others})
    assert bool(Minimum().lacking(rows, "event")) == (others < 10)


def months_of(*counts: int) -> Scores:
    time = np.repeat(np.datetime64("2024-01-15", "us") + np.arange(len(counts)) * np.timedelta64(30, "D"), counts)
    return Scores.of({"hit": np.ones(sum(counts))}, time=time)


def test_small_windows_are_marked_and_say_why() -> None:
    scores = months_of(100, 99, 0, 100)
    found = judged(windows(scores, size="month"), scores, Minimum(), None, merge=False)
    assert [(w.status, w.reason) for w in found] == [
        ("ok", ""),
        ("insufficient", "99 rows; at least 100 are needed"),
        ("insufficient", "0 rows; at least 100 are needed"),
        ("ok", ""),
    ]


def test_small_windows_join_the_next_until_they_hold_enough() -> None:
    scores = months_of(100, 60, 0, 60, 70)
    found = judged(windows(scores, size="month"), scores, Minimum(), None, merge=True)
    assert [(w.name, w.rows.size, w.status) for w in found] == [
        ("2024-01", 100, "ok"),
        ("2024-02 to 2024-04", 120, "ok"),
        ("2024-05", 70, "insufficient"),  # the last has no next: it is not lost
    ]
    assert found[1].start == np.datetime64("2024-02-01") and found[1].end == np.datetime64("2024-05-01")


def test_a_window_that_is_joined_to_a_young_one_waits_for_it() -> None:
    scores = months_of(100, 60, 60)
    found = judged(
        windows(scores, size="month", label_delay=10, as_of="2024-04-05"), scores, Minimum(), None, merge=True
    )
    assert [(w.name, w.status) for w in found] == [("2024-01", "ok"), ("2024-02 to 2024-03", "immature")]


def test_an_immature_window_stays_immature_however_little_it_holds() -> None:
    scores = months_of(100, 5)
    found = judged(windows(scores, size="month", label_delay=60), scores, Minimum(), None, merge=False)
    assert found[1].status == "immature"


def test_a_window_tells_what_it_holds() -> None:
    scores = at("2024-01-05", "2024-01-06", waiting=("2024-01-09",), event=[1.0, 0.0])
    row = windows(scores, size="month")[0].as_row(scores, "event")
    assert row == {
        "window": "2024-01",
        "start": "2024-01-01",
        "end": "2024-02-01",
        "rows": 2,
        "patients": 2,
        "events": 1,
        "waiting": 1,
        "status": "ok",
        "reason": "",
    }
