"""Two thresholds that few patients of a group lie between, or a threshold beside the edge of a band of risks: what is
told at both, one subtracted from the other, would be those few and what became of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import workup
from workup import plugins
from workup.cli.report import render
from workup.compare import paired_runs
from workup.preflight import checked
from workup.report import Report
from workup.scores import Scores
from workup.tasks.risk.episodes.task import _told_groups
from workup.validate import scored

K = 5
NEAR, FAR = [0.3, 0.31], [0.2, 0.5]


def _table(n: int = 1200, *, between: int = 3) -> dict[str, Any]:
    """Of women `between` patients lie between 0.30 and 0.31, all with the event; of men forty, some with it."""
    rng = np.random.default_rng(7)
    risk = np.round(np.clip(rng.beta(1.3, 3, n), 0.02, 0.95), 5)
    risk[(risk >= 0.3) & (risk < 0.31)] += 0.02
    sex = np.where(np.arange(n) % 2, "M", "F").astype(object)
    outcome = (rng.random(n) < risk).astype(int)
    women, men = np.flatnonzero(sex == "F")[:between], np.flatnonzero(sex == "M")[:40]
    risk[women], outcome[women] = 0.305, 1
    risk[men] = 0.307
    days = np.datetime64("2024-01-01") + rng.integers(0, 365, n).astype("timedelta64[D]")
    return {
        "died": outcome,
        "p": risk,
        "sex": sex,
        "age": np.where(rng.random(n) < 0.5, "old", "young").astype(object),
        "place": np.array(["A", "B", "C"], dtype=object)[np.arange(n) // 2 % 3],
        "when": days.astype("datetime64[s]").astype(str).astype(object),
    }


def _study(thresholds: list[float], lenses: Mapping[str, Any], groups: list[Any] | None = None, **more: Any) -> Any:
    return workup.Study.of(
        {
            "name": "near",
            "task": "risk",
            "columns": {"outcome": "died", "risk": "p", "site": "place", "time": "when", "groups": groups or ["sex"]},
            "lenses": lenses,
            "thresholds": thresholds,
            "bootstrap": {"replicates": 50},
            **more,
        }
    )


def _report(*args: Any, table: dict[str, Any] | None = None, **more: Any) -> Report:
    return workup.validate(_study(*args, **more), table=_table() if table is None else table)


def _flagged(report: Report, lens: str) -> dict[tuple[Any, ...], dict[float, float]]:
    """How many are flagged at each threshold, by all other keys of the slice."""
    found: dict[tuple[Any, ...], dict[float, float]] = {}
    for e in report.estimates("alert_rate", lens=lens):
        if e.numerator is not None and "pooled" not in e.slice:
            keys = tuple(sorted((name, str(value)) for name, value in e.slice.items() if name != "threshold"))
            found.setdefault(keys, {})[e.slice["threshold"]] = e.numerator
    return found


def _few_between(flagged: Mapping[float, float]) -> list[float]:
    values = sorted(flagged.values())
    return [b - a for a, b in pairwise(values) if 0 < b - a < K]


def _numbers_at(report: Report, lens: str, threshold: float, column: str) -> list[Any]:
    """Every row of a lens's result that holds a figure at a threshold of a grouping."""
    held = json.loads(json.dumps(report.results[lens].as_dict(), default=str))
    found = []

    def walk(part: Any) -> None:
        if isinstance(part, dict):
            keys = {**(part.get("slice") or {}), **(part.get("at") or {})}
            about = column in (*keys, part.get("column"), keys.get("column"))
            figures = [part.get(name) for name in ("value", "p", "statistic", "n_rows", "smallest_difference")]
            if keys.get("threshold") == threshold and about and any(figures):
                found.append(part)
            for one in part.values():
                walk(one)
        elif isinstance(part, list):
            for one in part:
                walk(one)

    walk(held)
    return found


def test_the_few_of_a_group_between_two_thresholds_are_told_nowhere() -> None:
    report = _report(NEAR, {"internal": {}, "subgroups": {"margin": 0.05}, "power": {}})
    groups = _flagged(report, "subgroups")
    assert {keys: list(at) for keys, at in groups.items()} == {(("sex", level),): [0.3] for level in "FM"}
    assert not _numbers_at(report, "subgroups", 0.31, "sex")
    assert not _numbers_at(report, "power", 0.31, "sex")
    rows = report.results["internal"].tables["threshold_sweep"]["rows"]
    assert {row["threshold"] for row in rows if row["slice"]} & {0.3, 0.31} == {0.3}
    assert len(_flagged(report, "internal")[()]) == 2  # of everyone both are told: no group can be subtracted from them
    text = str(render(report, "text"))
    assert "At threshold 0.31 nothing is told by sex" in " ".join(text.split())
    assert len(_flagged(_report(NEAR, {"subgroups": {}}, smallest_cell=1), "subgroups")[(("sex", "F"),)]) == 2


def test_a_gate_on_what_is_withheld_is_never_passed() -> None:
    gates = ["sensitivity{sex=F,threshold=0.31}.value >= 0.01", "sensitivity{sex=F,threshold=0.3}.value >= 0.01"]
    report = _report(NEAR, {"subgroups": {}}, gates=gates)
    assert [verdict.outcome for verdict in report.verdicts] == ["not_assessed", "pass"]


def test_the_first_threshold_that_a_study_names_is_the_one_that_is_told() -> None:
    report = _report([0.31, 0.3], {"subgroups": {}})
    assert list(_flagged(report, "subgroups")[(("sex", "F"),)]) == [0.31]


def test_thresholds_with_nobody_or_many_between_are_all_told() -> None:
    for thresholds, table in ((FAR, _table()), (NEAR, _table(between=0)), (NEAR, _table(between=40))):
        report = _report(thresholds, {"internal": {}, "subgroups": {}}, table=table)
        assert len(_flagged(report, "subgroups")[(("sex", "F"),)]) == 2
        assert not any("nothing is told" in note for note in report.results["subgroups"].notes)


def test_nor_in_a_crossing_or_between_columns_that_contain_each_other() -> None:
    table = _table(between=40)
    few = np.flatnonzero((table["p"] == 0.305) & (table["age"] == "old"))
    table["p"][few[3:]] = 0.4  # three old women are left between
    crossed = _report(NEAR, {"subgroups": {"intersections": [["sex", "age"]]}}, groups=["sex", "age"], table=table)
    told = _flagged(crossed, "subgroups")
    assert not any(_few_between(at) for at in told.values())
    assert all(len(at) == 1 for keys, at in told.items() if keys[0][0] == "sex × age")
    # All women less all women who are young would be the old ones.
    table["who"] = np.where((table["sex"] == "F") & (table["age"] == "young"), "young woman", "else").astype(object)
    nested = _flagged(_report(NEAR, {"subgroups": {}}, groups=["sex", "who"], table=table), "subgroups")
    woman, young = nested[(("sex", "F"),)], nested[(("who", "young woman"),)]
    between = [at[0.3] - at[0.31] for at in (woman, young) if len(at) == 2]
    assert len(between) < 2 or between[0] - between[1] >= K


def test_nor_at_a_site_or_in_a_group_of_a_site() -> None:
    table = _table(between=40)
    at_a = np.flatnonzero((table["p"] > 0.3) & (table["p"] < 0.31) & (table["place"] == "A"))
    table["p"][at_a[2:]] = 0.4
    report = _report(NEAR, {"sites": {"by": ["sex"]}}, table=table)
    told = _flagged(report, "sites")
    assert told and not any(_few_between(at) for at in told.values())
    assert not any(row["slice"].get("threshold") == 0.31 for row in report.results["sites"].pooled)
    assert not _numbers_at(report, "sites", 0.31, "site")


def test_nor_in_a_window() -> None:
    report = _report(
        [0.3, 0.32, 0.6], {"drift": {"window": "month", "metrics": ["alert_rate"]}}, table=_table(between=20)
    )
    told = _flagged(report, "drift")
    assert told and not any(_few_between(at) for at in told.values())
    result = report.results["drift"]
    hidden = {at for keys in told for at in (0.3, 0.32, 0.6) if at not in told[keys]}
    assert hidden
    for row in (*result.charts_state, *result.alerts, *result.tables["forecast"], *result.tables["without_labels"]):
        keys = tuple(sorted((name, str(v)) for name, v in row["slice"].items() if name != "threshold"))
        own = told.get((*keys, ("window", "baseline")), told[(("window", "baseline"),)])
        assert row["slice"].get("threshold") in (None, *own)


def test_nor_by_a_comparison_of_two_systems() -> None:
    study, table = _study(NEAR, {"subgroups": {}}), _table()
    other = {**table, "p": np.clip(table["p"] + 0.001, 0, 1)}
    runs = [scored(study, checked(study, table=one)) for one in (table, other)]
    rows = paired_runs(*runs).rows
    assert {row["slice"]["threshold"] for row in rows if "sex" in row["slice"] and "threshold" in row["slice"]} == {0.3}
    assert {row["slice"]["threshold"] for row in rows if "sex" not in row["slice"] and "threshold" in row["slice"]} == {
        0.3,
        0.31,
    }


@pytest.mark.parametrize("made", ["cuts", "column"])
def test_a_threshold_beside_the_edge_of_a_band_is_not_told_by_band(made: str) -> None:
    table = _table(between=3)
    table["p"][table["p"] == 0.307] = 0.35
    table["band"] = np.where(table["p"] < 0.31, "low", "high").astype(object)
    group = "band" if made == "column" else {"column": "p", "cuts": [0.31], "name": "band"}
    report = _report([0.3], {"internal": {}, "subgroups": {}}, groups=[group], table=table)
    assert not _flagged(report, "subgroups")
    assert all(e.value is not None for e in report.estimates("auroc", lens="subgroups"))  # the bands are told
    rows = report.results["internal"].tables["threshold_sweep"]["rows"]
    assert not any(row["slice"] and row["threshold"] == 0.3 for row in rows)


def test_few_rows_do_not_hide_that_a_band_is_cut_from_the_risk() -> None:
    """With two bands of a small table, chance alone could leave the holes by which columns are known to be tied."""
    study = {
        "name": "few",
        "task": "risk",
        "corpus": {"generate": {"kind": "cohort", "count": 400}},
        "seed": 1,
        "columns": {"outcome": "outcome", "risk": "risk", "groups": [{"column": "risk", "cuts": [0.30255]}]},
        "lenses": {"internal": {}, "subgroups": {}},
        "thresholds": [0.3003],
        "bootstrap": {"replicates": 50},
    }
    report = workup.validate(workup.Study.of(study))
    assert not any(e.n_patients for e in report.estimates("auroc", lens="subgroups"))


def test_a_single_threshold_is_told_and_the_sweep_keeps_away_from_it() -> None:
    """The sweep tells of groups at a grid of its own, and what a study names between two of its steps must not be set
    apart from one of them by few."""
    report = _report([0.31], {"internal": {}, "subgroups": {}})
    assert list(_flagged(report, "subgroups")[(("sex", "F"),)]) == [0.31]
    rows = report.results["internal"].tables["threshold_sweep"]["rows"]
    assert 0.31 in {row["threshold"] for row in rows if row["slice"]}
    assert 0.3 not in {row["threshold"] for row in rows if row["slice"]}
    assert 0.3 in {row["threshold"] for row in rows if not row["slice"]}


def test_nor_in_the_sweep_of_thresholds_by_group() -> None:
    """Two steps of the grid are thresholds like any other: at 0.95 and 0.99 the few with the highest risks part."""
    report = _report([], {"internal": {}}, groups=["sex", "age"])
    rows = report.results["internal"].tables["threshold_sweep"]["rows"]
    everyone = [row["threshold"] for row in rows if not row["slice"]]
    for column in ("sex", "age"):
        for level in {row["slice"][column] for row in rows if column in row["slice"]}:
            flagged = [row["ppv"]["n"] for row in rows if row["slice"] == {column: level}]
            assert 2 < len(flagged) < len(everyone)
            assert not any(0 < more - fewer < K for more, fewer in pairwise(flagged))


def test_nor_by_horizon() -> None:
    """Of women three lie between the thresholds by one year; by three years the same risks, a little higher."""
    table = _table()
    rng = np.random.default_rng(3)
    n = len(table["p"])
    years = {"followup": rng.uniform(0.5, 4, n) * 365.25, "status": table["died"]}
    one, three = table["p"], np.round(np.minimum(table["p"] * 1.5, 0.99), 5)
    study = workup.Study.of(
        {
            "name": "near",
            "task": "horizon",
            "columns": {
                "followup": "followup",
                "status": "status",
                "risk": {"365d": "one", "1096d": "three"},
                "groups": ["sex"],
            },
            "lenses": {"internal": {}, "subgroups": {}},
            "thresholds": NEAR,
            "bootstrap": {"replicates": 50},
        }
    )
    report = workup.validate(study, table={**years, "one": one, "three": three, "sex": table["sex"]})
    told = {
        (e.slice["horizon"], e.slice["threshold"])
        for e in report.estimates("sensitivity", lens="subgroups")
        if e.status != "withheld"
    }
    assert ("365d", 0.3) in told and ("365d", 0.31) not in told
    everyone = {(e.slice["horizon"], e.slice["threshold"]) for e in report.estimates("sensitivity", lens="internal")}
    assert len(everyone) == 4


def test_nor_in_episodes(tmp_path: Any) -> None:
    """Alerts, events and stays at two thresholds a hair apart: few of a group would be flagged at one of them alone."""
    made = plugins.find("generators", "episodes")(150, seed=1)
    made.write(tmp_path / "scores.csv")
    content = {
        "name": "near",
        "task": "episodes",
        "corpus": {"predictions": "scores.csv", "events": "events.csv"},
        "columns": {"patient": "patient", "encounter": "encounter", "time": "time", "risk": "risk", "groups": ["sex"]},
        "events": {
            "target": ["sepsis"],
            "start": ["admit"],
            "end": ["discharge"],
            "death": ["death"],
            "lost": ["transfer"],
        },
        "episodes": {"horizon": "24h"},
        "lenses": {"internal": {}, "subgroups": {}},
        "thresholds": [0.1, 0.1005],
        "bootstrap": {"replicates": 50},
    }
    (tmp_path / "study.yaml").write_text(json.dumps(content))
    report = workup.validate(workup.Study.load(tmp_path / "study.yaml"))
    by_sex = [e for e in report.estimates(lens="subgroups") if "sex" in e.slice and "threshold" in e.slice]
    assert {e.slice["threshold"] for e in by_sex if e.status != "withheld"} == {0.1}
    assert not _numbers_at(report, "subgroups", 0.1005, "sex")


def test_a_group_of_few_cases_has_no_curves_of_its_own() -> None:
    sex = ["F"] * 60 + ["M"] * 40 + ["X"] * 3
    outcome = [0.0, 1.0] * 50 + [1.0, 0.0, 1.0]
    ward = ["A", "B"] * 50 + ["A", "B", "A"]
    shown = _told_groups(Scores.of({"outcome": outcome}, groups={"sex": sex, "ward": ward}), K).groups
    assert list(shown) == ["ward"]
