"""Windows of few patients, and groups of few within a window, in a drift report: whoever reads every table, chart and
reason of it, and knows which combinations of window and group occur, cannot work out how many they are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import workup
from tests.support.record_reader import Reader
from workup.cli.report import render
from workup.report import Report

LOW = {"rows": 10, "events": 3, "others": 3}


class WindowReader(Reader):
    """Takes what a drift lens tells as equations too. A value of a group in a window is taken as its counts: shares are
    exact fractions, and a few of them fit one table only."""

    def __init__(self, report: Report, columns: Mapping[str, Sequence[str]], before: int) -> None:
        self._first = [row["window"] for row in report.results["drift"].tables["windows"]][:before]
        super().__init__(report, columns)
        drift = self._record["results"]["drift"]
        tables = drift["tables"]
        for row in tables["windows"]:
            self._say({"window": row["window"]}, row["rows"], row["events"])
        for row in tables.get("standardised_differences", ()):
            if row["input"] == "risk":
                self._say({"window": row["slice"]["window"]}, row["n_patients"], None)
        for row in tables.get("without_labels", ()):
            self._say({"window": row["window"]}, row["rows"], None)
        last = next((row["window"] for row in reversed(tables["windows"]) if row["status"] == "ok"), None)
        for e in drift["estimates"]:
            if e["n_rows"]:
                own = {key: value for key, value in e["slice"].items() if isinstance(value, str)}
                if own["window"] == "latest":
                    own["window"] = str(last)
                self._say(own, e["n_rows"], e["n_events"])
        self._counted = [
            {"window": "baseline"} | {k: v for k, v in row["slice"].items() if isinstance(v, str)}
            for row in drift["charts_state"]
            if row["type"] == "performance" and row["baseline"] is not None
        ]
        self._counted += [
            {"window": row["window"]} | {k: v for k, v in row["slice"].items() if isinstance(v, str)}
            for row in drift["charts_state"]
            if row["type"] == "performance"
            and (row["value"] is not None or re.search(r"\d+ (rows|ev)", row["reason"] or ""))
        ]
        self._counted += [{"window": row["window"]} for row in tables.get("kinds", ()) if row.get("now") is not None]

    def _of_level(self, key: str, value: str) -> np.ndarray | None:
        if key == "window" and value == "baseline":
            return np.any([self._member["window", name] for name in self._first], axis=0)
        return super()._of_level(key, value)

    def _say(self, keys: Mapping[str, str], rows: float | None, events: float | None) -> None:
        inside = self._rows(keys)
        assert inside is not None, keys
        for what, value in (("rows", rows), ("events", events)):
            if value is not None:
                self._equal(inside, what, value)

    def count(self, truth: np.ndarray) -> None:
        """What a fraction gives away, from the true cells."""
        for keys in self._counted:
            inside = self._rows(keys)
            if inside is not None:
                self._equal(inside, "rows", float(truth[:, inside].sum()))
                self._equal(inside, "events", float(truth[1, inside].sum()))

    def cells(self, table: Mapping[str, Any], names: Sequence[str], died: np.ndarray) -> np.ndarray:
        """The true counts of the cells, without and with the event."""
        place = {cell: i for i, cell in enumerate(self._cells)}
        found = np.zeros((2, len(place)))
        for i, row in enumerate(zip(*(map(str, table[name]) for name in names), strict=True)):
            found[int(died[i]), place[row]] += 1
        return found

    def range(self, keys: Mapping[str, str], what: str) -> tuple[float, float]:
        inside = self._rows(keys)
        assert inside is not None
        ends = []
        for sign in (1, -1):
            goal = sign * self._vector(inside, what)
            found = linprog(goal, A_eq=np.array(self._left), b_eq=self._right, bounds=(0, None), method="highs")
            assert found.status == 0, found.message
            ends.append(round(sign * found.fun, 6))
        return ends[0], ends[1]


def _table(months: Sequence[int], seed: int = 3) -> dict[str, Any]:
    """Rows by month of 2024, as many in each as is said."""
    rng = np.random.default_rng(seed)
    month = np.repeat(np.arange(len(months)), months)
    risk = np.round(rng.beta(1.2, 3, month.size), 5)
    died = (rng.random(month.size) < risk).astype(int)
    day = 1 + np.arange(month.size) % 27
    when = np.array([f"2024-{m + 1:02d}-{d:02d}" for m, d in zip(month, day, strict=True)], dtype=object)
    sex = np.where(rng.random(month.size) < 0.5, "F", "M").astype(object)
    return {"died": died, "p": risk, "when": when, "window": np.array([w[:7] for w in when], dtype=object), "sex": sex}


def _study(table: Mapping[str, Any], groups: Sequence[Any] = (), *, before: int = 4, **more: Any) -> Report:
    lens = {"window": "month", "baseline": before, **more.pop("drift", {})}
    content = {
        "name": "windows",
        "task": "risk",
        "columns": {"outcome": "died", "risk": "p", "time": "when", "groups": list(groups), **more.pop("columns", {})},
        "lenses": {"internal": {}, **({"subgroups": {}} if groups else {}), "drift": lens},
        "thresholds": [0.3],
        "bootstrap": {"replicates": 200},
        **more,
    }
    own = {name: column for name, column in table.items() if name != "window"}
    return workup.validate(workup.Study.of(content), table=own)


def _honest(table: Mapping[str, Any], report: Report, groups: Sequence[str], before: int = 4) -> None:
    names = ["window", *groups]
    died = np.asarray(table["died"])
    reader = WindowReader(report, {name: list(table[name]) for name in names}, before)
    reader.count(reader.cells(table, names, died))
    window = np.asarray(table["window"], dtype=object)
    first = set(sorted(set(window.tolist()))[:before])
    period = np.array(["baseline" if one in first else one for one in window], dtype=object)
    small: list[tuple[dict[str, str], np.ndarray]] = [({"window": one}, window == one) for one in set(window.tolist())]
    for name in groups:
        values = np.asarray(table[name], dtype=object)
        for level in set(values.tolist()):
            small += [
                ({"window": one, name: level}, (period == one) & (values == level)) for one in set(period.tolist())
            ]
    for keys, rows in small:
        if 0 < rows.sum() < 5:
            low, high = reader.range(keys, "rows")
            assert low <= rows.sum() <= high and high - low >= 4, (keys, low, high)
            low, high = reader.range(keys, "events")
            assert low <= died[rows].sum() <= high and high - low >= 1, (keys, low, high)


EVEN = [200, 200, 200, 200, 200, 200, 200, 200, 397, 3, 200, 200]


def test_the_window_that_keeps_a_small_one_company_is_told_nowhere() -> None:
    table = _table(EVEN)
    report = _study(table)
    _honest(table, report, [])
    drift = json.loads(report.to_json())["results"]["drift"]
    hidden = {row["window"]: row for row in drift["tables"]["windows"] if row["rows"] is None}
    assert "2024-10" in hidden and len(hidden) > 1
    assert len({(row["status"], row["reason"]) for row in hidden.values()}) == 1, "which of them is small is not said"
    for name, rows in drift["tables"].items():
        if name != "windows" and isinstance(rows, list):
            named = {row.get("window", (row.get("slice") or {}).get("window")) for row in rows}
            assert not named & set(hidden), name
    for row in drift["charts_state"]:
        if row["window"] in hidden:
            figures = {row[key] for key in ("value", "se", "z", "statistic", "lower", "upper")}
            assert figures == {None}


@pytest.mark.parametrize("form", ["md", "text"])
def test_no_page_says_more_of_such_a_window(form: str) -> None:
    report = _study(_table(EVEN))
    hidden = [row["window"] for row in report.results["drift"].tables["windows"] if row["rows"] is None]
    for line in str(render(report, form)).splitlines():
        if any(re.search(rf"\b{name}\b(?!-)", line) for name in hidden):
            said = re.sub(r"2024-\d\d(-\d\d)?|2025-01-01|\d+ of \d+ watched|95 %|fewer than 5", "", line)
            assert not re.search(r"\d", said), line


@pytest.mark.parametrize("where", [1, 9])
def test_a_chart_that_remembers_holds_nothing_of_a_withheld_window(where: int) -> None:
    """An EWMA after a window less the one before it is the window itself."""
    months = [60] * 12
    months[where] = 3
    table = _table(months)
    report = _study(table, drift={"minimum": LOW, "charts": ["ewma", "cusum"]})
    hidden = {row["window"] for row in report.results["drift"].tables["windows"] if row["rows"] is None}
    states = [row for row in report.results["drift"].charts_state if row["chart"] == "ewma"]
    seen: dict[str, list[tuple[bool, float]]] = {}
    for row in states:
        seen.setdefault(f"{row['metric']} {row['slice']}", []).append((row["window"] in hidden, row["statistic"]))
    assert hidden and all(len(values) == 12 - 4 for values in seen.values())
    for e in report.results["drift"].alerts:
        assert not {e["window"], e["last_window"], e["worst_window"]} & hidden
    _honest(table, report, [])


def test_a_group_made_of_whole_windows_does_not_give_one_away() -> None:
    table = _table(EVEN)
    table["quarter"] = np.array([f"Q{(int(one[5:]) + 2) // 3}" for one in table["window"]], dtype=object)
    _honest(table, _study(table, ["quarter"]), ["quarter"])


def test_nor_does_a_level_of_rows_without_a_time() -> None:
    table = _table([200] * 12)
    table["when"][[5, 905, 1500]] = None
    report = _study(table)
    windows = report.results["drift"].tables["windows"]
    told = [row["rows"] for row in windows if row["rows"] is not None]
    assert 2400 - sum(told) >= 3 + 100 and not any("3 rows" in note for note in report.results["drift"].notes)


@pytest.mark.parametrize("minimum", [{}, {"minimum": LOW}])
def test_a_group_of_three_within_a_told_window(minimum: dict[str, Any]) -> None:
    table = _table([200] * 12)
    for month, few in ((0, 20), (1, 20), (2, 20), (3, 20), (6, 30), (7, 25), (9, 3)):
        table["sex"][month * 200 + 3 * np.arange(few)] = "X"
    _honest(table, _study(table, ["sex"], drift=minimum), ["sex"])


def test_a_group_of_three_within_the_baseline() -> None:
    table = _table([200] * 12)
    for month, few in ((1, 3), (6, 30), (7, 25), (11, 2)):
        table["sex"][month * 200 + 3 * np.arange(few)] = "X"
    report = _study(table, ["sex"])
    _honest(table, report, ["sex"])
    withheld = {
        e.slice["sex"]
        for e in report.results["drift"].estimates
        if e.slice.get("window") == "baseline" and e.status == "withheld"
    }
    assert len(withheld) > 1
    for row in json.loads(report.to_json())["results"]["drift"]["charts_state"]:
        if row["slice"].get("sex") in withheld:
            assert row["baseline"] is None


def test_two_groupings_of_the_same_people_within_a_window() -> None:
    table = _table([200] * 12)
    for month, few in ((0, 40), (2, 40), (6, 30), (7, 25), (9, 3)):
        table["sex"][month * 200 + 3 * np.arange(few)] = "X"
    table["male"] = np.where(table["sex"] == "M", "yes", "no").astype(object)
    _honest(table, _study(table, ["sex", "male"], drift={"minimum": LOW}), ["sex", "male"])


@pytest.mark.parametrize("seed", range(6))
def test_random_windows_and_groups_give_nothing_away(seed: int) -> None:
    rng = np.random.default_rng(50 + seed)
    months = rng.integers(40, 90, 10)
    months[rng.integers(0, 10, 2)] = rng.integers(1, 5, 2)
    months[0] = 80
    table = _table(months.tolist(), seed)
    table["sex"] = rng.choice(np.array(["F", "M", "X"], dtype=object), len(table["died"]), p=[0.5, 0.42, 0.08])
    table["half"] = np.array(["H1" if one < "2024-06" else "H2" for one in table["window"]], dtype=object)
    report = _study(table, ["sex", "half"], drift={"minimum": LOW})
    _honest(table, report, ["sex", "half"])


def test_an_input_that_is_a_group_too_is_not_compared_where_its_levels_are_withheld() -> None:
    table = _table([200] * 12)
    for month, few in ((0, 40), (2, 40), (6, 30), (9, 3)):
        table["sex"][month * 200 + 3 * np.arange(few)] = "X"
    report = _study(table, ["sex"], columns={"inputs": ["sex"]})
    for name in ("inputs", "standardised_differences"):
        for row in report.results["drift"].tables[name]:
            window = row.get("window", (row.get("slice") or {}).get("window"))
            assert not (row["input"] == "sex" and window == "2024-10"), name


def test_figures_of_windows_without_few_are_as_they_were() -> None:
    table = _table([200] * 12)
    told = json.loads(_study(table, ["sex"]).to_json())["results"]["drift"]
    all_of_it = json.loads(_study(table, ["sex"], smallest_cell=1).to_json())["results"]["drift"]
    assert told == all_of_it
