"""The drift lens on windows that are empty, small, young, undated or cut in two: nothing is lost, all of it is said."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.support.planted_months import (
    BASE,
    STABLE,
    Month,
    looked,
    months,
    planted,
    shares,
    watched,
    with_values,
)
from workup.errors import StudyError
from workup.lenses.drift.monitor import stream
from workup.lenses.drift.settings import Settings
from workup.lenses.drift.windows import Window
from workup.report import LensResult
from workup.scores import Scores

# ---- windows ---------------------------------------------------------------------------------------------------------


def statuses(result: LensResult, period: str = "watched") -> list[tuple[str, str]]:
    return [(row["window"], row["status"]) for row in result.tables["windows"] if row["period"] == period]


def test_windows_without_rows_or_with_too_few_are_insufficient_and_said() -> None:
    scores = shares(*BASE, 0.9, None, 0.9)
    small = shares(*[None] * 13, 0.1, rows=99)
    both = Scores.of({"hit": np.append(scores["hit"], small["hit"])}, time=np.append(scores.time, small.time))
    result = watched(both)
    assert [status for _, status in statuses(result)] == ["ok", "insufficient", "ok", "insufficient"]
    assert result.alerts == ()
    assert "Too little to judge by in 2 of 4 watched windows: 2023-12, 2024-02." in result.notes
    assert [row["status"] for row in result.charts_state] == ["ok", "insufficient", "ok", "insufficient"]


def test_small_windows_are_joined_when_asked() -> None:
    result = watched(shares(*BASE, 0.7, 0.7, 0.7, rows=60), small="merge", minimum={"rows": 100})
    assert statuses(result) == [("2023-11 to 2023-12", "ok"), ("2024-01", "insufficient")]


def test_windows_without_events_are_insufficient_and_not_a_crash() -> None:
    scores = planted(months((8, STABLE), (3, STABLE)))
    later = scores.time >= np.datetime64("2023-10-01")
    none = with_values(scores, outcome=np.where(later, 0.0, scores["outcome"]))
    result = looked(none, baseline=8)
    assert statuses(result) == [("2023-09", "ok"), ("2023-10", "insufficient"), ("2023-11", "insufficient")]
    assert result.tables["windows"][-1]["reason"] == "0 events; at least 10 are needed"


def test_windows_whose_labels_are_all_to_come_are_insufficient_and_their_inputs_are_still_compared() -> None:
    whole = planted(months((8, STABLE), (2, STABLE), (1, Month(mean=0.5))), inputs=True)
    late = whole.time >= np.datetime64("2023-11-01")
    scores = replace(whole.take(~late), waiting=whole.take(late))
    result = looked(scores, baseline=8)
    assert statuses(result)[-1] == ("2023-11", "insufficient")
    assert result.tables["windows"][-1]["waiting"] == 600
    assert [r["flagged"] for r in result.tables["inputs"] if (r["window"], r["input"]) == ("2023-11", "age")] == [True]
    free = [row for row in result.tables["without_labels"] if row["window"] == "2023-11"]
    assert free[0]["rows"] == 600 and free[0]["status"] == "insufficient"


def test_a_window_too_young_for_its_labels_is_not_judged() -> None:
    result = watched(shares(*BASE, 0.9, 0.9, 0.2), label_delay=20)
    assert [status for _, status in statuses(result)] == ["ok", "immature", "immature"]
    assert result.alerts == ()
    assert any("2 watched windows are too young" in note for note in result.notes)
    assert watched(shares(*BASE, 0.9, 0.9, 0.2), label_delay=20, as_of="2024-03-01").alerts != ()


def test_a_baseline_too_young_is_refused() -> None:
    with pytest.raises(StudyError, match=r"baseline must be whole.*2023-09.*known from 2023-11-30"):
        watched(shares(*BASE, 0.9), label_delay=60)


def test_rows_without_an_outcome_in_judged_windows_are_told() -> None:
    whole = planted(months((8, STABLE), (2, STABLE)))
    unknown = np.zeros(len(whole), dtype=bool)
    unknown[-1000:-700] = True
    result = looked(replace(whole.take(~unknown), waiting=whole.take(unknown)), baseline=8)
    assert any(note.startswith("300 rows of windows that are judged have no outcome yet") for note in result.notes)


def test_a_baseline_date_inside_a_window_splits_it_and_no_row_is_in_both() -> None:
    scores = planted(months((8, Month(rows=1000)), (3, Month(rows=1000))))
    result = looked(scores, baseline="2023-08-16")
    rows = {(r["period"], r["window"]): r["rows"] for r in result.tables["windows"]}
    early, late = rows["baseline", "2023-08 (before 2023-08-16)"], rows["watched", "2023-08 (from 2023-08-16)"]
    assert early + late == 1000 and min(early, late) > 400
    assert sum(rows.values()) == len(scores)
    assert result.charts_state[0]["window"] == "2023-08 (from 2023-08-16)"


def test_rows_without_a_time_are_counted_and_in_no_window() -> None:
    scores = planted(months((8, STABLE), (2, STABLE)))
    time = scores.time.copy()
    time[::100] = np.datetime64("NaT")
    result = looked(replace(scores, time=time), baseline=8)
    assert "60 rows have no time and are in no window." in result.notes
    assert sum(row["rows"] for row in result.tables["windows"]) == len(scores) - 60


def test_rows_sent_twice_are_told_and_counted_as_they_come() -> None:
    scores = replace(planted(months((8, STABLE), (2, STABLE))), patient=np.arange(6000))
    doubled = scores.take(np.append(np.arange(6000), np.arange(5900, 6000)))
    result = looked(doubled, baseline=8)
    assert "100 rows repeat the patient, time and values of another row; they are counted as they come." in result.notes
    assert result.tables["windows"][-1]["rows"] == 700
    assert not any("repeat" in note for note in looked(scores, baseline=8).notes)


def test_rows_sent_twice_without_ids_are_told_where_times_tell_them_apart() -> None:
    scores = planted(months((8, STABLE), (2, STABLE)), inputs=True)
    doubled = scores.take(np.append(np.arange(6000), np.arange(5900, 6000)))
    doubled = replace(doubled, patient=np.arange(6100))
    notes = looked(doubled, baseline=8, inputs={"together": "none"}).notes
    assert any(note.startswith("100 rows repeat the time and all values of another row; without ids") for note in notes)
    days = replace(doubled, time=doubled.time.astype("datetime64[D]").astype("datetime64[us]"))
    assert not any("repeat" in note for note in looked(days, baseline=8, inputs={"together": "none"}).notes)


def test_windows_of_a_number_of_rows_come_as_often_a_year_as_they_did_in_the_baseline() -> None:
    scores = planted(months((8, STABLE), (4, STABLE)))  # 7,200 rows a year
    result = looked(scores, window=300, baseline="2023-09-01", minimum={"rows": 50})
    assert "over 24 windows a year" in result.notes[0] or "over 25 windows a year" in result.notes[0]
    assert "over 99 windows a year" in looked(scores, window=300, baseline=16, windows_a_year=99).notes[0]


def test_windows_of_so_many_rows_come_as_fast_as_in_the_baseline() -> None:
    starts = np.datetime64("2022-01-01", "us") + np.arange(9) * np.timedelta64(74, "D")
    none = np.empty(0, dtype=np.int64)
    before = [Window(str(i), starts[i], starts[i + 1], none, none) for i in range(8)]
    assert Settings(window=200).in_a_year(before) == 5  # 365.25 / 74, rounded up
    assert Settings(window="month").in_a_year(before) == 12
    assert Settings(window=200, windows_a_year=7).in_a_year(before) == 7


def test_series_without_a_baseline_are_named_up_to_six(monkeypatch: pytest.MonkeyPatch) -> None:
    family = SimpleNamespace(baseline=(), windows_a_year=12, charts=())
    for count, end in ((6, "s4, s5."), (7, "s4, s5 and 1 more.")):
        names = [f"s{i}" for i in range(count)]
        monkeypatch.setattr(stream, "_without_baseline", lambda watching, names=names: {"too few rows": names})
        *_, told = stream.standing_notes(SimpleNamespace(family=family), Settings())  # type: ignore[arg-type]
        assert told.endswith(end)
