"""Episodes tell of alarms, stays, events and risks, each of other rows of the same people: the numbers beside them, one
subtracted from another, would be those who wait, were never judged, or left between two landmarks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.shell import call
from tests.support.wards import content, ward
from workup.corpora.generate.episodes.generator import generate
from workup.packs.pack import make_pack
from workup.report import Report
from workup.study import Study
from workup.validate import validate

K = 5
GROUPS = ("sex", "site", "window", "landmark", "since_start", "ward")
LENSES: dict[str, Any] = {"internal": {}, "subgroups": {}, "sites": {}, "drift": {"window": "month"}}


def _ward(lost: Mapping[str, int], *, patients: int = 240) -> tuple[dict[str, Any], dict[str, Any]]:
    """Stays of women and men at two sites; of each sex so many were lost, so that their outcome is not known."""
    predictions, events = ward(lambda until, rng: rng.uniform(0.05, 0.9, len(until)), patients=patients)
    number = np.array([int(name[1:]) for name in predictions["patient"]])
    predictions["sex"] = np.where(number % 2, "M", "F").astype(object)
    predictions["site"] = np.where(number % 4 < 2, "North", "South").astype(object)
    whose = np.array([int(name[1:]) for name in events["patient"]])
    # A patient of number 3n has the event, after which an outcome is known; that of others is not where they are lost.
    free = [one for one in range(patients) if one % 3]
    left = {one for sex, n in lost.items() for one in [o for o in free if "FM"[o % 2] == sex][:n]}
    gone = np.isin(whose, sorted(left)) & (events["type"] == "discharge")
    events["type"] = np.where(gone, "transfer", events["type"])
    return predictions, events


def _report(tables: Any, **changes: Any) -> Report:
    said = {
        "name": "kinds",
        "task": "episodes",
        "columns": {"site": "site", "groups": ["sex"]},
        "events": {"target": ["sepsis"], "start": ["admit"], "end": ["discharge"], "lost": ["transfer"]},
        "episodes": {"horizon": "12h", "gap": "1h", "refractory": "8h"},
        "thresholds": [0.5],
        "lenses": LENSES,
        "bootstrap": {"replicates": 50},
    }
    return validate(Study.of({**said, **changes}), table=tables)


def _numbers(part: Any) -> Iterator[tuple[str, str, int]]:
    """Every number of people or rows that a record tells, with the part of a grouping that it is of."""
    if isinstance(part, Mapping):
        keys = {**(part.get("slice") or {}), **{name: part[name] for name in ("site", "window") if name in part}}
        if "by" in part and "level" in part:
            keys = {str(part["by"]): part["level"]}
        own = {name: value for name, value in keys.items() if name in GROUPS}
        for name, measure in (("n_patients", "people"), ("patients", "people"), ("n_rows", "rows")):
            if own and isinstance(part.get(name), int) and part[name]:
                yield json.dumps(own, sort_keys=True, default=str), measure, part[name]
        for one in part.values():
            yield from _numbers(one)
    elif isinstance(part, (list, tuple)):
        for one in part:
            yield from _numbers(one)


def _few(record: Any, *measures: str) -> list[tuple[str, list[int]]]:
    """Parts of which two numbers differ by few."""
    told: dict[tuple[str, str], set[int]] = {}
    for where, measure, n in _numbers(record):
        told.setdefault((where, measure), set()).add(n)
    found = []
    for (where, measure), sizes in told.items():
        ordered = sorted(sizes)
        near = [b - a for a, b in pairwise(ordered) if 0 < b - a < K]
        if measure in measures and near:
            found.append((where, ordered))
    return found


def _record(report: Report) -> Any:
    return json.loads(report.to_json())


@pytest.fixture(scope="module", name="tables")
def _tables() -> Any:
    return _ward({"F": 3, "M": 20})


def test_few_who_wait_are_told_by_no_group_site_or_window(tables: Any) -> None:
    record = _record(_report(tables))
    assert not _few(record, "people")
    assert not _few([record["results"]["subgroups"], record["results"]["sites"]], "rows")
    assert _few(_record(_report(tables, smallest_cell=1)), "people")  # the attack finds them where nothing is withheld


def test_figures_of_alarms_stay_and_those_of_risks_give_way(tables: Any) -> None:
    report = _report(tables, gates=["auroc{sex=F}.low >= 0.01", "alarm_rate{sex=F}.low >= 0.01"])
    assert report.estimate("alarm_rate", threshold=0.5, sex="F").status == "ok"
    assert report.estimate("auroc", sex="F").status == "withheld"
    assert [verdict.outcome for verdict in report.verdicts] == ["not_assessed", "pass"]
    held = report.results["internal"].tables["kind_holdings"]
    assert "sex" in held["watch"]["groups"] and "sex" not in held["case"]["groups"]


def test_many_or_none_who_wait_cost_nothing() -> None:
    for waiting in ({"F": 12, "M": 20}, {}):
        report = _report(_ward(waiting), lenses={"internal": {}, "subgroups": {}})
        assert all(report.estimate("auroc", sex=sex).status == "ok" for sex in "FM")


def test_levels_with_enough_company_are_told_as_one() -> None:
    tables = _ward({"F": 3, "M": 20})
    number = np.array([int(name[1:]) for name in tables[0]["patient"]])
    tables[0]["sex"] = np.where(number % 2, np.where(number % 8 == 3, "M3", np.where(number % 8 == 5, "M5", "M")), "F")
    report = _report(tables, lenses={"internal": {}, "subgroups": {}})
    assert not _few(_record(report), "people")


def test_few_who_left_between_two_landmarks_are_told_nowhere() -> None:
    predictions, events = _ward({})
    early = {f"p{one}" for one in (1, 2, 4)}  # three leave within ten hours
    number = (predictions["time"] - np.datetime64("2024-01-01", "us")) / np.timedelta64(1, "h")
    start = {name: min(number[predictions["patient"] == name]) for name in early}
    kept = np.array(
        [name not in early or number[i] < start[name] + 10 for i, name in enumerate(predictions["patient"])]
    )
    predictions = {name: column[kept] for name, column in predictions.items()}
    for i, (name, kind) in enumerate(zip(events["patient"], events["type"], strict=True)):
        if name in early and kind == "discharge":
            moment = np.datetime64("2024-01-01", "us") + np.timedelta64(int((start[name] + 10) * 60), "m")
            events["time"][i] = moment
    part = {"horizon": "12h", "gap": "1h", "unit": "landmark", "landmarks": ["1h", "12h", "20h"]}
    for lenses in ({"internal": {}}, {"internal": {}, "subgroups": {"by": ["landmark", "since_start"]}}):
        record = _record(_report((predictions, events), episodes=part, lenses=lenses))
        sizes: dict[str, set[int]] = {}
        for where, measure, n in _numbers(record):
            keys = json.loads(where)
            if measure == "people" and set(keys) <= {"landmark", "since_start"}:
                sizes.setdefault(next(iter(keys)), set()).add(n)
        for told in sizes.values():
            ordered = sorted(told)
            assert not [b - a for a, b in pairwise(ordered) if 0 < b - a < K]


def test_single_stays_are_drawn_only_where_all_is_told(tables: Any) -> None:
    lenses = {"internal": {}}
    assert "timeline" not in _report(tables, lenses=lenses).results["internal"].tables
    assert "timeline" in _report(tables, lenses=lenses, smallest_cell=1).results["internal"].tables


def test_packs_tell_no_two_kinds_that_few_set_apart(tables: Any) -> None:
    report = _report(tables, lenses={"internal": {}, "subgroups": {}})
    pack = make_pack(report, site="North", k=11)
    told: dict[str, set[int]] = {}
    for row in pack["estimates"]:
        if row["status"] != "withheld":
            keys = {name: value for name, value in row["slice"].items() if name in GROUPS}
            told.setdefault(json.dumps(keys), set()).add(row["n_patients"])
    for sizes in told.values():
        ordered = sorted(sizes)
        assert not [b - a for a, b in pairwise(ordered) if 0 < b - a < 11]
    assert any(row["metric"] == "alarm_rate" and row["status"] != "withheld" for row in pack["estimates"])


def test_a_pack_is_made_of_a_record_with_every_lens(tmp_path: Path) -> None:
    """A record sorts its lenses, so that what the data hold stands in the first no longer."""
    generated = {"generate": {"kind": "episodes", "count": 120, "seed": 3}}
    said = content(corpus=generated, lenses=LENSES, thresholds=[0.1], bootstrap={"replicates": 50})
    (tmp_path / "study.yaml").write_text(json.dumps(said))
    assert call("run", tmp_path / "study.yaml", "--out", tmp_path / "run").code == 0
    done = call("site-pack", tmp_path / "run", "--site", "S01", "-o", tmp_path / "pack.json")
    assert done.code == 0, done.err
    pack = json.loads((tmp_path / "pack.json").read_text())
    assert any(row["status"] != "withheld" for row in pack["estimates"]) and "groups" in pack["holdings"]


def test_planted_stays_of_several_wards_and_sites() -> None:
    tables = generate(200, seed=3)
    said = content(corpus={}, thresholds=[0.1], lenses=LENSES, bootstrap={"replicates": 50})
    record = _record(validate(Study.of(said), table=(dict(tables.predictions), dict(tables.events))))
    # Who is watched in a month or on a ward is not who came then or there, so that only these are parts of each other.
    assert not [found for found in _few(record, "people") if set(json.loads(found[0])) <= {"sex", "site"}]


def test_alarms_of_a_month_of_few_do_not_follow_from_windows_of_other_lengths() -> None:
    """The alerts of a quarter less those of its other months would be those of two patients."""
    predictions, events = _ward({})
    late = {"p1", "p2"}
    for table in (predictions, events):
        moved = np.isin(table["patient"].astype(str), sorted(late))
        table["time"] = np.where(moved, table["time"] + np.timedelta64(24 * 150, "h"), table["time"])
    lenses = {"internal": {}, "drift": {"window": "quarter", "baseline": "2024-03-01"}}
    for k, told in ((K, False), (1, True)):
        rows = _report((predictions, events), lenses=lenses, smallest_cell=k).results["internal"].tables["alarms_by"]
        assert ("month" in {row["by"] for row in rows}) == told


def test_sites_that_are_all_withheld_are_said_to_be() -> None:
    tables = generate(60, seed=3)
    said = content(corpus={}, thresholds=[0.1], bootstrap={"replicates": 50})
    said["lenses"] = {"internal": {}, "sites": {}, "drift": {"window": "month"}}
    report = validate(Study.of(said), table=(dict(tables.predictions), dict(tables.events)))
    assert any("The sites lens tells nothing here" in note for note in report.results["sites"].notes)
