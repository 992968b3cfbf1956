"""Columns that overlap: sex beside male, bands of age beside elderly. An attacker who knows how their levels relate and
has linear and integer programming finds no count under k in a pack, and the site keeps back no more than that takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.hospitals import report_of
from tests.support.overlapping_columns import THRESHOLDS, cohort, report, withheld
from tests.support.pack_attacker import Attacker, combinations_of, ends, recovered, true_counts
from workup.packs import make_pack
from workup.report import Report, canonical, digest


def attacked(
    table: dict[str, Any], groups: list[str], *, k: int = 11, crossed: list[list[str]] | None = None
) -> tuple[dict[str, Any], list[Any]]:
    made = make_pack(report(table, groups, crossed=crossed), site="A", k=k)
    together = combinations_of(table, groups)
    pairs = [(a, b) for a, b in crossed or ()]
    return made, recovered(made, true_counts(table, groups, pairs, THRESHOLDS, together), k, together)


OVERLAPS: dict[str, list[str]] = {
    "sex and male": ["sex", "male"],
    "bands and elderly": ["band", "elderly"],
    "a limit within a band": ["band", "elderly", "retired"],
    "sex three times": ["sex", "male", "woman"],
}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("what", OVERLAPS)
def test_no_small_count_is_worked_out_from_columns_that_overlap(what: str, seed: int) -> None:
    made, found = attacked(cohort(420, seed), OVERLAPS[what])
    assert found == []
    assert any(row["status"] == "ok" for row in made["estimates"] if row["slice"].keys() & set(OVERLAPS[what]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 9))
def test_no_small_count_is_worked_out_in_random_hospitals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = sorted(rng.choice(["sex", "male", "woman", "band", "elderly", "retired", "unit"], 3, replace=False))
    n, k = int(rng.integers(150, 700)), int(rng.choice([5, 11]))
    _, found = attacked(cohort(n, seed, few=float(rng.uniform(0.005, 0.1))), groups, k=k)
    assert found == []


def test_no_small_count_is_worked_out_from_crossings_that_overlap() -> None:
    made, found = attacked(cohort(500, 4), ["sex", "male", "unit"], crossed=[["sex", "unit"], ["male", "unit"]])
    assert found == []
    assert any(row["status"] == "ok" for row in made["estimates"] if "male × unit" in row["slice"])


def test_whole_numbers_help_the_attacker_no_further() -> None:
    table, groups = cohort(420, 1), ["sex", "male", "band", "elderly"]
    together = combinations_of(table, groups)
    truth = true_counts(table, groups, [], THRESHOLDS, together)
    attacker = Attacker(make_pack(report(table, groups), site="A"), together)
    programme = attacker.programme()
    looked = 0
    for cell in attacker.cells():
        value = sum(int(truth[who][list(cell.outcomes), cell.start : cell.stop].sum()) for who in cell.slices)
        if value >= 11 or cell.slices[0] in attacker.atoms or cell.outcomes == (0, 1):
            continue
        vector = attacker.count(cell.slices, cell.outcomes, cell.start, cell.stop)
        low, high = attacker.bounds(cell)
        if high - low < 20:
            looked += 1
            low, high = ends(vector, *programme, whole=True)
            assert low <= value <= high and high - low >= 10
    assert looked


def test_a_column_looked_at_alone_gives_the_small_group_away() -> None:
    """What was done before: each grouping by itself. The two together then give X to whoever takes F from not male."""
    table = cohort(420, 1)
    table["sex"][:6] = "X"
    table["male"] = np.where(table["sex"] == "M", "yes", "no").astype(object)
    record = report(table, ["sex", "male"]).as_dict()
    record["results"]["internal"]["tables"]["holdings"]["overlaps"] = []
    record.pop("sha256")
    blind = make_pack(Report.from_dict({**record, "sha256": digest(record)}), site="A")
    together = combinations_of(table, ["sex", "male"])
    truth = true_counts(table, ["sex", "male"], [], THRESHOLDS, together)
    exact = [cell.slices for cell, low, high in recovered(blind, truth, 11, together) if low == high]
    assert (("sex", "X"),) in exact


def test_only_the_neighbours_that_are_needed_are_withheld() -> None:
    """X is F taken from not male, and everyone less F and M: without F both ways end."""
    table = cohort(900, 3, few=0.005)
    assert 0 < np.count_nonzero(table["sex"] == "X") < 11
    assert withheld(make_pack(report(table, ["sex", "male", "unit"]), site="A")) == ["sex F", "sex X"]
    assert withheld(make_pack(report(table, ["sex", "unit"]), site="A")) == ["sex M", "sex X"]


def test_nothing_is_withheld_where_nothing_is_small() -> None:
    table = cohort(4000, 5, few=0.15)
    groups = ["sex", "male", "woman", "band", "elderly", "unit"]
    made = make_pack(report(table, groups), site="A")
    assert [row["what"] for row in made["withheld"]] == ["waiting rows"]  # there are none, which is fewer than 11
    assert all(row["status"] == "ok" for row in made["estimates"])


def test_which_levels_overlap_stays_at_the_site() -> None:
    table = cohort(420, 1)
    own = report(table, ["sex", "male"])
    assert own.results["internal"].tables["holdings"]["overlaps"]
    made = canonical(make_pack(own, site="A"))
    assert "overlaps" not in made and "missing_as" not in made and "occurs" not in made


def test_a_record_that_does_not_say_what_overlaps_tells_one_grouping() -> None:
    record = report(cohort(900, 3), ["sex", "male", "unit"]).as_dict()
    del record["results"]["internal"]["tables"]["holdings"]["overlaps"]
    record.pop("sha256")
    made = make_pack(Report.from_dict({**record, "sha256": digest(record)}), site="A")
    told = {column for row in made["estimates"] if row["status"] == "ok" for column in row["slice"]}
    assert told - {"threshold"} == {"male"}


def test_what_a_few_people_share_is_not_said_in_the_record() -> None:
    """Someone who alone has a level could be looked up in every other column."""
    table = cohort(420, 1)
    table["sex"][:] = np.where(table["sex"] == "X", "F", table["sex"])
    table["sex"][0] = "X"
    table["unit"][0] = "ICU"
    [block] = report(table, ["sex", "unit", "male"]).results["internal"].tables["holdings"]["overlaps"]
    occurs = np.array(list(block["occurs"])).reshape([len(one) for one in block["levels"]])
    axis = block["columns"].index("sex")
    assert set(np.take(occurs, block["levels"][axis].index("X"), axis=axis).ravel()) == {"1"}


def test_a_missing_input_is_the_level_missing_of_its_bands() -> None:
    """The band is of another name than the input, and its level 'missing' is withheld beside a small one."""
    table = cohort(600, 7)
    age = np.random.default_rng(7).uniform(20, 90, 600)
    age[:30] = np.nan
    table["age"] = age
    table["years"] = np.array(["missing" if np.isnan(a) else "89+" if a > 89.5 else "18-89" for a in age], dtype=object)
    columns = {"outcome": "outcome", "risk": "risk", "groups": ["years"], "inputs": ["age"]}
    made = make_pack(report_of(table, columns=columns), site="A")
    assert "years missing" in withheld(made)
    assert made["holdings"]["inputs"][0]["missing"] is None


def small_groups_untold(record: dict[str, Any], levels: set[str]) -> None:
    """A record that itself withholds small groups, and gives no count of them."""
    for result in record["results"].values():
        for e in result["estimates"]:
            if e["slice"].get("sex") in levels:
                e.update(status="withheld", reason="fewer than 10 patients", n_patients=0, n_rows=0)
                empty = ("value", "low", "high", "se", "numerator", "denominator", "n_events")
                e.update(dict.fromkeys(empty))
        result["comparisons"] = [row for row in result["comparisons"] if row["slice"].get("sex") not in levels]
        held = result["tables"].get("holdings")
        for level in levels if held else ():
            held["groups"]["sex"][level] = {"patients": None, "rows": None}


@pytest.mark.parametrize("levels", [{"X"}, {"X", "M"}], ids=["one level", "two levels"])
def test_what_the_record_itself_withholds_is_neither_told_nor_given_away(levels: set[str]) -> None:
    table = cohort(420, 1)
    groups = ["sex", "male"]
    record = report(table, groups).as_dict()
    small_groups_untold(record, levels)
    record.pop("sha256")
    made = make_pack(Report.from_dict({**record, "sha256": digest(record)}), site="A")
    assert all(row["status"] == "withheld" for row in made["estimates"] if row["slice"].get("sex") in levels)
    together = combinations_of(table, groups)
    assert recovered(made, true_counts(table, groups, [], THRESHOLDS, together), 11, together) == []


def test_small_combinations_that_the_record_puts_together_are_neither_told_nor_given_away() -> None:
    """A crossing in which those of few people are one level: it no longer adds up to its columns."""
    table = cohort(700, 6, few=0.05)
    groups, crossed = ["sex", "male", "unit"], [["sex", "unit"]]
    record = report(table, groups, crossed=crossed).as_dict()
    apart = report({**table, "both": np.array([
        f"{s} × {u}" if s != "X" else "withheld together" for s, u in zip(table["sex"], table["unit"], strict=True)
    ], dtype=object)}, ["sex", "male", "unit", "both"]).as_dict()  # fmt: skip
    own, other = record["results"]["subgroups"], apart["results"]["subgroups"]
    own["estimates"] = [e for e in own["estimates"] if "sex × unit" not in e["slice"]]
    for e in other["estimates"]:
        if "both" in e["slice"]:
            e["slice"] = {"sex × unit" if key == "both" else key: value for key, value in e["slice"].items()}
            own["estimates"].append(e)
    own["comparisons"] = [row for row in own["comparisons"] if "sex × unit" not in row["slice"]]
    record.pop("sha256")
    made = make_pack(Report.from_dict({**record, "sha256": digest(record)}), site="A")
    assert any(row["status"] == "ok" for row in made["estimates"] if "sex × unit" in row["slice"])
    for row in (*made["estimates"], *made["withheld"]):  # the attacker takes the level apart again
        if row["slice"].get("sex × unit") == "withheld together":
            row["slice"] = {"sex": "X", **{key: at for key, at in row["slice"].items() if key == "threshold"}}
    together = combinations_of(table, groups)
    pairs = [("sex", "unit")]
    assert recovered(made, true_counts(table, groups, pairs, THRESHOLDS, together), 11, together) == []
