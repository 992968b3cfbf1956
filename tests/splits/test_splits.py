"""Splits: margins within one patient, whole patients on one side, edges and refusals."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.split_tables import PARTS, STRATEGIES, deviations, kinds, level_row, objects, random_table, visits
from workup.errors import InputError
from workup.splits import split


def test_every_margin_is_within_one_patient_over_200_seeds() -> None:
    worst = 0.0
    for seed in range(200):
        table, share = random_table(seed)
        variables = [name for name in table if name != "id"]
        found = split(table, strategy="demographics", patient="id", by=variables, share=share, seed=seed)
        worst = max(worst, *map(abs, deviations(table, found.validation.tolist(), variables, share)))
        assert worst <= 1 + 1e-9, seed
        assert found.record()["margins"]["held_within_one_patient"]
        assert sorted([*found.development, *found.validation]) == list(range(len(table["id"])))
    assert worst > 0.5, "rounding was put to the test"


@given(st.data())
def test_margins_hold_on_any_table(data: st.DataObject) -> None:
    n = data.draw(st.integers(6, 60))
    shapes = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    table = {
        f"v{i}": objects(data.draw(st.lists(st.sampled_from("abcde"[:size]), min_size=n, max_size=n)))
        for i, size in enumerate(shapes)
    }
    share = data.draw(st.sampled_from([0.2, 0.3, 0.5]))
    found = split(table, strategy="demographics", by=list(table), share=share, seed=data.draw(st.integers(0, 9)))
    if found.record()["margins"]["held_within_one_patient"]:
        assert max(map(abs, deviations(table, found.validation.tolist(), table, share))) <= 1 + 1e-9
    else:  # said, and only where nothing within one patient exists
        assert len(shapes) == 3
        assert not _feasible(table, share)


def _feasible(table: dict[str, Any], share: float) -> bool:
    n = len(next(iter(table.values())))
    return n > 16 or any(
        max(map(abs, deviations(table, chosen, table, share))) <= 1 + 1e-9
        for size in range(n + 1)
        for chosen in itertools.combinations(range(n), size)
    )


def test_where_no_split_is_within_one_patient_the_record_says_so() -> None:
    """Nine patients of an orthogonal array: any two share a level, so two in validation put a level over by 1.01."""
    rows = [(a, b, (a + b) % 3, (a + 2 * b) % 3) for a in range(3) for b in range(3)]
    table = {f"v{i}": objects(f"L{row[i]}" for row in rows) for i in range(4)}
    assert not _feasible(table, 0.33)
    found = split(table, strategy="demographics", by=list(table), share=0.33)
    margins = found.record()["margins"]
    assert margins["held_within_one_patient"] is False
    assert margins["off"]
    assert margins["largest_deviation"] < 2
    assert "margin" in {kind for kind, *_ in kinds(found)}


def test_every_patient_has_the_same_chance() -> None:
    table, _ = random_table(11, most_patients=80)
    n, draws = len(table["id"]), 800
    seen = np.zeros(n)
    for seed in range(draws):
        seen[split(table, strategy="demographics", by=["v0"], patient="id", seed=seed).validation] += 1
    assert (np.abs(seen / draws - 0.2) < 4.5 * np.sqrt(0.2 * 0.8 / draws)).all()


def test_outcome_and_groups_and_site_at_once() -> None:
    rng = np.random.default_rng(5)
    n = 1000
    table = {
        "died": (rng.random(n) < 0.1).astype(float),
        "sex": objects(rng.choice(["F", "M", ""], n, p=[0.5, 0.45, 0.05]).tolist()),
        "hospital": objects(rng.choice([f"H{i}" for i in range(12)], n).tolist()),
    }
    found = split(table, strategy="multidimensional", outcome="died", by=["sex"], site="hospital", seed=2)
    assert max(map(abs, deviations(table, found.validation.tolist(), table, 0.2))) <= 1 + 1e-9
    assert found.record()["columns"]["stratified_by"] == ["died", "sex", "hospital"]
    assert len(found.validation) == 200


def test_a_share_is_taken_as_it_is_written() -> None:
    """0.1 × 30 is 3.0000000000000004 in floats, which would round up to a fourth patient."""
    table = {"sex": objects(["F"] * 30 + ["M"] * 70)}
    for seed in range(20):
        found = split(table, strategy="demographics", by=["sex"], share=0.1, seed=seed)
        assert level_row(found, "sex", "F")["patients"]["validation"] == 3


@pytest.mark.parametrize("settings", STRATEGIES, ids=str)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_patient_is_on_both_sides_and_every_row_is_accounted_for(settings: dict[str, Any], seed: int) -> None:
    table = visits(seed)
    found = split(table, **PARTS, **settings, seed=seed)
    assert not set(table["id"][found.development]) & set(table["id"][found.validation])
    places = [found.development, found.validation, *found.neither.values()]
    assert sorted(np.concatenate(places).tolist()) == list(range(len(table["id"])))
    record = found.record()
    assert {part["reason"]: part["rows"] for part in record["left_out"]} == {
        reason: len(rows) for reason, rows in found.neither.items()
    }


@pytest.mark.parametrize("settings", STRATEGIES, ids=str)
@pytest.mark.parametrize("patient", ["id", None])
def test_row_order_changes_nothing(settings: dict[str, Any], patient: str | None) -> None:
    table = visits(3)
    table["row"] = np.arange(float(len(table["id"])))
    order = np.random.default_rng(9).permutation(len(table["id"]))
    parts = {**PARTS, "patient": patient}
    one = split(table, **parts, **settings, seed=4)
    other = split({name: column[order] for name, column in table.items()}, **parts, **settings, seed=4)
    assert json.dumps(one.record(), sort_keys=True) == json.dumps(other.record(), sort_keys=True)
    assert set(table["row"][one.validation]) == set(table["row"][order][other.validation])
    assert set(table["row"][one.development]) == set(table["row"][order][other.development])


def test_another_seed_is_another_draw() -> None:
    table = visits()
    draws = {tuple(split(table, strategy="outcome", **PARTS, seed=seed).validation.tolist()) for seed in range(8)}
    assert len(draws) == 8


def test_a_patient_whose_rows_differ_has_one_level_by_rule() -> None:
    ids = objects(["a", "a", "a", "b", "b", "c", "c", "d", "d"])
    ward = objects(["X", "Y", "Y", "X", "Y", None, "Z", None, None])
    died = np.array([0, 0, 1, 0, np.nan, np.nan, np.nan, 0, 0.0])
    table = {"id": ids, "ward": ward, "died": died}
    found = split(table, strategy="random", patient="id", by=["ward"], outcome="died", share=0.5)
    counts = {row["level"]: row["patients"]["all"] for row in found.record()["levels"] if row["variable"] == "ward"}
    # a: Y in most rows; b: a tie, so X by name; c: Z, since a known level comes before missing; d: missing.
    assert counts == {"X": 1, "Y": 1, "Z": 1, "missing": 1}
    events = {row["level"]: row["patients"]["all"] for row in found.record()["levels"] if row["variable"] == "died"}
    assert events == {"0": 2, "1": 1, "missing": 1}
    assert found.record()["varying"] == {"ward": 3, "died": 2}
    dated = {**table, "day": np.datetime64("2024-01-09") - np.array([9, 1, 2, 1, 5, 3, 1, 1, 2]).astype("m8[D]")}
    first = split(dated, strategy="random", patient="id", by=["ward"], time="day", share=0.5)
    counts = {row["level"]: row["patients"]["all"] for row in first.record()["levels"]}
    assert counts == {"X": 1, "Y": 1, "Z": 1, "missing": 1}, "a began in X, b in Y"


def test_without_a_patient_column_each_row_is_one_and_the_record_says_so() -> None:
    found = split({"sex": objects("FMFM")}, strategy="random", share=0.5)
    assert found.record()["whole"]["patients"] == 4
    assert found.record()["notes"][0].startswith("No patient column")


def test_all_of_one_class() -> None:
    found = split({"died": np.zeros(200)}, strategy="outcome", outcome="died")
    assert len(found.validation) == 40
    assert ("small_group", None, "validation") in kinds(found), "no event at all"
    assert found.record()["changes"] == []


def test_a_group_of_one_patient_is_on_one_side_and_said_to_be() -> None:
    table = {"sex": objects(["F"] * 30 + ["M"] * 30 + ["X"])}
    for seed in range(10):
        found = split(table, strategy="demographics", by=["sex"], seed=seed)
        row = level_row(found, "sex", "X")
        assert row["patients"]["development"] + row["patients"]["validation"] == 1
        absent = "validation" if row["patients"]["development"] else "development"
        assert ("unseen_level", "X", absent) in kinds(found)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_handful_of_patients_still_has_two_sides(n: int) -> None:
    found = split({"sex": objects("FMFM"[:n])}, strategy="demographics", by=["sex"])
    assert len(found.validation) == 1 and len(found.development) == n - 1


BAD: list[tuple[dict[str, Any], str]] = [
    ({"strategy": "randon"}, "did you mean 'random'"),
    ({"strategy": "outcome"}, "needs the column of the outcome"),
    ({"strategy": "demographics"}, "needs a column to group by"),
    ({"strategy": "multidimensional", "by": ["sex"]}, "two columns or more"),
    ({"strategy": "temporal"}, "needs the column of the time"),
    ({"strategy": "site"}, "needs the column of the site"),
    ({"strategy": "random", "by": ["sexx"]}, "did you mean 'sex'"),
    ({"strategy": "random", "share": 0}, "between 0 and 1"),
    ({"strategy": "random", "share": 1.0}, "between 0 and 1"),
    ({"strategy": "random", "share": float("nan")}, "between 0 and 1"),
    ({"strategy": "random", "seed": -1}, "0 or more"),
    ({"strategy": "random", "cut": "2024-01-01"}, "belongs to the strategy temporal"),
    ({"strategy": "random", "hold_out": ["A"]}, "belongs to the strategy site"),
    ({"strategy": "site", "site": "ward", "quota": {"sex": {"F": 3}}}, "belongs to the strategy random"),
    ({"strategy": "site", "site": "ward", "hold_out": ["A", "B", "C"]}, "some left for development"),
    ({"strategy": "site", "site": "ward", "hold_out": ["D"]}, "Known: A, B, C"),
    ({"strategy": "random", "by": ["sex", "sex"]}, "one part only"),
    ({"strategy": "random", "by": ["id"]}, "a column of groups"),
    ({"strategy": "outcome", "outcome": "sex"}, "must be 0"),
    ({"strategy": "outcome", "outcome": "age"}, "must be 0"),
]


@pytest.mark.parametrize(("settings", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_requests_are_taught(settings: dict[str, Any], words: str) -> None:
    table = {**visits(), "age": np.full(len(visits()["id"]), 2.0)}
    with pytest.raises(InputError, match=words) as refused:
        split(table, **settings)
    assert "p001" not in str(refused.value), "an id must not be shown"


def test_tables_that_cannot_be_split_are_refused() -> None:
    with pytest.raises(InputError, match="two patients or more"):
        split({"id": objects("aaa")}, strategy="random", patient="id")
    with pytest.raises(InputError, match="1 of 3 rows, the first is row 2"):
        split({"id": objects(["a", None, "b"])}, strategy="random", patient="id")
    with pytest.raises(InputError, match="columns of 2 to 3 rows"):
        split({"a": objects("abc"), "b": objects("ab")}, strategy="random")
    with pytest.raises(InputError, match="empty table"):
        split({}, strategy="random")
    with pytest.raises(InputError, match="looks like data") as refused:
        split({"17": objects("ab"), "Smith": objects("ab")}, strategy="random", by=["sex"])
    assert "Smith" not in str(refused.value)


def test_a_record_is_plain_and_a_copy() -> None:
    found = split(visits(), strategy="temporal", **PARTS)
    record = found.record()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    record["sides"].clear()
    assert found.record()["sides"]
