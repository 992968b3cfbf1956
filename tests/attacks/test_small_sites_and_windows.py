"""Sites, windows and groups within them of one to four patients: named, and never told; nor are they in a comparison or
in what is said of rows without a risk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workup
from tests.support.shell import call
from workup.report import Report


def _cohort(seed: int = 5, n: int = 240) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    risk = np.round(rng.beta(2, 3, n), 3)
    died = (rng.random(n) < risk).astype(float)
    site = np.array(["North", "South", "West"], dtype=object)[rng.integers(0, 3, n)]
    sex = np.where(rng.random(n) < 0.5, "F", "M").astype(object)
    month = rng.integers(1, 9, n)
    site[:2], died[:2] = "Tiny", (1, 0)
    sex[[i for i in range(n) if site[i] == "West" and sex[i] == "M"][3:]] = "F"  # three men in the West
    month[:3] = 9  # three patients in September
    when = np.array([f"2024-{m:02d}-15" for m in month], dtype=object)
    return {"died": died, "p": risk, "site": site, "sex": sex, "when": when}


def _run(table: dict[str, Any], lenses: dict[str, Any], **more: Any) -> Report:
    columns = {"outcome": "died", "risk": "p", "site": "site", "groups": ["sex"], **more.pop("columns", {})}
    content = {"name": "s", "task": "risk", "columns": columns, "lenses": lenses, "thresholds": [0.4], **more}
    return workup.validate(workup.Study.of({**content, "bootstrap": {"replicates": 200}}), table=table)


@pytest.fixture(scope="module", name="placed")
def _placed() -> Report:
    return _run(_cohort(), {"internal": {}, "subgroups": {}, "sites": {"by": ["sex"]}})


def test_a_site_of_two_patients_and_its_complement_are_not_told(placed: Report) -> None:
    sites = placed.results["sites"]
    [row] = [row for row in sites_withheld(placed) if row["column"] == "site"]
    assert "Tiny" in row["levels"] and len(row["levels"]) == 2, "everyone less the told sites would be the small one"
    told = {one["site"] for one in sites.tables["sites"]}
    assert told == {"North", "South", "West", "Tiny"} - set(row["levels"])
    hidden = [e for e in sites.estimates if e.slice.get("site") == "Tiny"]
    assert hidden and {(e.status, e.value, e.n_patients) for e in hidden} == {("withheld", None, 0)}
    assert all(set(one["sites"]) <= told for one in sites.pooled)


def sites_withheld(report: Report) -> list[dict[str, Any]]:
    return [dict(row) for result in report.results.values() for row in result.tables.get("withheld_groups", ())]


def test_a_group_of_three_within_a_site_is_not_told() -> None:
    table = _cohort()
    table["site"][:2] = "North"
    report = _run(table, {"internal": {}, "sites": {"by": ["sex"]}})
    cells = [e for e in report.results["sites"].estimates if {"site", "sex"} <= set(e.slice)]
    assert {e.status for e in cells if e.slice["site"] == "West" and e.slice["sex"] == "M"} == {"withheld"}
    assert all(e.n_patients == 0 or e.n_patients >= 5 for e in cells)
    [west] = [one for one in report.results["sites"].tables["sites"] if one["site"] == "West"]
    assert set(west["demographics"]["sex"].values()) == {None}
    told = {(e.slice["site"], e.slice["sex"]) for e in cells if e.n_patients}
    # What the West's women and the men of all sites would give away is kept back with it.
    assert ("West", "F") not in told
    assert not {("North", "M"), ("South", "M")} <= told


def test_a_window_of_three_patients_is_named_without_counts() -> None:
    lens = {"drift": {"window": "month", "baseline": 4, "minimum": {"rows": 1, "events": 1, "others": 1}}}
    report = _run(_cohort(), {"internal": {}, **lens}, columns={"time": "when"})
    drift = report.results["drift"]
    few = [row for row in drift.tables["windows"] if row["window"] == "2024-09"]
    assert [row["rows"] for row in few] == [row["patients"] for row in few] == [row["events"] for row in few] == [None]
    hidden = [row["window"] for row in drift.tables["windows"] if row["rows"] is None]
    assert len(hidden) > 1, "the total less the other windows would be the small one"
    states = [row for row in drift.charts_state if row["window"] == "2024-09"]
    assert states and all(row["value"] is None and row["statistic"] is None for row in states)
    for table in ("without_labels", "inputs", "standardised_differences"):
        for row in drift.tables.get(table, ()):
            assert row.get("window", (row.get("slice") or {}).get("window")) != "2024-09"


def test_groups_of_few_in_the_latest_window_are_not_told() -> None:
    table = _cohort()
    table["sex"] = np.where(table["when"] == "2024-08-15", "F", table["sex"]).astype(object)
    august = np.flatnonzero(table["when"] == "2024-08-15")
    table["sex"][august[:2]] = "M"
    keep = table["when"] != "2024-09-15"
    table = {name: column[keep] for name, column in table.items()}
    lens = {"drift": {"window": "month", "baseline": 4, "minimum": {"rows": 1, "events": 1, "others": 1}}}
    report = _run(table, {"internal": {}, **lens}, columns={"time": "when"})
    latest = [e for e in report.results["drift"].estimates if e.slice.get("window") == "latest" and "sex" in e.slice]
    assert latest and all(e.n_patients == 0 or e.n_patients >= 5 for e in latest)
    assert {e.status for e in latest if e.slice["sex"] == "M"} == {"withheld"}


def test_rows_without_a_risk_are_not_told_by_a_small_group() -> None:
    table = _cohort()
    table["sex"][:3], table["p"] = "X", table["p"].copy()
    table["p"][0] = np.nan
    table["p"][100:120] = np.nan
    report = _run(table, {"internal": {}, "subgroups": {}})
    notes = [note for result in report.results.values() for note in result.notes if note.startswith("Rows without")]
    assert notes and not any("X:" in note for note in notes)


def test_a_comparison_tells_only_the_groups_that_the_reports_tell(tmp_path: Path) -> None:
    table = _cohort()
    table["sex"][:3] = "X"
    rows = [",".join(["died", "a", "b", "sex"])]
    rows += [
        f"{int(d)},{p},{min(0.999, p + 0.01):.3f},{s}"
        for d, p, s in zip(table["died"], table["p"], table["sex"], strict=True)
    ]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    study = {
        "name": "pair",
        "task": "risk",
        "corpus": {"path": "t.csv"},
        "columns": {"outcome": "died", "groups": ["sex"]},
        "systems": [{"name": n, "use": "recorded", "with": {"column": n}} for n in ("a", "b")],
        "lenses": {"internal": {}, "subgroups": {}},
        "bootstrap": {"replicates": 200},
        "report": {"formats": ["text"]},
    }
    (tmp_path / "study.yaml").write_text(json.dumps(study))
    done = call("run", tmp_path / "study.yaml", "-o", tmp_path / "out")
    assert done.code in (0, 3), done.err
    [pair] = json.loads((tmp_path / "out" / "comparison.json").read_text())["comparisons"]
    sizes = {row["slice"]["sex"]: row["n_patients"] for row in pair["rows"] if "sex" in row["slice"]}
    assert sizes and "X" not in sizes and min(sizes.values()) >= 5
    done = call("compare", tmp_path / "out" / "a", tmp_path / "out" / "b", "--json", "-")
    assert '"X"' not in done.out.split('"withheld')[0]


def test_missing_values_of_few_are_not_counted_as_an_input_either() -> None:
    table = _cohort()
    table["sex"][:2] = None
    report = _run(table, {"internal": {}, "subgroups": {}}, columns={"inputs": ["sex"]})
    assert report.results["internal"].tables["holdings"]["inputs"] == []  # not described at all


def test_the_record_of_a_split_is_not_told_by_a_group_of_few(tmp_path: Path) -> None:
    table = _cohort()
    table["sex"][:3] = "X"
    table["id"] = [f"P{i}" for i in range(len(table["died"]))]
    rows = ["died,p,sex,id"]
    columns = (table["died"], table["p"], table["sex"], table["id"])
    rows += [f"{int(d)},{p},{s},{i}" for d, p, s, i in zip(*columns, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    words = ("--patient", "id", "--outcome", "died", "--by", "sex", "--strategy", "random", "-o", tmp_path / "parts")
    done = call("split", tmp_path / "t.csv", *words)
    assert done.code == 0, done.err
    study = {
        "name": "s",
        "task": "risk",
        "corpus": {"path": "t.csv"},
        "columns": {"outcome": "died", "risk": "p", "patient": "id", "groups": ["sex"]},
        "split": str(next((tmp_path / "parts").rglob("split.json")).relative_to(tmp_path)),
        "bootstrap": {"replicates": 200},
    }
    report = workup.validate(workup.Study.of(study, base=tmp_path))
    split = report.results["internal"].tables["split"]
    assert not any(row["variable"] == "sex" for row in (*split["levels"], *split["changes"]))
    assert not any("X" in str(row.get("message")) for row in split["warnings"])
