"""Few of a group who were lost before a horizon: a table of follow-up would count them, and so does any figure of those
who were not, since a specificity is a fraction whose denominator can be read off its digits."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import workup
from workup.report import Report

K = 5


def _table(lost: dict[str, int], n: int = 600) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    risk = np.round(rng.uniform(0.05, 0.6, n), 4)
    happens = rng.random(n) < risk
    days = np.where(happens, np.round(rng.uniform(1, 360, n)), 400.0)
    sex = np.where(np.arange(n) % 2, "M", "F").astype(object)
    for level, count in lost.items():
        rows = np.flatnonzero((sex == level) & ~happens)[:count]
        days[rows] = np.round(rng.uniform(10, 300, count))
    place = np.array(["A", "B", "C"], dtype=object)[np.arange(n) // 2 % 3]
    when = np.datetime64("2019-01-01") + rng.integers(0, 1800, n).astype("timedelta64[D]")
    return {
        "d": days,
        "s": happens.astype(int),
        "p": risk,
        "sex": sex,
        "place": place,
        "when": when.astype(str).astype(object),
    }


def _report(table: dict[str, Any], **more: Any) -> Report:
    said = {
        "name": "lost",
        "task": "horizon",
        "columns": {
            "followup": {"column": "d", "unit": "d"},
            "status": "s",
            "risk": {"365d": "p"},
            "site": "place",
            "time": "when",
            "groups": ["sex"],
        },
        "thresholds": [0.2],
        "lenses": {"internal": {}, "subgroups": {}, "sites": {}, "drift": {"window": "year"}},
        "bootstrap": {"replicates": 50},
    }
    return workup.validate(workup.Study.of({**said, **more}), table=table)


def _lost(report: Report, lens: str) -> dict[str, int]:
    """How many of each part were lost, by the digits of its specificity: of its rows, those without the event or with
    it are known, and the denominator of the fraction is how many have none."""
    found = {}
    for e in report.estimates("specificity", lens=lens):
        keys = {name: value for name, value in e.slice.items() if name not in ("threshold", "horizon")}
        if e.value is not None and e.n_events is not None and keys and e.level == 0.95:
            free = Fraction(e.value).limit_denominator(e.n_rows).denominator
            many = [free * times for times in range(1, e.n_rows // free + 1) if free * times <= e.n_rows - e.n_events]
            if many:
                found[json.dumps(keys)] = e.n_rows - e.n_events - max(many)
    return found


@pytest.fixture(scope="module", name="report")
def _few() -> Report:
    return _report(_table({"F": 3, "M": 40}))


def test_the_attack_works_where_all_is_told() -> None:
    told = _report(_table({"F": 3, "M": 40}), smallest_cell=1, lenses={"internal": {}, "subgroups": {}})
    assert _lost(told, "subgroups")['{"sex": "F"}'] == 3


def test_few_who_were_lost_are_told_by_no_group(report: Report) -> None:
    assert not _lost(report, "subgroups")
    table = report.results["internal"].tables
    assert [row["slice"] for row in table["followup"]] == [{}]
    assert all(row["column"] is None for row in table["censoring"]["hazard_ratios"])
    assert not any("sex" in note and "lost" in note and "few" not in note for note in report.results["internal"].notes)
    assert any("By 365d nothing is told by sex" in note for note in report.results["subgroups"].notes)
    for lens in ("sites", "drift"):
        assert not [n for n in _lost(report, lens).values() if 0 < n < K]


def test_nor_by_fifths_of_the_risk(report: Report) -> None:
    curves = report.results["internal"].tables["observed_curves"]["curves"]
    assert all(not one["under_axis"] for one in curves if one["fifth"] is not None)
    assert next(one for one in curves if one["fifth"] is None)["under_axis"]


def test_many_or_none_lost_are_told() -> None:
    for lost in ({"F": 30, "M": 40}, {}):
        report = _report(_table(lost), lenses={"internal": {}, "subgroups": {}})
        assert {str(row["slice"]) for row in report.results["internal"].tables["followup"]} > {"{}"}
        assert report.estimate("auroc", sex="F", horizon="365d").status == "ok"


def test_few_who_left_between_two_landmarks_are_told_nowhere() -> None:
    rng = np.random.default_rng(1)
    rows: dict[str, list[Any]] = {name: [] for name in ("who", "landmark", "d", "s", "p")}
    for who in range(300):
        happens = rng.random() < 0.4
        until = rng.uniform(100, 700) if happens else 800.0
        for landmark, first in ((0, 0), (30, 3), (90, 60)):
            if who >= first:
                cells = (who, f"{landmark}d", until - landmark, int(happens), round(rng.uniform(0.1, 0.6), 4))
                for name, cell in zip(rows, cells, strict=True):
                    rows[name].append(cell)
    columns = {
        "followup": {"column": "d", "unit": "d"},
        "status": "s",
        "risk": {"365d": "p"},
        "patient": "who",
        "landmark": "landmark",
    }
    for k, told in ((K, []), (1, [240, 297, 300])):
        report = _report(rows, columns=columns, lenses={"internal": {}, "subgroups": {}}, smallest_cell=k)
        estimates = report.estimates("auroc", lens="subgroups")
        assert sorted({e.n_patients for e in estimates if e.status != "withheld"}) == told
        followed = [row["slice"] for row in report.results["internal"].tables["followup"] if row["slice"]]
        assert len(followed) == len(told)
