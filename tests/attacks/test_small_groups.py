"""Groups of one to four patients in an ordinary report: no figure of theirs stands in any form of it, and nobody who
reads all of it can work out how many they are or how many of them had the event."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import workup
from tests.support.record_reader import Reader
from workup.cli.report import render
from workup.report import Report

SECRET_RISKS = (0.437219, 0.618933, 0.282317, 0.731147)


def _table(seed: int = 3, *, small: int = 3, n: int = 90) -> dict[str, Any]:
    """Two large groups and one of few patients, whose risks nobody else has."""
    rng = np.random.default_rng(seed)
    risk = np.round(rng.beta(2, 3, n), 2)
    died = (rng.random(n) < risk).astype(int)
    sex = np.where(rng.random(n) < 0.6, "F", "M").astype(object)
    risk[:small], died[:small], sex[:small] = SECRET_RISKS[:small], (1, 0, 1, 0)[:small], "X"
    band = np.array(["young", "middle", "old"], dtype=object)[rng.integers(0, 3, n)]
    return {"died": died, "p": risk, "sex": sex, "male": np.where(sex == "M", "yes", "no"), "band": band}


def _study(table: Mapping[str, Any], groups: Sequence[Any], **more: Any) -> Report:
    lenses = {"internal": {}, "subgroups": more.pop("subgroups", {})} | more.pop("lenses", {})
    columns = {"outcome": "died", "risk": "p", "groups": list(groups)} | more.pop("columns", {})
    content = {
        "name": "small groups",
        "task": "risk",
        "columns": columns,
        "lenses": lenses,
        "thresholds": [0.4],
        "bootstrap": {"replicates": 200},
        **more,
    }
    return workup.validate(workup.Study.of(content), table=table)


def _figures(node: Any, level: str, under: str = "") -> list[str]:
    """Where a record holds a number that belongs to a level: in a slice of it, or under its name."""
    found = []
    if isinstance(node, Mapping):
        keys = node.get("slice") if isinstance(node.get("slice"), Mapping) else {}
        named = level in {str(v) for v in keys.values()} or node.get("level") == level or node.get("against") == level
        for key, value in node.items():
            plain = isinstance(value, (int, float)) and not isinstance(value, bool)
            own = named and key not in ("level", "margin", "alpha") and plain and value != 0
            if own or (key == level and value not in (None, {})):
                found.append(f"{under}.{key}")
            if key not in ("slice", "withheld_groups"):
                found += _figures(value, level, f"{under}.{key}")
    elif isinstance(node, (list, tuple)):
        for one in node:
            found += _figures(one, level, under)
    return found


@pytest.mark.parametrize("small", [1, 2, 3, 4])
def test_no_number_of_a_group_of_one_to_four_is_in_the_record(small: int) -> None:
    report = _study(_table(small=small), ["sex"])
    record = json.loads(report.to_json())
    assert _figures(record["results"], "X") == []
    rows = [e for e in report.estimates(lens="subgroups") if e.slice.get("sex") == "X"]
    assert rows, "the level must be named, so that a gate on it is not passed by its absence"
    assert {(e.status, e.value, e.n_patients, e.n_rows, e.n_events) for e in rows} == {("withheld", None, 0, 0, None)}
    assert sum(len(result.estimates) for result in report.results.values()) > len(rows)


def test_the_record_holds_no_error_of_a_group_of_one() -> None:
    table = _table(small=1)
    brier = (SECRET_RISKS[0] - table["died"][0]) ** 2  # of a group of one it is the square of one patient's error
    text = _study(table, ["sex"]).to_json()
    for secret in (SECRET_RISKS[0], brier):
        assert f"{secret:.4g}" not in text


ROWS = {"md": r"^\| X \|.*$", "text": r"^X  .*$", "html": r"<bdi>X</bdi></th>.*?</tr>"}


@pytest.mark.parametrize("form", ROWS)
def test_no_form_of_the_report_shows_a_figure_of_a_small_group(form: str) -> None:
    drawn = str(render(_study(_table(small=1), ["sex"]), form))
    rows = re.findall(ROWS[form], drawn, re.M | (re.S if form == "html" else 0))
    assert rows, "the level must be named"
    for one in rows:
        said = re.sub(r"<[^>]+>|at 0[.]4|fewer than 5 patients|[(][0-9]+[)]$", "", one)
        assert not re.search(r"[0-9]", said), said


@pytest.mark.parametrize("form", ["html", "json-flat"])
def test_no_chart_or_flat_form_shows_one_either(form: str) -> None:
    drawn = str(render(_study(_table(small=1), ["sex"]), form))
    assert not re.search(r"X \((?!–)", drawn)  # a chart labels a group by name and size
    assert f"{SECRET_RISKS[0]:.4g}" not in drawn


def _honest(table: Mapping[str, Any], report: Report, groups: Sequence[str]) -> None:
    """Every level kept back that is small is uncertain to a reader of all counts."""
    reader = Reader(report, {name: list(table[name]) for name in groups})
    died = np.asarray(table["died"])
    for name in groups:
        values = np.asarray(table[name], dtype=object)
        for level in set(values.tolist()):
            rows = values == level
            if 0 < rows.sum() < 5:
                assert name in reader.withheld and level in reader.withheld[name]["levels"], (name, level)
                low, high = reader.bounds(name, level, "rows")
                assert low <= rows.sum() <= high and high - low >= 4, (name, level, low, high)
                low, high = reader.bounds(name, level, "events")
                assert low <= died[rows].sum() <= high and high - low >= 1, (name, level, low, high)


@pytest.mark.parametrize("seed", range(6))
def test_a_reader_of_all_counts_cannot_work_out_a_small_group(seed: int) -> None:
    table = _table(seed, small=1 + seed % 4)
    _honest(table, _study(table, ["sex"]), ["sex"])


@pytest.mark.parametrize("seed", range(6))
def test_nor_from_another_grouping_of_the_same_people(seed: int) -> None:
    table = _table(seed, small=1 + seed % 4)
    _honest(table, _study(table, ["sex", "male"]), ["sex", "male"])
    _honest(table, _study(table, ["male", "sex", "band"]), ["male", "sex", "band"])


@pytest.mark.parametrize("seed", range(6))
def test_nor_from_crossings(seed: int) -> None:
    table = _table(seed, small=1 + seed % 4)
    report = _study(table, ["sex", "band"], subgroups={"intersections": [["sex", "band"]]})
    _honest(table, report, ["sex", "band"])
    for result in report.results.values():
        for e in result.estimates:
            assert e.n_patients == 0 or e.n_patients >= 5, e.slice


@pytest.mark.parametrize("seed", range(12))
def test_random_cohorts_give_nothing_away(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    n = int(rng.integers(20, 120))
    groups = [f"g{i}" for i in range(int(rng.integers(1, 4)))]
    table: dict[str, Any] = {"died": (rng.random(n) < 0.4).astype(int), "p": np.round(rng.random(n), 3)}
    for name in groups:
        share = rng.dirichlet(np.full(int(rng.integers(2, 6)), 0.6))
        table[name] = np.array([f"L{code}" for code in rng.choice(share.size, n, p=share)], dtype=object)
    crossing = {"intersections": [groups[:2]]} if len(groups) > 1 else {}
    report = _study(table, groups, subgroups=crossing)
    _honest(table, report, groups)
    told = [e for e in report.estimates(lens="subgroups") if e.n_patients]
    assert all(e.n_patients >= 5 for e in told)


def test_nor_a_few_who_stand_between_two_large_groups() -> None:
    """All of 85 and over less all above 85 are those aged 85, whom no grouping names."""
    rng = np.random.default_rng(11)
    age = np.concatenate([rng.integers(40, 85, 300), rng.integers(86, 96, 40), [85]])
    risk = np.round(rng.beta(2, 3, age.size), 3)
    died = (rng.random(age.size) < risk).astype(int)
    band = np.where(age < 65, "under 65", np.where(age < 85, "65 to 84", "85 and over")).astype(object)
    table = {"died": died, "p": risk, "band": band, "over_85": np.where(age > 85, "yes", "no")}
    told = [
        {row["slice"][name] for row in _study(table, [name]).as_dict()["results"]["subgroups"]["estimates"]}
        for name in ("band", "over_85")
    ]
    assert [len(levels) for levels in told] == [3, 2]  # each by itself is told
    report = _study(table, ["band", "over_85"])
    withheld = {row["column"]: row for row in report.results["internal"].tables["withheld_groups"]}
    assert len(withheld) == 1
    rows = [row for row in report.results["subgroups"].estimates if row.metric == "oe_ratio" and row.status == "ok"]
    sizes = {tuple(row.slice.values()): row.n_patients for row in rows}
    assert sizes and (("85 and over",) in sizes) != (("yes",) in sizes)


def test_nor_the_gaps_and_levels_of_an_input_that_is_a_group_too() -> None:
    table = _table(5, small=2, n=600)
    race = np.where(np.arange(600) % 2 == 0, "a", "b").astype(object)
    race[[0, 1]], race[[4, 5, 8]] = "n", None
    table = {**table, "race": race, "time": (np.datetime64("2024-01-01") + np.arange(600) // 4).astype(str)}
    columns = {"inputs": ["race"], "time": "time"}
    report = _study(table, ["race"], columns=columns, lenses={"drift": {"window": "month", "baseline": 2}})
    record = report.as_dict()
    assert {"n", "missing"} <= set(record["results"]["internal"]["tables"]["withheld_groups"][0]["levels"])
    for lens in record["results"].values():
        assert "race (missing)" not in json.dumps(lens["tables"])
        shown = [row for row in lens["tables"].get("standardised_differences") or () if row.get("input") == "race"]
        assert shown == []
    assert all(row["input"] != "race" for row in record["results"]["internal"]["tables"]["holdings"]["inputs"])
