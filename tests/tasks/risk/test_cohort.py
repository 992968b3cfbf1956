"""The checked cohort: every part refused in words that say where and what to do, and what is tolerable noted."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.errors import InputError
from workup.scores import Levels
from workup.task import Case
from workup.tasks.risk.cohort import NO_PATIENT_COLUMN, Cohort, Columns, check_cohort


def column(values: Sequence[Any]) -> np.ndarray:
    if all(value is None or isinstance(value, (int, float)) for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(values, dtype=object)


def checked(columns: Columns | None = None, **parts: Sequence[Any]) -> Cohort:
    given = {"died": [0, 1, 0, 1], "risk": [0.1, 0.8, 0.3, 0.6], **parts}
    table = {name: values if isinstance(values, np.ndarray) else column(values) for name, values in given.items()}
    return check_cohort(table, columns or Columns(outcome="died", risk="risk"), where="cohort.csv")


def refusal(columns: Columns | None = None, **parts: Sequence[Any]) -> str:
    with pytest.raises(InputError) as caught:
        checked(columns, **parts)
    assert "To fix:" in str(caught.value)
    assert str(caught.value).startswith("cohort.csv")
    return str(caught.value)


def with_part(part: str) -> Columns:
    return dataclasses.replace(Columns(outcome="died", risk="risk"), **{part: part})


# Outcome -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ([-1, 1, 1, -1], ["the values -1, 1", "recode -1 to 0"]),
        ([1, 2, 1, 2], ["the values 1, 2", "no event to 0"]),
        ([2, 2, 2, 2], ["the values 2"]),
        ([0, 2, 0, 2], ["the values 0, 2", "event to 1 and the other to 0"]),
        ([0, 1, 2, 1], ["the values 0, 1, 2", "one against the rest", "means unknown"]),
        ([0, 1, -9, None], ["the values -9, 0, 1", "leave those cells empty"]),
        ([0.5, 12.25, 3.75, 8.5], ["fixed horizon", "censored earlier", "not mature"]),
        ([0, 1, 0.5, 1], ["the values 0, 0.5, 1", "fixed horizon"]),
        ([0, 1, float("inf"), 1], ["3 different numbers"]),
        ([1204, 866, 3021, 77], ["4 different numbers", "survival time"]),
        (["ALIVE", "EXPIRED", "ALIVE", None], ["the text values 'ALIVE', 'EXPIRED'", "event to 1"]),
        (["0", "1", "0", "1"], ["numbers stored as text", "convert the column"]),
        (["0", "1", "unknown", "1"], ["text in 1 of 4 rows, the first is row 3", "empty the cell"]),
        ([None, None, None, None], ["no outcome in any row"]),
        (np.array(["2024-01-01"] * 4, dtype="datetime64[us]"), ["got dates"]),
    ],
)
def test_outcomes_other_than_0_and_1_are_refused(outcome: Any, words: list[str]) -> None:
    message = refusal(died=outcome)
    assert "cohort.csv, column 'died'" in message
    assert all(word in message for word in words), message


def test_at_most_five_values_of_an_outcome_are_shown() -> None:
    message = refusal(died=list(range(8)), risk=[0.5] * 8)
    assert "the values 0, 1, 2, 3, 4 and 3 more" in message
    message = refusal(died=[f"stage {i}" for i in range(8)] * 2, risk=[0.5] * 16)
    assert "'stage 0', 'stage 1', 'stage 2', 'stage 3', 'stage 4' and 3 more" in message


def test_a_wrong_column_does_not_show_names_ids_or_notes() -> None:
    for values in (
        ["Ada Quill", "Bo Stern", "Cy Vance", "Di Frost"],
        ["a long note on what was seen"] * 2 + ["no"] * 2,
    ):
        message = refusal(died=values)
        assert not any(value in message for value in values if len(value) > 2)
        assert "different values" in message
    message = refusal(died=[88123401, 88123402, 88123403, 88123404])
    assert "88123" not in message


def test_truth_values_count_as_0_and_1() -> None:
    assert checked(died=np.array([True, False, True, True])).outcome.tolist() == [1.0, 0.0, 1.0, 1.0]


def test_one_class_is_no_error_and_missing_outcomes_are_counted() -> None:
    assert checked(died=[0, 0, 0, 0]).outcome.tolist() == [0.0] * 4
    cohort = checked(died=[None, 1, None, 1])
    assert np.isnan(cohort.outcome).tolist() == [True, False, True, False]
    assert "2 of 4 rows have no outcome yet and are left out of every metric." in cohort.notes


@pytest.mark.parametrize(
    ("levels", "got", "remedy"),
    [
        (5, "the values 0, 1, 2, 3, 4.", "one against the rest"),
        (6, "the values 0, 1, 2, 3, 4 and 1 more.", "one against the rest"),
        (20, "the values 0, 1, 2, 3, 4 and 15 more.", "one against the rest"),
        (21, "21 different numbers.", "survival time"),
    ],
)
def test_up_to_twenty_codes_are_classes_and_five_are_shown(levels: int, got: str, remedy: str) -> None:
    message = refusal(died=[*range(levels), 0], risk=[0.5] * (levels + 1))
    assert got in message and remedy in message


@pytest.mark.parametrize(("length", "shown"), [(20, True), (21, False)])
def test_words_of_twenty_letters_are_codes_and_longer_ones_stay_unseen(length: int, shown: bool) -> None:
    word = "d" * length
    message = refusal(died=["alive", word, "alive", word])
    assert (word in message) == shown
    assert shown or "text with 2 different values" in message


# Risk and weight -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("risk", "words"),
    [
        ([None, None, None, None], ["no risk in any row"]),
        ([0.1, None, 1.3, None], ["values outside in 1 of 4 rows, the first is row 3"]),
        ([0.1, 1.2, 0.3, 0.4], ["values outside in 1 of 4 rows, the first is row 2", "divide by 100"]),
        ([0.1, 1.01, 0.3, 0.4], ["values outside in 1 of 4 rows, the first is row 2"]),
        ([0.1, 0.2, 0.3, np.nextafter(1.0, 2.0)], ["values outside in 1 of 4 rows, the first is row 4"]),
        ([-5e-324, 0.2, 0.3, 1.0], ["values outside in 1 of 4 rows, the first is row 1"]),
        ([-1, 0.2, 0.3, 1.0], ["record the predicted probability; a code such as -1 or 99"]),
        ([12, 80, 3, 100], ["values outside in 4 of 4 rows", "divide by 100"]),
        ([0.1, 0.2, -1, 0.4], ["the first is row 3", "-1 or 99"]),
        ([-2.5, 0.2, 3.0, 0.4], ["log-odds", "exp(-x)"]),
        ([0.1, float("inf"), 0.3, 0.4], ["finite number from 0 to 1", "row 2"]),
        (["0.1", "high", "0.3", "low"], ["text in 2 of 4 rows, the first is row 2"]),
        (["0,1", "0,2", "0.3", "0.4"], ["numbers stored as text", "one decimal sign"]),
        ([0.1, "pending", 0.3, 0.4], ["text in 1 of 4 rows, the first is row 2"]),
    ],
)
def test_risks_outside_the_unit_interval_are_refused(risk: Any, words: list[str]) -> None:
    message = refusal(risk=risk)
    assert "cohort.csv, column 'risk'" in message
    assert all(word in message for word in words), message
    assert "pending" not in message


def test_risks_that_look_like_labels_are_noted() -> None:
    assert any("labels rather than risks" in note for note in checked(risk=[0, 1, 0, 1]).notes)
    assert not any("labels" in note for note in checked(risk=[0, 1, 0, 0.5]).notes)
    assert checked(Columns(outcome="died")).risk is None


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1, -1, 1, -2], ["other values in 2 of 4 rows, the first is row 2"]),
        ([1, float("inf"), 1, 1], ["other values in 1 of 4 rows"]),
        ([1, None, 1, 1], ["none in 1 of 4 rows"]),
        ([0, 0, 0, 0], ["0 in every row"]),
    ],
)
def test_weights_must_be_finite_and_not_negative(weight: Any, words: list[str]) -> None:
    message = refusal(with_part("weight"), weight=weight)
    assert all(word in message for word in words), message
    assert checked(with_part("weight"), weight=[0, 1, 2, 0.5]).weight.tolist() == [0.0, 1.0, 2.0, 0.5]


# Columns -------------------------------------------------------------------------------------------------------------


def test_a_misspelt_column_is_answered_with_the_near_names() -> None:
    message = refusal(Columns(outcome="dead", risk="rsik"))
    assert "columns.outcome names 'dead'" in message
    assert "did you mean 'died'" in message
    assert "columns.groups[1] names 'sxe'" in refusal(
        Columns(outcome="died", risk="risk", groups=("sex", "sxe")), sex=["F"] * 4
    )
    many = {f"lab {i}": [1.0] * 4 for i in range(200)}
    message = refusal(Columns(outcome="died", risk="rsik"), **many)
    assert "did you mean 'risk'" in message
    assert len(message) < 600


def test_a_table_without_a_header_does_not_show_its_first_row() -> None:
    table = {"4711": column([1]), "0.31": column([0.2]), "Ada Quill": column(["Bo Stern"])}
    with pytest.raises(InputError, match="looks like data rather than column names") as caught:
        check_cohort(table, Columns(outcome="died"), where="cohort.csv")
    assert "Ada" not in str(caught.value)


def test_outcome_and_risk_must_differ_and_tables_must_have_rows() -> None:
    assert "two columns" in refusal(Columns(outcome="died", risk="died"))
    assert "an empty table" in refusal(died=[], risk=[])
    assert "columns of 1 to 4 rows" in refusal(risk=[0.5])


# Patients, sites and groups ------------------------------------------------------------------------------------------


def test_without_a_patient_column_the_first_note_says_so() -> None:
    cohort = checked(died=[None, 1, 0, 1])
    assert cohort.notes[0] == NO_PATIENT_COLUMN
    assert cohort.patient is None


@pytest.mark.parametrize("name", ["patient", "Patient_ID", "subject_id", "MRN", "person.id", "pid", "hadm_id"])
def test_a_column_named_like_a_patient_id_that_repeats_is_warned_about(name: str) -> None:
    cohort = checked(**{name: [7, 7, 8, None]})
    assert cohort.notes[0] == NO_PATIENT_COLUMN
    assert f"column '{name}' is named like a patient id and repeats (2 ids in 3 rows)" in cohort.notes[1]
    assert len(checked(**{name: [6, 7, 8, None]}).notes) == 1
    assert checked(Columns(outcome="died", risk="risk", patient=name), **{name: [7, 7, 8, 9]}).notes == ()


def test_missing_and_inexact_patient_ids_are_refused() -> None:
    message = refusal(with_part("patient"), patient=["a", "", "b", None])
    assert "none in 2 of 4 rows, the first is row 2" in message
    message = refusal(with_part("patient"), patient=[1.0, 2.0**53, 2.0**53 + 2, 4.0])
    assert "too large to tell neighbours apart in 2 of 4 rows" in message


def test_ids_sites_and_groups_are_text_and_stay_missing() -> None:
    columns = Columns(outcome="died", risk="risk", patient="patient", site="site", groups=("sex", "age", "day"))
    cohort = checked(
        columns,
        patient=[12, 7, 12, 0.5],
        site=["b", None, " b ", ""],
        sex=["F", None, "M", "F"],
        age=[70, None, 71.5, 70],
        day=np.array(["2024-01-02", "NaT", "2024-01-03", "2024-01-02"], dtype="datetime64[us]"),
    )
    assert cohort.patient.tolist() == ["12", "7", "12", "0.5"]
    assert cohort.site.tolist() == ["b", None, "b", None]
    assert cohort.groups["sex"].tolist() == ["F", None, "M", "F"]
    assert cohort.groups["age"].tolist() == ["70", None, "71.5", "70"]
    assert cohort.groups["day"].tolist() == ["2024-01-02", None, "2024-01-03", "2024-01-02"]
    assert Levels.of(cohort.site).names == ("b", "missing")


# Time ----------------------------------------------------------------------------------------------------------------


def times(values: Any, time_format: str | None = None) -> list[str]:
    columns = dataclasses.replace(with_part("time"), time_format=time_format)
    return checked(columns, time=values).time.astype("datetime64[s]").astype(str).tolist()


def test_iso_times_are_read_and_brought_to_utc() -> None:
    assert times(["2024-03-01", "2024-03-01 14:05", "2024-03-01T14:05:09.123456789Z", None]) == [
        "2024-03-01T00:00:00",
        "2024-03-01T14:05:00",
        "2024-03-01T14:05:09",
        "NaT",
    ]
    assert times(["2024-03-01T01:00+02:00", "2024-03-01 01:00 -0530", "2024-03-01T10:00+02", "2024-02-29"]) == [
        "2024-02-29T23:00:00",
        "2024-03-01T06:30:00",
        "2024-03-01T08:00:00",
        "2024-02-29T00:00:00",
    ]
    assert "1 of 4 rows has no time." in checked(with_part("time"), time=["2024-03-01"] * 3 + [None]).notes


@pytest.mark.parametrize(
    ("values", "time_format", "first"),
    [
        (["03/04/2024"] * 4, "%d/%m/%Y", "2024-04-03T00:00:00"),
        (["03/04/2024"] * 4, "%m/%d/%Y", "2024-03-04T00:00:00"),
        ([20240304] * 4, "%Y%m%d", "2024-03-04T00:00:00"),
        ([2024] * 4, "%Y", "2024-01-01T00:00:00"),
        (["03.04.24 05:06 +0200"] * 4, "%d.%m.%y %H:%M %z", "2024-04-03T03:06:00"),
        ([45352.5] * 4, "excel", "2024-03-01T12:00:00"),
        ([60] * 4, "excel", "1900-02-28T00:00:00"),
    ],
)
def test_times_in_the_format_the_study_names(values: Any, time_format: str, first: str) -> None:
    assert times(values, time_format)[0] == first


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["03/04/2024", "05/06/2024", "2024-01-01", None], ["2 of 4 rows", "'%d/%m/%Y' or '%m/%d/%Y'"]),
        (["13.04.2024", "05.06.2024", "05.06.2024", "05.06.2024"], ["4 of 4 rows", "time_format to '%d.%m.%Y' (and"]),
        (["03-14-24", "05-06-24", "05-06-24", "05-06-24"], ["time_format to '%m-%d-%y' (and"]),
        (["2024-02-30", "2024-03-01", "soon", "2024-03"], ["others in 3 of 4 rows, the first is row 1"]),
        (
            ["2024/03/01", "2024-03-01", "2024-03-01", "now"],
            ["others in 2 of 4 rows, the first is row 1", "time_format"],
        ),
        ([45352, 45353, 45354.5, None], ["day numbers of Excel", "format the cells as dates", "time_format: excel"]),
        ([20240101, 20240102, 20240103, 20240104], ["'%Y%m%d'"]),
        ([2023, 2024, 2024, 2024], ["'%Y'"]),
        ([1709294709, 1709294709, 1709294709, 1709294709], ["got numbers"]),
    ],
)
def test_times_that_need_a_format_are_refused(values: Any, words: list[str]) -> None:
    message = refusal(with_part("time"), time=values)
    assert "cohort.csv, column 'time'" in message
    assert all(word in message for word in words), message
    assert "soon" not in message


def test_times_that_do_not_fit_their_format_are_counted() -> None:
    columns = dataclasses.replace(with_part("time"), time_format="%d/%m/%Y")
    message = refusal(columns, time=["03/04/2024", "2024-04-03", "31/02/2024", None])
    assert "others in 2 of 4 rows, the first is row 2" in message
    for broken, fault in (("%Q", "unknown or unfinished"), ("%d/%", "unknown or unfinished"), ("", "says nothing")):
        message = refusal(dataclasses.replace(columns, time_format=broken), time=["03/04/2024"] * 4)
        assert "time_format must be a format" in message
        assert fault in message
    assert "got text" in refusal(dataclasses.replace(columns, time_format="excel"), time=["03/04/2024"] * 4)
    assert "others in 1 of 4" in refusal(dataclasses.replace(columns, time_format="excel"), time=[1, 2, -3, 4])


def test_native_times_pass_as_they_are() -> None:
    days = np.array(["2024-03-01", "NaT", "2024-03-02", "2024-03-03"], dtype="datetime64[D]")
    assert times(days) == ["2024-03-01T00:00:00", "NaT", "2024-03-02T00:00:00", "2024-03-03T00:00:00"]
    assert checked(with_part("time"), time=days).time.dtype == np.dtype("datetime64[us]")


# The cohort itself ---------------------------------------------------------------------------------------------------


def test_cases_are_made_on_demand_and_hide_the_answer() -> None:
    columns = Columns(outcome="died", risk="risk", patient="pid", site="site", time="seen", weight="w", groups=("sex",))
    cohort = checked(
        columns,
        died=[0, None, 0, 1],
        pid=[1, 2, 3, 4],
        site=["a", "b", None, "b"],
        seen=["2024-03-01"] * 4,
        w=[1, 1, 1, 2],
        sex=["F", None, "M", "M"],
        age=[70, None, 50, 51],
        day=np.array(["2024-03-01", "NaT", "2024-03-01", "2024-03-01"], dtype="datetime64[us]"),
    )
    assert len(cohort.cases) == len(cohort) == 4
    first, second = cohort.cases[0], cohort.cases[1]
    assert isinstance(first, Case)
    assert first.input == {
        "site": "a",
        "seen": "2024-03-01",
        "sex": "F",
        "age": 70.0,
        "day": "2024-03-01T00:00:00.000000",
    }
    assert (first.id, first.expected, first.patient, first.site, first.groups) == ("1", 0.0, "1", "a", {"sex": "F"})
    assert first.time == np.datetime64(datetime.datetime(2024, 3, 1))
    assert np.isnan(second.expected)
    assert second.input["age"] is None
    assert second.input["day"] is None
    assert cohort.cases[-1].id == "4"
    assert [case.id for case in cohort.cases[1:3]] == ["2", "3"] == [case.id for case in cohort.cases][1:3]
    with pytest.raises(IndexError):
        cohort.cases[4]


def test_the_hash_is_fixed_and_follows_every_named_part() -> None:
    columns = Columns(outcome="died", risk="risk", patient="pid", site="site", time="seen", weight="w", groups=("sex",))
    parts: dict[str, Any] = {
        "died": [0, 1, None, 1],
        "risk": [0.1, 0.8, 0.3, 0.6],
        "pid": [1, 2, 2, 4],
        "site": ["a", "b", None, "b"],
        "seen": ["2024-03-01", "2024-03-02", None, "2024-03-04"],
        "w": [1, 1, 0.5, 2],
        "sex": ["F", None, "M", "M"],
    }
    whole = checked(columns, **parts).sha256
    # Kept as a number, so that another machine or release that hashes otherwise is noticed.
    assert whole == "063aa4336c9d05bc291228ac5eee082481d557ef51bd1a482f0514983e8451c0"
    changed = {
        "died": [0, 1, 0, 1],
        "risk": [0.1, 0.8, 0.3, np.nextafter(0.6, 1)],
        "pid": [1, 2, 3, 4],
        "site": ["a", "b", "b", None],
        "seen": ["2024-03-01", "2024-03-02", None, "2024-03-04T00:00:01"],
        "w": [1, 1, 0.5, 2.5],
        "sex": ["F", "M", None, "M"],
    }
    hashes = {checked(columns, **{**parts, name: values}).sha256 for name, values in changed.items()}
    assert len(hashes | {whole}) == len(changed) + 1
    # A column that a model may see is part of what is tested, whether or not a risk was recorded.
    assert checked(columns, **parts, unnamed=[1, 2, 3, 4]).sha256 != whole
    assert checked(columns, **{name: values[::-1] for name, values in parts.items()}).sha256 != whole
    model = dataclasses.replace(columns, risk=None)
    assert checked(model, **parts).sha256 != checked(model, **parts, feature=[1, 2, 3, 4]).sha256


def test_zero_has_one_sign_and_missing_one_form_in_the_hash() -> None:
    a = checked(with_part("weight"), weight=[0.0, 1, 1, 1], died=[np.nan, 1, 0, 1])
    b = checked(with_part("weight"), weight=[-0.0, 1, 1, 1], died=[-np.nan, 1, 0, 1])
    assert a.sha256 == b.sha256


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 1.0, None]), st.floats(0, 1), st.one_of(st.none(), st.text(max_size=3))),
        min_size=1,
        max_size=15,
    )
)
def test_whatever_passes_is_fit_for_scoring(rows: list[tuple[float | None, float, str | None]]) -> None:
    outcome, risk, group = (list(part) for part in zip(*rows, strict=True))
    table = {"y": column(outcome), "p": column(risk), "g": np.array(group, dtype=object)}
    columns = Columns(outcome="y", risk="p", groups=("g",))
    if all(value is None for value in outcome):
        with pytest.raises(InputError, match="no outcome in any row"):
            check_cohort(table, columns, where="t")
        return
    cohort = check_cohort(table, columns, where="t")
    assert set(cohort.outcome[~np.isnan(cohort.outcome)].tolist()) <= {0.0, 1.0}
    assert ((cohort.risk >= 0) & (cohort.risk <= 1)).all()
    assert Levels.of(cohort.groups["g"]).names == Levels.of(table["g"]).names
    assert len(list(cohort.cases)) == len(rows)
    assert cohort.sha256 == check_cohort(dict(reversed(table.items())), columns, where="t").sha256
