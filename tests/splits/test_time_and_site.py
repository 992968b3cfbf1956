"""Cuts between days and parted sites: who is on which side, and who on neither."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.split_tables import days, kinds, objects
from workup.errors import InputError
from workup.splits import split


def test_the_cut_is_the_80th_percentile_of_distinct_dates() -> None:
    """Ninety rows on the first day do not move it: ten distinct dates, so the last two are for validation."""
    table = {"day": days(*[0] * 90, *range(1, 10))}
    found = split(table, strategy="temporal", time="day")
    assert found.record()["about"]["cut"] == "2024-01-09"
    assert found.validation.tolist() == [97, 98]
    assert found.record()["sides"]["development"]["last_date"] == "2024-01-08"


@pytest.mark.parametrize(
    ("distinct", "share", "after"), [(2, 0.2, 1), (3, 0.2, 1), (11, 0.2, 2), (10, 0.5, 5), (5, 0.9, 4)]
)
def test_distinct_dates_on_each_side(distinct: int, share: float, after: int) -> None:
    found = split({"day": days(*range(distinct))}, strategy="temporal", time="day", share=share)
    assert len(found.validation) == after


def test_rows_of_one_day_stay_together_whatever_the_clock_says() -> None:
    moments = np.array([f"2024-01-0{d}T{h:02d}:30" for d in range(1, 6) for h in (0, 9, 23)], dtype="datetime64[us]")
    found = split({"t": moments}, strategy="temporal", time="t", cut="2024-01-04")
    assert found.validation.tolist() == list(range(9, 15))


def test_embargo_leaves_out_the_days_whose_window_reaches_the_cut() -> None:
    found = split({"day": days(*range(10))}, strategy="temporal", time="day", cut="2024-01-08", embargo=3)
    assert found.neither["embargoed"].tolist() == [4, 5, 6]
    assert found.development.tolist() == [0, 1, 2, 3]
    assert found.validation.tolist() == [7, 8, 9]
    assert ("left_out", None, None) in kinds(found)


def test_a_patient_on_both_sides_of_the_cut_stays_in_development_and_later_rows_are_left_out() -> None:
    table = {"id": objects("aabbcd"), "day": days(0, 8, 6, 9, 9, None)}
    found = split(table, strategy="temporal", patient="id", time="day", cut="2024-01-08", embargo=2)
    assert found.development.tolist() == [0]
    assert found.neither["straddling"].tolist() == [1, 3]
    assert found.neither["embargoed"].tolist() == [2]
    assert found.neither["undated"].tolist() == [5]
    assert found.validation.tolist() == [4]
    left = {part["reason"]: (part["rows"], part["patients_on_no_side"]) for part in found.record()["left_out"]}
    assert left == {"undated": (1, 1), "embargoed": (1, 1), "straddling": (2, 1)}


def test_a_cut_that_leaves_a_side_empty_is_refused() -> None:
    table = {"id": objects("aabb"), "day": days(0, 5, 1, 6)}
    with pytest.raises(InputError, match="no row for validation"):
        split(table, strategy="temporal", patient="id", time="day", cut="2024-01-05")
    with pytest.raises(InputError, match="2024-01-01 to 2024-01-07"):
        split(table, strategy="temporal", patient="id", time="day", cut="2025-01-05")
    with pytest.raises(InputError, match="no row for development"):
        split({"day": days(0, 5, 6)}, strategy="temporal", time="day", cut="2024-01-05", embargo=90)
    with pytest.raises(InputError, match="two different dates"):
        split({"day": days(3, 3, None)}, strategy="temporal", time="day")


def test_iso_text_is_read_and_words_that_read_a_clock_are_not() -> None:
    found = split({"t": objects(["2024-01-01", "2024-01-02T10:00+00:00", None])}, strategy="temporal", time="t")
    assert (found.development.tolist(), found.validation.tolist()) == ([0], [1])
    for word in ("today", "now", "01/02/2024"):
        with pytest.raises(InputError, match="ISO form"):
            split({"t": objects(["2024-01-01", word])}, strategy="temporal", time="t")
    with pytest.raises(InputError, match="a date such as"):
        split({"t": objects(["2024-01-01", "2024-01-02"])}, strategy="temporal", time="t", cut="today")


def test_named_sites_are_held_out_and_a_patient_of_two_sites_is_on_one_side() -> None:
    table = {"id": objects("aaabbcdee"), "site": objects(["N", "N", "S", "S", "N", "S", "W", None, "N"])}
    found = split(table, strategy="site", patient="id", site="site", hold_out=["S"])
    # a: N in most rows; b: a tie, N by name; c: S; d: W; e: N, and a row that may come from anywhere.
    assert found.validation.tolist() == [5]
    assert found.neither["straddling"].tolist() == [2, 3]
    assert found.neither["no site"].tolist() == [7]
    assert found.record()["about"]["sites_validation"] == ["S"]


def test_sites_drawn_at_random_come_near_the_share() -> None:
    rng = np.random.default_rng(0)
    table = {"site": objects(str(x) for x in rng.choice([f"S{i:02d}" for i in range(40)], 2000))}
    largest = max(np.unique(table["site"].astype(str), return_counts=True)[1])
    chosen = set()
    for seed in range(10):
        found = split(table, strategy="site", site="site", seed=seed)
        held = {table["site"][row] for row in found.validation}
        assert not held & {table["site"][row] for row in found.development}
        assert abs(len(found.validation) - 400) <= largest / 2, "one site more or less would be further off"
        assert not [row for row in found.record()["warnings"] if row["kind"] == "unseen_level"]
        chosen.add(frozenset(held))
    assert len(chosen) == 10


def test_the_smallest_site_is_held_out_where_all_are_too_large() -> None:
    table = {"site": objects(["A"] * 60 + ["B"] * 50 + ["C"] * 70)}
    assert {table["site"][row] for row in split(table, strategy="site", site="site", share=0.05).validation} == {"B"}
