"""One patient who lacks an input, or waits for an outcome: the numbers beside a difference, a share of a site or of a
window, or all others subtracted from the total, would say in which group, at which site and when."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import workup
from workup.report import Report

LENSES: dict[str, Any] = {
    "internal": {},
    "subgroups": {"intersections": [["sex", "race"]]},
    "sites": {},
    "drift": {"window": "month", "label_delay": 30},
}


def _table(lacking: list[int], waiting: list[int] | None = None, n: int = 1200) -> dict[str, Any]:
    rng = np.random.default_rng(11)
    risk = np.round(np.clip(rng.beta(1.3, 3, n), 0.02, 0.95), 5)
    died = (rng.random(n) < risk).astype(float)
    died[waiting or []] = np.nan
    creatinine = rng.normal(1.1, 0.3, n)
    creatinine[lacking] = np.nan
    months = np.arange(n) % 12
    when = np.array(
        [f"2024-{month + 1:02}-{day:02}" for month, day in zip(months, rng.integers(1, 28, n), strict=True)]
    )
    return {
        "died": died,
        "p": risk,
        "sex": np.where(rng.random(n) < 0.5, "M", "F").astype(object),
        "race": np.where(rng.random(n) < 0.3, "B", "A").astype(object),
        "place": np.array(["S1", "S2", "S3"], dtype=object)[rng.integers(0, 3, n)],
        "when": when.astype(object),
        "creatinine": creatinine,
        "sodium": rng.normal(140, 3, n),
    }


def _report(table: dict[str, Any], **more: Any) -> Report:
    content = {
        "name": "missing",
        "task": "risk",
        "columns": {
            "outcome": "died",
            "risk": "p",
            "site": "place",
            "time": "when",
            "groups": ["sex", "race"],
            "inputs": ["creatinine", "sodium"],
        },
        "lenses": LENSES,
        "bootstrap": {"replicates": 50},
        **more,
    }
    return workup.validate(workup.Study.of(content), table=table)


def _tables(report: Report, lens: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(report.results[lens].as_dict()["tables"], default=float))
    return found


@pytest.mark.parametrize("lens", ["subgroups", "sites", "drift"])
def test_no_difference_counts_those_who_lack_an_input(lens: str) -> None:
    rows = _tables(_report(_table([0])), lens)["standardised_differences"]
    own = [row for row in rows if row["input"] == "creatinine"]
    assert own and all(row["value"] is not None for row in own)
    for row in own:  # neither the numbers, nor the ends that are made of them
        assert {row[name] for name in ("n_patients", "n_against", "low", "high")} == {None}
    whole = [row for row in rows if row["input"] == "sodium"]
    assert all(None not in (row["n_patients"], row["n_against"], row["low"]) for row in whole)


def test_no_site_and_no_window_tells_its_share() -> None:
    report = _report(_table([0]))
    assert {row["missing_inputs"]["creatinine"] for row in _tables(report, "sites")["sites"]} == {None}
    assert {row["missing_inputs"]["sodium"] for row in _tables(report, "sites")["sites"]} == {0.0}
    inputs = _tables(report, "drift")["inputs"]
    assert not any("(missing)" in row["input"] for row in inputs)
    assert any(row["input"] == "creatinine" for row in inputs)  # its values are compared as before


def test_nor_by_the_parts_that_lack_none_or_many() -> None:
    """Six lack it, five at one site and one at another: the other sites would give the one away."""
    table = _table([])
    at = [np.flatnonzero(table["place"] == place) for place in ("S1", "S2")]
    table["creatinine"][[*at[0][:5], at[1][0]]] = np.nan
    found = _tables(_report(table), "sites")
    assert {row["missing_inputs"]["creatinine"] for row in found["sites"]} == {None}
    assert all(row["n_patients"] is None for row in found["standardised_differences"] if row["input"] == "creatinine")


def test_many_who_lack_it_everywhere_are_told() -> None:
    report = _report(_table([row for row in range(1200) if row // 12 % 2]))
    for lens in ("subgroups", "sites", "drift"):
        assert all(row["n_patients"] for row in _tables(report, lens)["standardised_differences"])
    assert all(0.3 < row["missing_inputs"]["creatinine"] < 0.7 for row in _tables(report, "sites")["sites"])
    assert any("(missing)" in row["input"] for row in _tables(report, "drift")["inputs"])


def test_few_who_wait_are_told_at_no_site_and_in_no_window() -> None:
    report = _report(_table([], waiting=[7, 8, 500]))
    assert {row["waiting"] for row in _tables(report, "sites")["sites"]} == {None}
    assert {row["waiting"] for row in _tables(report, "drift")["windows"]} == {None}
    told = _report(_table([], waiting=[7, 8, 500]), smallest_cell=1)
    assert sum(row["waiting"] for row in _tables(told, "sites")["sites"]) == 3


def test_few_of_a_window_who_wait_are_not_the_difference_of_two_tables() -> None:
    """The rows of a window whose outcome is known, and all of them in the table of differences."""
    rng = np.random.default_rng(1)
    n = 900
    risk = np.round(rng.beta(1.3, 3, n), 4)
    outcome = (rng.random(n) < risk).astype(float)
    days = np.sort(rng.integers(0, 360, n))
    outcome[np.flatnonzero(days > 215)[:2]] = np.nan
    outcome[np.flatnonzero(days > 300)[:20]] = np.nan
    when = (np.datetime64("2024-01-01") + days.astype("timedelta64[D]")).astype(str).astype(object)
    columns = {"outcome": "died", "risk": "p", "time": "when", "inputs": ["age"]}
    said = {"name": "wait", "task": "risk", "columns": columns, "bootstrap": {"replicates": 50}}
    study = workup.Study.of({**said, "lenses": {"internal": {}, "drift": {"window": "month"}}, "thresholds": [0.2]})
    table = {"died": outcome, "p": risk, "when": when, "age": rng.normal(60, 10, n)}
    tables = workup.validate(study, table=table).results["drift"].tables
    assert all(row["waiting"] is None for row in tables["windows"])
    assert tables["standardised_differences"]
    assert all(row["n_patients"] is None and row["low"] is None for row in tables["standardised_differences"])
    assert all(row["rows"] is None for row in tables["without_labels"])
