"""Rare cells, missing levels and counts: nothing vanishes without a word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.split_tables import PARTS, STRATEGIES, days, deviations, kinds, level_row, objects, visits
from workup.errors import InputError
from workup.splits import Split, split


def test_one_rare_cell_is_joined_and_logged_and_the_rest_stays_in_proportion() -> None:
    table = {
        "died": np.array([1.0] * 20 + [0.0] * 180 + [1.0]),
        "race": objects(["White"] * 10 + ["Black"] * 10 + ["White"] * 100 + ["Black"] * 80 + ["Asian"]),
    }
    for seed in range(20):
        found = split(table, strategy="multidimensional", outcome="died", by=["race"], seed=seed)
        [step] = found.record()["collapsed"]
        assert step["cell"] == {"died": ["1"], "race": ["Asian"]}
        assert step["joined_with"] == {"died": ["1"], "race": ["Black"]}
        assert (step["patients"], step["joined_patients"]) == (1, 10)
        assert "too few to be on both sides" in step["reason"] and "takes 5" in step["reason"]
        assert max(map(abs, deviations(table, found.validation.tolist(), table, 0.2))) <= 1 + 1e-9
        drawn = found.validation
        # Cells that were large enough are exactly in proportion, and so is the joined one.
        cells = {
            (died, race): int(((table["died"][drawn] == died) & (table["race"][drawn] == race)).sum())
            for died in (0.0, 1.0)
            for race in ("White", "Black", "Asian")
        }
        assert cells[1.0, "White"] == 2 and cells[0.0, "White"] == 20 and cells[0.0, "Black"] == 16
        assert cells[1.0, "Black"] + cells[1.0, "Asian"] in (2, 3)


def test_cells_are_joined_across_the_next_variable_where_the_last_leaves_no_neighbour() -> None:
    table = {
        "sex": objects(["F"] * 40 + ["M"] * 40 + ["X"] * 2),
        "age": objects(["old", "young"] * 40 + ["old"] * 2),
    }
    found = split(table, strategy="demographics", by=["sex", "age"], seed=1)
    [step] = found.record()["collapsed"]
    assert step["step"] == "sex"
    assert step["cell"] == {"sex": ["X"], "age": ["old"]}
    assert step["joined_with"]["sex"] == ["M"]


def test_bands_of_age_are_joined_with_their_neighbours() -> None:
    ages = ["0-9"] * 2 + ["10-19"] * 30 + ["20-29"] * 8 + ["90-99"] * 6
    found = split({"age": objects(ages)}, strategy="demographics", by=["age"])
    [step] = found.record()["collapsed"]
    assert (step["cell"], step["joined_with"]) == ({"age": ["0-9"]}, {"age": ["10-19"]})


def test_missing_is_a_level_like_any_other() -> None:
    table = {"race": objects(["A"] * 50 + [None] * 25 + [""] * 25), "died": np.array([0.0, 1.0, np.nan, 0.0] * 25)}
    found = split(table, strategy="multidimensional", outcome="died", by=["race"])
    row = level_row(found, "race", "missing")
    assert row["patients"] == {"development": 40, "validation": 10, "left_out": 0, "all": 50}
    assert row["share"]["all"] == 0.5
    assert level_row(found, "died", "missing")["patients"]["all"] == 25
    assert found.record()["sides"]["validation"]["outcome_missing"] == 5


@pytest.mark.parametrize("settings", STRATEGIES, ids=str)
def test_counts_are_whole_and_add_up(settings: dict[str, Any]) -> None:
    table = visits(6)
    table["sex"][::17] = None
    found = split(table, **PARTS, **settings, seed=1)
    record = found.record()
    sides = record["sides"]
    for variable in ("died", "sex", "ward"):
        rows = [row for row in record["levels"] if row["variable"] == variable]
        for side in ("development", "validation"):
            assert sum(row["patients"][side] for row in rows) == sides[side]["patients"]
            assert sum(row["rows"][side] for row in rows) == sides[side]["rows"]
            assert sum(row["events"][side]["events"] for row in rows) == sides[side]["events"]
        for row in rows:
            assert all(type(count) is int for count in (*row["patients"].values(), *row["rows"].values()))
            parts = ("development", "validation", "left_out")
            assert sum(row["patients"][part] for part in parts) == row["patients"]["all"]
    gone = {part["reason"]: part["events"] for part in record["left_out"]}
    assert sides["development"]["events"] + sides["validation"]["events"] + sum(gone.values()) == table["died"].sum()


def test_representation_is_the_share_on_a_side_over_the_share_in_the_table() -> None:
    table = {
        "site": objects(["A"] * 50 + ["B"] * 50),
        "sex": objects(["F"] * 40 + ["M"] * 10 + ["F"] * 10 + ["M"] * 40),
    }
    found = split(table, strategy="site", site="site", hold_out=["B"], by=["sex"])
    assert level_row(found, "sex", "F")["representation"] == pytest.approx({"development": 1.6, "validation": 0.4})


def test_small_groups_are_judged_by_events_too_and_not_by_rows_alone() -> None:
    n = 1000
    died = np.zeros(n)
    died[:30] = 1  # all among F
    died[900:990] = 1
    table = {"sex": objects(["F"] * 500 + ["M"] * 470 + ["X"] * 30), "died": died}
    found = split(table, strategy="multidimensional", outcome="died", by=["sex"], minimum=10)
    said = kinds(found)
    assert ("small_group", "F", "validation") in said, "100 rows, but 6 events"
    assert ("small_group", "F", "development") not in said
    assert ("small_group", "M", "validation") not in said
    assert ("small_group", "X", "validation") in said
    assert ("small_group", "X", "development") in said, "24 rows"
    relaxed = split(table, strategy="multidimensional", outcome="died", by=["sex"], minimum=1, minimum_rows=1)
    assert not {kind for kind, *_ in kinds(relaxed)} & {"small_group"}


def test_events_of_one_patient_are_one_patient_with_an_event() -> None:
    """Sixty event rows of three patients are no sixty events to learn from."""
    ids = [f"e{i % 3}" for i in range(60)] + [f"n{i}" for i in range(300)]
    table = {"id": objects(ids), "died": np.array([1.0] * 60 + [0.0] * 300)}
    found = split(table, strategy="random", patient="id", outcome="died", share=0.5)
    message = next(row["message"] for row in found.record()["warnings"] if row["side"] == "validation")
    assert "with an event where 10 are the minimum" in message


def test_changed_shares_need_a_test_and_an_effect() -> None:
    def by_site(n: int, first: float, second: float) -> Split:
        sex = objects(["F"] * int(first * n) + ["M"] * (n - int(first * n)))
        other = objects(["F"] * int(second * n) + ["M"] * (n - int(second * n)))
        table = {"site": objects(["A"] * n + ["B"] * n), "sex": np.concatenate([sex, other])}
        return split(table, strategy="site", site="site", hold_out=["B"], by=["sex"])

    moved = by_site(1000, 0.50, 0.58)
    [change, _] = sorted(moved.record()["changes"], key=lambda row: row["level"])
    assert change["changed"] and change["difference"] == pytest.approx(0.08)
    assert change["cohens_h"] == pytest.approx(2 * np.arcsin(np.sqrt(0.58)) - 2 * np.arcsin(np.sqrt(0.5)))
    assert change["p"] == pytest.approx(0.000328, abs=1e-5), "chi-square of 580 and 500 of 1000"
    assert change["p_adjusted"] == change["p"], "two levels are one question"
    assert change["low"] < 0.08 < change["high"]
    assert ("changed_share", "F", None) in kinds(moved)
    assert ("changed_share", "F", None) not in kinds(by_site(40, 0.50, 0.65)), "15 points that chance can make"
    assert ("changed_share", "F", None) not in kinds(by_site(20_000, 0.50, 0.515)), "significant, and a trifle"
    trifle = next(row for row in by_site(20_000, 0.50, 0.515).record()["changes"] if row["level"] == "F")
    assert trifle["p_adjusted"] < 0.05


def test_small_expected_counts_take_fishers_test() -> None:
    table = {"site": objects(["A"] * 20 + ["B"] * 20), "sex": objects(["F"] * 20 + ["M"] * 6 + ["F"] * 14)}
    found = split(table, strategy="site", site="site", hold_out=["B"], by=["sex"])
    row = next(row for row in found.record()["changes"] if row["level"] == "M")
    assert row["test"] == "Fisher"
    assert row["p"] == pytest.approx(0.02020, abs=1e-5), "6 of 20 against 0 of 20"


def test_unseen_levels_are_said() -> None:
    table = {
        "day": days(*range(10)),
        "drug": objects(["old"] * 8 + ["new"] * 2),
        "x": objects(["rare", *["usual"] * 9]),
    }
    found = split(table, strategy="temporal", time="day", by=["drug", "x"])
    said = kinds(found)
    assert {("unseen_level", "new", "development"), ("unseen_level", "old", "validation")} <= said
    assert ("unseen_level", "rare", "validation") in said


def test_a_level_that_only_rows_have_is_small_and_not_unseen() -> None:
    """Sex is unknown in the second row of every patient: nobody counts under it, and half the rows do."""
    table = {"id": objects(f"p{i // 2}" for i in range(40)), "sex": objects(["F", None] * 20)}
    found = split(table, strategy="demographics", patient="id", by=["sex"])
    said = kinds(found)
    assert level_row(found, "sex", "missing")["patients"]["all"] == 0
    assert {("small_group", "missing", side) for side in ("development", "validation")} <= said
    assert not {kind for kind, *_ in said} & {"unseen_level"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"strategy": "temporal", "time": "day", "embargo": 10**20}, "embargo must be 0 to 36,525 days"),
        ({"strategy": "temporal", "time": "day", "embargo": -1}, "embargo must be 0"),
        ({"strategy": "random", "minimum_rows": -5}, "minimum number of rows must be 0 or more; got -5"),
    ],
)
def test_numbers_that_cannot_be_meant(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        split({"day": days(*range(40))}, **settings)
