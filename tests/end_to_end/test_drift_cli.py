"""A study of drift through the commands alone: the record, the same bytes in any order, and bad times or settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tests.support.shell import SECRET, Done, call, differing, shuffled, write

COLUMNS = {
    "outcome": "died",
    "risk": "p",
    "patient": "patient",
    "time": "seen",
    "groups": ["sex"],
    "inputs": ["age", "ward"],
}


def year(*, bad_from: int = 9, rows: int = 260, seed: int = 4) -> dict[str, list[str]]:
    """Ten months of a cohort whose risks rank patients worse, and whose ward mix differs, from month `bad_from` on."""
    rng = np.random.default_rng(seed)
    columns: dict[str, list[str]] = {
        name: [] for name in ("patient", "note", "seen", "died", "p", "sex", "age", "ward")
    }
    for month in range(1, 11):
        x = rng.normal(size=rows)
        died = rng.random(rows) < 1 / (1 + np.exp(-(-0.7 + 1.4 * x)))
        given = x if month < bad_from else rng.normal(size=rows)
        risk = np.round(1 / (1 + np.exp(-(-0.7 + 1.4 * given))), 2)  # rounded, so that many rows tie
        share = [0.5, 0.3, 0.2] if month < bad_from else [0.1, 0.3, 0.6]
        columns["patient"] += [f"{SECRET}{month:02d}{row:04d}" for row in range(rows)]
        columns["note"] += [f"{SECRET} text"] * rows
        columns["seen"] += [f"2024-{month:02d}-{1 + row % 28:02d}" for row in range(rows)]
        columns["died"] += [str(int(value)) for value in died]
        columns["p"] += [f"{value:.2f}" for value in risk]
        columns["sex"] += [str(value) for value in rng.choice(["F", "M"], rows)]
        columns["age"] += [f"{value:.1f}" for value in 60 + 10 * x]
        columns["ward"] += [str(value) for value in rng.choice(["A", "B", "C"], rows, p=share)]
    return columns


def study(folder: Path, table: dict[str, list[str]] | None = None, *, text: str = "", **changes: Any) -> Path:
    write(folder / "cohort.csv", table or year())
    drift = {"baseline": "2024-08-01", "metrics": ["auroc"], "inputs": {"together": "none"}, **changes.pop("drift", {})}
    content = {
        "name": "watch",
        "task": "risk",
        "seed": 3,
        "corpus": {"path": "cohort.csv"},
        "columns": COLUMNS,
        "lenses": {"drift": drift},
        "bootstrap": {"replicates": 200},
        **changes,
    }
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump(content) + text)
    return file


def ran(file: Path, out: Path) -> dict[str, Any]:
    done = call("run", file, "-o", out, "--quiet")
    assert done.code == 0, done.err
    record: dict[str, Any] = json.loads((out / "report.json").read_text())
    return record


def refused(file: Path, *words: str) -> Done:
    done = call("run", file, "-o", file.parent / "run", "--quiet")
    assert done.code == 2, done.out
    assert "Traceback" not in done.err and SECRET not in done.err
    for word in words:
        assert word in done.err, done.err
    assert not (file.parent / "run" / "report.json").exists()
    return done


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("drift")
    return ran(study(folder, thresholds=[0.3], drift={"metrics": ["auroc", "sensitivity"]}), folder / "run")


# ---- the record ------------------------------------------------------------------------------------------------------


def test_the_alert_stands_in_the_record_with_the_fields_that_others_read(record: dict[str, Any]) -> None:
    result = record["results"]["drift"]
    everyone = [alert for alert in result["alerts"] if alert["metric"] == "auroc" and alert["slice"] == {}]
    assert len(everyone) == 1
    [alert] = everyone
    assert {"type", "metric", "slice", "window", "severity", "effect", "state", "message"} <= alert.keys()
    assert (alert["type"], alert["window"], alert["severity"], alert["state"]) == (
        "performance",
        "2024-09",
        "high",
        "open",
    )
    assert alert["effect"] < -0.2


def test_every_series_and_window_is_on_the_chart_with_its_fields(record: dict[str, Any]) -> None:
    states = record["results"]["drift"]["charts_state"]
    assert all({"value", "se", "z", "statistic", "limit", "signal"} <= state.keys() for state in states)
    series = {(s["type"], s["metric"], json.dumps(s["slice"])) for s in states}
    assert len(series) == 2 * (1 + 2 + 1)  # everyone, two groups, one gap; on two metrics
    assert {state["window"] for state in states} == {"2024-08", "2024-09", "2024-10"}
    assert {state["slice"].get("threshold") for state in states if state["metric"] == "sensitivity"} == {0.3}


def test_inputs_kinds_and_forecasts_stand_in_the_tables(record: dict[str, Any]) -> None:
    tables = record["results"]["drift"]["tables"]
    flagged = {(row["window"], row["input"]) for row in tables["inputs"] if row["flagged"]}
    assert flagged == {("2024-09", "ward"), ("2024-10", "ward")}
    assert tables["drift_kind"][0]["drift"] == "none"
    assert tables["drift_kind"][-1]["drift"].startswith("concept")
    assert {row["reason"] for row in tables["forecast"]} == {"3 windows with a value; a trend needs at least 4"}
    assert sum(row["rows"] for row in tables["windows"]) == 2600
    assert [row["period"] for row in tables["windows"]] == ["baseline"] * 7 + ["watched"] * 3


def test_nothing_of_a_patient_is_in_the_record(record: dict[str, Any]) -> None:
    assert SECRET not in json.dumps(record)


def test_shuffled_rows_give_the_same_bytes(tmp_path: Path) -> None:
    """Ids or none, ties in risk and date, rows that wait, and all inputs tested together."""
    table = year(rows=130)
    table["died"] = ["" if row % 50 == 0 else value for row, value in enumerate(table["died"])]
    drift = {"baseline": 7, "charts": ["ewma", "ra_cusum"], "inputs": {"together": "latest"}, "minimum": {"rows": 50}}
    columns = {name: value for name, value in COLUMNS.items() if name != "patient"} | {"inputs": ["age", "p", "ward"]}
    for ids in ("with", "without"):
        asked = {"drift": drift, **({"columns": columns} if ids == "without" else {})}
        records = []
        for order in (table, shuffled(table)):
            folder = tmp_path / ids / str(len(records))
            folder.mkdir(parents=True)
            records.append(ran(study(folder, order, **asked), folder / "run"))
        assert {p for p in differing(*records) if not p.startswith(("corpus.sha256", "sha256"))} == set()


def test_the_lens_stands_beside_the_others(tmp_path: Path) -> None:
    file = study(tmp_path, lenses={"internal": {}, "drift": {"baseline": 7, "metrics": ["auroc"], "by": []}})
    found = ran(file, tmp_path / "run")["results"]
    assert set(found) == {"internal", "drift"}
    assert (tmp_path / "run" / "report.md").exists()


def test_gates_may_ask_about_the_latest_window(tmp_path: Path) -> None:
    file = study(tmp_path, gates=["auroc{window=latest}.high <= 0.7", "auroc{window=baseline}.low >= 0.7"])
    assert {row["outcome"] for row in ran(file, tmp_path / "run")["verdicts"]} == {"pass"}


# ---- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drift", "words"),
    [
        ({"window": "mnth"}, ["lenses.drift.window", "did you mean 'month'"]),
        ({"charts": ["cusumm"]}, ["lenses.drift.charts", "did you mean 'cusum'"]),
        ({"metrics": ["aurok"]}, ["'aurok' is not a metric", "did you mean 'auroc'"]),
        ({"by": ["sx"]}, ["lenses.drift.by", "did you mean 'sex'"]),
        ({"basline": 3}, ["'basline' is not a known field", "did you mean 'baseline'"]),
        ({"baseline": "2031-01-01"}, ["before and after the end of the baseline", "2024-01-01"]),
        ({"baseline": "08/01/2024"}, ["lenses.drift.baseline must be an ISO date"]),
        ({"baseline": "yesterday"}, ["lenses.drift.baseline must be an ISO date"]),
        ({"as_of": "today"}, ["lenses.drift.as_of must be an ISO date"]),
        ({"as_of": "2024-02-01"}, ["must not lie before the last row", "2024-10-28"]),
        ({"label_delay": 300}, ["baseline must be whole"]),
        ({"minimum": {"rows": 5000}}, ["baseline holds too little", "To fix"]),
        ({"limits": {"auroc": {"medium": 0.2, "high": 0.1}}}, ["'high' must not be below 'medium'"]),
    ],
)
def test_bad_settings_are_one_clear_message(tmp_path: Path, drift: dict[str, Any], words: list[str]) -> None:
    refused(study(tmp_path, drift=drift), *words)


def test_a_date_need_not_be_quoted(tmp_path: Path) -> None:
    file = study(tmp_path)
    file.write_text(file.read_text().replace("'2024-08-01'", "2024-08-01"))
    assert "baseline: 2024-08-01" in file.read_text()
    assert ran(file, tmp_path / "run")["results"]["drift"]["settings"]["baseline"] == "2024-08-01"


# ---- times -----------------------------------------------------------------------------------------------------------


def with_times(change: Any) -> dict[str, list[str]]:
    table = year(rows=130)
    return table | {"seen": [change(row, time) for row, time in enumerate(table["seen"])]}


def test_ambiguous_dates_are_refused(tmp_path: Path) -> None:
    table = with_times(lambda row, time: f"{time[8:]}/{time[5:7]}/{time[:4]}" if int(time[8:]) <= 12 else "05/06/2024")
    refused(study(tmp_path, table), "column 'seen'", "day and month", "time_format")


def test_and_read_once_the_study_says_their_order(tmp_path: Path) -> None:
    table = with_times(lambda row, time: f"{time[8:]}/{time[5:7]}/{time[:4]}")
    result = ran(study(tmp_path, table, time_format="%d/%m/%Y"), tmp_path / "run")["results"]["drift"]
    assert [row["rows"] for row in result["tables"]["windows"]] == [130] * 10


def test_no_time_column_is_told(tmp_path: Path) -> None:
    columns = {name: value for name, value in COLUMNS.items() if name != "time"}
    refused(study(tmp_path, columns=columns), "columns.time")


def test_rows_without_a_time_are_counted(tmp_path: Path) -> None:
    table = with_times(lambda row, time: "" if row % 100 == 0 else time)
    result = ran(study(tmp_path, table), tmp_path / "run")["results"]["drift"]
    assert "13 rows have no time and are in no window." in result["notes"]
    assert sum(row["rows"] for row in result["tables"]["windows"]) == 1287


def test_zones_are_turned_into_utc_before_windows_are_cut(tmp_path: Path) -> None:
    # 23:30 on the last of a month in New York is the next month in UTC; in March clocks have gone forward.
    def late(row: int, time: str) -> str:
        return f"{time}T23:30:00{'-05:00' if time < '2024-03-10' else '-04:00'}" if row % 2 else f"{time}T12:00:00Z"

    table = with_times(late)
    table["seen"][:4] = [
        "2024-01-31T23:30:00-05:00",
        "2024-03-31T23:30:00-04:00",
        "2024-02-01T00:30:00+01:00",
        "2024-03-31T01:30:00Z",
    ]
    result = ran(study(tmp_path, table), tmp_path / "run")["results"]["drift"]
    rows = {row["window"]: row["rows"] for row in result["tables"]["windows"]}
    assert (rows["2024-01"], rows["2024-02"], rows["2024-03"], rows["2024-04"]) == (127, 131, 131, 131)


def test_infinite_inputs_are_refused_by_name(tmp_path: Path) -> None:
    table = year(rows=130)
    table["age"][7] = "inf"
    done = call("run", study(tmp_path, table), "-o", tmp_path / "run", "--quiet")
    assert done.code == 2 and "Traceback" not in done.err
    assert "age" in done.err


def test_rows_sent_twice_are_told(tmp_path: Path) -> None:
    table = {name: [*column, *column[-40:]] for name, column in year(rows=130).items()}
    result = ran(study(tmp_path, table), tmp_path / "run")["results"]["drift"]
    assert any(note.startswith("40 rows repeat the patient, time and values") for note in result["notes"])


def test_months_whose_outcomes_are_still_to_come_are_insufficient_and_not_silent(tmp_path: Path) -> None:
    table = year(rows=130)
    table["died"] = [
        "" if time >= "2024-10" else value for time, value in zip(table["seen"], table["died"], strict=True)
    ]
    result = ran(study(tmp_path, table), tmp_path / "run")["results"]["drift"]
    last = result["tables"]["windows"][-1]
    assert (last["window"], last["rows"], last["waiting"], last["status"]) == ("2024-10", 0, 130, "insufficient")
    assert any("2024-10" in note for note in result["notes"])
    assert {row["status"] for row in result["charts_state"] if row["window"] == "2024-10"} == {"insufficient"}
