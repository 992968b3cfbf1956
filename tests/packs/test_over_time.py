"""Two packs of one site, of which the second holds more patients: with the site's ledger neither what was withheld
then, nor what is now, nor how few came between can be worked out from both."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.overlapping_columns import THRESHOLDS, cohort, report, withheld
from tests.support.pack_attacker import Both, combinations_of, true_counts
from workup.errors import InputError
from workup.packs import SiteLedger, make_next_pack, make_pack


def first(table: dict[str, Any], n: int) -> dict[str, Any]:
    return {name: column[:n] for name, column in table.items()}


def counts(table: dict[str, Any], groups: list[str], together: list[dict[str, str]]) -> dict[Any, np.ndarray]:
    return true_counts(table, groups, [], THRESHOLDS, together)


@pytest.mark.parametrize(
    ("groups", "n", "more", "seed"),
    [(["sex"], 400, 60, 1), (["sex", "male"], 400, 25, 2), (["sex", "unit"], 500, 6, 3), (["sex", "unit"], 300, 0, 4)],
    ids=str,
)
def test_two_packs_together_give_nothing_small_away(groups: list[str], n: int, more: int, seed: int) -> None:
    table = cohort(n + more, seed)
    then = first(table, n)
    one, ledger = make_next_pack(report(then, groups), SiteLedger("A"))
    two, ledger = make_next_pack(report(table, groups), ledger)
    assert (one["sequence"], two["sequence"], len(ledger.packs)) == (1, 2, 2)
    together = combinations_of(table, groups)
    attacker = Both(one, two, together)
    assert attacker.recovered(counts(then, groups, together), counts(table, groups, together), 11) == []
    if more == 0 or more >= 60:
        assert any(row["status"] == "ok" for row in two["estimates"])


def test_a_third_pack_gives_nothing_away_of_the_first_or_the_second() -> None:
    groups = ["sex", "male"]
    table = cohort(560, 6)
    ledger, made = SiteLedger("A"), []
    for n in (400, 480, 560):
        pack, ledger = make_next_pack(report(first(table, n), groups), ledger)
        made.append((pack, first(table, n)))
    together = combinations_of(table, groups)
    for i, (one, then) in enumerate(made):
        for two, now in made[i + 1 :]:
            found = Both(one, two, together).recovered(
                counts(then, groups, together), counts(now, groups, together), 11
            )
            assert found == []
    assert any(row["status"] == "ok" for row in made[2][0]["estimates"])


def test_without_the_ledger_the_difference_of_two_packs_gives_it_away() -> None:
    groups = ["sex", "unit"]
    table = cohort(506, 3)
    then = first(table, 500)
    together = combinations_of(table, groups)
    attacker = Both(
        make_pack(report(then, groups), site="A"), make_pack(report(table, groups), site="A", sequence=2), together
    )
    found = attacker.recovered(counts(then, groups, together), counts(table, groups, together), 11)
    assert any(what == "came" and low == high for what, _, low, high in found)


def test_the_same_data_again_tell_the_same() -> None:
    own = report(cohort(420, 1), ["sex", "male"])
    one, ledger = make_next_pack(own, SiteLedger("A"))
    two, _ = make_next_pack(own, ledger)
    assert two["estimates"] == one["estimates"] and two["holdings"] == one["holdings"]
    assert withheld(two) == withheld(one) != []


def test_a_change_of_few_is_not_told() -> None:
    table = cohort(800, 5, few=0.15)
    one, ledger = make_next_pack(report(first(table, 795), ["unit"]), SiteLedger("A"))
    two, _ = make_next_pack(report(table, ["unit"]), ledger)
    assert one["holdings"]["rows"] == 795
    assert two["holdings"]["rows"] is None and all(row["status"] == "withheld" for row in two["estimates"])


def test_counts_that_fell_are_not_told_where_they_fell_by_few() -> None:
    """Outcomes were put right, so the cohort did not only grow; how a told count changed can be seen all the same."""
    table = cohort(800, 5, few=0.15)
    changed = {**table, "outcome": table["outcome"].copy()}
    icu = np.flatnonzero((table["unit"] == "ICU") & (table["outcome"] == 1))
    ward = np.flatnonzero((table["unit"] == "ward") & (table["outcome"] == 0))
    changed["outcome"][icu[:3]] = 0
    changed["outcome"][ward[:20]] = 1
    _, ledger = make_next_pack(report(table, ["unit"]), SiteLedger("A"))
    two, _ = make_next_pack(report(changed, ["unit"]), ledger)
    assert "unit ICU" in withheld(two)


def test_k_is_not_lowered_from_one_pack_to_the_next() -> None:
    own = report(cohort(420, 1), ["sex"])
    _, ledger = make_next_pack(own, SiteLedger("A"), k=20)
    with pytest.raises(InputError, match="give --k 20 or more"):
        make_next_pack(own, ledger, k=11)


def test_a_ledger_is_read_as_it_was_written_and_refused_when_it_is_another(tmp_path: Path) -> None:
    _, ledger = make_next_pack(report(cohort(420, 1), ["sex", "male"]), SiteLedger("A"))
    path = tmp_path / "ledger.json"
    path.write_text(ledger.to_json(), encoding="utf-8")
    assert SiteLedger.read(path, site="A").to_json() == ledger.to_json()
    assert SiteLedger.read(tmp_path / "none.json", site="A").packs == ()
    with pytest.raises(InputError, match="belongs to one site"):
        SiteLedger.read(path, site="B")
    whole = json.loads(path.read_text(encoding="utf-8"))
    for damage in ("", "[]", "{", '{"ledger_version": 1}', json.dumps({**whole, "packs": [1]}), "[" * 100_000):
        path.write_text(damage, encoding="utf-8")
        with pytest.raises(InputError, match="expected the ledger of a site"):
            SiteLedger.read(path, site="A")


@pytest.mark.parametrize("name", ["readmission", "another"])
@pytest.mark.parametrize(("then", "now"), [(["sex"], ["sex", "unit"]), (["sex", "unit"], ["sex"])])
def test_other_groupings_do_not_get_round_the_ledger(then: list[str], now: list[str], name: str) -> None:
    table = cohort(420, 1)
    _, ledger = make_next_pack(report(table, then), SiteLedger("A"))
    other = report(table, now)
    with pytest.raises(InputError, match="the same columns; got unit in one of them alone"):
        make_next_pack(replace(other, study={**other.study, "name": name}), ledger)


def test_what_the_record_keeps_back_of_an_input_is_kept_back() -> None:
    own = report(cohort(420, 1), ["sex"])
    internal = own.results["internal"]
    held = dict(internal.tables["holdings"])
    held["inputs"] = [{"input": "sex", "missing": None, "rows": 420, "share": None}]
    tables = {**internal.tables, "holdings": held}
    hidden = replace(own, results={**own.results, "internal": replace(internal, tables=tables)})
    pack = make_pack(hidden, site="A")
    assert [row["missing"] for row in pack["holdings"]["inputs"]] == [None]


def _aged(cut: int) -> dict[str, Any]:
    """Two bands of age; three patients are 40."""
    table = cohort(600, 9)
    rng = np.random.default_rng(1)
    age = rng.choice(np.array([a for a in range(20, 90) if a != 40]), 600)
    age[[10, 200, 500]] = 40
    return {**table, "band": np.where(age < cut, f"<{cut}", f"≥{cut}").astype(object)}


def test_the_same_column_cut_elsewhere_is_another_grouping() -> None:
    _, ledger = make_next_pack(report(_aged(40), ["band"]), SiteLedger("A"))
    with pytest.raises(InputError, match="the same groups") as refused:
        make_next_pack(report(_aged(41), ["band"]), ledger)
    assert "pack number 1" in str(refused.value) and "<40" not in str(refused.value)
    make_next_pack(report(_aged(40), ["band"]), ledger)


def test_codes_that_are_joined_in_another_way_are_another_grouping() -> None:
    table = cohort(600, 9)
    own = np.where(np.arange(600) % 2 == 0, "F", "M").astype(object)
    own[[10, 200, 501]] = "X"
    one = {**table, "coded": np.where(own == "F", "F", "M/X").astype(object)}
    two = {**table, "coded": np.where(own == "M", "M", "F/X").astype(object)}
    _, ledger = make_next_pack(report(one, ["coded"]), SiteLedger("A"))
    with pytest.raises(InputError, match="the same groups"):
        make_next_pack(report(two, ["coded"]), ledger)


def test_a_level_that_is_new_is_no_other_grouping() -> None:
    table = cohort(600, 9)
    first_of_all = np.where(np.arange(600) % 2 == 0, "F", "M").astype(object)
    later = first_of_all.copy()
    later[::5] = "X"
    _, ledger = make_next_pack(report({**table, "coded": first_of_all}, ["coded"]), SiteLedger("A"))
    pack, _ = make_next_pack(report({**table, "coded": later}, ["coded"]), ledger)
    assert pack["sequence"] == 2
