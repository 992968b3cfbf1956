"""Nothing that a pack withholds can be worked out from what it tells; and the attacker who says so is no straw man."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from tests.support.hospitals import THRESHOLDS, hospital, report_of
from tests.support.pack_attacker import Attacker, Cell, recovered, true_counts
from workup.disclosure.figures import CountedFigures
from workup.packs import make_pack, suppression
from workup.report import Report, digest

PAIRS = [("sex", "unit")]
CROSSED = {"internal": {}, "subgroups": {"intersections": [["sex", "unit"]]}}


@pytest.fixture(scope="module", params=[(250, 4, 1), (600, 2, 2), (900, 3, 1)], ids=str)
def site(request: pytest.FixtureRequest) -> tuple[Report, dict[Any, np.ndarray]]:
    rows, seed, per_patient = request.param
    table = hospital(rows, seed=seed, per_patient=per_patient)
    counts = true_counts(dict(table), ["sex", "unit"], PAIRS, list(THRESHOLDS))
    return report_of(table, lenses=CROSSED), counts


def primary_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suppression, "complementary_slices", lambda cells, few, **_: set(few))
    monkeypatch.setattr(suppression, "complementary_cuts", lambda cells, slices, few, **_: set(few))


@pytest.mark.parametrize("k", [5, 11])
def test_no_small_count_can_be_worked_out(site: tuple[Report, dict[Any, np.ndarray]], k: int) -> None:
    report, truth = site
    made = make_pack(report, site="A", k=k)
    assert recovered(made, truth, k) == []
    assert any(row["status"] == "ok" for row in made["estimates"]), "a pack that tells nothing proves nothing"


def test_withholding_small_counts_alone_does_not_protect_them(monkeypatch: pytest.MonkeyPatch) -> None:
    table = dict(hospital(400, seed=1))
    table["sex"] = np.array([sex or "F" for sex in table["sex"]], dtype=object)
    truth = true_counts(table, ["sex", "unit"], PAIRS, list(THRESHOLDS))
    assert 0 < truth["sex", "X"][1].sum() < 11
    report = report_of(table, lenses=CROSSED)
    assert recovered(make_pack(report, site="A"), truth, 11) == []
    primary_only(monkeypatch)
    found = recovered(make_pack(report, site="A"), truth, 11)
    exact = [cell for cell, low, high in found if low == high]
    assert Cell((("sex", "X"),), (1,), 0, 3) in exact
    assert len(exact) > 5


def test_withholding_one_figure_of_a_table_does_not_protect_its_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """PPV and the alert rate hold all that sensitivity holds."""
    table = hospital(400, seed=1)
    columns = {"outcome": "outcome", "risk": "risk", "patient": "patient"}
    report = report_of(table, lenses={"internal": {}}, columns=columns, thresholds=[0.1])
    truth = true_counts(dict(table), [], [], [0.1])
    missed = truth[()][1, 0]
    assert 0 < missed < 11, "the case needs few missed events"
    only = {"sensitivity": ("events",), "specificity": ("non-events",)}
    assert recovered(make_pack(report, site="A"), truth, 11) == []
    monkeypatch.setattr(
        CountedFigures, "sides_of", lambda _, metric, at: only.get(metric, ()) if "threshold" in at else ()
    )
    found = recovered(make_pack(report, site="A"), truth, 11)
    assert (Cell(((),), (1,), 0, 1), missed, missed) in found


def test_neighbouring_thresholds_do_not_give_away_who_lies_between() -> None:
    table = hospital(500, seed=6)
    risks = np.sort(np.asarray(table["risk"], dtype=float))
    close = [float(np.round(risks[250], 4)), float(np.round(risks[259], 4))]
    truth = true_counts(dict(table), ["sex", "unit"], [], close)
    assert 0 < truth[()][:, 1].sum() < 11
    report = report_of(table, thresholds=close)
    made = make_pack(report, site="A")
    assert recovered(made, truth, 11) == []
    told = {
        row["slice"]["threshold"]
        for row in made["estimates"]
        if row["metric"] == "sensitivity" and set(row["slice"]) == {"threshold"} and row["status"] == "ok"
    }
    assert told == {close[0]}, "the threshold that the study names first is kept"


@pytest.mark.parametrize("comparator", ["overall", "largest", {"sex": "F", "unit": "ward"}])
def test_gaps_give_nothing_away(comparator: Any) -> None:
    table = hospital(400, seed=1)
    truth = true_counts(dict(table), ["sex", "unit"], [], list(THRESHOLDS))
    report = report_of(table, lenses={"internal": {}, "subgroups": {"comparator": comparator}})
    made = make_pack(report, site="A")
    assert recovered(made, truth, 11) == []
    hidden = {tuple(row["slice"].items()) for row in made["withheld"] if row["what"] == "patients and rows"}
    assert (("sex", "X"),) in hidden
    for gap in made["gaps"]:
        group = tuple((key, value) for key, value in gap["slice"].items() if key != "threshold")
        if group in hidden:
            assert gap["status"] == "withheld" and "value" not in gap


def test_the_order_of_rows_does_not_tell_which_group_is_larger() -> None:
    """A report lists groups by size, so that a withheld one between two that are told would be known nearly."""
    report = report_of(hospital(900, seed=3), lenses=CROSSED)
    by_size = [e.slice["unit"] for e in report.estimates("auroc", lens="subgroups") if "unit" in e.slice]
    assert by_size != sorted(by_size)
    made = make_pack(report, site="A")
    for rows in (made["estimates"], made["gaps"], made["withheld"]):
        for column in ("sex", "unit"):
            found = [row["slice"] for row in rows if row["metric"] == "auroc"]
            names = [keys[column] for keys in found if set(keys) == {column}]
            names = list(dict.fromkeys(names))
            assert names == sorted(names)
            assert len(names) > 1 or rows is made["withheld"]
    assert len([row for row in made["withheld"] if row["metric"] == "auroc"]) > 1


@pytest.mark.parametrize("comparator", ["rest", "largest"])
def test_which_of_two_withheld_groups_is_larger_is_not_told(comparator: str) -> None:
    """The smaller of two is compared with the larger, so a single row would say which is which."""
    table = dict(hospital(400, seed=1))
    table["sex"] = np.array(["X" if sex == "X" else "F" for sex in table["sex"]], dtype=object)
    columns = {"outcome": "outcome", "risk": "risk", "groups": ["sex"]}
    lenses = {"internal": {}, "subgroups": {"comparator": comparator}}
    report = report_of(table, columns=columns, lenses=lenses)
    told = {row["slice"]["sex"] for row in report.results["subgroups"].comparisons if "sex" in row["slice"]}
    assert told == {"X"}
    made = make_pack(report, site="A")
    gaps = [row for row in made["gaps"] if row["metric"] == "auroc"]
    assert [row["slice"]["sex"] for row in gaps] == ["F", "X"] and {row["status"] for row in gaps} == {"withheld"}
    assert {row["against"] for row in gaps} == {"rest" if comparator == "rest" else "a level that is withheld"}


def test_what_is_told_is_what_the_report_says_and_small_counts_are_not_told(
    site: tuple[Report, dict[Any, np.ndarray]],
) -> None:
    report, _ = site
    made = make_pack(report, site="A", k=11)
    held = {(e.metric, tuple(sorted(e.slice.items())), e.level): e for e in report.estimates()}
    told = 0
    for row in made["estimates"]:
        if row["status"] != "ok":
            continue
        told += 1
        e = held[row["metric"], tuple(sorted(row["slice"].items())), row["level"]]
        assert row["value"] == pytest.approx(e.value, rel=1e-11) and row["n_patients"] == e.n_patients >= 11
        assert row["n_events"] >= 11 and row["n_rows"] - row["n_events"] >= 11
        if row["metric"] in ("sensitivity", "specificity", "ppv", "npv", "alert_rate", "accuracy"):
            assert min(row["numerator"], row["denominator"] - row["numerator"]) >= 11
    assert told > 10


def test_nothing_is_withheld_at_k_of_0_or_1() -> None:
    report = report_of(hospital(400, seed=1))
    for k in (0, 1):
        made = make_pack(report, site="A", k=k)
        assert made["withheld"] == []
        assert all(row["status"] != "withheld" for row in (*made["estimates"], *made["gaps"]))


def test_a_site_with_few_events_tells_nothing_but_that(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {name: column[:60] for name, column in hospital(400, seed=1).items()}
    outcome = np.zeros(60)
    outcome[:7] = 1
    made = make_pack(report_of({**table, "outcome": outcome}), site="A")
    assert all(row["status"] == "withheld" for row in (*made["estimates"], *made["gaps"]))
    numbers = [value for key, value in made["holdings"].items() if key in ("patients", "rows", "waiting")]
    assert numbers == [None, None, None]
    assert Attacker(made).bounds(Cell(((),), (1,), 0, 3)) == (0, 10**9)


def test_the_order_of_the_report_decides_nothing() -> None:
    report = report_of(hospital(400, seed=1), lenses=CROSSED)
    record = report.as_dict()
    made = make_pack(report, site="A")
    rng = np.random.default_rng(0)
    for result in record["results"].values():
        rng.shuffle(result["estimates"])
    groups = record["results"]["internal"]["tables"]["holdings"]["groups"]
    record["results"]["internal"]["tables"]["holdings"]["groups"] = {
        name: dict(reversed(levels.items())) for name, levels in reversed(groups.items())
    }
    record.pop("sha256")
    shuffled = make_pack(Report.from_dict({**record, "sha256": digest(record)}), site="A")

    def withheld(found: dict[str, Any]) -> list[str]:
        return sorted(json.dumps(row, sort_keys=True) for row in found["withheld"])

    assert withheld(shuffled) == withheld(made)


def test_words_in_a_pack_hold_no_counts() -> None:
    report = report_of(hospital(250, seed=4), lenses=CROSSED)
    assert any(re.search(r"\d+ patients", e.reason or "") for e in report.estimates()), (
        "the report says counts in words"
    )
    made = make_pack(report, site="A")
    said = {row["reason"] for row in (*made["estimates"], *made["gaps"], *made["withheld"]) if row["reason"]}
    assert said
    for words in said:
        assert not re.search(r"\d", words.replace("fewer than 11 people", "")), words
    for row in made["withheld"]:
        assert set(row) == {"metric", "slice", "what", "reason"}


def test_a_missing_level_is_not_told_as_a_missing_input() -> None:
    """Sex is a group and an input: how many have none is the level 'missing', withheld with X."""
    columns = {"outcome": "outcome", "risk": "risk", "patient": "patient", "groups": ["sex"], "inputs": ["sex", "age"]}
    table = dict(hospital(800, seed=9))
    report = report_of(table, columns=columns)
    sizes = report.results["internal"].tables["holdings"]["groups"]["sex"]
    made = make_pack(report, site="A", k=sizes["missing"]["rows"] + 1)
    inputs = {row["input"]: row for row in made["holdings"]["inputs"]}
    assert made["holdings"]["groups"]["sex"]["missing"]["rows"] is None
    assert inputs["sex"]["missing"] is None and inputs["sex"]["share"] is None
    assert inputs["age"]["missing"] == int(np.isnan(table["age"]).sum())


def test_levels_that_are_too_many_to_be_groups_are_not_named() -> None:
    # A column with a level for every patient is refused by the study itself; this one has three patients a level.
    table = {**hospital(400, seed=1), "street": np.array([f"S{i % 130:03d}" for i in range(400)], dtype=object)}
    columns = {"outcome": "outcome", "risk": "risk", "groups": ["sex", "street"]}
    made = make_pack(report_of(table, columns=columns, lenses={"internal": {}}), site="A", k=0)
    assert "S001" not in json.dumps(made)
    assert {"column": "street"} in [row["slice"] for row in made["withheld"]]


def test_a_report_that_withholds_groups_itself_makes_a_pack_too() -> None:
    table = hospital(250, seed=4)
    made = make_pack(report_of(table, smallest_cell=5), site="A", k=11)
    for row in made["estimates"]:
        assert row["status"] == "withheld" or row["n_patients"] >= 11
    sizes = [level["patients"] for levels in made["holdings"]["groups"].values() for level in levels.values()]
    assert all(n is None or n >= 11 for n in sizes)
    told = [row for row in made["estimates"] if row["status"] == "ok" and row["slice"].get("sex")]
    # All but one group of a column would give that one away.
    assert len({row["slice"]["sex"] for row in told}) != len(made["holdings"]["groups"]["sex"]) - 1


def test_weighted_counts_cannot_be_checked_and_are_not_told() -> None:
    table = {**hospital(400, seed=1), "w": np.random.default_rng(1).uniform(0.5, 3, 400)}
    columns = {"outcome": "outcome", "risk": "risk", "weight": "w", "groups": ["unit"]}
    made = make_pack(report_of(table, columns=columns), site="A")
    told = {row["metric"] for row in made["estimates"] if row["status"] == "ok"}
    assert "auroc" in told and not told & {"sensitivity", "ppv", "alert_rate", "net_benefit"}


def test_many_rows_of_few_patients_are_few_patients() -> None:
    table = hospital(400, seed=1, per_patient=20)
    report = report_of(table)
    assert report.estimate("auroc").n_patients == 20
    made = make_pack(report, site="A", k=11)
    assert all(row["status"] == "withheld" for row in made["estimates"] if row["slice"].get("unit") == "ICU")
    for row in made["estimates"]:
        if row["status"] == "ok":
            assert row["n_patients"] >= 11 and row["n_events"] * row["n_patients"] / row["n_rows"] >= 11
